/** Scalar operations with a 16-bit constant (GCN3 manual, chapter "SOPK instructions"). */
import type { PlanRecord } from '../plan/plan.ts'
import { fork } from './branch-stack.ts'
import { sourceDword } from './fetch.ts'
import { readHardwareRegister, writeHardwareRegister } from './hardware-register.ts'
import type { WaveFunction } from './scalar.ts'
import * as sop2 from './sop2.ts'
import * as sopc from './sopc.ts'
import { scalarOf, type Wave } from './wave.ts'

const destination = (w: Wave, r: PlanRecord): number => w.scalar(scalarOf(r.dst))

export const s_movk_i32: WaveFunction = (w, r) => w.setScalar(scalarOf(r.dst), r.imm)
export const s_cmovk_i32: WaveFunction = (w, r) => {
  if (w.scc) w.setScalar(scalarOf(r.dst), r.imm)
}

/** SCC = D compared with the constant, which is sign-extended for i32 and zero-extended for u32. */
const compare =
  (f: (a: number, b: number) => boolean, mask = -1): WaveFunction =>
  (w, r) => {
    w.scc = f(destination(w, r), (r.imm & mask) >>> 0)
  }
export const s_cmpk_eq_i32 = compare(sopc.s_cmp_eq_i32)
export const s_cmpk_lg_i32 = compare(sopc.s_cmp_lg_i32)
export const s_cmpk_gt_i32 = compare(sopc.s_cmp_gt_i32)
export const s_cmpk_ge_i32 = compare(sopc.s_cmp_ge_i32)
export const s_cmpk_lt_i32 = compare(sopc.s_cmp_lt_i32)
export const s_cmpk_le_i32 = compare(sopc.s_cmp_le_i32)
export const s_cmpk_eq_u32 = compare(sopc.s_cmp_eq_u32, 0xffff)
export const s_cmpk_lg_u32 = compare(sopc.s_cmp_lg_u32, 0xffff)
export const s_cmpk_gt_u32 = compare(sopc.s_cmp_gt_u32, 0xffff)
export const s_cmpk_ge_u32 = compare(sopc.s_cmp_ge_u32, 0xffff)
export const s_cmpk_lt_u32 = compare(sopc.s_cmp_lt_u32, 0xffff)
export const s_cmpk_le_u32 = compare(sopc.s_cmp_le_u32, 0xffff)

export const s_addk_i32: WaveFunction = (w, r) => {
  const [value, scc] = sop2.s_add_i32(destination(w, r), r.imm)
  w.setScalar(scalarOf(r.dst), value)
  w.scc = scc
}
export const s_mulk_i32: WaveFunction = (w, r) => w.setScalar(scalarOf(r.dst), Math.imul(destination(w, r), r.imm))

export const s_cbranch_i_fork: WaveFunction = (w, r) => fork(w, r, w.scalar64(scalarOf(r.dst)), w.programBase + BigInt(r.imm))

export const s_getreg_b32: WaveFunction = (w, r) => w.setScalar(scalarOf(r.dst), readHardwareRegister(w, r.imm))
export const s_setreg_b32: WaveFunction = (w, r) => writeHardwareRegister(w, r.imm, destination(w, r))
export const s_setreg_imm32_b32: WaveFunction = (w, r) => writeHardwareRegister(w, r.imm, sourceDword(w, r, 0, 0))
