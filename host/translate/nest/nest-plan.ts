/** Finds loops that can run group by group (nest.ts). */

import { scalarOffset, VCC_LO } from '../../plan/layout.ts'
import { FLAG_GLC, KIND_SCALAR } from '../../plan/record.ts'
import { isLaneLoad, isPlainLoad, loadReads, loadsLanes, loadWrites } from '../block/accesses.ts'
import { resourceReads } from '../block/buffer.ts'
import { hasMask, maskOffset } from '../block/lane-values.ts'
import { isLdsRead } from '../block/lds-plan.ts'
import { EXEC, M0, overlaps, SCC, scalarReads, scalarUses } from '../block/scalars.ts'
import { wideConstant } from '../code/constant.ts'
import { factOf } from '../code/fact.ts'
import type { Block, Step } from '../code/graph.ts'
import type { Role } from '../code/roles.ts'

/** Steps of a loop at most: its body is written twice. */
const STEP_LIMIT = 128
/** Bits of masks and scalars whose values are all tried out: 2^12 iterations take a few milliseconds. */
const TRIAL_BITS = 12

/** 64-bit scalar operations whose result's bits come from the same bits of their sources. */
export const BITWISE = /^s_(mov|not|cselect|((and|or|xor|nand|nor|xnor|andn2|orn2)(_saveexec)?))_b64$/
/** Behind these, scalar loads see what other workgroups have written: each group would, in an iteration of its own. */
export const SEES_OTHERS = /^s_dcache_inv/
const SCALAR_LOADS = /^s_load_dword(x2|x4|x8|x16)?$/
export const loadsScalars = factOf(({ name }) => SCALAR_LOADS.test(name))

/** Computes a scalar operation of the core on given values. */
export type Evaluate = (name: string, args: readonly (bigint | number)[]) => bigint

/** A loop that can run so. */
export interface Nest {
  readonly block: Block
  readonly roleOf: (step: Step) => Role
  /** Scalar pairs that are lane masks, EXEC among them, and what becomes of a group's bits while its part of EXEC is zero. */
  readonly sliced: ReadonlyMap<number, 'zero' | 'keep'>
  /** EXEC changes, so that groups end at different iterations. */
  readonly divides: boolean
  /** Mask pairs that are needed as bits inside the loop. */
  readonly asBits: ReadonlySet<number>
  /** The sliced pair whose not being zero SCC tells at the end, if it does. */
  readonly sccOf: number | undefined
}

const pairSet = (at: number): ReadonlySet<number> => new Set([at, at + 4])

/** The pairs that a bitwise operation reads; its constants are no pairs. */
export function bitwiseReads(step: Step): number[] {
  const { sources } = step.operation.shape
  const pairs = sources.flatMap((_, slot) => (step.mods.kinds[slot] === KIND_SCALAR ? [step.sources[slot]!] : []))
  return step.operation.name.endsWith('saveexec_b64') ? [...pairs, EXEC] : pairs
}
export const bitwiseWrites = (step: Step): number[] => (step.operation.name.endsWith('saveexec_b64') ? [step.dst, EXEC] : [step.dst])

/** Pairs that are lane masks: results of compares and carries, EXEC, and what bitwise operations make of them. */
function slicedPairs(steps: readonly Step[], roleOf: (step: Step) => Role): Set<number> {
  const pairs = new Set([EXEC])
  for (const step of steps) if (roleOf(step) === 'lanes' && hasMask(step)) pairs.add(maskOffset(step))
  for (let before = -1; before !== pairs.size; ) {
    before = pairs.size
    for (const step of steps) {
      if (roleOf(step) !== 'scalar' || !BITWISE.test(step.operation.name)) continue
      if ([...bitwiseReads(step), ...bitwiseWrites(step)].some((at) => pairs.has(at))) for (const at of bitwiseWrites(step)) pairs.add(at)
    }
  }
  return pairs
}

export const isSliced = (step: Step, pairs: ReadonlyMap<number, unknown> | ReadonlySet<number>): boolean =>
  BITWISE.test(step.operation.name) && bitwiseWrites(step).some((at) => pairs.has(at))

/** Scalars that a vector instruction's mask sources are. */
export function maskSources(step: Step): number[] {
  return step.operation.shape.sources.flatMap((type, slot) => {
    if (type === 'vcc') return [scalarOffset(VCC_LO)]
    return type === 'mask' && step.mods.kinds[slot] === KIND_SCALAR ? [step.sources[slot]!] : []
  })
}

/**
 * Whether a block is such a loop.
 * @param evaluate tells what becomes of masks in a group without active lanes
 */
export function planNest(block: Block, roleOf: (step: Step) => Role, evaluate: Evaluate): Nest | undefined {
  const { steps, end } = block
  if (end.kind !== 'branch' || end.taken !== block.pc || steps.length > STEP_LIMIT) return undefined
  const pairs = slicedPairs(steps, roleOf)
  const bits = new Set([...pairs].flatMap((at) => [at, at + 4]))
  if (bits.size !== 2 * pairs.size) return undefined
  // A pair is read whole, as a mask, or it is none.
  const whole = (at: number) => pairs.has(at) || !overlaps(pairSet(at), bits)
  const asBits = new Set<number>()
  const made = new Set<number>()
  let divides = false
  let scc: number | 'uniform' = 'uniform'
  const last = steps.findLast((s) => roleOf(s) === 'scalar' && scalarUses(s).writes.has(SCC))
  if (last !== undefined && isSliced(last, pairs)) scc = bitwiseWrites(last).at(-1)!
  const sccAtEnd = scc
  for (const step of steps) {
    const role = roleOf(step)
    const { name } = step.operation
    if (role === 'lanes') {
      if (divides || overlaps(scalarReads(step, false), bits) || !maskSources(step).every(whole)) return undefined
      for (const at of maskSources(step)) if (pairs.has(at) && !made.has(at)) asBits.add(at)
      if (hasMask(step)) {
        made.add(maskOffset(step))
        if (scc === maskOffset(step)) scc = -1
      }
    } else if (role === 'scalar') {
      const { reads, writes } = scalarUses(step)
      if (reads.has(SCC) && scc !== 'uniform') return undefined
      if (isSliced(step, pairs)) {
        if (!bitwiseReads(step).every(whole)) return undefined
        for (const at of bitwiseReads(step)) asBits.add(at)
        for (const at of bitwiseWrites(step)) {
          asBits.add(at)
          made.delete(at)
        }
        divides ||= writes.has(EXEC)
        if (scc !== 'uniform' && writes.has(scc)) scc = -1
        if (writes.has(SCC)) scc = bitwiseWrites(step).at(-1)!
      } else {
        if (overlaps(reads, bits) || overlaps(writes, bits)) return undefined
        if (writes.has(SCC)) scc = 'uniform'
      }
    } else if (role === 'call') {
      if (isLdsRead(step)) {
        if (divides || bits.has(M0)) return undefined
      } else if (loadsLanes(step.operation)) {
        if (divides || step.flags & ~FLAG_GLC || !isLaneLoad(step) || overlaps(resourceReads(step), bits)) return undefined
      } else if (!loadsScalars(step.operation) || overlaps(loadReads(step), bits) || overlaps(loadWrites(step), bits) || !isPlainLoad(step))
        return undefined
    } else if (SEES_OTHERS.test(name)) return undefined
  }
  if (scc !== sccAtEnd) return undefined
  if (!isLoopCondition(end.condition, divides, scc === 'uniform', pairs)) return undefined
  const sliced = idleMasks(steps, roleOf, pairs, evaluate)
  if (sliced === undefined || (divides && sliced.get(EXEC) !== 'zero')) return undefined
  return { block, roleOf, sliced, divides, asBits, sccOf: scc === 'uniform' ? undefined : scc }
}

/** Whether all groups go on alike, or each until it has no active lane. */
function isLoopCondition(condition: string, divides: boolean, sccIsUniform: boolean, pairs: ReadonlySet<number>): boolean {
  if (condition.startsWith('scc')) return sccIsUniform
  if (condition.startsWith('vcc')) return !pairs.has(scalarOffset(VCC_LO))
  return condition === 'execnz' && divides
}

/**
 * What an iteration does to the masks of a group without active lanes: sets them to zero, or keeps them. It is tried out with all
 * values that one bit of each mask, and of each scalar that goes in, can have.
 * @returns undefined where neither is so
 */
function idleMasks(
  steps: readonly Step[],
  roleOf: (step: Step) => Role,
  pairs: ReadonlySet<number>,
  evaluate: Evaluate,
): Map<number, 'zero' | 'keep'> | undefined {
  const sliced = steps.filter((step) => roleOf(step) === 'scalar' && isSliced(step, pairs))
  const others = [...pairs].filter((at) => at !== EXEC)
  const unknown = new Map(sliced.map((step) => [step, unknownSources(step, pairs)] as const))
  const unknowns = [...unknown.values()].reduce((sum, count) => sum + count, 0)
  if (others.length + unknowns > TRIAL_BITS) return undefined
  const fates = new Map<number, Set<'zero' | 'keep'>>([...pairs].map((at) => [at, new Set(['zero', 'keep'] as const)]))
  for (let trial = 0; trial < 1 << (others.length + unknowns); trial++) {
    const bit = (n: number) => BigInt((trial >>> n) & 1)
    const start = new Map<number, bigint>([[EXEC, 0n], ...others.map((at, n) => [at, bit(n)] as const)])
    const state = new Map(start)
    let next = others.length
    for (const step of steps) {
      if (roleOf(step) === 'lanes' && hasMask(step)) state.set(maskOffset(step), 0n)
      if (!sliced.includes(step)) continue
      idleStep(
        step,
        state,
        Array.from({ length: unknown.get(step)! }, () => bit(next++)),
        evaluate,
      )
    }
    for (const [at, value] of state) {
      if (value !== 0n) fates.get(at)!.delete('zero')
      if (value !== start.get(at)) fates.get(at)!.delete('keep')
    }
  }
  const result = new Map<number, 'zero' | 'keep'>()
  for (const [at, fate] of fates) {
    // Nothing writes EXEC where it keeps it.
    const first = at === EXEC && fate.has('zero') ? 'zero' : [...fate][0]
    if (first === undefined) return undefined
    result.set(at, fate.has('keep') && at !== EXEC ? 'keep' : first)
  }
  return result
}

/** Whether a source's bit is known: it is that of a mask, or of a constant whose bits are all alike. */
function isKnown(step: Step, slot: 0 | 1, pairs: ReadonlySet<number> | ReadonlyMap<number, unknown>): boolean {
  const kind = step.mods.kinds[slot]!
  if (kind === KIND_SCALAR) return pairs.has(step.sources[slot])
  const constant = BigInt.asIntN(64, wideConstant(kind, step.sources[slot]))
  return constant === 0n || constant === -1n
}
const isUnary = (name: string): boolean => /^s_(mov|not)_|saveexec/.test(name)
const isChoice = (name: string): boolean => name === 's_cselect_b64'

function unknownSources(step: Step, pairs: ReadonlySet<number>): number {
  const { name } = step.operation
  const slots = isUnary(name) ? ([0] as const) : ([0, 1] as const)
  return slots.filter((slot) => !isKnown(step, slot, pairs)).length + (isChoice(name) ? 1 : 0)
}

/** One bit of a sliced operation; `unknown` are the bits that come from outside. */
function idleStep(step: Step, state: Map<number, bigint>, unknown: bigint[], evaluate: Evaluate): void {
  const { name } = step.operation
  const source = (slot: 0 | 1): bigint => {
    if (!isKnown(step, slot, state)) return unknown.pop()!
    return step.mods.kinds[slot] === KIND_SCALAR
      ? state.get(step.sources[slot])!
      : wideConstant(step.mods.kinds[slot]!, step.sources[slot]) & 1n
  }
  const a = source(0)
  if (name.endsWith('saveexec_b64')) {
    const exec = state.get(EXEC)!
    state.set(step.dst, exec)
    state.set(EXEC, evaluate(name, [a, exec]) & 1n)
  } else if (isUnary(name)) state.set(step.dst, evaluate(name, [a]) & 1n)
  else if (isChoice(name)) {
    const b = source(1)
    state.set(step.dst, unknown.pop() === 1n ? a : b)
  } else state.set(step.dst, evaluate(name, [a, source(1)]) & 1n)
}
