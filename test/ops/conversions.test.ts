import { describe, expect, test } from 'vitest'
import type { Modes } from '../../host/reference/lane.ts'
import { operation } from './support.ts'

const QUIET = 0x7fc00000
const INFINITY = 0x7f800000

describe('floats to integers truncate, saturate, and give 0 for NaN', () => {
  test.each([
    ['v_cvt_i32_f32', 0xbfffffff, 0xffffffff], // -1.99
    ['v_cvt_i32_f32', 0x4f000000, 0x7fffffff], // 2^31
    ['v_cvt_i32_f32', 0xff800000, 0x80000000],
    ['v_cvt_i32_f32', QUIET, 0],
    ['v_cvt_u32_f32', 0xbf800000, 0],
    ['v_cvt_u32_f32', 0x4f7fffff, 0xffffff00],
    ['v_cvt_u32_f32', INFINITY, 0xffffffff],
    ['v_cvt_i32_f64', 0xc1e0000000000000n, 0x80000000], // -2^31
    ['v_cvt_i32_f64', 0x41dfffffffe00000n, 0x7fffffff], // 2^31 - 0.5
    ['v_cvt_u32_f64', 0x41efffffffffffffn, 0xffffffff],
    ['v_cvt_u32_f64', 0x7ff8000000000000n, 0],
    ['v_cvt_i16_f16', 0xfc00, 0x8000],
    ['v_cvt_u16_f16', 0x7bff, 65504],
    ['v_cvt_u16_f16', 0xbc00, 0],
    ['v_cvt_rpi_i32_f32', 0x3f000000, 1], // 0.5
    ['v_cvt_rpi_i32_f32', 0xbf000000, 0],
    ['v_cvt_rpi_i32_f32', 0x3effffff, 0], // just below 0.5
    ['v_cvt_flr_i32_f32', 0xbf000000, 0xffffffff],
    ['v_cvt_flr_i32_f32', 0x3fffffff, 1],
  ])('%s(%x) is %x', (name, source, result) => expect(operation(name)(source)).toBe(result))
})

describe('integers to floats', () => {
  const round = (round32: Modes['round32']) => ({ round32, round64: round32 })
  test('v_cvt_f32_u32 rounds as MODE says', () => {
    const results = ([0, 1, 2, 3] as const).map((mode) => operation('v_cvt_f32_u32', round(mode))(0x01000001))
    expect(results).toEqual([0x4b800000, 0x4b800001, 0x4b800000, 0x4b800000])
  })
  test('v_cvt_f32_i32 rounds as MODE says', () => {
    const results = ([0, 1, 2, 3] as const).map((mode) => operation('v_cvt_f32_i32', round(mode))(0xfeffffff)) // -2^24 - 1
    expect(results).toEqual([0xcb800000, 0xcb800000, 0xcb800001, 0xcb800000])
  })
  test.each([
    ['v_cvt_f32_i32', 0x80000000, 0xcf000000],
    ['v_cvt_f64_i32', 0xffffffff, 0xbff0000000000000n],
    ['v_cvt_f64_u32', 0xffffffff, 0x41efffffffe00000n],
    ['v_cvt_f16_u16', 0xffff, 0x7c00], // 65,535 is nearer to 2^16
    ['v_cvt_f16_i16', 0x8000, 0xf800],
    ['v_cvt_f32_ubyte0', 0x040302ff, 0x437f0000],
    ['v_cvt_f32_ubyte1', 0x04030201, 0x40000000],
    ['v_cvt_f32_ubyte2', 0x04030201, 0x40400000],
    ['v_cvt_f32_ubyte3', 0x04030201, 0x40800000],
  ])('%s(%x) is %x', (name, source, result) => expect(operation(name)(source)).toBe(result))

  test('v_cvt_off_f32_i4 counts sixteenths, of four bits only', () => {
    const results = [0, 1, 7, 8, 15, 0x17].map((n) => operation('v_cvt_off_f32_i4')(n))
    expect(results).toEqual([0, 0x3d800000, 0x3ee00000, 0xbf000000, 0xbd800000, 0x3ee00000])
  })
})

describe('floats to floats', () => {
  test('v_cvt_f16_f32 rounds as MODE says for f16', () => {
    const half = 0x3f801000 // 1 + 2^-11: between 1 and the next f16
    const results = ([0, 1, 2, 3] as const).map((round64) => operation('v_cvt_f16_f32', { round64 })(half))
    expect(results).toEqual([0x3c00, 0x3c01, 0x3c00, 0x3c00])
  })
  test('v_cvt_f32_f64 rounds as MODE says for f32', () => {
    const results = ([0, 1, 2, 3] as const).map((round32) => operation('v_cvt_f32_f64', { round32 })(0xbff0000010000001n))
    expect(results).toEqual([0xbf800001, 0xbf800000, 0xbf800001, 0xbf800000])
  })
  test.each([
    ['v_cvt_f16_f32', 0x477ff000, 0x7c00], // 65,520
    ['v_cvt_f16_f32', 0x33000001, 0x0001], // above half of the least denormal
    ['v_cvt_f16_f32', 0x33000000, 0x0000],
    ['v_cvt_f32_f16', 0x0001, 0x33800000],
    ['v_cvt_f32_f16', 0xfc00, 0xff800000],
    ['v_cvt_f64_f32', 0x00000001, 0x36a0000000000000n],
    ['v_cvt_f32_f64', 0x36a0000000000000n, 0x00000001],
    ['v_cvt_f32_f64', 0x7fefffffffffffffn, INFINITY],
  ])('%s(%x) is %x', (name, source, result) => expect(operation(name)(source)).toBe(result))

  test.each([
    ['v_cvt_f32_f16', 0xfd01, 0xffe02000],
    ['v_cvt_f16_f32', 0x7f802000, 0x7e01],
    ['v_cvt_f64_f32', 0xff800001, 0xfff8000020000000n],
    ['v_cvt_f32_f64', 0x7ff0000020000000n, 0x7fc00001],
  ])('%s(%x) is %x: a NaN keeps sign and leading payload, and is quieted', (name, source, result) =>
    expect(operation(name)(source)).toBe(result),
  )
})

describe('packing', () => {
  test('v_cvt_pkrtz_f16_f32 truncates whatever MODE says', () => {
    expect(operation('v_cvt_pkrtz_f16_f32', { round64: 1, round32: 1 })(0x3f801fff, 0xc7ffffff)).toBe(0xfbff3c00)
  })
  test('v_cvt_pkrtz_f16_f32 flushes denormal results as MODE says of f16', () => {
    expect(operation('v_cvt_pkrtz_f16_f32', { flushResults64: false })(0x38000000, 0)).toBe(0x0200)
    expect(operation('v_cvt_pkrtz_f16_f32', { flushResults64: true })(0xb8000000, 0)).toBe(0x8000)
  })
  test.each([
    ['v_cvt_pk_i16_i32', [0x00012345, 0xfffeffff], 0x80007fff],
    ['v_cvt_pk_u16_u32', [0x00012345, 7], 0x0007ffff],
    ['v_cvt_pknorm_i16_f32', [0x3f800000, 0xbf800000], 0x80017fff],
    ['v_cvt_pknorm_i16_f32', [0xff800000, QUIET], 0x00008001],
    ['v_cvt_pknorm_u16_f32', [0x3f800000, 0xbf800000], 0x0000ffff],
    ['v_cvt_pknorm_u16_f32', [0x3f000000, 0], 0x00008000], // 32,767.5: to even
    ['v_cvt_pk_u8_f32', [0x437f0000, 2, 0x11223344], 0x11ff3344],
    ['v_cvt_pk_u8_f32', [0x43800000, 7, 0x11223344], 0xff223344],
    ['v_cvt_pk_u8_f32', [0xbf800000, 0, 0x11223344], 0x11223300],
    ['v_cvt_pk_u8_f32', [QUIET, 1, 0x11223344], 0x11220044],
    ['v_cvt_pkaccum_u8_f32', [0x40000000, 1, 0x11223344], 0x11220244],
  ] as const)('%s%j is %x', (name, sources, result) => expect(operation(name)(...sources)).toBe(result))

  test('v_cvt_pk_u8_f32 rounds as MODE says', () => {
    const results = ([0, 1, 2, 3] as const).map((round32) => operation('v_cvt_pk_u8_f32', { round32 })(0x40200000, 0, 0)) // 2.5
    expect(results).toEqual([2, 3, 2, 2])
  })
})
