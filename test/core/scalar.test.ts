import { describe, expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { SCALAR_KERNELS } from '../../host/core/generated/scalars.ts'
import { OPERATION_BY_NAME } from '../../host/isa/operations.ts'
import { waveOf } from './wave.ts'

const pair = (first: number, x: bigint) => ({ [first]: Number(x & 0xffffffffn), [first + 1]: Number(x >> 32n) })

describe('64-bit scalar operations', () => {
  test.each<[string, bigint, bigint, bigint, number]>([
    // text, S0 in s[2:3], S1 in s[4:5], s[0:1] afterwards, SCC afterwards (1 before)
    ['s_and_b64 s[0:1], s[2:3], s[4:5]', 0xf0f0f0f0_00000000n, 0x0f0f0f0f_ffffffffn, 0n, 0],
    ['s_orn2_b64 s[0:1], s[2:3], s[4:5]', 0n, 0x7fffffff_ffffffffn, 0x80000000_00000000n, 1],
    ['s_lshl_b64 s[0:1], s[2:3], s4', 1n, 32n + 64n, 0x1_00000000n, 1],
    ['s_lshr_b64 s[0:1], s[2:3], s4', 0x7fffffff_ffffffffn, 63n, 0n, 0],
    ['s_ashr_i64 s[0:1], s[2:3], s4', 0x80000000_00000000n, 63n, 0xffffffff_ffffffffn, 1],
    ['s_bfm_b64 s[0:1], s2, s4', 4n, 62n, 0xc0000000_00000000n, 1],
    ['s_bfe_u64 s[0:1], s[2:3], s4', 0xabcdef01_23456789n, (12n << 16n) | 56n, 0xabn, 1],
    ['s_bfe_i64 s[0:1], s[2:3], s4', 0x00000001_80000000n, (2n << 16n) | 31n, 0xffffffff_ffffffffn, 1],
    ['s_bfe_i64 s[0:1], s[2:3], s4', 0xffffffff_ffffffffn, 8n, 0n, 0],
    ['s_bfe_u64 s[0:1], s[2:3], s4', 0xffffffff_fffffffen, 64n << 16n, 0xffffffff_fffffffen, 1],
    ['s_not_b64 s[0:1], s[2:3]', 0xffffffff_ffffffffn, 0n, 0n, 0],
    ['s_wqm_b64 s[0:1], s[2:3]', 0x80000000_00000001n, 0n, 0xf0000000_0000000fn, 1],
    ['s_quadmask_b64 s[0:1], s[2:3]', 0x80000000_00000010n, 0n, 0x8002n, 1],
    ['s_brev_b64 s[0:1], s[2:3]', 0x00000000_00000003n, 0n, 0xc0000000_00000000n, 1],
    // Constants: integers are sign-extended, floats are the f64 value.
    ['s_mov_b64 s[0:1], -2', 0n, 0n, 0xffffffff_fffffffen, 1],
    ['s_mov_b64 s[0:1], 1.0', 0n, 0n, 0x3ff00000_00000000n, 1],
    ['s_cselect_b64 s[0:1], s[2:3], s[4:5]', 7n, 8n, 7n, 1],
  ])('%s of %i and %i', async (asm, a, b, result, scc) => {
    const w = await waveOf({ asm, sgpr: { ...pair(2, a), ...pair(4, b) }, scc: 1 })
    w.run()
    expect([w.s64(0), w.scc]).toEqual([result, scc])
  })

  test.each<[string, bigint, number]>([
    ['s_bcnt0_i32_b64 s0, s[2:3]', 0x0000ffff_ffffffffn, 16],
    ['s_bcnt1_i32_b64 s0, s[2:3]', 0xffffffff_ffffffffn, 64],
    ['s_ff0_i32_b64 s0, s[2:3]', 0x00000007_ffffffffn, 35],
    ['s_ff1_i32_b64 s0, s[2:3]', 0x00000010_00000000n, 36],
    ['s_flbit_i32_b64 s0, s[2:3]', 0x00000010_00000000n, 27],
    ['s_flbit_i32_i64 s0, s[2:3]', 0xffffffff_7fffffffn, 32],
    ['s_flbit_i32_i64 s0, s[2:3]', 0xffffffff_ffffffffn, 0xffffffff],
  ])('%s of %i', async (asm, a, result) => {
    const w = await waveOf({ asm, sgpr: pair(2, a), scc: 1 })
    w.run()
    expect([w.s(0), w.scc]).toEqual([result, 1])
  })
})

describe('SCC', () => {
  test.each([
    's_mov_b32 s0, 0',
    's_cmov_b32 s0, 0',
    's_brev_b32 s0, 0',
    's_ff1_i32_b32 s0, 0',
    's_flbit_i32 s0, 0',
    's_sext_i32_i8 s0, 0',
    's_bitset0_b32 s0, 0',
    's_bitset1_b64 s[0:1], 0',
    's_cselect_b32 s0, 0, 0',
    's_bfm_b32 s0, 0, 0',
    's_mul_i32 s0, 0, 0',
    's_movk_i32 s0, 0',
    's_mulk_i32 s0, 0',
  ])('stays as it was at %s', async (asm) => {
    for (const scc of [0, 1]) {
      const w = await waveOf({ asm, scc })
      w.run()
      expect(w.scc).toBe(scc)
    }
  })

  test.each<[string, number, number]>([
    ['s_cmp_gt_i32 s1, s2', 0xffffffff, 0],
    ['s_cmp_gt_u32 s1, s2', 0xffffffff, 1],
    ['s_bitcmp1_b32 s1, 32', 1, 1],
    ['s_bitcmp0_b64 s[2:3], 63', 7, 1],
    ['s_cmpk_lt_i32 s1, 0xffff', 0xfffffffe, 1], // -2 < -1
    ['s_cmpk_lt_u32 s1, 0xffff', 0xfffffffe, 0], // the constant is 65535
  ])('%s with s1 = %i gives %i', async (asm, s1, scc) => {
    const w = await waveOf({ asm, sgpr: { 1: s1 } })
    w.run()
    expect(w.scc).toBe(scc)
  })
})

describe('destinations that are sources', () => {
  test('s_addk_i32 adds to its destination and tells overflow', async () => {
    const w = await waveOf({ asm: 's_addk_i32 s0, 0x7fff', sgpr: { 0: 0x7fffffff } })
    w.run()
    expect([w.s(0), w.scc]).toEqual([0x80007ffe, 1])
  })
  test('s_bitset1_b64 changes one bit of its destination', async () => {
    const w = await waveOf({ asm: 's_bitset1_b64 s[0:1], s2', sgpr: { 0: 5, 1: 6, 2: 32 } })
    w.run()
    expect(w.s64(0)).toBe(0x7_00000005n)
  })
  test('s_cmovk_i32 leaves its destination without SCC', async () => {
    const w = await waveOf({ asm: 's_cmovk_i32 s0, 1\ns_cmp_eq_u32 s0, s0\ns_cmovk_i32 s1, -1', sgpr: { 0: 9, 1: 9 } })
    w.run()
    expect([w.s(0), w.s(1)]).toEqual([9, 0xffffffff])
  })
  test('s_lshl_b64 reads its count before it writes over it', async () => {
    const w = await waveOf({ asm: 's_lshl_b64 s[0:1], s[2:3], s1', sgpr: { 1: 4, 2: 0xff, 3: 0 } })
    w.run()
    expect(w.s64(0)).toBe(0xff0n)
  })
})

describe('EXEC', () => {
  test('s_andn2_saveexec_b64 may save into its own source', async () => {
    const w = await waveOf({ asm: 's_andn2_saveexec_b64 s[0:1], s[0:1]\nv_mov_b32_e32 v0, 1', exec: 0xffn, sgpr: { 0: 0xfff, 1: 0 } })
    w.run()
    expect([w.s64(0), w.exec, w.scc]).toEqual([0xffn, 0xf00n, 1])
    expect(w.v(0).slice(7, 13)).toEqual([0, 1, 1, 1, 1, 0])
  })
  test('a saveexec that leaves no lane clears SCC', async () => {
    const w = await waveOf({ asm: 's_nor_saveexec_b64 vcc, -1', exec: 0xffn, scc: 1 })
    w.run()
    expect([w.vcc, w.exec, w.scc]).toEqual([0xffn, 0n, 0])
  })
  test('lanes follow a write to half of EXEC', async () => {
    const w = await waveOf({ asm: 's_xor_b32 exec_hi, exec_hi, 1\nv_mov_b32_e32 v0, 1', exec: 3n })
    w.run()
    expect(w.exec).toBe(0x1_00000003n)
    expect([w.v(0)[0], w.v(0)[2], w.v(0)[32], w.v(0)[33]]).toEqual([1, 0, 1, 0])
  })
})

describe('pure scalar functions', () => {
  test.each(Object.entries(SCALAR_KERNELS))('%s is an export as the table says', async (name, { parameters, types, scc }) => {
    const { imports } = (await createCore()).material
    expect((imports[name] as () => void).length).toBe(parameters.length)
    expect(types.length).toBe(parameters.length)
    expect(typeof imports[`${name}_scc`]).toBe(scc === 'own' ? 'function' : 'undefined')
    expect(OPERATION_BY_NAME.get(name)!.traits.has('scc')).toBe(scc === 'nonzero')
  })
})
