/** A plain instruction of an operation in a format: distinct registers, no modifiers. */
import { decode } from '../codec/decode.ts'
import { encode } from '../codec/encode.ts'
import type { Instruction } from '../codec/instruction.ts'
import { legalValues } from '../codec/legal.ts'
import { type Operand, operandsOf } from '../codec/operands.ts'
import type { Format } from '../isa/formats.ts'
import type { Operation } from '../isa/operations.ts'
import { INLINE_INTEGER_FIRST, LITERAL, VGPR_FIRST } from '../isa/registers.ts'
import type { Target } from '../isa/targets.ts'

/** A dword that means something as number and as float: 1.5. */
const EXAMPLE_LITERAL = 0x3fc00000
/** Where results go unless sources reach so far. */
const FIRST_RESULT = 5

/** @throws {RangeError} the operation does not exist in the format on the target */
export function exampleOf(operation: Operation, format: Format, target: Target): Instruction {
  const fields = new Chooser(operation, format, target).fields()
  const made = (literal: number | undefined): Instruction => {
    const dwords = format.dwords + (literal === undefined ? 0 : 1)
    return { target, operation, format, fields, literal, dwords }
  }
  const needsLiteral = operation.literal !== undefined && (format.name === 'vop2' || format.name === 'sopk')
  const instruction = decode(Uint32Array.from(encode(made(needsLiteral ? EXAMPLE_LITERAL : undefined))), 0, target)
  if (instruction?.operation !== operation || instruction.format !== format)
    throw new RangeError(`the example of ${operation.name} in ${format.name} is no instruction of ${target.name}; please report it`)
  return instruction
}

/** Registers one after the other: sources from v1 and s1 on, results behind them but not before v5 and s5. */
class Chooser {
  #vgpr = 1
  #sgpr = 1

  constructor(
    private readonly operation: Operation,
    private readonly format: Format,
    private readonly target: Target,
  ) {}

  fields(): Record<string, number> {
    const { operation, format } = this
    const operands = operandsOf(operation, format)
    const results = operation.shape.results.length
    const fields: Record<string, number> = {}
    const choose = (operand: Operand) => {
      if (operand.field !== '' && operand.field in format.fields && fields[operand.field] === undefined)
        fields[operand.field] = this.#number(operand)
    }
    operands.slice(results).forEach(choose)
    this.#vgpr = Math.max(this.#vgpr, FIRST_RESULT)
    this.#sgpr = Math.max(this.#sgpr, FIRST_RESULT)
    operands.slice(0, results).forEach(choose)
    for (const name of Object.keys(format.fields)) if (name !== 'op') fields[name] = this.#legal(name, fields[name])
    return fields
  }

  #number(operand: Operand): number {
    const { kind, dwords, scale, field } = operand
    switch (kind) {
      case 'vgpr':
      case 'export':
        return this.#nextVgpr(dwords)
      case 'address':
        return 0
      case 'vectorSource':
        return VGPR_FIRST + this.#nextVgpr(dwords)
      case 'source':
        return /^s/.test(this.format.name) || field === 'soffset' ? this.#nextSgpr(dwords, 1) : VGPR_FIRST + this.#nextVgpr(dwords)
      case 'scalarSource':
        // A vector operation reads one scalar register: the next one is the constant 1 (v_writelane_b32).
        if (/^v/.test(this.format.name) && this.#sgpr > 1) return INLINE_INTEGER_FIRST + 1
        return this.#nextSgpr(dwords, scale) / scale
      case 'scalar':
        return this.#nextSgpr(dwords, scale) / scale
      default:
        return PLAIN[kind] ?? 0
    }
  }

  #nextVgpr(dwords: number): number {
    const first = dwords > 1 ? (this.#vgpr + 1) & ~1 : this.#vgpr
    this.#vgpr = first + Math.max(1, Math.ceil(dwords))
    return first
  }

  #nextSgpr(dwords: number, scale: number): number {
    const align = Math.max(scale, dwords > 2 ? 4 : dwords > 1 ? 2 : 1)
    const first = Math.ceil(this.#sgpr / align) * align
    this.#sgpr = first + Math.max(1, dwords)
    return first
  }

  #default(name: string): number {
    const { operation, format } = this
    // Scalar memory: OFFSET is a number. Atomics of FLAT: text names VDST only where GLC returns the old value.
    if (name === 'imm') return operandsOf(operation, format).some(({ kind }) => kind === 'memoryOffset') ? 1 : 0
    if (name === 'glc') return format.name === 'flat' && operation.name.includes('atomic') && operation.shape.results.length > 0 ? 1 : 0
    if (name === 'dmask') return operation.name.endsWith('cmpswap') ? 3 : 1
    return DEFAULTS[name] ?? 0
  }

  /** The chosen value, or the plainest one that is allowed. */
  #legal(name: string, chosen: number | undefined): number {
    const preferred = chosen ?? this.#default(name)
    const legal = legalValues(this.operation, this.format, this.target.generation).get(name)
    if (legal === undefined || legal[preferred] === 1) return preferred
    const plainest = legal.indexOf(1)
    return plainest === LITERAL ? preferred : Math.max(0, plainest)
  }
}

/** Operands that are no registers. */
const PLAIN: Readonly<Record<string, number>> = { number: 1, hex: 1, branch: 1, hwreg: 1, exportTarget: 0, waitcnt: 0 }
/** Fields that are modifiers, where 0 is not the plainest. */
const DEFAULTS: Readonly<Record<string, number>> = {
  dst_sel: 6,
  src0_sel: 6,
  src1_sel: 6,
  row_mask: 15,
  bank_mask: 15,
  dpp_ctrl: 0xe4,
  en: 15,
  dfmt: 4,
  nfmt: 7,
}
