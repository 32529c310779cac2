/** Moves between scalars and single lanes (v_readlane_b32 and its like) in translated code: they are scalar instructions that also name a row. */
import { KIND_SCALAR, KIND_SPECIAL, KIND_VECTOR } from '../../plan/record.ts'
import { wideConstant } from '../code/constant.ts'
import type { Step } from '../code/graph.ts'
import { crossLaneWay } from '../code/roles.ts'
import type { Locals } from '../wasm/kernels.ts'
import { type Code, I32, OP } from '../wasm/wasm.ts'
import { EXEC, isExec, type ScalarFile, type Uses } from './scalars.ts'

const uses = new WeakMap<Step, Uses>()

/** What such a move reads and writes: scalars, and rows, by their offset in the wave block. Others have none, and those that write EXEC. */
export function crossLaneUses(step: Step): Uses | undefined {
  const way = crossLaneWay(step.operation)
  if (way === undefined || step.mods.kinds.includes(KIND_SPECIAL) || isExec(step.dst)) return undefined
  let found = uses.get(step)
  if (found === undefined) {
    const named = step.operation.shape.sources.flatMap((_, slot) =>
      step.mods.kinds[slot] === KIND_SCALAR || step.mods.kinds[slot] === KIND_VECTOR ? [step.sources[slot]!] : [],
    )
    found = { reads: new Set(way === 'readfirstlane' ? [...named, EXEC, EXEC + 4] : named), writes: new Set([step.dst]) }
    uses.set(step, found)
  }
  return found
}

/** The scalar that a lane is set to, if one is, and one that does not also say which lane. */
export function laneSource({ operation, mods, sources }: Step): number | undefined {
  if (crossLaneWay(operation) !== 'writelane' || mods.kinds[0] !== KIND_SCALAR) return undefined
  return mods.kinds[1] === KIND_SCALAR && sources[1] === sources[0] ? undefined : sources[0]
}

/**
 * Appends such a move.
 * @param source pushes what a lane is set to, where that is no scalar any more
 */
export function writeCrossLane(code: Code, step: Step, wave: number, locals: Locals, file: ScalarFile, source?: () => void): void {
  const way = crossLaneWay(step.operation)
  if (way === 'writelane') {
    pushLane(code, step, wave, file)
    if (source) source()
    else pushWord(code, step, 0, file)
    code.memory(OP.i32Store, step.dst)
    return
  }
  if (step.mods.kinds[0] !== KIND_VECTOR) pushWord(code, step, 0, file)
  else {
    if (way === 'readlane') pushLane(code, step, wave, file)
    else {
      // The lowest active lane; 0 where there is none, for the count is 64 then.
      file.load(code, EXEC, true)
      code.op(OP.i64Ctz, OP.i32WrapI64).i32(63).op(OP.i32And).i32(2).op(OP.i32Shl).get(wave).op(OP.i32Add)
    }
    code.memory(OP.i32Load, step.sources[0])
  }
  const value = locals.temporary(I32)
  code.set(value)
  file.store(code, step.dst, false, value)
}

/** Pushes the address of the lane that is named, less the row's offset. */
function pushLane(code: Code, step: Step, wave: number, file: ScalarFile): void {
  pushWord(code, step, 1, file)
  code.i32(63).op(OP.i32And).i32(2).op(OP.i32Shl).get(wave).op(OP.i32Add)
}

function pushWord(code: Code, step: Step, slot: 0 | 1, file: ScalarFile): void {
  const kind = step.mods.kinds[slot]!
  if (kind === KIND_SCALAR) file.load(code, step.sources[slot], false)
  else code.i32(Number(BigInt.asIntN(32, wideConstant(kind, step.sources[slot]))))
}
