/**
 * A run of lane-local instructions as one loop over the wave's chunks of four lanes: VGPRs in v128 locals, read once, written once.
 *
 * Floats are computed as WebAssembly does, and every chunk is watched for what WebAssembly does otherwise than the ISA:
 * - denormals. A value is *grained* when it is zero, infinite, NaN or a multiple of 2^-125. Sums of grained values are grained, so
 *   no denormal comes from them; of products and of values from outside it is tested that they are zero or at least 2^-102.
 * - NaN payloads. They are tested where they could be seen: in results that leave the chunk or are read as bits. A sum or product of
 *   a NaN is NaN, so a value whose sum or product is tested needs no test of its own.
 * A chunk that fails a test is computed again, every operation followed by the flushing and the NaN rule of the core's own loops, before
 * anything of it has been written.
 */
import type { OperandType } from '../isa/row.ts'
import { bitsOf } from '../isa/row.ts'
import { EXEC_LO, VCC_LO } from '../plan/layout.ts'
import { scalarOffset } from '../plan/plan.ts'
import type { Step } from './graph.ts'
import type { Kernels, Locals } from './kernels.ts'
import { type Code, I32, I64, OP, SIMD, V128 } from './wasm.ts'

/** Bytes of a row in wave64, the only wave size that is translated. */
const ROW_BYTES = 256
const LANE_SIGN = 0x80000000 | 0
const MIN_NORMAL = 0x00800000
/** Twice the bits of 2^-102, less one: twice a value's bits less one is below it when the value is too small and not zero. */
const SMALL = 2 * ((127 - 102) << 23) - 1

/** MODE, as far as it decides how lanes are translated. */
export interface LaneModes {
  readonly flushSources32: boolean
  readonly flushResults32: boolean
  readonly flush64: boolean
  readonly round32: number
  readonly round64: number
}

/** A source that is no VGPR, spread over a v128 before the loop: a local a dword, or the bits of a mask. */
export type Captured =
  | { readonly kind: 'row' }
  | { readonly kind: 'spread'; readonly low: number; readonly high: number; readonly constant: number | undefined }
  | { readonly kind: 'mask'; readonly bits: number }
  | { readonly kind: 'own' }

export interface LaneStep {
  readonly step: Step
  readonly captured: readonly Captured[]
}

/** A value in a v128 local. */
interface Value {
  readonly local: number
  grained: boolean
  /** It may be a NaN whose payload is WebAssembly's. */
  tainted: boolean
  /** Values that are NaN whenever this one is. */
  readonly carriers: Value[]
}

/** Operations whose result is NaN whenever an f32 source is. */
const CARRIES_NAN = /^v_(add|sub|subrev|mul|mac|mad|madmk|madak|fma)_f32$/
/** Sums: of grained values they are grained. */
const SUMS = /^v_(add|sub|subrev)_f32$/
/** Results that are grained whatever comes in: integers, and roots of what is no denormal. */
const GRAINED = /^v_(cvt_f32_(i32|u32|ubyte[0-3])|trunc_f32|ceil_f32|rndne_f32|floor_f32|sqrt_f32|rsq_f32)$/
/** Results that are one of the f32 sources. */
const CHOOSES = /^v_(min|max|min3|max3|med3)_f32$/
/** Results that are one of the sources, bit for bit. */
const MOVES = /^v_(mov_b32|cndmask_b32)$/

const isMask = (type: OperandType): boolean => type === 'mask' || type === 'vcc'
export const isWide = ({ operation: { shape } }: Step): boolean =>
  [...shape.results, ...shape.sources].some((t) => !isMask(t) && bitsOf(t) === 64)
const valueType = ({ operation }: Step): OperandType | undefined => operation.shape.results.find((r) => r !== 'mask')
export const hasMask = ({ operation }: Step): boolean => operation.shape.results.includes('mask')
const flushesSources = (step: Step, modes: LaneModes): boolean =>
  step.operation.traits.has('ftz') || (step.operation.traits.has('flush') && modes.flushSources32)
const flushesResults = (step: Step, modes: LaneModes): boolean =>
  step.operation.traits.has('ftz') || (step.operation.traits.has('flush') && modes.flushResults32)

/** Locals of a function under construction. */
export interface FunctionLocals extends Locals {
  /** A local of its own. */
  local(type: number): number
  /** Frees the temporaries: an instruction is done. */
  reset(): void
}

/** The loop of one run. `wave` is the local of the wave's address. */
export class LaneLoop {
  readonly #values = new Map<number, Value>()
  readonly #dirty = new Set<number>()
  readonly #masks = new Map<number, number>()
  /** Every value that was ever made, to see where NaNs show. */
  readonly #chunk: number
  readonly #shift: number
  readonly #small: number
  readonly #nan: number
  #watchesSmall = false
  #watchesNan = false
  readonly #code: Code

  constructor(
    code: Code,
    private readonly steps: readonly LaneStep[],
    private readonly modes: LaneModes,
    private readonly kernels: Kernels,
    private readonly locals: FunctionLocals,
    private readonly wave: number,
  ) {
    this.#code = code
    this.#chunk = locals.local(I32)
    this.#shift = locals.local(I32)
    this.#small = locals.local(V128)
    this.#nan = locals.local(V128)
  }

  /** Writes the loop. Mask results are in the wave's scalars behind it. */
  write(makeCode: () => Code): void {
    const body = makeCode()
    for (const step of this.steps) this.#fast(body, step)
    this.#watchResults(body)
    const watched = this.#watchesSmall || this.#watchesNan
    const exact = makeCode()
    if (watched) this.#again(exact)

    const code = this.#code
    const active = this.locals.local(I32)
    const exec = this.locals.local(I64)
    const bits = new Map([...this.#masks.keys()].map((at) => [at, this.locals.local(I64)]))
    for (const local of bits.values()) code.i64(0n).set(local)
    code.get(this.wave).set(this.#chunk).i32(0).set(this.#shift)
    code.get(this.wave).memory(OP.i64Load, EXEC_OFFSET).set(exec)
    code.block(OP.loop).block(OP.block)
    code.get(exec).get(this.#shift).op(OP.i64ExtendI32U, OP.i64ShrU, OP.i32WrapI64).i32(15).op(OP.i32And).tee(active)
    code.op(OP.i32Eqz, OP.brIf).u32(0)
    if (this.#watchesSmall) code.v128(-1).set(this.#small)
    if (this.#watchesNan) code.v128(0).set(this.#nan)
    code.append(body)
    if (watched) {
      if (this.#watchesSmall) code.get(this.#small).v128(SMALL).simd(SIMD.i32x4LtU)
      if (this.#watchesNan) code.get(this.#nan)
      if (this.#watchesSmall && this.#watchesNan) code.simd(SIMD.or)
      code.simd(SIMD.anyTrue).block(OP.if).append(exact).end()
    }
    this.#commit(active)
    for (const [at, local] of bits) {
      code.get(local).get(this.#masks.get(at)!).simd(SIMD.i32x4Bitmask).get(active).op(OP.i32And, OP.i64ExtendI32U)
      code.get(this.#shift).op(OP.i64ExtendI32U, OP.i64Shl, OP.i64Or).set(local)
    }
    code.end()
    code.get(this.#chunk).i32(16).op(OP.i32Add).set(this.#chunk)
    code.get(this.#shift).i32(4).op(OP.i32Add).tee(this.#shift).i32(64).op(OP.i32LtU, OP.brIf).u32(0)
    code.end()
    for (const [at, local] of bits) code.get(this.wave).get(local).memory(OP.i64Store, at)
  }

  /** Stores what the run has written, under EXEC where not all four lanes are active. */
  #commit(active: number): void {
    if (this.#dirty.size === 0) return
    const code = this.#code
    const mask = this.locals.local(V128)
    code.get(active).i32(15).op(OP.i32Eq).block(OP.if)
    for (const at of this.#dirty) code.get(this.#chunk).get(this.#values.get(at)!.local).simdMemory(SIMD.store, at)
    code.op(OP.else)
    code.get(active).simd(SIMD.i32x4Splat).v128(1, 2, 4, 8).simd(SIMD.and).v128(1, 2, 4, 8).simd(SIMD.i32x4Eq).set(mask)
    for (const at of this.#dirty) {
      code.get(this.#chunk).get(this.#values.get(at)!.local).get(this.#chunk).simdMemory(SIMD.load, at).get(mask).simd(SIMD.bitselect)
      code.simdMemory(SIMD.store, at)
    }
    code.end()
  }

  // --- values

  #load(code: Code, at: number): Value {
    const local = this.locals.local(V128)
    code.get(this.#chunk).simdMemory(SIMD.load, at).set(local)
    return { local, grained: false, tainted: false, carriers: [] }
  }

  #row(code: Code, at: number): Value {
    const known = this.#values.get(at)
    if (known) return known
    const value = this.#load(code, at)
    this.#values.set(at, value)
    return value
  }

  #define(at: number, local: number): Value {
    const value: Value = { local, grained: false, tainted: false, carriers: [] }
    this.#values.set(at, value)
    this.#dirty.add(at)
    return value
  }

  /** Value of a 32-bit source; of a pair's high dword with `high`. */
  #source(code: Code, { step, captured }: LaneStep, slot: number, high = false): Value {
    const from = captured[slot]!
    if (from.kind === 'spread') {
      const constant = high ? undefined : from.constant
      return { local: high ? from.high : from.low, grained: constant !== undefined && isGrained(constant), tainted: false, carriers: [] }
    }
    return this.#row(code, step.sources[slot]! + (high ? ROW_BYTES : 0))
  }

  // --- watching

  /** Tests that the value is zero or not too small. */
  #watchSmall(code: Code, value: Value): void {
    if (value.grained) return
    this.#watchesSmall = true
    value.grained = true
    code.get(this.#small).get(value.local).i32(1).simd(SIMD.i32x4Shl).v128(-1).simd(SIMD.i32x4Add).simd(SIMD.i32x4MinU).set(this.#small)
  }

  #watchNan(code: Code, value: Value): void {
    if (!value.tainted) return
    this.#watchesNan = true
    value.tainted = false
    code.get(this.#nan).get(value.local).get(value.local).simd(SIMD.f32x4Ne).simd(SIMD.or).set(this.#nan)
  }

  /** Tests the results for NaNs, but not those whose NaNs show in another result. */
  #watchResults(code: Code): void {
    const results = [...this.#dirty].map((at) => this.#values.get(at)!).filter((v) => v.tainted)
    const shows = (value: Value, seen: Set<Value>): boolean =>
      value.carriers.some((c) => {
        if (seen.has(c)) return false
        seen.add(c)
        return results.includes(c) || shows(c, seen)
      })
    for (const value of results.filter((v) => !shows(v, new Set()))) this.#watchNan(code, value)
  }

  // --- one instruction, fast

  #fast(code: Code, laneStep: LaneStep): void {
    const { step } = laneStep
    if (isWide(step)) this.#wide(code, laneStep, false)
    else this.#narrow(code, laneStep)
    this.locals.reset()
  }

  #narrow(code: Code, laneStep: LaneStep): void {
    const { step } = laneStep
    const { name, shape, traits } = step.operation
    const result = valueType(step)
    const sources = shape.sources.map((type, slot) => (isMask(type) ? undefined : this.#source(code, laneStep, slot)))
    shape.sources.forEach((type, slot) => {
      const value = sources[slot]
      if (!value) return
      if (type === 'f32' && flushesSources(step, this.modes)) this.#watchSmall(code, value)
      const readAsFloat = type === 'f32' && (result === 'f32' || result === undefined || result === 'i32' || result === 'u32')
      if (!readAsFloat && !MOVES.test(name)) this.#watchNan(code, value)
    })
    const args = this.#arguments(code, laneStep, sources)
    if (hasMask(step)) this.#mask(code, laneStep, args)
    if (result === undefined) return
    this.kernels.apply(code, name, args, this.locals)
    if (bitsOf(result) === 16) code.v128(0xffff).simd(SIMD.and)
    const local = this.locals.local(V128)
    code.set(local)
    const value = this.#define(step.dst, local)
    const floats = sources.filter((s, i): s is Value => s !== undefined && (shape.sources[i] === 'f32' || MOVES.test(name)))
    if (result !== 'f32' && !MOVES.test(name)) return
    value.tainted = traits.has('nan') || floats.some((s) => s.tainted)
    if (CARRIES_NAN.test(name)) for (const source of floats) source.carriers.push(value)
    if (MOVES.test(name) || CHOOSES.test(name) || SUMS.test(name)) value.grained = floats.length > 0 && floats.every((s) => s.grained)
    else value.grained = GRAINED.test(name)
    if (flushesResults(step, this.modes)) this.#watchSmall(code, value)
  }

  /** Locals of the kernel's arguments: sources after abs and neg, masks as lanes. */
  #arguments(code: Code, { step, captured }: LaneStep, sources: readonly (Value | undefined)[]): { local: number }[] {
    return step.operation.shape.sources.map((type, slot) => {
      const value = sources[slot]
      if (!value) return { local: this.#maskLanes(code, type, captured[slot]!, step, slot) }
      return { local: this.#signed(code, step, slot, value.local) }
    })
  }

  /** abs and neg on the 32 bits that hold the sign. */
  #signed(code: Code, step: Step, slot: number, local: number): number {
    const abs = (step.mods.abs >> slot) & 1
    const neg = (step.mods.neg >> slot) & 1
    if (!abs && !neg) return local
    const sign = step.operation.shape.sources[slot] === 'f16' ? 0x8000 : LANE_SIGN
    const changed = this.locals.temporary(V128)
    code.get(local)
    if (abs) code.v128(~sign).simd(SIMD.and)
    if (neg) code.v128(sign).simd(SIMD.xor)
    code.set(changed)
    return changed
  }

  #maskLanes(code: Code, type: OperandType, from: Captured, step: Step, slot: number): number {
    if (from.kind === 'own') return this.#masks.get(type === 'vcc' ? VCC_OFFSET : step.sources[slot]!)!
    const lanes = this.locals.temporary(V128)
    code
      .get((from as { bits: number }).bits)
      .get(this.#shift)
      .op(OP.i64ExtendI32U, OP.i64ShrU, OP.i32WrapI64)
    code.simd(SIMD.i32x4Splat).v128(1, 2, 4, 8).simd(SIMD.and).v128(1, 2, 4, 8).simd(SIMD.i32x4Eq).set(lanes)
    return lanes
  }

  #mask(code: Code, { step }: LaneStep, args: readonly { local: number }[]): void {
    const name = valueType(step) ? `${step.operation.name}_mask` : step.operation.name
    const at = maskOffset(step)
    const local = this.locals.local(V128)
    this.kernels.apply(code, name, args, this.locals)
    code.set(local)
    this.#masks.set(at, local)
  }

  // --- 64-bit shapes: two lanes at a time; results need no watching of small values, as their denormals are kept

  #wide(code: Code, laneStep: LaneStep, exact: boolean): void {
    const { step } = laneStep
    const { name, shape, traits } = step.operation
    const result = valueType(step)
    const halves = [0, 1].map((half) =>
      shape.sources.map((type, slot) => ({ local: this.#half(code, laneStep, type, slot, half as 0 | 1, exact) })),
    )
    if (hasMask(step)) {
      const maskName = result ? `${name}_mask` : name
      for (const args of halves) this.kernels.apply(code, maskName, args, this.locals)
      shuffleDwords(code, [0, 2, 4, 6])
      const local = this.locals.local(V128)
      code.set(local)
      this.#masks.set(maskOffset(step), local)
    }
    if (result === undefined) return
    const floatArgs = (args: readonly { local: number }[]) => args.filter((_, i) => shape.sources[i] === result).map((a) => a.local)
    const results = halves.map((args) => {
      const local = this.locals.temporary(V128)
      this.kernels.apply(code, name, args, this.locals)
      code.set(local)
      if (traits.has('nan') && result === 'f64') {
        if (exact) this.#rebuildNan(code, 'nan64', local, floatArgs(args))
        else {
          this.#watchesNan = true
          code.get(this.#nan).get(local).get(local).simd(SIMD.f64x2Ne).simd(SIMD.or).set(this.#nan)
        }
      }
      return local
    })
    const gather = (lanes: readonly number[]) => {
      for (const local of results) code.get(local)
      shuffleDwords(code, lanes)
      const local = this.locals.local(V128)
      code.set(local)
      return local
    }
    if (bitsOf(result) === 64) {
      const low = gather([0, 2, 4, 6])
      const high = gather([1, 3, 5, 7])
      this.#define(step.dst, low)
      this.#define(step.dst + ROW_BYTES, high)
    } else {
      const value = this.#define(step.dst, gather([0, 2, 4, 6]))
      if (result !== 'f32') return
      // v_cvt_f32_f64: as exact as any f32 result must be.
      if (traits.has('nan') || traits.has('flush')) this.#finishNarrowed(code, step, value, exact)
    }
  }

  /** An f32 result of an f64 source: watched, or where chunks are computed again, flushed. Its NaN comes from the kernel. */
  #finishNarrowed(code: Code, step: Step, value: Value, exact: boolean): void {
    if (!flushesResults(step, this.modes)) return
    if (!exact) return this.#watchSmall(code, value)
    code.get(value.local).v128(MIN_NORMAL)
    this.kernels.call(code, 'flush32', [], this.locals)
    code.set(value.local)
  }

  /** Two lanes of a source as 64-bit lanes. */
  #half(code: Code, laneStep: LaneStep, type: OperandType, slot: number, half: 0 | 1, exact: boolean): number {
    const { step, captured } = laneStep
    const local = this.locals.temporary(V128)
    const lanes = half === 0 ? [0, 4, 1, 5] : [2, 6, 3, 7]
    if (isMask(type)) {
      const mask = this.#maskLanes(code, type, captured[slot]!, step, slot)
      code.get(mask).get(mask)
      shuffleDwords(code, half === 0 ? [0, 0, 1, 1] : [2, 2, 3, 3])
      code.set(local)
      return local
    }
    const low = this.#source(code, laneStep, slot)
    if (!exact) this.#watchNan(code, low)
    if (bitsOf(type) !== 64) {
      code.get(type === 'f32' ? this.#flushedWide(code, laneStep, slot, low, exact) : low.local).v128(0)
      shuffleDwords(code, lanes)
      code.set(local)
      return local
    }
    const high = this.#source(code, laneStep, slot, true)
    if (!exact) this.#watchNan(code, high)
    code.get(low.local).get(this.#signed(code, step, slot, high.local))
    shuffleDwords(code, lanes)
    code.set(local)
    return local
  }

  /** An f32 source of a 64-bit shape (v_cvt_f64_f32), after abs, neg and flushing. */
  #flushedWide(code: Code, { step }: LaneStep, slot: number, value: Value, exact: boolean): number {
    const signed = this.#signed(code, step, slot, value.local)
    if (!flushesSources(step, this.modes)) return signed
    if (!exact) {
      this.#watchSmall(code, value)
      return signed
    }
    const flushed = this.locals.temporary(V128)
    code.get(signed).v128(MIN_NORMAL)
    this.kernels.call(code, 'flush32', [], this.locals)
    code.set(flushed)
    return flushed
  }

  // --- the chunk again, exactly

  /** Computes the run anew from what the rows still hold, and puts the results where the fast way put its own. */
  #again(code: Code): void {
    const results = new Map([...this.#dirty].map((at) => [at, this.#values.get(at)!.local]))
    const masks = new Map(this.#masks)
    this.#values.clear()
    this.#masks.clear()
    for (const step of this.steps) {
      if (isWide(step.step)) this.#wide(code, step, true)
      else this.#exactNarrow(code, step)
      this.locals.reset()
    }
    for (const [at, local] of results) {
      code.get(this.#values.get(at)!.local).set(local)
      this.#values.set(at, { local, grained: false, tainted: false, carriers: [] })
    }
    for (const [at, local] of masks) {
      code.get(this.#masks.get(at)!).set(local)
      this.#masks.set(at, local)
    }
  }

  #exactNarrow(code: Code, laneStep: LaneStep): void {
    const { step } = laneStep
    const { name, shape, traits } = step.operation
    const result = valueType(step)
    const sources = shape.sources.map((type, slot) => (isMask(type) ? undefined : this.#source(code, laneStep, slot)))
    const args = this.#arguments(code, laneStep, sources).map((arg, slot) => {
      if (shape.sources[slot] !== 'f32' || !flushesSources(step, this.modes)) return arg
      const local = this.locals.temporary(V128)
      code.get(arg.local).v128(MIN_NORMAL)
      this.kernels.call(code, 'flush32', [], this.locals)
      code.set(local)
      return { local }
    })
    if (hasMask(step)) this.#mask(code, laneStep, args)
    if (result === undefined) return
    this.kernels.call(code, name, args, this.locals)
    if (bitsOf(result) === 16) code.v128(0xffff).simd(SIMD.and)
    const local = this.locals.local(V128)
    code.set(local)
    if (result === 'f32') {
      if (traits.has('nan'))
        this.#rebuildNan(
          code,
          'nan32',
          local,
          args.filter((_, i) => shape.sources[i] === 'f32').map((a) => a.local),
        )
      if (flushesResults(step, this.modes)) {
        code.get(local).v128(MIN_NORMAL)
        this.kernels.call(code, 'flush32', [], this.locals)
        code.set(local)
      }
    }
    this.#define(step.dst, local)
  }

  #rebuildNan(code: Code, rule: 'nan32' | 'nan64', local: number, floats: readonly number[]): void {
    const [a = local, b = a, c = b] = floats
    this.kernels.call(code, rule, [{ local }, { local: a }, { local: b }, { local: c }], this.locals)
    code.set(local)
  }
}

const VCC_OFFSET = scalarOffset(VCC_LO)
const EXEC_OFFSET = scalarOffset(EXEC_LO)

/** Offset in the wave block of the scalar pair that takes the mask. */
export const maskOffset = (step: Step): number => scalarOffset(step.mods.sdst)

/** Whether an f32 is zero, not finite, or at least 2^-102. */
function isGrained(bits: number): boolean {
  return ((bits << 1) - 1) >>> 0 >= SMALL
}

/** Picks four of the eight dwords of two vectors. */
function shuffleDwords(code: Code, lanes: readonly number[]): void {
  code.simd(SIMD.shuffle).op(...lanes.flatMap((lane) => [0, 1, 2, 3].map((byte) => lane * 4 + byte)))
}
