// f16 to f32 and back on four lanes. An f16 is in the low half of a lane; what stands above it is ignored on the way in and zero on
// the way out. Every f16 is an f32, no denormal even, so f16 operations are f32 ones with one correct rounding at the end.

const MAGNITUDE: i32 = 0x7fffffff;
const INFINITY_BITS: i32 = 0x7f800000;
/** 2^-14, the least normal f16, as f32 bits. */
const LEAST_NORMAL: i32 = 0x38800000;
/** 127 − 15 in the exponent field of an f32. */
const REBIAS: i32 = 0x38000000;

// Constants are dear in these two, as compilers make them anew for each chunk: pairs of shifts stand where masks could.

/** Exact; a NaN keeps its bits, leading first. */
export function toFloat(h: v128): v128 {
  // With the exponent field of f32 around that of f16, also denormals are too small by one factor.
  const r = f32x4.mul(i32x4.shr_u(i32x4.shl(h, 17), 4), f32x4.splat(reinterpret<f32>(0x77800000))); // 2^112
  const special = f32x4.ge(r, f32x4.splat(65536));
  return v128.or(v128.or(r, i32x4.shr_u(i32x4.shl(special, 24), 1)), i32x4.shl(i32x4.shr_u(h, 15), 31));
}

/** Nearest even, with gradual underflow. A NaN keeps the leading bits of its payload and is quieted. */
export function toHalf(x: v128): v128 {
  const nan = v128.or(i32x4.splat(0x200), i32x4.shr_u(i32x4.shl(x, 9), 22));
  return v128.or(nearestHalf(x), v128.and(nan, f32x4.ne(x, x)));
}

/** The same where any NaN will do: of a NaN it gives an infinity with the last bits set. */
export function toHalfOrNan(x: v128): v128 {
  return v128.or(nearestHalf(x), i32x4.shr_u(f32x4.ne(x, x), 22));
}

/** Nearest even; infinity for a NaN. */
// @ts-ignore: decorator
@inline
function nearestHalf(x: v128): v128 {
  const a = i32x4.min_s(i32x4.shr_u(i32x4.shl(x, 1), 1), i32x4.splat(0x47800000)); // 2^16, which becomes infinity
  // Added to 2^13 times its power of two (a denormal's is that of the least normal number), a number is rounded where an f16 ends.
  const power = i32x4.max_s(i32x4.shl(i32x4.shr_u(a, 23), 23), i32x4.splat(LEAST_NORMAL));
  const large = i32x4.add(power, i32x4.splat(13 << 23));
  // What was added has the significand's first bit, too: a place of the exponent.
  const significand = i32x4.sub(f32x4.add(a, large), large), exponent = i32x4.sub(i32x4.shr_u(power, 13), i32x4.splat(113 << 10));
  return v128.or(i32x4.add(significand, exponent), i32x4.shl(i32x4.shr_u(x, 31), 15));
}

/** As toHalf in another round mode: 1 towards +∞, 2 towards −∞, 3 towards zero. */
export function toHalfRounded(x: v128, round: i32): v128 {
  const a = v128.and(x, i32x4.splat(MAGNITUDE));
  const negative = i32x4.shr_s(x, 31);
  const away = round == 1 ? v128.not(negative) : round == 2 ? negative : i32x4.splat(0);
  const normal = i32x4.shr_s(i32x4.add(i32x4.sub(a, i32x4.splat(REBIAS)), v128.and(away, i32x4.splat(0x1fff))), 13);
  const quanta = f32x4.mul(a, f32x4.splat(16777216)); // 2^24
  const denormal = i32x4.trunc_sat_f32x4_s(v128.bitselect(f32x4.ceil(quanta), f32x4.trunc(quanta), away));
  const most = v128.bitselect(i32x4.splat(0x7c00), i32x4.splat(0x7bff), v128.or(away, i32x4.eq(a, i32x4.splat(INFINITY_BITS))));
  const r = v128.bitselect(denormal, i32x4.min_s(normal, most), i32x4.lt_s(a, i32x4.splat(LEAST_NORMAL)));
  return finish(r, x, a);
}

/** Puts in NaN and the sign. */
// @ts-ignore: decorator
@inline
function finish(r: v128, x: v128, a: v128): v128 {
  const nan = v128.or(i32x4.splat(0x7e00), v128.and(i32x4.shr_u(a, 13), i32x4.splat(0x3ff)));
  r = v128.bitselect(nan, r, i32x4.gt_s(a, i32x4.splat(INFINITY_BITS)));
  return v128.or(r, v128.and(i32x4.shr_u(x, 16), i32x4.splat(0x8000)));
}

/** Two pairs of f64 to f32, rounded to odd: inexact ones get, of their two neighbours, the one whose last bit is 1. */
export function demoteOdd(low: v128, high: v128): v128 {
  return i64x2.shuffle(demoteOdd2(low), demoteOdd2(high), 0, 2);
}
function demoteOdd2(s: v128): v128 {
  const r = f32x4.demote_f64x2_zero(s), back = f64x2.promote_low_f32x4(r);
  const tooFar = f64x2.gt(f64x2.abs(back), f64x2.abs(s)), inexact = v128.or(tooFar, f64x2.lt(f64x2.abs(back), f64x2.abs(s)));
  const even = i32x4.add(r, i32x4.shuffle(tooFar, tooFar, 0, 2, 0, 2)); // one step towards zero
  return v128.or(even, v128.and(i32x4.shuffle(inexact, inexact, 0, 2, 0, 2), i32x4.splat(1)));
}

/** p + c rounded to odd: rounding that to f16 gives what rounding the exact sum would, as 24 bits are more than 11 + 2. */
// @ts-ignore: decorator
@inline
function fmaOdd(p: v128, c: v128): v128 {
  const s = f32x4.add(p, c), t = f32x4.sub(s, p);
  const error = f32x4.add(f32x4.sub(p, f32x4.sub(s, t)), f32x4.sub(c, t));
  const inexact = f32x4.gt(f32x4.abs(error), f32x4.splat(0)); // not where s is infinite or NaN: then the error is NaN
  const towardsZero = i32x4.add(s, v128.and(inexact, i32x4.shr_s(v128.xor(error, s), 31)));
  return v128.or(towardsZero, i32x4.shr_u(inexact, 31));
}

/** a × b + c of f16 values in f32 lanes, rounded to f16 once, to nearest even. */
export function fmaHalf(a: v128, b: v128, c: v128): v128 {
  return toHalfOrNan(fmaOdd(f32x4.mul(a, b), c)); // the product is exact: 22 bits, 2^-48 to 2^32
}

/** The same in another round mode. */
export function fmaHalfRounded(a: v128, b: v128, c: v128, round: i32): v128 {
  const p = f32x4.mul(a, b);
  let r = fmaOdd(p, c);
  // An exact zero sum is −0 towards −∞ unless both terms are +0.
  if (round == 2) {
    const sign = v128.and(v128.or(p, c), i32x4.splat(i32.MIN_VALUE));
    r = v128.or(r, v128.and(f32x4.eq(r, f32x4.splat(0)), sign));
  }
  return toHalfRounded(r, round);
}
