/** What the core pays for what an instruction adds: exact fused multiply-add, and modifiers. */

import { hasFusedMadd } from '../host/core/relaxed.ts'
import { type CoreBuild, createCore } from '../host/index.ts'
import { inChild, sayProgress } from './child.ts'
import { MODIFIERS, type Modifier, modifiedSubjects, type Subject, subjects } from './instructions.ts'
import { bestOfEach, type Effort, geometricMean } from './measure.ts'
import { Stand } from './operations.ts'
import { number, ratio, table } from './table.ts'

const LOOPS = 200

/** Nanoseconds of v_fma_f32 and v_mad_f32 on a build of the core. */
export interface FmaCost {
  readonly build: CoreBuild
  readonly fma: number
  readonly mad: number
}

/** On the builds that run here: with relaxed SIMD only where it fuses and the package has that build. */
export async function measureFmaHere(effort: Effort): Promise<FmaCost[]> {
  const costs: FmaCost[] = []
  for (const build of hasFusedMadd() ? (['simd', 'relaxed'] as const) : (['simd'] as const)) {
    const stand = new Stand(await createCore({ build }), LOOPS)
    const runs = ['v_fma_f32', 'v_mad_f32'].map((name) => stand.prepare(() => operation(name)))
    const [fma, mad] = bestOfEach(effort, runs)
    costs.push({ build, fma: fma!, mad: mad! })
  }
  return costs
}

const operation = (name: string): Subject => subjects(true, new RegExp(`^${name}$`))[0]!

/** Node before 22 has relaxed SIMD behind a flag, later ones do not know it. */
const measureFma = (effort: Effort): FmaCost[] =>
  inChild('fma', effort, hasFusedMadd() || Number(process.versions.node.split('.')[0]) >= 22 ? [] : ['--experimental-wasm-relaxed-simd'])

/** Nanoseconds of an instruction in VOP3, and of the same with one modifier. */
export interface ModifierCost {
  readonly name: string
  readonly plain: number
  readonly modified: Readonly<Partial<Record<Modifier, number>>>
}

/** The IEEE bit is off and denormals are flushed, for otherwise output modifiers have no effect. */
const MODE = 0x100
/** What a modifier is expected to cost at most. */
const EXPECTED = 1.5

async function measureModifiers(all: boolean, filter: RegExp, effort: Effort): Promise<ModifierCost[]> {
  const stand = new Stand(await createCore(), LOOPS)
  const costs = modifiedSubjects(all, filter).map(({ plain, modified }) => {
    sayProgress(`${plain.name} with modifiers`)
    const [least, ...others] = bestOfEach(
      effort,
      [plain, ...modified.values()].map((subject) => stand.prepare(() => subject, MODE)),
    )
    return { name: plain.name, plain: least!, modified: Object.fromEntries([...modified.keys()].map((name, i) => [name, others[i]!])) }
  })
  sayProgress('')
  return costs
}

export interface Variants {
  readonly fma: readonly FmaCost[]
  readonly modifiers: readonly ModifierCost[]
}

export const measureVariants = async (all: boolean, filter: RegExp, effort: Effort): Promise<Variants> => ({
  fma: filter.test('v_fma_f32') ? measureFma(effort) : [],
  modifiers: await measureModifiers(all, filter, effort),
})

const NAMES = Object.keys(MODIFIERS) as Modifier[]

function showModifiers(costs: readonly ModifierCost[]): string {
  const factors = (name: Modifier) => costs.flatMap(({ plain, modified }) => (modified[name] === undefined ? [] : [modified[name] / plain]))
  const rows = costs.map(({ name, plain, modified }) => [
    name,
    number(plain),
    ...NAMES.map((modifier) => (modified[modifier] === undefined ? '' : ratio(modified[modifier], plain))),
  ])
  const mean = ['geometric mean', '', ...NAMES.map((name) => ratio(geometricMean(factors(name)), 1))]
  const above = costs.filter(({ plain, modified }) => Object.values(modified).some((value) => value > EXPECTED * plain))
  const list = above.map(({ name }) => name).join(', ') || 'none'
  return `${table(['core, VOP3', 'plain, ns', ...NAMES], [...rows, mean])}\na modifier costs more than ${EXPECTED} times the plain instruction: ${list}\n`
}

export function showVariants({ fma, modifiers }: Variants): string {
  const rows = fma.map((cost) => [`v_fma_f32 over v_mad_f32, ${cost.build}`, number(cost.fma), number(cost.mad), ratio(cost.fma, cost.mad)])
  const missing = fma.some(({ build }) => build === 'relaxed') ? '' : 'relaxed SIMD is not here, or does not fuse\n'
  const fused = rows.length === 0 ? '' : `${table(['core, ns', 'fma', 'mad', 'ratio'], rows)}${missing}\n`
  return modifiers.length === 0 ? fused : `${fused}${showModifiers(modifiers)}`
}
