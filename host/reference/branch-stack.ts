/**
 * The stack of diverging branches that s_cbranch_g_fork and s_cbranch_i_fork push to and s_cbranch_join pops from: four SGPRs an
 * entry from s0 on, EXEC in the low pair and the guest address in the high one; its depth is MODE.CSP (GCN3 manual, section
 * "Branching", and AMD's pseudocode).
 */
import type { PlanRecord } from '../plan/plan.ts'
import { MODE_CSP_SHIFT } from './modes.ts'
import { nextPc } from './record.ts'
import type { Wave } from './wave.ts'

const depthOf = (w: Wave): number => w.mode >>> MODE_CSP_SHIFT

function setDepth(w: Wave, depth: number): void {
  w.mode = ((w.mode & ~(7 << MODE_CSP_SHIFT)) | (depth << MODE_CSP_SHIFT)) >>> 0
}

const population = (mask: bigint): number => mask.toString(2).replaceAll('0', '').length

/** The side with fewer lanes goes first; the other one waits on the stack. */
export function fork(w: Wave, r: PlanRecord, mask: bigint, target: bigint): undefined {
  const { exec } = w
  const pass = mask & exec
  const fail = ~mask & exec
  const next = w.programBase + BigInt(nextPc(r))
  if (pass === exec) w.jumpToAddress(target)
  else if (fail !== exec) {
    const failFirst = population(fail) < population(pass)
    w.checkSgprs(depthOf(w) * 4, 4)
    if (!failFirst) w.jumpToAddress(target)
    push(w, failFirst ? pass : fail, failFirst ? target : next)
    w.exec = failFirst ? fail : pass
  }
}

function push(w: Wave, exec: bigint, address: bigint): void {
  w.setScalar64(depthOf(w) * 4, exec)
  w.setScalar64(depthOf(w) * 4 + 2, address)
  setDepth(w, (depthOf(w) + 1) & 7)
}

/** Where the depth is what it was before the fork, both sides are through and the wave goes on. */
export function join(w: Wave, savedDepth: number): undefined {
  if (depthOf(w) === savedDepth) return
  const depth = (depthOf(w) - 1) & 7
  w.checkSgprs(depth * 4, 4)
  w.jumpToAddress(w.scalar64(depth * 4 + 2))
  w.exec = w.scalar64(depth * 4)
  setDepth(w, depth)
}
