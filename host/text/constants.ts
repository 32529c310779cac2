/** Constants of operands: inline constants, and the bits of numbers in the width of an operand. Both directions. */
import { INLINE_FLOAT_FIRST, INLINE_FLOATS, INLINE_INTEGER_FIRST, INLINE_INV_2PI, INV_2PI, type InlineFloat } from '../isa/registers.ts'
import type { Generation } from '../isa/targets.ts'

export type Width = 16 | 32 | 64

/** An inline float's bits in the width of an operand. */
export const inlineBits = (float: InlineFloat, width: Width): bigint => BigInt(float[`f${width}`])

/** The number that an inline integer's encoding stands for. */
export const inlineInteger = (encoding: number): number => (encoding <= 192 ? encoding - INLINE_INTEGER_FIRST : 192 - encoding)

/** The encoding of an inline integer, or undefined. */
export const encodingOfInteger = (value: number | bigint): number | undefined =>
  value >= 0 && value <= 64 ? INLINE_INTEGER_FIRST + Number(value) : value >= -16 && value < 0 ? 192 - Number(value) : undefined

/** The encoding of the inline float constant with these bits, or undefined. */
export function encodingOfFloatBits(bits: bigint, width: Width, generation: Generation): number | undefined {
  const place = INLINE_FLOATS.findIndex((float) => inlineBits(float, width) === bits)
  if (place >= 0) return INLINE_FLOAT_FIRST + place
  return generation === 'gfx8' && bits === inlineBits(INV_2PI, width) ? INLINE_INV_2PI : undefined
}

/** Whether an inline constant has these bits, an integer's or a float's. */
export const isInline = (bits: bigint, width: Width, generation: Generation): boolean =>
  encodingOfInteger(BigInt.asIntN(width, bits)) !== undefined || encodingOfFloatBits(bits, width, generation) !== undefined

const view = new DataView(new ArrayBuffer(8))

/** The bits of a number in a float type, rounded to nearest even. */
export function floatBits(value: number, width: Width): bigint {
  if (width === 16) return BigInt(halfBits(value))
  if (width === 32) {
    view.setFloat32(0, value)
    return BigInt(view.getUint32(0))
  }
  view.setFloat64(0, value)
  return view.getBigUint64(0)
}

/** binary16, rounded to nearest even straight from the double: scale so that the last bit kept is worth 1. */
function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const magnitude = Math.abs(value)
  if (Number.isNaN(value)) return 0x7e00
  if (magnitude >= 65520) return sign | 0x7c00
  view.setFloat64(0, magnitude)
  const exponent = Math.max(-14, (view.getUint16(0) >>> 4) - 1023)
  const scaled = magnitude * 2 ** (10 - exponent)
  const floor = Math.floor(scaled)
  const rest = scaled - floor
  const mantissa = floor + (rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? 1 : 0)
  // A mantissa of 1024 or more carries into the exponent field by itself.
  return sign | (mantissa < 1024 ? mantissa : ((exponent + 15) << 10) + (mantissa - 1024))
}
