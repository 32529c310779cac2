/** Which rows are grained where: followed through a block, and over the whole graph to a fixed point. */
import { bitsOf, dwordsOf } from '../../isa/row.ts'
import { KIND_CONSTANT, KIND_VECTOR } from '../../plan/record.ts'
import { factOf } from '../code/fact.ts'
import { carriesGrain, grainOfResult, isGrained, MOVES, needsGrain } from '../code/grain.ts'
import { type Block, type Step, successors } from '../code/graph.ts'
import type { Role } from '../code/roles.ts'
import { ROW_BYTES } from './lane-values.ts'
import { EXEC, isExec } from './scalars.ts'
import { isStaged } from './stages.ts'

/** Writes of EXEC that only take lanes away: what holds for the active lanes goes on to hold. */
const SHRINKS_EXEC = /^s_and_saveexec_b64$/
const KEEPS_EXEC_SUBSET = /^s_(and|andn2)_b64$/

/** Rows (offsets in the wave block) that are grained in every active lane, as a block goes on. */
export class GrainState {
  constructor(readonly rows: Set<number>) {}

  /** A lane operation in a translated run: its sources are tested where they need to be. */
  lanes(step: Step): void {
    // Nothing is said of parts of registers, values of other lanes, and results of omod.
    if (isStaged(step) || knowsNothing(step.operation)) return this.#writes(step)
    const { sources } = step.operation.shape
    const carried: boolean[] = []
    for (let slot = 0; slot < sources.length; slot++) {
      if (!carriesGrain(step, slot)) continue
      const kind = step.mods.kinds[slot]
      const row = step.sources[slot]!
      const tested = needsGrain(step, slot)
      if (tested && kind === KIND_VECTOR) this.rows.add(row)
      carried.push(tested || (kind === KIND_VECTOR && this.rows.has(row)) || (kind === KIND_CONSTANT && isGrained(row)))
    }
    const grain = grainOfResult(step, carried)
    this.#writes(step)
    if (grain !== 'unknown') this.rows.add(step.dst)
  }

  /** Any other vector or memory instruction. */
  call(step: Step): void {
    if (this.rows.size === 0) return
    const writes = callWrites(step.operation)
    if (writes === 'any') this.rows.clear()
    else if (writes === 'own') this.#writes(step)
  }

  /** A scalar instruction: one that can switch lanes on ends what is known. */
  scalar(step: Step): void {
    if (writesExec(step) && !SHRINKS_EXEC.test(step.operation.name) && !keepsSubset(step)) this.rows.clear()
  }

  #writes({ dst, operation, flags }: Step): void {
    if (this.rows.size === 0) return
    // One row more for the status dword of tfe.
    const rows = resultRows(operation) + (flags ? 1 : 0)
    for (let i = 0; i < rows; i++) this.rows.delete(dst + i * ROW_BYTES)
  }
}

/** Operations that neither test sources nor give anything that can be grained. */
const knowsNothing = factOf(({ shape, name }) => !MOVES.test(name) && ![...shape.results, ...shape.sources].includes('f32'))

/** Rows that an instruction writes of which the core is called: its own result, any, or none. */
const callWrites = factOf(({ name, table }) => (/movrel/.test(name) || table === 'mimg' ? 'any' : /^(s|exp$)/.test(table) ? 'none' : 'own'))
const resultRows = factOf(({ shape }) => {
  const type = shape.results.find((r) => r !== 'mask')
  return type === undefined || bitsOf(type) < 32 ? 1 : dwordsOf(type)
})

const savesExec = factOf(({ name }) => name.includes('saveexec'))
const writesExec = (step: Step): boolean => isExec(step.dst) || savesExec(step.operation)
const keepsSubset = (step: Step): boolean => KEEPS_EXEC_SUBSET.test(step.operation.name) && step.dst === EXEC && step.sources[0] === EXEC

/** Takes the state over a block. */
export function followBlock(block: Block, state: GrainState, roleOf: (step: Step) => Role): void {
  for (const step of block.steps) {
    const role = roleOf(step)
    if (role === 'lanes') state.lanes(step)
    else if (role === 'scalar') state.scalar(step)
    else if (role === 'call') {
      state.call(step)
      state.scalar(step)
    }
  }
}

/** The rows that are grained at each block's start if they are at the start of the blocks that are entered from outside. */
export function findGrained(blocks: ReadonlyMap<number, Block>, roleOf: (step: Step) => Role): Map<number, ReadonlySet<number>> {
  const before = new Map<number, Set<number>>()
  const [first] = blocks.keys()
  const meet = (pc: number, rows: ReadonlySet<number>): boolean => {
    const known = before.get(pc)
    if (known === undefined) {
      before.set(pc, new Set(rows))
      return true
    }
    let changed = false
    for (const row of known) {
      if (rows.has(row)) continue
      known.delete(row)
      changed = true
    }
    return changed
  }
  const work = [first!]
  before.set(first!, new Set())
  const targets = new Set([...blocks.values()].flatMap(successors))
  for (const pc of blocks.keys()) {
    // Blocks that nothing leads to start with nothing.
    if (targets.has(pc) || before.has(pc)) continue
    before.set(pc, new Set())
    work.push(pc)
  }
  for (let pc = work.pop(); pc !== undefined; pc = work.pop()) {
    const block = blocks.get(pc)!
    const state = new GrainState(new Set(before.get(pc)))
    followBlock(block, state, roleOf)
    for (const next of successors(block)) if (blocks.has(next) && meet(next, state.rows)) work.push(next)
  }
  return before
}
