/** The few numbers through which the threads of one dispatch keep in touch, in memory that all of them see. */
import type { Claim } from '../device/index.ts'

/** Places in the array. */
const NEXT = 0
const LIMIT = 1
const EXECUTED = 2
const DONE = 3
const STOPPED = 4
/** From here on the state of each thread. */
const THREADS = 5

/** What a thread does: nothing yet; it takes part; the dispatch went on without it. */
const INVITED = 0n
const JOINED = 1n
const DISMISSED = 2n

/** Workgroups that a thread takes at once are this part of its even share of what is left: so all of them end at the same time. */
const PART = 4

export class Control {
  /** Goes through postMessage. */
  readonly buffer: SharedArrayBuffer
  readonly groupCount: number
  readonly threads: number
  readonly #words: BigInt64Array

  /** @param threads how many may take part, the first one included */
  constructor(groupCount: number, threads: number, buffer = new SharedArrayBuffer((THREADS + threads) * 8)) {
    this.buffer = buffer
    this.groupCount = groupCount
    this.threads = threads
    this.#words = new BigInt64Array(buffer)
  }

  /** Workgroups from this one on are to be given out. Called before anyone joins. */
  begin(firstGroup: number): void {
    this.#words[NEXT] = BigInt(firstGroup)
    this.#words[LIMIT] = BigInt(this.groupCount)
  }

  /** Whether thread `index` may take part; it must not touch anything before. */
  join(index: number): boolean {
    return Atomics.compareExchange(this.#words, THREADS + index, INVITED, JOINED) === INVITED
  }

  /** Whether a thread has not joined; then it never will. */
  dismiss(index: number): boolean {
    return Atomics.compareExchange(this.#words, THREADS + index, INVITED, DISMISSED) !== JOINED
  }

  /** The first workgroup and the one behind the last of some that the caller runs; undefined when none are left. */
  take(): readonly [from: number, to: number] | undefined {
    for (;;) {
      const before = Atomics.load(this.#words, NEXT)
      const from = Number(before)
      const left = Math.min(this.limit, this.groupCount) - from
      if (left <= 0 || this.stopped) return undefined
      const to = from + Math.max(1, Math.floor(left / (PART * this.threads)))
      if (Atomics.compareExchange(this.#words, NEXT, before, BigInt(to)) === before) return [from, to]
    }
  }

  /** Workgroups from this one on need not run any more. */
  get limit(): number {
    return Number(Atomics.load(this.#words, LIMIT))
  }

  /** A workgroup has stopped: those behind it do not count. */
  limitTo(group: number): void {
    for (;;) {
      const before = Atomics.load(this.#words, LIMIT)
      if (before <= BigInt(group) || Atomics.compareExchange(this.#words, LIMIT, before, BigInt(group)) === before) return
    }
  }

  /** Wave instructions of all threads. */
  get executed(): number {
    return Number(Atomics.load(this.#words, EXECUTED))
  }

  /** Workgroups that have ended. */
  get done(): number {
    return Number(Atomics.load(this.#words, DONE))
  }

  count(instructions: number, groups: number): void {
    Atomics.add(this.#words, EXECUTED, BigInt(instructions))
    if (groups > 0) Atomics.add(this.#words, DONE, BigInt(groups))
  }

  get stopped(): boolean {
    return Atomics.load(this.#words, STOPPED) !== 0n
  }

  /** All threads are to stop at once. */
  stop(): void {
    Atomics.store(this.#words, STOPPED, 1n)
  }
}

/** Claims the workgroups that a thread takes at once; `onTake` hears of the first of them. */
export function claimFrom(control: Control, onTake: (from: number) => void): Claim {
  return () => {
    const taken = control.take()
    if (taken !== undefined) onTake(taken[0])
    return taken
  }
}
