/** Straight code: how far an instruction and those behind it run with the same lanes, one after another. */
import type { Instruction } from '../codec/instruction.ts'
import type { Table } from '../isa/operations.ts'
import { EXEC_LO } from '../plan/layout.ts'

const ALU: ReadonlySet<Table> = new Set<Table>(['sop1', 'sop2', 'sopk', 'sopc', 'vop1', 'vop2', 'vop3', 'vopc', 'vintrp'])
const MEMORY: ReadonlySet<Table> = new Set<Table>(['smem', 'ds', 'flat', 'mubuf', 'mtbuf', 'mimg'])
const IDLE = /^s_(nop|waitcnt)$/
/** They go elsewhere, write EXEC whatever they name, or write registers that they do not name. */
const TURNS = /^v_cmpx|^v_cmpsx|saveexec|wrexec|^s_(branch|cbranch|setpc|swappc|rfe|movreld|setreg|setvskip|set_gpr_idx|trap|call)/

/**
 * What an instruction is in a stretch:
 * - `inner`: the one behind it runs next, with the same lanes
 * - `last`: a stretch may run up to it
 * - `first`: `inner`, but whoever watches has to look before it runs
 * - `alone`: it may have to wait for others, or is not known
 */
export type Part = 'inner' | 'last' | 'first' | 'alone'

export function partOf(instruction: Instruction | undefined): Part {
  if (instruction === undefined) return 'alone'
  const { operation } = instruction
  const { table, name, traits } = operation
  if (traits.has('device')) return 'alone'
  if (MEMORY.has(table)) return writesExec(instruction) ? 'alone' : 'first'
  if (IDLE.test(name)) return 'inner'
  if (table === 'sopp') return 'last'
  if (!ALU.has(table)) return 'alone'
  return TURNS.test(name) || writesExec(instruction) ? 'last' : 'inner'
}

/** Whether it may write EXEC, as a scalar destination or part of one. */
function writesExec({ operation: { shape, table }, fields }: Instruction): boolean {
  const hasScalarResult = table === 'smem' || shape.results.some((type) => type === 'mask' || type === 's32')
  const { sdst = 0, sdata = 0, vdst = 0 } = fields
  return [sdst, sdata, hasScalarResult ? vdst : 0].some((scalar) => scalar >= FIRST_NEAR_EXEC)
}
/** Wide scalar loads from here on would reach EXEC. */
const FIRST_NEAR_EXEC = EXEC_LO - 15
