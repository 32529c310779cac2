/** Typed buffer operations. */
import { _, type RowSource } from '../row.ts'

export const MTBUF: readonly RowSource[] = [
  // operation, opcodes on [gfx6, gfx7, gfx8], shape, rest
  ['tbuffer_load_format_x', { mtbuf: [0x00, 0x00, 0x00] }, 'b32 ='],
  ['tbuffer_load_format_xy', { mtbuf: [0x01, 0x01, 0x01] }, 'b64 ='],
  ['tbuffer_load_format_xyz', { mtbuf: [0x02, 0x02, 0x02] }, 'b96 ='],
  ['tbuffer_load_format_xyzw', { mtbuf: [0x03, 0x03, 0x03] }, 'b128 ='],
  ['tbuffer_store_format_x', { mtbuf: [0x04, 0x04, 0x04] }, '= b32'],
  ['tbuffer_store_format_xy', { mtbuf: [0x05, 0x05, 0x05] }, '= b64'],
  ['tbuffer_store_format_xyz', { mtbuf: [0x06, 0x06, 0x06] }, '= b96'],
  ['tbuffer_store_format_xyzw', { mtbuf: [0x07, 0x07, 0x07] }, '= b128'],
  ['tbuffer_load_format_d16_x', { mtbuf: [_, _, 0x08] }, 'b32 ='],
  ['tbuffer_load_format_d16_xy', { mtbuf: [_, _, 0x09] }, 'b64 ='],
  ['tbuffer_load_format_d16_xyz', { mtbuf: [_, _, 0x0a] }, 'b96 ='],
  ['tbuffer_load_format_d16_xyzw', { mtbuf: [_, _, 0x0b] }, 'b128 ='],
  ['tbuffer_store_format_d16_x', { mtbuf: [_, _, 0x0c] }, '= b32'],
  ['tbuffer_store_format_d16_xy', { mtbuf: [_, _, 0x0d] }, '= b64'],
  ['tbuffer_store_format_d16_xyz', { mtbuf: [_, _, 0x0e] }, '= b96'],
  ['tbuffer_store_format_d16_xyzw', { mtbuf: [_, _, 0x0f] }, '= b128'],
]
