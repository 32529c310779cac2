/** Interpolation of parameters: where they lie, the f16 forms, modifiers, and MODE. Values are worked out by hand. */
import { describe, expect, test } from 'vitest'
import { encode } from '../../host/codec/encode.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assemble } from '../../host/text/assemble.ts'
import { bytesOf, run } from './machine.ts'

/** Attribute 0, channel x: P0, P10 and P20. */
type Parameters = readonly [p0: number, p10: number, p20: number]
const ldsOf = ([p0, p10, p20]: Parameters): Uint8Array => bytesOf([p0, p10, 0, 0, 0, 0, 0, 0, p20, 0, 0, 0])
const words = (...lines: string[]): number[] => lines.flatMap((line) => encode(assemble(line, TARGETS.gfx803)))

/** Round to nearest, all denormals kept, DX10_CLAMP. */
const PLAIN = 0x1f0
const FLUSH_F32 = 0x1c0
const FLUSH_F16 = 0x130
/** MODE's round modes: f32 in bits 1:0, f64 and f16 in bits 3:2. */
const rounding = (f32: number, f16: number): number => PLAIN | f32 | (f16 << 2)

/** v2 after one instruction on lane 0. */
const interpolated = (line: string, parameters: Parameters, vgpr: Readonly<Record<number, number>>, mode = PLAIN): number =>
  run({ words: words(line), exec: 1n, mode, lds: ldsOf(parameters), vgpr }).vgpr(2, 0)

test('parameters are interpolated from the LDS, by the primitive of each quad', () => {
  // Attribute 1, channel y of primitive p begins at dword 12 * (2 + p): P0 at 2, P10 at 3, P20 at 9. Quads 0 and 1 differ.
  const lds = new Array<number>(48).fill(0)
  for (const p of [0, 1]) {
    lds[12 * (2 + p) + 2] = [0x3f800000, 0x41200000][p]!
    lds[12 * (2 + p) + 3] = [0x40000000, 0x41a00000][p]!
    lds[12 * (2 + p) + 9] = [0x40400000, 0x41f00000][p]!
  }
  const program = words('v_interp_p1_f32 v2, v0, attr1.y', 'v_interp_p2_f32 v2, v1, attr1.y', 'v_interp_mov_f32 v3, p20, attr1.y')
  const m = run({ words: program, m0: 1 << 16, lds: bytesOf(lds), vgpr: { 0: 0x40000000, 1: 0x3f800000 } })
  expect([m.vgpr(2, 3), m.vgpr(2, 4)]).toEqual([0x41000000, 0x42a00000]) // 1 + 2·2 + 3·1, 10 + 20·2 + 30·1
  expect([m.vgpr(3, 3), m.vgpr(3, 4)]).toEqual([0x40400000, 0x41f00000])
})

// Low halves: P0 = 1, P10 = 2, P20 = 3; high halves 10, 20, 30.
const HALVES: Parameters = [0x49003c00, 0x4d004000, 0x4f804200]
// 2, -2, the f16 -1 and 100, the f32 5
const VGPRS = { 0: 0x40000000, 1: 0xc0000000, 3: 0x5640bc00, 4: 0x40a00000, 2: 0xffffffff }

describe('parameters of f16 lie two to a dword', () => {
  test.each([
    ['v_interp_p1ll_f16 v2, v0, attr0.x', 0x40a00000], // 2 · 2 + 1
    ['v_interp_p1ll_f16 v2, v0, attr0.x high', 0x42480000], // 20 · 2 + 10
    ['v_interp_p1lv_f16 v2, v0, attr0.x, v3', 0x40400000], // 2 · 2 - 1
    ['v_interp_p1lv_f16 v2, v0, attr0.x, v3 high', 0x430c0000], // 20 · 2 + 100
    ['v_interp_p2_f16 v2, v0, attr0.x, v4', 0x4980], // 3 · 2 + 5, the high half cleared
    ['v_interp_p2_f16 v2, v0, attr0.x, v4 high', 0x5410], // 30 · 2 + 5
  ])('%s', (line, result) => expect(interpolated(line, HALVES, VGPRS)).toBe(result))

  test('the steps together, as compilers emit them for 32 and for 16 banks of LDS', () => {
    const lds = ldsOf(HALVES)
    const long = words(
      'v_interp_mov_f32 v5, p0, attr0.x',
      'v_interp_p1lv_f16 v5, v0, attr0.x, v5 high',
      'v_interp_p2_f16 v6, v4, attr0.x, v5 high',
    )
    const short = words('v_interp_p1ll_f16 v7, v0, attr0.x high', 'v_interp_p2_f16 v7, v4, attr0.x, v7 high')
    const m = run({ words: [...long, ...short], exec: 1n, lds, vgpr: VGPRS })
    expect([m.vgpr(6, 0), m.vgpr(7, 0)]).toEqual([0x5a40, 0x5a40]) // 10 + 20 · 2 + 30 · 5
  })
})

// f32: P0 = 1, P10 = 2, P20 = 3
const WHOLES: Parameters = [0x3f800000, 0x40000000, 0x40400000]

describe('modifiers', () => {
  test.each<[string, Parameters, number]>([
    ['v_interp_p1_f32_e64 v2, -v0, attr0.x', WHOLES, 0xc0400000], // 2 · -2 + 1
    ['v_interp_p1_f32_e64 v2, |v1|, attr0.x', WHOLES, 0x40a00000],
    ['v_interp_p1_f32_e64 v2, -|v1|, attr0.x', WHOLES, 0xc0400000],
    ['v_interp_p1_f32_e64 v2, v0, attr0.x clamp', WHOLES, 0x3f800000],
    ['v_interp_p1_f32_e64 v2, v1, attr0.x clamp', WHOLES, 0],
    ['v_interp_p1ll_f16 v2, -v0, attr0.x', HALVES, 0xc0400000],
    ['v_interp_p1ll_f16 v2, |v1|, attr0.x high', HALVES, 0x42480000],
    ['v_interp_p1ll_f16 v2, v0, attr0.x clamp', HALVES, 0x3f800000],
    ['v_interp_p1lv_f16 v2, v0, attr0.x, -v3', HALVES, 0x40a00000], // 4 + 1
    ['v_interp_p1lv_f16 v2, v0, attr0.x, |v3|', HALVES, 0x40a00000],
    ['v_interp_p1lv_f16 v2, v0, attr0.x, -v3 high', HALVES, 0xc2700000], // 40 - 100
    ['v_interp_p1lv_f16 v2, -v0, attr0.x, -|v3|', HALVES, 0xc0a00000], // -4 - 1
    ['v_interp_p2_f16 v2, -v0, attr0.x, v4', HALVES, 0xbc00], // -6 + 5
    ['v_interp_p2_f16 v2, v0, attr0.x, -v4', HALVES, 0x3c00],
    ['v_interp_p2_f16 v2, v0, attr0.x, v4 clamp', HALVES, 0x3c00],
    ['v_interp_p2_f16 v2, -|v0|, attr0.x, |v4| clamp', HALVES, 0],
    ['v_interp_mov_f32_e64 v2, p10, attr0.x clamp', WHOLES, 0x3f800000],
  ])('%s', (line, parameters, result) => expect(interpolated(line, parameters, VGPRS)).toBe(result))

  // omod acts where results of its type are flushed, and else does nothing.
  test.each<[string, Parameters, number, number, number]>([
    ['v_interp_p1_f32_e64 v2, v0, attr0.x mul:2', WHOLES, FLUSH_F32, 0x41200000, 0x40a00000],
    ['v_interp_mov_f32_e64 v2, p20, attr0.x mul:4', WHOLES, FLUSH_F32, 0x41400000, 0x40400000],
    ['v_interp_mov_f32_e64 v2, p0, attr0.x div:2', WHOLES, FLUSH_F32, 0x3f000000, 0x3f800000],
    ['v_interp_p1ll_f16 v2, v0, attr0.x mul:4', HALVES, FLUSH_F32, 0x41a00000, 0x40a00000],
    ['v_interp_p1lv_f16 v2, v0, attr0.x, v3 div:2', HALVES, FLUSH_F32, 0x3fc00000, 0x40400000],
    ['v_interp_p2_f16 v2, v0, attr0.x, v4 mul:2', HALVES, FLUSH_F16, 0x4d80, 0x4980],
  ])('%s', (line, parameters, mode, modified, plain) => {
    expect(interpolated(line, parameters, VGPRS, mode)).toBe(modified)
    expect([PLAIN, mode | 0x200].map((other) => interpolated(line, parameters, VGPRS, other))).toEqual([plain, plain])
  })
})

describe('MODE', () => {
  test('v_interp_p1ll_f16 rounds the product, then the sum', () => {
    // (1 + 2^-10)(1 + 2^-23) loses its 2^-33 before -(1 + 2^-10) is added.
    expect(interpolated('v_interp_p1ll_f16 v2, v0, attr0.x', [0xbc01, 0x3c01, 0], { 0: 0x3f800001 })).toBe(0x34000000)
  })

  test.each([
    [0, 0, 0x3f800002],
    [3, 0, 0x3f800002],
    [0, 1, 0x3f800002],
    [0, 2, 0x3f800001],
    [0, 3, 0x3f800001],
  ])('f32 round mode %i, f16 round mode %i: v_interp_p1ll_f16 and p1lv round by the latter', (f32, f16, result) => {
    // 1 + 2^-23, and 2^-24, the least f16: half a unit of the last place, which is odd
    const vgpr = { 0: 0x3f800001, 3: 0x0001 }
    const got = ['v_interp_p1ll_f16 v2, v0, attr0.x', 'v_interp_p1lv_f16 v2, v0, attr0.x, v3'].map((line) =>
      interpolated(line, [0x0001, 0x3c00, 0], vgpr, rounding(f32, f16)),
    )
    expect(got).toEqual([result, result])
  })

  test.each([
    [0, 0, 0x3c00], // 1 + 2^-11 + 2^-40 is 1 + 2^-11 as f32, a tie for f16
    [0, 1, 0x3c01],
    [0, 2, 0x3c00],
    [0, 3, 0x3c00],
    [1, 3, 0x3c00],
  ])('f32 round mode %i, f16 round mode %i: v_interp_p2_f16 rounds its sum to f32, then to f16', (f32, f16, result) => {
    const vgpr = { 0: 0x2b800000, 4: 0x3f801000 }
    expect(interpolated('v_interp_p2_f16 v2, v0, attr0.x, v4', [0, 0, 0x3c00], vgpr, rounding(f32, f16))).toBe(result)
  })

  test('v_interp_p2_f16 overflows as its round mode says', () => {
    const vgpr = { 0: 0, 4: 0x477ff000 } // 65,520
    const got = [0, 1, 2, 3].map((f16) => interpolated('v_interp_p2_f16 v2, v0, attr0.x, v4', [0, 0, 0], vgpr, rounding(0, f16)))
    expect(got).toEqual([0x7c00, 0x7c00, 0x7bff, 0x7bff])
  })

  test('f16 parameters and results are flushed where MODE flushes f16, f32 always', () => {
    const p1 = 'v_interp_p1ll_f16 v2, v0, attr0.x'
    const least: Parameters = [0x0001, 0, 0]
    expect([PLAIN, FLUSH_F32, FLUSH_F16].map((mode) => interpolated(p1, least, { 0: 0 }, mode))).toEqual([0x33800000, 0x33800000, 0])
    const p2 = 'v_interp_p2_f16 v2, v0, attr0.x, v4'
    const sums = [PLAIN, FLUSH_F32, FLUSH_F16].map((mode) => interpolated(p2, [0, 0, 0], { 0: 0, 4: 0xb3800000 }, mode))
    expect(sums).toEqual([0x8001, 0x8001, 0x8000])
    expect(interpolated(p2, [0, 0, 0], { 0: 0, 4: 0x00000001 }, rounding(0, 1))).toBe(0)
  })

  test('a NaN is made quiet and keeps the leading bits of its payload', () => {
    expect(interpolated('v_interp_p1ll_f16 v2, v0, attr0.x', [0, 0x7d01, 0], { 0: 0x3f800000 })).toBe(0x7fe02000)
    expect(interpolated('v_interp_p2_f16 v2, v0, attr0.x, v4', [0, 0, 0], { 0: 0, 4: 0x7f812345 })).toBe(0x7e09)
  })
})
