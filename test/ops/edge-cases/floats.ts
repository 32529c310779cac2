/**
 * Models of float arithmetic: exact integers, rounded by IEEE 754. Source: AMD's GCN manuals, vector ALU instructions; where they are
 * known to be wrong (division, minimum and maximum of zeros) the tests of tinygrad and AMD's rocjitsu, as docs say.
 */
import { exact, F16, F32, F64, type Format, infinity, isInfinite, isNan, isNegative, rounded } from '../../kernels/exact.ts'
import {
  add,
  defaultNan,
  exponentField,
  flushed,
  fma,
  isSignalling,
  isZero,
  largest,
  multiply,
  nanOf,
  negate,
  one,
  order,
  quietBit,
  scale,
  size,
  subtract,
  withSign,
} from './float.ts'
import { type Circumstances, isIeee, type Lane, type Model, models, roundOf } from './model.ts'

type Words = readonly bigint[]
type Rounded = (f: Format, words: Words, round: number) => bigint

const rounding =
  (f: Format, of: Rounded): Lane =>
  (words, at) =>
    of(f, words, roundOf(f, at))

const sum: Rounded = (f, [a, b], round) => add(f, a!, b!, round)
const difference: Rounded = (f, [a, b], round) => subtract(f, a!, b!, round)
/** b − a, where the first NaN is still a. */
const reversed: Rounded = (f, [a, b], round) => (isNan(f, a!) ? nanOf(f, a!) : subtract(f, b!, a!, round))
const times: Rounded = (f, [a, b], round) => multiply(f, a!, b!, round)
const fused: Rounded = (f, [a, b, c], round) => fma(f, a!, b!, c!, round)

/** Rounded after the multiplication; f32 flushes there, too. */
const unfused: Rounded = (f, [a, b, c], round) => {
  if ([a!, b!, c!].some((word) => isNan(f, word))) return nanOf(f, a!, b!, c!)
  const between = multiply(f, a!, b!, round)
  return add(f, f === F32 ? flushed(f, between) : between, c!, round)
}
/** Zero times anything is +0. */
const legacyTimes: Rounded = (f, [a, b], round) => (isZero(f, a!) || isZero(f, b!) ? 0n : multiply(f, a!, b!, round))
const legacyUnfused: Rounded = (f, [a, b, c], round) =>
  (isZero(f, a!) || isZero(f, b!)) && !isNan(f, c!) ? add(f, 0n, c!, round) : unfused(f, [a!, b!, c!], round)
/** The constant in the middle: a · k + b. */
const withConstant: Rounded = unfused

/** Of S0 * S1 where S2 > 0 and S1 is above the least number, else the least number. */
const mullit: Rounded = (f, [a, b, c], round) => {
  const least = negate(f, largest(f))
  if (order(f, c!, 0n) !== 1 || order(f, b!, least) !== 1) return least
  return legacyTimes(f, [a!, b!], round)
}

const scaled =
  (f: Format, bits: number): Lane =>
  ([a, by], at) =>
    scale(f, a!, BigInt.asIntN(bits, by!), roundOf(f, at))

/** One NaN gives the other source, two the first, quieted; with IEEE a signalling one is the result, quieted. -0 is below +0. */
function extreme(f: Format, isMinimum: boolean, a: bigint, b: bigint, at: Circumstances): bigint {
  const signalling = isIeee(at) ? [a, b].find((word) => isSignalling(f, word)) : undefined
  if (signalling !== undefined) return signalling | quietBit(f)
  if (isNan(f, a)) return isNan(f, b) ? a | quietBit(f) : b
  if (isNan(f, b)) return a
  const signs = Number(isNegative(f, b)) - Number(isNegative(f, a))
  const less = (order(f, a, b) || signs) < 0
  return less === isMinimum ? a : b
}
const minimum =
  (f: Format): Lane =>
  ([a, b], at) =>
    extreme(f, true, a!, b!, at)
const maximum =
  (f: Format): Lane =>
  ([a, b], at) =>
    extreme(f, false, a!, b!, at)
const three =
  (isMinimum: boolean): Lane =>
  ([a, b, c], at) =>
    extreme(F32, isMinimum, extreme(F32, isMinimum, a!, b!, at), c!, at)
const median: Lane = (words, at) => {
  if (words.some((word) => isNan(F32, word))) return three(true)(words, at)
  // Without the greatest, the greater one of those left; equal words are told apart by their place, not their bits.
  const value = (word: bigint) => (isNegative(F32, word) ? -size(F32, word) : size(F32, word))
  const top = words.reduce((best, word) => (value(word) > value(best) ? word : best))
  const at0 = words.findIndex((word) => value(word) === value(top))
  const [a, b] = words.filter((_, n) => n !== at0)
  return extreme(F32, false, a!, b!, at)
}
const less = (a: bigint, b: bigint) => order(F32, a, b) === -1
const quieted = (a: bigint) => (isNan(F32, a) ? nanOf(F32, a) : a)

// --- cube maps: faces +x, -x, +y, -y, +z, -z; of equally long axes z comes first, then y

const AXES = [2, 1, 0] as const
function majorAxis(words: Words): 0 | 1 | 2 {
  const [z, y] = AXES
  const atLeast = (n: number, m: number) => {
    const compared = order(F32, size(F32, words[n]!), size(F32, words[m]!))
    return compared === 0 || compared === 1
  }
  if (atLeast(z, 0) && atLeast(z, y)) return z
  return atLeast(y, 0) ? y : 0
}
/** -0 counts as positive, and so does NaN: what is asked is "below 0". */
const isBelow = (a: bigint) => order(F32, a, 0n) === -1
const whole = (n: bigint) => rounded(F32, { significand: n, exponent: 0 })
const face: Lane = (words) => {
  const axis = majorAxis(words)
  return whole(BigInt(2 * axis + Number(isBelow(words[axis]!))))
}
const rightwards: Lane = (words) => {
  const [x, , z] = words as [bigint, bigint, bigint]
  const axis = majorAxis(words)
  if (axis === 1) return x
  return axis === 2 ? (isBelow(z) ? negate(F32, x) : x) : isBelow(x) ? z : negate(F32, z)
}
const downwards: Lane = (words) => {
  const [, y, z] = words as [bigint, bigint, bigint]
  return majorAxis(words) === 1 ? (isBelow(y) ? negate(F32, z) : z) : negate(F32, y)
}
const twiceMajor: Lane = (words, at) => multiply(F32, words[majorAxis(words)]!, whole(2n), roundOf(F32, at))

// --- division of n by d (rules by biased exponents: AMD's rocjitsu, division.h)

const DIVISION = new Map([
  [F32, { step: 64n, far: 96, tiny: 24 }],
  [F64, { step: 128n, far: 768, tiny: 53 }],
])

/** Whether n / d is a denormal or less, and not zero: |n| < |d| · 2^(least exponent). */
function isBelowNormal(f: Format, n: bigint, d: bigint): boolean {
  if (isNan(f, n) || isNan(f, d) || isZero(f, n) || isInfinite(f, n)) return false
  if (isInfinite(f, d)) return true
  const bound = exact(f, size(f, d))
  const { significand, exponent } = exact(f, size(f, n))
  const leastExponent = exact(f, 1n << BigInt(f.fraction)).exponent + f.fraction
  const shift = BigInt(exponent - bound.exponent - leastExponent)
  return shift > 0n ? significand << shift < bound.significand : significand < bound.significand << -shift
}

const divScale =
  (f: Format): Lane =>
  ([a, d, n]) => {
    const { step, far, tiny } = DIVISION.get(f)!
    const [exponentOfD, exponentOfN] = [exponentField(f, d!), exponentField(f, n!)]
    const top = exponentField(f, infinity(f))
    const apart = exponentOfN - exponentOfD
    const isTiny = exponentOfN <= tiny
    const isFarBelow = (isTiny || exponentOfD === top) && apart <= -far
    const isSmall = exponentOfD !== 0 && (isFarBelow || isBelowNormal(f, n!, d!))
    const bit = apart >= far || isSmall
    if (isZero(f, d!) || isZero(f, n!)) return [defaultNan(f), bit]
    const isDenominator = a === d
    const by = (): bigint => {
      if (apart >= far) return isDenominator ? step : 0n
      if (exponentOfD === 0) return step
      if (exponentOfD >= top - 2) return isSmall && !isDenominator ? 0n : -step // 1 / d would be denormal
      if (isSmall) return isDenominator ? 0n : step
      return isTiny ? step : 0n
    }
    return [scale(f, a!, by(), 0), bit]
  }

/** Scaled back by the addend's size; what overflows before is scaled as an infinity. */
const divFmas =
  (f: Format): Lane =>
  ([a, b, c, bit], at) => {
    const round = roundOf(f, at)
    const plain = fma(f, a!, b!, c!, round)
    if (bit === 0n || isNan(f, plain)) return plain
    const step = Number(DIVISION.get(f)!.step)
    const by = exponentField(f, c!) > exponentField(f, one(f)) ? step : -step
    return size(f, plain) >= largest(f) ? scale(f, plain, BigInt(by), round) : fma(f, a!, b!, c!, round, by)
  }

const divFixup =
  (f: Format): Lane =>
  ([q, d, n]) => {
    if (isNan(f, n!)) return nanOf(f, n!)
    if (isNan(f, d!)) return nanOf(f, d!)
    const negative = isNegative(f, d!) !== isNegative(f, n!)
    const [noD, noN] = [isZero(f, d!), isZero(f, n!)]
    const [farD, farN] = [isInfinite(f, d!), isInfinite(f, n!)]
    if ((noD && noN) || (farD && farN)) return defaultNan(f)
    if (noD || farN) return withSign(f, infinity(f), negative)
    if (noN || farD) return withSign(f, 0n, negative)
    // Below half of the least denormal, of f32 and f64.
    if (f !== F16 && exponentField(f, n!) - exponentField(f, d!) < -(exponentField(f, one(f)) + f.fraction))
      return withSign(f, 0n, negative)
    if (!isNan(f, q!)) return withSign(f, q!, negative)
    return f === F16 ? nanOf(f, q!) : withSign(f, infinity(f), negative)
  }

// --- 2/π for argument reduction

/** ⌊2/π · 2^bits⌋; π by Machin's formula, 16·atan(1/5) − 4·atan(1/239), with some bits to spare. */
function twoOverPi(bits: number): bigint {
  const unit = 1n << BigInt(bits + 64)
  const atanOfInverse = (x: bigint): bigint => {
    let sum = 0n
    let power = unit / x
    for (let k = 1n; power !== 0n; k += 2n, power /= -x * x) sum += power / k
    return sum
  }
  const pi = 16n * atanOfInverse(5n) - 4n * atanOfInverse(239n)
  return (2n * unit * (1n << BigInt(bits))) / pi
}
const TABLE_BITS = 1201
const TABLE = twoOverPi(TABLE_BITS)

/** 53 bits of the table from bit 53·segment on, and further for large angles; weighted by their place. */
const trigPreop: Lane = ([a, segment]) => {
  const exponent = exponentField(F64, a!)
  const place = 53 * Number(segment! % 32n) + Math.max(0, exponent - 1077)
  const bits = BigInt.asUintN(53, (TABLE << 2000n) >> BigInt(2000 + TABLE_BITS - 53 - place))
  return rounded(F64, { significand: bits, exponent: -53 - place + (exponent >= 1968 ? 128 : 0) })
}

/** Angles around the first exponents that move the window, and the last ones. */
const PREOP_ANGLES = [1076n, 1077n, 1078n, 1130n, 1967n, 1968n, 2046n, 2047n].map((field) => field << 52n)

/** Numbers whose exponents are at the limits of the division's rules. */
const limits = (f: Format): readonly bigint[] => {
  const { far, tiny } = DIVISION.get(f)!
  const bias = exponentField(f, one(f))
  const fields = [0, 1, tiny, tiny + 1, bias - far, bias - far + 1, bias, bias + far - 1, bias + far, 2 * bias - 2, 2 * bias - 1, 2 * bias]
  return fields.map((field) => (BigInt(field) << BigInt(f.fraction)) | (1n << BigInt(f.fraction - 1)))
}

export const FLOATS: readonly [string, Model][] = [
  ...models('mode', {
    v_add_f16: rounding(F16, sum),
    v_add_f32: rounding(F32, sum),
    v_add_f64: rounding(F64, sum),
    v_sub_f16: rounding(F16, difference),
    v_sub_f32: rounding(F32, difference),
    v_subrev_f16: rounding(F16, reversed),
    v_subrev_f32: rounding(F32, reversed),
    v_mul_f16: rounding(F16, times),
    v_mul_f32: rounding(F32, times),
    v_mul_f64: rounding(F64, times),
    v_mul_legacy_f32: rounding(F32, legacyTimes),
    v_fma_f16: rounding(F16, fused),
    v_fma_f32: rounding(F32, fused),
    v_fma_f64: rounding(F64, fused),
    v_mad_f16: rounding(F16, unfused),
    v_mac_f16: rounding(F16, unfused),
    v_madmk_f16: rounding(F16, withConstant),
    v_madak_f16: rounding(F16, unfused),
    v_mullit_f32: rounding(F32, mullit),
    v_ldexp_f16: scaled(F16, 16),
    v_ldexp_f32: scaled(F32, 32),
    v_ldexp_f64: scaled(F64, 32),
    v_cubeid_f32: face,
    v_cubesc_f32: rightwards,
    v_cubetc_f32: downwards,
    v_cubema_f32: twiceMajor,
    v_div_fmas_f32: divFmas(F32),
    v_div_fmas_f64: divFmas(F64),
    v_div_fixup_f16: divFixup(F16),
    v_div_fixup_f32: divFixup(F32),
    v_div_fixup_f64: divFixup(F64),
  }),
  ...models('always', {
    v_mad_f32: rounding(F32, unfused),
    v_mac_f32: rounding(F32, unfused),
    v_madmk_f32: rounding(F32, withConstant),
    v_madak_f32: rounding(F32, unfused),
    v_mad_legacy_f32: rounding(F32, legacyUnfused),
    v_mac_legacy_f32: rounding(F32, legacyUnfused),
  }),
  ...models('never', {
    v_min_f16: minimum(F16),
    v_max_f16: maximum(F16),
    v_min_f32: minimum(F32),
    v_max_f32: maximum(F32),
    v_min_f64: minimum(F64),
    v_max_f64: maximum(F64),
    v_min3_f32: three(true),
    v_max3_f32: three(false),
    v_med3_f32: median,
    v_min_legacy_f32: ([a, b]) => (less(a!, b!) ? a! : quieted(b!)),
    v_max_legacy_f32: ([a, b]) => (!less(a!, b!) && order(F32, a!, b!) !== undefined ? a! : quieted(b!)),
  }),
  ['v_div_scale_f32', { flush: 'mode', of: divScale(F32), also: [limits(F32), limits(F32), limits(F32)] }],
  ['v_div_scale_f64', { flush: 'mode', of: divScale(F64), also: [limits(F64), limits(F64), limits(F64)] }],
  ['v_trig_preop_f64', { flush: 'never', of: trigPreop, also: [PREOP_ANGLES, [21n, 22n, 23n]] }],
]
