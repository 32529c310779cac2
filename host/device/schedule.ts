/** Which wave of a workgroup has the next turn, and how long it may be. By instruction counts and seeds alone, so that runs repeat. */

/**
 * How the waves of a workgroup take turns. A wave keeps its turn until it ends, waits at a barrier, gives it away (s_sleep and its like), or has used
 * it up.
 * - `round-robin`: the next in order
 * - `oldest-first`: the one that was least recently made to give way, at first the lowest number
 * - `random:SEED`: any, for 1 to 64 instructions; the same for the same seed (0 to 2^32 - 1) and workgroup
 *
 * Results of kernels without races do not depend on it.
 */
export type Schedule = 'round-robin' | 'oldest-first' | `random:${number}`

/** A schedule by its name; undefined where there is none. */
export function parseSchedule(text: string): Schedule | undefined {
  if (text === 'round-robin' || text === 'oldest-first') return text
  const seed = /^random:(\d{1,10})$/.exec(text)?.[1]
  return seed !== undefined && Number(seed) < 2 ** 32 ? `random:${Number(seed)}` : undefined
}

export interface Scheduler {
  /** A workgroup of so many waves begins. */
  begin(group: number, waves: number): void
  /** Instructions of the turn that begins. */
  turn(): number
  /**
   * The wave that has the next turn; undefined where none can run.
   * @param current whose turn was the last one; -1 where all begin or go on together
   * @param gaveWay it could still run
   */
  choose(current: number, gaveWay: boolean, canRun: (wave: number) => boolean): number | undefined
}

/** Instructions after which a wave gives its turn away though it could go on, so that waves that wait for each other get on. */
const TURN = 1 << 16
const MOST_RANDOM_TURN = 64

/** @throws {RangeError} there is no such schedule */
export function schedulerOf(schedule: Schedule): Scheduler {
  const known = parseSchedule(schedule)
  if (known === undefined) throw new RangeError(`schedule is ${schedule}; it must be round-robin, oldest-first or random:SEED`)
  if (known === 'round-robin') return new RoundRobin()
  return known === 'oldest-first' ? new OldestFirst() : new Random(Number(known.slice('random:'.length)))
}

class RoundRobin implements Scheduler {
  #waves = 0

  begin(_group: number, waves: number): void {
    this.#waves = waves
  }

  turn(): number {
    return TURN
  }

  choose(current: number, _gaveWay: boolean, canRun: (wave: number) => boolean): number | undefined {
    let wave = current
    for (let i = 0; i < this.#waves; i++) {
      wave = wave + 1 < this.#waves ? wave + 1 : 0
      if (canRun(wave)) return wave
    }
    return undefined
  }
}

class OldestFirst implements Scheduler {
  #order: number[] = []

  begin(_group: number, waves: number): void {
    this.#order = Array.from({ length: waves }, (_, wave) => wave)
  }

  turn(): number {
    return TURN
  }

  choose(current: number, gaveWay: boolean, canRun: (wave: number) => boolean): number | undefined {
    if (gaveWay) this.#order = [...this.#order.filter((wave) => wave !== current), current]
    return this.#order.find(canRun)
  }
}

class Random implements Scheduler {
  #state = 0
  #waves = 0

  constructor(private readonly seed: number) {}

  begin(group: number, waves: number): void {
    this.#state = (this.seed ^ Math.imul(group + 1, 0x9e3779b9)) >>> 0
    this.#waves = waves
  }

  turn(): number {
    return 1 + (this.#next() % MOST_RANDOM_TURN)
  }

  choose(_current: number, _gaveWay: boolean, canRun: (wave: number) => boolean): number | undefined {
    const able = Array.from({ length: this.#waves }, (_, wave) => wave).filter(canRun)
    return able[this.#next() % Math.max(1, able.length)]
  }

  /** Steele, Lea and Flood's SplitMix, in 32 bits: an additive step, then the mixing of MurmurHash3's end. */
  #next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    let x = this.#state
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
    return (x ^ (x >>> 16)) >>> 0
  }
}
