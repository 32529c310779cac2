/** Values of operands: read from what a person types, and shown as a number. */
import type { OperandType } from '../isa/row.ts'
import { bitsOf } from '../isa/row.ts'
import { type ElementType, floatBits, numberOf } from '../results/elements.ts'

/** A value as bits and as the number that they stand for; no number where the type is wider than 64 bits or a mask. */
export interface Value {
  /** `0x` and digits, as many as the type has. */
  readonly hex: string
  /** Shortest decimal that stands for the same bits; `nan`, `inf` and `-inf` for what is no number. */
  readonly number?: string
}

const FLOAT_WORDS: Readonly<Record<string, number>> = { nan: Number.NaN, inf: Infinity, '+inf': Infinity, '-inf': -Infinity }

/**
 * The bits of a value of a type: `0x` and digits are bits; everything else is a number, a float where the type is one or a point or an
 * exponent says so.
 * @throws {RangeError} naming what was expected
 */
export function readValue(text: string, type: OperandType): bigint {
  const bits = bitsOf(type)
  const float = type.startsWith('f') ? (type as 'f16' | 'f32' | 'f64') : bits === 64 ? 'f64' : 'f32'
  const wrong = (what: string) => new RangeError(`${JSON.stringify(text)} is no ${type}; expected ${what}`)
  if (/^0x[0-9a-f]+$/i.test(text)) {
    const value = BigInt(text)
    if (value >= 1n << BigInt(bits)) throw wrong(`at most ${bits} bits`)
    return value
  }
  const isInteger = /^[+-]?\d+$/.test(text)
  if (isInteger && !type.startsWith('f')) {
    const value = BigInt(text.replace('+', ''))
    if (value >= 1n << BigInt(bits) || value < -(1n << BigInt(bits - 1))) throw wrong(`a number of ${bits} bits`)
    return BigInt.asUintN(bits, value)
  }
  const number = FLOAT_WORDS[text.toLowerCase()] ?? (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined)
  if (
    number === undefined ||
    (type.startsWith('f') ? false : /^[iu]|^mask|^vcc|^s32/.test(type)) ||
    bits > 64 ||
    (bits < 32 && float !== 'f16')
  )
    throw wrong(type.startsWith('f') || type.startsWith('b') ? '0x and digits, or a number' : '0x and digits, or a whole number')
  return floatBits(float, number)
}

/** A value for people: hexadecimal, and the number. */
export function showValue(bits: bigint, type: OperandType): Value {
  const width = bitsOf(type)
  const hex = `0x${bits.toString(16).padStart(width / 4, '0')}`
  return width > 64 || /^(mask|vcc|param)$/.test(type) ? { hex } : { hex, number: numberText(bits, type) }
}

function numberText(bits: bigint, type: OperandType): string {
  if (/^[iubs]/.test(type)) return String(type.startsWith('i') ? BigInt.asIntN(bitsOf(type), bits) : bits)
  const number = numberOf(type as ElementType, bits)
  if (Number.isNaN(number)) return 'nan'
  if (!Number.isFinite(number)) return number < 0 ? '-inf' : 'inf'
  if (number === 0) return Object.is(number, -0) ? '-0' : '0'
  for (let digits = 1; digits < 17; digits++) {
    const text = Number(number.toPrecision(digits))
    if (floatBits(type as 'f16' | 'f32' | 'f64', text) === bits) return String(text)
  }
  return String(number)
}
