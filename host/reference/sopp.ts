/** Program control (GCN3 manual, chapter "SOPP instructions"). */
import { FaultCode, Stop } from '../engine.ts'
import { WAVE_STATUS } from '../plan/layout.ts'
import { Fault } from './fault.ts'
import { MODE_GPR_IDX_EN } from './modes.ts'
import type { WaveFunction } from './scalar.ts'
import type { Wave } from './wave.ts'

const nothing: WaveFunction = () => {}

/** STATUS bits. */
const COND_DBG_USER = 1 << 20
const COND_DBG_SYS = 1 << 21

const branchIf =
  (condition: (w: Wave) => boolean): WaveFunction =>
  (w, r) => {
    if (condition(w)) w.jumpTo(r.imm)
  }
const status = (w: Wave, bit: number): boolean => (w.header(WAVE_STATUS) & bit) !== 0

export const s_branch = branchIf(() => true)
export const s_cbranch_scc0 = branchIf((w) => !w.scc)
export const s_cbranch_scc1 = branchIf((w) => w.scc)
export const s_cbranch_vccz = branchIf((w) => w.vcc === 0n)
export const s_cbranch_vccnz = branchIf((w) => w.vcc !== 0n)
export const s_cbranch_execz = branchIf((w) => w.exec === 0n)
export const s_cbranch_execnz = branchIf((w) => w.exec !== 0n)
export const s_cbranch_cdbgsys = branchIf((w) => status(w, COND_DBG_SYS))
export const s_cbranch_cdbguser = branchIf((w) => status(w, COND_DBG_USER))
export const s_cbranch_cdbgsys_or_user = branchIf((w) => status(w, COND_DBG_SYS) || status(w, COND_DBG_USER))
export const s_cbranch_cdbgsys_and_user = branchIf((w) => status(w, COND_DBG_SYS) && status(w, COND_DBG_USER))

export const s_endpgm: WaveFunction = () => Stop.End
export const s_endpgm_saved: WaveFunction = () => Stop.End
export const s_barrier: WaveFunction = () => Stop.Barrier

export const s_sleep: WaveFunction = () => Stop.Yield
export const s_wakeup: WaveFunction = () => Stop.Yield

// Waiting for memory, priorities, caches and counters have no effect that a program could see here: every access is done at once.
export const s_nop = nothing
export const s_waitcnt = nothing
export const s_setprio = nothing
export const s_icache_inv = nothing
export const s_incperflevel = nothing
export const s_decperflevel = nothing
export const s_ttracedata = nothing

/** A halted wave waits for a debugger, which there is none; clearing HALT changes nothing. */
export const s_sethalt: WaveFunction = (_, r) => {
  if (r.imm & 1) throw new Fault(FaultCode.Unsupported)
}
/** KILL ends the wave; clearing it changes nothing. */
export const s_setkill: WaveFunction = (_, r) => (r.imm & 1 ? Stop.End : undefined)
export const s_trap: WaveFunction = () => {
  throw new Fault(FaultCode.Trap)
}

export const s_set_gpr_idx_off: WaveFunction = (w) => {
  w.mode = (w.mode & ~MODE_GPR_IDX_EN) >>> 0
}
/** M0[15:12] = which operands are relative. */
export const s_set_gpr_idx_mode: WaveFunction = (w, r) => {
  w.m0 = ((w.m0 & ~0xf000) | ((r.imm & 15) << 12)) >>> 0
}
