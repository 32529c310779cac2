/** Scalar operations with a 16-bit constant. */
import type { RowSource } from '../row.ts'

const READS = { partly: 'of the hardware registers only MODE, STATUS, TRAPSTS, HW_ID, GPR_ALLOC, LDS_ALLOC and IB_STS are there' }
const WRITES = { partly: 'only MODE and TRAPSTS are for programs to write' }

export const SOPK: readonly RowSource[] = [
  // operation, opcodes on [gfx6, gfx7, gfx8], shape, rest
  ['s_movk_i32', { sopk: [0x00, 0x00, 0x00] }, 'custom'],
  ['s_cmovk_i32', { sopk: [0x02, 0x02, 0x01] }, 'custom'],
  ['s_cmpk_eq_i32', { sopk: [0x03, 0x03, 0x02] }, 'custom'],
  ['s_cmpk_lg_i32', { sopk: [0x04, 0x04, 0x03] }, 'custom'],
  ['s_cmpk_gt_i32', { sopk: [0x05, 0x05, 0x04] }, 'custom'],
  ['s_cmpk_ge_i32', { sopk: [0x06, 0x06, 0x05] }, 'custom'],
  ['s_cmpk_lt_i32', { sopk: [0x07, 0x07, 0x06] }, 'custom'],
  ['s_cmpk_le_i32', { sopk: [0x08, 0x08, 0x07] }, 'custom'],
  ['s_cmpk_eq_u32', { sopk: [0x09, 0x09, 0x08] }, 'custom'],
  ['s_cmpk_lg_u32', { sopk: [0x0a, 0x0a, 0x09] }, 'custom'],
  ['s_cmpk_gt_u32', { sopk: [0x0b, 0x0b, 0x0a] }, 'custom'],
  ['s_cmpk_ge_u32', { sopk: [0x0c, 0x0c, 0x0b] }, 'custom'],
  ['s_cmpk_lt_u32', { sopk: [0x0d, 0x0d, 0x0c] }, 'custom'],
  ['s_cmpk_le_u32', { sopk: [0x0e, 0x0e, 0x0d] }, 'custom'],
  ['s_addk_i32', { sopk: [0x0f, 0x0f, 0x0e] }, 'custom'],
  ['s_mulk_i32', { sopk: [0x10, 0x10, 0x0f] }, 'custom'],
  ['s_cbranch_i_fork', { sopk: [0x11, 0x11, 0x10] }, 'custom'],
  ['s_getreg_b32', { sopk: [0x12, 0x12, 0x11] }, 'custom', READS],
  ['s_setreg_b32', { sopk: [0x13, 0x13, 0x12] }, 'custom', WRITES],
  ['s_setreg_imm32_b32', { sopk: [0x15, 0x15, 0x14] }, 'custom', { ...WRITES, literal: 0 }],
]
