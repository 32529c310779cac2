/** Floats as exact numbers, and rounding: plain big-integer arithmetic that kernels are checked against. */

export interface Format {
  readonly bits: number
  /** Stored bits of the significand. */
  readonly fraction: number
}
export const F16: Format = { bits: 16, fraction: 10 }
export const F32: Format = { bits: 32, fraction: 23 }
export const F64: Format = { bits: 64, fraction: 52 }

const exponentBits = (f: Format) => f.bits - 1 - f.fraction
const bias = (f: Format) => 2 ** (exponentBits(f) - 1) - 1
export const infinity = (f: Format) => ((1n << BigInt(exponentBits(f))) - 1n) << BigInt(f.fraction)
export const signBit = (f: Format) => 1n << BigInt(f.bits - 1)
export const isNan = (f: Format, word: bigint) => (word & ~signBit(f)) > infinity(f)
export const isInfinite = (f: Format, word: bigint) => (word & ~signBit(f)) === infinity(f)
export const isNegative = (f: Format, word: bigint) => (word & signBit(f)) !== 0n

/** significand · 2^exponent; `more` says that the true magnitude is a little larger than that. */
export interface Exact {
  readonly significand: bigint
  readonly exponent: number
  readonly more?: boolean
}

/** The value of a finite float. */
export function exact(f: Format, word: bigint): Exact {
  const magnitude = word & ~signBit(f)
  const field = Number(magnitude >> BigInt(f.fraction))
  const fraction = magnitude & ((1n << BigInt(f.fraction)) - 1n)
  const significand = field === 0 ? fraction : fraction | (1n << BigInt(f.fraction))
  return { significand: isNegative(f, word) ? -significand : significand, exponent: Math.max(field, 1) - bias(f) - f.fraction }
}

export function product(a: Exact, b: Exact): Exact {
  return { significand: a.significand * b.significand, exponent: a.exponent + b.exponent }
}
export function sum(a: Exact, b: Exact): Exact {
  const exponent = Math.min(a.exponent, b.exponent)
  const at = (x: Exact) => x.significand << BigInt(x.exponent - exponent)
  return { significand: at(a) + at(b), exponent }
}

/**
 * The nearest float of a format, or the one that a directed mode wants (1 towards +∞, 2 towards −∞, 3 towards zero).
 * @param zero the sign of an exact zero
 */
export function rounded(f: Format, x: Exact, mode = 0, zero = false): bigint {
  const negative = x.significand < 0n || (x.significand === 0n && zero)
  const sign = negative ? signBit(f) : 0n
  let magnitude = x.significand < 0n ? -x.significand : x.significand
  if (magnitude === 0n && !x.more) return sign
  // Two bits below are enough if the lower one collects what is left.
  magnitude = (magnitude << 2n) | (x.more ? 1n : 0n)
  let exponent = x.exponent - 2
  const least = 1 - bias(f) - f.fraction
  const drop = Math.max(bitLength(magnitude) - (f.fraction + 1), least - exponent)
  let kept = magnitude
  let half = 0n
  let rest = false
  if (drop > 0) {
    kept = magnitude >> BigInt(drop)
    half = (magnitude >> BigInt(drop - 1)) & 1n
    rest = (magnitude & ((1n << BigInt(drop - 1)) - 1n)) !== 0n
  } else kept = magnitude << BigInt(-drop)
  exponent += drop
  const away = (mode === 1 && !negative) || (mode === 2 && negative)
  if (mode === 0 ? half === 1n && (rest || (kept & 1n) === 1n) : away && (half === 1n || rest)) kept += 1n
  // With the implicit bit counted in, significand and exponent field add up, carries included.
  const word = (BigInt(exponent - least) << BigInt(f.fraction)) + kept
  if (word < infinity(f)) return sign | word
  return sign | (mode === 0 || away ? infinity(f) : infinity(f) - 1n)
}

const bitLength = (x: bigint) => x.toString(2).length
