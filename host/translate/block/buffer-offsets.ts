/**
 * Buffer accesses by offsets of 32 bits that are part of a run of lanes (lanes.ts): raw buffers, and scratch, where the dwords of 64 lanes are
 * side by side. What a resource reaches is found before the run. Accesses without a row of offsets are scratch's, and four lanes of a dword one vector.
 */

import { GENERATIONS } from '../../isa/targets.ts'
import {
  EXEC_LO,
  PROGRAM_GENERATION,
  REGION_BASE,
  REGION_FLAGS,
  REGION_HOST,
  REGION_SIZE,
  scalarOffset,
  WAVE_PROGRAM,
} from '../../plan/layout.ts'
import { IMM_OFFEN } from '../../plan/record.ts'
import type { Step } from '../code/graph.ts'
import { globalWay } from '../code/roles.ts'
import { type Code, I32, I64, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { bytesLoaded, bytesStored, dwordsLoaded, setFirstOutside, smallLoad, unalignedBits } from './accesses.ts'
import { BUFFER_OFFSET, pushBase, pushScalarOffset, resourceReads } from './buffer.ts'
import type { Chunk } from './chunk.ts'
import { loadLanes } from './gather.ts'
import { WRITABLE } from './known-region.ts'
import { CHUNK_BYTES, type FunctionLocals, ROW_BYTES } from './lane-values.ts'
import type { Test } from './lanes.ts'
import { overlaps, pushRecord, waveScalars } from './scalars.ts'
import { dataRows, type Element, eachActive, storeLane, storeRows } from './scatter.ts'
import { SITE } from './sites.ts'

/** Word 1 of a resource from bit 16 on, the stride and whether it is swizzled: scratch. It is 0 for a raw buffer. */
const SWIZZLED = 0x8000
/** Word 3: the lane's number is added; of scratch also elements of 4 bytes and 64 indices. */
const ADD_TID = 1 << 23
const SCRATCH = ADD_TID | (3 << 21) | (1 << 19)
const SCRATCH_FIELDS = 31 << 19
/** The data format, more bits of the stride on gfx8. */
const FORMAT = 15 << 15
const GFX8 = GENERATIONS.indexOf('gfx8')

const isOff = (step: Step): boolean => (step.imm & IMM_OFFEN) === 0
const offsetOf = (step: Step): number => step.imm & BUFFER_OFFSET
/** How far the first dword that a scratch access touches is behind that of offset 0; the bytes of a lane's dword are side by side. */
const dwordPlace = (step: Step): number => (offsetOf(step) >>> 2) * ROW_BYTES
const isLoad = (step: Step): boolean => globalWay(step.operation) === 'load'

const bytesOf = (step: Step): number => (isLoad(step) ? bytesLoaded(step) : bytesStored(step))
const isMultiple = (step: Step): boolean => bytesOf(step) > 4
const elementOf = (step: Step): Element => ({ data: step.dst, bytes: bytesStored(step), offset: 0 })

/** Whether a buffer instruction is such an access. Where dwords may be crossed, or gfx6 drops bits of an address, it is none. */
export const isByOffset = (step: Step): boolean =>
  (step.imm & ~(BUFFER_OFFSET | IMM_OFFEN)) === 0 && (offsetOf(step) & unalignedBits(bytesOf(step))) === 0

/** A resource and the scalar offset, as they are for some accesses of a run. */
interface Resource {
  readonly key: string
  readonly scalars: ReadonlySet<number>
  /** i32 locals: where offset 0 of lane 0 is on the host; the first offset that the instruction finds out of range; the first that is outside of the region, too. */
  readonly first: number
  readonly left: number
  readonly end: number
  /** i32 locals: whether it is scratch, or a raw buffer; its region. */
  readonly isScratch: number
  readonly isRaw: number
  readonly region: number
  /** v128 and i32 locals: `first` in all lanes, and from the wave's address on. */
  readonly firsts: number
  readonly apart: number
  /** The first offset that no access without a row of offsets reaches. */
  reach: number
  wantsScratch: boolean
  wantsRaw: boolean
  writes: boolean
}

/** Of an access with a row of offsets, in all lanes: the first offset that is not inside, and the first for which all of it is out of range. */
interface Limits {
  readonly end: number
  readonly out: number
}

/** The accesses of a run. */
export class OffsetAccesses {
  /** Resources whose scalars are still what they were, and those of accesses. */
  #open: Resource[] = []
  readonly #resources = new Map<Step, Resource>()
  readonly #limits = new Map<Step, Limits>()

  constructor(
    readonly locals: FunctionLocals,
    readonly wave: number,
  ) {}

  /** Scalars change. */
  forget(scalars: ReadonlySet<number>): void {
    this.#open = this.#open.filter((resource) => !overlaps(resource.scalars, scalars))
  }

  /** Appends what stands before the run, where the access's turn came: scalars may change behind it. */
  add(code: Code, step: Step): void {
    const key = keyOf(step)
    let resource = this.#open.find((known) => known.key === key)
    if (resource === undefined) {
      resource = this.#find(code, step, key)
      this.#open.push(resource)
    }
    this.#resources.set(step, resource)
    resource.writes ||= !isLoad(step)
    if (isOff(step)) {
      resource.wantsScratch = true
      resource.reach = Math.max(resource.reach, offsetOf(step) + bytesOf(step))
    } else if (isMultiple(step)) resource.wantsRaw = true
  }

  /** Whether a load does not see what an access before it stores. */
  areApart(store: Step, load: Step): boolean {
    const resource = this.#resources.get(store)
    if (resource === undefined || !isOff(store) || !isOff(load) || !this.#open.includes(resource) || resource.key !== keyOf(load))
      return false
    return offsetOf(load) + bytesOf(load) <= offsetOf(store) || offsetOf(store) + bytesOf(store) <= offsetOf(load)
  }

  /** Appends what finds out what a resource reaches: nothing where it is neither a raw buffer nor scratch, or in no region. */
  #find(code: Code, step: Step, key: string): Resource {
    const { locals, wave } = this
    const local = () => locals.local(I32)
    const [first, left, end, isScratch, isRaw, region] = [local(), local(), local(), local(), local(), local()]
    const [origin, distance] = [locals.local(I64), locals.local(I64)]
    const file = waveScalars(wave)
    const word = (n: number) => code.get(wave).memory(OP.i32Load, step.sources[1] + 4 * n)
    const site = locals.globalImport(`${SITE}Buffer${step.sources[1]}`)
    const measure = () => code.get(origin).get(region).memory(OP.i64Load, REGION_BASE).op(OP.i64Sub).set(distance)
    pushBase(code, step, file).set(origin)
    code.i32(0).set(end).i32(0).set(isScratch).i32(0).set(isRaw).i64(-1n).set(distance)
    code.op(OP.globalGet).u32(site).tee(region).block(OP.if)
    measure().end()
    code.get(distance).get(region).memory(OP.i32Load, REGION_SIZE).op(OP.i64ExtendI32U, OP.i64GeU).block(OP.if)
    pushRecord(code, step, locals)
    code.get(wave).get(origin).op(OP.call).u32(locals.functionImport('regionOf')).tee(region).op(OP.globalSet).u32(site)
    measure().end()
    word(2)
    pushScalarOffset(code, step, file).op(OP.i32Sub).i32(0)
    word(2)
    pushScalarOffset(code, step, file).op(OP.i32GeU, OP.select).set(left)
    code.block(OP.block).get(region).op(OP.i32Eqz, OP.brIf).u32(0)
    code.get(origin).i64(3n).op(OP.i64And).i64(0n).op(OP.i64Ne, OP.brIf).u32(0)
    word(1).i32(16).op(OP.i32ShrU).i32(SWIZZLED).op(OP.i32Eq)
    word(3)
      .i32(SCRATCH_FIELDS | FORMAT)
      .i32(SCRATCH_FIELDS)
    code.get(wave).memory(OP.i32Load, WAVE_PROGRAM).memory(OP.i32Load, PROGRAM_GENERATION).i32(GFX8).op(OP.i32GeU, OP.select)
    code.op(OP.i32And).i32(SCRATCH).op(OP.i32Eq, OP.i32And).set(isScratch)
    word(1).i32(16).op(OP.i32ShrU, OP.i32Eqz)
    word(3).i32(ADD_TID).op(OP.i32And, OP.i32Eqz, OP.i32And).set(isRaw)
    code.get(region).memory(OP.i32Load, REGION_HOST).get(distance).op(OP.i32WrapI64, OP.i32Add).set(first)
    code.get(region).memory(OP.i32Load, REGION_SIZE).get(distance).op(OP.i32WrapI64, OP.i32Sub).set(end)
    code.get(isScratch).block(OP.if)
    // Whole dwords of 64 lanes.
    code.get(end).i32(8).op(OP.i32ShrU).i32(2).op(OP.i32Shl).set(end).end()
    code.get(end).get(left).get(end).get(left).op(OP.i32LtU, OP.select).set(end).end()
    locals.reset()
    const [firsts, apart] = [locals.local(V128), local()]
    const wants = { reach: 0, wantsScratch: false, wantsRaw: false, writes: false }
    return { key, scalars: resourceReads(step), first, left, end, isScratch, isRaw, region, firsts, apart, ...wants }
  }

  /** Appends what stands before the loop, whose body is written. @param leave appends what leaves the run */
  begin(code: Code, leave: (code: Code) => void): void {
    for (const resource of new Set(this.#resources.values())) {
      const { first, end, isScratch, isRaw, region, firsts, apart, reach, wantsScratch, wantsRaw, writes } = resource
      code.get(end).i32(reach).op(OP.i32LtU)
      if (wantsScratch) code.get(isScratch).op(OP.i32Eqz, OP.i32Or)
      if (wantsRaw) code.get(isRaw).op(OP.i32Eqz, OP.i32Or)
      if (!wantsScratch && !wantsRaw) code.get(isScratch).get(isRaw).op(OP.i32Or, OP.i32Eqz, OP.i32Or)
      if (writes) code.get(region).memory(OP.i32Load, REGION_FLAGS).i32(WRITABLE).op(OP.i32And, OP.i32Eqz, OP.i32Or)
      code.block(OP.if)
      leave(code)
      code.end()
      code.get(first).simd(SIMD.i32x4Splat).set(firsts)
      code.get(first).get(this.wave).op(OP.i32Sub).set(apart)
    }
    for (const [step, limits] of this.#limits) {
      const { end, left } = this.#resources.get(step)!
      setFirstOutside(code, limits.end, end, offsetOf(step) + bytesOf(step))
      setFirstOutside(code, limits.out, left, offsetOf(step) + Math.min(bytesOf(step), 4))
    }
  }

  /** Appends an access of one chunk, the test only where it stores. */
  touch(code: Code, step: Step, chunk: Chunk, index: number, { active, leave }: Test): void {
    if (!isOff(step)) this.#touchRow(code, step, chunk, index, active, leave)
    else if (isLoad(step)) this.#loadScratch(code, step, chunk, index)
    this.locals.reset()
  }

  #touchRow(code: Code, step: Step, chunk: Chunk, index: number, active: number, leave: number): void {
    const { locals } = this
    const offsets = locals.local(V128)
    const [outside, odd] = [locals.temporary(V128), locals.temporary(V128)]
    const limits = this.#limits.get(step) ?? { end: locals.fresh(V128), out: locals.fresh(V128) }
    this.#limits.set(step, limits)
    chunk.pushBits(code, step.sources[0])
    code.tee(offsets).get(limits.end).simd(SIMD.i32x4GeU).tee(outside)
    const unaligned = unalignedBits(bytesOf(step))
    if (unaligned > 0) code.get(offsets).v128(unaligned).simd(SIMD.and).tee(odd).simd(SIMD.or)
    code.get(active).simd(SIMD.and).simd(SIMD.anyTrue).block(OP.if)
    // Wholly out of range is what loads give zeros for, and stores leave out.
    code.get(outside).get(offsets).get(limits.out).simd(SIMD.i32x4LtU).simd(SIMD.and)
    if (unaligned > 0) code.get(odd).simd(SIMD.or)
    code
      .get(active)
      .simd(SIMD.and)
      .simd(SIMD.anyTrue)
      .op(OP.brIf)
      .u32(leave + 1)
      .end()
    if (!isLoad(step)) return
    this.#relative(code, step, offsets, () => {
      chunk.pushBase(code)
      return CHUNK_BYTES * index
    })
    const inside = locals.local(V128)
    code.get(active).get(outside).simd(SIMD.andnot).set(inside)
    // Others load from the host's address 0: behind the resource's first place linear memory may end.
    code.get(offsets).get(this.#resources.get(step)!.firsts).simd(SIMD.i32x4Add).get(inside).simd(SIMD.and).set(offsets)
    const results = loadLanes(code, dwordsLoaded(step), smallLoad(step), offsets, locals)
    for (const [dword, result] of results.entries()) {
      code.get(result).get(inside).simd(SIMD.and).set(result)
      chunk.put(step.dst + dword * ROW_BYTES, result)
    }
  }

  /**
   * Appends what makes a local's offsets places from the resource's first one on.
   * @param pushBase pushes the address of the chunk in a row, less the row's offset; returns what is still to be added
   */
  #relative(code: Code, step: Step, offsets: number, pushBase: () => number): void {
    const offset = offsetOf(step)
    if (offset > 0) code.get(offsets).v128(offset).simd(SIMD.i32x4Add).set(offsets)
    if (isMultiple(step)) return
    code.get(this.#resources.get(step)!.isScratch).block(OP.if).get(offsets)
    if (bytesOf(step) === 4) code.i32(6).simd(SIMD.i32x4Shl)
    else code.v128(~3).simd(SIMD.and).i32(6).simd(SIMD.i32x4Shl).get(offsets).v128(3).simd(SIMD.and).simd(SIMD.or)
    const more = pushBase()
    code.get(this.wave).op(OP.i32Sub).simd(SIMD.i32x4Splat).simd(SIMD.i32x4Add)
    code
      .v128(more, more + 4, more + 8, more + 12)
      .simd(SIMD.i32x4Add)
      .set(offsets)
      .end()
  }

  #loadScratch(code: Code, step: Step, chunk: Chunk, index: number): void {
    const small = smallLoad(step)
    for (let dword = 0; dword < dwordsLoaded(step); dword++) {
      const result = this.locals.local(V128)
      chunk.pushBase(code)
      code.get(this.#resources.get(step)!.apart).op(OP.i32Add)
      code.simdMemory(SIMD.load, dwordPlace(step) + dword * ROW_BYTES + CHUNK_BYTES * index)
      if (small !== undefined) {
        // The part of the dword, extended.
        const width = 8 * small.bytes
        const left = 32 - width - 8 * (step.imm & 3)
        if (left > 0) code.i32(left).simd(SIMD.i32x4Shl)
        code.i32(32 - width).simd(step.operation.name.includes('load_s') ? SIMD.i32x4ShrS : SIMD.i32x4ShrU)
      }
      code.set(result)
      chunk.put(step.dst + dword * ROW_BYTES, result)
    }
  }

  /** Appends a store: the run's loop is done, and all lanes are inside. */
  store(code: Code, step: Step): void {
    if (isOff(step)) return this.#storeScratch(code, step)
    const [offsets, inside] = [this.locals.local(V128), this.locals.local(V128)]
    const pushPlaces = (base: number) => {
      code.tee(offsets).get(this.#limits.get(step)!.end).simd(SIMD.i32x4LtU).set(inside)
      this.#relative(code, step, offsets, () => {
        code.get(base)
        return 0
      })
      code.get(offsets).get(this.#resources.get(step)!.firsts).simd(SIMD.i32x4Add)
    }
    storeRows(code, [elementOf(step)], step.sources[0], this, pushPlaces, inside)
  }

  #storeScratch(code: Code, step: Step): void {
    const { locals, wave } = this
    const [exec, active] = [locals.local(I64), locals.local(I32)]
    const [base, place] = [locals.local(I32), locals.local(I32)]
    const element = elementOf(step)
    const rows = dataRows(element)
    const data = locals.local(V128)
    const { apart } = this.#resources.get(step)!
    const at = dwordPlace(step) + (offsetOf(step) & 3)
    code.get(wave).memory(OP.i64Load, scalarOffset(EXEC_LO)).set(exec).get(wave).set(base)
    code.block(OP.block).block(OP.loop).get(exec).op(OP.i64Eqz, OP.brIf).u32(1)
    code.get(base).get(apart).op(OP.i32Add).set(place)
    if (element.bytes >= 4) {
      // Sixteen lanes at once.
      code.get(exec).op(OP.i32WrapI64).i32(0xffff).op(OP.i32And).i32(0xffff).op(OP.i32Eq).block(OP.if)
      rows.forEach((row, dword) => {
        for (let o = 0; o < 4 * CHUNK_BYTES; o += CHUNK_BYTES)
          code
            .get(place)
            .get(base)
            .simdMemory(SIMD.load, row + o)
            .simdMemory(SIMD.store, at + dword * ROW_BYTES + o)
      })
      code.get(exec).i64(16n).op(OP.i64ShrU).set(exec)
      code
        .get(base)
        .i32(4 * CHUNK_BYTES)
        .op(OP.i32Add)
        .set(base)
        .op(OP.br)
        .u32(1)
        .end()
    }
    code.get(exec).op(OP.i32WrapI64).i32(15).op(OP.i32And).set(active)
    rows.forEach((row, dword) => {
      code.get(base).simdMemory(SIMD.load, row).set(data)
      const offset = at + dword * ROW_BYTES
      eachActive(code, active, (lane) => storeLane(() => code.get(place), lane, [data], Math.min(element.bytes, 4), offset + 4 * lane))
    })
    code.get(exec).i64(4n).op(OP.i64ShrU).set(exec)
    code.get(base).i32(CHUNK_BYTES).op(OP.i32Add).set(base).op(OP.br).u32(0).end().end()
    locals.reset()
  }
}

/** What tells resources and scalar offsets apart while no scalar changes. */
const keyOf = ({ sources, mods }: Step): string => `${sources[1]} ${mods.kinds[2]} ${sources[2]}`
