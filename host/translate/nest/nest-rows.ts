/** Rows of the loops that run group by group: a group has them in locals, then in shadow rows; when all groups are done they go to the wave. */
import { CHUNK_BYTES, type FunctionLocals, type LaneContext, ROW_BYTES } from '../block/lane-values.ts'
import { type Code, I32, OP, SIMD, V128 } from '../wasm/wasm.ts'

/** What a nest is written with. */
export interface NestContext extends Omit<LaneContext, 'carried'> {
  /** Global that counts instructions left. */
  readonly left: number
}

/** Depth of the label that gives an iteration up, from inside the body of a loop of one block. */
export const FAIL = 3

/** The rows of a group of chunks of four lanes. */
export class GroupRows {
  /** Local of the group's first chunk: its address less the row's offset. */
  readonly base: number
  /** Locals that hold all-ones in active lanes, one for each chunk. */
  readonly active: readonly number[]
  readonly #carried: readonly Map<number, number>[]

  constructor(
    private readonly locals: FunctionLocals,
    chunks: number,
  ) {
    this.base = locals.fresh(I32)
    this.active = Array.from({ length: chunks }, () => locals.fresh(V128))
    this.#carried = Array.from({ length: chunks }, () => new Map())
  }

  /** The local of a row of a chunk: what it is between blocks or iterations. */
  carry(chunk: number, at: number): number {
    const known = this.#carried[chunk]!.get(at)
    if (known !== undefined) return known
    const local = this.locals.fresh(V128)
    this.#carried[chunk]!.set(at, local)
    return local
  }

  /**
   * Appends the end of the groups' loop: the next group, if there is one.
   * @param shadow local of where the group's shadow rows are
   * @param shift local of the number of its first lane
   */
  next(code: Code, shadow: number, shift: number): void {
    const chunks = this.active.length
    for (const local of [this.base, shadow])
      code
        .get(local)
        .i32(CHUNK_BYTES * chunks)
        .op(OP.i32Add)
        .set(local)
    code
      .get(shift)
      .i32(4 * chunks)
      .op(OP.i32Add)
      .tee(shift)
      .i32(64)
      .op(OP.i32LtU, OP.brIf)
      .u32(0)
  }

  /** Appends that all of them are read from the wave. */
  fetch(code: Code): void {
    this.#carried.forEach((rows, chunk) => {
      for (const [at, local] of rows)
        code
          .get(this.base)
          .simdMemory(SIMD.load, at + CHUNK_BYTES * chunk)
          .set(local)
    })
  }

  /** Appends what sets the masks of active lanes. @param exec local of the group's bits of EXEC */
  setActive(code: Code, exec: number): void {
    this.active.forEach((local, chunk) => {
      code
        .get(exec)
        .i64(BigInt(4 * chunk))
        .op(OP.i64ShrU, OP.i32WrapI64)
        .simd(SIMD.i32x4Splat)
      code.v128(1, 2, 4, 8).simd(SIMD.and).v128(1, 2, 4, 8).simd(SIMD.i32x4Eq).set(local)
    })
  }

  /**
   * Appends that rows go to the shadow.
   * @param shadow local of the group's first chunk there
   * @param exec local of the group's bits of EXEC, where lanes that are switched off are to keep what they have in the wave
   */
  keep(code: Code, dirty: readonly number[], shadow: number, exec: number | undefined): void {
    const write = (select: boolean) => {
      this.active.forEach((active, chunk) => {
        for (const [n, at] of dirty.entries()) {
          code.get(shadow).get(this.carry(chunk, at))
          if (select)
            code
              .get(this.base)
              .simdMemory(SIMD.load, at + CHUNK_BYTES * chunk)
              .get(active)
              .simd(SIMD.bitselect)
          code.simdMemory(SIMD.store, n * ROW_BYTES + CHUNK_BYTES * chunk)
        }
      })
    }
    if (exec === undefined) return write(false)
    const all = (1n << BigInt(4 * this.active.length)) - 1n
    code.get(exec).i64(all).op(OP.i64Eq).block(OP.if)
    write(false)
    code.op(OP.else)
    write(true)
    code.end()
  }

  /** Appends that the rows of all groups go from the shadow to the wave. */
  commit(code: Code, dirty: readonly number[], wave: number): void {
    if (dirty.length === 0) return
    const [from, to] = [this.locals.fresh(I32), this.locals.fresh(I32)]
    code.op(OP.globalGet).u32(this.locals.globalImport('SHADOW')).set(from).get(wave).set(to)
    code.block(OP.loop)
    for (const [n, at] of dirty.entries()) {
      code
        .get(to)
        .get(from)
        .simdMemory(SIMD.load, n * ROW_BYTES)
        .simdMemory(SIMD.store, at)
    }
    code.get(from).i32(CHUNK_BYTES).op(OP.i32Add).set(from)
    code.get(to).i32(CHUNK_BYTES).op(OP.i32Add).tee(to).get(wave).i32(ROW_BYTES).op(OP.i32Add, OP.i32LtU, OP.brIf).u32(0).end()
  }
}
