import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import type { Engine, SentTranslation } from '../../host/engine.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/program.ts'
import { createTranslate, type TranslateEngine } from '../../host/translate/engine.ts'
import { type Remembered, recall, remember } from '../../host/translate/recall.ts'

const BUFFER = 0x10_0000n
const DEFAULT_MODE = 0xf0

/** Loads of scalars in a loop, a call of the core (flat_store), and what `line` says, at the end. */
const program = (line: string, turns = 20) => `
    s_movk_i32 s4, ${turns}
    s_mov_b32 s2, 0x${BUFFER.toString(16)}
    s_mov_b32 s3, 0
    v_lshlrev_b32 v2, 2, v0
    v_add_u32 v2, vcc, s2, v2
    v_mov_b32 v3, 0
  loop:
    s_load_dword s5, s[2:3], 0x8
    s_waitcnt lgkmcnt(0)
    v_add_u32 v1, vcc, s5, v1
    v_mul_f32 v4, 0.5, v0
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop
    flat_store_dword v[2:3], v1
    ${line}
    s_endpgm`

/** Runs a program to its end, twice. With `padding`, so many bytes more lie before its records: there they would be otherwise. */
function run(engine: Engine, source: string, { padding = 0, mode = DEFAULT_MODE } = {}) {
  const device = new Device(engine, TARGETS.gfx803)
  if (padding > 0) device.arena.allocate(padding)
  const buffer = device.memory.allocate(256, { name: 'buffer', address: BUFFER })
  device.memory.view(buffer).set([7, 1, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0])
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
  const states = [0, 1].map(() => {
    const vgprs = new Map([[0, Array.from({ length: 64 }, (_, lane) => lane)]])
    const execution = bareWave(device, code, { vgprs, mode })
    while (execution.status === 'running') execution.step(1000)
    const { error, instructions } = execution
    return { error: error?.message, instructions, state: Buffer.from(execution.waves[0]!.state()).toString('hex') }
  })
  return { states, memory: [...device.memory.view(buffer)] }
}

const translating = (): Promise<TranslateEngine> => createTranslate({ threshold: 30 })

test.each([
  ['ends', 'v_mov_b32 v5, v4'],
  ['faults', 'flat_load_dword v5, v[0:1]'],
])('code that is loaded again at another place, and %s, runs translated at once', async (_, line) => {
  const source = program(line, 200)
  const want = run(await createCore(), source)
  const first = await translating()
  expect(run(first, source)).toEqual(want)
  expect(first.translated).toMatchObject({ regions: 1, recalled: 0 })
  const second = await translating()
  expect(run(second, source, { padding: 5000 })).toEqual(want)
  expect(second.translated).toMatchObject({ regions: 1, recalled: 1, bytes: first.translated.bytes })
})

test('what is recalled is told to other threads, too', async () => {
  const source = program('v_mov_b32 v6, v4')
  run(await translating(), source)
  const engine = await translating()
  const made: SentTranslation[] = []
  engine.translations.onMade = (translation) => void made.push(translation)
  run(engine, source)
  expect(engine.translated.recalled).toBe(1)
  expect(made.map(({ mode }) => mode)).toEqual([DEFAULT_MODE])
})

test.each([
  ['another constant', program('v_mov_b32 v5, 8'), {}],
  ['another register', program('v_mov_b32 v7, 7'), {}],
  ['another number of turns', program('v_mov_b32 v5, 7', 21), {}],
  ['another MODE', program('v_mov_b32 v5, 7'), { mode: 0 }],
])('with %s it is other code', async (_, other, options) => {
  run(await translating(), program('v_mov_b32 v5, 7'))
  const want = run(await createCore(), other, options)
  const engine = await translating()
  expect(run(engine, other, options)).toEqual(want)
  expect(engine.translated).toMatchObject({ regions: 1, recalled: 0 })
})

test('without a threshold, code that was translated before does not have to pay', async () => {
  const source = program('v_mov_b32 v5, 9')
  const unsure = await createTranslate()
  run(unsure, source)
  expect(unsure.translated.regions).toBe(0)
  run(await translating(), source)
  const engine = await createTranslate()
  expect(run(engine, source)).toEqual(run(await createCore(), source))
  expect(engine.translated).toMatchObject({ regions: 1, recalled: 1 })
})

test('the oldest are forgotten where modules have more than 4 MiB, and those that were used last are kept', () => {
  const core = new Uint8Array()
  const origin = (number: number) => ({ core, content: Uint32Array.of(number) })
  const made = (bytes: number): Remembered => ({ ...NOTHING, bytes })
  for (const number of [1, 2, 3]) remember(origin(number), made(1 << 20))
  expect(recall(origin(1))?.bytes).toBe(1 << 20)
  remember(origin(4), made((1 << 20) + 1))
  expect([1, 2, 3, 4].map((number) => recall(origin(number)) !== undefined)).toEqual([true, false, true, true])
  expect(recall({ core: new Uint8Array(), content: Uint32Array.of(1) })).toBeUndefined()
})

const NOTHING = {
  mode: 0,
  module: new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)),
  entries: new Map(),
  rest: new Map(),
  longest: 512,
  trusting: true,
  nests: 0,
}
