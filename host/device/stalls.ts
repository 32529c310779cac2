/** A workgroup that does not get on: which of its waves stands where, and the errors that say so. */
import { FaultError, LimitError, type Place } from '../errors.ts'
import type { Device } from './device.ts'
import { placeOf, placeText } from './faults.ts'
import { hex } from './memory.ts'
import type { Wave } from './wave.ts'

/** A wave that has not ended, and what it does. */
export interface Standing {
  readonly wave: Wave
  /** `wants`: it is at an instruction that waits for something beyond the workgroup. */
  readonly state: 'runs' | 'waits' | 'halted' | 'wants'
  /** What it wants. */
  readonly on?: string | undefined
}

/** A workgroup with its waves that have not ended. */
export interface Stall {
  readonly device: Device
  readonly workgroup: Place['workgroup']
  readonly standings: readonly Standing[]
}

const STATES = { runs: 'next is', waits: 'waits at', halted: 'was halted by', wants: 'is at' } as const
/** s_barrier and s_sethalt are one dword. */
const DWORD = 4

/** No wave can go on. The place is the first one's. */
export function deadlock(stall: Stall): FaultError {
  const wanted = stall.standings.some(({ state }) => state === 'wants')
  const wayOut = wanted ? WAY_OUT_BEYOND : 'every wave must reach the barrier or end'
  return deadlockError(stall, `no wave of workgroup ${stall.workgroup.join(',')} can go on: ${whoStands(stall)}; ${wayOut}`)
}

/**
 * No wave of any workgroup can go on.
 * @param first the first of the workgroups; the place is its first wave's
 * @param who what the waves of some workgroups do, by {@link whoStands}; the first of them comes first
 * @param untold how many other workgroups there are
 */
export function deadlockOfAll(
  first: Stall,
  who: readonly { readonly workgroup: Place['workgroup']; readonly text: string }[],
  untold: number,
): FaultError {
  const texts = new Map<string, string[]>()
  for (const { workgroup, text } of who) texts.set(text, [...(texts.get(text) ?? []), workgroup.join(',')])
  const told = [...texts].map(([text, workgroups]) => `workgroup ${few(workgroups)}: ${text}`)
  const others = untold > 0 ? `; ${untold} more workgroups` : ''
  return deadlockError(first, `no wave can go on: ${told.join('; ')}${others}; ${WAY_OUT_BEYOND}`)
}

const FEW = 4
const few = (names: readonly string[]): string =>
  names.slice(0, FEW).join(' and ') + (names.length > FEW ? ` and ${names.length - FEW} more` : '')

const WAY_OUT_BEYOND = 'what a wave waits for must be done by another one'
const deadlockError = (stall: Stall, message: string): FaultError =>
  new FaultError('ERR_DEADLOCK', message, standingPlace(stall, stall.standings[0]!))

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
  placeOf(device, wave, workgroup, state === 'runs' || state === 'wants' ? wave.pc : wave.pc - DWORD)

/** What a workgroup's waves do; those in the same situation are named together. */
export function whoStands(stall: Stall): string {
  const situations = new Map<string, number[]>()
  for (const standing of stall.standings) {
    const { instruction, pc } = standingPlace(stall, standing)
    const wish = standing.on === undefined ? '' : `, waiting for ${standing.on}`
    const situation = `${STATES[standing.state]} ${instruction} at pc ${hex(pc)}${wish}`
    situations.set(situation, [...(situations.get(situation) ?? []), standing.wave.index])
  }
  return [...situations].map(([situation, waves]) => `wave ${waves.join(', ')}: ${situation}`).join('; ')
}
