/** Arithmetic of floats on words, IEEE 754 by exact integers; NaNs as AMD builds them. Shares nothing with what it is to check. */
import {
  type Exact,
  exact,
  type Format,
  infinity,
  isInfinite,
  isNan,
  isNegative,
  product,
  rounded,
  signBit,
  sum,
} from '../../kernels/exact.ts'

/** Round modes as MODE has them: 0 nearest even, 1 towards +∞, 2 towards −∞, 3 towards zero. */
export type Round = number

export const quietBit = (f: Format) => 1n << BigInt(f.fraction - 1)
/** The NaN of an invalid operation: positive, quiet, no payload. */
export const defaultNan = (f: Format) => infinity(f) | quietBit(f)
export const size = (f: Format, a: bigint) => a & ~signBit(f)
export const isZero = (f: Format, a: bigint) => size(f, a) === 0n
export const isSignalling = (f: Format, a: bigint) => isNan(f, a) && (a & quietBit(f)) === 0n
export const largest = (f: Format) => infinity(f) - 1n
export const one = (f: Format) => rounded(f, { significand: 1n, exponent: 0 })
export const negate = (f: Format, a: bigint) => a ^ signBit(f)
export const withSign = (f: Format, a: bigint, negative: boolean) => size(f, a) | (negative ? signBit(f) : 0n)
export const exponentField = (f: Format, a: bigint) => Number(size(f, a) >> BigInt(f.fraction))

/** The first NaN of the sources with its quiet bit set, else the default one. */
export function nanOf(f: Format, ...sources: readonly bigint[]): bigint {
  const nan = sources.find((word) => isNan(f, word))
  return nan === undefined ? defaultNan(f) : nan | quietBit(f)
}

/** A denormal becomes a zero of its sign. */
export const flushed = (f: Format, a: bigint) => (size(f, a) < 1n << BigInt(f.fraction) ? a & signBit(f) : a)

export function add(f: Format, a: bigint, b: bigint, round: Round): bigint {
  if (isNan(f, a) || isNan(f, b)) return nanOf(f, a, b)
  if (isInfinite(f, a)) return isInfinite(f, b) && a !== b ? defaultNan(f) : a
  if (isInfinite(f, b)) return b
  // A sum of zero: both zeros of one sign keep it, else only rounding down makes it negative.
  const zero = isZero(f, a) && isZero(f, b) && a === b ? isNegative(f, a) : round === 2
  return rounded(f, sum(exact(f, a), exact(f, b)), round, zero)
}

/** a − b; a NaN keeps the sign that it has as a source. */
export const subtract = (f: Format, a: bigint, b: bigint, round: Round) =>
  isNan(f, a) || isNan(f, b) ? nanOf(f, a, b) : add(f, a, negate(f, b), round)

export function multiply(f: Format, a: bigint, b: bigint, round: Round): bigint {
  if (isNan(f, a) || isNan(f, b)) return nanOf(f, a, b)
  const negative = isNegative(f, a) !== isNegative(f, b)
  if (isInfinite(f, a) || isInfinite(f, b)) return isZero(f, a) || isZero(f, b) ? defaultNan(f) : withSign(f, infinity(f), negative)
  return rounded(f, product(exact(f, a), exact(f, b)), round, negative)
}

/** a · b + c, times 2^by, rounded once. */
export function fma(f: Format, a: bigint, b: bigint, c: bigint, round: Round, by = 0): bigint {
  if ([a, b, c].some((word) => isNan(f, word))) return nanOf(f, a, b, c)
  const negative = isNegative(f, a) !== isNegative(f, b)
  if (isInfinite(f, a) || isInfinite(f, b)) {
    if (isZero(f, a) || isZero(f, b) || (isInfinite(f, c) && isNegative(f, c) !== negative)) return defaultNan(f)
    return withSign(f, infinity(f), negative)
  }
  if (isInfinite(f, c)) return c
  const isSameZero = (isZero(f, a) || isZero(f, b)) && isZero(f, c) && isNegative(f, c) === negative
  return rounded(f, times(sum(product(exact(f, a), exact(f, b)), exact(f, c)), by), round, isSameZero ? negative : round === 2)
}

const times = (x: Exact, by: number): Exact => ({ ...x, exponent: x.exponent + by })

/** a · 2^by, rounded once. */
export function scale(f: Format, a: bigint, by: bigint, round: Round): bigint {
  if (isNan(f, a)) return nanOf(f, a)
  if (isInfinite(f, a) || isZero(f, a)) return a
  // Beyond 5,000 every number of the three formats has overflowed, or is below half of the least.
  const bounded = by > 5000n ? 5000 : by < -5000n ? -5000 : Number(by)
  return rounded(f, times(exact(f, a), bounded), round)
}

/** Which is less: -1, 0, 1, or undefined where one is NaN. */
export function order(f: Format, a: bigint, b: bigint): -1 | 0 | 1 | undefined {
  if (isNan(f, a) || isNan(f, b)) return undefined
  const signed = (word: bigint) => (isNegative(f, word) ? -size(f, word) : size(f, word))
  const difference = signed(a) - signed(b)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** ⌊x⌋ of a finite number, of twice it where asked. */
export function floorOf(f: Format, a: bigint, times = 1n): bigint {
  const { significand, exponent } = exact(f, a)
  return exponent >= 0 ? (significand * times) << BigInt(exponent) : (significand * times) >> BigInt(-exponent)
}
/** Integers next to a finite number, by round mode. */
export function integerOf(f: Format, a: bigint, round: Round): bigint {
  const low = floorOf(f, a)
  const twice = floorOf(f, a, 2n) - 2n * low // 1 from one half on
  const isWhole = rest(f, a) === 0n
  if (isWhole) return low
  if (round === 0) {
    const isTie = twice === 1n && rest(f, a, 2n) === 0n
    return isTie ? low + (low & 1n) : low + twice
  }
  const up = round === 1 || (round === 3 && isNegative(f, a))
  return up ? low + 1n : low
}
/** What `times` · x has after the point, in units of its last bit. */
function rest(f: Format, a: bigint, times = 1n): bigint {
  const { significand, exponent } = exact(f, a)
  return exponent >= 0 ? 0n : BigInt.asUintN(-exponent, significand * times)
}

/** Bits that are enough below the leading one of a quotient or a root, and then some; `more` notes what is left. */
const PRECISION = 240

/** 1 / x for x > 0. */
export function reciprocal({ significand, exponent, more }: Exact): Exact {
  const dividend = 1n << BigInt(2 * PRECISION)
  return { significand: dividend / significand, exponent: -2 * PRECISION - exponent, more: more || dividend % significand !== 0n }
}

/** √x for x > 0, digit by digit. */
export function root({ significand, exponent, more }: Exact): Exact {
  const odd = exponent & 1
  let left = significand << BigInt(PRECISION + odd)
  let found = 0n
  for (let bit = 1n << BigInt(left.toString(2).length >> 1); bit > 0n; bit >>= 1n) {
    const step = (2n * found + bit) * bit
    if (step > left) continue
    left -= step
    found += bit
  }
  return { significand: found, exponent: (exponent - odd - PRECISION) / 2, more: more || left !== 0n }
}
