/** What runs of lane-local instructions are made of: steps, their sources, and values of four lanes. */
import type { OperandType } from '../../isa/row.ts'
import { bitsOf, dwordsOf, isFloat } from '../../isa/row.ts'
import { EXEC_LO, scalarOffset, VCC_LO } from '../../plan/layout.ts'
import { KIND_NONE, KIND_SCALAR, KIND_VECTOR } from '../../plan/record.ts'
import { wideConstant } from '../code/constant.ts'
import { factOf } from '../code/fact.ts'
import { isGrained, LARGE, MOVES, PRODUCT_AND_SUM } from '../code/grain.ts'
import type { Step } from '../code/graph.ts'
import { type Argument, type Kernels, type Locals, push as pushArgument, type VectorConstant } from '../wasm/kernels.ts'
import { type Code, SIMD } from '../wasm/wasm.ts'
import { isDpp, isSdwa } from './stages.ts'

/** Rows that the shadow holds (assembly/scratch.ts, SHADOW_ROWS). */
export const SHADOW_ROWS = 96

/** Bytes of a row in wave64, the only wave size that is translated. */
export const ROW_BYTES = 256
/** Bytes of a chunk of four lanes. */
export const CHUNK_BYTES = 16
/** The sign bit of a lane. */
export const LANE_SIGN = 0x80000000 | 0
/** A source that is no VGPR, as it was when the instruction's turn came: constants, scalars spread over a v128, the bits of a mask. */
export type Captured =
  | { readonly kind: 'row' }
  | { readonly kind: 'constant'; readonly low: number; readonly high: number }
  | { readonly kind: 'spread'; readonly low: Value; readonly high: Value }
  | { readonly kind: 'mask'; readonly bits: number }
  /** Bits of a mask from the group's first lane on. */
  | { readonly kind: 'slice'; readonly bits: number }
  | { readonly kind: 'own' }

/** Where sources are that are no VGPRs. */
export interface Sources {
  /** A mask: the scalar pair at an offset in the wave block, or without one a constant. */
  mask(at: number | undefined, constant: bigint): Captured
  /** A scalar in all lanes. */
  spread(at: number): Value
}

const ROW: Captured = { kind: 'row' }

/** A source of a lane instruction as it is now. */
export function capture(step: Step, slot: number, sources: Sources): Captured {
  const type = step.operation.shape.sources[slot]!
  const value = step.sources[slot]!
  const kind = step.mods.kinds[slot] ?? KIND_NONE
  if (type === 'vcc') return sources.mask(VCC_OFFSET, 0n)
  if (type === 'mask') return kind === KIND_SCALAR ? sources.mask(value, 0n) : sources.mask(undefined, wideConstant(kind, value))
  if (kind === KIND_VECTOR) return ROW
  if (kind === KIND_SCALAR) {
    const low = sources.spread(value)
    return { kind: 'spread', low, high: bitsOf(type) === 64 ? sources.spread(value + 4) : low }
  }
  const constant = wideConstant(kind, value)
  return { kind: 'constant', low: Number(BigInt.asIntN(32, constant)), high: Number(BigInt.asIntN(32, constant >> 32n)) }
}

export interface LaneStep {
  readonly step: Step
  readonly captured: readonly Captured[]
  /** Nobody reads its mask. */
  readonly maskIsDead?: boolean
  /** An i64 local that its mask's bits go to: those are wanted even if another mask takes the place. */
  keeps?: number
  /** It touches memory, and nothing of it is computed. */
  readonly touches?: boolean
}

/** A value of four lanes: in a v128 local, or a constant. */
export interface Value {
  readonly arg: Argument
  /** A scalar, spread before the loop. */
  readonly scalar: boolean
  grained: boolean
  /** It is at least 2^-102, or NaN. */
  large: boolean
  /** It may be a NaN whose payload is WebAssembly's. */
  tainted: boolean
  /** Values that are NaN whenever this one is. */
  readonly carriers: Value[]
  /** As an f16 in the low half it is this f32 (half.ts). */
  float?: Argument | undefined
}

const newValue = (arg: Argument, scalar: boolean, grained: boolean): Value => ({
  arg,
  scalar,
  grained,
  large: 'lanes' in arg && arg.lanes >= LARGE,
  tainted: false,
  carriers: [],
})
export const valueIn = (local: number, grained = false): Value => newValue({ local }, false, grained)
export const constantValue = (bits: number): Value => newValue({ lanes: bits }, false, isGrained(bits))
/** A scalar in all lanes of a local; `constant` where it stays the same for all of the loop. */
export const spreadValue = (local: number, constant: boolean): Value => newValue({ local }, constant, false)

/** Operations whose result is NaN whenever an f32 source is. */
const CARRIES_NAN = /^v_(add|sub|subrev|mul|mac|mad|madmk|madak|fma)_f32$/

export const isMask = (type: OperandType): boolean => type === 'mask' || type === 'vcc'
export const factsOf = factOf(({ name, shape: { results, sources } }) => {
  const result = results.find((r) => r !== 'mask')
  const isMove = MOVES.test(name)
  return {
    isWide: [...results, ...sources].some((t) => !isMask(t) && bitsOf(t) === 64),
    valueType: result,
    hasMask: results.includes('mask'),
    /** The core's function that gives the mask. */
    maskFunction: result === undefined ? name : `${name}_mask`,
    isSlow: SLOW.test(name),
    countsLanes: /^v_mbcnt/.test(name),
    isMove,
    isPlainMove: name === 'v_mov_b32',
    /** Nothing is to be known of the result: it is no float, and no source that may be one. */
    isInteger: !isMove && !isFloat(result),
    /** A NaN among the f32 sources is seen as one, whatever its payload. */
    showsNan: result === 'f32' || result === undefined || result === 'i32' || result === 'u32',
    carriesNan: CARRIES_NAN.test(name),
    isProductAndSum: PRODUCT_AND_SUM.test(name),
  }
})
export const isWide = ({ operation }: Step): boolean => factsOf(operation).isWide
export const valueType = ({ operation }: Step): OperandType | undefined => factsOf(operation).valueType
export const hasMask = ({ operation }: Step): boolean => factsOf(operation).hasMask

/** Rows that a lane operation reads; its destination, too, where parts of that may stay what they are. */
export function rowsRead(step: Step): number[] {
  const types = step.operation.shape.sources
  const rows: number[] = []
  for (let slot = 0; slot < types.length; slot++) {
    const type = types[slot]!
    if (isMask(type) || step.mods.kinds[slot] !== KIND_VECTOR) continue
    const first = step.sources[slot]!
    rows.push(first)
    for (let i = 1; i < dwordsOf(type); i++) rows.push(first + i * ROW_BYTES)
  }
  if (isSdwa(step) || isDpp(step)) rows.push(step.dst)
  return rows
}

/** Locals of a function under construction. */
export interface FunctionLocals extends Locals {
  /** A local of its own. */
  local(type: number): number
  /** A local that nothing has used before: it keeps its value around a loop whose body is written already. */
  fresh(type: number): number
  /** Frees the temporaries: an instruction is done. */
  reset(): void
  /** Frees `local`s too: a block of a loop is done. */
  endBlock(): void
  /** What was taken as `local` so far lives on behind the end of blocks. */
  keep(): void
}

/** What a loop is written with. */
export interface LaneContext {
  readonly kernels: Kernels
  readonly locals: FunctionLocals
  /** Local of the wave's address. */
  readonly wave: number
  /** The local that holds a row of a chunk, where rows are not loaded from the wave. */
  readonly carried?: (chunk: number, at: number) => number
  /** Whether a carried row stays the same for all of the loop: it is tested before. */
  readonly constant?: (at: number) => boolean
  /** Rows (offsets in the wave block) that are grained in every active lane. */
  readonly grained: ReadonlySet<number>
  /** Constants that kernels take from locals; a run loads them. */
  readonly pool?: ReadonlyMap<VectorConstant, number>
  /** Takes scalars that are taken to be at least 2^-102; whoever gives it tests them. */
  readonly large?: Set<Value>
}

/** Appends the test that a value is zero or not too small; the least of them is kept in a local. */
export function watchSmall(code: Code, small: number, value: Argument): void {
  code.get(small)
  pushArgument(code, value)
  pushArgument(code, value)
  code.simd(SIMD.i32x4Add).v128(-1).simd(SIMD.i32x4Add).simd(SIMD.i32x4MinU).set(small)
}

/** Operations that take long while the next instructions have nothing else to do: two chunks at a time keep the machine busy. */
export const SLOW = /^v_(rcp|rsq|sqrt|exp|log|sin|cos|div|fma_f64|mul_f64|add_f64)/

export const VCC_OFFSET = scalarOffset(VCC_LO)
export const EXEC_OFFSET = scalarOffset(EXEC_LO)

/** Offset in the wave block of the scalar pair that takes the mask. */
export const maskOffset = (step: Step): number => scalarOffset(step.mods.sdst)

/** Makes lanes of all ones and of zeros of the low four bits of the i32 on the stack. */
export function pushLanes(code: Code): Code {
  return code.simd(SIMD.i32x4Splat).v128(1, 2, 4, 8).simd(SIMD.and).v128(1, 2, 4, 8).simd(SIMD.i32x4Eq)
}
