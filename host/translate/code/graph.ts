/** The planned part of a program as a control-flow graph: records in, basic blocks out. */
import { type Operation, operationOf } from '../../isa/operations.ts'
import { RECORD_DST, RECORD_FLAGS, RECORD_IMM, RECORD_MODS, RECORD_OP, RECORD_SRC0 } from '../../plan/layout.ts'
import { type Mods, unpackMods } from '../../plan/record.ts'
import { factOf } from './fact.ts'
import { type LaneModes, modeChange, modesOf } from './modes.ts'
import { modeAt, pcOf, placeOf } from './place.ts'
import { recordsOf } from './planned.ts'

/** One planned instruction, at one MODE. */
export interface Step {
  readonly operation: Operation
  /** MODE that it runs at. */
  readonly modes: LaneModes
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
 * How a block ends; `pc` and `taken` are places. `leave` means that the interpreter goes on at `pc`; `stop`, that its last step stops the wave;
 * `jump`, that its last step goes where a register says.
 */
export type BlockEnd =
  | { readonly kind: 'goto'; readonly pc: number }
  | { readonly kind: 'branch'; readonly condition: string; readonly taken: number; readonly pc: number }
  | { readonly kind: 'leave' | 'stop' | 'jump'; readonly pc: number }

export interface Block {
  /** The place where it begins: code that is reached with several MODEs has a block for each. */
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

/** MODEs of a program's code at most. Compilers switch between two. */
const MODE_LIMIT = 4

/** Conditional branches by what they test. */
const CONDITIONS = /^s_cbranch_(scc0|scc1|vccz|vccnz|execz|execnz)$/

const conditionOf = factOf(({ name }) => CONDITIONS.exec(name)?.[1])
const isBranch = factOf(({ name }) => name === 's_branch' || CONDITIONS.test(name))
const isLeaving = factOf(({ name }) => LEAVES.test(name))
/** Whether only the interpreter does it. A change of MODE that is known leads to a place of the same code at that MODE. */
const leaves = (step: Step): boolean => isLeaving(step.operation) && modeChange(step) === undefined
const endingOf = factOf(({ name }) => (STOPS.test(name) ? 'stop' : JUMPS.test(name) ? 'jump' : undefined))

function readStep(view: DataView, address: number, pc: number, modes: LaneModes, isElders: boolean): Step | undefined {
  const operation = operationOf(view.getUint16(address + RECORD_OP, true))
  if (operation === undefined) return undefined
  return {
    operation,
    modes,
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

const nextPc = ({ pc, mods }: Step): number => pc + 4 * mods.dwords

/** Bits of MODE behind an instruction that runs at a MODE. */
export function modeBehind(step: Step, mode = step.modes.key): number {
  const change = modeChange(step)
  return change === undefined ? mode : (mode & ~change.mask) | change.bits
}

/** What was translated of the same code before, on another thread perhaps: its places are planned there, and not all of them here. */
export interface Elder {
  readonly program: number
  readonly rest: ReadonlyMap<number, number>
}

/**
 * All blocks of the code that is planned so far, by the places where they begin.
 * @param mode bits of MODE (MODE_KEY in modes.ts) that waves come with from outside
 */
export function readBlocks(memory: ArrayBufferLike, program: number, mode: number, elder?: Elder): Map<number, Block> {
  const reader = new Reader(readSteps(memory, program, modesOf(mode), elder), mode)
  reader.read()
  return reader.blocks
}

function readSteps(memory: ArrayBufferLike, program: number, modes: LaneModes, elder: Elder | undefined): Map<number, Step> {
  const view = new DataView(memory)
  const records = recordsOf(memory, program)
  const elderRecords = elder === undefined ? records : recordsOf(memory, elder.program)
  const elderPcs = new Set([...(elder?.rest.keys() ?? [])].map(pcOf))
  const steps = new Map<number, Step>()
  for (let i = 0; i < records.length; i++) {
    const pc = 4 * i
    const isElders = elderPcs.has(pc)
    const address = (isElders ? elderRecords : records)[i]!
    const step = address === 0 ? undefined : readStep(view, address, pc, modes, isElders)
    if (step) steps.set(pc, step)
  }
  return steps
}

/** Makes blocks of steps, place by place. */
class Reader {
  readonly blocks = new Map<number, Block>()
  /** Pcs where blocks begin, and those of them that other blocks lead to. */
  readonly #starts = new Set<number>()
  readonly #targets = new Set<number>()
  /** MODEs that blocks begin or go on at. */
  readonly #modes = new Set<number>()

  constructor(
    private readonly steps: ReadonlyMap<number, Step>,
    private readonly mode: number,
  ) {
    this.#modes.add(mode)
    let expected = -1
    for (const step of steps.values()) {
      const next = nextPc(step)
      if (step.pc !== expected) this.#starts.add(step.pc)
      const branches = isBranch(step.operation)
      if (branches) this.#leadTo(step.imm)
      if (branches || leaves(step) || endingOf(step.operation)) this.#starts.add(next)
      expected = next
    }
    for (const step of steps.values())
      if (!leaves(step) && !endingOf(step.operation) && step.operation.name !== 's_branch') this.#targets.add(nextPc(step))
  }

  #leadTo(pc: number): void {
    this.#starts.add(pc)
    this.#targets.add(pc)
  }

  /** Reads all that is reached. What nothing leads to is entered from outside; last come loops that only jumps lead to. */
  read(): void {
    const { mode } = this
    const starts = [...this.#starts].filter((pc) => this.steps.has(pc))
    const [first] = starts
    for (const pc of starts) if (pc === first || !this.#targets.has(pc)) this.#follow(placeOf(pc, mode))
    const reached = new Set([...this.blocks.keys()].map(pcOf))
    for (const pc of starts) if (!reached.has(pc)) this.#follow(placeOf(pc, mode))
  }

  #follow(place: number): void {
    const work = [place]
    for (let at = work.pop(); at !== undefined; at = work.pop()) {
      if (this.blocks.has(at) || !this.steps.has(pcOf(at))) continue
      const block = this.#blockAt(at)
      this.blocks.set(at, block)
      work.push(...successors(block))
    }
  }

  /** The block that begins at a place; a long one is cut in pieces. */
  #blockAt(place: number): Block {
    const list: Step[] = []
    const start = pcOf(place)
    let mode = modeAt(place)
    let modes = modesOf(mode)
    const finish = (end: BlockEnd): Block => ({ pc: place, steps: list, end })
    for (let pc = start; ; ) {
      const known = this.steps.get(pc)
      const at = placeOf(pc, mode)
      if (known === undefined || this.#isLeft(known, mode)) return finish({ kind: 'leave', pc: at })
      if ((pc !== start && this.#starts.has(pc)) || list.length === BLOCK_LIMIT) return finish({ kind: 'goto', pc: at })
      const step = known.modes === modes ? known : { ...known, modes }
      list.push(step)
      pc = nextPc(step)
      const ending = endingOf(step.operation)
      if (ending) return finish({ kind: ending, pc: at })
      if (step.operation.name === 's_branch') return finish({ kind: 'goto', pc: placeOf(step.imm, mode) })
      const condition = conditionOf(step.operation)
      if (condition) return finish({ kind: 'branch', condition, taken: placeOf(step.imm, mode), pc: placeOf(pc, mode) })
      mode = modeBehind(step)
      modes = modesOf(mode)
      this.#modes.add(mode)
    }
  }

  /** Whether the interpreter takes over before a step: who jumps comes from outside, and so with the usual MODE; and there must not be too many. */
  #isLeft(step: Step, mode: number): boolean {
    if (leaves(step) || (mode !== this.mode && endingOf(step.operation) === 'jump')) return true
    return this.#modes.size >= MODE_LIMIT && !this.#modes.has(modeBehind(step, mode))
  }
}

/** Where control goes from a block, as far as that is known. */
export function successors({ end }: Block): readonly number[] {
  return end.kind === 'goto' ? [end.pc] : end.kind === 'branch' ? [end.taken, end.pc] : []
}
