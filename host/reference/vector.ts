/** Runs a lane function over a wave: fetch, call, finish, commit. What an operation computes is none of its business. */
import type { Operation } from '../isa/operations.ts'
import { dwordsOf } from '../isa/row.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { FLAG_DPP } from '../plan/record.ts'
import { checkDpp, dppEnables, operands } from './fetch.ts'
import { commit, destinationVgpr, finish } from './finish.ts'
import type { LaneFunction } from './lane.ts'
import { modesOf } from './modes.ts'
import type { Wave } from './wave.ts'

/** Every lane's sources are read before any result is written, so destinations may overlap sources at will. */
export function runLanes(w: Wave, r: PlanRecord, operation: Operation, lane: LaneFunction): void {
  if (r.flags & FLAG_DPP) checkDpp(r)
  const modes = modesOf(w, r)
  const { results } = operation.shape
  const valueType = results[0] === 'mask' ? undefined : results[0]
  const register = valueType === undefined ? 0 : destinationVgpr(w, r)
  if (valueType !== undefined) w.checkVgprs(register, dwordsOf(valueType))

  const values: (readonly [lane: number, value: number | bigint])[] = []
  let mask = 0n
  for (const at of w.activeLanes()) {
    if (r.flags & FLAG_DPP && !dppEnables(r, at)) continue
    modes.lane = at
    const sources = operands(w, r, operation, modes)
    if (sources === undefined) continue
    const [value, bit] = split(lane(...sources, modes))
    if (valueType !== undefined) values.push([at, finish(value, r, operation, valueType, modes)])
    if (bit) mask |= 1n << BigInt(at)
  }

  for (const [at, value] of values) commit(w, r, register, at, value, valueType!)
  if (results.includes('mask')) writeMask(w, r, operation, mask)
}

/** A lane function's result as value and mask bit; a compare has the bit alone. */
function split(result: ReturnType<LaneFunction>): readonly [number | bigint, boolean] {
  if (typeof result === 'boolean') return [0, result]
  return typeof result === 'object' ? result : [result, false]
}

const WRITES_EXEC = /^v_cmps?x_/

/** Masks are written whole: lanes that did not take part give 0. v_cmpx and v_cmpsx write EXEC besides their destination. */
function writeMask(w: Wave, r: PlanRecord, operation: Operation, mask: bigint): void {
  w.setScalar64(r.mods.sdst, mask)
  if (WRITES_EXEC.test(operation.name)) w.exec = mask
}
