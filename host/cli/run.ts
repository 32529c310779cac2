/** `lanewise run`: runs jobs and compares their results. */
import { ENGINES, type JobEngine, type JobResult, type JobsOptions, parseSchedule, runJobs, type Schedule, type Status } from '../index.ts'
import { type Command, UsageError, type Values } from './arguments.ts'
import { bytesOfFile, linesOf, readerBeside } from './files.ts'
import { type Io, Progress } from './io.ts'
import { recordingOf } from './recording.ts'
import { report } from './report.ts'
import { duration, grouped } from './table.ts'
import { traceCommand, traceOptions } from './trace.ts'

export const run: Command = {
  summary: 'run jobs: kernels or bare waves, and compare their results',
  usage: 'run [JOB...] [--jobs FILE|-] [OPTION...] | run --trace FILE',
  options: {
    jobs: { value: 'FILE', help: 'Run one job a line (NDJSON, .gz too; - is standard input) and print one JSON result a line, in order.' },
    filter: { value: 'REGEX', help: 'Run only jobs whose name matches.' },
    engine: { value: 'NAME', help: `${ENGINES.join(' or ')}; core is the default.` },
    threads: { value: 'N', help: 'Threads at most; by default as many as the machine runs at once. Only large dispatches have several.' },
    schedule: { value: 'NAME', help: 'How waves of a workgroup take turns: round-robin (default), oldest-first or random:SEED.' },
    profile: { help: 'Count what jobs do, by class of instruction and by place. Runs on one thread of the core.' },
    record: { value: 'FILE', help: 'Write what a wave executes to FILE (gzipped), for --trace. That wave runs by single steps.' },
    'record-wave': {
      value: 'G.W',
      multiple: true,
      help: 'Which wave: workgroup and wave by number, default 0.0. Several go to FILE.G.W each.',
    },
    'record-registers': { help: 'Record what every instruction changes; a replay compares it.' },
    ...traceOptions,
    check: { help: 'Run the reference in step and compare all state after every slice; shows the first instruction that differs.' },
  },
  notes: [
    'A JOB is a JSON file that says what to run and what to expect. Files that it names are relative to it (with --jobs -, to the working directory).',
    'Without a terminal on standard output, or with --json, results are JSON, one a line; what is said to people goes to standard error.',
  ],
  examples: [
    ['lanewise run saxpy.json', 'run one job; differences are shown in a table'],
    ['lanewise run saxpy.json --check', 'the same on two engines, compared instruction by instruction'],
    ['lanewise run --jobs all.ndjson.gz --filter "^saxpy" > results.ndjson', 'run some jobs of a file'],
    ['lanewise run saxpy.json --profile', 'what it executes, hot spots first'],
    ['lanewise run saxpy.json --record wave.lwt', 'record the first wave; lanewise run --trace wave.lwt replays it'],
    ['lanewise run --trace trace.bin.gz --target gfx803', 'run a straight stream of machine words on one wave'],
    ['generate | lanewise run --jobs - --engine reference', 'run jobs as they come in'],
  ],
  run: runCommand,
}

async function runCommand(values: Values, io: Io): Promise<number> {
  if (values.flag('trace')) return traceCommand(values, io)
  for (const name of Object.keys(traceOptions)) if (values.flag(name)) throw new UsageError(`--${name} goes with --trace`)
  const files = values.positionals
  const jobs = values.text('jobs')
  if (files.length === 0 && jobs === undefined) throw new UsageError('nothing to run; name a job file, or many jobs with --jobs FILE')
  if (files.length > 0 && jobs !== undefined) throw new UsageError('job files and --jobs exclude each other')
  const recording = recordingOf(values)
  if (recording !== undefined && files.length !== 1) throw new UsageError('--record goes with one job file')
  if (values.flag('check') && (recording !== undefined || values.flag('profile')))
    throw new UsageError('--check excludes --profile and --record')
  const options: JobsOptions = {
    engine: engineOf(values),
    check: values.flag('check'),
    threads: threadsOf(values),
    schedule: scheduleOf(values),
    profile: values.flag('profile'),
    record: recording?.options,
    signal: io.signal,
    filter: filterOf(values),
  }
  const tally = new Tally()
  const json = values.flag('json') || jobs !== undefined || !io.out.isTTY
  const progress = new Progress(io.err, jobs === undefined ? 'running' : 'jobs')
  const results =
    jobs === undefined ? runFiles(files, options, io, progress) : runJobs(linesOf(jobs, io), { ...options, readFile: readerBeside(jobs) })
  for await (const result of results) {
    await progress.clear()
    tally.add(result)
    if (json) await io.out.write(`${JSON.stringify(result)}\n`)
    if (shown(result, values, io)) await (json ? io.err : io.out).write(report(result, !json))
    if (jobs !== undefined) await progress.show(tally.count, undefined)
  }
  await progress.clear()
  await recording?.close()
  if (jobs !== undefined || files.length > 1) await io.err.write(tally.summary(options.engine ?? 'auto'))
  return tally.exitCode
}

/** People see the results of the files they name, and at a terminal what goes wrong among many. */
function shown(result: JobResult, values: Values, io: Io): boolean {
  if (values.text('jobs') !== undefined) return io.err.isTTY && result.status !== 'ok'
  return !values.flag('json')
}

/** Jobs in files of their own; a bad one gives a result as a bad line does. */
async function* runFiles(files: readonly string[], options: JobsOptions, io: Io, progress: Progress): AsyncGenerator<JobResult> {
  const onProgress = (done: number, total: number): void => void progress.show(done, total)
  for (const file of files) {
    const text = new TextDecoder().decode(await bytesOfFile(file, io))
    yield* runJobs([text], { ...options, onProgress, readFile: readerBeside(file) })
  }
}

function engineOf(values: Values): JobEngine {
  const name = values.text('engine') ?? 'auto'
  const engine = ENGINES.find((e) => e === name)
  if (engine === undefined) throw new UsageError(`unknown engine ${name}; there are ${ENGINES.join(' and ')}`)
  return engine
}

function threadsOf(values: Values): number | undefined {
  const text = values.text('threads')
  if (text !== undefined && !/^[1-9]\d{0,3}$/.test(text)) throw new UsageError(`--threads ${text}: give a whole number, 1 to 9999`)
  return text === undefined ? undefined : Number(text)
}

function scheduleOf(values: Values): Schedule | undefined {
  const text = values.text('schedule')
  const schedule = text === undefined ? undefined : parseSchedule(text)
  if (text !== undefined && schedule === undefined)
    throw new UsageError(`--schedule ${text}: there are round-robin, oldest-first and random:SEED with a seed from 0 to 4294967295`)
  return schedule
}

function filterOf(values: Values): RegExp | undefined {
  const pattern = values.text('filter')
  try {
    return pattern === undefined ? undefined : new RegExp(pattern)
  } catch (error) {
    throw new UsageError(`--filter ${pattern}: ${(error as Error).message}`)
  }
}

/** Counts results. */
class Tally {
  count = 0
  #instructions = 0
  #seconds = 0
  readonly #statuses = new Map<Status, number>()

  add({ status, instructions, seconds }: JobResult): void {
    this.count++
    this.#instructions += instructions
    this.#seconds += seconds
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
  }

  /** Bad input weighs more than a wrong result, and that more than something unsupported. */
  get exitCode(): number {
    const had = (...statuses: Status[]): boolean => statuses.some((status) => this.#statuses.has(status))
    return had('error') ? 2 : had('mismatch', 'fault', 'budget') ? 1 : had('unsupported') ? 3 : 0
  }

  summary(engine: string): string {
    const counts = [...this.#statuses].map(([status, count]) => `${grouped(count)} ${status}`).join(', ')
    return `${grouped(this.count)} ${this.count === 1 ? 'job' : 'jobs'}${counts === '' ? '' : `: ${counts}`}; ${grouped(this.#instructions)} instructions in ${duration(this.#seconds)} on ${engine}\n`
  }
}
