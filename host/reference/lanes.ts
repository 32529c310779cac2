/** All lane functions by name: what the engine calls, and what a test holds against the rows. */
import type { LaneFunction } from './lane.ts'
import * as vop1 from './vop1.ts'
import * as vop2 from './vop2.ts'
import * as vop3 from './vop3.ts'
import { COMPARES } from './vopc.ts'

const isOperation = (name: string): boolean => name.startsWith('v_')

export const LANE_FUNCTIONS: ReadonlyMap<string, LaneFunction> = new Map(
  Object.entries({ ...vop1, ...vop2, ...vop3, ...COMPARES } as Record<string, LaneFunction>).filter(([name]) => isOperation(name)),
)
