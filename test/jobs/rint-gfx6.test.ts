/**
 * One job of ../shared that cannot be met: `convert.gfx600.O2.large` expects what IEEE's rint gives. gfx6 has no v_rndne_f64, and clang adds and
 * subtracts 2^52 instead (LLVM, AMDGPUISelLowering.cpp), which gives +0 where rint gives -0. Here everything else of the job is compared.
 */
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parseJob } from '../../host/jobs/parse.ts'
import { runJob } from '../../host/jobs/run.ts'
import { fnv1a64 } from '../../host/results/fnv.ts'

const JOBS = '../shared/kernels/jobs'
const FILE = `${JOBS}/gfx600.large.ndjson`
const NAME = 'convert.gfx600.O2.large'

const TWO_52 = 2 ** 52
/** By adding and subtracting: the sum rounds to an integer. */
const bySum = (x: number): number => {
  const magic = x < 0 || Object.is(x, -0) ? -TWO_52 : TWO_52
  return Math.abs(x) >= TWO_52 ? x : x + magic - magic
}
/** To nearest even, zeros keep the sign. */
const rint = (x: number): number => (bySum(x) === 0 ? (x < 0 || Object.is(x, -0) ? -0 : 0) : bySum(x))

// Without ../shared there is no such job.
test.skipIf(!existsSync(FILE))(`${NAME} gives what its code says, and what it expects but for the sign of zeros`, async () => {
  const line = readFileSync(FILE, 'utf8')
    .split('\n')
    .find((text) => text.includes(`"${NAME}"`))!
  const job = JSON.parse(line)
  const result = await runJob(parseJob(JSON.stringify({ ...job, read: ['x', 'o64'] })), {
    engine: 'core',
    readFile: (path) => readFile(`${JOBS}/${path}`),
  })
  // All buffers but one are what the job expects.
  expect(result.differences.map(({ where }) => where)).toEqual(['o64'])
  const bytesOf = (name: string) => Uint8Array.from(Buffer.from((result.read[name] as { hex: string }).hex, 'hex'))
  const x = new Float32Array(bytesOf('x').buffer)
  const o64 = new Float64Array(bytesOf('o64').buffer)
  // kernels/convert/convert.cl: the third of four numbers a work-item.
  let [wrong, signs] = [0, 0]
  for (let i = 0; i < x.length; i++) {
    const d = x[i]! * 1.0000001
    if (!Object.is(o64[4 * i + 2], Math.trunc(d) + bySum(d * 7))) wrong++
    const wanted = Math.trunc(d) + rint(d * 7)
    if (!Object.is(o64[4 * i + 2], wanted)) signs++
    o64[4 * i + 2] = wanted
  }
  expect(wrong).toBe(0)
  expect(signs).toBe(36)
  expect(fnv1a64(new Uint8Array(o64.buffer))).toBe(job.expect.o64.fnv1a64)
})
