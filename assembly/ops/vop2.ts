// Two-operand vector operations of 32 and 16 bits: four lanes, no EXEC, no modifiers. f16 arithmetic is in half.ts.
// The optimizer inlines no function that calls another: kernels with a call for the rare case are marked @inline.
import { addRounded, flush, isNaNs, isSignaling, mulRounded, promoteLow, quiet } from '../lib/float';
import { highs } from '../lib/lanes';
import { chunkLane, ieee } from '../lib/mode';
import { pow2, sar, shl, shr } from '../lib/shift';

// --- 32-bit integer addition. Carries and borrows are lane masks: all ones is -1.

export function v_add_co_u32(a: v128, b: v128): v128 { return i32x4.add(a, b); }
export function v_add_co_u32_mask(a: v128, b: v128): v128 { return i32x4.lt_u(i32x4.add(a, b), a); }

export function v_sub_co_u32(a: v128, b: v128): v128 { return i32x4.sub(a, b); }
export function v_sub_co_u32_mask(a: v128, b: v128): v128 { return i32x4.lt_u(a, b); }

export function v_subrev_co_u32(a: v128, b: v128): v128 { return i32x4.sub(b, a); }
export function v_subrev_co_u32_mask(a: v128, b: v128): v128 { return i32x4.lt_u(b, a); }

export function v_addc_co_u32(a: v128, b: v128, carry: v128): v128 { return i32x4.sub(i32x4.add(a, b), carry); }
export function v_addc_co_u32_mask(a: v128, b: v128, carry: v128): v128 {
  const sum = i32x4.add(a, b);
  // With the carry, a sum of all ones overflows too: to 0.
  return v128.or(i32x4.lt_u(sum, a), v128.and(carry, i32x4.eq(sum, carry)));
}

export function v_subb_co_u32(a: v128, b: v128, borrow: v128): v128 { return i32x4.add(i32x4.sub(a, b), borrow); }
export function v_subb_co_u32_mask(a: v128, b: v128, borrow: v128): v128 {
  return v128.or(i32x4.lt_u(a, b), v128.and(borrow, i32x4.eq(a, b)));
}

export function v_subbrev_co_u32(a: v128, b: v128, borrow: v128): v128 { return v_subb_co_u32(b, a, borrow); }
export function v_subbrev_co_u32_mask(a: v128, b: v128, borrow: v128): v128 { return v_subb_co_u32_mask(b, a, borrow); }

export function v_cndmask_b32(a: v128, b: v128, mask: v128): v128 { return v128.bitselect(b, a, mask); }

// --- f32. Flushing of sources and results and the NaN rule are the loop's.

export function v_add_f32(a: v128, b: v128): v128 { return f32x4.add(a, b); }
export function v_add_f32_rounded(a: v128, b: v128, round: i32): v128 { return addRounded(a, b, round); }
export function v_sub_f32(a: v128, b: v128): v128 { return f32x4.sub(a, b); }
export function v_sub_f32_rounded(a: v128, b: v128, round: i32): v128 { return addRounded(a, f32x4.neg(b), round); }
export function v_subrev_f32(a: v128, b: v128): v128 { return f32x4.sub(b, a); }
export function v_subrev_f32_rounded(a: v128, b: v128, round: i32): v128 { return v_sub_f32_rounded(b, a, round); }
export function v_mul_f32(a: v128, b: v128): v128 { return f32x4.mul(a, b); }
export function v_mul_f32_rounded(a: v128, b: v128, round: i32): v128 { return mulRounded(a, b, round); }

/** Zero times anything is +0. */
export function v_mul_legacy_f32(a: v128, b: v128): v128 {
  const zero = f32x4.splat(0);
  return v128.andnot(f32x4.mul(a, b), v128.or(f32x4.eq(a, zero), f32x4.eq(b, zero)));
}
export function v_mul_legacy_f32_rounded(a: v128, b: v128, round: i32): v128 {
  const zero = f32x4.splat(0);
  return v128.andnot(mulRounded(a, b, round), v128.or(f32x4.eq(a, zero), f32x4.eq(b, zero)));
}

/** Rounded twice; a denormal product is flushed before the addition. */
export function v_mac_f32(a: v128, b: v128, c: v128): v128 { return f32x4.add(flush(f32x4.mul(a, b)), c); }
export function v_mac_f32_rounded(a: v128, b: v128, c: v128, round: i32): v128 {
  return addRounded(flush(mulRounded(a, b, round)), c, round);
}
export function v_madak_f32(a: v128, b: v128, c: v128): v128 { return v_mac_f32(a, b, c); }
export function v_madak_f32_rounded(a: v128, b: v128, c: v128, round: i32): v128 { return v_mac_f32_rounded(a, b, c, round); }
/** The constant stands in the middle, as factor. */
export function v_madmk_f32(a: v128, k: v128, b: v128): v128 { return v_mac_f32(a, k, b); }
export function v_madmk_f32_rounded(a: v128, k: v128, b: v128, round: i32): v128 { return v_mac_f32_rounded(a, k, b, round); }
export function v_mac_legacy_f32(a: v128, b: v128, c: v128): v128 { return f32x4.add(flush(v_mul_legacy_f32(a, b)), c); }
export function v_mac_legacy_f32_rounded(a: v128, b: v128, c: v128, round: i32): v128 {
  return addRounded(flush(v_mul_legacy_f32_rounded(a, b, round)), c, round);
}

/** Of the two the smaller; -0 is below +0. One NaN gives the other operand; with IEEE a signalling NaN comes out quieted. */
// @ts-ignore: decorator
@inline
export function v_min_f32(a: v128, b: v128): v128 {
  // Both orders pick the same number. They differ in a NaN, which has its own way, and in the sign of a zero.
  const x = f32x4.pmin(a, b), y = f32x4.pmin(b, a);
  return v128.any_true(f32x4.ne(x, y)) ? dropNaNs(a, b, v128.or(x, y)) : v128.or(x, y);
}
// @ts-ignore: decorator
@inline
export function v_max_f32(a: v128, b: v128): v128 {
  const x = f32x4.pmax(a, b), y = f32x4.pmax(b, a);
  return v128.any_true(f32x4.ne(x, y)) ? dropNaNs(a, b, v128.and(x, y)) : v128.and(x, y);
}
/** Quick: for operands without NaN. */
export function v_min_f32_quick(a: v128, b: v128): v128 { return v128.or(f32x4.pmin(a, b), f32x4.pmin(b, a)); }
export function v_max_f32_quick(a: v128, b: v128): v128 { return v128.and(f32x4.pmax(a, b), f32x4.pmax(b, a)); }
/** Minimum or maximum `r` with the NaNs among the operands dealt with. */
function dropNaNs(a: v128, b: v128, r: v128): v128 {
  r = v128.bitselect(a, r, isNaNs(b));
  r = quiet(v128.bitselect(v128.bitselect(a, b, isNaNs(b)), r, isNaNs(a)));
  if (!ieee) return r;
  r = v128.bitselect(quiet(b), r, isSignaling(b));
  return v128.bitselect(quiet(a), r, isSignaling(a));
}

/** The second operand where either is NaN; quieted. */
export function v_min_legacy_f32(a: v128, b: v128): v128 { return quiet(f32x4.pmin(b, a)); }
export function v_max_legacy_f32(a: v128, b: v128): v128 { return quiet(v128.bitselect(a, b, f32x4.ge(a, b))); }

// --- 32-bit integers and bits

// @ts-ignore: decorator
@inline
function low24(a: v128): v128 { return v128.and(a, i32x4.splat(0xffffff)); }
// @ts-ignore: decorator
@inline
function signed24(a: v128): v128 { return i32x4.shr_s(i32x4.shl(a, 8), 8); }

export function v_mul_i32_i24(a: v128, b: v128): v128 { return i32x4.mul(signed24(a), signed24(b)); }
export function v_mul_u32_u24(a: v128, b: v128): v128 { return i32x4.mul(low24(a), low24(b)); }
export function v_mul_hi_i32_i24(a: v128, b: v128): v128 {
  const x = signed24(a), y = signed24(b);
  return highs(i64x2.extmul_low_i32x4_s(x, y), i64x2.extmul_high_i32x4_s(x, y));
}
export function v_mul_hi_u32_u24(a: v128, b: v128): v128 {
  const x = low24(a), y = low24(b);
  return highs(i64x2.extmul_low_i32x4_u(x, y), i64x2.extmul_high_i32x4_u(x, y));
}
export function v_min_i32(a: v128, b: v128): v128 { return i32x4.min_s(a, b); }
export function v_max_i32(a: v128, b: v128): v128 { return i32x4.max_s(a, b); }
export function v_min_u32(a: v128, b: v128): v128 { return i32x4.min_u(a, b); }
export function v_max_u32(a: v128, b: v128): v128 { return i32x4.max_u(a, b); }
// @ts-ignore: decorator
@inline
export function v_lshr_b32(a: v128, n: v128): v128 { return shr(a, n); }
// @ts-ignore: decorator
@inline
export function v_lshrrev_b32(n: v128, a: v128): v128 { return shr(a, n); }
// @ts-ignore: decorator
@inline
export function v_ashr_i32(a: v128, n: v128): v128 { return sar(a, n); }
// @ts-ignore: decorator
@inline
export function v_ashrrev_i32(n: v128, a: v128): v128 { return sar(a, n); }
// @ts-ignore: decorator
@inline
export function v_lshl_b32(a: v128, n: v128): v128 { return shl(a, n); }
// @ts-ignore: decorator
@inline
export function v_lshlrev_b32(n: v128, a: v128): v128 { return shl(a, n); }
export function v_and_b32(a: v128, b: v128): v128 { return v128.and(a, b); }
export function v_or_b32(a: v128, b: v128): v128 { return v128.or(a, b); }
export function v_xor_b32(a: v128, b: v128): v128 { return v128.xor(a, b); }

/** So many ones, so far up. */
export function v_bfm_b32(width: v128, offset: v128): v128 {
  return i32x4.mul(i32x4.sub(pow2(width), i32x4.splat(1)), pow2(offset));
}

// @ts-ignore: decorator
@inline
export function popcount(a: v128): v128 {
  return i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(i8x16.popcnt(a)));
}

/** Ones of `a` below the lane's own place, lanes 0 to 31. */
export function v_mbcnt_lo_u32_b32(a: v128, b: v128): v128 {
  const below = chunkLane < 32 ? i32x4.sub(i32x4.shl(i32x4(1, 2, 4, 8), chunkLane), i32x4.splat(1)) : i32x4.splat(-1);
  return i32x4.add(popcount(v128.and(a, below)), b);
}
/** The same, lanes 32 to 63. */
export function v_mbcnt_hi_u32_b32(a: v128, b: v128): v128 {
  if (chunkLane < 32) return b;
  const below = i32x4.sub(i32x4.shl(i32x4(1, 2, 4, 8), chunkLane - 32), i32x4.splat(1));
  return i32x4.add(popcount(v128.and(a, below)), b);
}

// --- 16-bit integers: the low halves; what stands in the high halves of sources and results does not matter

export function v_add_u16(a: v128, b: v128): v128 { return i16x8.add(a, b); }
export function v_sub_u16(a: v128, b: v128): v128 { return i16x8.sub(a, b); }
export function v_subrev_u16(a: v128, b: v128): v128 { return i16x8.sub(b, a); }
export function v_mul_lo_u16(a: v128, b: v128): v128 { return i16x8.mul(a, b); }
export function v_max_u16(a: v128, b: v128): v128 { return i16x8.max_u(a, b); }
export function v_max_i16(a: v128, b: v128): v128 { return i16x8.max_s(a, b); }
export function v_min_u16(a: v128, b: v128): v128 { return i16x8.min_u(a, b); }
export function v_min_i16(a: v128, b: v128): v128 { return i16x8.min_s(a, b); }

// @ts-ignore: decorator
@inline
function count16(n: v128): v128 { return v128.and(n, i32x4.splat(15)); }

// @ts-ignore: decorator
@inline
export function v_lshlrev_b16(n: v128, a: v128): v128 { return shl(a, count16(n)); }
// @ts-ignore: decorator
@inline
export function v_lshrrev_b16(n: v128, a: v128): v128 { return shr(v128.and(a, i32x4.splat(0xffff)), count16(n)); }
// @ts-ignore: decorator
@inline
export function v_ashrrev_i16(n: v128, a: v128): v128 { return sar(i32x4.shr_s(i32x4.shl(a, 16), 16), count16(n)); }

// --- packing

/** Saturating. */
export function v_cvt_pk_u16_u32(a: v128, b: v128): v128 {
  const most = i32x4.splat(0xffff);
  return v128.or(i32x4.min_u(a, most), i32x4.shl(i32x4.min_u(b, most), 16));
}
export function v_cvt_pk_i16_i32(a: v128, b: v128): v128 {
  const packed = i16x8.narrow_i32x4_s(a, b);
  return i16x8.shuffle(packed, packed, 0, 4, 1, 5, 2, 6, 3, 7);
}

/** The exact a × scale to the nearest whole number, ties to even, in lanes 0 and 1; NaN gives 0. */
function scaled2(a: v128, scale: f64): v128 {
  return i32x4.trunc_sat_f64x2_s_zero(f64x2.nearest(f64x2.mul(promoteLow(a), f64x2.splat(scale))));
}
function scaled(a: v128, scale: f64): v128 {
  return i64x2.shuffle(scaled2(a, scale), scaled2(i64x2.shuffle(a, a, 1, 1), scale), 0, 2);
}
/** Between `least` and 1; NaN stays. */
// @ts-ignore: decorator
@inline
function held(a: v128, least: f32): v128 { return f32x4.pmin(f32x4.pmax(a, f32x4.splat(least)), f32x4.splat(1)); }
/** -1 to 1 becomes -32767 to 32767. */
export function v_cvt_pknorm_i16_f32(a: v128, b: v128): v128 {
  return v_cvt_pk_i16_i32(scaled(held(a, -1), 32767), scaled(held(b, -1), 32767));
}
/** 0 to 1 becomes 0 to 65535. */
export function v_cvt_pknorm_u16_f32(a: v128, b: v128): v128 {
  return v_cvt_pk_u16_u32(scaled(held(a, 0), 65535), scaled(held(b, 0), 65535));
}

/** a as an unsigned byte, saturating, in the place of byte b[1:0] of c. */
export function v_cvt_pkaccum_u8_f32(a: v128, b: v128, c: v128): v128 { return insertByte(f32x4.nearest(a), b, c); }
export function v_cvt_pkaccum_u8_f32_rounded(a: v128, b: v128, c: v128, round: i32): v128 {
  const whole = round == 1 ? f32x4.ceil(a) : round == 2 ? f32x4.floor(a) : f32x4.trunc(a);
  return insertByte(whole, b, c);
}
function insertByte(whole: v128, b: v128, c: v128): v128 {
  const byte = i32x4.min_u(i32x4.trunc_sat_f32x4_u(whole), i32x4.splat(0xff));
  const place = i32x4.shl(v128.and(b, i32x4.splat(3)), 3);
  return v128.bitselect(shl(byte, place), c, shl(i32x4.splat(0xff), place));
}
