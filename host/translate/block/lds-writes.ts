/**
 * Writes of LDS that are part of a run of lanes (lanes.ts). Each chunk tests its addresses as it comes to them; what is written follows when the
 * run's loop is done, for a later chunk may still fail.
 */
import { WAVE_LDS } from '../../plan/layout.ts'
import type { Step } from '../code/graph.ts'
import { type Code, I32, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { setFirstOutside } from './accesses.ts'
import type { Chunk } from './chunk.ts'
import type { FunctionLocals } from './lane-values.ts'
import type { Test } from './lanes.ts'
import { pushEnd } from './lds.ts'
import { ldsShape, offsetsOf, reachOf } from './lds-plan.ts'
import { M0 } from './scalars.ts'
import { dataRows, type Element, storeRows } from './scatter.ts'

/** What a lane writes: of two elements at one place the first one stays. */
const elementsOf = (step: Step): readonly Element[] =>
  offsetsOf(step)
    .map((offset, i) => ({ data: step.sources[1 + i]!, bytes: ldsShape(step.operation)!.bytes, offset }))
    .toReversed()

/** Rows that a write reads. */
export const ldsWriteReads = (step: Step): number[] => [step.sources[0], ...elementsOf(step).flatMap(dataRows)]

export class LdsWrites {
  /** Of each write the first address that is not inside any more, in all lanes. */
  readonly #ends = new Map<Step, number>()

  constructor(
    readonly locals: FunctionLocals,
    readonly wave: number,
  ) {}

  /** Appends what stands before the run, where the write's turn came: M0 may change behind it. */
  add(code: Code, step: Step): void {
    const { locals, wave } = this
    const [end, all] = [locals.local(V128), locals.temporary(I32)]
    const reach = reachOf(step)
    pushEnd(code, wave, () => void code.get(wave).memory(OP.i32Load, M0))
    code.set(all)
    setFirstOutside(code, end, all, reach)
    this.#ends.set(step, end)
    locals.reset()
  }

  /** Appends the test of one chunk. */
  touch(code: Code, step: Step, chunk: Chunk, { active, leave }: Test): void {
    chunk.pushBits(code, step.sources[0])
    code.get(this.#ends.get(step)!).simd(SIMD.i32x4GeU).get(active).simd(SIMD.and).simd(SIMD.anyTrue).op(OP.brIf).u32(leave)
  }

  /** Appends a write: the run's loop is done, and all lanes are inside. */
  write(code: Code, step: Step): void {
    const { locals, wave } = this
    const host = locals.local(V128)
    code.get(wave).memory(OP.i32Load, WAVE_LDS).simd(SIMD.i32x4Splat).set(host)
    storeRows(code, elementsOf(step), step.sources[0], this, () => void code.get(host).simd(SIMD.i32x4Add))
  }
}
