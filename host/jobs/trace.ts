/** A trace as a job: start state, buffers and expectations from a job's JSON, its code from a stream. */
import type { Wave } from '../device/index.ts'
import { JobError, LanewiseError } from '../errors.ts'
import { DIFFERENCES_KEPT } from '../results/compare.ts'
import { hex } from '../results/hex.ts'
import { playTrace } from '../trace/play.ts'
import { TracePlayer } from '../trace/player.ts'
import { formOf, peek, peekHeader, type TraceForm, type TraceSource } from '../trace/source.ts'
import { giveBack } from './engines.ts'
import type { Job } from './job.ts'
import { loadJob, type ReadFile } from './load.ts'
import { compareAll, readAll } from './outcome.ts'
import { readJob } from './parse.ts'
import { beyondResult, type JobResult, resultError, type Status, statusOf } from './result.ts'
import { begin } from './start.ts'

/** How a trace is run. */
export interface RunTraceOptions {
  /** Default `core`; traces are not translated. */
  readonly engine?: 'core' | 'reference'
  /** What the source is; default: found out from its first bytes. */
  readonly form?: TraceForm | undefined
  /** Gives the files that the job names. */
  readonly readFile?: ReadFile
  /** Stops within a few milliseconds; the result's status is then `interrupted`, and its state is there. */
  readonly signal?: AbortSignal
  /** Instructions so far. */
  readonly onProgress?: (instructions: number) => void
}

/** Registers at a trace's end as a job's `wave` has them, so that another trace can go on from there; those that are zero are absent. */
export interface TraceState {
  readonly exec: string
  readonly vcc: string
  readonly scc: number
  readonly m0: string
  readonly mode: string
  readonly sgpr: Readonly<Record<string, string>>
  /** One value where all lanes have the same. */
  readonly vgpr: Readonly<Record<string, string | readonly string[]>>
}

/** What came of a trace. */
export interface TraceResult extends Omit<JobResult, 'status'> {
  readonly status: Status | 'interrupted'
  readonly trace: {
    readonly form: TraceForm
    /** Byte offset in the trace where it ended or stopped. */
    readonly pc: number
    readonly state: TraceState
  }
}

const noFiles: ReadFile = (path) => Promise.reject(new Error(`no readFile option was given, so ${path} is out of reach`))

/**
 * Reads the JSON of a trace's start: a job without `code`, with `wave` or nothing of it; its budget has no default.
 * @throws {JobError} as {@link readJob}
 */
export function readTraceJob(value: unknown): { readonly job: Job; readonly budget: number | undefined } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new JobError('the start of a trace must be a JSON object', '')
  if ('code' in value) throw new JobError('code: a trace brings its own; leave it away', 'code')
  const job = readJob({ wave: {}, ...value, code: { words: [] } })
  return { job, budget: 'budget' in value ? job.budget : undefined }
}

/**
 * Runs a trace from a start state, and compares with what the start's job expects.
 * @param start as {@link readTraceJob} takes it: `{ "target": "gfx803", "wave": { … }, "buffers": { … }, "read": […], "expect": { … } }`;
 *   without `target` it is that of a recording
 * @param source machine words, assembly text or a recording, in pieces of any size
 * @returns the result; whatever goes wrong is in its `status` and `error`, state included
 * @throws {JobError} the start is wrong; {LanewiseError} ERR_OBJECT: a recording that was to name the target is damaged
 */
export async function runTrace(start: unknown, source: TraceSource, options: RunTraceOptions = {}): Promise<TraceResult> {
  const { first, all } = await peek(source)
  return runFrom(await withTarget(start, options.form ?? formOf(first), all), options)
}

/** A start and the trace to run from it. */
interface Begun {
  readonly start: unknown
  readonly source: AsyncIterable<Uint8Array>
}

/** A start without target gets that of the recording. */
async function withTarget(start: unknown, form: TraceForm, source: AsyncIterable<Uint8Array>): Promise<Begun> {
  if (form !== 'recording' || typeof start !== 'object' || start === null || 'target' in start) return { start, source }
  const { header, all } = await peekHeader(source)
  return { start: { ...start, target: header.target }, source: all }
}

async function runFrom({ start, source }: Begun, options: RunTraceOptions): Promise<TraceResult> {
  const { job, budget } = readTraceJob(start)
  const engine = options.engine ?? 'core'
  const loaded = await loadJob(job, options.readFile ?? noFiles)
  const run = await begin(loaded, engine)
  const { device, execution } = run
  const player = new TracePlayer(device, execution.waves[0]!, budget)
  const begun = performance.now()
  let form: TraceForm = options.form ?? 'words'
  let differences: JobResult['differences'] = []
  let count = 0
  let status: TraceResult['status'] = 'ok'
  let error: unknown
  try {
    const outcome = await playTrace(player, device, source, options)
    form = outcome.form
    error = outcome.error
    const found = outcome.error === undefined ? compareAll(loaded, run) : outcome.differences
    differences = found.list
    count = found.count
    if (count > 0) status = 'mismatch'
    else if (outcome.error !== undefined) status = statusOf(outcome.error)
  } catch (thrown) {
    if (options.signal?.aborted) status = 'interrupted'
    else {
      error = thrown
      status = thrown instanceof LanewiseError ? statusOf(thrown) : 'error'
    }
  }
  const seconds = (performance.now() - begun) / 1000
  const result: TraceResult = {
    name: job.name,
    status,
    read: readAll(loaded, run),
    differences,
    ...(count > DIFFERENCES_KEPT ? { more: count - DIFFERENCES_KEPT } : {}),
    engine: device.engine.name,
    threads: 1,
    instructions: player.instructions,
    seconds,
    approximate: execution.outcome(0).approximate,
    ...beyondResult(player),
    ...(error === undefined ? {} : { error: resultError(error) }),
    trace: { form, pc: player.pc, state: stateOf(player.wave) },
  }
  giveBack(device.engine, engine)
  return result
}

function stateOf(wave: Wave): TraceState {
  const sgpr: Record<string, string> = {}
  for (let s = 0; s < wave.sgprCount; s++) if (wave.sgpr(s) !== 0) sgpr[`s${s}`] = hex(wave.sgpr(s), 32)
  const vgpr: Record<string, string | string[]> = {}
  for (let register = 0; register < wave.vgprCount; register++) {
    const lanes = wave.vgpr(register)
    if (lanes.every((lane) => lane === 0)) continue
    const texts = Array.from(lanes, (lane) => hex(lane, 32))
    vgpr[`v${register}`] = texts.every((text) => text === texts[0]) ? texts[0]! : texts
  }
  const { exec, vcc, scc, m0, mode } = wave
  return { exec: hex(exec, 64), vcc: hex(vcc, 64), scc, m0: hex(m0, 32), mode: hex(mode, 32), sgpr, vgpr }
}
