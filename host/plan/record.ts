/**
 * A plan record: an instruction as the engines run it. 32 bytes, shared by all waves of a program.
 *
 *   0 op u16      operation number (PSEUDO_OPERATIONS first, then OPERATIONS)
 *   2 flags u16   FLAG_*
 *   4 pc u32      byte offset of the instruction from the program's first byte
 *   8 dst u32     destination: byte offset into the wave block (a VGPR's row or a scalar), 0 = none
 *  12 src0..2     u32 each: byte offset into the wave block, or a constant; KIND_* in mods says which
 *  24 imm u32     by format, see below
 *  28 mods u32    kind0 2:0 | kind1 5:3 | kind2 8:6 | abs 11:9 | neg 14:12 | omod 16:15 | clamp 17 | op_sel 21:18 | sdst 29:22 | dwords 31:30
 *
 * The next instruction is the next record. `goto` (imm = pc) ties separately planned pieces together and is no instruction;
 * `end` stands where code runs off its end. A branch holds its target pc in imm; the engine looks its record up in the pc table.
 *
 * imm:
 *   sopk, sopp       simm16 sign-extended; branches: target pc (byte offset; may lie outside the code)
 *   smrd, smem       byte offset, sign-extended; src1 is an SGPR offset instead (KIND_NONE if there is none)
 *   vop DPP          dpp_ctrl 8:0 | bound_ctrl 9 | bank_mask 13:10 | row_mask 17:14
 *   vop SDWA         dst_sel 2:0 | dst_unused 4:3 | src0_sel 7:5 | src0_sext 8 | src1_sel 11:9 | src1_sext 12
 *   v_interp_*       attrchan 1:0 | attr 7:2 | high 8       src0 I, J or the parameter's number, src1 the addend in a VGPR (p1lv, p2 of f16)
 *   ds               offset0 7:0 | offset1 15:8 | gds 16     src0 addr, src1 data0, src2 data1
 *   flat             offset 15:0 signed                      src0 addr, src1 data, dst vdst
 *   mubuf, mtbuf     IMM_* below                             src0 vaddr, src1 srsrc, src2 soffset, dst vdata (loads and stores)
 *   mimg             IMM_* below                             src0 vaddr, src1 srsrc, dst vdata
 *   exp              en 3:0 | target 9:4 | compr 10 | done 11 | vm 12       dst, src0, src1, src2 are vsrc0..3
 */
import { PSEUDO_OPERATIONS } from '../isa/operations.ts'

/** Where a source comes from. */
export const KIND_VECTOR = 0 // value: offset of a VGPR row in the wave block
export const KIND_SCALAR = 1 // value: offset of a scalar dword in the wave block
export const KIND_CONSTANT = 2 // value: the dword itself; 64-bit operands: zero-extended
export const KIND_SIGNED = 3 // 64-bit operands: the dword sign-extended
export const KIND_HIGH = 4 // 64-bit operands: the dword is the high half, the low half is 0
export const KIND_INV_2PI = 5 // f64 operands: 0x3fc45f306dc9c882
export const KIND_SPECIAL = 6 // value: operand encoding: 251 vccz, 252 execz, 253 scc, 254 LDS direct
export const KIND_NONE = 7

/** One of abs, neg, omod, clamp, SDWA, DPP or LDS direct is there: sources are staged or the result finished. */
export const FLAG_STAGED = 1
export const FLAG_SDWA = 2
export const FLAG_DPP = 4
/** Counted in the machine's counters: the operation is approximate. */
export const FLAG_APPROXIMATE = 8
export const FLAG_GLC = 16
export const FLAG_SLC = 32
/** Of images also LWE: both ask for a status. */
export const FLAG_TFE = 64

export const OP_ILLEGAL = PSEUDO_OPERATIONS.indexOf('illegal')
export const OP_UNSUPPORTED = PSEUDO_OPERATIONS.indexOf('unsupported')
export const OP_GOTO = PSEUDO_OPERATIONS.indexOf('goto')
export const OP_END = PSEUDO_OPERATIONS.indexOf('end')
export const OP_DEVICE = PSEUDO_OPERATIONS.indexOf('device')

/** imm of mubuf and mtbuf: offset 11:0, then bits. */
export const IMM_OFFEN = 1 << 12
export const IMM_IDXEN = 1 << 13
export const IMM_ADDR64 = 1 << 14
export const IMM_LDS = 1 << 15
/** dfmt 19:16, nfmt 22:20. */
export const IMM_DFMT_SHIFT = 16
export const IMM_NFMT_SHIFT = 20

/** imm of mimg: dmask 3:0, then bits. */
export const IMM_DMASK = 15
export const IMM_DA = 1 << 4
export const IMM_R128 = 1 << 5
export const IMM_D16 = 1 << 6

/** sdst of mods where an instruction has none. */
export const NO_SDST = 0xff

export interface Mods {
  kinds: [number, number, number]
  abs: number
  neg: number
  omod: number
  clamp: number
  opSel: number
  sdst: number
  dwords: number
}

export function packMods(m: Mods): number {
  return (
    (m.kinds[0] |
      (m.kinds[1] << 3) |
      (m.kinds[2] << 6) |
      (m.abs << 9) |
      (m.neg << 12) |
      (m.omod << 15) |
      (m.clamp << 17) |
      (m.opSel << 18) |
      (m.sdst << 22) |
      (m.dwords << 30)) >>>
    0
  )
}

export function unpackMods(mods: number): Mods {
  return {
    kinds: [mods & 7, (mods >>> 3) & 7, (mods >>> 6) & 7],
    abs: (mods >>> 9) & 7,
    neg: (mods >>> 12) & 7,
    omod: (mods >>> 15) & 3,
    clamp: (mods >>> 17) & 1,
    opSel: (mods >>> 18) & 15,
    sdst: (mods >>> 22) & 255,
    dwords: mods >>> 30,
  }
}
