/** Scalar, flat and buffer memory by hand. */
import { describe, expect, test } from 'vitest'
import { FaultCode, Stop } from '../../host/engine.ts'
import type { TargetName } from '../../host/isa/targets.ts'
import * as layout from '../../host/plan/layout.ts'
import { bytesOf, int, Machine, op, PRIVATE_APERTURE, run, type Setup, SHARED_APERTURE } from './machine.ts'

const BASE = 0x5_0000_1000n
const LOW = 0x1000
const HIGH = 5
/** 256 words that hold their own numbers. */
const NUMBERS = Array.from({ length: 256 }, (_, i) => i)
const region = (words = NUMBERS, writable = true) => ({ address: BASE, bytes: bytesOf(words), writable })
const faultOf = (s: Setup) => {
  const m = new Machine(s)
  return [m.run(), m.header(layout.WAVE_FAULT), m.header(layout.WAVE_FAULT_LANE), m.header64(layout.WAVE_FAULT_ADDRESS)]
}

describe('scalar memory', () => {
  const sgpr = { 2: LOW, 3: HIGH }
  test('s_load_dwordx4 with a byte offset on gfx8', () => {
    const m = run({ words: op('s_load_dwordx4', 'smem', { sdata: 8, sbase: 1, imm: 1, offset: 20 }), sgpr, regions: [region()] })
    expect([8, 9, 10, 11].map((r) => m.sgpr(r))).toEqual([5, 6, 7, 8])
  })
  test('offsets count dwords on gfx6, an SGPR offset counts bytes; the low two bits are dropped', () => {
    const target: TargetName = 'gfx600'
    const imm = run({
      target,
      words: op('s_load_dword', 'smrd', { sdst: 8, sbase: 1, imm: 1, offset: 5 }, { target }),
      sgpr,
      regions: [region()],
    })
    expect(imm.sgpr(8)).toBe(5)
    const reg = run({
      target,
      words: op('s_load_dword', 'smrd', { sdst: 8, sbase: 1, offset: 4 }, { target }),
      sgpr: { ...sgpr, 4: 23 },
      regions: [region()],
    })
    expect(reg.sgpr(8)).toBe(5)
  })
  test('a load may overwrite its own address', () => {
    const m = run({ words: op('s_load_dwordx2', 'smem', { sdata: 2, sbase: 1, imm: 1, offset: 8 }), sgpr, regions: [region()] })
    expect(m.sgpr64(2)).toBe(0x300000002n)
  })
  test('s_buffer_load reads 0 beyond the buffer', () => {
    const words = op('s_buffer_load_dwordx4', 'smem', { sdata: 8, sbase: 2, imm: 1, offset: 8 })
    const m = run({ words, sgpr: { 4: LOW, 5: HIGH, 6: 16, 7: 0 }, regions: [region()] })
    expect([8, 9, 10, 11].map((r) => m.sgpr(r))).toEqual([2, 3, 0, 0])
  })
  test('NUM_RECORDS counts elements where the descriptor has a stride', () => {
    const words = op('s_buffer_load_dword', 'smem', { sdata: 8, sbase: 2, imm: 1, offset: 60 })
    const m = run({ words, sgpr: { 4: LOW, 5: HIGH | (16 << 16), 6: 4, 7: 0 }, regions: [region()] })
    expect(m.sgpr(8)).toBe(15)
  })
  test('s_store_dword writes, and faults on read-only memory', () => {
    const words = op('s_store_dword', 'smem', { sdata: 8, sbase: 1, imm: 1, offset: 4 })
    expect(run({ words, sgpr: { ...sgpr, 8: 77 }, regions: [region()] }).memory()[1]).toBe(77)
    expect(faultOf({ words, sgpr, regions: [region(NUMBERS, false)] })).toEqual([Stop.Fault, FaultCode.Memory, 0xffffffff, BASE + 4n])
  })
  test('a load across the end of a region is a fault', () => {
    const words = op('s_load_dwordx2', 'smem', { sdata: 8, sbase: 1, imm: 1, offset: 1020 })
    expect(faultOf({ words, sgpr, regions: [region()] })).toEqual([Stop.Fault, FaultCode.Memory, 0xffffffff, BASE + 1020n])
  })
  test('s_memtime moves on by one with each read', () => {
    const m = run({ words: [...op('s_memtime', 'smem', { sdata: 0 }), ...op('s_memtime', 'smem', { sdata: 2 })] })
    expect(m.sgpr64(2) - m.sgpr64(0)).toBe(1n)
  })
})

describe('flat memory', () => {
  const flat = (name: string, fields: object = {}) => op(name, 'flat', { addr: 0, data: 2, vdst: 4, ...fields })
  const addresses = { 0: (lane: number) => LOW + lane * 4, 1: HIGH }
  test('loads and stores, lane by lane', () => {
    const m = run({
      words: [...flat('flat_load_dword'), ...flat('flat_store_dword')],
      vgpr: { ...addresses, 2: (lane) => 1000 + lane },
      regions: [region()],
    })
    expect(m.row(4)).toEqual(NUMBERS.slice(0, 64))
    expect(m.memory()[63]).toBe(1063)
  })
  test('unaligned loads work byte by byte', () => {
    const m = run({ words: flat('flat_load_dword'), exec: 1n, vgpr: { 0: LOW + 2, 1: HIGH }, regions: [region([0x11223344, 0x55667788])] })
    expect(m.vgpr(4, 0)).toBe(0x77881122)
  })
  test('a fault in one lane leaves memory as it was', () => {
    const s = { words: flat('flat_store_dword'), vgpr: { 0: (lane: number) => (lane === 9 ? 0 : LOW), 1: HIGH, 2: 5 }, regions: [region()] }
    expect(faultOf(s)).toEqual([Stop.Fault, FaultCode.Memory, 9, BigInt(HIGH) << 32n])
    const m = new Machine(s)
    m.run()
    expect(m.memory()[0]).toBe(0)
  })
  test('compare-and-swap takes the new value first, then the compared one; GLC returns the old', () => {
    const cas = (glc: number) =>
      run({ words: flat('flat_atomic_cmpswap', { glc }), exec: 1n, vgpr: { 0: LOW + 20, 1: HIGH, 2: 99, 3: 5, 4: 7 }, regions: [region()] })
    expect([cas(1).memory()[5], cas(1).vgpr(4, 0), cas(0).vgpr(4, 0)]).toEqual([99, 5, 7])
  })
  test('64-bit atomics', () => {
    const m = run({
      words: flat('flat_atomic_smax_x2', { glc: 1 }),
      exec: 1n,
      vgpr: { 0: LOW, 1: HIGH, 2: 1, 3: 0 },
      regions: [region([5, 0x80000000])],
    })
    expect([...m.memory(), m.vgpr(4, 0), m.vgpr(5, 0)]).toEqual([1, 0, 5, 0x80000000])
  })
  test('a misaligned atomic is a fault', () => {
    const s = { words: flat('flat_atomic_add'), exec: 2n, vgpr: { 0: LOW + 2, 1: HIGH }, regions: [region()] }
    expect(faultOf(s)).toEqual([Stop.Fault, FaultCode.Misaligned, 1, BASE + 2n])
  })
  test('the shared aperture is the LDS', () => {
    const m = run({ words: flat('flat_load_dword'), exec: 1n, lds: bytesOf([1, 2, 3]), vgpr: { 0: 8, 1: SHARED_APERTURE } })
    expect(m.vgpr(4, 0)).toBe(3)
  })
  test('the private aperture is scratch, interleaved by dwords', () => {
    const scratch = { address: BASE, laneBytes: 16 }
    const s = {
      words: flat('flat_store_dword'),
      vgpr: { 0: 8, 1: PRIVATE_APERTURE, 2: (lane: number) => lane + 500 },
      regions: [region()],
      scratch,
    }
    expect(run(s).memory()[2 * 64 + 7]).toBe(507)
    expect(faultOf({ ...s, vgpr: { 0: 16, 1: PRIVATE_APERTURE } })[1]).toBe(FaultCode.Memory)
  })
})

describe('buffers', () => {
  const buffer = (name: string, fields: object = {}, target: TargetName = 'gfx803') =>
    op(name, 'mubuf', { vaddr: 0, vdata: 4, srsrc: 1, soffset: int(0), ...fields }, { target })
  const raw = (records: number, word3 = 0, stride = 0, swizzle = 0) => ({
    4: LOW,
    5: HIGH | (stride << 16) | ((swizzle << 31) >>> 0),
    6: records,
    7: word3,
  })

  test('offen, soffset and the offset of the instruction add up', () => {
    const words = buffer('buffer_load_dword', { offen: 1, offset: 8, soffset: 12 })
    const m = run({ words, exec: 3n, sgpr: { ...raw(1024), 12: 16 }, vgpr: { 0: (lane) => lane * 4 }, regions: [region()] })
    expect(m.row(4).slice(0, 3)).toEqual([6, 7, 0])
  })
  test('idxen multiplies by the stride; with offen the index comes first', () => {
    const m = run({
      words: buffer('buffer_load_dword', { idxen: 1, offen: 1 }),
      exec: 1n,
      sgpr: raw(1024, 0, 16),
      vgpr: { 0: 3, 1: 4 },
      regions: [region()],
    })
    expect(m.vgpr(4, 0)).toBe(13)
  })
  test('dwords beyond the buffer read 0 and are not written, each for itself', () => {
    const load = run({
      words: buffer('buffer_load_dwordx4', { offen: 1 }),
      exec: 1n,
      sgpr: raw(16),
      vgpr: { 0: 8, 6: 9, 7: 9 },
      regions: [region()],
    })
    expect([4, 5, 6, 7].map((r) => load.vgpr(r, 0))).toEqual([2, 3, 0, 0])
    const store = run({
      words: buffer('buffer_store_dwordx2', { offen: 1 }),
      exec: 1n,
      sgpr: raw(16),
      vgpr: { 0: 12, 4: 70, 5: 80 },
      regions: [region()],
    })
    expect([...store.memory().slice(3, 5)]).toEqual([70, 4])
  })
  test('NUM_RECORDS of a linear buffer with stride: elements on gfx7, bytes on gfx8', () => {
    const at = (target: TargetName, index: number) =>
      run({
        target,
        words: buffer('buffer_load_dword', { idxen: 1 }, target),
        exec: 1n,
        sgpr: raw(32, 0, 16),
        vgpr: { 0: index },
        regions: [region()],
      }).vgpr(4, 0)
    expect([at('gfx700', 3), at('gfx700', 15), at('gfx803', 1), at('gfx803', 2)]).toEqual([12, 60, 4, 0])
  })
  test('soffset is taken from the bytes that are in range', () => {
    const words = buffer('buffer_load_dword', { offen: 1, soffset: 12 })
    const m = run({ words, exec: 3n, sgpr: { ...raw(32), 12: 16 }, vgpr: { 0: (lane) => 12 + lane * 4, 4: 9 }, regions: [region()] })
    expect(m.row(4).slice(0, 3)).toEqual([7, 0, 9])
  })
  test('NUM_RECORDS of a structured buffer counts elements: only the index is looked at', () => {
    const target: TargetName = 'gfx700'
    const words = buffer('buffer_load_dword', { idxen: 1, offen: 1 }, target)
    const m = run({
      target,
      words,
      exec: 3n,
      sgpr: raw(32, 0, 8),
      vgpr: { 0: (lane) => 2 + lane * 30, 1: (lane) => 8 - lane * 4 },
      regions: [region()],
    })
    expect(m.row(4).slice(0, 2)).toEqual([6, 0])
  })
  test('gfx6 drops the low bits of dword addresses', () => {
    const target: TargetName = 'gfx600'
    const m = run({ target, words: buffer('buffer_load_dword', { offset: 7 }, target), exec: 1n, sgpr: raw(1024), regions: [region()] })
    expect(m.vgpr(4, 0)).toBe(1)
  })
  test('swizzled: elements of 64 neighbours interleaved by 4 bytes, the thread as index, as compilers set scratch up', () => {
    const word3 = (1 << 19) | (3 << 21) | (1 << 23)
    const m = run({ words: buffer('buffer_load_dword', { offset: 8 }), sgpr: raw(0xffffffff, word3, 0, 1), regions: [region()] })
    expect(m.row(4)).toEqual(NUMBERS.slice(128, 192))
  })
  test('addr64 ignores range, stride and swizzle and wraps in 48 bits', () => {
    const target: TargetName = 'gfx600'
    const words = buffer('buffer_load_dword', { addr64: 1, offset: 4 }, target)
    const m = run({
      target,
      words,
      exec: 1n,
      sgpr: { 4: 0xfffffff0, 5: 0xffffffff, 6: 0, 7: 0xf000 },
      vgpr: { 0: LOW + 0x10, 1: HIGH },
      regions: [region()],
    })
    expect(m.vgpr(4, 0)).toBe(1)
  })
  test('atomics are all or nothing and return with GLC', () => {
    const words = buffer('buffer_atomic_add', { offen: 1, glc: 1 })
    const m = run({ words, exec: 3n, sgpr: raw(8), vgpr: { 0: (lane) => lane * 8, 4: 10 }, regions: [region([1, 2, 3])] })
    expect([...m.memory()]).toEqual([11, 2, 3])
    expect(m.row(4).slice(0, 3)).toEqual([1, 0, 10])
  })
  test('the LDS bit sends dwords to M0 plus offset plus four bytes a lane', () => {
    const words = buffer('buffer_load_dword', { offen: 1, offset: 4, lds: 1 })
    const m = run({
      words,
      exec: 6n,
      m0: 8,
      sgpr: raw(1024),
      vgpr: { 0: (lane) => lane * 16, 4: 1 },
      regions: [region()],
      lds: bytesOf(new Array(16).fill(7)),
    })
    expect([...m.ldsWords().slice(3, 7)]).toEqual([7, 5, 9, 7])
    expect(m.vgpr(4, 1)).toBe(1)
  })
  test('bytes and halves', () => {
    const read = (name: string) => run({ words: buffer(name), exec: 1n, sgpr: raw(4), regions: [region([0x0000ff80])] }).vgpr(4, 0)
    expect(['buffer_load_ubyte', 'buffer_load_sbyte', 'buffer_load_ushort', 'buffer_load_sshort'].map(read)).toEqual([
      0x80, 0xffffff80, 0xff80, 0xffffff80,
    ])
  })

  describe('formats', () => {
    const UNORM8X4 = (10 << 15) | (0 << 12)
    const IDENTITY = 4 | (5 << 3) | (6 << 6) | (7 << 9)
    const load = (word3: number, words: number[], name = 'buffer_load_format_xyzw', records = 1024) => {
      const m = run({ words: buffer(name), exec: 1n, sgpr: raw(records, word3), regions: [region(words)] })
      return [4, 5, 6, 7].map((r) => m.vgpr(r, 0))
    }
    test('unorm 8_8_8_8', () => {
      expect(load(UNORM8X4 | IDENTITY, [0xff003380])).toEqual([0x3f008081, 0x3e4ccccd, 0, 0x3f800000])
    })
    test('the selection moves components and gives 0 and 1', () => {
      expect(load(UNORM8X4 | 7 | (1 << 3) | (0 << 6) | (4 << 9), [0xff000000])).toEqual([0x3f800000, 0x3f800000, 0, 0])
    })
    test('components that the format lacks are 0, 0 and 1', () => {
      expect(load((4 << 15) | (4 << 12) | IDENTITY, [0x1234])).toEqual([0x1234, 0, 0, 1])
    })
    test('2_10_10_10 has x lowest; snorm has two codes for -1', () => {
      expect(load((9 << 15) | (1 << 12) | IDENTITY, [0x200 | (0x201 << 10) | (0x1ff << 20) | (1 << 30)])).toEqual([
        0xbf800000, 0xbf800000, 0x3f800000, 0x3f800000,
      ])
    })
    test('f16 components become f32', () => {
      expect(load((5 << 15) | (7 << 12) | IDENTITY, [0xc0003c00]).slice(0, 2)).toEqual([0x3f800000, 0xc0000000])
    })
    test('an element partly out of range is out of range', () => {
      expect(load((11 << 15) | (4 << 12) | IDENTITY, [1, 2], 'buffer_load_format_xy', 4).slice(0, 2)).toEqual([0, 0])
    })
    test('stores round to nearest and saturate', () => {
      const words = buffer('buffer_store_format_xyzw')
      const m = run({
        words,
        exec: 1n,
        sgpr: raw(1024, UNORM8X4 | IDENTITY),
        vgpr: { 4: 0x3f000000, 5: 0x40000000, 6: 0xbf800000, 7: 0x7fc00000 },
        regions: [region([0])],
      })
      expect(m.memory()[0]).toBe(0x0000ff80)
    })
    test('tbuffer takes its format from the instruction', () => {
      const words = op('tbuffer_load_format_xy', 'mtbuf', { vaddr: 0, vdata: 4, srsrc: 1, soffset: int(0), dfmt: 5, nfmt: 5 })
      const m = run({ words, exec: 1n, sgpr: raw(1024), regions: [region([0x8000fffe])] })
      expect([m.vgpr(4, 0), m.vgpr(5, 0)]).toEqual([0xfffffffe, 0xffff8000])
    })
  })
})
