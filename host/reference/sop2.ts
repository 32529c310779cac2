/** Two-operand scalar operations (GCN3 manual, chapter "SOP2 instructions"). */
import type { PlanRecord } from '../plan/plan.ts'
import { fork } from './branch-stack.ts'
import { nonZero } from './scalar.ts'
import type { Wave } from './wave.ts'

type Result = readonly [value: number, scc: boolean]
const i32 = (x: number): number => x | 0
const i64 = (x: bigint): bigint => BigInt.asIntN(64, x)
const carryOut = (sum: number): Result => [sum >>> 0, sum > 0xffffffff]
const borrowOut = (difference: number): Result => [difference >>> 0, difference < 0]
/** SCC is signed overflow: the exact result is not the 32-bit one. */
const overflowing = (exact: number): Result => [exact >>> 0, exact !== i32(exact)]

export const s_add_u32 = (a: number, b: number) => carryOut(a + b)
export const s_sub_u32 = (a: number, b: number) => borrowOut(a - b)
export const s_add_i32 = (a: number, b: number) => overflowing(i32(a) + i32(b))
export const s_sub_i32 = (a: number, b: number) => overflowing(i32(a) - i32(b))
export const s_addc_u32 = (a: number, b: number, w: Wave) => carryOut(a + b + Number(w.scc))
export const s_subb_u32 = (a: number, b: number, w: Wave) => borrowOut(a - b - Number(w.scc))

// SCC: the first operand was chosen. On a tie that is so for max and not for min (AMD's CDNA4 pseudocode; older manuals are silent).
const pick = (first: boolean, a: number, b: number): Result => [first ? a : b, first]
export const s_min_i32 = (a: number, b: number) => pick(i32(a) < i32(b), a, b)
export const s_min_u32 = (a: number, b: number) => pick(a < b, a, b)
export const s_max_i32 = (a: number, b: number) => pick(i32(a) >= i32(b), a, b)
export const s_max_u32 = (a: number, b: number) => pick(a >= b, a, b)

export const s_cselect_b32 = (a: number, b: number, w: Wave) => (w.scc ? a : b)
export const s_cselect_b64 = (a: bigint, b: bigint, w: Wave) => (w.scc ? a : b)

export const s_and_b32 = (a: number, b: number) => nonZero(a & b)
export const s_and_b64 = (a: bigint, b: bigint) => nonZero(a & b)
export const s_or_b32 = (a: number, b: number) => nonZero(a | b)
export const s_or_b64 = (a: bigint, b: bigint) => nonZero(a | b)
export const s_xor_b32 = (a: number, b: number) => nonZero(a ^ b)
export const s_xor_b64 = (a: bigint, b: bigint) => nonZero(a ^ b)
export const s_andn2_b32 = (a: number, b: number) => nonZero(a & ~b)
export const s_andn2_b64 = (a: bigint, b: bigint) => nonZero(a & ~b)
export const s_orn2_b32 = (a: number, b: number) => nonZero(a | ~b)
export const s_orn2_b64 = (a: bigint, b: bigint) => nonZero(a | ~b)
export const s_nand_b32 = (a: number, b: number) => nonZero(~(a & b))
export const s_nand_b64 = (a: bigint, b: bigint) => nonZero(~(a & b))
export const s_nor_b32 = (a: number, b: number) => nonZero(~(a | b))
export const s_nor_b64 = (a: bigint, b: bigint) => nonZero(~(a | b))
export const s_xnor_b32 = (a: number, b: number) => nonZero(~(a ^ b))
export const s_xnor_b64 = (a: bigint, b: bigint) => nonZero(~(a ^ b))

export const s_lshl_b32 = (a: number, b: number) => nonZero(a << (b & 31))
export const s_lshl_b64 = (a: bigint, b: number) => nonZero(a << BigInt(b & 63))
export const s_lshr_b32 = (a: number, b: number) => nonZero(a >>> (b & 31))
export const s_lshr_b64 = (a: bigint, b: number) => nonZero(a >> BigInt(b & 63))
export const s_ashr_i32 = (a: number, b: number) => nonZero(a >> (b & 31))
export const s_ashr_i64 = (a: bigint, b: number) => nonZero(i64(a) >> BigInt(b & 63))
export const s_bfm_b32 = (a: number, b: number) => ((1 << (a & 31)) - 1) << (b & 31)
export const s_bfm_b64 = (a: number, b: number) => ((1n << BigInt(a & 63)) - 1n) << BigInt(b & 63)
export const s_mul_i32 = (a: number, b: number) => Math.imul(a, b)

/** Offset in S1[4:0] (64 bits: [5:0]), width in S1[22:16]; what lies beyond the top is 0, for signed fields the sign. */
const width = (control: number): bigint => BigInt((control >>> 16) & 127)
const field = (value: bigint, offset: number, bits: bigint): bigint => (value >> BigInt(offset)) & ((1n << bits) - 1n)
const signedField = (value: bigint, offset: number, bits: bigint): bigint => BigInt.asIntN(Number(bits), field(value, offset, bits))

export const s_bfe_u32 = (a: number, b: number) => nonZero(Number(field(BigInt(a), b & 31, width(b))))
export const s_bfe_i32 = (a: number, b: number) => nonZero(Number(BigInt.asIntN(32, signedField(BigInt(i32(a)), b & 31, width(b)))))
export const s_bfe_u64 = (a: bigint, b: number) => nonZero(field(a, b & 63, width(b)))
export const s_bfe_i64 = (a: bigint, b: number) => nonZero(signedField(i64(a), b & 63, width(b)))

export const s_absdiff_i32 = (a: number, b: number) => nonZero(Math.abs(i32(i32(a) - i32(b))))

/** Goes both ways where the lanes disagree: to the address in S1 those whose mask bit in S0 is set, on those whose bit is not. */
export const s_cbranch_g_fork = (mask: bigint, target: bigint, w: Wave, r: PlanRecord): undefined => fork(w, r, mask, target)
