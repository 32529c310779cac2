/** Machine words → instruction. Knows formats and opcodes, nothing of text or meaning. */
import { FORMATS, type Format } from '../isa/formats.ts'
import { OPERATIONS, type Operation } from '../isa/operations.ts'
import { LITERAL } from '../isa/registers.ts'
import type { Generation, Target } from '../isa/targets.ts'
import type { Instruction } from './instruction.ts'
import { combinationRule, legalValues } from './legal.ts'
import { operandsOf } from './operands.ts'

/**
 * Reads the instruction at `words[index]`.
 * @param index word, not byte, offset; reading beyond the last word means that words run out
 * @returns undefined where no instruction of the target begins, or where words run out
 */
export function decode(words: Uint32Array, index: number, target: Target): Instruction | undefined {
  const word = words[index]
  if (word === undefined) return undefined
  for (const layout of layoutsOf(target.generation)[word >>> 23]!) {
    if ((word & layout.mask) >>> 0 !== layout.value) continue
    const entry = layout.entries[(word >>> layout.opLo) & layout.opMask]
    if (entry === undefined) continue
    const instruction = read(words, index, target, layout, entry)
    if (instruction !== undefined) return instruction
  }
  return undefined
}

/** Whether the operation is VOP3B: it has a mask result besides a value, so SDST takes the place of ABS. */
export const isVop3b = (operation: Operation): boolean => operation.shape.results.length === 2

/** A format made ready for one generation. */
export interface Layout {
  readonly format: Format
  /** Identifying bits of the first dword, and what they are. */
  readonly mask: number
  readonly value: number
  readonly opLo: number
  readonly opMask: number
  /** By opcode. */
  readonly entries: readonly (Entry | undefined)[]
  readonly fields: readonly FieldBits[]
}

/** Where a field is: in which dword, and there how far up. */
export interface FieldBits {
  readonly name: string
  readonly word: 0 | 1
  readonly shift: number
  readonly mask: number
}

/** An operation in a format. */
export interface Entry {
  readonly operation: Operation
  /** Found when the first such word is read: most programs use a small part of the tables. */
  rules: Rules | undefined
}

interface Rules {
  /** Fields that may not hold everything. */
  readonly checks: readonly { readonly bits: FieldBits; readonly legal: Uint8Array }[]
  readonly fitTogether: ((fields: Fields) => boolean) | undefined
  readonly hasLiteral: (fields: Fields) => boolean
}

function rulesOf(operation: Operation, { format, fields }: Layout, generation: Generation): Rules {
  const legal = legalValues(operation, format, generation)
  return {
    checks: fields.flatMap((bits) => (legal.has(bits.name) ? [{ bits, legal: legal.get(bits.name)! }] : [])),
    fitTogether: combinationRule(operation, format, generation),
    hasLiteral: literalRule(operation, format, generation),
  }
}

function read(words: Uint32Array, index: number, target: Target, layout: Layout, entry: Entry): Instruction | undefined {
  const { format } = layout
  const { operation } = entry
  if (index + format.dwords > words.length) return undefined
  const word0 = words[index]!
  const word1 = format.dwords === 2 ? words[index + 1]! : 0
  entry.rules ??= rulesOf(operation, layout, target.generation)
  const { checks, fitTogether, hasLiteral } = entry.rules
  for (const { bits, legal } of checks) {
    if (legal[((bits.word === 0 ? word0 : word1) >>> bits.shift) & bits.mask] === 0) return undefined
  }
  const fields: Record<string, number> = {}
  for (const field of layout.fields) fields[field.name] = ((field.word === 0 ? word0 : word1) >>> field.shift) & field.mask
  if (fitTogether?.(fields) === false) return undefined
  if (!hasLiteral(fields)) return { target, operation, format, fields, literal: undefined, dwords: format.dwords }
  const literal = words[index + format.dwords]
  if (literal === undefined) return undefined
  return { target, operation, format, fields, literal, dwords: format.dwords + 1 }
}

type Fields = Readonly<Record<string, number>>

/** Whether a literal dword follows an instruction with these fields. */
export const hasLiteral = (operation: Operation, format: Format, fields: Fields, generation: Generation): boolean =>
  literalRule(operation, format, generation)(fields)

/** Tells of an operation's fields whether a literal dword follows them. */
function literalRule(operation: Operation, format: Format, generation: Generation): (fields: Fields) => boolean {
  if (operation.literal !== undefined && (format.name === 'vop2' || format.name === 'sopk')) return () => true
  // Sea Islands manual, SMRD: with IMM = 0 an OFFSET of 255 stands for a literal offset in dwords.
  if (format.name === 'smrd' && generation === 'gfx7') return ({ imm, offset }) => imm === 0 && offset === LITERAL
  const sources = operandsOf(operation, format).filter(({ kind }) => kind === 'source' || kind === 'scalarSource')
  const names = sources.map(({ field }) => field).filter((field) => format.literals.includes(field))
  return (fields) => names.some((name) => fields[name] === LITERAL)
}

const layouts = new Map<Generation, readonly (readonly Layout[])[]>()

/** All layouts that can begin with the top nine bits, most specific first: every format has its identifying bits or opcode there. */
export function layoutsOf(generation: Generation): readonly (readonly Layout[])[] {
  let table = layouts.get(generation)
  if (table === undefined) {
    const all = FORMATS.filter((format) => format.generations.includes(generation)).map((format) => new FormatLayout(format, generation))
    table = Array.from({ length: 512 }, (_, top) => all.filter(({ mask, value }) => (((top << 23) ^ value) & mask & 0xff800000) === 0))
    layouts.set(generation, table)
  }
  return table
}

class FormatLayout implements Layout {
  readonly mask: number
  readonly value: number
  readonly opLo: number
  readonly opMask: number
  readonly fields: readonly FieldBits[]
  readonly #generation: Generation
  #entries: (Entry | undefined)[] | undefined

  constructor(
    readonly format: Format,
    generation: Generation,
  ) {
    let mask = 0
    let value = 0
    for (const [hi, lo, bits] of format.match) {
      mask |= bitMask(hi - lo + 1) << lo
      value |= bits << lo
    }
    const op = format.fields.op ?? { hi: -1, lo: 0 }
    this.mask = mask >>> 0
    this.value = value >>> 0
    this.opLo = op.lo
    this.opMask = bitMask(op.hi - op.lo + 1)
    this.fields = Object.entries(format.fields)
      .filter(([name]) => name !== 'op')
      .map(([name, { hi, lo }]) => ({ name, word: lo < 32 ? 0 : 1, shift: lo & 31, mask: bitMask(hi - lo + 1) }))
    this.#generation = generation
  }

  /** Filled when a word first asks for it: most programs use a few formats. */
  get entries(): readonly (Entry | undefined)[] {
    this.#entries ??= entriesOf(this.format, this.#generation)
    return this.#entries
  }
}

function entriesOf(format: Format, generation: Generation): (Entry | undefined)[] {
  const entries: (Entry | undefined)[] = []
  for (const operation of OPERATIONS) {
    const opcode = operation.opcode(format.opcodes, generation)
    if (opcode === undefined || !allows(format, operation)) continue
    entries[opcode] = { operation, rules: undefined }
  }
  return entries
}

const bitMask = (bits: number): number => (bits >= 32 ? 0xffffffff : (1 << bits) - 1)

/** Whether the operation, having an opcode in the format's column, exists in this very format. */
export function allows(format: Format, operation: Operation): boolean {
  const { name } = format
  if (name === 'vop3a') return !isVop3b(operation)
  if (name === 'vop3b') return isVop3b(operation)
  if (name.endsWith('_sdwa')) return operation.forms === 'sdwa' || operation.forms === 'both'
  if (name.endsWith('_dpp')) return operation.forms === 'dpp' || operation.forms === 'both'
  return true
}
