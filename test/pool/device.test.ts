import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { DEFAULT_DESCRIPTOR, Device, dispatch, rawKernel } from '../../host/device/index.ts'
import { type Engine, FaultCode } from '../../host/engine.ts'
import { MemoryFault } from '../../host/errors.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { loadObject } from '../../host/object/index.ts'
import { assembleProgram } from '../../host/text/program.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { testPool } from './support.ts'

const pool = testPool()
const engines: readonly (readonly [string, () => Promise<Engine>])[] = [
  ['core', () => createCore({ shared: true })],
  ['translate', () => createTranslate({ shared: true })],
]
const code = (asm: string) => assembleProgram(asm, TARGETS.gfx803).words
const bytesOf = (...words: number[]) => new Uint8Array(Uint32Array.from(words).buffer)
const words = (bytes: Uint8Array) => [...new Uint32Array(bytes.slice().buffer)]

describe.each(engines)('one device on the %s engine', (_, create) => {
  test('runs one dispatch after another, with other buffers and other kernels, on the same workers', async () => {
    const device = new Device(await create(), TARGETS.gfx803)
    const kernel = device.load(loadObject(new Uint8Array(readFileSync('test/data/kernels/saxpy/gfx803.co')))).kernel('saxpy')
    const floats = (values: number[]) => new Uint8Array(Float32Array.from(values).buffer)
    const count = 64 * 50
    let threads = 0
    for (const factor of [2, 3, 5, 7]) {
      const x = device.memory.allocate(count * 4, { name: 'x' })
      const y = device.memory.allocate(count * 4, { name: 'y' })
      device.memory.view(x).set(floats(Array.from({ length: count }, (_, i) => i)))
      const args = [{ bytes: bytesOf(count) }, { bytes: floats([factor]) }, { address: x.address }, { address: y.address }]
      const execution = dispatch(device, kernel, { grid: [count, 1, 1], workgroup: [64, 1, 1], args })
      const outcome = await pool().run(execution, { threads: 3 })
      expect(outcome.error).toBeUndefined()
      threads = Math.max(threads, outcome.threads)
      const result = [...new Float32Array(device.memory.read(y.address, count * 4).buffer)]
      expect(result).toEqual(Array.from({ length: count }, (_, i) => factor * i))
      execution.free()
      device.memory.free(x)
      device.memory.free(y)
    }
    expect(threads).toBeGreaterThan(1)
  })

  test('private memory of work-items is at the same guest addresses in all threads', async () => {
    const device = new Device(await create(), TARGETS.gfx803)
    const out = device.memory.allocate(64 * 40 * 8, { name: 'out' })
    // Stores the lane to scratch, waits, and writes what is there, and the low dword of the scratch resource.
    const asm = `
      s_load_dwordx2 s[10:11], s[4:5], 0x0
      v_mov_b32 v3, v0
      buffer_store_dword v3, off, s[0:3], 0 offset:16
      s_movk_i32 s12, 500
    loop:
      s_sub_u32 s12, s12, 1
      s_cmp_lg_u32 s12, 0
      s_cbranch_scc1 loop
      buffer_load_dword v4, off, s[0:3], 0 offset:16
      s_lshl_b32 s6, s6, 9
      s_waitcnt lgkmcnt(0)
      s_add_u32 s10, s10, s6
      s_addc_u32 s11, s11, 0
      v_lshlrev_b32 v1, 3, v0
      v_add_u32 v1, vcc, s10, v1
      v_mov_b32 v2, s11
      v_mov_b32 v5, s0
      flat_store_dwordx2 v[1:2], v[4:5]
      s_endpgm`
    const kernel = rawKernel(device.loadCode(code(asm)), { ...DEFAULT_DESCRIPTOR, privateSegmentBytes: 64 })
    const address = new Uint8Array(new BigUint64Array([out.address]).buffer)
    const launch = { grid: [64 * 40, 1, 1], workgroup: [64, 1, 1], kernarg: { bytes: address } } as const
    const outcome = await pool().run(dispatch(device, kernel, launch), { threads: 2 })
    expect(outcome.error).toBeUndefined()
    expect(outcome.threads).toBe(2)
    const pairs = words(device.memory.view(out))
    expect(pairs.filter((_, i) => i % 2 === 0)).toEqual(Array.from({ length: 64 * 40 }, (_, i) => i % 64))
    expect(new Set(pairs.filter((_, i) => i % 2 === 1)).size).toBe(1)
  })

  test('the wave that faulted is readable, whichever thread ran it', async () => {
    const device = new Device(await create(), TARGETS.gfx803)
    const asm = `
      s_movk_i32 s2, 3000
    loop:
      s_sub_u32 s2, s2, 1
      s_cmp_lg_u32 s2, 0
      s_cbranch_scc1 loop
      s_cmp_lg_u32 s6, 13
      s_cbranch_scc1 end
      v_mov_b32 v1, 64
      v_mov_b32 v2, 0
      flat_load_dword v3, v[1:2]
    end:
      s_endpgm`
    const kernel = rawKernel(device.loadCode(code(asm)), DEFAULT_DESCRIPTOR)
    for (let i = 0; i < 3; i++) {
      const outcome = await pool().run(dispatch(device, kernel, { grid: [64 * 30, 1, 1], workgroup: [64, 1, 1] }), { threads: 2 })
      expect(outcome.error).toBeInstanceOf(MemoryFault)
      expect(outcome.error).toMatchObject({ lane: 0, address: 64n, place: { workgroup: [13, 0, 0], wave: 0 } })
      const wave = outcome.wave!
      expect([wave.fault, wave.sgpr(6), wave.vgpr(0)[5], wave.vgpr(1)[63]]).toEqual([FaultCode.Memory, 13, 5, 64])
    }
  })
})

test('a grid of one workgroup, and memory that is not shared, have one thread', async () => {
  const asm = 's_endpgm'
  for (const [engine, groups] of [
    [await createCore({ shared: true }), 1],
    [await createCore(), 8],
  ] as const) {
    const device = new Device(engine, TARGETS.gfx803)
    const kernel = rawKernel(device.loadCode(code(asm)), DEFAULT_DESCRIPTOR)
    const outcome = await pool().run(dispatch(device, kernel, { grid: [64 * groups, 1, 1], workgroup: [64, 1, 1] }), { threads: 2 })
    expect(outcome).toMatchObject({ status: 'done', threads: 1, instructions: groups })
  }
})

test('threads must be a whole number', async () => {
  const device = new Device(await createCore(), TARGETS.gfx803)
  const kernel = rawKernel(device.loadCode(code('s_endpgm')), DEFAULT_DESCRIPTOR)
  await expect(pool().run(dispatch(device, kernel, { grid: [64, 1, 1] }), { threads: 1.5 })).rejects.toThrow(RangeError)
})
