/** Instruction → plan record, and machine code → stretches of records. Knows encodings and the memory map, nothing of how operations compute. */
import { decode } from '../codec/decode.ts'
import type { Instruction } from '../codec/instruction.ts'
import type { Operation, Table } from '../isa/operations.ts'
import {
  INLINE_FLOAT_FIRST,
  INLINE_FLOATS,
  INLINE_INTEGER_FIRST,
  INLINE_INTEGER_LAST,
  INLINE_INV_2PI,
  INV_2PI,
  LDS_DIRECT,
  LITERAL,
  VCCZ,
  VGPR_FIRST,
} from '../isa/registers.ts'
import { bitsOf, dwordsOf, type OperandType } from '../isa/row.ts'
import type { Target } from '../isa/targets.ts'
import { EXEC_LO, RECORD_BYTES, scalarOffset, VCC_LO, vectorOffset } from './layout.ts'
import {
  FLAG_APPROXIMATE,
  FLAG_DPP,
  FLAG_GLC,
  FLAG_SDWA,
  FLAG_SLC,
  FLAG_STAGED,
  FLAG_TFE,
  IMM_ADDR64,
  IMM_D16,
  IMM_DA,
  IMM_DFMT_SHIFT,
  IMM_IDXEN,
  IMM_LDS,
  IMM_NFMT_SHIFT,
  IMM_OFFEN,
  IMM_R128,
  KIND_CONSTANT,
  KIND_HIGH,
  KIND_INV_2PI,
  KIND_NONE,
  KIND_SCALAR,
  KIND_SIGNED,
  KIND_SPECIAL,
  KIND_VECTOR,
  type Mods,
  NO_SDST,
  OP_DEVICE,
  OP_END,
  OP_GOTO,
  OP_ILLEGAL,
  OP_UNSUPPORTED,
  packMods,
} from './record.ts'

/** A record before it is packed; see record.ts for the fields. */
export interface PlanRecord {
  op: number
  flags: number
  pc: number
  dst: number
  sources: [number, number, number]
  imm: number
  mods: Mods
}

export interface PlanOptions {
  /** Lanes of a wave: the length of a VGPR's row. */
  readonly waveSize: number
  /** VGPRs of a wave; an instruction that names one beyond them is planned as illegal. */
  readonly vgprCount: number
}

/** Program control that never goes on with the next instruction, so a stretch ends there. */
const LEAVES = new Set(['s_endpgm', 's_endpgm_saved', 's_branch', 's_setpc_b64', 's_swappc_b64', 's_rfe_b64', 's_rfe_restore_b64'])
const isBranch = (name: string): boolean =>
  name === 's_branch' || (name.startsWith('s_cbranch_') && name !== 's_cbranch_join' && name !== 's_cbranch_g_fork')

/** What a plan cannot say of the words as they are: an operand that the instruction may not have. */
class Impossible extends Error {}

class Planner {
  readonly record: PlanRecord
  private readonly fields: Readonly<Record<string, number>>

  constructor(
    private readonly instruction: Instruction,
    pc: number,
    private readonly options: PlanOptions,
  ) {
    this.fields = instruction.fields
    this.record = {
      op: instruction.operation.number,
      flags: instruction.operation.traits.has('approximate') ? FLAG_APPROXIMATE : 0,
      pc,
      dst: 0,
      sources: [0, 0, 0],
      imm: 0,
      mods: {
        kinds: [KIND_NONE, KIND_NONE, KIND_NONE],
        abs: 0,
        neg: 0,
        omod: 0,
        clamp: 0,
        opSel: 0,
        sdst: NO_SDST,
        dwords: instruction.dwords,
      },
    }
  }

  field(name: string): number {
    return this.fields[name] ?? 0
  }

  source(slot: 0 | 1 | 2, kind: number, value: number): void {
    this.record.mods.kinds[slot] = kind
    this.record.sources[slot] = value >>> 0
  }

  scalarSource(slot: 0 | 1 | 2, encoding: number): void {
    this.source(slot, KIND_SCALAR, scalarOffset(encoding))
  }

  vector(vgpr: number, dwords: number): number {
    if (vgpr + dwords > this.options.vgprCount) throw new Impossible()
    return vectorOffset(vgpr, this.options.waveSize)
  }

  vectorSource(slot: 0 | 1 | 2, vgpr: number, dwords: number): void {
    this.source(slot, KIND_VECTOR, this.vector(vgpr, dwords))
  }

  /** A source by its 8- or 9-bit operand encoding, as an operand of `type` sees it. */
  operand(slot: 0 | 1 | 2, encoding: number, type: OperandType): void {
    const wide = bitsOf(type) === 64
    if (encoding >= VGPR_FIRST) {
      if (type === 'mask' || type === 's32') throw new Impossible()
      this.vectorSource(slot, encoding - VGPR_FIRST, dwordsOf(type))
    } else if (encoding < INLINE_INTEGER_FIRST) this.scalarSource(slot, encoding)
    else if (encoding <= 192) this.source(slot, KIND_CONSTANT, encoding - INLINE_INTEGER_FIRST)
    else if (encoding <= INLINE_INTEGER_LAST) this.source(slot, wide ? KIND_SIGNED : KIND_CONSTANT, 192 - encoding)
    else if (encoding >= INLINE_FLOAT_FIRST && encoding <= INLINE_INV_2PI) this.inlineFloat(slot, encoding, type, wide)
    else if (encoding >= VCCZ && encoding < LDS_DIRECT) this.source(slot, KIND_SPECIAL, encoding)
    else if (encoding === LDS_DIRECT) this.ldsDirect(slot)
    else if (encoding === LITERAL && this.instruction.literal !== undefined) this.literal(slot, type, wide)
    else throw new Impossible()
  }

  /** Only the first source of a vector operation reads the LDS (GCN3 manual, "LDS Direct and Parameter reads"). */
  private ldsDirect(slot: 0 | 1 | 2): void {
    if (slot !== 0 || this.instruction.format.name.startsWith('sop')) throw new Impossible()
    this.source(slot, KIND_SPECIAL, LDS_DIRECT)
  }

  private inlineFloat(slot: 0 | 1 | 2, encoding: number, type: OperandType, wide: boolean): void {
    const isInv2Pi = encoding === INLINE_INV_2PI
    if (isInv2Pi && this.instruction.target.generation !== 'gfx8') throw new Impossible()
    const float = isInv2Pi ? INV_2PI : INLINE_FLOATS[encoding - INLINE_FLOAT_FIRST]!
    if (wide) this.source(slot, isInv2Pi ? KIND_INV_2PI : KIND_HIGH, Number(float.f64 >> 32n))
    else this.source(slot, KIND_CONSTANT, type === 'f16' ? float.f16 : float.f32)
  }

  /** A literal is the high dword of an f64, sign-extended for i64 and zero-extended for b64 and u64. */
  private literal(slot: 0 | 1 | 2, type: OperandType, wide: boolean): void {
    const kind = !wide ? KIND_CONSTANT : type === 'f64' ? KIND_HIGH : type === 'i64' ? KIND_SIGNED : KIND_CONSTANT
    this.source(slot, kind, this.instruction.literal!)
  }

  flag(name: string, flag: number): void {
    if (this.field(name) !== 0) this.record.flags |= flag
  }
}

const signed16 = (x: number): number => (x << 16) >> 16

/** Scalar formats: sdst, ssrc0 and ssrc1 by the shape's types; a shape that is `custom` takes its width from the name. */
function planScalar(p: Planner, { operation, format, literal }: Instruction): void {
  const width = operation.name.endsWith('64') ? 'b64' : 'b32'
  const [first = width, second = width] = operation.shape.sources
  if (format.fields.sdst) p.record.dst = scalarOffset(p.field('sdst'))
  if (format.fields.ssrc0) p.operand(0, p.field('ssrc0'), first)
  // The field itself is the constant: what an encoding otherwise stands for does not count.
  if (operation.name === 's_set_gpr_idx_on') p.source(1, KIND_CONSTANT, p.field('ssrc1'))
  else if (format.fields.ssrc1) p.operand(1, p.field('ssrc1'), second)
  if (format.name === 'sopk') {
    if (literal !== undefined) p.source(0, KIND_CONSTANT, literal)
    else p.scalarSource(0, p.field('sdst'))
  }
  if (!format.fields.simm16) return
  const simm16 = signed16(p.field('simm16'))
  p.record.imm = isBranch(operation.name) ? p.record.pc + 4 + simm16 * 4 : simm16
}

/** SMRD offsets count dwords, SMEM's bytes; an SGPR offset counts bytes. */
function planScalarMemory(p: Planner, { format, literal, target }: Instruction): void {
  p.record.dst = scalarOffset(p.field(format.name === 'smem' ? 'sdata' : 'sdst'))
  p.scalarSource(0, p.field('sbase') * 2)
  p.flag('glc', FLAG_GLC)
  const unit = target.generation === 'gfx8' ? 1 : 4
  if (literal !== undefined) p.record.imm = literal * unit
  else if (p.field('imm') !== 0) p.record.imm = p.field('offset') * unit
  else p.scalarSource(1, p.field('offset') & 127)
}

/** Results of a vector operation: value to a VGPR (or an SGPR for v_readlane and its like), mask to a scalar pair. */
function planResults(p: Planner, { operation, format }: Instruction): void {
  const [value, mask] = operation.shape.results
  const inVop3 = format.name === 'vop3a' || format.name === 'vop3b'
  if (value === 'mask') p.record.mods.sdst = inVop3 ? p.field('vdst') : VCC_LO
  else if (value === 's32') p.record.dst = scalarOffset(p.field('vdst'))
  else if (value !== undefined) p.record.dst = p.vector(p.field('vdst'), dwordsOf(value))
  if (mask === 'mask') p.record.mods.sdst = inVop3 ? p.field('sdst') : VCC_LO
  if (p.record.mods.sdst !== NO_SDST && p.record.mods.sdst > EXEC_LO) throw new Impossible()
}

/** Sources of VOP1, VOP2 and VOPC, where src1 is a VGPR and a mask is VCC. */
function planShortSources(p: Planner, { operation, format, target }: Instruction): void {
  const types = operation.shape.sources
  const short = format.name.endsWith('_sdwa') || format.name.endsWith('_dpp')
  const encodings = [short ? p.field('src0') + VGPR_FIRST : p.field('src0'), p.field('vsrc1') + VGPR_FIRST]
  if (operation.literal === 1) encodings.splice(1, 0, LITERAL)
  if (operation.literal === 2) encodings.push(LITERAL)
  // v_readlane and v_writelane in VOP2 (gfx6, gfx7) take a scalar lane number in the vsrc1 field.
  if (types[1] === 's32' && target.generation !== 'gfx8') encodings[1] = p.field('vsrc1')
  types.forEach((type, slot) => {
    if (type === 'vcc') return
    if (slot === operation.shape.tied) p.source(slot as 0 | 1 | 2, KIND_VECTOR, p.record.dst)
    else if (type === 'mask') p.scalarSource(slot as 0 | 1 | 2, VCC_LO)
    else p.operand(slot as 0 | 1 | 2, encodings[slot]!, type)
  })
}

function planVector(p: Planner, instruction: Instruction): void {
  const { operation, format } = instruction
  planResults(p, instruction)
  if (format.name === 'vop3a' || format.name === 'vop3b') {
    operation.shape.sources.forEach((type, slot) => {
      if (type === 'vcc') return
      if (slot === operation.shape.tied) p.source(slot as 0 | 1 | 2, KIND_VECTOR, p.record.dst)
      else p.operand(slot as 0 | 1 | 2, p.field(`src${slot}`), type)
    })
    p.record.mods.abs = p.field('abs')
    p.record.mods.neg = p.field('neg')
    p.record.mods.omod = p.field('omod')
  } else planShortSources(p, instruction)
  // On a compare, clamp asks for a signal on NaN and changes no result bit.
  if (operation.shape.results[0] !== 'mask') p.record.mods.clamp = p.field('clamp')
  if (format.name.endsWith('_sdwa')) planSdwa(p)
  if (format.name.endsWith('_dpp')) planDpp(p)
  const { abs, neg, omod, clamp } = p.record.mods
  const ldsDirect = p.record.mods.kinds[0] === KIND_SPECIAL && p.record.sources[0] === LDS_DIRECT
  if (abs || neg || omod || clamp || ldsDirect || p.record.flags & (FLAG_SDWA | FLAG_DPP)) p.record.flags |= FLAG_STAGED
}

function planSdwa(p: Planner): void {
  p.record.flags |= FLAG_SDWA
  p.record.mods.abs = p.field('src0_abs') | (p.field('src1_abs') << 1)
  p.record.mods.neg = p.field('src0_neg') | (p.field('src1_neg') << 1)
  p.record.imm =
    p.field('dst_sel') |
    (p.field('dst_unused') << 3) |
    (p.field('src0_sel') << 5) |
    (p.field('src0_sext') << 8) |
    (p.field('src1_sel') << 9) |
    (p.field('src1_sext') << 12)
}

function planDpp(p: Planner): void {
  p.record.flags |= FLAG_DPP
  p.record.mods.abs = p.field('src0_abs') | (p.field('src1_abs') << 1)
  p.record.mods.neg = p.field('src0_neg') | (p.field('src1_neg') << 1)
  p.record.imm = p.field('dpp_ctrl') | (p.field('bound_ctrl') << 9) | (p.field('bank_mask') << 10) | (p.field('row_mask') << 14)
}

/** v_interp_mov reads the parameter that its source field names: 0 P10, 1 P20, 2 P0. */
const readsParameter = (instruction: Instruction): boolean => instruction.operation.shape.sources[0] === 'param'

/** Interpolation: attribute and channel go to imm, in VOP3 (gfx8) they are in src0 (attr 5:0, attrchan 7:6, high half 8). */
function planInterpolation(p: Planner, instruction: Instruction): void {
  const { operation, format } = instruction
  p.record.dst = p.vector(p.field('vdst'), 1)
  const inVop3 = format.name === 'vop3a'
  const attribute = inVop3 ? p.field('src0') : p.field('attr') | (p.field('attrchan') << 6)
  p.record.imm = ((attribute >>> 6) & 3) | ((attribute & 63) << 2) | ((attribute >>> 8) << 8)
  const encoding = inVop3 ? p.field('src1') : readsParameter(instruction) ? p.field('vsrc') : p.field('vsrc') + VGPR_FIRST
  if (readsParameter(instruction)) p.source(0, KIND_CONSTANT, encoding & 3)
  else p.operand(0, encoding, 'f32')
  if (!inVop3) return
  if (operation.shape.sources.length > 1) p.operand(1, p.field('src2'), operation.shape.sources[1]!)
  p.record.mods.abs = p.field('abs') >>> 1
  p.record.mods.neg = p.field('neg') >>> 1
  p.record.mods.omod = p.field('omod')
  p.record.mods.clamp = p.field('clamp')
  const { abs, neg, omod, clamp } = p.record.mods
  if (abs || neg || omod || clamp) p.record.flags |= FLAG_STAGED
}

function planDs(p: Planner, { operation }: Instruction): void {
  const { sources, results } = operation.shape
  p.record.dst = p.vector(p.field('vdst'), results[0] ? dwordsOf(results[0]) : 0)
  const registers = ['addr', 'data0', 'data1'] as const
  registers.forEach((name, slot) => {
    const type = sources[slot]
    if (type !== undefined || operation.shape.text === 'custom') p.vectorSource(slot as 0 | 1 | 2, p.field(name), type ? dwordsOf(type) : 0)
  })
  p.record.imm = p.field('offset0') | (p.field('offset1') << 8) | (p.field('gds') << 16)
}

function planFlat(p: Planner, { operation }: Instruction): void {
  const [result] = operation.shape.results
  p.record.dst = p.vector(p.field('vdst'), result && (p.field('glc') || !operation.name.includes('atomic')) ? dwordsOf(result) : 0)
  p.vectorSource(0, p.field('addr'), 2)
  if (operation.shape.sources[1]) p.vectorSource(1, p.field('data'), dwordsOf(operation.shape.sources[1]))
  p.flag('glc', FLAG_GLC)
  p.flag('slc', FLAG_SLC)
  p.flag('tfe', FLAG_TFE)
}

function planBuffer(p: Planner, { operation }: Instruction): void {
  const data = operation.shape.sources[0] ?? operation.shape.results[0]
  p.record.dst = p.vector(p.field('vdata'), data && !p.field('lds') ? dwordsOf(data) + p.field('tfe') : 0)
  const addressDwords = p.field('addr64') ? 2 : p.field('idxen') + p.field('offen')
  p.vectorSource(0, p.field('vaddr'), addressDwords)
  p.scalarSource(1, p.field('srsrc') * 4)
  p.operand(2, p.field('soffset'), 'b32')
  p.record.imm = p.field('offset') | (p.field('dfmt') << IMM_DFMT_SHIFT) | (p.field('nfmt') << IMM_NFMT_SHIFT)
  if (p.field('offen')) p.record.imm |= IMM_OFFEN
  if (p.field('idxen')) p.record.imm |= IMM_IDXEN
  if (p.field('addr64')) p.record.imm |= IMM_ADDR64
  if (p.field('lds')) p.record.imm |= IMM_LDS
  p.flag('glc', FLAG_GLC)
  p.flag('slc', FLAG_SLC)
  p.flag('tfe', FLAG_TFE)
}

/** Registers behind the data that a status goes to: none of a store; a compare-and-swap returns half of its data and has room for one. */
const imageStatus = (p: Planner, { name }: Operation): number =>
  /^image_store|cmpswap$/.test(name) || (name.includes('atomic') && !p.field('glc')) ? 0 : p.field('tfe') | p.field('lwe')

/** Data has a register for each bit of DMASK, at least one. How many an address has, the resource says. */
function planImage(p: Planner, { operation }: Instruction): void {
  const data = Math.max(1, [1, 2, 4, 8].filter((bit) => p.field('dmask') & bit).length)
  p.record.dst = p.vector(p.field('vdata'), data + imageStatus(p, operation))
  p.vectorSource(0, p.field('vaddr'), 1)
  p.scalarSource(1, p.field('srsrc') * 4)
  p.record.imm = p.field('dmask')
  if (p.field('da')) p.record.imm |= IMM_DA
  if (p.field('r128')) p.record.imm |= IMM_R128
  if (p.field('d16')) p.record.imm |= IMM_D16
  p.flag('glc', FLAG_GLC)
  p.flag('slc', FLAG_SLC)
  p.flag('tfe', FLAG_TFE)
  p.flag('lwe', FLAG_TFE)
}

function planExport(p: Planner): void {
  p.record.dst = p.vector(p.field('vsrc0'), 1)
  for (const slot of [0, 1, 2] as const) p.vectorSource(slot, p.field(`vsrc${slot + 1}`), 1)
  p.record.imm = p.field('en') | (p.field('target') << 4) | (p.field('compr') << 10) | (p.field('done') << 11) | (p.field('vm') << 12)
}

const PLANNERS: Readonly<Record<Table, (p: Planner, instruction: Instruction) => void>> = {
  sop1: planScalar,
  sop2: planScalar,
  sopc: planScalar,
  sopk: planScalar,
  sopp: planScalar,
  smem: planScalarMemory,
  vop1: planVector,
  vop2: planVector,
  vop3: planVector,
  vopc: planVector,
  vintrp: planInterpolation,
  ds: planDs,
  flat: planFlat,
  mubuf: planBuffer,
  mtbuf: planBuffer,
  mimg: planImage,
  exp: planExport,
}

/** The record of words that are no instruction, or that name what the wave does not have. */
function illegal(pc: number, dwords: number): PlanRecord {
  const mods: Mods = { kinds: [KIND_NONE, KIND_NONE, KIND_NONE], abs: 0, neg: 0, omod: 0, clamp: 0, opSel: 0, sdst: NO_SDST, dwords }
  return { op: OP_ILLEGAL, flags: 0, pc, dst: 0, sources: [0, 0, 0], imm: 0, mods }
}

const pseudo = (op: number, pc: number, imm: number): PlanRecord => ({ ...illegal(pc, 0), op, imm })

/**
 * Plans one instruction.
 * @param pc byte offset of the instruction from its program's first byte
 * @returns its record; `unsupported` and `device` where the row says so, `illegal` where the instruction names operands that it may not have or VGPRs beyond `vgprCount`
 */
export function planInstruction(instruction: Instruction, pc: number, options: PlanOptions): PlanRecord {
  if (instruction.operation.unsupported !== undefined) return { ...illegal(pc, instruction.dwords), op: OP_UNSUPPORTED }
  const planner = new Planner(instruction, pc, options)
  try {
    const plan = instruction.operation.name.startsWith('v_interp_') ? planInterpolation : PLANNERS[instruction.operation.table]
    plan(planner, instruction)
  } catch (error) {
    if (error instanceof Impossible) return illegal(pc, instruction.dwords)
    throw error
  }
  if (instruction.operation.traits.has('device')) return { ...illegal(pc, instruction.dwords), op: OP_DEVICE }
  return planner.record
}

/** Packs a record into the 8 dwords at `index`. */
export function packRecord(into: Uint32Array, index: number, r: PlanRecord): void {
  into[index] = r.op | (r.flags << 16)
  into[index + 1] = r.pc
  into[index + 2] = r.dst
  into[index + 3] = r.sources[0]
  into[index + 4] = r.sources[1]
  into[index + 5] = r.sources[2]
  into[index + 6] = r.imm
  into[index + 7] = packMods(r.mods)
}

/** Records that stand one behind another in memory. */
export interface Stretch {
  /** 8 dwords a record. */
  readonly records: Uint32Array
  /** pc of each record that starts an instruction, in order; trailing `goto` and `end` records have none. */
  readonly pcs: readonly number[]
}

/** Instructions of a stretch at most; what follows is planned when it is reached. */
export const STRETCH_LIMIT = 1024

/**
 * Plans the code from `pc` on: to an instruction that never goes on with the next one, to words that are no instruction, to code
 * that `planned` knows already, or to the code's end.
 * @param words the program's code, dword by dword
 * @param planned tells whether the pc (a byte offset) has a record already
 */
export function planStretch(
  words: Uint32Array,
  pc: number,
  target: Target,
  options: PlanOptions,
  planned: (pc: number) => boolean,
): Stretch {
  const list: PlanRecord[] = []
  const pcs: number[] = []
  let at = pc
  for (;;) {
    if (at >= words.length * 4) {
      list.push(pseudo(OP_END, at, 0))
      break
    }
    if (list.length >= STRETCH_LIMIT || (at !== pc && planned(at))) {
      list.push(pseudo(OP_GOTO, at, at))
      break
    }
    const instruction = decode(words, at >>> 2, target)
    pcs.push(at)
    list.push(instruction ? planInstruction(instruction, at, options) : illegal(at, 1))
    if (!instruction || LEAVES.has(instruction.operation.name)) break
    at += instruction.dwords * 4
  }
  const records = new Uint32Array((list.length * RECORD_BYTES) / 4)
  list.forEach((record, i) => {
    packRecord(records, (i * RECORD_BYTES) / 4, record)
  })
  return { records, pcs }
}
