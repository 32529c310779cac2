/**
 * Finds loops of several blocks that can run group by group (nest-graph.ts): all groups take the same way through them, since what
 * decides about it is the same for all. Which scalar pair is a lane mask changes on the way, so that is followed from block to block.
 */

import { bitsOf, isFloat } from '../../isa/row.ts'
import { scalarOffset, VCC_LO } from '../../plan/layout.ts'
import { FLAG_GLC, KIND_VECTOR } from '../../plan/record.ts'
import { isLaneLoad, isPlainLoad, loadReads, loads, loadsLanes, loadWrites, rowsWritten } from '../block/accesses.ts'
import { resourceReads } from '../block/buffer.ts'
import { hasMask, maskOffset, ROW_BYTES, SHADOW_ROWS } from '../block/lane-values.ts'
import { isLdsRead } from '../block/lds-plan.ts'
import { EXEC, M0, SCC, scalarReads, scalarUses } from '../block/scalars.ts'
import { type Block, type Step, successors } from '../code/graph.ts'
import { type Loop, loopOf } from '../code/loops.ts'
import { modeAt } from '../code/place.ts'
import type { Role } from '../code/roles.ts'
import { BITWISE, bitwiseReads, loadsScalars, maskSources, SEES_OTHERS } from './nest-plan.ts'
import { threadBranches } from './threading.ts'

/** Steps of a loop at most: V8 takes too long for larger functions. */
const STEP_LIMIT = 2048

/** Moves that find a register at run time: source or destination, M0 registers behind the one they name. */
export const RELATIVE = /^v_movrel[sd]_b32$/
export const GETPC = 's_getpc_b64'
/** Registers that such a move is written for; the loop is left to the ordinary code where M0 is beyond. */
const RELATIVE_ROWS = 16

/** The pair whose group's bits a scalar is part of; `lanes` where lane operations have made them, so that they are zero where EXEC is. */
interface Part {
  readonly pair: number
  readonly lanes: boolean
}
/** What scalars hold, by their offset: of those that are not here the same for all groups. `mixed`: it depends on the way that was taken. */
type Holding = Part | 'mixed'

/** What scalars hold at one place. Of SCC a part of a pair means that it tells whether the whole mask is not zero. */
export class Holdings {
  constructor(private readonly held = new Map<number, Holding>()) {}

  copy(): Holdings {
    return new Holdings(new Map(this.held))
  }
  isUniform(scalars: Iterable<number>): boolean {
    return [...scalars].every((at) => !this.held.has(at))
  }
  /** What a pair is when it is read as a mask. */
  mask(pair: number): 'uniform' | 'lanes' | 'bits' | 'mixed' {
    const [low, high] = [this.held.get(pair), this.held.get(pair + 4)]
    if (low === undefined && high === undefined) return 'uniform'
    if (low === undefined || low === 'mixed' || low.pair !== pair || high === undefined || high === 'mixed' || high.pair !== pair)
      return 'mixed'
    return low.lanes && high.lanes ? 'lanes' : 'bits'
  }
  /** The pair that SCC tells of, if it does. */
  get sccOf(): number | 'mixed' | undefined {
    const scc = this.held.get(SCC)
    return scc === undefined || scc === 'mixed' ? scc : scc.pair
  }
  get hasMixed(): boolean {
    return [...this.held.values()].includes('mixed')
  }
  /** Pairs that are masks. */
  get masks(): number[] {
    return [...this.held.keys()].filter((at) => at !== SCC && ['lanes', 'bits'].includes(this.mask(at)))
  }

  setUniform(scalars: Iterable<number>): void {
    for (const at of scalars) {
      this.#break(at)
      this.held.delete(at)
    }
  }
  setMask(pair: number, lanes: boolean): void {
    for (const at of [pair, pair + 4]) {
      this.#break(at)
      this.held.set(at, { pair, lanes })
    }
  }
  setSccOf(pair: number): void {
    this.held.set(SCC, { pair, lanes: false })
  }
  /** A scalar is written: the rest of a mask that it was part of is none any more, and SCC does not tell of it. */
  #break(at: number): void {
    const before = this.held.get(at)
    if (at === SCC || before === undefined || before === 'mixed') return
    for (const other of [before.pair, before.pair + 4]) this.held.set(other, 'mixed')
    const scc = this.held.get(SCC)
    if (scc !== undefined && scc !== 'mixed' && scc.pair === before.pair) this.held.set(SCC, 'mixed')
  }

  /** Joins another way to the same place. @returns whether that changes anything */
  meet(other: Holdings): boolean {
    let changed = false
    for (const at of new Set([...this.held.keys(), ...other.held.keys()])) {
      const [a, b] = [this.held.get(at), other.held.get(at)]
      const joined = at === SCC && (a === undefined || b === undefined) ? 'mixed' : join(a, b)
      changed ||= joined !== a && (a === undefined || a === 'mixed' || joined === 'mixed' || joined.lanes !== a.lanes)
      this.held.set(at, joined)
    }
    return changed
  }
}

/** What is the same for all groups is a mask, too: each group has its bits of it. */
function join(a: Holding | undefined, b: Holding | undefined): Holding {
  if (a === 'mixed' || b === 'mixed' || (a && b && a.pair !== b.pair)) return 'mixed'
  return { pair: (a ?? b)!.pair, lanes: a?.lanes === true && b?.lanes === true }
}

/** A loop of several blocks that can run so. */
export interface GraphNest {
  /** The loop as it is, and as it is run: with branches decided where that is known if a lane is active. */
  readonly found: Loop
  readonly loop: Loop
  readonly needsLanes: boolean
  readonly roleOf: (step: Step) => Role
  /** Inner loops that it can be entered at. */
  readonly resumes: readonly number[]
  /** What scalars hold where a block begins and ends, and behind the loop. */
  readonly before: ReadonlyMap<number, Holdings>
  readonly after: ReadonlyMap<number, Holdings>
  readonly behind: Holdings
  /** By the header of each loop in it what scalars hold between two iterations, where the ordinary code may go on. */
  readonly between: ReadonlyMap<number, Holdings>
  /** Scalar instructions that compute masks. */
  readonly bitwise: ReadonlySet<Step>
  /** Masks whose bits are needed from a block's start on. */
  readonly live: ReadonlyMap<number, ReadonlySet<number>>
  /** Lane operations whose mask is read, and whether as bits. */
  readonly wanted: ReadonlyMap<Step, 'lanes' | 'bits'>
  /** Rows that the loop writes, and the last one that it names where M0 can find it. */
  readonly dirty: ReadonlySet<number>
  readonly lastRow: number
  /** Nothing that lanes hold makes it give up: there are no floats in it, and no loads. */
  readonly isSure: boolean
  /** Instructions of an iteration at most, from the header of any loop in it to the next one. */
  readonly longest: number
}

/** Whether a loop is such a one. */
export function planGraphNest(found: Loop, roleOf: (step: Step) => Role): GraphNest | undefined {
  // Between its blocks MODE is always the same, so it need not be written.
  if (![...found.blocks.values()].flatMap(successors).every((to) => modeAt(to) === modeAt(found.header))) return undefined
  const threaded = threadBranches(found.blocks, found.header, roleOf)
  const loop = loopOf(found.header, threaded, threaded)
  if (loop === undefined) return undefined
  const isSure = ![...loop.blocks.values()].some(({ steps }) => steps.some((step) => hasFloats(step) || loads(step)))
  return planLoop(found, loop, isSure, roleOf)
}

function planLoop(found: Loop, decided: Loop, isSure: boolean, roleOf: (step: Step) => Role): GraphNest | undefined {
  // Not those inside of other inner loops: these would be entered at two places then.
  const resumes = isSure ? innerHeaders(decided).filter((pc) => pc >= 0 && withEntries(decided, [pc]) !== undefined) : []
  const loop = withEntries(decided, resumes)!
  const blocks = [...loop.blocks.values()]
  const list = blocks.flatMap((block) => block.steps)
  if (blocks.length < 2 || list.length > STEP_LIMIT || !list.some((step) => roleOf(step) === 'lanes')) return undefined
  const flow = followLoop(loop, roleOf)
  if (flow === undefined || flow.behind.hasMixed || [...flow.between.values()].some((state) => state.hasMixed)) return undefined
  const { live, wanted } = liveMasks(loop, roleOf, flow)
  const isRelative = list.some(({ operation }) => RELATIVE.test(operation.name))
  const lastRow = isRelative ? lastRowOf(list, roleOf) : 0
  const dirty = new Set<number>()
  for (const step of list) for (const at of writtenRows(step, roleOf(step), lastRow)) dirty.add(at)
  if (dirty.size > SHADOW_ROWS) return undefined
  const needsLanes = [...decided.blocks.keys()].some((pc) => pc < 0)
  return { found, loop, needsLanes, resumes, roleOf, ...flow, live, wanted, dirty, lastRow, isSure, longest: longestWay(loop) }
}

const hasFloats = ({ operation: { shape } }: Step): boolean => [...shape.results, ...shape.sources].some(isFloat)

/** Headers of the loops inside of a loop. */
function innerHeaders({ header, blocks }: Loop): number[] {
  const seen = new Set<number>()
  const headers = new Set<number>()
  for (const block of blocks.values()) {
    seen.add(block.pc)
    for (const to of successors(block)) if (to !== header && seen.has(to)) headers.add(to)
  }
  return [...headers]
}

/** Instructions of the longest way through a loop, edges back left out. */
function longestWay({ header, blocks }: Loop): number {
  const behind = new Map<number, number>()
  for (const block of [...blocks.values()].toReversed())
    behind.set(block.pc, block.steps.length + Math.max(0, ...successors(block).map((to) => behind.get(to) ?? 0)))
  return behind.get(header)!
}

/** Condition of the branches that lead to the place where a loop is entered. */
export const RESUME = 'resume'
/** Numbers of the blocks of these branches, beyond those of decided ones (threading.ts). */
const FIRST_ENTRY = -(2 ** 31)
const FIRST_BLOCK = FIRST_ENTRY / 2

/** A loop with branches before its header, one for each other place where it can be entered; they are run in each iteration. */
function withEntries(loop: Loop, resumes: readonly number[]): Loop | undefined {
  if (resumes.length === 0) return loop
  const redirect = (to: number) => (to === loop.header ? FIRST_ENTRY : to)
  const blocks = new Map<number, Block>()
  resumes.forEach((taken, i) => {
    const pc = i === resumes.length - 1 ? loop.header : FIRST_ENTRY + i + 1
    blocks.set(FIRST_ENTRY + i, { pc: FIRST_ENTRY + i, steps: [], end: { kind: 'branch', condition: `${RESUME}${i + 1}`, taken, pc } })
  })
  for (const [pc, block] of loop.blocks) {
    const { end } = block
    if (end.kind === 'branch') blocks.set(pc, { ...block, end: { ...end, taken: redirect(end.taken), pc: redirect(end.pc) } })
    else blocks.set(pc, { ...block, end: { ...end, pc: redirect(end.pc) } })
  }
  return loopOf(FIRST_ENTRY, blocks, blocks)
}

type Flow = Pick<GraphNest, 'before' | 'after' | 'behind' | 'between' | 'bitwise'>

/** What scalars hold at each block; nothing where a block has something that cannot run so. */
function followLoop(loop: Loop, roleOf: (step: Step) => Role): Flow | undefined {
  const { header, blocks } = loop
  const before = new Map([[header, new Holdings()]])
  const after = new Map<number, Holdings>()
  const bitwise = new Set<Step>()
  const work = new Set([header])
  for (const pc of work) {
    work.delete(pc)
    const block = blocks.get(pc)!
    const state = before.get(pc)!.copy()
    if (!block.steps.every((step) => follow(step, roleOf(step), state, bitwise)) || !isUniformBranch(block, state)) return undefined
    after.set(pc, state)
    for (const to of successors(block)) {
      if (!blocks.has(to)) continue
      const known = before.get(to)
      if (known === undefined) before.set(to, state.copy())
      else if (!known.meet(state)) continue
      work.add(to)
    }
  }
  const joined = (is: (to: number) => boolean): Holdings | undefined => {
    const states = [...after].filter(([pc]) => pc >= FIRST_BLOCK && successors(blocks.get(pc)!).some(is)).map(([, state]) => state)
    const result = states[0]?.copy()
    for (const state of states) result!.meet(state)
    return result
  }
  const behind = joined((to) => !blocks.has(to))
  const between = new Map<number, Holdings>()
  for (const pc of [header, ...innerHeaders(loop)]) {
    const state = joined((to) => to === pc)
    if (state === undefined) return undefined
    between.set(pc, state)
  }
  // A loop without end is none that is worth it.
  return behind && { before, after, behind, between, bitwise }
}

function isUniformBranch({ end }: Block, state: Holdings): boolean {
  if (end.kind !== 'branch' || end.condition.startsWith('exec') || end.condition.startsWith(RESUME)) return true
  return end.condition.startsWith('scc') ? state.isUniform([SCC]) : state.mask(scalarOffset(VCC_LO)) === 'uniform'
}

/**
 * Takes what scalars hold over an instruction.
 * @param bitwise takes the scalar instruction if it computes a mask, each group's bits from the same bits
 * @returns whether it can stand in such a loop
 */
export function follow(step: Step, role: Role, state: Holdings, bitwise: Set<Step>): boolean {
  const { name } = step.operation
  if (role === 'idle') return !SEES_OTHERS.test(name)
  if (role === 'scalar') return followScalar(step, state, bitwise)
  if (role === 'lanes') {
    if (!state.isUniform(scalarReads(step, false)) || maskSources(step).some((at) => state.mask(at) === 'mixed')) return false
    if (hasMask(step)) state.setMask(maskOffset(step), true)
    return true
  }
  if (loadsScalars(step.operation)) {
    if (!isPlainLoad(step) || !state.isUniform(loadReads(step))) return false
    state.setUniform(loadWrites(step))
    return true
  }
  if (name === GETPC) {
    if (step.dst + 4 >= EXEC) return false
    state.setUniform([step.dst, step.dst + 4])
    return true
  }
  if (RELATIVE.test(name)) return step.flags === 0 && state.isUniform([M0, ...scalarReads(step, false)])
  if (isLdsRead(step)) return state.isUniform([M0])
  return loadsLanes(step.operation) && (step.flags & ~FLAG_GLC) === 0 && isLaneLoad(step) && state.isUniform(resourceReads(step))
}

function followScalar(step: Step, state: Holdings, bitwise: Set<Step>): boolean {
  const { reads, writes } = scalarUses(step)
  if (writes.has(EXEC) || writes.has(EXEC + 4)) return false
  if (!BITWISE.test(step.operation.name) || bitwiseReads(step).every((at) => state.mask(at) === 'uniform')) {
    if (!state.isUniform(reads)) return false
    state.setUniform(writes)
    return true
  }
  if (bitwiseReads(step).some((at) => state.mask(at) === 'mixed') || (reads.has(SCC) && !state.isUniform([SCC]))) return false
  bitwise.add(step)
  state.setMask(step.dst, false)
  if (writes.has(SCC)) state.setSccOf(step.dst)
  return true
}

/** What an instruction has to do with masks. */
interface MaskUse {
  readonly step: Step
  /** The pair that a lane operation makes a mask of. */
  readonly made: number | undefined
  /** Pairs that are masks no more. */
  readonly ended: readonly number[]
  readonly readAsBits: readonly number[]
  readonly readAsLanes: readonly number[]
}

/** Goes backwards through the blocks for the masks that somebody reads. */
function liveMasks({ blocks }: Loop, roleOf: (step: Step) => Role, flow: Flow): Pick<GraphNest, 'live' | 'wanted'> {
  const live = new Map<number, Set<number>>([...blocks.keys()].map((pc) => [pc, new Set()]))
  const wanted = new Map<Step, 'lanes' | 'bits'>()
  const readAt = (to: number): readonly number[] => {
    if (!blocks.has(to)) return flow.behind.masks
    // The ordinary code may go on between two iterations.
    return [...live.get(to)!, ...(flow.between.get(to)?.masks ?? [])]
  }
  const order = [...blocks.values()].toReversed().map((block) => ({ block, uses: maskUses(block, flow.bitwise, roleOf) }))
  for (let changed = true; changed; ) {
    changed = false
    for (const { block, uses } of order) {
      const masks = masksRead(uses, new Set(successors(block).flatMap(readAt)), wanted)
      changed ||= masks.size > live.get(block.pc)!.size
      live.set(block.pc, masks)
    }
  }
  return { live, wanted }
}

/** A block's uses of masks, the last one first. */
function maskUses({ steps }: Block, bitwise: ReadonlySet<Step>, roleOf: (step: Step) => Role): MaskUse[] {
  const uses: MaskUse[] = []
  for (const step of steps) {
    const role = roleOf(step)
    if (role === 'lanes') {
      const made = hasMask(step) ? maskOffset(step) : undefined
      const readAsLanes = maskSources(step)
      if (made !== undefined || readAsLanes.length > 0) uses.push({ step, made, ended: [], readAsBits: [], readAsLanes })
    } else if (role === 'scalar') {
      const ended = [...scalarUses(step).writes].flatMap((at) => [at, at - 4])
      uses.push({ step, made: undefined, ended, readAsBits: bitwise.has(step) ? bitwiseReads(step) : [], readAsLanes: [] })
    }
  }
  return uses.reverse()
}

/** Masks that are read from a block's start on. @param bits those that are read behind the block; they end as the result */
function masksRead(uses: readonly MaskUse[], bits: Set<number>, wanted: Map<Step, 'lanes' | 'bits'>): Set<number> {
  const lanes = new Set<number>()
  for (const { step, made, ended, readAsBits, readAsLanes } of uses) {
    if (made !== undefined) {
      if (bits.delete(made)) wanted.set(step, 'bits')
      else if (lanes.has(made)) wanted.set(step, 'lanes')
      lanes.delete(made)
    }
    for (const pair of ended) {
      bits.delete(pair)
      lanes.delete(pair)
    }
    for (const at of readAsBits) bits.add(at)
    for (const at of readAsLanes) lanes.add(at)
  }
  for (const at of lanes) bits.add(at)
  return bits
}

/** The last row that instructions name: VGPRs that the wave has. */
function lastRowOf(steps: readonly Step[], roleOf: (step: Step) => Role): number {
  let last = 0
  for (const step of steps) {
    const { name, shape } = step.operation
    shape.sources.forEach((type, slot) => {
      if (step.mods.kinds[slot] === KIND_VECTOR) last = Math.max(last, step.sources[slot]! + (bitsOf(type) === 64 ? ROW_BYTES : 0))
    })
    if (RELATIVE.test(name)) last = Math.max(last, step.dst)
    else if (roleOf(step) === 'lanes') for (const at of rowsWritten(step, 'lanes')) last = Math.max(last, at)
  }
  return last
}

/** Rows that an instruction writes or may write. */
function writtenRows(step: Step, role: Role, lastRow: number): number[] {
  const { name } = step.operation
  if (!RELATIVE.test(name)) return rowsWritten(step, role)
  return name === 'v_movreld_b32' ? relativeRows(step.dst, lastRow) : [step.dst]
}

/** The rows that may be meant where M0 is added to a row. */
export const relativeRows = (first: number, lastRow: number): number[] =>
  Array.from({ length: Math.min(RELATIVE_ROWS, (lastRow - first) / ROW_BYTES + 1) }, (_, i) => first + i * ROW_BYTES)
