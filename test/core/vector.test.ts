import { describe, expect, test } from 'vitest'
import { Stop } from '../../host/engine.ts'
import { waveOf } from './wave.ts'

const lanes = (f: (lane: number) => number) => Array.from({ length: 64 }, (_, lane) => f(lane) >>> 0)
const ODD = 0xaaaa_aaaa_aaaa_aaaan
const ALL = 0xffff_ffff_ffff_ffffn

describe('EXEC', () => {
  test('`v_mov_b32 v0, v1` keeps inactive lanes', async () => {
    const w = await waveOf({ asm: 'v_mov_b32_e32 v0, v1', exec: ODD, vgpr: { 0: 7, 1: lanes((lane) => lane) } })
    w.run()
    expect(w.v(0)).toEqual(lanes((lane) => (lane & 1 ? lane : 7)))
  })

  test('a write of one half of EXEC is seen by the next instruction', async () => {
    const w = await waveOf({ asm: 's_mov_b32 exec_hi, 0\nv_mov_b32_e32 v0, 1' })
    w.run()
    expect(w.v(0)).toEqual(lanes((lane) => (lane < 32 ? 1 : 0)))
  })

  test('with EXEC = 0 nothing is written, compares give 0, v_readfirstlane reads lane 0', async () => {
    const w = await waveOf({
      asm: 'v_add_u32_e32 v0, vcc, v0, v1\nv_readfirstlane_b32 s0, v1\nv_cmp_eq_u32_e64 s[2:3], v1, v1',
      exec: 0n,
      vcc: ALL,
      sgpr: { 2: 5, 3: 5 },
      vgpr: { 0: 9, 1: lanes((lane) => lane + 3) },
    })
    w.run()
    expect(w.v(0)).toEqual(lanes(() => 9))
    expect([w.vcc, w.s(0), w.s64(2)]).toEqual([0n, 3, 0n])
  })

  test('v_cmpx writes VCC and EXEC, inactive lanes 0', async () => {
    const w = await waveOf({ asm: 'v_cmpx_gt_u32_e32 vcc, 32, v0\nv_mov_b32_e32 v1, 1', exec: ODD, vgpr: { 0: lanes((lane) => lane) } })
    w.run()
    expect([w.vcc, w.exec]).toEqual([0xaaaa_aaaan, 0xaaaa_aaaan])
    expect(w.v(1)).toEqual(lanes((lane) => (lane < 32 && lane & 1 ? 1 : 0)))
  })
})

describe('masks', () => {
  test('`v_addc_u32` takes its carry from the encoded source and writes all of its mask', async () => {
    // Lanes 0 and 1 have a carry; lane 1 and 3 overflow.
    const w = await waveOf({
      asm: 'v_addc_u32_e64 v0, s[4:5], v1, v2, s[6:7]',
      exec: 0xfn,
      sgpr: { 4: 0xffffffff, 5: 0xffffffff, 6: 3, 7: 0 },
      vgpr: { 1: [1, 0xffffffff, 2, 0xffffffff], 2: [1, 0, 2, 1] },
    })
    w.run()
    expect(w.v(0).slice(0, 4)).toEqual([3, 0, 4, 0])
    expect(w.s64(4)).toBe(0b1010n)
  })

  test('a mask may be source and destination at once', async () => {
    const w = await waveOf({ asm: 'v_addc_u32_e32 v0, vcc, v1, v2, vcc', vcc: 5n, exec: 0xfn, vgpr: { 1: 0xffffffff, 2: [0, 0, 0, 1] } })
    w.run()
    expect(w.v(0).slice(0, 4)).toEqual([0, 0xffffffff, 0, 0])
    expect(w.vcc).toBe(0b1101n)
  })

  test('v_cndmask_b32 takes src1 where the bit is set', async () => {
    const w = await waveOf({ asm: 'v_cndmask_b32_e32 v0, 1, v1, vcc', vcc: 0xf0n, vgpr: { 1: 2 } })
    w.run()
    expect(w.v(0)).toEqual(lanes((lane) => (lane >= 4 && lane < 8 ? 2 : 1)))
  })

  test('64-bit compares and v_div_fmas_f64 see each lane its own bit', async () => {
    const w = await waveOf({
      asm: 'v_cmp_lt_i64_e64 s[0:1], v[2:3], v[4:5]\nv_div_fmas_f64 v[6:7], v[8:9], v[8:9], v[10:11]',
      vcc: 0x8000_0000_0000_0002n,
      vgpr: { 2: lanes((lane) => lane), 3: lanes((lane) => (lane & 1 ? 0xffffffff : 0)), 9: 0x3ff00000 },
    })
    w.run()
    expect(w.s64(0)).toBe(ODD)
    // 1 × 1 + 0 scaled by 2^±128 in lanes 1 and 63.
    expect(new Set(w.v(7).filter((_, lane) => lane !== 1 && lane !== 63))).toEqual(new Set([0x3ff00000]))
    expect(w.v(7)[1]).not.toBe(0x3ff00000)
    expect(w.v(7)[63]).toBe(w.v(7)[1])
  })
})

describe('overlap of sources and destination', () => {
  test('`v_lshlrev_b64 v[1:2], 4, v[0:1]` reads the pair before it writes it', async () => {
    const w = await waveOf({ asm: 'v_lshlrev_b64 v[1:2], 4, v[0:1]', vgpr: { 0: 0x80000001, 1: 0x00000002, 2: 0xdead } })
    w.run()
    expect([w.v(0)[9], w.v(1)[9], w.v(2)[9]]).toEqual([0x80000001, 0x00000010, 0x28])
  })

  test('`v_lshrrev_b64 v[0:1], 4, v[1:2]` too, the other way round', async () => {
    const w = await waveOf({ asm: 'v_lshrrev_b64 v[0:1], 4, v[1:2]', vgpr: { 0: 0xdead, 1: 0x00000023, 2: 0x00000001 } })
    w.run()
    expect([w.v(0)[60], w.v(1)[60], w.v(2)[60]]).toEqual([0x10000002, 0, 1])
  })

  test('`v_mad_u64_u32 v[0:1], s[0:1], v0, v1, v[0:1]` adds what the registers held', async () => {
    const w = await waveOf({ asm: 'v_mad_u64_u32 v[0:1], s[0:1], v0, v1, v[0:1]', vgpr: { 0: 3, 1: 5 } })
    w.run()
    expect([w.v(0)[0], w.v(1)[0], w.s64(0)]).toEqual([18, 5, 0n]) // 3 × 5 + (5 << 32 | 3)
  })

  test('`v_mac_f32 v0, v0, v0` reads its destination three times', async () => {
    const w = await waveOf({ asm: 'v_mac_f32_e32 v0, v0, v0', vgpr: { 0: 0x40400000 } })
    w.run()
    expect(w.v(0)[33]).toBe(0x41400000) // 3 × 3 + 3 = 12
  })
})

describe('floats', () => {
  test('denormals are flushed as MODE says, sources and results apart', async () => {
    const run = async (mode: number) => {
      const w = await waveOf({
        asm: 'v_add_f32_e32 v0, v1, v2\nv_mul_f32_e32 v3, 0.5, v4',
        mode,
        vgpr: { 1: 0x00000001, 2: 0x80000000, 4: 0x00800000 },
      })
      w.run()
      return [w.v(0)[0], w.v(3)[0]]
    }
    expect(await run(0x3f0)).toEqual([1, 0x00400000])
    expect(await run(0x3c0)).toEqual([0, 0])
    expect(await run(0x3d0)).toEqual([0, 0]) // sources kept, results flushed
    expect(await run(0x3e0)).toEqual([0, 0x00400000]) // sources flushed, results kept
  })

  test('v_mad_f32 flushes whatever MODE says, and rounds after the multiplication', async () => {
    const w = await waveOf({
      asm: 'v_mad_f32 v0, v1, 1.0, 0\nv_mad_f32 v2, v3, v3, v4',
      mode: 0x3f0,
      vgpr: { 1: 1, 3: 0x3f800800, 4: 0xbf801000 },
    })
    w.run()
    // (1 + 2^-12)² rounds to 1 + 2^-11, fused there would be 2^-24 left.
    expect([w.v(0)[0], w.v(2)[0]]).toEqual([0, 0])
  })

  test('a NaN result is the first NaN source, quieted, or the default NaN', async () => {
    const w = await waveOf({
      asm: 'v_add_f32_e32 v0, v1, v2\nv_sub_f32_e32 v3, v2, v1\nv_mad_f32 v4, v5, v2, v1\nv_mul_f32_e32 v6, v7, v8',
      vgpr: { 1: 0xffa00001, 2: [0x7fc00002, 0x3f800000], 5: 0x7f800000, 7: 0, 8: 0x7f800000 },
    })
    w.run()
    expect(w.v(0).slice(0, 2)).toEqual([0xffe00001, 0xffe00001])
    expect(w.v(3).slice(0, 2)).toEqual([0x7fc00002, 0xffe00001])
    expect(w.v(4).slice(0, 3)).toEqual([0x7fc00002, 0xffe00001, 0xffe00001])
    expect(w.v(6)[0]).toBe(0x7fc00000)
  })

  test('f16 results clear the high half', async () => {
    const w = await waveOf({ asm: 'v_add_f16_e32 v0, v1, v2', vgpr: { 0: 0xffffffff, 1: 0x12343c00, 2: 0x56783c00 } })
    w.run()
    expect(w.v(0)[0]).toBe(0x4000)
  })

  test('approximate operations are counted once an instruction', async () => {
    const w = await waveOf({ asm: 'v_rcp_f32_e32 v0, v1\nv_rcp_f32_e64 v0, -v1\nv_add_f32_e32 v0, v1, v1', vgpr: { 1: 0x40000000 } })
    w.run()
    expect([w.count('v_rcp_f32'), w.count('v_add_f32')]).toEqual([2, 0])
  })
})

describe('modifiers', () => {
  test('-|x| is neg of abs; NaN and -0 by their bits', async () => {
    const w = await waveOf({
      asm: 'v_max_f32_e64 v0, -|v1|, -|v1|\nv_cndmask_b32_e64 v2, -v3, |v3|, s[0:1]',
      mode: 0x1f0,
      sgpr: { 0: 1 },
      vgpr: { 1: [0x40000000, 0xc0000000], 3: 0x80000000 },
    })
    w.run()
    expect(w.v(0).slice(0, 2)).toEqual([0xc0000000, 0xc0000000])
    expect(w.v(2).slice(0, 2)).toEqual([0, 0])
  })

  test('omod counts where denormals are flushed and IEEE is off; clamp after it', async () => {
    const run = async (mode: number) => {
      const w = await waveOf({
        asm: 'v_add_f32_e64 v0, v1, v2 mul:4\nv_add_f32_e64 v3, v1, v2 div:2 clamp',
        mode,
        vgpr: { 1: 0x3f000000, 2: 0x3f800000 },
      })
      w.run()
      return [w.v(0)[0], w.v(3)[0]]
    }
    expect(await run(0x1c0)).toEqual([0x40c00000, 0x3f400000]) // 1.5 × 4, 1.5 ÷ 2
    expect(await run(0x3c0)).toEqual([0x3fc00000, 0x3f800000]) // IEEE
    expect(await run(0x1f0)).toEqual([0x3fc00000, 0x3f800000]) // denormals kept
  })

  test('clamp sends NaN to 0 under DX10_CLAMP, -0 to +0, and saturates integers on gfx8', async () => {
    const w = await waveOf({
      asm: 'v_max_f32_e64 v0, v1, v1 clamp\nv_add_u32_e64 v2, vcc, v3, v3 clamp\nv_sub_u32_e64 v4, vcc, 1, v3 clamp',
      mode: 0x1c0,
      vgpr: { 1: [0x7fc00000, 0x80000000, 0x40000000, 0xbf800000], 3: 0x90000000 },
    })
    w.run()
    expect(w.v(0).slice(0, 4)).toEqual([0, 0, 0x3f800000, 0])
    expect([w.v(2)[0], w.v(4)[0]]).toEqual([0xffffffff, 0])
  })

  test('clamp keeps inactive lanes, and a tied source stays the old destination', async () => {
    const w = await waveOf({ asm: 'v_mac_f32_e64 v0, v1, -v1 clamp', exec: ODD, mode: 0x1c0, vgpr: { 0: 0x40800000, 1: 0x3f800000 } })
    w.run()
    expect(w.v(0)).toEqual(lanes((lane) => (lane & 1 ? 0x3f800000 : 0x40800000))) // 4 - 1 = 3, clamped
  })

  test('SDWA takes parts of sources, writes a part and keeps the rest', async () => {
    const w = await waveOf({
      asm: 'v_add_u32_sdwa v0, vcc, v1, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1',
      vgpr: { 0: 0x11223344, 1: 0x00003400, 2: 0x00050000 },
    })
    w.run()
    expect(w.v(0)[0]).toBe(0x11393344) // 0x34 + 5
  })

  test('SDWA sign-extends sources and unused bits', async () => {
    const w = await waveOf({
      asm: 'v_mov_b32_sdwa v0, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3\nv_mov_b32_sdwa v2, v1 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_3',
      vgpr: { 1: 0x80000000, 2: 0x55555555 },
    })
    w.run()
    expect([w.v(0)[0], w.v(2)[0]]).toEqual([0xffffff80, 0xffff8000])
  })

  test('DPP row_shr switches lanes without a source off, with bound_ctrl they read 0', async () => {
    const w = await waveOf({
      asm: 'v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf\nv_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0\nv_mov_b32_e32 v3, 1',
      vgpr: { 0: 99, 1: lanes((lane) => lane), 2: 99 },
    })
    w.run()
    expect(w.v(0)).toEqual(lanes((lane) => (lane & 15 ? lane - 1 : 99)))
    expect(w.v(2)).toEqual(lanes((lane) => (lane & 15 ? lane - 1 : 0)))
    expect(w.v(3)).toEqual(lanes(() => 1)) // EXEC is what it was
  })

  test('DPP row_mask and bank_mask leave lanes out; quad_perm, row_bcast:15', async () => {
    const w = await waveOf({
      asm: 'v_mov_b32_dpp v0, v1 quad_perm:[3,2,1,0] row_mask:0x1 bank_mask:0x2\nv_mov_b32_dpp v2, v1 row_bcast:15 row_mask:0xa bank_mask:0xf',
      vgpr: { 0: 99, 1: lanes((lane) => lane), 2: 99 },
    })
    w.run()
    expect(w.v(0)).toEqual(lanes((lane) => (lane >= 4 && lane < 8 ? 11 - lane : 99)))
    expect(w.v(2)).toEqual(lanes((lane) => (lane >> 4 === 1 ? 15 : lane >> 4 === 3 ? 47 : 99)))
  })

  test('DPP moves both dwords of a 64-bit source', async () => {
    const w = await waveOf({
      asm: 'v_cvt_f32_f64_dpp v4, v[0:1] quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf',
      vgpr: { 1: [0x3ff00000, 0x40000000, 0x40080000, 0x40100000] },
    })
    w.run()
    expect(w.v(4).slice(0, 4)).toEqual([0x40000000, 0x3f800000, 0x40800000, 0x40400000])
  })

  test('VGPR indexing moves sources and destinations by M0, and a register too far is a fault', async () => {
    const asm = 's_set_gpr_idx_on s0, gpr_idx(SRC0)\nv_mov_b32_e32 v0, v1\ns_set_gpr_idx_off\nv_mov_b32_e32 v2, v1'
    const w = await waveOf({ asm, sgpr: { 0: 4 }, vgpr: { 1: 11, 5: 55 } })
    w.run()
    expect([w.v(0)[0], w.v(2)[0]]).toEqual([55, 11])
    const far = await waveOf({ asm, sgpr: { 0: 255 } })
    expect(far.run()).toBe(Stop.Fault)
  })

  // AMD, CDNA 2 manual, "VGPR Indexing Details": M0[15] moves the destination of v_mac and the addend that it is, M0[14] does nothing.
  test.each([
    ['DST', { 1: 1, 5: 5.5 }],
    ['SRC2', { 1: 1.5, 5: 5 }],
  ])('VGPR indexing of v_mac_f32 by %s', async (operands, wanted) => {
    const bits = (x: number) => new Uint32Array(Float32Array.of(x).buffer)[0]!
    const asm = `s_set_gpr_idx_on s0, gpr_idx(${operands})\nv_mac_f32_e32 v1, 0.5, v2\ns_set_gpr_idx_off`
    const w = await waveOf({ asm, sgpr: { 0: 4 }, vgpr: { 1: bits(1), 2: bits(1), 5: bits(5) } })
    w.run()
    for (const [register, value] of Object.entries(wanted)) expect(w.v(Number(register))[0]).toBe(bits(value))
  })
})
