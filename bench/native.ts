/** Builds the C programs of bench/native and runs them: what this machine takes for the same work without a simulator. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'

/** The first that is there; LANEWISE_CC names another. */
const COMPILERS = [process.env.LANEWISE_CC, 'clang-22', 'clang-21', 'clang-20', 'clang-19', 'clang', 'gcc', 'cc']
export const FLAGS: readonly string[] = ['-O3', '-march=native', '-ffp-contract=off', '-std=c11']

export interface Compiler {
  readonly command: string
  /** What it says it is. */
  readonly version: string
}

let compiler: Compiler | undefined | null
/** The C compiler, or undefined where there is none. */
export function findCompiler(): Compiler | undefined {
  if (compiler === undefined) {
    compiler = null
    for (const command of COMPILERS) {
      if (command === undefined) continue
      const { status, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' })
      if (status !== 0) continue
      compiler = { command, version: stdout.split('\n')[0]! }
      break
    }
  }
  return compiler ?? undefined
}

interface NativeJob {
  readonly name: string
  readonly expect?: Readonly<Record<string, { readonly fnv1a64?: string }>>
}

/** A job's work in C, on one thread. */
export interface NativeTimes {
  /** Seconds for one work-item after another. */
  readonly one: number
  /** Seconds for eight lanes at a time, arranged by hand. */
  readonly lanes: number
  /** Whether both results had the hash that the job expects; false where the job's result is not exact. */
  readonly checked: boolean
}

/** The program for a job, built; undefined where there is none or no compiler. @throws {Error} it does not build */
export function buildNative({ name }: NativeJob): string | undefined {
  const kernel = name.slice(0, name.indexOf('.'))
  const source = `bench/native/${kernel}.c`
  const cc = findCompiler()
  if (cc === undefined || !existsSync(source)) return undefined
  mkdirSync('build/native', { recursive: true })
  const program = `build/native/${kernel}`
  execFileSync(cc.command, [...FLAGS, source, '-o', program, '-lm'])
  return program
}

/** Runs a program, each form three times; the best counts. @throws {Error} a result has not the hash that the job expects */
export function runNative(program: string, { name, expect }: NativeJob): NativeTimes {
  const lines = execFileSync(program, { encoding: 'utf8' }).trim().split('\n')
  const forms = lines.map((line) => line.split(' ') as [seconds: string, hash: string])
  const expected = Object.values(expect ?? {}).flatMap(({ fnv1a64 }) => fnv1a64 ?? [])[0]
  for (const [, hash] of forms)
    if (expected !== undefined && hash !== expected)
      throw new Error(`${program} gives a result with hash ${hash}; ${name} expects ${expected}`)
  return { one: Number(forms[0]![0]), lanes: Number(forms[1]![0]), checked: expected !== undefined }
}
