/** Workers that do not load, or that die. */
import { expect, test } from 'vitest'
import { readJob } from '../../host/jobs/parse.ts'
import { runJob } from '../../host/jobs/run.ts'
import { Pool } from '../../host/pool/index.ts'

const module = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`)
const job = readJob({
  name: 'count',
  target: 'gfx803',
  code: { asm: 's_movk_i32 s2, 30000\nloop: s_sub_u32 s2, s2, 1\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 loop\ns_endpgm' },
  grid: [64 * 20, 1, 1],
  workgroup: [64, 1, 1],
})
const INSTRUCTIONS = 20 * (1 + 3 * 30000 + 1)
const run = async (worker: URL, patienceMs: number) => {
  const pool = new Pool({ worker, patienceMs })
  const result = await runJob(job, { engine: 'core', threads: 2, pool })
  pool.close()
  return result
}
const ALONE = { status: 'ok', threads: 1, instructions: INSTRUCTIONS }

test.each([0, 1])('a worker whose module is not there leaves one thread (after %s ms)', async (patienceMs) => {
  expect(await run(new URL('file:///nowhere/worker.js'), patienceMs)).toMatchObject(ALONE)
})

test.each([0, 1])('a worker that throws when it loads leaves one thread (after %s ms)', async (patienceMs) => {
  expect(await run(module('throw new Error("no")'), patienceMs)).toMatchObject(ALONE)
})

test('a worker that was prepared and is not there leaves one thread', async () => {
  const pool = new Pool({ worker: new URL('file:///nowhere/worker.js'), patienceMs: 0 })
  pool.prepare('core', 100_000, 2)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(await runJob(job, { engine: 'core', threads: 2, pool })).toMatchObject(ALONE)
})

test('a worker that never answers is not waited for', async () => {
  expect(await run(module('setInterval(() => {}, 1000)'), 1)).toMatchObject(ALONE)
})

test('a worker that dies with workgroups of its own makes the job fail', async () => {
  // What host/pool/control.ts does when a thread joins: its state, behind five other numbers, becomes 1.
  const joins = `
    import { parentPort } from 'node:worker_threads'
    parentPort.once('message', ({ control, index }) => {
      Atomics.store(new BigInt64Array(control), 5 + index, 1n)
      parentPort.postMessage({ form: 'ready' })
      setTimeout(() => process.exit(3), 20)
    })`
  expect(await run(module(joins), 0)).toMatchObject({
    status: 'error',
    error: { code: 'ERR_CORE', message: expect.stringContaining('a worker that ran workgroups is gone') },
  })
})
