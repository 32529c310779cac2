import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { whereDiffers } from './differs.ts'
import { ldsProgram, ldsState } from './lds.ts'
import { pick } from './loops.ts'
import { randomFrom } from './programs.ts'

/** MODE: with and without denormals, another round mode, no IEEE. */
const MODES = [0x3c0, 0x3c0, 0x3c0, 0x3f0, 0x1c0, 0x3cf]
const THRESHOLDS = [1, 1, 7, 40, 300]
const BUDGET = 3000

/** What runs of a program leave, the second time with all of it translated: registers, LDS, and what was said of the end. */
function outcomes(engine: Engine, seed: number): string[] {
  const random = randomFrom(seed)
  const source = ldsProgram(random)
  const state = ldsState(random, pick(random, MODES))
  const device = new Device(engine, TARGETS.gfx803)
  device.memory.allocate(64, { address: 0x1_0000_0000n })
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
  const stretches = [BUDGET, BUDGET, 1 + random(60), 1 + random(400)]
  return stretches.map((stretch) => {
    const execution = bareWave(device, code, state)
    const lines: unknown[] = []
    while (execution.status === 'running' && execution.instructions < BUDGET) {
      execution.step(Math.min(stretch, BUDGET - execution.instructions))
      const wave = execution.waves[0]!
      const block = wave.state()
      const registers = new Uint32Array(block.buffer, block.byteOffset, 1024 / 4 + 16 * 64)
      const lds = new Uint32Array(wave.lds.slice(0, wave.lds.byteLength & ~3).buffer)
      lines.push(execution.status, execution.error?.message ?? '', execution.instructions, registers.join(), lds.join())
    }
    execution.free()
    return lines.join('\n')
  })
}

const PROGRAMS = Number(process.env.LANEWISE_PROGRAMS ?? 300)
const SEED = Number(process.env.LANEWISE_SEED ?? 1)

test(`${PROGRAMS} random programs that use LDS leave the same state in translate as in core, wherever they are cut`, async () => {
  for (let seed = SEED; seed < SEED + PROGRAMS; seed++) {
    const want = outcomes(await createCore(), seed)
    const got = outcomes(await createTranslate({ threshold: THRESHOLDS[seed % THRESHOLDS.length]! }), seed)
    const difference = whereDiffers(got, want, ['status', 'error', 'instructions', 'wave block', 'LDS'])
    if (difference !== undefined) expect.fail(`seed ${seed}, ${difference}\n${ldsProgram(randomFrom(seed))}`)
  }
}, 300_000)

test('reads that are beyond M0 time and again become calls of the core', async () => {
  const source = [
    's_movk_i32 m0, 0x80',
    's_movk_i32 s0, 3000',
    'loop:',
    'ds_read2_b32 v[2:3], v1 offset1:1',
    'v_add_u32 v4, vcc, v2, v4',
    'ds_read_b32 v5, v1 offset:4',
    'v_sub_u32 v4, vcc, v4, v5',
    's_sub_u32 s0, s0, 1',
    's_cmp_lg_u32 s0, 0',
    's_cbranch_scc1 loop',
    's_endpgm',
  ].join('\n')
  const engine = await createTranslate({ threshold: 1 })
  const device = new Device(engine, TARGETS.gfx803)
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
  const lanes = Array.from({ length: 64 }, (_, lane) => lane)
  const lds = new Uint8Array(Uint32Array.from(lanes, (lane) => 3 * lane).buffer)
  const results = [1, 2].map(() => {
    const execution = bareWave(device, code, { vgprs: new Map([[1, lanes.map((lane) => 4 * lane)]]), lds })
    execution.step(30_000)
    const state = execution.waves[0]!.state()
    return [...new Uint32Array(state.buffer, state.byteOffset + 1024 + 4 * 256, 64)]
  })
  // Each iteration adds the lane's dword and takes the next one away; 32 of them can be seen.
  const want = lanes.map((lane) => (3000 * ((lane < 32 ? 3 * lane : 0) - (lane < 31 ? 3 * lane + 3 : 0))) >>> 0)
  expect(results).toEqual([want, want])
  // It was translated anew, without tests before runs.
  expect(engine.translated.regions).toBeGreaterThan(1)
})

/** Forms of LDS accesses, and bytes that each reaches beyond its address. */
const FORMS: readonly (readonly [text: string, reach: number])[] = [
  ['ds_write_b8 v1, v2', 1],
  ['ds_write_b16 v1, v2', 2],
  ['ds_write_b32 v1, v2', 4],
  ['ds_write_b64 v1, v[2:3]', 8],
  ['ds_write_b32 v1, v2 offset:20', 24],
  ['ds_write2_b32 v1, v2, v3 offset0:3 offset1:1', 16],
  ['ds_write2_b64 v1, v[2:3], v[4:5] offset1:1', 16],
  ['ds_read_u8 v6, v1', 1],
  ['ds_read_b32 v6, v1', 4],
  ['ds_read2_b64 v[6:9], v1 offset1:1', 16],
]
const LDS_BYTES = 0x200
/** M0, and what that lets be seen: beyond it, inside of the LDS, nothing is written and zero is read; beyond the LDS is a fault. */
const LIMITS: readonly (readonly [m0: number, visible: number, status: string])[] = [
  [0x180, 0x180, 'done'],
  [0xffffffff, LDS_BYTES, 'stopped'],
]

test.each(FORMS.flatMap(([text, reach]) => LIMITS.map((limit) => [text, reach, ...limit] as const)))(
  '%s (to byte %i) in a run of lanes, M0 %i: what is inside is as in the core',
  async (text, reach, m0, visible, beyond) => {
    // The access and a use of it, in the middle of a run; a wave that ends before makes the program a translated one.
    const source = `
    s_mov_b32 m0, 0x${m0.toString(16)}
    s_cmp_eq_u32 s0, 0
    v_add_u32 v4, vcc, 1, v2
    ${text}
    v_add_u32 v2, vcc, 3, v2
    v_add_u32 v3, vcc, v6, v3
    s_waitcnt lgkmcnt(0)
    s_endpgm`
    const lanes = Array.from({ length: 64 }, (_, lane) => lane)
    const leave = (engine: Engine) => {
      const device = new Device(engine, TARGETS.gfx803)
      const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
      const last = visible - reach
      return [0, ...[-1, 0, 1, 4].map((over) => last + over)].flatMap((place) =>
        [0, 6, 63].map((who) => {
          const vgprs = [1, 2, 3, 4, 5, 6].map(
            (v) => [v, lanes.map((lane) => (v === 1 ? (lane === who ? place : 0) : v * 0x1010101 * lane))] as const,
          )
          const execution = bareWave(device, code, { vgprs: new Map(vgprs), lds: new Uint8Array(LDS_BYTES).fill(5), ldsBytes: LDS_BYTES })
          execution.step(100)
          const [wave] = execution.waves
          const said = { status: execution.status, error: execution.error?.message, instructions: execution.instructions }
          const state = [Buffer.from(wave!.state()).toString('hex'), Buffer.from(wave!.lds).toString('hex')]
          execution.free()
          return { ...said, state }
        }),
      )
    }
    const want = leave(await createCore())
    expect(want.map(({ status }) => status)).toEqual(want.map((_, i) => (i < 9 ? 'done' : beyond)))
    const engine = await createTranslate({ threshold: 4 })
    expect(leave(engine)).toEqual(want)
    expect(engine.translated.regions).toBeGreaterThan(0)
  },
)
