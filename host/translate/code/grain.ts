/**
 * Which f32 values can have no denormal among their sums.
 *
 * A value is *grained* when it is zero, infinite, NaN or a multiple of 2^-125. Sums of grained values are grained, so flushing would
 * change none of them; of products and of values from outside it has to be tested that they are zero or at least 2^-102. What is
 * grained at a block's start follows from what its predecessors leave, so loops test only their products.
 */
import { factOf } from './fact.ts'
import type { Step } from './graph.ts'

/** Sums: of grained values they are grained. */
const SUMS = /^v_(add|sub|subrev)_f32$/
/** Products that are rounded and flushed before something is added: a product and a sum. */
export const PRODUCT_AND_SUM = /^v_(mad|mac|madmk|madak)_f32$/
/** Results that are grained whatever comes in: integers, f16, and roots of what is no denormal. */
const ALWAYS = /^v_(cvt_f32_(i32|u32|f16|ubyte[0-3])|trunc_f32|ceil_f32|rndne_f32|floor_f32|sqrt_f32|rsq_f32)$/
/** Results that are one of the f32 sources. */
const CHOOSES = /^v_(min|max|min3|max3|med3)_f32$/
/** Results that are one of the sources, bit for bit. */
export const MOVES = /^v_(mov_b32|cndmask_b32)$/

const factsOf = factOf(({ name, shape, traits }) => ({
  sums: SUMS.test(name) || CHOOSES.test(name) || PRODUCT_AND_SUM.test(name),
  always: ALWAYS.test(name),
  moves: MOVES.test(name),
  ftz: traits.has('ftz'),
  flush: traits.has('flush'),
  resultIsF32: shape.results[0] === 'f32',
}))

export const flushesSources = ({ operation, modes }: Step): boolean => {
  const { ftz, flush } = factsOf(operation)
  return ftz || (flush && modes.flushSources32)
}
export const flushesResults = ({ operation, modes }: Step): boolean => {
  const { ftz, flush } = factsOf(operation)
  return ftz || (flush && modes.flushResults32)
}

/** Whether a source of the operation must be grained: it would be flushed. */
export const needsGrain = (step: Step, slot: number): boolean => step.operation.shape.sources[slot] === 'f32' && flushesSources(step)

/** Whether the source counts for the result's grain: it is an f32, or any source of a move but its mask. */
export const carriesGrain = (step: Step, slot: number): boolean => {
  const type = step.operation.shape.sources[slot]
  return type === 'f32' || (type !== 'mask' && factsOf(step.operation).moves)
}

/**
 * What is known of an f32 result, or of the bits that a move moves.
 * @param sources whether each source that carriesGrain is grained, once those that need it have been tested
 * @returns `grained`, `unknown`, or `tested` where it must be tested, since it would be flushed
 */
export function grainOfResult(step: Step, sources: readonly boolean[]): 'grained' | 'tested' | 'unknown' {
  const { moves, resultIsF32, always, sums } = factsOf(step.operation)
  if (moves) return sources.every((s) => s) ? 'grained' : 'unknown'
  if (!resultIsF32) return 'unknown'
  if (always) return 'grained'
  if (sums && sources.every((s) => s)) return 'grained'
  return flushesResults(step) ? 'tested' : 'unknown'
}

/** Bits of 2^-102: values from there on are grained, and what is not below such a value is, too. */
export const LARGE = (127 - 102) << 23

/** Twice the bits of 2^-102, less one: twice a value's bits less one is below it when the value is too small and not zero. */
export const SMALL = 2 * LARGE - 1

/** Whether the bits of an f32 are grained by themselves. */
export const isGrained = (bits: number): boolean => ((bits << 1) - 1) >>> 0 >= SMALL
