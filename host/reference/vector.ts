/** Runs a lane function over a wave: fetch, call, finish, commit. What an operation computes is none of its business. */
import type { Operation } from '../isa/operations.ts'
import { EXEC_LO } from '../plan/layout.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { FLAG_DPP } from '../plan/record.ts'
import { checkDpp, fetchRows, newRow, type Row, type SourceShape, sourceShapesOf } from './fetch.ts'
import { commit, destinationVgpr, finisher, type ResultShape, resultShapeOf } from './finish.ts'
import type { LaneFunction } from './lane.ts'
import { type InstructionModes, modesOf } from './modes.ts'
import type { WaveFunction } from './scalar.ts'
import type { Wave } from './wave.ts'

/** A lane function with what its row says of operands and results, and rows to hold them while an instruction runs. */
interface VectorOperation {
  readonly lane: LaneFunction
  readonly sources: readonly SourceShape[]
  /** Absent where there is only a mask. */
  readonly value: ResultShape | undefined
  readonly hasMask: boolean
  readonly writesExec: boolean
  readonly operands: readonly Row[]
  readonly values: Row
}

/** v_cmpx and v_cmpsx write EXEC besides their destination. */
const WRITES_EXEC = /^v_cmps?x_/

/** The executor of an operation. */
export function laneExecutor(operation: Operation, lane: LaneFunction): WaveFunction {
  const { sources, results } = operation.shape
  const type = results[0] === 'mask' ? undefined : results[0]
  const vector: VectorOperation = {
    lane,
    sources: sourceShapesOf(operation),
    value: type === undefined ? undefined : resultShapeOf(operation, type),
    hasMask: results.includes('mask'),
    writesExec: WRITES_EXEC.test(operation.name),
    operands: sources.map(newRow),
    values: newRow(type ?? 'mask'),
  }
  return (w, r) => runLanes(w, r, vector)
}

/** Every lane's sources are read before any result is written, so destinations may overlap sources at will. */
function runLanes(w: Wave, r: PlanRecord, vector: VectorOperation): void {
  const { value, values } = vector
  if (r.flags & FLAG_DPP) checkDpp(r)
  const modes = modesOf(w, r)
  const register = value === undefined ? 0 : destinationVgpr(w, r)
  if (value !== undefined) w.checkVgprs(register, value.dwords)
  const lanes = fetchRows(w, r, vector.sources, modes, w.activeLanes(), vector.operands)
  const mask = vector.hasMask ? [0, 0] : undefined
  callLanes(vector, lanes, modes, mask)
  if (value !== undefined) {
    const finish = finisher(r, value, modes)
    if (finish !== undefined) for (const lane of lanes) values[lane] = finish(values[lane] as number | bigint)
    commit(w, r, register, lanes, values, value.type)
  }
  if (mask !== undefined) writeMask(w, r, vector, mask as [number, number])
}

/** Leaves the results in the operation's row, and the bits of the mask, if it has one, in the dwords of `mask`. */
function callLanes(
  { lane: f, operands, values }: VectorOperation,
  lanes: readonly number[],
  modes: InstructionModes,
  mask: number[] | undefined,
): void {
  for (const lane of lanes) {
    modes.lane = lane
    const result = call(f, operands, lane, modes)
    if (mask === undefined) values[lane] = result as number | bigint
    else if (typeof result === 'object') {
      values[lane] = result[0]
      if (result[1]) setBit(mask, lane)
    } else if (result === true) setBit(mask, lane)
  }
}

function setBit(mask: number[], lane: number): void {
  mask[lane >>> 5]! |= 1 << (lane & 31)
}

function call(f: LaneFunction, operands: readonly Row[], lane: number, modes: InstructionModes): ReturnType<LaneFunction> {
  switch (operands.length) {
    case 1:
      return f(operands[0]![lane], modes)
    case 2:
      return f(operands[0]![lane], operands[1]![lane], modes)
    case 3:
      return f(operands[0]![lane], operands[1]![lane], operands[2]![lane], modes)
    default:
      return f(...operands.map((row) => row[lane]), modes)
  }
}

/** Masks are written whole: lanes that did not take part give 0. */
function writeMask(w: Wave, r: PlanRecord, { writesExec }: VectorOperation, [low, high]: readonly [number, number]): void {
  for (const encoding of writesExec ? [r.mods.sdst, EXEC_LO] : [r.mods.sdst]) {
    w.setScalar(encoding, low)
    w.setScalar(encoding + 1, high)
  }
}
