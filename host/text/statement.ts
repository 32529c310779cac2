/** One instruction of a source line: finds the operation, chooses the encoding as LLVM does, fills in the fields. */
import { allows, hasLiteral } from '../codec/decode.ts'
import type { Instruction } from '../codec/instruction.ts'
import { legalValues } from '../codec/legal.ts'
import { type Operand, operandsOf, registersOf } from '../codec/operands.ts'
import { AssembleError } from '../errors.ts'
import { FORMATS, type Format } from '../isa/formats.ts'
import { OPERATIONS, type Operation } from '../isa/operations.ts'
import { GENERATIONS, type Generation, type Target } from '../isa/targets.ts'
import type { Symbols } from './expression.ts'
import { forcedSuffix, SUFFIXES } from './mnemonics.ts'
import { defaultFields, type Modifier, modifiersOf } from './modifiers.ts'
import { type Draft, parseOperand } from './parse-operand.ts'
import { cut, type Item } from './scan.ts'

/** What a line may refer to besides registers and numbers. */
export interface Surroundings {
  /** Number of the line in its source, from 1. */
  readonly line: number
  readonly symbols: Symbols
  /** Dwords from the instruction after this one to a label. */
  readonly distance: (label: string) => number | undefined
}

/** Assembles the instruction that begins at `from` in a line without comments. */
export function assembleStatement(line: string, from: number, target: Target, surroundings: Surroundings): Instruction {
  const [, before = '', mnemonic] = /^(\s*)(\S+)/.exec(line.slice(from)) ?? []
  const column = from + before.length + 1
  if (mnemonic === undefined) throw new AssembleError('the line is empty; an instruction was expected', surroundings.line, column)
  const candidates = candidatesFor({ text: mnemonic, column, afterComma: false }, target, surroundings)
  const items = cut(line, column - 1 + mnemonic.length, surroundings.line)
  const end = line.trimEnd().length + 1
  return assembleFirst(candidates, items, { text: '', column: end, afterComma: false }, target, surroundings)
}

interface Candidate {
  readonly operation: Operation
  readonly format: Format
  readonly modifiers: readonly Modifier[]
  /** Words that introduce its modifiers. */
  readonly words: ReadonlySet<string>
}

/** Tries encodings, the preferred one first; where none fits, the error that came furthest tells most. */
function assembleFirst(
  candidates: readonly Candidate[],
  items: readonly Item[],
  end: Item,
  target: Target,
  surroundings: Surroundings,
): Instruction {
  let worst: AssembleError | undefined
  for (const candidate of fitting(candidates, items, target, surroundings)) {
    try {
      return assembleAs(candidate, items, end, target, surroundings)
    } catch (error) {
      if (!(error instanceof AssembleError)) throw error
      if (worst === undefined || error.column >= worst.column) worst = error
    }
  }
  throw worst!
}

/** Other names that LLVM's assembler takes. */
const ALIASES: Readonly<Partial<Record<Generation, Readonly<Record<string, string>>>>> = { gfx8: { v_mul_lo_i32: 'v_mul_lo_u32' } }

/** Encodings by every name that text may call the operation, without suffix, the preferred one first. */
const mnemonics = new Map<Generation, ReadonlyMap<string, readonly Candidate[]>>()

function mnemonicsOf(generation: Generation): ReadonlyMap<string, readonly Candidate[]> {
  let table = mnemonics.get(generation)
  if (table === undefined) {
    const names = new Map<string, readonly Candidate[]>()
    for (const operation of OPERATIONS) {
      const candidates = formatsOf(operation, generation).map((format) => {
        const modifiers = modifiersOf(operation, format, generation)
        return { operation, format, modifiers, words: new Set(modifiers.flatMap(({ names }) => names)) }
      })
      if (candidates.length === 0) continue
      // Later generations' names of the carry forms are understood too, as in LLVM.
      names.set(operation.mnemonic(generation), candidates)
      if (!names.has(operation.name)) names.set(operation.name, candidates)
    }
    for (const [alias, name] of Object.entries(ALIASES[generation] ?? {})) names.set(alias, names.get(name)!)
    table = names
    mnemonics.set(generation, table)
  }
  return table
}

/** The order in which encodings are tried: 32 bits before 64, SDWA and DPP only where modifiers ask for them. */
const PREFERENCE: Readonly<Partial<Record<Format['name'], number>>> = {
  vop3a: 1,
  vop3b: 1,
  vop1_sdwa: 2,
  vop2_sdwa: 2,
  vopc_sdwa: 2,
  vop1_dpp: 3,
  vop2_dpp: 3,
}

function formatsOf(operation: Operation, generation: Generation): Format[] {
  return FORMATS.filter(
    (format) =>
      format.generations.includes(generation) && operation.opcode(format.opcodes, generation) !== undefined && allows(format, operation),
  ).sort((a, b) => (PREFERENCE[a.name] ?? 0) - (PREFERENCE[b.name] ?? 0))
}

function candidatesFor(item: Item, target: Target, { line }: Surroundings): readonly Candidate[] {
  const { generation } = target
  const suffix = SUFFIXES.find((known) => item.text.endsWith(known))
  const name = suffix === undefined ? item.text : item.text.slice(0, -suffix.length)
  const all = mnemonicsOf(generation).get(name)
  if (all === undefined) throw new AssembleError(unknownMnemonic(name, target), line, item.column)
  const candidates = all.filter(({ format }) => suffix === undefined || forcedSuffix(format) === suffix)
  if (candidates.length > 0) return candidates
  const known = all.map(({ format }) => name + (forcedSuffix(format) ?? ''))
  throw new AssembleError(`${name} has no ${suffix!.slice(1)} encoding on ${target.name}; there is ${known.join(', ')}`, line, item.column)
}

function unknownMnemonic(name: string, target: Target): string {
  const elsewhere = GENERATIONS.filter((generation) => mnemonicsOf(generation).has(name))
  if (elsewhere.length > 0)
    return `${name} does not exist on ${target.name} (${target.generation}), only on ${elsewhere.join(', ')}; ${nearest(name, target.generation)}`
  return `unknown instruction ${name}; ${nearest(name, target.generation)}`
}

/** The few known names that are closest to one. */
function nearest(name: string, generation: Generation): string {
  let close: string[] = []
  let least = Math.min(name.length, LONGEST_NAME)
  for (const known of mnemonicsOf(generation).keys()) {
    if (Math.abs(known.length - name.length) > least) continue
    const distance = editDistance(name, known, least)
    if (distance < least) [least, close] = [distance, [known]]
    else if (distance === least && close.length < 3) close.push(known)
  }
  return close.length === 0
    ? 'no known name is near it'
    : `the nearest known name${close.length === 1 ? ' is' : 's are'} ${close.join(', ')}`
}

const LONGEST_NAME = 40

/** Levenshtein distance, or some number above `limit` where it is more. */
function editDistance(a: string, b: string, limit: number): number {
  const row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 1; i <= a.length; i++) {
    let corner = row[0]!
    row[0] = i
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const above = row[j]!
      row[j] = Math.min(above + 1, row[j - 1]! + 1, corner + (a[i - 1] === b[j - 1] ? 0 : 1))
      corner = above
      if (row[j]! < least) least = row[j]!
    }
    if (least > limit) return least
  }
  return row[b.length]!
}

/** The word that introduces a modifier, and what stands behind its colon. */
function splitModifier({ text }: Item): { name: string; value: string | undefined } {
  const match = /^([a-z]\w*)(?::(.*))?$/s.exec(text)
  return match === null ? { name: '', value: undefined } : { name: match[1]!, value: match[2] }
}

/** The candidates that have all modifiers that the text names. */
function fitting(candidates: readonly Candidate[], items: readonly Item[], target: Target, { line }: Surroundings): readonly Candidate[] {
  const word = (item: Item): string => splitModifier(item).name
  const named = items.filter((item) => !item.afterComma && candidates.some(({ words }) => words.has(word(item))))
  // SDWA and DPP are chosen by what they have and other encodings have not.
  const wantsSdwa = items.some(({ text }) => text.includes('sext(')) || named.some((item) => /_sel$|^dst_unused$/.test(word(item)))
  const wantsDpp = named.some((item) => candidates.some(({ format, words }) => format.name.endsWith('_dpp') && words.has(word(item))))
  const fit = candidates.filter(({ format, words }) => {
    if (candidates.length > 1 && format.name.endsWith('_sdwa') !== wantsSdwa) return false
    if (candidates.length > 1 && format.name.endsWith('_dpp') !== wantsDpp) return false
    return named.every((item) => words.has(word(item)))
  })
  if (fit.length > 0) return fit
  const culprit = named.find((item) => !candidates.every(({ words }) => words.has(word(item))))
  if (culprit === undefined) return candidates
  const mnemonic = candidates[0]!.operation.mnemonic(target.generation)
  throw new AssembleError(
    `${mnemonic} has no encoding on ${target.name} with ${named.map(({ text }) => text).join(' and ')} together; remove one`,
    line,
    culprit.column,
  )
}

function assembleAs(
  { operation, format, modifiers, words }: Candidate,
  items: readonly Item[],
  end: Item,
  target: Target,
  surroundings: Surroundings,
): Instruction {
  const { generation } = target
  const draft: Draft = {
    target,
    operation,
    format,
    fields: defaultFields(operation, format, generation),
    literal: undefined,
    scalars: new Set(),
    symbols: surroundings.symbols,
    distance: surroundings.distance,
    fail: (item, message) => {
      throw new AssembleError(message, surroundings.line, item.column)
    },
  }
  const [operandItems, modifierItems] = separate(items, draft, words)
  applyModifiers(modifierItems, modifiers, end, draft)
  applyOperands(operandItems, end, draft)
  checkConstantBus(operandItems, draft)
  const { fields, literal } = draft
  const dwords = format.dwords + (hasLiteral(operation, format, fields, generation) ? 1 : 0)
  return { target, operation, format, fields, literal, dwords }
}

/** Operands are separated by commas, modifiers by blanks. */
function separate(items: readonly Item[], draft: Draft, words: ReadonlySet<string>): [Item[], Item[]] {
  const { format, operation } = draft
  if (operation.name === 's_waitcnt' && items.length > 0) return [[{ ...items[0]!, text: items.map(({ text }) => text).join(' ') }], []]
  const isModifier = (item: Item): boolean => !item.afterComma && words.has(splitModifier(item).name)
  const first = items.findIndex((item, n) => (n > 0 && !item.afterComma && !(format.name === 'exp' && n === 1)) || isModifier(item))
  const operands = first < 0 ? items : items.slice(0, first)
  return [[...operands], first < 0 ? [] : items.slice(first)]
}

function applyModifiers(items: readonly Item[], modifiers: readonly Modifier[], end: Item, draft: Draft): void {
  const { operation, format, fields, target } = draft
  const mnemonic = operation.mnemonic(target.generation)
  const legal = legalValues(operation, format, target.generation)
  const seen = new Set<Modifier>()
  for (const item of items) {
    const { name, value } = splitModifier(item)
    const modifier = modifiers.find(({ names }) => names.includes(name))
    if (modifier === undefined) {
      const known = modifiers.flatMap(({ names }) => names)
      draft.fail(
        item,
        `${item.text} is no modifier of ${mnemonic} in ${format.name}; ${known.length === 0 ? 'it has none' : `known are ${known.join(', ')}`}, and operands are separated by commas`,
      )
    }
    if (seen.has(modifier) && !['dfmt', 'nfmt'].includes(name)) draft.fail(item, `${item.text} repeats a modifier; remove one`)
    seen.add(modifier)
    const parsed = modifier.parse(value, name, draft.symbols)
    if (typeof parsed === 'string')
      draft.fail(item, `${item.text} cannot be read; ${name}${parsed.startsWith(':') ? '' : ' with '}${parsed} was expected`)
    for (const [field, bits] of Object.entries(parsed)) {
      if (legal.get(field)?.[bits] === 0) draft.fail(item, `${mnemonic} in ${format.name} does not take ${item.text}; remove it`)
      fields[field] = field === 'src0' ? fields[field]! | bits : bits
    }
  }
  const missing = modifiers.find((modifier) => modifier.required !== undefined && !seen.has(modifier))
  if (missing !== undefined) draft.fail(end, `${mnemonic} in ${format.name} needs ${missing.required}; write it behind the operands`)
}

function applyOperands(items: readonly Item[], end: Item, draft: Draft): void {
  const { operation, format, target, fields } = draft
  // Global data share only: the flag is part of the syntax, and so it is asked for.
  for (const [field, values] of legalValues(operation, format, target.generation)) {
    if (field === 'gds' || field === 'lds') {
      if (values[fields[field]!] === 0)
        draft.fail(end, `${operation.mnemonic(target.generation)} needs ${field}; write it behind the operands`)
    }
  }
  const operands = operandsOf(operation, format).filter(
    (operand) => operand.kind !== 'vgpr' || format.name === 'mimg' || registersOf(operand, draft) > 0,
  )
  const least = operands.filter(({ kind }) => kind !== 'code').length
  if (items.length < least || items.length > operands.length) {
    const place = items[operands.length] ?? end
    const names = operands.map((operand) => operandName(operand)).join(', ')
    draft.fail(
      place,
      `${operation.mnemonic(target.generation)} in ${format.name} takes ${operands.length === 0 ? 'no operands' : `${operands.length} operand${operands.length === 1 ? '' : 's'} (${names})`}, but ${items.length} ${items.length === 1 ? 'is' : 'are'} given`,
    )
  }
  items.forEach((item, n) => {
    parseOperand(operands[n]!, item, draft)
  })
}

const operandName = ({ kind, field }: Operand): string => (kind === 'vcc' ? 'vcc' : kind === 'literal' ? 'constant' : field)

/** Before gfx10 a vector operation reads one scalar register, any number of times, or one literal (GCN3 manual, "Vector Instruction Operands"). */
function checkConstantBus(items: readonly Item[], draft: Draft): void {
  const { operation, format, scalars, literal, target } = draft
  if (!format.name.startsWith('vop')) return
  const VCC = 106
  const readsVcc =
    operation.shape.sources.includes('vcc') ||
    (format.name !== 'vop3a' && format.name !== 'vop3b' && operation.shape.sources.includes('mask'))
  if (readsVcc) scalars.add(VCC)
  const isFree = operation.literal !== undefined ? scalars.size === 0 : true
  const count = scalars.size + (literal !== undefined && operation.literal === undefined ? 1 : 0)
  if (count <= 1 && isFree) return
  const parts = [...(readsVcc ? ['vcc, which it implies'] : []), ...(literal === undefined ? [] : ['a literal'])]
  const last = items.at(-1)!
  draft.fail(
    last,
    `${operation.mnemonic(target.generation)} in ${format.name} would read ${scalars.size} scalar register${scalars.size === 1 ? '' : 's'}${parts.length > 0 ? ` (with ${parts.join(' and ')})` : ''}; before gfx10 a vector operation reads one scalar register or one literal: move the others to VGPRs first`,
  )
}
