// Exact f64 arithmetic for what WebAssembly leaves open: fused multiply-add, the directed round modes, gradual underflow in one
// rounding. Round modes: 0 nearest even, 1 towards +∞, 2 towards −∞, 3 towards zero. Knows no operation and no NaN rule.

const SIGN: u64 = 0x8000000000000000;
const FRACTION: u64 = 0x000fffffffffffff;
const IMPLICIT: u64 = 0x0010000000000000;
const INFINITY_BITS: u64 = 0x7ff0000000000000;
/** A finite f64 is significand × 2^(exponent field − BIAS), the significand an integer. */
const BIAS: i32 = 1075;

/** Exponent field of a number, 1 for denormals too. */
export function exponentField(x: u64): i32 {
  const e = <i32>(x >> 52) & 0x7ff;
  return e + i32(e == 0);
}
/** The integer significand that goes with it. */
export function significand(x: u64): u64 {
  return x & INFINITY_BITS ? (x & FRACTION) | IMPLICIT : x & FRACTION;
}
export function isFinite64(x: u64): bool {
  return (x & INFINITY_BITS) != INFINITY_BITS;
}
export function isNan64(x: u64): bool {
  return (x & ~SIGN) > INFINITY_BITS;
}

/**
 * Rounds ±(high·2^64 + low) · 2^exponent to the bits of an f64, once, with gradual underflow. The number must not be zero; bit 0 of
 * `low` may stand for any further bits below ("sticky") where at least 55 bits above it are significant.
 */
export function pack(sign: u64, exponent: i32, high: u64, low: u64, round: i32): u64 {
  if (high == 0) {
    high = low;
    low = 0;
    exponent -= 64;
  }
  const shift = clz(high);
  if (shift) {
    high = (high << shift) | (low >> (64 - shift));
    low <<= shift;
  }
  // The number is high/2^63 · 2^(exponent + 127 − shift), and high/2^63 is in [1, 2).
  let field = <i32>(exponent + 127 - shift + 1023);
  let drop: i32 = 11;
  if (field < 1) {
    drop = min(12 - field, 65);
    field = 1;
  }
  let kept: u64 = 0;
  let half: u64 = 0;
  let sticky = low != 0;
  if (drop > 64) sticky = true;
  else {
    if (drop < 64) kept = high >> drop;
    half = (high >> (drop - 1)) & 1;
    sticky = sticky || (high & ((<u64>1 << (drop - 1)) - 1)) != 0;
  }
  const inexact = half != 0 || sticky;
  const up = round == 0 ? half != 0 && (sticky || (kept & 1) != 0) : inexact && awayFromZero(sign, round);
  // The implicit bit, if it is there, makes the exponent field whole; so does a carry out of the significand.
  const bits = (<u64>(field - 1) << 52) + kept + u64(up);
  if (field < 2047 && bits < INFINITY_BITS) return sign | bits;
  return sign | (round == 0 || awayFromZero(sign, round) ? INFINITY_BITS : INFINITY_BITS - 1);
}

/** Whether a directed round mode takes numbers of this sign away from zero. */
function awayFromZero(sign: u64, round: i32): bool {
  return sign ? round == 2 : round == 1;
}

/** High half of the 128-bit product. */
export function mulHigh(a: u64, b: u64): u64 {
  const a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  const middle = a1 * b0 + ((a0 * b0) >> 32);
  return a1 * b1 + (middle >> 32) + (((middle & 0xffffffff) + a0 * b1) >> 32);
}

/** a × b × 2^scale, rounded once. */
export function mulScalar(a: f64, b: f64, scale: i32, round: i32): f64 {
  const x = reinterpret<u64>(a), y = reinterpret<u64>(b);
  if (!isFinite64(x) || !isFinite64(y) || a == 0 || b == 0) return a * b;
  const m = significand(x), n = significand(y);
  return reinterpret<f64>(pack((x ^ y) & SIGN, exponentField(x) + exponentField(y) - 2 * BIAS + scale, mulHigh(m, n), m * n, round));
}

/** (a × b + c) × 2^scale, rounded once: 128-bit integers hold the product (106 bits) and the aligned addend, bits beyond are collected in bit 0. */
export function fmaScalar(a: f64, b: f64, c: f64, scale: i32, round: i32): f64 {
  const x = reinterpret<u64>(a), y = reinterpret<u64>(b), z = reinterpret<u64>(c);
  if (!isFinite64(x) || !isFinite64(y)) return a * b + c;
  if (!isFinite64(z)) return c;
  if (a == 0 || b == 0) return c == 0 ? addScalar(a * b, c, round) : scaleScalar(c, scale, round);
  if (c == 0) return mulScalar(a, b, scale, round);

  // Both terms with the leading bit at bit 126, so that a carry has room and, of numbers apart by two binary places or more, no
  // subtraction can bring the collected bit near the rounding position.
  const m = significand(x), n = significand(y);
  let high = mulHigh(m, n), low = m * n;
  let shift = <i32>clz(high) - 1; // the product has more than 104 bits unless a factor is denormal
  let exponent = exponentField(x) + exponentField(y) - 2 * BIAS;
  if (high == 0) {
    high = low;
    low = 0;
    exponent -= 64;
    shift = <i32>clz(high) - 1;
  }
  if (shift < 0) { // leading bit at 127, of a product that was one dword-pair long
    low = high << 63;
    high >>= 1;
    exponent += 1;
  } else if (shift > 0) {
    high = (high << shift) | (low >> (64 - shift));
    low <<= shift;
    exponent -= shift;
  }
  const k = significand(z);
  const lead = <i32>clz(k) - 1;
  let addHigh = k << lead, addLow: u64 = 0;
  const distance = exponent - (exponentField(z) - BIAS - 64 - lead);
  if (distance >= 0) {
    addLow = shiftLow(addHigh, 0, distance);
    addHigh = distance < 64 ? addHigh >> distance : 0;
  } else {
    low = shiftLow(high, low, -distance);
    high = -distance < 64 ? high >> -distance : 0;
    exponent -= distance;
  }

  let sign = (x ^ y) & SIGN;
  if (sign == (z & SIGN)) {
    low += addLow;
    high += addHigh + u64(low < addLow);
  } else {
    if (high < addHigh || (high == addHigh && low < addLow)) {
      sign ^= SIGN;
      let swap = high;
      high = addHigh;
      addHigh = swap;
      swap = low;
      low = addLow;
      addLow = swap;
    }
    high -= addHigh + u64(low < addLow);
    low -= addLow;
    if ((high | low) == 0) return round == 2 ? -0.0 : 0.0;
  }
  return reinterpret<f64>(pack(sign, exponent + scale, high, low, round));
}

/** Low half of (high:low) >> n, n ≥ 0, all bits shifted out collected in bit 0. */
function shiftLow(high: u64, low: u64, n: i32): u64 {
  if (n == 0) return low;
  if (n < 64) return (low >> n) | (high << (64 - n)) | u64((low << (64 - n)) != 0);
  if (n == 64) return high | u64(low != 0);
  if (n < 128) return (high >> (n - 64)) | u64(((high << (128 - n)) | low) != 0);
  return 1; // both terms are not zero
}

/** a + b, rounded once. */
export function addScalar(a: f64, b: f64, round: i32): f64 {
  return f64x2.extract_lane(addRounded(f64x2.splat(a), f64x2.splat(b), round), 0);
}

/** a × 2^n, rounded once. */
export function scaleScalar(a: f64, n: i32, round: i32): f64 {
  const x = reinterpret<u64>(a);
  if (!isFinite64(x) || a == 0) return a;
  n = max(min(n, 4096), -4096);
  const field = <i32>(x >> 52) & 0x7ff;
  if (field > 0 && field + n > 0 && field + n < 2047) return reinterpret<f64>(x + (<u64>n << 52));
  return reinterpret<f64>(pack(x & SIGN, exponentField(x) - BIAS + n, 0, significand(x), round));
}

// --- two lanes at a time

/** a + b in a directed round mode. */
export function addRounded(a: v128, b: v128, round: i32): v128 {
  const s = f64x2.add(a, b);
  // Fast2Sum: exact with the larger term first. Where s overflows the error is an infinity of the other sign, so that one step back
  // from s is the largest number; where a term is not finite it is NaN, and s stays.
  const swap = f64x2.lt(f64x2.abs(a), f64x2.abs(b));
  const large = v128.bitselect(b, a, swap), small = v128.bitselect(a, b, swap);
  const stepped = towards(s, f64x2.sub(small, f64x2.sub(s, large)), round);
  if (round != 2) return stepped;
  // An exact zero sum is −0 unless both terms are +0.
  return v128.or(stepped, v128.and(v128.and(v128.or(a, b), i64x2.splat(SIGN)), f64x2.eq(s, f64x2.splat(0))));
}

/** The directed rounding of s + e, where s is that sum rounded to nearest and e what it lost, or any number of e's sign. */
export function towards(s: v128, e: v128, round: i32): v128 {
  const zero = f64x2.splat(0);
  const away = v128.or(i64x2.shr_s(s, 63), i64x2.splat(1)); // added to the bits of s it is a step towards +∞
  if (round == 1) return i64x2.add(s, v128.and(f64x2.gt(e, zero), away));
  if (round == 2) return i64x2.sub(s, v128.and(f64x2.lt(e, zero), away));
  return i64x2.add(s, v128.and(v128.or(f64x2.gt(e, zero), f64x2.lt(e, zero)), i64x2.shr_s(v128.xor(e, s), 63)));
}

/** What a × b lost in rounding to p (T. J. Dekker, 1971). Exact while nothing over- or underflows. */
// @ts-ignore: decorator
@inline
export function productError(a: v128, b: v128, p: v128): v128 {
  const splitter = f64x2.splat(134217729); // 2^27 + 1
  const ta = f64x2.mul(a, splitter), tb = f64x2.mul(b, splitter);
  const ah = f64x2.sub(ta, f64x2.sub(ta, a)), bh = f64x2.sub(tb, f64x2.sub(tb, b));
  const al = f64x2.sub(a, ah), bl = f64x2.sub(b, bh);
  const e = f64x2.add(f64x2.add(f64x2.sub(f64x2.mul(ah, bh), p), f64x2.mul(ah, bl)), f64x2.mul(al, bh));
  return f64x2.add(e, f64x2.mul(al, bl));
}

/** What a + b lost in rounding to s (D. E. Knuth). */
// @ts-ignore: decorator
@inline
export function sumError(a: v128, b: v128, s: v128): v128 {
  const t = f64x2.sub(s, a);
  return f64x2.add(f64x2.sub(a, f64x2.sub(s, t)), f64x2.sub(b, t));
}

/** a + b, rounded to odd: an inexact sum gets the neighbour whose last bit is 1, so that a second rounding does no harm. */
// @ts-ignore: decorator
@inline
export function addOdd(a: v128, b: v128): v128 {
  const s = f64x2.add(a, b), e = sumError(a, b, s);
  const inexact = f64x2.gt(f64x2.abs(e), f64x2.splat(0)); // not where s is infinite or NaN: then e is NaN
  const fix = v128.and(inexact, i64x2.eq(v128.and(s, i64x2.splat(1)), i64x2.splat(0)));
  return i64x2.add(s, v128.and(fix, v128.or(i64x2.shr_s(v128.xor(e, s), 63), i64x2.splat(1))));
}

/**
 * a × b + c to nearest, rounded once (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
 * rounding to odd", 2008). Numbers so large or small that a step could over- or underflow go through integers. RELAXED (asc --use RELAXED=1)
 * is for engines whose relaxed multiply-add is known to fuse.
 */
export function fma(a: v128, b: v128, c: v128): v128 {
  // @ts-ignore: defined by asc or not at all
  if (isDefined(RELAXED)) return f64x2.relaxed_madd(a, b, c);
  const zero = f64x2.splat(0);
  const ma = f64x2.abs(a), mb = f64x2.abs(b), mc = f64x2.abs(c);
  const least = f64x2.splat(4e-121), most = f64x2.splat(2e120); // about 2^±400
  const zeros = v128.or(f64x2.eq(a, zero), f64x2.eq(b, zero));
  const inRange = v128.and(v128.and(v128.and(f64x2.ge(ma, least), f64x2.le(ma, most)), v128.and(f64x2.ge(mb, least), f64x2.le(mb, most))),
    f64x2.le(mc, f64x2.splat(1e270)));
  if (!i64x2.all_true(v128.or(zeros, inRange))) return fmaRounded(a, b, c, 0);
  const p = f64x2.mul(a, b), q = productError(a, b, p);
  const t = f64x2.add(c, q), tl = sumError(c, q, t);
  const v = f64x2.add(p, t), vl = sumError(p, t, v);
  // A zero term makes the plain sum right, and keeps the sign of a zero result.
  return v128.bitselect(f64x2.add(p, c), f64x2.add(v, addOdd(tl, vl)), v128.or(zeros, f64x2.eq(c, zero)));
}

/** a × b + c in any round mode. */
export function fmaRounded(a: v128, b: v128, c: v128, round: i32): v128 {
  return f64x2(
    fmaScalar(f64x2.extract_lane(a, 0), f64x2.extract_lane(b, 0), f64x2.extract_lane(c, 0), 0, round),
    fmaScalar(f64x2.extract_lane(a, 1), f64x2.extract_lane(b, 1), f64x2.extract_lane(c, 1), 0, round));
}
