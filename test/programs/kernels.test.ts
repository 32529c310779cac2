import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { parseJob } from '../../host/jobs/parse.ts'
import { runJob } from '../../host/jobs/run.ts'

// Real kernels, compiled by clang; test/data/kernels/README.md says where their expected results come from.
const KERNELS = 'test/data/kernels'
const jobs = readFileSync(`${KERNELS}/gfx803.ndjson`, 'utf8').trim().split('\n').map(parseJob)
const readBeside = (path: string) => readFile(`${KERNELS}/${path}`)

describe.each(['core', 'translate'] as const)('on the %s engine', (engine) => {
  test.each(jobs.map((job) => [job.name, job] as const))('%s gives the results of the CPU', async (_name, job) => {
    const { status, differences, error } = await runJob(job, { engine, readFile: readBeside })
    expect({ status, differences, error }).toEqual({ status: 'ok', differences: [], error: undefined })
  })
})

// The reference is slow, so it runs here only; the job's own comparison is made, too.
test.each(jobs.map((job) => [job.name, job] as const))('%s: core and reference agree in all state', async (_name, job) => {
  const { status, check, differences } = await runJob(job, { check: true, readFile: readBeside })
  expect({ status, parting: check?.parting, differences }).toEqual({ status: 'ok', parting: null, differences: [] })
})
