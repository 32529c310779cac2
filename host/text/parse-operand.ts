/** Assembly text → the fields of one operand: registers, constants and symbolic immediates. The other direction of print-operand.ts. */
import { isScalarRegister, legalValues } from '../codec/legal.ts'
import { type Operand, registersOf } from '../codec/operands.ts'
import { EXPORT_TARGETS } from '../isa/exports.ts'
import type { Format } from '../isa/formats.ts'
import type { Operation } from '../isa/operations.ts'
import { LDS_DIRECT, LITERAL, SCALAR_REGISTERS, SPECIAL_SOURCES, VGPR_FIRST } from '../isa/registers.ts'
import { bitsOf, type OperandType } from '../isa/row.ts'
import type { Generation, Target } from '../isa/targets.ts'
import { encodingOfFloatBits, encodingOfInteger, floatBits, type Width } from './constants.ts'
import { evaluate, type Symbols } from './expression.ts'
import {
  GPR_INDEX_MODES,
  GS_OPERATIONS,
  HARDWARE_REGISTERS,
  MESSAGE_GS,
  MESSAGE_GS_DONE,
  MESSAGE_SYSMSG,
  messageNames,
  PARAMETERS,
  SYSMSG_OPERATIONS,
} from './names.ts'
import type { Item } from './scan.ts'

/** An instruction while it is put together. */
export interface Draft {
  readonly target: Target
  readonly operation: Operation
  readonly format: Format
  readonly fields: Record<string, number>
  literal: number | undefined
  /** Scalar registers that vector sources read, by encoding. */
  readonly scalars: Set<number>
  readonly symbols: Symbols
  /** Dword offset from the next instruction to a label, or undefined where there is no such label. */
  readonly distance: (label: string) => number | undefined
  /** Stops with an error at an item. */
  fail(item: Item, message: string): never
}

/** Reads an operand's text into the draft's fields. */
export function parseOperand(operand: Operand, item: Item, draft: Draft): void {
  const { fields } = draft
  const { field } = operand
  switch (operand.kind) {
    case 'vgpr':
      fields[field] = parseVgpr(operand, parseSigns(operand, item, draft), draft)
      return
    case 'source':
    case 'vectorSource':
    case 'scalarSource':
      fields[field] = parseSource(operand, parseSigns(operand, item, draft), draft)
      return
    case 'scalar':
      fields[field] = parseScalar(operand, item, draft) / operand.scale
      return
    case 'vcc':
      if (item.text !== 'vcc')
        draft.fail(item, `${item.text} stands where only vcc can: ${draft.format.name} implies it; write vcc or use the _e64 form`)
      return
    case 'literal':
      parseLiteral(operand, item, draft)
      return
    case 'number':
    case 'hex':
    case 'code':
      fields[field] = parseImmediate(item, widthOf(operand, draft), draft)
      return
    case 'branch':
      fields[field] = parseBranch(item, draft)
      return
    case 'waitcnt':
      fields[field] = parseWaitcnt(item, draft)
      return
    case 'message':
      fields[field] = parseMessage(item, draft)
      return
    case 'hwreg':
      fields[field] = parseHwreg(item, draft)
      return
    case 'gprIndex':
      fields[field] = parseGprIndex(item, widthOf(operand, draft), draft)
      return
    case 'memoryOffset':
      parseMemoryOffset(item, draft)
      return
    case 'attribute':
      parseAttribute(item, draft)
      return
    case 'parameter':
      fields[field] = parseName(item, PARAMETERS, 'a parameter', draft)
      return
    case 'address':
      fields[field] = parseAddress(item, draft)
      return
    case 'exportTarget':
      fields[field] = parseExportTarget(item, draft)
      return
    case 'export':
      parseExport(operand, item, draft)
      return
  }
}

const widthOf = ({ field }: Operand, { format }: Draft): number => format.fields[field]!.hi - format.fields[field]!.lo + 1
const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** An encoding that no register has. */
const NO_REGISTER = 1024

/** A register as text names it: `v` counts VGPRs, `scalar` is an operand encoding. */
interface Register {
  readonly kind: 'v' | 'scalar'
  readonly first: number
  readonly dwords: number
}

/** `v1`, `s[2:3]`, `[s2,s3]`, `vcc`, `exec_lo`, `ttmp4` …, or undefined. */
function parseRegister(text: string, generation: Generation): Register | undefined {
  const list = /^\[(.*)\]$/.exec(text)
  if (list === null) return parseRange(text, generation)
  const parts = list[1]!.split(',').map((part) => parseRange(part.trim(), generation))
  const [first] = parts
  const isRun = parts.every((part, n) => part?.dwords === 1 && part.kind === first!.kind && part.first === first!.first + n)
  return isRun && first !== undefined ? { ...first, dwords: parts.length } : undefined
}

function parseRange(text: string, generation: Generation): Register | undefined {
  const numbered = /^(v|s|ttmp)(?:(\d+)|\[\s*(\d+)\s*(?::\s*(\d+)\s*)?\])$/.exec(text)
  if (numbered !== null) {
    const [, name, single, from, to] = numbered
    const first = Number(single ?? from)
    const dwords = to === undefined ? 1 : Number(to) - first + 1
    if (dwords < 1) return undefined
    if (name === 'v') return { kind: 'v', first, dwords }
    const range = SCALAR_REGISTERS[generation].find((known) => known.name === name)!
    // Numbers beyond the last register must not become those behind it.
    return { kind: 'scalar', first: first + dwords > range.count ? NO_REGISTER : range.first + first, dwords }
  }
  for (const { first, count, name } of SCALAR_REGISTERS[generation]) {
    if (name === 's' || name === 'ttmp' || name === 'null') continue
    if (text === name) return { kind: 'scalar', first, dwords: count }
    if (count === 2 && text === `${name}_lo`) return { kind: 'scalar', first, dwords: 1 }
    if (count === 2 && text === `${name}_hi`) return { kind: 'scalar', first: first + 1, dwords: 1 }
  }
  return undefined
}

/** Takes `-`, `neg()`, `|…|`, `abs()` and `sext()` off a source and sets the modifiers; `-1` and `-1.0` are numbers. */
function parseSigns(operand: Operand, item: Item, draft: Draft): Item {
  let { text } = item
  const { fields } = draft
  const wrapped = (form: RegExp): string | undefined => form.exec(text)?.[1]
  let negate = false
  let absolute = false
  let extend = false
  const negated = wrapped(/^neg\((.*)\)$/) ?? wrapped(/^-((?:\||abs\(|[a-z[]).*)$/)
  if (negated !== undefined) [negate, text] = [true, negated.trim()]
  const magnitude = wrapped(/^\|(.*)\|$/) ?? wrapped(/^abs\((.*)\)$/)
  if (magnitude !== undefined) [absolute, text] = [true, magnitude.trim()]
  const extended = wrapped(/^sext\((.*)\)$/)
  if (extended !== undefined) [extend, text] = [true, extended.trim()]
  const bare = { ...item, text }
  if (!negate && !absolute && !extend) return bare
  // A sign before a symbol is arithmetic.
  if (
    negate &&
    !absolute &&
    parseRegister(text, draft.target.generation) === undefined &&
    specialOf(text) === undefined &&
    !item.text.startsWith('neg(')
  )
    return item
  const { source } = operand
  const legal = legalValues(draft.operation, draft.format, draft.target.generation)
  const takes = (field: string, bits: number): boolean => source >= 0 && field in fields && legal.get(field)?.[bits] !== 0
  const set = (packed: string, single: string, name: string): void => {
    if (takes(packed, 1 << source)) fields[packed]! |= 1 << source
    else if (takes(single, 1)) fields[single] = 1
    else
      draft.fail(
        item,
        `${name} on ${text} cannot be encoded: ${describe(draft)} has no ${name} for this operand; remove it${packed === 'neg' || packed === 'abs' ? ' or use the _e64 form of a float operation' : ''}`,
      )
  }
  if (negate) set('neg', `src${source}_neg`, 'neg')
  if (absolute) set('abs', `src${source}_abs`, 'abs')
  if (extend) set('', `src${source}_sext`, 'sext')
  return bare
}

const describe = ({ operation, format, target }: Draft): string => `${operation.mnemonic(target.generation)} in ${format.name}`

function parseVgpr(operand: Operand, item: Item, draft: Draft): number {
  const register = parseRegister(item.text, draft.target.generation)
  if (register === undefined || register.kind !== 'v') {
    return draft.fail(
      item,
      `${item.text} is no VGPR; ${operand.field} of ${describe(draft)} must be one (v0 to v255)${draft.format.name === 'vop2' || draft.format.name === 'vopc' ? '; put the other kind of operand first or use the _e64 form' : ''}`,
    )
  }
  const isImageAddress = draft.format.name === 'mimg' && operand.field === 'vaddr'
  checkVgpr(register, isImageAddress ? register.dwords : registersOf(operand, draft), item, draft)
  return register.first
}

function checkVgpr({ first, dwords }: Register, wanted: number, item: Item, draft: Draft): void {
  if (dwords !== wanted)
    draft.fail(
      item,
      `${item.text} has ${plural(dwords, 'register')}, but this operand of ${describe(draft)} has ${wanted}; write ${example('v', first, wanted)}`,
    )
  if (first + dwords > 256) draft.fail(item, `${item.text} goes beyond v255, the last VGPR; choose lower registers`)
}

const example = (name: string, first: number, dwords: number): string =>
  dwords === 1 ? `${name}${first}` : `${name}[${first}:${first + dwords - 1}]`

/** Sources that are no registers; LLVM reads them with and without `src_`. */
function specialOf(text: string): number | undefined {
  const found = Object.entries(SPECIAL_SOURCES).find(([, name]) => name === text || name === `src_${text}`)
  return found === undefined ? undefined : Number(found[0])
}
const M0 = 124

function parseScalar(operand: Operand, item: Item, draft: Draft): number {
  const register = parseRegister(item.text, draft.target.generation)
  if (register === undefined || register.kind !== 'scalar') {
    return draft.fail(
      item,
      `${item.text} is no scalar register of ${draft.target.name}; ${operand.field} of ${describe(draft)} must be ${plural(operand.dwords, 'scalar register')}, such as ${example('s', 0, operand.dwords)} or vcc`,
    )
  }
  checkScalar(register, operand.dwords, item, draft)
  return register.first
}

function checkScalar({ first, dwords }: Register, wanted: number, item: Item, draft: Draft): void {
  if (dwords !== wanted)
    draft.fail(
      item,
      `${item.text} has ${plural(dwords, 'register')}, but this operand of ${describe(draft)} has ${wanted}; write ${example('s', 0, wanted)} or the like`,
    )
  const last = SCALAR_REGISTERS[draft.target.generation][0]!.count - 1
  if (isScalarRegister(first, dwords, draft.target.generation)) return
  const step = Math.min(4, dwords)
  if (first < 128 && first % step !== 0)
    draft.fail(item, `${item.text} is not aligned: ${plural(dwords, 'scalar register')} must begin at a multiple of ${step}`)
  draft.fail(item, `${item.text} goes beyond the scalar registers of ${draft.target.name}; s${last} is the last`)
}

/** A register, a constant, or one of VCCZ, EXECZ, SCC and LDS direct. */
function parseSource(operand: Operand, item: Item, draft: Draft): number {
  const { format, target, scalars } = draft
  const isVector = format.name.startsWith('vop')
  const register = parseRegister(item.text, target.generation)
  if (register !== undefined) {
    if (register.kind === 'v') {
      if (operand.kind === 'scalarSource' || format.fields[operand.field]!.hi - format.fields[operand.field]!.lo < 8) {
        draft.fail(item, `${item.text} is a VGPR; ${operand.field} of ${describe(draft)} must be a scalar register or a constant`)
      }
      checkVgpr(register, operand.dwords, item, draft)
      return VGPR_FIRST + register.first
    }
    if (operand.kind === 'vectorSource')
      draft.fail(item, `${item.text} is no VGPR; ${operand.field} of ${describe(draft)} must be one (v0 to v255)`)
    checkScalar(register, operand.dwords, item, draft)
    // M0 as the lane number of v_writelane_b32 comes beside the one scalar register.
    const isLane = register.first === M0 && draft.operation.name === 'v_writelane_b32' && operand.field !== 'src0'
    if (isVector && !isLane) scalars.add(register.first)
    return register.first
  }
  if (operand.kind === 'vectorSource')
    draft.fail(item, `${item.text} is no VGPR; ${operand.field} of ${describe(draft)} must be one (v0 to v255)`)
  const special = specialOf(item.text)
  if (special !== undefined) {
    if (special === LDS_DIRECT && !(isVector && operand.field === 'src0' && operand.dwords === 1)) {
      draft.fail(item, `${item.text} can only be the first source of a vector operation; read it with v_mov_b32 first`)
    }
    if (isVector) scalars.add(special)
    return special
  }
  return parseConstant(operand, item, draft)
}

/** A number as text has it: an integer of up to 64 bits, or a float. */
type Constant = { readonly integer: bigint } | { readonly float: number }

function parseNumber(text: string, symbols: Symbols): Constant | undefined {
  if (/^[-+]?(\d+\.\d*|\.\d+|\d+(\.\d*)?e[-+]?\d+)$/i.test(text)) return { float: Number(text) }
  const plain = /^(-?)(0x[0-9a-f]+|0b[01]+|\d+)$/i.exec(text)
  if (plain !== null) return { integer: plain[1] === '-' ? -BigInt(plain[2]!) : BigInt(plain[2]!) }
  const value = evaluate(text, symbols)
  return value === undefined || !Number.isSafeInteger(value) ? undefined : { integer: BigInt(value) }
}

function parseConstant({ field, type }: Operand, item: Item, draft: Draft): number {
  const { generation } = draft.target
  const marked = /^lit\((.*)\)$/.exec(item.text)
  const number = parseNumber(marked === null ? item.text : marked[1]!.trim(), draft.symbols)
  if (number === undefined) {
    const what = item.text.includes('@') ? 'is a relocation, which only a linker can fill in' : `is no operand of ${draft.target.name}`
    return draft.fail(item, `${item.text} ${what}; a register, a number or a defined symbol was expected`)
  }
  const takesLiteral = draft.format.literals.includes(field)
  if (marked === null) {
    const encoding = inlineEncoding(number, type, generation, !takesLiteral)
    if (encoding !== undefined) return encoding
  }
  const literal = literalBits(number, type)
  if (literal === undefined)
    return draft.fail(item, `${item.text} does not fit the 32 bits of a literal for ${type} here; load it into registers first`)
  if (!takesLiteral) {
    const advice =
      /^vop[2c]$/.test(draft.format.name) || draft.format.name === 'vop1'
        ? 'put it first or move it to a register first'
        : 'move it to a register first'
    return draft.fail(
      item,
      `${item.text} needs a literal, but ${field} of ${describe(draft)} takes none on ${draft.target.name} (inline are -16 to 64 and ±0.5, ±1.0, ±2.0, ±4.0${generation === 'gfx8' ? ', 1/(2π)' : ''}); ${advice}`,
    )
  }
  setLiteral(literal, item, draft)
  return LITERAL
}

function setLiteral(literal: number, item: Item, draft: Draft): void {
  if (draft.literal !== undefined && draft.literal !== literal) {
    draft.fail(
      item,
      `${item.text} would be a second literal beside 0x${draft.literal.toString(16)}; an instruction holds one, move the other to a register first`,
    )
  }
  draft.literal = literal
}

const widthOfType = (type: OperandType): Width => (bitsOf(type) <= 16 ? 16 : bitsOf(type) === 64 ? 64 : 32)

/** LLVM does not take integers for inline floats in 16-bit integer operands; `anyway` where the alternative is an error. */
function inlineEncoding(number: Constant, type: OperandType, generation: Generation, anyway: boolean): number | undefined {
  const width = widthOfType(type)
  if ('float' in number) return encodingOfFloatBits(floatBits(number.float, width), width, generation)
  const { integer } = number
  const fits = integer >= -(1n << BigInt(width - 1)) && integer < 1n << BigInt(width)
  if (!fits) return undefined
  const encoding = encodingOfInteger(BigInt.asIntN(width, integer))
  if (encoding !== undefined) return encoding
  // 32 bits of an f64 are its high half, of an inline constant too.
  if (type === 'f64' && integer >= 0n && integer < 1n << 32n) return encodingOfFloatBits(integer << 32n, 64, generation)
  if (width === 16 && type !== 'f16' && !anyway) return undefined
  return encodingOfFloatBits(BigInt.asUintN(width, integer), width, generation)
}

/** The literal dword that stands for a number, or undefined where none does. Of an f64 it is the high half. */
function literalBits(number: Constant, type: OperandType): number | undefined {
  const width = widthOfType(type)
  if ('float' in number) {
    const bits = floatBits(number.float, width)
    if (width < 64) return Number(bits)
    return type === 'f64' && (bits & 0xffffffffn) === 0n ? Number(bits >> 32n) : undefined
  }
  const { integer } = number
  if (integer >= -0x80000000n && integer < 0x100000000n) return Number(BigInt.asUintN(32, integer))
  return type === 'f64' && integer >= 0n && integer < 1n << 64n && (integer & 0xffffffffn) === 0n ? Number(integer >> 32n) : undefined
}

/** The constant of v_madmk, v_madak and s_setreg_imm32: always the literal dword. */
function parseLiteral({ type }: Operand, item: Item, draft: Draft): void {
  const number = parseNumber(item.text.replace(/^lit\((.*)\)$/, '$1'), draft.symbols)
  const literal = number === undefined ? undefined : literalBits(number, type)
  if (literal === undefined)
    draft.fail(item, `${item.text} is no 32-bit constant; ${describe(draft)} has one here, such as 0x3f800000 or 1.0`)
  setLiteral(literal, item, draft)
}

function integerOf(item: Item, draft: Draft): number {
  return evaluate(item.text, draft.symbols) ?? draft.fail(item, `${item.text} is no number; an integer or a defined symbol was expected`)
}

/** An unsigned number of so many bits, or a signed one. */
function parseImmediate(item: Item, bits: number, draft: Draft): number {
  const value = integerOf(item, draft)
  if (value < -(2 ** (bits - 1)) || value >= 2 ** bits) {
    return draft.fail(item, `${item.text} does not fit ${bits} bits; it must be from ${-(2 ** (bits - 1))} to ${2 ** bits - 1}`)
  }
  return value < 0 ? value + 2 ** bits : value
}

function parseBranch(item: Item, draft: Draft): number {
  const isLabel = /^[A-Za-z_.$][\w.$@]*$/.test(item.text)
  const distance = isLabel ? draft.distance(item.text) : undefined
  if (distance === undefined) {
    if (!isLabel || draft.symbols(item.text) !== undefined) return parseImmediate(item, 16, draft)
    return draft.fail(
      item,
      `no label ${item.text} is defined; write \`${item.text}:\` before the instruction to go to, or a number of dwords`,
    )
  }
  if (distance < -0x8000 || distance > 0x7fff)
    draft.fail(item, `${item.text} is ${distance} dwords away; a branch reaches from -32768 to 32767`)
  return distance & 0xffff
}

/** `vmcnt(N) expcnt(N) lgkmcnt(N)` with blanks, commas or & between, or the number itself. Counters left out are not waited for. */
function parseWaitcnt(item: Item, draft: Draft): number {
  if (!item.text.includes('(')) return parseImmediate(item, 16, draft)
  let value = 0xf7f
  for (const part of item.text.split(/[\s,&]+/).filter((text) => text !== '')) {
    const [, name, count] = /^(vmcnt|expcnt|lgkmcnt)(?:_sat)?\((.*)\)$/.exec(part) ?? []
    const [shift, most] = name === 'vmcnt' ? [0, 15] : name === 'expcnt' ? [4, 7] : [8, 15]
    const number = count === undefined ? undefined : evaluate(count, draft.symbols)
    const saturates = part.includes('_sat')
    if (number === undefined || number < 0 || (number > most && !saturates)) {
      return draft.fail(item, `${part} is no counter of s_waitcnt; write vmcnt(0 to 15), expcnt(0 to 7) or lgkmcnt(0 to 15)`)
    }
    value = (value & ~(most << shift)) | (Math.min(number, most) << shift)
  }
  return value
}

/** The arguments of `name(a, b)`, or undefined where the text is no such call. */
function argumentsOf(text: string, name: string): string[] | undefined {
  const match = new RegExp(`^${name}\\(([^()]*)\\)$`).exec(text)
  if (match === null) return undefined
  return match[1]!.trim() === '' ? [] : match[1]!.split(',').map((part) => part.trim())
}

/** A number, or the place of a name in a list; undefined where it is neither or too large. */
function nameOrNumber(text: string, names: readonly (string | undefined)[], most: number, symbols: Symbols): number | undefined {
  const place = names.indexOf(text)
  const value = place >= 0 ? place : evaluate(text, symbols)
  return value !== undefined && value >= 0 && value <= most ? value : undefined
}

function parseMessage(item: Item, draft: Draft): number {
  const parts = argumentsOf(item.text, 'sendmsg')
  if (parts === undefined) return parseImmediate(item, 16, draft)
  const [first = '', second, third] = parts
  const names = messageNames(draft.target.generation)
  const message = nameOrNumber(first, names, 15, draft.symbols)
  if (message === undefined)
    return draft.fail(
      item,
      `${first} is no message of ${draft.target.name}; write a number from 0 to 15 or one of ${names.filter((name) => name !== undefined).join(', ')}`,
    )
  const operations =
    message === MESSAGE_SYSMSG ? SYSMSG_OPERATIONS : message === MESSAGE_GS || message === MESSAGE_GS_DONE ? GS_OPERATIONS : []
  const operation = second === undefined ? 0 : nameOrNumber(second, operations, 7, draft.symbols)
  const stream = third === undefined ? 0 : nameOrNumber(third, [], 3, draft.symbols)
  if (operation === undefined || stream === undefined || parts.length > 3) {
    return draft.fail(
      item,
      `${item.text} is no message; sendmsg(message, operation 0 to 7${operations.length > 0 ? ` or one of ${operations.filter((name) => name !== undefined).join(', ')}` : ''}, stream 0 to 3) was expected`,
    )
  }
  return message | (operation << 4) | (stream << 8)
}

function parseHwreg(item: Item, draft: Draft): number {
  const parts = argumentsOf(item.text, 'hwreg')
  if (parts === undefined) return parseImmediate(item, 16, draft)
  const [name = '', from = '0', bits = '32'] = parts
  const id = nameOrNumber(name, HARDWARE_REGISTERS, 63, draft.symbols)
  const offset = nameOrNumber(from, [], 31, draft.symbols)
  const width = nameOrNumber(bits, [], 32, draft.symbols)
  if (id === undefined || offset === undefined || width === undefined || width === 0 || parts.length > 3) {
    return draft.fail(
      item,
      `${item.text} is no hardware register; hwreg(number 0 to 63 or a name such as HW_REG_MODE, first bit 0 to 31, bits 1 to 32) was expected`,
    )
  }
  return id | (offset << 6) | ((width - 1) << 11)
}

function parseGprIndex(item: Item, bits: number, draft: Draft): number {
  const parts = argumentsOf(item.text, 'gpr_idx')
  if (parts === undefined) return parseImmediate(item, bits, draft)
  return parts.reduce((value, part) => value | (1 << parseName({ ...item, text: part }, GPR_INDEX_MODES, 'an index mode', draft)), 0)
}

function parseName(item: Item, names: readonly string[], what: string, draft: Draft): number {
  const place = names.indexOf(item.text)
  return place >= 0 ? place : draft.fail(item, `${item.text} is no name of ${what}; one of ${names.join(', ')} was expected`)
}

/** IMM and OFFSET: a number in the unit of the generation (dwords on gfx6 and gfx7, bytes on gfx8) or a scalar register. */
function parseMemoryOffset(item: Item, draft: Draft): void {
  const { fields, target } = draft
  const register = parseRegister(item.text, target.generation)
  if (register !== undefined) {
    if (register.kind === 'v') draft.fail(item, `${item.text} is a VGPR; an offset of scalar memory is a scalar register or a number`)
    checkScalar(register, 1, item, draft)
    fields.imm = 0
    fields.offset = register.first
    return
  }
  const value = integerOf(item, draft)
  const bits = target.generation === 'gfx8' ? 20 : 8
  const isLiteral = target.generation === 'gfx7' && value >= 256 && value <= 0xffffffff
  if (!isLiteral && (value < 0 || value >= 2 ** bits)) {
    draft.fail(
      item,
      `offset ${item.text} does not fit ${bits} bits; it must be from 0 to ${2 ** bits - 1} ${bits === 8 ? 'dwords' : 'bytes'}, or in a scalar register`,
    )
  }
  fields.imm = isLiteral ? 0 : 1
  fields.offset = isLiteral ? LITERAL : value
  if (isLiteral) draft.literal = value
}

function parseAttribute(item: Item, draft: Draft): void {
  const match = /^attr(\d+)\.([xyzw])$/.exec(item.text)
  const attribute = Number(match?.[1])
  if (match === null || attribute > 63) draft.fail(item, `${item.text} is no attribute; attr0 to attr63 with .x, .y, .z or .w was expected`)
  const channel = 'xyzw'.indexOf(match[2]!)
  if (draft.format.name === 'vintrp') {
    draft.fields.attr = attribute
    draft.fields.attrchan = channel
  } else draft.fields.src0! |= attribute | (channel << 6)
}

/** VADDR of buffers: `off` without OFFEN and IDXEN. */
function parseAddress(item: Item, draft: Draft): number {
  const { fields } = draft
  const wanted = fields.addr64 ? 2 : fields.offen! + fields.idxen!
  if (item.text === 'off') {
    if (wanted > 0)
      draft.fail(
        item,
        `off stands where ${plural(wanted, 'VGPR')} must: idxen, offen or addr64 is set; name the address or remove the flag`,
      )
    return 0
  }
  const register = parseRegister(item.text, draft.target.generation)
  if (register === undefined || register.kind !== 'v')
    return draft.fail(item, `${item.text} is no address; a VGPR, or off without idxen and offen, was expected`)
  if (wanted === 0) draft.fail(item, `${item.text} is not used: neither idxen nor offen is set; write off or add a flag`)
  checkVgpr(register, wanted, item, draft)
  return register.first
}

function parseExportTarget(item: Item, draft: Draft): number {
  for (const { first, count, name } of EXPORT_TARGETS) {
    if (count === 1 && item.text === name) return first
    const number = count > 1 && item.text.startsWith(name) ? item.text.slice(name.length) : ''
    if (/^\d+$/.test(number) && Number(number) < count) return first + Number(number)
  }
  return draft.fail(item, `${item.text} is no export target; mrt0 to mrt7, mrtz, null, pos0 to pos3 or param0 to param31 was expected`)
}

/** With COMPR, two values go in one register: the first two operands are VSRC0, the last two VSRC1. */
function parseExport({ source }: Operand, item: Item, draft: Draft): void {
  if (item.text === 'off') return
  const { fields } = draft
  const register = parseRegister(item.text, draft.target.generation)
  if (register === undefined || register.kind !== 'v') return draft.fail(item, `${item.text} is no VGPR; a value of exp is a VGPR or off`)
  checkVgpr(register, 1, item, draft)
  const place = fields.compr ? source >>> 1 : source
  const name = `vsrc${place}`
  const isSecond = fields.compr === 1 && (source & 1) === 1 && (fields.en! & (1 << (source - 1))) !== 0
  if (isSecond && fields[name] !== register.first)
    draft.fail(item, `${item.text} must be v${fields[name]}: with compr a register holds two values; name it twice`)
  fields[name] = register.first
  fields.en! |= 1 << source
}
