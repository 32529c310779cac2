/** Registers full of values that find mistakes: special ones, their neighbours, short fractions that make ties, copies of each other. */
import type { OperandType } from '../../host/isa/row.ts'
import type { randomFrom } from '../translate/programs.ts'

export type Random = ReturnType<typeof randomFrom>

const AWKWARD_16 = [
  0, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x4000, 0x4200, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0xfd55, 0x0001, 0x8001, 0x03ff,
  0x83ff, 0x0400, 0x8400, 0x0200, 0x1000, 0x6400, 0x67ff, 0x3bff, 0x3555, 0x7800, 0x0c00, 0x13ff,
]
const AWKWARD_32 = [
  0, 0x80000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x3f000000, 0xbf000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
  0x7f800001, 0xff812345, 0x7f7fffff, 0xff7fffff, 1, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x01000000, 0x0c800000,
  0x0c7fffff, 0x1f800000, 0x20000000, 0x33800000, 0x387fc000, 0x38800000, 0x33000001, 0x477fe000, 0x477ff000, 0x3effffff, 0x3f7fffff,
  0x3f800001, 0x4b000001, 0xcb000001, 0x4b800000, 0x4f000000, 0x4f800000, 0xcf000000, 0x4effffff, 0x5f000000, 0x7e800000, 0x7f000000,
  0x437f8000, 0x43800000, 0x47000000, 0xc7000100,
]
const AWKWARD_INTEGERS = [
  0, 1, 2, 3, 4, 7, 8, 15, 16, 23, 24, 31, 32, 33, 47, 63, 64, 65, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000,
  0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0x80000001, 0xffff8000, 0xff800000, 0xfffffffe, 0xffffffff, 0x55555555, 0x01020304,
  0xff00ff00, 0x00ff00ff,
]
const AWKWARD_64 = [
  0n,
  1n << 63n,
  0x3ff0000000000000n,
  0xbff0000000000000n,
  0x4000000000000000n,
  0x3fe0000000000000n,
  0x7ff0000000000000n,
  0xfff0000000000000n,
  0x7ff8000000000000n,
  0xfff8123456789abcn,
  0x7ff0000000000001n,
  0xfff4567800000000n,
  0x7fefffffffffffffn,
  0xffefffffffffffffn,
  1n,
  0x8000000000000001n,
  0x000fffffffffffffn,
  0x800fffffffffffffn,
  0x0010000000000000n,
  0x8010000000000000n,
  0x0020000000000000n,
  0x1e60000000000000n,
  0x3ca0000000000000n,
  0x3fefffffffffffffn,
  0x3ff0000000000001n,
  0x36a0000000000000n,
  0x3810000000000000n,
  0x380fffffe0000000n,
  0x47efffffe0000000n,
  0x47effffff0000000n,
  0x41e0000000000000n,
  0x41efffffffe00000n,
  0xc1e0000000200000n,
  0x4330000000000001n,
  0x4340000000000000n,
  0x7fe0000000000000n,
  0x0350000000000000n,
  0xffffffffffffffffn,
  0x7fffffffffffffffn,
  0x00000000ffffffffn,
  0xffffffff00000000n,
  63n,
  64n,
  32n,
]

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!
export const word32 = (random: Random): number => (random(0x10000) * 0x10000 + random(0x10000)) >>> 0

/** A float of middling size with few significant bits: sums and products of such are often exact, or exactly halfway. */
const short16 = (random: Random): number => (random(2) << 15) | ((8 + random(14)) << 10) | (random(16) << 6)
const short32 = (random: Random): number => ((random(2) << 31) | ((127 - 30 + random(60)) << 23) | (random(64) << 17)) >>> 0
const short64 = (random: Random): bigint =>
  (BigInt(random(2)) << 63n) |
  (BigInt(1023 - 60 + random(120)) << 52n) |
  (BigInt(random(256)) << 44n) |
  BigInt(random(3) === 0 ? random(4) : 0)

function half(random: Random): number {
  const kind = random(8)
  if (kind < 3) return pick(random, AWKWARD_16)
  if (kind === 3) return (pick(random, AWKWARD_16) + random(5) - 2) & 0xffff
  return kind < 6 ? short16(random) : random(0x10000)
}

function single(random: Random): number {
  const kind = random(8)
  if (kind < 3) return pick(random, AWKWARD_32)
  if (kind === 3) return (pick(random, AWKWARD_32) + random(9) - 4) >>> 0
  if (kind < 6) return short32(random)
  return kind === 6 ? (0x3e000000 + random(0x04000000) + 0x80000000 * random(2)) >>> 0 : word32(random)
}

function integer(random: Random): number {
  const kind = random(4)
  if (kind === 0) return random(70)
  return kind < 3 ? (pick(random, AWKWARD_INTEGERS) + (random(3) === 0 ? random(5) - 2 : 0)) >>> 0 : word32(random)
}

function double(random: Random): bigint {
  const kind = random(8)
  if (kind < 3) return pick(random, AWKWARD_64)
  if (kind === 3) return BigInt.asUintN(64, pick(random, AWKWARD_64) + BigInt(random(9) - 4))
  if (kind < 6) return short64(random)
  const any = (BigInt(word32(random)) << 32n) | BigInt(word32(random))
  return kind === 6 ? BigInt.asUintN(64, (any & 0x803fffffffffffffn) | 0x3fc0000000000000n) : any
}

/** Dwords of a value as an operand of this type likes them; the high half of a 16-bit one is noise now and then. */
export function operandValue(random: Random, type: OperandType): readonly number[] {
  switch (type) {
    case 'f16':
      return [(half(random) | (random(3) === 0 ? half(random) << 16 : 0)) >>> 0]
    case 'f32':
    case 'param':
      return [single(random)]
    case 'f64': {
      const value = double(random)
      return [Number(value & 0xffffffffn), Number(value >> 32n)]
    }
    case 'i64':
    case 'u64':
    case 'b64':
    case 'b128':
      return random(2) ? [integer(random), integer(random)] : operandValue(random, 'f64')
    default:
      return [random(4) ? integer(random) : single(random)]
  }
}

/**
 * Registers one behind another, each with so many lanes, as values of the types; every sixth is a copy of an earlier one but for a
 * sign or a last bit here and there, so that sums cancel and comparisons meet equals.
 */
export function registers(random: Random, types: readonly OperandType[], count: number, lanes: number): Uint32Array[] {
  const list = Array.from({ length: count + 4 }, () => new Uint32Array(lanes))
  for (let register = 0; register < count; ) {
    const copied = register >= 8 && random(6) === 0 ? 2 * random(register >>> 1) : undefined
    const type = pick(random, types)
    const dwords = operandValue(random, type).length
    for (let lane = 0; lane < lanes; lane++) {
      const value =
        copied === undefined
          ? operandValue(random, type)
          : similar(random, [list[copied]![lane]!, list[copied + 1]![lane]!].slice(0, dwords))
      for (let k = 0; k < dwords; k++) list[register + k]![lane] = value[k]!
    }
    // Wide values begin at even registers.
    register += type === 'f64' || random(2) ? 2 : dwords
    register += register & 1 && types.some((t) => t === 'f64') ? 1 : 0
  }
  return list.slice(0, count)
}

function similar(random: Random, value: readonly number[]): number[] {
  const kind = random(6)
  const [low, high = low] = value as [number, number?]
  if (kind === 0) return value.length === 1 ? [(low ^ 0x80000000) >>> 0] : [low, (high ^ 0x80000000) >>> 0]
  if (kind === 1) return [(low + random(3) - 1) >>> 0, ...value.slice(1)]
  return [...value]
}
