/**
 * Instruction formats: fields with bit ranges and identifying bits, one object for both directions.
 * Sources: Southern Islands, Sea Islands and GCN3 (Volcanic Islands) ISA manuals, chapter "Microcode Formats".
 */
import type { NativeFormat } from './row.ts'
import type { Generation } from './targets.ts'

/** Bits hi..lo of the instruction, counted from bit 0 of its first dword. */
export interface Field {
  readonly hi: number
  readonly lo: number
}

export interface Format {
  readonly name: FormatName
  readonly generations: readonly Generation[]
  /** Dwords without a literal. */
  readonly dwords: 1 | 2
  /** Bits that identify the format, as [hi, lo, value]; all must agree. */
  readonly match: readonly (readonly [hi: number, lo: number, value: number])[]
  readonly fields: Readonly<Record<string, Field>>
  /** The column of the opcode tables. */
  readonly opcodes: NativeFormat
  /** Source fields in which 255 means that a literal dword follows; empty where a format has no literal. */
  readonly literals: readonly string[]
}

/** A format in the manual's name, lower case; `_sdwa` and `_dpp` are VOP formats whose src0 is 249 or 250. */
export type FormatName =
  | Exclude<NativeFormat, 'vop3'>
  | 'vop3a' | 'vop3b'
  | 'vop1_sdwa' | 'vop2_sdwa' | 'vopc_sdwa' | 'vop1_dpp' | 'vop2_dpp'

const f = (hi: number, lo = hi): Field => ({ hi, lo })
const ALL = ['gfx6', 'gfx7', 'gfx8'] as const
const OLD = ['gfx6', 'gfx7'] as const
const VI = ['gfx8'] as const

const VOP3A = { src0: f(40, 32), src1: f(49, 41), src2: f(58, 50), omod: f(60, 59), neg: f(63, 61), vdst: f(7, 0) }
const SDWA = {
  src0: f(39, 32), dst_sel: f(42, 40), dst_unused: f(44, 43), clamp: f(45),
  src0_sel: f(50, 48), src0_sext: f(51), src0_neg: f(52), src0_abs: f(53),
  src1_sel: f(58, 56), src1_sext: f(59), src1_neg: f(60), src1_abs: f(61),
}
const DPP = {
  src0: f(39, 32), dpp_ctrl: f(48, 40), bound_ctrl: f(51), src0_neg: f(52), src0_abs: f(53),
  src1_neg: f(54), src1_abs: f(55), bank_mask: f(59, 56), row_mask: f(63, 60),
}
const MUBUF = {
  offset: f(11, 0), offen: f(12), idxen: f(13), glc: f(14), lds: f(16),
  vaddr: f(39, 32), vdata: f(47, 40), srsrc: f(52, 48), tfe: f(55), soffset: f(63, 56),
}
const MTBUF = {
  offset: f(11, 0), offen: f(12), idxen: f(13), glc: f(14), dfmt: f(22, 19), nfmt: f(25, 23),
  vaddr: f(39, 32), vdata: f(47, 40), srsrc: f(52, 48), slc: f(54), tfe: f(55), soffset: f(63, 56),
}
const DS = { offset0: f(7, 0), offset1: f(15, 8), addr: f(39, 32), data0: f(47, 40), data1: f(55, 48), vdst: f(63, 56) }

/** Most specific first: the first format whose bits match and whose opcode exists wins. */
export const FORMATS: readonly Format[] = [
  { name: 'sop1', generations: ALL, dwords: 1, match: [[31, 23, 0b101111101]], opcodes: 'sop1', literals: ['ssrc0'],
    fields: { ssrc0: f(7, 0), op: f(15, 8), sdst: f(22, 16) } },
  { name: 'sopc', generations: ALL, dwords: 1, match: [[31, 23, 0b101111110]], opcodes: 'sopc', literals: ['ssrc0', 'ssrc1'],
    fields: { ssrc0: f(7, 0), ssrc1: f(15, 8), op: f(22, 16) } },
  { name: 'sopp', generations: ALL, dwords: 1, match: [[31, 23, 0b101111111]], opcodes: 'sopp', literals: [],
    fields: { simm16: f(15, 0), op: f(22, 16) } },
  { name: 'sopk', generations: ALL, dwords: 1, match: [[31, 28, 0b1011]], opcodes: 'sopk', literals: [],
    fields: { simm16: f(15, 0), sdst: f(22, 16), op: f(27, 23) } },
  { name: 'sop2', generations: ALL, dwords: 1, match: [[31, 30, 0b10]], opcodes: 'sop2', literals: ['ssrc0', 'ssrc1'],
    fields: { ssrc0: f(7, 0), ssrc1: f(15, 8), sdst: f(22, 16), op: f(29, 23) } },
  { name: 'smrd', generations: OLD, dwords: 1, match: [[31, 27, 0b11000]], opcodes: 'smrd', literals: [],
    fields: { offset: f(7, 0), imm: f(8), sbase: f(14, 9), sdst: f(21, 15), op: f(26, 22) } },
  { name: 'smem', generations: VI, dwords: 2, match: [[31, 26, 0b110000]], opcodes: 'smem', literals: [],
    fields: { sbase: f(5, 0), sdata: f(12, 6), glc: f(16), imm: f(17), op: f(25, 18), offset: f(51, 32) } },

  { name: 'vop1_sdwa', generations: VI, dwords: 2, match: [[31, 25, 0b0111111], [8, 0, 249]], opcodes: 'vop1', literals: [],
    fields: { op: f(16, 9), vdst: f(24, 17), ...SDWA } },
  { name: 'vop1_dpp', generations: VI, dwords: 2, match: [[31, 25, 0b0111111], [8, 0, 250]], opcodes: 'vop1', literals: [],
    fields: { op: f(16, 9), vdst: f(24, 17), ...DPP } },
  { name: 'vop1', generations: ALL, dwords: 1, match: [[31, 25, 0b0111111]], opcodes: 'vop1', literals: ['src0'],
    fields: { src0: f(8, 0), op: f(16, 9), vdst: f(24, 17) } },
  // LLVM has no DPP form of compares on gfx8 and rejects the words.
  { name: 'vopc_sdwa', generations: VI, dwords: 2, match: [[31, 25, 0b0111110], [8, 0, 249]], opcodes: 'vopc', literals: [],
    fields: { vsrc1: f(16, 9), op: f(24, 17), ...SDWA } },
  { name: 'vopc', generations: ALL, dwords: 1, match: [[31, 25, 0b0111110]], opcodes: 'vopc', literals: ['src0'],
    fields: { src0: f(8, 0), vsrc1: f(16, 9), op: f(24, 17) } },
  { name: 'vop2_sdwa', generations: VI, dwords: 2, match: [[31, 31, 0], [8, 0, 249]], opcodes: 'vop2', literals: [],
    fields: { vsrc1: f(16, 9), vdst: f(24, 17), op: f(30, 25), ...SDWA } },
  { name: 'vop2_dpp', generations: VI, dwords: 2, match: [[31, 31, 0], [8, 0, 250]], opcodes: 'vop2', literals: [],
    fields: { vsrc1: f(16, 9), vdst: f(24, 17), op: f(30, 25), ...DPP } },
  { name: 'vop2', generations: ALL, dwords: 1, match: [[31, 31, 0]], opcodes: 'vop2', literals: ['src0'],
    fields: { src0: f(8, 0), vsrc1: f(16, 9), vdst: f(24, 17), op: f(30, 25) } },
  { name: 'vintrp', generations: OLD, dwords: 1, match: [[31, 26, 0b110010]], opcodes: 'vintrp', literals: [],
    fields: { vsrc: f(7, 0), attrchan: f(9, 8), attr: f(15, 10), op: f(17, 16), vdst: f(25, 18) } },
  { name: 'vintrp', generations: VI, dwords: 1, match: [[31, 26, 0b110101]], opcodes: 'vintrp', literals: [],
    fields: { vsrc: f(7, 0), attrchan: f(9, 8), attr: f(15, 10), op: f(17, 16), vdst: f(25, 18) } },

  // VOP3A and VOP3B share opcode space and bits: an operation whose results include a mask besides the value is VOP3B.
  { name: 'vop3b', generations: OLD, dwords: 2, match: [[31, 26, 0b110100]], opcodes: 'vop3', literals: [],
    fields: { ...VOP3A, sdst: f(14, 8), op: f(25, 17) } },
  { name: 'vop3b', generations: VI, dwords: 2, match: [[31, 26, 0b110100]], opcodes: 'vop3', literals: [],
    fields: { ...VOP3A, sdst: f(14, 8), clamp: f(15), op: f(25, 16) } },
  { name: 'vop3a', generations: OLD, dwords: 2, match: [[31, 26, 0b110100]], opcodes: 'vop3', literals: [],
    fields: { ...VOP3A, abs: f(10, 8), clamp: f(11), op: f(25, 17) } },
  { name: 'vop3a', generations: VI, dwords: 2, match: [[31, 26, 0b110100]], opcodes: 'vop3', literals: [],
    fields: { ...VOP3A, abs: f(10, 8), clamp: f(15), op: f(25, 16) } },

  { name: 'ds', generations: OLD, dwords: 2, match: [[31, 26, 0b110110]], opcodes: 'ds', literals: [],
    fields: { ...DS, gds: f(17), op: f(25, 18) } },
  { name: 'ds', generations: VI, dwords: 2, match: [[31, 26, 0b110110]], opcodes: 'ds', literals: [],
    fields: { ...DS, gds: f(16), op: f(24, 17) } },
  { name: 'flat', generations: ['gfx7', 'gfx8'], dwords: 2, match: [[31, 26, 0b110111]], opcodes: 'flat', literals: [],
    fields: { glc: f(16), slc: f(17), op: f(24, 18), addr: f(39, 32), data: f(47, 40), tfe: f(55), vdst: f(63, 56) } },
  { name: 'mubuf', generations: OLD, dwords: 2, match: [[31, 26, 0b111000]], opcodes: 'mubuf', literals: [],
    fields: { ...MUBUF, addr64: f(15), slc: f(54), op: f(24, 18) } },
  { name: 'mubuf', generations: VI, dwords: 2, match: [[31, 26, 0b111000]], opcodes: 'mubuf', literals: [],
    fields: { ...MUBUF, slc: f(17), op: f(24, 18) } },
  { name: 'mtbuf', generations: OLD, dwords: 2, match: [[31, 26, 0b111010]], opcodes: 'mtbuf', literals: [],
    fields: { ...MTBUF, addr64: f(15), op: f(18, 16) } },
  { name: 'mtbuf', generations: VI, dwords: 2, match: [[31, 26, 0b111010]], opcodes: 'mtbuf', literals: [],
    fields: { ...MTBUF, op: f(18, 15) } },
  { name: 'mimg', generations: ALL, dwords: 2, match: [[31, 26, 0b111100]], opcodes: 'mimg', literals: [],
    fields: { dmask: f(11, 8), unorm: f(12), glc: f(13), da: f(14), r128: f(15), tfe: f(16), lwe: f(17), op: f(24, 18), slc: f(25),
      vaddr: f(39, 32), vdata: f(47, 40), srsrc: f(52, 48), ssamp: f(57, 53), d16: f(63) } },
  { name: 'exp', generations: OLD, dwords: 2, match: [[31, 26, 0b111110]], opcodes: 'exp', literals: [],
    fields: { en: f(3, 0), target: f(9, 4), compr: f(10), done: f(11), vm: f(12), vsrc0: f(39, 32), vsrc1: f(47, 40), vsrc2: f(55, 48), vsrc3: f(63, 56) } },
  { name: 'exp', generations: VI, dwords: 2, match: [[31, 26, 0b110001]], opcodes: 'exp', literals: [],
    fields: { en: f(3, 0), target: f(9, 4), compr: f(10), done: f(11), vm: f(12), vsrc0: f(39, 32), vsrc1: f(47, 40), vsrc2: f(55, 48), vsrc3: f(63, 56) } },
]
