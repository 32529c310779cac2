import { describe, expect, test } from 'vitest'
import {
  DEFAULT_DESCRIPTOR,
  type Device,
  type DeviceKernel,
  dispatch,
  type Execution,
  type Launch,
  rawKernel,
} from '../../host/device/index.ts'
import { Stop } from '../../host/engine.ts'
import { LaunchError } from '../../host/errors.ts'
import type { TargetName } from '../../host/isa/targets.ts'
import type { KernelArgument, KernelDescriptor, KernelMetadata } from '../../host/object/index.ts'
import { WAVE_LDS_BYTES, WAVE_SCRATCH_BASE, WAVE_SCRATCH_LANE_BYTES } from '../../host/plan/layout.ts'
import { fakeDevice } from './fake.ts'

const argument = (offset: number, bytes: number, valueKind: string, rest: Partial<KernelArgument> = {}): KernelArgument => ({
  name: undefined,
  typeName: undefined,
  offset,
  bytes,
  valueKind,
  addressSpace: undefined,
  pointeeAlign: 1,
  ...rest,
})

function metadata(args: readonly KernelArgument[], rest: Partial<KernelMetadata> = {}): KernelMetadata {
  const end = Math.max(0, ...args.map((a) => a.offset + a.bytes))
  return {
    name: 'k',
    symbol: 'k.kd',
    args,
    kernargBytes: end,
    kernargAlign: 8,
    groupSegmentBytes: 0,
    privateSegmentBytes: 0,
    waveSize: 64,
    sgprCount: 16,
    vgprCount: 8,
    agprCount: 0,
    maxFlatWorkgroupSize: 1024,
    requiredWorkgroupSize: undefined,
    usesDynamicStack: false,
    ...rest,
  }
}

interface Setup {
  readonly target?: TargetName
  readonly descriptor?: Partial<KernelDescriptor>
  readonly metadata?: KernelMetadata
}

function prepare(setup: Setup, launch: Launch): { device: Device; kernel: DeviceKernel; execution: Execution } {
  const device = fakeDevice(() => Stop.End, setup.target ?? 'gfx803')
  const raw = rawKernel(device.loadCode(new Uint32Array(4)), { ...DEFAULT_DESCRIPTOR, rsrc1: 0, ...setup.descriptor })
  const kernel = { ...raw, name: 'k', metadata: setup.metadata }
  return { device, kernel, execution: dispatch(device, kernel, launch) }
}

const sgprs = ({ waves }: Execution, from: number, to: number, wave = 0) =>
  Array.from({ length: to - from + 1 }, (_, i) => waves[wave]!.sgpr(from + i))
const pointer = (execution: Execution, sgpr: number) =>
  BigInt(execution.waves[0]!.sgpr(sgpr)) | (BigInt(execution.waves[0]!.sgpr(sgpr + 1)) << 32n)
const dword = (device: Device, address: bigint) => new DataView(device.memory.read(address, 4).buffer).getUint32(0, true)
const long = (device: Device, address: bigint) => new DataView(device.memory.read(address, 8).buffer).getBigUint64(0, true)

/** kernel_code_properties. */
const BUFFER = 1
const PACKET = 2
const QUEUE = 4
const KERNARG = 8
const ID = 16
const FLAT_SCRATCH = 32
const PRIVATE_SIZE = 64
/** compute_pgm_rsrc2 with so many user SGPRs. */
const rsrc2 = (userSgprs: number, rest = 0) => (userSgprs << 1) | rest
const IDS = 7 << 7
const INFO = 1 << 10
const SCRATCH = 1

describe('user SGPRs', () => {
  test('come in the order of their bits: buffer, packet, queue, kernarg, id, flat scratch, private size', () => {
    const descriptor = { properties: 0x7f, rsrc2: rsrc2(15, IDS | SCRATCH), privateSegmentBytes: 40, kernargBytes: 8 }
    const { device, execution } = prepare({ descriptor }, { grid: [64, 1, 1] })
    const scratch = device.memory.regions.find(({ name }) => name === 'scratch of wave 0')!
    const [low, high] = [Number(scratch.address & 0xffffffffn), Number(scratch.address >> 32n)]
    // Swizzle enabled in bit 31 of dword 1; element size 4, index stride 64, thread id added in dword 3.
    expect(sgprs(execution, 0, 3)).toEqual([low, (high | 0x80000000) >>> 0, 0xffffffff, 0x00e80000])
    expect(device.memory.nearest(pointer(execution, 4))!.region.name).toBe('dispatch packet')
    expect(device.memory.nearest(pointer(execution, 6))!.region.name).toBe('queue')
    expect(device.memory.nearest(pointer(execution, 8))!.region.name).toBe('kernarg')
    // 40 bytes a lane are rounded up to 48: hardware counts 1024 bytes a wave.
    expect(sgprs(execution, 10, 14)).toEqual([0, 0, low, 48, 48])
  })

  test('only those that are asked for take room', () => {
    const { device, execution } = prepare({ descriptor: { properties: KERNARG | BUFFER, rsrc2: rsrc2(6, 1 << 7) } }, { grid: [64, 1, 1] })
    expect(device.memory.nearest(pointer(execution, 4))!.region.name).toBe('kernarg')
    expect(execution.waves[0]!.sgpr(6)).toBe(0)
  })

  test('the scratch buffer of gfx7 has the data format that gfx8 must not have', () => {
    const { execution } = prepare({ target: 'gfx700', descriptor: { privateSegmentBytes: 16 } }, { grid: [64, 1, 1] })
    expect(execution.waves[0]!.sgpr(3)).toBe(0x00ea0000)
  })

  test('more than 16 are an error', () => {
    expect(() => prepare({ descriptor: { rsrc2: rsrc2(17) } }, { grid: [64, 1, 1] })).toThrow(/asks for 17 user SGPRs; hardware has 16/)
  })
})

describe('system SGPRs', () => {
  test('follow the user SGPRs: workgroup ids, info, scratch offset', () => {
    const descriptor = { properties: KERNARG, rsrc2: rsrc2(2, IDS | INFO | SCRATCH), privateSegmentBytes: 16 }
    const { execution } = prepare({ descriptor }, { grid: [128, 2, 3], workgroup: [128, 1, 1] })
    for (let group = 0; group < 5; group++) {
      execution.step(2)
    }
    expect(execution.next!.index).toBe(0)
    expect(execution.workgroup).toEqual([0, 1, 2])
    expect(sgprs(execution, 2, 5, 0)).toEqual([0, 1, 2, 0x80000002])
    expect(sgprs(execution, 2, 5, 1)).toEqual([0, 1, 2, 2])
    const [first, second] = [sgprs(execution, 6, 6, 0)[0]!, sgprs(execution, 6, 6, 1)[0]!]
    expect(first).toBe(0)
    expect(second).toBeGreaterThanOrEqual(16 * 64)
    expect(second % 1024).toBe(0)
  })

  test('the ids that are not asked for take no room', () => {
    const { execution } = prepare({ descriptor: { properties: 0, rsrc2: rsrc2(0, 1 << 9) } }, { grid: [64, 1, 2], workgroup: [64, 1, 1] })
    execution.step(1)
    expect([execution.next!.sgpr(0), execution.next!.sgpr(1)]).toEqual([1, 0])
  })
})

describe('work-item ids and EXEC', () => {
  const ids = (execution: Execution, wave: number, register: number) => [...execution.waves[wave]!.vgpr(register)]

  test('x runs first, then y, then z, over waves', () => {
    const { execution } = prepare({}, { grid: [4, 8, 4], workgroup: [4, 8, 4] })
    expect(execution.waves.length).toBe(2)
    const item = (wave: number, lane: number) => [0, 1, 2].map((register) => ids(execution, wave, register)[lane])
    expect(item(0, 0)).toEqual([0, 0, 0])
    expect(item(0, 5)).toEqual([1, 1, 0])
    expect(item(0, 63)).toEqual([3, 7, 1])
    expect(item(1, 0)).toEqual([0, 0, 2])
    expect(item(1, 63)).toEqual([3, 7, 3])
  })

  test('only the ids that rsrc2 asks for are set', () => {
    const { execution } = prepare({ descriptor: { rsrc2: rsrc2(6, 1 << 11) } }, { grid: [2, 2, 2] })
    expect(ids(execution, 0, 1).slice(0, 8)).toEqual([0, 0, 1, 1, 0, 0, 1, 1])
    expect(ids(execution, 0, 2).slice(0, 8)).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  })

  test('lanes beyond the workgroup are off', () => {
    const { execution } = prepare({}, { grid: [70, 1, 1] })
    expect(execution.waves.map(({ exec }) => exec)).toEqual([0xffffffffffffffffn, 0x3fn])
  })

  test('a workgroup at the edge is partial, and its work-items are numbered over its own extent', () => {
    const { execution } = prepare({}, { grid: [10, 10, 1], workgroup: [8, 8, 1] })
    const lanes: number[] = []
    while (execution.next) {
      lanes.push(execution.next.exec.toString(2).length)
      if (execution.workgroup.join() === '1,0,0') {
        expect(ids(execution, 0, 0).slice(0, 4)).toEqual([0, 1, 0, 1])
        expect(ids(execution, 0, 1).slice(0, 4)).toEqual([0, 0, 1, 1])
      }
      execution.step(1)
    }
    expect(lanes).toEqual([64, 16, 16, 4])
    expect(execution.status).toBe('done')
  })
})

describe('MODE and register counts', () => {
  test('MODE comes from FLOAT_MODE, DX10_CLAMP and IEEE_MODE of rsrc1', () => {
    // 0xac0040: float mode 0xc0, DX10_CLAMP (bit 21), IEEE (bit 23), as in a kernel of gfx803; one SGPR granule more.
    const { execution } = prepare({ descriptor: { rsrc1: 0xac0040 } }, { grid: [64, 1, 1] })
    const wave = execution.waves[0]!
    expect([wave.mode, wave.vgprCount, wave.sgprCount]).toEqual([0x3c0, 4, 16])
    const other = prepare({ descriptor: { rsrc1: (0x35 << 12) | 5 } }, { grid: [64, 1, 1] }).execution.waves[0]!
    expect([other.mode, other.vgprCount, other.sgprCount]).toEqual([0x35, 24, 8])
  })
})

describe('scratch', () => {
  test('each wave has a piece of its own with unowned space behind it', () => {
    const { device, execution } = prepare({ descriptor: { privateSegmentBytes: 20 } }, { grid: [128, 1, 1] })
    const pieces = device.memory.regions.filter(({ name }) => name.startsWith('scratch'))
    expect(pieces.map(({ bytes }) => bytes)).toEqual([32 * 64, 32 * 64])
    expect(pieces[1]!.address - pieces[0]!.address).toBeGreaterThan(32n * 64n)
    execution.waves.forEach((wave, i) => {
      const base = BigInt(wave.word(WAVE_SCRATCH_BASE)) | (BigInt(wave.word(WAVE_SCRATCH_BASE + 4)) << 32n)
      expect([base, wave.word(WAVE_SCRATCH_LANE_BYTES)]).toEqual([pieces[i]!.address, 32])
    })
  })

  test('a dynamic stack adds to it', () => {
    const of = (launch: Partial<Launch>, properties = 9 | (1 << 11)) =>
      prepare({ descriptor: { privateSegmentBytes: 16, properties } }, { grid: [64, 1, 1], ...launch }).execution.waves[0]!.word(
        WAVE_SCRATCH_LANE_BYTES,
      )
    expect(of({})).toBe(16 + 16384)
    expect(of({ stackBytes: 64 })).toBe(80)
    expect(of({ stackBytes: 64 }, 9)).toBe(16)
  })

  test('an absurd size is an error', () => {
    expect(() => prepare({ descriptor: { privateSegmentBytes: 2 ** 31 } }, { grid: [64, 1, 1] })).toThrow(LaunchError)
  })

  test('scratch and LDS are zero in each workgroup', () => {
    const descriptor = { privateSegmentBytes: 16, groupSegmentBytes: 8 }
    const { device, execution } = prepare({ descriptor }, { grid: [128, 1, 1], workgroup: [64, 1, 1] })
    const scratch = device.memory.regions.find(({ name }) => name.startsWith('scratch'))!
    device.memory.view(scratch).fill(7)
    execution.step(1)
    expect(execution.next!.index).toBe(0)
    expect(device.memory.view(scratch).every((byte) => byte === 0)).toBe(true)
    expect(execution.next!.lds).toEqual(new Uint8Array(8))
  })
})

describe('arguments', () => {
  const u32 = (value: number) => ({ bytes: new Uint8Array(Uint32Array.of(value).buffer) })

  test('explicit ones go to their offsets', () => {
    const args = metadata([argument(0, 4, 'by_value'), argument(8, 8, 'global_buffer')])
    const { device, execution } = prepare({ metadata: args }, { grid: [64, 1, 1], args: [u32(0x12345678), { address: 0x7f0000001000n }] })
    const kernarg = pointer(execution, 4)
    expect([dword(device, kernarg), dword(device, kernarg + 4n), long(device, kernarg + 8n)]).toEqual([0x12345678, 0, 0x7f0000001000n])
  })

  test('hidden ones of version 5 say counts of whole workgroups, sizes, remainders, dimensions and apertures', () => {
    const hidden = [
      argument(0, 4, 'hidden_block_count_x'),
      argument(4, 4, 'hidden_block_count_y'),
      argument(8, 4, 'hidden_block_count_z'),
      argument(12, 2, 'hidden_group_size_x'),
      argument(14, 2, 'hidden_group_size_y'),
      argument(16, 2, 'hidden_group_size_z'),
      argument(18, 2, 'hidden_remainder_x'),
      argument(20, 2, 'hidden_remainder_y'),
      argument(22, 2, 'hidden_remainder_z'),
      argument(24, 8, 'hidden_global_offset_x'),
      argument(32, 2, 'hidden_grid_dims'),
      argument(36, 4, 'hidden_dynamic_lds_size'),
      argument(40, 4, 'hidden_private_base'),
      argument(44, 4, 'hidden_shared_base'),
      argument(48, 8, 'hidden_queue_ptr'),
      argument(56, 8, 'hidden_hostcall_buffer'),
    ]
    const launch: Launch = { grid: [100, 7, 1], workgroup: [32, 2, 1], dynamicLdsBytes: 256 }
    const { device, execution } = prepare({ metadata: metadata(hidden) }, launch)
    const view = new DataView(device.memory.read(pointer(execution, 4), 64).buffer)
    expect([0, 4, 8].map((at) => view.getUint32(at, true))).toEqual([3, 3, 1])
    expect([12, 14, 16, 18, 20, 22].map((at) => view.getUint16(at, true))).toEqual([32, 2, 1, 4, 1, 0])
    expect([view.getBigUint64(24, true), view.getUint16(32, true), view.getUint32(36, true)]).toEqual([0n, 2, 256])
    expect([view.getUint32(40, true), view.getUint32(44, true)]).toEqual([device.apertures.private, device.apertures.shared])
    const queue = view.getBigUint64(48, true)
    expect([dword(device, queue + 0x40n), dword(device, queue + 0x44n)]).toEqual([device.apertures.shared, device.apertures.private])
    expect(view.getBigUint64(56, true)).toBe(0n)
  })

  test('local ones are places in dynamic LDS behind the fixed one, as their alignment wants', () => {
    const args = metadata([
      argument(0, 4, 'dynamic_shared_pointer', { pointeeAlign: 4 }),
      argument(4, 4, 'dynamic_shared_pointer', { pointeeAlign: 16 }),
    ])
    const setup = { metadata: args, descriptor: { groupSegmentBytes: 20 } }
    const { device, execution } = prepare(setup, { grid: [64, 1, 1], args: [{ localBytes: 6 }, { localBytes: 100 }], dynamicLdsBytes: 8 })
    const kernarg = pointer(execution, 4)
    expect([dword(device, kernarg), dword(device, kernarg + 4n)]).toEqual([20, 32])
    expect(execution.waves[0]!.word(WAVE_LDS_BYTES)).toBe(32 + 100 + 8)
  })

  test('a segment given as bytes is taken as it is, at its address', () => {
    const kernarg = { bytes: new Uint8Array([1, 2, 3, 4]), address: 0x7f0000001000n }
    const { device, execution } = prepare({}, { grid: [64, 1, 1], kernarg })
    expect(pointer(execution, 4)).toBe(0x7f0000001000n)
    expect(dword(device, 0x7f0000001000n)).toBe(0x04030201)
  })

  test.each<[string, Launch['args'], RegExp]>([
    ['too few', [u32(1)], /kernel k takes 2 arguments \(n: u32, global_buffer of 8 bytes\), 1 were given/],
    ['a wrong size', [{ bytes: new Uint8Array(8) }, { address: 1n }], /argument 0 of kernel k \(n: u32\) takes 4 bytes, 8 were given/],
    ['a buffer for a value', [{ address: 1n }, { address: 1n }], /argument 0 .* is a by_value, a buffer was given/],
    ['LDS for a buffer', [u32(1), { localBytes: 4 }], /argument 1 .* is a global_buffer, bytes of LDS were given/],
  ])('%s is an error that says so', (_, args, message) => {
    const setup = { metadata: metadata([argument(0, 4, 'by_value', { name: 'n', typeName: 'u32' }), argument(8, 8, 'global_buffer')]) }
    expect(() => prepare(setup, { grid: [64, 1, 1], args })).toThrow(LaunchError)
    expect(() => prepare(setup, { grid: [64, 1, 1], args })).toThrow(message)
  })

  test('an unknown hidden argument is an error', () => {
    expect(() => prepare({ metadata: metadata([argument(0, 8, 'hidden_surprise')]) }, { grid: [64, 1, 1] })).toThrow(/hidden_surprise/)
  })
})

test('the dispatch packet says grid, workgroup, segments and kernarg', () => {
  const descriptor = { properties: PACKET | KERNARG, rsrc2: rsrc2(4), groupSegmentBytes: 12, privateSegmentBytes: 16 }
  const { device, execution } = prepare({ descriptor }, { grid: [100, 20, 1], workgroup: [10, 5, 1] })
  const view = new DataView(device.memory.read(pointer(execution, 0), 64).buffer)
  expect(view.getUint16(0, true) & 0xff).toBe(2)
  expect([2, 4, 6, 8].map((at) => view.getUint16(at, true))).toEqual([2, 10, 5, 1])
  expect([12, 16, 20, 24, 28].map((at) => view.getUint32(at, true))).toEqual([100, 20, 1, 16, 12])
  expect(view.getBigUint64(40, true)).toBe(pointer(execution, 2))
})

test('the queue of a version 4 kernel has the aperture bases', () => {
  const descriptor = { properties: QUEUE | ID | FLAT_SCRATCH | PRIVATE_SIZE, rsrc2: rsrc2(7) }
  const { device, execution } = prepare({ descriptor, target: 'gfx700' }, { grid: [64, 1, 1] })
  expect(dword(device, pointer(execution, 0) + 0x40n)).toBe(device.apertures.shared)
})

test('a range of workgroups runs just those', () => {
  const { execution } = prepare({}, { grid: [128, 3, 1], workgroup: [64, 1, 1], groups: [2, 5] })
  const seen: string[] = []
  while (execution.next) {
    seen.push(execution.workgroup.join())
    execution.step(1)
  }
  expect(seen).toEqual(['0,1,0', '1,1,0', '0,2,0'])
  expect(() => prepare({}, { grid: [64, 1, 1], groups: [0, 2] })).toThrow(/workgroups 0 to 2 are to run; the grid has 1/)
})

describe('sizes that do not fit', () => {
  test.each<[string, Setup, Launch, RegExp]>([
    ['a grid of 0', {}, { grid: [0, 1, 1] }, /the grid is \[0, 1, 1\]; it must be three whole numbers from 1/],
    ['a fraction', {}, { grid: [64, 1, 1], workgroup: [1.5, 1, 1] }, /the workgroup is \[1\.5, 1, 1\]/],
    ['a workgroup beyond hardware', {}, { grid: [2048, 1, 1], workgroup: [64, 32, 1] }, /2048 work-items; kernel k takes at most 1024/],
    [
      'a workgroup beyond what the kernel was compiled for',
      { metadata: metadata([], { maxFlatWorkgroupSize: 256 }) },
      { grid: [512, 1, 1] },
      /at most 256/,
    ],
    [
      'another workgroup than the required one',
      { metadata: metadata([], { requiredWorkgroupSize: [16, 16, 1] }) },
      { grid: [256, 1, 1] },
      /was compiled for 16x16x1/,
    ],
    ['LDS beyond hardware', {}, { grid: [64, 1, 1], dynamicLdsBytes: 70000 }, /wants 70000 bytes of LDS; .* at most 65536/],
    ['LDS beyond gfx6', { target: 'gfx600' }, { grid: [64, 1, 1], dynamicLdsBytes: 40000 }, /at most 32768/],
  ])('%s is a LaunchError', (_, setup, launch, message) => {
    expect(() => prepare(setup, launch)).toThrow(LaunchError)
    expect(() => prepare(setup, launch)).toThrow(message)
  })
})

test('a launch that fails leaves nothing behind', () => {
  const { device, kernel, execution } = prepare({ descriptor: { privateSegmentBytes: 16 } }, { grid: [64, 1, 1] })
  execution.free()
  const address = device.memory.allocate(16).address
  const regions = device.memory.regions.length
  expect(() => dispatch(device, kernel, { grid: [64, 1, 1], kernarg: { bytes: new Uint8Array(8), address } })).toThrow(LaunchError)
  expect(device.memory.regions.length).toBe(regions)
})

test('free gives all memory of the dispatch back', () => {
  const { device, kernel, execution } = prepare({ descriptor: { privateSegmentBytes: 16 } }, { grid: [64, 1, 1] })
  execution.free()
  expect(device.memory.regions.map(({ name }) => name)).toEqual(['code'])
  const before = device.arena.bytes.length
  for (let i = 0; i < 200; i++) dispatch(device, kernel, { grid: [1024, 1, 1] }).free()
  expect(device.arena.bytes.length - before).toBeLessThan(4 << 20)
})
