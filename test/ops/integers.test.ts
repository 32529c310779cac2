import { describe, expect, test } from 'vitest'
import { operation } from './support.ts'

const clamped = { clamp: true }

describe('carries', () => {
  test.each([
    ['v_add_co_u32', [0xffffffff, 1], [0, true]],
    ['v_add_co_u32', [0x7fffffff, 1], [0x80000000, false]],
    ['v_sub_co_u32', [0, 1], [0xffffffff, true]],
    ['v_subrev_co_u32', [1, 0], [0xffffffff, true]],
    ['v_addc_co_u32', [0xffffffff, 0xffffffff, true], [0xffffffff, true]],
    ['v_addc_co_u32', [0xffffffff, 0, true], [0, true]],
    ['v_subb_co_u32', [5, 5, true], [0xffffffff, true]],
    ['v_subb_co_u32', [0, 0xffffffff, true], [0, true]],
    ['v_subbrev_co_u32', [3, 5, true], [1, false]],
  ] as const)('%s%j is %j', (name, sources, result) => expect(operation(name)(...sources)).toEqual(result))

  test.each([
    ['v_add_co_u32', [0xffffffff, 2], [0xffffffff, true]],
    ['v_sub_co_u32', [1, 2], [0, true]],
    ['v_subrev_co_u32', [2, 1], [0, true]],
  ] as const)('%s%j clamp is %j: saturated, the carry told', (name, sources, result) =>
    expect(operation(name, clamped)(...sources)).toEqual(result),
  )
  test('gfx7 has no integer clamp', () => {
    expect(operation('v_mad_u32_u24', { clamp: true, generation: 'gfx7' })(0xffffff, 0xffffff, 0)).toBe(0xfe000001)
  })
})

test.each([
  ['v_add_u16', [0xffff, 2], 1],
  ['v_sub_u16', [1, 2], 0xffff],
  ['v_subrev_u16', [2, 1], 0xffff],
  ['v_mul_lo_u16', [0x1234, 0x100], 0x3400],
  ['v_mad_u16', [0x100, 0x100, 7], 7],
  ['v_mad_i16', [0xffff, 2, 1], 0xffff],
  ['v_min_i16', [0x8000, 1], 0x8000],
  ['v_max_u16', [0x8000, 1], 0x8000],
  ['v_lshlrev_b16', [17, 1], 2],
  ['v_lshrrev_b16', [15, 0x8000], 1],
  ['v_ashrrev_i16', [15, 0x8000], 0xffff],
] as const)('%s%j is %i', (name, sources, result) => expect(operation(name)(...sources)).toBe(result))

test.each([
  ['v_add_u16', [0xffff, 2], 0xffff],
  ['v_sub_u16', [1, 2], 0],
  ['v_mad_u16', [0x100, 0x100, 7], 0xffff],
  ['v_mad_i16', [0x4000, 0xfffc, 0], 0x8000],
  ['v_mad_i32_i24', [0x7fffff, 0x7fffff, 0], 0x7fffffff],
  ['v_mad_i32_i24', [0x800000, 0x7fffff, 0], 0x80000000],
  ['v_sad_u8', [0xffffffff, 0, 0xffffff00], 0xffffffff],
] as const)('%s%j clamp is %i', (name, sources, result) => expect(operation(name, clamped)(...sources)).toBe(result))

test.each([
  ['v_mul_u32_u24', [0xff000003, 5], 15],
  ['v_mul_i32_i24', [0x00ffffff, 5], 0xfffffffb],
  ['v_mul_hi_u32_u24', [0xffffff, 0xffffff], 0xffff],
  ['v_mul_hi_i32_i24', [0x800000, 2], 0xffffffff],
  ['v_mul_lo_u32', [0xffffffff, 0xffffffff], 1],
  ['v_mul_hi_u32', [0xffffffff, 0xffffffff], 0xfffffffe],
  ['v_mul_hi_i32', [0xffffffff, 0xffffffff], 0],
  ['v_mul_hi_i32', [0x80000000, 2], 0xffffffff],
  ['v_mad_u32_u24', [2, 3, 0xffffffff], 5],
] as const)('%s%j is %i', (name, sources, result) => expect(operation(name)(...sources)).toBe(result))

test('v_mad_u64_u32 has a carry above 64 bits', () => {
  expect(operation('v_mad_u64_u32')(0xffffffff, 0xffffffff, 0x1ffffffffn)).toEqual([0n, true])
  expect(operation('v_mad_u64_u32')(3, 4, 5n)).toEqual([17n, false])
})
test('v_mad_i64_i32 multiplies signed', () => {
  expect(operation('v_mad_i64_i32')(0xffffffff, 2, 1n)).toEqual([0xffffffffffffffffn, true])
})

describe('shifts take counts modulo the width', () => {
  test.each([
    ['v_lshlrev_b32', [33, 1], 2],
    ['v_lshrrev_b32', [32, 0x80000000], 0x80000000],
    ['v_ashrrev_i32', [31, 0x80000000], 0xffffffff],
    ['v_lshl_b32', [1, 4], 16],
    ['v_lshr_b32', [0x80000000, 31], 1],
    ['v_ashr_i32', [0xfffffff0, 4], 0xffffffff],
    ['v_lshl_b64', [1n, 63], 0x8000000000000000n],
    ['v_lshlrev_b64', [65, 1n], 2n],
    ['v_lshr_b64', [0x8000000000000000n, 63], 1n],
    ['v_lshrrev_b64', [64, 5n], 5n],
    ['v_ashr_i64', [0x8000000000000000n, 63], 0xffffffffffffffffn],
    ['v_ashrrev_i64', [4, 0xfffffffffffffff0n], 0xffffffffffffffffn],
  ] as const)('%s', (name, sources, result) => expect(operation(name)(...sources)).toBe(result))
})

describe('bits', () => {
  test.each([
    ['v_not_b32', [0x0f0f0f0f], 0xf0f0f0f0],
    ['v_bfrev_b32', [0x00000001], 0x80000000],
    ['v_ffbh_u32', [0x00010000], 15],
    ['v_ffbh_u32', [0], 0xffffffff],
    ['v_ffbl_b32', [0x00010000], 16],
    ['v_ffbl_b32', [0], 0xffffffff],
    ['v_ffbh_i32', [0xffffffff], 0xffffffff],
    ['v_ffbh_i32', [0], 0xffffffff],
    ['v_ffbh_i32', [0xfffffffe], 31],
    ['v_ffbh_i32', [0x40000000], 1],
    ['v_bcnt_u32_b32', [0xffffffff, 0xffffffff], 31],
    ['v_bfm_b32', [4, 8], 0xf00],
    ['v_bfm_b32', [32, 8], 0],
    ['v_bfe_u32', [0xabcd1234, 4, 8], 0x23],
    ['v_bfe_u32', [0xffffffff, 16, 0], 0],
    ['v_bfe_u32', [0xf0000000, 28, 31], 0xf],
    ['v_bfe_i32', [0x00000080, 4, 4], 0xfffffff8],
    ['v_bfe_i32', [0x80000000, 28, 31], 0xfffffff8],
    ['v_bfe_i32', [0xffffffff, 3, 0], 0],
    ['v_bfi_b32', [0x0000ffff, 0x12345678, 0xabcdef01], 0xabcd5678],
    ['v_alignbit_b32', [0x11111111, 0x22222222, 32], 0x22222222],
    ['v_alignbit_b32', [0x00000001, 0x80000000, 31], 3],
    ['v_alignbyte_b32', [0x44332211, 0x88776655, 5], 0x11887766],
    ['v_perm_b32', [0x77665544, 0x33221100, 0x07040300], 0x77443300],
    ['v_perm_b32', [0x80000000, 0x00008000, 0x0d0c0b08], 0xff00ffff],
    ['v_perm_b32', [0, 0x00008000, 0x0d0c0b08], 0xff0000ff],
    ['v_lerp_u8', [0xff01ff00, 0xff02ff01, 0x01010001], 0xff02ff01],
    ['v_cndmask_b32', [1, 2, true], 2],
    ['v_cndmask_b32', [1, 2, false], 1],
  ] as const)('%s%j is %i', (name, sources, result) => expect(operation(name)(...sources)).toBe(result))

  test('v_mbcnt counts the ones below the lane', () => {
    const count = (name: string, lane: number) => operation(name, { lane })(0xffffffff, 100)
    expect([0, 1, 31, 32, 63].map((lane) => count('v_mbcnt_lo_u32_b32', lane))).toEqual([100, 101, 131, 132, 132])
    expect([0, 31, 32, 33, 63].map((lane) => count('v_mbcnt_hi_u32_b32', lane))).toEqual([100, 100, 100, 101, 131])
  })
})

describe('sums of absolute differences', () => {
  test.each([
    ['v_sad_u8', [0x01020304, 0x04030201, 10], 18],
    ['v_sad_hi_u8', [0x01020304, 0x04030201, 10], 0x8000a],
    ['v_sad_u16', [0x00010005, 0x00030001, 10], 16],
    ['v_sad_u32', [1, 0xffffffff, 10], 8],
    ['v_msad_u8', [0x01020304, 0x04030001, 10], 17],
    ['v_qsad_pk_u16_u8', [0x0007060504030201n, 0x01010101, 0n], 0x0012000e000a0006n],
    ['v_mqsad_u32_u8', [0x0007060504030201n, 0x00000001, 0x00000004000000030000000200000001n], 0x00000007000000050000000300000001n],
  ] as const)('%s', (name, sources, result) => expect(operation(name)(...sources)).toBe(result))
})
