/** Export. */
import type { RowSource } from '../row.ts'

export const EXP: readonly RowSource[] = [
  // operation, opcodes on [gfx6, gfx7, gfx8], shape, rest
  ['exp', { exp: [0x00, 0x00, 0x00] }, 'custom', { traits: 'device' }],
]
