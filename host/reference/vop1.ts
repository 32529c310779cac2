/**
 * What the one-operand vector operations do with one lane: words in, word out (types in lane.ts). Sources have been through abs, neg
 * and flushing; omod, clamp and the flushing of the result come after.
 * Source: AMD's "Southern Islands", "Sea Islands" and "Graphics Core Next Architecture, Generation 3" instruction set manuals, chapter
 * "Vector ALU Instructions", VOP1; where they say too little, CLRX's GcnInstrsVop1. `Hardware:` marks what differs from the manual.
 */
import { cosineOfRevolutions, exponential2, logarithm2, reciprocal, reciprocalRoot, sineOfRevolutions, squareRoot } from './elementary.ts'
import type { Modes } from './lane.ts'
import {
  add,
  DOWN,
  exponentOf,
  F16,
  F32,
  F64,
  type Format,
  isInfinite,
  largest,
  NEAREST,
  nanOf,
  power,
  type Range,
  type Round,
  roundInteger,
  UP,
  withSign,
  ZERO,
} from './number.ts'
import { convert, i16, i32, saturate, u16, u32 } from './words.ts'

// --- moves and bits

/** D = S0. */
export const v_mov_b32 = (a: number) => a
/** D = ~S0. */
export const v_not_b32 = (a: number) => u32(~a)
/** D[i] = S0[31 - i]. */
export function v_bfrev_b32(a: number): number {
  let d = 0
  for (let i = 0; i < 32; i++) d |= ((a >>> i) & 1) << (31 - i)
  return u32(d)
}
/** D = number of zeros before the first one, counted from the most significant bit; -1 if there is no one. */
export const v_ffbh_u32 = (a: number) => (a === 0 ? 0xffffffff : Math.clz32(a))
/** D = place of the first one, counted from the least significant bit; -1 if there is none. */
export const v_ffbl_b32 = (a: number) => (a === 0 ? 0xffffffff : 31 - Math.clz32(a & -a))
/** D = number of bits that equal the sign bit, counted from it; -1 if all do. */
export const v_ffbh_i32 = (a: number) => v_ffbh_u32(u32(i32(a) < 0 ? ~a : a))

// --- floats to integers: truncated unless the name says otherwise, saturated; NaN gives 0

const I32 = [-0x80000000, 0x7fffffff] as const
const U32 = [0, 0xffffffff] as const

export const v_cvt_i32_f32 = (a: number) => u32(saturate(Math.trunc(F32.value(a)), ...I32))
export const v_cvt_u32_f32 = (a: number) => saturate(Math.trunc(F32.value(a)), ...U32)
export const v_cvt_i32_f64 = (a: bigint) => u32(saturate(Math.trunc(F64.value(a)), ...I32))
export const v_cvt_u32_f64 = (a: bigint) => saturate(Math.trunc(F64.value(a)), ...U32)
export const v_cvt_i16_f16 = (a: number) => u16(saturate(Math.trunc(F16.value(a)), -0x8000, 0x7fff))
export const v_cvt_u16_f16 = (a: number) => saturate(Math.trunc(F16.value(a)), 0, 0xffff)
/** D = ⌊S0 + 1/2⌋, the sum not rounded. */
export const v_cvt_rpi_i32_f32 = (a: number) => u32(saturate(Math.floor(F32.value(a) + 0.5), ...I32))
/** D = ⌊S0⌋. */
export const v_cvt_flr_i32_f32 = (a: number) => u32(saturate(Math.floor(F32.value(a)), ...I32))

// --- integers to floats

export const v_cvt_f32_i32 = (a: number, m: Modes) => F32.round(i32(a), m.round32)
export const v_cvt_f32_u32 = (a: number, m: Modes) => F32.round(a, m.round32)
export const v_cvt_f64_i32 = (a: number) => F64.word(i32(a))
export const v_cvt_f64_u32 = (a: number) => F64.word(a)
export const v_cvt_f16_u16 = (a: number, m: Modes) => F16.round(u16(a), m.round64)
export const v_cvt_f16_i16 = (a: number, m: Modes) => F16.round(i16(a), m.round64)
/** D = byte n of S0. */
export const v_cvt_f32_ubyte0 = (a: number) => F32.word(a & 255)
export const v_cvt_f32_ubyte1 = (a: number) => F32.word((a >>> 8) & 255)
export const v_cvt_f32_ubyte2 = (a: number) => F32.word((a >>> 16) & 255)
export const v_cvt_f32_ubyte3 = (a: number) => F32.word(a >>> 24)
/** D = S0[3:0] as a signed number, divided by 16: an offset of -0.5 to 0.4375 pixels. */
export const v_cvt_off_f32_i4 = (a: number) => F32.word(((a << 28) >> 28) / 16)

// --- floats to floats; a NaN keeps the leading bits of its payload and is quieted

export const v_cvt_f16_f32 = (a: number, m: Modes) => convert(F32, F16, a, m.round64)
export const v_cvt_f32_f16 = (a: number) => convert(F16, F32, a, NEAREST)
export const v_cvt_f32_f64 = (a: bigint, m: Modes) => convert(F64, F32, a, m.round32)
export const v_cvt_f64_f32 = (a: number) => convert(F32, F64, a, NEAREST)

// --- rounding to integers, and what is left; the sign of a zero is kept: v_rndne_f32 of -0.3 is -0
// Hardware: the manuals' ⌊S0 + 1/2⌋ for v_rndne rounds the sum and loses the sign; the result is the IEEE one.

type Word = number | bigint

const toInteger =
  <W extends Word>(f: Format<W>, round: Round) =>
  (a: W): W =>
    f.isNaN(a) ? f.quiet(a) : f.word(roundInteger(f.value(a), round))

export const v_trunc_f32 = toInteger(F32, ZERO)
export const v_ceil_f32 = toInteger(F32, UP)
export const v_rndne_f32 = toInteger(F32, NEAREST)
export const v_floor_f32 = toInteger(F32, DOWN)
export const v_trunc_f64 = toInteger(F64, ZERO)
export const v_ceil_f64 = toInteger(F64, UP)
export const v_rndne_f64 = toInteger(F64, NEAREST)
export const v_floor_f64 = toInteger(F64, DOWN)
export const v_trunc_f16 = toInteger(F16, ZERO)
export const v_ceil_f16 = toInteger(F16, UP)
export const v_rndne_f16 = toInteger(F16, NEAREST)
export const v_floor_f16 = toInteger(F16, DOWN)

/** D = S0 - ⌊S0⌋, rounded as MODE says, and clamped to the largest number below 1 (so AMD's CDNA 3 manual, note to V_FRACT_F64). */
function fract<W extends Word>(f: Format<W>, a: W, round: Round): W {
  const value = f.value(a)
  if (Number.isNaN(value) || isInfinite(value)) return nanOf(f, a)
  const whole = Math.floor(value)
  if (value === whole) return f.word(0)
  const rest = add(f, a, f.word(-whole), round)
  return f.value(rest) === 1 ? f.word(1 - power(-f.precision)) : rest
}

export const v_fract_f32 = (a: number, m: Modes) => fract(F32, a, m.round32)
export const v_fract_f64 = (a: bigint, m: Modes) => fract(F64, a, m.round64)
export const v_fract_f16 = (a: number, m: Modes) => fract(F16, a, m.round64)

// --- exponent and significand: S0 = mant · 2^exp, 1/2 ≤ |mant| < 1; zero, infinities and NaN have exponent 0 and are their own mant

/** The exponent e of 1.xxx · 2^e, denormals of f64 included. */
const fullExponent = (value: number) => (exponentOf(value) === -1023 ? exponentOf(value * 2 ** 60) - 60 : exponentOf(value))

const frexpExponent = (value: number) => (value === 0 || Number.isNaN(value) || isInfinite(value) ? 0 : fullExponent(value) + 1)

export const v_frexp_exp_i32_f32 = (a: number) => u32(frexpExponent(F32.value(a)))
export const v_frexp_exp_i32_f64 = (a: bigint) => u32(frexpExponent(F64.value(a)))
export const v_frexp_exp_i16_f16 = (a: number) => u16(frexpExponent(F16.value(a)))

function frexpMant<W extends Word>(f: Format<W>, a: W): W {
  const value = f.value(a)
  if (Number.isNaN(value)) return f.quiet(a)
  if (value === 0 || isInfinite(value)) return a
  const exponent = frexpExponent(value)
  return f.word(exponent < -1000 ? (value * 2 ** 60) / power(exponent + 60) : value / power(exponent - 1) / 2)
}

export const v_frexp_mant_f32 = (a: number) => frexpMant(F32, a)
export const v_frexp_mant_f64 = (a: bigint) => frexpMant(F64, a)
export const v_frexp_mant_f16 = (a: number) => frexpMant(F16, a)

// --- approximate in hardware (about 1 ULP; f64 about 2^29 ULP); here correctly rounded, in the round mode of MODE

/** Applies a function of values to the bits; its NaN becomes the one that the NaN rule gives. */
const unary =
  <W extends Word>(f: Format<W>, of: ValueFunction) =>
  (a: W, m: Modes): W => {
    const result = f.isNaN(a) ? Number.NaN : of(f.value(a), f, f.name === 'f32' ? m.round32 : m.round64)
    return Number.isNaN(result) ? nanOf(f, a) : f.word(result)
  }

/** A function of a value that is not NaN, rounded to a value of the format. */
type ValueFunction = (x: number, f: Range, round: Round) => number

/** 1 / S0; zeros give infinities and the other way round, signs kept. */
const rcp: ValueFunction = (x, f, round) => (x === 0 || isInfinite(x) ? 1 / x : reciprocal(x, f, round))
/** 1 / √S0; NaN below zero. */
const rsq: ValueFunction = (x, f, round) =>
  x > 0 && !isInfinite(x) ? reciprocalRoot(x, f, round) : x === 0 ? 1 / x : x > 0 ? 0 : Number.NaN
/** √S0; -0 gives -0, NaN below zero. */
const sqrt: ValueFunction = (x, f, round) => (x > 0 && !isInfinite(x) ? squareRoot(x, f, round) : Math.sqrt(x))
/** 2^S0. */
const exp: ValueFunction = (x, f, round) => (isInfinite(x) ? Math.max(x, 0) : exponential2(x, f, round))
/** log2 S0; -∞ for zeros, NaN below. */
const log: ValueFunction = (x, f, round) =>
  x > 0 && !isInfinite(x) ? logarithm2(x, f, round) : x === 0 ? Number.NEGATIVE_INFINITY : x > 0 ? x : Number.NaN
/** sin of S0 revolutions; 0 outside ±256, NaN for infinities. */
const sin: ValueFunction = (x, f, round) => (isInfinite(x) ? Number.NaN : Math.abs(x) > 256 ? 0 : sineOfRevolutions(x, f, round))
/** cos of S0 revolutions; 1 outside ±256, NaN for infinities. */
const cos: ValueFunction = (x, f, round) => (isInfinite(x) ? Number.NaN : Math.abs(x) > 256 ? 1 : cosineOfRevolutions(x, f, round))

/** Infinite results become the largest numbers. */
const clamped =
  (of: ValueFunction): ValueFunction =>
  (x, f, round) => {
    const result = of(x, f, round)
    return isInfinite(result) ? withSign(largest(f), result < 0) : result
  }
/** Infinite results become zeros of their sign. */
const legacy =
  (of: ValueFunction): ValueFunction =>
  (x, f, round) => {
    const result = of(x, f, round)
    return isInfinite(result) ? withSign(0, result < 0) : result
  }

export const v_rcp_f32 = unary(F32, rcp)
/** As v_rcp_f32; differs in the exceptions it raises, which Lanewise does not model. */
export const v_rcp_iflag_f32 = unary(F32, rcp)
export const v_rcp_clamp_f32 = unary(F32, clamped(rcp))
export const v_rcp_legacy_f32 = unary(F32, legacy(rcp))
export const v_rcp_f64 = unary(F64, rcp)
export const v_rcp_clamp_f64 = unary(F64, clamped(rcp))
export const v_rcp_f16 = unary(F16, rcp)
export const v_rsq_f32 = unary(F32, rsq)
export const v_rsq_clamp_f32 = unary(F32, clamped(rsq))
export const v_rsq_legacy_f32 = unary(F32, legacy(rsq))
export const v_rsq_f64 = unary(F64, rsq)
export const v_rsq_clamp_f64 = unary(F64, clamped(rsq))
export const v_rsq_f16 = unary(F16, rsq)
export const v_sqrt_f32 = unary(F32, sqrt)
export const v_sqrt_f64 = unary(F64, sqrt)
export const v_sqrt_f16 = unary(F16, sqrt)
export const v_exp_f32 = unary(F32, exp)
/** As v_exp_f32; in hardware somewhat less precise. */
export const v_exp_legacy_f32 = unary(F32, exp)
export const v_exp_f16 = unary(F16, exp)
export const v_log_f32 = unary(F32, log)
/** As v_log_f32; in hardware somewhat less precise. */
export const v_log_legacy_f32 = unary(F32, log)
export const v_log_clamp_f32 = unary(F32, clamped(log))
export const v_log_f16 = unary(F16, log)
export const v_sin_f32 = unary(F32, sin)
export const v_sin_f16 = unary(F16, sin)
export const v_cos_f32 = unary(F32, cos)
export const v_cos_f16 = unary(F16, cos)
