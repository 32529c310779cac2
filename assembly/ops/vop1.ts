// One-operand vector operations of 32 bits that move, count and round; conversions between 32-bit types.
// f64, f16 and transcendental operations have files of their own.
import { addRounded, demoteRounded, MIN_NORMAL, SIGN } from '../lib/float';

export function v_mov_b32(a: v128): v128 { return a; }
export function v_not_b32(a: v128): v128 { return v128.not(a); }

/** Bits in reverse order: bytes by a shuffle, the halves of each byte by tables. */
export function v_bfrev_b32(a: v128): v128 {
  const bytes = i8x16.shuffle(a, a, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
  const low = v128.and(bytes, i8x16.splat(15)), high = v128.and(i32x4.shr_u(bytes, 4), i8x16.splat(15));
  return v128.or(
    i8x16.swizzle(i8x16(0x00, -0x80, 0x40, -0x40, 0x20, -0x60, 0x60, -0x20, 0x10, -0x70, 0x50, -0x30, 0x30, -0x50, 0x70, -0x10), low),
    i8x16.swizzle(i8x16(0x0, 0x8, 0x4, 0xc, 0x2, 0xa, 0x6, 0xe, 0x1, 0x9, 0x5, 0xd, 0x3, 0xb, 0x7, 0xf), high));
}

/** n of 2^n, which each lane holds. */
// @ts-ignore: decorator
@inline
function exponents(power: v128): v128 {
  return i32x4.sub(v128.and(i32x4.shr_u(f32x4.convert_i32x4_s(power), 23), i32x4.splat(0xff)), i32x4.splat(127));
}

/** Zeros above the highest one; -1 for 0. */
export function v_ffbh_u32(a: v128): v128 {
  // Without the bit below the highest one, the conversion to f32 cannot round up to the next power of two.
  const bits = f32x4.convert_i32x4_s(v128.andnot(a, i32x4.shr_u(a, 1)));
  const zeros = i32x4.sub(i32x4.splat(158), i32x4.shr_u(bits, 23));
  return v128.or(v128.andnot(zeros, i32x4.shr_s(a, 31)), i32x4.eq(a, i32x4.splat(0)));
}
/** Zeros below the lowest one; -1 for 0. */
export function v_ffbl_b32(a: v128): v128 {
  return v128.or(exponents(v128.and(a, i32x4.neg(a))), i32x4.eq(a, i32x4.splat(0)));
}
/** Bits equal to the sign, itself included; -1 if all are. */
export function v_ffbh_i32(a: v128): v128 { return v_ffbh_u32(v128.xor(a, i32x4.shr_s(a, 31))); }

// --- conversions. NaN gives 0, values beyond the range its nearest end.

export function v_cvt_f32_i32(a: v128): v128 { return f32x4.convert_i32x4_s(a); }
export function v_cvt_f32_u32(a: v128): v128 { return f32x4.convert_i32x4_u(a); }
export function v_cvt_f32_i32_rounded(a: v128, round: i32): v128 {
  return demoteRounded(f64x2.convert_low_i32x4_s(a), f64x2.convert_low_i32x4_s(i64x2.shuffle(a, a, 1, 1)), round);
}
export function v_cvt_f32_u32_rounded(a: v128, round: i32): v128 {
  return demoteRounded(f64x2.convert_low_i32x4_u(a), f64x2.convert_low_i32x4_u(i64x2.shuffle(a, a, 1, 1)), round);
}
export function v_cvt_u32_f32(a: v128): v128 { return i32x4.trunc_sat_f32x4_u(a); }
export function v_cvt_i32_f32(a: v128): v128 { return i32x4.trunc_sat_f32x4_s(a); }
/** The exact floor(a + 1/2): ties go up. */
export function v_cvt_rpi_i32_f32(a: v128): v128 {
  const floor = f32x4.floor(a);
  // Where the difference is inexact (a just below 0) it is near 1 all the same.
  const up = f32x4.ge(f32x4.sub(a, floor), f32x4.splat(0.5));
  return i32x4.trunc_sat_f32x4_s(f32x4.add(floor, v128.and(up, f32x4.splat(1))));
}
export function v_cvt_flr_i32_f32(a: v128): v128 { return i32x4.trunc_sat_f32x4_s(f32x4.floor(a)); }
/** A signed number of four bits in sixteenths. */
export function v_cvt_off_f32_i4(a: v128): v128 {
  return f32x4.mul(f32x4.convert_i32x4_s(i32x4.shr_s(i32x4.shl(a, 28), 28)), f32x4.splat(0.0625));
}
export function v_cvt_f32_ubyte0(a: v128): v128 { return f32x4.convert_i32x4_s(v128.and(a, i32x4.splat(0xff))); }
export function v_cvt_f32_ubyte1(a: v128): v128 { return v_cvt_f32_ubyte0(i32x4.shr_u(a, 8)); }
export function v_cvt_f32_ubyte2(a: v128): v128 { return v_cvt_f32_ubyte0(i32x4.shr_u(a, 16)); }
export function v_cvt_f32_ubyte3(a: v128): v128 { return f32x4.convert_i32x4_s(i32x4.shr_u(a, 24)); }

// --- f32 to whole numbers. The sign of a zero is that of the source.

export function v_trunc_f32(a: v128): v128 { return f32x4.trunc(a); }
export function v_ceil_f32(a: v128): v128 { return f32x4.ceil(a); }
export function v_rndne_f32(a: v128): v128 { return f32x4.nearest(a); }
export function v_floor_f32(a: v128): v128 { return f32x4.floor(a); }

/** a - floor(a), never 1 but the largest number below, and never -0. */
export function v_fract_f32(a: v128): v128 { return below1(f32x4.sub(a, f32x4.floor(a))); }
export function v_fract_f32_rounded(a: v128, round: i32): v128 {
  return below1(f32x4.abs(addRounded(a, f32x4.neg(f32x4.floor(a)), round)));
}

// @ts-ignore: decorator
@inline
function below1(a: v128): v128 { return f32x4.pmin(a, f32x4.splat(reinterpret<f32>(0x3f7fffff))); }

// --- parts of an f32: a = mantissa × 2^exponent, 1/2 ≤ |mantissa| < 1

/** The bits of |a|, denormals as if they were normal: 24 too large in the exponent. */
function normalized(a: v128, denormal: v128): v128 {
  const magnitude = f32x4.abs(a);
  return v128.bitselect(f32x4.mul(magnitude, f32x4.splat(16777216)), magnitude, denormal);
}
// @ts-ignore: decorator
@inline
function isBelowNormal(a: v128): v128 { return f32x4.lt(f32x4.abs(a), f32x4.splat(MIN_NORMAL)); }
/** Neither zero nor infinite nor NaN. */
// @ts-ignore: decorator
@inline
function hasParts(a: v128): v128 {
  const zero = f32x4.splat(0);
  return v128.andnot(f32x4.eq(f32x4.sub(a, a), zero), f32x4.eq(a, zero));
}

/** 0 for zeros, infinities and NaNs. */
export function v_frexp_exp_i32_f32(a: v128): v128 {
  const denormal = isBelowNormal(a);
  const exponent = i32x4.sub(i32x4.shr_u(normalized(a, denormal), 23), i32x4.splat(126));
  return v128.and(i32x4.sub(exponent, v128.and(denormal, i32x4.splat(24))), hasParts(a));
}
/** Zeros, infinities and NaNs as they are. */
export function v_frexp_mant_f32(a: v128): v128 {
  const fraction = v128.and(normalized(a, isBelowNormal(a)), i32x4.splat(0x007fffff));
  const mantissa = v128.or(v128.or(fraction, v128.and(a, i32x4.splat(SIGN))), i32x4.splat(0x3f000000));
  return v128.bitselect(mantissa, a, hasParts(a));
}
