/**
 * Correctly rounded 1/x, √x, 1/√x, 2^x, log2 x, and sine and cosine of x revolutions, in every round mode. They take a finite value
 * of the format and give a value of it; zeros, infinities and NaN are the caller's.
 *
 * The transcendental ones compute in fixed point of ever more bits until both ends of the error interval round to the same number
 * (Ziv's method). That ends, because their results are irrational but for the exact cases, which are taken out first.
 */
import { bitLength, type Exact, exact, NEAREST, type Range, type Round, roundExact, roundValue } from './number.ts'

/** 1 / x, x not zero. */
export function reciprocal(x: number, f: Range, round: Round): number {
  // Division rounds f64 correctly, and twice is once for f16 and f32: f64 has more than twice their bits (Figueroa).
  if (round === NEAREST) return roundValue(1 / x, f, round)
  const near = settled(1 / x, f, round)
  if (near !== undefined) return near
  const { negative, significand, exponent } = exact(x)
  const one = 1n << 128n // 53 bits at most divide it, so 75 are left at least
  const quotient = one / significand
  return roundExact({ negative, ...sticky(quotient, quotient * significand !== one), exponent: -exponent - 129 }, f, round)
}

/** √x, x > 0. */
export function squareRoot(x: number, f: Range, round: Round): number {
  if (round === NEAREST) return roundValue(Math.sqrt(x), f, round)
  const near = settled(Math.sqrt(x), f, round)
  if (near !== undefined) return near
  const { significand, exponent } = even(exact(x), 128)
  const root = integerRoot(significand)
  return roundExact({ negative: false, ...sticky(root, root * root !== significand), exponent: exponent / 2 - 1 }, f, round)
}

/** 1 / √x, x > 0. */
export function reciprocalRoot(x: number, f: Range, round: Round): number {
  const near = settled(1 / Math.sqrt(x), f, round)
  if (near !== undefined) return near
  const { significand, exponent } = even(exact(x), 0)
  const one = 1n << 256n
  const root = integerRoot(one / significand)
  return roundExact({ negative: false, ...sticky(root, root * root * significand !== one), exponent: -exponent / 2 - 129 }, f, round)
}

/** 2^x. */
export function exponential2(x: number, f: Range, round: Round): number {
  const whole = Math.trunc(x)
  if (x === whole) return roundExact({ negative: false, significand: 1n, exponent: whole }, f, round)
  return rounded((bits) => scaled(exponentialFraction(x - whole, bits), bits, whole), f, round)
}

/** log2 x, x > 0. */
export function logarithm2(x: number, f: Range, round: Round): number {
  const { significand, exponent } = exact(x)
  const length = bitLength(significand)
  if (significand === 1n << BigInt(length - 1)) return roundValue(length - 1 + exponent, f, round)
  // m in [3/4, 3/2), so that x near 1 has no whole part to cancel
  const whole = exponent + length - (2n * significand >= 3n << BigInt(length - 1) ? 0 : 1)
  return rounded(
    (bits) => {
      const one = 1n << BigInt(bits)
      const m = shift(significand, bits + exponent - whole)
      const log = (atanh(((m - one) << BigInt(bits)) / (m + one), bits) << BigInt(bits + 1)) / ln2(bits) + BigInt(whole) * one
      return scaled(log, bits, 0)
    },
    f,
    round,
  )
}

/** sin 2πx. Where that is zero, it is +0, of -0 it is -0: AMD's manuals have v_sin_f32(-0.0) = -0 and v_sin_f32(-MaxFloat) = +0. */
export function sineOfRevolutions(x: number, f: Range, round: Round): number {
  const { quadrant, rest } = quarter(x)
  if (rest === 0) return quadrant % 2 ? 2 - quadrant : x === 0 ? x : 0
  return circular(quadrant, rest, f, round)
}

/** cos 2πx. */
export function cosineOfRevolutions(x: number, f: Range, round: Round): number {
  const { quadrant, rest } = quarter(Math.abs(x))
  if (rest === 0) return quadrant % 2 ? 0 : 1 - quadrant
  return circular((quadrant + 1) % 4, rest, f, round)
}

// --- rounding of what is not known to the last bit

/** An f64 that one or two roundings have made wrong, so by less than 2^-52 of it, rounded to f16 or f32 if both ends of that agree. */
function settled(near: number, f: Range, round: Round): number | undefined {
  if (f.precision === 53) return undefined
  const error = near * 2 ** -51
  const low = roundValue(near - error, f, round)
  return low === roundValue(near + error, f, round) ? low : undefined
}

/** What the fixed-point functions below may be wrong by, in units of their last place. */
const ERROR = 1n << 32n

/** Rounds a number known to as many bits as asked for, up to ERROR in its last place. */
function rounded(approximate: (bits: number) => Exact, f: Range, round: Round): number {
  for (let bits = f.precision + 64; ; bits *= 2) {
    const x = approximate(bits)
    if (x.significand <= ERROR) continue
    const low = roundExact({ ...x, significand: x.significand - ERROR }, f, round)
    if (low === roundExact({ ...x, significand: x.significand + ERROR }, f, round)) return low
  }
}

/** A fixed-point number times 2^exponent. */
const scaled = (fixed: bigint, bits: number, exponent: number): Exact => ({
  negative: fixed < 0n,
  significand: fixed < 0n ? -fixed : fixed,
  exponent: exponent - bits,
})

/**
 * A significand with one more bit that says whether there is a rest. Its rounding is that of the whole number in every mode, for it has
 * more bits than the format: what is cut off is zero, below, at or above the half exactly if that of the whole number is.
 */
const sticky = (n: bigint, rest: boolean) => ({ significand: (n << 1n) | (rest ? 1n : 0n) })

/** The same number with an even exponent and at least so many more bits. */
function even(x: Exact, bits: number): Exact {
  const more = bits + (x.exponent & 1)
  return { ...x, significand: x.significand << BigInt(more), exponent: x.exponent - more }
}

/** The largest integer whose square is not above n (Newton's iteration from above). */
function integerRoot(n: bigint): bigint {
  let root = 1n << BigInt((bitLength(n) + 1) >> 1)
  for (;;) {
    const next = (root + n / root) >> 1n
    if (next >= root) return root
    root = next
  }
}

// --- functions in fixed point: `bits` bits behind the point, each wrong by far less than ERROR

const shift = (n: bigint, by: number): bigint => (by >= 0 ? n << BigInt(by) : n >> BigInt(-by))

/** A value in fixed point, cut off. */
function fixed(value: number, bits: number): bigint {
  const x = exact(value)
  const size = shift(x.significand, x.exponent + bits)
  return x.negative ? -size : size
}

/** 2^x for -1 < x < 1: e^(x ln 2) by Taylor's series of a 256th of it, squared eight times. */
function exponentialFraction(x: number, bits: number): bigint {
  const more = bits + 16
  const t = (fixed(x, more) * shift(ln2(bits), 16)) >> BigInt(more + 8)
  let term = 1n << BigInt(more)
  let sum = term
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = ((term * t) >> BigInt(more)) / n
    sum += term
  }
  for (let i = 0; i < 8; i++) sum = (sum * sum) >> BigInt(more)
  return sum >> 16n
}

/** The inverse hyperbolic tangent of z, |z| ≤ 1/3, by its series z + z³/3 + z⁵/5 + … */
function atanh(z: bigint, bits: number): bigint {
  const square = (z * z) >> BigInt(bits)
  let sum = 0n
  let power = z
  for (let n = 1n; power !== 0n && power !== -1n; n += 2n) {
    sum += power / n
    power = (power * square) >> BigInt(bits)
  }
  return sum
}

/** The inverse tangent of 1/n by its series. */
function atanOfInverse(n: bigint, bits: number): bigint {
  let power = (1n << BigInt(bits)) / n
  let sum = 0n
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += k & 2n ? -power / k : power / k
    power /= n * n
  }
  return sum
}

/** Remembers a constant for each number of bits asked for. */
function constant(compute: (bits: number) => bigint): (bits: number) => bigint {
  const known = new Map<number, bigint>()
  return (bits) => {
    let value = known.get(bits)
    if (value === undefined) {
      value = compute(bits)
      known.set(bits, value)
    }
    return value
  }
}

/** ln 2 = 2 atanh(1/3). */
const ln2 = constant((bits) => 2n * atanh((1n << BigInt(bits)) / 3n, bits))
/** π = 16 atan(1/5) - 4 atan(1/239) (Machin). */
const pi = constant((bits) => 16n * atanOfInverse(5n, bits) - 4n * atanOfInverse(239n, bits))

/** The first 1,201 bits of 2/π behind the point. */
export const twoOverPi: bigint = (2n << BigInt(1201 + 1280)) / pi(1280)

/** Splits x revolutions into quarters and the rest of one, 0 ≤ rest < 1. */
function quarter(x: number): { quadrant: number; rest: number } {
  const quarters = (x - Math.floor(x)) * 4
  if (x < 0 && quarters !== 0) {
    // x - floor(x) is not exact here: read the quarters of -x backwards
    const back = quarter(-x)
    return back.rest === 0 ? { quadrant: (4 - back.quadrant) % 4, rest: 0 } : { quadrant: 3 - back.quadrant, rest: -back.rest }
  }
  const quadrant = Math.floor(quarters)
  return { quadrant, rest: quarters - quadrant }
}

/** sin of (quadrant + rest) quarters of a revolution; a rest below zero counts from the quadrant's end. */
function circular(quadrant: number, rest: number, f: Range, round: Round): number {
  const cosine = (quadrant % 2 === 1) !== rest < 0
  return rounded(
    (bits) => {
      const angle = (fixed(Math.abs(rest), bits) * pi(bits)) >> BigInt(bits + 1)
      const size = cosine ? taylor(1n << BigInt(bits), 0n, angle, bits) : taylor(angle, 1n, angle, bits)
      return scaled(quadrant >= 2 ? -size : size, bits, 0)
    },
    f,
    round,
  )
}

/** The series of sine (first = angle, from = 1) and cosine (first = 1, from = 0): each term is the one before · -angle² / ((n+1)(n+2)). */
function taylor(first: bigint, from: bigint, angle: bigint, bits: number): bigint {
  const square = (angle * angle) >> BigInt(bits)
  let term = first
  let sum = 0n
  for (let n = from; term !== 0n && term !== -1n; n += 2n) {
    sum += term
    term = -((term * square) >> BigInt(bits)) / ((n + 1n) * (n + 2n))
  }
  return sum
}
