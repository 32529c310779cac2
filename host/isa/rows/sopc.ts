/** Scalar compares. */
import { _, type RowSource } from '../row.ts'

export const SOPC: readonly RowSource[] = [
  // operation, opcodes on [gfx6, gfx7, gfx8], shape, rest
  ['s_cmp_eq_i32', { sopc: [0x00, 0x00, 0x00] }, ' = i32, i32'],
  ['s_cmp_lg_i32', { sopc: [0x01, 0x01, 0x01] }, ' = i32, i32'],
  ['s_cmp_gt_i32', { sopc: [0x02, 0x02, 0x02] }, ' = i32, i32'],
  ['s_cmp_ge_i32', { sopc: [0x03, 0x03, 0x03] }, ' = i32, i32'],
  ['s_cmp_lt_i32', { sopc: [0x04, 0x04, 0x04] }, ' = i32, i32'],
  ['s_cmp_le_i32', { sopc: [0x05, 0x05, 0x05] }, ' = i32, i32'],
  ['s_cmp_eq_u32', { sopc: [0x06, 0x06, 0x06] }, ' = u32, u32'],
  ['s_cmp_lg_u32', { sopc: [0x07, 0x07, 0x07] }, ' = u32, u32'],
  ['s_cmp_gt_u32', { sopc: [0x08, 0x08, 0x08] }, ' = u32, u32'],
  ['s_cmp_ge_u32', { sopc: [0x09, 0x09, 0x09] }, ' = u32, u32'],
  ['s_cmp_lt_u32', { sopc: [0x0a, 0x0a, 0x0a] }, ' = u32, u32'],
  ['s_cmp_le_u32', { sopc: [0x0b, 0x0b, 0x0b] }, ' = u32, u32'],
  ['s_bitcmp0_b32', { sopc: [0x0c, 0x0c, 0x0c] }, ' = b32, b32'],
  ['s_bitcmp1_b32', { sopc: [0x0d, 0x0d, 0x0d] }, ' = b32, b32'],
  ['s_bitcmp0_b64', { sopc: [0x0e, 0x0e, 0x0e] }, ' = b64, u32'],
  ['s_bitcmp1_b64', { sopc: [0x0f, 0x0f, 0x0f] }, ' = b64, u32'],
  ['s_setvskip', { sopc: [0x10, 0x10, 0x10] }, ' = b32, b32'],
  ['s_set_gpr_idx_on', { sopc: [_, _, 0x11] }, ' = b32, b32'],
  ['s_cmp_eq_u64', { sopc: [_, _, 0x12] }, ' = u64, u64'],
  ['s_cmp_lg_u64', { sopc: [_, _, 0x13] }, ' = u64, u64'],
]
