/** `lanewise run --trace`: a straight stream of instructions on one wave. */
import { JobError, parseJson, runTrace, type TraceForm, type TraceResult } from '../index.ts'
import { type Option, UsageError, type Values } from './arguments.ts'
import { bytesOfFile, piecesOf, readerBeside } from './files.ts'
import { type Io, Progress, WIDTH } from './io.ts'
import { report } from './report.ts'
import { large } from './table.ts'
import { targetOption } from './target.ts'

/** Options of `run` that only go with `--trace`, and it itself. */
export const traceOptions: Readonly<Record<string, Option>> = {
  trace: {
    value: 'FILE',
    help: 'Run a trace: machine words (little-endian), assembly text, or a recording; gzipped or not; - is standard input. START is a job without code.',
  },
  form: { value: 'FORM', help: 'What the trace is, where its first bytes do not tell: words, text or recording.' },
  target: targetOption,
}

const FORMS: readonly TraceForm[] = ['words', 'text', 'recording']

export async function traceCommand(values: Values, io: Io): Promise<number> {
  const file = values.text('trace')!
  const [start, ...more] = values.positionals
  if (more.length > 0) throw new UsageError('--trace takes one START at most')
  for (const name of ['jobs', 'filter', 'check', 'profile', 'record', 'record-wave', 'record-registers', 'schedule', 'threads'])
    if (values.flag(name)) throw new UsageError(`--${name} does not go with --trace`)
  const progress = new Progress(io.err, 'trace')
  const begun = Date.now()
  const from = await startOf(start, values, io)
  const result = await runTrace(from, piecesOf(file, io), {
    engine: engineOf(values),
    form: formOf(values),
    readFile: readerBeside(start ?? '-'),
    signal: io.signal,
    onProgress: (instructions) => {
      const perSecond = instructions / Math.max(0.001, (Date.now() - begun) / 1000)
      progress.show(instructions, undefined, ` instructions, ${large(perSecond)} a second`)
    },
  }).catch(nameTarget)
  await progress.clear()
  const json = values.flag('json') || !io.out.isTTY
  if (json) await io.out.write(`${JSON.stringify(result)}\n`)
  if (!values.flag('json')) await (json ? io.err : io.out).write(text(result, !json))
  return { ok: 0, mismatch: 1, fault: 1, budget: 1, error: 2, unsupported: 3, interrupted: 130 }[result.status]
}

/** The start state's JSON, with `--target` in it; without a file an empty one. A recording names its target itself. */
async function startOf(file: string | undefined, values: Values, io: Io): Promise<unknown> {
  const name = values.text('target')
  const target = name === undefined ? {} : { target: name }
  if (file === undefined) return { name: values.text('trace'), ...target }
  const start = parseJson(new TextDecoder().decode(await bytesOfFile(file, io)))
  if (name === undefined || typeof start !== 'object' || start === null) return start
  if ('target' in start) throw new UsageError('START names the target; leave --target away')
  return { ...start, ...target }
}

/** A target that nobody named is missing on the command line. */
function nameTarget(error: unknown): never {
  if (error instanceof JobError && error.path === 'target' && /missing/.test(error.message))
    throw new UsageError('--trace needs --target NAME, or a START that names one; only a recording names its own')
  throw error
}

function engineOf(values: Values): 'core' | 'reference' {
  const name = values.text('engine') ?? 'core'
  if (name === 'core' || name === 'reference') return name
  throw new UsageError(`--engine ${name}: a trace runs on core or reference; it has no loops to translate`)
}

function formOf(values: Values): TraceForm | undefined {
  const name = values.text('form')
  const form = FORMS.find((f) => f === name)
  if (name !== undefined && form === undefined) throw new UsageError(`--form ${name}: there are ${FORMS.join(', ')}`)
  return form
}

/** As a job's result, with the speed and the wave's registers. */
function text(result: TraceResult, values: boolean): string {
  const { status, instructions, seconds, trace } = result
  const head = report({ ...result, status: status === 'interrupted' ? 'error' : status }, values)
  const { exec, vcc, scc, m0, mode, sgpr, vgpr } = trace.state
  const speed = `${trace.form}: ${large(instructions / Math.max(1e-6, seconds))} instructions a second, up to byte ${trace.pc}`
  const registers = [...Object.entries(sgpr), ...Object.entries(vgpr).map(([name, lanes]) => [name, vector(lanes)])]
  return [
    status === 'interrupted' ? head.replace(/^ERROR +/, 'STOPPED  ') : head,
    `${speed}\n`,
    `exec ${exec}  vcc ${vcc}\nscc ${scc}  m0 ${m0}  mode ${mode}\n`,
    ...registers.map(([name, value]) => `${name!.padEnd(5)} ${value}`.slice(0, WIDTH - 1).concat('\n')),
  ].join('')
}

/** As many lanes as have room. */
const vector = (lanes: string | readonly string[]): string =>
  typeof lanes === 'string' ? `${lanes} in all lanes` : `${lanes.slice(0, 6).join(' ')} …`
