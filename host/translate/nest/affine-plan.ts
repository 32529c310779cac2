/**
 * Finds what of a nest's addresses (nest-plan.ts) one scalar computation gives for all lanes of a group: numbers that are *affine* in the
 * lane's number there, `base + stride × lane`, with a stride that the loop does not change. Sums of affine numbers are affine, and so are
 * their shifts to the left and their products with a scalar. It also finds which instructions still have to run lane by lane.
 */

import { KIND_SCALAR, KIND_SPECIAL, KIND_VECTOR } from '../../plan/record.ts'
import { loads, loadsLanes, rowsWritten } from '../block/accesses.ts'
import { BUFFER_OFFSET, isBuffer, resourceReads } from '../block/buffer.ts'
import { hasMask, maskOffset, ROW_BYTES, rowsRead } from '../block/lane-values.ts'
import { isLdsRead } from '../block/lds-plan.ts'
import { overlaps, scalarUses } from '../block/scalars.ts'
import { wideConstant } from '../code/constant.ts'
import type { Step } from '../code/graph.ts'
import { maskSources, type Nest } from './nest-plan.ts'

export type AffineKind =
  | 'row'
  | 'rows'
  | 'scalar'
  | 'resource'
  | 'constant'
  | 'sum'
  | 'difference'
  | 'product'
  | 'shift'
  | 'sign'
  | 'pair'
  | 'low'
  | 'high'

/** A number of each lane, mod 2^32, or mod 2^64 where it is wide. */
export interface Affine {
  readonly kind: AffineKind
  readonly wide: boolean
  readonly of: readonly Affine[]
  /** Where a row (of `rows` the low one), a scalar or a resource is in the wave block; a constant; a shift's count. */
  readonly value: bigint
  /** It is the same in all iterations. */
  readonly invariant: boolean
  /** It is the same in all lanes, whatever the rows hold. */
  readonly flat: boolean
  /** Number of the instruction that needs it first. */
  readonly at: number
}

/** A row, or two, that an iteration takes over from the one before. */
export interface Carried {
  readonly begin: Affine
  readonly end: Affine
}

export interface AffinePlan {
  /** Addresses of the loads that are affine. */
  readonly loads: ReadonlyMap<Step, Affine>
  /** All that these need, each behind what it is made of. */
  readonly values: readonly Affine[]
  readonly carried: readonly Carried[]
  /** Instructions that run lane by lane. */
  readonly lanes: ReadonlySet<Step>
  /** Rows that these take over from the iteration before, and write. */
  readonly rows: readonly number[]
  /** Rows that these use. */
  readonly pressure: number
}

/** @param changing scalars that the loop writes */
export function planAffine(nest: Nest, changing: ReadonlySet<number>): AffinePlan {
  const excluded = new Set<string>()
  for (;;) {
    const iteration = new Iteration(nest, changing, excluded)
    const wrong = iteration.find()
    if (wrong === undefined) {
      const { loads, values, carried } = iteration
      return { loads, values, carried, ...findLanes(nest, iteration) }
    }
    excluded.add(wrong)
  }
}

/** A sum's low dword whose carry waits for the high ones. */
interface Carry {
  readonly kind: 'sum' | 'difference'
  readonly sources: readonly [Affine, Affine]
  readonly dst: number
  readonly low: Affine
}

const SUMS: Readonly<Record<string, readonly ['sum' | 'difference', first: 0 | 1]>> = {
  v_add_co_u32: ['sum', 0],
  v_sub_co_u32: ['difference', 0],
  v_subrev_co_u32: ['difference', 1],
}
const CARRIED_SUMS: Readonly<Record<string, readonly ['sum' | 'difference', first: 0 | 1]>> = {
  v_addc_co_u32: ['sum', 0],
  v_subb_co_u32: ['difference', 0],
  v_subbrev_co_u32: ['difference', 1],
}
/** Shifts to the left, and which source is the count. */
const SHIFTS: Readonly<Record<string, 0 | 1>> = { v_lshlrev_b32: 0, v_lshl_b32: 1 }
const WIDE_SHIFTS: Readonly<Record<string, 0 | 1>> = { v_lshlrev_b64: 0, v_lshl_b64: 1 }
/** With a count of 31: the high dword of a signed number. */
const SIGNS: Readonly<Record<string, 0 | 1>> = { v_ashrrev_i32: 0, v_ashr_i32: 1 }

/** One iteration in affine numbers. */
class Iteration {
  readonly loads = new Map<Step, Affine>()
  readonly values: Affine[] = []
  readonly carried: Carried[] = []
  readonly #known = new Map<string, Affine>()
  readonly #numbers = new Map<Affine, number>()
  readonly #rows = new Map<number, Affine | undefined>()
  readonly #carries = new Map<number, Carry>()
  readonly #versions = new Map<number, number>()
  readonly #written: ReadonlySet<number>
  #at = 0

  constructor(
    nest: Nest,
    private readonly changing: ReadonlySet<number>,
    private readonly excluded: ReadonlySet<string>,
  ) {
    const { steps } = nest.block
    this.#written = new Set(steps.flatMap((step) => rowsWritten(step, nest.roleOf(step))))
    for (const [at, step] of steps.entries()) {
      this.#at = at
      const role = nest.roleOf(step)
      if (role === 'lanes') this.#lanes(step)
      else if (role === 'scalar') this.#scalarsChange(scalarUses(step).writes)
      else if (loadsLanes(step.operation)) {
        const address = this.#address(step)
        if (address) this.loads.set(step, address)
      } else if (!isLdsRead(step)) this.#scalarsChange(changing)
      if (role !== 'lanes') for (const row of rowsWritten(step, role)) this.#rows.set(row, undefined)
    }
  }

  /**
   * Follows what the addresses need into the iteration before.
   * @returns what is not affine there any more and must not be taken to be
   */
  find(): string | undefined {
    const live = new Set<Affine>()
    const visit = (value: Affine): string | undefined => {
      if (live.has(value)) return undefined
      live.add(value)
      if (value.kind === 'row' || value.kind === 'rows') {
        const end = this.#end(value)
        if (end === undefined) return keyOf(value)
        this.carried.push({ begin: value, end })
        return visit(end)
      }
      for (const source of value.of) {
        const wrong = visit(source)
        if (wrong !== undefined) return wrong
      }
      return undefined
    }
    for (const address of this.loads.values()) {
      const wrong = visit(address)
      if (wrong !== undefined) return wrong
    }
    this.values.push(...[...this.#known.values()].filter((value) => live.has(value)))
    return undefined
  }

  /** What a row, or two, hold when the iteration is done. */
  #end(begin: Affine): Affine | undefined {
    const row = Number(begin.value)
    const end = (at: number) => (this.#rows.has(at) ? this.#rows.get(at) : this.#row(at))
    if (begin.kind === 'row') return end(row)
    if (begin.invariant) return begin
    const [low, high] = [end(row), end(row + ROW_BYTES)]
    return low?.kind === 'low' && high?.kind === 'high' && low.of[0] === high.of[0] ? low.of[0] : undefined
  }

  // --- numbers; what is not affine is undefined

  #value(kind: AffineKind, wide: boolean, of: readonly Affine[], value = 0n, invariant = of.every((v) => v.invariant)): Affine {
    const version = kind === 'scalar' || kind === 'resource' ? [0, 4].map((n) => this.#versions.get(Number(value) + n)) : []
    const key = [kind, wide, value, version, ...of.map((v) => this.#numbers.get(v))].join()
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const flat = kind !== 'row' && kind !== 'rows' && (kind === 'sign' || kind === 'high' || of.every((v) => v.flat))
    const result = { kind, wide, of, value, invariant, flat, at: this.#at }
    this.#numbers.set(result, this.#known.size)
    this.#known.set(key, result)
    return result
  }

  /** A row: what is not written yet comes from the iteration before. */
  #row(at: number): Affine | undefined {
    if (this.#rows.has(at)) return this.#rows.get(at)
    return this.excluded.has(`row ${at}`) ? undefined : this.#value('row', false, [], BigInt(at), !this.#written.has(at))
  }

  #constant(value: bigint, wide = false): Affine {
    return this.#value('constant', wide, [], BigInt.asUintN(wide ? 64 : 32, value))
  }

  #word(step: Step, slot: number, high = 0): Affine | undefined {
    const kind = step.mods.kinds[slot]!
    const at = step.sources[slot]!
    if (kind === KIND_VECTOR) return this.#row(at + high * ROW_BYTES)
    if (kind === KIND_SCALAR) return this.#value('scalar', false, [], BigInt(at + 4 * high), !this.changing.has(at + 4 * high))
    return kind === KIND_SPECIAL ? undefined : this.#constant(wideConstant(kind, at) >> BigInt(32 * high))
  }

  /** The number that two dwords are. */
  #joined(low: Affine | undefined, high: Affine | undefined): Affine | undefined {
    if (low === undefined || high === undefined) return undefined
    if (low.kind === 'low' && high.kind === 'high' && low.of[0] === high.of[0]) return low.of[0]
    if (low.kind === 'constant' && high.kind === 'constant') return this.#constant((high.value << 32n) | low.value, true)
    const isPair = low.kind === 'row' && high.kind === 'row' && high.value === low.value + BigInt(ROW_BYTES)
    if (isPair && low.invariant === high.invariant && !this.excluded.has(`rows ${low.value}`))
      return this.#value('rows', true, [], low.value, low.invariant)
    return this.#value('pair', true, [low, high])
  }

  #address(step: Step): Affine | undefined {
    const address = this.#joined(this.#row(step.sources[0]), this.#row(step.sources[0] + ROW_BYTES))
    if (address === undefined || !isBuffer(step)) return address
    const invariant = !overlaps(resourceReads(step), this.changing)
    const sum = (a: Affine, b: Affine) => this.#value('sum', true, [a, b])
    const base = this.#value('resource', true, [], BigInt(step.sources[1]), invariant)
    const offset = this.#joined(this.#word(step, 2), this.#constant(0n))!
    return sum(sum(sum(base, this.#constant(BigInt(step.imm & BUFFER_OFFSET), true)), offset), address)
  }

  #split(wide: Affine): [low: Affine, high: Affine] {
    return [this.#value('low', false, [wide]), this.#value('high', false, [wide])]
  }

  // --- instructions

  #scalarsChange(writes: Iterable<number>): void {
    for (const at of writes) {
      this.#versions.set(at, (this.#versions.get(at) ?? 0) + 1)
      for (const mask of [at, at - 4]) this.#carries.delete(mask)
    }
  }

  #lanes(step: Step): void {
    const { name } = step.operation
    const carrying = CARRIED_SUMS[name] && this.#carries.get(maskSources(step)[0] ?? -1)
    const results = this.#results(step, carrying)
    if (hasMask(step)) for (const offset of [-4, 0, 4]) this.#carries.delete(maskOffset(step) + offset)
    const low = carrying && this.#rows.get(carrying.dst) === carrying.low ? carrying.dst : undefined
    for (const row of rowsWritten(step, 'lanes')) this.#rows.set(row, undefined)
    if (results === undefined) return
    const [first, second] = results
    if (carrying) {
      // The sum's low dword is one with the high one from here on.
      if (low !== undefined && low !== step.dst) this.#rows.set(low, first)
      this.#rows.set(step.dst, second)
      return
    }
    this.#rows.set(step.dst, first)
    if (second) this.#rows.set(step.dst + ROW_BYTES, second)
    const sum = SUMS[name]
    if (!sum) return
    const [kind, slot] = sum
    const sources = [this.#operands.get(slot)!, this.#operands.get(1 - slot)!] as const
    this.#carries.set(maskOffset(step), { kind, sources, dst: step.dst, low: first! })
  }
  /** The operands of the sum at hand, as they were before its result was written. */
  readonly #operands = new Map<number, Affine>()

  #results(step: Step, carry: Carry | undefined): [first: Affine, second?: Affine] | undefined {
    const { name } = step.operation
    if (step.mods.abs || step.mods.neg) return undefined
    const word = (slot: number) => this.#word(step, slot)
    const sum = SUMS[name]
    if (sum) {
      const [kind, slot] = sum
      const [a, b] = [word(slot), word(1 - slot)]
      if (!a || !b) return undefined
      this.#operands.set(slot, a).set(1 - slot, b)
      return [this.#value(kind, false, [a, b])]
    }
    if (CARRIED_SUMS[name]) return carry && this.#carriedSum(step, carry)
    if (name === 'v_mov_b32') return single(word(0))
    if (name in SHIFTS) return single(this.#shift(word(1 - SHIFTS[name]!), word(SHIFTS[name]!), 31n))
    if (name in WIDE_SHIFTS) {
      const slot = 1 - WIDE_SHIFTS[name]!
      const shifted = this.#shift(this.#joined(word(slot), this.#word(step, slot, 1)), word(1 - slot), 63n)
      return shifted && this.#split(shifted)
    }
    if (name in SIGNS) {
      const [value, count] = [word(1 - SIGNS[name]!), word(SIGNS[name]!)]
      return value && count?.kind === 'constant' && (count.value & 31n) === 31n ? [this.#value('sign', false, [value])] : undefined
    }
    if (name === 'v_mul_lo_u32') {
      const factors = [word(0), word(1)].toSorted((a, b) => Number(isFactor(b)) - Number(isFactor(a)))
      return factors[1] && isFactor(factors[0]) ? [this.#value('product', false, [factors[1], factors[0]!])] : undefined
    }
    return undefined
  }

  #shift(value: Affine | undefined, count: Affine | undefined, mask: bigint): Affine | undefined {
    if (value === undefined || count?.kind !== 'constant') return undefined
    return this.#value('shift', value.wide, [value], count.value & mask)
  }

  /** The high dwords of a sum: the whole of it. */
  #carriedSum(step: Step, { kind, sources: [a, b] }: Carry): [Affine, Affine] | undefined {
    const [name, slot] = CARRIED_SUMS[step.operation.name]!
    const [x, y] = [this.#word(step, slot), this.#word(step, 1 - slot)]
    if (name !== kind || !x || !y) return undefined
    // The high dwords of a sum may stand the other way round.
    const crossed = kind === 'sum' && [[a, y] as const, [b, x] as const].some(([low, high]) => belongs(low, high))
    const [first, second] = crossed ? [this.#joined(a, y), this.#joined(b, x)] : [this.#joined(a, x), this.#joined(b, y)]
    return this.#split(this.#value(kind, true, [first!, second!]))
  }
}

const keyOf = ({ kind, value }: Affine): string => `${kind} ${value}`
const single = (value: Affine | undefined): [Affine] | undefined => value && [value]
const isFactor = (value: Affine | undefined): value is Affine =>
  value !== undefined && (value.kind === 'constant' || (value.kind === 'scalar' && value.invariant))
/** Whether two dwords are those of one number already, or of two rows side by side. */
const belongs = (low: Affine, high: Affine): boolean =>
  (low.kind === 'low' && high.kind === 'high' && low.of[0] === high.of[0]) ||
  (low.kind === 'row' && high.kind === 'row' && high.value === low.value + BigInt(ROW_BYTES))

/** What runs lane by lane: what the next iteration takes over and is not affine, masks that are needed as bits, and what these follow from. */
function findLanes({ block: { steps }, roleOf, asBits }: Nest, { loads: known, carried }: Pick<AffinePlan, 'loads' | 'carried'>) {
  const written = new Set(steps.flatMap((step) => rowsWritten(step, roleOf(step))))
  const readsOf = (step: Step) => (loads(step) ? addressRows(step) : roleOf(step) === 'lanes' ? rowsRead(step) : [])
  const affine = new Set(carried.flatMap(({ begin }) => rowsOf(begin)))
  const needed = new Set<number>()
  const before = new Set<number>()
  for (const step of steps) {
    for (const row of readsOf(step)) if (!before.has(row) && written.has(row) && !affine.has(row)) needed.add(row)
    for (const row of rowsWritten(step, roleOf(step))) before.add(row)
  }
  const lanes = new Set<Step>()
  const used = new Set<number>()
  for (let size = -1; size !== needed.size; ) {
    size = needed.size
    const rows = new Set(needed)
    const masks = new Set(asBits)
    for (const step of steps.toReversed()) {
      const role = roleOf(step)
      const results = rowsWritten(step, role)
      const wanted = results.some((row) => rows.has(row)) || (role === 'lanes' && hasMask(step) && masks.has(maskOffset(step)))
      for (const row of results) rows.delete(row)
      if (role === 'lanes' && hasMask(step) && !asBits.has(maskOffset(step))) masks.delete(maskOffset(step))
      if (role === 'lanes' ? !wanted : !loads(step) || known.has(step)) continue
      lanes.add(step)
      for (const row of [...results, ...readsOf(step)]) used.add(row)
      for (const row of readsOf(step)) rows.add(row)
      if (role === 'lanes') for (const mask of maskSources(step)) masks.add(mask)
    }
    for (const row of rows) if (written.has(row)) needed.add(row)
  }
  return { lanes, rows: [...needed], pressure: used.size }
}

const addressRows = (step: Step): number[] => (isLdsRead(step) ? [step.sources[0]] : [step.sources[0], step.sources[0] + ROW_BYTES])

/** The rows of a number that comes from the iteration before. */
export const rowsOf = ({ kind, value }: Affine): number[] =>
  kind === 'rows' ? [Number(value), Number(value) + ROW_BYTES] : kind === 'row' ? [Number(value)] : []
