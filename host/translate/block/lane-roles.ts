import { EXEC_LO, scalarOffset } from '../../plan/layout.ts'
import { KIND_SPECIAL } from '../../plan/record.ts'
import type { Step } from '../code/graph.ts'
import type { LaneModes } from '../code/modes.ts'
import { bestRole, laneFacts, type Role } from '../code/roles.ts'
import type { Kernels } from '../wasm/kernels.ts'
import { hasMask, isWide, maskOffset } from './lane-values.ts'
import { isPlainScalar } from './scalars.ts'
import { finishOf, isDpp, isSdwa, isStaged, staysInRow } from './stages.ts'

/** Whether a vector instruction can be part of a run of lanes. */
function isLaneStep(step: Step, kernels: Kernels): boolean {
  const { operation, mods, modes } = step
  const { functions, flushes64, round } = laneFacts(operation)
  if (mods.kinds.includes(KIND_SPECIAL) || (isStaged(step) && !isLaneStaged(step, kernels))) return false
  // What writes EXEC is for the core: the row of lane masks has to follow.
  if (hasMask(step) && maskOffset(step) >= scalarOffset(EXEC_LO) - 4) return false
  if ((modes.flush64 && flushes64) || (round !== undefined && modes[round] !== 0)) return false
  return functions.every((name) => kernels.takesVectors(name))
}

/** Whether runs have what stands around the operation: not around 64-bit ones, and no integer saturation. */
function isLaneStaged(step: Step, kernels: Kernels): boolean {
  const finish = finishOf(step)
  if (isWide(step)) return !isSdwa(step) && !isDpp(step) && !step.mods.clamp && finish === 0
  if (isDpp(step) && !staysInRow(step)) return false
  if (step.mods.clamp && kernels.has(`${step.operation.name}_clamped`)) return false
  return (finish & 3) === 0 || step.modes.round32 === 0
}

/** Roles of steps, found once. */
export function rolesOf(kernels: Kernels): (step: Step) => Role {
  // By MODE and dword of the code: they are asked for a hundred times.
  const roles = new Map<LaneModes, Role[]>()
  return (step) => {
    let known = roles.get(step.modes)
    if (known === undefined) {
      known = []
      roles.set(step.modes, known)
    }
    known[step.pc >>> 2] ??= roleOf(step, kernels)
    return known[step.pc >>> 2]!
  }
}

function roleOf(step: Step, kernels: Kernels): Role {
  const best = bestRole(step.operation)
  const isAsGood = best === 'lanes' ? isLaneStep(step, kernels) : best !== 'scalar' || isPlainScalar(step)
  return isAsGood ? best : 'call'
}
