/** Formats of buffers and images: components of an element to register words and back (GCN3 manual, tables "Buffer Data Formats" and "Number Formats"). */
import { FaultCode } from '../engine.ts'
import type { Generation } from '../isa/targets.ts'
import { Fault } from './fault.ts'
import { F16, F32, NEAREST, roundInteger } from './number.ts'
import { convert } from './words.ts'

/** DATA_FORMAT: bits of x, y, z, w from the lowest bit up; names in the manual go from the highest down. */
const COMPONENT_BITS: Readonly<Record<number, readonly number[]>> = {
  1: [8],
  2: [16],
  3: [8, 8],
  4: [32],
  5: [16, 16],
  6: [11, 11, 10],
  7: [10, 11, 11],
  8: [2, 10, 10, 10],
  9: [10, 10, 10, 2],
  10: [8, 8, 8, 8],
  11: [32, 32],
  12: [16, 16, 16, 16],
  13: [32, 32, 32],
  14: [32, 32, 32, 32],
  // Of images only: a buffer's DATA_FORMAT has four bits.
  16: [5, 6, 5],
  17: [5, 5, 5, 1],
  18: [1, 5, 5, 5],
  19: [4, 4, 4, 4],
}

/** NUM_FORMAT. */
const UNORM = 0
const SNORM = 1
const USCALED = 2
const SSCALED = 3
const UINT = 4
const SINT = 5
/** Signed, without a second code for -1 (symmetric about 0, which it lacks); not on gfx8. */
const SNORM_OGL = 6
const FLOAT = 7

interface Format {
  readonly data: number
  readonly number: number
  readonly select: readonly number[]
}

/** Bits of the components that floats can have. */
const FLOAT_BITS = [10, 11, 16, 32]

/** @throws {Fault} Unsupported, for formats that the manual reserves */
export function checkFormat({ data, number }: Format, generation: Generation): void {
  const bits = COMPONENT_BITS[data]
  const known = number === FLOAT ? bits?.every((width) => FLOAT_BITS.includes(width)) : number !== SNORM_OGL || generation !== 'gfx8'
  if (bits === undefined || !known) throw new Fault(FaultCode.Unsupported)
}

/** Whether images can have the format's NUM_FORMAT, of which they know more than buffers; a sign alone is no normalized number. */
export const isImageNumber = ({ data, number }: Format): boolean =>
  number <= FLOAT && !((number === SNORM || number === SNORM_OGL) && COMPONENT_BITS[data]?.includes(1))

/** Of a format that `checkFormat` lets pass. */
const componentBits = (format: Format): readonly number[] => COMPONENT_BITS[format.data]!

export const texelBytes = (format: Format): number => componentBits(format).reduce((all, bits) => all + bits, 0) / 8

export const componentCount = (format: Format): number => componentBits(format).length

const isInteger = (format: Format): boolean => format.number === UINT || format.number === SINT

/**
 * Four register words from an element; undefined is an element out of range. `half` gives 16-bit words.
 * A component that the format lacks is 0, w is 1.
 */
export function decodeTexel(format: Format, texel: bigint | undefined, half: boolean): number[] {
  const bits = componentBits(format)
  const one = isInteger(format) ? 1 : half ? F16.word(1) : F32.word(1)
  if (texel === undefined) return format.select.map((select) => (select === 1 ? one : 0))
  const words: number[] = []
  let shift = 0n
  for (const width of bits) {
    words.push(decodeComponent(Number(BigInt.asUintN(width, texel >> shift)), width, format.number, half))
    shift += BigInt(width)
  }
  return format.select.map((select) => {
    if (select < 4) return select === 1 ? one : 0
    return words[select - 4] ?? (select === 7 ? one : 0)
  })
}

const signed = (value: number, width: number): number => (value << (32 - width)) >> (32 - width)

function decodeComponent(value: number, width: number, number: number, half: boolean): number {
  const limit = half ? 0xffff : 0xffffffff
  if (number === UINT) return Math.min(value, limit)
  if (number === SINT) return half ? Math.max(-0x8000, Math.min(0x7fff, signed(value, width))) & 0xffff : signed(value, width) >>> 0
  const f = half ? F16 : F32
  if (number === FLOAT) return width < 16 ? floatWord(F16, f, value << (15 - width)) : floatWord(width === 32 ? F32 : F16, f, value)
  return f.round(scaled(value, width, number), NEAREST)
}

function scaled(value: number, width: number, number: number): number {
  if (number === UNORM) return value / (2 ** width - 1)
  if (number === SNORM) return Math.max(-1, signed(value, width) / (2 ** (width - 1) - 1))
  if (number === SNORM_OGL) return (2 * signed(value, width) + 1) / (2 ** width - 1)
  return number === SSCALED ? signed(value, width) : value
}

/** Floats of 10 and 11 bits have no sign and five exponent bits; they are an f16 without its sign and lowest bits. */
const floatWord = (from: typeof F32, to: typeof F32, word: number): number => (from === to ? word : convert(from, to, word, NEAREST))

/** The element from register words; components that the format has and the instruction does not give are 0. */
export function encodeTexel(format: Format, words: readonly number[], half: boolean): bigint {
  let texel = 0n
  let shift = 0n
  for (const [component, width] of componentBits(format).entries()) {
    // A store puts register k where the selection takes component k from.
    const from = format.select.indexOf(4 + component)
    const word = words[from] ?? 0
    texel |= BigInt(encodeComponent(word, width, format.number, half)) << shift
    shift += BigInt(width)
  }
  return texel
}

const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value))

/** Numbers beyond the component's range saturate; NaN becomes 0 outside floats. */
function encodeComponent(word: number, width: number, number: number, half: boolean): number {
  const mask = 2 ** width - 1
  const top = 2 ** (width - 1) - 1
  const bits = (value: number): number => (value >>> 0) % (mask + 1)
  if (number === UINT) return Math.min(half ? word & 0xffff : word, mask)
  if (number === SINT) return bits(clamp(half ? signed(word, 16) : word | 0, -top - 1, top))
  const f = half ? F16 : F32
  const source = half ? word & 0xffff : word
  if (number === FLOAT) return width < 16 ? smallFloat(f, source, width) : floatWord(f, width === 32 ? F32 : F16, source)
  const value = f.value(source)
  if (Number.isNaN(value)) return 0
  if (number === SNORM_OGL) return bits(roundInteger((clamp(value, -1, 1) * mask - 1) / 2, NEAREST))
  if (number === UNORM) return roundInteger(clamp(value, 0, 1) * mask, NEAREST)
  if (number === SNORM) return bits(roundInteger(clamp(value, -1, 1) * top, NEAREST))
  return number === USCALED ? clamp(Math.trunc(value), 0, mask) : bits(clamp(Math.trunc(value), -top - 1, top))
}

/** Negative numbers become 0. */
function smallFloat(from: typeof F32, word: number, width: number): number {
  const f16 = convert(from, F16, word, NEAREST)
  return F16.isNegative(f16) && !F16.isNaN(f16) ? 0 : (f16 & 0x7fff) >>> (15 - width)
}
