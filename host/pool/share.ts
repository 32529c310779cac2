/** One thread's share of a dispatch: it runs workgroups as long as there are any, and knows what it did. */
import { type Claim, type Execution, Slices, type TwinWave } from '../device/index.ts'
import { Stop } from '../engine.ts'
import type { ErrorCode, LanewiseError } from '../errors.ts'
import { type Control, claimFrom } from './control.ts'

/** What a thread did with workgroups that it took at once. */
export interface Piece {
  /** The first of them. */
  readonly from: number
  /** How many ended. */
  readonly groups: number
  /** Wave instructions. */
  readonly instructions: number
  readonly approximate: Readonly<Record<string, number>>
}

/** Why a workgroup stopped a thread. */
export interface Halt {
  readonly group: number
  readonly wave: TwinWave
  /** Whether the wave's header tells the fault. */
  readonly fault: boolean
  readonly code: ErrorCode
  readonly message: string
}

/** What a thread did. Goes through postMessage. */
export interface Report {
  readonly pieces: readonly Piece[]
  readonly halt: Halt | undefined
}

export class Share {
  readonly #control: Control
  readonly #budget: number
  readonly #slices = new Slices()
  readonly #pieces: Piece[] = []
  #execution: Execution | undefined
  /** The first workgroup of the present piece, and what had been done before. */
  #from = 0
  #before: Omit<Piece, 'from'> = { groups: 0, instructions: 0, approximate: {} }
  /** Whether it has claimed workgroups, which nobody else will run. */
  claimed = false
  /** What the execution claims workgroups with. */
  readonly claim: Claim

  /** @param budget wave instructions of all threads */
  constructor(control: Control, budget: number) {
    this.#control = control
    this.#budget = budget
    this.claim = claimFrom(control, (from) => {
      this.#close()
      this.#from = from
      this.claimed = true
    })
  }

  /** Gives the share what runs its workgroups; what that did before counts as well. */
  begin(execution: Execution): void {
    this.#execution = execution
    this.#control.count(execution.instructions, execution.groupsDone)
  }

  /** Runs for a few milliseconds; whether there is more to do. */
  step(): boolean {
    const control = this.#control
    const execution = this.#execution!
    if (execution.status !== 'running' || control.stopped || execution.group >= control.limit) return false
    const left = this.#budget - control.executed
    // What was counted has been executed, and there is more: the budget does not do, whoever used it up.
    if (left <= 0) {
      control.stop()
      return false
    }
    const { groupsDone } = execution
    const start = performance.now()
    const executed = execution.step(Math.min(this.#slices.instructions, left))
    this.#slices.took(performance.now() - start)
    control.count(executed, execution.groupsDone - groupsDone)
    if (execution.error !== undefined) control.limitTo(execution.group)
    return execution.status === 'running'
  }

  report(): Report {
    this.#close()
    const execution = this.#execution
    return { pieces: this.#pieces, halt: execution?.error && haltOf(execution, execution.error) }
  }

  /** Ends the present piece. */
  #close(): void {
    if (this.#execution === undefined) return
    const { instructions, approximate } = this.#execution.outcome(0)
    const now = { groups: this.#execution.groupsDone, instructions, approximate }
    this.#pieces.push({
      from: this.#from,
      groups: now.groups - this.#before.groups,
      instructions: instructions - this.#before.instructions,
      approximate: difference(approximate, this.#before.approximate),
    })
    this.#before = now
  }
}

function difference(now: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>): Record<string, number> {
  const counts = Object.entries(now).map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

function haltOf(execution: Execution, { code, message }: LanewiseError): Halt {
  const { index, host, stop } = execution.outcome(0).wave!
  return { group: execution.group, wave: { index, host }, fault: stop === Stop.Fault, code, message }
}
