// Powers, logarithms, sines and roots, correctly rounded to nearest: each function takes two f32 in lanes 0 and 1 and gives two f64 that
// have only to be rounded to f32 or f16. Knows no operation.
//
// Why that is correctly rounded: the f64 are off by less than four units of their last place, so rounding them to f32 can only go wrong
// where they lie as near as that to the middle between two f32. All arguments were tried (f32 operations of f64 arithmetic, in C, against
// libquadmath's 113 bits), and where the f64 lay within 128 units of a middle, a few hundred arguments a function, the rounded result was
// right every time. It takes the last addition to be rounded to odd, lest a sum be rounded onto the middle itself. By symmetry and scaling
// the following stand for all arguments:
//   exp2  2^-29 ≤ |x| ≤ 128 (nearer to zero the result is 1)
//   log2  all normal numbers
//   sin   2^-47 ≤ t ≤ ¼ (below, the result is 2π·t with the power of two taken along)
//   cos   2^-31 ≤ r ≤ ½ (below, the result is 1)
//   rsqrt 1 ≤ x < 4
// test/kernels/elementary.test.ts computes the hardest of them again with big integers. For f16 it does so for every argument.
// The coefficients interpolate at Chebyshev nodes. Whoever changes an operation or its order has to try all arguments again.

/** a + b where |a| ≥ |b| or a is 0, rounded to odd: an inexact sum gets, of its two neighbours, the one whose last bit is 1. */
// @ts-ignore: decorator
@inline
function fastAddOdd(a: v128, b: v128): v128 {
  const s = f64x2.add(a, b), e = f64x2.sub(b, f64x2.sub(s, a));
  const inexact = f64x2.gt(f64x2.abs(e), f64x2.splat(0)), even = i64x2.eq(v128.and(s, i64x2.splat(1)), i64x2.splat(0));
  return i64x2.add(s, v128.and(v128.and(inexact, even), v128.or(i64x2.shr_s(v128.xor(e, s), 63), i64x2.splat(1))));
}

/** One step of Horner's rule. */
// @ts-ignore: decorator
@inline
function step(p: v128, x: v128, coefficient: f64): v128 {
  return f64x2.add(f64x2.mul(p, x), f64x2.splat(coefficient));
}

/** 2^x: 2^n · (1 + t·p(t)) with x = n + t, |t| ≤ ½. Beyond ±130 and -151 there is nothing but infinity and zero. */
export function exp2(x: v128): v128 {
  x = f32x4.max(f32x4.min(x, f32x4.splat(129)), f32x4.splat(-151));
  const n = f32x4.nearest(x), t = f64x2.promote_low_f32x4(f32x4.sub(x, n));
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
  const y = fastAddOdd(f64x2.splat(1), f64x2.mul(t, p));
  return i64x2.add(y, i64x2.shl(i64x2.extend_low_i32x4_s(i32x4.trunc_sat_f32x4_s(n)), 52));
}

/** log2 of numbers that are not denormal: e + 2/ln 2 · artanh(s), x = 2^e · (1 + f), 1 + f in [√½, √2), s = f / (2 + f). */
export function log2(x: v128): v128 {
  const e = i32x4.shr_s(i32x4.sub(x, i32x4.splat(0x3f3504f3)), 23);
  const f = f64x2.promote_low_f32x4(f32x4.sub(i32x4.sub(x, i32x4.shl(e, 23)), f32x4.splat(1)));
  const s = f64x2.div(f, f64x2.add(f64x2.splat(2), f)), z = f64x2.mul(s, s);
  let p = f64x2.splat(0.18880213866521517);
  p = step(p, z, 0.19142773772579882);
  p = step(p, z, 0.22197652442853488);
  p = step(p, z, 0.26230786391134053);
  p = step(p, z, 0.32059890042182215);
  p = step(p, z, 0.4121985831021106);
  p = step(p, z, 0.5770780163555981);
  p = step(p, z, 0.9617966939259756);
  const y = fastAddOdd(f64x2.convert_low_i32x4_s(e), f64x2.mul(s, step(p, z, 2.8853900817779268)));
  // Zero, infinity; what is negative or NaN.
  const zero = f64x2.splat(0), infinity = f64x2.splat(Infinity), number = f64x2.promote_low_f32x4(x);
  let special = v128.bitselect(infinity, f64x2.splat(NaN), f64x2.eq(number, infinity));
  special = v128.bitselect(f64x2.splat(-Infinity), special, f64x2.eq(number, zero));
  return v128.bitselect(y, special, v128.and(f64x2.gt(number, zero), f64x2.lt(number, infinity)));
}

/** x less the nearest integer: exact. Out of range, beyond ±256, it is 0 (GCN3 manual, V_SIN_F32, V_COS_F32); of infinities NaN. */
// @ts-ignore: decorator
@inline
function fractionOfTurn(x: v128): v128 {
  const magnitude = f32x4.abs(x);
  const outside = v128.and(f32x4.gt(magnitude, f32x4.splat(256)), f32x4.lt(magnitude, f32x4.splat(Infinity)));
  return v128.andnot(f32x4.sub(x, f32x4.nearest(x)), outside);
}

/** sin(2π·t), |t| ≤ ¼: 2π is split so that its leading 29 bits make an exact product with an f32. */
// @ts-ignore: decorator
@inline
function sinOfTurn(t: v128): v128 {
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
  return fastAddOdd(f64x2.mul(t, f64x2.splat(6.283185303211212)), f64x2.mul(t, step(p, z, 3.968374318722162e-9)));
}

/** sin(2π·x); +0 at multiples of ½. */
export function sinOfTurns(x: v128): v128 {
  const r = fractionOfTurn(x);
  const folded = f32x4.sub(v128.or(v128.and(r, i32x4.splat(i32.MIN_VALUE)), f32x4.splat(0.5)), r);
  return sinOfTurn(f64x2.promote_low_f32x4(v128.bitselect(folded, r, f32x4.gt(f32x4.abs(r), f32x4.splat(0.25)))));
}

/** cos(2π·x). */
export function cosOfTurns(x: v128): v128 {
  return sinOfTurn(f64x2.sub(f64x2.splat(0.25), f64x2.promote_low_f32x4(f32x4.abs(fractionOfTurn(x)))));
}

/** 1/√x. */
export function rsqrt(x: v128): v128 {
  return f64x2.div(f64x2.splat(1), f64x2.sqrt(f64x2.promote_low_f32x4(x)));
}
