/** Parameter interpolation (VINTRP; on gfx8 in VOP3 too). */
import { _, type RowSource } from '../row.ts'

export const VINTRP: readonly RowSource[] = [
  // operation, opcodes on [gfx6, gfx7, gfx8], shape, rest
  ['v_interp_p1_f32', { vintrp: [0x00, 0x00, 0x00], vop3: [_, _, 0x270] }, 'f32 = f32', { traits: 'ftz nan round' }],
  ['v_interp_p2_f32', { vintrp: [0x01, 0x01, 0x01], vop3: [_, _, 0x271] }, 'f32 = f32', { traits: 'ftz nan round' }],
  ['v_interp_mov_f32', { vintrp: [0x02, 0x02, 0x02], vop3: [_, _, 0x272] }, 'f32 = param'],
]
