// Integer operations with the clamp bit, from gfx8 on: the exact result, saturated to the destination. Each one is the plain kernel's
// name with `_clamped`; the loop calls it instead.
import { v_addc_co_u32, v_addc_co_u32_mask, v_subb_co_u32, v_subb_co_u32_mask } from './vop2';
import { v_mad_i64_i32, v_mad_i64_i32_mask, v_mad_u64_u32, v_mad_u64_u32_mask, sads } from './wide';
import { v_msad_u8, v_sad_hi_u8, v_sad_u16, v_sad_u32, v_sad_u8 } from './vop3';

/** `a` + `b`, all ones where that is too much. */
function addSaturated(a: v128, b: v128): v128 {
  const r = i32x4.add(a, b);
  return v128.or(r, i32x4.lt_u(r, a));
}
/** `a` - `b`, zero where that is less. */
function subSaturated(a: v128, b: v128): v128 {
  return i32x4.sub(i32x4.max_u(a, b), b);
}
export function v_add_co_u32_clamped(a: v128, b: v128): v128 { return addSaturated(a, b); }
export function v_sub_co_u32_clamped(a: v128, b: v128): v128 { return subSaturated(a, b); }
export function v_subrev_co_u32_clamped(a: v128, b: v128): v128 { return subSaturated(b, a); }
export function v_addc_co_u32_clamped(a: v128, b: v128, carry: v128): v128 {
  return v128.or(v_addc_co_u32(a, b, carry), v_addc_co_u32_mask(a, b, carry));
}
export function v_subb_co_u32_clamped(a: v128, b: v128, borrow: v128): v128 {
  return v128.andnot(v_subb_co_u32(a, b, borrow), v_subb_co_u32_mask(a, b, borrow));
}
export function v_subbrev_co_u32_clamped(a: v128, b: v128, borrow: v128): v128 { return v_subb_co_u32_clamped(b, a, borrow); }

export function v_add_u16_clamped(a: v128, b: v128): v128 { return i16x8.add_sat_u(a, b); }
export function v_sub_u16_clamped(a: v128, b: v128): v128 { return i16x8.sub_sat_u(a, b); }
export function v_subrev_u16_clamped(a: v128, b: v128): v128 { return i16x8.sub_sat_u(b, a); }

// A sum of absolute differences less its addend is far below 2^32, so it may be added a second time.
function addToSum(differences: v128, c: v128): v128 { return addSaturated(i32x4.sub(differences, c), c); }
export function v_sad_u8_clamped(a: v128, b: v128, c: v128): v128 { return addToSum(v_sad_u8(a, b, c), c); }
export function v_sad_hi_u8_clamped(a: v128, b: v128, c: v128): v128 { return addToSum(v_sad_hi_u8(a, b, c), c); }
export function v_sad_u16_clamped(a: v128, b: v128, c: v128): v128 { return addToSum(v_sad_u16(a, b, c), c); }
export function v_sad_u32_clamped(a: v128, b: v128, c: v128): v128 { return addToSum(v_sad_u32(a, b, c), c); }
export function v_msad_u8_clamped(a: v128, b: v128, c: v128): v128 { return addToSum(v_msad_u8(a, b, c), c); }

// Products of 16 and 24 bits and their sums fit 64 bits, lane by lane.
function lanes(x: i64, y: i64, z: i64, t: i64): v128 { return i32x4(<i32>x, <i32>y, <i32>z, <i32>t); }
function within(x: i64, least: i64, most: i64): i64 { return max(least, min(most, x)); }

function mad16(a: i32, b: i32, c: i32): i64 { return within(<i64><i16>a * <i16>b + <i16>c, -0x8000, 0x7fff); }
export function v_mad_i16_clamped(a: v128, b: v128, c: v128): v128 {
  return lanes(
    mad16(i32x4.extract_lane(a, 0), i32x4.extract_lane(b, 0), i32x4.extract_lane(c, 0)), mad16(i32x4.extract_lane(a, 1), i32x4.extract_lane(b, 1), i32x4.extract_lane(c, 1)),
    mad16(i32x4.extract_lane(a, 2), i32x4.extract_lane(b, 2), i32x4.extract_lane(c, 2)), mad16(i32x4.extract_lane(a, 3), i32x4.extract_lane(b, 3), i32x4.extract_lane(c, 3)));
}
function madUnsigned16(a: i32, b: i32, c: i32): i64 { return within(<i64><u16>a * <u16>b + <u16>c, 0, 0xffff); }
export function v_mad_u16_clamped(a: v128, b: v128, c: v128): v128 {
  return lanes(
    madUnsigned16(i32x4.extract_lane(a, 0), i32x4.extract_lane(b, 0), i32x4.extract_lane(c, 0)), madUnsigned16(i32x4.extract_lane(a, 1), i32x4.extract_lane(b, 1), i32x4.extract_lane(c, 1)),
    madUnsigned16(i32x4.extract_lane(a, 2), i32x4.extract_lane(b, 2), i32x4.extract_lane(c, 2)), madUnsigned16(i32x4.extract_lane(a, 3), i32x4.extract_lane(b, 3), i32x4.extract_lane(c, 3)));
}
function mad24(a: i32, b: i32, c: i32): i64 { return within(<i64>(a << 8 >> 8) * (b << 8 >> 8) + c, i32.MIN_VALUE, i32.MAX_VALUE); }
export function v_mad_i32_i24_clamped(a: v128, b: v128, c: v128): v128 {
  return lanes(
    mad24(i32x4.extract_lane(a, 0), i32x4.extract_lane(b, 0), i32x4.extract_lane(c, 0)), mad24(i32x4.extract_lane(a, 1), i32x4.extract_lane(b, 1), i32x4.extract_lane(c, 1)),
    mad24(i32x4.extract_lane(a, 2), i32x4.extract_lane(b, 2), i32x4.extract_lane(c, 2)), mad24(i32x4.extract_lane(a, 3), i32x4.extract_lane(b, 3), i32x4.extract_lane(c, 3)));
}
function madUnsigned24(a: i32, b: i32, c: i32): i64 { return within(<i64>(a & 0xffffff) * (b & 0xffffff) + <u32>c, 0, <i64>u32.MAX_VALUE); }
export function v_mad_u32_u24_clamped(a: v128, b: v128, c: v128): v128 {
  return lanes(
    madUnsigned24(i32x4.extract_lane(a, 0), i32x4.extract_lane(b, 0), i32x4.extract_lane(c, 0)), madUnsigned24(i32x4.extract_lane(a, 1), i32x4.extract_lane(b, 1), i32x4.extract_lane(c, 1)),
    madUnsigned24(i32x4.extract_lane(a, 2), i32x4.extract_lane(b, 2), i32x4.extract_lane(c, 2)), madUnsigned24(i32x4.extract_lane(a, 3), i32x4.extract_lane(b, 3), i32x4.extract_lane(c, 3)));
}

export function v_mad_u64_u32_clamped(a: v128, b: v128, c: v128): v128 {
  return v128.or(v_mad_u64_u32(a, b, c), v_mad_u64_u32_mask(a, b, c));
}
/** The mask is the sum's true sign; where the sum's own differs, it is too large for 64 bits. */
export function v_mad_i64_i32_clamped(a: v128, b: v128, c: v128): v128 {
  const sum = v_mad_i64_i32(a, b, c), sign = v_mad_i64_i32_mask(a, b, c);
  const overflow = i64x2.shr_s(v128.xor(sum, sign), 63);
  return v128.bitselect(v128.xor(sign, i64x2.splat(i64.MAX_VALUE)), sum, overflow);
}
export function v_qsad_pk_u16_u8_clamped(a: v128, b: v128, c: v128): v128 { return sads(a, b, c, false, true); }
export function v_mqsad_pk_u16_u8_clamped(a: v128, b: v128, c: v128): v128 { return sads(a, b, c, true, true); }
