/** Integers and conversions that the lane functions share: 32-bit words are numbers from 0 to 2^32-1. */
import type { Modes } from './lane.ts'
import type { Format, Round } from './number.ts'

/** The low 32 bits as an unsigned and as a signed number. */
export const u32 = (a: number): number => a >>> 0
export const i32 = (a: number): number => a | 0
/** The low 16 bits. */
export const u16 = (a: number): number => a & 0xffff
export const i16 = (a: number): number => (a << 16) >> 16
/** The low 24 bits. */
export const u24 = (a: number): number => a & 0xffffff
export const i24 = (a: number): number => (a << 8) >> 8
export const i64 = (a: bigint): bigint => BigInt.asIntN(64, a)
export const u64 = (a: bigint): bigint => BigInt.asUintN(64, a)
export const byteOf = (a: number, n: number): number => (a >>> (8 * n)) & 255
export const halfOf = (a: number, n: number): number => (a >>> (16 * n)) & 0xffff

const bytes = new DataView(new ArrayBuffer(8))

/** Two dwords as one number. */
export function pair(low: number, high: number): bigint {
  bytes.setUint32(0, low, true)
  bytes.setUint32(4, high, true)
  return bytes.getBigUint64(0, true)
}

/** The lower two dwords of a number. */
export function lowDword(a: bigint): number {
  bytes.setBigUint64(0, a, true)
  return bytes.getUint32(0, true)
}
export function highDword(a: bigint): number {
  bytes.setBigUint64(0, a, true)
  return bytes.getUint32(4, true)
}

/** The number of low ≤ n ≤ high that is nearest; 0 for NaN. */
export const saturate = (n: number, low: number, high: number): number => (Number.isNaN(n) ? 0 : Math.min(Math.max(n, low), high))

/** Whether an integer result is to be saturated: clamp does that from gfx8 on. */
export const saturates = (m: Modes): boolean => m.clamp && m.generation !== 'gfx6' && m.generation !== 'gfx7'

/** The number of ones. */
export function countBits(a: number): number {
  let count = 0
  for (let rest = a; rest !== 0; rest &= rest - 1) count++
  return count
}

/** A float in another format, rounded once; a NaN keeps its sign and the leading bits of its payload, and is quieted. */
export function convert<A extends number | bigint, B extends number | bigint>(from: Format<A>, to: Format<B>, a: A, round: Round): B {
  if (!from.isNaN(a)) return to.round(from.value(a), round)
  const payload = BigInt(a) & (BigInt(from.quietBit) - 1n)
  const more = to.precision - from.precision
  const bits =
    BigInt(to.nan) | (more >= 0 ? payload << BigInt(more) : payload >> BigInt(-more)) | (from.isNegative(a) ? BigInt(to.sign) : 0n)
  return (typeof to.nan === 'bigint' ? bits : Number(bits)) as B
}
