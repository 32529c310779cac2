/** A workgroup that does not get on: which of its waves stands where, and the errors that say so. */
import { FaultError, LimitError, type Place } from '../errors.ts'
import type { Device } from './device.ts'
import { placeOf, placeText } from './faults.ts'
import { hex } from './memory.ts'
import type { Wave } from './wave.ts'

/** A wave that has not ended, and what it does. */
export interface Standing {
  readonly wave: Wave
  readonly state: 'runs' | 'waits' | 'halted'
}

/** A workgroup with its waves that have not ended. */
export interface Stall {
  readonly device: Device
  readonly workgroup: Place['workgroup']
  readonly standings: readonly Standing[]
}

const STATES = { runs: 'next is', waits: 'waits at', halted: 'was halted by' } as const
/** s_barrier and s_sethalt are one dword. */
const DWORD = 4

/** No wave can go on. The place is the first one's. */
export function deadlock(stall: Stall): FaultError {
  const place = standingPlace(stall, stall.standings[0]!)
  return new FaultError(
    'ERR_DEADLOCK',
    `no wave of workgroup ${stall.workgroup.join(',')} can go on: ${whoStands(stall)}; every wave must reach the barrier or end`,
    place,
  )
}

/**
 * The budget is used up.
 * @param current the wave whose turn it was
 * @param done what has been done, in words
 */
export function exhausted(stall: Stall, current: Wave, budget: number, done: string): LimitError {
  const place = placeOf(stall.device, current, stall.workgroup)
  const others = stall.standings.length > 1 ? `; ${whoStands(stall)}` : ''
  return new LimitError(
    `the budget of ${budget} wave instructions is used up before ${placeText(place)}, ${done}${others}; look for an endless loop or give a larger budget`,
    place,
  )
}

/** Where a wave runs, or what it waits at: that is behind it. */
const standingPlace = ({ device, workgroup }: Stall, { wave, state }: Standing): Place =>
  placeOf(device, wave, workgroup, state === 'runs' ? wave.pc : wave.pc - DWORD)

/** Waves in the same situation are named together. */
function whoStands(stall: Stall): string {
  const situations = new Map<string, number[]>()
  for (const standing of stall.standings) {
    const { instruction, pc } = standingPlace(stall, standing)
    const situation = `${STATES[standing.state]} ${instruction} at pc ${hex(pc)}`
    situations.set(situation, [...(situations.get(situation) ?? []), standing.wave.index])
  }
  return [...situations].map(([situation, waves]) => `wave ${waves.join(', ')}: ${situation}`).join('; ')
}
