// Powers, logarithms, sines and roots of four f32, correctly rounded: to f32, or where `half` is set to f16. Knows no operation. `round` is 0
// nearest even, 1 towards +∞, 2 towards −∞, 3 towards zero; a constant 0 leaves nothing of the other modes in the code.
//
// Why that is correctly rounded: between argument and result there is an f64, off by less than four units of its last place, so rounding
// it to f32 can only go wrong where it lies as near as that to the middle between two f32. All arguments were tried (the same f32 and f64
// operations in C, against libquadmath's 113 bits): wherever the f64 lay within 128 units of a middle, a few hundred arguments a function,
// the rounded result was right. It takes the last addition to be rounded to odd, lest a sum be rounded onto the middle itself. By symmetry
// and scaling the following stand for all arguments:
//   exp2  2^-29 ≤ |x| ≤ 128, x ≥ -126 (nearer to zero the result is 1; what is denormal is flushed)
//   log2  all normal numbers
//   sin   2^-47 ≤ t ≤ ¼ (below, the result is 2π·t with the power of two taken along)
//   cos   2^-31 ≤ r ≤ ½ (below, the result is 1)
//   rsqrt 1 ≤ x < 4
// In the directed modes the f32 numbers themselves are what the middles are to nearest: tried in the same way for the same arguments, of exp2
// from 2^-48 on. Exact results are powers of two of integers and their logarithms, which come out exactly, 0 and ±1; below 2^-15 the f64
// could not tell cos from 1.
// test/kernels/elementary.test.ts computes the hardest of them again with big integers. For f16 it does so for every argument.
// The coefficients interpolate at Chebyshev nodes. Whoever changes an operation or its order has to try all arguments again.
import { demote, demoteRounded, promoteHigh, promoteLow } from './float';
import { demoteOdd, toHalf, toHalfRounded } from './half';

// @ts-ignore: decorator
@inline
function narrow(low: v128, high: v128, half: bool, round: i32): v128 {
  if (round) return half ? toHalfRounded(demoteOdd(low, high), round) : demoteRounded(low, high, round);
  return half ? toHalf(demoteOdd(low, high)) : demote(low, high);
}

/** a + b where |a| ≥ |b| or a is 0, rounded to odd: an inexact sum gets, of its two neighbours, the one whose last bit is 1. */
// @ts-ignore: decorator
@inline
function fastAddOdd(a: v128, b: v128): v128 {
  const s = f64x2.add(a, b), e = f64x2.sub(b, f64x2.sub(s, a)), zero = f64x2.splat(0);
  const more = f64x2.gt(e, zero), less = f64x2.lt(e, zero);
  // An error towards zero takes one off the bits; then the last bit is set. That leaves odd bits as they were.
  const towardsZero = v128.bitselect(less, more, f64x2.gt(s, zero));
  return v128.or(i64x2.add(s, towardsZero), v128.and(v128.or(more, less), i64x2.splat(1)));
}

/** One step of Horner's rule. */
// @ts-ignore: decorator
@inline
function step(p: v128, x: v128, coefficient: f64): v128 {
  return f64x2.add(f64x2.mul(p, x), f64x2.splat(coefficient));
}

/** 2^x = 2^n · (1 + t·p(t)), x = n + t, |t| ≤ ½. Beyond 129 and -151 there is nothing but infinity and zero. */
// @ts-ignore: decorator
@inline
export function exp2(x: v128, half: bool, round: i32): v128 {
  const infinite = f32x4.eq(f32x4.abs(x), f32x4.splat(Infinity));
  x = f32x4.pmax(f32x4.pmin(x, f32x4.splat(129)), f32x4.splat(-151)); // these two let NaN pass
  const n = f32x4.nearest(x), t = f32x4.sub(x, n);
  // Added to 1.5 · 2^23 an integer stands in the low bits.
  const field = i32x4.add(f32x4.add(n, f32x4.splat(12582912)), i32x4.splat(1023 - 0x4b400000));
  const r = narrow(
    f64x2.mul(exp2OfFraction(promoteLow(t)), i64x2.shl(i64x2.extend_low_i32x4_u(field), 52)),
    f64x2.mul(exp2OfFraction(promoteHigh(t)), i64x2.shl(i64x2.extend_high_i32x4_u(field), 52)), half, round);
  if (!round) return r;
  // Of infinities the result is exact.
  const exactly = v128.and(f32x4.gt(x, f32x4.splat(0)), i32x4.splat(half ? 0x7c00 : 0x7f800000));
  return v128.bitselect(exactly, r, infinite);
}
function exp2OfFraction(t: v128): v128 {
  let p = f64x2.splat(4.4549605981865186e-10);
  p = step(p, t, 7.072585949269223e-9);
  p = step(p, t, 1.0178062445845774e-7);
  p = step(p, t, 0.000001321544258792169);
  p = step(p, t, 0.00001525273382983612);
  p = step(p, t, 0.0001540353044173605);
  p = step(p, t, 0.0013333558146416936);
  p = step(p, t, 0.009618129107606888);
  p = step(p, t, 0.0555041086648216);
  p = step(p, t, 0.24022650695910097);
  p = step(p, t, 0.6931471805599453);
  return fastAddOdd(f64x2.splat(1), f64x2.mul(t, p));
}

/** log2 x = e + 2/ln 2 · artanh(s), x = 2^e · (1 + f), 1 + f in [√½, √2), s = f / (2 + f). x is not denormal. */
// @ts-ignore: decorator
@inline
export function log2(x: v128, half: bool, round: i32): v128 {
  const e = i32x4.shr_s(i32x4.sub(x, i32x4.splat(0x3f3504f3)), 23);
  const f = f32x4.sub(i32x4.sub(x, i32x4.shl(e, 23)), f32x4.splat(1));
  const r = narrow(log2OfParts(f64x2.convert_low_i32x4_s(e), promoteLow(f)),
    log2OfParts(f64x2.convert_low_i32x4_s(i64x2.shuffle(e, e, 1, 1)), promoteHigh(f)), half, round);
  const ordinary = v128.and(i32x4.gt_s(x, i32x4.splat(0x007fffff)), i32x4.lt_s(x, i32x4.splat(0x7f800000)));
  return i32x4.all_true(ordinary) ? r : v128.bitselect(r, log2OfSpecial(x, half), ordinary);
}
function log2OfParts(e: v128, f: v128): v128 {
  const s = f64x2.div(f, f64x2.add(f64x2.splat(2), f)), z = f64x2.mul(s, s);
  let p = f64x2.splat(0.18880213866521517);
  p = step(p, z, 0.19142773772579882);
  p = step(p, z, 0.22197652442853488);
  p = step(p, z, 0.26230786391134053);
  p = step(p, z, 0.32059890042182215);
  p = step(p, z, 0.4121985831021106);
  p = step(p, z, 0.5770780163555981);
  p = step(p, z, 0.9617966939259756);
  return fastAddOdd(e, f64x2.mul(s, step(p, z, 2.8853900817779268)));
}
/** Of zeros, infinities, negative numbers and NaN. */
function log2OfSpecial(x: v128, half: bool): v128 {
  const zero = f32x4.splat(0), infinity = f32x4.splat(Infinity);
  let r = v128.bitselect(infinity, f32x4.splat(NaN), f32x4.eq(x, infinity));
  r = v128.bitselect(f32x4.neg(infinity), r, f32x4.eq(x, zero));
  return half ? toHalf(r) : r;
}

/** x less the nearest integer: exact. Out of range, beyond ±256, it is 0 (GCN3 manual, V_SIN_F32, V_COS_F32); of infinities NaN. */
// @ts-ignore: decorator
@inline
function fractionOfTurn(x: v128): v128 {
  const magnitude = f32x4.abs(x);
  const outside = v128.and(f32x4.gt(magnitude, f32x4.splat(256)), f32x4.lt(magnitude, f32x4.splat(Infinity)));
  const whole = f32x4.add(f32x4.nearest(x), f32x4.splat(0)); // no -0, so that a zero keeps its sign
  return v128.andnot(f32x4.sub(x, whole), outside);
}

/** sin(2π·x); +0 at multiples of ½, but of -0 it is -0. */
// @ts-ignore: decorator
@inline
export function sinOfTurns(x: v128, half: bool, round: i32): v128 {
  const r = fractionOfTurn(x);
  const folded = f32x4.sub(v128.or(v128.and(r, i32x4.splat(i32.MIN_VALUE)), f32x4.splat(0.5)), r);
  const t = v128.bitselect(folded, r, f32x4.gt(f32x4.abs(r), f32x4.splat(0.25)));
  if (round) return narrow(sinOfTurnDirected(promoteLow(t)), sinOfTurnDirected(promoteHigh(t)), half, round);
  return narrow(sinOfTurn(promoteLow(t)), sinOfTurn(promoteHigh(t)), half, 0);
}
/** cos(2π·x). */
// @ts-ignore: decorator
@inline
export function cosOfTurns(x: v128, half: bool, round: i32): v128 {
  const r = f32x4.abs(fractionOfTurn(x)), quarter = f64x2.splat(0.25);
  if (round) return narrow(cosOfTurnDirected(promoteLow(r)), cosOfTurnDirected(promoteHigh(r)), half, round);
  return narrow(sinOfTurn(f64x2.sub(quarter, promoteLow(r))), sinOfTurn(f64x2.sub(quarter, promoteHigh(r))), half, 0);
}

/** sin(2π·t), |t| ≤ ¼: 2π is split so that its leading 29 bits make an exact product with an f32. */
function sinOfTurn(t: v128): v128 {
  return fastAddOdd(f64x2.mul(t, f64x2.splat(LEADING)), f64x2.mul(t, sinTail(t)));
}
const LEADING: f64 = 6.283185303211212;
/** sin(2π·t)/t less LEADING. */
// @ts-ignore: decorator
@inline
function sinTail(t: v128): v128 {
  const z = f64x2.mul(t, t);
  let p = f64x2.splat(-0.011717551625442718);
  p = step(p, z, 0.10419251641112387);
  p = step(p, z, -0.7181199907422815);
  p = step(p, z, 3.8199524998331955);
  p = step(p, z, -15.094642574985086);
  p = step(p, z, 42.05869394487533);
  p = step(p, z, -76.70585975306125);
  p = step(p, z, 81.60524927607506);
  p = step(p, z, -41.34170224039976);
  return step(p, z, 3.968374318722162e-9);
}
/** The same for the directed modes: exactly ±1 at a quarter, and of what is no f32 the leading bits make the exact product. */
function sinOfTurnDirected(t: v128): v128 {
  const head = f64x2.promote_low_f32x4(f32x4.demote_f64x2_zero(t)), leading = f64x2.splat(LEADING);
  const rest = f64x2.sub(f64x2.mul(t, sinTail(t)), f64x2.mul(f64x2.sub(head, t), leading)); // of -0 it is -0
  return v128.bitselect(f64x2.mul(t, f64x2.splat(4)), fastAddOdd(f64x2.mul(head, leading), rest), f64x2.eq(f64x2.abs(t), f64x2.splat(0.25)));
}
/** cos(2π·r), 0 ≤ r ≤ ½. Below 2^-15 it is 1 less 2^-25 at most, but less, unless r is 0. */
function cosOfTurnDirected(r: v128): v128 {
  const near = v128.and(f64x2.lt(r, f64x2.splat(0.000030517578125)), f64x2.gt(r, f64x2.splat(0)));
  return v128.bitselect(f64x2.splat(0.9999999999999999), sinOfTurnDirected(f64x2.sub(f64x2.splat(0.25), r)), near);
}

/** 1/√x by division in f64. */
// @ts-ignore: decorator
@inline
export function rsqrtByDivision(x: v128, half: bool, round: i32): v128 {
  const one = f64x2.splat(1);
  return narrow(f64x2.div(one, f64x2.sqrt(promoteLow(x))), f64x2.div(one, f64x2.sqrt(promoteHigh(x))), half, round);
}

/** 1/√x of f32 to nearest: divided in f32, where four lanes cost what one costs in f64, and corrected: by fused multiply-adds where there are some, else in f64. */
// @ts-ignore: decorator
@inline
export function rsqrt(x: v128): v128 {
  const y = f32x4.div(f32x4.splat(1), f32x4.sqrt(x));
  const r = isDefined(RELAXED) ? fusedCorrected(x, y) : demote(corrected(promoteLow(x), promoteLow(y)), corrected(promoteHigh(x), promoteHigh(y)));
  // Of zero and infinity y is right, and the correction NaN.
  return v128.bitselect(r, y, f32x4.eq(r, r));
}

/** The same as `corrected` in f32: with x·y as a sum of two numbers e is good to its last bit but one, and so are all results (1 ≤ x < 4, tried out). */
// @ts-ignore: decorator
@inline
function fusedCorrected(x: v128, y: v128): v128 {
  const root = f32x4.mul(x, y), rest = f32x4.relaxed_madd(x, y, f32x4.neg(root));
  const e = f32x4.relaxed_madd(rest, y, f32x4.relaxed_madd(root, y, f32x4.splat(-1)));
  const half = f32x4.relaxed_madd(f32x4.mul(f32x4.splat(-0.375), e), e, f32x4.mul(f32x4.splat(0.5), e));
  return f32x4.relaxed_nmadd(y, half, y);
}

/** y·(1 − e)^(−½) to the second power of e = 1 − x·y². */
// @ts-ignore: decorator
@inline
function corrected(x: v128, y: v128): v128 {
  const e = f64x2.sub(f64x2.splat(1), f64x2.mul(x, f64x2.mul(y, y)));
  return f64x2.add(y, f64x2.mul(y, f64x2.mul(e, f64x2.add(f64x2.splat(0.5), f64x2.mul(f64x2.splat(0.375), e)))));
}

// The same functions where the round mode is not known when this is compiled; each stands once.

export function exp2Rounded(x: v128, half: bool, round: i32): v128 { return exp2(x, half, round); }
export function log2Rounded(x: v128, half: bool, round: i32): v128 { return log2(x, half, round); }
export function sinRounded(x: v128, half: bool, round: i32): v128 { return sinOfTurns(x, half, round); }
export function cosRounded(x: v128, half: bool, round: i32): v128 { return cosOfTurns(x, half, round); }
export function rsqrtRounded(x: v128, half: bool, round: i32): v128 { return rsqrtByDivision(x, half, round); }
/** 1/a and √a of f32. The f64 cannot hit an f32 that is not the exact result: that one times a, or squared, has 48 bits. */
export function reciprocalRounded(a: v128, round: i32): v128 {
  const one = f64x2.splat(1);
  return demoteRounded(f64x2.div(one, promoteLow(a)), f64x2.div(one, promoteHigh(a)), round);
}
export function sqrtRounded(a: v128, round: i32): v128 {
  return demoteRounded(f64x2.sqrt(promoteLow(a)), f64x2.sqrt(promoteHigh(a)), round);
}
