/** What programs of several waves begin with. */
import { type randomFrom, word } from './programs.ts'

/** FLOAT_MODE of rsrc1: denormals and rounding, the usual one most often. */
export const FLOAT_MODES = [0xc0, 0xc0, 0xc0, 0xf0, 0xcf, 0xc5, 0x00, 0xd0, 0xe0]

/** Registers that differ from workgroup to workgroup, from wave to wave, and from lane to lane: a dispatch itself sets few. */
export function prologue(random: ReturnType<typeof randomFrom>): readonly string[] {
  const tame = random(3) === 0
  const lines = Array.from({ length: 40 }, (_, s) => `s_mov_b32 s${18 + s}, 0x${word(random, tame).toString(16)}`)
  lines.push('s_add_u32 s18, s18, s6', 'v_readfirstlane_b32 s19, v0')
  for (let v = 1; v < 12; v++) {
    lines.push(`v_mov_b32 v${v}, 0x${word(random, tame).toString(16)}`)
    if (random(2)) lines.push(`v_mul_lo_u32 v${v}, v${v}, v0`)
  }
  return [...lines, 'v_add_f32 v0, v1, v2']
}
