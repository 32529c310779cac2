/** Vector operations that look at the wave as a whole (GCN3 manual, chapters "VOP1", "VOP2", "VOP3"). */
import { FaultCode } from '../engine.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { KIND_VECTOR } from '../plan/record.ts'
import { Fault } from './fault.ts'
import { type Row, sourceDword } from './fetch.ts'
import { commit, destinationVgpr } from './finish.ts'
import type { WaveFunction } from './scalar.ts'
import { scalarOf, type Wave } from './wave.ts'

export const v_nop: WaveFunction = () => {}
/** Exceptions are not recorded, so there is none to clear. */
export const v_clrexcp: WaveFunction = () => {}

/** EXEC does not matter; the lane's number wraps at the wave's size. */
export const v_readlane_b32: WaveFunction = (w, r) => {
  const lane = sourceDword(w, r, 1, 0) % w.size
  w.setScalar(scalarOf(r.dst), sourceDword(w, r, 0, lane))
}

/** The lowest active lane, or lane 0 where none is. */
export const v_readfirstlane_b32: WaveFunction = (w, r) => {
  const lane = w.activeLanes()[0] ?? 0
  w.setScalar(scalarOf(r.dst), sourceDword(w, r, 0, lane))
}

export const v_writelane_b32: WaveFunction = (w, r) => {
  const lane = sourceDword(w, r, 1, 0) % w.size
  w.setVgpr(destinationVgpr(w, r), lane, sourceDword(w, r, 0, 0))
}

/** M0 is added to the number of the source register, the destination register or both. */
const moveRelative =
  (source: boolean, destination: boolean): WaveFunction =>
  (w, r) => {
    const to = (w.vgprOf(r.dst) + (destination ? w.m0 : 0)) >>> 0
    w.checkVgprs(to, 1)
    const lanes = w.activeLanes()
    const words: Row = {}
    for (const lane of lanes) words[lane] = source ? relativeSource(w, r, lane) : sourceDword(w, r, 0, lane)
    commit(w, r, to, lanes, words, 'b32')
  }

/** @throws {Fault} Register beyond the wave's VGPRs; Unsupported for a source that is no VGPR */
function relativeSource(w: Wave, r: PlanRecord, lane: number): number {
  if (r.mods.kinds[0] !== KIND_VECTOR) throw new Fault(FaultCode.Unsupported)
  return w.vgpr((w.vgprOf(r.sources[0]) + w.m0) >>> 0, lane)
}

export const v_movreld_b32 = moveRelative(false, true)
export const v_movrels_b32 = moveRelative(true, false)
export const v_movrelsd_b32 = moveRelative(true, true)
