import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { OperandType } from '../../host/isa/row.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import type { Word } from '../../host/reference/lane.ts'
import { type Job, type Outcome, runJob } from './model.ts'

/** All vectors lie beside a development checkout; a part of them comes with the tests. */
const SHARED = new URL('../../../shared/vectors/operations/', import.meta.url)
const PART = new URL('data/vectors.ndjson.gz', import.meta.url)
const FAMILIES = ['vop1', 'vop2', 'vop3', 'vopc', 'approx']

const jobsOf = (file: URL): Job[] =>
  gunzipSync(readFileSync(file))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Job)

const laneOf = (lanes: Job['expect'][string] | undefined, lane: number): string | null | undefined =>
  typeof lanes === 'string' ? lanes : lanes?.[lane]

const hex = (word: bigint) => `0x${word.toString(16)}`

/** What a result's lanes should be, and are: one line a difference. */
function differences(job: Job, outcome: Outcome): string[] {
  const found: string[] = []
  const { values, valueType, vdst, mask, sdst } = outcome
  if (valueType !== undefined) {
    values.forEach((value, lane) => {
      if (value !== undefined) found.push(...differencesOfLane(job, lane, value, valueType, vdst))
    })
  }
  const expected = job.expect[sdst === 106 ? 'vcc' : `s[${sdst}:${sdst + 1}]`]
  if (mask !== undefined && typeof expected === 'string' && BigInt(expected) !== mask)
    found.push(`mask: expected ${expected}, got ${hex(mask)}`)
  return found
}

function* differencesOfLane(job: Job, lane: number, value: Word, type: OperandType, vdst: number): Generator<string> {
  const bits = Number(type.slice(1))
  const last = vdst + Math.max(bits / 32, 1) - 1
  const whole = `v[${vdst}:${last}]` in job.expect
  for (let register = vdst; register <= (whole ? vdst : last); register++) {
    const name = whole ? `v[${vdst}:${last}]` : `v${register}`
    const expected = laneOf(job.expect[name], lane)
    if (expected === null || expected === undefined) continue
    const got = whole ? BigInt(value) : (BigInt(value) >> BigInt(32 * (register - vdst))) & 0xffffffffn
    if (!agree(BigInt(expected), got, bits, job.ulp?.[name] ?? 0, job.nan === 'any')) {
      yield `${name}, lane ${lane}: expected ${expected}, got ${hex(got)}`
    }
  }
}

const INFINITY = { 16: 0x7c00n, 32: 0x7f800000n, 64: 0x7ff0000000000000n } as const

/** Equal bits; or within some units in the last place; or, where any NaN will do, both NaN. */
function agree(expected: bigint, got: bigint, bits: number, ulp: number, anyNaN: boolean): boolean {
  if (expected === got) return true
  if (bits !== 16 && bits !== 32 && bits !== 64) return false
  const isNan = (word: bigint) => BigInt.asUintN(bits - 1, word) > INFINITY[bits]
  if (anyNaN && isNan(expected) && isNan(got)) return true
  const distance = expected > got ? expected - got : got - expected
  return distance <= BigInt(ulp)
}

function check(jobs: readonly Job[]): void {
  for (const job of jobs) {
    const found = differences(job, runJob(job))
    expect(found.slice(0, 4), `${job.target} ${job.name}, mode ${job.wave.mode}`).toEqual([])
  }
}

test('single-instruction jobs that come with the tests', () => check(jobsOf(PART)))

describe.runIf(existsSync(SHARED))('all single-instruction jobs', () => {
  for (const target of Object.keys(TARGETS)) {
    test.each(FAMILIES)(`${target} %s`, (family) => check(jobsOf(new URL(`${target}.${family}.ndjson.gz`, SHARED))))
  }
})
