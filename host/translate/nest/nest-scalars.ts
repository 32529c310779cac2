/** Scalars of a loop that runs group by group, as far as they are the same for all groups: in locals, as what the loop needs of memory for them. */

import { PROGRAM_BASE, REGION_BASE, REGION_HOST, REGION_SIZE, WAVE_PROGRAM } from '../../plan/layout.ts'
import { KIND_SCALAR } from '../../plan/record.ts'
import { dwordsLoaded } from '../block/accesses.ts'
import { findRegion } from '../block/known-region.ts'
import type { Captured, FunctionLocals } from '../block/lane-values.ts'
import type { ScalarFile } from '../block/scalars.ts'
import { wideConstant } from '../code/constant.ts'
import type { Step } from '../code/graph.ts'
import { type Code, I32, I64, OP } from '../wasm/wasm.ts'

interface Context {
  readonly locals: FunctionLocals
  /** Local of the wave's address. */
  readonly wave: number
}

/** What is known of the region that a scalar load hit last. */
interface KnownRegion {
  readonly base: number
  /** Offset of the last access that is inside. */
  readonly last: number
  readonly host: number
}

export class UniformScalars {
  readonly #locals = new Map<number, number>()
  readonly written = new Set<number>()
  readonly #regions = new Map<string, KnownRegion>()
  readonly file: ScalarFile

  /** @param before is run before the loop */
  constructor(
    private readonly context: Context,
    private readonly before: Code,
  ) {
    this.file = {
      load: (code, at, wide) => {
        if (!wide) return void code.get(this.local(at))
        code
          .get(this.local(at + 4))
          .op(OP.i64ExtendI32U)
          .i64(32n)
          .op(OP.i64Shl)
        code.get(this.local(at)).op(OP.i64ExtendI32U, OP.i64Or)
      },
      store: (code, at, wide, local) => {
        this.written.add(at)
        if (!wide) return void code.get(local).set(this.local(at))
        this.written.add(at + 4)
        code.get(local).op(OP.i32WrapI64).set(this.local(at))
        code
          .get(local)
          .i64(32n)
          .op(OP.i64ShrU, OP.i32WrapI64)
          .set(this.local(at + 4))
      },
    }
  }

  /** The local of a scalar. */
  local(at: number): number {
    const known = this.#locals.get(at)
    if (known !== undefined) return known
    const local = this.context.locals.fresh(I32)
    this.#locals.set(at, local)
    return local
  }

  /** Appends that all of them are read from the wave. */
  fetch(code: Code): void {
    for (const [at, local] of this.#locals) code.get(this.context.wave).memory(OP.i32Load, at).set(local)
  }
  /** The same of those that the loop writes. */
  restore(code: Code): void {
    for (const at of this.written) code.get(this.context.wave).memory(OP.i32Load, at).set(this.local(at))
  }

  /** A mask that is the same for all groups: the pair at an offset, or without one a constant. */
  mask(code: Code, at: number | undefined, constant: bigint): Captured {
    const bits = this.context.locals.local(I64)
    if (at === undefined) code.i64(constant)
    else this.file.load(code, at, true)
    code.set(bits)
    return { kind: 'mask', bits }
  }

  /** Appends `s_mov_b32` or `s_mov_b64`: there are many of them. */
  move(code: Code, step: Step): void {
    const { dst } = step
    const [source] = step.sources
    const [kind] = step.mods.kinds
    const constant = kind === KIND_SCALAR ? undefined : wideConstant(kind!, source)
    const offsets = step.operation.name === 's_mov_b64' ? [0, 4] : [0]
    for (const offset of offsets) {
      if (constant === undefined) code.get(this.local(source + offset))
      else code.i32(Number(BigInt.asIntN(32, constant >> BigInt(8 * offset))))
    }
    for (const offset of offsets.toReversed()) {
      code.set(this.local(dst + offset))
      this.written.add(dst + offset)
    }
  }

  /** Appends a scalar load; where it is not in one region, control goes to the label that is `depth` away. */
  readMemory(code: Code, step: Step, depth: number): void {
    const { locals } = this.context
    const dwords = dwordsLoaded(step)
    const known = this.#region(`${step.sources[0]} ${dwords}`)
    const { base, last, host } = known
    const [address, offset, end] = [locals.local(I64), locals.local(I64), locals.local(I64)]
    const [region, at] = [locals.local(I32), locals.local(I32)]
    this.file.load(code, step.sources[0], true)
    code.i64(-4n).op(OP.i64And)
    if (step.mods.kinds[1] === KIND_SCALAR) code.get(this.local(step.sources[1])).op(OP.i64ExtendI32U).i64(-4n).op(OP.i64And)
    else code.i64(BigInt(step.imm) & -4n)
    code.op(OP.i64Add).tee(address).get(base).op(OP.i64Sub).tee(offset).get(last).op(OP.i64GtU).block(OP.if)
    findRegion(code, this.context, step, address, region, depth + 1)
    code.get(address).get(region).memory(OP.i64Load, REGION_BASE).op(OP.i64Sub).tee(offset)
    code
      .get(region)
      .memory(OP.i32Load, REGION_SIZE)
      .op(OP.i64ExtendI32U)
      .i64(BigInt(4 * dwords))
      .op(OP.i64Sub)
      .tee(end)
    // A region that is too small has a last offset below zero.
    code.op(OP.i64GtS, OP.brIf).u32(depth + 1)
    code.get(region).memory(OP.i64Load, REGION_BASE).set(base).get(end).set(last)
    code.get(region).memory(OP.i32Load, REGION_HOST).set(host).end()
    code.get(offset).op(OP.i32WrapI64).get(host).op(OP.i32Add).set(at)
    for (let i = 0; i < dwords; i++) {
      code
        .get(at)
        .memory(OP.i32Load, 4 * i)
        .set(this.local(step.dst + 4 * i))
      this.written.add(step.dst + 4 * i)
    }
  }

  /** Appends `s_getpc_b64`: the guest's address of what follows. */
  getPc(code: Code, step: Step): void {
    const { locals, wave } = this.context
    const address = locals.temporary(I64)
    code
      .get(wave)
      .memory(OP.i32Load, WAVE_PROGRAM)
      .memory(OP.i64Load, PROGRAM_BASE)
      .i64(BigInt(step.pc + 4 * step.mods.dwords))
      .op(OP.i64Add)
      .set(address)
    this.file.store(code, step.dst, true, address)
  }

  #region(key: string): KnownRegion {
    const known = this.#regions.get(key)
    if (known !== undefined) return known
    const { locals } = this.context
    const region = { base: locals.fresh(I64), last: locals.fresh(I64), host: locals.fresh(I32) }
    // Nothing is known yet: no offset is in a region that ends before its base.
    this.before.i64(-1n).set(region.base).i64(0n).set(region.last)
    this.#regions.set(key, region)
    return region
  }
}
