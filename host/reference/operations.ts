/** Which function executes an operation: found by the operation's name in the file that its table names. */
import { OPERATIONS, type Operation, type Table } from '../isa/operations.ts'
import * as crossLane from './cross-lane.ts'
import * as ds from './ds.ts'
import * as flat from './flat.ts'
import { LANE_FUNCTIONS } from './lanes.ts'
import * as mimg from './mimg.ts'
import * as mtbuf from './mtbuf.ts'
import * as mubuf from './mubuf.ts'
import { type ScalarFunction, scalarExecutor, type WaveFunction } from './scalar.ts'
import * as smem from './smem.ts'
import * as sop1 from './sop1.ts'
import * as sop2 from './sop2.ts'
import * as sopc from './sopc.ts'
import * as sopk from './sopk.ts'
import * as sopp from './sopp.ts'
import { laneExecutor } from './vector.ts'
import * as vintrp from './vintrp.ts'

/** A file of functions by operation name; its other exports are not looked at. */
type Functions<F> = Readonly<Record<string, F | undefined>>
// Each file's functions have signatures of their own, which the shape in the row fixes; TypeScript cannot follow that.
const functions = <F>(file: object): Functions<F> => file as Functions<F>

const SCALAR: Partial<Record<Table, Functions<ScalarFunction>>> = {
  sop1: functions(sop1),
  sop2: functions(sop2),
  sopc: functions(sopc),
}
const WAVE: Partial<Record<Table, Functions<WaveFunction>>> = {
  sopk: functions(sopk),
  sopp: functions(sopp),
  smem: functions(smem),
  vop1: functions(crossLane),
  vop2: functions(crossLane),
  vop3: functions(vintrp),
  vintrp: functions(vintrp),
  ds: functions(ds),
  flat: functions(flat),
  mubuf: functions(mubuf),
  mtbuf: functions(mtbuf),
  mimg: functions(mimg),
}

const executors = new Map<Operation, WaveFunction | undefined>()

/** Executes an operation on a wave; undefined where the reference does not run it. */
export function executorOf(operation: Operation): WaveFunction | undefined {
  if (!executors.has(operation)) executors.set(operation, findExecutor(operation))
  return executors.get(operation)
}

function findExecutor(operation: Operation): WaveFunction | undefined {
  const { name, table } = operation
  const whole = WAVE[table]?.[name]
  if (whole !== undefined) return whole
  const scalar = SCALAR[table]?.[name]
  if (scalar !== undefined) return scalarExecutor(operation, scalar)
  const lane = LANE_FUNCTIONS.get(name)
  if (lane !== undefined) return laneExecutor(operation, lane)
  return undefined
}

/** Names of all operations that the reference has a function for, in the order of OPERATIONS. */
export const referenceOperations = (): string[] => OPERATIONS.filter((o) => executorOf(o) !== undefined).map((o) => o.name)
