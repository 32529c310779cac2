// f64 operations: two lanes at a time; the 32-bit operands among them come and go in the low halves.
import {
  addRounded, exponentField, fma, fmaRounded, fmaScalar, isFinite64, isNan64, mulHigh, mulScalar, pack, scaleScalar, significand, towards,
} from '../lib/double';
import { ieee } from '../lib/mode';

const SIGN: u64 = 0x8000000000000000;
const DEFAULT_NAN: u64 = 0x7ff8000000000000;
const INFINITE: u64 = 0x7ff0000000000000;
const QUIET: u64 = 0x0008000000000000;
const LARGEST: u64 = 0x7fefffffffffffff;

function low(x: v128): u64 { return i64x2.extract_lane(x, 0); }
function high(x: v128): u64 { return i64x2.extract_lane(x, 1); }

// --- arithmetic

export function v_add_f64(a: v128, b: v128): v128 { return f64x2.add(a, b); }
export function v_add_f64_rounded(a: v128, b: v128, round: i32): v128 { return addRounded(a, b, round); }

export function v_mul_f64(a: v128, b: v128): v128 { return f64x2.mul(a, b); }
export function v_mul_f64_rounded(a: v128, b: v128, round: i32): v128 {
  return f64x2(
    mulScalar(f64x2.extract_lane(a, 0), f64x2.extract_lane(b, 0), 0, round),
    mulScalar(f64x2.extract_lane(a, 1), f64x2.extract_lane(b, 1), 0, round));
}

export function v_fma_f64(a: v128, b: v128, c: v128): v128 { return fma(a, b, c); }
export function v_fma_f64_rounded(a: v128, b: v128, c: v128, round: i32): v128 { return fmaRounded(a, b, c, round); }

export function v_ldexp_f64(a: v128, n: v128): v128 { return v_ldexp_f64_rounded(a, n, 0); }
export function v_ldexp_f64_rounded(a: v128, n: v128, round: i32): v128 {
  // Normal numbers that stay normal: n is added to the exponent field.
  const field = v128.and(i64x2.shr_u(a, 52), i64x2.splat(0x7ff)), count = i64x2.extend_low_i32x4_s(i32x4.shuffle(n, n, 0, 2, 0, 2));
  const result = i64x2.add(field, count), least = i64x2.splat(1), most = i64x2.splat(2046);
  const normal = v128.and(v128.and(i64x2.ge_s(field, least), i64x2.le_s(field, most)), v128.and(i64x2.ge_s(result, least), i64x2.le_s(result, most)));
  if (i64x2.all_true(normal)) return i64x2.add(a, i64x2.shl(count, 52));
  return f64x2(
    scaleScalar(f64x2.extract_lane(a, 0), <i32>low(n), round),
    scaleScalar(f64x2.extract_lane(a, 1), <i32>high(n), round));
}

// --- minimum, maximum: of a NaN and a number the number; −0 is less than +0

export function v_min_f64(a: v128, b: v128): v128 { return numbers(f64x2.min(a, b), a, b); }
export function v_max_f64(a: v128, b: v128): v128 { return numbers(f64x2.max(a, b), a, b); }

/** `r` where both are numbers; else the number, else the first NaN quieted. With IEEE set a signalling NaN wins over the number. */
function numbers(r: v128, a: v128, b: v128): v128 {
  const nanA = f64x2.ne(a, a), nanB = f64x2.ne(b, b);
  if (!v128.any_true(v128.or(nanA, nanB))) return r;
  const quiet = i64x2.splat(QUIET);
  const quietA = v128.or(a, quiet), quietB = v128.or(b, quiet);
  r = v128.bitselect(a, r, nanB);
  r = v128.bitselect(v128.bitselect(quietA, b, nanB), r, nanA);
  if (!ieee) return r;
  r = v128.bitselect(quietB, r, v128.and(nanB, i64x2.eq(v128.and(b, quiet), i64x2.splat(0))));
  return v128.bitselect(quietA, r, v128.and(nanA, i64x2.eq(v128.and(a, quiet), i64x2.splat(0))));
}

// --- rounding to integers, taking apart

export function v_trunc_f64(a: v128): v128 { return f64x2.trunc(a); }
export function v_ceil_f64(a: v128): v128 { return f64x2.ceil(a); }
export function v_floor_f64(a: v128): v128 { return f64x2.floor(a); }
export function v_rndne_f64(a: v128): v128 { return f64x2.nearest(a); }

/** a − floor(a), which must not reach 1. */
export function v_fract_f64(a: v128): v128 {
  return f64x2.min(f64x2.sub(a, f64x2.floor(a)), i64x2.splat(0x3fefffffffffffff));
}
/** A zero is +0 even when rounding towards −∞. */
export function v_fract_f64_rounded(a: v128, round: i32): v128 {
  return f64x2.min(f64x2.abs(addRounded(a, f64x2.neg(f64x2.floor(a)), round)), i64x2.splat(0x3fefffffffffffff));
}

/** The exponent that leaves a significand in [½, 1); 0 for zero, infinities and NaN. */
export function v_frexp_exp_i32_f64(a: v128): v128 { return i64x2(frexpExponent(low(a)), frexpExponent(high(a))); }
function frexpExponent(x: u64): u64 {
  if (!isFinite64(x) || x << 1 == 0) return 0;
  return <u32>(exponentField(x) - 1022 - (<i32>clz(significand(x)) - 11));
}
export function v_frexp_mant_f64(a: v128): v128 { return i64x2(frexpSignificand(low(a)), frexpSignificand(high(a))); }
function frexpSignificand(x: u64): u64 {
  if (!isFinite64(x) || x << 1 == 0) return x;
  const m = significand(x);
  return (x & SIGN) | (<u64>1022 << 52) | ((m << (clz(m) - 11)) & 0x000fffffffffffff);
}

// --- division in steps: scale, estimate and refine, fmas, fixup

/**
 * src0, which is src1 (the denominator) or src2 (the numerator), times 2^128 or 2^-128 where the steps between would over- or underflow.
 * Hardware: the rules of v_div_scale_f32 (vop3.ts) with the numbers of f64.
 */
export function v_div_scale_f64(a: v128, b: v128, c: v128): v128 {
  return i64x2(divScale(low(a), low(b), low(c)), divScale(high(a), high(b), high(c)));
}
/** Lanes whose quotient v_div_fmas_f64 has to scale back, as one of the two was scaled without the other. */
export function v_div_scale_f64_mask(a: v128, b: v128, c: v128): v128 {
  return i64x2(divScaled(low(b), low(c)), divScaled(high(b), high(c)));
}
function divScale(x: u64, denominator: u64, numerator: u64): u64 {
  if (denominator << 1 == 0 || numerator << 1 == 0) return DEFAULT_NAN;
  if (isNan64(x & ~SIGN)) return x | QUIET;
  const isDenominator = x == denominator;
  switch (scaling(denominator, numerator)) {
    case DENOMINATOR_UP: return isDenominator ? scaled(x, 128) : x;
    case DENOMINATOR_DOWN: return isDenominator ? scaled(x, -128) : x;
    case NUMERATOR_UP: return isDenominator ? x : scaled(x, 128);
    case BOTH_UP: return scaled(x, 128);
    case BOTH_DOWN: return scaled(x, -128);
    default: return x;
  }
}
function divScaled(denominator: u64, numerator: u64): u64 {
  const s = scaling(denominator, numerator);
  return s == DENOMINATOR_UP || s == DENOMINATOR_DOWN || s == NUMERATOR_UP ? ~0 : 0;
}

const UNSCALED: i32 = 0;
const DENOMINATOR_UP: i32 = 1;
const DENOMINATOR_DOWN: i32 = 2;
const NUMERATOR_UP: i32 = 3;
const BOTH_UP: i32 = 4;
const BOTH_DOWN: i32 = 5;

/** What has to be scaled, also of zeros and NaN by their exponents. */
function scaling(denominator: u64, numerator: u64): i32 {
  const exponent = exponentBits(denominator), difference = exponentBits(numerator) - exponent;
  if (difference >= 768) return DENOMINATOR_UP;
  if (exponent == 0) return BOTH_UP;
  const isTiny = exponentBits(numerator) <= 53;
  const quotient = abs(reinterpret<f64>(numerator) / reinterpret<f64>(denominator));
  const isDenormal = quotient < f64.MIN_NORMAL_VALUE && numerator << 1 != 0;
  const isSmall = isDenormal || ((isTiny || exponent == 2047) && difference <= -768);
  if (exponent >= 2045) return isSmall ? DENOMINATOR_DOWN : BOTH_DOWN; // 1 / d is denormal
  return isSmall ? NUMERATOR_UP : isTiny ? BOTH_UP : UNSCALED;
}
function exponentBits(x: u64): i32 { return <i32>(x >> 52) & 0x7ff; }
function scaled(x: u64, n: i32): u64 { return reinterpret<u64>(scaleScalar(reinterpret<f64>(x), n, 0)); }

export function v_div_fmas_f64(a: v128, b: v128, c: v128, vcc: v128): v128 {
  if (!v128.any_true(vcc)) return fma(a, b, c);
  return v_div_fmas_f64_rounded(a, b, c, vcc, 0);
}
export function v_div_fmas_f64_rounded(a: v128, b: v128, c: v128, vcc: v128, round: i32): v128 {
  return f64x2(
    divFmas(f64x2.extract_lane(a, 0), f64x2.extract_lane(b, 0), f64x2.extract_lane(c, 0), low(vcc) != 0, round),
    divFmas(f64x2.extract_lane(a, 1), f64x2.extract_lane(b, 1), f64x2.extract_lane(c, 1), high(vcc) != 0, round));
}
/**
 * Hardware: scales by 2^±128, up where the addend is 2 or more, as hardware-checked emulators do; the pseudocode knows 2^64 only. Rounds
 * once, unless it overflows without the scale.
 */
function divFmas(a: f64, b: f64, c: f64, scale: bool, round: i32): f64 {
  const r = fmaScalar(a, b, c, 0, round);
  if (!scale) return r;
  const n = exponentBits(reinterpret<u64>(c)) > 1023 ? 128 : -128;
  return abs(r) < f64.MAX_VALUE ? fmaScalar(a, b, c, n, round) : scaleScalar(r, n, round);
}

/** The quotient src0 of src2 / src1 with what the steps before could not get right. */
export function v_div_fixup_f64(a: v128, b: v128, c: v128): v128 {
  return i64x2(divFixup(low(a), low(b), low(c)), divFixup(high(a), high(b), high(c)));
}
function divFixup(quotient: u64, denominator: u64, numerator: u64): u64 {
  const sign = (denominator ^ numerator) & SIGN;
  const d = denominator & ~SIGN, n = numerator & ~SIGN;
  if (isNan64(n)) return numerator | QUIET;
  if (isNan64(d)) return denominator | QUIET;
  if ((d == 0 && n == 0) || (d == INFINITE && n == INFINITE)) return DEFAULT_NAN;
  if (d == 0 || n == INFINITE) return sign | INFINITE;
  if (d == INFINITE || n == 0) return sign;
  if (exponentBits(n) - exponentBits(d) < -1075) return sign;
  if (isNan64(quotient & ~SIGN)) return sign | INFINITE;
  return sign | (quotient & ~SIGN);
}

// --- reciprocal and roots, correctly rounded: to nearest by division and root, else with the sign of what these lost

export function v_rcp_f64(a: v128): v128 { return f64x2.div(f64x2.splat(1), a); }
export function v_rcp_f64_rounded(a: v128, round: i32): v128 {
  const r = v_rcp_f64(a), excess = fmaRounded(r, a, f64x2.splat(-1), 3); // not zero where r·a is not 1: that takes 106 bits
  return towards(r, v128.xor(f64x2.neg(excess), v128.and(a, i64x2.splat(SIGN))), round);
}
export function v_sqrt_f64(a: v128): v128 { return f64x2.sqrt(a); }
export function v_sqrt_f64_rounded(a: v128, round: i32): v128 {
  const r = v_sqrt_f64(a);
  return towards(r, f64x2(squareDeficit(f64x2.extract_lane(r, 0), f64x2.extract_lane(a, 0)), squareDeficit(f64x2.extract_lane(r, 1), f64x2.extract_lane(a, 1))), round);
}
/** a − r², times 2^200 and towards zero, so that the sign is right of the smallest. */
function squareDeficit(r: f64, a: f64): f64 { return fmaScalar(-r, r, a, 200, 3); }
export function v_rsq_f64(a: v128): v128 { return v_rsq_f64_rounded(a, 0); }
export function v_rsq_f64_rounded(a: v128, round: i32): v128 { return i64x2(rsq(low(a), round), rsq(high(a), round)); }
/** Infinite results become the largest number. */
export function v_rcp_clamp_f64(a: v128): v128 { return finite(v_rcp_f64(a)); }
export function v_rcp_clamp_f64_rounded(a: v128, round: i32): v128 { return finite(v_rcp_f64_rounded(a, round)); }
export function v_rsq_clamp_f64(a: v128): v128 { return finite(v_rsq_f64(a)); }
export function v_rsq_clamp_f64_rounded(a: v128, round: i32): v128 { return finite(v_rsq_f64_rounded(a, round)); }
function finite(r: v128): v128 {
  const infinite = f64x2.eq(f64x2.abs(r), i64x2.splat(INFINITE));
  return v128.bitselect(v128.or(i64x2.splat(LARGEST), v128.and(r, i64x2.splat(SIGN))), r, infinite);
}

/** 1/√x: the integer ⌊2^81/√m⌋ has 55 bits, and whether that is exact is the rest one needs to know. */
function rsq(x: u64, round: i32): u64 {
  if (x >= INFINITE || x == 0) return reinterpret<u64>(1 / sqrt(reinterpret<f64>(x)));
  const shift = <i32>clz(significand(x)) - 11;
  const exponent = exponentField(x) - 1075 - shift;
  const m = significand(x) << (shift + (exponent & 1)); // x = m · 2^(2k), m below 2^54
  const k = exponent >> 1;
  let r = <u64>(2417851639229258349412352.0 / sqrt(<f64>m)); // 2^81; off by a few units, which one step of Newton's takes away
  r -= <i64>nearest(<f64>excess(r, m) * 9223372036854775808.0 / (<f64>r * <f64>m));
  while (compareRoot(r, m) > 0) r--;
  while (compareRoot(r + 1, m) <= 0) r++;
  return pack(0, -81 - k - 64, r, u64(compareRoot(r, m) != 0), round);
}
/** ⌊(r²·m − 2^162) / 2^64⌋, which fits where r is near the root. */
function excess(r: u64, m: u64): i64 {
  const square = mulHigh(r, r);
  const carry = mulHigh(r * r, m), middle = square * m + carry;
  const top = mulHigh(square, m) + u64(middle < carry) - (<u64>1 << 34);
  return top + 1 <= 1 ? <i64>middle : <i64>top;
}
/** Sign of r²·m − 2^162. */
function compareRoot(r: u64, m: u64): i32 {
  const e = excess(r, m);
  return e < 0 ? -1 : i32((e | <i64>(r * r * m)) != 0);
}

// --- argument reduction

/** 2/π after the point, 1,201 bits, leading first; zeros behind and a dword-pair to spare. */
const TWO_OVER_PI: usize = memory.data<u64>([
  0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
  0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
  0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000, 0,
]);

/**
 * The 53 bits of 2/π in segment b[4:0], counted from the first one that matters to an argument of a's exponent, in their place; for
 * arguments that large that products would overflow, times 2^128.
 */
export function v_trig_preop_f64(a: v128, b: v128): v128 { return i64x2(trigPreop(low(a), low(b)), trigPreop(high(a), high(b))); }
function trigPreop(x: u64, segment: u64): u64 {
  const exponent = exponentBits(x);
  const shift = <i32>(segment & 31) * 53 + max(exponent - 1077, 0);
  if (shift > 1200) return 0;
  const at = TWO_OVER_PI + (<usize>(shift >> 6) << 3), offset = <u64>(shift & 63);
  const bits = ((load<u64>(at) << offset) | ((load<u64>(at, 8) >> 1) >> (63 - offset))) >> 11;
  return bits ? pack(0, -53 - shift + (exponent >= 1968 ? 128 : 0), 0, bits, 0) : 0;
}
