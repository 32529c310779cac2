/** The code of one chunk of four lanes in a run or a loop, instruction by instruction. */
import type { OperandType } from '../../isa/row.ts'
import { bitsOf, isFloat } from '../../isa/row.ts'
import { KIND_VECTOR } from '../../plan/record.ts'
import { factOf } from '../code/fact.ts'
import { carriesGrain, flushesResults, flushesSources, grainOfResult, needsGrain, SMALL } from '../code/grain.ts'
import type { Step } from '../code/graph.ts'
import { type Argument, type Kernels, push as pushArgument } from '../wasm/kernels.ts'
import { type Code, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { comparesHalves, givesHalf, pushCompared, pushFloat, pushUnrounded, pushWidened, widened, writeRounded } from './half.ts'
import {
  type Captured,
  CHUNK_BYTES,
  constantValue,
  type FunctionLocals,
  factsOf,
  hasMask,
  isMask,
  isWide,
  LANE_SIGN,
  type LaneContext,
  type LaneStep,
  maskOffset,
  pushLanes,
  ROW_BYTES,
  type Value,
  VCC_OFFSET,
  valueIn,
  valueType,
  watchSmall,
} from './lane-values.ts'
import {
  finishOf,
  isBound,
  isSamePart,
  isStaged,
  placePart,
  pushFinished,
  pushMoved,
  resultPart,
  rowMask,
  selectPart,
  sourcePart,
  writesBank,
} from './stages.ts'

/** 64-bit shifts: the core's function for a count that is the same in all lanes, and which sources are count and value. */
const SHIFTS: Readonly<Record<string, readonly [name: string, count: 0 | 1]>> = {
  v_lshl_b64: ['shiftLeft64', 1],
  v_lshr_b64: ['shiftRight64', 1],
  v_ashr_i64: ['shiftRightSigned64', 1],
  v_lshlrev_b64: ['shiftLeft64', 0],
  v_lshrrev_b64: ['shiftRight64', 0],
  v_ashrrev_i64: ['shiftRightSigned64', 0],
}

/** Of a chunk for its row of lanes: locals of what its active lanes hold, the others zero, and of which are active. */
export interface Moved {
  readonly bits: number
  readonly active: number
}

/** Four lanes of a run: chunk `index` of those that one turn of the loop computes. */
export class Chunk {
  readonly #values = new Map<number, Value>()
  readonly #dirty = new Set<number>()
  /** Rows as they were when an iteration began. */
  readonly #carried = new Map<number, Value>()
  readonly #masks = new Map<number, number>()
  /** What rows held before the run, as far as it was loaded. */
  readonly #before = new Map<number, Value>()
  /** Masks by the steps that made them, of those that are kept. */
  readonly #kept = new Map<LaneStep, number>()
  readonly #small: number
  readonly #nan: number
  /** Local of the lanes that are active, in runs that move lanes. */
  #active = 0
  #watchesSmall = false
  #watchesNan = false
  /** Values of rows that stay the same for all of the loop, and those of them that are tested before it. */
  readonly #constants = new Set<Value>()
  readonly #watchedConstants: Value[] = []
  #least: number | undefined
  /** Rows whose NaNs every iteration passes on. */
  readonly sums: number[] = []
  /** Whether there can be such rows: in loops of one block. */
  #hasSums = true
  private readonly kernels: Kernels
  private readonly locals: FunctionLocals
  readonly #offset: number
  #grained: ReadonlySet<number>

  /**
   * @param base local of the address of the turn's first chunk, less the row's offset
   * @param shift local of the number of the turn's first lane
   * @param scalars takes the scalar sources that are tested before the loop
   */
  constructor(
    private readonly context: LaneContext,
    private readonly index: number,
    private readonly base: number,
    private readonly shift: number,
    private readonly scalars: Set<Value>,
  ) {
    this.kernels = context.kernels
    this.locals = context.locals
    this.#small = this.locals.local(V128)
    this.#nan = this.locals.local(V128)
    this.#offset = CHUNK_BYTES * index
    this.#grained = context.grained
  }

  get masks(): number[] {
    return [...this.#masks.keys()]
  }
  get writes(): boolean {
    return this.#dirty.size > 0
  }
  get watched(): boolean {
    return this.#watchesSmall || this.#watchesNan
  }

  /** Lanes will be moved: so it has to be known which are active. */
  moveLanes(): void {
    this.#active = this.locals.local(V128)
  }

  /** Begins another block of a loop: what rows hold is what is carried, and some are grained. */
  enter(grained: ReadonlySet<number>): void {
    this.#grained = grained
    for (const at of this.#values.keys()) if (!this.context.constant?.(at)) this.#values.delete(at)
    this.#dirty.clear()
    this.#hasSums = false
  }

  /** Begins an iteration of a loop that is still being written. */
  restart(code: Code, least: number): void {
    code.get(least).set(this.#small).v128(0).set(this.#nan)
  }
  /** Adds tests of rows that the loop does not change to those of the scalars. */
  watchConstants(code: Code, least: number): void {
    for (const value of this.#watchedConstants) watchSmall(code, least, value.arg)
  }

  /** Tests rows that do not change before the loop of a group; `begin` takes what that gave. */
  beginLoop(code: Code, least: number | undefined): void {
    if (this.#watchedConstants.length === 0) return
    this.#least = this.locals.fresh(V128)
    if (least === undefined) code.v128(-1)
    else code.get(least)
    code.set(this.#least)
    this.watchConstants(code, this.#least)
  }

  /** Begins a turn: nothing is seen yet but what the scalars gave. */
  begin(code: Code, least: number | undefined): void {
    const before = this.#least ?? least
    if (this.#watchesSmall) (before === undefined ? code.v128(-1) : code.get(before)).set(this.#small)
    if (this.#watchesNan) code.v128(0).set(this.#nan)
  }

  /** Pushes lanes that are not zero where a test failed. */
  pushWatched(code: Code): void {
    if (this.#watchesSmall) code.get(this.#small).v128(SMALL).simd(SIMD.i32x4LtU)
    if (this.#watchesNan) code.get(this.#nan)
    if (this.#watchesSmall && this.#watchesNan) code.simd(SIMD.or)
  }

  /** The same where it is not known yet what will be tested. */
  pushTests(code: Code): void {
    code.get(this.#small).v128(SMALL).simd(SIMD.i32x4LtU).get(this.#nan).simd(SIMD.or)
  }

  /** Pushes the bits of a mask result. */
  pushMask(code: Code, at: number): void {
    code.get(this.#masks.get(at)!).simd(SIMD.i32x4Bitmask)
  }

  /** The same of a step whose mask is kept. */
  pushKept(code: Code, step: LaneStep): void {
    code.get(this.#kept.get(step)!).simd(SIMD.i32x4Bitmask)
  }

  /**
   * Keeps rows as they were before the run.
   * @param to local of what lies between a chunk and where it is kept, less the row's number
   */
  keep(code: Code, rows: readonly number[], to: number): void {
    for (const [n, at] of rows.entries()) {
      code.get(this.base).get(to).op(OP.i32Add)
      const before = this.#before.get(at)
      if (before === undefined) code.get(this.base).simdMemory(SIMD.load, at + this.#offset)
      else pushArgument(code, before.arg)
      code.simdMemory(SIMD.store, n * ROW_BYTES + this.#offset)
    }
  }

  store(code: Code): void {
    for (const at of this.#dirty) {
      code.get(this.base)
      pushArgument(code, this.#values.get(at)!.arg)
      code.simdMemory(SIMD.store, at + this.#offset)
    }
  }

  /** Sets a local to the lanes that are active; `active` has their bits from the turn's first lane on. */
  spreadActive(code: Code, active: number, mask = this.#active): void {
    code.get(active)
    if (this.index > 0) code.i32(4 * this.index).op(OP.i32ShrU)
    pushLanes(code).set(mask)
  }

  storeActive(code: Code, active: number, mask: number): void {
    this.spreadActive(code, active, mask)
    for (const at of this.#dirty) {
      code.get(this.base)
      pushArgument(code, this.#values.get(at)!.arg)
      code
        .get(this.base)
        .simdMemory(SIMD.load, at + this.#offset)
        .get(mask)
        .simd(SIMD.bitselect)
      code.simdMemory(SIMD.store, at + this.#offset)
    }
  }

  // --- values

  #row(code: Code, at: number): Value {
    const known = this.#values.get(at)
    if (known) return known
    const { carried, constant, grained } = this.context
    const isConstant = constant?.(at) === true
    const value = valueIn(carried?.(this.index, at) ?? this.locals.local(V128), (isConstant ? grained : this.#grained).has(at))
    if (isConstant) this.#constants.add(value)
    if (carried !== undefined) this.#carried.set(at, value)
    else {
      code.get(this.base).simdMemory(SIMD.load, at + this.#offset)
      store(code, value)
      this.#before.set(at, value)
    }
    this.#values.set(at, value)
    return value
  }

  /** Rows that the run has written, as offsets in the wave block. */
  get dirtyRows(): number[] {
    return [...this.#dirty]
  }
  /** Pushes the address of the turn's first chunk, less the row's offset. */
  pushBase(code: Code): void {
    code.get(this.base)
  }
  /** Pushes what a row holds now. */
  pushRow(code: Code, at: number): void {
    pushArgument(code, this.#row(code, at).arg)
  }
  /** What a row holds now, tested where it may be read as bits: the same until the row is written. */
  bits(code: Code, at: number): unknown {
    const value = this.#row(code, at)
    this.#watchNan(code, value)
    return value
  }
  /** The same for what is read as bits. */
  pushBits(code: Code, at: number): void {
    const value = this.#row(code, at)
    this.#watchNan(code, value)
    pushArgument(code, value.arg)
  }
  /** Tests a row's NaNs wherever it may be read as bits from here on. */
  settle(code: Code, at: number): void {
    this.#watchNan(code, this.#row(code, at))
  }
  /** Writes what the block has written to where rows are carried. */
  carryAll(code: Code): void {
    const { carried } = this.context
    const moved = [...this.#dirty].flatMap((at) => {
      const { arg } = this.#values.get(at)!
      const local = carried!(this.index, at)
      return 'local' in arg && arg.local === local ? [] : [{ arg, local }]
    })
    for (const { arg } of moved) pushArgument(code, arg)
    for (const { local } of moved.toReversed()) code.set(local)
  }
  /** Sets a row to what a local holds: bits from outside. */
  put(at: number, local: number, grained = false): void {
    this.#define(at, valueIn(local, grained))
  }
  /** Tests that bits from outside are zero or not too small. */
  watch(code: Code, local: number): void {
    this.#watchSmall(code, valueIn(local))
  }

  #define(at: number, value: Value): void {
    this.#values.set(at, value)
    this.#dirty.add(at)
  }

  /** Value of a 32-bit source; of a pair's high dword with `high`. */
  #source(code: Code, { step, captured }: LaneStep, slot: number, high = false): Value {
    const from = captured[slot]!
    if (from.kind === 'constant') return constantValue(high ? from.high : from.low)
    if (from.kind === 'spread') return high ? from.high : from.low
    return this.#row(code, step.sources[slot]! + (high ? ROW_BYTES : 0))
  }

  // --- watching

  /** Tests that the value is zero or not too small: scalars before the loop, the rest where it is. */
  #watchSmall(code: Code, value: Value): void {
    if (value.grained) return
    this.#watchesSmall = true
    value.grained = true
    if (value.scalar) this.scalars.add(value)
    else if (this.#constants.has(value)) this.#watchedConstants.push(value)
    else watchSmall(code, this.#small, value.arg)
  }

  #watchNan(code: Code, value: Value): void {
    if (!value.tainted) return
    this.#watchesNan = true
    value.tainted = false
    code.get(this.#nan)
    pushArgument(code, value.arg)
    pushArgument(code, value.arg)
    code.simd(SIMD.f32x4Ne).simd(SIMD.or).set(this.#nan)
  }

  /** Tests the results for NaNs, but not those whose NaNs show in another result; in a loop also not those that the next iteration passes on. */
  watchResults(code: Code): void {
    const results: Value[] = []
    for (const at of this.#dirty) {
      const value = this.#values.get(at)!
      if (value.tainted) results.push(value)
    }
    if (results.length === 0) return
    const reaches = (value: Value, goals: readonly Value[], seen: Set<Value>): boolean =>
      value.carriers.some((c) => {
        if (seen.has(c)) return false
        seen.add(c)
        return goals.includes(c) || reaches(c, goals, seen)
      })
    for (const value of results.filter((v) => !reaches(v, results, new Set()))) {
      const row = [...this.#dirty].find((at) => this.#values.get(at) === value)!
      const before = this.#carried.get(row)
      if (this.#hasSums && before !== undefined && reaches(before, [value], new Set())) this.sums.push(row)
      else this.#watchNan(code, value)
    }
  }

  // --- one instruction

  /** @param moved the row of a DPP instruction */
  fast(code: Code, laneStep: LaneStep, moved?: readonly Moved[]): void {
    const { step } = laneStep
    if (isWide(step)) this.#wide(code, laneStep)
    else this.#narrow(code, laneStep, moved)
    this.locals.reset()
  }

  #narrow(code: Code, laneStep: LaneStep, moved: readonly Moved[] | undefined): void {
    const { step } = laneStep
    const { operation, mods } = step
    const { shape, traits } = operation
    const { valueType: result, isMove, isInteger, isProductAndSum, carriesNan, isPlainMove } = factsOf(operation)
    const isWhole = step.flags === 0
    const sources: (Value | undefined)[] = []
    for (let slot = 0; slot < shape.sources.length; slot++) {
      if (isMask(shape.sources[slot]!)) sources.push(undefined)
      else sources.push(isWhole ? this.#source(code, laneStep, slot) : this.#operand(code, laneStep, slot, moved))
    }
    this.#watchSources(code, step, sources)
    const isBare = mods.abs === 0 && mods.neg === 0 && !isStaged(step)
    if (isPlainMove && isBare) return this.#define(step.dst, sources[0]!)
    if (moved === undefined && finishOf(step) === 0 && this.#f16(code, laneStep, sources)) return
    const args = this.#arguments(code, laneStep, sources)
    if (hasMask(step) && !laneStep.maskIsDead) this.#mask(code, laneStep, args, moved)
    if (result === undefined) return
    this.#setLane(code, step)
    if (isProductAndSum) this.#productAndSum(code, args)
    else this.kernels.apply(code, operation.name, args, this.locals)
    if (bitsOf(result) === 16) code.v128(0xffff).simd(SIMD.and)
    const value = valueIn(this.locals.local(V128))
    store(code, value)
    if (isInteger) return this.#define(step.dst, isBare ? value : this.#staged(code, step, value, moved))
    const floats = sources.filter((s, slot): s is Value => s !== undefined && carriesGrain(step, slot))
    const grain = grainOfResult(
      step,
      floats.map((s) => s.grained),
    )
    value.large = this.#addsSquare(step, sources)
    value.grained = grain === 'grained' || value.large
    if (grain === 'tested') this.#watchSmall(code, value)
    if (result === 'f32' || isMove) {
      value.tainted = traits.has('nan') || floats.some((s) => s.tainted)
      if (carriesNan) for (const source of floats) source.carriers.push(value)
    } else if (result === 'f16' && traits.has('nan')) this.#watchNan16(code, value)
    this.#define(step.dst, isStaged(step) ? this.#staged(code, step, value, moved) : value)
  }

  /** An operation on f16 numbers as f32 ones; returns whether it is one. */
  #f16(code: Code, laneStep: LaneStep, sources: readonly (Value | undefined)[]): boolean {
    const { step } = laneStep
    const { name } = step.operation
    const float = (value: Value | undefined, slot: number) => this.#floatSource(code, step, slot, value!)
    if (comparesHalves(name) && sources.every((value) => value !== undefined && this.#isFloat(value))) {
      if (laneStep.maskIsDead) return true
      pushCompared(code, name, sources.map(float), this.locals)
      this.#setMask(code, laneStep)
      return true
    }
    if (name === 'v_cvt_f32_f16') {
      // The conversion quiets a NaN: it is the kernel's, but of what is known to be none.
      if (sources[0]!.float === undefined) return false
      const value = valueIn(this.locals.local(V128), true)
      pushFloat(code, this.locals, float(sources[0], 0))
      store(code, value)
      this.#defineF16(code, step, value)
      return true
    }
    if (isOneMaximum(step)) {
      const { arg, float: known } = sources[0]!
      const bits = this.locals.local(V128)
      pushArgument(code, this.#signed(code, step, 0, arg))
      code.v128(0xffff).simd(SIMD.and).set(bits)
      const value = valueIn(bits)
      if (step.mods.abs === 0 && step.mods.neg === 0) value.float = known
      // A NaN would be quieted.
      if (known === undefined) this.#watchNan16(code, value)
      this.#defineF16(code, step, value)
      return true
    }
    if (!givesHalf(name)) return false
    const [exact, bits, rounded] = [this.locals.temporary(V128), this.locals.local(V128), this.locals.local(V128)]
    const watch = (local: number) => {
      this.#watchesNan = true
      code.get(this.#nan).get(local).get(local).simd(SIMD.f32x4Ne).simd(SIMD.or).set(this.#nan)
    }
    pushUnrounded(name, { code, locals: this.locals, sources: sources.map(float), watch })
    code.set(exact)
    watch(exact)
    writeRounded(code, this.locals, exact, bits, rounded)
    this.#defineF16(code, step, { ...valueIn(bits), float: { local: rounded } })
    return true
  }

  #defineF16(code: Code, step: Step, value: Value): void {
    this.#define(step.dst, isStaged(step) ? this.#staged(code, step, value, undefined) : value)
  }

  /** Whether it is known as an f32 which f16 a value is. */
  #isFloat({ arg, float }: Value): boolean {
    return float !== undefined || 'lanes' in arg
  }

  /** A source as an f32, after abs and neg. */
  #floatSource(code: Code, step: Step, slot: number, value: Value): Argument {
    const isHalf = step.operation.shape.sources[slot] === 'f16'
    return this.#signed(code, step, slot, isHalf ? this.#float(code, value) : value.arg, 'f32')
  }

  /** The f32 that an f16 is. */
  #float(code: Code, value: Value): Argument {
    if (value.float !== undefined) return value.float
    if ('lanes' in value.arg) return { lanes: widened(value.arg.lanes) }
    const float = { local: this.locals.local(V128) }
    pushWidened(code, this.locals, (value.arg as { local: number }).local)
    code.set(float.local)
    // What lives on behind the block, or is another chunk's too, may not have it there.
    if (!value.scalar && !this.#constants.has(value)) value.float = float
    return float
  }

  /** Tests sources that are flushed, and those that are read as bits. */
  #watchSources(code: Code, step: Step, sources: readonly (Value | undefined)[]): void {
    const { isMove, showsNan } = factsOf(step.operation)
    const types = step.operation.shape.sources
    for (let slot = 0; slot < sources.length; slot++) {
      const value = sources[slot]
      if (value === undefined) continue
      if (needsGrain(step, slot)) this.#watchSmall(code, value)
      if (value.tainted && !isMove && !(showsNan && types[slot] === 'f32')) this.#watchNan(code, value)
    }
  }

  /** v_mbcnt needs to know which lanes it computes: as in the core's loops a global says so. */
  #setLane(code: Code, { operation }: Step): void {
    if (!factsOf(operation).countsLanes) return
    code
      .get(this.shift)
      .i32(4 * this.index)
      .op(OP.i32Add, OP.globalSet)
      .u32(this.locals.globalImport('chunkLane'))
  }

  /** NaNs of f16 are tested where they arise. */
  #watchNan16(code: Code, value: Value): void {
    this.#watchesNan = true
    code.get(this.#nan)
    pushArgument(code, value.arg)
    code.v128(0x7fff).simd(SIMD.and).v128(0x7c00).simd(SIMD.i32x4GtS).simd(SIMD.or).set(this.#nan)
  }

  // --- what stands around an operation

  /** What the row holds that a DPP instruction moves. */
  moved(code: Code, at: number): Moved {
    const value = this.#row(code, at)
    this.#watchNan(code, value)
    const bits = this.locals.local(V128)
    pushArgument(code, value.arg)
    code.get(this.#active).simd(SIMD.and).set(bits)
    return { bits, active: this.#active }
  }

  /** A source of 32 bits or less after SDWA and DPP: bits of another register, or of other lanes, are nothing that anything is known of. */
  #operand(code: Code, laneStep: LaneStep, slot: number, moved: readonly Moved[] | undefined): Value {
    const { step } = laneStep
    const part = sourcePart(step, slot)
    const isMoved = moved !== undefined && slot === 0
    if (part === undefined && !isMoved) return this.#source(code, laneStep, slot)
    if (isMoved) this.#pushMoved(code, step, moved, 'bits')
    else {
      const value = this.#source(code, laneStep, slot)
      this.#watchNan(code, value)
      pushArgument(code, value.arg)
      selectPart(code, part!)
    }
    const value = valueIn(this.locals.temporary(V128))
    store(code, value)
    return value
  }

  #pushMoved(code: Code, step: Step, moved: readonly Moved[], what: keyof Moved): void {
    pushMoved(
      code,
      step,
      moved.map((chunk) => chunk[what]),
      this.index,
    )
  }

  /** Pushes the lanes that a DPP instruction writes, active or not. Unbound ones whose source is not there, or is off, are left out. */
  #pushWritten(code: Code, step: Step, moved: readonly Moved[]): void {
    if (!writesBank(step, this.index)) return void code.v128(0)
    if (isBound(step)) code.v128(-1)
    else this.#pushMoved(code, step, moved, 'active')
    if (rowMask(step) === 15) return
    // A turn of the loop is a row of lanes.
    code.i32(rowMask(step)).get(this.shift).i32(4).op(OP.i32ShrU, OP.i32ShrU).i32(1).op(OP.i32And)
    code.i32(-1).op(OP.i32Mul).simd(SIMD.i32x4Splat).simd(SIMD.and)
  }
  /** Whether it writes all active lanes. */
  #writesAll(step: Step): boolean {
    return writesBank(step, this.index) && isBound(step) && rowMask(step) === 15
  }

  /** A result of 32 bits or less after omod and clamp, and as SDWA and DPP write it. */
  #staged(code: Code, step: Step, result: Value, moved: readonly Moved[] | undefined): Value {
    const finish = finishOf(step)
    let value = finish === 0 ? result : this.#finished(code, step, result, finish)
    const isPart = resultPart(step) !== undefined
    if (!isPart && (moved === undefined || this.#writesAll(step))) return value
    this.#watchNan(code, value)
    const pushOld = () => {
      const old = this.#row(code, step.dst)
      this.#watchNan(code, old)
      pushArgument(code, old.arg)
    }
    pushArgument(code, value.arg)
    if (isPart) placePart(code, step, pushOld)
    else {
      pushOld()
      this.#pushWritten(code, step, moved!)
      code.simd(SIMD.bitselect)
    }
    value = valueIn(this.locals.local(V128))
    store(code, value)
    return value
  }

  /** A result after omod and clamp. */
  #finished(code: Code, step: Step, result: Value, finish: number): Value {
    const value = valueIn(this.locals.local(V128))
    if (valueType(step) === 'f16') this.kernels.apply(code, 'finish16', [result.arg, { constant: finish }, { lanes: 0 }], this.locals)
    else {
      if (flushesResults(step)) this.#watchSmall(code, result)
      if (!(finish & 4 && step.modes.dx10Clamp)) {
        // Any NaN: also one that is what it should be does not pass here.
        result.tainted = true
        this.#watchNan(code, result)
      }
      pushFinished(code, finish, (result.arg as { local: number }).local)
    }
    store(code, value)
    return value
  }

  /** Whether the result is a square and something large: then it is large. */
  #addsSquare({ operation, mods }: Step, [a, b, c]: readonly (Value | undefined)[]): boolean {
    const sameSign = [mods.abs, mods.neg].every((bits) => (bits & 1) === ((bits >> 1) & 1))
    if (operation.name !== 'v_fma_f32' || a !== b || !sameSign || (mods.abs | mods.neg) & 4) return false
    const { large } = this.context
    if (!c!.large && c!.scalar) large?.add(c!)
    return c!.large || (large?.has(c!) ?? false)
  }

  /** v_mad_f32 and its like: the product is rounded and flushed before it is added. */
  #productAndSum(code: Code, [a, b, c]: readonly Argument[]): void {
    const product = { local: this.locals.temporary(V128) }
    this.kernels.apply(code, 'v_mul_f32', [a!, b!], this.locals)
    code.set(product.local)
    this.#watchesSmall = true
    watchSmall(code, this.#small, product)
    this.kernels.apply(code, 'v_add_f32', [product, c!], this.locals)
  }

  /** Locals of the kernel's arguments: sources after abs and neg, masks as lanes. */
  #arguments(code: Code, { step, captured }: LaneStep, sources: readonly (Value | undefined)[]): Argument[] {
    const types = step.operation.shape.sources
    const isSigned = (step.mods.abs | step.mods.neg) !== 0
    const args: Argument[] = []
    for (let slot = 0; slot < types.length; slot++) {
      const value = sources[slot]
      if (value === undefined) args.push({ local: this.#maskLanes(code, types[slot]!, captured[slot]!, step, slot) })
      else args.push(isSigned ? this.#signed(code, step, slot, value.arg) : value.arg)
    }
    return args
  }

  /** abs and neg on the 32 bits that hold the sign. */
  #signed(code: Code, step: Step, slot: number, arg: Argument, type = step.operation.shape.sources[slot]): Argument {
    const abs = (step.mods.abs >> slot) & 1
    const neg = (step.mods.neg >> slot) & 1
    // The bits of a source that is no float mean nothing (v_ldexp_f32).
    if ((!abs && !neg) || !(isFloat(type) || factsOf(step.operation).isMove)) return arg
    const sign = type === 'f16' ? 0x8000 : LANE_SIGN
    const changed = this.locals.temporary(V128)
    pushArgument(code, arg)
    if (abs) code.v128(~sign).simd(SIMD.and)
    if (neg) code.v128(sign).simd(SIMD.xor)
    code.set(changed)
    return { local: changed }
  }

  #maskLanes(code: Code, type: OperandType, from: Captured, step: Step, slot: number): number {
    if (from.kind === 'own') return this.#masks.get(type === 'vcc' ? VCC_OFFSET : step.sources[slot]!)!
    const lanes = this.locals.temporary(V128)
    code.get((from as { bits: number }).bits)
    if (from.kind === 'slice') code.i32(4 * this.index)
    else
      code
        .get(this.shift)
        .i32(4 * this.index)
        .op(OP.i32Add)
    code.op(OP.i64ExtendI32U, OP.i64ShrU, OP.i32WrapI64)
    pushLanes(code).set(lanes)
    return lanes
  }

  #mask(code: Code, laneStep: LaneStep, args: readonly Argument[], moved: readonly Moved[] | undefined): void {
    const { step } = laneStep
    this.kernels.apply(code, factsOf(step.operation).maskFunction, args, this.locals)
    if (moved !== undefined && !this.#writesAll(step)) {
      this.#pushWritten(code, step, moved)
      code.simd(SIMD.and)
    }
    this.#setMask(code, laneStep)
  }
  /** Pops a mask. */
  #setMask(code: Code, laneStep: LaneStep): void {
    const local = this.locals.local(V128)
    code.set(local)
    this.#masks.set(maskOffset(laneStep.step), local)
    if (laneStep.keeps !== undefined) this.#kept.set(laneStep, local)
  }

  // --- 64-bit shapes: two lanes at a time; results need no watching of small values, as their denormals are kept

  #wide(code: Code, laneStep: LaneStep): void {
    const { step } = laneStep
    const { name, traits } = step.operation
    const { valueType: result, maskFunction } = factsOf(step.operation)
    const shift = SHIFTS[name]
    const count = shift && laneStep.captured[shift[1]]!
    if (count?.kind === 'constant') return this.#shift(code, laneStep, shift![0], 1 - shift![1], count.low)
    const halves = HALVES.map((half) => this.#halves(code, laneStep, half))
    if (hasMask(step) && !laneStep.maskIsDead) {
      for (const args of halves) this.kernels.apply(code, maskFunction, args, this.locals)
      code.shuffleDwords(LOW_DWORDS)
      this.#setMask(code, laneStep)
    }
    if (result === undefined) return
    const results = halves.map((args) => {
      const local = this.locals.temporary(V128)
      this.kernels.apply(code, name, args, this.locals)
      code.set(local)
      if (traits.has('nan') && result === 'f64') {
        this.#watchesNan = true
        code.get(this.#nan).get(local).get(local).simd(SIMD.f64x2Ne).simd(SIMD.or).set(this.#nan)
      }
      return local
    })
    const low = this.#dwords(code, results, LOW_DWORDS)
    if (bitsOf(result) === 64) {
      this.#define(step.dst + ROW_BYTES, this.#dwords(code, results, HIGH_DWORDS))
    } else if (result === 'f32' && flushesResults(step)) this.#watchSmall(code, low)
    this.#define(step.dst, low)
  }

  /** Two lanes of each source. */
  #halves(code: Code, laneStep: LaneStep, half: 0 | 1): Argument[] {
    const { sources } = laneStep.step.operation.shape
    const args: Argument[] = []
    for (let slot = 0; slot < sources.length; slot++) args.push({ local: this.#half(code, laneStep, sources[slot]!, slot, half) })
    return args
  }

  /** A 64-bit shift of all lanes by one count. */
  #shift(code: Code, laneStep: LaneStep, name: string, slot: number, count: number): void {
    const { step } = laneStep
    const type = step.operation.shape.sources[slot]!
    const results = HALVES.map((half) => {
      const local = this.locals.temporary(V128)
      this.kernels.apply(code, name, [{ local: this.#half(code, laneStep, type, slot, half) }, { constant: count & 63 }], this.locals)
      code.set(local)
      return local
    })
    const low = this.#dwords(code, results, LOW_DWORDS)
    this.#define(step.dst + ROW_BYTES, this.#dwords(code, results, HIGH_DWORDS))
    this.#define(step.dst, low)
  }

  /** The low or the high dwords of two vectors of 64-bit lanes. */
  #dwords(code: Code, halves: readonly number[], lanes: readonly number[]): Value {
    for (const local of halves) code.get(local)
    code.shuffleDwords(lanes)
    const value = valueIn(this.locals.local(V128))
    store(code, value)
    return value
  }

  /** Two lanes of a source as 64-bit lanes. */
  #half(code: Code, laneStep: LaneStep, type: OperandType, slot: number, half: 0 | 1): number {
    const { step, captured } = laneStep
    const local = this.locals.temporary(V128)
    const lanes = PAIRED[half]
    if (isMask(type)) {
      const mask = this.#maskLanes(code, type, captured[slot]!, step, slot)
      code.get(mask).get(mask)
      code.shuffleDwords(DOUBLED[half])
      code.set(local)
      return local
    }
    const low = this.#source(code, laneStep, slot)
    this.#watchNan(code, low)
    if (bitsOf(type) === 64) {
      const high = this.#source(code, laneStep, slot, true)
      this.#watchNan(code, high)
      pushArgument(code, low.arg)
      pushArgument(code, this.#signed(code, step, slot, high.arg))
    } else {
      pushArgument(code, type === 'f32' ? this.#wideFloat(code, step, slot, low) : low.arg)
      code.v128(0)
    }
    code.shuffleDwords(lanes)
    code.set(local)
    return local
  }

  /** An f32 source of a 64-bit shape (v_cvt_f64_f32), after abs, neg and flushing. */
  #wideFloat(code: Code, step: Step, slot: number, value: Value): Argument {
    const signed = this.#signed(code, step, slot, value.arg)
    if (!flushesSources(step)) return signed
    this.#watchSmall(code, value)
    return signed
  }
}

/** Which half of four lanes. */
const HALVES = [0, 1] as const
/** Whether an instruction is a maximum or minimum of one f16 and itself: so compilers have NaNs quieted. */
const isOneMaximum = (step: Step): boolean => {
  const { operation, mods, sources } = step
  const isSame = (bits: number) => (bits & 1) === ((bits >> 1) & 1)
  if (!isMaximum(operation) || mods.kinds[0] !== KIND_VECTOR || mods.kinds[1] !== KIND_VECTOR) return false
  return sources[0] === sources[1] && isSame(mods.abs) && isSame(mods.neg) && isSamePart(step)
}
const isMaximum = factOf(({ name }) => /^v_(max|min)_f16$/.test(name))

const LOW_DWORDS = [0, 2, 4, 6]
const HIGH_DWORDS = [1, 3, 5, 7]
/** By half: each of two lanes with one of another vector, and twice. */
const PAIRED = [
  [0, 4, 1, 5],
  [2, 6, 3, 7],
] as const
const DOUBLED = [
  [0, 0, 1, 1],
  [2, 2, 3, 3],
] as const

/** Pops the value's new content. */
function store(code: Code, value: Value): void {
  code.set((value.arg as { local: number }).local)
}
