/** Program control. */
import { _, type RowSource } from '../row.ts'

/** Only trap handlers may return from one (GCN3 manual, S_RFE_B64). */
export const NO_TRAP_HANDLER = { unsupported: 'it returns from a trap handler, and there is none' }
const NO_DEBUGGER = 'a halted wave waits for a debugger, and there is none'

export const SOPP: readonly RowSource[] = [
  // operation, opcodes on [gfx6, gfx7, gfx8], shape, rest
  ['s_nop', { sopp: [0x00, 0x00, 0x00] }, 'custom'],
  ['s_endpgm', { sopp: [0x01, 0x01, 0x01] }, 'custom'],
  ['s_branch', { sopp: [0x02, 0x02, 0x02] }, 'custom'],
  ['s_cbranch_scc0', { sopp: [0x04, 0x04, 0x04] }, 'custom'],
  ['s_cbranch_scc1', { sopp: [0x05, 0x05, 0x05] }, 'custom'],
  ['s_cbranch_vccz', { sopp: [0x06, 0x06, 0x06] }, 'custom'],
  ['s_cbranch_vccnz', { sopp: [0x07, 0x07, 0x07] }, 'custom'],
  ['s_cbranch_execz', { sopp: [0x08, 0x08, 0x08] }, 'custom'],
  ['s_cbranch_execnz', { sopp: [0x09, 0x09, 0x09] }, 'custom'],
  ['s_barrier', { sopp: [0x0a, 0x0a, 0x0a] }, 'custom'],
  ['s_setkill', { sopp: [0x0b, 0x0b, 0x0b] }, 'custom'],
  ['s_waitcnt', { sopp: [0x0c, 0x0c, 0x0c] }, 'custom'],
  ['s_sethalt', { sopp: [0x0d, 0x0d, 0x0d] }, 'custom', { partly: NO_DEBUGGER }],
  ['s_sleep', { sopp: [0x0e, 0x0e, 0x0e] }, 'custom'],
  ['s_setprio', { sopp: [0x0f, 0x0f, 0x0f] }, 'custom'],
  ['s_sendmsg', { sopp: [0x10, 0x10, 0x10] }, 'custom', { traits: 'device' }],
  ['s_sendmsghalt', { sopp: [0x11, 0x11, 0x11] }, 'custom', { unsupported: NO_DEBUGGER }],
  ['s_trap', { sopp: [0x12, 0x12, 0x12] }, 'custom'],
  ['s_icache_inv', { sopp: [0x13, 0x13, 0x13] }, 'custom'],
  ['s_incperflevel', { sopp: [0x14, 0x14, 0x14] }, 'custom'],
  ['s_decperflevel', { sopp: [0x15, 0x15, 0x15] }, 'custom'],
  ['s_ttracedata', { sopp: [0x16, 0x16, 0x16] }, 'custom'],
  ['s_cbranch_cdbgsys', { sopp: [0x17, 0x17, 0x17] }, 'custom'],
  ['s_cbranch_cdbguser', { sopp: [0x18, 0x18, 0x18] }, 'custom'],
  ['s_cbranch_cdbgsys_or_user', { sopp: [0x19, 0x19, 0x19] }, 'custom'],
  ['s_cbranch_cdbgsys_and_user', { sopp: [0x1a, 0x1a, 0x1a] }, 'custom'],
  ['s_wakeup', { sopp: [_, _, 0x03] }, 'custom'],
  ['s_endpgm_saved', { sopp: [_, _, 0x1b] }, 'custom'],
  ['s_set_gpr_idx_off', { sopp: [_, _, 0x1c] }, 'custom'],
  ['s_set_gpr_idx_mode', { sopp: [_, _, 0x1d] }, 'custom'],
]
