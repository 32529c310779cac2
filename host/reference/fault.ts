/** What stops an instruction that cannot be executed. Thrown before the instruction has had any effect. */
import type { FaultCode } from '../engine.ts'

/** WAVE_FAULT_LANE of an access that is not a lane's. */
export const NO_LANE = 0xffffffff

export class Fault {
  constructor(
    readonly code: FaultCode,
    readonly lane: number = NO_LANE,
    /** Guest address, or LDS byte address. */
    readonly address: bigint = 0n,
    /** Bytes of the access. */
    readonly bytes: number = 0,
  ) {}
}
