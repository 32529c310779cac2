/** The device with the real engines: loading, relocations, planning, faults, and two engines in lockstep. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, DEFAULT_DESCRIPTOR, Device, dispatch, type Execution, rawKernel } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { FaultError, LimitError, MemoryFault } from '../../host/errors.ts'
import { TARGETS, type TargetName } from '../../host/isa/targets.ts'
import { loadObject } from '../../host/object/index.ts'
import { createReference } from '../../host/reference/index.ts'

const engines: readonly (readonly [string, () => Engine | Promise<Engine>])[] = [
  ['reference', createReference],
  ['core', createCore],
]
const bytesOf = (...words: number[]) => new Uint8Array(Uint32Array.from(words).buffer)
const words = (bytes: Uint8Array) => [...new Uint32Array(bytes.slice().buffer)]

/** Encodings of gfx8 by llvm-mc. */
const S_ENDPGM = 0xbf810000
const S_NOP = 0xbf800000
const S_BARRIER = 0xbf8a0000
/** s_branch with a distance in dwords from the next instruction. */
const s_branch = (distance: number) => (0xbf820000 | (distance & 0xffff)) >>> 0

describe.each(engines)('%s', (_, create) => {
  const deviceOf = async (target: TargetName = 'gfx803') => new Device(await create(), TARGETS[target])

  test('an engine has one device', async () => {
    const { engine } = await deviceOf()
    expect(() => new Device(engine, TARGETS.gfx700)).toThrow('the engine has a device already')
  })

  test.each([
    ['gfx600', 'v3'],
    ['gfx700', 'v4'],
    ['gfx803', 'v2'],
    ['gfx803', 'v3'],
    ['gfx803', 'v4'],
  ] as const)('a relocatable object for %s, code object %s, finds its table and its variable', async (target, version) => {
    const device = await deviceOf(target)
    const loaded = device.load(loadObject(new Uint8Array(readFileSync(`test/data/objects/fill.${target}.${version}.o`))))
    const out = device.memory.allocate(40, { name: 'out' })
    const launch = { grid: [10, 1, 1], args: [{ address: out.address }, { bytes: bytesOf(1000) }] } as const
    const outcome = await dispatch(device, loaded.kernel('fill'), launch).run()
    expect(outcome.error).toBeUndefined()
    expect(words(device.memory.view(out))).toEqual([1016, 1027, 1038, 1049, 1016, 1027, 1038, 1049, 1016, 1027])
    device.memory.write(loaded.address('counter')!, bytesOf(0))
    await dispatch(device, loaded.kernel('fill'), launch).run()
    expect(words(device.memory.view(out))[0]).toBe(1011)
  })

  test('a fault in the global data share is told as one', async () => {
    const device = await deviceOf()
    // ds_read_b32 v1, v0 gds; M0: GDS from 0xfffc on, 16 bytes of it.
    const code = device.loadCode(Uint32Array.of(0xd86d0000, 0x01000000, S_ENDPGM))
    const execution = bareWave(device, code, { m0: 0xfffc0010, exec: 1n, vgprs: new Map([[0, 4]]) })
    execution.step(10)
    expect(execution.error?.message).toMatch(/: GDS: lane 0 accessed 4 bytes at 0x10000, there are 65536 bytes/)
  })

  test('memory that is freed, and allocated anew elsewhere, between two runs of a wave is found where it is', async () => {
    const device = await deviceOf()
    const address = 0x10000n
    const allocate = (value: number) => {
      const region = device.memory.allocate(64, { address })
      device.memory.view(region)[0] = value
      return region
    }
    // flat_load_dword v2, v[0:1]; s_load_dword s4, s[0:1], 0x0; and again.
    const code = device.loadCode(Uint32Array.of(0xdc500000, 0x02000000, 0xc0020100, 0, s_branch(-5)))
    const low = Number(address)
    const execution = bareWave(device, code, { vgprs: new Map([[0, low]]), sgprs: new Map([[0, low]]) })
    const load = () => {
      execution.step(3)
      return [execution.waves[0]!.vgpr(2)[63], execution.waves[0]!.sgpr(4)]
    }
    const first = allocate(7)
    expect(load()).toEqual([7, 7])
    device.memory.free(first)
    device.arena.allocate(64)
    const second = allocate(9)
    expect(second.host).not.toBe(first.host)
    expect(load()).toEqual([9, 9])
    device.memory.free(second)
    execution.step(3)
    expect(execution.error).toBeInstanceOf(MemoryFault)
  })

  test('saxpy writes y = a x + y and keeps to n', async () => {
    const device = await deviceOf()
    const kernel = device.load(loadObject(new Uint8Array(readFileSync('test/data/kernels/saxpy/gfx803.co')))).kernel('saxpy')
    const floats = (values: number[]) => new Uint8Array(Float32Array.from(values).buffer)
    const x = device.memory.allocate(400, { name: 'x' })
    const y = device.memory.allocate(400, { name: 'y' })
    device.memory.view(x).set(floats(Array.from({ length: 100 }, (_, i) => i)))
    device.memory.view(y).set(floats(new Array(100).fill(0.5)))
    const args = [{ bytes: bytesOf(99) }, { bytes: floats([2]) }, { address: x.address }, { address: y.address }]
    const outcome = await dispatch(device, kernel, { grid: [128, 1, 1], workgroup: [64, 1, 1], args }).run()
    expect(outcome.status).toBe('done')
    const result = [...new Float32Array(device.memory.read(y.address, 400).buffer)]
    expect(result).toEqual(Array.from({ length: 100 }, (_, i) => (i < 99 ? 2 * i + 0.5 : 0.5)))
  })

  test('a buffer too short faults at its first lane beyond the end, and nothing of the instruction happens', async () => {
    const device = await deviceOf()
    const kernel = device.load(loadObject(new Uint8Array(readFileSync('test/data/kernels/saxpy/gfx803.co')))).kernel('saxpy')
    const x = device.memory.allocate(400, { name: 'x' })
    const y = device.memory.allocate(40, { name: 'y' })
    const args = [{ bytes: bytesOf(64) }, { bytes: bytesOf(0) }, { address: x.address }, { address: y.address }]
    const { error, wave } = await dispatch(device, kernel, { grid: [64, 1, 1], args }).run()
    expect(error).toBeInstanceOf(MemoryFault)
    expect([(error as MemoryFault).lane, (error as MemoryFault).address]).toEqual([10, y.address + 40n])
    expect(error!.message).toMatch(/the nearest buffer is y \(40 bytes at 0x[0-9a-f]+\), whose end is 0 bytes before/)
    expect(wave!.vgpr(0).length).toBe(64)
  })

  test('raw code ends where it runs off its end', async () => {
    const device = await deviceOf()
    const outcome = await bareWave(device, device.loadCode(Uint32Array.of(S_NOP, S_NOP))).run()
    expect(outcome).toMatchObject({ status: 'done', instructions: 2 })
  })

  test('a branch over unplanned code, and back into planned code, goes on', async () => {
    const device = await deviceOf()
    // 0: to 3; 1: end; 2: to 1; 3: to 2
    const outcome = await bareWave(device, device.loadCode(Uint32Array.of(s_branch(2), S_ENDPGM, s_branch(-2), s_branch(-2)))).run()
    expect(outcome).toMatchObject({ status: 'done', instructions: 4 })
  })

  test.each([
    ['beyond the code', s_branch(100)],
    ['before the code', s_branch(-100)],
  ])('a branch %s is an error', async (_, word) => {
    const device = await deviceOf()
    const { error } = await bareWave(device, device.loadCode(Uint32Array.of(word, S_ENDPGM))).run()
    expect(error).toBeInstanceOf(FaultError)
    expect(error!.message).toMatch(/pc left the code/)
  })

  test('words that are no instruction are an error with their place, after what comes before them', async () => {
    const device = await deviceOf()
    const { error, instructions } = await bareWave(device, device.loadCode(Uint32Array.of(S_NOP, 0xffffffff, S_ENDPGM))).run()
    expect(error!.message).toMatch(/no instruction of gfx803 has this encoding/)
    expect(error).toMatchObject({ code: 'ERR_ILLEGAL', place: { pc: 4, instruction: '0xffffffff 0xbf810000' } })
    expect(instructions).toBe(1)
  })

  test('an endless loop of barriers uses its budget up', async () => {
    const device = await deviceOf()
    const kernel = rawKernel(device.loadCode(Uint32Array.of(S_BARRIER, s_branch(-2))), DEFAULT_DESCRIPTOR)
    const { error, instructions } = await dispatch(device, kernel, { grid: [256, 1, 1] }).run({ budget: 5001 })
    expect(error).toBeInstanceOf(LimitError)
    expect(instructions).toBe(5001)
  })
})

test('two engines in lockstep are in the same state after each instruction', async () => {
  const file = new Uint8Array(readFileSync('test/data/kernels/reduce/gfx803.co'))
  const start = async (create: () => Engine | Promise<Engine>): Promise<Execution> => {
    const device = new Device(await create(), TARGETS.gfx803)
    const loaded = device.load(loadObject(file))
    const kernel = loaded.kernel()
    const buffers = kernel
      .metadata!.args.filter(({ valueKind }) => !valueKind.startsWith('hidden_'))
      .map(({ bytes, valueKind }) =>
        valueKind === 'by_value' ? { bytes: new Uint8Array(bytes).fill(1, 0, 1) } : device.memory.allocate(4096),
      )
    const workgroup = kernel.metadata!.requiredWorkgroupSize ?? ([128, 1, 1] as const)
    return dispatch(device, kernel, { grid: [workgroup[0], workgroup[1], workgroup[2]], workgroup, args: buffers })
  }
  const [a, b] = await Promise.all(engines.map(([, create]) => start(create)))
  for (let i = 0; i < 300 && a!.next; i++) {
    const [wave, other] = [a!.next!, b!.next!]
    expect([a!.step(1), other.index]).toEqual([b!.step(1), wave.index])
    if (a!.status === 'stopped' || b!.status === 'stopped') break
    const same = Buffer.compare(other.state(), wave.state()) === 0 && Buffer.compare(other.lds, wave.lds) === 0
    if (!same) expect(other.state()).toEqual(wave.state())
    expect(same).toBe(true)
  }
  expect([a!.error, b!.error]).toEqual([undefined, undefined])
})
