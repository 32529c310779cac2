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

/** The executor of an operation. */
export function scalarExecutor({ shape }: Operation, f: ScalarFunction): WaveFunction {
  const bits = shape.sources.map(bitsOf)
  const dwords = shape.results.map(dwordsOf)[0] ?? 0
  const operand = (w: Wave, r: PlanRecord, slot: number) => source(w, r, slot, bits[slot]!)
  const call = (w: Wave, r: PlanRecord): ScalarResult => {
    if (bits.length === 0) return f(w, r)
    if (bits.length === 1) return f(operand(w, r, 0), w, r)
    return f(operand(w, r, 0), operand(w, r, 1), w, r)
  }
  return (w, r) => {
    const result = call(w, r)
    if (typeof result === 'boolean') w.scc = result
    else if (typeof result === 'object') {
      writeScalar(w, scalarOf(r.dst), result[0], dwords)
      w.scc = result[1]
    } else if (result !== undefined) writeScalar(w, scalarOf(r.dst), result, dwords)
  }
}

/** Writes a value to one scalar register or to the pair from `encoding` on. */
export function writeScalar(w: Wave, encoding: number, value: number | bigint, dwords: number): void {
  if (dwords === 1) w.setScalar(encoding, Number(value))
  else w.setScalar64(encoding, BigInt(value))
}

/** The usual way of logic, shifts and counts: SCC tells whether the result is not 0. */
export function nonZero<T extends number | bigint>(value: T): readonly [T, boolean] {
  return [value, typeof value === 'bigint' ? BigInt.asUintN(64, value) !== 0n : value >>> 0 !== 0]
}
