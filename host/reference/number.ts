/**
 * Exact arithmetic on the bits of f16, f32 and f64: what the reference's lane functions compute with. Knows nothing of instructions.
 *
 * A word is a float's bits, a *value* the JavaScript number of the same value (every f16, f32 and f64 is one), an *Exact* a number
 * of any length. Values lose a NaN's payload, so a NaN is seen to on its bits first. Results have the same bits on every machine:
 * only +, -, *, /, Math.sqrt, Math.fround and Math.floor are used, which ECMAScript defines to the last bit; Math.sin and its kin never.
 */

/** 0 nearest even, 1 towards +∞, 2 towards −∞, 3 towards zero. */
export type Round = 0 | 1 | 2 | 3
export const NEAREST = 0
export const UP = 1
export const DOWN = 2
export const ZERO = 3

const bytes = new DataView(new ArrayBuffer(8))
const f32s = new Float32Array(1)
const u32s = new Uint32Array(f32s.buffer)
const f64s = new Float64Array(1)
const u64s = new BigUint64Array(f64s.buffer)

/** Which numbers a float type has. */
export interface Range {
  /** Bits of the significand, the hidden one included. */
  readonly precision: number
  /** Exponents of the largest number and of the smallest normal one, as in 1.xxx · 2^exponent. */
  readonly maxExponent: number
  readonly minExponent: number
}

/** A float type: W is number for f16 and f32, bigint for f64. */
export interface Format<W extends number | bigint> extends Range {
  readonly name: 'f16' | 'f32' | 'f64'
  readonly sign: W
  readonly infinity: W
  readonly quietBit: W
  /** What an invalid operation on numbers gives. */
  readonly nan: W
  /** The number, exactly; NaN for NaN. */
  value(word: W): number
  /** The bits of a value that the format holds exactly (infinities too, NaN not). */
  word(value: number): W
  /** The bits of a value of f64 precision or less, rounded once. */
  round(value: number, round: Round): W
  isNaN(word: W): boolean
  /** Whether the sign bit is set, of a NaN too. */
  isNegative(word: W): boolean
  /** The exponent field of the bits: 0 for zeros and denormals. */
  exponentField(word: W): number
  /** The NaN with its quiet bit set. */
  quiet(word: W): W
}

export const F16: Format<number> = {
  name: 'f16',
  precision: 11,
  maxExponent: 15,
  minExponent: -14,
  sign: 0x8000,
  infinity: 0x7c00,
  quietBit: 0x0200,
  nan: 0x7e00,
  value(word) {
    const exponent = (word >>> 10) & 31
    const fraction = word & 0x3ff
    const sign = word & 0x8000 ? -1 : 1
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * power(exponent - 25))
  },
  word(value) {
    const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
    const size = Math.abs(value)
    if (size === Number.POSITIVE_INFINITY) return sign | 0x7c00
    if (size < 2 ** -14) return sign | (size * 2 ** 24)
    const exponent = exponentOf(size)
    return sign | (((exponent + 14) << 10) + size / power(exponent - 10))
  },
  round: (value, round) => F16.word(roundValue(value, F16, round)),
  isNaN: (word) => (word & 0x7fff) > 0x7c00,
  isNegative: (word) => (word & 0x8000) !== 0,
  exponentField: (word) => (word >>> 10) & 0x1f,
  quiet: (word) => (word & 0xffff) | 0x0200,
}

function value32(word: number): number {
  u32s[0] = word
  return f32s[0] as number
}

/** A Float32Array rounds to nearest. */
function nearest32(value: number): number {
  f32s[0] = value
  return u32s[0] as number
}

export const F32: Format<number> = {
  name: 'f32',
  precision: 24,
  maxExponent: 127,
  minExponent: -126,
  sign: 0x80000000,
  infinity: 0x7f800000,
  quietBit: 0x00400000,
  nan: 0x7fc00000,
  value: value32,
  word: nearest32,
  round: (value, round) => nearest32(round === NEAREST ? value : roundValue(value, F32, round)),
  isNaN: (word) => (word & 0x7fffffff) > 0x7f800000,
  isNegative: (word) => (word & 0x80000000) !== 0,
  exponentField: (word) => (word >>> 23) & 0xff,
  quiet: (word) => (word | 0x00400000) >>> 0,
}

export const F64: Format<bigint> = {
  name: 'f64',
  precision: 53,
  maxExponent: 1023,
  minExponent: -1022,
  sign: 0x8000000000000000n,
  infinity: 0x7ff0000000000000n,
  quietBit: 0x0008000000000000n,
  nan: 0x7ff8000000000000n,
  value(word) {
    u64s[0] = word
    return f64s[0] as number
  },
  word(value) {
    f64s[0] = value
    return u64s[0] as bigint
  },
  round: (value) => F64.word(value),
  isNaN: (word) => (word & 0x7fffffffffffffffn) > 0x7ff0000000000000n,
  isNegative: (word) => (word & 0x8000000000000000n) !== 0n,
  exponentField: (word) => Number((word >> 52n) & 0x7ffn),
  quiet: (word) => word | 0x0008000000000000n,
}

// --- the kind of words and values

export const isInfinite = (value: number): boolean => value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY
/** Less than zero, or -0. */
export const hasSign = (value: number): boolean => value < 0 || Object.is(value, -0)
/** The value's size with a sign. */
export const withSign = (value: number, negative: boolean): number => (negative ? -Math.abs(value) : Math.abs(value))
export const isSignalling = <W extends number | bigint>(f: Format<W>, word: W): boolean => f.isNaN(word) && f.quiet(word) !== word
export const isDenormal = (f: Range, value: number): boolean => value !== 0 && Math.abs(value) < power(f.minExponent)
/** The largest finite value. */
export const largest = (f: Range): number => (2 - 2 * power(-f.precision)) * power(f.maxExponent)

/** A denormal becomes the zero of its sign; everything else stays. */
export const flushed = <W extends number | bigint>(f: Format<W>, word: W): W =>
  f.exponentField(word) === 0 ? f.word(f.isNegative(word) ? -0 : 0) : word

/** The NaN of a result: the first source that is NaN with its quiet bit set, or the default NaN where an operation on numbers is invalid. */
export function nanOf<W extends number | bigint>(f: Format<W>, ...sources: W[]): W {
  for (const source of sources) if (f.isNaN(source)) return f.quiet(source)
  return f.nan
}

// --- rounding of values

/** Powers of two from 2^-1074 to 2^1023; made by doubling, for Math.pow is not exact by law. */
const POWERS = new Float64Array(1074 + 1024)
POWERS[0] = Number.MIN_VALUE
for (let i = 1; i < POWERS.length; i++) POWERS[i] = POWERS[i - 1]! * 2

/** 2^n for -1074 ≤ n ≤ 1023. */
export const power = (n: number): number => POWERS[n + 1074]!

/** The exponent of a normal value, as in 1.xxx · 2^exponent; -1023 for zero and f64 denormals. */
export function exponentOf(value: number): number {
  bytes.setFloat64(0, value)
  return ((bytes.getUint32(0) >>> 20) & 0x7ff) - 1023
}

/** The integer next to a value; a zero keeps the value's sign. */
export function roundInteger(value: number, round: Round): number {
  const below = Math.floor(value)
  const rest = value - below
  if (rest === 0) return value
  let up: boolean
  if (round === NEAREST) up = rest > 0.5 || (rest === 0.5 && below % 2 !== 0)
  else up = round === UP || (round === ZERO && value < 0)
  return (up ? below + 1 : below) || (value < 0 ? -0 : 0)
}

/** A value rounded to the numbers of f16 or f32; its quantum there is a power of two, so that scaling by it loses nothing. */
export function roundValue(value: number, f: Range, round: Round): number {
  if (value === 0 || isInfinite(value) || f.precision === 53) return value
  const quantum = power(Math.max(exponentOf(value), f.minExponent) - f.precision + 1)
  const rounded = roundInteger(value / quantum, round) * quantum
  return Math.abs(rounded) > largest(f) ? overflow(f, value < 0, round) : rounded
}

/** What a result beyond the largest number becomes: infinity, or the largest number where the rounding goes towards zero. */
export function overflow(f: Range, negative: boolean, round: Round): number {
  const towardsZero = round === ZERO || (round === UP && negative) || (round === DOWN && !negative)
  return withSign(towardsZero ? largest(f) : Number.POSITIVE_INFINITY, negative)
}

// --- sum, product and fused multiply-add of f16 and f32, in f64 arithmetic

/** The value next to x, whose last bit is 0, that is further from zero (`out`) or nearer, x not zero. */
function neighbour(x: number, out: boolean): number {
  bytes.setFloat64(0, x)
  const low = bytes.getUint32(4)
  if (!out && low === 0) bytes.setUint32(0, bytes.getUint32(0) - 1)
  bytes.setUint32(4, out ? low + 1 : low - 1)
  return bytes.getFloat64(0)
}

/**
 * x + y in f64 with an odd last bit where the sum is not exact. Rounding that to f16 or f32 in any mode is rounding the exact sum:
 * the last bit lies at least two places below theirs and tells on which side the rest is (Boldo and Melquiond, "Emulation of FMA
 * and correctly rounded sums: proved algorithms using rounding to odd", 2008).
 */
function oddSum(x: number, y: number): number {
  const sum = x + y
  if (isInfinite(sum) || Number.isNaN(sum)) return sum
  const part = sum - x
  const error = x - (sum - part) + (y - part) // Knuth's two-sum: sum + error is exact
  if (error === 0) return sum
  bytes.setFloat64(0, sum)
  return bytes.getUint32(4) & 1 ? sum : neighbour(sum, error > 0 === sum > 0)
}

/** x + y where that is zero: +0, but -0 if both are -0, or towards −∞ unless both are +0 (IEEE 754, 6.3). */
const zeroSum = (x: number, y: number, round: Round): number => (round === DOWN ? (Object.is(x, 0) && Object.is(y, 0) ? 0 : -0) : x + y)

// f32 to nearest has a short way, which most instructions take: f64 holds the product of two f32 exactly (48 bits, from 2^-298 to 2^256);
// a sum of two f32 that is rounded to f64 and then to f32 is rounded as once, for f64 has more than twice its bits (Figueroa); fma's sum of
// a product goes through oddSum. Zeros get their sign and infinities come out as IEEE 754 has them. Where the result is NaN, the long way
// has to see which one; the other round modes always take it.

const isNearest32 = ({ name }: { readonly name: string }, round: Round): boolean => name === 'f32' && round === NEAREST

/** a + b, rounded once. */
export function add<W extends number | bigint>(f: Format<W>, a: W, b: W, round: Round): W {
  if (isNearest32(f, round)) {
    const sum = value32(a as number) + value32(b as number)
    if (!Number.isNaN(sum)) return nearest32(sum) as W
  }
  if (f.isNaN(a) || f.isNaN(b)) return nanOf(f, a, b)
  const x = f.value(a)
  const y = f.value(b)
  const sum = x + y
  if (Number.isNaN(sum)) return f.nan
  if (sum === 0) return f.word(zeroSum(x, y, round))
  if (round === NEAREST) return f.round(sum, round) // f64 is wide enough for f16 and f32: rounding twice is rounding once (Figueroa)
  if (f.precision < 53) return f.round(oddSum(x, y), round)
  return isInfinite(x) || isInfinite(y) ? f.word(sum) : f.word(roundExact(plus(exact(x), exact(y)), f, round))
}

/** a · b, rounded once. */
export function multiply<W extends number | bigint>(f: Format<W>, a: W, b: W, round: Round): W {
  if (isNearest32(f, round)) {
    const product = value32(a as number) * value32(b as number)
    if (!Number.isNaN(product)) return nearest32(product) as W
  }
  if (f.isNaN(a) || f.isNaN(b)) return nanOf(f, a, b)
  const x = f.value(a)
  const y = f.value(b)
  const product = x * y // exact for f16 and f32
  if (Number.isNaN(product)) return f.nan
  if (f.precision < 53 || round === NEAREST) return f.round(product, round)
  return isInfinite(x) || isInfinite(y) ? f.word(product) : f.word(roundExact(times(exact(x), exact(y)), f, round))
}

/** a · b + c, rounded once; times 2^scale before that rounding. */
export function fma<W extends number | bigint>(f: Format<W>, a: W, b: W, c: W, round: Round, scale = 0): W {
  if (isNearest32(f, round) && scale === 0) {
    const sum = oddSum(value32(a as number) * value32(b as number), value32(c as number))
    if (!Number.isNaN(sum)) return nearest32(sum) as W
  }
  if (f.isNaN(a) || f.isNaN(b) || f.isNaN(c)) return nanOf(f, a, b, c)
  const x = f.value(a)
  const y = f.value(b)
  const z = f.value(c)
  if (isInfinite(x) || isInfinite(y)) {
    const sum = x * y + z
    return Number.isNaN(sum) ? f.nan : f.word(sum)
  }
  if (isInfinite(z)) return c
  if (x === 0 || y === 0) {
    if (z === 0) return f.word(zeroSum(x * y, z, round))
    if (scale === 0) return c
  }
  if (f.precision < 53) {
    const sum = oddSum(x * y, z)
    return f.round(sum === 0 ? zeroSum(x * y, z, round) : sum * power(scale), round)
  }
  const sum = plus(times(exact(x), exact(y)), exact(z))
  if (sum.significand === 0n) return f.word(round === DOWN ? -0 : 0)
  return f.word(roundExact({ ...sum, exponent: sum.exponent + scale }, f, round))
}

/** a · 2^n, rounded once. */
export function scale<W extends number | bigint>(f: Format<W>, a: W, n: number, round: Round): W {
  const value = f.value(a)
  if (Number.isNaN(value)) return f.quiet(a)
  if (value === 0 || isInfinite(value)) return a
  if (f.precision < 53) return f.round(value * power(Math.min(Math.max(n, -400), 400)), round) // exact, and beyond either end of f32
  const x = exact(value)
  return f.word(roundExact({ ...x, exponent: x.exponent + n }, f, round))
}

// --- numbers of any length

/** (negative ? -1 : 1) · significand · 2^exponent; zero has a sign too. */
export interface Exact {
  readonly negative: boolean
  readonly significand: bigint
  readonly exponent: number
}

/** A finite value as an Exact. */
export function exact(value: number): Exact {
  f64s[0] = value
  const word = u64s[0] as bigint
  const fraction = word & 0xfffffffffffffn
  const biased = Number((word >> 52n) & 0x7ffn)
  return {
    negative: word >> 63n === 1n,
    significand: biased === 0 ? fraction : fraction | 0x10000000000000n,
    exponent: Math.max(biased, 1) - 1075,
  }
}

export function plus(a: Exact, b: Exact): Exact {
  const exponent = Math.min(a.exponent, b.exponent)
  const align = (x: Exact) => (x.negative ? -x.significand : x.significand) << BigInt(x.exponent - exponent)
  const sum = align(a) + align(b)
  return { negative: sum < 0n, significand: sum < 0n ? -sum : sum, exponent }
}

export const times = (a: Exact, b: Exact): Exact => ({
  negative: a.negative !== b.negative,
  significand: a.significand * b.significand,
  exponent: a.exponent + b.exponent,
})

/** Bits of a positive integer. */
export function bitLength(n: bigint): number {
  const digits = n.toString(16)
  return digits.length * 4 - (Math.clz32(Number.parseInt(digits[0] as string, 16)) - 28)
}

/** An Exact as a value of the format: rounded once, with gradual underflow, and overflow as the round mode says. */
export function roundExact(x: Exact, f: Range, round: Round): number {
  if (x.significand === 0n) return x.negative ? -0 : 0
  const top = bitLength(x.significand) - 1 + x.exponent
  if (top > f.maxExponent) return overflow(f, x.negative, round)
  const quantum = Math.max(top, f.minExponent) - f.precision + 1
  const drop = quantum - x.exponent
  const rounded = drop <= 0 ? x.significand << BigInt(-drop) : dropBits(x.significand, drop, x.negative, round)
  const size = Number(rounded) * power(quantum)
  return size > largest(f) ? overflow(f, x.negative, round) : withSign(size, x.negative)
}

/** n without its `count` lowest bits, rounded. */
function dropBits(n: bigint, count: number, negative: boolean, round: Round): bigint {
  if (count > bitLength(n) + 1) return (round === UP && !negative) || (round === DOWN && negative) ? 1n : 0n
  const kept = n >> BigInt(count)
  const rest = n - (kept << BigInt(count))
  if (rest === 0n) return kept
  const half = 1n << BigInt(count - 1)
  let up: boolean
  if (round === NEAREST) up = rest > half || (rest === half && (kept & 1n) === 1n)
  else up = round === (negative ? DOWN : UP)
  return up ? kept + 1n : kept
}
