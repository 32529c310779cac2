/** Models of conversions, of rounding to integers and of taking floats apart. Source: AMD's GCN manuals, vector ALU instructions. */
import { exact, F16, F32, F64, type Format, infinity, isInfinite, isNan, isNegative, rounded, sum } from '../../kernels/exact.ts'
import { defaultNan, floorOf, flushed, integerOf, isZero, nanOf, one, quietBit, type Round, withSign } from './float.ts'
import { keepsResults, type Lane, type Model, models, roundOf } from './model.ts'

/** An integer of a float, between two bounds; NaN gives 0. */
function saturated(f: Format, a: bigint, low: bigint, high: bigint, of: (a: bigint) => bigint): bigint {
  if (isNan(f, a)) return 0n
  if (isInfinite(f, a)) return isNegative(f, a) ? low : high
  const n = of(a)
  return n < low ? low : n > high ? high : n
}
const signedRange = (bits: number) => [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n] as const
const unsignedRange = (bits: number) => [0n, (1n << BigInt(bits)) - 1n] as const

const toSigned =
  (f: Format, bits: number, of: (a: bigint) => bigint): Lane =>
  ([a]) =>
    BigInt.asUintN(bits, saturated(f, a!, ...signedRange(bits), of))
const toUnsigned =
  (f: Format, bits: number): Lane =>
  ([a]) =>
    saturated(f, a!, ...unsignedRange(bits), truncated(f))
const truncated = (f: Format) => (a: bigint) => integerOf(f, a, 3)

const whole = (f: Format, n: bigint, round: Round, negative = false) => rounded(f, { significand: n, exponent: 0 }, round, negative)
const ofInteger =
  (f: Format, read: (a: bigint) => bigint): Lane =>
  ([a], at) =>
    whole(f, read(a!), roundOf(f, at))
const signed = (bits: number) => (a: bigint) => BigInt.asIntN(bits, a)
const byte = (n: number) => (a: bigint) => (a >> BigInt(8 * n)) & 0xffn

/** A NaN keeps its sign and as much of its payload as there is room for, from the top, and is quiet. */
function converted(from: Format, to: Format, a: bigint, round: Round): bigint {
  const negative = isNegative(from, a)
  if (isInfinite(from, a)) return withSign(to, infinity(to), negative)
  if (!isNan(from, a)) return rounded(to, exact(from, a), round, negative)
  const payload = a & (quietBit(from) - 1n)
  const longer = BigInt(to.fraction - from.fraction)
  return withSign(to, defaultNan(to) | (longer > 0n ? payload << longer : payload >> -longer), negative)
}
const conversion =
  (from: Format, to: Format): Lane =>
  ([a], at) =>
    converted(from, to, a!, roundOf(to, at))

const toInteger =
  (f: Format, round: Round): Lane =>
  ([a]) => {
    if (isNan(f, a!)) return nanOf(f, a!)
    return isInfinite(f, a!) ? a! : whole(f, integerOf(f, a!, round), 0, isNegative(f, a!))
  }

/** x − ⌊x⌋ rounded, but never 1; +0 of a whole number in every mode, NaN of an infinity. */
const fraction =
  (f: Format): Lane =>
  ([a], at) => {
    if (isNan(f, a!) || isInfinite(f, a!)) return nanOf(f, a!)
    const rest = sum(exact(f, a!), { significand: -floorOf(f, a!), exponent: 0 })
    const result = rest.significand === 0n ? 0n : rounded(f, rest, roundOf(f, at))
    return result === one(f) ? one(f) - 1n : result
  }

const isApart = (f: Format, a: bigint) => !isNan(f, a) && !isInfinite(f, a) && !isZero(f, a)
/** x = m · 2^e with 1/2 ≤ |m| < 1. */
const exponentOf = (f: Format, a: bigint) => {
  const { significand, exponent } = exact(f, a)
  return exponent + (significand < 0n ? -significand : significand).toString(2).length
}
const frexpExponent =
  (f: Format, bits: number): Lane =>
  ([a]) =>
    isApart(f, a!) ? BigInt.asUintN(bits, BigInt(exponentOf(f, a!))) : 0n
const frexpMantissa =
  (f: Format): Lane =>
  ([a]) => {
    if (!isApart(f, a!)) return isNan(f, a!) ? nanOf(f, a!) : a!
    const { significand, exponent } = exact(f, a!)
    return rounded(f, { significand, exponent: exponent - exponentOf(f, a!) })
  }

const pair = (low: bigint, high: bigint) => BigInt.asUintN(16, low) | (BigInt.asUintN(16, high) << 16n)
/** x · steps to the nearest integer, ties to even, between the bounds. */
const norm =
  (steps: bigint, low: bigint): Lane =>
  ([a, b]) => {
    const of = (word: bigint) =>
      saturated(F32, word, low, steps, (x) => {
        const { significand, exponent } = exact(F32, x)
        // The product needs no more bits than f64 has, or it is far beyond the bounds.
        const scaledWord = rounded(F64, { significand: significand * steps, exponent }, 0, isNegative(F32, x))
        return integerOf(F64, scaledWord, 0)
      })
    return pair(of(a!), of(b!))
  }
const toHalves: Lane = ([a, b], at) => {
  const half = (word: bigint) => {
    const result = converted(F32, F16, word, 3)
    return keepsResults(F16, at) ? result : flushed(F16, result)
  }
  return pair(half(a!), half(b!))
}
/** The byte's place is S1[1:0]. */
const toByte: Lane = ([a, place, old], at) => {
  const value = saturated(F32, a!, 0n, 255n, (x) => integerOf(F32, x, roundOf(F32, at)))
  const shift = 8n * (place! & 3n)
  return (old! & ~(0xffn << shift)) | (value << shift)
}

/** Around the bounds of integers, and halves. */
const number = (f: Format, significand: bigint, exponent = 0) => rounded(f, { significand, exponent })
const BOUNDS_32 = [
  ...[1n << 31n, -(1n << 31n), 1n << 32n, (1n << 24n) + 1n, (1n << 31n) - 128n, (1n << 32n) - 256n].map((n) => number(F32, n)),
  ...[1n, -1n, 3n, -3n, 5n, 511n, 509n].map((n) => number(F32, n, -1)),
  number(F32, 255n),
  number(F32, 256n),
  number(F32, (1n << 24n) - 1n, -25), // just below one half
]
const BOUNDS_64 = [
  ...[1n << 31n, -(1n << 31n), -(1n << 31n) - 1n, 1n << 32n, (1n << 32n) - 1n, (1n << 52n) + 1n].map((n) => number(F64, n)),
  ...[(1n << 32n) - 1n, (1n << 33n) - 1n, -(1n << 32n) - 1n, 1n, 3n, 5n, -1n, -3n].map((n) => number(F64, n, -1)),
]
const BOUNDS_16 = [
  ...[32767n, -32768n, 32800n, 65504n].map((n) => number(F16, n)),
  ...[1n, -1n, 3n, -3n, 5n].map((n) => number(F16, n, -1)),
]
/** Halfway between two f16, beyond the largest, at the least one. */
const HALVES = [0x3f801000n, 0x3f803000n, 0x477fe000n, 0x477ff000n, 0x477fefffn, 0x33000000n, 0x33000001n, 0x33c00000n, 0x387fe000n]
const SINGLES = [
  0x3ff0000010000000n,
  0x3ff0000030000000n,
  0x47efffffefffffffn,
  0x47effffff0000000n,
  0x3690000000000000n,
  0x3690000000000001n,
]
const also = (words: readonly bigint[], list: [string, Model][]): [string, Model][] =>
  list.map(([name, model]) => [name, { ...model, also: [words, words] }])
const families = (name: string, of: (f: Format) => Lane) =>
  Object.fromEntries(([F16, F32, F64] as const).map((f) => [`${name}_f${f.bits}`, of(f)]))

export const CONVERSIONS: readonly [string, Model][] = [
  ...also(BOUNDS_32, [
    ...models('never', {
      v_cvt_i32_f32: toSigned(F32, 32, truncated(F32)),
      v_cvt_u32_f32: toUnsigned(F32, 32),
      v_cvt_pknorm_i16_f32: norm(32767n, -32767n),
      v_cvt_pknorm_u16_f32: norm(65535n, 0n),
    }),
    ...models('mode', {
      v_cvt_rpi_i32_f32: toSigned(F32, 32, (a) => (floorOf(F32, a, 2n) + 1n) >> 1n),
      v_cvt_flr_i32_f32: toSigned(F32, 32, (a) => floorOf(F32, a)),
      v_cvt_pk_u8_f32: toByte,
      v_cvt_pkaccum_u8_f32: toByte,
    }),
  ]),
  ...also(BOUNDS_64, models('never', { v_cvt_i32_f64: toSigned(F64, 32, truncated(F64)), v_cvt_u32_f64: toUnsigned(F64, 32) })),
  ...also(BOUNDS_16, models('never', { v_cvt_i16_f16: toSigned(F16, 16, truncated(F16)), v_cvt_u16_f16: toUnsigned(F16, 16) })),
  ...also(
    [0x1000003n, 0xfefffffdn, 0xffffff80n, 0xffffff7fn],
    models('never', { v_cvt_f32_i32: ofInteger(F32, signed(32)), v_cvt_f32_u32: ofInteger(F32, (a) => a) }),
  ),
  ...models('never', {
    v_cvt_f64_i32: ofInteger(F64, signed(32)),
    v_cvt_f64_u32: ofInteger(F64, (a) => a),
    v_cvt_f16_i16: ofInteger(F16, signed(16)),
    v_cvt_f16_u16: ofInteger(F16, (a) => a),
    v_cvt_f32_ubyte0: ofInteger(F32, byte(0)),
    v_cvt_f32_ubyte1: ofInteger(F32, byte(1)),
    v_cvt_f32_ubyte2: ofInteger(F32, byte(2)),
    v_cvt_f32_ubyte3: ofInteger(F32, byte(3)),
    v_cvt_off_f32_i4: ([a]) => rounded(F32, { significand: BigInt.asIntN(4, a!), exponent: -4 }),
    ...families('v_frexp_mant', frexpMantissa),
    v_frexp_exp_i16_f16: frexpExponent(F16, 16),
    v_frexp_exp_i32_f32: frexpExponent(F32, 32),
    v_frexp_exp_i32_f64: frexpExponent(F64, 32),
  }),
  ...also(HALVES, models('mode', { v_cvt_f16_f32: conversion(F32, F16), v_cvt_pkrtz_f16_f32: toHalves })),
  ...also(SINGLES, models('mode', { v_cvt_f32_f64: conversion(F64, F32) })),
  ...models('mode', { v_cvt_f32_f16: conversion(F16, F32), v_cvt_f64_f32: conversion(F32, F64) }),
  ...([F16, F32, F64] as const).flatMap((f) =>
    also(
      f === F16 ? BOUNDS_16 : f === F32 ? BOUNDS_32 : BOUNDS_64,
      models('mode', {
        [`v_rndne_f${f.bits}`]: toInteger(f, 0),
        [`v_ceil_f${f.bits}`]: toInteger(f, 1),
        [`v_floor_f${f.bits}`]: toInteger(f, 2),
        [`v_trunc_f${f.bits}`]: toInteger(f, 3),
        [`v_fract_f${f.bits}`]: fraction(f),
      }),
    ),
  ),
]
