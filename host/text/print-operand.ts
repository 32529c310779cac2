/** Operands as text: the one place that knows how registers, constants and immediates are written. */

import type { Instruction } from '../codec/instruction.ts'
import { type Operand, registersOf } from '../codec/operands.ts'
import { exportTargetName } from '../isa/exports.ts'
import {
  INLINE_FLOAT_FIRST,
  INLINE_FLOATS,
  INLINE_INTEGER_FIRST,
  INLINE_INTEGER_LAST,
  INLINE_INV_2PI,
  INV_2PI,
  LATER_SOURCES,
  LITERAL,
  SCALAR_REGISTERS,
  SPECIAL_SOURCES,
  VGPR_FIRST,
} from '../isa/registers.ts'
import { bitsOf, type OperandType } from '../isa/row.ts'
import type { Generation } from '../isa/targets.ts'
import { inlineInteger, isInline } from './constants.ts'
import {
  GPR_INDEX_MODES,
  GS_NOP,
  GS_OPERATIONS,
  HARDWARE_REGISTERS,
  MESSAGE_GS,
  MESSAGE_GS_DONE,
  MESSAGE_SYSMSG,
  messageNames,
  PARAMETERS,
  SYSMSG_OPERATIONS,
} from './names.ts'

/** The text of one operand; nothing where the fields say that it is absent. */
export function printOperand(operand: Operand, instruction: Instruction): string {
  const { fields, target, literal } = instruction
  const value = fields[operand.field] ?? 0
  switch (operand.kind) {
    case 'vgpr': {
      const dwords = registersOf(operand, instruction)
      return dwords === 0 ? '' : withModifiers(operand, vgpr(value, dwords), instruction)
    }
    case 'source':
    case 'vectorSource':
    case 'scalarSource':
      return withModifiers(operand, printSource(operand, value, instruction), instruction)
    case 'scalar':
      return printScalar(value * operand.scale, operand.dwords, target.generation)
    case 'vcc':
      return 'vcc'
    case 'literal':
      return operand.type === 'f16' || operand.type === 'f32' ? hex(literal ?? 0) : printNumber(literal ?? 0)
    case 'hex':
      return hex(value)
    case 'number':
      return printNumber(value)
    case 'code':
      return value === 0 ? '' : String(value)
    case 'branch':
      return String(value)
    case 'waitcnt':
      return printWaitcnt(value)
    case 'message':
      return printMessage(value, target.generation)
    case 'hwreg':
      return printHwreg(value)
    case 'gprIndex':
      return value < 16 ? `gpr_idx(${GPR_INDEX_MODES.filter((_, bit) => value & (1 << bit)).join(',')})` : hex(value)
    case 'memoryOffset':
      return printMemoryOffset(instruction)
    case 'attribute':
      return printAttribute(instruction)
    case 'parameter':
      return printParameter(value)
    case 'address':
      return printAddress(instruction)
    case 'exportTarget':
      return printExportTarget(value)
    case 'export':
      return printExport(operand, instruction)
  }
}

/** Numbers that an inline constant could hold are decimal. */
const printNumber = (value: number): string => (value <= 64 ? String(value) : value >= 0xfffffff0 ? String(value | 0) : hex(value))
const hex = (value: number): string => `0x${value.toString(16)}`
const registers = (name: string, first: number, dwords: number): string =>
  dwords === 1 ? `${name}${first}` : `${name}[${first}:${first + dwords - 1}]`
const vgpr = (number: number, dwords: number): string => registers('v', number, dwords)

function withModifiers({ source }: Operand, text: string, { fields, format }: Instruction): string {
  if (source < 0) return text
  const packed = 'neg' in fields
  const negated = packed ? (fields.neg! >>> source) & 1 : fields[`src${source}_neg`]
  const absolute = packed ? ((fields.abs ?? 0) >>> source) & 1 : fields[`src${source}_abs`]
  if (format.name.endsWith('_sdwa') && fields[`src${source}_sext`]) return `sext(${text})`
  if (absolute) return `${negated ? '-' : ''}|${text}|`
  if (!negated) return text
  return /^[\d-]/.test(text) ? `neg(${text})` : `-${text}`
}

/** The register of an encoding, or the bare number where LLVM has none. */
export function printScalar(encoding: number, dwords: number, generation: Generation): string {
  const range = SCALAR_REGISTERS[generation].find(({ first, count }) => encoding >= first && encoding < first + count)
  if (range === undefined) return `?${encoding}`
  const place = encoding - range.first
  if (range.name === 's' || range.name === 'ttmp') return registers(range.name, place, dwords)
  if (range.count === 1 || dwords > 1) return range.name
  return `${range.name}_${place === 0 ? 'lo' : 'hi'}`
}

function printSource({ type, dwords }: Operand, encoding: number, { target, literal }: Instruction): string {
  if (encoding >= VGPR_FIRST) return vgpr(encoding - VGPR_FIRST, dwords)
  if (encoding < INLINE_INTEGER_FIRST) return printScalar(encoding, dwords, target.generation)
  if (encoding <= INLINE_INTEGER_LAST) return String(inlineInteger(encoding))
  const float = INLINE_FLOATS[encoding - INLINE_FLOAT_FIRST]
  if (float !== undefined) return isInteger16(type) ? hex(float.f16) : decimal(float.value)
  if (encoding === INLINE_INV_2PI && target.generation === 'gfx8')
    return isInteger16(type) ? hex(INV_2PI.f16) : dwords === 2 ? '0.15915494309189532' : '0.15915494'
  if (encoding === LITERAL) return printLiteral(literal ?? 0, type, target.generation)
  return SPECIAL_SOURCES[encoding] ?? (target.generation === 'gfx8' ? LATER_SOURCES[encoding] : undefined) ?? `?${encoding}`
}

const decimal = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value))
const isInteger16 = (type: OperandType): boolean => type === 'i16' || type === 'u16' || type === 'b16'

/** LLVM marks a literal whose value an inline constant would have, and prints 16 bits of one in a 16-bit operand. */
function printLiteral(literal: number, type: OperandType, generation: Generation): string {
  const narrow = bitsOf(type) === 16
  const bits = BigInt(type === 'f16' ? literal & 0xffff : literal)
  const width = type === 'f16' ? 16 : bitsOf(type) === 64 ? 64 : 32
  const inline = isInline(bits, width, generation) || (type === 'f64' && isInline(bits << 32n, width, generation))
  if (inline) return `lit(${hex(literal)})`
  return hex(narrow ? literal & 0xffff : literal)
}

function printWaitcnt(value: number): string {
  const counters = [
    ['vmcnt', value & 15, 15],
    ['expcnt', (value >>> 4) & 7, 7],
    ['lgkmcnt', (value >>> 8) & 15, 15],
  ] as const
  const waiting = counters.filter(([, count, most]) => count !== most)
  return (waiting.length === 0 ? counters : waiting).map(([name, count]) => `${name}(${count})`).join(' ')
}

function printMessage(value: number, generation: Generation): string {
  const message = value & 15
  const operation = (value >>> 4) & 7
  const stream = (value >>> 8) & 3
  if (value >>> 10 !== 0) return String(value)
  const name = messageNames(generation)[message]
  const numbers = `sendmsg(${message}, ${operation}, ${stream})`
  if (name === undefined) return numbers
  if (message === MESSAGE_GS || message === MESSAGE_GS_DONE) {
    const text = GS_OPERATIONS[operation]
    if (text !== undefined && operation !== GS_NOP) return `sendmsg(${name}, ${text}, ${stream})`
    return message === MESSAGE_GS_DONE && operation === GS_NOP && stream === 0 ? `sendmsg(${name}, ${text})` : numbers
  }
  const text = message === MESSAGE_SYSMSG ? SYSMSG_OPERATIONS[operation] : operation === 0 ? '' : undefined
  if (text === undefined || stream !== 0) return numbers
  return text === '' ? `sendmsg(${name})` : `sendmsg(${name}, ${text})`
}

/** id 5:0, offset 10:6, width - 1 15:11; offset 0 and width 32 are the default. */
function printHwreg(value: number): string {
  const id = value & 63
  const offset = (value >>> 6) & 31
  const width = (value >>> 11) + 1
  const name = HARDWARE_REGISTERS[id] ?? String(id)
  return offset === 0 && width === 32 ? `hwreg(${name})` : `hwreg(${name}, ${offset}, ${width})`
}

function printMemoryOffset({ fields, literal, target }: Instruction): string {
  const offset = fields.offset!
  if (fields.imm === 1) return hex(offset)
  return literal === undefined ? printScalar(offset & 0x7f, 1, target.generation) : hex(literal)
}

/** ATTR 5:0 and ATTRCHAN 7:6; in VOP3 both are in SRC0. */
function printAttribute({ fields, format }: Instruction): string {
  const native = format.name === 'vintrp'
  const attribute = native ? fields.attr! : fields.src0! & 63
  const channel = native ? fields.attrchan! : (fields.src0! >>> 6) & 3
  return `attr${attribute}.${'xyzw'[channel]}`
}

function printParameter(value: number): string {
  return PARAMETERS[value] ?? `invalid_param_${value}`
}

/** VADDR is absent without OFFEN and IDXEN, and a pair with both or with ADDR64. */
function printAddress({ fields }: Instruction): string {
  const parts = fields.addr64 ? 2 : fields.offen! + fields.idxen!
  return parts === 0 ? 'off' : vgpr(fields.vaddr!, parts)
}

const printExportTarget = (value: number): string => exportTargetName(value) ?? `invalid_target_${value}`

/** A value that EN leaves out is `off`; COMPR sends two registers, each holding two halves. */
function printExport({ source }: Operand, { fields }: Instruction): string {
  if (((fields.en! >>> source) & 1) === 0) return 'off'
  return vgpr(fields[`vsrc${fields.compr ? source >>> 1 : source}`]!, 1)
}
