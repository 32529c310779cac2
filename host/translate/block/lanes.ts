import type { Step } from '../code/graph.ts'
import { loadPool } from '../wasm/kernels.ts'
import { Code, I32, I64, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { rowsWritten } from './accesses.ts'
import type { UnfinishedRun } from './again.ts'
import { Chunk, type Moved } from './chunk.ts'
import {
  CHUNK_BYTES,
  EXEC_OFFSET,
  factsOf,
  type LaneContext,
  type LaneStep,
  ROW_BYTES,
  rowsRead,
  type Value,
  watchSmall,
} from './lane-values.ts'
import { DPP_CHUNKS, isDpp } from './stages.ts'

/** What touches memory in a run. */
export interface LaneMemory {
  /** Appends what stands before the run's loop. */
  begin(code: Code): void
  /** Appends an access of one chunk of the turn. @param test given where something is tested */
  touch(code: Code, step: Step, chunk: Chunk, index: number, test: Test | undefined): void
  /** What is written besides where accesses are tested in the run. */
  readonly tests: Tests | undefined
}
export interface Tests {
  /**
   * Appends what helps, if something does, where an access missed: then the turn begins anew.
   * @param exec local of EXEC
   * @param shift local of the number of the turn's first lane
   * @param fail the label, so far away, where control goes if nothing helps
   */
  find(code: Code, exec: number, shift: number, fail: number): void
  /** Appends what leaves the run: all rows are what they were before it. */
  leave(code: Code): void
  /** Rows that moves to scalars have read between the run's steps: who repeats the run reads them again. */
  readonly moved: ReadonlySet<number>
}
/** Local of the active lanes of a chunk, and how far away labels are: where control goes if an access missed, and if the run has to be left. */
export interface Test {
  readonly active: number
  readonly miss: number
  readonly leave: number
}
const MISS = 2
const LEAVE = 4

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
  readonly #memory: LaneMemory | undefined
  /** Locals of the chunks' active lanes, where accesses are tested. */
  readonly #lanes: readonly number[]

  /**
   * @param again appends what computes the lanes of a turn, and of all behind it, when a test fails
   * @param memoryOf makes what touches memory, where a step of the run does
   */
  constructor(
    private readonly code: Code,
    private readonly steps: readonly LaneStep[],
    private readonly context: LaneContext,
    private readonly again: (code: Code, run: UnfinishedRun) => void,
    memoryOf?: (active: number, all: number) => LaneMemory,
  ) {
    const { locals } = context
    this.#base = locals.local(I32)
    this.#shift = locals.local(I32)
    this.#active = locals.local(I32)
    this.#moves = steps.some(({ step }) => isDpp(step))
    const count = this.#moves ? DPP_CHUNKS : steps.some(({ step }) => factsOf(step.operation).isSlow) ? 2 : 1
    this.#all = (1 << (4 * count)) - 1
    this.#memory = steps.some(({ touches }) => touches) ? memoryOf?.(this.#active, this.#all) : undefined
    this.#chunks = Array.from({ length: count }, (_, i) => new Chunk(context, i, this.#base, this.#shift, this.#scalars))
    this.#lanes = this.#memory?.tests ? this.#chunks.map(() => locals.fresh(V128)) : []
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
        if (step.touches) this.#memory!.touch(body, step.step, chunk, i, this.#test(i))
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
    this.#memory?.begin(code)
    const tests = this.#memory?.tests
    const rows = tests ? this.#rowsToKeep() : []
    const shadow = locals.fresh(I32)
    if (rows.length > 0) code.op(OP.globalGet).u32(locals.globalImport('SHADOW')).get(wave).op(OP.i32Sub).set(shadow)
    code.get(wave).set(this.#base).i32(0).set(this.#shift)
    code.get(wave).memory(OP.i64Load, EXEC_OFFSET).set(exec)
    if (tests) code.block(OP.block).block(OP.block).block(OP.loop).block(OP.block)
    code.block(OP.loop).block(OP.block)
    code.get(exec).get(this.#shift).op(OP.i64ExtendI32U, OP.i64ShrU, OP.i32WrapI64).i32(all).op(OP.i32And).tee(active)
    code.op(OP.i32Eqz, OP.brIf).u32(0)
    for (const chunk of chunks) chunk.begin(code, least)
    if (this.#moves) for (const chunk of chunks) chunk.spreadActive(code, active)
    if (tests) this.#spreadActive()
    code.append(body)
    const watched = chunks.filter((chunk) => chunk.watched)
    watched.forEach((chunk, i) => {
      chunk.pushWatched(code)
      if (i > 0) code.simd(SIMD.or)
    })
    if (watched.length > 0) {
      code.simd(SIMD.anyTrue)
      if (tests) code.op(OP.brIf).u32(LEAVE)
      else this.#doAgain(bits, exec)
    }
    for (const chunk of chunks) chunk.keep(code, rows, shadow)
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
    if (tests) {
      code.op(OP.br).u32(3).end()
      tests.find(code, exec, this.#shift, 1)
      code.op(OP.br).u32(0).end().end()
      if (rows.length > 0) this.#undo(exec, rows, shadow)
      tests.leave(code)
      code.end()
    }
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

  #test(chunk: number): Test | undefined {
    return this.#memory?.tests && { active: this.#lanes[chunk]!, miss: MISS, leave: LEAVE }
  }

  /** What cannot be left is done by the core, from this turn on. */
  #doAgain(masks: ReadonlyMap<number, number>, exec: number): void {
    const { code, steps } = this
    code.block(OP.if)
    this.again(code, { steps, exec, shift: this.#shift, masks })
    // There is no other turn.
    code.i32(64).set(this.#shift).op(OP.br).u32(1).end()
  }

  /** Sets the locals of the chunks' active lanes. */
  #spreadActive(): void {
    const { code } = this
    code.get(this.#active).i32(this.#all).op(OP.i32Eq).block(OP.if)
    for (const local of this.#lanes) code.v128(-1).set(local)
    code.op(OP.else)
    this.#chunks.forEach((chunk, i) => {
      chunk.spreadActive(code, this.#active, this.#lanes[i])
    })
    code.end()
  }

  /** Rows that have to be put back where a test fails: not those that are written anew by whoever repeats the run, before it can fault. */
  #rowsToKeep(): number[] {
    const rewritten = new Set<number>()
    const read = new Set(this.#memory!.tests!.moved)
    for (const { step, touches } of this.steps) {
      if (touches) break
      for (const at of rowsRead(step)) read.add(at)
      for (const at of rowsWritten(step, 'lanes')) if (!read.has(at)) rewritten.add(at)
    }
    return this.#chunks[0]!.dirtyRows.filter((at) => !rewritten.has(at))
  }

  /** Puts rows of the chunks that are done back. */
  #undo(exec: number, rows: readonly number[], shadow: number): void {
    const { code } = this
    const { locals, wave } = this.context
    const [base, left] = [locals.fresh(I32), locals.fresh(I64)]
    const bytes = CHUNK_BYTES * this.#chunks.length
    code.get(wave).set(base).get(exec).set(left)
    code.block(OP.block).block(OP.loop).get(base).get(this.#base).op(OP.i32GeU, OP.brIf).u32(1)
    code.get(left).op(OP.i32WrapI64).i32(this.#all).op(OP.i32And).block(OP.if)
    for (const [n, at] of rows.entries()) {
      for (let offset = 0; offset < bytes; offset += CHUNK_BYTES) {
        code.get(base).get(base).get(shadow).op(OP.i32Add)
        code.simdMemory(SIMD.load, n * ROW_BYTES + offset).simdMemory(SIMD.store, at + offset)
      }
    }
    code.end().get(base).i32(bytes).op(OP.i32Add).set(base)
    code
      .get(left)
      .i64(BigInt(bytes / 4))
      .op(OP.i64ShrU)
      .set(left)
      .op(OP.br)
      .u32(0)
      .end()
      .end()
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
