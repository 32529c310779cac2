/** Builds the C programs of bench/native and runs them: what this machine takes for the same work without a simulator. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'

/** The best that is there; LANEWISE_CC names another. */
const COMPILERS = [process.env.LANEWISE_CC, 'clang', 'clang-22', 'clang-21', 'clang-20', 'clang-19', 'gcc', 'cc']
const FLAGS = ['-O3', '-march=native', '-ffp-contract=off', '-std=c11']
const works = (compiler: string): boolean => spawnSync(compiler, ['--version']).status === 0

let compiler: string | undefined | null
/** The C compiler, or undefined where there is none. */
export function findCompiler(): string | undefined {
  compiler ??= COMPILERS.find((name) => name !== undefined && works(name)) ?? null
  return compiler ?? undefined
}

interface NativeJob {
  readonly name: string
  readonly args?: readonly { readonly value?: number }[]
  readonly expect?: Readonly<Record<string, { readonly fnv1a64?: string }>>
}

/**
 * Seconds of a job as C, the best of three runs of one thread; undefined where there is no C program for it or no compiler.
 * @throws {Error} the program does not build, or its result has not the hash that the job expects
 */
export async function nativeSeconds(job: NativeJob): Promise<number | undefined> {
  const name = job.name.slice(0, job.name.indexOf('.'))
  const source = `bench/native/${name}.c`
  const cc = findCompiler()
  if (cc === undefined || !existsSync(source)) return undefined
  mkdirSync('build/native', { recursive: true })
  const program = `build/native/${name}`
  execFileSync(cc, [...FLAGS, source, '-o', program, '-lm'])
  const [seconds, hash] = execFileSync(program, { encoding: 'utf8' }).trim().split(' ')
  const expected = Object.values(job.expect ?? {}).flatMap(({ fnv1a64 }) => fnv1a64 ?? [])[0]
  if (expected !== undefined && hash !== expected)
    throw new Error(`${source} gives a result with hash ${hash}; ${job.name} expects ${expected}`)
  return Number(seconds)
}
