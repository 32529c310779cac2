import { describe, expect, test } from 'vitest'
import { operation } from './support.ts'

const ONE = 0x3f800000
const TWO = 0x40000000
const MINUS_ZERO = 0x80000000
const INFINITY = 0x7f800000
const QUIET = 0x7fc00000
const SIGNALLING = 0x7f800001

describe('minimum and maximum', () => {
  test('-0 is less than +0', () => {
    expect(operation('v_min_f32')(0, MINUS_ZERO)).toBe(MINUS_ZERO)
    expect(operation('v_min_f32')(MINUS_ZERO, 0)).toBe(MINUS_ZERO)
    expect(operation('v_max_f32')(0, MINUS_ZERO)).toBe(0)
    expect(operation('v_max_f64')(0x8000000000000000n, 0n)).toBe(0n)
    expect(operation('v_min_f16')(0, 0x8000)).toBe(0x8000)
  })
  test('one NaN gives the number, two a quiet NaN', () => {
    expect(operation('v_min_f32')(QUIET, ONE)).toBe(ONE)
    expect(operation('v_max_f32')(ONE, SIGNALLING)).toBe(ONE)
    expect(operation('v_max_f32')(SIGNALLING, QUIET)).toBe(0x7fc00001)
  })
  test('with IEEE set a signalling NaN is the result, quieted', () => {
    expect(operation('v_min_f32', { ieee: true })(ONE, SIGNALLING)).toBe(0x7fc00001)
    expect(operation('v_max_f64', { ieee: true })(0x7ff0000000000001n, 0n)).toBe(0x7ff8000000000001n)
    expect(operation('v_min_f32', { ieee: true })(ONE, QUIET)).toBe(ONE)
  })
  test('the legacy ones take the second source where either is NaN', () => {
    expect(operation('v_min_legacy_f32')(QUIET, ONE)).toBe(ONE)
    expect(operation('v_min_legacy_f32')(ONE, QUIET)).toBe(QUIET)
    expect(operation('v_max_legacy_f32')(ONE, QUIET)).toBe(QUIET)
    expect(operation('v_max_legacy_f32')(TWO, ONE)).toBe(TWO)
  })
  test('v_med3_f32 is the middle one, and v_min3_f32 with a NaN', () => {
    expect(operation('v_med3_f32')(TWO, 0x40400000, ONE)).toBe(TWO)
    expect(operation('v_med3_f32')(TWO, TWO, ONE)).toBe(TWO)
    expect(operation('v_med3_f32')(QUIET, TWO, ONE)).toBe(ONE)
    expect(operation('v_max3_f32')(QUIET, TWO, ONE)).toBe(TWO)
    expect(operation('v_min3_f32')(QUIET, QUIET, QUIET)).toBe(QUIET)
  })
})

describe('multiply and add', () => {
  test('v_mad_f32 rounds the product, v_fma_f32 does not', () => {
    const x = 0x3f800001 // 1 + 2^-23: its square is 1 + 2^-22 + 2^-46
    expect(operation('v_mad_f32')(x, x, 0xbf800002)).toBe(0)
    expect(operation('v_fma_f32')(x, x, 0xbf800002)).toBe(0x28800000) // 2^-46
  })
  test('v_mac_f32 flushes a denormal product whatever MODE says', () => {
    const all = { flushSources32: false, flushResults32: false }
    const tiny = 0x20000000 // 2^-63, its square 2^-126 is normal, half of that is not
    expect(operation('v_mac_f32', all)(tiny, 0x1f800000, 0x00800000)).toBe(0x00800000)
    expect(operation('v_fma_f32', all)(tiny, 0x1f800000, 0x00800000)).toBe(0x00c00000)
  })
  test('legacy: zero times anything is +0', () => {
    expect(operation('v_mul_legacy_f32')(MINUS_ZERO, ONE)).toBe(0)
    expect(operation('v_mul_legacy_f32')(INFINITY, 0)).toBe(0)
    expect(operation('v_mul_legacy_f32')(0, QUIET)).toBe(0)
    expect(operation('v_mac_legacy_f32')(QUIET, 0, ONE)).toBe(ONE)
    expect(operation('v_mad_legacy_f32')(TWO, TWO, ONE)).toBe(0x40a00000)
  })
  test('v_subrev_f32 subtracts the first from the second, and NaN keeps its sign', () => {
    expect(operation('v_subrev_f32')(ONE, TWO)).toBe(ONE)
    expect(operation('v_sub_f32')(ONE, QUIET)).toBe(QUIET)
  })
  test('v_madmk_f32 multiplies by the constant, v_madak_f32 adds it', () => {
    expect(operation('v_madmk_f32')(TWO, 0x40400000, ONE)).toBe(0x40e00000) // 2 * 3 + 1
    expect(operation('v_madak_f32')(TWO, ONE, 0x40400000)).toBe(0x40a00000) // 2 * 1 + 3
  })
})

describe('rounding to integers', () => {
  test.each([
    ['v_trunc_f32', 0xbe99999a, MINUS_ZERO], // -0.3
    ['v_ceil_f32', 0xbe99999a, MINUS_ZERO],
    ['v_rndne_f32', 0xbe99999a, MINUS_ZERO],
    ['v_floor_f32', 0xbe99999a, 0xbf800000],
    ['v_rndne_f32', 0x3f000000, 0], // 0.5
    ['v_rndne_f32', 0x3fc00000, TWO], // 1.5
    ['v_rndne_f32', 0x40200000, TWO], // 2.5
    ['v_rndne_f32', 0xc0200000, 0xc0000000],
    ['v_ceil_f32', 0x3f800001, TWO],
    ['v_floor_f32', 0xff800000, 0xff800000],
    ['v_trunc_f32', SIGNALLING, 0x7fc00001],
    ['v_rndne_f64', 0x4330000000000001n, 0x4330000000000001n], // 2^52 + 1
    ['v_trunc_f64', 0xbfefffffffffffffn, 0x8000000000000000n],
    ['v_ceil_f16', 0x0001, 0x3c00],
  ])('%s(%x) is %x', (name, source, result) => expect(operation(name)(source)).toBe(result))

  test.each([
    ['v_fract_f32', 0xbf400000, 0x3e800000], // -0.75: 0.25
    ['v_fract_f32', 0xb3000000, 0x3f7fffff], // -2^-25: not 1
    ['v_fract_f32', 0x40400000, 0], // 3
    ['v_fract_f32', INFINITY, QUIET],
    ['v_fract_f64', 0xbc00000000000000n, 0x3fefffffffffffffn],
    ['v_fract_f16', 0x8001, 0x3bff],
  ])('%s(%x) is %x, never 1', (name, source, result) => expect(operation(name)(source)).toBe(result))
})

describe('exponent and significand', () => {
  test.each([
    ['v_frexp_exp_i32_f32', 0x41000000, 4], // 8 = 0.5 * 2^4
    ['v_frexp_exp_i32_f32', ONE, 1],
    ['v_frexp_exp_i32_f32', 0, 0],
    ['v_frexp_exp_i32_f32', 0x00000001, 0xffffff6c], // 2^-149: -148
    ['v_frexp_exp_i32_f64', 0x0000000000000001n, 0xfffffbcf], // 2^-1074: -1073
    ['v_frexp_exp_i32_f64', 0x7ff0000000000000n, 0],
    ['v_frexp_exp_i16_f16', 0x0001, 0xffe9], // 2^-24: -23
    ['v_frexp_mant_f32', 0xc1200000, 0xbf200000], // -10: -0.625
    ['v_frexp_mant_f32', 0x00000003, 0x3f400000],
    ['v_frexp_mant_f32', INFINITY, INFINITY],
    ['v_frexp_mant_f64', 0x4020000000000000n, 0x3fe0000000000000n],
    ['v_frexp_mant_f64', 0x0000000000000003n, 0x3fe8000000000000n],
    ['v_frexp_mant_f16', 0x8000, 0x8000],
  ])('%s(%x) is %x', (name, source, result) => expect(operation(name)(source)).toBe(result))

  test.each([
    ['v_ldexp_f32', ONE, 3, 0x41000000],
    ['v_ldexp_f32', ONE, 128, INFINITY],
    ['v_ldexp_f32', 0x3fc00000, 0xffffff6a, 0x00000001], // 1.5 * 2^-150: a tie's upper half
    ['v_ldexp_f32', ONE, 0xffffff6a, 0], // 2^-150: a tie, to even
    ['v_ldexp_f32', 0x00000001, 0x7fffffff, INFINITY],
    ['v_ldexp_f32', 0xbf800000, 0x80000000, MINUS_ZERO],
    ['v_ldexp_f64', 0x3ff0000000000000n, 0xfffffbce, 0x0000000000000001n],
    ['v_ldexp_f16', 0x3c00, 0xffff, 0x3800],
    ['v_ldexp_f16', 0x3c00, 0x7fff, 0x7c00],
  ])('%s(%x, %x) is %x', (name, source, exponent, result) => expect(operation(name)(source, exponent)).toBe(result))
})

describe('cube maps', () => {
  // face, s, t and twice the major axis of directions: the table of the manuals
  test.each([
    ['+x', [4, 2, 1], [0, -1, -2, 8]],
    ['-x', [-4, 2, 1], [1, 1, -2, -8]],
    ['+y', [1, 4, 2], [2, 1, 2, 8]],
    ['-y', [1, -4, 2], [3, 1, -2, -8]],
    ['+z', [1, 2, 4], [4, 1, -2, 8]],
    ['-z', [1, 2, -4], [5, -1, -2, -8]],
    ['z before y before x', [1, 1, 1], [4, 1, -1, 2]],
    ['y before x', [1, -1, 0], [3, 1, -0, -2]],
  ] as const)('%s', (_, direction, [face, s, t, ma]) => {
    const sources = direction.map(word)
    expect(operation('v_cubeid_f32')(...sources)).toBe(word(face))
    expect(operation('v_cubesc_f32')(...sources)).toBe(word(s))
    expect(operation('v_cubetc_f32')(...sources)).toBe(word(t))
    expect(operation('v_cubema_f32')(...sources)).toBe(word(ma))
  })
  const word = (value: number) => {
    const view = new DataView(new ArrayBuffer(4))
    view.setFloat32(0, value)
    return view.getUint32(0)
  }
})

describe('division', () => {
  test('v_div_scale_f32 scales a denominator far below the numerator', () => {
    expect(operation('v_div_scale_f32')(ONE, ONE, 0x7f7fffff)).toEqual([0x5f800000, true])
    expect(operation('v_div_scale_f32')(0x7f7fffff, ONE, 0x7f7fffff)).toEqual([0x7f7fffff, true])
  })
  test('v_div_scale_f32 leaves ordinary numbers alone', () => {
    expect(operation('v_div_scale_f32')(TWO, 0x40800000, TWO)).toEqual([TWO, false])
  })
  test('v_div_scale_f32 leaves a numerator alone whose quotient is denormal and whose denominator is scaled down', () => {
    expect(operation('v_div_scale_f32')(ONE, 0x7f000000, ONE)).toEqual([ONE, true])
  })
  test('v_div_scale_f32 scales a tiny numerator', () => {
    expect(operation('v_div_scale_f32')(0x00800000, ONE, 0x00800000)).toEqual([0x20800000, true])
  })
  test('v_div_fmas_f32 scales by 2^±64 where the mask says so, by the size of the addend', () => {
    expect(operation('v_div_fmas_f32')(ONE, ONE, ONE, true)).toBe(0x20000000)
    expect(operation('v_div_fmas_f32')(ONE, ONE, ONE, false)).toBe(TWO)
    expect(operation('v_div_fmas_f32')(ONE, ONE, TWO, true)).toBe(0x60400000)
    expect(operation('v_div_fmas_f64')(0x3ff0000000000000n, 0x3ff0000000000000n, 0x4000000000000000n, true)).toBe(0x4808000000000000n)
  })
  test.each([
    ['0 / 0', [QUIET, 0, 0], QUIET],
    ['1 / 0', [QUIET, 0, ONE], INFINITY],
    ['-1 / 0', [QUIET, 0, 0xbf800000], 0xff800000],
    ['1 / -∞', [0, 0xff800000, ONE], MINUS_ZERO],
    ['∞ / ∞', [QUIET, INFINITY, INFINITY], QUIET],
    ['0 / -2', [0, 0xc0000000, 0], MINUS_ZERO],
    ['NaN / 2', [0, TWO, 0x7f812345], 0x7fc12345],
    ['2 / -1, estimated as NaN', [QUIET, 0xbf800000, TWO], 0xff800000],
    ['2 / 1', [TWO, ONE, TWO], TWO],
  ] as const)('v_div_fixup_f32 mends %s', (_, sources, result) => expect(operation('v_div_fixup_f32')(...sources)).toBe(result))

  test('v_trig_preop_f64 gives segments of 2/π that add up to it', () => {
    const one = 0x3ff0000000000000n
    const preop = operation('v_trig_preop_f64')
    expect(preop(one, 0)).toBe(0x3fe45f306dc9c882n) // 2/π cut off after 53 bits
    const value = (word: bigint) => new Float64Array(new BigUint64Array([word]).buffer)[0]!
    expect(value(preop(one, 0) as bigint) + (value(preop(one, 1) as bigint) + value(preop(one, 2) as bigint))).toBe(2 / Math.PI)
  })
})
