/** Loads of global memory in loops that run group by group: of lanes that are all in one region, by the region that was hit last. */
import { REGION_BASE, REGION_HOST, REGION_SIZE } from '../plan/layout.ts'
import { KIND_SCALAR } from '../plan/record.ts'
import type { Chunk } from './chunk.ts'
import { wideConstant } from './constant.ts'
import { gatherDwords, gatherSmall } from './gather.ts'
import type { Step } from './graph.ts'
import { vectorConstant } from './kernels.ts'
import { type FunctionLocals, ROW_BYTES } from './lane-values.ts'
import { LdsReads } from './lds.ts'
import { BASE_HIGH, BUFFER_OFFSET, bytesLoaded, dwordsLoaded, isBuffer, smallLoad, unalignedBits } from './nest-plan.ts'
import type { GroupRows, NestContext } from './nest-rows.ts'
import { findRegion, type UniformScalars } from './nest-scalars.ts'
import { M0 } from './scalars.ts'
import { type Code, I32, I64, OP, SIMD, V128 } from './wasm.ts'

/** What is known of the region that a load hit last, in all lanes. */
interface RegionLocals {
  readonly low: number
  readonly high: number
  /** Offset of the first access that is not inside any more. */
  readonly end: number
  readonly delta: number
  readonly pointer: number
  readonly address: number
}

/** Byte offsets of four dwords in a row. */
const ADJACENT = vectorConstant(Uint8Array.from([0, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 12, 0, 0, 0]))

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
    const { locals } = this.context
    const low = locals.fresh(V128)
    const high = locals.fresh(V128)
    const end = locals.fresh(V128)
    const delta = locals.fresh(V128)
    // Nothing is known yet: no access is inside.
    this.before.v128(0).tee(low).tee(high).tee(end).set(delta)
    const region: RegionLocals = { low, high, end, delta, pointer: locals.fresh(I32), address: locals.fresh(I64) }
    const base = isBuffer(step) ? this.#bufferBase(code, step) : undefined
    chunks.forEach((chunk, i) => {
      this.#gather(code, step, chunk, i, region, base, fail)
    })
  }

  /** What a buffer load adds to its addresses, in all lanes: the resource's base and the offsets. */
  #bufferBase(code: Code, step: Step): readonly [low: number, high: number] {
    const { locals } = this.context
    const base = locals.local(I64)
    this.uniform.file.load(code, step.sources[1], true)
    code.i64((BigInt(BASE_HIGH) << 32n) | 0xffff_ffffn).op(OP.i64And)
    if (step.mods.kinds[2] === KIND_SCALAR) code.get(this.uniform.local(step.sources[2])).op(OP.i64ExtendI32U)
    else code.i64(BigInt.asUintN(32, wideConstant(step.mods.kinds[2]!, step.sources[2])))
    code
      .op(OP.i64Add)
      .i64(BigInt(step.imm & BUFFER_OFFSET))
      .op(OP.i64Add)
      .set(base)
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
    const bits = unalignedBits(step)
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
    region: RegionLocals,
    base: readonly [number, number] | undefined,
    fail: number,
  ): void {
    const { locals } = this.context
    const [dwords, bytes, small] = [dwordsLoaded(step), bytesLoaded(step), smallLoad(step)]
    const [offsets, outside, at] = [locals.local(V128), locals.local(V128), locals.local(I32)]
    const rows = base && this.#bufferRows(code, step, chunk, index, base, fail)
    const row = (dword: number) => (rows ? code.get(rows[dword]!) : chunk.pushBits(code, step.sources[0] + dword * ROW_BYTES))
    // Pushes whether an active lane is elsewhere.
    const test = () => {
      row(0)
      code.get(region.low).simd(SIMD.i32x4Sub).tee(offsets).get(region.end).simd(SIMD.i32x4GeU)
      row(1)
      code.get(region.high).simd(SIMD.xor).simd(SIMD.or).get(this.active[index]!).simd(SIMD.and).tee(outside).simd(SIMD.anyTrue)
    }
    test()
    code.block(OP.if)
    const lane = locals.local(V128)
    // The first lane that is elsewhere.
    code
      .get(outside)
      .v128(0)
      .simd(SIMD.i32x4Ne)
      .simd(SIMD.i32x4Bitmask)
      .op(OP.i32Ctz)
      .i32(0x04040404)
      .op(OP.i32Mul)
      .i32(0x03020100)
      .op(OP.i32Add)
    code.simd(SIMD.i32x4Splat).set(lane)
    const dword = (n: number) => {
      row(n)
      return code.get(lane).simd(SIMD.swizzle).simd(SIMD.i32x4ExtractLane).op(0)
    }
    dword(1).op(OP.i64ExtendI32U).i64(32n).op(OP.i64Shl)
    dword(0).op(OP.i64ExtendI32U, OP.i64Or).set(region.address)
    findRegion(code, this.context, step, region.address, region.pointer, fail + 1)
    // base + size - 1 must not go beyond 4 GiB of the same high dword, and the region must be large enough.
    code.get(region.pointer).memory(OP.i32Load, REGION_BASE).get(region.pointer).memory(OP.i32Load, REGION_SIZE).op(OP.i32Add)
    code
      .i32(-1)
      .op(OP.i32Add)
      .get(region.pointer)
      .memory(OP.i32Load, REGION_BASE)
      .op(OP.i32LtU, OP.brIf)
      .u32(fail + 1)
    code
      .get(region.pointer)
      .memory(OP.i32Load, REGION_SIZE)
      .i32(bytes)
      .op(OP.i32LtU, OP.brIf)
      .u32(fail + 1)
    code.get(region.pointer).memory(OP.i32Load, REGION_BASE).simd(SIMD.i32x4Splat).set(region.low)
    code
      .get(region.pointer)
      .memory(OP.i32Load, REGION_BASE + 4)
      .simd(SIMD.i32x4Splat)
      .set(region.high)
    code
      .get(region.pointer)
      .memory(OP.i32Load, REGION_SIZE)
      .i32(bytes - 1)
      .op(OP.i32Sub)
      .simd(SIMD.i32x4Splat)
      .set(region.end)
    code.get(region.pointer).memory(OP.i32Load, REGION_HOST).simd(SIMD.i32x4Splat).set(region.delta)
    test()
    code
      .op(OP.brIf)
      .u32(fail + 1)
      .end()
    // Lanes that are switched off load from the region's start, which is theirs to ignore.
    code.get(offsets).get(this.active[index]!).simd(SIMD.and).get(region.delta).simd(SIMD.i32x4Add).tee(offsets)
    code.simd(SIMD.i32x4ExtractLane).op(0).set(at)
    const steps = locals.local(V128)
    code.get(offsets).get(at).simd(SIMD.i32x4Splat).simd(SIMD.i32x4Sub).set(steps)
    const results = Array.from({ length: dwords }, () => locals.local(V128))
    if (small) gatherSmall(code, small, offsets, 0, results[0]!)
    else if (dwords === 1) {
      const [result] = results as [number]
      code.get(steps).get(locals.pooled!(ADJACENT)!).simd(SIMD.i32x4Eq).simd(SIMD.i32x4AllTrue).block(OP.if)
      code.get(at).simdMemory(SIMD.load, 0).set(result).op(OP.else)
      code.get(steps).simd(SIMD.anyTrue).op(OP.i32Eqz).block(OP.if)
      code.get(at).simdMemory(SIMD.load32Splat, 0).set(result).op(OP.else)
      gatherDwords(code, offsets, at, 0, result)
      code.end().end()
    } else for (const [dword, result] of results.entries()) gatherDwords(code, offsets, at, 4 * dword, result)
    for (const [dword, result] of results.entries()) chunk.put(step.dst + dword * ROW_BYTES, result)
  }
}
