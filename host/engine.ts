/** The one interface that the engines implement. An engine runs waves that the device has laid out in its linear memory. */

export type EngineName = 'reference' | 'core' | 'translate'

/** Why `run` returned; also in WAVE_STOP of the wave header. */
export const Stop = {
  /** s_endpgm, or the code's end. */
  End: 1,
  /** s_barrier was executed; WAVE_PC is behind it. */
  Barrier: 2,
  /** The budget is used up; WAVE_PC is the next instruction. */
  Budget: 3,
  /** The instruction at WAVE_PC has no plan record yet. */
  Plan: 4,
  /** The instruction at WAVE_PC could not be executed and had no effect; WAVE_FAULT says why. */
  Fault: 5,
  /** s_sleep, s_sendmsg and others that give the turn away; WAVE_PC is behind. */
  Yield: 6,
} as const
export type Stop = (typeof Stop)[keyof typeof Stop]

/** WAVE_FAULT. */
export const FaultCode = {
  /** Guest address outside every region, or a write to a read-only one. */
  Memory: 1,
  /** Beyond the workgroup's LDS (or the GDS). */
  Lds: 2,
  /** An address that the access's size does not allow. */
  Misaligned: 3,
  /** No instruction has this encoding. */
  Illegal: 4,
  /** A known instruction that Lanewise does not run. */
  Unsupported: 5,
  /** pc left the code. */
  Jump: 6,
  /** s_trap. */
  Trap: 7,
  /** A register index beyond what the wave was given. */
  Register: 8,
} as const
export type FaultCode = (typeof FaultCode)[keyof typeof FaultCode]

export interface Engine {
  readonly name: EngineName
  /** First byte of linear memory that is the device's to use; a multiple of 64. */
  readonly heapBase: number
  /** All linear memory; replaced when it grows, so never keep it over a call of `grow`. */
  readonly memory: ArrayBufferLike
  /** Makes linear memory at least this many bytes long. @throws {LimitError} where that is more than the engine can have */
  grow(bytes: number): void
  /**
   * Runs the wave whose block starts at `wave` until it stops.
   * @param budget instructions at most, 1 to 2^31-1
   */
  run(wave: number, budget: number): Stop
}
