/**
 * Reads of LDS that are part of a run of lanes (lanes.ts). Whether all of them are inside is asked before the run, so that nothing in it
 * can fault; then each chunk reads on its own. Nothing in a run writes LDS.
 */
import { dwordsOf } from '../isa/row.ts'
import { EXEC_LO, scalarOffset, WAVE_LDS, WAVE_LDS_BYTES } from '../plan/layout.ts'
import { crossLaneUses } from './crosslane.ts'
import { factOf } from './fact.ts'
import type { Step } from './graph.ts'
import { CHUNK_BYTES, type Chunk, type FunctionLocals, pushLanes, ROW_BYTES } from './lanes.ts'
import { rowsWritten, SMALL_LOADS, type SmallLoad } from './nest-plan.ts'
import type { Role } from './roles.ts'
import { M0, overlaps, pair, scalarUses } from './scalars.ts'
import { type Code, I32, I64, OP, SIMD, V128 } from './wasm.ts'

/** What a read does: where it reads from its address on, and what of it is one number of a lane. */
interface ReadShape {
  readonly bytes: number
  /** Bytes that one offset counts, of reads at two addresses. */
  readonly unit: number | undefined
  readonly small: SmallLoad | undefined
}

const SMALL_NAMES: Readonly<Record<string, string>> = { u8: 'ubyte', i8: 'sbyte', u16: 'ushort', i16: 'sshort' }

const shapeOf = factOf(({ name, shape: { results } }): ReadShape | undefined => {
  const [, two, far, type] = /^ds_read(2?)(st64)?_(b32|b64|b96|b128|[ui]8|[ui]16)$/.exec(name) ?? []
  if (type === undefined) return undefined
  const small = SMALL_LOADS[SMALL_NAMES[type] ?? '']
  const bytes = small?.bytes ?? (4 * dwordsOf(results[0]!)) / (two ? 2 : 1)
  return { bytes, unit: two ? bytes * (far ? 64 : 1) : undefined, small }
})

/** Whether an instruction reads LDS, not GDS. */
export const isLdsRead = (step: Step): boolean => shapeOf(step.operation) !== undefined && step.imm >>> 16 === 0

/** Byte offsets from the address at which a read's elements begin. */
function offsetsOf({ operation, imm }: Step): readonly number[] {
  const { unit } = shapeOf(operation)!
  return unit === undefined ? [imm & 0xffff] : [(imm & 0xff) * unit, ((imm >>> 8) & 0xff) * unit]
}
/** The first byte behind what a read may touch, counted from its address. */
const reachOf = (step: Step): number => Math.max(...offsetsOf(step)) + shapeOf(step.operation)!.bytes
/** Offset of each dword (or what becomes one) from the address, in the order of the rows that take them. */
const partsOf = (step: Step): number[] =>
  offsetsOf(step).flatMap((offset) => Array.from({ length: Math.ceil(shapeOf(step.operation)!.bytes / 4) }, (_, i) => offset + 4 * i))
export const ldsRowsWritten = (step: Step): number[] => partsOf(step).map((_, i) => step.dst + i * ROW_BYTES)

/** Reads that one test covers: none of what it looks at changes until the last of them. */
export interface CoveredReads {
  readonly steps: ReadonlySet<Step>
  /** What they reach, by the row of their addresses. */
  readonly reach: ReadonlyMap<number, number>
}

const EXEC_PAIR = new Set(pair(EXEC_LO))

/** The reads that a test at one of them covers. */
export function coverReads(steps: readonly Step[], from: number, roleOf: (step: Step) => Role): CoveredReads {
  const covered = new Set<Step>()
  const reach = new Map<number, number>()
  const written = new Set<number>()
  for (const step of steps.slice(from)) {
    const role = roleOf(step)
    if (role === 'lanes') for (const row of rowsWritten(step, role)) written.add(row)
    else if (role === 'scalar') {
      const { writes } = scalarUses(step)
      if (writes.has(M0) || overlaps(writes, EXEC_PAIR)) break
    } else if (role === 'call') {
      const moved = crossLaneUses(step)?.writes
      if (moved === undefined ? !isLdsRead(step) : moved.has(M0)) break
      for (const at of moved ?? []) written.add(at)
      if (moved !== undefined) continue
      const [address] = step.sources
      if (!written.has(address)) {
        covered.add(step)
        reach.set(address, Math.max(reach.get(address) ?? 0, reachOf(step)))
      }
      for (const row of ldsRowsWritten(step)) written.add(row)
    }
  }
  return { steps: covered, reach }
}

/** Pushes whether an active lane may reach beyond what is there and what M0 lets it see. */
export function pushOutside(code: Code, { reach }: CoveredReads, locals: FunctionLocals, wave: number): void {
  const [end, exec, chunk] = [locals.local(I32), locals.local(I64), locals.local(I32)]
  const most = new Map([...reach.keys()].map((row) => [row, locals.local(V128)]))
  code.get(wave).memory(OP.i32Load, WAVE_LDS_BYTES).tee(end).get(wave).memory(OP.i32Load, M0).get(end)
  code.get(wave).memory(OP.i32Load, M0).op(OP.i32LtU, OP.select).set(end)
  code.get(wave).memory(OP.i64Load, scalarOffset(EXEC_LO)).tee(exec).i64(-1n).op(OP.i64Eq).block(OP.if)
  for (const [row, local] of most) {
    for (let at = 0; at < ROW_BYTES; at += CHUNK_BYTES) {
      code.get(wave).simdMemory(SIMD.load, row + at)
      if (at > 0) code.simd(SIMD.i32x4MaxU)
    }
    code.set(local)
  }
  code.op(OP.else)
  for (const local of most.values()) code.v128(0).set(local)
  code.get(wave).set(chunk)
  code.block(OP.loop)
  const active = locals.local(V128)
  pushLanes(code.get(exec).op(OP.i32WrapI64)).set(active)
  for (const [row, local] of most)
    code.get(chunk).simdMemory(SIMD.load, row).get(active).simd(SIMD.and).get(local).simd(SIMD.i32x4MaxU).set(local)
  code.get(chunk).i32(CHUNK_BYTES).op(OP.i32Add).set(chunk)
  code.get(exec).i64(4n).op(OP.i64ShrU).tee(exec).i64(0n).op(OP.i64Ne, OP.brIf).u32(0).end().end()
  code
    .get(end)
    .i32(Math.max(...reach.values()))
    .op(OP.i32LtU)
  code.v128(0)
  for (const [row, local] of most)
    code.get(local).get(end).i32(reach.get(row)!).op(OP.i32Sub).simd(SIMD.i32x4Splat).simd(SIMD.i32x4GtU).simd(SIMD.or)
  code.simd(SIMD.anyTrue).op(OP.i32Or)
}

/** Where the four lanes of a chunk read. */
interface Place {
  /** Host addresses, and that of the first lane. */
  readonly lanes: number
  readonly first: number
  /** ADJACENT, EQUAL, or neither. */
  readonly order: number
}
const ADJACENT = 1
/** All lanes at one place. */
const EQUAL = 2

/** The reads of one run. */
export class LdsReads {
  readonly #host: number
  readonly #places = new Map<string, Place>()

  /**
   * @param active local of the bits of the turn's active lanes
   * @param all those bits where all are active
   */
  constructor(
    private readonly locals: FunctionLocals,
    private readonly wave: number,
    private readonly active: number,
    private readonly all: number,
  ) {
    this.#host = locals.local(V128)
  }

  /** Appends what stands before the run's loop. */
  begin(code: Code): void {
    code.get(this.wave).memory(OP.i32Load, WAVE_LDS).simd(SIMD.i32x4Splat).set(this.#host)
  }

  /** Appends a read of one chunk of the turn. */
  read(code: Code, step: Step, chunk: Chunk, index: number): void {
    const { locals } = this
    const place = this.#place(code, step.sources[0], chunk, index)
    const parts = partsOf(step)
    const results = parts.map(() => locals.local(V128))
    const { small } = shapeOf(step.operation)!
    const each = (load: (offset: number, result: number) => void) => parts.forEach((offset, i) => void load(offset, results[i]!))
    if (small) this.#gatherSmall(code, small, place, parts[0]!, results[0]!)
    else {
      code.get(place.order).i32(ADJACENT).op(OP.i32Eq).block(OP.if)
      each((offset, result) => code.get(place.first).simdMemory(SIMD.load, offset).set(result))
      code.op(OP.else).get(place.order).block(OP.if)
      each((offset, result) => code.get(place.first).simdMemory(SIMD.load32Splat, offset).set(result))
      code.op(OP.else)
      each((offset, result) => this.#gather(code, place, offset, result))
      code.end().end()
    }
    results.forEach((local, i) => {
      chunk.load(step, step.dst + i * ROW_BYTES, local)
    })
    locals.reset()
  }

  /** Addresses are looked at once: no row of addresses changes before its last read. */
  #place(code: Code, row: number, chunk: Chunk, index: number): Place {
    const key = `${row} ${index}`
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const { locals, active } = this
    const place = { lanes: locals.local(V128), first: locals.local(I32), order: locals.local(I32) }
    this.#places.set(key, place)
    chunk.pushRow(code, row)
    code.set(place.lanes)
    // Lanes that are switched off read at the start of LDS, and ignore it.
    code.get(active).i32(this.all).op(OP.i32Ne).block(OP.if).get(place.lanes).get(active)
    if (index > 0) code.i32(4 * index).op(OP.i32ShrU)
    pushLanes(code).simd(SIMD.and).set(place.lanes).end()
    const steps = locals.temporary(V128)
    code.get(place.lanes).get(this.#host).simd(SIMD.i32x4Add).tee(place.lanes).simd(SIMD.i32x4ExtractLane).op(0).set(place.first)
    code.get(place.lanes).get(place.first).simd(SIMD.i32x4Splat).simd(SIMD.i32x4Sub).tee(steps)
    code.v128(0, 4, 8, 12).simd(SIMD.i32x4Eq).simd(SIMD.i32x4AllTrue)
    code.i32(EQUAL).i32(0).get(steps).simd(SIMD.anyTrue).op(OP.i32Eqz, OP.select, OP.i32Or).set(place.order)
    return place
  }

  #gather(code: Code, { lanes, first }: Place, offset: number, result: number): void {
    code.get(first).simdMemory(SIMD.load32Zero, offset).set(result)
    for (const lane of [1, 2, 3])
      code.get(lanes).simd(SIMD.i32x4ExtractLane).op(lane).get(result).simdMemory(SIMD.load32Lane, offset).op(lane).set(result)
  }
  #gatherSmall(code: Code, { one }: SmallLoad, { lanes }: Place, offset: number, result: number): void {
    for (const lane of [0, 1, 2, 3]) {
      code.get(lanes).simd(SIMD.i32x4ExtractLane).op(lane).memory(one, offset)
      if (lane === 0) code.simd(SIMD.i32x4Splat)
      else code.simd(SIMD.i32x4ReplaceLane).op(lane)
    }
    code.set(result)
  }
}
