/** What reads and writes of LDS touch. */
import { factOf } from '../code/fact.ts'
import type { Step } from '../code/graph.ts'
import { ldsAccessOf } from '../code/roles.ts'
import { SMALL_LOADS, type SmallLoad } from './gather.ts'

/** How much is read or written at each of an instruction's addresses. */
export interface LdsShape {
  readonly bytes: number
  /** Bytes that one offset counts, where there are two addresses. */
  readonly unit: number | undefined
  readonly small: SmallLoad | undefined
}

const SMALL_NAMES: Readonly<Record<string, string>> = { u8: 'ubyte', i8: 'sbyte', u16: 'ushort', i16: 'sshort' }

export const ldsShape = factOf((operation): LdsShape | undefined => {
  const access = ldsAccessOf(operation)
  if (access === undefined) return undefined
  const { type, isTwo, isFar } = access
  const bytes = Number(type.slice(1)) / 8
  return { bytes, unit: isTwo ? bytes * (isFar ? 64 : 1) : undefined, small: SMALL_LOADS[SMALL_NAMES[type] ?? ''] }
})

/** Whether an instruction reads LDS, not GDS. */
export const isLdsRead = (step: Step): boolean => ldsAccessOf(step.operation)?.way === 'read' && step.imm >>> 16 === 0
/** The same of what writes. */
export const isLdsWrite = (step: Step): boolean => ldsAccessOf(step.operation)?.way === 'write' && step.imm >>> 16 === 0

/** Byte offsets from the address at which elements begin. */
export function offsetsOf({ operation, imm }: Step): readonly number[] {
  const { unit } = ldsShape(operation)!
  return unit === undefined ? [imm & 0xffff] : [(imm & 0xff) * unit, ((imm >>> 8) & 0xff) * unit]
}
/** The first byte behind what an access may touch, counted from its address. */
export const reachOf = (step: Step): number => Math.max(...offsetsOf(step)) + ldsShape(step.operation)!.bytes
/** Of a read the offset of each dword (or what becomes one) from the address, in the order of the rows that take them. */
export const partsOf = (step: Step): number[] =>
  offsetsOf(step).flatMap((offset) => Array.from({ length: Math.ceil(ldsShape(step.operation)!.bytes / 4) }, (_, i) => offset + 4 * i))
