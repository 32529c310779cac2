/**
 * Words of a trace → plan records, without an object on the way. Knows decode and plan only by what they return: each word pattern is planned
 * the common way at first, remembered, and where patterns of one operation come in thousands, taken apart into tables by field.
 *
 *   w0 ──► layout and opcode ──► slot ──► remembered?  copy 8 words
 *                                     ──► tabulated?   base record, one step a field: word ^= table[field value]
 *                                     ──► else         decode, planInstruction, packRecord
 */
import { decode, type Layout, layoutsOf } from '../codec/decode.ts'
import type { Instruction } from '../codec/instruction.ts'
import { OPERATION_BY_NAME } from '../isa/operations.ts'
import { LITERAL } from '../isa/registers.ts'
import type { Target } from '../isa/targets.ts'
import { type PlanOptions, type PlanRecord, packRecord, planInstruction } from '../plan/plan.ts'
import { KIND_NONE, NO_SDST, OP_ILLEGAL, OP_UNSUPPORTED } from '../plan/record.ts'
import { type FieldTables, tabulate } from './tables.ts'

/** Why planning stopped: no more room for records, more words are needed, or the last record ends the trace or faults. */
export type PlanEnd = 'room' | 'words' | 'program'

const RECORD_WORDS = 8
/** Remembered patterns; a new one takes the place of the one whose hash it has. */
const ENTRY_BITS = 13
/** An entry: w0, w1 (0 where there is none), dwords (0 where it is empty), 5 words of nothing, the record. */
const ENTRY_WORDS = 16
const ENTRY_DWORDS = 2
const ENTRY_RECORD = 8
/** Patterns of an operation that are planned the common way before tables are made of it: making them costs about as much. */
const TABULATE_AFTER = 500

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

/** A layout as the planner asks for it. */
interface Kind {
  readonly layout: Layout
  readonly mask: number
  readonly value: number
  readonly opLo: number
  readonly opMask: number
  /** Bits of w0 that tell literals: which of two source fields is 255; a mask of 0 stands for no such field. */
  readonly literal0: number
  readonly literal1Shift: number
  readonly literal1: number
  /** By opcode × 4 + which fields tell of a literal. */
  readonly slots: (Slot | undefined)[]
}

/** An operation in a format, with or without a literal. */
interface Slot {
  readonly kind: Kind
  readonly dwords: number
  readonly ends: boolean
  misses: number
  tables: FieldTables | undefined
}

/** Plans one trace, piece by piece. */
export class TracePlanner {
  /** Words that the last call of {@link plan} took. */
  taken = 0
  /** Why it stopped. */
  end: PlanEnd = 'words'
  readonly #target: Target
  readonly #options: PlanOptions
  readonly #kinds: readonly (readonly Kind[])[]
  readonly #entries = new Int32Array(ENTRY_WORDS << ENTRY_BITS)
  /** Dwords of instructions with these top nine bits, unless {@link mayBeLonger}; 0 where nobody knows yet. */
  readonly #plain = new Uint8Array(512)
  readonly #record = new Uint32Array(RECORD_WORDS)
  readonly #pattern = new Uint32Array(MOST_DWORDS)

  constructor(target: Target, vgprCount: number) {
    this.#target = target
    this.#options = { waveSize: target.waveSize, vgprCount }
    const kinds = new Map<Layout, Kind>()
    this.#kinds = layoutsOf(target.generation).map((layouts) =>
      layouts.map((layout) => {
        const kind = kinds.get(layout) ?? kindOf(layout, target)
        kinds.set(layout, kind)
        return kind
      }),
    )
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
    const entries = this.#entries
    const plain = this.#plain
    let index = 0
    let records = 0
    while (index < count && records < limit) {
      const w0 = words[index]!
      const dwords = plain[w0 >>> 23]!
      const w1 = dwords === 2 ? words[index + 1]! : 0
      const entry = entryOf(w0, w1)
      if (
        entries[entry] === w0 &&
        entries[entry + 1] === w1 &&
        entries[entry + ENTRY_DWORDS] === dwords &&
        index + dwords <= count &&
        (dwords === 2 || !mayBeLonger(w0))
      ) {
        into[at] = entries[entry + ENTRY_RECORD]!
        into[at + 1] = index * 4
        into[at + 2] = entries[entry + ENTRY_RECORD + 2]!
        into[at + 3] = entries[entry + ENTRY_RECORD + 3]!
        into[at + 4] = entries[entry + ENTRY_RECORD + 4]!
        into[at + 5] = entries[entry + ENTRY_RECORD + 5]!
        into[at + 6] = entries[entry + ENTRY_RECORD + 6]!
        into[at + 7] = entries[entry + ENTRY_RECORD + 7]!
        index += dwords
      } else {
        const taken = this.#planUnseen(words, index, count, final, into, at)
        if (taken === 0) break
        index += taken
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

  /** Plans what {@link plan} has not found at once; returns the dwords of the instruction, or 0 where there are too few words to tell. */
  #planUnseen(words: Int32Array, index: number, count: number, final: boolean, into: Int32Array, at: number): number {
    const w0 = words[index]!
    const slot = this.#slotOf(w0)
    if (slot === undefined || index + slot.dwords > count)
      return final || index + MOST_DWORDS <= count ? this.#planAnew(words, index, count, into, at) : 0
    const w1 = slot.dwords === 2 ? words[index + 1]! : 0
    const entry = entryOf(w0, w1)
    const entries = this.#entries
    if (entries[entry] === w0 && entries[entry + 1] === w1 && entries[entry + ENTRY_DWORDS] === slot.dwords)
      for (let i = 0; i < RECORD_WORDS; i++) into[at + i] = entries[entry + ENTRY_RECORD + i]!
    else if (slot.tables?.plan(w0, w1, into, at)) this.#remember(entry, w0, w1, slot.dwords, into, at)
    else {
      const dwords = this.#planAnew(words, index, count, into, at)
      if (this.#ended || dwords !== slot.dwords) return dwords
      this.#remember(entry, w0, w1, dwords, into, at)
      if (++slot.misses === TABULATE_AFTER) slot.tables = this.#tabulate(slot, w0)
      return dwords
    }
    into[at + 1] = index * 4
    return slot.dwords
  }

  /** The last instruction planned ends the trace or is illegal. */
  #ended = false

  #slotOf(w0: number): Slot | undefined {
    const kinds = this.#kinds[w0 >>> 23]!
    for (let k = 0; k < kinds.length; k++) {
      const kind = kinds[k]!
      if ((w0 & kind.mask) !== kind.value) continue
      const literal =
        (kind.literal0 !== 0 && (w0 & kind.literal0) === LITERAL ? 1 : 0) |
        (kind.literal1 !== 0 && ((w0 >>> kind.literal1Shift) & kind.literal1) === LITERAL ? 2 : 0)
      const slot = kind.slots[((w0 >>> kind.opLo) & kind.opMask) * 4 + literal]
      if (slot !== undefined) return slot
    }
    return undefined
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
    const slot = this.#slotFor(instruction, words[index]!)
    this.#ended = slot.ends || record.op === OP_ILLEGAL || record.op === OP_UNSUPPORTED
    return instruction.dwords
  }

  /** The slot of a decoded instruction, made when the first one of its kind comes. */
  #slotFor(instruction: Instruction, w0: number): Slot {
    const kind = this.#kinds[w0 >>> 23]!.find(({ layout }) => layout.format === instruction.format)!
    const literal =
      (kind.literal0 !== 0 && (w0 & kind.literal0) === LITERAL ? 1 : 0) |
      (kind.literal1 !== 0 && ((w0 >>> kind.literal1Shift) & kind.literal1) === LITERAL ? 2 : 0)
    const index = ((w0 >>> kind.opLo) & kind.opMask) * 4 + literal
    let slot = kind.slots[index]
    if (slot === undefined) {
      const { dwords, operation } = instruction
      slot = { kind, dwords, ends: ENDS.test(operation.name), misses: 0, tables: undefined }
      kind.slots[index] = slot
      const isWhole = (kind.mask & 0x7fffff) === 0 && literal === 0
      if (isWhole) this.#plain[w0 >>> 23] = dwords
    }
    return slot
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

  #tabulate({ kind, dwords }: Slot, example: number): FieldTables {
    const words = new Uint32Array(2)
    const record = this.#record
    return tabulate(kind.layout, example, dwords, (w0, w1) => {
      words[0] = w0
      words[1] = w1
      const instruction = decode(words, 0, this.#target)
      if (instruction === undefined || instruction.dwords !== dwords || instruction.format !== kind.layout.format) return undefined
      const planned = traceRecord(instruction, 0, this.#options)
      if (planned.op === OP_ILLEGAL || planned.op === OP_UNSUPPORTED) return undefined
      packRecord(record, 0, planned)
      return record
    })
  }
}

/** The place of two words among the entries. */
const entryOf = (w0: number, w1: number): number =>
  ((Math.imul(w0, 0x9e3779b1) ^ Math.imul(w1, 0x85ebca6b)) >>> (32 - ENTRY_BITS)) * ENTRY_WORDS

/** Where source fields of 32-bit formats are (bits 8:0 and 15:8) stands what can announce a second dword: SDWA 249, DPP 250, literal 255. */
const mayBeLonger = (w0: number): boolean => (w0 & 0xff) >= 249 || ((w0 >>> 8) & 0xff) === LITERAL

/** No instruction of these generations is longer (a 64-bit format has no literal before gfx10). */
const MOST_DWORDS = 2

function kindOf(layout: Layout, target: Target): Kind {
  const { format, mask, value, opLo, opMask } = layout
  const fields = format.literals.map((name) => format.fields[name]!)
  // Sea Islands manual, SMRD: IMM (bit 8) of 0 and OFFSET of 255 stand for a literal.
  if (format.name === 'smrd' && target.generation === 'gfx7') fields.push({ hi: 8, lo: 0 })
  const [first, second] = fields
  const bits = (field: { hi: number; lo: number } | undefined): number => (field === undefined ? 0 : 2 ** (field.hi - field.lo + 1) - 1)
  return {
    layout,
    mask: mask | 0,
    value: value | 0,
    opLo,
    opMask,
    literal0: bits(first),
    literal1Shift: second?.lo ?? 0,
    literal1: bits(second),
    slots: [],
  }
}
