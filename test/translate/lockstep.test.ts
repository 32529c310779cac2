import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { loadJob } from '../../host/jobs/load.ts'
import { parseJob } from '../../host/jobs/parse.ts'
import { begin } from '../../host/jobs/start.ts'
import { randomFrom } from './programs.ts'

// Wherever a budget cuts a kernel short, inside translated code or not, all state is what the interpreter's is.
const KERNELS = 'test/data/kernels'
const jobs = readFileSync(`${KERNELS}/gfx803.ndjson`, 'utf8').trim().split('\n').map(parseJob)

test.each(jobs.map((job) => [job.name, job] as const))('%s: core and translate agree wherever they stop', async (name, job) => {
  const random = randomFrom(name.length)
  const loaded = await loadJob(job, (path) => readFile(`${KERNELS}/${path}`))
  const [core, translate] = [await begin(loaded, 'core'), await begin(loaded, 'translate')]
  const [a, b] = [core.execution, translate.execution]
  for (let stop = 0; a.status === 'running' && stop < 400; stop++) {
    const wave = a.next!
    const other = b.next!
    // Short stretches and long ones: blocks are cut in the middle, and hot loops run for a while.
    const limit = [1, 7, 60, 900, 12_000][random(5)]!
    expect(b.step(limit), `instructions of stop ${stop}`).toBe(a.step(limit))
    expect(b.status).toBe(a.status)
    expect(Buffer.from(other.state()).equals(Buffer.from(wave.state())), `wave after stop ${stop}, pc ${wave.pc} and ${other.pc}`).toBe(
      true,
    )
    expect(Buffer.from(b.waves[0]!.lds).equals(Buffer.from(a.waves[0]!.lds)), `LDS after stop ${stop}`).toBe(true)
  }
  for (const [buffer, region] of core.buffers) {
    const theirs = translate.device.memory.view(translate.buffers.get(buffer)!)
    expect(Buffer.from(theirs).equals(Buffer.from(core.device.memory.view(region))), `buffer ${buffer}`).toBe(true)
  }
})
