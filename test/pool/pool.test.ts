import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { parseJob, readJob } from '../../host/jobs/parse.ts'
import type { JobResult } from '../../host/jobs/result.ts'
import { type RunJobOptions, runJob } from '../../host/jobs/run.ts'
import { testPool } from './support.ts'

const pool = testPool()
const KERNELS = 'test/data/kernels'
const jobs = readFileSync(`${KERNELS}/gfx803.ndjson`, 'utf8').trim().split('\n').map(parseJob)
const readBeside = (path: string) => readFile(`${KERNELS}/${path}`)
const engines = ['core', 'translate'] as const

/** A job of raw code: s[4:5] is the kernarg segment, s6 the workgroup's number, v0 the work-item's. */
function asmJob(asm: string, options: { groups: number; words?: number; init?: number[]; budget?: number }) {
  const { groups, words = 16, init, budget } = options
  const buffer = { type: 'u32', length: words, init: init === undefined ? { gen: 'zeros' } : { data: init } }
  const launch = { grid: [groups * 64, 1, 1], workgroup: [64, 1, 1], args: [{ buffer: 'out' }], buffers: { out: buffer }, read: ['out'] }
  return readJob({ name: 'asm', target: 'gfx803', code: { asm }, ...launch, ...(budget === undefined ? {} : { budget }) })
}
const run = (job: ReturnType<typeof asmJob>, threads: number, options: RunJobOptions = {}) =>
  runJob(job, { threads, pool: pool(), ...options })
const wordsOf = (result: JobResult): number[] => {
  const { hex } = result.read.out as { hex: string }
  return [...new Uint32Array(Uint8Array.from(hex.match(/../g)!, (digits) => Number.parseInt(digits, 16)).buffer)]
}

describe.each(engines)('the %s engine', (engine) => {
  test.each(jobs.map((job) => [job.name, job] as const))('%s gives the same on 1, 2 and 3 threads', async (_, job) => {
    const results: JobResult[] = []
    for (const threads of [1, 2, 3]) {
      const result = await runJob(
        { ...job, read: job.expect.map(({ place }) => place) },
        { engine, threads, pool: pool(), readFile: readBeside },
      )
      expect({ status: result.status, differences: result.differences }).toEqual({ status: 'ok', differences: [] })
      expect(result.threads).toBeLessThanOrEqual(threads)
      results.push(result)
    }
    const told = results.map(({ read, instructions, approximate }) => ({ read, instructions, approximate }))
    expect(told[1]).toEqual(told[0])
    expect(told[2]).toEqual(told[0])
  })

  test('atomics of all threads at one place lose nothing', async () => {
    const groups = 40
    const rounds = 100
    const asm = `
      s_load_dwordx2 s[0:1], s[4:5], 0x0
      s_movk_i32 s2, ${rounds}
      v_mov_b32 v10, 1
      v_mov_b32 v11, 0
      v_mov_b32 v12, -1
      s_waitcnt lgkmcnt(0)
      v_mov_b32 v1, s0
      v_mov_b32 v2, s1
      v_add_u32 v3, vcc, 4, v1
      v_mov_b32 v4, s1
      v_add_u32 v5, vcc, 8, v1
      v_mov_b32 v6, s1
      v_add_u32 v7, vcc, 16, v1
      v_mov_b32 v8, s1
    loop:
      flat_atomic_add v[1:2], v10
      flat_atomic_inc v20, v[3:4], v12 glc
      flat_atomic_add_x2 v[5:6], v[10:11]
      flat_atomic_sub v[7:8], v10
      s_sub_u32 s2, s2, 1
      s_cmp_lg_u32 s2, 0
      s_cbranch_scc1 loop
      s_endpgm`
    const all = groups * rounds * 64
    const result = await run(asmJob(asm, { groups }), 3, { engine })
    expect({ status: result.status, error: result.error }).toEqual({ status: 'ok', error: undefined })
    expect(result.threads).toBeGreaterThan(1)
    expect(wordsOf(result).slice(0, 5)).toEqual([all, all, all, 0, 2 ** 32 - all])
  })

  test('GDS counts the lanes of all threads', async () => {
    const asm = `
      s_load_dwordx2 s[0:1], s[4:5], 0x0
      s_mov_b32 m0, 0xffff
      v_mov_b32 v1, 0
      v_mov_b32 v2, 1
      s_movk_i32 s2, 100
    loop:
      ds_add_u32 v1, v2 gds
      s_sub_u32 s2, s2, 1
      s_cmp_lg_u32 s2, 0
      s_cbranch_scc1 loop
      ds_add_rtn_u32 v3, v1, v1 offset:4 gds
      ds_add_u32 v1, v2 offset:4 gds
      ds_read_b32 v3, v1 offset:4 gds
      ds_read_b32 v4, v1 gds
      s_waitcnt lgkmcnt(0)
      v_mov_b32 v5, s0
      v_mov_b32 v6, s1
      flat_atomic_umax v[5:6], v4
      v_add_u32 v5, vcc, 4, v5
      flat_atomic_umax v[5:6], v3
      s_endpgm`
    const result = await run(asmJob(asm, { groups: 30 }), 2, { engine })
    expect({ status: result.status, error: result.error }).toEqual({ status: 'ok', error: undefined })
    expect(wordsOf(result).slice(0, 2)).toEqual([30 * 64 * 100, 30 * 64])
  })
})

/** Workgroups 5 and 9 fault, all of them after a while. */
const FAULTS = `
      s_movk_i32 s2, 2000
    loop:
      s_sub_u32 s2, s2, 1
      s_cmp_lg_u32 s2, 0
      s_cbranch_scc1 loop
      v_rcp_f32 v9, v9
      s_cmp_eq_u32 s6, 5
      s_cbranch_scc1 bad
      s_cmp_eq_u32 s6, 9
      s_cbranch_scc1 bad
      s_endpgm
    bad:
      v_mov_b32 v1, s6
      v_mov_b32 v2, 0x1234
      flat_load_dword v3, v[1:2]
      s_endpgm`

test('of several faults the first workgroup counts, and nothing behind it, as on one thread', async () => {
  const job = asmJob(FAULTS, { groups: 20 })
  const one = await run(job, 1)
  expect(one).toMatchObject({ status: 'fault', threads: 1, error: { code: 'ERR_MEMORY_FAULT' } })
  expect(one.error!.message).toContain('workgroup 5,0,0')
  for (const threads of [2, 3, 2, 3]) {
    const many = await run(job, threads)
    expect(many.error).toEqual(one.error)
    expect([many.instructions, many.approximate]).toEqual([one.instructions, one.approximate])
    expect(many.threads).toBeGreaterThan(1)
  }
})

test('an unsupported instruction is told as on one thread, wherever it is met', async () => {
  const asm = `
      s_cmp_eq_u32 s6, 7
      s_cbranch_scc0 end
      s_sethalt 1
    end:
      s_endpgm`
  const one = await run(asmJob(asm, { groups: 8 }), 1)
  expect(one).toMatchObject({ status: 'unsupported', error: { code: 'ERR_UNSUPPORTED', instruction: 's_sethalt 1' } })
  for (let i = 0; i < 3; i++) expect((await run(asmJob(asm, { groups: 8 }), 2)).error).toEqual(one.error)
})

const LOOP = `
    loop:
      s_nop 0
      s_branch loop`
const COUNT = `
      s_movk_i32 s2, 1000
    loop:
      s_sub_u32 s2, s2, 1
      s_cmp_lg_u32 s2, 0
      s_cbranch_scc1 loop
      s_endpgm`
/** Instructions of a workgroup of COUNT. */
const COUNTED = 1 + 3 * 1000 + 1

test('the budget is that of all threads, to the last instruction', async () => {
  const groups = 30
  expect(await run(asmJob(COUNT, { groups, budget: groups * COUNTED }), 2)).toMatchObject({ status: 'ok', instructions: groups * COUNTED })
  const short = await run(asmJob(COUNT, { groups, budget: groups * COUNTED - 1 }), 2)
  expect(short).toMatchObject({ status: 'budget', instructions: groups * COUNTED - 1, error: { code: 'ERR_LIMIT' } })
})

test('endless loops on all threads end with the budget', async () => {
  const result = await run(asmJob(LOOP, { groups: 10, budget: 3_000_000 }), 3)
  expect(result).toMatchObject({ status: 'budget', instructions: 3_000_000 })
})

test('an abort stops all threads, and the pool goes on to the next job', async () => {
  const controller = new AbortController()
  const stopped = run(asmJob(LOOP, { groups: 10, budget: 2 ** 50 }), 3, { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('enough')), 50)
  await expect(stopped).rejects.toThrow('enough')
  expect(await run(asmJob(COUNT, { groups: 10 }), 3)).toMatchObject({ status: 'ok', instructions: 10 * COUNTED })
})

test('progress counts workgroups of all threads and ends with all of them', async () => {
  const seen: number[] = []
  const asm = COUNT.replace('1000', '20000')
  await run(asmJob(asm, { groups: 60 }), 2, { onProgress: (done, total) => void seen.push(done, total) })
  expect(seen.slice(-2)).toEqual([60, 60])
  expect(seen.filter((_, i) => i % 2 === 0)).toEqual(seen.filter((_, i) => i % 2 === 0).toSorted((a, b) => a - b))
})

test('two jobs at once: one has the pool, the other one thread', async () => {
  const controller = new AbortController()
  const endless = run(asmJob(LOOP, { groups: 10, budget: 2 ** 50 }), 2, { signal: controller.signal })
  // By then it has begun, and it does not end by itself.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  const other = await run(asmJob(COUNT.replace('1000', '20000'), { groups: 100 }), 2)
  controller.abort(new Error('enough'))
  await expect(endless).rejects.toThrow('enough')
  expect(other).toMatchObject({ status: 'ok', threads: 1 })
})

test('a pool that was closed before its workers had begun starts others', async () => {
  pool().close()
  pool().prepare('translate', 100_000, 3)
  pool().close()
  const result = await run(asmJob(COUNT.replace('1000', '20000'), { groups: 100 }), 2)
  expect(result).toMatchObject({ status: 'ok', threads: 2 })
})

test('workers that were prepared take part', async () => {
  pool().close()
  pool().prepare('translate', 100_000, 2)
  const result = await run(asmJob(COUNT.replace('1000', '20000'), { groups: 100 }), 2)
  expect(result).toMatchObject({ status: 'ok', threads: 2 })
})

test('times do not tell how many threads there are', async () => {
  const asm = `
      s_load_dwordx2 s[0:1], s[4:5], 0x0
      s_memtime s[10:11]
      s_memtime s[12:13]
      s_lshl_b32 s6, s6, 3
      s_waitcnt lgkmcnt(0)
      s_add_u32 s0, s0, s6
      s_addc_u32 s1, s1, 0
      v_mov_b32 v1, s0
      v_mov_b32 v2, s1
      v_mov_b32 v3, s12
      v_mov_b32 v4, s13
      flat_store_dwordx2 v[1:2], v[3:4]
      s_endpgm`
  for (const threads of [1, 2])
    expect(wordsOf(await run(asmJob(asm, { groups: 8 }), threads))).toEqual(
      Array.from({ length: 16 }, (_, i) => (i % 2 === 0 ? 1 : i >> 1)),
    )
})

describe('without shared memory', () => {
  afterEach(() => void vi.unstubAllGlobals())

  test('there is one thread, and the statistics say so', async () => {
    vi.stubGlobal('SharedArrayBuffer', undefined)
    expect(await run(asmJob(COUNT, { groups: 10 }), 2)).toMatchObject({ status: 'ok', threads: 1 })
  })
})

test('the reference, and runs with cross-check, have one thread', async () => {
  const job = asmJob(COUNT, { groups: 2 })
  expect(await run(job, 2, { engine: 'reference' })).toMatchObject({ status: 'ok', threads: 1 })
  expect(await run(job, 2, { check: true })).toMatchObject({ status: 'ok', threads: 1 })
})
