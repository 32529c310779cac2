/** Runs jobs: one, or a stream of them. */
import type { Execution, Schedule } from '../device/index.ts'
import { LaunchError } from '../errors.ts'
import { canShare, coreCount, Pool, type PoolOutcome } from '../pool/index.ts'
import { type Check, crossCheck } from '../results/check.ts'
import { Differences } from '../results/compare.ts'
import { hex } from '../results/hex.ts'
import { Profiler } from '../results/profile.ts'
import { watch } from '../results/watch.ts'
import { type RecordedWave, Recorder, type RecordOptions } from '../trace/recorder.ts'
import { engineNameOf, giveBack, type JobEngine } from './engines.ts'
import type { Dispatch, Job } from './job.ts'
import { type LoadedJob, loadJob, type ReadFile } from './load.ts'
import { compareAll, type Run, readAll } from './outcome.ts'
import { parseJson, readJob } from './parse.ts'
import { beyondResult, type CheckResult, failed, type JobResult, resultError, statusOf } from './result.ts'
import { begin } from './start.ts'

/** How a job is run. */
export interface RunJobOptions {
  /** Default `auto`. */
  readonly engine?: JobEngine
  /** Runs the reference in step and compares all state; slow. Default false. */
  readonly check?: boolean
  /** Gives the files that jobs name; without it a job that names one is an error. */
  readonly readFile?: ReadFile
  /** Stops within a few milliseconds; the call rejects with its reason. */
  readonly signal?: AbortSignal
  /**
   * Threads at most. Only large dispatches of several workgroups have more than one, where memory can be shared (in browsers: with cross-origin
   * isolation), and not with cross-check or on the reference.
   * @default as many as the machine runs at once
   */
  readonly threads?: number | undefined
  /** Whose workers run with; by default those that all jobs share. */
  readonly pool?: Pool
  /** How the waves of a workgroup take turns; default `round-robin`. */
  readonly schedule?: Schedule | undefined
  /** Counts what the job does; runs on one thread of the core, straight code at a stretch: at about half its speed, or less where memory is accessed often. Default false. */
  readonly profile?: boolean
  /** Records waves: those run by single steps, a few µs each, the others as ever, on one thread of the core. */
  readonly record?: RecordOptions | undefined
  /** Workgroups done and in all, at most about ten calls a second. */
  readonly onProgress?: (done: number, total: number) => void
}

/** Options for a stream of jobs. */
export interface JobsOptions extends RunJobOptions {
  /** Only jobs whose name matches run. */
  readonly filter?: RegExp | undefined
}

/** What all jobs share. Its workers start when a job first wants them, and do not keep a process alive. */
const pool = new Pool()

const noFiles: ReadFile = (path) => Promise.reject(new Error(`no readFile option was given, so ${path} is out of reach`))

/**
 * Runs a job and compares its results with what it expects.
 *
 * @param job a job as {@link parseJob} gives it
 * @returns the result; whatever goes wrong in loading or running is in its `status` and `error`
 * @throws the signal's reason when it aborts
 */
export async function runJob(job: Job, options: RunJobOptions = {}): Promise<JobResult> {
  const engine = options.engine ?? 'auto'
  const watched = options.profile === true || options.record !== undefined
  try {
    if (!options.check && !watched && sharesMemory(job, engine, options))
      (options.pool ?? pool).prepare(engineNameOf(engine), wavesOf(job), options.threads)
    const loaded = await loadJob(job, options.readFile ?? noFiles)
    if (options.check) return await runChecked(loaded, engine, options)
    return await (watched ? runWatched(loaded, engine, options) : runAlone(loaded, engine, options))
  } catch (error) {
    options.signal?.throwIfAborted()
    return failed(job.name, error, engineNameOf(engine))
  }
}

/**
 * Runs jobs as their lines come in, one JSON object a line; empty lines are skipped. A line that is wrong gives a result with the status
 * `error` and ends nothing.
 *
 * @returns a result for each job that `filter` lets through, as soon as it is done
 * @throws the signal's reason when it aborts
 */
export async function* runJobs(lines: AsyncIterable<string> | Iterable<string>, options: JobsOptions = {}): AsyncGenerator<JobResult> {
  for await (const line of lines) {
    if (line.trim() === '') continue
    options.signal?.throwIfAborted()
    const result = await runLine(line, options)
    if (result !== undefined) yield result
  }
}

/** The result of a line's job; undefined where the filter holds it back. */
async function runLine(line: string, options: JobsOptions): Promise<JobResult | undefined> {
  let name = ''
  let job: Job
  try {
    const value = parseJson(line)
    name = nameOf(value)
    if (options.filter?.test(name) === false) return undefined
    job = readJob(value)
  } catch (error) {
    return failed(name, error, engineNameOf(options.engine ?? 'auto'))
  }
  return runJob(job, options)
}

/** The name of a job that may be wrong in all else. */
function nameOf(value: unknown): string {
  const name: unknown = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  return typeof name === 'string' ? name : ''
}

async function runAlone(loaded: LoadedJob, engine: JobEngine, options: RunJobOptions): Promise<JobResult> {
  const { threads = coreCount(), signal, onProgress } = options
  const run = await begin(loaded, engine, sharesMemory(loaded.job, engine, options), options.schedule)
  const outcome = await (options.pool ?? pool).run(run.execution, { budget: loaded.job.budget, signal, onProgress, threads })
  const done = result(loaded, run, outcome, undefined, outcome.error)
  giveBack(run.device.engine, engine)
  return done
}

/** Runs by short stretches or single steps, which only the core does fast. */
async function runWatched(loaded: LoadedJob, name: JobEngine, options: RunJobOptions): Promise<JobResult> {
  const engine = name === 'reference' ? name : 'core'
  const run = await begin(loaded, engine, false, options.schedule)
  const { execution } = run
  const { budget } = loaded.job
  const profiler = options.profile === true ? new Profiler() : undefined
  const recorder = options.record === undefined ? undefined : new Recorder(options.record)
  const start = performance.now()
  let missing: readonly RecordedWave[] = []
  try {
    const observers = [profiler, recorder].filter((observer) => observer !== undefined)
    await watch(execution, observers, { budget, signal: options.signal, onProgress: options.onProgress })
  } finally {
    if (recorder !== undefined) missing = await recorder.end()
  }
  const outcome = { ...execution.outcome((performance.now() - start) / 1000), threads: 1 }
  const done = result(loaded, run, outcome, undefined, execution.status === 'running' ? execution.exhausted(budget) : outcome.error)
  giveBack(run.device.engine, engine)
  if (missing.length > 0) return { ...done, status: 'error', error: resultError(neverRan(missing)) }
  return profiler === undefined ? done : { ...done, profile: profiler.profile(execution) }
}

const neverRan = (waves: readonly RecordedWave[]): LaunchError =>
  new LaunchError(
    `wave ${waves.map(({ group, wave }) => `${group}.${wave}`).join(', ')} was to be recorded and never ran; give workgroup and wave by their numbers, as 0.0`,
  )

/** Whether a job may have several threads. */
const sharesMemory = (job: Job, engine: JobEngine, { threads = coreCount() }: RunJobOptions): boolean =>
  threads > 1 && engine !== 'reference' && canShare() && groupsOf(job) > 1

/** Workgroups of a job, whether its sizes are right or not. */
function groupsOf({ start }: Job): number {
  if (start.form !== 'dispatch' || start.grid === undefined || start.workgroup === undefined) return 1
  const { grid, workgroup } = start
  return grid.reduce((all, items, d) => all * Math.ceil(items / workgroup[d]!), 1)
}

/** Waves of a job of several workgroups. */
function wavesOf(job: Job): number {
  const { workgroup } = job.start as Dispatch
  return groupsOf(job) * Math.ceil(workgroup!.reduce((all, items) => all * items, 1) / job.target.waveSize)
}

async function runChecked(loaded: LoadedJob, engine: JobEngine, options: RunJobOptions): Promise<JobResult> {
  const runs = new Map<Execution, Run>()
  const check = await crossCheck(
    async (which) => {
      const run = await begin(loaded, which === 'run' ? engine : 'reference', false, options.schedule)
      runs.set(run.execution, run)
      return run.execution
    },
    // The translating engine runs what it has made only at a stretch.
    {
      budget: loaded.job.budget,
      stride: engineNameOf(engine) === 'translate' ? 1024 : 1,
      signal: options.signal,
      onProgress: options.onProgress,
    },
  )
  const error = check.exhausted ? check.run.exhausted(loaded.job.budget) : check.run.error
  const outcome = { ...check.run.outcome(check.seconds), threads: 1 }
  const done = result(loaded, runs.get(check.run)!, outcome, check, error)
  for (const [execution, { device }] of runs) giveBack(device.engine, execution === check.run ? engine : 'reference')
  return done
}

function result(
  loaded: LoadedJob,
  run: Run,
  { instructions, approximate, beyond, sent, seconds, threads }: PoolOutcome,
  check: Check | undefined,
  error: Execution['error'],
): JobResult {
  const read = readAll(loaded, run)
  // Where the engines part, that is what differs; what a stopped run was expected to give is not compared.
  const { list, count } = check?.parting ?? (error === undefined ? compareAll(loaded, run) : new Differences())
  const differs = count > 0 ? 'mismatch' : 'ok'
  return {
    name: loaded.job.name,
    status: error === undefined || check?.parting !== undefined ? differs : statusOf(error),
    read,
    differences: list,
    ...(count > list.length ? { more: count - list.length } : {}),
    engine: run.device.engine.name,
    threads,
    instructions,
    seconds,
    approximate,
    ...beyondResult({ beyond, sent }),
    ...(run.device.engine.translated === undefined ? {} : { translated: run.device.engine.translated }),
    ...(check === undefined ? {} : { check: checkResult(check) }),
    ...(error === undefined ? {} : { error: resultError(error) }),
  }
}

function checkResult({ parting, referenceSeconds }: Check): CheckResult {
  const head = { engine: 'reference', seconds: referenceSeconds } as const
  if (parting === undefined) return { ...head, parting: null }
  const { line, workgroup, wave, after, span, exec, vcc, context } = parting
  const lines = context.map(({ offset, text }) => `${offset === line.offset ? '>' : ' '} ${hex(offset, 16)}  ${text}`)
  return {
    ...head,
    parting: {
      pc: line.offset,
      instruction: line.text,
      workgroup,
      wave,
      after,
      span,
      exec: hex(exec, 64),
      vcc: hex(vcc, 64),
      context: lines,
    },
  }
}
