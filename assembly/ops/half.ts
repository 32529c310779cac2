// f16 operations on four lanes, each in the low half. Sums to nearest may go through f32: it has 24 bits, and with 2·11 + 2 a second
// rounding changes nothing (S. A. Figueroa, "When is double rounding innocuous?", 1995).
import { fmaHalf, fmaHalfRounded, toFloat, toHalf, toHalfOrNan, toHalfRounded } from '../lib/half';
import { ieee } from '../lib/mode';

const INFINITE: i32 = 0x7c00;
const QUIET: i32 = 0x0200;

// --- arithmetic

export function v_add_f16(a: v128, b: v128): v128 { return toHalfOrNan(f32x4.add(toFloat(a), toFloat(b))); }
export function v_add_f16_rounded(a: v128, b: v128, round: i32): v128 { return fmaHalfRounded(toFloat(a), f32x4.splat(1), toFloat(b), round); }
export function v_sub_f16(a: v128, b: v128): v128 { return toHalfOrNan(f32x4.sub(toFloat(a), toFloat(b))); }
export function v_sub_f16_rounded(a: v128, b: v128, round: i32): v128 { return v_add_f16_rounded(a, negated(b), round); }
export function v_subrev_f16(a: v128, b: v128): v128 { return v_sub_f16(b, a); }
export function v_subrev_f16_rounded(a: v128, b: v128, round: i32): v128 { return v_sub_f16_rounded(b, a, round); }
function negated(a: v128): v128 { return v128.xor(a, i32x4.splat(0x8000)); }

/** The product is exact in f32. */
export function v_mul_f16(a: v128, b: v128): v128 { return toHalfOrNan(f32x4.mul(toFloat(a), toFloat(b))); }
export function v_mul_f16_rounded(a: v128, b: v128, round: i32): v128 { return toHalfRounded(f32x4.mul(toFloat(a), toFloat(b)), round); }

export function v_fma_f16(a: v128, b: v128, c: v128): v128 { return fmaHalf(toFloat(a), toFloat(b), toFloat(c)); }
export function v_fma_f16_rounded(a: v128, b: v128, c: v128, round: i32): v128 { return fmaHalfRounded(toFloat(a), toFloat(b), toFloat(c), round); }

/** The product is rounded before the addition, not flushed. */
export function v_mad_f16(a: v128, b: v128, c: v128): v128 { return v_add_f16(v_mul_f16(a, b), c); }
export function v_mad_f16_rounded(a: v128, b: v128, c: v128, round: i32): v128 {
  return v_add_f16_rounded(v_mul_f16_rounded(a, b, round), c, round);
}
export function v_mac_f16(a: v128, b: v128, c: v128): v128 { return v_mad_f16(a, b, c); }
export function v_mac_f16_rounded(a: v128, b: v128, c: v128, round: i32): v128 { return v_mad_f16_rounded(a, b, c, round); }
export function v_madak_f16(a: v128, b: v128, k: v128): v128 { return v_mad_f16(a, b, k); }
export function v_madak_f16_rounded(a: v128, b: v128, k: v128, round: i32): v128 { return v_mad_f16_rounded(a, b, k, round); }
export function v_madmk_f16(a: v128, k: v128, b: v128): v128 { return v_mad_f16(a, k, b); }
export function v_madmk_f16_rounded(a: v128, k: v128, b: v128, round: i32): v128 { return v_mad_f16_rounded(a, k, b, round); }

export function v_ldexp_f16(a: v128, n: v128): v128 { return toHalfOrNan(scaled(a, n)); }
export function v_ldexp_f16_rounded(a: v128, n: v128, round: i32): v128 { return toHalfRounded(scaled(a, n), round); }
/** a × 2^n in f32, exact: counts beyond ±60 say no more than 60 does. */
function scaled(a: v128, n: v128): v128 {
  const count = i32x4.max_s(i32x4.min_s(i32x4.shr_s(i32x4.shl(n, 16), 16), i32x4.splat(60)), i32x4.splat(-60));
  return f32x4.mul(toFloat(a), i32x4.shl(i32x4.add(count, i32x4.splat(127)), 23));
}

// --- minimum, maximum: of a NaN and a number the number; −0 is less than +0

export function v_min_f16(a: v128, b: v128): v128 { return numbers(fromOrder(i32x4.min_s(order(a), order(b))), a, b); }
export function v_max_f16(a: v128, b: v128): v128 { return numbers(fromOrder(i32x4.max_s(order(a), order(b))), a, b); }

/** Signed integers in the order of the numbers, from the bits of f16; and back. */
function order(a: v128): v128 {
  const x = i32x4.shl(a, 16);
  return v128.xor(x, v128.and(i32x4.shr_s(x, 31), i32x4.splat(i32.MAX_VALUE)));
}
function fromOrder(k: v128): v128 {
  return i32x4.shr_u(v128.xor(k, v128.and(i32x4.shr_s(k, 31), i32x4.splat(i32.MAX_VALUE))), 16);
}
function isNan(a: v128): v128 { return i32x4.gt_s(magnitude(a), i32x4.splat(INFINITE)); }
function magnitude(a: v128): v128 { return v128.and(a, i32x4.splat(0x7fff)); }

/** `r` where both are numbers; else the number, else the first NaN quieted. With IEEE set a signalling NaN wins over the number. */
function numbers(r: v128, a: v128, b: v128): v128 {
  const nanA = isNan(a), nanB = isNan(b);
  if (!v128.any_true(v128.or(nanA, nanB))) return r;
  const quiet = i32x4.splat(QUIET), zero = i32x4.splat(0);
  const quietA = v128.or(a, quiet), quietB = v128.or(b, quiet);
  r = v128.bitselect(a, r, nanB);
  r = v128.bitselect(v128.bitselect(quietA, b, nanB), r, nanA);
  if (!ieee) return r;
  r = v128.bitselect(quietB, r, v128.and(nanB, i32x4.eq(v128.and(b, quiet), zero)));
  return v128.bitselect(quietA, r, v128.and(nanA, i32x4.eq(v128.and(a, quiet), zero)));
}

// --- rounding to integers, taking apart

export function v_floor_f16(a: v128): v128 { return toHalfOrNan(f32x4.floor(toFloat(a))); }
export function v_ceil_f16(a: v128): v128 { return toHalfOrNan(f32x4.ceil(toFloat(a))); }
export function v_trunc_f16(a: v128): v128 { return toHalfOrNan(f32x4.trunc(toFloat(a))); }
export function v_rndne_f16(a: v128): v128 { return toHalfOrNan(f32x4.nearest(toFloat(a))); }

export function v_fract_f16(a: v128): v128 { return toHalfOrNan(fraction(a)); }
export function v_fract_f16_rounded(a: v128, round: i32): v128 { return toHalfRounded(fraction(a), round); }
/** a − floor(a), exact in f32, and no more than the largest f16 below 1. */
function fraction(a: v128): v128 {
  const x = toFloat(a);
  return f32x4.min(f32x4.sub(x, f32x4.floor(x)), f32x4.splat(0.99951171875));
}

/** The exponent that leaves a significand in [½, 1); 0 for zero, infinities and NaN. */
export function v_frexp_exp_i16_f16(a: v128): v128 {
  const exponent = v128.and(i32x4.shr_u(toFloat(a), 23), i32x4.splat(0xff));
  return v128.andnot(i32x4.sub(exponent, i32x4.splat(126)), v128.or(i32x4.eq(exponent, i32x4.splat(0)), i32x4.eq(exponent, i32x4.splat(0xff))));
}
export function v_frexp_mant_f16(a: v128): v128 {
  const m = magnitude(a);
  const r = toHalf(v128.or(v128.and(toFloat(a), i32x4.splat(0x807fffff)), i32x4.splat(0x3f000000)));
  return v128.bitselect(a, r, v128.or(i32x4.eq(m, i32x4.splat(0)), i32x4.ge_s(m, i32x4.splat(INFINITE))));
}

/** The quotient a of c / b, with the special cases put right. */
export function v_div_fixup_f16(a: v128, b: v128, c: v128): v128 {
  const zero = i32x4.splat(0), infinity = i32x4.splat(INFINITE);
  const sign = v128.and(v128.xor(b, c), i32x4.splat(0x8000));
  const d = magnitude(b), n = magnitude(c);
  const dZero = i32x4.eq(d, zero), nZero = i32x4.eq(n, zero), dInfinite = i32x4.eq(d, infinity), nInfinite = i32x4.eq(n, infinity);
  let r = v128.bitselect(v128.or(a, i32x4.splat(QUIET)), v128.or(magnitude(a), sign), isNan(a));
  r = v128.bitselect(sign, r, v128.or(dInfinite, nZero));
  r = v128.bitselect(v128.or(infinity, sign), r, v128.or(dZero, nInfinite));
  r = v128.bitselect(i32x4.splat(0x7e00), r, v128.or(v128.and(dZero, nZero), v128.and(dInfinite, nInfinite)));
  r = v128.bitselect(v128.or(b, i32x4.splat(QUIET)), r, isNan(b));
  return v128.bitselect(v128.or(c, i32x4.splat(QUIET)), r, isNan(c));
}
