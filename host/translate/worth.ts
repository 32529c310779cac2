/** Whether translating a program pays: what it costs, and what it is expected to save. Must not load what translates. */
import { operationOf } from '../isa/operations.ts'
import { RECORD_IMM, RECORD_OP } from '../plan/layout.ts'
import { factOf } from './code/fact.ts'
import { recordsOf } from './code/planned.ts'
import { bestRole, crossLaneWay, globalWay, ldsAccessOf } from './code/roles.ts'

/**
 * Nanoseconds that an instruction of 64 lanes takes less once it is translated, outside of loops that run group by group, where it is more:
 * means of what kernels gained. A call of the core costs more than a step of it, for it ends a run of lanes. At a barrier, and at a wave's end, translated
 * code goes on with the next wave by itself (rounds.ts); what only the interpreter does is left to it, one instruction at a time.
 */
const SAVED = { lanes: 45, scalar: 10, idle: 8, read: 30, global: 20, call: -10, barrier: 50, end: 150, leave: -150 }
/** What an instruction saves at most: who expects less than that to pay need not ask. */
export const MOST_SAVED = SAVED.lanes
const LEAVING = /^s_(setreg_b32|cbranch_(g_fork|i_fork|join)|set_gpr_idx)/

const savedBy = factOf((operation) => {
  const { name } = operation
  if (name === 's_barrier') return SAVED.barrier
  if (name === 's_endpgm') return SAVED.end
  // These are no lanes or scalars, and not calls either (lds.ts, global.ts, crosslane.ts).
  const lds = ldsAccessOf(operation)
  if (lds !== undefined) return lds.way === 'read' ? SAVED.read : SAVED.global
  if (globalWay(operation) !== undefined) return SAVED.global
  if (crossLaneWay(operation) !== undefined) return SAVED.scalar
  // Mostly it is what is flushed that changes, and runs go on (modes.ts).
  if (name === 's_setreg_imm32_b32') return SAVED.idle
  return SAVED[LEAVING.test(name) ? 'leave' : bestRole(operation)]
})

/** What is known of a program before it is translated. */
export interface Worth {
  /** Instructions that are planned. */
  readonly count: number
  /** Nanoseconds that translating is expected to save a wave; below zero where it takes longer then. */
  readonly saved: number
}

/**
 * What translating a program is worth, as far as it is planned.
 * @param program address of its header
 * @param instructions that a wave has interpreted: what they are more than is planned, they are in loops
 */
export function worthOf(memory: ArrayBufferLike, program: number, instructions: number): Worth {
  const view = new DataView(memory)
  const table = recordsOf(memory, program)
  const loops: (readonly [from: number, to: number])[] = []
  const steps: (readonly [pc: number, saved: number])[] = []
  for (let i = 0; i < table.length; i++) {
    const record = table[i]!
    const operation = record === 0 ? undefined : operationOf(view.getUint16(record + RECORD_OP, true))
    if (operation === undefined) continue
    const pc = 4 * i
    if (/^s_c?branch/.test(operation.name)) {
      const target = view.getInt32(record + RECORD_IMM, true)
      if (target <= pc) loops.push([target, pc])
    }
    steps.push([pc, savedBy(operation)])
  }
  const inside = steps.filter(([pc]) => loops.some(([from, to]) => pc >= from && pc <= to))
  const once = sum(steps) - sum(inside)
  const times = inside.length === 0 ? 0 : Math.max(1, (instructions - (steps.length - inside.length)) / inside.length)
  // Not all that is planned is executed by every wave, and what was translated before is not interpreted any more.
  const part = Math.min(1, instructions / steps.length)
  return { count: steps.length, saved: part * (once + times * sum(inside)) }
}

const sum = (steps: readonly (readonly [pc: number, saved: number])[]): number => steps.reduce((all, [, saved]) => all + saved, 0)
