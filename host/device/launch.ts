/** What a dispatch is made from. */
import type { Target } from '../isa/targets.ts'
import type { DeviceKernel } from './device.ts'
import type { Argument } from './kernarg.ts'
import type { Region } from './memory.ts'
import type { Size } from './packet.ts'
import type { Schedule } from './schedule.ts'

/** What is launched: sizes, arguments, and what else the packet of a dispatch says. */
export interface Launch {
  /** Work-items, each 1 to 2^32 - 1. */
  readonly grid: Size
  /** Work-items, at most 1024 in all; workgroups at the grid's edge may be partial. Default: the grid. */
  readonly workgroup?: Size | undefined
  /** Explicit arguments in metadata order; hidden ones are filled in. */
  readonly args?: readonly Argument[] | undefined
  /** Instead of `args`: the kernarg segment as it is, and where it is to be. */
  readonly kernarg?: { readonly bytes: Uint8Array; readonly address?: bigint | undefined } | undefined
  /** LDS beyond the kernel's own and that of local arguments, bytes; default 0. */
  readonly dynamicLdsBytes?: number | undefined
  /** Only the workgroups from the first of these numbers up to, not including, the second; x runs first. Default: all. */
  readonly groups?: readonly [from: number, to: number] | undefined
  /** Stack of a work-item beyond its fixed scratch, bytes, for kernels whose calls the compiler could not bound; default 16384. */
  readonly stackBytes?: number | undefined
  /** How the waves of a workgroup take turns; default `round-robin`. */
  readonly schedule?: Schedule | undefined
}

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
