/** Loads of global memory in loops that run group by group: of lanes that are all in one region, by the region that was hit last. */
import { bytesLoaded, dwordsLoaded, smallLoad, unalignedBits } from '../block/accesses.ts'
import { isBuffer, pushOrigin } from '../block/buffer.ts'
import type { Chunk } from '../block/chunk.ts'
import { loadLanes } from '../block/gather.ts'
import { findRegion, firstOutside, KnownRegion } from '../block/known-region.ts'
import { type FunctionLocals, ROW_BYTES } from '../block/lane-values.ts'
import { LdsReads } from '../block/lds.ts'
import { M0 } from '../block/scalars.ts'
import type { Step } from '../code/graph.ts'
import { type Code, I32, I64, OP, SIMD, V128 } from '../wasm/wasm.ts'
import type { GroupRows, NestContext } from './nest-rows.ts'
import type { UniformScalars } from './nest-scalars.ts'

/** What reads LDS in such a loop. @param changing scalars that it writes */
export function readsOf(
  { locals, wave }: NestContext,
  { active }: GroupRows,
  uniform: UniformScalars,
  changing: ReadonlySet<number>,
  isConstant: (row: number) => boolean,
): LdsReads {
  const keepActive = (code: Code, lanes: number, chunk: number) => void code.get(lanes).get(active[chunk]!).simd(SIMD.and).set(lanes)
  const pushM0 = (code: Code) => void code.get(uniform.local(M0))
  return new LdsReads(locals, wave, keepActive, {
    isConstant,
    pushM0,
    get changesM0() {
      return changing.has(M0)
    },
  })
}

export class LaneLoads {
  /**
   * @param before is run before the loop
   * @param active local of each chunk that holds all-ones in active lanes
   */
  constructor(
    private readonly context: { readonly locals: FunctionLocals; readonly wave: number },
    private readonly uniform: UniformScalars,
    private readonly before: Code,
    private readonly active: readonly number[],
  ) {}

  /** Appends a load; where lanes are not in one region, control goes to the label that is `fail` away. */
  load(code: Code, step: Step, chunks: readonly Chunk[], fail: number): void {
    const region = new KnownRegion(this.context.locals, { step, bytes: bytesLoaded(step), writes: false })
    region.forget(this.before)
    const base = isBuffer(step) ? this.#bufferBase(code, step) : undefined
    chunks.forEach((chunk, i) => {
      this.#gather(code, step, chunk, i, region, base, fail)
    })
  }

  /** What a buffer load adds to its addresses, in all lanes: the resource's base and the offsets. */
  #bufferBase(code: Code, step: Step): readonly [low: number, high: number] {
    const { locals } = this.context
    const base = locals.local(I64)
    pushOrigin(code, step, this.uniform.file).set(base)
    return [0n, 32n].map((shift) => {
      const local = locals.local(V128)
      code.get(base).i64(shift).op(OP.i64ShrU, OP.i32WrapI64).simd(SIMD.i32x4Splat).set(local)
      return local
    }) as [number, number]
  }

  /** A buffer load's addresses; gives the iteration up where they are not aligned. */
  #bufferRows(
    code: Code,
    step: Step,
    chunk: Chunk,
    index: number,
    [low, high]: readonly [number, number],
    fail: number,
  ): readonly number[] {
    const rows = [this.context.locals.local(V128), this.context.locals.local(V128)] as const
    chunk.pushBits(code, step.sources[0])
    code.get(low).simd(SIMD.i32x4Add).set(rows[0])
    chunk.pushBits(code, step.sources[0] + ROW_BYTES)
    code.get(high).simd(SIMD.i32x4Add)
    code.get(rows[0]).get(low).simd(SIMD.i32x4LtU).simd(SIMD.i32x4Sub).set(rows[1])
    const bits = unalignedBits(bytesLoaded(step))
    if (bits > 0)
      code.get(rows[0]).v128(bits).simd(SIMD.and).get(this.active[index]!).simd(SIMD.and).simd(SIMD.anyTrue).op(OP.brIf).u32(fail)
    return rows
  }

  /** Loads of one chunk: addresses that are all in the region that was hit last, in one piece where they follow each other. */
  #gather(
    code: Code,
    step: Step,
    chunk: Chunk,
    index: number,
    region: KnownRegion,
    base: readonly [number, number] | undefined,
    fail: number,
  ): void {
    const rows = base && this.#bufferRows(code, step, chunk, index, base, fail)
    const row = (dword: 0 | 1) => void (rows ? code.get(rows[dword]!) : chunk.pushBits(code, step.sources[0] + dword * ROW_BYTES))
    const { locals } = this.context
    const [pointer, address] = [locals.local(I32), locals.local(I64)]
    const places = region.locate(code, row, this.active[index]!, (outside, test) => {
      firstOutside(code, row, outside, address, locals)
      findRegion(code, this.context, step, address, pointer, fail + 1)
      region.learn(code, pointer, fail + 1)
      test()
      code.op(OP.brIf).u32(fail + 1)
    })
    const results = loadLanes(code, dwordsLoaded(step), smallLoad(step), places, locals)
    for (const [dword, result] of results.entries()) chunk.put(step.dst + dword * ROW_BYTES, result)
  }
}
