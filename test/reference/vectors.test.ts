/** Single instructions with independently computed results, one job a line, where the collection is at hand beside the repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { TARGETS, type TargetName } from '../../host/isa/targets.ts'
import { run } from './machine.ts'

const VECTORS = new URL('../../../shared/vectors/', import.meta.url)
/** Some of them, kept in the repository. */
const KEPT = new URL('../ops/data/vectors.ndjson.gz', import.meta.url)

interface Job {
  readonly name: string
  readonly target: string
  readonly code: { readonly words: readonly string[] }
  readonly wave: {
    readonly exec?: string
    readonly vcc?: string
    readonly scc?: 0 | 1
    readonly m0?: string
    readonly mode?: string
    readonly sgpr?: Readonly<Record<string, string>>
    readonly vgpr?: Readonly<Record<string, string | readonly string[]>>
  }
  readonly expect: Readonly<Record<string, string | number | readonly (string | null)[]>>
  readonly ulp?: Readonly<Record<string, number>>
  readonly nan?: string
  readonly disputed?: boolean
}

function* jobsOf(file: URL): Generator<Job> {
  const raw = readFileSync(file)
  const text = (file.pathname.endsWith('.gz') ? gunzipSync(raw) : raw).toString('utf8')
  for (const line of text.split('\n')) if (line.trim() !== '') yield JSON.parse(line) as Job
}

/** `s5`, `v[2:3]`: file, first register, dwords. */
function register(name: string): { file: string; first: number; dwords: number } {
  const match = /^([sv])(?:(\d+)|\[(\d+):(\d+)\])$/.exec(name)
  if (!match) throw new Error(name)
  const first = Number(match[2] ?? match[3])
  return { file: match[1]!, first, dwords: Number(match[4] ?? first) - first + 1 }
}

const isNaNWord = (word: bigint, bits: number): boolean =>
  bits === 64 ? (word & 0x7fffffffffffffffn) > 0x7ff0000000000000n : (word & 0x7fffffffn) > 0x7f800000n
const ordered = (word: bigint, bits: number): bigint => (word >> BigInt(bits - 1) ? -(word & ((1n << BigInt(bits - 1)) - 1n)) : word)

/** The first difference, or undefined. */
function difference(job: Job): string | undefined {
  const { wave } = job
  const sgpr: Record<number, number> = {}
  for (const [name, value] of Object.entries(wave.sgpr ?? {})) {
    const { first, dwords } = register(name)
    for (let k = 0; k < dwords; k++) sgpr[first + k] = Number((BigInt(value) >> BigInt(32 * k)) & 0xffffffffn)
  }
  const vgpr: Record<number, number | number[]> = {}
  for (const [name, value] of Object.entries(wave.vgpr ?? {})) {
    const { first, dwords } = register(name)
    for (let k = 0; k < dwords; k++) {
      const word = (text: string) => Number((BigInt(text) >> BigInt(32 * k)) & 0xffffffffn)
      vgpr[first + k] = typeof value === 'string' ? word(value) : value.map(word)
    }
  }
  const m = run({
    target: job.target as TargetName,
    words: job.code.words.map(Number),
    sgpr,
    vgpr,
    exec: BigInt(wave.exec ?? '0xffffffffffffffff'),
    vcc: BigInt(wave.vcc ?? 0),
    m0: Number(wave.m0 ?? 0),
    scc: wave.scc ?? 0,
    mode: Number(wave.mode ?? 0x3c0),
  })
  const active = BigInt(wave.exec ?? '0xffffffffffffffff')
  const special: Record<string, () => bigint> = {
    vcc: () => m.vcc,
    exec: () => m.exec,
    scc: () => BigInt(m.scc),
    m0: () => BigInt(m.m0),
    mode: () => BigInt(m.mode),
  }
  for (const [name, wanted] of Object.entries(job.expect)) {
    if (special[name]) {
      if (special[name]() !== BigInt(wanted as string)) return `${name}: ${special[name]().toString(16)}, wanted ${wanted}`
      continue
    }
    const { file, first, dwords } = register(name)
    const bits = dwords * 32
    const join = (word: (k: number) => number) =>
      Array.from({ length: dwords }, (_, k) => BigInt(word(k)) << BigInt(32 * k)).reduce((a, b) => a | b, 0n)
    if (file === 's') {
      const got = join((k) => m.sgpr(first + k))
      if (got !== BigInt(wanted as string)) return `${name}: ${got.toString(16)}, wanted ${wanted}`
      continue
    }
    for (let lane = 0; lane < 64; lane++) {
      const want = typeof wanted === 'object' ? wanted[lane] : (active >> BigInt(lane)) & 1n ? String(wanted) : null
      if (want === null || want === undefined) continue
      const got = join((k) => m.vgpr(first + k, lane))
      if (got === BigInt(want)) continue
      if (job.nan === 'any' && isNaNWord(got, bits) && isNaNWord(BigInt(want), bits)) continue
      const ulp = BigInt(job.ulp?.[name] ?? 0)
      const distance = ordered(got, bits) - ordered(BigInt(want), bits)
      if (ulp > 0n && (distance < 0n ? -distance : distance) <= ulp) continue
      return `${name} lane ${lane}: ${got.toString(16)}, wanted ${want}`
    }
  }
  return undefined
}

const beside = existsSync(VECTORS)
  ? ['operations/', 'cases/'].flatMap((folder) =>
      readdirSync(new URL(folder, VECTORS)).map((name) => [folder + name, new URL(folder + name, VECTORS)] as const),
    )
  : []
const files = [['kept vectors', KEPT] as const, ...beside.filter(([name]) => !name.includes('disputed'))]

test.each(files)(
  '%s: every job gives what it says',
  (_name, file) => {
    const differences: string[] = []
    for (const job of jobsOf(file)) {
      if (!(job.target in TARGETS)) continue
      try {
        const found = difference(job)
        if (found) differences.push(`${job.target} ${job.name}: ${found}`)
      } catch (error) {
        differences.push(`${job.target} ${job.name}: ${error instanceof Error ? error.message : error}`)
      }
    }
    expect(differences.slice(0, 20)).toEqual([])
  },
  120_000,
)
