import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { bufferState, buffersOf } from './buffers.ts'
import { whereDiffers } from './differs.ts'
import { type Accesses, FLAT, globalProgram, globalState, REGIONS } from './global.ts'
import { pick } from './loops.ts'
import { randomFrom } from './programs.ts'

/** MODE: with and without denormals, another round mode, no IEEE. */
const MODES = [0x3c0, 0x3c0, 0x3c0, 0x3f0, 0x1c0, 0x3cf]
const THRESHOLDS = [1, 1, 7, 40, 300]
const BUDGET = 3000

/** How programs use memory, and what they begin with. */
interface Kind {
  readonly accesses: Accesses
  readonly state: typeof globalState
}
const tidyState: typeof globalState = (random, mode) => bufferState(random, mode, true)
const KINDS: Readonly<Record<string, Kind>> = {
  'through FLAT': { accesses: FLAT, state: globalState },
  'through buffers of gfx600': { accesses: buffersOf('gfx600'), state: bufferState },
  'through buffers of gfx700': { accesses: buffersOf('gfx700'), state: bufferState },
  'through buffers of gfx803': { accesses: buffersOf('gfx803'), state: bufferState },
  'through raw buffers and scratch of gfx600': { accesses: buffersOf('gfx600', true), state: tidyState },
  'through raw buffers and scratch of gfx803': { accesses: buffersOf('gfx803', true), state: tidyState },
}

/** What runs of a program leave, the second time with most of it translated: registers, memory, LDS, and what was said of the end. */
function outcomes(engine: Engine, kind: Kind, seed: number): string[] {
  const random = randomFrom(seed)
  const { target } = kind.accesses
  const source = globalProgram(random, kind.accesses)
  const { state, memory } = kind.state(random, pick(random, MODES))
  const device = new Device(engine, target)
  const regions = REGIONS.map(({ bytes, address, writable }) => device.memory.allocate(bytes, { address, writable }))
  const code = device.loadCode(assembleProgram(source, target).words)
  const stretches = [BUDGET, BUDGET, 1 + random(60), 1 + random(400)]
  return stretches.map((stretch) => {
    for (const [i, region] of regions.entries()) device.memory.view(region).set(memory[i]!)
    const execution = bareWave(device, code, state)
    const lines: unknown[] = []
    while (execution.status === 'running' && execution.instructions < BUDGET) {
      execution.step(Math.min(stretch, BUDGET - execution.instructions))
      const wave = execution.waves[0]!
      const block = wave.state()
      const registers = new Uint32Array(block.buffer, block.byteOffset, 1024 / 4 + 20 * 64)
      const bytes = regions.map((region) => new Uint32Array(device.memory.view(region).slice().buffer).join())
      const lds = new Uint32Array(wave.lds.slice().buffer)
      lines.push(execution.status, execution.error?.message ?? '', execution.instructions, registers.join(), bytes.join(), lds.join())
    }
    execution.free()
    return lines.join('\n')
  })
}

const PROGRAMS = Number(process.env.LANEWISE_PROGRAMS ?? 300)
const SEED = Number(process.env.LANEWISE_SEED ?? 1)

for (const [name, kind] of Object.entries(KINDS))
  test(`${PROGRAMS} random programs that use global memory ${name} leave the same state in translate as in core, wherever they are cut`, async () => {
    for (let seed = SEED; seed < SEED + PROGRAMS; seed++) {
      const want = outcomes(await createCore(), kind, seed)
      const got = outcomes(await createTranslate({ threshold: THRESHOLDS[seed % THRESHOLDS.length]! }), kind, seed)
      const difference = whereDiffers(got, want, ['status', 'error', 'instructions', 'wave block', 'memory', 'LDS'])
      if (difference !== undefined) expect.fail(`seed ${seed}, ${difference}\n${globalProgram(randomFrom(seed), kind.accesses)}`)
    }
  }, 300_000)

test('where a load misses, what was read of a row that the run writes before it is read again as it was', async () => {
  const source = `
    v_add_u32 v1, vcc, 1, v1
    v_readlane_b32 s20, v5, 3
    v_readfirstlane_b32 s21, v4
    v_mov_b32 v5, 7
    v_mov_b32 v4, 8
    flat_load_dword v6, v[2:3]
    s_endpgm`
  const device = new Device(await createTranslate({ threshold: 1 }), TARGETS.gfx803)
  device.memory.allocate(256, { address: 0x1_0000_0000n })
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
  const run = (lane40: number) => {
    const addresses = Array.from({ length: 64 }, (_, lane) => (lane === 40 ? lane40 : 4 * lane))
    const vgprs = new Map<number, number | number[]>([
      [2, addresses],
      [3, 1],
      [4, 44],
      [5, 55],
    ])
    const execution = bareWave(device, code, { vgprs })
    execution.step(100)
    const [wave] = execution.waves
    const result = [execution.status, execution.instructions, wave!.sgpr(20), wave!.sgpr(21), wave!.vgpr(5)[0], wave!.vgpr(1)[0]]
    execution.free()
    return result
  }
  const done = ['done', 7, 55, 44, 7, 1]
  expect([run(160), run(160), run(4096)]).toEqual([done, done, ['stopped', 5, 55, 44, 7, 1]])
})

test('more rows than can be kept as they were are not written in one run with a load', async () => {
  const reads = Array.from({ length: 30 }, (_, i) => `ds_read_b128 v[${8 + 4 * i}:${11 + 4 * i}], v1 offset:${16 * i}`)
  const source = ['ds_read_b32 v7, v1', 'flat_load_dword v6, v[2:3]', ...reads, 's_endpgm'].join('\n')
  const device = new Device(await createTranslate({ threshold: 1 }), TARGETS.gfx803)
  device.memory.allocate(256, { address: 0x1_0000_0000n })
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
  const lanes = Array.from({ length: 64 }, (_, lane) => lane)
  const run = (lane40: number) => {
    const addresses = lanes.map((lane) => (lane === 40 ? lane40 : 4 * lane))
    const vgprs = new Map<number, number | number[]>([
      [1, lanes.map((lane) => 4 * lane)],
      [2, addresses],
      [3, 1],
      [127, 0],
    ])
    const lds = Uint8Array.from({ length: 1024 }, (_, i) => i >> 4)
    const execution = bareWave(device, code, { vgprs, lds, m0: 0xffffffff })
    execution.step(100)
    const wave = execution.waves[0]!
    const result = [execution.status, execution.instructions, wave.vgpr(8)[4], wave.vgpr(127)[0], execution.error?.message]
    execution.free()
    return result
  }
  // The last one of them reads bytes 476 to 479 of LDS.
  const done = ['done', 33, 0x01010101, 0x1d1d1d1d, undefined]
  const fault = expect.stringContaining('lane 40 accessed 4 bytes at 0x100001000')
  expect([run(160), run(160), run(4096)]).toEqual([done, done, ['stopped', 1, 0, 0, fault]])
})

test('a buffer access reads its offset behind what makes it, and its resource before that is changed', async () => {
  const source = `
    v_cmp_gt_u32_e64 s[20:21], v4, v5
    buffer_load_dword v6, v[2:3], s[8:11], s20 addr64
    s_mov_b32 s8, 0
    v_add_i32 v7, vcc, 1, v6
    buffer_store_dword v7, v[2:3], s[12:15], 0 addr64
    s_mov_b32 s13, 0
    s_endpgm`
  const device = new Device(await createTranslate({ threshold: 1 }), TARGETS.gfx600)
  const region = device.memory.allocate(1024, { address: 0x1_0000_0000n })
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx600).words)
  const words = Uint32Array.from({ length: 256 }, (_, i) => 100 + i)
  const lanes = Array.from({ length: 64 }, (_, lane) => lane)
  for (let time = 0; time < 3; time++) {
    device.memory.view(region).set(new Uint8Array(words.buffer))
    const vgprs = new Map<number, number | number[]>([
      [2, lanes.map((lane) => 4 * lane)],
      [3, 0],
      // v4 is greater in lanes 3 and 5: the offset is 40.
      [4, lanes.map((lane) => (lane === 3 || lane === 5 ? 1 : 0))],
      [5, 0],
    ])
    const sgprs = new Map([8, 9, 10, 11, 12, 13, 14, 15].map((s) => [s, s === 9 || s === 13 ? 1 : s === 12 ? 512 : 0] as const))
    const execution = bareWave(device, code, { vgprs, sgprs })
    execution.step(100)
    expect(execution.status).toBe('done')
    const after = new Uint32Array(device.memory.view(region).slice().buffer)
    expect([...after.subarray(128, 192)]).toEqual(lanes.map((lane) => 100 + 10 + lane + 1))
    execution.free()
  }
})

test('stores through buffers fault where a region is for reading, though the same code stored elsewhere before', async () => {
  const source = `
    v_mov_b32 v1, 7
    buffer_store_dword v1, off, s[0:3], 0 offset:4
    buffer_store_dword v1, v2, s[4:7], 0 offen
    s_endpgm`
  const outcomesOf = (engine: Engine) => {
    const device = new Device(engine, TARGETS.gfx803)
    const [free, fixed] = [true, false].map((writable, i) => device.memory.allocate(4096, { address: BigInt(i + 1) << 32n, writable }))
    const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
    const run = (scratch: number, raw: number) => {
      const words = [0, 0x80000000 + scratch, 4096, 0x00e80000, 2048, raw, 2048, 0]
      const vgprs = new Map([[2, Array.from({ length: 64 }, (_, lane) => 4 * lane)]])
      const execution = bareWave(device, code, { vgprs, sgprs: new Map(words.map((word, s) => [s, word] as const)) })
      execution.step(100)
      const memory = [free!, fixed!].map((region) => new Uint32Array(device.memory.view(region).slice().buffer).join())
      const result = [execution.status, execution.instructions, execution.error?.message, ...memory]
      execution.free()
      return result
    }
    return [run(1, 1), run(1, 1), run(1, 1), run(2, 1), run(1, 1), run(1, 2), run(1, 1)]
  }
  const want = outcomesOf(await createCore())
  expect(want.map(([status, instructions]) => [status, instructions])).toEqual([
    ['done', 4],
    ['done', 4],
    ['done', 4],
    ['stopped', 1],
    ['done', 4],
    ['stopped', 2],
    ['done', 4],
  ])
  expect(outcomesOf(await createTranslate({ threshold: 1 }))).toEqual(want)
})

test('a load of scratch sees what was stored before it in the same place, in a part of it, or not at all', async () => {
  const source = `
    v_add_u32 v1, vcc, 1, v0
    v_add_u32 v2, vcc, 2, v0
    buffer_store_dword v1, off, s[0:3], 0 offset:4
    buffer_store_byte v2, off, s[0:3], 0 offset:9
    buffer_load_dword v3, off, s[0:3], 0 offset:12
    buffer_load_dwordx2 v[4:5], off, s[0:3], 0
    buffer_store_dword v0, off, s[0:3], 0
    buffer_load_ushort v6, off, s[0:3], 0 offset:8
    s_endpgm`
  const device = new Device(await createTranslate({ threshold: 1 }), TARGETS.gfx803)
  const region = device.memory.allocate(1024, { address: 0x1_0000_0000n })
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
  // Dword n of lane l holds 1000 n + l.
  const words = Uint32Array.from({ length: 256 }, (_, i) => 1000 * (i >> 6) + (i & 63))
  const lanes = Array.from({ length: 64 }, (_, lane) => lane)
  for (const off of [64, 64, 64, 15, 32, 64]) {
    device.memory.view(region).set(new Uint8Array(words.buffer))
    const sgprs = new Map([0, 0x80000001, 0xffffffff, 0x00e80000].map((word, s) => [s, word] as const))
    const exec = (1n << 64n) - 1n - (off < 64 ? 1n << BigInt(off) : 0n)
    const execution = bareWave(device, code, { vgprs: new Map([[0, lanes.map((lane) => 100 + lane)]]), sgprs, exec })
    const active = (word: (lane: number) => number) => lanes.map((lane) => (lane === off ? 0 : word(lane)))
    execution.step(100)
    const wave = execution.waves[0]!
    expect(execution.status).toBe('done')
    expect([...wave.vgpr(3)]).toEqual(active((lane) => 3000 + lane))
    expect([...wave.vgpr(4)]).toEqual(active((lane) => lane))
    expect([...wave.vgpr(5)]).toEqual(active((lane) => 101 + lane))
    expect([...wave.vgpr(6)]).toEqual(active((lane) => ((2000 + lane) & 255) | ((102 + lane) << 8)))
    const stored = new Uint32Array(device.memory.view(region).slice().buffer)
    expect([...stored.subarray(0, 64)]).toEqual(lanes.map((lane) => (lane === off ? lane : 100 + lane)))
    execution.free()
  }
})

test('lanes that are out of the range of a buffer load nothing behind it, where linear memory may end', async () => {
  const source = `
    v_xor_b32 v1, v1, v2
    v_xor_b32 v3, v1, v2
    v_xor_b32 v2, v1, v2
    buffer_load_dwordx4 v[4:7], v18, s[4:7], 0 offen
    s_endpgm`
  const engine = await createTranslate({ threshold: 1 })
  const device = new Device(engine, TARGETS.gfx803)
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
  const begin = (base: bigint) => {
    const sgprs = new Map([Number(base & 0xffffffffn), Number(base >> 32n), 4, 0].map((word, i) => [4 + i, word] as const))
    const execution = bareWave(device, code, {
      sgprs,
      vgprs: new Map([
        [4, 1],
        [18, 64],
      ]),
    })
    execution.step(100)
    return execution
  }
  begin(device.memory.allocate(64).address).free()
  // Its place is for the last wave, so that nothing is behind the last region.
  const kept = begin(device.memory.allocate(64).address)
  let last = device.memory.allocate(4096)
  const behind = () => engine.memory.byteLength - last.host - last.bytes
  while (behind() > 0) last = device.memory.allocate(Math.min(behind(), 1 << 20))
  kept.free()
  const execution = begin(last.address + BigInt(last.bytes - 4))
  expect([behind(), engine.translated.regions, execution.status, execution.waves[0]!.vgpr(4)[0]]).toEqual([0, 1, 'done', 0])
})
