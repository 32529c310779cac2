/** What reads of LDS touch. */
import { dwordsOf } from '../isa/row.ts'
import { factOf } from './fact.ts'
import { SMALL_LOADS, type SmallLoad } from './gather.ts'
import type { Step } from './graph.ts'
import { ldsReadOf } from './roles.ts'

/** How much a read loads at each of its addresses. */
export interface ReadShape {
  readonly bytes: number
  /** Bytes that one offset counts, of reads at two addresses. */
  readonly unit: number | undefined
  readonly small: SmallLoad | undefined
}

const SMALL_NAMES: Readonly<Record<string, string>> = { u8: 'ubyte', i8: 'sbyte', u16: 'ushort', i16: 'sshort' }

export const ldsShape = factOf((operation): ReadShape | undefined => {
  const read = ldsReadOf(operation)
  if (read === undefined) return undefined
  const small = SMALL_LOADS[SMALL_NAMES[read.type] ?? '']
  const bytes = small?.bytes ?? (4 * dwordsOf(operation.shape.results[0]!)) / (read.isTwo ? 2 : 1)
  return { bytes, unit: read.isTwo ? bytes * (read.isFar ? 64 : 1) : undefined, small }
})

/** Whether an instruction reads LDS, not GDS. */
export const isLdsRead = (step: Step): boolean => ldsShape(step.operation) !== undefined && step.imm >>> 16 === 0

/** Byte offsets from the address at which a read's elements begin. */
function offsetsOf({ operation, imm }: Step): readonly number[] {
  const { unit } = ldsShape(operation)!
  return unit === undefined ? [imm & 0xffff] : [(imm & 0xff) * unit, ((imm >>> 8) & 0xff) * unit]
}
/** The first byte behind what a read may touch, counted from its address. */
export const reachOf = (step: Step): number => Math.max(...offsetsOf(step)) + ldsShape(step.operation)!.bytes
/** Offset of each dword (or what becomes one) from the address, in the order of the rows that take them. */
export const partsOf = (step: Step): number[] =>
  offsetsOf(step).flatMap((offset) => Array.from({ length: Math.ceil(ldsShape(step.operation)!.bytes / 4) }, (_, i) => offset + 4 * i))
