/** f32 kernels at the edges; expected values worked out by hand from the manuals and docs of the ISA. */
import { describe, expect, test } from 'vitest'
import { compileKernels } from './compile.ts'

const kernels = await compileKernels(['vop1', 'vop2', 'vop3', 'vopc'])

const QNAN = 0x7fc00001,
  SNAN = 0x7f800001,
  QUIETED = 0x7fc00001,
  INF = 0x7f800000,
  NINF = 0xff800000,
  NZERO = 0x80000000
const IEEE = 0x200
const view = new DataView(new ArrayBuffer(4))
const f = (x: number): number => {
  view.setFloat32(0, x)
  return view.getUint32(0)
}
const hex = (x: number) => (x >>> 0).toString(16).padStart(8, '0')
const run = (name: string, sources: readonly number[], mode = 0) => {
  kernels.setMode(mode)
  return hex(
    Number(
      kernels.run(
        name,
        32,
        sources.map((s) => [BigInt(s >>> 0)]),
      )[0],
    ),
  )
}

type Row = readonly [name: string, sources: readonly number[], result: number, mode?: number]
const ROWS: readonly Row[] = [
  ['v_min_f32', [0, NZERO], NZERO],
  ['v_min_f32', [NZERO, 0], NZERO],
  ['v_max_f32', [0, NZERO], 0],
  ['v_max_f32', [NZERO, 0], 0],
  ['v_min_f32', [f(2), f(-3)], f(-3)],
  ['v_max_f32', [f(2), f(-3)], f(2)],
  ['v_min_f32', [1, 2], 1],
  ['v_max_f32', [NINF, f(1)], f(1)],
  ['v_min_f32', [QNAN, f(1)], f(1)],
  ['v_min_f32', [f(1), QNAN], f(1)],
  ['v_max_f32', [QNAN, f(1)], f(1)],
  ['v_max_f32', [f(1), QNAN], f(1)],
  ['v_min_f32', [SNAN, f(1)], f(1)],
  ['v_max_f32', [f(1), SNAN], f(1)],
  ['v_min_f32', [SNAN, f(1)], QUIETED, IEEE],
  ['v_max_f32', [f(1), SNAN], QUIETED, IEEE],
  ['v_min_f32', [QNAN, f(1)], f(1), IEEE],
  ['v_max_f32', [0xffc00002, 0x7fc00003], 0xffc00002],
  ['v_min3_f32', [f(3), NZERO, 0], NZERO],
  ['v_max3_f32', [f(-3), NZERO, 0], 0],
  ['v_min3_f32', [QNAN, f(3), f(2)], f(2)],
  ['v_max3_f32', [f(3), QNAN, f(4)], f(4)],
  ['v_med3_f32', [f(1), f(3), f(2)], f(2)],
  ['v_med3_f32', [f(3), f(3), f(2)], f(3)],
  ['v_med3_f32', [INF, f(3), NINF], f(3)],
  ['v_med3_f32', [QNAN, f(3), f(2)], f(2)],
  ['v_med3_f32', [f(5), f(7), QNAN], f(5)],
  ['v_min_legacy_f32', [QNAN, f(1)], f(1)],
  ['v_min_legacy_f32', [f(1), QNAN], QNAN],
  ['v_max_legacy_f32', [f(1), QNAN], QNAN],
  ['v_max_legacy_f32', [f(2), f(1)], f(2)],

  ['v_mul_legacy_f32', [0, INF], 0],
  ['v_mul_legacy_f32', [f(-1), 0], 0],
  ['v_mul_legacy_f32', [QNAN, NZERO], 0],
  ['v_mul_legacy_f32', [f(-2), f(3)], f(-6)],
  // 2^-100 × 2^-27 is a denormal: the product is flushed before 2^-126 is added
  ['v_mad_f32', [f(2 ** -100), f(2 ** -27), f(2 ** -126)], f(2 ** -126)],
  ['v_fma_f32', [f(2 ** -100), f(2 ** -27), f(2 ** -126)], f(1.5 * 2 ** -126)],
  // (1 + 2^-23)² - 1 - 2^-22 is 2^-46; rounding the product first loses it
  ['v_fma_f32', [0x3f800001, 0x3f800001, f(-1 - 2 ** -22)], f(2 ** -46)],
  ['v_mad_f32', [0x3f800001, 0x3f800001, f(-1 - 2 ** -22)], 0],
  ['v_madmk_f32', [f(2), f(3), f(4)], f(10)],
  ['v_madak_f32', [f(2), f(3), f(4)], f(10)],

  ['v_ldexp_f32', [f(1.5), 3], f(12)],
  ['v_ldexp_f32', [f(1), -149], 1],
  ['v_ldexp_f32', [f(1), -150], 0],
  ['v_ldexp_f32', [f(1.5), -150], 1],
  ['v_ldexp_f32', [1, 149], f(1)],
  ['v_ldexp_f32', [f(-1), 0x7fffffff], NINF],
  ['v_ldexp_f32', [f(-1), -0x80000000], NZERO],

  ['v_fract_f32', [f(1.25)], f(0.25)],
  ['v_fract_f32', [f(-1.25)], f(0.75)],
  ['v_fract_f32', [f(-1e-10)], 0x3f7fffff],
  ['v_fract_f32', [NZERO], 0],
  ['v_rndne_f32', [f(2.5)], f(2)],
  ['v_rndne_f32', [f(3.5)], f(4)],
  ['v_rndne_f32', [f(-0.3)], NZERO],
  ['v_rndne_f32', [f(0.5)], 0],
  ['v_trunc_f32', [f(-0.9)], NZERO],
  ['v_ceil_f32', [f(-0.3)], NZERO],
  ['v_ceil_f32', [f(0.3)], f(1)],
  ['v_floor_f32', [f(-0.3)], f(-1)],
  ['v_frexp_exp_i32_f32', [f(1)], 1],
  ['v_frexp_exp_i32_f32', [f(0.75)], 0],
  ['v_frexp_exp_i32_f32', [1], -148],
  ['v_frexp_exp_i32_f32', [0x007fffff], -126],
  ['v_frexp_exp_i32_f32', [0], 0],
  ['v_frexp_exp_i32_f32', [INF], 0],
  ['v_frexp_exp_i32_f32', [QNAN], 0],
  ['v_frexp_mant_f32', [f(-3)], f(-0.75)],
  ['v_frexp_mant_f32', [1], f(0.5)],
  ['v_frexp_mant_f32', [0x80000003], f(-0.75)],
  ['v_frexp_mant_f32', [NZERO], NZERO],
  ['v_frexp_mant_f32', [NINF], NINF],

  ['v_cvt_i32_f32', [f(-1.9)], -1],
  ['v_cvt_i32_f32', [f(3e9)], 0x7fffffff],
  ['v_cvt_i32_f32', [QNAN], 0],
  ['v_cvt_i32_f32', [NINF], 0x80000000],
  ['v_cvt_u32_f32', [f(-1)], 0],
  ['v_cvt_u32_f32', [f(3e9)], 3e9],
  ['v_cvt_u32_f32', [INF], 0xffffffff],
  // floor(x + 1/2), exactly: adding in f32 would give 1 and 8388610
  ['v_cvt_rpi_i32_f32', [0x3effffff], 0],
  ['v_cvt_rpi_i32_f32', [f(8388609)], 8388609],
  ['v_cvt_rpi_i32_f32', [f(-2.5)], -2],
  ['v_cvt_rpi_i32_f32', [f(-1e-10)], 0],
  ['v_cvt_flr_i32_f32', [f(-0.1)], -1],
  ['v_cvt_flr_i32_f32', [f(2.9)], 2],
  ['v_cvt_off_f32_i4', [0xf8], f(-0.5)],
  ['v_cvt_off_f32_i4', [7], f(0.4375)],
  ['v_cvt_off_f32_i4', [0x1f], f(-0.0625)],
  ['v_cvt_f32_ubyte0', [0x12345680], f(128)],
  ['v_cvt_f32_ubyte3', [0xff345680], f(255)],
  ['v_cvt_f32_ubyte2', [0xff345680], f(0x34)],
  ['v_cvt_pk_u8_f32', [f(2.5), 1, 0x11223344], 0x11220244],
  ['v_cvt_pk_u8_f32', [f(300), 7, 0x11223344], 0xff223344],
  ['v_cvt_pk_u8_f32', [f(-3), 0, 0x11223344], 0x11223300],
  ['v_cvt_pknorm_i16_f32', [f(1), f(-2)], 0x80017fff],
  ['v_cvt_pknorm_u16_f32', [f(0.5), QNAN], 0x00008000],

  ['v_cubeid_f32', [f(1), f(1), f(1)], f(4)],
  ['v_cubeid_f32', [f(1), f(-1), f(0.5)], f(3)],
  ['v_cubeid_f32', [f(-1), f(0.5), 0], f(1)],
  ['v_cubeid_f32', [0, 0, NZERO], f(4)],
  ['v_cubema_f32', [f(1), f(-3), f(2)], f(-6)],
  ['v_cubesc_f32', [f(3), f(1), f(2)], f(-2)],
  ['v_cubesc_f32', [f(1), f(1), f(-3)], f(-1)],
  ['v_cubetc_f32', [f(1), f(-3), f(2)], f(-2)],
  ['v_cubetc_f32', [f(1), f(2), f(3)], f(-2)],

  // ordinary operands pass unscaled; a far larger numerator scales the denominator only
  ['v_div_scale_f32', [f(3), f(3), f(7)], f(3)],
  ['v_div_scale_f32_mask', [f(3), f(3), f(7)], 0],
  ['v_div_scale_f32', [f(2 ** -20), f(2 ** -20), f(2 ** 90)], f(2 ** 44)],
  ['v_div_scale_f32', [f(2 ** 90), f(2 ** -20), f(2 ** 90)], f(2 ** 90)],
  ['v_div_scale_f32_mask', [f(2 ** 90), f(2 ** -20), f(2 ** 90)], -1],
  ['v_div_scale_f32', [1, 1, f(1)], f(2 ** -85)],
  ['v_div_scale_f32', [f(2 ** 127), f(2 ** 127), f(1)], f(2 ** 63)],
  ['v_div_fmas_f32', [f(1), f(1), f(1), 0], f(2)],
  ['v_div_fmas_f32', [f(1), f(1), f(1), -1], f(2 ** -63)],
  ['v_div_fmas_f32', [f(1), f(3), f(2), -1], f(5 * 2 ** 64)],
  ['v_div_fixup_f32', [f(2), f(-3), f(6)], f(-2)],
  ['v_div_fixup_f32', [f(2), 0, f(-6)], NINF],
  ['v_div_fixup_f32', [f(2), INF, f(-6)], NZERO],
  ['v_div_fixup_f32', [f(2), 0, NZERO], 0x7fc00000],
  ['v_div_fixup_f32', [f(2), SNAN, f(1)], QUIETED],
  ['v_div_fixup_f32', [f(2), QNAN, 0xff800002], 0xffc00002],
]

describe('f32 kernels', () => {
  test.each(
    ROWS.map(
      ([name, sources, result, mode]) =>
        [`${name} ${sources.map(hex).join(', ')}${mode === IEEE ? ' with IEEE' : ''}`, name, sources, result, mode] as const,
    ),
  )('%s', (_title, name, sources, result, mode) => {
    expect(run(name, sources, mode)).toBe(hex(result))
  })
})

describe('compares', () => {
  const LESS = [f(1), f(2)],
    EQUAL = [0, NZERO],
    GREATER = [f(2), f(-2)],
    UNORDERED = [QNAN, f(1)]
  const TRUTH: Record<string, string> = {
    // for less, equal, greater, unordered
    f: '0000',
    lt: '1000',
    eq: '0100',
    le: '1100',
    gt: '0010',
    lg: '1010',
    ge: '0110',
    o: '1110',
    u: '0001',
    nge: '1001',
    nlg: '0101',
    ngt: '1101',
    nle: '0011',
    neq: '1011',
    nlt: '0111',
    tru: '1111',
  }
  test.each(Object.entries(TRUTH))('v_cmp_%s_f32', (relation, truth) => {
    const got = [LESS, EQUAL, GREATER, UNORDERED].map((pair) => (run(`v_cmp_${relation}_f32`, pair) === 'ffffffff' ? '1' : '0')).join('')
    expect(got).toBe(truth)
  })
  test.each(Object.entries(TRUTH))('v_cmp_%s_f16, whatever the high halves hold', (relation, truth) => {
    const pairs = [
      [0xffff3c00, 0x4000],
      [0x80000000, 0x8000],
      [0x4000, 0x7c00c000],
      [0x7c01, 0x3c00],
    ] as const
    expect(pairs.map((pair) => (run(`v_cmp_${relation}_f16`, pair) === 'ffffffff' ? '1' : '0')).join('')).toBe(truth)
  })
  test.each([
    [SNAN, 0],
    [QNAN, 1],
    [NINF, 2],
    [f(-1), 3],
    [0x807fffff, 4],
    [NZERO, 5],
    [0, 6],
    [1, 7],
    [f(1), 8],
    [INF, 9],
    [0xff800001, 0],
    [0xffffffff, 1],
  ])('v_cmp_class_f32 puts %i in class %i only', (bits, number) => {
    expect(run('v_cmp_class_f32', [bits, 1 << number])).toBe('ffffffff')
    expect(run('v_cmp_class_f32', [bits, ~(1 << number)])).toBe('00000000')
  })
  test.each([
    [0x7c01, 0],
    [0x7e00, 1],
    [0xfc00, 2],
    [0xbc00, 3],
    [0x83ff, 4],
    [0x8000, 5],
    [0, 6],
    [1, 7],
    [0x0400, 8],
    [0x7c00, 9],
  ])('v_cmp_class_f16 puts %i in class %i only', (bits, number) => {
    expect(run('v_cmp_class_f16', [bits + 0xabcd0000, 1 << number])).toBe('ffffffff')
    expect(run('v_cmp_class_f16', [bits, ~(1 << number)])).toBe('00000000')
  })
  test.each([
    [0x7ff0000000000001n, 0],
    [0x7ff8000000000000n, 1],
    [0xfff0000000000000n, 2],
    [0xbff0000000000000n, 3],
    [0x8000000000000001n, 4],
    [0x8000000000000000n, 5],
    [0n, 6],
    [0x000fffffffffffffn, 7],
    [0x0010000000000000n, 8],
    [0x7ff0000000000000n, 9],
  ] as const)('v_cmp_class_f64 puts %i in class %i only', (bits, number) => {
    expect(kernels.run('v_cmp_class_f64', 64, [[bits], [1n << BigInt(number)]])).toEqual([0xffffffffffffffffn])
    expect(kernels.run('v_cmp_class_f64', 64, [[bits], [0x3ffn ^ (1n << BigInt(number))]])).toEqual([0n])
  })
  test('integers: signed and unsigned order, 16, 32 and 64 bits', () => {
    const cases = [
      ['v_cmp_lt_i32', 0xffffffff, 0, true],
      ['v_cmp_lt_u32', 0xffffffff, 0, false],
      ['v_cmp_ge_u32', 0x80000000, 0x7fffffff, true],
      ['v_cmp_lt_i16', 0x00008000, 0xffff0000, true],
      ['v_cmp_lt_u16', 0x00008000, 0xffff0000, false],
      ['v_cmp_eq_u16', 0x12345678, 0xabcd5678, true],
      ['v_cmp_ne_i16', 0x12345678, 0xabcd5678, false],
      ['v_cmp_t_u32', 0, 1, true],
      ['v_cmp_f_u32', 0, 0, false],
    ] as const
    for (const [name, a, b, want] of cases) expect([name, run(name, [a, b]) === 'ffffffff']).toEqual([name, want])
    const wide = (name: string, a: bigint, b: bigint) => kernels.run(name, 64, [[a], [b]])[0] === 0xffffffffffffffffn
    expect(wide('v_cmp_lt_i64', 0xffffffffffffffffn, 0n)).toBe(true)
    expect(wide('v_cmp_lt_u64', 0xffffffffffffffffn, 0n)).toBe(false)
    expect(wide('v_cmp_gt_u64', 0x8000000000000000n, 0x7fffffffffffffffn)).toBe(true)
    expect(wide('v_cmp_ne_u64', 1n << 32n, 1n)).toBe(true)
  })
})
