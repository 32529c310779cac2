/** A dispatch on a second thread: a device of its own on the same linear memory, with the same guest memory at the same addresses. */

import type { LanewiseError } from '../errors.ts'
import type { Target } from '../isa/targets.ts'
import type { Device, DeviceKernel } from './device.ts'
import { dispatch, type Launch } from './dispatch.ts'
import type { Claim, Execution } from './execution.ts'
import { faultOf } from './faults.ts'
import type { Region } from './memory.ts'
import { Wave } from './wave.ts'

/** What another thread runs workgroups of a dispatch from. All of it goes through postMessage. */
export interface DispatchTwin {
  readonly target: Target
  /** Address of the global data share, which is the same for all. */
  readonly gdsAddress: number
  readonly kernel: DeviceKernel
  readonly launch: Launch
  /** The guest's memory, without what the dispatch gave it: that each thread allocates itself. */
  readonly regions: readonly Region[]
  /** Where addresses were chosen from before the dispatch, so that each thread chooses the same. */
  readonly nextAddress: bigint
}

/**
 * Prepares the dispatch on this thread's device.
 * @param claim which workgroups to run
 */
export function dispatchTwin(device: Device, { kernel, launch, regions, nextAddress }: DispatchTwin, claim: Claim): Execution {
  device.memory.adopt(regions, nextAddress)
  return dispatch(device, kernel, launch, claim)
}

/**
 * The error of a wave that faulted on another thread, as the first thread tells it.
 * @param host address of the wave's block in linear memory
 */
export function faultOfTwin(execution: Execution, group: number, index: number, host: number): { error: LanewiseError; wave: Wave } {
  const { device, waves } = execution
  const wave = new Wave(device.arena, index, host, waves[0]!.program)
  return { wave, error: faultOf(device, wave, execution.position(group)) }
}
