import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { DEFAULT_DESCRIPTOR, Device, dispatch, parseSchedule, rawKernel, type Schedule } from '../../host/device/index.ts'
import { schedulerOf } from '../../host/device/schedule.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { parseJob } from '../../host/jobs/parse.ts'
import { runJob } from '../../host/jobs/run.ts'
import { assembleProgram } from '../../host/text/assemble.ts'

const KERNELS = 'test/data/kernels'
const readBeside = (path: string) => readFile(`${KERNELS}/${path}`)
const jobs = readFileSync(`${KERNELS}/gfx803.ndjson`, 'utf8').trim().split('\n').map(parseJob)
/** Kernels whose waves exchange data through LDS behind barriers. */
const chosen = jobs.filter(({ name }) => /^(bitonic|reduce|scan|matmul_tiled)\./.test(name))

describe.each(['oldest-first', 'random:0', 'random:1', 'random:4294967295'] as const)('%s', (schedule) => {
  test.each(chosen.map((job) => [job.name, job] as const))('%s gives the results of the CPU', async (_name, job) => {
    const { status, differences, error } = await runJob(job, { engine: 'core', schedule, readFile: readBeside })
    expect({ status, differences, error }).toEqual({ status: 'ok', differences: [], error: undefined })
  })
})

test('there are four kernels to schedule', () => expect(chosen).toHaveLength(4))

test('names of schedules', () => {
  expect(['round-robin', 'oldest-first', 'random:7', 'random:007'].map(parseSchedule)).toEqual([
    'round-robin',
    'oldest-first',
    'random:7',
    'random:7',
  ])
  expect(['', 'random', 'random:', 'random:-1', 'random:4294967296', 'random:x', 'fifo'].map(parseSchedule)).toEqual(
    Array(7).fill(undefined),
  )
  expect(() => schedulerOf('fifo' as Schedule)).toThrow(RangeError)
})

const all = (): boolean => true

test('round-robin: one after another, over those that cannot run', () => {
  const scheduler = schedulerOf('round-robin')
  scheduler.begin(0, 4)
  expect([scheduler.choose(-1, false, all), scheduler.choose(0, true, all), scheduler.choose(3, true, all)]).toEqual([0, 1, 0])
  expect(scheduler.choose(1, false, (wave) => wave === 0)).toBe(0)
  expect(scheduler.choose(1, false, () => false)).toBe(undefined)
})

test('oldest-first: who gave way is the youngest', () => {
  const scheduler = schedulerOf('oldest-first')
  scheduler.begin(0, 3)
  expect(scheduler.choose(-1, false, all)).toBe(0)
  expect(scheduler.choose(0, false, (wave) => wave !== 0)).toBe(1) // 0 waits and stays the oldest
  expect(scheduler.choose(1, true, all)).toBe(0)
  expect(scheduler.choose(0, true, all)).toBe(2)
  expect(scheduler.choose(2, true, all)).toBe(1)
})

test('random: the same for the same seed and workgroup, different for another, every wave some time', () => {
  const draw = (seed: number, group: number): number[] => {
    const scheduler = schedulerOf(`random:${seed}`)
    scheduler.begin(group, 4)
    return Array.from({ length: 64 }, () => scheduler.choose(0, true, all)! * 100 + scheduler.turn())
  }
  expect(draw(1, 0)).toEqual(draw(1, 0))
  expect(draw(1, 0)).not.toEqual(draw(2, 0))
  expect(draw(1, 0)).not.toEqual(draw(1, 1))
  expect(new Set(draw(1, 0).map((drawn) => Math.floor(drawn / 100)))).toEqual(new Set([0, 1, 2, 3]))
  expect(draw(1, 0).every((drawn) => drawn % 100 >= 1 && drawn % 100 <= 64)).toBe(true)
})

test('a turn may end with a jump to what is not planned yet', async () => {
  const hop = 's_getpc_b64 s[2:3]\ns_add_u32 s2, s2, 12\ns_setpc_b64 s[2:3]\ns_endpgm\n'
  const { words } = assembleProgram(`${hop.repeat(40)}s_endpgm`, TARGETS.gfx803)
  for (let seed = 0; seed < 8; seed++) {
    const device = new Device(await createCore(), TARGETS.gfx803)
    const kernel = rawKernel(device.loadCode(words), DEFAULT_DESCRIPTOR)
    const outcome = await dispatch(device, kernel, { grid: [128, 1, 1], workgroup: [128, 1, 1], schedule: `random:${seed}` }).run()
    expect(outcome).toMatchObject({ status: 'done', error: undefined, instructions: 2 * 121 })
  }
})
