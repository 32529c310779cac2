/** Real kernels, from job files: the same jobs on every engine, and as C for this machine. */
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type JobEngine, type JobResult, Pool, readJob, runJob } from '../host/index.ts'
import { bestSeconds, type Effort } from './measure.ts'
import { nativeSeconds } from './native.ts'
import { number, ratio, seconds, table } from './table.ts'

export interface KernelResult {
  readonly name: string
  /** Wave instructions of a run. */
  readonly instructions: number
  /** Threads that the last run of the core or of the translating engine had. */
  readonly threads: number
  /** Seconds of the dispatch, planning and translation included; undefined where it was not run. */
  readonly reference: number | undefined
  readonly core: number
  readonly translate: number
  /** The same work in C, one work-item after another on one core. */
  readonly native: number | undefined
}

const SMALL = 'test/data/kernels/gfx803.ndjson'
const LARGE = '../shared/kernels/jobs/gfx803.large.ndjson'
/** Of the large jobs, those that take long enough to mean something, and not too long. */
const LARGE_DEFAULT = /^(mandelbrot|nbody|sha256|matmul_naive|fir|stencil3d)\.gfx803\.O2/

/** A job and where its files are. */
interface Source {
  readonly json: { readonly name: string }
  readonly folder: string
}

function sources(path: string, filter: RegExp): Source[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => ({ json: JSON.parse(line), folder: dirname(path) })).filter(({ json }) => filter.test(json.name))
}

/** The benchmark is one bundled file; workers come from the built package. */
const pool = new Pool({ worker: new URL('../dist/worker.js', import.meta.url) })

async function run({ json, folder }: Source, engine: JobEngine, threads: number): Promise<JobResult> {
  const result = await runJob(readJob(json), { engine, threads, pool, readFile: (path) => readFile(join(folder, path)) })
  if (result.status !== 'ok')
    throw new Error(`${json.name} on ${engine}: ${result.status}; ${JSON.stringify(result.error ?? result.differences[0])}`)
  return result
}

async function measure(source: Source, large: boolean, threads: number, effort: Effort): Promise<KernelResult> {
  let instructions = 0
  let used = 1
  const time = (engine: JobEngine, once: boolean) =>
    bestSeconds(
      effort,
      async () => {
        const result = await run(source, engine, threads)
        instructions = result.instructions
        if (engine !== 'reference') used = result.threads
        return result.seconds
      },
      once,
    )
  const core = await time('core', large)
  const translate = await time('translate', large)
  const reference = large ? undefined : await time('reference', true)
  const native = large ? await nativeSeconds(source.json) : undefined
  return { name: source.json.name, instructions, threads: used, reference, core, translate, native }
}

/** Small jobs are in the repository; large ones only beside it, and the reference does not run those. */
export async function measureKernels(large: boolean, threads: number, filter: RegExp | undefined, effort: Effort): Promise<KernelResult[]> {
  if (large && !existsSync(LARGE)) throw new Error(`there are no large jobs: ${LARGE} does not exist`)
  const list = large ? sources(LARGE, filter ?? LARGE_DEFAULT) : sources(SMALL, filter ?? /./)
  const results: KernelResult[] = []
  for (const source of list) results.push(await measure(source, large, threads, effort))
  return results
}

const shortName = (name: string): string => name.replace(/\.gfx803\.(O2\.)?/, ' ').replace(/ (small|large)$/, '')

export function showKernels(results: readonly KernelResult[]): string {
  const perInstruction = (time: number | undefined, { instructions }: KernelResult) =>
    number(time === undefined ? undefined : (time * 1e9) / instructions)
  const head = ['ns per instruction', 'wave instr.', 'reference', 'core', 'translate', 'ref:core', 'core:trans']
  return table(
    head,
    results.map((r) => [
      shortName(r.name),
      r.instructions.toString(),
      perInstruction(r.reference, r),
      perInstruction(r.core, r),
      perInstruction(r.translate, r),
      ratio(r.reference, r.core),
      ratio(r.core, r.translate),
    ]),
  )
}

export function showNative(results: readonly KernelResult[]): string {
  const native = results.filter((r) => r.native !== undefined)
  if (native.length === 0) return ''
  const head = ['against C (-O3 -march=native)', 'native', 'translate', 'translate:native']
  return table(
    head,
    native.map((r) => [shortName(r.name), seconds(r.native), seconds(r.translate), ratio(r.translate, r.native)]),
  )
}
