// Vector compares: masks as all-ones or zero lanes of the operands' width. v_cmpx_X runs the kernel of v_cmp_X.
import { INFINITY_BITS, MIN_NORMAL, QUIET, SIGN } from '../lib/float';

// @ts-ignore: decorator
@inline
function none(): v128 { return i32x4.splat(0); }
// @ts-ignore: decorator
@inline
function all(): v128 { return i32x4.splat(-1); }

// --- floats: lt to ge and lg are false with a NaN, their negations nge to nlt true; o: no NaN, u: one or two

export function v_cmp_f_f32(a: v128, b: v128): v128 { return none(); }
export function v_cmp_lt_f32(a: v128, b: v128): v128 { return f32x4.lt(a, b); }
export function v_cmp_eq_f32(a: v128, b: v128): v128 { return f32x4.eq(a, b); }
export function v_cmp_le_f32(a: v128, b: v128): v128 { return f32x4.le(a, b); }
export function v_cmp_gt_f32(a: v128, b: v128): v128 { return f32x4.gt(a, b); }
export function v_cmp_lg_f32(a: v128, b: v128): v128 { return v128.or(f32x4.lt(a, b), f32x4.gt(a, b)); }
export function v_cmp_ge_f32(a: v128, b: v128): v128 { return f32x4.ge(a, b); }
export function v_cmp_o_f32(a: v128, b: v128): v128 { return v128.and(f32x4.eq(a, a), f32x4.eq(b, b)); }
export function v_cmp_u_f32(a: v128, b: v128): v128 { return v128.or(f32x4.ne(a, a), f32x4.ne(b, b)); }
export function v_cmp_nge_f32(a: v128, b: v128): v128 { return v128.not(f32x4.ge(a, b)); }
export function v_cmp_nlg_f32(a: v128, b: v128): v128 { return v128.not(v_cmp_lg_f32(a, b)); }
export function v_cmp_ngt_f32(a: v128, b: v128): v128 { return v128.not(f32x4.gt(a, b)); }
export function v_cmp_nle_f32(a: v128, b: v128): v128 { return v128.not(f32x4.le(a, b)); }
export function v_cmp_neq_f32(a: v128, b: v128): v128 { return f32x4.ne(a, b); }
export function v_cmp_nlt_f32(a: v128, b: v128): v128 { return v128.not(f32x4.lt(a, b)); }
export function v_cmp_tru_f32(a: v128, b: v128): v128 { return all(); }


export function v_cmp_f_f64(a: v128, b: v128): v128 { return none(); }
export function v_cmp_lt_f64(a: v128, b: v128): v128 { return f64x2.lt(a, b); }
export function v_cmp_eq_f64(a: v128, b: v128): v128 { return f64x2.eq(a, b); }
export function v_cmp_le_f64(a: v128, b: v128): v128 { return f64x2.le(a, b); }
export function v_cmp_gt_f64(a: v128, b: v128): v128 { return f64x2.gt(a, b); }
export function v_cmp_lg_f64(a: v128, b: v128): v128 { return v128.or(f64x2.lt(a, b), f64x2.gt(a, b)); }
export function v_cmp_ge_f64(a: v128, b: v128): v128 { return f64x2.ge(a, b); }
export function v_cmp_o_f64(a: v128, b: v128): v128 { return v128.and(f64x2.eq(a, a), f64x2.eq(b, b)); }
export function v_cmp_u_f64(a: v128, b: v128): v128 { return v128.or(f64x2.ne(a, a), f64x2.ne(b, b)); }
export function v_cmp_nge_f64(a: v128, b: v128): v128 { return v128.not(f64x2.ge(a, b)); }
export function v_cmp_nlg_f64(a: v128, b: v128): v128 { return v128.not(v_cmp_lg_f64(a, b)); }
export function v_cmp_ngt_f64(a: v128, b: v128): v128 { return v128.not(f64x2.gt(a, b)); }
export function v_cmp_nle_f64(a: v128, b: v128): v128 { return v128.not(f64x2.le(a, b)); }
export function v_cmp_neq_f64(a: v128, b: v128): v128 { return f64x2.ne(a, b); }
export function v_cmp_nlt_f64(a: v128, b: v128): v128 { return v128.not(f64x2.lt(a, b)); }
export function v_cmp_tru_f64(a: v128, b: v128): v128 { return all(); }

// f16: a number's bits moved to where f32 has them keep their order, as WebAssembly's comparisons do not flush; infinity and NaN get the
// exponent that they have in f32.
// @ts-ignore: decorator
@inline
function ordered(a: v128): v128 {
  const magnitude = i32x4.shl(v128.and(a, i32x4.splat(0x7fff)), 13);
  const special = v128.and(i32x4.ge_s(magnitude, i32x4.splat(0x7c00 << 13)), i32x4.splat(INFINITY_BITS));
  return v128.or(v128.or(magnitude, special), v128.and(i32x4.shl(a, 16), i32x4.splat(SIGN)));
}


export function v_cmp_f_f16(a: v128, b: v128): v128 { return none(); }
export function v_cmp_lt_f16(a: v128, b: v128): v128 { return f32x4.lt(ordered(a), ordered(b)); }
export function v_cmp_eq_f16(a: v128, b: v128): v128 { return f32x4.eq(ordered(a), ordered(b)); }
export function v_cmp_le_f16(a: v128, b: v128): v128 { return f32x4.le(ordered(a), ordered(b)); }
export function v_cmp_gt_f16(a: v128, b: v128): v128 { return f32x4.gt(ordered(a), ordered(b)); }
export function v_cmp_lg_f16(a: v128, b: v128): v128 { return v128.or(f32x4.lt(ordered(a), ordered(b)), f32x4.gt(ordered(a), ordered(b))); }
export function v_cmp_ge_f16(a: v128, b: v128): v128 { return f32x4.ge(ordered(a), ordered(b)); }
export function v_cmp_o_f16(a: v128, b: v128): v128 { return v128.and(f32x4.eq(ordered(a), ordered(a)), f32x4.eq(ordered(b), ordered(b))); }
export function v_cmp_u_f16(a: v128, b: v128): v128 { return v128.or(f32x4.ne(ordered(a), ordered(a)), f32x4.ne(ordered(b), ordered(b))); }
export function v_cmp_nge_f16(a: v128, b: v128): v128 { return v128.not(f32x4.ge(ordered(a), ordered(b))); }
export function v_cmp_nlg_f16(a: v128, b: v128): v128 { return v128.not(v_cmp_lg_f16(a, b)); }
export function v_cmp_ngt_f16(a: v128, b: v128): v128 { return v128.not(f32x4.gt(ordered(a), ordered(b))); }
export function v_cmp_nle_f16(a: v128, b: v128): v128 { return v128.not(f32x4.le(ordered(a), ordered(b))); }
export function v_cmp_neq_f16(a: v128, b: v128): v128 { return f32x4.ne(ordered(a), ordered(b)); }
export function v_cmp_nlt_f16(a: v128, b: v128): v128 { return v128.not(f32x4.lt(ordered(a), ordered(b))); }
export function v_cmp_tru_f16(a: v128, b: v128): v128 { return all(); }

// --- integers

export function v_cmp_f_i32(a: v128, b: v128): v128 { return none(); }
export function v_cmp_lt_i32(a: v128, b: v128): v128 { return i32x4.lt_s(a, b); }
export function v_cmp_eq_i32(a: v128, b: v128): v128 { return i32x4.eq(a, b); }
export function v_cmp_le_i32(a: v128, b: v128): v128 { return i32x4.le_s(a, b); }
export function v_cmp_gt_i32(a: v128, b: v128): v128 { return i32x4.gt_s(a, b); }
export function v_cmp_ne_i32(a: v128, b: v128): v128 { return i32x4.ne(a, b); }
export function v_cmp_ge_i32(a: v128, b: v128): v128 { return i32x4.ge_s(a, b); }
export function v_cmp_t_i32(a: v128, b: v128): v128 { return all(); }

export function v_cmp_f_u32(a: v128, b: v128): v128 { return none(); }
export function v_cmp_lt_u32(a: v128, b: v128): v128 { return i32x4.lt_u(a, b); }
export function v_cmp_eq_u32(a: v128, b: v128): v128 { return i32x4.eq(a, b); }
export function v_cmp_le_u32(a: v128, b: v128): v128 { return i32x4.le_u(a, b); }
export function v_cmp_gt_u32(a: v128, b: v128): v128 { return i32x4.gt_u(a, b); }
export function v_cmp_ne_u32(a: v128, b: v128): v128 { return i32x4.ne(a, b); }
export function v_cmp_ge_u32(a: v128, b: v128): v128 { return i32x4.ge_u(a, b); }
export function v_cmp_t_u32(a: v128, b: v128): v128 { return all(); }

// 16 bits: shifted to the top they compare like 32.
// @ts-ignore: decorator
@inline
function top(a: v128): v128 { return i32x4.shl(a, 16); }

export function v_cmp_f_i16(a: v128, b: v128): v128 { return none(); }
export function v_cmp_lt_i16(a: v128, b: v128): v128 { return i32x4.lt_s(top(a), top(b)); }
export function v_cmp_eq_i16(a: v128, b: v128): v128 { return i32x4.eq(top(a), top(b)); }
export function v_cmp_le_i16(a: v128, b: v128): v128 { return i32x4.le_s(top(a), top(b)); }
export function v_cmp_gt_i16(a: v128, b: v128): v128 { return i32x4.gt_s(top(a), top(b)); }
export function v_cmp_ne_i16(a: v128, b: v128): v128 { return i32x4.ne(top(a), top(b)); }
export function v_cmp_ge_i16(a: v128, b: v128): v128 { return i32x4.ge_s(top(a), top(b)); }
export function v_cmp_t_i16(a: v128, b: v128): v128 { return all(); }

export function v_cmp_f_u16(a: v128, b: v128): v128 { return none(); }
export function v_cmp_lt_u16(a: v128, b: v128): v128 { return i32x4.lt_u(top(a), top(b)); }
export function v_cmp_eq_u16(a: v128, b: v128): v128 { return i32x4.eq(top(a), top(b)); }
export function v_cmp_le_u16(a: v128, b: v128): v128 { return i32x4.le_u(top(a), top(b)); }
export function v_cmp_gt_u16(a: v128, b: v128): v128 { return i32x4.gt_u(top(a), top(b)); }
export function v_cmp_ne_u16(a: v128, b: v128): v128 { return i32x4.ne(top(a), top(b)); }
export function v_cmp_ge_u16(a: v128, b: v128): v128 { return i32x4.ge_u(top(a), top(b)); }
export function v_cmp_t_u16(a: v128, b: v128): v128 { return all(); }

export function v_cmp_f_i64(a: v128, b: v128): v128 { return none(); }
export function v_cmp_lt_i64(a: v128, b: v128): v128 { return i64x2.lt_s(a, b); }
export function v_cmp_eq_i64(a: v128, b: v128): v128 { return i64x2.eq(a, b); }
export function v_cmp_le_i64(a: v128, b: v128): v128 { return i64x2.le_s(a, b); }
export function v_cmp_gt_i64(a: v128, b: v128): v128 { return i64x2.gt_s(a, b); }
export function v_cmp_ne_i64(a: v128, b: v128): v128 { return i64x2.ne(a, b); }
export function v_cmp_ge_i64(a: v128, b: v128): v128 { return i64x2.ge_s(a, b); }
export function v_cmp_t_i64(a: v128, b: v128): v128 { return all(); }

// With the top bit turned unsigned numbers compare like signed ones.
// @ts-ignore: decorator
@inline
function biased(a: v128): v128 { return v128.xor(a, i64x2.splat(i64.MIN_VALUE)); }

export function v_cmp_f_u64(a: v128, b: v128): v128 { return none(); }
export function v_cmp_lt_u64(a: v128, b: v128): v128 { return i64x2.lt_s(biased(a), biased(b)); }
export function v_cmp_eq_u64(a: v128, b: v128): v128 { return i64x2.eq(a, b); }
export function v_cmp_le_u64(a: v128, b: v128): v128 { return i64x2.le_s(biased(a), biased(b)); }
export function v_cmp_gt_u64(a: v128, b: v128): v128 { return i64x2.gt_s(biased(a), biased(b)); }
export function v_cmp_ne_u64(a: v128, b: v128): v128 { return i64x2.ne(a, b); }
export function v_cmp_ge_u64(a: v128, b: v128): v128 { return i64x2.ge_s(biased(a), biased(b)); }
export function v_cmp_t_u64(a: v128, b: v128): v128 { return all(); }

// --- classes: b says which of these count:
// 0 signalling NaN, 1 quiet NaN, then by value: 2 -infinity, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal, 8 +normal, 9 +infinity

/** Of two bits the one that the sign asks for, whatever the lanes' width. */
// @ts-ignore: decorator
@inline
function bySign(negative: v128, ifNegative: i32, ifPositive: i32): v128 {
  return v128.bitselect(i32x4.splat(ifNegative), i32x4.splat(ifPositive), negative);
}
export function v_cmp_class_f32(a: v128, b: v128): v128 {
  const negative = i32x4.shr_s(a, 31), magnitude = f32x4.abs(a);
  let bit = bySign(negative, 1 << 3, 1 << 8);
  bit = v128.bitselect(bySign(negative, 1 << 4, 1 << 7), bit, f32x4.lt(magnitude, f32x4.splat(MIN_NORMAL)));
  bit = v128.bitselect(bySign(negative, 1 << 5, 1 << 6), bit, f32x4.eq(a, f32x4.splat(0)));
  const infinity = i32x4.splat(INFINITY_BITS);
  bit = v128.bitselect(bySign(negative, 1 << 2, 1 << 9), bit, i32x4.eq(magnitude, infinity));
  bit = v128.bitselect(i32x4.splat(1 << 0), bit, i32x4.gt_s(magnitude, infinity));
  bit = v128.bitselect(i32x4.splat(1 << 1), bit, i32x4.ge_s(magnitude, i32x4.splat(INFINITY_BITS | QUIET)));
  return i32x4.ne(v128.and(b, bit), none());
}
export function v_cmp_class_f16(a: v128, b: v128): v128 { return v_cmp_class_f32(ordered(a), b); }
export function v_cmp_class_f64(a: v128, b: v128): v128 {
  const negative = i64x2.lt_s(a, none()), magnitude = f64x2.abs(a);
  let bit = bySign(negative, 1 << 3, 1 << 8);
  bit = v128.bitselect(bySign(negative, 1 << 4, 1 << 7), bit, f64x2.lt(magnitude, f64x2.splat(reinterpret<f64>(0x0010000000000000))));
  bit = v128.bitselect(bySign(negative, 1 << 5, 1 << 6), bit, f64x2.eq(a, f64x2.splat(0)));
  const infinity = i64x2.splat(0x7ff0000000000000);
  bit = v128.bitselect(bySign(negative, 1 << 2, 1 << 9), bit, i64x2.eq(magnitude, infinity));
  bit = v128.bitselect(i64x2.splat(1 << 0), bit, i64x2.gt_s(magnitude, infinity));
  bit = v128.bitselect(i64x2.splat(1 << 1), bit, i64x2.ge_s(magnitude, i64x2.splat(0x7ff8000000000000)));
  return i64x2.ne(v128.and(b, bit), none());
}
