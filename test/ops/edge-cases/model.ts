/** What a model of an operation takes and gives. Words are bigints of the operand's width, lanes of masks 0 and 1. */
import type { Generation } from '../../../host/isa/targets.ts'
import type { Format } from '../../kernels/exact.ts'
import type { Round } from './float.ts'

/** MODE, and what else an operation may look at. */
export interface Circumstances {
  readonly mode: number
  readonly generation: Generation
  /** The instruction's clamp bit. */
  readonly clamp: boolean
  readonly lane: number
}

/** A value, the bit of a mask, or both. */
export type Result = bigint | boolean | readonly [value: bigint, bit: boolean]

/**
 * What an operation gives for words that have been through abs, neg and flushing; rounded, neither flushed nor clamped yet. Undefined
 * where no independent value is known: such a line is not tested, and does not count.
 */
export type Lane = (sources: readonly bigint[], at: Circumstances) => Result | undefined

/** Denormals of sources and result: kept as they are, flushed where MODE says so, always flushed. */
export type Flush = 'never' | 'mode' | 'always'

export interface Model {
  readonly flush: Flush
  readonly of: Lane
  /** Words that a source is given besides those of its type. */
  readonly also?: readonly (readonly bigint[])[]
}

/** Models with one rule for denormals. */
export const models = (flush: Flush, lanes: Readonly<Record<string, Lane>>): [string, Model][] =>
  Object.entries(lanes).map(([name, of]) => [name, { flush, of }])

/** FP_ROUND of MODE: [1:0] for f32, [3:2] for f16 and f64. */
export const roundOf = (f: Format, { mode }: Circumstances): Round => (f.bits === 32 ? mode & 3 : (mode >> 2) & 3)
/** FP_DENORM of MODE: [5:4] for f32, [7:6] for f16 and f64; the lower bit keeps denormal sources, the higher one results. */
export const keepsSources = (f: Format, { mode }: Circumstances) => ((mode >> (f.bits === 32 ? 4 : 6)) & 1) === 1
export const keepsResults = (f: Format, { mode }: Circumstances) => ((mode >> (f.bits === 32 ? 4 : 6)) & 2) === 2
export const hasDx10Clamp = ({ mode }: Circumstances) => (mode & 0x100) !== 0
export const isIeee = ({ mode }: Circumstances) => (mode & 0x200) !== 0
/** Clamp saturates integers from gfx8 on. */
export const saturates = ({ clamp, generation }: Circumstances) => clamp && generation === 'gfx8'
