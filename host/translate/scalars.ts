/** Which scalars an instruction reads and writes: what decides whether it may change places with a run of lanes. */

import { dwordsOf, type OperandType } from '../isa/row.ts'
import { EXEC_LO, VCC_LO } from '../plan/layout.ts'
import { scalarOffset } from '../plan/plan.ts'
import { KIND_SCALAR, KIND_SPECIAL } from '../plan/record.ts'
import type { Step } from './graph.ts'

/** SCC among the scalars, which are numbered by their offset in the wave block. */
export const SCC = -1

export interface Uses {
  readonly reads: ReadonlySet<number>
  readonly writes: ReadonlySet<number>
}

/** Scalar operations that go by SCC. */
const READS_SCC = /^s_(addc|subb|cselect|cmov)/
/** Scalar operations that need more than their operands, or do more than to write their result. */
const APART = /^s_(getpc|movrel|getreg|bitset|wqm|quadmask|cbranch|set_gpr_idx|rfe|setpc|swappc|setreg|setvskip)/
const SAVES_EXEC = /_saveexec_b64$/

/** Whether a scalar instruction is all operands, result and SCC. */
export const isPlainScalar = ({ operation }: Step): boolean => /^sop[12ck]$/.test(operation.table) && !APART.test(operation.name)

const dwords = (at: number, type: OperandType): number[] =>
  Array.from({ length: type === 'mask' || type === 'vcc' ? 2 : dwordsOf(type) }, (_, i) => at + 4 * i)

/** The scalars among an instruction's sources. */
export function scalarReads(step: Step): Set<number> {
  const { sources, text } = step.operation.shape
  const width: OperandType = step.operation.name.endsWith('64') ? 'b64' : 'b32'
  const reads = new Set<number>()
  step.mods.kinds.forEach((kind, slot) => {
    const type = sources[slot] ?? (text === 'custom' ? width : undefined)
    if (type === undefined) return
    if (kind === KIND_SCALAR) for (const at of dwords(step.sources[slot]!, type)) reads.add(at)
    if (kind === KIND_SPECIAL) for (const at of [SCC, ...pair(VCC_LO), ...pair(EXEC_LO)]) reads.add(at)
  })
  if (sources.includes('vcc')) for (const at of pair(VCC_LO)) reads.add(at)
  return reads
}

export const pair = (encoding: number): number[] => [scalarOffset(encoding), scalarOffset(encoding + 1)]

/** What a plain scalar instruction reads and writes; SCC counts as written by all. */
export function scalarUses(step: Step): Uses {
  const { name, shape } = step.operation
  const reads = scalarReads(step)
  const writes = new Set<number>([SCC])
  if (READS_SCC.test(name)) reads.add(SCC)
  const result = shape.results[0] ?? (shape.text === 'custom' && step.dst !== 0 ? (name.endsWith('64') ? 'b64' : 'b32') : undefined)
  if (result && step.dst !== 0) for (const at of dwords(step.dst, result)) writes.add(at)
  if (SAVES_EXEC.test(name)) {
    for (const at of pair(EXEC_LO)) {
      reads.add(at)
      writes.add(at)
    }
  }
  // A conditional move leaves its destination as it was.
  if (/^s_cmov/.test(name)) for (const at of writes) reads.add(at)
  return { reads, writes }
}

export const overlaps = (a: ReadonlySet<number>, b: ReadonlySet<number>): boolean => {
  for (const x of a) if (b.has(x)) return true
  return false
}
