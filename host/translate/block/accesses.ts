/** Loads of lanes, from memory or LDS, and stores that translated code does itself: what they read, write and touch. */
import { dwordsOf } from '../../isa/row.ts'
import { KIND_NONE, KIND_SCALAR } from '../../plan/record.ts'
import { factOf } from '../code/fact.ts'
import type { Step } from '../code/graph.ts'
import type { Role } from '../code/roles.ts'
import { type Code, OP, SIMD } from '../wasm/wasm.ts'
import { isAddressed, isBuffer } from './buffer.ts'
import { SMALL_LOADS, type SmallLoad } from './gather.ts'
import { ROW_BYTES } from './lane-values.ts'
import { isLdsRead } from './lds-plan.ts'
import { EXEC } from './scalars.ts'

const LOADS = /^(flat|buffer)_load_(dword(x[234])?|[us](byte|short))$/
/** Loads of lanes that nests do themselves. */
export const loadsLanes = factOf(({ name }) => LOADS.test(name))
/** Loads of lanes, from memory or LDS, that translated code does itself. */
export const loads = (step: Step): boolean => loadsLanes(step.operation) || isLdsRead(step)

/** Rows that an instruction writes. */
export function rowsWritten(step: Step, role: Role): number[] {
  const rows = role === 'lanes' || loads(step) ? rowsOfValue(step.operation) : 0
  if (rows === 0) return []
  return rows === 1 ? [step.dst] : Array.from({ length: rows }, (_, i) => step.dst + i * ROW_BYTES)
}
const rowsOfValue = factOf(({ shape }) => {
  const type = shape.results.find((r) => r !== 'mask')
  return type === undefined ? 0 : dwordsOf(type)
})

/** Of buffer loads only those by a 64-bit address. */
export const isLaneLoad = (step: Step): boolean => (isBuffer(step) ? isAddressed(step) : step.imm === 0)

export const smallLoad = ({ operation }: Step): SmallLoad | undefined => SMALL_LOADS[operation.name.split('_').at(-1)!]
export const bytesLoaded = (step: Step): number => smallLoad(step)?.bytes ?? 4 * dwordsLoaded(step)
const SMALL_STORES: Readonly<Record<string, number>> = { byte: 1, short: 2 }
export const bytesStored = ({ operation }: Step): number =>
  SMALL_STORES[operation.name.split('_').at(-1)!] ?? 4 * dwordsOf(operation.shape.sources.at(-1)!)
/** Bits of a buffer access's address that gfx6 drops and gfx7 does not: accesses where they are not zero are for the ordinary code. */
export const unalignedBits = (bytes: number): number => Math.min(bytes, 4) - 1

export const dwordsLoaded = ({ operation }: Step): number => dwordsOf(operation.shape.results[0]!)
export const loadReads = (step: Step): Set<number> =>
  new Set([step.sources[0], step.sources[0] + 4, ...(step.mods.kinds[1] === KIND_SCALAR ? [step.sources[1]] : [])])
export const loadWrites = (step: Step): Set<number> => new Set(Array.from({ length: dwordsLoaded(step) }, (_, i) => step.dst + 4 * i))
/** The offset is a constant or an SGPR, EXEC is not written, and it is not meant to see what other workgroups write (glc). */
export const isPlainLoad = (step: Step): boolean =>
  [KIND_NONE, KIND_SCALAR].includes(step.mods.kinds[1]!) && step.dst + 4 * dwordsLoaded(step) <= EXEC && step.flags === 0

/**
 * Appends what sets a v128 local, in all lanes, to the first offset of an access that is not inside.
 * @param range i32 local of the bytes that there are
 * @param reach how far behind its offset an access goes
 */
export function setFirstOutside(code: Code, limit: number, range: number, reach: number): void {
  code
    .get(range)
    .i32(reach - 1)
    .op(OP.i32Sub)
    .i32(0)
    .get(range)
    .i32(reach)
    .op(OP.i32GeU, OP.select)
  code.simd(SIMD.i32x4Splat).set(limit)
}
