/** Scalar operations by hand: results and SCC as the manuals' text has them. */
import { describe, expect, test } from 'vitest'
import { FaultCode, Stop } from '../../host/engine.ts'
import * as layout from '../../host/plan/layout.ts'
import { CODE_BASE, ENDPGM, EXEC, int, Machine, op, run } from './machine.ts'

const sop2 = (name: string, a: number, b: number, scc: 0 | 1 = 0) => {
  const m = run({ words: op(name, 'sop2', { sdst: 4, ssrc0: 0, ssrc1: 1 }), sgpr: { 0: a, 1: b, 4: 0x55 }, scc })
  return [m.sgpr(4), m.scc]
}
const sop2wide = (name: string, a: bigint, b: number) => {
  const sgpr = { 0: Number(a & 0xffffffffn), 1: Number(a >> 32n), 2: b }
  const m = run({ words: op(name, 'sop2', { sdst: 4, ssrc0: 0, ssrc1: 2 }), sgpr })
  return [m.sgpr64(4), m.scc]
}
const sop1 = (name: string, a: number, scc: 0 | 1 = 0, old = 0) => {
  const m = run({ words: op(name, 'sop1', { sdst: 4, ssrc0: 0 }), sgpr: { 0: a, 4: old }, scc })
  return [m.sgpr(4), m.scc]
}
const sop1wide = (name: string, a: bigint) => {
  const m = run({ words: op(name, 'sop1', { sdst: 4, ssrc0: 0 }), sgpr: { 0: Number(a & 0xffffffffn), 1: Number(a >> 32n) } })
  return [m.sgpr64(4), m.scc]
}

test.each<[string, number, number, 0 | 1, number, number]>([
  // name, S0, S1, SCC before, D, SCC
  ['s_add_u32', 0xffffffff, 1, 0, 0, 1],
  ['s_add_u32', 0x7fffffff, 1, 1, 0x80000000, 0],
  ['s_sub_u32', 0, 1, 0, 0xffffffff, 1],
  ['s_add_i32', 0x7fffffff, 1, 0, 0x80000000, 1],
  ['s_add_i32', 0xffffffff, 1, 1, 0, 0],
  ['s_sub_i32', 0x80000000, 1, 0, 0x7fffffff, 1],
  ['s_addc_u32', 0xffffffff, 0xffffffff, 1, 0xffffffff, 1],
  ['s_addc_u32', 0xfffffffe, 0, 1, 0xffffffff, 0],
  ['s_subb_u32', 5, 4, 1, 0, 0],
  ['s_subb_u32', 0, 0xffffffff, 1, 0, 1],
  ['s_min_i32', 0xffffffff, 1, 0, 0xffffffff, 1],
  ['s_min_u32', 0xffffffff, 1, 1, 1, 0],
  ['s_min_u32', 7, 7, 1, 7, 0],
  ['s_max_i32', 0xffffffff, 1, 1, 1, 0],
  ['s_max_u32', 0xffffffff, 1, 0, 0xffffffff, 1],
  ['s_cselect_b32', 1, 2, 1, 1, 1],
  ['s_cselect_b32', 1, 2, 0, 2, 0],
  ['s_and_b32', 0xf0, 0x0f, 1, 0, 0],
  ['s_andn2_b32', 0xff, 0x0f, 0, 0xf0, 1],
  ['s_orn2_b32', 0, 0xfffffff0, 0, 0xf, 1],
  ['s_nand_b32', 0xffffffff, 0xffffffff, 1, 0, 0],
  ['s_nor_b32', 0, 0, 0, 0xffffffff, 1],
  ['s_xnor_b32', 5, 5, 0, 0xffffffff, 1],
  ['s_lshl_b32', 1, 33, 0, 2, 1],
  ['s_lshr_b32', 0x80000000, 32 + 31, 0, 1, 1],
  ['s_ashr_i32', 0x80000000, 31, 0, 0xffffffff, 1],
  ['s_bfm_b32', 4, 8, 1, 0xf00, 1],
  ['s_bfm_b32', 32, 8, 0, 0, 0],
  ['s_mul_i32', 0xffffffff, 3, 1, 0xfffffffd, 1],
  ['s_bfe_u32', 0x12345678, 8 | (8 << 16), 0, 0x56, 1],
  ['s_bfe_u32', 0x12345678, 8, 1, 0, 0],
  ['s_bfe_u32', 0xf2345678, 28 | (8 << 16), 0, 0xf, 1],
  ['s_bfe_u32', 0x12345678, 64 << 16, 0, 0x12345678, 1],
  ['s_bfe_i32', 0x00000080, 4 | (4 << 16), 0, 0xfffffff8, 1],
  ['s_bfe_i32', 0x80000000, 28 | (8 << 16), 0, 0xfffffff8, 1],
  ['s_absdiff_i32', 2, 5, 0, 3, 1],
  ['s_absdiff_i32', 0x80000000, 1, 0, 0x7fffffff, 1],
])('%s of %i and %i, SCC %i', (name, a, b, scc, value, sccAfter) => {
  expect(sop2(name, a, b, scc)).toEqual([value, sccAfter])
})

test.each<[string, bigint, number, bigint, number]>([
  ['s_lshl_b64', 1n, 32, 0x100000000n, 1],
  ['s_lshr_b64', 0x8000000000000000n, 64 + 63, 1n, 1],
  ['s_ashr_i64', 0x8000000000000000n, 60, 0xfffffffffffffff8n, 1],
  ['s_bfe_u64', 0x123456789abcdef0n, 32 | (16 << 16), 0x5678n, 1],
  ['s_bfe_i64', 0xffffn, 16 << 16, 0xffffffffffffffffn, 1],
  ['s_bfe_i64', 0x123456789abcdef0n, 64 << 16, 0x123456789abcdef0n, 1],
])('%s of %i by %i', (name, a, b, value, scc) => {
  expect(sop2wide(name, a, b)).toEqual([value, scc])
})

test.each<[string, number, number, number]>([
  ['s_not_b32', 0xffffffff, 0, 0],
  ['s_wqm_b32', 0x00100020, 0x00f000f0, 1],
  ['s_quadmask_b32', 0x80000001, 0x81, 1],
  ['s_brev_b32', 1, 0x80000000, 0],
  ['s_bcnt0_i32_b32', 0xffffffff, 0, 0],
  ['s_bcnt1_i32_b32', 0xf0f0, 8, 1],
  ['s_ff0_i32_b32', 0x0f, 4, 0],
  ['s_ff0_i32_b32', 0xffffffff, 0xffffffff, 0],
  ['s_ff1_i32_b32', 0x80000000, 31, 0],
  ['s_flbit_i32_b32', 0x00010000, 15, 0],
  ['s_flbit_i32_b32', 0, 0xffffffff, 0],
  ['s_flbit_i32', 0xffff0000, 16, 0],
  ['s_flbit_i32', 0xffffffff, 0xffffffff, 0],
  ['s_sext_i32_i8', 0x80, 0xffffff80, 0],
  ['s_sext_i32_i16', 0x12348000, 0xffff8000, 0],
  ['s_abs_i32', 0x80000000, 0x80000000, 1],
  ['s_abs_i32', 0xfffffffb, 5, 1],
])('%s of %i', (name, a, value, scc) => {
  expect(sop1(name, a)).toEqual([value, scc])
})

test('moves leave SCC, conditional moves look at it', () => {
  expect(sop1('s_mov_b32', 7, 1)).toEqual([7, 1])
  expect(sop1('s_cmov_b32', 7, 0, 3)).toEqual([3, 0])
  expect(sop1('s_cmov_b32', 7, 1, 3)).toEqual([7, 1])
})

test('s_bitset0 and s_bitset1 change one bit of the destination', () => {
  expect(sop1('s_bitset1_b32', 33, 0, 0)[0]).toBe(2)
  expect(sop1('s_bitset0_b32', 0, 0, 3)[0]).toBe(2)
})

test('64-bit counts and masks', () => {
  expect(sop1wide('s_wqm_b64', 0x1000000000000000n)).toEqual([0xf000000000000000n, 1])
  expect(sop1wide('s_quadmask_b64', 0x1000000000000001n)).toEqual([0x8001n, 1])
  expect(sop1wide('s_brev_b64', 1n)).toEqual([0x8000000000000000n, 0])
  expect(sop1wide('s_ff1_i32_b64', 0x100000000n)[0]).toBe(32n)
  expect(sop1wide('s_flbit_i32_i64', 0xffffffff00000000n)[0]).toBe(32n)
})

test('s_mov_b64 sign-extends a literal only for signed operands, and an inline constant always', () => {
  const m = run({
    words: [
      ...op('s_mov_b64', 'sop1', { sdst: 0, ssrc0: 255 }, { literal: 0x80000000 }),
      ...op('s_mov_b64', 'sop1', { sdst: 2, ssrc0: 193 }),
    ],
  })
  expect(m.sgpr64(0)).toBe(0x80000000n)
  expect(m.sgpr64(2)).toBe(0xffffffffffffffffn)
})

describe('saveexec', () => {
  test.each<[string, bigint, bigint]>([
    ['s_and_saveexec_b64', 0x0fn, 0x0fn],
    ['s_or_saveexec_b64', 0xf00n, 0xfffn],
    ['s_xor_saveexec_b64', 0x0fn, 0xf0n],
    ['s_andn2_saveexec_b64', 0xf00n, 0xf00n],
    ['s_orn2_saveexec_b64', 0n, 0xffffffffffffff00n],
    ['s_nand_saveexec_b64', 0x0fn, 0xfffffffffffffff0n],
    ['s_nor_saveexec_b64', 0x0fn, 0xffffffffffffff00n],
    ['s_xnor_saveexec_b64', 0xffn, 0xffffffffffffffffn],
  ])('%s with EXEC 0xff and source %i', (name, source, exec) => {
    const m = run({ words: op(name, 'sop1', { sdst: 4, ssrc0: 0 }), exec: 0xffn, scc: 0, sgpr: { 0: Number(source & 0xffffffffn) } })
    expect([m.sgpr64(4), m.exec, m.scc]).toEqual([0xffn, exec & 0xffffffffffffffffn, 1])
  })
  test('SCC is 0 where EXEC becomes 0', () => {
    const m = run({ words: op('s_and_saveexec_b64', 'sop1', { sdst: 4, ssrc0: int(0) }), exec: 0xffn, scc: 1 })
    expect([m.sgpr64(4), m.exec, m.scc]).toEqual([0xffn, 0n, 0])
  })
})

test('compares with a constant: i32 sign-extends it, u32 does not', () => {
  const k = (name: string) => run({ words: op(name, 'sopk', { sdst: 0, simm16: 0xffff }), sgpr: { 0: 0xffffffff } }).scc
  expect(k('s_cmpk_eq_i32')).toBe(1)
  expect(k('s_cmpk_eq_u32')).toBe(0)
  expect(k('s_cmpk_gt_u32')).toBe(1)
})

test('s_addk_i32 sets SCC on signed overflow, s_mulk_i32 leaves it', () => {
  const add = run({ words: op('s_addk_i32', 'sopk', { sdst: 0, simm16: 0xffff }), sgpr: { 0: 0x80000000 } })
  expect([add.sgpr(0), add.scc]).toEqual([0x7fffffff, 1])
  const mul = run({ words: op('s_mulk_i32', 'sopk', { sdst: 0, simm16: 0xffff }), sgpr: { 0: 5 }, scc: 1 })
  expect([mul.sgpr(0), mul.scc]).toEqual([0xfffffffb, 1])
})

test('s_setreg and s_getreg reach a field of MODE', () => {
  const field = (register: number, offset: number, bits: number) => register | (offset << 6) | ((bits - 1) << 11)
  const words = [
    ...op('s_setreg_imm32_b32', 'sopk', { simm16: field(1, 4, 2) }, { literal: 0xfffffff1 }),
    ...op('s_getreg_b32', 'sopk', { sdst: 3, simm16: field(1, 4, 4) }),
  ]
  const m = run({ words, mode: 0x3c0 })
  expect(m.mode).toBe(0x3d0)
  expect(m.sgpr(3)).toBe(0xd)
})

test('s_getreg of STATUS shows SCC, EXECZ and VCCZ as they are', () => {
  const m = run({ words: op('s_getreg_b32', 'sopk', { sdst: 3, simm16: 2 | (31 << 11) }), scc: 1, exec: 0n })
  expect(m.sgpr(3)).toBe(0x601)
})

describe('control flow', () => {
  test('s_getpc and s_swappc give the address behind them, s_setpc goes to an address', () => {
    const words = [
      ...op('s_getpc_b64', 'sop1', { sdst: 0 }), // 0
      ...op('s_add_u32', 'sop2', { sdst: 0, ssrc0: 0, ssrc1: int(16) }), // 4: to 20
      ...op('s_swappc_b64', 'sop1', { sdst: 2, ssrc0: 0 }), // 8
      ...op('s_mov_b32', 'sop1', { sdst: 8, ssrc0: int(1) }), // 12
      ENDPGM, // 16
      ...op('s_mov_b32', 'sop1', { sdst: 9, ssrc0: int(2) }), // 20
      ...op('s_setpc_b64', 'sop1', { ssrc0: 2 }), // 24
    ]
    const m = run({ words })
    expect(m.sgpr64(2)).toBe(CODE_BASE + 12n)
    expect([m.sgpr(8), m.sgpr(9)]).toEqual([1, 2])
    expect(m.header64(layout.WAVE_INSTRUCTIONS)).toBe(7n)
  })

  test('a branch out of the code faults and has no effect', () => {
    const m = new Machine({ words: [...op('s_nop', 'sopp'), ...op('s_branch', 'sopp', { simm16: 100 })] })
    expect(m.run()).toBe(Stop.Fault)
    expect([m.header(layout.WAVE_FAULT), m.pc, m.header64(layout.WAVE_INSTRUCTIONS)]).toEqual([FaultCode.Jump, 4, 1n])
  })

  test('s_swappc to an unaligned address faults and writes nothing', () => {
    const m = new Machine({ words: op('s_swappc_b64', 'sop1', { sdst: 2, ssrc0: 0 }), sgpr: { 0: 2, 1: 0x7000, 2: 9 } })
    expect(m.run()).toBe(Stop.Fault)
    expect([m.header(layout.WAVE_FAULT), m.sgpr(2)]).toEqual([FaultCode.Jump, 9])
  })

  test('vccz, execz and scc branches', () => {
    const taken = (name: string, setup: object) =>
      run({ words: [...op(name, 'sopp', { simm16: 1 }), ...op('s_mov_b32', 'sop1', { sdst: 0, ssrc0: int(1) }), ENDPGM], ...setup }).sgpr(
        0,
      ) === 0
    expect(taken('s_cbranch_vccz', { vcc: 0n })).toBe(true)
    expect(taken('s_cbranch_vccz', { vcc: 1n << 40n })).toBe(false)
    expect(taken('s_cbranch_vccnz', { vcc: 1n })).toBe(true)
    expect(taken('s_cbranch_execz', { exec: 0n })).toBe(true)
    expect(taken('s_cbranch_execnz', { exec: 0n })).toBe(false)
    expect(taken('s_cbranch_scc1', { scc: 1 })).toBe(true)
    expect(taken('s_cbranch_scc0', { scc: 1 })).toBe(false)
  })

  test('the budget counts instructions and stops before the next one', () => {
    const m = new Machine({
      words: [...op('s_mov_b32', 'sop1', { sdst: 0, ssrc0: int(1) }), ...op('s_branch', 'sopp', { simm16: 0xfffe })],
    })
    expect(m.run(5)).toBe(Stop.Budget)
    expect(m.header64(layout.WAVE_INSTRUCTIONS)).toBe(5n)
    expect(m.pc).toBe(4)
  })

  test('s_barrier, s_sleep and s_endpgm stop behind themselves; s_trap faults where it stands', () => {
    const stop = (name: string) => {
      const m = new Machine({ words: [...op(name, 'sopp'), ENDPGM] })
      return [m.run(), m.pc]
    }
    expect(stop('s_barrier')).toEqual([Stop.Barrier, 4])
    expect(stop('s_sleep')).toEqual([Stop.Yield, 4])
    expect(stop('s_endpgm')).toEqual([Stop.End, 4])
    expect(stop('s_trap')).toEqual([Stop.Fault, 0])
  })

  test('words that are no instruction fault as illegal', () => {
    const m = new Machine({ words: [0xbf800000, 0xbfff0000] })
    expect([m.run(), m.pc, m.header(layout.WAVE_FAULT)]).toEqual([Stop.Fault, 4, FaultCode.Illegal])
  })

  test('s_cbranch_g_fork runs the smaller side first and s_cbranch_join brings the other one', () => {
    // EXEC 0xff, mask 0x7: three lanes pass, five fail; the passing ones go first.
    const words = [
      ...op('s_cbranch_g_fork', 'sop2', { ssrc0: 20, ssrc1: 22 }), // 0, target 12
      ...op('s_mov_b64', 'sop1', { sdst: 24, ssrc0: EXEC }), // 4: the failing side
      ...op('s_branch', 'sopp', { simm16: 1 }), // 8: to 16
      ...op('s_mov_b64', 'sop1', { sdst: 26, ssrc0: EXEC }), // 12: the passing side
      ...op('s_cbranch_join', 'sop1', { ssrc0: int(0) }), // 16
      ENDPGM,
    ]
    const m = run({ words, exec: 0xffn, sgpr: { 20: 7, 21: 0, 22: 12, 23: 0x7000 } })
    expect([m.sgpr64(26), m.sgpr64(24)]).toEqual([7n, 0xf8n])
    expect(m.exec).toBe(0xf8n)
    expect(m.mode >>> 29).toBe(0)
  })
})

test('s_movrels adds M0 to the number of the source, s_movreld to that of the destination', () => {
  const rels = run({ words: op('s_movrels_b32', 'sop1', { sdst: 0, ssrc0: 4 }), m0: 3, sgpr: { 7: 77 } })
  expect(rels.sgpr(0)).toBe(77)
  const reld = run({ words: op('s_movreld_b64', 'sop1', { sdst: 4, ssrc0: 0 }), m0: 2, sgpr: { 0: 1, 1: 2 } })
  expect(reld.sgpr64(6)).toBe(0x200000001n)
  const beyond = new Machine({ words: op('s_movrels_b32', 'sop1', { sdst: 0, ssrc0: 4 }), m0: 200 })
  expect([beyond.run(), beyond.header(layout.WAVE_FAULT)]).toEqual([Stop.Fault, FaultCode.Register])
})
