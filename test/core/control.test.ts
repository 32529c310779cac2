import { describe, expect, test } from 'vitest'
import { FaultCode, Stop } from '../../host/engine.ts'
import { waveOf } from './wave.ts'

describe('control flow', () => {
  test('a loop of s_sub_u32 and s_cbranch_scc1 runs until its counter is 0', async () => {
    const w = await waveOf({
      asm: 's_movk_i32 s0, 5\ns_movk_i32 s1, 0\nloop:\ns_add_u32 s1, s1, s0\ns_sub_u32 s0, s0, 1\ns_cmp_lg_u32 s0, 0\ns_cbranch_scc1 loop',
    })
    expect(w.run()).toBe(Stop.End)
    expect(w.s(1)).toBe(15) // 5 + 4 + 3 + 2 + 1
    expect(w.instructions).toBe(2 + 5 * 4 + 1)
  })

  test('the budget counts instructions, and a run goes on where it stopped', async () => {
    const w = await waveOf({ asm: 's_movk_i32 s0, 1\ns_movk_i32 s1, 2\ns_movk_i32 s2, 3' })
    expect(w.run(2)).toBe(Stop.Budget)
    expect([w.pc, w.s(1), w.s(2), w.instructions]).toEqual([8, 2, 0, 2])
    expect(w.run(1)).toBe(Stop.Budget)
    expect([w.pc, w.s(2), w.instructions]).toEqual([12, 3, 3])
    expect(w.run(1)).toBe(Stop.End)
    expect(w.instructions).toBe(4)
  })

  test('stepping one by one takes as many steps as running at once counts, over the seams of stretches too', async () => {
    const asm = 's_movk_i32 s0, 3\nloop:\ns_sub_u32 s0, s0, 1\ns_cmp_lg_u32 s0, 0\ns_cbranch_scc1 loop\ns_movk_i32 s1, 9'
    const whole = await waveOf({ asm })
    whole.run()
    const count = whole.instructions
    const w = await waveOf({ asm })
    let steps = 0
    while (w.run(1) === Stop.Budget) steps++
    expect(steps + 1).toBe(count)
    expect(w.instructions).toBe(count)
    expect(w.s(1)).toBe(9)
  })

  test('s_barrier stops behind itself, and an endless loop ends with its budget', async () => {
    const w = await waveOf({ asm: 's_barrier\nforever:\ns_branch forever' })
    expect(w.run()).toBe(Stop.Barrier)
    expect(w.pc).toBe(4)
    expect(w.run(1000)).toBe(Stop.Budget)
    expect(w.instructions).toBe(1001)
  })

  test('s_swappc_b64 calls and s_setpc_b64 returns', async () => {
    const w = await waveOf({
      asm: 's_getpc_b64 s[0:1]\ns_add_u32 s0, s0, 20\ns_addc_u32 s1, s1, 0\ns_swappc_b64 s[2:3], s[0:1]\ns_movk_i32 s8, 7\ns_endpgm\ns_movk_i32 s9, 8\ns_setpc_b64 s[2:3]',
    })
    expect(w.run()).toBe(Stop.End)
    expect([w.s(8), w.s(9)]).toEqual([7, 8])
    expect(w.s64(2)).toBe(0x7000_0000_0010n) // behind s_swappc_b64, which is at byte 12
  })

  test('a jump out of the code is a fault at the jump', async () => {
    const w = await waveOf({ asm: 's_movk_i32 s4, 1\ns_setpc_b64 s[0:1]', sgpr: { 0: 0x1000, 1: 0x7000 } })
    expect(w.run()).toBe(Stop.Fault)
    expect(w.fault).toMatchObject({ code: FaultCode.Jump, pc: 4, address: 0x7000_0000_1000n })
    expect(w.instructions).toBe(1)
  })

  test('s_cbranch_execz looks at EXEC, s_cbranch_vccnz at VCC', async () => {
    const w = await waveOf({
      asm: 's_mov_b64 exec, 0\ns_cbranch_execz a\ns_movk_i32 s0, 1\na:\ns_cbranch_vccnz b\ns_movk_i32 s1, 1\nb:',
      vcc: 0n,
    })
    expect(w.run()).toBe(Stop.End)
    expect([w.s(0), w.s(1)]).toEqual([0, 1])
  })

  test('words that are no instruction stop the wave without a trace', async () => {
    const w = await waveOf({ words: [0xbe800080, 0xbfff0000] }) // s_mov_b32 s0, 0; no such SOPP opcode
    expect(w.run()).toBe(Stop.Fault)
    expect(w.fault).toMatchObject({ code: FaultCode.Illegal, pc: 4 })
  })

  test('s_trap is a fault that names the trap', async () => {
    const w = await waveOf({ asm: 's_trap 3' })
    expect(w.run()).toBe(Stop.Fault)
    expect(w.fault).toMatchObject({ code: FaultCode.Trap, pc: 0 })
  })

  test('s_cbranch_i_fork lets the smaller group go first, s_cbranch_join brings the other one', async () => {
    // Lanes 0 to 3 go to `then`, the other 60 go on behind them. The join leaves EXEC to whoever came last (GCN3 manual).
    const w = await waveOf({
      asm: 's_cbranch_i_fork s[20:21], then\nv_or_b32_e32 v0, 1, v0\ns_branch join\nthen:\nv_or_b32_e32 v0, 2, v0\njoin:\ns_cbranch_join s22\nv_or_b32_e32 v0, 4, v0',
      sgpr: { 20: 0xf, 21: 0, 22: 0 },
    })
    expect(w.run()).toBe(Stop.End)
    expect(w.exec).toBe(0xffff_ffff_ffff_fff0n)
    expect(w.v(0)).toEqual(Array.from({ length: 64 }, (_, lane) => (lane < 4 ? 2 : 5)))
  })
})

describe('scalar results', () => {
  test.each([
    ['s_add_i32 s0, s1, s2', 0x7fffffff, 1, 0x80000000, 1],
    ['s_add_u32 s0, s1, s2', 0xffffffff, 1, 0, 1],
    ['s_sub_i32 s0, s1, s2', 0x80000000, 1, 0x7fffffff, 1],
    ['s_subb_u32 s0, s1, s2', 5, 5, 0xffffffff, 1], // SCC was 1
    ['s_max_i32 s0, s1, s2', 3, 3, 3, 1],
    ['s_min_u32 s0, s1, s2', 3, 3, 3, 0],
    ['s_bfe_i32 s0, s1, s2', 0x00000f80, 0x00050007, 0xffffffff, 1],
    ['s_bfe_u32 s0, s1, s2', 0xffffffff, 0x0000_0004, 0, 0],
    ['s_lshl_b32 s0, s1, s2', 1, 33, 2, 1],
    ['s_absdiff_i32 s0, s1, s2', 0x80000000, 0, 0x80000000, 1],
    ['s_bfm_b32 s0, s1, s2', 4, 8, 0xf00, 1],
    ['s_flbit_i32 s0, s1', 0xfffffff0, 0, 28, 1],
    ['s_ff1_i32_b32 s0, s1', 0, 0, 0xffffffff, 1],
    ['s_wqm_b32 s0, s1', 0x00200100, 0, 0x00f00f00, 1],
    ['s_quadmask_b32 s0, s1', 0x00200100, 0, 0x24, 1],
    ['s_brev_b32 s0, s1', 0x00000003, 0, 0xc0000000, 1],
  ])('%s of %i and %i', async (asm, a, b, result, scc) => {
    const w = await waveOf({ asm, sgpr: { 1: a, 2: b }, scc: 1 })
    w.run()
    expect([w.s(0), w.scc]).toEqual([result, scc])
  })

  test('s_setreg_b32 of the round mode is seen by the next instruction', async () => {
    // 1 + 2^-24 is a tie: to even it is 1, towards +infinity the next number.
    const w = await waveOf({
      asm: 'v_add_f32_e32 v1, v0, v2\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\nv_add_f32_e32 v3, v0, v2\ns_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 4)',
      vgpr: { 0: 0x3f800000, 2: 0x33800000 },
    })
    w.run()
    expect([w.v(1)[5], w.v(3)[5], w.s(0)]).toEqual([0x3f800000, 0x3f800001, 1])
  })

  test('s_movrels_b32 beyond the SGPRs is a fault', async () => {
    const w = await waveOf({ asm: 's_movrels_b32 s0, s4', m0: 98 })
    expect(w.run()).toBe(Stop.Fault)
    expect(w.fault.code).toBe(FaultCode.Register)
  })
})
