/**
 * Reads of LDS that are part of a run of lanes (lanes.ts), or of a loop that runs group by group (nest.ts): each chunk reads on its own,
 * for nothing there writes LDS. Whether a run's reads are all inside is asked before it, so that nothing in it can fault; a loop is given
 * up where one is not.
 */

import { EXEC_LO, scalarOffset, WAVE_LDS, WAVE_LDS_BYTES } from '../../plan/layout.ts'
import type { Step } from '../code/graph.ts'
import type { Role } from '../code/roles.ts'
import { Code, I32, I64, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { rowsWritten } from './accesses.ts'
import type { Chunk } from './chunk.ts'
import { crossLaneUses } from './crosslane.ts'
import { gatherDwords, gatherSmall } from './gather.ts'
import { globalAccess } from './global.ts'
import { CHUNK_BYTES, type FunctionLocals, pushLanes, ROW_BYTES } from './lane-values.ts'
import { isLdsRead, isLdsWrite, ldsShape, partsOf, reachOf } from './lds-plan.ts'
import { M0, overlaps, pair, scalarUses } from './scalars.ts'

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
    if (role === 'scalar') {
      const { writes } = scalarUses(step)
      if (writes.has(M0) || overlaps(writes, EXEC_PAIR)) break
    } else if (role === 'call') {
      const moved = crossLaneUses(step)?.writes
      const isRead = isLdsRead(step)
      if (moved === undefined ? !isRead && !isLdsWrite(step) && !globalAccess(step) : moved.has(M0)) break
      for (const at of moved ?? []) written.add(at)
      if (moved !== undefined) continue
      const [address] = step.sources
      if (isRead && !written.has(address)) {
        covered.add(step)
        reach.set(address, Math.max(reach.get(address) ?? 0, reachOf(step)))
      }
    }
    for (const row of rowsWritten(step, role)) written.add(row)
  }
  return { steps: covered, reach }
}

/** Pushes whether an active lane may reach beyond what is there and what M0 lets it see. */
export function pushOutside(code: Code, { reach }: CoveredReads, locals: FunctionLocals, wave: number): void {
  const [end, exec, chunk] = [locals.local(I32), locals.local(I64), locals.local(I32)]
  const most = new Map([...reach.keys()].map((row) => [row, locals.local(V128)]))
  pushEnd(code, wave, () => void code.get(wave).memory(OP.i32Load, M0))
  code.set(end)
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

/** Pushes how much of LDS an instruction may see. @param pushM0 pushes M0 */
export function pushEnd(code: Code, wave: number, pushM0: () => void): void {
  code.get(wave).memory(OP.i32Load, WAVE_LDS_BYTES)
  pushM0()
  code.get(wave).memory(OP.i32Load, WAVE_LDS_BYTES)
  pushM0()
  code.op(OP.i32LtU, OP.select)
}

/** Where the four lanes of a chunk read. */
interface Place {
  /** Host addresses, and that of the first lane. */
  readonly lanes: number
  readonly first: number
  /** ADJACENT, EQUAL, or neither. */
  readonly order: number
  /** It was found before the loop. */
  readonly isConstant: boolean
}
const ADJACENT = 1
/** All lanes at one place. */
const EQUAL = 2

/** What a loop knows whose reads are not known to be inside. */
export interface ReadingLoop {
  /** Whether the loop leaves a row as it is. */
  isConstant(row: number): boolean
  pushM0(code: Code): void
  readonly changesM0: boolean
}

/** The reads of a run, or of a loop. */
export class LdsReads {
  readonly #host: number
  /** By what a chunk holds of a row of addresses. */
  readonly #places = new Map<unknown, Place>()
  /** Written before the loop of a group: where chunks read, and whether that is outside, as far as it stays the same. */
  readonly once = new Code()
  #end: number | undefined

  /** @param keepActive appends what sets lanes of a local to zero that are not active in a chunk */
  constructor(
    private readonly locals: FunctionLocals,
    private readonly wave: number,
    private readonly keepActive: (code: Code, lanes: number, chunk: number) => void,
    private readonly loop?: ReadingLoop,
  ) {
    this.#host = locals.fresh(V128)
  }

  /** Appends what stands before the loop. */
  begin(code: Code): void {
    code.get(this.wave).memory(OP.i32Load, WAVE_LDS).simd(SIMD.i32x4Splat).set(this.#host)
  }
  /** Another block begins, or another version of it: it is not known where chunks read, but for what stays the same. */
  forget(): void {
    for (const [addresses, { isConstant }] of this.#places) if (!isConstant) this.#places.delete(addresses)
  }

  /**
   * Appends a read of one chunk of the turn.
   * @param fail in a loop the label, so far away, where control goes if not all of it is inside
   */
  read(code: Code, step: Step, chunk: Chunk, index: number, fail?: number): void {
    const { locals } = this
    const place = this.#place(code, step.sources[0], chunk, index)
    if (fail !== undefined) this.#test(code, step, place, fail)
    const parts = partsOf(step)
    const results = parts.map(() => locals.local(V128))
    const { small } = ldsShape(step.operation)!
    const each = (load: (offset: number, result: number) => void) => parts.forEach((offset, i) => void load(offset, results[i]!))
    if (small) gatherSmall(code, small, place.lanes, parts[0]!, results[0]!)
    else {
      code.get(place.order).i32(ADJACENT).op(OP.i32Eq).block(OP.if)
      each((offset, result) => code.get(place.first).simdMemory(SIMD.load, offset).set(result))
      code.op(OP.else).get(place.order).block(OP.if)
      each((offset, result) => code.get(place.first).simdMemory(SIMD.load32Splat, offset).set(result))
      code.op(OP.else)
      each((offset, result) => gatherDwords(code, place.lanes, place.first, offset, result))
      code.end().end()
    }
    results.forEach((local, i) => {
      chunk.put(step.dst + i * ROW_BYTES, local)
    })
    locals.reset()
  }

  /** Addresses that stay what they are are looked at once. */
  #place(code: Code, row: number, chunk: Chunk, index: number): Place {
    const { locals } = this
    const addresses = chunk.bits(code, row)
    const known = this.#places.get(addresses)
    if (known !== undefined) return known
    const isConstant = this.loop?.isConstant(row) === true
    const local = (type: number) => (isConstant ? locals.fresh(type) : locals.local(type))
    const place = { lanes: local(V128), first: local(I32), order: local(I32), isConstant }
    this.#places.set(addresses, place)
    const to = isConstant ? this.once : code
    chunk.pushRow(to, row)
    to.set(place.lanes)
    // Lanes that are switched off read at the start of LDS, and ignore it.
    this.keepActive(to, place.lanes, index)
    this.#look(to, place)
    return place
  }

  #look(code: Code, place: Place): void {
    const steps = this.locals.temporary(V128)
    code.get(place.lanes).get(this.#host).simd(SIMD.i32x4Add).tee(place.lanes).simd(SIMD.i32x4ExtractLane).op(0).set(place.first)
    code.get(place.lanes).get(place.first).simd(SIMD.i32x4Splat).simd(SIMD.i32x4Sub).tee(steps)
    code.v128(0, 4, 8, 12).simd(SIMD.i32x4Eq).simd(SIMD.i32x4AllTrue)
    code.i32(EQUAL).i32(0).get(steps).simd(SIMD.anyTrue).op(OP.i32Eqz, OP.select, OP.i32Or).set(place.order)
  }

  /** Gives up where a read is outside: that is known before the loop where nothing of it changes. */
  #test(code: Code, step: Step, place: Place, fail: number): void {
    const isKnown = place.isConstant && !this.loop!.changesM0
    const to = isKnown ? this.once : code
    this.#pushOutside(to, place, reachOf(step))
    if (isKnown) {
      const outside = this.locals.fresh(I32)
      to.set(outside)
      code.get(outside)
    }
    code.op(OP.brIf).u32(fail)
  }

  /** Pushes whether a lane reads outside of what there is to see. */
  #pushOutside(code: Code, { lanes }: Place, reach: number): void {
    const end = this.#endIn(code)
    code.get(end).i32(reach).op(OP.i32LtU)
    code.get(lanes).get(this.#host).simd(SIMD.i32x4Sub).get(end).i32(reach).op(OP.i32Sub).simd(SIMD.i32x4Splat)
    code.simd(SIMD.i32x4GtU).simd(SIMD.anyTrue).op(OP.i32Or)
  }

  /** The local that holds how much there is to see. */
  #endIn(code: Code): number {
    const { pushM0, changesM0 } = this.loop!
    if (this.#end !== undefined) return this.#end
    const end = changesM0 ? this.locals.temporary(I32) : this.locals.fresh(I32)
    const to = changesM0 ? code : this.once
    pushEnd(to, this.wave, () => pushM0(to))
    to.set(end)
    if (!changesM0) this.#end = end
    return end
  }
}
