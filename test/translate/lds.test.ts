import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
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
    const run = got.findIndex((text, i) => text !== want[i])
    if (run < 0) continue
    const [x, y] = [got, want].map((texts) => texts[run]!.split('\n'))
    const line = x!.findIndex((text, i) => text !== y![i])
    const [mine, theirs] = [x!, y!].map((lines) => lines[line]!.split(','))
    const at = mine!.findIndex((text, i) => text !== theirs![i])
    const place = `${['status', 'error', 'instructions', 'wave block', 'LDS'][line % 5]} dword ${at} (v0 starts at 256)`
    expect.fail(`seed ${seed}, run ${run}: ${place} is ${mine![at]} instead of ${theirs![at]}\n${ldsProgram(randomFrom(seed))}`)
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
