import { scalarOffset, VCC_LO } from '../../plan/layout.ts'
import { FLAG_APPROXIMATE } from '../../plan/record.ts'
import { loads, loadsLanes, loadWrites, rowsWritten } from '../block/accesses.ts'
import { Chunk } from '../block/chunk.ts'
import {
  type Captured,
  capture,
  hasMask,
  type LaneContext,
  type LaneStep,
  maskOffset,
  SHADOW_ROWS,
  SLOW,
  spreadValue,
  type Value,
  watchSmall,
} from '../block/lane-values.ts'
import type { LdsReads } from '../block/lds.ts'
import { isLdsRead } from '../block/lds-plan.ts'
import { countApproximate, EXEC, SCC, type ScalarFile, scalarUses, writeScalar } from '../block/scalars.ts'
import type { Step } from '../code/graph.ts'
import { loadPool, type VectorConstant } from '../wasm/kernels.ts'
import { Code, I32, I64, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { AffineLoop } from './affine.ts'
import { type AffinePlan, planAffine } from './affine-plan.ts'
import { LaneLoads, readsOf } from './nest-loads.ts'
import { bitwiseWrites, isSliced, loadsScalars, type Nest } from './nest-plan.ts'
import { FAIL, GroupRows, type NestContext } from './nest-rows.ts'
import { UniformScalars } from './nest-scalars.ts'

/** Chunks a group, measured: with two there is something to do while one waits, with four more registers are spilled than that is worth. */
const CHUNKS = 2
const SLOW_CHUNKS = 4
/** Rows that four chunks can have in registers. */
const FEW_ROWS = 4

export class NestWriter {
  readonly #chunks: readonly Chunk[]
  readonly #rows: GroupRows
  readonly #shift: number
  readonly #lanes: number
  /** A bit for each lane of a group. */
  readonly #all: bigint
  readonly #uniform: UniformScalars
  readonly #bits = new Map<number, number>()
  readonly #own = new Set<number>()
  #body = new Code()
  /** Written before the groups: what does not change. */
  readonly #before = new Code()
  readonly #spread = new Map<number, Value>()
  readonly #changing: ReadonlySet<number>
  readonly #slicedFile: ScalarFile
  /** Pushes whether the loop goes on. */
  readonly #condition = new Code()
  readonly #memory: LaneLoads
  readonly #lds: LdsReads
  readonly #loads: boolean
  /** Rows that the loop writes. */
  readonly #dirty: ReadonlySet<number>
  /** The short way, and its body. */
  #affine: { readonly loop: AffineLoop; readonly body: Code } | undefined

  constructor(
    private readonly nest: Nest,
    private readonly context: NestContext,
    private readonly pool: ReadonlyMap<VectorConstant, number>,
  ) {
    const { locals } = context
    this.#changing = new Set(nest.block.steps.flatMap((step) => this.#writesOf(step)))
    const plan = planAffine(nest, this.#changing)
    const few = plan.loads.size > 0 && plan.pressure <= FEW_ROWS
    const chunks = few || nest.block.steps.some(({ operation }) => SLOW.test(operation.name)) ? SLOW_CHUNKS : CHUNKS
    this.#uniform = new UniformScalars(context, this.#before)
    this.#rows = new GroupRows(locals, chunks)
    this.#shift = locals.fresh(I32)
    this.#lanes = 4 * chunks
    this.#all = (1n << BigInt(this.#lanes)) - 1n
    this.#memory = new LaneLoads(context, this.#uniform, this.#before, this.#rows.active)
    this.#loads = nest.block.steps.some(loads)
    const constant = (at: number) => !this.#dirty.has(at)
    this.#lds = readsOf(context, this.#rows, this.#uniform, this.#changing, constant)
    if (nest.block.steps.some(isLdsRead)) this.#lds.begin(this.#before)
    const scalars = new Set<Value>()
    const carried = (chunk: number, at: number) => this.#rows.carry(chunk, at)
    const lane: LaneContext = { ...context, carried, constant }
    this.#dirty = new Set(nest.block.steps.flatMap((step) => rowsWritten(step, nest.roleOf(step))))
    const steps: LaneStep[] = []
    const newChunks = (large?: Set<Value>) =>
      Array.from({ length: chunks }, (_, i) => new Chunk(large ? { ...lane, large } : lane, i, this.#rows.base, this.#shift, scalars))
    this.#chunks = newChunks()
    for (const at of nest.sliced.keys()) this.#bits.set(at, locals.fresh(I64))
    this.#slicedFile = {
      load: (code, at, wide) => {
        const bits = this.#bits.get(at)
        if (bits !== undefined) return void code.get(bits)
        this.#uniform.file.load(code, at, wide)
        if (wide) code.get(this.#shift).op(OP.i64ExtendI32U, OP.i64ShrU)
      },
      constant: (code, value) => void code.i64(value).get(this.#shift).op(OP.i64ExtendI32U, OP.i64ShrU),
      store: (code, at, _, local) => {
        const bits = this.#bits.get(at)
        // SCC is found at the end, from the whole mask.
        if (bits !== undefined) code.get(local).i64(this.#all).op(OP.i64And).set(bits)
      },
    }
    scalars.clear()
    this.#writeBody(steps, this.#chunks)
    const large = new Set<Value>()
    // Else there is nothing to gain.
    if (plan.loads.size > 0 || this.#chunks.some((chunk) => chunk.watched)) this.#writeAffine(plan, steps, newChunks(large), large)
    this.#testScalars(scalars)
    this.#pushCondition(this.#condition)
  }

  #writesOf(step: Step): number[] {
    const role = this.nest.roleOf(step)
    if (role === 'scalar' && !isSliced(step, this.nest.sliced)) return [...scalarUses(step).writes]
    return role === 'call' && loadsScalars(step.operation) ? [...loadWrites(step)] : []
  }

  // --- one iteration

  /** @param affine what takes instructions over, or leaves them out */
  #writeBody(laneSteps: LaneStep[], chunks: readonly Chunk[], affine?: (index: number) => boolean): void {
    const { nest, context } = this
    const body = this.#body
    this.#own.clear()
    this.#lds.forget()
    for (const [index, step] of nest.block.steps.entries()) {
      const role = nest.roleOf(step)
      if (affine?.(index)) continue
      if (role === 'lanes') {
        const captured = step.operation.shape.sources.map((_, slot) => this.#capture(step, slot))
        const laneStep = { step, captured }
        laneSteps.push(laneStep)
        for (const chunk of chunks) chunk.fast(body, laneStep)
        if (hasMask(step)) this.#mask(maskOffset(step), chunks)
      } else if (role === 'scalar') {
        const sliced = isSliced(step, nest.sliced)
        writeScalar(body, step, context.kernels, context.locals, sliced ? this.#slicedFile : this.#uniform.file)
        if (sliced) for (const at of bitwiseWrites(step)) this.#own.delete(at)
        context.locals.reset()
      } else if (role === 'call') {
        if (isLdsRead(step)) this.#readLds(step, chunks)
        else if (loadsLanes(step.operation)) this.#memory.load(body, step, chunks, FAIL)
        else this.#uniform.readMemory(body, step, FAIL)
        context.locals.reset()
      }
    }
    for (const chunk of chunks) chunk.watchResults(body)
  }

  #readLds(step: Step, chunks: readonly Chunk[]): void {
    chunks.forEach((chunk, i) => {
      this.#lds.read(this.#body, step, chunk, i, FAIL)
    })
  }

  /** The short way through the loop (affine.ts): instructions whose results only addresses need run once for all lanes. */
  #writeAffine(plan: AffinePlan, laneSteps: LaneStep[], chunks: readonly Chunk[], large: ReadonlySet<Value>): void {
    const { steps } = this.nest.block
    const ordinary = this.#body
    const body = new Code()
    this.#body = body
    const loop = new AffineLoop(plan, {
      context: this.context,
      steps,
      chunks,
      large,
      scalar: (at) => this.#uniform.local(at),
      carry: (chunk, at) => this.#rows.carry(chunk, at),
    })
    this.#writeBody(laneSteps, chunks, (index) => {
      const step = steps[index]!
      return loop.step(body, index) || (this.nest.roleOf(step) === 'lanes' && !plan.lanes.has(step))
    })
    this.#body = ordinary
    this.#before.append(loop.before)
    this.#affine = { loop, body }
  }

  /** Scalars that stay as they are have been tested once. */
  #testScalars(scalars: ReadonlySet<Value>): void {
    if (scalars.size === 0) return
    this.#least = this.context.locals.fresh(V128)
    this.#before.v128(-1).set(this.#least)
    for (const value of scalars) watchSmall(this.#before, this.#least, value.arg)
  }
  #least: number | undefined

  #capture(step: Step, slot: number): Captured {
    return capture(step, slot, {
      mask: (at, constant) => {
        if (at !== undefined && this.#own.has(at)) return { kind: 'own' }
        const sliced = at === undefined ? undefined : this.#bits.get(at)
        if (sliced !== undefined) return { kind: 'slice', bits: sliced }
        return this.#uniform.mask(this.#body, at, constant)
      },
      spread: (at) => this.#spreadOf(at),
    })
  }

  /** A scalar in all lanes: once before the loop if nothing in it changes the scalar. */
  #spreadOf(at: number): Value {
    const changes = this.#changing.has(at)
    const known = this.#spread.get(at)
    if (known !== undefined && !changes) return known
    const local = this.context.locals.fresh(V128)
    const code = changes ? this.#body : this.#before
    code.get(this.#uniform.local(at)).simd(SIMD.i32x4Splat).set(local)
    const value = spreadValue(local, !changes)
    this.#spread.set(at, value)
    return value
  }

  /** A compare or carry has been written: its bits, where the loop needs them as such. */
  #mask(at: number, chunks: readonly Chunk[]): void {
    this.#own.add(at)
    if (this.nest.asBits.has(at)) this.#gatherBits(this.#body, at, this.#bits.get(EXEC)!, chunks)
  }
  /** @param exec local of the group's EXEC when the mask was made */
  #gatherBits(code: Code, at: number, exec: number, chunks: readonly Chunk[] = this.#chunks): void {
    chunks.forEach((chunk, i) => {
      chunk.pushMask(code, at)
      code.op(OP.i64ExtendI32U)
      if (i > 0)
        code
          .i64(BigInt(4 * i))
          .op(OP.i64Shl)
          .op(OP.i64Or)
    })
    code.get(exec).op(OP.i64And).set(this.#bits.get(at)!)
  }

  // --- the loops

  /**
   * Appends the loop. Control goes on behind it where the ordinary code must take over at the block's start.
   * @param leave appends what follows the loop's end
   * @returns false where the loop has too many rows; nothing is appended then
   */
  write(code: Code, leave: (code: Code) => void): boolean {
    const { nest, context } = this
    const { locals, wave } = context
    const count = nest.block.steps.length
    const dirty = this.#chunks[0]!.dirtyRows
    if (dirty.length > SHADOW_ROWS) return false
    // What a group writes lives around the loop too.
    for (const chunk of this.#chunks.keys()) for (const at of dirty) this.#rows.carry(chunk, at)
    const [limit, iteration, most, cut, shadow] = Array.from({ length: 5 }, () => locals.fresh(I32)) as [
      number,
      number,
      number,
      number,
      number,
    ]
    const masks = [...nest.sliced.keys()].filter((at) => at !== EXEC || nest.divides)
    const whole = new Map(masks.map((at) => [at, locals.fresh(I64)]))
    const written = [...this.#uniform.written]
    const best = new Map(written.map((at) => [at, locals.fresh(I32)]))
    const exec = this.#bits.get(EXEC)!
    const started = locals.fresh(I64)
    const again = locals.fresh(I32)

    code.op(OP.globalGet).u32(context.left).i32(count).op(OP.i32DivU).set(limit)
    code.block(OP.block).get(limit).op(OP.i32Eqz, OP.brIf).u32(0)
    code.block(OP.loop).block(OP.block)
    this.#uniform.fetch(code)
    code.append(this.#before)
    loadPool(code, this.context.locals, this.pool)
    code.i32(0).tee(most).tee(cut).set(this.#shift).get(wave).set(this.#rows.base)
    code.op(OP.globalGet).u32(locals.globalImport('SHADOW')).set(shadow)
    for (const local of whole.values()) code.i64(0n).set(local)

    code.block(OP.loop).block(OP.block)
    this.#loadBits(code)
    code.i32(0).set(iteration)
    this.#rows.fetch(code)
    this.#rows.setActive(code, exec)
    // A group without active lanes has nothing to do, but one must run, for the scalars.
    code
      .get(exec)
      .op(OP.i64Eqz)
      .get(most)
      .op(OP.i32Eqz)
      .get(this.#shift)
      .i32(64 - this.#lanes)
      .op(OP.i32Eq, OP.i32And, OP.i32Eqz, OP.i32And)
    code.op(OP.brIf).u32(0)
    this.#uniform.restore(code)
    code.append(this.#lds.once)
    this.#affine?.loop.write(code, this.#affine.body, {
      iteration,
      limit,
      again,
      exec,
      all: this.#all,
      least: this.#least,
      written: [
        ...written.map((at) => ({ local: this.#uniform.local(at), type: I32 })),
        ...[...this.#bits].filter(([at]) => nest.asBits.has(at) || at === EXEC).map(([, local]) => ({ local, type: I64 })),
      ],
      divides: nest.divides,
      condition: this.#condition,
      reload: (to) => {
        this.#uniform.restore(to)
        this.#loadBits(to)
        this.#rows.fetch(to)
      },
    })
    for (const chunk of this.#chunks) chunk.beginLoop(code, this.#least)

    code.block(OP.loop)
    code.get(exec).set(started)
    if (nest.divides && this.#loads) this.#rows.setActive(code, exec)
    for (const chunk of this.#chunks) chunk.begin(code, this.#least)
    code.append(this.#body)
    const watched = this.#chunks.filter((chunk) => chunk.watched)
    watched.forEach((chunk, i) => {
      chunk.pushWatched(code)
      if (i > 0) code.simd(SIMD.or)
    })
    if (watched.length > 0) code.simd(SIMD.anyTrue).op(OP.brIf).u32(FAIL)
    code.get(iteration).i32(1).op(OP.i32Add).set(iteration)
    this.#carryOn(code, dirty, started)
    code.append(this.#condition)
    code.block(OP.if).get(iteration).get(limit).op(OP.i32LtU, OP.brIf).u32(1).i32(1).set(cut).end()
    code.end()

    for (const at of masks) if (!nest.asBits.has(at) && at !== EXEC) this.#gatherBits(code, at, started)
    this.#watchSums(code, iteration)
    code.end()
    this.#rows.keep(code, dirty, shadow, nest.divides ? undefined : exec)
    this.#endGroup(code, masks, whole, written, best, iteration, most)
    this.#rows.next(code, shadow, this.#shift)
    code.end()

    this.#commit(code, dirty, whole, written, best, most)
    code.get(cut).op(OP.brIf).u32(2)
    leave(code)
    code.end()
    code.i32(1).set(again).get(iteration).tee(limit).op(OP.brIf).u32(0).end().end()
    return true
  }

  #loadBits(code: Code): void {
    for (const [at, local] of this.#bits) {
      code.get(this.context.wave).memory(OP.i64Load, at).get(this.#shift).op(OP.i64ExtendI32U, OP.i64ShrU)
      code.i64(this.#all).op(OP.i64And).set(local)
    }
  }
  /** NaNs that every iteration passes on are tested when the loop is done. Then it is not known when they came: no iteration counts. */
  #watchSums(code: Code, iteration: number): void {
    const chunks = this.#chunks.filter((chunk) => chunk.sums.length > 0)
    if (chunks.length === 0) return
    code.v128(0)
    this.#chunks.forEach((chunk, i) => {
      for (const at of chunk.sums) code.get(this.#rows.carry(i, at)).get(this.#rows.carry(i, at)).simd(SIMD.f32x4Ne).simd(SIMD.or)
    })
    code.simd(SIMD.anyTrue).block(OP.if).i32(0).set(iteration).op(OP.br).u32(FAIL).end()
  }

  /** The iteration's results become what the next one starts with. */
  #carryOn(code: Code, dirty: readonly number[], started: number): void {
    const assign = (select: boolean) => {
      const targets: number[] = []
      this.#chunks.forEach((chunk, i) => {
        for (const at of dirty) {
          const local = this.#rows.carry(i, at)
          chunk.pushRow(code, at)
          if (select) code.get(local).get(this.#rows.active[i]!).simd(SIMD.bitselect)
          targets.push(local)
        }
      })
      for (const local of targets.toReversed()) code.set(local)
    }
    if (!this.nest.divides) return assign(false)
    code.get(started).i64(this.#all).op(OP.i64Eq).block(OP.if)
    assign(false)
    code.op(OP.else)
    if (!this.#loads) this.#rows.setActive(code, started)
    assign(true)
    code.end()
  }

  #pushCondition(code: Code): void {
    const { end } = this.nest.block
    const { condition } = end as { condition: string }
    if (condition === 'execnz') code.get(this.#bits.get(EXEC)!).op(OP.i64Eqz, OP.i32Eqz)
    else if (condition === 'scc0') code.get(this.#uniform.local(SCC)).op(OP.i32Eqz)
    else if (condition === 'scc1') code.get(this.#uniform.local(SCC))
    else {
      this.#uniform.file.load(code, scalarOffset(VCC_LO), true)
      code.op(OP.i64Eqz)
      if (condition === 'vccnz') code.op(OP.i32Eqz)
    }
  }

  /** Adds the group's masks to the whole ones, and keeps the scalars of the group that ran longest. */
  #endGroup(
    code: Code,
    masks: readonly number[],
    whole: ReadonlyMap<number, number>,
    written: readonly number[],
    best: ReadonlyMap<number, number>,
    iteration: number,
    most: number,
  ): void {
    const shifted = (at: number) => code.get(this.#bits.get(at)!).get(this.#shift).op(OP.i64ExtendI32U, OP.i64Shl)
    for (const at of masks.filter((m) => this.nest.sliced.get(m) === 'keep')) {
      shifted(at).get(whole.get(at)!).op(OP.i64Or).set(whole.get(at)!)
    }
    const fading = masks.filter((m) => this.nest.sliced.get(m) === 'zero')
    code.get(iteration).get(most).op(OP.i32GtU).block(OP.if)
    for (const at of fading) code.i64(0n).set(whole.get(at)!)
    for (const at of written) code.get(this.#uniform.local(at)).set(best.get(at)!)
    code.get(iteration).set(most).end()
    if (fading.length === 0) return
    code.get(iteration).get(most).op(OP.i32Eq).block(OP.if)
    for (const at of fading) shifted(at).get(whole.get(at)!).op(OP.i64Or).set(whole.get(at)!)
    code.end()
  }

  /** All groups are done: writes what they did to the wave. */
  #commit(
    code: Code,
    dirty: readonly number[],
    whole: ReadonlyMap<number, number>,
    written: readonly number[],
    best: ReadonlyMap<number, number>,
    most: number,
  ): void {
    const { nest, context } = this
    const { locals, wave, left } = context
    this.#rows.commit(code, dirty, wave)
    for (const [at, local] of whole) code.get(wave).get(local).memory(OP.i64Store, at)
    for (const at of written) code.get(wave).get(best.get(at)!).memory(OP.i32Store, at)
    if (nest.sccOf !== undefined) {
      code.get(wave).get(wave).memory(OP.i64Load, nest.sccOf).i64(0n).op(OP.i64Ne).memory(OP.i32Store, SCC)
    }
    const { steps } = nest.block
    code.op(OP.globalGet).u32(left).get(most).i32(steps.length).op(OP.i32Mul, OP.i32Sub, OP.globalSet).u32(left)
    for (const step of steps)
      if (nest.roleOf(step) === 'lanes' && step.flags & FLAG_APPROXIMATE)
        countApproximate(code, wave, step, locals, () => code.get(most).op(OP.i64ExtendI32U))
  }
}
