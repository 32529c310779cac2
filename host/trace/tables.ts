/**
 * Tables that plan an operation field by field: what each value of a field changes in the record. Made by planning the operation once for
 * each value of each field, so nothing of encodings is written here; used only where planning random patterns both ways agrees.
 */
import type { Layout } from '../codec/decode.ts'
import { LITERAL } from '../isa/registers.ts'

/** Plans two words the common way; undefined where they are no such instruction. The record is overwritten by the next call. */
type Plan = (w0: number, w1: number) => Uint32Array | undefined

const RECORD_WORDS = 8
/** pc; whoever plans writes it. */
const RECORD_PC_WORD = 1
/** Wider fields have no table. */
const MOST_BITS = 12
/** Set in a record's first word where the field value is not in the table; flags have no such bit. */
const REFUSED = 0x80000000 | 0
/** Random patterns that are planned both ways. */
const TRIALS = 256

/** What a field does to one word of the record. */
interface Step {
  /** The field is in w1. */
  readonly second: boolean
  readonly shift: number
  readonly mask: number
  /** Word of the record; 0 (op and flags) is joined with OR, the others with XOR. */
  readonly target: number
  readonly table: Int32Array
}

/** Plans one operation in one format. */
export class FieldTables {
  constructor(
    private readonly base: Int32Array,
    private readonly steps: readonly Step[],
    /** Word of the record that is the literal, or 0. */
    private readonly literal: number,
  ) {}

  /** Writes the record, without its pc, to the words from `at` on; false, with nothing of use written, where it is not in the tables. */
  plan(w0: number, w1: number, into: Int32Array, at: number): boolean {
    const { base, steps, literal } = this
    let head = base[0]!
    for (let i = 2; i < RECORD_WORDS; i++) into[at + i] = base[i]!
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i]!
      const change = step.table[((step.second ? w1 : w0) >>> step.shift) & step.mask]!
      if (step.target === 0) head |= change
      else into[at + step.target]! ^= change
    }
    if (literal !== 0) into[at + literal] = w1
    into[at] = head
    return head >= 0
  }
}

/** An operation whose fields depend on each other. */
export const NOT_TABULATED = new FieldTables(Int32Array.of(REFUSED, 0, 0, 0, 0, 0, 0, 0), [], 0)

/**
 * Makes the tables of an operation.
 * @param example a first word of such an instruction; its opcode and where it names a literal hold for all
 * @param dwords of the instruction
 */
export function tabulate(layout: Layout, example: number, dwords: number, plan: Plan): FieldTables {
  const literal = dwords > layout.format.dwords
  const start = legalStart(layout, example, literal, plan)
  if (start === undefined) return NOT_TABULATED
  const base = Int32Array.from(plan(start.w0, start.w1)!)
  const steps: Step[] = []
  for (const field of layout.fields) {
    if (fixed(layout, field, example, literal)) continue
    if (field.mask >= 1 << MOST_BITS) return NOT_TABULATED
    const found = stepsOf(field, start, base, plan)
    if (found === undefined) return NOT_TABULATED
    steps.push(...found)
  }
  const tables = new FieldTables(base, steps, literal ? literalWord(start, plan) : 0)
  return agrees(tables, layout, example, literal, plan) ? tables : NOT_TABULATED
}

type Field = Layout['fields'][number]

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
  for (const field of layout.fields) {
    if (!fixed(layout, field, example, literal) && (field.word === 0 || !literal)) words = withField(words, field, 0)
  }
  if (plan(words.w0, words.w1) !== undefined) return words
  // Fields that may not be 0 (VGPRs as sources of SDWA aside there are few) keep what they have in the example.
  for (const field of layout.fields) {
    if (fixed(layout, field, example, literal) || field.word !== 0) continue
    const kept = withField(words, field, (example >>> field.shift) & field.mask)
    if (plan(kept.w0, kept.w1) !== undefined) return kept
  }
  return undefined
}

/** What each value of a field changes; undefined where it takes a flag away, so that flags cannot be joined. */
function stepsOf(field: Field, start: Words, base: Int32Array, plan: Plan): Step[] | undefined {
  const size = field.mask + 1
  const changes = Array.from({ length: RECORD_WORDS }, () => new Int32Array(size))
  for (let value = 0; value < size; value++) {
    const { w0, w1 } = withField(start, field, value)
    const record = plan(w0, w1)
    if (record === undefined) {
      changes[0]![value] = REFUSED
      continue
    }
    if ((base[0]! & ~record[0]!) !== 0) return undefined
    for (let i = 0; i < RECORD_WORDS; i++) changes[i]![value] = record[i]! ^ base[i]!
  }
  const second = field.word === 1
  return changes.flatMap((table, target) =>
    target !== RECORD_PC_WORD && table.some((change) => change !== 0)
      ? [{ second, shift: field.shift, mask: field.mask, target, table: shared(table) }]
      : [],
  )
}

/** One array for all tables with the same contents: most operations differ in a few fields only, and few arrays stay in the cache. */
function shared(table: Int32Array): Int32Array {
  const key = table.join()
  const known = tables.get(key)
  if (known !== undefined) return known
  tables.set(key, table)
  return table
}

const tables = new Map<string, Int32Array>()

/** The word of the record that a literal goes to as it is; 1, so that the trials fail, where there is none. */
function literalWord({ w0 }: Words, plan: Plan): number {
  const before = Uint32Array.from(plan(w0, 0) ?? [])
  const after = plan(w0, 0xffffffff)
  const changed = [...before.keys()].filter((i) => after?.[i] !== before[i])
  return changed.length === 1 ? changed[0]! : RECORD_PC_WORD
}

/** Plans random patterns both ways. */
function agrees(made: FieldTables, layout: Layout, example: number, literal: boolean, plan: Plan): boolean {
  const record = new Int32Array(RECORD_WORDS)
  let state = 1
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state ^ (state >>> 15)) >>> 0
  }
  for (let trial = 0; trial < TRIALS; trial++) {
    let words: Words = { w0: example >>> 0, w1: literal ? random() : 0 }
    // Few fields at a time, so that most patterns are instructions; all of them now and then.
    for (const field of layout.fields) {
      if (fixed(layout, field, example, literal)) continue
      if (trial % 4 === 0 || random() % 3 === 0) words = withField(words, field, random() % (field.mask + 1))
    }
    const wanted = plan(words.w0, words.w1)
    record.fill(0)
    const planned = made.plan(words.w0, words.w1, record, 0)
    if (!planned) continue
    if (wanted === undefined) return false
    for (let i = 0; i < RECORD_WORDS; i++) if (i !== RECORD_PC_WORD && (wanted[i]! | 0) !== record[i]) return false
  }
  return true
}
