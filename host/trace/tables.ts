/**
 * Makes the tables that plan an operation field by field (host/plan/templates.ts): what each value of a field changes in the record. Made by planning
 * the operation for values of each field, so nothing of encodings is written here; used only where planning random patterns both ways agrees.
 */
import type { Layout } from '../codec/decode.ts'
import type { Arena } from '../device/memory.ts'
import type { Templates } from '../engine.ts'
import { LITERAL } from '../isa/registers.ts'
import { RECORD_BYTES, RECORD_PC } from '../plan/layout.ts'
import { FIELD_BYTES, FIELD_MASK_SHIFT, ROW_REFUSED, TEMPLATE_END, TEMPLATE_FIELDS, TEMPLATE_LITERAL } from '../plan/templates.ts'

/** Plans two words the common way; undefined where they are no such instruction. The record is overwritten by the next call. */
export type Plan = (w0: number, w1: number) => Uint32Array | undefined

export const RECORD_WORDS = RECORD_BYTES / 4
/** pc; whoever plans writes it. */
const PC = RECORD_PC / 4
/** Wider fields have a table for each byte. */
const MOST_BITS = 9
/** Random patterns that are planned both ways. */
const TRIALS = 48
/** Memory is taken in pieces of so many bytes. */
const BLOCK_BYTES = 1 << 17

type Field = Layout['fields'][number]

/** The fields of a layout, wide ones in pieces. */
export function fieldsOf(layout: Layout): readonly Field[] {
  return layout.fields.flatMap((field) => {
    if (field.mask < 1 << MOST_BITS) return [field]
    const pieces: Field[] = []
    for (let at = 0, rest = field.mask; rest > 0; at += 8, rest >>>= 8)
      pieces.push({ ...field, name: `${field.name} from ${at}`, shift: field.shift + at, mask: rest & 255 })
    return pieces
  })
}

/** The tables of a trace's operations. */
export class Tables {
  readonly #blocks: number[] = []
  /** What is free of the last block. */
  #at = 0
  #end = 0
  /** Addresses of fields' rows by format and name: most operations have the same. */
  readonly #known = new Map<string, number[]>()

  constructor(
    private readonly arena: Arena,
    private readonly templates: Templates,
  ) {}

  /** So many zeros: a multiple of 16 as address. */
  allocate(bytes: number): number {
    const size = Math.ceil(bytes / 16) * 16
    if (this.#at + size > this.#end) {
      const block = Math.max(size, BLOCK_BYTES)
      this.#at = this.arena.allocate(block)
      this.#end = this.#at + block
      this.#blocks.push(this.#at)
    }
    this.#at += size
    return this.#at - size
  }

  free(): void {
    for (const block of this.#blocks) this.arena.free(block)
  }

  /**
   * Makes the tables of an operation in a format.
   * @param example a first word of such an instruction; its opcode and where it names a literal hold for all
   * @param dwords of the instruction
   * @returns the template, 0 where fields depend on each other
   */
  tabulate(layout: Layout, example: number, dwords: number, plan: Plan): number {
    const literal = dwords > layout.format.dwords
    const free = fieldsOf(layout).filter((field) => !fixed(layout, field, example, literal))
    const start = legalStart(free, example, literal, plan)
    if (start === undefined) return 0
    const base = plan(start.w0, start.w1)!.slice()
    const fields: number[] = []
    for (const field of free) {
      const rows = this.#rowsOf(`${layout.format.name} ${field.name}`, field, start, base, plan)
      if (rows === undefined) return 0
      if (rows > 0) fields.push((field.shift + 32 * field.word) | (field.mask << FIELD_MASK_SHIFT), rows)
    }
    const template = this.allocate(TEMPLATE_FIELDS + 4 * fields.length)
    const { words } = this.arena
    words.set(base, template >>> 2)
    words[(template + TEMPLATE_END) >>> 2] = template + TEMPLATE_FIELDS + (fields.length / 2) * FIELD_BYTES
    words[(template + TEMPLATE_LITERAL) >>> 2] = literal ? 4 * literalWord(start, plan) : 0
    words.set(fields, (template + TEMPLATE_FIELDS) >>> 2)
    return this.#agrees(template, free, example, literal, plan) ? template : 0
  }

  /** Address of a field's rows, 0 where it changes nothing. Undefined where a value takes a flag away, so that flags cannot be joined. */
  #rowsOf(name: string, field: Field, start: Words, base: Uint32Array, plan: Plan): number | undefined {
    const known = this.#known.get(name) ?? []
    this.#known.set(name, known)
    const all = Array.from({ length: field.mask + 1 }, (_, value) => value)
    const sample = changesOf(
      field,
      all.filter((value) => isTelling(value, field)),
      start,
      base,
      plan,
    )
    if (sample === undefined) return undefined
    if ([...sample.values()].every((change) => change.every((word) => word === 0))) return 0
    const same = known.find((rows) => this.#fits(rows, sample))
    if (same !== undefined) return same
    const changes = changesOf(field, all, start, base, plan)
    return changes && this.#make(known, changes)
  }

  /** Whether rows say of some values what planning them says. */
  #fits(rows: number, changes: Changes): boolean {
    const { words } = this.arena
    for (const [value, change] of changes) {
      const row = (rows + value * RECORD_BYTES) >>> 2
      for (let i = 0; i < RECORD_WORDS; i++) if (words[row + i] !== change[i]) return false
    }
    return true
  }

  #make(known: number[], changes: Changes): number {
    const rows = this.allocate(changes.size * RECORD_BYTES)
    for (const [value, change] of changes) this.arena.words.set(change, (rows + value * RECORD_BYTES) >>> 2)
    known.push(rows)
    return rows
  }

  /** Plans random patterns both ways. */
  #agrees(template: number, fields: readonly Field[], example: number, literal: boolean, plan: Plan): boolean {
    const record = this.allocate(RECORD_BYTES)
    let state = 1
    const random = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return (state ^ (state >>> 15)) >>> 0
    }
    for (let trial = 0; trial < TRIALS; trial++) {
      let pattern: Words = { w0: example >>> 0, w1: literal ? random() : 0 }
      // Few fields at a time, so that most patterns are instructions; all of them now and then.
      for (const field of fields)
        if (trial % 4 === 0 || random() % 3 === 0) pattern = withField(pattern, field, random() % (field.mask + 1))
      if (!this.templates.planBy(template, bitsOf(pattern), record)) continue
      const wanted = plan(pattern.w0, pattern.w1)
      if (wanted === undefined) return false
      const { words } = this.arena
      for (let i = 0; i < RECORD_WORDS; i++) if (i !== PC && wanted[i] !== words[(record >>> 2) + i]) return false
    }
    return true
  }
}

/** By value: flags that it sets, or ROW_REFUSED, and what the record's other words are combined with by XOR. */
type Changes = ReadonlyMap<number, Uint32Array>

/** Undefined where a value takes a flag away. */
function changesOf(field: Field, values: readonly number[], start: Words, base: Uint32Array, plan: Plan): Changes | undefined {
  const changes = new Map<number, Uint32Array>()
  for (const value of values) {
    const { w0, w1 } = withField(start, field, value)
    const record = plan(w0, w1)
    if (record !== undefined && (base[0]! & ~record[0]!) !== 0) return undefined
    const change = new Uint32Array(RECORD_WORDS)
    for (let i = 1; record !== undefined && i < RECORD_WORDS; i++) change[i] = record[i]! ^ base[i]!
    change[0] = record === undefined ? ROW_REFUSED : record[0]! & ~base[0]!
    changes.set(value, change)
  }
  return changes
}

/**
 * Whether a value of a field is tried before rows are taken that another operation has: all of a small field, of others those around which the meaning of
 * a source changes (GCN3 manual, "Scalar operands"), the first and the last ones. A test tries all.
 */
const isTelling = (value: number, { mask }: Field): boolean => mask < 16 || TURNS.some((turn) => value >= turn - 1 && value <= turn + 1)
const TURNS = [1, 103, 107, 111, 125, 128, 193, 209, 240, 244, 248, 251, 254, 257, 510]

/** A source field that tells of a literal keeps its value. */
const fixed = ({ format }: Layout, field: Field, example: number, literal: boolean): boolean =>
  literal && format.literals.includes(field.name) && ((example >>> field.shift) & field.mask) === LITERAL

interface Words {
  readonly w0: number
  readonly w1: number
}

/** Both words as one. */
const bitsOf = ({ w0, w1 }: Words): bigint => BigInt(w0) | (BigInt(w1) << 32n)

function withField({ w0, w1 }: Words, { word, shift, mask }: Field, value: number): Words {
  const set = (w: number): number => ((w & ~(mask << shift)) | (value << shift)) >>> 0
  return word === 0 ? { w0: set(w0), w1 } : { w0, w1: set(w1) }
}

/** Words from which every field can be changed alone: all fields 0, or the lowest value that goes. */
function legalStart(fields: readonly Field[], example: number, literal: boolean, plan: Plan): Words | undefined {
  let words: Words = { w0: example >>> 0, w1: 0 }
  for (const field of fields) if (field.word === 0 || !literal) words = withField(words, field, 0)
  if (plan(words.w0, words.w1) !== undefined) return words
  // Fields that may not be 0 (VGPRs as sources of SDWA aside there are few) keep what they have in the example.
  for (const field of fields) {
    if (field.word !== 0) continue
    const kept = withField(words, field, (example >>> field.shift) & field.mask)
    if (plan(kept.w0, kept.w1) !== undefined) return kept
  }
  return undefined
}

/** The word of the record that a literal goes to as it is; pc, so that the trials fail, where there is none. */
function literalWord({ w0 }: Words, plan: Plan): number {
  const before = Uint32Array.from(plan(w0, 0) ?? [])
  const after = plan(w0, 0xffffffff)
  const changed = [...before.keys()].filter((i) => after?.[i] !== before[i])
  return changed.length === 1 ? changed[0]! : PC
}
