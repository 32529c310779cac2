/**
 * Tables that plan an operation field by field: what each value of a field changes in the record. Made by planning the operation for values of each
 * field, so nothing of encodings is written here; used only where planning random patterns both ways agrees.
 *
 *   memory   program │ program │ …        one Int32Array, so that planning touches nothing else
 *   program  op and flags │ fields << 3 | literal │ words 2 to 7 of the record │ (field, address of its table) …
 *   table    by value: flags, or REFUSED │ change of mods │ change of the field's own word │ 0
 */
import type { Layout } from '../codec/decode.ts'
import { LITERAL } from '../isa/registers.ts'

/** Plans two words the common way; undefined where they are no such instruction. The record is overwritten by the next call. */
export type Plan = (w0: number, w1: number) => Uint32Array | undefined

export const RECORD_WORDS = 8
/** pc; whoever plans writes it. */
const PC = 1
/** First word of the record that a field may change besides op and flags. */
const FIRST = 2
const MODS = 7
/** Wider fields have a table for each byte. */
const MOST_BITS = 9
/** Set in the first word of a table's row where the value has no row; op and flags leave the bit alone. */
const REFUSED = 0x80000000 | 0
const ROW_WORDS = 4
/** Random patterns that are planned both ways. */
const TRIALS = 96

/** A field in a program: shift 4:0 | in w1 5 | mask 19:8 | word of the record that is its own 22:20. */
const SECOND = 32
const MASK_SHIFT = 8
const OWN_SHIFT = 20

/**
 * Writes the record of an instruction, without its pc, to the words from `at` on.
 * @param program an address in `memory` that {@link Tables.tabulate} gave
 * @returns false, with nothing of use written, where it is not in the tables
 */
export function planByTables(memory: Int32Array, program: number, w0: number, w1: number, into: Int32Array, at: number): boolean {
  let head = memory[program]!
  const info = memory[program + 1]!
  into[at + 2] = memory[program + 2]!
  into[at + 3] = memory[program + 3]!
  into[at + 4] = memory[program + 4]!
  into[at + 5] = memory[program + 5]!
  into[at + 6] = memory[program + 6]!
  let mods = memory[program + MODS]!
  const end = program + RECORD_WORDS + (info >>> 3) * 2
  for (let field = program + RECORD_WORDS; field < end; field += 2) {
    const where = memory[field]!
    const value = (((where & SECOND) === 0 ? w0 : w1) >>> (where & 31)) & (where >>> MASK_SHIFT) & 0xfff
    const row = memory[field + 1]! + value * ROW_WORDS
    head |= memory[row]!
    mods ^= memory[row + 1]!
    into[at + ((where >>> OWN_SHIFT) & 7)]! ^= memory[row + 2]!
  }
  if ((info & 7) !== 0) into[at + (info & 7)] = w1
  into[at + MODS] = mods
  into[at] = head
  return head >= 0
}

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

/** What the values of a field change. */
interface FieldTable {
  /** Address of the rows. */
  readonly rows: number
  /** The word of the record that is its own. */
  readonly own: number
}

/** The tables of a trace's operations. */
export class Tables {
  memory = new Int32Array(1 << 15)
  /** 0 is no address. */
  #end = ROW_WORDS
  /** Tables of fields by format and name: most operations have the same. */
  readonly #known = new Map<string, FieldTable[]>()

  /** So many zeros. */
  allocate(words: number): number {
    const start = this.#end
    this.#end += Math.ceil(words / ROW_WORDS) * ROW_WORDS
    if (this.#end > this.memory.length) {
      const larger = new Int32Array(Math.max(this.#end, this.memory.length * 2))
      larger.set(this.memory)
      this.memory = larger
    }
    return start
  }

  /**
   * Makes the tables of an operation in a format.
   * @param example a first word of such an instruction; its opcode and where it names a literal hold for all
   * @param dwords of the instruction
   * @returns the program, 0 where fields depend on each other
   */
  tabulate(layout: Layout, example: number, dwords: number, plan: Plan): number {
    const literal = dwords > layout.format.dwords
    const start = legalStart(layout, example, literal, plan)
    if (start === undefined) return 0
    const base = Int32Array.from(plan(start.w0, start.w1)!)
    const fields: number[] = []
    for (const field of fieldsOf(layout)) {
      if (fixed(layout, field, example, literal)) continue
      const found = this.#tablesOf(`${layout.format.name} ${field.name}`, field, start, base, plan)
      if (found === undefined) return 0
      const where = field.shift | (field.word === 1 ? SECOND : 0) | (field.mask << MASK_SHIFT)
      for (const { rows, own } of found) fields.push(where | (own << OWN_SHIFT), rows)
    }
    const program = this.allocate(RECORD_WORDS + fields.length)
    this.memory.set(base, program)
    this.memory[program + PC] = ((fields.length / 2) << 3) | (literal ? literalWord(start, plan) : 0)
    this.memory.set(fields, program + RECORD_WORDS)
    return this.#agrees(program, layout, example, literal, plan) ? program : 0
  }

  /** The tables of a field: one for each word of its own. Undefined where a value takes a flag away, so that flags cannot be joined. */
  #tablesOf(name: string, field: Field, start: Words, base: Int32Array, plan: Plan): readonly FieldTable[] | undefined {
    const known = this.#known.get(name) ?? []
    this.#known.set(name, known)
    const values = Array.from({ length: field.mask + 1 }, (_, value) => value)
    const sample = changesOf(field, values.filter(isTelling), start, base, plan)
    if (sample === undefined) return undefined
    const owns = ownsOf(sample)
    const same = owns.map((own, i) => known.find((table) => this.#fits(table, own, i === 0, sample)))
    if (same.every((table) => table !== undefined)) return same
    const changes = changesOf(field, values, start, base, plan)
    return changes && ownsOf(changes).map((own, i) => this.#make(known, own, i === 0, changes))
  }

  /** Whether a table says of some values what planning them says. */
  #fits({ rows, own }: FieldTable, wanted: number, first: boolean, changes: ReadonlyMap<number, Change>): boolean {
    if (own !== wanted) return false
    for (const [value, { flags, words }] of changes) {
      const row = rows + value * ROW_WORDS
      const [head, mods, change] = this.memory.subarray(row, row + 3)
      if (head !== flags) return false
      if (mods !== (first ? words[MODS]! : 0) || change !== words[own]) return false
    }
    return true
  }

  /** @param first mods are changed by the first table of a field alone */
  #make(known: FieldTable[], own: number, first: boolean, changes: ReadonlyMap<number, Change>): FieldTable {
    const table = { rows: this.allocate(changes.size * ROW_WORDS), own }
    for (const [value, { flags, words }] of changes)
      this.memory.set([flags, first ? words[MODS]! : 0, words[own]!, 0], table.rows + value * ROW_WORDS)
    known.push(table)
    return table
  }

  /** Plans random patterns both ways. */
  #agrees(program: number, layout: Layout, example: number, literal: boolean, plan: Plan): boolean {
    const record = new Int32Array(RECORD_WORDS)
    let state = 1
    const random = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return (state ^ (state >>> 15)) >>> 0
    }
    for (let trial = 0; trial < TRIALS; trial++) {
      let words: Words = { w0: example >>> 0, w1: literal ? random() : 0 }
      // Few fields at a time, so that most patterns are instructions; all of them now and then.
      for (const field of fieldsOf(layout)) {
        if (fixed(layout, field, example, literal)) continue
        if (trial % 4 === 0 || random() % 3 === 0) words = withField(words, field, random() % (field.mask + 1))
      }
      if (!planByTables(this.memory, program, words.w0, words.w1, record, 0)) continue
      const wanted = plan(words.w0, words.w1)
      if (wanted === undefined) return false
      for (let i = 0; i < RECORD_WORDS; i++) if (i !== PC && (wanted[i]! | 0) !== record[i]) return false
    }
    return true
  }
}

/** What a value changes: flags that it sets, or REFUSED, and what the record's words are combined with by XOR. */
interface Change {
  readonly flags: number
  readonly words: Int32Array
}

/** Undefined where a value takes a flag away. */
function changesOf(field: Field, values: readonly number[], start: Words, base: Int32Array, plan: Plan): Map<number, Change> | undefined {
  const changes = new Map<number, Change>()
  for (const value of values) {
    const { w0, w1 } = withField(start, field, value)
    const record = plan(w0, w1)
    if (record !== undefined && (base[0]! & ~record[0]!) !== 0) return undefined
    const words = record === undefined ? new Int32Array(RECORD_WORDS) : Int32Array.from(record, (word, i) => word ^ base[i]!)
    changes.set(value, { flags: record === undefined ? REFUSED : words[0]!, words })
  }
  return changes
}

/** The words of the record, besides the first and mods, that a field changes; the first one there is where it changes none. */
function ownsOf(changes: ReadonlyMap<number, Change>): readonly number[] {
  const owns: number[] = []
  for (let word = FIRST; word < MODS; word++) if ([...changes.values()].some(({ words }) => words[word] !== 0)) owns.push(word)
  if (owns.length > 0) return owns
  return [...changes.values()].some(({ flags, words }) => flags !== 0 || words[MODS] !== 0) ? [FIRST] : []
}

/**
 * Whether a value of a field is tried before a table is taken that another operation has: all of a small field, of a source those around which its meaning
 * changes (GCN3 manual, "Scalar operands"), of the rest every seventeenth. A test tries all.
 */
const isTelling = (value: number): boolean => value < 16 || value % 17 === 0 || TURNS.some((turn) => value >= turn - 2 && value <= turn + 2)
const TURNS = [103, 107, 111, 125, 128, 193, 209, 240, 244, 248, 251, 254, 257, 511]

/** A source field that tells of a literal keeps its value. */
const fixed = ({ format }: Layout, field: Field, example: number, literal: boolean): boolean =>
  literal && format.literals.includes(field.name) && ((example >>> field.shift) & field.mask) === LITERAL

interface Words {
  readonly w0: number
  readonly w1: number
}

function withField({ w0, w1 }: Words, { word, shift, mask }: Field, value: number): Words {
  const set = (w: number): number => ((w & ~(mask << shift)) | (value << shift)) >>> 0
  return word === 0 ? { w0: set(w0), w1 } : { w0, w1: set(w1) }
}

/** Words from which every field can be changed alone: all fields 0, or the lowest value that goes. */
function legalStart(layout: Layout, example: number, literal: boolean, plan: Plan): Words | undefined {
  let words: Words = { w0: example >>> 0, w1: 0 }
  for (const field of fieldsOf(layout)) {
    if (!fixed(layout, field, example, literal) && (field.word === 0 || !literal)) words = withField(words, field, 0)
  }
  if (plan(words.w0, words.w1) !== undefined) return words
  // Fields that may not be 0 (VGPRs as sources of SDWA aside there are few) keep what they have in the example.
  for (const field of fieldsOf(layout)) {
    if (fixed(layout, field, example, literal) || field.word !== 0) continue
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
