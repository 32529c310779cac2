/** Mixed vector instructions as machine words. */
import { decode, TARGETS } from '../host/index.ts'

const { gfx803 } = TARGETS

/** VALU operations as compilers choose them most, by name. */
const MIX =
  /^v_(add|sub|mul|max|min|mac|mad|fma|med3)_f32$|^v_(and|or|xor|not)_b32$|^v_(lshl|lshr|ashr)rev_[bi]32$|^v_(add|sub)_u32$|^v_mul_u32_u24$|^v_mov_b32$|^v_cndmask_b32$|^v_cvt_f32_[iu]32$|^v_cvt_[iu]32_f32$|^v_bf[ei]_[ui]32$|^v_cmp_(lt|gt|eq)_(f32|u32)$/

/**
 * Words of VOP1, VOP2, VOP3 and VOPC instructions in equal parts, the same ones for the same seed.
 * @param seed not 0
 */
export function mixedWords(count: number, seed = 1): Uint32Array {
  const words: number[] = []
  const pattern = new Uint32Array(2)
  let state = seed
  const random = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  for (let done = 0; done < count; ) {
    // Sources are VGPRs: bit 8 of their nine bits.
    const heads = [
      random() & 0x7fffffff,
      0x7e000000 | (random() & 0x01ffffff),
      0xd0000000 | (random() & 0x03ffffff),
      0x7c000000 | (random() & 0x01ffffff),
    ]
    const isVop3 = done % 4 === 2
    pattern[0] = isVop3 ? heads[2]! : heads[done % 4]! | 0x100
    pattern[1] = (random() | 0x04020100) >>> 0
    const instruction = decode(pattern, 0, gfx803)
    if (instruction === undefined || !MIX.test(instruction.operation.name)) continue
    words.push(...pattern.subarray(0, instruction.dwords))
    done++
  }
  return Uint32Array.from(words)
}
