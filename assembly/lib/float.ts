// f32 arithmetic on four lanes that WebAssembly does not have: flushing, quieting, exact FMA, the other round modes. Knows no MODE.
import { highs, lows } from './lanes';

export const SIGN: i32 = <i32>0x80000000;
export const MAGNITUDE: i32 = 0x7fffffff;
export const INFINITY_BITS: i32 = 0x7f800000;
export const QUIET: i32 = 0x00400000;
/** What an invalid operation on numbers gives. */
export const DEFAULT_NAN: i32 = 0x7fc00000;
/** Least f32 that is no denormal, 2^-126. */
export const MIN_NORMAL: f32 = reinterpret<f32>(0x00800000);

/** Denormals become zeros of their sign. */
// @ts-ignore: decorator
@inline
export function flush(a: v128): v128 {
  // A comparison's mask shifted by one keeps the sign out of it.
  return v128.andnot(a, i32x4.shr_u(f32x4.lt(f32x4.abs(a), f32x4.splat(MIN_NORMAL)), 1));
}

// @ts-ignore: decorator
@inline
export function isNaNs(a: v128): v128 {
  return f32x4.ne(a, a);
}

/** NaNs whose quiet bit is clear. */
export function isSignaling(a: v128): v128 {
  return v128.andnot(isNaNs(a), i32x4.shr_s(i32x4.shl(a, 9), 31));
}

/** NaNs get their quiet bit. */
// @ts-ignore: decorator
@inline
export function quiet(a: v128): v128 {
  return v128.or(a, v128.and(isNaNs(a), i32x4.splat(QUIET)));
}

/** Lanes 0 and 1 as f64. */
// @ts-ignore: decorator
@inline
export function promoteLow(a: v128): v128 {
  return f64x2.promote_low_f32x4(a);
}

/** Lanes 2 and 3 as f64. */
// @ts-ignore: decorator
@inline
export function promoteHigh(a: v128): v128 {
  return f64x2.promote_low_f32x4(i64x2.shuffle(a, a, 1, 1));
}

/** Four f64 to f32, nearest even. */
// @ts-ignore: decorator
@inline
export function demote(low: v128, high: v128): v128 {
  return i64x2.shuffle(f32x4.demote_f64x2_zero(low), f32x4.demote_f64x2_zero(high), 0, 2);
}

/**
 * Two f64 (exact, or rounded to odd) to f32 in lanes 0 and 1, rounded as `round` says: 0 nearest even, 1 towards +∞, 2 towards −∞,
 * 3 towards zero. The sign of a zero stays.
 */
export function demoteRounded2(s: v128, round: i32): v128 {
  const nearest = f32x4.demote_f64x2_zero(s);
  if (round == 0) return nearest;
  const back = f64x2.promote_low_f32x4(nearest);
  const below = f64x2.lt(back, s), above = f64x2.gt(back, s);
  const negative = i64x2.shr_s(s, 63);
  let step: v128; // added to the bits: 1 is a step away from zero, -1 one towards it
  if (round == 1) step = v128.and(below, v128.or(negative, i64x2.splat(1)));
  else if (round == 2) step = v128.and(above, v128.or(v128.not(negative), i64x2.splat(1)));
  else step = v128.bitselect(below, above, negative);
  return i32x4.add(nearest, lows(step, step));
}

/** Four f64 to f32 as demoteRounded2 does. */
export function demoteRounded(low: v128, high: v128, round: i32): v128 {
  return i64x2.shuffle(demoteRounded2(low, round), demoteRounded2(high, round), 0, 2);
}

/**
 * p + c in f64, rounded to odd: when it is inexact, of the two neighbours the one with an odd significand. Rounding that to f32 gives what
 * rounding the exact sum gives, in every mode (S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
 * No operand may be so large that the sum overflows f64.
 */
export function sumToOdd(p: v128, c: v128): v128 {
  const s = f64x2.add(p, c);
  const t = f64x2.sub(s, p);
  const error = f64x2.add(f64x2.sub(p, f64x2.sub(s, t)), f64x2.sub(c, t));
  const inexact = f64x2.gt(f64x2.abs(error), f64x2.splat(0)); // false where s is infinite or NaN: then error is NaN
  const even = i64x2.eq(v128.and(s, i64x2.splat(1)), i64x2.splat(0));
  // Towards the error: away from zero where the signs agree.
  const step = v128.or(i64x2.shr_s(v128.xor(error, s), 63), i64x2.splat(1));
  return i64x2.add(s, v128.and(v128.and(inexact, even), step));
}

/** The same with the sign that a zero has in a round mode: towards −∞ it is negative unless both terms are positive. */
function signedSumToOdd(p: v128, c: v128, round: i32): v128 {
  const s = sumToOdd(p, c);
  if (round != 2) return s;
  const sign = v128.and(v128.or(p, c), i64x2.splat(i64.MIN_VALUE));
  return v128.or(s, v128.and(f64x2.eq(s, f64x2.splat(0)), sign));
}

function sumRounded2(p: v128, c: v128, round: i32): v128 {
  return demoteRounded2(signedSumToOdd(p, c, round), round);
}

/** a × b + c, rounded once as `round` says (see demoteRounded2). */
export function fmaRounded(a: v128, b: v128, c: v128, round: i32): v128 {
  return i64x2.shuffle(
    sumRounded2(f64x2.mul(promoteLow(a), promoteLow(b)), promoteLow(c), round),
    sumRounded2(f64x2.mul(promoteHigh(a), promoteHigh(b)), promoteHigh(c), round), 0, 2);
}

/** (a × b + c) × scale, rounded once; the scale is a power of two. */
export function fmaScaledRounded(a: v128, b: v128, c: v128, scale: v128, round: i32): v128 {
  const low = signedSumToOdd(f64x2.mul(promoteLow(a), promoteLow(b)), promoteLow(c), round);
  const high = signedSumToOdd(f64x2.mul(promoteHigh(a), promoteHigh(b)), promoteHigh(c), round);
  return demoteRounded(f64x2.mul(low, promoteLow(scale)), f64x2.mul(high, promoteHigh(scale)), round);
}

/** a + b, rounded as `round` says. */
export function addRounded(a: v128, b: v128, round: i32): v128 {
  return i64x2.shuffle(sumRounded2(promoteLow(a), promoteLow(b), round), sumRounded2(promoteHigh(a), promoteHigh(b), round), 0, 2);
}

/** a × b, rounded as `round` says. */
export function mulRounded(a: v128, b: v128, round: i32): v128 {
  return demoteRounded(f64x2.mul(promoteLow(a), promoteLow(b)), f64x2.mul(promoteHigh(a), promoteHigh(b)), round);
}

/** a × b + c, rounded once, to nearest even. RELAXED (asc --use RELAXED=1) is for engines whose relaxed multiply-add is known to fuse. */
// @ts-ignore: decorator
@inline
export function fma(a: v128, b: v128, c: v128): v128 {
  // @ts-ignore: defined by asc or not at all
  return isDefined(RELAXED) ? f32x4.relaxed_madd(a, b, c) : fmaInF64(a, b, c);
}

/** The same, but NaN where the quick way may be wrong. */
// @ts-ignore: decorator
@inline
export function fmaOrNan(a: v128, b: v128, c: v128): v128 {
  // @ts-ignore: defined by asc or not at all
  if (isDefined(RELAXED)) return f32x4.relaxed_madd(a, b, c);
  const s0 = f64x2.add(f64x2.mul(promoteLow(a), promoteLow(b)), promoteLow(c));
  const s1 = f64x2.add(f64x2.mul(promoteHigh(a), promoteHigh(b)), promoteHigh(c));
  return v128.or(demote(s0, s1), isUnsure(s0, s1));
}

// @ts-ignore: decorator
@inline
function fmaInF64(a: v128, b: v128, c: v128): v128 {
  const s0 = f64x2.add(f64x2.mul(promoteLow(a), promoteLow(b)), promoteLow(c));
  const s1 = f64x2.add(f64x2.mul(promoteHigh(a), promoteHigh(b)), promoteHigh(c));
  return v128.any_true(isUnsure(s0, s1)) ? fmaRounded(a, b, c, 0) : demote(s0, s1);
}

/**
 * The product of two f32 is exact in f64. Rounding the f64 sum again, to f32, can only go wrong where the sum lies on a tie of f32, or
 * among the denormals of f32, whose ties lie elsewhere; such a chunk is done again with the sum rounded to odd.
 */
// @ts-ignore: decorator
@inline
function isUnsure(s0: v128, s1: v128): v128 {
  // A tie: the 29 bits that f32 lacks are 1 and zeros.
  const ties = i32x4.eq(i32x4.shl(lows(s0, s1), 3), i32x4.splat(SIGN));
  // 0 < |s| < 2^-126, on the upper halves without the sign; biased, as the comparison is signed.
  const tiny = i32x4.lt_s(i32x4.add(i32x4.shl(highs(s0, s1), 1), i32x4.splat(MAGNITUDE)), i32x4.splat(0x70200000 + MAGNITUDE));
  return v128.or(ties, tiny);
}
