/** A dispatch on a second thread: a device of its own on the same linear memory, with the same guest memory at the same addresses. */

import type { LanewiseError } from '../errors.ts'
import type { Device } from './device.ts'
import { dispatch } from './dispatch.ts'
import type { Claim, Execution } from './execution.ts'
import { faultOf } from './faults.ts'
import type { DispatchTwin } from './launch.ts'
import { Wave } from './wave.ts'

/**
 * Prepares the dispatch on this thread's device.
 * @param claim which workgroups to run
 */
export function dispatchTwin(device: Device, { kernel, launch, regions, nextAddress }: DispatchTwin, claim: Claim): Execution {
  device.memory.adopt(regions, nextAddress)
  return dispatch(device, kernel, launch, claim)
}

/** A wave of another thread. Goes through postMessage. */
export interface TwinWave {
  readonly index: number
  /** Address of its block in linear memory. */
  readonly host: number
}

/** A wave of another thread as this one reads it. */
export const twinWave = ({ device, waves }: Execution, { index, host }: TwinWave): Wave =>
  new Wave(device.arena, index, host, waves[0]!.program)

/** The error of a wave that faulted on another thread, as the first thread tells it. */
export const faultOfTwin = (execution: Execution, group: number, wave: Wave): LanewiseError =>
  faultOf(execution.device, wave, execution.position(group))
