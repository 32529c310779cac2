/**
 * Words of a trace → plan records, without an object on the way. Knows decode and plan only by what they return: each word pattern is planned
 * the common way at first and remembered; an operation of which many patterns came is taken apart into tables by field.
 *
 *   w0 ──► layout and opcode ──► slot ──► tabulated?   base record, one step a field: word ^= table[field value]
 *                                     ──► remembered?  copy 8 words
 *                                     ──► else         decode, planInstruction, packRecord
 */
import { decode, type Layout, layoutsOf } from '../codec/decode.ts'
import type { Instruction } from '../codec/instruction.ts'
import { OPERATION_BY_NAME } from '../isa/operations.ts'
import { LITERAL } from '../isa/registers.ts'
import type { Target } from '../isa/targets.ts'
import { type PlanOptions, type PlanRecord, packRecord, planInstruction } from '../plan/plan.ts'
import { KIND_NONE, NO_SDST, OP_ILLEGAL, OP_UNSUPPORTED } from '../plan/record.ts'
import { planByTables, RECORD_WORDS, Tables } from './tables.ts'

/** Why planning stopped: no more room for records, more words are needed, or the last record ends the trace or faults. */
export type PlanEnd = 'room' | 'words' | 'program'

/** Remembered patterns; a new one takes the place of the one whose hash it has. */
const ENTRY_BITS = 13
/** An entry: w0, w1 (0 where there is none), dwords (0 where it is empty), 5 words of nothing, the record. */
const ENTRY_WORDS = 16
const ENTRY_DWORDS = 2
const ENTRY_RECORD = 8
/** Patterns of an operation that are planned the common way before tables are made of it: making them costs about as much. */
const TABULATE_AFTER = 200

/** Control flow has happened already when a trace is written: these change nothing but pc. */
const DONE_ALREADY = /^(s_branch|s_setpc_b64|s_rfe_b64|s_rfe_restore_b64|s_cbranch_(scc[01]|vccn?z|execn?z|cdbg\w+))$/
/** These change EXEC and the branch stack depending on where they go, which a trace of words does not tell. */
const FORKS = /^s_cbranch_([ig]_fork|join)$/
const ENDS = /^s_endpgm(_saved)?$/

/**
 * The record of an instruction in a trace.
 * Branches count as executed, without effect; s_swappc_b64 writes the address behind it, as s_getpc_b64 does; s_cbranch_*_fork and _join are unsupported.
 */
export function traceRecord(instruction: Instruction, pc: number, options: PlanOptions): PlanRecord {
  const { name } = instruction.operation
  const record = planInstruction(instruction, pc, options)
  if (record.op === OP_ILLEGAL) return record
  if (FORKS.test(name)) return { ...record, op: OP_UNSUPPORTED }
  if (name === 's_swappc_b64') return { ...record, op: numberOf('s_getpc_b64') }
  if (!DONE_ALREADY.test(name)) return record
  return { ...record, op: numberOf('s_nop'), flags: 0, dst: 0, sources: [0, 0, 0], imm: 0, mods: noOperands(instruction.dwords) }
}

const numberOf = (name: string): number => OPERATION_BY_NAME.get(name)!.number
const noOperands = (dwords: number): PlanRecord['mods'] => ({
  kinds: [KIND_NONE, KIND_NONE, KIND_NONE],
  abs: 0,
  neg: 0,
  omod: 0,
  clamp: 0,
  opSel: 0,
  sdst: NO_SDST,
  dwords,
})

/** An operation in a format, with or without a literal. */
interface Slot {
  readonly layout: Layout
  readonly dwords: number
  readonly ends: boolean
  /** Patterns that were planned the common way. */
  misses: number
}

/**
 * A layout among the tables' words: mask, value, opcode's shift and mask, then what tells literals: the mask of a source field that begins at bit 0,
 * shift and mask of the other one (a mask of 0 stands for no such field), and the address of its slots.
 */
const KIND_WORDS = 8
/** A slot: the program that plans it, 0 where there is none, and its dwords, 0 where no such instruction has come. By opcode and by which sources are literals. */
const SLOT_WORDS = 2
const LITERALS = 4

/** Plans one trace, piece by piece. */
export class TracePlanner {
  /** Words that the last call of {@link plan} took. */
  taken = 0
  /** Why it stopped. */
  end: PlanEnd = 'words'
  readonly #target: Target
  readonly #options: PlanOptions
  readonly #tables = new Tables()
  /** By the top nine bits: address of how many kinds there are and of the kinds. */
  readonly #kinds: Int32Array
  /** By address. */
  readonly #slots = new Map<number, Slot>()
  readonly #layouts: readonly (readonly Layout[])[]
  readonly #entries = new Int32Array(ENTRY_WORDS << ENTRY_BITS)
  readonly #record = new Uint32Array(RECORD_WORDS)
  readonly #pattern = new Uint32Array(MOST_DWORDS)
  /** The last instruction planned ends the trace or is illegal. */
  #ended = false

  constructor(target: Target, vgprCount: number) {
    this.#target = target
    this.#options = { waveSize: target.waveSize, vgprCount }
    this.#layouts = layoutsOf(target.generation)
    const slots = new Map<Layout, number>()
    const lists = new Map<string, number>()
    this.#kinds = Int32Array.from(this.#layouts, (layouts) => {
      const key = layouts.map(({ format }) => format.name).join()
      const list = lists.get(key) ?? this.#list(layouts, slots)
      lists.set(key, list)
      return list
    })
  }

  /**
   * Plans instructions from `words[0]` on; their pcs are byte offsets from there.
   * @param count words that are there
   * @param final no more words will come: those at the end that are no whole instruction are illegal
   * @param into takes the records, from its word `at` on
   * @param limit records at most
   * @returns records written; `taken` and `end` say how far they got and why no further
   */
  plan(words: Int32Array, count: number, final: boolean, into: Int32Array, at: number, limit: number): number {
    let memory = this.#tables.memory
    const kinds = this.#kinds
    let index = 0
    let records = 0
    while (index < count && records < limit) {
      const w0 = words[index]!
      const slot = slotOf(memory, kinds[w0 >>> 23]!, w0)
      const program = memory[slot]!
      const dwords = memory[slot + 1]!
      const next = index + dwords
      if (program !== 0 && next <= count && planByTables(memory, program, w0, dwords === 2 ? words[index + 1]! : 0, into, at)) {
        into[at + 1] = index * 4
        index = next
      } else {
        const taken = this.#planUntabulated(slot, words, index, count, final, into, at)
        if (taken === 0) break
        index += taken
        memory = this.#tables.memory
      }
      records++
      at += RECORD_WORDS
      if (this.#ended) break
    }
    this.taken = index
    this.end = this.#ended ? 'program' : records === limit && index < count ? 'room' : 'words'
    this.#ended = false
    return records
  }

  /** Plans what has no tables; returns the dwords of the instruction, or 0 where there are too few words to tell. */
  #planUntabulated(slot: number, words: Int32Array, index: number, count: number, final: boolean, into: Int32Array, at: number): number {
    const w0 = words[index]!
    const expected = this.#tables.memory[slot + 1]!
    if (expected === 0 || index + expected > count)
      return final || index + MOST_DWORDS <= count ? this.#planAnew(words, index, count, into, at) : 0
    const w1 = expected === 2 ? words[index + 1]! : 0
    const entry = entryOf(w0, w1)
    const entries = this.#entries
    if (entries[entry] === w0 && entries[entry + 1] === w1 && entries[entry + ENTRY_DWORDS] === expected) {
      for (let i = 0; i < RECORD_WORDS; i++) into[at + i] = entries[entry + ENTRY_RECORD + i]!
      into[at + 1] = index * 4
      return expected
    }
    const dwords = this.#planAnew(words, index, count, into, at)
    if (!this.#ended && dwords === expected) this.#remember(entry, w0, w1, dwords, into, at)
    return dwords
  }

  /** Plans the common way; returns the dwords of the instruction. */
  #planAnew(words: Int32Array, index: number, count: number, into: Int32Array, at: number): number {
    const length = Math.min(MOST_DWORDS, count - index)
    for (let i = 0; i < length; i++) this.#pattern[i] = words[index + i]!
    const instruction = decode(length === MOST_DWORDS ? this.#pattern : this.#pattern.subarray(0, length), 0, this.#target)
    this.#ended = true
    if (instruction === undefined) {
      this.#write(into, at, { op: OP_ILLEGAL, flags: 0, pc: index * 4, dst: 0, sources: [0, 0, 0], imm: 0, mods: noOperands(1) })
      return 1
    }
    const record = traceRecord(instruction, index * 4, this.#options)
    this.#write(into, at, record)
    this.#ended = this.#count(instruction, words[index]!).ends || record.op === OP_ILLEGAL || record.op === OP_UNSUPPORTED
    return instruction.dwords
  }

  /** Counts an instruction that was planned the common way, and makes tables when there were many of its kind. */
  #count(instruction: Instruction, w0: number): Slot {
    const { memory } = this.#tables
    const layouts = this.#layouts[w0 >>> 23]!
    const layout = layouts.find(({ format }) => format === instruction.format)!
    const kind = this.#kinds[w0 >>> 23]! + 1 + layouts.indexOf(layout) * KIND_WORDS
    const address = slotIn(memory, kind, w0)
    const { dwords, operation } = instruction
    const slot = this.#slots.get(address) ?? { layout, dwords, ends: ENDS.test(operation.name), misses: 0 }
    this.#slots.set(address, slot)
    memory[address + 1] = dwords
    if (++slot.misses === TABULATE_AFTER && !slot.ends) {
      const program = this.#tables.tabulate(layout, w0, dwords, (first, second) => this.#trial(slot, first, second))
      this.#tables.memory[address] = program
    }
    return slot
  }

  /** The record of two words, if they are an instruction of this slot. */
  #trial({ layout, dwords }: Slot, w0: number, w1: number): Uint32Array | undefined {
    this.#pattern[0] = w0
    this.#pattern[1] = w1
    const instruction = decode(this.#pattern, 0, this.#target)
    if (instruction === undefined || instruction.dwords !== dwords || instruction.format !== layout.format) return undefined
    const record = traceRecord(instruction, 0, this.#options)
    if (record.op === OP_ILLEGAL || record.op === OP_UNSUPPORTED) return undefined
    packRecord(this.#record, 0, record)
    return this.#record
  }

  #remember(entry: number, w0: number, w1: number, dwords: number, record: Int32Array, at: number): void {
    const entries = this.#entries
    entries[entry] = w0
    entries[entry + 1] = w1
    entries[entry + ENTRY_DWORDS] = dwords
    for (let i = 0; i < RECORD_WORDS; i++) entries[entry + ENTRY_RECORD + i] = record[at + i]!
  }

  #write(into: Int32Array, at: number, record: PlanRecord): void {
    packRecord(this.#record, 0, record)
    for (let i = 0; i < RECORD_WORDS; i++) into[at + i] = this.#record[i]!
  }

  /** Writes a list of kinds; layouts have their slots once. */
  #list(layouts: readonly Layout[], slots: Map<Layout, number>): number {
    const list = this.#tables.allocate(1 + layouts.length * KIND_WORDS)
    this.#tables.memory[list] = layouts.length
    layouts.forEach((layout, i) => {
      const address = slots.get(layout) ?? this.#tables.allocate((layout.opMask + 1) * LITERALS * SLOT_WORDS)
      slots.set(layout, address)
      this.#tables.memory.set([...kindOf(layout, this.#target), address], list + 1 + i * KIND_WORDS)
    })
    return list
  }
}

/** Address of the slot of an instruction; of one that is always empty where none such has come. */
function slotOf(memory: Int32Array, list: number, w0: number): number {
  const end = list + 1 + memory[list]! * KIND_WORDS
  for (let kind = list + 1; kind < end; kind += KIND_WORDS) {
    if ((w0 & memory[kind]!) !== memory[kind + 1]!) continue
    const slot = slotIn(memory, kind, w0)
    if (memory[slot + 1] !== 0) return slot
  }
  return 0
}

/** Address of the slot of an instruction of a kind. */
function slotIn(memory: Int32Array, kind: number, w0: number): number {
  const op = (w0 >>> memory[kind + 2]!) & memory[kind + 3]!
  const literal0 = memory[kind + 4]!
  const literal1 = memory[kind + 6]!
  const literal =
    (literal0 !== 0 && (w0 & literal0) === LITERAL ? 1 : 0) |
    (literal1 !== 0 && ((w0 >>> memory[kind + 5]!) & literal1) === LITERAL ? 2 : 0)
  return memory[kind + 7]! + (op * LITERALS + literal) * SLOT_WORDS
}

/** The place of two words among the entries. */
const entryOf = (w0: number, w1: number): number =>
  ((Math.imul(w0, 0x9e3779b1) ^ Math.imul(w1, 0x85ebca6b)) >>> (32 - ENTRY_BITS)) * ENTRY_WORDS

/** No instruction of these generations is longer (a 64-bit format has no literal before gfx10). */
const MOST_DWORDS = 2

/** The words of a kind but the last. */
function kindOf({ format, mask, value, opLo, opMask }: Layout, target: Target): readonly number[] {
  const fields = format.literals.map((name) => format.fields[name]!)
  // Sea Islands manual, SMRD: IMM (bit 8) of 0 and OFFSET of 255 stand for a literal.
  if (format.name === 'smrd' && target.generation === 'gfx7') fields.push({ hi: 8, lo: 0 })
  const [first, second] = fields
  const bits = (field: { hi: number; lo: number } | undefined): number => (field === undefined ? 0 : 2 ** (field.hi - field.lo + 1) - 1)
  return [mask, value, opLo, opMask, bits(first), second?.lo ?? 0, bits(second)]
}
