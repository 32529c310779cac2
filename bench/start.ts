/** Cold start, in processes of their own, and what comes before running: decoding, planning, text. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { decode } from '../host/codec/decode.ts'
import { planStretch } from '../host/plan/plan.ts'
import { disassemble } from '../host/text/disassemble.ts'
import { assembleProgram } from '../host/text/program.ts'
import { subjects, TARGET } from './instructions.ts'
import { bestSeconds, type Effort } from './measure.ts'
import { number, seconds, table } from './table.ts'

export interface StartResult {
  readonly engine: string
  /** Seconds from the process's start of the import until it is done, and until the first result of saxpy is there. */
  readonly imported: number
  readonly result: number
}

const RUNS = 5
/** Runs in a fresh process: imports the built package as a user does and runs one small job. */
const script = (engine: string): string => `
  const { readFile } = await import('node:fs/promises')
  const line = (await readFile('test/data/kernels/gfx803.ndjson', 'utf8')).split('\\n').find((l) => l.includes('"saxpy.'))
  const start = performance.now()
  const { readJob, runJob } = await import('./dist/index.js')
  const imported = performance.now()
  const result = await runJob(readJob(JSON.parse(line)), { engine: '${engine}', readFile: (path) => readFile('test/data/kernels/' + path) })
  if (result.status !== 'ok') throw new Error(JSON.stringify(result))
  console.log(JSON.stringify([imported - start, performance.now() - start]))
`

/** Empty where the package was not built. */
export function measureStart(): StartResult[] {
  if (!existsSync('dist/index.js')) return []
  return ['core', 'translate', 'reference'].map((engine) => {
    const runs = Array.from({ length: RUNS }, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script(engine)], { encoding: 'utf8' })
      if (status !== 0) throw new Error(`the package in dist does not run saxpy on ${engine}; build it again\n${stderr}`)
      return JSON.parse(stdout) as [number, number]
    })
    const median = (which: 0 | 1) => runs.map((run) => run[which] / 1000).sort((a, b) => a - b)[RUNS >> 1]!
    return { engine, imported: median(0), result: median(1) }
  })
}

export const showStart = (results: readonly StartResult[]): string =>
  table(
    ['cold start', 'import', 'first result of saxpy'],
    results.map(({ engine, imported, result }) => [engine, seconds(imported), seconds(result)]),
  )

export interface CodecResult {
  readonly name: string
  /** Nanoseconds an instruction. */
  readonly nanoseconds: number
}

/** Copies of all operations, one behind another. */
const COPIES = 8

/** Decoding, planning (decoding included), and text in both directions, over all vector and scalar operations. */
export async function measureCodec(effort: Effort): Promise<CodecResult[]> {
  const all = subjects(true, /./)
  const words = Uint32Array.from(Array.from({ length: COPIES }, () => all.flatMap((subject) => subject.words)).flat())
  const instructions = instructionsOf(words)
  const texts = instructions.map((instruction) => disassemble(instruction))
  const source = texts.join('\n')
  const tasks: readonly (readonly [string, () => void])[] = [
    ['decode', () => void instructionsOf(words)],
    ['plan, decoding included', () => plan(words)],
    ['disassemble', () => void instructions.map((instruction) => disassemble(instruction))],
    ['assemble', () => void assembleProgram(source, TARGET)],
  ]
  const results: CodecResult[] = []
  for (const [name, task] of tasks) results.push({ name, nanoseconds: ((await bestSeconds(effort, task)) * 1e9) / instructions.length })
  return results
}

function instructionsOf(words: Uint32Array) {
  const list = []
  for (let index = 0; index < words.length; ) {
    const instruction = decode(words, index, TARGET)
    if (instruction === undefined) throw new Error(`word ${index} of the benchmark's program is no instruction`)
    list.push(instruction)
    index += instruction.dwords
  }
  return list
}

function plan(words: Uint32Array): void {
  for (let pc = 0; pc < words.length * 4; ) {
    const { pcs } = planStretch(words, pc, TARGET, { waveSize: TARGET.waveSize, vgprCount: 256 }, () => false)
    const last = pcs.at(-1)!
    pc = last + decode(words, last >>> 2, TARGET)!.dwords * 4
  }
}

export const showCodec = (results: readonly CodecResult[]): string =>
  table(
    ['ns per instruction', ''],
    results.map(({ name, nanoseconds }) => [name, number(nanoseconds)]),
  )
