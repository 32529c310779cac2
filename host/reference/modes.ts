/** MODE's fields (GCN3 manual, section "MODE register"). */

import type { PlanRecord } from '../plan/plan.ts'
import type { Modes } from './lane.ts'
import type { Wave } from './wave.ts'

export const MODE_DX10_CLAMP = 1 << 8
export const MODE_IEEE = 1 << 9
/** Relative VGPR indexing by M0 (gfx8). */
export const MODE_GPR_IDX_EN = 1 << 27
/** Vector instructions are skipped. */
export const MODE_VSKIP = 1 << 28
/** Depth of the stack of s_cbranch_g_fork and s_cbranch_i_fork, bits 31:29. */
export const MODE_CSP_SHIFT = 29

/** Modes of an instruction; the lane changes as the instruction goes through the wave. */
export type InstructionModes = Modes & { lane: number }

export function modesOf(w: Wave, r: PlanRecord): InstructionModes {
  const mode = w.mode
  return {
    round32: (mode & 3) as Modes['round32'],
    round64: ((mode >>> 2) & 3) as Modes['round64'],
    flushSources32: (mode & 0x10) === 0,
    flushResults32: (mode & 0x20) === 0,
    flushSources64: (mode & 0x40) === 0,
    flushResults64: (mode & 0x80) === 0,
    dx10Clamp: (mode & MODE_DX10_CLAMP) !== 0,
    ieee: (mode & MODE_IEEE) !== 0,
    generation: w.generation,
    clamp: r.mods.clamp !== 0,
    lane: 0,
  }
}

export const isIndexing = (w: Wave): boolean => (w.mode & MODE_GPR_IDX_EN) !== 0
/** The destination, among the operands that M0 enables for relative indexing; 0 to 2 are sources. */
export const DESTINATION = 3
/** Whether M0's enable bit 12 + `operand` makes an operand relative now. */
export const isRelative = (w: Wave, operand: number): boolean => isIndexing(w) && ((w.m0 >>> (12 + operand)) & 1) !== 0
