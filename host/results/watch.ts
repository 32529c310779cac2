/** Runs an execution by single instructions, or short stretches of them, under the eyes of observers: profiles and recordings. */
import { type Execution, pause, SLICE_MS, type Wave } from '../device/index.ts'

/** Sees each instruction of an execution. */
export interface Observer {
  /** The next instruction of `wave` is about to run; `after` does not follow where it has to wait for other waves. */
  before(execution: Execution, wave: Wave): void
  /** How many instructions of the wave that {@link before} was just called for may run before `after`; without it one. */
  stretch?(): number
  /** So many have completed, fewer than the stretch where something ends it; the workgroup may have ended, registers are still there. */
  after(execution: Execution, wave: Wave, instructions: number): void
  /** Called every few milliseconds, and at the end. */
  flush?(): Promise<void>
}

/** Limits of a watched run, and how it is followed and stopped. */
export interface WatchOptions {
  /** Wave instructions in all; default 2^32. */
  readonly budget?: number
  /** Stops within a few milliseconds; the call rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Workgroups done and in all. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/** Instructions of a stretch at most, so that the clock is looked at. */
const MOST = 1024

/**
 * Runs to the end, or until the budget is used up; then `execution.status` is still `running`.
 * @throws the signal's reason when it aborts; observers are flushed before
 */
export async function watch(execution: Execution, observers: readonly Observer[], options: WatchOptions = {}): Promise<void> {
  const { budget = 2 ** 32, signal, onProgress } = options
  const flush = async (): Promise<void> => {
    for (const observer of observers) await observer.flush?.()
  }
  let paused = performance.now()
  try {
    for (let turns = 0; execution.status === 'running' && execution.instructions < budget; turns++) {
      const wave = execution.next!
      for (const observer of observers) observer.before(execution, wave)
      const most = observers.reduce((least, observer) => Math.min(least, observer.stretch?.() ?? 1), MOST)
      const done = execution.stepWave(Math.min(most, budget - execution.instructions))
      if (done > 0) for (const observer of observers) observer.after(execution, wave, done)
      if ((turns & 15) !== 0 || performance.now() - paused < SLICE_MS) continue
      signal?.throwIfAborted()
      onProgress?.(execution.groupsDone, execution.groupCount)
      await flush()
      await pause()
      paused = performance.now()
    }
  } finally {
    await flush()
  }
}
