/** How much is tried. Environment variables repeat a run, and widen it. */
import type { Operation } from '../../host/isa/operations.ts'

const SEED = Number(process.env.LANEWISE_SEED ?? 1)
/** `npm run test:deep` sets it to 100: so many times the cases. */
const TIMES = Number(process.env.LANEWISE_TIMES ?? 1)

/** Cases that each operation is compared in on each target, at least: active lanes of vector instructions, scalar instructions. */
export const CASES = 2000 * TIMES

/** Vitest's limit for one operation. */
export const TIMEOUT_MS = 600_000

/** States that programs start from, where at most so many are to share one: in short runs there are more programs instead. */
export const statesOf = (shared: number): number => Math.min(TIMES, shared)

/**
 * Compares one program of an operation after another.
 * @param compare runs the program of a seed. It returns the number of cases, all of them the same on all engines, and throws where one is not.
 */
export async function compareCases(operation: Operation, compare: (seed: number) => Promise<number>): Promise<void> {
  const first = SEED * 1_000_003 + operation.number * 7919
  for (let cases = 0, i = 0; cases < CASES; i++) cases += await compare(first + i)
}
