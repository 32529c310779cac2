/**
 * The short way through a nest (nest.ts): a version of its loop for groups whose lanes are all active and whose addresses are affine in the
 * lane's number (affine-plan.ts). These are computed once for all lanes, and what watches floats is looked at when the loop is done.
 *
 * It runs all iterations but the last one, or the first that switches lanes off, which the ordinary version repeats: so nothing is left by it but what an iteration begins
 * with. Where something is not as it was taken to be, the ordinary version takes over from that iteration on; where floats were not,
 * from the first one.
 */

import { REGION_BASE, REGION_HOST, REGION_SIZE } from '../../plan/layout.ts'
import { bytesLoaded, dwordsLoaded, smallLoad, unalignedBits } from '../block/accesses.ts'
import { BASE_HIGH, isBuffer } from '../block/buffer.ts'
import type { Chunk } from '../block/chunk.ts'
import type { SmallLoad } from '../block/gather.ts'
import { findRegion } from '../block/known-region.ts'
import { ROW_BYTES, type Value } from '../block/lane-values.ts'
import { LARGE, needsGrain, SMALL } from '../code/grain.ts'
import type { Step } from '../code/graph.ts'
import { push } from '../wasm/kernels.ts'
import { Code, I32, I64, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { type Affine, type AffinePlan, rowsOf } from './affine-plan.ts'
import { FAIL, type NestContext } from './nest-rows.ts'

/** Strides of numbers that must not wrap: then the first and the last lane tell of those between. */
const WORD_STRIDES = 1 << 20
const WIDE_STRIDES = 1n << 24n

/** What an affine loop is part of. */
export interface Surroundings {
  readonly context: NestContext
  readonly steps: readonly Step[]
  /** The group's chunks in this version. */
  readonly chunks: readonly Chunk[]
  /** Scalars that these take to be at least 2^-102. */
  readonly large: ReadonlySet<Value>
  scalar(at: number): number
  /** The local of a row of a chunk as an iteration begins. */
  carry(chunk: number, at: number): number
}

/** What the nest knows when it writes its loops. */
export interface Group {
  readonly iteration: number
  /** Iterations at most. */
  readonly limit: number
  /** Not zero for the ordinary way: when the nest runs again, up to where it failed, for nothing else knows where that is. */
  readonly again: number
  readonly exec: number
  readonly all: bigint
  /** What scalars gave that were tested before (lanes.ts). */
  readonly least: number | undefined
  /** Locals of the scalars and of the masks' bits that the loop writes. */
  readonly written: readonly { readonly local: number; readonly type: number }[]
  readonly divides: boolean
  /** Pushes whether the loop goes on. */
  readonly condition: Code
  /** Sets rows and scalars to what the wave holds. */
  reload(code: Code): void
}

export class AffineLoop {
  readonly #lanes: number
  /** Written before the loop of a group: bases, strides, and what does not change. */
  readonly #entry = new Code()
  readonly #bases = new Map<Affine, number>()
  /** Locals; undefined where the stride is zero. */
  readonly #strides = new Map<Affine, number | undefined>()
  readonly #spans = new Map<number, number>()
  /** The whole nest's: no region is known yet. */
  readonly before = new Code()

  constructor(
    private readonly plan: AffinePlan,
    private readonly around: Surroundings,
  ) {
    this.#lanes = 4 * around.chunks.length
    const different = this.#fresh(V128)
    this.#entry.v128(0).set(different)
    for (const { begin } of plan.carried) this.#enter(begin, different)
    this.#entry.get(different).simd(SIMD.anyTrue)
    this.#leaveIf(this.#entry)
    for (const value of plan.values) {
      this.#strides.set(value, this.#strideOf(value))
      if (value.invariant) this.#compute(this.#entry, value)
    }
    for (const { begin, end } of plan.carried) this.#requireSameStride(begin, end)
  }

  #fresh(type: number): number {
    return this.around.context.locals.fresh(type)
  }

  // --- before the loop

  /** Finds base and stride of what comes from the wave's rows; lanes that do not fit leave their mark in `different`. */
  #enter(value: Affine, different: number): void {
    const code = this.#entry
    const { carry, chunks } = this.around
    const [low, high] = rowsOf(value) as [number, number | undefined]
    const [base, stride] = [this.#fresh(I32), this.#fresh(I32)]
    const lane = (row: number, n: number) => code.get(carry(0, row)).simd(SIMD.i32x4ExtractLane).op(n)
    lane(low, 0).set(base)
    lane(low, 1).get(base).op(OP.i32Sub).set(stride)
    for (const chunk of chunks.keys()) {
      code.get(carry(chunk, low))
      this.#pushRow(code, base, stride, chunk)
      code.simd(SIMD.xor).get(different).simd(SIMD.or).set(different)
    }
    if (high === undefined) {
      this.#bases.set(value, base)
      this.#strides.set(value, stride)
      return
    }
    for (const chunk of chunks.keys()) {
      code.get(carry(chunk, high))
      lane(high, 0).simd(SIMD.i32x4Splat).simd(SIMD.xor).get(different).simd(SIMD.or).set(different)
    }
    this.#limitWord(stride)
    this.#keepSign(code, base, stride)
    const [wide, wideStride] = [this.#fresh(I64), this.#fresh(I64)]
    lane(high, 0).op(OP.i64ExtendI32U).i64(32n).op(OP.i64Shl).get(base).op(OP.i64ExtendI32U, OP.i64Or).set(wide)
    code.get(stride).op(OP.i64ExtendI32S).set(wideStride)
    this.#bases.set(value, wide)
    this.#strides.set(value, wideStride)
  }

  /** Pushes a chunk of a row: base + stride × lane. */
  #pushRow(code: Code, base: number, stride: number, chunk: number): void {
    const first = 4 * chunk
    code.get(base).simd(SIMD.i32x4Splat).get(stride).simd(SIMD.i32x4Splat)
    code
      .v128(first, first + 1, first + 2, first + 3)
      .simd(SIMD.i32x4Mul)
      .simd(SIMD.i32x4Add)
  }

  #strideOf(value: Affine): number | undefined {
    if (value.flat) return undefined
    if (this.#strides.has(value)) return this.#strides.get(value)
    const code = this.#entry
    const [a, b] = value.of.map((source) => this.#strides.get(source))
    const type = value.wide ? I64 : I32
    const set = () => {
      const stride = this.#fresh(type)
      code.set(stride)
      return stride
    }
    const op = (narrow: number, wide: number) => code.op(value.wide ? wide : narrow)
    switch (value.kind) {
      case 'sum':
        if (a === undefined || b === undefined) return a ?? b
        code.get(a).get(b)
        op(OP.i32Add, OP.i64Add)
        return set()
      case 'difference':
        if (b === undefined) return a
        if (a !== undefined) code.get(a)
        else if (value.wide) code.i64(0n)
        else code.i32(0)
        code.get(b)
        op(OP.i32Sub, OP.i64Sub)
        return set()
      case 'shift':
        if (a === undefined) return undefined
        code.get(a)
        this.#pushConstant(code, value.value, value.wide)
        op(OP.i32Shl, OP.i64Shl)
        return set()
      case 'product':
        if (a === undefined) return undefined
        code.get(a)
        this.#push(code, value.of[1]!)
        code.op(OP.i32Mul)
        return set()
      case 'pair':
        if (b !== undefined) this.#leaveIf(code.get(b))
        if (a === undefined) return undefined
        this.#limitWord(a)
        code.get(a).op(OP.i64ExtendI32S)
        return set()
      case 'low':
        if (a === undefined) return undefined
        code.get(a).op(OP.i32WrapI64)
        return set()
      default:
        return undefined
    }
  }

  #requireSameStride(begin: Affine, end: Affine): void {
    const [a, b] = [this.#strides.get(begin), this.#strides.get(end)]
    if (begin.invariant || a === b) return
    const code = this.#entry
    code.get(a!)
    if (b !== undefined) code.get(b).op(begin.wide ? OP.i64Ne : OP.i32Ne)
    else if (begin.wide) code.i64(0n).op(OP.i64Ne)
    this.#leaveIf(code)
  }

  /** Goes the ordinary way if what is on the stack is not zero. */
  #leaveIf(code: Code): void {
    code.op(OP.brIf).u32(code === this.#entry ? 0 : FAIL)
  }

  #limitWord(stride: number): void {
    const code = this.#entry
    code
      .get(stride)
      .i32(WORD_STRIDES)
      .op(OP.i32Add)
      .i32(2 * WORD_STRIDES)
      .op(OP.i32GtU)
    this.#leaveIf(code)
  }
  #limitWide(stride: number): void {
    const code = this.#entry
    code
      .get(stride)
      .i64(WIDE_STRIDES)
      .op(OP.i64Add)
      .i64(2n * WIDE_STRIDES)
      .op(OP.i64GtU)
    this.#leaveIf(code)
  }

  /** What the last lane has more than the first one. */
  #span(stride: number, wide: boolean): number {
    const known = this.#spans.get(stride)
    if (known !== undefined) return known
    const span = this.#fresh(wide ? I64 : I32)
    const code = this.#entry
    code.get(stride)
    if (wide) code.i64(BigInt(this.#lanes - 1)).op(OP.i64Mul)
    else code.i32(this.#lanes - 1).op(OP.i32Mul)
    code.set(span)
    this.#spans.set(stride, span)
    return span
  }

  /** Requires that a word has one sign in all lanes: so it wraps in none, neither as a signed number nor as an unsigned one. */
  #keepSign(code: Code, base: number, stride: number): void {
    const span = this.#span(stride, false)
    code.get(base).get(span).op(OP.i32Add).get(base).op(OP.i32Xor).i32(0).op(OP.i32LtS)
    this.#leaveIf(code)
  }

  // --- numbers

  #pushConstant(code: Code, value: bigint, wide: boolean): void {
    if (wide) code.i64(BigInt.asIntN(64, value))
    else code.i32(Number(BigInt.asIntN(32, value)))
  }

  /** Pushes a number as lane 0 has it. */
  #push(code: Code, value: Affine): void {
    if (value.kind === 'constant') this.#pushConstant(code, value.value, value.wide)
    else if (value.kind === 'scalar' && value.invariant) code.get(this.around.scalar(Number(value.value)))
    else code.get(this.#bases.get(value)!)
  }

  #compute(code: Code, value: Affine): void {
    if (this.#bases.has(value) || value.kind === 'constant' || (value.kind === 'scalar' && value.invariant)) return
    const { wide } = value
    const [a, b] = value.of
    const stride = a && this.#strides.get(a)
    const push = (source: Affine | undefined) => this.#push(code, source!)
    const op = (narrow: number, long: number) => code.op(wide ? long : narrow)
    switch (value.kind) {
      case 'scalar':
        code.get(this.around.scalar(Number(value.value)))
        break
      case 'resource':
        code
          .get(this.around.scalar(Number(value.value) + 4))
          .i32(BASE_HIGH)
          .op(OP.i32And, OP.i64ExtendI32U)
          .i64(32n)
          .op(OP.i64Shl)
        code.get(this.around.scalar(Number(value.value))).op(OP.i64ExtendI32U, OP.i64Or)
        break
      case 'sum':
      case 'difference':
        push(a)
        push(b)
        if (value.kind === 'sum') op(OP.i32Add, OP.i64Add)
        else op(OP.i32Sub, OP.i64Sub)
        break
      case 'product':
        push(a)
        push(b)
        code.op(OP.i32Mul)
        break
      case 'shift':
        push(a)
        this.#pushConstant(code, value.value, wide)
        op(OP.i32Shl, OP.i64Shl)
        break
      case 'sign':
        if (stride !== undefined) {
          this.#limitWord(stride)
          this.#keepSign(code, this.#local(code, a!), stride)
        }
        push(a)
        code.i32(31).op(OP.i32ShrS)
        break
      case 'pair':
        if (stride !== undefined) this.#keepSign(code, this.#local(code, a!), stride)
        push(b)
        code.op(OP.i64ExtendI32U).i64(32n).op(OP.i64Shl)
        push(a)
        code.op(OP.i64ExtendI32U, OP.i64Or)
        break
      case 'low':
        push(a)
        code.op(OP.i32WrapI64)
        break
      case 'high':
        if (stride !== undefined) this.#keepHigh(code, a!, stride)
        push(a)
        code.i64(32n).op(OP.i64ShrU, OP.i32WrapI64)
        break
    }
    const local = this.#fresh(wide ? I64 : I32)
    code.set(local)
    this.#bases.set(value, local)
  }

  #local(code: Code, value: Affine): number {
    const known = this.#bases.get(value)
    if (known !== undefined) return known
    const local = this.#fresh(value.wide ? I64 : I32)
    this.#push(code, value)
    code.set(local)
    return local
  }

  /** Requires that all lanes have one high dword. */
  #keepHigh(code: Code, value: Affine, stride: number): void {
    this.#limitWide(stride)
    const span = this.#span(stride, true)
    this.#push(code, value)
    code.get(span).op(OP.i64Add)
    this.#push(code, value)
    code.op(OP.i64Xor).i64(32n).op(OP.i64ShrU).i64(0n).op(OP.i64Ne)
    this.#leaveIf(code)
  }

  // --- an iteration

  /**
   * Appends what an instruction does to affine numbers.
   * @returns whether that is all of it
   */
  step(code: Code, index: number): boolean {
    for (const value of this.plan.values) if (value.at === index && !value.invariant) this.#compute(code, value)
    const step = this.around.steps[index]!
    const address = this.plan.loads.get(step)
    if (address === undefined) return false
    this.#load(code, step, index, address)
    return true
  }

  #load(code: Code, step: Step, index: number, value: Affine): void {
    const { chunks, context } = this.around
    const bytes = bytesLoaded(step)
    const unaligned = isBuffer(step) ? unalignedBits(bytes) : 0
    const [base, size, delta, region] = [this.#fresh(I64), this.#fresh(I64), this.#fresh(I32), this.#fresh(I32)]
    const [first, count, at] = [this.#fresh(I64), this.#fresh(I64), this.#fresh(I32)]
    const stride = this.#strides.get(value)
    if (stride !== undefined) this.#limitWide(stride)
    if (unaligned > 0 && stride !== undefined)
      this.#leaveIf(this.#entry.get(stride).i64(BigInt(unaligned)).op(OP.i64And).i64(0n).op(OP.i64Ne))
    this.before.i64(0n).set(size)
    // Lane 0 may be at `count` addresses from `first` on; there are none if the region is too small.
    const allow = (to: Code) => {
      to.get(base)
      if (stride !== undefined) {
        const span = this.#span(stride, true)
        to.i64(0n).get(span).op(OP.i64Sub).i64(0n).get(span).i64(0n).op(OP.i64LtS, OP.select, OP.i64Add)
      }
      to.set(first)
      to.get(size)
        .i64(BigInt(bytes - 1))
        .op(OP.i64Sub)
      if (stride !== undefined) {
        const span = this.#span(stride, true)
        const sign = () => to.get(span).i64(63n).op(OP.i64ShrS)
        sign().get(span).op(OP.i64Xor)
        sign().op(OP.i64Sub, OP.i64Sub)
      }
      to.tee(count).i64(0n).get(count).i64(0n).op(OP.i64GtS, OP.select).set(count)
    }
    allow(this.#entry)
    const address = this.#local(code, value)
    if (unaligned > 0) this.#leaveIf(code.get(address).op(OP.i32WrapI64).i32(unaligned).op(OP.i32And))
    const test = () => code.get(address).get(first).op(OP.i64Sub).get(count).op(OP.i64GeU)
    test().block(OP.if)
    findRegion(code, context, step, address, region, FAIL + 1)
    code.get(region).memory(OP.i64Load, REGION_BASE).set(base)
    code.get(region).memory(OP.i32Load, REGION_SIZE).op(OP.i64ExtendI32U).set(size)
    code.get(region).memory(OP.i32Load, REGION_HOST).get(base).op(OP.i32WrapI64, OP.i32Sub).set(delta)
    allow(code)
    test()
      .op(OP.brIf)
      .u32(FAIL + 1)
      .end()
    code.get(address).op(OP.i32WrapI64).get(delta).op(OP.i32Add).set(at)
    const results = Array.from({ length: dwordsLoaded(step) }, () => chunks.map(() => this.#fresh(V128)))
    const tested = results.map((_, dword) => this.#isTested(index, step.dst + dword * ROW_BYTES))
    this.#fetch(code, at, stride, results, tested, smallLoad(step))
    for (const [dword, locals] of results.entries()) {
      for (const [i, chunk] of chunks.entries()) chunk.put(step.dst + dword * ROW_BYTES, locals[i]!, tested[dword])
    }
  }

  /** Loads from where lane 0 loads on: by one for all lanes, in one piece, or lane by lane. */
  #fetch(
    code: Code,
    at: number,
    stride: number | undefined,
    results: readonly number[][],
    tested: readonly boolean[],
    small: SmallLoad | undefined,
  ): void {
    const { chunks } = this.around
    const same = () => {
      for (const [dword, [first, ...others]] of results.entries()) {
        code.get(at)
        if (small) code.memory(small.one, 0).simd(SIMD.i32x4Splat)
        else code.simdMemory(SIMD.load32Splat, 4 * dword)
        code.set(first!)
        if (tested[dword]) chunks[0]!.watch(code, first!)
        for (const other of others) code.get(first!).set(other)
      }
    }
    if (stride === undefined) return same()
    code.get(stride).op(OP.i64Eqz).block(OP.if)
    same()
    code.op(OP.else)
    if (results.length === 1) {
      const bytes = small?.bytes ?? 4
      code.get(stride).i64(BigInt(bytes)).op(OP.i64Eq).block(OP.if)
      for (const [i, local] of results[0]!.entries()) {
        code.get(at).simdMemory(small?.four ?? SIMD.load, 4 * bytes * i)
        for (const extend of small?.extend ?? []) code.simd(extend)
        code.set(local)
      }
      code.op(OP.else)
    }
    this.#fetchLanes(code, at, stride, results, small)
    if (results.length === 1) code.end()
    for (const [dword, locals] of results.entries()) {
      if (tested[dword]) for (const [i, local] of locals.entries()) chunks[i]!.watch(code, local)
    }
    code.end()
  }

  #fetchLanes(code: Code, at: number, stride: number, results: readonly number[][], small: SmallLoad | undefined): void {
    const address = this.#fresh(I32)
    code.get(at).set(address)
    for (let n = 0; n < this.#lanes; n++) {
      const lane = n % 4
      for (const [dword, locals] of results.entries()) {
        const local = locals[n >> 2]!
        if (small) {
          if (lane > 0) code.get(local)
          code.get(address).memory(small.one, 0)
          if (lane === 0) code.simd(SIMD.i32x4Splat)
          else code.simd(SIMD.i32x4ReplaceLane).op(lane)
        } else if (lane === 0) code.get(address).simdMemory(SIMD.load32Zero, 4 * dword)
        else
          code
            .get(address)
            .get(local)
            .simdMemory(SIMD.load32Lane, 4 * dword)
            .op(lane)
        code.set(local)
      }
      if (n + 1 < this.#lanes) code.get(address).get(stride).op(OP.i32WrapI64, OP.i32Add).set(address)
    }
  }

  /** Whether something behind a load reads the row as an f32 that would be flushed. */
  #isTested(index: number, row: number): boolean {
    const { steps } = this.around
    for (const step of steps.slice(index + 1)) {
      if (this.plan.lanes.has(step) && step.operation.shape.sources.some((_, slot) => step.sources[slot] === row && needsGrain(step, slot)))
        return true
      if (step.dst === row) return false
    }
    return false
  }

  // --- the loop

  /** Appends the loop, around a body; the ordinary one stands behind it. */
  write(code: Code, body: Code, group: Group): void {
    const { chunks, carry } = this.around
    const { iteration, limit, written } = group
    code.block(OP.block)
    code.get(limit).i32(1).op(OP.i32LeU).get(group.again).op(OP.i32Or, OP.brIf).u32(0)
    code.get(group.exec).i64(group.all).op(OP.i64Ne, OP.brIf).u32(0)
    if (group.least !== undefined) code.get(group.least).v128(SMALL).simd(SIMD.i32x4LtU).simd(SIMD.anyTrue).op(OP.brIf).u32(0)
    for (const { arg } of this.around.large) {
      push(code, arg)
      code.simd(SIMD.i32x4ExtractLane).op(0).i32(LARGE).op(OP.i32LtS, OP.brIf).u32(0)
    }
    code.append(this.#entry)
    for (const chunk of chunks) {
      chunk.beginLoop(code, group.least)
      chunk.begin(code, group.least)
    }
    const saved = written.map(({ type }) => this.#fresh(type))
    const next = this.#fresh(I32)
    for (let i = 0; i < FAIL; i++) code.block(OP.block)
    code.block(OP.loop)
    for (const [i, { local }] of written.entries()) code.get(local).set(saved[i]!)
    code.append(body)
    if (group.divides) code.get(group.exec).i64(group.all).op(OP.i64Ne, OP.brIf).u32(FAIL)
    code.append(group.condition).op(OP.i32Eqz, OP.brIf).u32(FAIL)
    code.get(iteration).i32(1).op(OP.i32Add).tee(next).get(limit).op(OP.i32GeU, OP.brIf).u32(FAIL)
    code.get(next).set(iteration)
    this.#carryOn(code)
    code.op(OP.br).u32(0).end()
    for (let i = 0; i < FAIL; i++) code.end()
    for (const [i, { local }] of written.entries()) code.get(saved[i]!).set(local)
    for (const { begin } of this.plan.carried) this.#spread(code, begin)
    this.#check(code, iteration, carry, group)
    code.end()
  }

  /** The iteration's results become what the next one starts with. */
  #carryOn(code: Code): void {
    const targets: number[] = []
    for (const [i, chunk] of this.around.chunks.entries()) {
      for (const at of this.plan.rows) {
        chunk.pushRow(code, at)
        targets.push(this.around.carry(i, at))
      }
    }
    for (const { begin, end } of this.plan.carried) {
      if (begin === end) continue
      this.#push(code, end)
      targets.push(this.#bases.get(begin)!)
    }
    for (const local of targets.toReversed()) code.set(local)
  }

  /** Gives rows that were numbers back to the lanes. */
  #spread(code: Code, value: Affine): void {
    const rows = rowsOf(value)
    if (value.invariant || rows.every((at) => this.plan.rows.includes(at))) return
    const { chunks, carry } = this.around
    const [base, stride] = [this.#bases.get(value)!, this.#strides.get(value)!]
    const [low, high] = rows as [number, number | undefined]
    for (const chunk of chunks.keys()) {
      if (high === undefined) {
        this.#pushRow(code, base, stride, chunk)
        code.set(carry(chunk, low))
        continue
      }
      const halves = [0, 2].map((half) => {
        const local = this.#fresh(V128)
        const first = 4 * chunk + half
        code.get(base).simd(SIMD.i64x2Splat).get(stride).simd(SIMD.i64x2Splat)
        code
          .v128(first, 0, first + 1, 0)
          .simd(SIMD.i64x2Mul)
          .simd(SIMD.i64x2Add)
          .set(local)
        return local
      })
      for (const [n, at] of [low, high].entries()) {
        for (const half of halves) code.get(half)
        code.simd(SIMD.shuffle).raw(Uint8Array.from({ length: 16 }, (_, byte) => 8 * (byte >> 2) + 4 * n + (byte & 3)))
        code.set(carry(chunk, at))
      }
    }
  }

  /** Looks at what was watched: where floats were not as WebAssembly computes them, the group begins anew. */
  #check(code: Code, iteration: number, carry: (chunk: number, at: number) => number, group: Group): void {
    const { chunks } = this.around
    let count = 0
    const or = () => {
      if (count++ > 0) code.simd(SIMD.or)
    }
    for (const [i, chunk] of chunks.entries()) {
      if (chunk.watched) {
        chunk.pushWatched(code)
        or()
      }
      for (const at of chunk.sums) {
        code.get(carry(i, at)).get(carry(i, at)).simd(SIMD.f32x4Ne)
        or()
      }
    }
    if (count === 0) return
    // What one group met others may, too: they go the ordinary way at once.
    code.simd(SIMD.anyTrue).block(OP.if).i32(0).set(iteration).i32(1).set(group.again)
    group.reload(code)
    code.end()
  }
}
