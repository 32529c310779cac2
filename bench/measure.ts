/** How times are taken. The best of several runs counts: whatever else the machine does only adds to a time. */
import { existsSync, readFileSync } from 'node:fs'
import { Bench } from 'tinybench'

/** So often at least, before and while it counts: JavaScript takes several runs to get to its speed. */
const LEAST_RUNS = 8

/** How long each task is repeated. */
export interface Effort {
  readonly timeMs: number
}

/** The best time of a task, in seconds. */
export async function bestSeconds(effort: Effort, task: () => void): Promise<number> {
  const bench = new Bench({
    time: effort.timeMs,
    iterations: LEAST_RUNS,
    warmupTime: effort.timeMs / 2,
    warmupIterations: LEAST_RUNS,
    throws: true,
  })
  bench.add('task', task)
  const [done] = await bench.run()
  const result = done!.result
  if (result.state !== 'completed') throw new Error(`a benchmark did not complete: it is ${result.state}`)
  return result.latency.min / 1000
}

/**
 * The best time of each of several tasks that are compared with one another. They take turns, so that a busy spell of the machine meets all
 * of them; each is repeated for the effort's time.
 * @param tasks return the seconds that count
 */
export function bestOfEach(effort: Effort, tasks: readonly (() => number)[]): number[] {
  const best = tasks.map(() => Number.POSITIVE_INFINITY)
  const end = performance.now() + effort.timeMs * tasks.length
  for (let run = 0; run < 2 * LEAST_RUNS || performance.now() < end; run++)
    tasks.forEach((task, i) => {
      best[i] = Math.min(best[i]!, task())
    })
  return best
}

/** Seconds that a task keeps the CPU busy: waiting for it does not count. It must not run for less than some hundred microseconds. */
export function cpuSeconds(task: () => void): number {
  const before = process.cpuUsage()
  task()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

/** Milliseconds that this thread was ready to run and another had the CPU (Linux: schedstat's second number); 0 where nobody tells. */
function waitedMs(): number {
  if (!existsSync(SCHEDSTAT)) return 0
  return Number(readFileSync(SCHEDSTAT, 'utf8').split(' ')[1]) / 1e6
}
const SCHEDSTAT = '/proc/thread-self/schedstat'

/**
 * Seconds of a task that is too long, or too rare, to be repeated until nothing disturbs it. Its waiting for the CPU does not count; its waiting
 * for other threads does, such as those that compile for it.
 */
export async function undisturbedSeconds(task: () => Promise<unknown>): Promise<number> {
  // Both are too large rather than too small: the first with what disturbs, the second with what reading that takes.
  const outer = performance.now()
  const waited = waitedMs()
  const inner = performance.now()
  await task()
  const disturbed = performance.now() - inner
  const waiting = waitedMs() - waited
  return Math.min(disturbed, performance.now() - outer - waiting) / 1000
}

/** The best of several measurements: whatever else a machine does only adds. */
export const least = (times: readonly number[]): number => Math.min(...times)

/** Of factors, undefined where there are none. */
export function geometricMean(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}
