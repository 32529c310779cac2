/** Scalar memory (SMRD on gfx6 and gfx7, SMEM on gfx8). */
import { _, type RowSource } from '../row.ts'

export const SMEM: readonly RowSource[] = [
  // operation, opcodes on [gfx6, gfx7, gfx8], shape, rest
  ['s_load_dword', { smrd: [0x00, 0x00, _], smem: [_, _, 0x00] }, 'b32 = b64'],
  ['s_load_dwordx2', { smrd: [0x01, 0x01, _], smem: [_, _, 0x01] }, 'b64 = b64'],
  ['s_load_dwordx4', { smrd: [0x02, 0x02, _], smem: [_, _, 0x02] }, 'b128 = b64'],
  ['s_load_dwordx8', { smrd: [0x03, 0x03, _], smem: [_, _, 0x03] }, 'b256 = b64'],
  ['s_load_dwordx16', { smrd: [0x04, 0x04, _], smem: [_, _, 0x04] }, 'b512 = b64'],
  ['s_buffer_load_dword', { smrd: [0x08, 0x08, _], smem: [_, _, 0x08] }, 'b32 = b128'],
  ['s_buffer_load_dwordx2', { smrd: [0x09, 0x09, _], smem: [_, _, 0x09] }, 'b64 = b128'],
  ['s_buffer_load_dwordx4', { smrd: [0x0a, 0x0a, _], smem: [_, _, 0x0a] }, 'b128 = b128'],
  ['s_buffer_load_dwordx8', { smrd: [0x0b, 0x0b, _], smem: [_, _, 0x0b] }, 'b256 = b128'],
  ['s_buffer_load_dwordx16', { smrd: [0x0c, 0x0c, _], smem: [_, _, 0x0c] }, 'b512 = b128'],
  ['s_memtime', { smrd: [0x1e, 0x1e, _], smem: [_, _, 0x24] }, 'b64 ='],
  ['s_dcache_inv', { smrd: [0x1f, 0x1f, _], smem: [_, _, 0x20] }, 'custom'],
  ['s_dcache_inv_vol', { smrd: [_, 0x1d, _], smem: [_, _, 0x22] }, 'custom'],
  ['s_store_dword', { smem: [_, _, 0x10] }, '= b64, b32'],
  ['s_store_dwordx2', { smem: [_, _, 0x11] }, '= b64, b64'],
  ['s_store_dwordx4', { smem: [_, _, 0x12] }, '= b64, b128'],
  ['s_buffer_store_dword', { smem: [_, _, 0x18] }, '= b128, b32'],
  ['s_buffer_store_dwordx2', { smem: [_, _, 0x19] }, '= b128, b64'],
  ['s_buffer_store_dwordx4', { smem: [_, _, 0x1a] }, '= b128, b128'],
  ['s_dcache_wb', { smem: [_, _, 0x21] }, 'custom'],
  ['s_dcache_wb_vol', { smem: [_, _, 0x23] }, 'custom'],
  ['s_memrealtime', { smem: [_, _, 0x25] }, 'b64 ='],
  ['s_atc_probe', { smem: [_, _, 0x26] }, 'custom'],
  ['s_atc_probe_buffer', { smem: [_, _, 0x27] }, 'custom'],
]
