/** Profiles run straight code at a stretch; what they count is what single steps count. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { loadJob } from '../../host/jobs/load.ts'
import { parseJob, readJob } from '../../host/jobs/parse.ts'
import { begin } from '../../host/jobs/start.ts'
import { Profiler } from '../../host/results/profile.ts'
import { type Observer, watch } from '../../host/results/watch.ts'

const KERNELS = 'test/data/kernels'
const readBeside = (path: string) => readFile(`${KERNELS}/${path}`)
const CHOSEN = /^(reduce|bitonic|scan|mandelbrot|saxpy|histogram|nbody)/
const kernels = readFileSync(`${KERNELS}/gfx803.ndjson`, 'utf8').trim().split('\n').map(parseJob)

/** Masks, barriers, turns that are given away, EXEC written in every way there is, and a fault at the end. */
const MASKS = readJob({
  name: 'masks',
  target: 'gfx803',
  code: {
    asm: `
      s_mov_b32 s0, 5
    again:
      v_add_u32 v1, vcc, v0, s0
      v_cmpx_gt_u32 vcc, 40, v1
      v_mov_b32 v2, v1
      s_barrier
      s_mov_b64 exec, -1
      v_mov_b32 v3, v2
      s_sleep 1
      v_cmp_lt_u32 exec, v1, v2
      v_mov_b32 v4, 1
      s_mov_b32 exec_lo, 0xff00ff
      v_mov_b32 v4, 2
      s_and_saveexec_b64 s[4:5], vcc
      v_mov_b32 v4, 3
      s_wqm_b64 exec, s[4:5]
      v_mov_b32 v4, 4
      s_cbranch_execz over
      v_readfirstlane_b32 exec_hi, v1
      v_mov_b32 v4, 5
    over:
      s_waitcnt lgkmcnt(0)
      s_mov_b64 exec, -1
      s_sub_u32 s0, s0, 1
      s_cmp_lg_u32 s0, 0
      s_cbranch_scc1 again
      v_mov_b32 v5, 0
      v_mov_b32 v6, 0
      v_nop
      flat_load_dword v7, v[5:6]
      v_mov_b32 v5, 1
      s_endpgm`,
  },
  grid: [384, 1, 1],
  workgroup: [192, 1, 1],
})

/** By pc: executions, active lanes, and times that another instruction than the next one followed. */
class Counter implements Observer {
  readonly counts = new Map<number, { count: number; lanes: number }>()
  #pc = 0
  #lanes = 0

  before(_execution: unknown, wave: { pc: number; exec: bigint }): void {
    this.#pc = wave.pc
    this.#lanes = wave.exec.toString(2).replaceAll('0', '').length
  }

  after(): void {
    const { count, lanes } = this.counts.get(this.#pc) ?? { count: 0, lanes: 0 }
    this.counts.set(this.#pc, { count: count + 1, lanes: lanes + this.#lanes })
  }
}

describe.each([...kernels.filter(({ name }) => CHOSEN.test(name)), MASKS].map((job) => [job.name, job] as const))('%s', (_name, job) => {
  test.each([undefined, 'oldest-first', 'random:3'] as const)('with the schedule %s', async (schedule) => {
    const loaded = await loadJob(job, readBeside)
    const single = await begin(loaded, 'core', false, schedule)
    const counter = new Counter()
    await watch(single.execution, [counter], { budget: 50_000 })
    const run = await begin(loaded, 'core', false, schedule)
    const profiler = new Profiler()
    await watch(run.execution, [profiler], { budget: 50_000 })
    const { spots, instructions } = profiler.profile(run.execution)
    expect(run.execution.error?.message).toBe(single.execution.error?.message)
    expect(instructions).toBe(single.execution.instructions)
    expect(instructions).toBeGreaterThan(100)
    const wanted = [...counter.counts].sort(([a], [b]) => a - b).map(([pc, { count, lanes }]) => ({ pc, count, lanes }))
    expect(spots.map(({ pc, count, lanes }) => ({ pc, count, lanes })).sort((a, b) => a.pc - b.pc)).toEqual(wanted)
  })
})
