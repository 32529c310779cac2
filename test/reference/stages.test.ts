/** The stages around lane functions, and operations that look at the whole wave. */
import { describe, expect, test } from 'vitest'
import { FaultCode, Stop } from '../../host/engine.ts'
import { OPERATION_BY_NAME } from '../../host/isa/operations.ts'
import * as layout from '../../host/plan/layout.ts'
import { bytesOf, EXEC, int, Machine, op, run, VCC, v } from './machine.ts'

const LANES = Array.from({ length: 64 }, (_, lane) => lane)
const lane = (at: number) => at
/** No lane flushes, clamps or signals: round to nearest, all denormals kept, DX10_CLAMP. */
const PLAIN = 0x1f0

describe('DPP', () => {
  /** v_mov_b32 v1, v0 with lane numbers + 100 in v0 and 7 in v1. */
  const dpp = (control: number, rest: object = {}, exec = (1n << 64n) - 1n) =>
    run({
      words: op('v_mov_b32', 'vop1_dpp', { vdst: 1, src0: 0, dpp_ctrl: control, row_mask: 15, bank_mask: 15, ...rest }),
      exec,
      vgpr: { 0: (at) => at + 100, 1: 7 },
    }).row(1)
  const OLD = 7

  test.each<[string, number, (at: number) => number | undefined]>([
    ['quad_perm:[3,2,1,0]', 0b00011011, (at) => at ^ 3],
    ['row_shl:3', 0x103, (at) => (at % 16 < 13 ? at + 3 : undefined)],
    ['row_shr:1', 0x111, (at) => (at % 16 > 0 ? at - 1 : undefined)],
    ['row_ror:4', 0x124, (at) => (at & 48) + ((at + 12) % 16)],
    ['wave_shl:1', 0x130, (at) => (at < 63 ? at + 1 : undefined)],
    ['wave_rol:1', 0x134, (at) => (at + 1) % 64],
    ['wave_shr:1', 0x138, (at) => (at > 0 ? at - 1 : undefined)],
    ['wave_ror:1', 0x13c, (at) => (at + 63) % 64],
    ['row_mirror', 0x140, (at) => at ^ 15],
    ['row_half_mirror', 0x141, (at) => at ^ 7],
    ['row_bcast:15', 0x142, (at) => (at >= 16 ? (at & 48) - 1 : undefined)],
    ['row_bcast:31', 0x143, (at) => (at >= 32 ? 31 : undefined)],
  ])('%s: a lane without source keeps its value, or takes 0 with bound_ctrl', (_, control, from) => {
    const wanted = (without: number) => LANES.map((at) => (from(at) === undefined ? without : from(at)! + 100))
    expect(dpp(control)).toEqual(wanted(OLD))
    expect(dpp(control, { bound_ctrl: 1 })).toEqual(wanted(0))
  })

  test('an inactive source lane is no source', () => {
    expect(dpp(0x111, {}, 0b1101n).slice(0, 4)).toEqual([OLD, OLD, OLD, 102])
    expect(dpp(0x111, { bound_ctrl: 1 }, 0b1101n).slice(0, 4)).toEqual([0, OLD, 0, 102])
  })

  test('row and bank masks choose the lanes that are written', () => {
    const row = dpp(0b11100100, { row_mask: 0b0010, bank_mask: 0b0100 })
    expect(LANES.filter((at) => row[at] !== OLD)).toEqual([24, 25, 26, 27])
  })

  test('a lane that is masked off gives 0 to a carry mask', () => {
    const words = op('v_add_co_u32', 'vop2_dpp', { vdst: 2, src0: 0, vsrc1: 1, dpp_ctrl: 0b11100100, row_mask: 1, bank_mask: 15 })
    const m = run({ words, vgpr: { 0: 0xffffffff, 1: 1, 2: 7 }, vcc: (1n << 64n) - 1n })
    expect([m.vcc, m.vgpr(2, 0), m.vgpr(2, 16)]).toEqual([0xffffn, 0, 7])
  })
})

describe('SDWA', () => {
  const sdwa = (name: string, fields: object, vgpr: Record<number, number>, mode = PLAIN) =>
    run({
      words: op(name, 'vop2_sdwa', { vdst: 0, src0: 1, vsrc1: 2, dst_sel: 6, src0_sel: 6, src1_sel: 6, ...fields }),
      exec: 1n,
      vgpr,
      mode,
    }).vgpr(0, 0)

  test('sources: bytes and words, zero- or sign-extended', () => {
    const add = (fields: object) => sdwa('v_or_b32', fields, { 0: 0, 1: 0x80f1c2d3, 2: 0 })
    expect([0, 1, 2, 3, 4, 5, 6].map((src0_sel) => add({ src0_sel }))).toEqual([0xd3, 0xc2, 0xf1, 0x80, 0xc2d3, 0x80f1, 0x80f1c2d3])
    expect(add({ src0_sel: 3, src0_sext: 1 })).toBe(0xffffff80)
    expect(add({ src0_sel: 4, src0_sext: 1 })).toBe(0xffffc2d3)
  })

  test('destinations: the rest becomes 0, takes the sign or is kept', () => {
    const or = (dst_sel: number, dst_unused: number) => sdwa('v_or_b32', { dst_sel, dst_unused }, { 0: 0x11223344, 1: 0x123456ab, 2: 0 })
    expect([0, 1, 2].map((unused) => or(1, unused))).toEqual([0x0000ab00, 0xffffab00, 0x1122ab44])
    expect([0, 1, 2].map((unused) => or(5, unused))).toEqual([0x56ab0000, 0x56ab0000, 0x56ab3344])
    expect(or(6, 2)).toBe(0x123456ab)
  })

  test('abs and neg act on the selected half as the float that it is', () => {
    // |v1.hi| + -v2.lo = 2 - 1
    const got = sdwa(
      'v_add_f16',
      { src0_sel: 5, src0_abs: 1, src1_sel: 4, src1_neg: 1, dst_sel: 5, dst_unused: 2 },
      { 0: 0x1234, 1: 0xc0000000, 2: 0x3c00 },
    )
    expect(got).toBe(0x3c001234)
  })
})

describe('modifiers of VOP3', () => {
  const add = (fields: object, a: number, b: number, mode = PLAIN, name = 'v_add_f32') =>
    run({ words: op(name, 'vop3a', { vdst: 2, src0: v(0), src1: v(1), ...fields }), exec: 1n, vgpr: { 0: a, 1: b }, mode }).vgpr(2, 0)
  const ONE = 0x3f800000
  const FLUSH = 0x1c0

  test('abs comes before neg', () => {
    expect(add({ abs: 1, neg: 1 }, 0xbf800000, 0)).toBe(0xbf800000)
  })
  test('omod works only while denormal results are flushed and IEEE is off', () => {
    expect(add({ omod: 1 }, ONE, ONE, FLUSH)).toBe(0x40800000)
    expect(add({ omod: 2 }, ONE, ONE, FLUSH)).toBe(0x41000000)
    expect(add({ omod: 3 }, ONE, ONE, FLUSH)).toBe(ONE)
    expect(add({ omod: 1 }, ONE, ONE, PLAIN)).toBe(0x40000000)
    expect(add({ omod: 1 }, ONE, ONE, FLUSH | 0x200)).toBe(0x40000000)
  })
  test('omod overflows to infinity', () => {
    expect(add({ omod: 2 }, 0x7f000000, 0, FLUSH)).toBe(0x7f800000)
  })
  test('clamp: below 0 and -0 give +0, above 1 gives 1, NaN gives 0 under DX10_CLAMP', () => {
    expect(add({ clamp: 1 }, 0xbf800000, 0)).toBe(0)
    expect(add({ clamp: 1 }, 0x80000000, 0x80000000)).toBe(0)
    expect(add({ clamp: 1 }, ONE, ONE)).toBe(ONE)
    expect(add({ clamp: 1 }, 0x7fc00001, 0)).toBe(0)
    expect(add({ clamp: 1 }, 0x7fc00001, 0, 0xf0)).toBe(0x7fc00001)
  })
  test('denormals are flushed as MODE says, sources and results apart', () => {
    expect(add({}, 0x80000001, 0x80000001, 0x1f0)).toBe(0x80000002)
    expect(add({}, 0x00800001, 0x80800000, 0x1d0)).toBe(0) // the result is a denormal
    expect(add({}, 1, ONE, 0x1c0)).toBe(ONE)
    expect(add({}, 0x80000001, 0x80000000, 0x1e0)).toBe(0x80000000)
  })
  test('MODE gives f16 its own denormals', () => {
    expect(add({}, 1, 1, 0x1c0, 'v_add_f16')).toBe(2)
    expect(add({}, 1, 1, 0x130, 'v_add_f16')).toBe(0)
  })
})

describe('masks', () => {
  test('a compare writes all of its mask, inactive lanes 0', () => {
    const m = run({
      words: op('v_cmp_lt_u32', 'vop3a', { vdst: 10, src0: v(0), src1: int(8) }),
      exec: 0xff00ffn,
      sgpr: { 10: 0xffffffff, 11: 0xffffffff },
      vgpr: { 0: lane },
    })
    expect(m.sgpr64(10)).toBe(0xffn)
  })
  test('v_cmpx writes EXEC besides its destination', () => {
    const m = run({ words: op('v_cmpx_lt_u32', 'vopc', { src0: int(8), vsrc1: 0 }), exec: 0xffffn, vgpr: { 0: lane } })
    expect([m.exec, m.vcc]).toEqual([0xfe00n, 0xfe00n])
  })
  test('with EXEC 0 a compare gives 0 and vector registers stay', () => {
    const words = [...op('v_cmp_tru_f32', 'vopc', { src0: v(0), vsrc1: 0 }), ...op('v_mov_b32', 'vop1', { vdst: 1, src0: int(5) })]
    const m = run({ words, exec: 0n, vcc: 7n, vgpr: { 1: 3 } })
    expect([m.vcc, m.vgpr(1, 0)]).toEqual([0n, 3])
  })
  test('carry comes from the encoded pair and goes to sdst', () => {
    const words = op('v_addc_co_u32', 'vop3b', { vdst: 2, sdst: 12, src0: v(0), src1: v(1), src2: 10 })
    const m = run({ words, exec: 3n, sgpr: { 10: 1 }, vgpr: { 0: 0xffffffff, 1: 0 } })
    expect([m.vgpr(2, 0), m.vgpr(2, 1), m.sgpr64(12)]).toEqual([0, 0xffffffff, 1n])
  })
  test('a mask destination that is a source is read first', () => {
    const words = op('v_addc_co_u32', 'vop2', { vdst: 0, src0: v(0), vsrc1: 1 })
    const m = run({ words, vcc: 0b10n, exec: 0b11n, vgpr: { 0: 0xffffffff, 1: [1, 0] } })
    expect([m.vgpr(0, 0), m.vgpr(0, 1), m.vcc]).toEqual([0, 0, 3n])
  })
})

describe('sources', () => {
  test('64-bit destinations may overlap their sources', () => {
    const m = run({ words: op('v_lshlrev_b64', 'vop3a', { vdst: 1, src0: int(4), src1: v(0) }), exec: 1n, vgpr: { 0: 0x80000001, 1: 2 } })
    expect([m.vgpr(1, 0), m.vgpr(2, 0)]).toEqual([0x10, 0x28])
  })
  test('f64 constants: inline, 1/(2π) as the manual has it, a literal as the high dword', () => {
    const move = (src1: number) => {
      const m = run({
        words: op('v_max_f64', 'vop3a', { vdst: 2, src0: v(0), src1 }),
        exec: 1n,
        vgpr: { 0: 0, 1: 0xfff00000 },
        mode: PLAIN,
      })
      return [m.vgpr(2, 0), m.vgpr(3, 0)]
    }
    expect(move(242)).toEqual([0, 0x3ff00000])
    expect(move(248)).toEqual([0x6dc9c882, 0x3fc45f30])
    const literal = run({ words: op('v_cvt_f32_f64', 'vop1', { vdst: 2, src0: 255 }, { literal: 0x40000000 }), exec: 1n })
    expect(literal.vgpr(2, 0)).toBe(0x40000000)
  })
  test('vccz, execz and scc are sources', () => {
    const m = run({ words: [251, 252, 253].flatMap((src0, i) => op('v_mov_b32', 'vop1', { vdst: i, src0 })), exec: 1n, scc: 1, vcc: 0n })
    expect([0, 1, 2].map((r) => m.vgpr(r, 0))).toEqual([1, 0, 1])
  })
  test('LDS direct broadcasts what M0 points to, of the type that M0 names', () => {
    const read = (type: number) =>
      run({ words: op('v_mov_b32', 'vop1', { vdst: 0, src0: 254 }), exec: 3n, m0: 4 | (type << 16), lds: bytesOf([0, 0x1234f6f8]) }).vgpr(
        0,
        1,
      )
    expect([0, 1, 2, 4, 5].map(read)).toEqual([0xf8, 0xf6f8, 0x1234f6f8, 0xfffffff8, 0xfffff6f8])
  })
})

describe('the whole wave', () => {
  test('v_readlane wraps its lane number and ignores EXEC', () => {
    const m = run({
      words: op('v_readlane_b32', 'vop3a', { vdst: 3, src0: v(0), src1: 5 }),
      exec: 0n,
      sgpr: { 5: 64 + 9 },
      vgpr: { 0: lane },
    })
    expect(m.sgpr(3)).toBe(9)
  })
  test('v_readfirstlane takes the lowest active lane, with EXEC 0 lane 0', () => {
    const first = (exec: bigint) =>
      run({ words: op('v_readfirstlane_b32', 'vop1', { vdst: 3, src0: v(0) }), exec, vgpr: { 0: (at) => at + 1 } }).sgpr(3)
    expect([first(0xf00n), first(0n)]).toEqual([9, 1])
  })
  test('v_writelane writes one lane, active or not', () => {
    const m = run({ words: op('v_writelane_b32', 'vop3a', { vdst: 0, src0: 4, src1: int(7) }), exec: 0n, sgpr: { 4: 99 }, vgpr: { 0: 1 } })
    expect(m.row(0).slice(6, 9)).toEqual([1, 99, 1])
  })
  test('v_movrel adds M0 to source, destination or both', () => {
    const move = (name: string) =>
      run({ words: op(name, 'vop1', { vdst: 1, src0: v(2) }), m0: 3, exec: 1n, vgpr: { 2: 22, 5: 55, 1: 0, 4: 0 } })
    expect(move('v_movrels_b32').vgpr(1, 0)).toBe(55)
    expect(move('v_movreld_b32').vgpr(4, 0)).toBe(22)
    expect(move('v_movrelsd_b32').vgpr(4, 0)).toBe(55)
  })
  test('v_movrel beyond the wave’s registers is a fault', () => {
    const m = new Machine({ words: op('v_movreld_b32', 'vop1', { vdst: 1, src0: v(2) }), m0: 8, vgprCount: 8 })
    expect([m.run(), m.header(layout.WAVE_FAULT), m.pc]).toEqual([Stop.Fault, FaultCode.Register, 0])
  })
  test('s_set_gpr_idx_on makes the named operands of vector operations relative, s_set_gpr_idx_off ends it', () => {
    const words = [
      ...op('s_set_gpr_idx_on', 'sopc', { ssrc0: int(3), ssrc1: 0b1001 }),
      ...op('v_add_co_u32', 'vop2', { vdst: 1, src0: v(2), vsrc1: 0 }),
      ...op('s_set_gpr_idx_off', 'sopp'),
      ...op('v_mov_b32', 'vop1', { vdst: 6, src0: v(2) }),
    ]
    const m = run({ words, exec: 1n, m0: 0x12340000, vgpr: { 0: 1, 2: 20, 5: 50 } })
    expect([m.vgpr(4, 0), m.vgpr(1, 0), m.vgpr(6, 0)]).toEqual([51, 0, 20])
    expect(m.m0).toBe(0x12349003)
  })
  test('the accumulator of v_mac is relative with the destination', () => {
    const words = [
      ...op('s_set_gpr_idx_on', 'sopc', { ssrc0: int(2), ssrc1: 0b1000 }),
      ...op('v_mac_f32', 'vop2', { vdst: 1, src0: v(0), vsrc1: 0 }),
    ]
    const m = run({ words, exec: 1n, vgpr: { 0: 0x40000000, 1: 0x41200000, 3: 0x3f800000 } })
    expect([m.vgpr(1, 0), m.vgpr(3, 0)]).toEqual([0x41200000, 0x40a00000]) // v3 = 2 * 2 + 1
  })
  test('s_setvskip skips vector instructions until it is cleared', () => {
    const words = [
      ...op('s_setvskip', 'sopc', { ssrc0: int(1), ssrc1: int(0) }),
      ...op('v_mov_b32', 'vop1', { vdst: 0, src0: int(5) }),
      ...op('s_setvskip', 'sopc', { ssrc0: int(0), ssrc1: int(0) }),
      ...op('v_mov_b32', 'vop1', { vdst: 1, src0: int(6) }),
    ]
    const m = run({ words, exec: 1n })
    expect([m.vgpr(0, 0), m.vgpr(1, 0)]).toEqual([0, 6])
  })
})

test('parameters are interpolated from the LDS, by the primitive of each quad', () => {
  // Attribute 1, channel y of primitive p begins at dword 12 * (2 + p): P0 at 2, P10 at 3, P20 at 9. Quads 0 and 1 differ.
  const lds = new Array<number>(48).fill(0)
  for (const p of [0, 1]) {
    lds[12 * (2 + p) + 2] = [0x3f800000, 0x41200000][p]!
    lds[12 * (2 + p) + 3] = [0x40000000, 0x41a00000][p]!
    lds[12 * (2 + p) + 9] = [0x40400000, 0x41f00000][p]!
  }
  const words = [
    ...op('v_interp_p1_f32', 'vintrp', { vdst: 2, vsrc: 0, attr: 1, attrchan: 1 }),
    ...op('v_interp_p2_f32', 'vintrp', { vdst: 2, vsrc: 1, attr: 1, attrchan: 1 }),
    ...op('v_interp_mov_f32', 'vintrp', { vdst: 3, vsrc: 1, attr: 1, attrchan: 1 }),
  ]
  const m = run({ words, m0: 1 << 16, lds: bytesOf(lds), vgpr: { 0: 0x40000000, 1: 0x3f800000 } })
  expect([m.vgpr(2, 3), m.vgpr(2, 4)]).toEqual([0x41000000, 0x42a00000]) // 1 + 2·2 + 3·1, 10 + 20·2 + 30·1
  expect([m.vgpr(3, 3), m.vgpr(3, 4)]).toEqual([0x40400000, 0x41f00000])
})

test('approximate operations are counted, others are not', () => {
  const words = [...op('v_rcp_f32', 'vop1', { vdst: 0, src0: v(0) }), ...op('v_mov_b32', 'vop1', { vdst: 1, src0: v(0) })]
  const m = run({ words: [...words, ...words] })
  const counted = (name: string) => m.counter(OPERATION_BY_NAME.get(name)!.number)
  expect([counted('v_rcp_f32'), counted('v_mov_b32')]).toEqual([2n, 0n])
})

test('a write of half of EXEC or VCC leaves the other half', () => {
  const words = [...op('s_mov_b32', 'sop1', { sdst: EXEC, ssrc0: int(5) }), ...op('s_mov_b32', 'sop1', { sdst: VCC + 1, ssrc0: int(6) })]
  const m = run({ words, vcc: 1n })
  expect([m.exec, m.vcc]).toEqual([0xffffffff00000005n, 0x600000001n])
})

test('an operation without a function is a loud fault', () => {
  const m = new Machine({ words: op('image_sample', 'mimg', { dmask: 15 }) })
  expect([m.run(), m.header(layout.WAVE_FAULT)]).toEqual([Stop.Fault, FaultCode.Unsupported])
})
