/** Random instructions of one operation: every form it has, every kind of operand and modifier that the form allows. */
import { allows, decode } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import { legalValues } from '../../host/codec/legal.ts'
import { type Operand, operandsOf } from '../../host/codec/operands.ts'
import { FORMATS, type Format } from '../../host/isa/formats.ts'
import type { Operation } from '../../host/isa/operations.ts'
import { LDS_DIRECT, LITERAL, VGPR_FIRST } from '../../host/isa/registers.ts'
import type { Target } from '../../host/isa/targets.ts'
import { operandDword, type Random, word32 } from './values.ts'

/** VGPRs and SGPRs that instructions name; SGPRs from MASKS on hold masks for EXEC and are only read. */
export const VGPRS = 32
export const MASKS = 80

/** dpp_ctrl of gfx8, by the GCN3 manual's table "DPP_CTRL"; the first number of a run and how many there are. */
const DPP_CONTROLS = [
  [0x000, 256],
  [0x101, 15],
  [0x111, 15],
  [0x121, 15],
  [0x130, 1],
  [0x134, 1],
  [0x138, 1],
  [0x13c, 1],
  [0x140, 1],
  [0x141, 1],
  [0x142, 1],
  [0x143, 1],
] as const

export const formsOf = (operation: Operation, target: Target): Format[] =>
  FORMATS.filter(
    (format) =>
      format.generations.includes(target.generation) &&
      operation.opcode(format.opcodes, target.generation) !== undefined &&
      allows(format, operation),
  )

/**
 * A random instruction that decodes to what it was made of.
 * @param withLds whether SRC0 may be LDS_DIRECT: M0 then names a value in the LDS
 */
export function randomInstruction(random: Random, operation: Operation, format: Format, target: Target, withLds = false): Instruction {
  for (let attempt = 0; attempt < 40; attempt++) {
    const made = attemptInstruction(random, operation, format, target, withLds)
    const read = decode(Uint32Array.from(encode(made)), 0, target)
    if (read !== undefined && read.operation === operation && read.format === format) return read
  }
  throw new Error(`no random instruction of ${operation.name} in ${format.name} decodes on ${target.name}`)
}

function attemptInstruction(random: Random, operation: Operation, format: Format, target: Target, withLds: boolean): Instruction {
  const choose = new Chooser(random, operation, format, target, withLds)
  const fields: Record<string, number> = {}
  const operands = operandsOf(operation, format)
  for (const operand of operands) if (operand.field !== '') fields[operand.field] = choose.operand(operand)
  for (const name of Object.keys(format.fields)) if (name !== 'op' && fields[name] === undefined) fields[name] = choose.modifier(name)
  const needsLiteral = operation.literal !== undefined || format.literals.some((name) => fields[name] === LITERAL)
  const type = operation.shape.sources[operation.literal ?? 0] ?? 'b32'
  const literal = needsLiteral ? operandDword(random, type) : undefined
  return { target, operation, format, fields, literal, dwords: format.dwords + (needsLiteral ? 1 : 0) }
}

/** Chooses fields one after the other; a VALU instruction reads one scalar register (VCC, M0, EXEC included) or one literal, not more. */
class Chooser {
  #scalar: number | undefined

  constructor(
    private readonly random: Random,
    private readonly operation: Operation,
    private readonly format: Format,
    private readonly target: Target,
    private readonly withLds: boolean,
  ) {
    const implied = operandsOf(operation, format).some(({ kind }) => kind === 'vcc') && operation.shape.sources.some((t) => t === 'mask')
    if (implied || operation.shape.sources.includes('vcc')) this.#scalar = 106
    else if (operation.literal !== undefined) this.#scalar = LITERAL
  }

  operand({ kind, field, dwords, type }: Operand): number {
    switch (kind) {
      case 'vgpr':
        return this.#vgpr(dwords)
      case 'vectorSource':
        return VGPR_FIRST + this.#vgpr(dwords)
      case 'source':
        if (this.withLds && field === 'src0' && dwords === 1 && this.#scalar === undefined && this.random(2)) return this.#ldsDirect()
        return this.random(5) < 3 ? VGPR_FIRST + this.#vgpr(dwords) : this.#scalarSource(dwords, field)
      case 'scalarSource':
        return this.#scalarSource(type === 'mask' ? 2 : 1, field, type === 'mask')
      case 'scalar':
        return this.random(4) === 0 ? 106 : this.#sgpr(type === 'mask' ? 2 : 1)
      case 'parameter':
        return this.random(3)
      case 'attribute':
        // In VOP3, SRC0 is all of it: attr 5:0, attrchan 7:6, high 8.
        return this.random(8) | (this.format.fields.attrchan === undefined ? this.random(8) << 6 : 0)
      default:
        throw new Error(`${this.operation.name}: no rule for ${kind}`)
    }
  }

  #vgpr(dwords: number): number {
    const vgpr = this.random(VGPRS)
    return dwords > 1 && this.random(5) > 0 ? vgpr & ~1 : vgpr
  }

  #sgpr(dwords: number): number {
    const sgpr = this.random(MASKS)
    return dwords > 1 ? sgpr & ~1 : sgpr
  }

  #scalarSource(dwords: number, field: string, mask = false): number {
    const kind = mask ? 0 : this.random(8)
    if (kind > 3) return this.#constant()
    if (this.#scalar !== undefined)
      return this.#scalar < 106 && !mask ? this.#scalar & (dwords > 1 ? ~1 : ~0) : mask ? 106 : this.#constant()
    if (kind === 3 && this.format.literals.includes(field)) this.#scalar = LITERAL
    else if (kind === 2) this.#scalar = [106, 106, 126, dwords > 1 ? 106 : 124, dwords > 1 ? 106 : 107, 251, 252, 253][this.random(8)]!
    else this.#scalar = this.#sgpr(dwords)
    return this.#scalar
  }

  /** It reads M0, so it is the one scalar register. */
  #ldsDirect(): number {
    this.#scalar = LDS_DIRECT
    return LDS_DIRECT
  }

  #constant(): number {
    const kind = this.random(4)
    if (kind < 2) return 128 + this.random(65)
    return kind === 2 ? 193 + this.random(16) : 240 + this.random(this.target.generation === 'gfx8' ? 9 : 8)
  }

  /** A field that no operand is in: a modifier, or bits that mean nothing here. */
  modifier(name: string): number {
    if (name === 'dpp_ctrl') return this.#dppControl()
    if (name === 'attrchan') return this.random(4)
    if (name === 'row_mask' || name === 'bank_mask') return this.random(2) ? 15 : this.random(16)
    const isModifier = /^(neg|abs|omod|clamp|bound_ctrl|dst_sel|dst_unused|src[01]_(sel|sext|neg|abs))$/.test(name)
    const { hi, lo } = this.format.fields[name]!
    const legal = legalValues(this.operation, this.format, this.target.generation).get(name)
    if (!isModifier || this.random(2)) return name.endsWith('_sel') && legal?.[6] === 1 ? 6 : 0
    for (;;) {
      const value = this.random(2 ** (hi - lo + 1))
      if (legal === undefined || legal[value] === 1) return value
    }
  }

  #dppControl(): number {
    const [first, count] = DPP_CONTROLS[this.random(3) === 0 ? 0 : this.random(DPP_CONTROLS.length)]!
    return first + this.random(count)
  }
}

/** EXEC: all lanes half of the time, else any, few, or none. */
export function randomMask(random: Random): bigint {
  const any = () => (BigInt(word32(random)) << 32n) | BigInt(word32(random))
  const kind = random(8)
  if (kind < 4) return 0xffffffffffffffffn
  if (kind < 6) return any()
  return kind === 6 ? 1n << BigInt(random(64)) : random(2) ? 0n : any() & any() & any()
}
