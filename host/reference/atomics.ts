/** What atomics put in place of the old value: LDS, flat, buffer and image atomics share these (GCN3 manual, chapters "DS", "FLAT", "MUBUF"). */
import { add, F32, F64, NEAREST } from './number.ts'

/**
 * The new value from the old one and the operation's data, as unsigned bits.
 * `width` is 32 or 64; `second` is the operation's second operand, where it has one.
 */
export type Atomic = (old: bigint, data: bigint, width: number, second: bigint) => bigint

const signed = (value: bigint, width: number): bigint => BigInt.asIntN(width, value)
/** The number that the bits stand for; only ever compared. */
const float = (value: bigint, width: number): number => (width === 32 ? F32.value(Number(value)) : F64.value(value))

export const swap: Atomic = (_, data) => data
export const sum: Atomic = (old, data) => old + data
export const difference: Atomic = (old, data) => old - data
export const reversedDifference: Atomic = (old, data) => data - old
export const and: Atomic = (old, data) => old & data
export const or: Atomic = (old, data) => old | data
export const xor: Atomic = (old, data) => old ^ data
export const minSigned: Atomic = (old, data, width) => (signed(data, width) < signed(old, width) ? data : old)
export const maxSigned: Atomic = (old, data, width) => (signed(data, width) > signed(old, width) ? data : old)
// biome-ignore lint/complexity/useMathMinMax: Math.min takes no bigint.
export const minUnsigned: Atomic = (old, data) => (data < old ? data : old)
// biome-ignore lint/complexity/useMathMinMax: Math.max takes no bigint.
export const maxUnsigned: Atomic = (old, data) => (data > old ? data : old)
/** Counts up to `data`, then starts at 0 again. */
export const increment: Atomic = (old, data) => (old >= data ? 0n : old + 1n)
/** Counts down to 0, then starts at `data` again. */
export const decrement: Atomic = (old, data) => (old === 0n || old > data ? data : old - 1n)
/** `data` is a ring's step down, `second` what a wrap adds. */
export const wrap: Atomic = (old, data, _, second) => (old >= data ? old - data : old + second)
/** Bits of `data` are replaced by `second`. */
export const masked: Atomic = (old, data, _, second) => (old & ~data) | second

/** `data` replaces what equals `second`. */
export const compareSwap: Atomic = (old, data, _, second) => (old === second ? data : old)
/** The same, compared as floats: -0 equals +0, NaN nothing. */
export const compareSwapFloat: Atomic = (old, data, width, second) => (float(old, width) === float(second, width) ? data : old)
/** A NaN on either side leaves the old value. */
export const minFloat: Atomic = (old, data, width) => (float(data, width) < float(old, width) ? data : old)
export const maxFloat: Atomic = (old, data, width) => (float(data, width) > float(old, width) ? data : old)
/** To nearest even, denormals kept. */
export const sumFloat: Atomic = (old, data, width) =>
  width === 32 ? BigInt(add(F32, Number(old), Number(data), NEAREST)) : add(F64, old, data, NEAREST)
