/** Jobs with results computed elsewhere (data/README.md), for operations that need a whole wave: on every engine. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { parseJob } from '../../host/jobs/parse.ts'
import { runJob } from '../../host/jobs/run.ts'

const JOBS = gunzipSync(readFileSync(new URL('data/interpolation.ndjson.gz', import.meta.url)))
  .toString()
  .trim()
  .split('\n')
  .map(parseJob)

describe.each(['reference', 'core', 'translate'] as const)('%s', (engine) => {
  test.each(JOBS.map((job) => [`${job.target.name} ${job.name}`, job] as const))('%s', async (_, job) => {
    const { status, differences, error } = await runJob(job, { engine })
    expect({ status, differences, error }).toEqual({ status: 'ok', differences: [], error: undefined })
  })
})
