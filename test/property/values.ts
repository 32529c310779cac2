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
/** Low and high dwords. */
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
].map((value) => [Number(value & 0xffffffffn), Number(value >> 32n)] as const)

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!
export const word32 = (random: Random): number => (random(0x10000) * 0x10000 + random(0x10000)) >>> 0

/** A float of middling size with few significant bits: sums and products of such are often exact, or exactly halfway. */
const short16 = (random: Random): number => (random(2) << 15) | ((8 + random(14)) << 10) | (random(16) << 6)
const short32 = (random: Random): number => ((random(2) << 31) | ((127 - 30 + random(60)) << 23) | (random(64) << 17)) >>> 0
const short64High = (random: Random): number => (random(2) << 31) | ((1023 - 60 + random(120)) << 20) | (random(256) << 12)

function half(random: Random): number {
  const kind = random(8)
  if (kind < 3) return pick(random, AWKWARD_16)
  if (kind === 3) return (pick(random, AWKWARD_16) + random(5) - 2) & 0xffff
  return kind < 6 ? short16(random) : random(0x10000)
}

/** The high half of a register with a 16-bit value is noise now and then. */
const halfAndNoise = (random: Random): number => (half(random) | (random(3) === 0 ? half(random) << 16 : 0)) >>> 0

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

const word = (random: Random): number => (random(4) ? integer(random) : single(random))

// Millions of values are made: they are written where they are wanted, two dwords are two places.

function putDouble(random: Random, low: Uint32Array, high: Uint32Array, at: number): void {
  const kind = random(8)
  if (kind < 4) {
    const [lowest, highest] = pick(random, AWKWARD_64)
    const sum = lowest + (kind === 3 ? random(9) - 4 : 0)
    low[at] = sum
    high[at] = highest + Math.floor(sum / 2 ** 32)
  } else if (kind < 6) {
    low[at] = random(3) === 0 ? random(4) : 0
    high[at] = short64High(random)
  } else {
    low[at] = word32(random)
    high[at] = kind === 6 ? (word32(random) & 0x803fffff) | 0x3fc00000 : word32(random)
  }
}

function putLong(random: Random, low: Uint32Array, high: Uint32Array, at: number): void {
  if (random(2)) return putDouble(random, low, high, at)
  low[at] = integer(random)
  high[at] = integer(random)
}

const NARROW: { readonly [type in OperandType]?: (random: Random) => number } = { f16: halfAndNoise, f32: single, param: single }
const WIDE: { readonly [type in OperandType]?: typeof putDouble } = {
  f64: putDouble,
  i64: putLong,
  u64: putLong,
  b64: putLong,
  b128: putLong,
}

/** A dword that an operand of this type likes, the high one of two. */
export function operandDword(random: Random, type: OperandType): number {
  const put = WIDE[type]
  if (put === undefined) return (NARROW[type] ?? word)(random)
  const high = new Uint32Array(1)
  put(random, new Uint32Array(1), high, 0)
  return high[0]!
}

/** Two registers: with a value of one dword each, or of two. */
function fill(random: Random, type: OperandType, low: Uint32Array, high: Uint32Array): void {
  const put = WIDE[type]
  const draw = NARROW[type] ?? word
  for (let lane = 0; lane < low.length; lane++) {
    if (put !== undefined) put(random, low, high, lane)
    else {
      low[lane] = draw(random)
      high[lane] = draw(random)
    }
  }
}

/**
 * Registers one behind another, each with so many lanes, as values of the types, wide ones from even registers on. Every sixth pair is a copy
 * of an earlier one but for a sign or a last bit here and there, so that sums cancel and comparisons meet equals.
 */
export function registers(random: Random, types: readonly OperandType[], count: number, lanes: number): Uint32Array[] {
  const list = Array.from({ length: count + (count & 1) }, () => new Uint32Array(lanes))
  for (let register = 0; register < count; register += 2) {
    const [low, high] = [list[register]!, list[register + 1]!]
    const type = pick(random, types)
    if (register >= 4 && random(6) === 0) {
      const copied = 2 * random(register >>> 1)
      low.set(list[copied]!)
      high.set(list[copied + 1]!)
      vary(random, low, high)
      if (WIDE[type] === undefined) vary(random, high, low)
    } else fill(random, type, low, high)
  }
  return list.slice(0, count)
}

/** Changes a last bit here, a sign there. */
function vary(random: Random, lasts: Uint32Array, signs: Uint32Array): void {
  for (let lane = 0; lane < lasts.length; lane++) {
    const kind = random(6)
    if (kind === 0) signs[lane]! ^= 0x80000000
    else if (kind === 1) lasts[lane]! += random(3) - 1
  }
}

/** Registers that states are made of, each with its lanes twice over, so that a state can begin with any of them. */
export type Pool = readonly Uint32Array[]

/** @param count even */
export const poolOf = (random: Random, types: readonly OperandType[], count: number): Pool =>
  registers(random, types, count, 64).map((row) => {
    const twice = new Uint32Array(128)
    twice.set(row)
    twice.set(row, 64)
    return twice
  })

/** VGPRs from 0 on: registers one behind another in the pool, half of their pairs turned by some lanes. @param count even */
export function fromPool(random: Random, pool: Pool, count: number): Map<number, Uint32Array> {
  const vgprs = new Map<number, Uint32Array>()
  const first = 2 * random(pool.length / 2)
  for (let vgpr = 0; vgpr < count; vgpr += 2) {
    const turn = random(2) ? 0 : random(64)
    for (const k of [vgpr, vgpr + 1]) vgprs.set(k, pool[(first + k) % pool.length]!.subarray(turn, turn + 64))
  }
  return vgprs
}
