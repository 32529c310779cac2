import type { UnfinishedRun } from './again.ts'
import { Chunk, type Moved } from './chunk.ts'
import type { Step } from './graph.ts'
import { loadPool } from './kernels.ts'
import { CHUNK_BYTES, EXEC_OFFSET, factsOf, type LaneContext, type LaneStep, type Value, watchSmall } from './lane-values.ts'
import { DPP_CHUNKS, isDpp } from './stages.ts'
import { Code, I32, I64, OP, SIMD, V128 } from './wasm.ts'

/** What loads in a run. */
export interface LaneReads {
  /** Appends what stands before the run's loop. */
  begin(code: Code): void
  /** Appends a load of one chunk of the turn. */
  read(code: Code, step: Step, chunk: Chunk, index: number): void
}

/** The loop of one run. */
export class LaneLoop {
  readonly #scalars = new Set<Value>()
  /** Whether lanes read others of their row: then a turn of the loop computes a whole one. */
  readonly #moves: boolean
  readonly #chunks: readonly Chunk[]
  readonly #base: number
  readonly #shift: number
  /** Bits of the turn's active lanes, and those bits where all are active. */
  readonly #active: number
  readonly #all: number
  readonly #reads: LaneReads | undefined

  /**
   * @param again appends what computes the lanes of a turn, and of all behind it, when a test fails
   * @param readsOf makes what loads, where a step of the run does
   */
  constructor(
    private readonly code: Code,
    private readonly steps: readonly LaneStep[],
    private readonly context: LaneContext,
    private readonly again: (code: Code, run: UnfinishedRun) => void,
    readsOf?: (active: number, all: number) => LaneReads,
  ) {
    const { locals } = context
    this.#base = locals.local(I32)
    this.#shift = locals.local(I32)
    this.#active = locals.local(I32)
    this.#moves = steps.some(({ step }) => isDpp(step))
    const count = this.#moves ? DPP_CHUNKS : steps.some(({ step }) => factsOf(step.operation).isSlow) ? 2 : 1
    this.#all = (1 << (4 * count)) - 1
    this.#reads = steps.some(({ loads }) => loads) ? readsOf?.(this.#active, this.#all) : undefined
    this.#chunks = Array.from({ length: count }, (_, i) => new Chunk(context, i, this.#base, this.#shift, this.#scalars))
    if (this.#moves) for (const chunk of this.#chunks) chunk.moveLanes()
  }

  /** Writes the loop. Mask results are in the wave's scalars behind it. */
  write(): void {
    const { locals, wave } = this.context
    const chunks = this.#chunks
    const body = new Code()
    for (const step of this.steps) {
      const moved = this.#moved(body, step)
      chunks.forEach((chunk, i) => {
        if (step.loads) this.#reads!.read(body, step.step, chunk, i)
        else chunk.fast(body, step, moved)
      })
    }
    for (const chunk of chunks) chunk.watchResults(body)

    const { code } = this
    const lanes = 4 * chunks.length
    const all = this.#all
    const active = this.#active
    const exec = locals.fresh(I64)
    const bits = new Map(chunks[0]!.masks.map((at) => [at, locals.fresh(I64)]))
    const kept = this.steps.filter(({ keeps }) => keeps !== undefined)
    const least = this.#watchScalars()
    for (const local of [...bits.values(), ...kept.map(({ keeps }) => keeps!)]) code.i64(0n).set(local)
    if (this.context.pool) loadPool(code, locals, this.context.pool)
    this.#reads?.begin(code)
    code.get(wave).set(this.#base).i32(0).set(this.#shift)
    code.get(wave).memory(OP.i64Load, EXEC_OFFSET).set(exec)
    code.block(OP.loop).block(OP.block)
    code.get(exec).get(this.#shift).op(OP.i64ExtendI32U, OP.i64ShrU, OP.i32WrapI64).i32(all).op(OP.i32And).tee(active)
    code.op(OP.i32Eqz, OP.brIf).u32(0)
    for (const chunk of chunks) chunk.begin(code, least)
    if (this.#moves) for (const chunk of chunks) chunk.spreadActive(code, active)
    code.append(body)
    const watched = chunks.filter((chunk) => chunk.watched)
    watched.forEach((chunk, i) => {
      chunk.pushWatched(code)
      if (i > 0) code.simd(SIMD.or)
    })
    if (watched.length > 0) {
      code.simd(SIMD.anyTrue).block(OP.if)
      this.again(code, { steps: this.steps, exec, shift: this.#shift, masks: bits })
      // There is no other turn.
      code.i32(64).set(this.#shift).op(OP.br).u32(1).end()
    }
    this.#commit(active, all)
    for (const [at, local] of bits) this.#gather(local, (chunk) => chunk.pushMask(code, at))
    for (const step of kept) this.#gather(step.keeps!, (chunk) => chunk.pushKept(code, step))
    code.end()
    code
      .get(this.#base)
      .i32(CHUNK_BYTES * chunks.length)
      .op(OP.i32Add)
      .set(this.#base)
    code.get(this.#shift).i32(lanes).op(OP.i32Add).tee(this.#shift).i32(64).op(OP.i32LtU, OP.brIf).u32(0)
    code.end()
    for (const [at, local] of bits) code.get(wave).get(local).memory(OP.i64Store, at)
  }

  /** Adds a mask of the turn to its bits. */
  #gather(bits: number, pushMask: (chunk: Chunk) => void): void {
    const { code } = this
    code.get(bits)
    this.#chunks.forEach((chunk, i) => {
      pushMask(chunk)
      if (i > 0) code.i32(4 * i).op(OP.i32Shl, OP.i32Or)
    })
    code.get(this.#active).op(OP.i32And, OP.i64ExtendI32U).get(this.#shift).op(OP.i64ExtendI32U, OP.i64Shl, OP.i64Or).set(bits)
  }

  /** What the chunks hold of the row that a DPP instruction moves: all of it is taken before the first chunk is written. */
  #moved(code: Code, { step }: LaneStep): readonly Moved[] | undefined {
    return isDpp(step) ? this.#chunks.map((chunk) => chunk.moved(code, step.sources[0])) : undefined
  }

  /** Tests scalar sources once; each chunk starts with what that gave. */
  #watchScalars(): number | undefined {
    if (this.#scalars.size === 0) return undefined
    const least = this.context.locals.fresh(V128)
    this.code.v128(-1).set(least)
    for (const value of this.#scalars) watchSmall(this.code, least, value.arg)
    return least
  }

  /** Stores what the run has written, under EXEC where not all lanes are active. */
  #commit(active: number, all: number): void {
    const { code } = this
    if (!this.#chunks[0]!.writes) return
    const mask = this.context.locals.fresh(V128)
    code.get(active).i32(all).op(OP.i32Eq).block(OP.if)
    for (const chunk of this.#chunks) chunk.store(code)
    code.op(OP.else)
    for (const chunk of this.#chunks) chunk.storeActive(code, active, mask)
    code.end()
  }
}
