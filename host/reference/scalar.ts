/** Runs scalar operations: their operands by the shape, their results to the destination and SCC. */

import type { Stop } from '../engine.ts'
import type { Operation } from '../isa/operations.ts'
import { bitsOf, dwordsOf } from '../isa/row.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { source } from './fetch.ts'
import { scalarOf, type Wave } from './wave.ts'

/** An operation that does its own reading and writing. What it throws is a Fault, before any effect. */
// biome-ignore lint/suspicious/noConfusingVoidType: most operations end without a return.
export type WaveFunction = (w: Wave, r: PlanRecord) => Stop | undefined | void

/** The result: a value, a value and SCC, or SCC alone; nothing where the destination is not written. */
export type ScalarResult = number | bigint | boolean | undefined | readonly [value: number | bigint, scc: boolean]

/**
 * Operands in the shape's order, up to 32 bits as numbers from 0 to 2^32-1, wider ones as bigints; then the wave and record, for
 * operations that look at SCC, EXEC or the old destination.
 */
// biome-ignore lint/suspicious/noExplicitAny: the shape in the row, not TypeScript, says which operands are bigints.
export type ScalarFunction = (...operands: [...any[], Wave, PlanRecord]) => ScalarResult

export function runScalar(w: Wave, r: PlanRecord, operation: Operation, f: ScalarFunction): void {
  const { sources, results } = operation.shape
  const result = f(...sources.map((type, slot) => source(w, r, slot, bitsOf(type))), w, r)
  if (typeof result === 'boolean') w.scc = result
  else if (typeof result === 'object') {
    writeScalar(w, scalarOf(r.dst), result[0], dwordsOf(results[0]!))
    w.scc = result[1]
  } else if (result !== undefined) writeScalar(w, scalarOf(r.dst), result, dwordsOf(results[0]!))
}

/** Writes a value to `dwords` scalar registers from `encoding` on. */
export function writeScalar(w: Wave, encoding: number, value: number | bigint, dwords: number): void {
  for (let k = 0; k < dwords; k++) w.setScalar(encoding + k, Number((BigInt(value) >> BigInt(k * 32)) & 0xffffffffn))
}

/** The usual way of logic, shifts and counts: SCC tells whether the result is not 0. */
export function nonZero<T extends number | bigint>(value: T): readonly [T, boolean] {
  return [value, typeof value === 'bigint' ? BigInt.asUintN(64, value) !== 0n : value >>> 0 !== 0]
}
