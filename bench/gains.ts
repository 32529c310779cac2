/** What translating gains over the core in whole kernels: in a process that is warm, when a kernel runs again, and in one that has run nothing. */
import type { JobEngine } from '../host/index.ts'
import { inChild, sayProgress } from './child.ts'
import type { JobRun, JobTime } from './jobs.ts'
import { LOSS, largeJobs, largePath, shortName } from './kernels.ts'
import { geometricMean, least } from './measure.ts'
import { number, ratio, table } from './table.ts'

/** Seconds of a dispatch on one thread, the best of several processes each. */
interface Pair {
  /** First run in its process, with planning, translation and compilation. */
  readonly first: number
  /** Best of three: translations are recalled (host/translate/recall.ts). */
  readonly again: number
}

export interface Gain {
  readonly name: string
  readonly instructions: number
  /** In a process that has run other programs. */
  readonly core: Pair
  readonly translate: Pair
  /** First runs in processes that have run nothing, each in one of its own: of `auto`, which translates where that pays. */
  readonly coldCore: readonly number[]
  readonly coldAuto: readonly number[]
}

/** Kernels as they are mostly compiled. */
const DEFAULT = /\.O2\./
const ROUNDS = 3
/**
 * Cold processes of the same kind differ by a sixth and more, whatever they run. So there are several a round, as many as take so many seconds,
 * at most so many.
 */
const COLD = { seconds: 1.5, most: 8 } as const

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1]!
const bestOf = (times: readonly JobTime[]): Pair => ({ first: least(times.map((t) => t.first)), again: least(times.map((t) => t.best)) })

const coldTurns = (seconds: number): number => Math.max(1, Math.min(COLD.most, Math.round(COLD.seconds / seconds)))

function measure(path: string, name: string, rounds: number): Gain {
  const ask = (run: Pick<JobRun, 'engine' | 'timeMs'>, isCold: boolean): JobTime =>
    inChild<JobTime[]>('jobs', { path, names: [name], runs: [{ ...run, threads: 1 }], isCold })[0]!
  const turns = Array.from({ length: rounds }, () => ({
    core: ask({ engine: 'core', timeMs: 1 }, false),
    translate: ask({ engine: 'translate', timeMs: 1 }, false),
  }))
  const cold = (engine: JobEngine): number => ask({ engine, timeMs: 0 }, true).first
  const colds = Array.from({ length: rounds * coldTurns(turns[0]!.core.first) }, () => ({ core: cold('core'), auto: cold('auto') }))
  return {
    name,
    instructions: turns[0]!.core.instructions,
    core: bestOf(turns.map((t) => t.core)),
    translate: bestOf(turns.map((t) => t.translate)),
    coldCore: colds.map((t) => t.core),
    coldAuto: colds.map((t) => t.auto),
  }
}

/** All large jobs that a target's kernels have beside the repository, each in processes of its own, engines by turns. */
export function measureGains(target: string, filter: RegExp = DEFAULT, rounds: number = ROUNDS): Gain[] {
  const path = largePath(target)
  const gains = largeJobs(path, filter).map(({ name }) => {
    sayProgress(name)
    return measure(path, name, rounds)
  })
  sayProgress('')
  return gains
}

const RATIOS = [
  ['first', ({ core, translate }: Gain) => core.first / translate.first],
  ['again', ({ core, translate }: Gain) => core.again / translate.again],
  ['cold auto', ({ coldCore, coldAuto }: Gain) => median(coldCore) / median(coldAuto)],
] as const

/** What chance does to cold processes: every other one of the core over those between; undefined where they are too few. */
function chance({ coldCore }: Gain): number | undefined {
  const half = (odd: 0 | 1) => median(coldCore.filter((_, i) => i % 2 === odd))
  return coldCore.length < COLD.most ? undefined : half(0) / half(1)
}

export function showGains(gains: readonly Gain[]): string {
  const rows = gains.map((gain) => [
    shortName(gain.name),
    number(gain.instructions / 1e6),
    ...[gain.core.again, gain.translate.first, gain.translate.again].map((time) => number((time * 1e9) / gain.instructions)),
    ...RATIOS.map(([, of]) => ratio(of(gain), 1)),
    ratio(chance(gain), 1),
  ])
  const means = ['geometric mean', '', '', '', '', ...RATIOS.map(([, of]) => ratio(geometricMean(gains.map(of)), 1))]
  const losses = RATIOS.map(([name, of]) => {
    const lost = gains.filter((gain) => of(gain) < LOSS).map((gain) => `${shortName(gain.name)} ${number(of(gain))}`)
    return `below ${LOSS}, ${name}: ${lost.join(', ') || 'none'}`
  })
  const notes = [
    'core, first, again: ns an instruction; translate for the first time in a process that has run other programs, and the best of three',
    'ratios: the core over that, first runs with first runs; cold auto: both in processes that have run nothing, medians',
    'chance: cold, every other process of the core over those between',
  ]
  const head = ['', 'M instr.', 'core', 'first', 'again', ...RATIOS.map(([name]) => `core:${name}`), 'chance']
  return `${table(head, [...rows, means])}\n${[...losses, ...notes].join('\n')}\n`
}
