/**
 * Loads and stores of global memory, FLAT ones and buffer ones, that are part of a run of lanes (lanes.ts). Each chunk tests its addresses as it comes to them, and loads;
 * stores follow when the run's loop is done, for a later chunk may still fail, and no load of the run may see them.
 */

import { FLAG_GLC, IMM_OFFEN, KIND_SPECIAL } from '../../plan/record.ts'
import type { Step } from '../code/graph.ts'
import { type GlobalWay, globalWay } from '../code/roles.ts'
import { type Code, I32, I64, OP } from '../wasm/wasm.ts'
import { bytesLoaded, bytesStored, dwordsLoaded, smallLoad } from './accesses.ts'
import { BUFFER_ADDRESS, isAddressed, isBuffer, pushOrigin } from './buffer.ts'
import { isByOffset } from './buffer-offsets.ts'
import type { Chunk } from './chunk.ts'
import { loadLanes } from './gather.ts'
import { findRegion, firstOutside, KnownRegion } from './known-region.ts'
import { type FunctionLocals, ROW_BYTES } from './lane-values.ts'
import type { Test } from './lanes.ts'
import { waveScalars } from './scalars.ts'
import { dataRows, type Element, rowsFrom, storeRows } from './scatter.ts'
import { SITE } from './sites.ts'

/** What an instruction does to global memory, if it can be part of a run. */
export const globalAccess = (step: Step): GlobalWay | undefined => {
  const isPart = isBuffer(step) ? step.mods.kinds[2] !== KIND_SPECIAL : step.imm === 0
  const way = isPart && (step.flags & ~FLAG_GLC) === 0 ? globalWay(step.operation) : undefined
  return way !== undefined && isBuffer(step) && !isAddressed(step) && !isByOffset(step) ? undefined : way
}
/** Whether it is one by offsets in a buffer. */
export const isOffsetAccess = (step: Step): boolean => isBuffer(step) && !isAddressed(step)

/** Whether lanes have offsets of their own there. */
export const isRowOffset = (step: Step): boolean => isOffsetAccess(step) && (step.imm & IMM_OFFEN) !== 0

const elementOf = (step: Step): Element => ({ data: isBuffer(step) ? step.dst : step.sources[1], bytes: bytesStored(step), offset: 0 })

/** Rows that such an access reads. */
export function globalReads(step: Step): number[] {
  const address = rowsFrom(step.sources[0], isOffsetAccess(step) ? (step.imm & IMM_OFFEN ? 1 : 0) : 2)
  return globalAccess(step) === 'store' ? [...address, ...dataRows(elementOf(step))] : address
}

/** The accesses of a run. */
export class GlobalAccesses {
  readonly #regions: KnownRegion[] = []
  /** Locals of what buffer accesses add to their addresses. */
  readonly #origins = new Map<Step, number>()
  /** Set when a chunk is not where its access was last: which access, the address of a lane; which of them it was before, and in which turn. */
  readonly #which: number
  readonly #address: number
  readonly #last: number
  readonly #pointer: number

  constructor(
    readonly locals: FunctionLocals,
    readonly wave: number,
  ) {
    this.#which = locals.fresh(I32)
    this.#last = locals.fresh(I32)
    this.#pointer = locals.fresh(I32)
    this.#address = locals.fresh(I64)
  }

  /** Appends what stands before the run, where the access's turn came: scalars may change behind it. */
  add(code: Code, step: Step): void {
    if (!isBuffer(step)) return
    const origin = this.locals.local(I64)
    pushOrigin(code, step, waveScalars(this.wave)).set(origin)
    this.#origins.set(step, origin)
  }

  /** Appends what stands before the loop, whose body is written: most accesses hit the region that they hit in the wave before. */
  begin(code: Code): void {
    const pointer = this.#pointer
    code.i32(-1).set(this.#last)
    for (const region of this.#regions) {
      code.op(OP.globalGet).u32(this.#site(region)).tee(pointer).block(OP.if)
      region.recall(code, pointer)
      code.op(OP.else)
      region.forget(code)
      code.end()
    }
  }

  /**
   * Appends an access of one chunk, the test only where it stores.
   * @param test where control goes if the active lanes are not where it was last
   */
  touch(code: Code, step: Step, chunk: Chunk, { active, miss }: Test): void {
    const { locals } = this
    const row = (dword: 0 | 1) => chunk.pushBits(code, step.sources[0] + dword * ROW_BYTES)
    const region = this.#region(step)
    const places = region.locate(code, row, active, (outside) => {
      firstOutside(code, row, outside, this.#address, locals)
      const { origin } = region.access
      if (origin !== undefined) code.get(this.#address).get(origin).op(OP.i64Add).i64(BUFFER_ADDRESS).op(OP.i64And).set(this.#address)
      code.i32(this.#regions.indexOf(region)).set(this.#which).op(OP.br)
      code.u32(miss + 1)
    })
    if (globalAccess(step) === 'load')
      loadLanes(code, dwordsLoaded(step), smallLoad(step), places, locals).forEach((local, i) => {
        chunk.put(step.dst + i * ROW_BYTES, local)
      })
    locals.reset()
  }

  /**
   * Appends what looks up where a missed access is; then the turn begins anew.
   * @param exec local of EXEC
   * @param shift local of the number of the turn's first lane
   * @param fail the label, so far away, where control goes if that cannot help
   */
  find(code: Code, exec: number, shift: number, fail: number): void {
    const { locals, wave } = this
    const [pointer, which] = [this.#pointer, this.#which]
    const now = locals.fresh(I32)
    // Lanes of one turn that are in two regions.
    code.get(which).i32(64).op(OP.i32Mul).get(shift).op(OP.i32Or).tee(now).get(this.#last).op(OP.i32Eq, OP.brIf).u32(fail)
    code.get(now).set(this.#last)
    findRegion(code, { locals, wave }, this.#regions[0]!.access.step, this.#address, pointer, fail)
    this.#regions.forEach((region, i) => {
      code.get(which).i32(i).op(OP.i32Eq).block(OP.if)
      // All lanes of a store must be in one region, for that is what is known when the loop is done.
      if (region.access.writes)
        code
          .get(exec)
          .i64(-1n)
          .get(shift)
          .op(OP.i64ExtendI32U, OP.i64Shl)
          .i64(-1n)
          .op(OP.i64Xor, OP.i64And)
          .i64(0n)
          .op(OP.i64Ne, OP.brIf)
          .u32(fail + 1)
      region.learn(code, pointer, fail + 1)
      code.get(pointer).op(OP.globalSet).u32(this.#site(region))
      code.end()
    })
  }

  /** The global that remembers where an access was. */
  #site({ access }: KnownRegion): number {
    return this.locals.globalImport(`${SITE}${access.step.pc}`)
  }

  #region(step: Step): KnownRegion {
    const known = this.#regions.find(({ access }) => access.step === step)
    if (known !== undefined) return known
    const writes = globalAccess(step) === 'store'
    const bytes = writes ? elementOf(step).bytes : bytesLoaded(step)
    const region = new KnownRegion(this.locals, { step, bytes, writes, origin: this.#origins.get(step) })
    this.#regions.push(region)
    return region
  }

  /** Appends a store: the run's loop is done, and all lanes are inside. */
  store(code: Code, step: Step): void {
    storeRows(code, [elementOf(step)], step.sources[0], this, () => this.#region(step).pushPlaces(code))
  }
}
