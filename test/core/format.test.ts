import { describe, expect, test } from 'vitest'
import { FaultCode, Stop } from '../../host/engine.ts'
import { DATA_FORMATS, numberFormats } from '../../host/text/names.ts'
import { waveOf } from './wave.ts'

/** 64 bytes at 0x1_0000_1000, as a raw buffer in s[0:3]; `word3` has the formats of MUBUF. */
const buffer = (dwords: readonly number[], word3 = 0) => ({
  exec: 1n,
  sgpr: { 0: 0x1000, 1: 1, 2: 64, 3: word3 },
  regions: [{ base: 0x1_0000_1000n, bytes: new Uint8Array(Uint32Array.from({ length: 16 }, (_, i) => dwords[i] ?? 0).buffer) }],
})
const formatText = (dfmt: number, nfmt: number) => `format:[${DATA_FORMATS[dfmt]},${numberFormats('gfx8')[nfmt]}]`
const load = (dfmt: number, nfmt: number) => `tbuffer_load_format_xyzw v[0:3], off, s[0:3], 0 ${formatText(dfmt, nfmt)}`
const store = (dfmt: number, nfmt: number) => `tbuffer_store_format_xyzw v[0:3], off, s[0:3], 0 ${formatText(dfmt, nfmt)}`

describe('typed buffers', () => {
  test.each([
    ['8_8_8_8 unorm', 10, 0, [0xff8000ff], [0x3f800000, 0, 0x3f008081, 0x3f800000]], // 128/255
    ['8_8_8_8 snorm', 10, 1, [0x7f8081ff], [0xbc010204, 0xbf800000, 0xbf800000, 0x3f800000]], // -1/127, -127/127, -128 → -1
    ['8_8_8_8 uscaled', 10, 2, [0x040302ff], [0x437f0000, 0x40000000, 0x40400000, 0x40800000]],
    ['8_8 sint: missing components are 0, 0, 0, 1', 3, 5, [0xffff7f80], [0xffffff80, 0x7f, 0, 1]],
    ['16_16 float', 5, 7, [0xc0003c00], [0x3f800000, 0xc0000000, 0, 0x3f800000]],
    ['2_10_10_10 uint', 9, 4, [0xc0000000 | (5 << 20) | (6 << 10) | 7], [7, 6, 5, 3]],
    ['10_11_11 float', 6, 7, [(0x1e0 << 22) | (0x3c0 << 11) | 0x400], [0x40000000, 0x3f800000, 0x3f800000, 0x3f800000]],
    ['32_32 float', 11, 7, [0x7fa00001, 0x80000000], [0x7fa00001, 0x80000000, 0, 0x3f800000]],
  ])('%s is read', async (_, dfmt, nfmt, data, want) => {
    const w = await waveOf({ asm: load(dfmt as number, nfmt as number), ...buffer(data as number[]) })
    expect(w.run()).toBe(Stop.End)
    expect([0, 1, 2, 3].map((n) => w.v(n)[0])).toEqual(want)
  })

  test.each([
    ['8_8_8_8 unorm: nearest, clamped, NaN is 0', 10, 0, [0x3f000000, 0x40000000, 0xbf800000, 0x7fc00000], 0x0000ff80],
    ['16_16 snorm', 5, 1, [0x3f800000, 0xbf800000, 0, 0], 0x80017fff],
    ['8_8_8_8 sint saturates', 10, 5, [200, 0xffffff00, 5, 0xffffffff], 0xff05807f],
    ['16_16 float', 5, 7, [0x3f800000, 0xc0000000, 0, 0], 0xc0003c00],
    ['2_10_10_10 uint', 9, 4, [7, 6, 5, 9], 0xc0000000 + (5 << 20) + (6 << 10) + 7],
  ])('%s is written', async (_, dfmt, nfmt, values, want) => {
    const [a, b, c, d] = values as number[]
    const w = await waveOf({ asm: store(dfmt as number, nfmt as number), ...buffer([0, 0x55]), vgpr: { 0: a!, 1: b!, 2: c!, 3: d! } })
    expect(w.run()).toBe(Stop.End)
    expect([...new Uint32Array(w.memory(0).buffer)].slice(0, 2)).toEqual([want, 0x55])
  })

  test('buffer_load_format takes formats and channel select from the resource', async () => {
    // dst_sel z, 0, 1, x; nfmt uint, dfmt 8_8_8_8
    const word3 = 6 | (0 << 3) | (1 << 6) | (4 << 9) | (4 << 12) | (10 << 15)
    const w = await waveOf({ asm: 'buffer_load_format_xyzw v[0:3], off, s[0:3], 0', ...buffer([0x04030201], word3) })
    expect(w.run()).toBe(Stop.End)
    expect([0, 1, 2, 3].map((n) => w.v(n)[0])).toEqual([3, 0, 1, 1])
  })

  test('an element out of range reads as zeros, a format that does not exist is a fault', async () => {
    const w = await waveOf({
      asm: `tbuffer_load_format_xy v[0:1], off, s[0:3], 0 ${formatText(4, 4)} offset:62`,
      ...buffer([]),
      vgpr: { 0: 9, 1: 9 },
    })
    expect(w.run()).toBe(Stop.End)
    expect([w.v(0)[0], w.v(1)[0]]).toEqual([0, 0])
    const bad = await waveOf({ asm: 'buffer_load_format_x v0, off, s[0:3], 0', ...buffer([]) })
    expect(bad.run()).toBe(Stop.Fault)
    expect(bad.fault.code).toBe(FaultCode.Unsupported)
  })
})
