/**
 * Branches that are decided where control comes from. Compilers write `if (a) x; else y` as two branches with a flag in between:
 * `s_mov_b64 s[6:7], 0`, or -1; then `s_andn2_b64 vcc, exec, s[6:7]` and `s_cbranch_vccnz`. The block of the second one is put behind each
 * of those that lead to it, with the branch decided; then whatever both ways leave alike need not be joined.
 */
import { scalarOffset, VCC_LO } from '../../plan/layout.ts'
import { KIND_SCALAR } from '../../plan/record.ts'
import { hasMask, maskOffset } from '../block/lane-values.ts'
import { EXEC, scalarUses } from '../block/scalars.ts'
import { wideConstant } from '../code/constant.ts'
import { type Block, type BlockEnd, type Step, successors } from '../code/graph.ts'
import type { Role } from '../code/roles.ts'

/** Instructions of a block that is worth having several times, at most. */
const STEP_LIMIT = 4

/** Scalars that a load writes at most. */
const LOADED_DWORDS = 16

/** What is known of a scalar pair: all zeros, all ones, or EXEC, which is not zero. */
type Known = 'zeros' | 'ones' | 'exec'
type Pairs = Map<number, Known>

/**
 * Blocks of a loop that does not change EXEC, with decided branches behind those that decide them. New blocks have numbers below zero in
 * the place of their pc; blocks that nothing leads to any more are left in.
 */
export function threadBranches(blocks: ReadonlyMap<number, Block>, header: number, roleOf: (step: Step) => Role): Map<number, Block> {
  const result = new Map(blocks)
  for (const block of blocks.values()) {
    const isShort = (to: number) => to !== header && isDecidable(blocks.get(to))
    if (!successors(block).some(isShort)) continue
    const known: Pairs = new Map([[EXEC, 'exec']])
    for (const step of block.steps) learn(known, step, roleOf)
    const redirect = (to: number): number => {
      const next = blocks.get(to)
      const decided = isShort(to) ? decide(next!, known, roleOf) : undefined
      if (decided === undefined) return to
      const pc = -1 - result.size
      result.set(pc, { pc, steps: next!.steps, end: decided })
      return pc
    }
    const { end } = block
    if (end.kind === 'goto') result.set(block.pc, { ...block, end: { kind: 'goto', pc: redirect(end.pc) } })
    else if (end.kind === 'branch') result.set(block.pc, { ...block, end: { ...end, taken: redirect(end.taken), pc: redirect(end.pc) } })
  }
  return result
}

/** Whether a block may be one whose branch is decided by what comes before. */
const isDecidable = (block: Block | undefined): boolean =>
  block !== undefined && block.steps.length <= STEP_LIMIT && block.end.kind === 'branch' && block.end.condition.startsWith('vcc')

/** Where a decidable block goes on, if that is known. */
function decide({ steps, end }: Block, before: Pairs, roleOf: (step: Step) => Role): BlockEnd | undefined {
  const known = new Map(before)
  for (const step of steps) learn(known, step, roleOf)
  const vcc = known.get(scalarOffset(VCC_LO))
  if (vcc === undefined) return undefined
  if (end.kind !== 'branch') return undefined
  const isTaken = (vcc === 'zeros') === (end.condition === 'vccz')
  return { kind: 'goto', pc: isTaken ? end.taken : end.pc }
}

function learn(known: Pairs, step: Step, roleOf: (step: Step) => Role): void {
  const role = roleOf(step)
  const value = role === 'scalar' ? resultOf(step, known) : undefined
  for (const at of writes(step, role)) for (const pair of [at, at - 4]) known.delete(pair)
  if (value !== undefined) known.set(step.dst, value)
}

/** Scalars that an instruction writes; of loads any that they may write. */
function writes(step: Step, role: Role): Iterable<number> {
  if (role === 'scalar') return scalarUses(step).writes
  if (role === 'lanes') return hasMask(step) ? [maskOffset(step), maskOffset(step) + 4] : []
  return role === 'call' ? Array.from({ length: LOADED_DWORDS }, (_, i) => step.dst + 4 * i) : []
}

function resultOf({ operation, mods, sources }: Step, known: Pairs): Known | undefined {
  const source = (slot: 0 | 1): Known | undefined => {
    const kind = mods.kinds[slot]!
    if (kind === KIND_SCALAR) return known.get(sources[slot])
    const constant = BigInt.asIntN(64, wideConstant(kind, sources[slot]))
    return constant === 0n ? 'zeros' : constant === -1n ? 'ones' : undefined
  }
  if (operation.name === 's_mov_b64') return source(0)
  const isAnd = operation.name === 's_and_b64'
  if (!isAnd && operation.name !== 's_andn2_b64') return undefined
  const [a, b] = [source(0), isAnd ? source(1) : complement(source(1))]
  if (a === 'zeros' || b === 'zeros') return 'zeros'
  if (a === 'ones') return b
  return b === 'ones' || a === b ? a : undefined
}

const complement = (value: Known | undefined): Known | undefined => (value === 'zeros' ? 'ones' : value === 'ones' ? 'zeros' : undefined)
