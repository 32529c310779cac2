/** The words on which operations go wrong, by operand type, and what every source must have met before an operation counts as tested. */
import type { OperandType } from '../../../host/isa/row.ts'
import { exact, F16, F32, F64, type Format, infinity, isInfinite, isNan, isNegative, signBit } from '../../kernels/exact.ts'

/** ±0, ±1 and their neighbours, ±largest, ±∞, NaNs of both kinds and signs, denormals and the numbers beside them, a tie below 1. */
const floats = (f: Format): bigint[] => {
  const one = (infinity(f) >> BigInt(f.fraction + 1)) << BigInt(f.fraction)
  const unit = 1n << BigInt(f.fraction)
  const positive = [
    0n,
    one,
    one + unit + unit / 2n, // 3
    infinity(f) - 1n,
    infinity(f),
    infinity(f) | (unit >> 1n),
    infinity(f) | 1n,
    1n,
    unit - 1n,
    unit,
  ]
  const others = [
    one + 1n,
    one - 1n,
    one - unit, // 1/2
    one - BigInt(f.fraction + 1) * unit, // half a unit in the last place of 1
    signBit(f) | infinity(f) | (unit >> 1n) | 0x123n,
  ]
  return [...positive, ...positive.map((word) => word | signBit(f)), ...others]
}

const INTEGERS_16 = [0, 1, 2, 15, 16, 17, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff]
const INTEGERS_32 = [
  0, 1, 2, 3, 8, 12, 31, 32, 33, 63, 64, 65, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff, 0x1000000,
  0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x01020304, 0xff00ff00, 0x0d0c0b08,
]
const INTEGERS_64 = [
  0n,
  1n,
  63n,
  0xffffffffn,
  0x100000000n,
  0x7fffffffffffffffn,
  0x8000000000000000n,
  0xffffffffffffffffn,
  0xfffffffffffffffen,
  0x0102030405060708n,
  0xff00ff0000ff00ffn,
]

/** The words that sources of a type are given. */
export function wordsOf(type: OperandType): readonly bigint[] {
  switch (type) {
    case 'f16':
      return floats(F16)
    case 'f32':
      return floats(F32)
    case 'f64':
      return floats(F64)
    case 'mask':
    case 'vcc':
      return [0n, 1n]
    case 'b128':
      return [0n, (1n << 128n) - 1n, 0x00000001_ffffffff_fffffc04_80000000n, 0x01020304_05060708_090a0b0c_0d0e0f10n]
    default: {
      const bits = Number(type.slice(1))
      return bits === 64 ? INTEGERS_64 : (bits === 16 ? INTEGERS_16 : INTEGERS_32).map(BigInt)
    }
  }
}

export const formatOf = (type: OperandType): Format | undefined => ({ f16: F16, f32: F32, f64: F64 })[type as 'f16']

/** A kind of word that a source of a type must have had. */
type Demand = readonly [name: string, holds: (word: bigint) => boolean]

const isDenormal = (f: Format, word: bigint) => (word & ~signBit(f)) !== 0n && (word & ~signBit(f)) < 1n << BigInt(f.fraction)

function floatDemands(f: Format): Demand[] {
  const quietBit = 1n << BigInt(f.fraction - 1)
  return [
    ['+0', (word) => word === 0n],
    ['-0', (word) => word === signBit(f)],
    ['+∞', (word) => word === infinity(f)],
    ['-∞', (word) => isInfinite(f, word) && isNegative(f, word)],
    ['quiet NaN', (word) => isNan(f, word) && (word & quietBit) !== 0n],
    ['signalling NaN', (word) => isNan(f, word) && (word & quietBit) === 0n],
    ['denormal', (word) => isDenormal(f, word)],
    ['number', (word) => !isNan(f, word) && !isInfinite(f, word) && exact(f, word).significand !== 0n && !isDenormal(f, word)],
  ]
}

function integerDemands(bits: number): Demand[] {
  const ones = (1n << BigInt(bits)) - 1n
  return [
    ['0', (word) => word === 0n],
    ['all ones', (word) => word === ones],
    ['a sign alone or below a larger number', (word) => word >> BigInt(bits - 1) === 1n && word !== ones],
    ['a small number', (word) => word > 0n && word < BigInt(bits)],
  ]
}

/** What the sources of a type must have met. */
export function demandsOf(type: OperandType): readonly Demand[] {
  const format = formatOf(type)
  if (format !== undefined) return floatDemands(format)
  if (type === 'mask' || type === 'vcc') return [0n, 1n].map((bit) => [`bit ${bit}`, (word) => word === bit])
  // Of 128 bits, which only hold sums, the ends are enough.
  const demands = integerDemands(Number(type.slice(1)))
  return type === 'b128' ? demands.slice(0, 2) : demands
}
