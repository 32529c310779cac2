/** The planned part of a program as a control-flow graph: records in, basic blocks out. */
import { type Operation, operationOf } from '../isa/operations.ts'
import {
  PROGRAM_CODE_BYTES,
  PROGRAM_PC_TABLE,
  RECORD_DST,
  RECORD_FLAGS,
  RECORD_IMM,
  RECORD_MODS,
  RECORD_OP,
  RECORD_SRC0,
} from '../plan/layout.ts'
import { type Mods, unpackMods } from '../plan/record.ts'
import { factOf } from './fact.ts'

/** One planned instruction. */
export interface Step {
  readonly operation: Operation
  readonly pc: number
  /** Whether its record is that of the elder program ({@link Elder}). */
  readonly isElders: boolean
  readonly flags: number
  readonly dst: number
  readonly sources: readonly [number, number, number]
  readonly imm: number
  readonly mods: Mods
}

/**
 * How a block ends. `leave` means that the interpreter goes on at `pc`; `stop`, that its last step stops the wave; `jump`, that its last step goes where
 * a register says.
 */
export type BlockEnd =
  | { readonly kind: 'goto'; readonly pc: number }
  | { readonly kind: 'branch'; readonly condition: string; readonly taken: number; readonly pc: number }
  | { readonly kind: 'leave' | 'stop' | 'jump'; readonly pc: number }

export interface Block {
  readonly pc: number
  readonly steps: readonly Step[]
  readonly end: BlockEnd
}

/** What stops the wave, always, and what goes where a register says. */
const STOPS = /^s_(endpgm|endpgm_saved|barrier)$/
const JUMPS = /^s_(setpc|swappc)_b64$/
/** What only the interpreter does: it may stop the wave, or changes what translation counts on. */
const LEAVES = /^s_(rfe|trap|sleep|sendmsg|cbranch_(g_fork|i_fork|join|cdbg)|setreg|set_gpr_idx|setvskip|sethalt|setprio|setkill|wakeup)/

/** Instructions of a block at most. */
export const BLOCK_LIMIT = 512

/** Conditional branches by what they test. */
const CONDITIONS = /^s_cbranch_(scc0|scc1|vccz|vccnz|execz|execnz)$/

const conditionOf = factOf(({ name }) => CONDITIONS.exec(name)?.[1])
const isBranch = factOf(({ name }) => name === 's_branch' || CONDITIONS.test(name))
const leaves = factOf(({ name }) => LEAVES.test(name))
const endingOf = factOf(({ name }) => (STOPS.test(name) ? 'stop' : JUMPS.test(name) ? 'jump' : undefined))

function readStep(view: DataView, address: number, pc: number, isElders: boolean): Step | undefined {
  const operation = operationOf(view.getUint16(address + RECORD_OP, true))
  if (operation === undefined) return undefined
  return {
    operation,
    pc,
    isElders,
    flags: view.getUint16(address + RECORD_FLAGS, true),
    dst: view.getUint32(address + RECORD_DST, true),
    sources: [
      view.getUint32(address + RECORD_SRC0, true),
      view.getUint32(address + RECORD_SRC0 + 4, true),
      view.getUint32(address + RECORD_SRC0 + 8, true),
    ],
    imm: view.getInt32(address + RECORD_IMM, true),
    mods: unpackMods(view.getUint32(address + RECORD_MODS, true)),
  }
}

/** What was translated of the same code before, on another thread perhaps: its pcs are planned there, and not all of them here. */
export interface Elder {
  readonly program: number
  readonly rest: ReadonlyMap<number, number>
}

/** All blocks of the code that is planned so far, by pc. */
export function readBlocks(memory: ArrayBufferLike, program: number, elder?: Elder): Map<number, Block> {
  const view = new DataView(memory)
  const table = view.getUint32(program + PROGRAM_PC_TABLE, true)
  const elderTable = elder === undefined ? table : view.getUint32(elder.program + PROGRAM_PC_TABLE, true)
  const steps = new Map<number, Step>()
  const codeBytes = view.getUint32(program + PROGRAM_CODE_BYTES, true)
  for (let pc = 0; pc < codeBytes; pc += 4) {
    const isElders = elder?.rest.has(pc) === true
    const address = view.getUint32((isElders ? elderTable : table) + pc, true)
    const step = address === 0 ? undefined : readStep(view, address, pc, isElders)
    if (step) steps.set(pc, step)
  }
  const starts = new Set<number>()
  let expected = -1
  for (const step of steps.values()) {
    const next = step.pc + step.mods.dwords * 4
    if (step.pc !== expected) starts.add(step.pc)
    const branches = isBranch(step.operation)
    if (branches) starts.add(step.imm)
    if (branches || leaves(step.operation) || endingOf(step.operation)) starts.add(next)
    expected = next
  }
  const blocks = new Map<number, Block>()
  for (const start of starts) if (steps.has(start)) addBlocks(blocks, start, steps, starts)
  return blocks
}

/** Where control goes from a block, as far as that is known. */
export function successors({ end }: Block): readonly number[] {
  return end.kind === 'goto' ? [end.pc] : end.kind === 'branch' ? [end.taken, end.pc] : []
}

/** The block that starts at `start`; a long one is cut in pieces. */
function addBlocks(blocks: Map<number, Block>, start: number, steps: ReadonlyMap<number, Step>, starts: ReadonlySet<number>): void {
  const list: Step[] = []
  const finish = (end: BlockEnd): void => {
    blocks.set(start, { pc: start, steps: list, end })
  }
  for (let pc = start; ; ) {
    const step = steps.get(pc)
    if (step === undefined || leaves(step.operation)) return finish({ kind: 'leave', pc })
    if (pc !== start && starts.has(pc)) return finish({ kind: 'goto', pc })
    if (list.length === BLOCK_LIMIT) {
      finish({ kind: 'goto', pc })
      return addBlocks(blocks, pc, steps, starts)
    }
    list.push(step)
    pc += step.mods.dwords * 4
    const ending = endingOf(step.operation)
    if (ending) return finish({ kind: ending, pc: step.pc })
    if (step.operation.name === 's_branch') return finish({ kind: 'goto', pc: step.imm })
    const condition = conditionOf(step.operation)
    if (condition) return finish({ kind: 'branch', condition, taken: step.imm, pc })
  }
}
