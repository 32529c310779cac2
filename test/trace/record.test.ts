import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { Device, TARGETS } from '../../host/index.ts'
import { loadJob } from '../../host/jobs/load.ts'
import { parseJob } from '../../host/jobs/parse.ts'
import { runJob } from '../../host/jobs/run.ts'
import { begin } from '../../host/jobs/start.ts'
import { runTrace } from '../../host/jobs/trace.ts'
import { watch } from '../../host/results/watch.ts'
import { playTrace, tracePlayer } from '../../host/trace/play.ts'
import { Recorder } from '../../host/trace/recorder.ts'
import { RecordingReader, RecordingWriter, type Step } from '../../host/trace/recording.ts'
import { cut, engines, registersOf } from './support.ts'

const KERNELS = 'test/data/kernels'
const readBeside = (path: string) => readFile(`${KERNELS}/${path}`)
const jobs = readFileSync(`${KERNELS}/gfx803.ndjson`, 'utf8').trim().split('\n').map(parseJob)
/** Loads, LDS and barriers, branches and loops, masks. */
const CHOSEN = ['reduce', 'bitonic.', 'scan', 'mandelbrot', 'saxpy']
const chosen = jobs.filter(({ name }) => CHOSEN.some((start) => name.startsWith(start)))

async function recorded(job: (typeof jobs)[number], registers: boolean) {
  const run = await begin(await loadJob(job, readBeside), 'core')
  const chunks: Uint8Array[] = []
  const recorder = new Recorder({ registers, write: (bytes) => void chunks.push(bytes) })
  let last: unknown
  let count = 0
  const observer = {
    before: () => {},
    after: (_execution: typeof run.execution, wave: (typeof run.execution.waves)[number]) => {
      if (wave.index !== 0 || last !== undefined) return
      count++
      if (wave.ended) last = registersOf(wave)
    },
  }
  // Only the first workgroup, so that the reference's part stays short.
  while (run.execution.groupsDone === 0 && run.execution.status === 'running')
    await watch(run.execution, [recorder, observer], { budget: run.execution.instructions + 1 })
  await recorder.end()
  return { bytes: Uint8Array.from(chunks.flatMap((chunk) => [...chunk])), last, count }
}

describe.each(chosen.map((job) => [job.name, job] as const))('%s', (_name, job) => {
  test.each(['core', 'reference'] as const)('a replay on the %s needs no memory and ends with the same registers', async (engine) => {
    const { bytes, last, count } = await recorded(job, false)
    const device = new Device(await engines[engine](), TARGETS.gfx803)
    const player = tracePlayer(device)
    const { status, error, form, instructions } = await playTrace(player, device, cut(bytes, [1000, 7]))
    expect({ status, error, form, instructions }).toEqual({ status: 'done', error: undefined, form: 'recording', instructions: count })
    const replayed = registersOf(player.wave) as { vgprs: unknown[] }
    const wanted = last as { vgprs: unknown[] }
    expect({ ...replayed, vgprs: replayed.vgprs.slice(0, wanted.vgprs.length) }).toEqual(wanted)
  })

  test('with registers, every change is compared', async () => {
    const { bytes } = await recorded(job, true)
    const device = new Device(await engines.core(), TARGETS.gfx803)
    const { error, differences } = await playTrace(tracePlayer(device), device, [bytes])
    expect({ error, list: differences.list }).toEqual({ error: undefined, list: [] })
  })
})

const HEADER = { version: 1, target: 'gfx803', waveSize: 64, vgprs: 4, workgroup: [0, 0, 0], wave: 0, registers: true } as const
const STEPS: readonly Step[] = [
  { pc: 0, words: [0x7e000280], exec: (1n << 64n) - 1n, byValue: false, changes: [] },
  { pc: 4, words: [0xc0020000, 0x10], exec: (1n << 64n) - 1n, byValue: true, changes: [{ register: 5, lanes: 1n, values: [0xdeadbeef] }] },
  { pc: 0, words: [0x7e000280], exec: 5n, byValue: false, changes: [{ register: 256, lanes: 0x8000000000000001n, values: [1, 2] }] },
]

async function readAll(bytes: Uint8Array, sizes: readonly number[]) {
  const reader = new RecordingReader(
    (async function* () {
      yield* cut(bytes, sizes)
    })(),
  )
  const start = await reader.start()
  const steps: Step[] = []
  for await (const batch of reader.steps()) steps.push(...batch)
  return { start, steps }
}

test('what a writer writes a reader reads, wherever the bytes are cut', async () => {
  const writer = new RecordingWriter(HEADER, [{ register: 126, lanes: 1n, values: [7] }])
  for (const step of STEPS) writer.step(step)
  writer.end()
  const bytes = writer.take()
  for (const sizes of [[bytes.length], [1], [3, 17]]) {
    const { start, steps } = await readAll(bytes, sizes)
    expect(start).toEqual({ header: HEADER, changes: [{ register: 126, lanes: 1n, values: [7] }] })
    expect(steps).toEqual(STEPS)
  }
})

test('the bytes are those of docs/traces.md', () => {
  const writer = new RecordingWriter(HEADER, [])
  writer.take()
  writer.step(STEPS[0]!)
  expect([...writer.take()]).toEqual([0x01 | 0x04 | (1 << 3) | 0x20, 0x80, 0x02, 0x00, 0x7e, 255, 255, 255, 255, 255, 255, 255, 255])
  writer.step(STEPS[1]!)
  expect([...writer.take()]).toEqual([0x01 | 0x04 | (2 << 3) | 0x40 | 0x80, 0, 0, 2, 0xc0, 0x10, 0, 0, 0, 1, 5, 0xef, 0xbe, 0xad, 0xde])
  writer.step(STEPS[2]!)
  expect([...writer.take()]).toEqual([
    0x01 | 0x02 | 0x20 | 0x40,
    5,
    5,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    1,
    0x80,
    2,
    1,
    0,
    0,
    0,
    0,
    0,
    0,
    0x80,
    1,
    0,
    0,
    0,
    2,
    0,
    0,
    0,
  ])
  writer.end()
  expect([...writer.take()]).toEqual([0, 3])
})

test('damaged recordings are refused', async () => {
  const writer = new RecordingWriter(HEADER, [])
  for (const step of STEPS) writer.step(step)
  writer.end()
  const bytes = writer.take()
  for (let length = 8; length < bytes.length; length += 5)
    await expect(readAll(bytes.slice(0, length), [length])).rejects.toMatchObject({ code: 'ERR_OBJECT' })
  const result = await runTrace({ target: 'gfx700' }, [bytes])
  expect([result.status, result.error?.message]).toEqual([
    'error',
    expect.stringContaining('the recording is of gfx803, the device is gfx700'),
  ])
})

test('a wave that never runs cannot be recorded', async () => {
  const saxpy = jobs.find(({ name }) => name.startsWith('saxpy'))!
  const { status, error } = await runJob(saxpy, { readFile: readBeside, record: { waves: [{ group: 99, wave: 0 }], write: () => {} } })
  expect([status, error?.code]).toEqual(['error', 'ERR_LAUNCH'])
})

test('a changed register is found by a replay', async () => {
  const writer = new RecordingWriter(HEADER, [{ register: 126, lanes: 1n, values: [1] }])
  // v_mov_b32 v0, 0 does not write 9.
  writer.step({ ...STEPS[0]!, exec: 1n, changes: [{ register: 256, lanes: 1n, values: [9] }] })
  writer.end()
  const { status, differences } = await runTrace({ target: 'gfx803' }, [writer.take()])
  expect([status, differences]).toEqual(['mismatch', [{ where: 'v0', lane: 0, expected: '0x00000009', actual: '0x00000000' }]])
})
