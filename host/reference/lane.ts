/** What the reference's lane functions take and give: one lane's operands as words, and the modes they depend on. */
import type { Generation } from '../isa/targets.ts'

/** MODE as the lane functions see it. Round modes: 0 nearest even, 1 towards +∞, 2 towards −∞, 3 towards zero. */
export interface Modes {
  /** f32 results. */
  readonly round32: 0 | 1 | 2 | 3
  /** f64 and f16 results. */
  readonly round64: 0 | 1 | 2 | 3
  /** Denormal f32 sources, results are flushed to zero of their sign. */
  readonly flushSources32: boolean
  readonly flushResults32: boolean
  /** The same for f64 and f16. */
  readonly flushSources64: boolean
  readonly flushResults64: boolean
  readonly dx10Clamp: boolean
  readonly ieee: boolean
  readonly generation: Generation
  /** The instruction's clamp bit; integer operations saturate by it where the generation defines that. */
  readonly clamp: boolean
  /** The lane's number in the wave (v_mbcnt counts the lanes below it). */
  readonly lane: number
}

/** An operand or result: up to 32 bits a number from 0 to 2^bits-1, 64 and 128 bits a bigint ≥ 0, masks a boolean. */
export type Word = number | bigint | boolean

/**
 * One operation on one lane. Sources come in the shape's order, after SDWA/DPP, abs, neg and flushing, the tied one included; the
 * result is rounded and its NaN built, but neither omod, clamp of floats nor flushing has been done. An operation with a value and a
 * mask returns both as `[value, mask]`. Modes come last.
 */
// biome-ignore lint/suspicious/noExplicitAny: the shape in the row, not TypeScript, says which operands are bigints.
export type LaneFunction = (...operandsAndModes: any[]) => Word | readonly [value: number | bigint, mask: boolean]
