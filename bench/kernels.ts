/** Real kernels, from job files: the same jobs on every engine, and as C for this machine. */
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { inChild, sayProgress } from './child.ts'
import { type JobLine, type JobRun, type JobTime, jobLines, SMALL_JOBS } from './jobs.ts'
import { type Effort, geometricMean, least } from './measure.ts'
import { buildNative, type NativeTimes, runNative } from './native.ts'
import { number, ratio, seconds, table } from './table.ts'

export interface KernelResult {
  readonly name: string
  /** The job file that it is from. */
  readonly path: string
  /** Wave instructions of a run. */
  readonly instructions: number
  /**
   * Seconds of the dispatch on one thread, planning included; of the translating engine with translation and compilation. For large jobs the
   * reference's time is an estimate: see `referenceInstructions`.
   */
  readonly reference: number
  readonly core: number
  readonly translate: number
  /** Seconds of the core's first run in a process, which is what a translating engine's is to be compared with; of small jobs. */
  readonly coreOnce: number | undefined
  /** Seconds of the same on the engine `auto`, which translates only what runs long; of small jobs. */
  readonly auto: number | undefined
  /** Seconds on the translating engine when all is compiled already. */
  readonly again: number
  /**
   * Instructions that the reference ran. Where they are fewer than `instructions`, its time is the core's whole time times the ratio of the
   * two for these first instructions of the job.
   */
  readonly referenceInstructions: number
  /** The translating engine on several threads, its first run and the best of three; of large jobs. */
  readonly together: { readonly threads: number; readonly seconds: number; readonly again: number } | undefined
  /** The same work in C; of large jobs that have a program. */
  readonly native: NativeTimes | undefined
}

const SHARED = '../shared/kernels/jobs'
/** The large jobs of a target, which are only beside the repository. */
export const largePath = (target: string): string => `${SHARED}/${target}.large.ndjson`
/** Of the large jobs, those that take long enough to mean something, and not too long. */
const LARGE_DEFAULT = /^(mandelbrot|nbody|sha256|matmul_naive|fir|stencil3d)\.gfx803\.O2/

/** How often each job is measured in fresh processes where nobody says; the best counts. */
const ROUNDS = { small: 3, large: 2 } as const
/** What the reference runs of a large job: some ten seconds. */
const REFERENCE_BUDGET = 2_000_000

const engineTimes = (times: readonly JobTime[], name: string, engine: string) => times.filter((t) => t.name === name && t.engine === engine)

/** Jobs of a file that the engines run from beginning to end, the reference too. */
function measureSmall(path: string, names: readonly string[], rounds: number, effort: Effort): KernelResult[] {
  const runs: readonly JobRun[] = [
    { engine: 'reference', threads: 1, timeMs: 0 },
    { engine: 'core', threads: 1, timeMs: effort.timeMs },
    { engine: 'translate', threads: 1, timeMs: effort.timeMs / 2 },
  ]
  // What `translate` has compiled is not to help `auto`.
  const auto: readonly JobRun[] = [{ engine: 'auto', threads: 1, timeMs: 0 }]
  const times = Array.from({ length: rounds }, () =>
    [runs, auto].flatMap((which) => inChild<JobTime[]>('jobs', { path, names, runs: which })),
  ).flat()
  return names.map((name) => {
    const [reference, core, translate] = ['reference', 'core', 'translate'].map((engine) => engineTimes(times, name, engine))
    return {
      name,
      path,
      instructions: core![0]!.instructions,
      reference: least(reference!.map((t) => t.best)),
      referenceInstructions: reference![0]!.instructions,
      core: least(core!.map((t) => t.best)),
      translate: least(translate!.map((t) => t.first)),
      coreOnce: least(core!.map((t) => t.first)),
      auto: least(engineTimes(times, name, 'auto').map((t) => t.first)),
      again: least(translate!.map((t) => t.best)),
      together: undefined,
      native: undefined,
    }
  })
}

/** One job on one thread, on several, and in C, by turns. */
function measureLarge(path: string, line: JobLine, threads: number, times: number): KernelResult {
  const { name } = line
  const ask = (...runs: JobRun[]): JobTime[] => inChild('jobs', { path, names: [name], runs })
  const once = { threads: 1, timeMs: 0 }
  const again = { threads: 1, timeMs: 1 }
  const program = buildNative(line)
  const rounds = Array.from({ length: times }, () => {
    const part = { ...once, budget: REFERENCE_BUDGET }
    const [core, translate, corePart, referencePart] = ask(
      { ...once, engine: 'core' },
      { ...again, engine: 'translate' },
      { ...part, engine: 'core' },
      { ...part, engine: 'reference' },
    )
    const [together] = threads > 1 ? ask({ ...again, threads, engine: 'translate' }) : []
    return { core: core!, translate: translate!, corePart: corePart!, referencePart: referencePart!, together, native: program && runNative(program, line) }
  }) // biome-ignore format: one line a round
  const core = least(rounds.map((r) => r.core.best))
  const slower = least(rounds.map((r) => r.referencePart.best)) / least(rounds.map((r) => r.corePart.best))
  const together = rounds.flatMap((r) => r.together ?? [])
  const native = rounds.flatMap((r) => r.native || [])
  return {
    name,
    path,
    instructions: rounds[0]!.core.instructions,
    reference: core * slower,
    referenceInstructions: rounds[0]!.referencePart.instructions,
    core,
    translate: least(rounds.map((r) => r.translate.first)),
    coreOnce: undefined,
    auto: undefined,
    again: least(rounds.map((r) => r.translate.best)),
    together: together[0] && {
      threads: Math.max(...together.map((t) => t.threads)),
      seconds: least(together.map((t) => t.first)),
      again: least(together.map((t) => t.best)),
    },
    native: native[0] && {
      one: least(native.map((n) => n.one)),
      lanes: least(native.map((n) => n.lanes)),
      checked: native[0].checked,
    },
  }
}

/** The small jobs: those of the repository, then those that are only beside it. */
export function measureSmallKernels(filter: RegExp | undefined, effort: Effort, rounds: number = ROUNDS.small): KernelResult[] {
  const seen = new Set<string>()
  return [SMALL_JOBS, `${SHARED}/gfx803.small.ndjson`].filter(existsSync).flatMap((path) => {
    const names = jobLines(path)
      .map((line) => line.name)
      .filter((name) => !seen.has(name) && (filter ?? /./).test(name))
    for (const name of names) seen.add(name)
    return names.length === 0 ? [] : measureSmall(path, names, rounds, effort)
  })
}

/** The jobs of a file of large ones whose names match. @throws {Error} it is not there */
export function largeJobs(path: string, filter: RegExp): JobLine[] {
  if (!existsSync(path)) throw new Error(`there are no large jobs: ${path} does not exist`)
  return jobLines(path).filter(({ name }) => filter.test(name))
}

/**
 * The large jobs, which are only beside the repository.
 * @param threads for the run on several; default all that the machine has
 */
export function measureLargeKernels(
  filter: RegExp | undefined,
  threads: number = cpus().length,
  rounds: number = ROUNDS.large,
): KernelResult[] {
  const path = largePath('gfx803')
  const lines = largeJobs(path, filter ?? LARGE_DEFAULT)
  const results = lines.map((line) => {
    sayProgress(line.name)
    return measureLarge(path, line, threads, rounds)
  })
  sayProgress('')
  return results
}

export const shortName = (name: string): string => name.replace(/\.gfx\d+\.(O2\.)?/, ' ').replace(/[ .](small|large)$/, '')

/** Below this the translating engine is said to lose against the core. */
export const LOSS = 0.9

export function showSmallKernels(results: readonly KernelResult[]): string {
  const rows = results.map((r) => [
    shortName(r.name),
    r.instructions.toString(),
    ...[r.reference, r.core, r.coreOnce!, r.auto!, r.translate].map((time) => number((time * 1e9) / r.instructions)),
    ratio(r.reference, r.core),
    ratio(r.coreOnce, r.translate),
  ])
  const head = ['ns an instruction', 'instr.', 'ref', 'core', 'once: core', 'auto', 'trans', 'ref:core', 'core:trans']
  const own = results.filter(({ path }) => path === SMALL_JOBS)
  const mean = (of: (r: KernelResult) => number) => {
    const all = `${number(geometricMean(results.map(of)))}x over all ${results.length}`
    return own.length === 0 ? all : `${all}, ${number(geometricMean(own.map(of)))}x over the ${own.length} of the repository`
  }
  const losses = (of: (r: KernelResult) => number) =>
    results
      .filter((r) => of(r) < LOSS)
      .map((r) => `${shortName(r.name)} ${number(of(r))}`)
      .join(', ') || 'none'
  const overTranslate = (r: KernelResult) => r.coreOnce! / r.translate
  const overAuto = (r: KernelResult) => r.coreOnce! / r.auto!
  const lines = [
    'Geometric means',
    `  reference : core   ${mean((r) => r.reference / r.core)}`,
    `  core : translate   ${mean(overTranslate)}`,
    `  core : auto        ${mean(overAuto)}`,
    `core : translate below ${LOSS}: ${losses(overTranslate)}`,
    `core : auto below ${LOSS}: ${losses(overAuto)}`,
    'once: the first run in a process that has planned and compiled nothing of the job; these are what core : translate and core : auto compare',
  ]
  return `${table(head, rows)}\n${lines.join('\n')}\n`
}

export function showLargeKernels(results: readonly KernelResult[]): string {
  const threads = Math.max(1, ...results.flatMap((r) => r.together?.threads ?? []))
  const times = results.map((r) => [
    shortName(r.name),
    number(r.instructions / 1e6),
    `${r.referenceInstructions < r.instructions ? '~' : ''}${seconds(r.reference)}`,
    ...[r.core, r.translate, r.again, r.together?.seconds, r.together?.again, r.native?.one, r.native?.lanes].map(seconds),
  ])
  const factors: readonly (readonly [string, (r: KernelResult) => readonly [number | undefined, number | undefined]])[] = [
    ['ref:core', (r) => [r.reference, r.core]],
    ['core:trans', (r) => [r.core, r.translate]],
    [`trans:x${threads}`, (r) => [r.translate, r.together?.seconds]],
    [`again:x${threads}`, (r) => [r.again, r.together?.again]],
    ['C:trans', (r) => [r.native?.one, r.translate]],
    ['C8:trans', (r) => [r.native?.lanes, r.translate]],
  ]
  const mean = (of: (typeof factors)[number][1]) =>
    geometricMean(results.map(of).flatMap(([a, b]) => (a === undefined || b === undefined ? [] : [a / b])))
  const ratios = [
    ...results.map((r) => [shortName(r.name), ...factors.map(([, of]) => ratio(...of(r)))]),
    ['geometric mean', ...factors.map(([, of]) => ratio(mean(of), 1))],
  ]
  const unchecked = results.filter((r) => r.native?.checked === false).map((r) => shortName(r.name))
  const notes = [
    `~ estimated: the first ${REFERENCE_BUDGET.toLocaleString('en')} instructions on reference and core, times the core's whole time`,
    'again: the best of three runs in a process; translate is the first, with translation and compilation in it, as C:trans and C8:trans have it',
    'C: one work-item after another; C8: eight lanes by hand. Hashes are those that the jobs expect',
    ...(unchecked.length > 0 ? [`(not of ${unchecked.join(', ')}, whose results are not exact)`] : []),
  ]
  const timesHead = ['seconds', 'M instr.', 'reference', 'core', 'translate', 'again', `x${threads}`, 'again', 'C', 'C8']
  return `${table(timesHead, times)}\n${table(['how many times as fast', ...factors.map(([name]) => name)], ratios)}\n${notes.join('\n')}\n`
}
