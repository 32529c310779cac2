/** What the core pays for what an instruction adds: exact fused multiply-add, and modifiers. */

import { hasFusedMadd } from '../host/core/relaxed.ts'
import { type CoreBuild, createCore } from '../host/index.ts'
import { assembleProgram } from '../host/text/program.ts'
import { inChild } from './child.ts'
import { type Subject, subjects, TARGET } from './instructions.ts'
import { bestOfEach, type Effort } from './measure.ts'
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

/** Nanoseconds of an instruction with a modifier and without. */
export interface ModifierCost {
  readonly text: string
  readonly modified: number
  readonly plain: number
}

const PLAIN = 'v_add_f32_e64 v24, v0, v8'
const MODIFIED = [
  'v_add_f32_e64 v24, |v0|, v8',
  'v_add_f32_e64 v24, -v0, v8',
  'v_add_f32_e64 v24, v0, v8 mul:2',
  'v_add_f32_e64 v24, v0, v8 clamp',
] as const
/** The IEEE bit is off, for output modifiers have no effect with it; f32 denormals are flushed. */
const MODE = 0x1c0

async function measureModifiers(effort: Effort): Promise<ModifierCost[]> {
  const stand = new Stand(await createCore(), LOOPS)
  const prepare = (text: string) =>
    stand.prepare(() => ({ ...operation('v_add_f32'), words: [...assembleProgram(text, TARGET).words] }), MODE)
  const [plain, ...modified] = bestOfEach(effort, [PLAIN, ...MODIFIED].map(prepare))
  return MODIFIED.map((text, i) => ({ text, modified: modified[i]!, plain: plain! }))
}

export interface Variants {
  readonly fma: readonly FmaCost[]
  readonly modifiers: readonly ModifierCost[]
}

export const measureVariants = async (effort: Effort): Promise<Variants> => ({
  fma: measureFma(effort),
  modifiers: await measureModifiers(effort),
})

export function showVariants({ fma, modifiers }: Variants): string {
  const fmaRows = fma.map((cost) => [
    `v_fma_f32 over v_mad_f32, ${cost.build}`,
    number(cost.fma),
    number(cost.mad),
    ratio(cost.fma, cost.mad),
  ])
  const rows = modifiers.map(({ text, modified, plain }) => [text, number(modified), number(plain), ratio(modified, plain)])
  const missing = fma.some(({ build }) => build === 'relaxed') ? '' : 'relaxed SIMD is not here, or does not fuse\n'
  return `${table(['core, ns', 'this', 'plain', 'ratio'], [...fmaRows, ...rows])}${missing}`
}
