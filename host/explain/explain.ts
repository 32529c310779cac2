/** All that the tables know of one operation, as data. */
import { allows } from '../codec/decode.ts'
import { encode } from '../codec/encode.ts'
import { legalValues } from '../codec/legal.ts'
import { type Operand, operandsOf, takesSign } from '../codec/operands.ts'
import { meaningOf } from '../isa/descriptions/index.ts'
import { FORMATS, type Format, type FormatName } from '../isa/formats.ts'
import type { Operation, Table } from '../isa/operations.ts'
import { type Generation, TARGETS, type Target } from '../isa/targets.ts'
import { disassemble } from '../text/disassemble.ts'
import { modifiersOf } from '../text/modifiers.ts'
import { exampleOf } from './example.ts'
import { generationsOf } from './find.ts'
import { type BitRange, bitRanges } from './layout.ts'

/** What {@link explain} tells of an operation. */
export interface Explanation {
  /** The tables' name. */
  readonly name: string
  /** What it does, in a sentence: D is the result, S0 to S2 are the sources. */
  readonly meaning: string
  readonly family: Table
  /** What each generation that has it calls it. */
  readonly mnemonics: Readonly<Partial<Record<Generation, string>>>
  readonly operands: readonly ExplainedOperand[]
  /** What it reads or writes without an operand of its own. */
  readonly implied: readonly string[]
  /** Every form, with the generations that encode it alike. */
  readonly encodings: readonly Encoding[]
  readonly fidelity: 'exact' | 'approximate'
  /** What MODE does to it. */
  readonly mode: readonly string[]
  /** Why Lanewise does not run it. */
  readonly unsupported?: string
  /** Why Lanewise does not run it in all its forms. */
  readonly partly?: string
  readonly example: Example
}

/** One operand, in the order of assembly text. */
export interface ExplainedOperand {
  /** The manual's name of the field. */
  readonly field: string
  readonly access: 'written' | 'read' | 'read and written'
  /** Such as `f32`; kinds as in {@link import('../isa/row.ts').OperandType}. */
  readonly type: string
  /** What it can be. */
  readonly takes: string
}

/** A form of an operation: a format and an opcode, with the generations that have both alike. */
export interface Encoding {
  readonly format: FormatName
  readonly generations: readonly Generation[]
  readonly opcode: number
  readonly bits: readonly BitRange[]
  /** A literal dword always follows. */
  readonly literal: boolean
  /** By their names in assembly text. */
  readonly modifiers: readonly string[]
  readonly example: Example
}

/** An instruction without modifiers. */
export interface Example {
  readonly target: string
  readonly text: string
  /** Words of eight hexadecimal digits, first word first. */
  readonly words: readonly string[]
}

/** The formats of an operation on a generation, the shortest and most usual first. */
export function formatsOf(operation: Operation, generation: Generation): Format[] {
  const exists = (format: Format) =>
    format.generations.includes(generation) && operation.opcode(format.opcodes, generation) !== undefined && allows(format, operation)
  const order = (format: Format) => (/_(sdwa|dpp)$/.test(format.name) ? 2 : format.name.startsWith('vop3') ? 1 : 0)
  return FORMATS.filter(exists).sort((a, b) => order(a) - order(b))
}

const targetOf = (generation: Generation): Target => Object.values(TARGETS).find((t) => t.generation === generation)!

/**
 * What the tables know of an operation.
 * @param target only what holds there; all generations where it is left out
 * @throws {RangeError} the target does not have the operation
 */
export function explain(operation: Operation, target?: Target): Explanation {
  const generations = generationsOf(operation).filter((g) => target === undefined || g === target.generation)
  const newest = generations.at(-1)
  if (newest === undefined) throw new RangeError(`${operation.name} does not exist on ${target?.name}`)
  const shown = target ?? targetOf(newest)
  const format = formatsOf(operation, shown.generation)[0]!
  return {
    name: operation.name,
    meaning: meaningOf(operation),
    family: operation.table,
    mnemonics: Object.fromEntries(generations.map((g) => [g, operation.mnemonic(g)])),
    operands: operandsOf(operation, format).map((operand, i) => explainOperand(operation, format, operand, i)),
    implied: impliedOf(operation, format),
    encodings: encodingsOf(operation, generations),
    fidelity: operation.traits.has('approximate') ? 'approximate' : 'exact',
    mode: modeOf(operation),
    ...(operation.unsupported === undefined ? {} : { unsupported: operation.unsupported }),
    ...(operation.partly === undefined ? {} : { partly: operation.partly }),
    example: exampleText(operation, format, shown),
  }
}

function exampleText(operation: Operation, format: Format, target: Target): Example {
  const instruction = exampleOf(operation, format, target)
  const words = encode(instruction).map((word) => word.toString(16).padStart(8, '0'))
  return { target: target.name, text: disassemble(instruction), words }
}

// --- operands

const TAKES: Readonly<Partial<Record<Operand['kind'], string>>> = {
  vgpr: 'VGPR',
  source: 'VGPR, SGPR, constant',
  vectorSource: 'VGPR',
  scalarSource: 'SGPR, constant',
  scalar: 'SGPR',
  vcc: 'VCC',
  literal: 'literal dword',
  address: 'VGPR: index, offset, both or none',
  attribute: 'attribute and its channel',
  parameter: 'p10, p20 or p0',
  memoryOffset: 'byte offset: number or SGPR',
  branch: 'dwords to go on from the next instruction, or a label',
  hwreg: 'hwreg(name, first bit, bits)',
  waitcnt: 'vmcnt(n) expcnt(n) lgkmcnt(n)',
  message: 'sendmsg(name)',
  gprIndex: 'gpr_idx(SRC0,SRC1,SRC2,DST)',
  exportTarget: 'mrt0 to mrt7, mrtz, null, pos0 to pos3, param0 to param31',
  export: 'VGPR or off',
}

function explainOperand(operation: Operation, format: Format, operand: Operand, index: number): ExplainedOperand {
  const { kind, field, type } = operand
  const scalar = /^s/.test(format.name) || field === 'soffset'
  const takes = kind === 'source' && scalar ? 'SGPR, constant' : (TAKES[kind] ?? 'number')
  const literal = format.literals.includes(field) && takes.includes('constant') ? ', literal' : ''
  return {
    field: field === '' ? kind.toUpperCase() : field.toUpperCase(),
    access: accessOf(operation, index),
    type,
    takes: takes + literal,
  }
}

function accessOf(operation: Operation, index: number): ExplainedOperand['access'] {
  const { name, shape, table } = operation
  if (index === 0 && table === 'sopk')
    return /^s_(cmpk|setreg|cbranch)/.test(name) ? 'read' : /^s_(addk|mulk|cmovk)/.test(name) ? 'read and written' : 'written'
  if (index === 0 && /^s_(cmov|bitset)/.test(name)) return 'read and written'
  if (index === 0 && table === 'mimg')
    return /^image_store/.test(name) ? 'read' : /^image_atomic/.test(name) ? 'read and written' : 'written'
  if (index === 0 && /^buffer_atomic/.test(name)) return 'read and written'
  if (index >= shape.results.length) return 'read'
  return index === 0 && shape.tied >= 0 ? 'read and written' : 'written'
}

/** Registers that no operand names. */
function impliedOf({ name, table, shape, traits }: Operation, { name: format }: Format): string[] {
  const list: string[] = []
  if (shape.sources.includes('vcc')) list.push('VCC is read: a bit a lane')
  if (/^v_cmps?x_/.test(name)) list.push('EXEC is written')
  if (/^v_movrel|^s_movrel|^v_interp|^s_sendmsg|^ds_/.test(name)) list.push('M0 is read')
  if (/^s_(addc|subb|cselect|cmov)/.test(name)) list.push('SCC is read')
  const setsScc = table === 'sopc' || traits.has('scc') || /^s_(cmpk|addk|add|sub|addc|subb|min|max|lsh|ashr|bfe|absdiff|abs)_?/.test(name)
  if (setsScc && table.startsWith('so') && !/^s_(set_gpr|setvskip)/.test(name)) list.push('SCC is written')
  if (/saveexec/.test(name)) list.push('EXEC is read and written')
  if (/^v_readlane|^v_writelane/.test(name) && format.startsWith('vop')) list.push('EXEC is ignored')
  return list
}

/** The traits in words. */
function modeOf({ traits, shape, name }: Operation): string[] {
  const list: string[] = []
  if (traits.has('ftz')) list.push('denormals are zeros whatever MODE says')
  if (traits.has('flush')) list.push('denormals are kept or flushed as MODE says')
  if (traits.has('round')) list.push("rounded by MODE's round mode")
  if (traits.has('approximate'))
    list.push('hardware promises about one unit in the last place; Lanewise gives the correctly rounded result')
  if (traits.has('nan')) list.push('a NaN result is the first NaN source, made quiet, else the default NaN')
  if (/^v_(min|max|med)(3?|_legacy)_f/.test(name)) list.push('signalling NaN are made quiet first if IEEE is set')
  return shape.text === 'custom' ? [] : list
}

// --- encodings

/** One for each form and opcode; generations that have the same bits share it. */
function encodingsOf(operation: Operation, generations: readonly Generation[]): Encoding[] {
  const list: (Encoding & { key: string })[] = []
  for (const generation of generations) {
    for (const format of formatsOf(operation, generation)) {
      const bits = bitRanges(operation, format, generation)
      const modifiers = modifierNames(operation, format, generation)
      const key = JSON.stringify([format.name, bits, modifiers])
      const same = list.findIndex((e) => e.key === key)
      const target = targetOf(generation)
      if (same >= 0) list[same] = { ...list[same]!, generations: [...list[same]!.generations, generation] }
      else
        list.push({
          key,
          format: format.name,
          generations: [generation],
          opcode: operation.opcode(format.opcodes, generation)!,
          bits,
          literal: operation.literal !== undefined && (format.name === 'vop2' || format.name === 'sopk'),
          modifiers,
          example: exampleText(operation, format, target),
        })
    }
  }
  const order = (e: Encoding) => formatOrder.indexOf(e.format)
  return list.sort((a, b) => order(a) - order(b)).map(({ key: _, ...encoding }) => encoding)
}

const formatOrder: readonly FormatName[] = [
  ...FORMATS.map((f) => f.name).filter((name) => !/^vop3|_(sdwa|dpp)$/.test(name)),
  'vop3a',
  'vop3b',
  ...FORMATS.map((f) => f.name).filter((name) => /_(sdwa|dpp)$/.test(name)),
]

/** Modifiers that the form takes, by their names in text. */
function modifierNames(operation: Operation, format: Format, generation: Generation): string[] {
  const operands = operandsOf(operation, format)
  const legal = legalValues(operation, format, generation)
  const allowed = (field: string) => field in format.fields && (legal.get(field) === undefined || legal.get(field)!.lastIndexOf(1) > 0)
  const floats = operands.some(({ source, type }) => source >= 0 && takesSign(operation, type))
  const signs = floats ? [...(format.name === 'vop3b' ? [] : ['abs']), 'neg'] : []
  const sext =
    format.name.endsWith('_sdwa') && operands.some(({ source, type }) => source >= 0 && !takesSign(operation, type)) ? ['sext'] : []
  const names = modifiersOf(operation, format, generation)
    .map(({ names: [first], names: all }) => (all.length > 1 && first !== undefined ? (GROUPS[first] ?? all.join(', ')) : first!))
    .filter((name) => (name !== 'clamp' || allowed('clamp')) && (name !== OMOD || allowed('omod')))
  return format.name === 'exp' ? names : [...signs, ...sext, ...names]
}

const OMOD = 'omod (mul:2, mul:4, div:2)'
/** Modifiers with several names. */
const GROUPS: Readonly<Record<string, string>> = { mul: OMOD, quad_perm: 'quad_perm and other dpp controls' }
