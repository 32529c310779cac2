/** What scalar operations mean: D the result, S0 and S1 the sources, I the 16-bit immediate. Data, but for pairs of 32 and 64 bits. */

const BITS: Readonly<Record<string, string>> = {
  and: 'S0 and S1, bit by bit', or: 'S0 or S1, bit by bit', xor: 'the bits in which S0 and S1 differ',
  andn2: 'S0 and not S1, bit by bit', orn2: 'S0 or not S1, bit by bit', nand: 'not both of S0 and S1, bit by bit',
  nor: 'neither S0 nor S1, bit by bit', xnor: 'the bits in which S0 and S1 agree',
}
const RELATIONS: Readonly<Record<string, string>> = { eq: '=', lg: '≠', gt: '>', ge: '≥', lt: '<', le: '≤' }

/** By name without `_b32`, `_b64` and the like, or whole. */
const MEANINGS: Readonly<Record<string, string>> = {
  s_mov: 'D = S0.',
  s_cmov: 'D = S0 if SCC is set.',
  s_not: 'D = S0 with every bit inverted; SCC = D ≠ 0.',
  s_wqm: 'D = S0 with every group of four bits that has a one filled with ones; SCC = D ≠ 0.',
  s_brev: 'D = S0 with its bits in reverse order.',
  s_bcnt0_i32: 'D = the number of zeros in S0; SCC = D ≠ 0.',
  s_bcnt1_i32: 'D = the number of ones in S0; SCC = D ≠ 0.',
  s_ff0_i32: 'D = the place of the lowest zero of S0, -1 if there is none.',
  s_ff1_i32: 'D = the place of the lowest one of S0, -1 if there is none.',
  s_flbit_i32: 'D = the number of bits from the top of S0 that equal its sign, -1 if all do.',
  s_flbit_i32_b32: 'D = the number of zeros above the highest one of S0, -1 if S0 is 0.',
  s_flbit_i32_b64: 'D = the number of zeros above the highest one of S0, -1 if S0 is 0.',
  s_sext_i32_i8: 'D = the signed byte S0[7:0].',
  s_sext_i32_i16: 'D = the signed half S0[15:0].',
  s_bitset0: 'Clears the bit of D that S0 names.',
  s_bitset1: 'Sets the bit of D that S0 names.',
  s_getpc: 'D = the address of the next instruction.',
  s_setpc: 'Goes on at the address S0.',
  s_swappc: 'D = the address of the next instruction; goes on at the address S0: a call.',
  s_rfe: 'Returns from a trap handler to the address S0.',
  s_quadmask: 'D = a bit for every group of four bits of S0, set where the group has a one; SCC = D ≠ 0.',
  s_movrels: 'D = the SGPR S0 + M0.',
  s_movreld: 'SGPR D + M0 = S0.',
  s_cbranch_join: 'Ends one side of a fork: takes the other side from the stack, or goes on with all lanes.',
  s_abs_i32: 'D = S0 without its sign; SCC = D ≠ 0.',
  s_set_gpr_idx_idx: 'M0[7:0] = S0[7:0], the offset of VGPR indexing.',
  s_add_u32: 'D = S0 + S1; SCC = the carry.',
  s_sub_u32: 'D = S0 - S1; SCC = the borrow.',
  s_add_i32: 'D = S0 + S1; SCC = signed overflow.',
  s_sub_i32: 'D = S0 - S1; SCC = signed overflow.',
  s_addc_u32: 'D = S0 + S1 + SCC; SCC = the carry.',
  s_subb_u32: 'D = S0 - S1 - SCC; SCC = the borrow.',
  s_min_i32: 'D = the smaller of S0 and S1, signed; SCC = it was S0.',
  s_min_u32: 'D = the smaller of S0 and S1, unsigned; SCC = it was S0.',
  s_max_i32: 'D = the larger of S0 and S1, signed; SCC = it was S0.',
  s_max_u32: 'D = the larger of S0 and S1, unsigned; SCC = it was S0.',
  s_cselect: 'D = S0 if SCC is set, else S1.',
  s_lshl: 'D = S0 shifted left by S1; SCC = D ≠ 0.',
  s_lshr: 'D = S0 shifted right by S1, zeros coming in; SCC = D ≠ 0.',
  s_ashr: 'D = S0 shifted right by S1, its sign coming in; SCC = D ≠ 0.',
  s_bfm: 'D = as many ones as S0 says, shifted left by S1.',
  s_mul_i32: 'D = the low 32 bits of S0 × S1.',
  s_bfe_u32: 'D = S1[22:16] bits of S0 from bit S1[4:0] on, zeros above; SCC = D ≠ 0.',
  s_bfe_i32: 'D = S1[22:16] bits of S0 from bit S1[4:0] on, their sign above; SCC = D ≠ 0.',
  s_bfe_u64: 'D = S1[22:16] bits of S0 from bit S1[5:0] on, zeros above; SCC = D ≠ 0.',
  s_bfe_i64: 'D = S1[22:16] bits of S0 from bit S1[5:0] on, their sign above; SCC = D ≠ 0.',
  s_cbranch_g_fork: 'Forks by the mask S0: the larger side of EXEC waits on the stack, the smaller goes first, one of them at the address S1.',
  s_absdiff_i32: 'D = the absolute difference of S0 and S1; SCC = D ≠ 0.',
  s_rfe_restore: 'Returns from a trap handler to the address S0 and restores STATUS from S1.',
  s_bitcmp0: 'SCC = bit S1 of S0 is 0.',
  s_bitcmp1: 'SCC = bit S1 of S0 is 1.',
  s_setvskip: 'Sets or clears vector skipping by bit S1 of S0.',
  s_set_gpr_idx_on: 'Switches VGPR indexing on: M0[7:0] = S0, M0[15:12] = which operands.',
  s_movk_i32: 'D = I, signed.',
  s_cmovk_i32: 'D = I, signed, if SCC is set.',
  s_addk_i32: 'D = D + I; SCC = signed overflow.',
  s_mulk_i32: 'D = the low 32 bits of D × I.',
  s_cbranch_i_fork: 'Forks by the mask D: the larger side of EXEC waits on the stack, the smaller goes first, one of them I instructions ahead.',
  s_getreg: 'D = bits of a hardware register.',
  s_setreg: 'Bits of a hardware register = D.',
  s_setreg_imm32: 'Bits of a hardware register = the literal.',
  s_nop: 'Does nothing for I + 1 cycles.',
  s_endpgm: 'Ends the wave.',
  s_branch: 'Goes on I dwords behind the next instruction.',
  s_barrier: 'Waits until all waves of the workgroup are here.',
  s_setkill: 'Marks the wave to be killed.',
  s_waitcnt: 'Waits until at most so many memory operations are outstanding; nothing is outstanding here.',
  s_sethalt: 'Halts the wave, or lets it go on.',
  s_sleep: 'Sleeps about 64 × I cycles.',
  s_setprio: 'Sets the priority of the wave.',
  s_sendmsg: 'Sends a message to the outside of the shader.',
  s_sendmsghalt: 'Sends a message to the outside of the shader and halts.',
  s_trap: 'Enters the trap handler.',
  s_icache_inv: 'Empties the instruction cache.',
  s_incperflevel: 'Counts up a performance counter.',
  s_decperflevel: 'Counts down a performance counter.',
  s_ttracedata: 'Sends M0 to the thread trace.',
  s_cbranch_cdbgsys: 'Goes on I dwords behind the next instruction if a system debugger is there.',
  s_cbranch_cdbguser: 'Goes on I dwords behind the next instruction if a user debugger is there.',
  s_cbranch_cdbgsys_or_user: 'Goes on I dwords behind the next instruction if any debugger is there.',
  s_cbranch_cdbgsys_and_user: 'Goes on I dwords behind the next instruction if both debuggers are there.',
  s_wakeup: 'Wakes the sleeping waves of the workgroup.',
  s_endpgm_saved: 'Ends a wave whose state has been saved.',
  s_set_gpr_idx_off: 'Switches VGPR indexing off.',
  s_set_gpr_idx_mode: 'M0[15:12] = which operands VGPR indexing moves.',
  s_memtime: 'D = a counter that grows; here by one with every reading.',
  s_memrealtime: 'D = a counter that grows; here by one with every reading.',
  s_dcache_inv: 'Empties the scalar data cache.',
  s_dcache_inv_vol: 'Empties the scalar data cache of volatile lines.',
  s_dcache_wb: 'Writes the scalar data cache back.',
  s_dcache_wb_vol: 'Writes volatile lines of the scalar data cache back.',
  s_atc_probe: 'Prefetches an address translation.',
  s_atc_probe_buffer: 'Prefetches an address translation of a buffer.',
}

/** The meaning of an operation whose name begins with `s_`; undefined where there is none. */
export function scalarMeaning(name: string): string | undefined {
  const plain = MEANINGS[name] ?? MEANINGS[name.replace(/_[biu](32|64)$/, '')]
  if (plain !== undefined) return plain
  const [, compare, relation, type] = /^s_(cmpk?)_(eq|lg|gt|ge|lt|le)_([iu])/.exec(name) ?? []
  if (relation !== undefined)
    return `SCC = ${compare === 'cmpk' ? 'D' : 'S0'} ${RELATIONS[relation]} ${compare === 'cmpk' ? 'I' : 'S1'}${/eq|lg/.test(relation) ? '' : type === 'i' ? ', signed' : ', unsigned'}.`
  const [, saved] = /^s_(\w+)_saveexec_b64$/.exec(name) ?? []
  if (saved !== undefined) return `D = EXEC; EXEC = ${BITS[saved]!.replace('S1', 'EXEC')}; SCC = EXEC ≠ 0.`
  const [, bits] = /^s_(\w+)_b(?:32|64)$/.exec(name) ?? []
  if (bits !== undefined && BITS[bits] !== undefined) return `D = ${BITS[bits]}; SCC = D ≠ 0.`
  const [, condition] = /^s_cbranch_(scc0|scc1|vccz|vccnz|execz|execnz)$/.exec(name) ?? []
  if (condition !== undefined) return `Goes on I dwords behind the next instruction if ${CONDITIONS[condition]}.`
  const [, buffer, direction, count = '1'] = /^s_(buffer_)?(load|store)_dword(?:x(\d+))?$/.exec(name) ?? []
  if (direction === undefined) return undefined
  const dwords = count === '1' ? 'a dword' : `${count} dwords`
  const place = buffer === undefined ? 'memory' : 'a buffer'
  return direction === 'load' ? `Loads ${dwords} from ${place} into SGPRs.` : `Stores ${dwords} from SGPRs into ${place}.`
}

const CONDITIONS: Readonly<Record<string, string>> = {
  scc0: 'SCC is clear', scc1: 'SCC is set', vccz: 'VCC is 0', vccnz: 'VCC is not 0', execz: 'EXEC is 0', execnz: 'EXEC is not 0',
}
