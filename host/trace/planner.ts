/**
 * Words of a trace → plan records. Knows decode and plan only by what they return: each word pattern is planned the common way at first and remembered;
 * an operation of which many patterns came is taken apart into tables by field. Engines that can follow tables plan what is known
 * (assembly/plan.ts); for others everything is planned the common way.
 *
 *   w0 ──► layout and opcode ──► slot ──► template?    a record, one step a field: record ^= row[field value]
 *                                     ──► remembered?  copy the record
 *                                     ──► else         decode, planInstruction, packRecord
 */
import { decode, type Layout, layoutsOf } from '../codec/decode.ts'
import type { Instruction } from '../codec/instruction.ts'
import type { Arena } from '../device/memory.ts'
import type { Templates } from '../engine.ts'
import { OPERATION_BY_NAME } from '../isa/operations.ts'
import { LITERAL } from '../isa/registers.ts'
import type { Target } from '../isa/targets.ts'
import { RECORD_BYTES } from '../plan/layout.ts'
import { type PlanOptions, type PlanRecord, packRecord, planInstruction } from '../plan/plan.ts'
import { KIND_NONE, NO_SDST, OP_ILLEGAL, OP_UNSUPPORTED } from '../plan/record.ts'
import {
  LAYOUT_BYTES,
  LAYOUT_SLOTS,
  PLANNER_BYTES,
  PLANNER_LISTS,
  PLANNER_NEXT,
  PLANNER_REMEMBERED,
  REMEMBERED_BITS,
  REMEMBERED_BYTES,
  REMEMBERED_LENGTH,
  REMEMBERED_RECORD,
  REMEMBERED_WORDS,
  SLOT_BYTES,
  SLOT_LENGTH,
  SLOT_LITERALS,
  SLOT_TEMPLATE,
} from '../plan/templates.ts'
import { RECORD_WORDS, Tables } from './tables.ts'

/** Why planning stopped: no more room for records, more words are needed, or the last record ends the trace or faults. */
export type PlanEnd = 'room' | 'words' | 'program'

/** Patterns of an operation that are planned the common way before tables are made of it: making them costs about as much. */
const TABULATE_AFTER = 40

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

/** No instruction of these generations is longer (a 64-bit format has no literal before gfx10). */
const MOST_DWORDS = 2

/** Plans one trace, piece by piece. */
export class TracePlanner {
  /** Bytes of words that the last call of {@link plan} took. */
  taken = 0
  /** Why it stopped. */
  end: PlanEnd = 'words'
  readonly #arena: Arena
  readonly #target: Target
  readonly #options: PlanOptions
  readonly #known: KnownPatterns | undefined
  readonly #record = new Uint32Array(RECORD_WORDS)
  readonly #pattern = new Uint32Array(MOST_DWORDS)

  /** @param templates of the engine in whose memory everything is, where it has them */
  constructor(arena: Arena, templates: Templates | undefined, target: Target, vgprCount: number) {
    this.#arena = arena
    this.#target = target
    this.#options = { waveSize: target.waveSize, vgprCount }
    this.#known = templates && new KnownPatterns(arena, templates, target, this.#options)
  }

  /**
   * Plans instructions from the word at `origin` on; their pcs are byte offsets from there. All places are addresses in linear memory.
   * @param end behind the last word that is there
   * @param final no more words will come: those at the end that are no whole instruction are illegal
   * @param to takes the records
   * @param limit records at most
   * @returns records written; `taken` and `end` say how far they got and why no further
   */
  plan(origin: number, end: number, final: boolean, to: number, limit: number): number {
    const last = to + limit * RECORD_BYTES
    let at = origin
    let record = to
    let ended = false
    while (!ended) {
      if (this.#known !== undefined) {
        record = this.#known.plan(origin, at, end, record, last)
        at = this.#known.next
      }
      if (at === end || record === last || !(final || at + 4 * MOST_DWORDS <= end)) break
      const instruction = this.#planAnew(origin, at, end, record)
      ended = this.#ends(instruction, record)
      if (!ended) this.#known?.learn(instruction!, this.#pattern, record)
      at += 4 * (instruction?.dwords ?? 1)
      record += RECORD_BYTES
    }
    this.taken = at - origin
    this.end = ended ? 'program' : record === last && at < end ? 'room' : 'words'
    return (record - to) / RECORD_BYTES
  }

  free(): void {
    this.#known?.free()
  }

  /** Plans the common way. */
  #planAnew(origin: number, at: number, end: number, to: number): Instruction | undefined {
    const { words } = this.#arena
    const length = Math.min(MOST_DWORDS, (end - at) / 4)
    for (let i = 0; i < length; i++) this.#pattern[i] = words[at / 4 + i]!
    const instruction = decode(length === MOST_DWORDS ? this.#pattern : this.#pattern.subarray(0, length), 0, this.#target)
    const pc = at - origin
    packRecord(this.#record, 0, instruction === undefined ? illegal(pc) : traceRecord(instruction, pc, this.#options))
    words.set(this.#record, to / 4)
    return instruction
  }

  /** Whether the trace ends with an instruction, or stops at it. */
  #ends(instruction: Instruction | undefined, record: number): boolean {
    const op = this.#arena.words[record / 4]! & 0xffff
    return instruction === undefined || ENDS.test(instruction.operation.name) || op === OP_ILLEGAL || op === OP_UNSUPPORTED
  }
}

const illegal = (pc: number): PlanRecord => ({
  op: OP_ILLEGAL,
  flags: 0,
  pc,
  dst: 0,
  sources: [0, 0, 0],
  imm: 0,
  mods: noOperands(1),
})

/** What is known of patterns, in linear memory as host/plan/templates.ts says. */
class KnownPatterns {
  readonly #tables: Tables
  readonly #planner: number
  /** By the top nine bits: address of the list. */
  readonly #lists: readonly number[]
  /** By address of the slot: patterns that were planned the common way. */
  readonly #misses = new Map<number, number>()
  readonly #layouts: readonly (readonly Layout[])[]
  readonly #record = new Uint32Array(RECORD_WORDS)
  readonly #pattern = new Uint32Array(MOST_DWORDS)

  constructor(
    private readonly arena: Arena,
    private readonly templates: Templates,
    private readonly target: Target,
    private readonly options: PlanOptions,
  ) {
    this.#tables = new Tables(arena, templates)
    this.#planner = this.#tables.allocate(PLANNER_BYTES)
    this.#layouts = layoutsOf(target.generation)
    const slots = new Map<Layout, number>()
    const lists = new Map<string, number>()
    this.#lists = this.#layouts.map((layouts) => {
      const key = layouts.map(({ format }) => format.name).join()
      const list = lists.get(key) ?? this.#list(layouts, slots)
      lists.set(key, list)
      return list
    })
    const table = this.#tables.allocate(4 * this.#lists.length)
    const remembered = this.#tables.allocate(REMEMBERED_BYTES << REMEMBERED_BITS)
    const { words } = arena
    words.set(this.#lists, table / 4)
    words[(this.#planner + PLANNER_LISTS) / 4] = table
    words[(this.#planner + PLANNER_REMEMBERED) / 4] = remembered
  }

  /** See Templates of host/engine.ts. */
  plan(origin: number, at: number, end: number, to: number, last: number): number {
    return this.templates.plan(this.#planner, origin, at, end, to, last)
  }

  /** Where {@link plan} stopped. */
  get next(): number {
    return this.arena.words[(this.#planner + PLANNER_NEXT) / 4]!
  }

  free(): void {
    this.#tables.free()
  }

  /** Remembers an instruction that was planned the common way, and makes tables when there were many of its kind. */
  learn({ format, dwords }: Instruction, pattern: Uint32Array, record: number): void {
    const w0 = pattern[0]!
    const w1 = dwords === 2 ? pattern[1]! : 0
    this.#remember(w0, w1, dwords, record)
    const layouts = this.#layouts[w0 >>> 23]!
    const layout = layouts.find((candidate) => candidate.format === format)!
    const address = this.#lists[w0 >>> 23]! + layouts.indexOf(layout) * LAYOUT_BYTES
    const slot = this.arena.words[(address + LAYOUT_SLOTS) / 4]! + slotIn(layout, this.target, w0) * SLOT_BYTES
    this.arena.words[(slot + SLOT_LENGTH) / 4] = 4 * dwords
    const misses = (this.#misses.get(slot) ?? 0) + 1
    this.#misses.set(slot, misses)
    if (misses !== TABULATE_AFTER) return
    const template = this.#tables.tabulate(layout, w0, dwords, (first, second) => this.#trial(layout, dwords, first, second))
    this.arena.words[(slot + SLOT_TEMPLATE) / 4] = template
  }

  /** The record of two words, if they are an instruction of a layout that is so long. */
  #trial(layout: Layout, dwords: number, w0: number, w1: number): Uint32Array | undefined {
    this.#pattern[0] = w0
    this.#pattern[1] = w1
    const instruction = decode(this.#pattern, 0, this.target)
    if (instruction === undefined || instruction.dwords !== dwords || instruction.format !== layout.format) return undefined
    const record = traceRecord(instruction, 0, this.options)
    if (record.op === OP_ILLEGAL || record.op === OP_UNSUPPORTED) return undefined
    packRecord(this.#record, 0, record)
    return this.#record
  }

  #remember(w0: number, w1: number, dwords: number, record: number): void {
    const { words } = this.arena
    const entry = this.templates.remembered(this.#planner, BigInt(w0) | (BigInt(w1) << 32n)) / 4
    words[entry + REMEMBERED_WORDS / 4] = w0
    words[entry + REMEMBERED_WORDS / 4 + 1] = w1
    words[entry + REMEMBERED_LENGTH / 4] = 4 * dwords
    words.copyWithin(entry + REMEMBERED_RECORD / 4, record / 4, record / 4 + RECORD_WORDS)
  }

  /** Writes a list of layouts; a layout has its slots once. */
  #list(layouts: readonly Layout[], slots: Map<Layout, number>): number {
    const list = this.#tables.allocate((layouts.length + 1) * LAYOUT_BYTES)
    layouts.forEach((layout, i) => {
      const own = slots.get(layout) ?? this.#tables.allocate((layout.opMask + 1) * SLOT_LITERALS * SLOT_BYTES)
      slots.set(layout, own)
      const { mask, value, opLo, opMask } = layout
      const [first, second] = literalFields(layout, this.target)
      this.arena.words.set(
        [mask, value, opLo, opMask, first?.mask ?? 0, second?.shift ?? 0, second?.mask ?? 0, own],
        (list + i * LAYOUT_BYTES) / 4,
      )
    })
    return list
  }
}

/** Number of an instruction's slot in its layout; assembly/plan.ts finds it as well. */
function slotIn(layout: Layout, target: Target, w0: number): number {
  const op = (w0 >>> layout.opLo) & layout.opMask
  const [first, second] = literalFields(layout, target).map(({ shift, mask }) => ((w0 >>> shift) & mask) === LITERAL)
  return op * SLOT_LITERALS + (first === true ? 1 : 0) + (second === true ? 2 : 0)
}

/** The fields that tell of a literal: the first begins at bit 0. */
function literalFields({ format, fields }: Layout, { generation }: Target): readonly { readonly shift: number; readonly mask: number }[] {
  const told = format.literals.map((name) => fields.find((field) => field.name === name)!)
  // Sea Islands manual, SMRD: IMM (bit 8) of 0 and OFFSET of 255 stand for a literal.
  return format.name === 'smrd' && generation === 'gfx7' ? [...told, { shift: 0, mask: 0x1ff }] : told
}
