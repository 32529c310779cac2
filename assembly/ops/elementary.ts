// Operations that hardware approximates, correctly rounded here. Denormals have been flushed for f32, and the loop rebuilds NaN.
import {
  cosOfTurns, cosRounded, exp2, exp2Rounded, log2, log2Rounded, reciprocalRounded, rsqrt, rsqrtByDivision, rsqrtRounded, sinOfTurns, sinRounded,
  sqrtRounded,
} from '../lib/elementary';
import { toFloat, toHalf, toHalfRounded } from '../lib/half';

// --- f32

export function v_rcp_f32(a: v128): v128 { return f32x4.div(f32x4.splat(1), a); }
export function v_rcp_f32_rounded(a: v128, round: i32): v128 { return reciprocalRounded(a, round); }
export function v_rcp_iflag_f32(a: v128): v128 { return v_rcp_f32(a); }
export function v_rcp_iflag_f32_rounded(a: v128, round: i32): v128 { return v_rcp_f32_rounded(a, round); }
export function v_sqrt_f32(a: v128): v128 { return f32x4.sqrt(a); }
export function v_sqrt_f32_rounded(a: v128, round: i32): v128 { return sqrtRounded(a, round); }
export function v_rsq_f32(a: v128): v128 { return rsqrt(a); }
export function v_rsq_f32_rounded(a: v128, round: i32): v128 { return rsqrtRounded(a, false, round); }
export function v_exp_f32(a: v128): v128 { return exp2(a, false, 0); }
export function v_exp_f32_rounded(a: v128, round: i32): v128 { return exp2Rounded(a, false, round); }
export function v_exp_legacy_f32(a: v128): v128 { return v_exp_f32(a); }
export function v_exp_legacy_f32_rounded(a: v128, round: i32): v128 { return v_exp_f32_rounded(a, round); }
export function v_log_f32(a: v128): v128 { return log2(a, false, 0); }
export function v_log_f32_rounded(a: v128, round: i32): v128 { return log2Rounded(a, false, round); }
export function v_log_legacy_f32(a: v128): v128 { return v_log_f32(a); }
export function v_log_legacy_f32_rounded(a: v128, round: i32): v128 { return v_log_f32_rounded(a, round); }
export function v_sin_f32(a: v128): v128 { return sinOfTurns(a, false, 0); }
export function v_sin_f32_rounded(a: v128, round: i32): v128 { return sinRounded(a, false, round); }
export function v_cos_f32(a: v128): v128 { return cosOfTurns(a, false, 0); }
export function v_cos_f32_rounded(a: v128, round: i32): v128 { return cosRounded(a, false, round); }

// Infinite results become the largest number (clamp) or zero (legacy) of their sign.

export function v_rcp_clamp_f32(a: v128): v128 { return finite(v_rcp_f32(a), 0x7f7fffff); }
export function v_rcp_clamp_f32_rounded(a: v128, round: i32): v128 { return finite(v_rcp_f32_rounded(a, round), 0x7f7fffff); }
export function v_rsq_clamp_f32(a: v128): v128 { return finite(v_rsq_f32(a), 0x7f7fffff); }
export function v_rsq_clamp_f32_rounded(a: v128, round: i32): v128 { return finite(v_rsq_f32_rounded(a, round), 0x7f7fffff); }
export function v_log_clamp_f32(a: v128): v128 { return finite(v_log_f32(a), 0x7f7fffff); }
export function v_log_clamp_f32_rounded(a: v128, round: i32): v128 { return finite(v_log_f32_rounded(a, round), 0x7f7fffff); }
export function v_rcp_legacy_f32(a: v128): v128 { return finite(v_rcp_f32(a), 0); }
export function v_rcp_legacy_f32_rounded(a: v128, round: i32): v128 { return finite(v_rcp_f32_rounded(a, round), 0); }
export function v_rsq_legacy_f32(a: v128): v128 { return finite(v_rsq_f32(a), 0); }
export function v_rsq_legacy_f32_rounded(a: v128, round: i32): v128 { return finite(v_rsq_f32_rounded(a, round), 0); }
function finite(r: v128, instead: i32): v128 {
  const infinite = f32x4.eq(f32x4.abs(r), f32x4.splat(Infinity));
  return v128.bitselect(v128.or(i32x4.splat(instead), v128.and(r, i32x4.splat(i32.MIN_VALUE))), r, infinite);
}

// --- f16. For 1/x and √x a second rounding from f32 changes nothing: 24 bits are 2·11 + 2.

export function v_rcp_f16(a: v128): v128 { return toHalf(v_rcp_f32(toFloat(a))); }
export function v_rcp_f16_rounded(a: v128, round: i32): v128 { return toHalfRounded(v_rcp_f32(toFloat(a)), round); }
export function v_sqrt_f16(a: v128): v128 { return toHalf(f32x4.sqrt(toFloat(a))); }
export function v_sqrt_f16_rounded(a: v128, round: i32): v128 { return toHalfRounded(f32x4.sqrt(toFloat(a)), round); }
export function v_rsq_f16(a: v128): v128 { return rsqrtByDivision(toFloat(a), true, 0); }
export function v_rsq_f16_rounded(a: v128, round: i32): v128 { return rsqrtRounded(toFloat(a), true, round); }
export function v_exp_f16(a: v128): v128 { return exp2(toFloat(a), true, 0); }
export function v_exp_f16_rounded(a: v128, round: i32): v128 { return exp2Rounded(toFloat(a), true, round); }
export function v_log_f16(a: v128): v128 { return log2(toFloat(a), true, 0); }
export function v_log_f16_rounded(a: v128, round: i32): v128 { return log2Rounded(toFloat(a), true, round); }
export function v_sin_f16(a: v128): v128 { return sinOfTurns(toFloat(a), true, 0); }
export function v_sin_f16_rounded(a: v128, round: i32): v128 { return sinRounded(toFloat(a), true, round); }
export function v_cos_f16(a: v128): v128 { return cosOfTurns(toFloat(a), true, 0); }
export function v_cos_f16_rounded(a: v128, round: i32): v128 { return cosRounded(toFloat(a), true, round); }
