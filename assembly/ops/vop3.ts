// Vector operations of 32 and 16 bits that have only the VOP3 encoding. f64 and f16 arithmetic and 64-bit results have files of their own.
// The optimizer inlines no function that calls another: kernels with a call for the rare case are marked @inline.
import {
  DEFAULT_NAN, demoteRounded, fma, fmaOrNan, fmaRounded, fmaScaledRounded, INFINITY_BITS, isNaNs, MIN_NORMAL, mulRounded, promoteHigh, promoteLow,
  quiet, SIGN,
} from '../lib/float';
import { highs } from '../lib/lanes';
import { funnel, pow2, sar, shl, shr, uniform } from '../lib/shift';
import {
  popcount, v_cvt_pkaccum_u8_f32, v_cvt_pkaccum_u8_f32_rounded, v_mac_f32, v_mac_f32_rounded, v_mac_legacy_f32, v_mac_legacy_f32_rounded,
  v_max_f32, v_max_f32_quick, v_min_f32, v_min_f32_quick, v_mul_i32_i24, v_mul_legacy_f32, v_mul_legacy_f32_rounded, v_mul_u32_u24,
} from './vop2';

// --- f32. Flushing of sources and results and the NaN rule are the loop's.

export function v_mad_f32(a: v128, b: v128, c: v128): v128 { return v_mac_f32(a, b, c); }
export function v_mad_f32_rounded(a: v128, b: v128, c: v128, round: i32): v128 { return v_mac_f32_rounded(a, b, c, round); }
export function v_mad_legacy_f32(a: v128, b: v128, c: v128): v128 { return v_mac_legacy_f32(a, b, c); }
export function v_mad_legacy_f32_rounded(a: v128, b: v128, c: v128, round: i32): v128 { return v_mac_legacy_f32_rounded(a, b, c, round); }
// @ts-ignore: decorator
@inline
export function v_fma_f32(a: v128, b: v128, c: v128): v128 { return fma(a, b, c); }
export function v_fma_f32_quick(a: v128, b: v128, c: v128): v128 { return fmaOrNan(a, b, c); }
export function v_fma_f32_rounded(a: v128, b: v128, c: v128, round: i32): v128 { return fmaRounded(a, b, c, round); }

/** The lighting product: -MAX where b is -MAX, -infinity or NaN, or c is not above 0. */
export function v_mullit_f32(a: v128, b: v128, c: v128): v128 { return lit(v_mul_legacy_f32(a, b), b, c); }
export function v_mullit_f32_rounded(a: v128, b: v128, c: v128, round: i32): v128 { return lit(v_mul_legacy_f32_rounded(a, b, round), b, c); }
function lit(product: v128, b: v128, c: v128): v128 {
  const darkest = f32x4.splat(-f32.MAX_VALUE);
  return v128.bitselect(product, darkest, v128.and(f32x4.gt(b, darkest), f32x4.gt(c, f32x4.splat(0))));
}

// @ts-ignore: decorator
@inline
function exponent(a: v128): v128 { return v128.and(i32x4.shr_u(a, 23), i32x4.splat(0xff)); }
/** Negative where a is not within these bounds; a, least and most are far from the ends of i32. */
// @ts-ignore: decorator
@inline
function within(a: v128, least: i32, most: i32): v128 {
  return v128.or(i32x4.sub(a, i32x4.splat(least)), i32x4.sub(i32x4.splat(most), a));
}
/** A power of two held to what can still make a difference to an f32. */
// @ts-ignore: decorator
@inline
function held(n: v128): v128 { return i32x4.max_s(i32x4.min_s(n, i32x4.splat(300)), i32x4.splat(-300)); }
/** Two f64 2^n, n from lanes 0 and 1. */
function scale2(n: v128): v128 {
  return i64x2.shl(i64x2.add(i64x2.extend_low_i32x4_s(held(n)), i64x2.splat(1023)), 52);
}
/** a × 2^n, rounded once. */
// @ts-ignore: decorator
@inline
export function v_ldexp_f32(a: v128, n: v128): v128 {
  const e = exponent(a);
  const scaled = i32x4.add(e, held(n));
  // Between normal numbers it is a matter of the exponent alone.
  const odd = v128.or(within(e, 1, 254), within(scaled, 1, 254));
  return i32x4.bitmask(odd) ? v_ldexp_f32_rounded(a, n, 0) : i32x4.add(a, i32x4.shl(i32x4.sub(scaled, e), 23));
}
export function v_ldexp_f32_rounded(a: v128, n: v128, round: i32): v128 {
  const low = f64x2.mul(promoteLow(a), scale2(n));
  const high = f64x2.mul(promoteHigh(a), scale2(i64x2.shuffle(n, n, 1, 1)));
  return demoteRounded(low, high, round);
}

// @ts-ignore: decorator
@inline
export function v_min3_f32(a: v128, b: v128, c: v128): v128 { return v_min_f32(v_min_f32(a, b), c); }
// @ts-ignore: decorator
@inline
export function v_max3_f32(a: v128, b: v128, c: v128): v128 { return v_max_f32(v_max_f32(a, b), c); }
// Quick: for operands without NaN.
// @ts-ignore: decorator
@inline
export function v_min3_f32_quick(a: v128, b: v128, c: v128): v128 { return v_min_f32_quick(v_min_f32_quick(a, b), c); }
// @ts-ignore: decorator
@inline
export function v_max3_f32_quick(a: v128, b: v128, c: v128): v128 { return v_max_f32_quick(v_max_f32_quick(a, b), c); }
/** What is left without the greatest, the larger of it; with a NaN the minimum of the three. */
// @ts-ignore: decorator
@inline
export function v_med3_f32(a: v128, b: v128, c: v128): v128 {
  const numbers = v128.and(v128.and(f32x4.eq(a, a), f32x4.eq(b, b)), f32x4.eq(c, c)), median = v_med3_f32_quick(a, b, c);
  return i32x4.all_true(numbers) ? median : v128.bitselect(median, v_min3_f32(a, b, c), numbers);
}
/** Quick: for operands without NaN. */
// @ts-ignore: decorator
@inline
export function v_med3_f32_quick(a: v128, b: v128, c: v128): v128 {
  const ab = maxOfNumbers(a, b), ac = maxOfNumbers(a, c), bc = maxOfNumbers(b, c);
  const most = maxOfNumbers(ab, c);
  return v128.bitselect(bc, v128.bitselect(ac, ab, f32x4.eq(most, b)), f32x4.eq(most, a));
}
// @ts-ignore: decorator
@inline
function maxOfNumbers(a: v128, b: v128): v128 { return v128.and(f32x4.pmax(a, b), f32x4.pmax(b, a)); }

// --- cube maps: x, y, z; z wins ties, then y

// @ts-ignore: decorator
@inline
function isZ(x: v128, y: v128, z: v128): v128 {
  const depth = f32x4.abs(z);
  return v128.and(f32x4.ge(depth, f32x4.abs(x)), f32x4.ge(depth, f32x4.abs(y)));
}
// @ts-ignore: decorator
@inline
function isY(x: v128, y: v128): v128 { return f32x4.ge(f32x4.abs(y), f32x4.abs(x)); }
/** One of three by major axis. */
// @ts-ignore: decorator
@inline
function byAxis(x: v128, y: v128, z: v128, ifX: v128, ifY: v128, ifZ: v128): v128 {
  return v128.bitselect(ifZ, v128.bitselect(ifY, ifX, isY(x, y)), isZ(x, y, z));
}
// @ts-ignore: decorator
@inline
function negative(a: v128): v128 { return f32x4.lt(a, f32x4.splat(0)); }

/** The face: +x 0, -x 1, +y 2, -y 3, +z 4, -z 5. A zero is not negative, whatever its sign. */
export function v_cubeid_f32(x: v128, y: v128, z: v128): v128 {
  const major = byAxis(x, y, z, x, y, z);
  const face = byAxis(x, y, z, f32x4.splat(0), f32x4.splat(2), f32x4.splat(4));
  return f32x4.add(face, v128.and(negative(major), f32x4.splat(1)));
}
export function v_cubesc_f32(x: v128, y: v128, z: v128): v128 {
  const ifX = v128.bitselect(z, f32x4.neg(z), negative(x));
  const ifZ = v128.bitselect(f32x4.neg(x), x, negative(z));
  return byAxis(x, y, z, ifX, x, ifZ);
}
export function v_cubetc_f32(x: v128, y: v128, z: v128): v128 {
  return byAxis(x, y, z, f32x4.neg(y), v128.bitselect(f32x4.neg(z), z, negative(y)), f32x4.neg(y));
}
/** Twice the major axis. */
export function v_cubema_f32(x: v128, y: v128, z: v128): v128 {
  const major = byAxis(x, y, z, x, y, z);
  return f32x4.add(major, major);
}
export function v_cubema_f32_rounded(x: v128, y: v128, z: v128, round: i32): v128 {
  return mulRounded(byAxis(x, y, z, x, y, z), f32x4.splat(2), round);
}

// --- division: div_scale, v_rcp_f32, Newton steps by v_fma_f32, v_div_fmas_f32, v_div_fixup_f32

// Hardware: AMD's rocjitsu (pull request 11613 in ROCm/rocm-systems) gives the rules by biased exponents, checked on gfx1100 and gfx1201. A
// quotient that is 2^96 too small but not denormal is left alone all the same, as AMD's pseudocode says.

// @ts-ignore: decorator
@inline
function isZero(a: v128): v128 { return f32x4.eq(a, f32x4.splat(0)); }
// @ts-ignore: decorator
@inline
function isFinite(a: v128): v128 { return f32x4.lt(f32x4.abs(a), f32x4.splat(f32.POSITIVE_INFINITY)); }
/** |c / b| < 2^-126, c not zero, exactly: c × 2^126 is exact, or infinite where it is beyond every number b. */
function isDenormalQuotient(c: v128, b: v128): v128 {
  const scaled = f32x4.mul(f32x4.abs(c), f32x4.splat(reinterpret<f32>(0x7e800000)));
  const infinite = f32x4.eq(f32x4.abs(b), f32x4.splat(f32.POSITIVE_INFINITY));
  return v128.andnot(v128.or(f32x4.lt(scaled, f32x4.abs(b)), v128.and(infinite, isFinite(c))), isZero(c));
}
/** The remainders of the steps would be denormal. */
// @ts-ignore: decorator
@inline
function isTiny(exponentOfC: v128): v128 { return i32x4.le_s(exponentOfC, i32x4.splat(24)); }
/** The quotient is so small, or the numerator tiny and far below the denominator, that only the numerator is scaled up. */
function isSmall(b: v128, c: v128): v128 {
  const eb = exponent(b), ec = exponent(c), odd = v128.or(isTiny(ec), i32x4.eq(eb, i32x4.splat(255)));
  const small = v128.or(v128.and(odd, i32x4.le_s(i32x4.sub(ec, eb), i32x4.splat(-96))), isDenormalQuotient(c, b));
  return v128.andnot(small, i32x4.eq(eb, i32x4.splat(0)));
}
/** c / b comes near overflow. */
// @ts-ignore: decorator
@inline
function isHugeQuotient(c: v128, b: v128): v128 { return i32x4.ge_s(i32x4.sub(exponent(c), exponent(b)), i32x4.splat(96)); }

/** Negative where c / b may need scaling: the exponents are near the ends, or far from each other. */
// @ts-ignore: decorator
@inline
function needsScaling(b: v128, c: v128): v128 {
  const eb = exponent(b), ec = exponent(c);
  return v128.or(v128.or(within(eb, 1, 252), within(ec, 25, 254)), within(i32x4.sub(ec, eb), -124, 95));
}
/** Whether the quotient must be scaled back at the end, by v_div_fmas_f32. */
// @ts-ignore: decorator
@inline
export function v_div_scale_f32_mask(a: v128, b: v128, c: v128): v128 {
  return i32x4.bitmask(needsScaling(b, c)) ? v128.or(isHugeQuotient(c, b), isSmall(b, c)) : i32x4.splat(0);
}
/**
 * a, which is the denominator b or the numerator c, × 2^64 or 2^-64 where the steps to the quotient c / b would overflow or underflow; NaN
 * if either is 0. Of the conditions the first one in the order of AMD's pseudocode wins; so it is chosen last.
 */
// @ts-ignore: decorator
@inline
export function v_div_scale_f32(a: v128, b: v128, c: v128): v128 {
  return i32x4.bitmask(v128.or(needsScaling(b, c), isNaNs(a))) ? scaleTerm(a, b, c) : a;
}
export function scaleTerm(a: v128, b: v128, c: v128): v128 {
  const one = f32x4.splat(1), up = f32x4.splat(reinterpret<f32>(0x5f800000)), down = f32x4.splat(reinterpret<f32>(0x1f800000));
  const eb = exponent(b), isB = i32x4.eq(a, b), small = isSmall(b, c);
  let factor = v128.bitselect(up, one, isTiny(exponent(c)));
  factor = v128.bitselect(v128.bitselect(one, up, isB), factor, small);
  // Where 1 / b is denormal.
  factor = v128.bitselect(v128.bitselect(one, down, v128.andnot(small, isB)), factor, i32x4.ge_s(eb, i32x4.splat(253)));
  factor = v128.bitselect(up, factor, i32x4.eq(eb, i32x4.splat(0)));
  factor = v128.bitselect(v128.bitselect(up, one, isB), factor, isHugeQuotient(c, b));
  const scaled = v128.bitselect(quiet(a), f32x4.mul(a, factor), isNaNs(a));
  return v128.bitselect(i32x4.splat(DEFAULT_NAN), scaled, v128.or(isZero(b), isZero(c)));
}

/** What undoes v_div_scale_f32 where the mask says so: 2^64 if the addend is large, else 2^-64. */
// @ts-ignore: decorator
@inline
function unscale(c: v128, scaled: v128): v128 {
  const large = i32x4.gt_s(exponent(c), i32x4.splat(127));
  const factor = v128.bitselect(f32x4.splat(reinterpret<f32>(0x5f800000)), f32x4.splat(reinterpret<f32>(0x1f800000)), large);
  return v128.bitselect(factor, f32x4.splat(1), scaled);
}
/** a × b + c, scaled back. */
// @ts-ignore: decorator
@inline
export function v_div_fmas_f32(a: v128, b: v128, c: v128, scaled: v128): v128 {
  return v128.any_true(scaled) ? v_div_fmas_f32_rounded(a, b, c, scaled, 0) : fma(a, b, c);
}
export function v_div_fmas_f32_rounded(a: v128, b: v128, c: v128, scaled: v128, round: i32): v128 {
  const scale = unscale(c, scaled);
  const r = mulRounded(fmaRounded(a, b, c, round), scale, round);
  // Among the denormals that would be rounding twice; the quotient needs one rounding.
  const denormal = f32x4.le(f32x4.abs(r), f32x4.splat(MIN_NORMAL));
  return v128.bitselect(fmaScaledRounded(a, b, c, scale, round), r, denormal);
}

/** The quotient a of c / b, with the special cases put right; an estimate that is NaN stands for an overflow. */
// @ts-ignore: decorator
@inline
export function v_div_fixup_f32(a: v128, b: v128, c: v128): v128 {
  const eb = exponent(b), ec = exponent(c);
  const sign = v128.and(v128.xor(b, c), i32x4.splat(SIGN));
  const special = v128.or(v128.or(within(eb, 1, 254), within(ec, 1, 254)), within(i32x4.sub(ec, eb), -150, 255));
  const quotient = v128.or(v128.bitselect(f32x4.abs(a), i32x4.splat(INFINITY_BITS), f32x4.eq(a, a)), sign);
  return i32x4.bitmask(special) ? fixSpecial(quotient, sign, b, c) : quotient;
}
function fixSpecial(quotient: v128, sign: v128, b: v128, c: v128): v128 {
  const zero = f32x4.splat(0), infinity = i32x4.splat(INFINITY_BITS);
  const bZero = f32x4.eq(b, zero), cZero = f32x4.eq(c, zero);
  const bInfinite = f32x4.eq(f32x4.abs(b), infinity), cInfinite = f32x4.eq(f32x4.abs(c), infinity);
  let r = v128.bitselect(sign, quotient, i32x4.lt_s(i32x4.sub(exponent(c), exponent(b)), i32x4.splat(-150)));
  r = v128.bitselect(sign, r, v128.or(bInfinite, cZero));
  r = v128.bitselect(v128.or(infinity, sign), r, v128.or(bZero, cInfinite));
  r = v128.bitselect(i32x4.splat(DEFAULT_NAN), r, v128.or(v128.and(bZero, cZero), v128.and(bInfinite, cInfinite)));
  r = v128.bitselect(quiet(b), r, isNaNs(b));
  return v128.bitselect(quiet(c), r, isNaNs(c));
}

// --- 32-bit integers

export function v_mul_lo_u32(a: v128, b: v128): v128 { return i32x4.mul(a, b); }
export function v_mul_lo_i32(a: v128, b: v128): v128 { return i32x4.mul(a, b); }
export function v_mul_hi_u32(a: v128, b: v128): v128 { return highs(i64x2.extmul_low_i32x4_u(a, b), i64x2.extmul_high_i32x4_u(a, b)); }
export function v_mul_hi_i32(a: v128, b: v128): v128 { return highs(i64x2.extmul_low_i32x4_s(a, b), i64x2.extmul_high_i32x4_s(a, b)); }

export function v_mad_i32_i24(a: v128, b: v128, c: v128): v128 { return i32x4.add(v_mul_i32_i24(a, b), c); }
export function v_mad_u32_u24(a: v128, b: v128, c: v128): v128 { return i32x4.add(v_mul_u32_u24(a, b), c); }

export function v_min3_i32(a: v128, b: v128, c: v128): v128 { return i32x4.min_s(i32x4.min_s(a, b), c); }
export function v_max3_i32(a: v128, b: v128, c: v128): v128 { return i32x4.max_s(i32x4.max_s(a, b), c); }
export function v_med3_i32(a: v128, b: v128, c: v128): v128 {
  return i32x4.max_s(i32x4.min_s(a, b), i32x4.min_s(i32x4.max_s(a, b), c));
}
export function v_min3_u32(a: v128, b: v128, c: v128): v128 { return i32x4.min_u(i32x4.min_u(a, b), c); }
export function v_max3_u32(a: v128, b: v128, c: v128): v128 { return i32x4.max_u(i32x4.max_u(a, b), c); }
export function v_med3_u32(a: v128, b: v128, c: v128): v128 {
  return i32x4.max_u(i32x4.min_u(a, b), i32x4.min_u(i32x4.max_u(a, b), c));
}

/** Sum of the four absolute differences of unsigned bytes. */
// @ts-ignore: decorator
@inline
function sad8(a: v128, b: v128): v128 { return sumOfBytes(v128.or(i8x16.sub_sat_u(a, b), i8x16.sub_sat_u(b, a))); }
// @ts-ignore: decorator
@inline
function sumOfBytes(a: v128): v128 { return i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(a)); }
// @ts-ignore: decorator
@inline
function sad16(a: v128, b: v128): v128 { return i32x4.extadd_pairwise_i16x8_u(v128.or(i16x8.sub_sat_u(a, b), i16x8.sub_sat_u(b, a))); }
// @ts-ignore: decorator
@inline
function sad32(a: v128, b: v128): v128 { return i32x4.sub(i32x4.max_u(a, b), i32x4.min_u(a, b)); }
/** Bytes of b that are 0 do not count. */
// @ts-ignore: decorator
@inline
function msad8(a: v128, b: v128): v128 {
  const difference = v128.or(i8x16.sub_sat_u(a, b), i8x16.sub_sat_u(b, a));
  return sumOfBytes(v128.andnot(difference, i8x16.eq(b, i8x16.splat(0))));
}
export function v_sad_u8(a: v128, b: v128, c: v128): v128 { return i32x4.add(sad8(a, b), c); }
export function v_sad_hi_u8(a: v128, b: v128, c: v128): v128 { return i32x4.add(i32x4.shl(sad8(a, b), 16), c); }
export function v_sad_u16(a: v128, b: v128, c: v128): v128 { return i32x4.add(sad16(a, b), c); }
export function v_sad_u32(a: v128, b: v128, c: v128): v128 { return i32x4.add(sad32(a, b), c); }
export function v_msad_u8(a: v128, b: v128, c: v128): v128 { return i32x4.add(msad8(a, b), c); }

// --- bits and bytes

export function v_bcnt_u32_b32(a: v128, b: v128): v128 { return i32x4.add(popcount(a), b); }
export function v_bfi_b32(mask: v128, a: v128, b: v128): v128 { return v128.bitselect(a, b, mask); }

/** `width` bits of a from `offset` up; width 0 gives 0, bits beyond the 32nd are 0. */
// @ts-ignore: decorator
@inline
export function v_bfe_u32(a: v128, offset: v128, width: v128): v128 {
  if (!uniform(width)) return v128.and(shr(a, offset), i32x4.sub(pow2(width), i32x4.splat(1)));
  return v128.and(shr(a, offset), i32x4.splat((1 << i32x4.extract_lane(width, 0)) - 1));
}
/** The same, sign-extended from the last bit that there is. */
// @ts-ignore: decorator
@inline
export function v_bfe_i32(a: v128, offset: v128, width: v128): v128 {
  if (!uniform(width)) return signExtend(sar(a, offset), pow2(width));
  // Two shifts by 31 - width and 1: one by 32 - width would do nothing for width 0.
  const n = ~i32x4.extract_lane(width, 0);
  return i32x4.shr_s(i32x4.shr_s(i32x4.shl(i32x4.shl(sar(a, offset), n), 1), n), 1);
}
/** The bits below `power` with the highest of them as sign. */
function signExtend(a: v128, power: v128): v128 {
  const field = v128.and(a, i32x4.sub(power, i32x4.splat(1)));
  const sign = i32x4.shr_u(power, 1);
  return i32x4.sub(v128.xor(field, sign), sign);
}
// @ts-ignore: decorator
@inline
export function v_alignbit_b32(high: v128, low: v128, bits: v128): v128 { return funnel(high, low, bits); }
// @ts-ignore: decorator
@inline
export function v_alignbyte_b32(high: v128, low: v128, bytes: v128): v128 {
  return funnel(high, low, i32x4.shl(v128.and(bytes, i32x4.splat(3)), 3));
}

/** Bytewise (a + b + bit 0 of c) / 2 with a sum of nine bits. */
export function v_lerp_u8(a: v128, b: v128, c: v128): v128 {
  // avgr always adds the 1; it changed the result where a + b is odd.
  const odd = v128.andnot(v128.xor(a, b), c);
  return i8x16.sub(i8x16.avgr_u(a, b), v128.and(odd, i8x16.splat(1)));
}

/** Each byte of c picks: 0-3 bytes of b, 4-7 bytes of a, 8-11 the sign of b's and a's halves, 12 zero, above ones. */
// @ts-ignore: decorator
@inline
export function v_perm_b32(a: v128, b: v128, c: v128): v128 {
  const lane = i8x16(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
  // An index beyond 15 gives 0.
  const r = v128.or(pick(b, c, lane, 3), pick(a, v128.xor(c, i8x16.splat(4)), lane, 3));
  const ones = i8x16.gt_u(c, i8x16.splat(12));
  const signs = i8x16.eq(v128.and(c, i8x16.splat(-4)), i8x16.splat(8));
  const common = v128.or(r, ones);
  return v128.any_true(signs) ? v128.or(common, pickSigns(a, b, c, lane)) : common;
}
/** The bytes `index` of each lane of `a`, 0 where the index is beyond `last`. */
// @ts-ignore: decorator
@inline
function pick(a: v128, index: v128, lane: v128, last: i8): v128 {
  return i8x16.swizzle(a, v128.or(i8x16.add(index, lane), i8x16.gt_u(index, i8x16.splat(last))));
}
function pickSigns(a: v128, b: v128, c: v128, lane: v128): v128 {
  const half = i8x16.shl(i8x16.sub(c, i8x16.splat(8)), 1); // 0, 2 of b, 4, 6 of a
  return v128.or(pick(i16x8.shr_s(b, 15), half, lane, 3), pick(i16x8.shr_s(a, 15), i8x16.sub(half, i8x16.splat(4)), lane, 3));
}

export function v_cvt_pk_u8_f32(a: v128, b: v128, c: v128): v128 { return v_cvt_pkaccum_u8_f32(a, b, c); }
export function v_cvt_pk_u8_f32_rounded(a: v128, b: v128, c: v128, round: i32): v128 { return v_cvt_pkaccum_u8_f32_rounded(a, b, c, round); }

// --- 16-bit integers: the low halves

export function v_mad_u16(a: v128, b: v128, c: v128): v128 { return i16x8.add(i16x8.mul(a, b), c); }
export function v_mad_i16(a: v128, b: v128, c: v128): v128 { return i16x8.add(i16x8.mul(a, b), c); }
