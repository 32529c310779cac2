/** A pool of workers that run workgroups of a dispatch together with the thread that asks for it. */
import { type Device, type DispatchTwin, type Execution, type Outcome, pause, type RunOptions, SLICE_MS } from '../device/index.ts'
import type { EngineName, SentTranslation, SharedMemory } from '../engine.ts'
import { CoreError, LanewiseError } from '../errors.ts'
import { Control } from './control.ts'
import type { Invitation } from './messages.ts'
import { merge } from './outcome.ts'
import { type Report, Share } from './share.ts'
import { coreCount, startThread, type Thread } from './thread.ts'

/** Where workers come from, and when they are wanted. */
export interface PoolOptions {
  /** Where the worker's module is, in case a bundler has moved it from beside this one. */
  readonly worker?: URL
  /**
   * Milliseconds that a dispatch runs on one thread before others join, for most are done by then; with 0 none begins before all are there.
   * @default 10, and none where a dispatch has thousands of waves: it is asked for others at once, and does not wait for them
   */
  readonly patienceMs?: number
}

/** Options of {@link Pool.run}: limits of a run on a pool. */
export interface PoolRunOptions extends RunOptions {
  /**
   * Threads at most, the calling one included.
   * @default as many as the machine runs at once
   */
  readonly threads?: number | undefined
}

/** How a run came out. Its instructions, approximate operations and error are those of one thread. */
export interface PoolOutcome extends Outcome {
  /** Threads that ran workgroups. */
  readonly threads: number
}

const PATIENCE_MS = 10
/** Wave instructions that have run by then, for it may be all planning, and code that is cold. */
const PATIENCE_INSTRUCTIONS = 20_000
/** Waves of a dispatch from which on it is expected to outlast that: they take some microseconds at least, most take more. */
const MANY_WAVES = 1024
const PROGRESS_MS = 125

/** A worker that was invited. */
interface Guest {
  /** Fulfilled when it takes part, or never will. */
  readonly arrived: Promise<void>
  /** What it did; undefined where it took no part. */
  readonly report: Promise<Report | undefined>
  /** Goes on without it. */
  dismiss(): void
}

/**
 * Workers that run workgroups of a dispatch together with the thread that asks for it. They start when a dispatch first wants them, stay for
 * the next one, and do not keep a process alive.
 *
 * @example
 * const device = new Device(await createCore({ shared: true }), TARGETS.gfx803)
 * const { threads, error } = await new Pool().run(dispatch(device, kernel, launch), { threads: 4 })
 */
export class Pool {
  readonly #options: PoolOptions
  #threads: Thread[] = []
  #busy = false
  /** No worker can be started here. */
  #unavailable = false

  constructor(options: PoolOptions = {}) {
    this.#options = options
  }

  /**
   * Starts workers for a dispatch that is still to be loaded, if it has so many waves that it will want them: starting takes them tens of
   * milliseconds. Does nothing where they are there, or cannot be.
   * @param waves of the dispatch
   */
  prepare(engine: EngineName, waves: number, threads: number = coreCount()): void {
    if (this.#busy || waves < MANY_WAVES) return
    while (this.#threads.length < threads - 1 && this.#start()) this.#threads.at(-1)!.tell({ form: 'preparation', engine })
  }

  /**
   * Runs an execution to its end as {@link Execution.run} does, on several threads where that can be: its engine's memory is shared, there
   * are several workgroups, workers can be started, and this pool does nothing else at the time. Else on one.
   */
  async run(execution: Execution, options: PoolRunOptions = {}): Promise<PoolOutcome> {
    const { threads = coreCount() } = options
    if (!Number.isInteger(threads) || threads < 1) throw new RangeError(`threads is ${threads}; it must be a whole number, 1 or more`)
    const { device, twin } = execution
    const { shared } = device.engine
    const most = Math.min(threads, execution.groupCount)
    if (this.#busy || most < 2 || shared === undefined || twin === undefined || !isAligned(device))
      return { ...(await execution.run(options)), threads: 1 }
    this.#busy = true
    try {
      return await this.#runTogether(execution, twin, shared, most, options)
    } finally {
      this.#busy = false
      for (const thread of this.#threads) thread.hold(false)
    }
  }

  /** Ends the workers. The pool can be used again; it starts new ones. */
  close(): void {
    for (const thread of this.#threads.splice(0)) thread.end()
  }

  async #runTogether(
    execution: Execution,
    twin: () => DispatchTwin,
    shared: SharedMemory,
    threads: number,
    { budget = 2 ** 32, signal, onProgress }: PoolRunOptions,
  ): Promise<PoolOutcome> {
    if (!(budget >= 1)) throw new RangeError(`budget is ${budget}; it must be at least 1 instruction`)
    signal?.throwIfAborted()
    const start = performance.now()
    const isLarge = execution.groupCount * execution.waves.length >= MANY_WAVES
    const { patienceMs = isLarge ? 0 : PATIENCE_MS } = this.#options
    const control = new Control(execution.groupCount, threads)
    const all = execution.instructions + Math.floor(budget)
    const share = new Share(control, all)
    control.begin(execution.shareOut(share.claim))
    share.begin(execution)
    const abort = (): void => control.stop()
    signal?.addEventListener('abort', abort)
    const report = (): void => onProgress?.(control.done, execution.groupCount)
    const timer = onProgress && setInterval(report, PROGRESS_MS)
    let guests: readonly Guest[] | undefined
    const { translations } = execution.device.engine
    if (translations)
      translations.onMade = (made) => {
        if (guests !== undefined) this.#spread(execution, made)
      }
    try {
      const invite = () => this.#invite(execution, twin(), shared, control, all)
      if (patienceMs === 0) guests = invite()
      if (this.#options.patienceMs === 0) await Promise.all(guests!.map(({ arrived }) => arrived))
      for (let paused = start; share.step(); ) {
        const now = performance.now()
        if (guests === undefined && now - start >= patienceMs && control.executed >= PATIENCE_INSTRUCTIONS) guests = invite()
        if (now - paused < SLICE_MS) continue
        await pause()
        paused = performance.now()
      }
    } catch (error) {
      control.stop()
      await farewell(guests)
      throw error
    } finally {
      if (translations) translations.onMade = undefined
      clearInterval(timer)
      signal?.removeEventListener('abort', abort)
    }
    const reports = await farewell(guests)
    signal?.throwIfAborted()
    report()
    const seconds = (performance.now() - start) / 1000
    return merge(execution, [share.report(), ...reports], { budget, all, exhausted: control.stopped || control.executed > all, seconds })
  }

  #invite(execution: Execution, twin: DispatchTwin, shared: SharedMemory, control: Control, budget: number): readonly Guest[] {
    while (this.#threads.length < control.threads - 1 && this.#start());
    shared.open()
    const { device, groupCount } = execution
    const program = execution.waves[0]?.program.host
    const invitation = {
      form: 'invitation' as const,
      threads: control.threads,
      control: control.buffer,
      groupCount,
      budget,
      device: numberOf(device),
      code: numberOf(twin.kernel.code),
      engine: device.engine.name,
      seed: shared.seed,
      twin,
      translations: program === undefined ? [] : (device.engine.translations?.of(program) ?? []),
    }
    return this.#threads
      .slice(0, control.threads - 1)
      .map((thread, i) => guestOf(thread, control, { ...invitation, index: i + 1 }, () => this.#lose(thread)))
  }

  /** Tells those that were invited what the first thread has translated, where that can be sent; else each translates for itself. */
  #spread({ waves }: Execution, made: SentTranslation): void {
    const program = waves[0]?.program
    if (program?.host !== made.program) return
    for (const thread of this.#threads) {
      try {
        thread.tell({ form: 'translation', code: numberOf(program.code), made })
      } catch {
        return
      }
    }
  }

  /** Starts one more worker; false where that cannot be. */
  #start(): boolean {
    if (this.#unavailable) return false
    try {
      const thread = startThread(this.#options.worker)
      thread.onEnd = () => this.#lose(thread)
      this.#threads.push(thread)
    } catch {
      this.#unavailable = true
    }
    return !this.#unavailable
  }

  /** A worker is no more. If it never answered, its module is not there, and no other worker will do better. */
  #lose(thread: Thread): void {
    if (!this.#threads.includes(thread)) return
    this.#threads = this.#threads.filter((other) => other !== thread)
    if (!thread.answered) this.#unavailable = true
  }
}

/** Waits for those that take part; the others are told to stay away. @throws what a worker failed with */
async function farewell(guests: readonly Guest[] = []): Promise<Report[]> {
  for (const guest of guests) guest.dismiss()
  const settled = await Promise.allSettled(guests.map(({ report }) => report))
  for (const result of settled) if (result.status === 'rejected') throw result.reason
  return settled.flatMap((result) => (result.status === 'fulfilled' && result.value !== undefined ? [result.value] : []))
}

function guestOf(thread: Thread, control: Control, invitation: Invitation, lose: () => void): Guest {
  const { index } = invitation
  let arrive = (): void => {}
  let finish = (_: Report | undefined): void => {}
  let fail = (_: Error): void => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const report = new Promise<Report | undefined>((resolve, reject) => {
    finish = resolve
    fail = reject
  })
  // Until it is waited for, nobody would hear of it.
  report.catch(() => control.stop())
  const leave = (): void => {
    arrive()
    finish(undefined)
  }
  thread.onAnswer = (answer) => {
    if (answer.form === 'ready') arrive()
    else if (answer.form === 'report') finish(answer.report)
    else fail(new LanewiseError(answer.code, answer.message))
  }
  thread.onEnd = (why) => {
    lose()
    if (control.dismiss(index)) leave()
    else fail(new CoreError(`a worker that ran workgroups is gone: ${why}`))
    arrive()
  }
  thread.hold(true)
  thread.tell(invitation)
  const dismiss = (): void => {
    if (control.dismiss(index)) leave()
  }
  return { arrived, report, dismiss }
}

/** Numbers for objects, so that a worker knows them again. */
const numbers = new WeakMap<object, number>()
let lastNumber = 0
function numberOf(object: object): number {
  const number = numbers.get(object) ?? ++lastNumber
  numbers.set(object, number)
  return number
}

/** Whether words of the guest are where WebAssembly can have atomics; only buffers at odd addresses are not. */
const isAligned = ({ memory }: Device): boolean => memory.regions.every(({ address }) => (address & 7n) === 0n)
