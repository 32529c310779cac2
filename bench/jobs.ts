/**
 * Runs jobs and says how long they take. It is done in processes of their own: V8 keeps what it compiled, so only the first run of a job in
 * a process has translation and compilation in its time.
 */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { bareWave, Device, type JobEngine, LimitError, openEngine, readJob, TARGETS } from '../host/index.ts'
import { giveBack } from '../host/jobs/engines.ts'
import { type LoadedJob, loadJob } from '../host/jobs/load.ts'
import { compareAll } from '../host/jobs/outcome.ts'
import { begin } from '../host/jobs/start.ts'
import { Pool, type PoolOutcome } from '../host/pool/index.ts'
import { looped } from './instructions.ts'
import { undisturbedSeconds } from './measure.ts'
import { mixedWords } from './mixed.ts'

/** A line of a job file, as far as it matters here. */
export interface JobLine {
  readonly name: string
  readonly expect?: Readonly<Record<string, { readonly fnv1a64?: string }>>
}

const LEAST_RUNS = 3

/** How a job is run. */
export interface JobRun {
  readonly engine: JobEngine
  readonly threads: number
  /** It is repeated for so long, and LEAST_RUNS times at least; with 0 it runs once. */
  readonly timeMs: number
  /** Instructions after which the run is broken off; without it the job runs to its end and its results are compared. */
  readonly budget?: number
}

export interface JobsRequest {
  readonly path: string
  readonly names: readonly string[]
  readonly runs: readonly JobRun[]
  /** Whether the process is to have run nothing before. Default false. */
  readonly isCold?: boolean
}

/** How long a run took. */
export interface JobTime {
  readonly name: string
  readonly engine: JobEngine
  /** Threads that took part in the last run. */
  readonly threads: number
  /** Wave instructions of a run. */
  readonly instructions: number
  /** Seconds of the dispatch in the first run, planning, translation and compilation included, and in the best one. */
  readonly first: number
  readonly best: number
}

export const jobLines = (path: string): JobLine[] => readFileSync(path, 'utf8').trim().split('\n').map((line) => JSON.parse(line)) // biome-ignore format: one line

/** The benchmark is one bundled file; workers come from the built package. */
const pool = new Pool({ worker: new URL('../dist/worker.js', import.meta.url) })

/** Seconds of the dispatch, and what came of it. @throws {Error} the job does not give what it expects */
async function dispatchOnce(loaded: LoadedJob, { engine, threads, budget = loaded.job.budget }: JobRun) {
  const run = await begin(loaded, engine, threads > 1)
  let outcome: PoolOutcome | undefined
  const seconds = await undisturbedSeconds(async () => {
    outcome = await pool.run(run.execution, { budget, threads })
  })
  const { error, instructions, threads: used } = outcome!
  const brokenOff = error instanceof LimitError && budget < loaded.job.budget
  if (error !== undefined && !brokenOff) throw error
  const { list, count } = brokenOff ? { list: [], count: 0 } : compareAll(loaded, run)
  if (count > 0) throw new Error(`${loaded.job.name} on ${engine} gives another result: ${JSON.stringify(list[0])}`)
  giveBack(run.device.engine, engine)
  return { seconds, instructions, threads: used }
}

async function time(loaded: LoadedJob, run: JobRun): Promise<JobTime> {
  const seconds: number[] = []
  for (const end = performance.now() + run.timeMs; ; ) {
    const done = await dispatchOnce(loaded, run)
    seconds.push(done.seconds)
    if (run.timeMs > 0 && (seconds.length < LEAST_RUNS || performance.now() < end)) continue
    const { instructions, threads } = done
    return { name: loaded.job.name, engine: run.engine, threads, instructions, first: seconds[0]!, best: Math.min(...seconds) }
  }
}

/** The kernels that come with the repository, as small jobs. */
export const SMALL_JOBS = 'test/data/kernels/gfx803.ndjson'
/** Programs that the engines run before anything counts, their length, and how often each repeats it; then other kernels. */
const WARMING = { programs: 24, instructions: 100, times: 600 } as const

const kernelOf = (job: string): string => job.split('.')[0]!

/** Gets the core, the translator and what is around them compiled, with other programs than those of the jobs that are to be measured. */
async function warmUp(jobs: readonly string[]): Promise<void> {
  const device = new Device(await openEngine('translate'), TARGETS.gfx803)
  for (let seed = 1; seed <= WARMING.programs; seed++) {
    const execution = bareWave(device, device.loadCode(looped(mixedWords(WARMING.instructions, seed))), {
      sgprs: new Map([[0, WARMING.times]]),
    })
    const { error } = await pool.run(execution, { threads: 1 })
    if (error !== undefined) throw error
    execution.free()
  }
  const measured = new Set(jobs.map(kernelOf))
  for (const line of jobLines(SMALL_JOBS)) {
    if (measured.has(kernelOf(line.name))) continue
    const loaded = await loadJob(readJob(line), (file) => readFile(join(dirname(SMALL_JOBS), file)))
    for (const engine of ['core', 'translate'] as const) await dispatchOnce(loaded, { engine, threads: 1, timeMs: 0 })
  }
}

/** All runs of all jobs, one after another, those of a job side by side. @throws {Error} a job does not give what it expects */
export async function runJobsHere({ path, names, runs, isCold }: JobsRequest): Promise<JobTime[]> {
  if (!isCold) await warmUp(names)
  const lines = new Map(jobLines(path).map((line) => [line.name, line]))
  const times: JobTime[] = []
  for (const name of names) {
    const loaded = await loadJob(readJob(lines.get(name)), (file) => readFile(join(dirname(path), file)))
    for (const run of runs) times.push(await time(loaded, run))
  }
  return times
}
