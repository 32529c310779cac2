/** Scalar compares: each gives SCC (GCN3 manual, chapter "SOPC instructions"). */
import type { PlanRecord } from '../plan/plan.ts'
import { MODE_GPR_IDX_EN, MODE_VSKIP } from './modes.ts'
import type { Wave } from './wave.ts'

const i32 = (x: number): number => x | 0

export const s_cmp_eq_i32 = (a: number, b: number) => a === b
export const s_cmp_lg_i32 = (a: number, b: number) => a !== b
export const s_cmp_gt_i32 = (a: number, b: number) => i32(a) > i32(b)
export const s_cmp_ge_i32 = (a: number, b: number) => i32(a) >= i32(b)
export const s_cmp_lt_i32 = (a: number, b: number) => i32(a) < i32(b)
export const s_cmp_le_i32 = (a: number, b: number) => i32(a) <= i32(b)
export const s_cmp_eq_u32 = (a: number, b: number) => a === b
export const s_cmp_lg_u32 = (a: number, b: number) => a !== b
export const s_cmp_gt_u32 = (a: number, b: number) => a > b
export const s_cmp_ge_u32 = (a: number, b: number) => a >= b
export const s_cmp_lt_u32 = (a: number, b: number) => a < b
export const s_cmp_le_u32 = (a: number, b: number) => a <= b
export const s_cmp_eq_u64 = (a: bigint, b: bigint) => a === b
export const s_cmp_lg_u64 = (a: bigint, b: bigint) => a !== b

const bit32 = (a: number, place: number): number => (a >>> (place & 31)) & 1
const bit64 = (a: bigint, place: number): bigint => (a >> BigInt(place & 63)) & 1n
export const s_bitcmp0_b32 = (a: number, b: number) => bit32(a, b) === 0
export const s_bitcmp1_b32 = (a: number, b: number) => bit32(a, b) === 1
export const s_bitcmp0_b64 = (a: bigint, b: number) => bit64(a, b) === 0n
export const s_bitcmp1_b64 = (a: bigint, b: number) => bit64(a, b) === 1n

/** MODE.VSKIP = the chosen bit; SCC stays. */
export const s_setvskip = (a: number, b: number, w: Wave): undefined => {
  w.mode = bit32(a, b) ? (w.mode | MODE_VSKIP) >>> 0 : (w.mode & ~MODE_VSKIP) >>> 0
}

/** Turns relative VGPR indexing on: M0[7:0] = S0[7:0], M0[15:12] = what the S1 field itself says; SCC stays. */
export const s_set_gpr_idx_on = (a: number, _: number, w: Wave, r: PlanRecord): undefined => {
  w.mode = (w.mode | MODE_GPR_IDX_EN) >>> 0
  w.m0 = ((w.m0 & ~0xf0ff) | ((r.sources[1] & 15) << 12) | (a & 0xff)) >>> 0
}
