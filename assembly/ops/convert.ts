// Conversions that have an f16 or f64 on one side. Across formats a NaN keeps its sign and the leading bits of its payload, quieted.
import { demoteRounded2 } from '../lib/float';
import { toFloat, toHalf, toHalfRounded } from '../lib/half';
import { flushResults64 } from '../lib/mode';
import { flush16 } from '../lib/rules';

// --- f16

export function v_cvt_f16_f32(a: v128): v128 { return toHalf(a); }
export function v_cvt_f16_f32_rounded(a: v128, round: i32): v128 { return toHalfRounded(a, round); }
export function v_cvt_f32_f16(a: v128): v128 {
  const x = toFloat(a);
  return v128.or(x, v128.and(f32x4.ne(x, x), i32x4.splat(0x00400000)));
}
/** Towards zero whatever MODE says; f16 denormals are flushed as it says. */
export function v_cvt_pkrtz_f16_f32(a: v128, b: v128): v128 {
  const least = i32x4.splat(flushResults64 ? 0x400 : 0);
  return v128.or(flush16(toHalfRounded(a, 3), least), i32x4.shl(flush16(toHalfRounded(b, 3), least), 16));
}

export function v_cvt_f16_u16(a: v128): v128 { return toHalf(unsigned16(a)); }
export function v_cvt_f16_u16_rounded(a: v128, round: i32): v128 { return toHalfRounded(unsigned16(a), round); }
export function v_cvt_f16_i16(a: v128): v128 { return toHalf(signed16(a)); }
export function v_cvt_f16_i16_rounded(a: v128, round: i32): v128 { return toHalfRounded(signed16(a), round); }
function unsigned16(a: v128): v128 { return f32x4.convert_i32x4_s(v128.and(a, i32x4.splat(0xffff))); }
function signed16(a: v128): v128 { return f32x4.convert_i32x4_s(i32x4.shr_s(i32x4.shl(a, 16), 16)); }

export function v_cvt_u16_f16(a: v128): v128 { return i32x4.min_u(i32x4.trunc_sat_f32x4_u(toFloat(a)), i32x4.splat(0xffff)); }
export function v_cvt_i16_f16(a: v128): v128 {
  return i32x4.max_s(i32x4.min_s(i32x4.trunc_sat_f32x4_s(toFloat(a)), i32x4.splat(0x7fff)), i32x4.splat(-0x8000));
}

// --- f64: two lanes, 32-bit values in their low halves

/** The low halves of two 64-bit lanes in lanes 0 and 1. */
function narrow(a: v128): v128 { return i32x4.shuffle(a, a, 0, 2, 0, 2); }
function widen(a: v128): v128 { return i64x2.extend_low_i32x4_u(a); }

export function v_cvt_i32_f64(a: v128): v128 { return widen(i32x4.trunc_sat_f64x2_s_zero(a)); }
export function v_cvt_u32_f64(a: v128): v128 { return widen(i32x4.trunc_sat_f64x2_u_zero(a)); }
export function v_cvt_f64_i32(a: v128): v128 { return f64x2.convert_low_i32x4_s(narrow(a)); }
export function v_cvt_f64_u32(a: v128): v128 { return f64x2.convert_low_i32x4_u(narrow(a)); }

export function v_cvt_f32_f64(a: v128): v128 { return singleNan(widen(f32x4.demote_f64x2_zero(a)), a); }
export function v_cvt_f32_f64_rounded(a: v128, round: i32): v128 { return singleNan(widen(demoteRounded2(a, round)), a); }
function singleNan(r: v128, a: v128): v128 {
  const nan = f64x2.ne(a, a);
  if (!v128.any_true(nan)) return r;
  const sign = v128.and(i64x2.shr_u(a, 32), i64x2.splat(0x80000000));
  const payload = v128.and(i64x2.shr_u(a, 29), i64x2.splat(0x003fffff));
  return v128.bitselect(v128.or(v128.or(sign, payload), i64x2.splat(0x7fc00000)), r, nan);
}

export function v_cvt_f64_f32(a: v128): v128 {
  const r = f64x2.promote_low_f32x4(narrow(a)), nan = f64x2.ne(r, r);
  if (!v128.any_true(nan)) return r;
  const sign = i64x2.shl(v128.and(a, i64x2.splat(0x80000000)), 32);
  const payload = i64x2.shl(v128.and(a, i64x2.splat(0x003fffff)), 29);
  return v128.bitselect(v128.or(v128.or(sign, payload), i64x2.splat(0x7ff8000000000000)), r, nan);
}
