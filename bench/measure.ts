/** Measures with tinybench. The best of several runs counts: whatever else the machine does only adds to a time. */
import { Bench } from 'tinybench'

/** So often at least, before and while it counts: JavaScript takes several runs to get to its speed. */
const LEAST_RUNS = 8

/** How long each task is repeated. */
export interface Effort {
  readonly timeMs: number
}

/**
 * The best time of a task, in seconds.
 * @param task returns the seconds that count, or nothing where all of it counts
 * @param once the task is too slow to be run more than once
 */
export async function bestSeconds(effort: Effort, task: () => Promise<number> | Promise<void> | void, once = false): Promise<number> {
  const bench = new Bench({
    time: once ? 0 : effort.timeMs,
    iterations: once ? 1 : LEAST_RUNS,
    warmup: !once,
    warmupTime: effort.timeMs / 2,
    warmupIterations: LEAST_RUNS,
    throws: true,
  })
  bench.add('task', async () => {
    const counted = await task()
    return typeof counted === 'number' ? { overriddenDuration: counted * 1000 } : undefined
  })
  const [done] = await bench.run()
  const result = done!.result
  if (result.state !== 'completed') throw new Error(`a benchmark did not complete: it is ${result.state}`)
  return result.latency.min / 1000
}
