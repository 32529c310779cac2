/** Where the engines once differed, the right value and where it is from; on both of them, from text to registers. */
import { describe, expect, test } from 'vitest'
import { runExample } from '../../host/explain/index.ts'
import { TARGETS } from '../../host/isa/targets.ts'

const { gfx803 } = TARGETS

/** Registers after an instruction: the first lanes in hexadecimal. */
async function run(engine: 'core' | 'reference', text: string, values: Readonly<Record<string, string>>, mode = 0x3f0) {
  const { after, error } = await runExample(text, values, { target: gfx803, engine, mode })
  expect(error).toBeUndefined()
  return Object.fromEntries(after.map(({ register, lanes }) => [register, lanes.map(({ hex }) => hex)]))
}

describe.each(['core', 'reference'] as const)('%s', (engine) => {
  // AMD's rocjitsu, division.h (pull request 11613 in ROCm/rocm-systems): by biased exponents; checked on gfx1100 and gfx1201.
  test.each([
    ['0 / 1: the numerator is tiny and 2^96 below', '0x00000000', '0x3f800000', '0x7fc00000', true],
    ['1 / 0: the numerator is 2^96 above', '0x3f800000', '0x00000000', '0x7fc00000', true],
    ['0 / 0: exponents are alike', '0x00000000', '0x00000000', '0x7fc00000', false],
    ['0 / 2^-127: a denormal denominator', '0x00000000', '0x00400000', '0x7fc00000', false],
    ['2^-103 / 1: exponent 24 is still tiny', '0x0c000000', '0x3f800000', '0x2c000000', true],
    ['2^-102 / 1: exponent 25 is not', '0x0c800000', '0x3f800000', '0x0c800000', false],
    ['2^-103 / 2^-40: tiny, but not far below: both are scaled', '0x0c000000', '0x2b800000', '0x2c000000', false],
    [
      '1 / 2^127: 1 / d is denormal, and the quotient: only the denominator is scaled, down',
      '0x3f800000',
      '0x7f000000',
      '0x3f800000',
      true,
    ],
    ['2 / ∞: so far below only the denominator is scaled', '0x40000000', '0x7f800000', '0x40000000', true],
  ])('v_div_scale_f32 of the numerator, %s', async (_, n, d, scaled, mask) => {
    const after = await run(engine, 'v_div_scale_f32 v5, vcc, v3, v2, v3', { v3: n, v2: d, exec: '1' })
    expect(after).toMatchObject({ v5: [scaled], vcc: [mask ? '0x0000000000000001' : '0x0000000000000000'] })
  })
  test('v_div_scale_f64 goes by the same rules', async () => {
    const after = await run(engine, 'v_div_scale_f64 v[8:9], vcc, v[4:5], v[2:3], v[4:5]', { v4: '0', v2: '1.0', exec: '1' })
    expect(after).toEqual({ 'v[8:9]': ['0x7ff8000000000000'], vcc: ['0x0000000000000001'] })
  })

  // Clamp of integers saturates from gfx8 on, each sum for itself: AMD's rocjitsu, table of vector operations; LLVM's encodings have the bit.
  test('v_qsad_pk_u16_u8 with clamp saturates each 16 bits', async () => {
    const values = { v2: '0xffffffffffffffff', v4: '0', v6: '0xffff00000001fc03' }
    expect(await run(engine, 'v_qsad_pk_u16_u8 v[8:9], v[2:3], v4, v[6:7] clamp', values)).toEqual({ 'v[8:9]': ['0xffff03fc03fdffff'] })
    expect(await run(engine, 'v_qsad_pk_u16_u8 v[8:9], v[2:3], v4, v[6:7]', values)).toEqual({ 'v[8:9]': ['0x03fb03fc03fdffff'] })
  })
  test('v_mqsad_pk_u16_u8 with clamp saturates each 16 bits, bytes of S1 that are 0 left out', async () => {
    const after = await run(engine, 'v_mqsad_pk_u16_u8 v[8:9], v[2:3], v4, v[6:7] clamp', {
      v2: '0',
      v4: '0x00ff00ff',
      v6: '0xffff0000ff000001',
    })
    expect(after).toEqual({ 'v[8:9]': ['0xffff01feffff01ff'] })
  })
  test('v_mqsad_u32_u8 with clamp saturates each 32 bits', async () => {
    const values = { v2: '0', v4: '0x000000ff', v8: '0xffffff01ffffff0000000001ffffffff' }
    expect(await run(engine, 'v_mqsad_u32_u8 v[12:15], v[2:3], v4, v[8:11] clamp', values)).toEqual({
      'v[12:15]': ['0xffffffffffffffff00000100ffffffff'],
    })
  })
  test.each([
    ['v_mad_u64_u32 v[8:9], vcc, v1, v2, v[6:7] clamp', '0xffffffff', '2', '0xffffffff00000000', '0xffffffffffffffff', 1n],
    ['v_mad_u64_u32 v[8:9], vcc, v1, v2, v[6:7]', '0xffffffff', '2', '0xffffffff00000000', '0x00000000fffffffe', 1n],
    ['v_mad_i64_i32 v[8:9], vcc, v1, v2, v[6:7] clamp', '0x7fffffff', '2', '0x7fffffffffffffff', '0x7fffffffffffffff', 0n],
    ['v_mad_i64_i32 v[8:9], vcc, v1, v2, v[6:7] clamp', '0x80000000', '2', '0x8000000000000000', '0x8000000000000000', 1n],
    ['v_mad_i64_i32 v[8:9], vcc, v1, v2, v[6:7] clamp', '3', '-2', '1', '0xfffffffffffffffb', 1n],
  ])('%s of %s, %s and %s is %s', async (text, v1, v2, v6, want, mask) => {
    const after = await run(engine, text, { v1, v2, v6, exec: '1' })
    expect(after).toMatchObject({ 'v[8:9]': [want], vcc: [`0x${mask.toString(16).padStart(16, '0')}`] })
  })

  // LLVM has DPP forms of one-operand f64 operations on gfx8; a source is both dwords of the lane that dpp_ctrl names.
  test('v_trunc_f64_dpp takes both dwords from the other lane', async () => {
    const after = await run(engine, 'v_trunc_f64_dpp v[8:9], v[2:3] row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0', {
      v2: '1.5,2.5,4294967297.75',
    })
    expect(after).toEqual({ 'v[8:9]': ['0x0000000000000000', '0x3ff0000000000000', '0x4000000000000000'] })
  })
})
