/**
 * What stands around the operation of a vector instruction, as code for four lanes: parts of registers (SDWA), values of other lanes (DPP), omod
 * and clamp. Knows no operation and no EXEC.
 */
import { isFloat } from '../../isa/row.ts'
import { FLAG_DPP, FLAG_SDWA, KIND_VECTOR } from '../../plan/record.ts'
import type { Step } from '../code/graph.ts'
import { type Code, SIMD } from '../wasm/wasm.ts'

export const isSdwa = ({ flags }: Step): boolean => (flags & FLAG_SDWA) !== 0
export const isDpp = ({ flags }: Step): boolean => (flags & FLAG_DPP) !== 0
/** Whether there is anything around the operation but abs and neg. */
export const isStaged = (step: Step): boolean => isSdwa(step) || isDpp(step) || step.mods.omod !== 0 || step.mods.clamp !== 0

// --- SDWA

/** A byte or a word of a register: bits `low` to `low + bits - 1`. */
interface Part {
  readonly low: number
  readonly bits: 8 | 16
}
const WHOLE = 6
const partOf = (select: number): Part => (select < 4 ? { low: 8 * select, bits: 8 } : { low: 16 * (select - 4), bits: 16 })

/** The part of its register that a source is; undefined where it is all of it. */
export function sourcePart(step: Step, slot: number): (Part & { readonly signed: boolean }) | undefined {
  if (!isSdwa(step) || slot > 1 || step.mods.kinds[slot] !== KIND_VECTOR) return undefined
  const select = (step.imm >>> (5 + 4 * slot)) & 7
  return select >= WHOLE ? undefined : { ...partOf(select), signed: ((step.imm >>> (8 + 4 * slot)) & 1) !== 0 }
}

/** Whether both sources are the same part of their registers. */
export function isSamePart(step: Step): boolean {
  const [a, b] = [sourcePart(step, 0), sourcePart(step, 1)]
  return a?.low === b?.low && a?.bits === b?.bits && a?.signed === b?.signed
}

/** Takes a register from the stack and leaves a part of it. */
export function selectPart(code: Code, { low, bits, signed }: Part & { readonly signed: boolean }): void {
  // Shifting left drops what is above the part, shifting right brings it down.
  const above = 32 - bits - low
  if (above > 0) code.i32(above).simd(SIMD.i32x4Shl)
  code.i32(32 - bits).simd(signed ? SIMD.i32x4ShrS : SIMD.i32x4ShrU)
}

/** The part of its register that the result is written to, and what becomes of the rest; undefined where it is all of it. */
export function resultPart(step: Step): (Part & { readonly rest: 'zero' | 'sign' | 'kept' }) | undefined {
  const select = step.imm & 7
  if (!isSdwa(step) || select >= WHOLE) return undefined
  const unused = (step.imm >>> 3) & 3
  return { ...partOf(select), rest: unused === 1 ? 'sign' : unused === 2 ? 'kept' : 'zero' }
}

/** Takes a result from the stack and leaves what becomes of the register; `pushOld` pushes what it holds. */
export function placePart(code: Code, step: Step, pushOld: () => void): void {
  const { low, bits, rest } = resultPart(step)!
  const above = 32 - bits - low
  if (rest === 'kept') {
    if (low > 0) code.i32(low).simd(SIMD.i32x4Shl)
    pushOld()
    code.v128((bits === 8 ? 0xff : 0xffff) << low).simd(SIMD.bitselect)
    return
  }
  code.i32(32 - bits).simd(SIMD.i32x4Shl)
  if (rest === 'sign') {
    code.i32(32 - bits).simd(SIMD.i32x4ShrS)
    if (low > 0) code.i32(low).simd(SIMD.i32x4Shl)
  } else if (above > 0) code.i32(above).simd(SIMD.i32x4ShrU)
}

// --- DPP

/** Lanes among which those of the instructions here move, and the chunks that they are. */
const ROW_LANES = 16
export const DPP_CHUNKS = ROW_LANES / 4

/** The lane of its row of 16 that lane `lane` reads under a dpp_ctrl (GCN3 manual, table "DPP_CTRL"): undefined if there is none. */
function laneRead(control: number, lane: number): number | undefined {
  const count = control & 15
  if (control < 0x100) return (lane & ~3) | ((control >>> (2 * (lane & 3))) & 3)
  const from = control < 0x110 ? lane + count : control < 0x120 ? lane - count : undefined
  if (from !== undefined) return from >= 0 && from < ROW_LANES ? from : undefined
  if (control < 0x130) return (lane - count) & (ROW_LANES - 1) // row_ror
  return control === 0x140 ? ROW_LANES - 1 - lane : lane ^ 7 // row_mirror, row_half_mirror
}

const controlOf = ({ imm }: Step): number => imm & 0x1ff
/** Lanes whose source lane is not there or switched off read zero; else they keep what they have. */
export const isBound = ({ imm }: Step): boolean => ((imm >>> 9) & 1) !== 0
/** Whether a chunk of each row of lanes is written at all. */
export const writesBank = ({ imm }: Step, chunk: number): boolean => ((imm >>> (10 + chunk)) & 1) !== 0
/** Bit by bit, which rows of lanes are written. */
export const rowMask = ({ imm }: Step): number => (imm >>> 14) & 15

/** Whether lanes move within rows of 16. */
export function staysInRow(step: Step): boolean {
  const control = controlOf(step)
  return control < 0x100 || (control < 0x130 && (control & 15) !== 0) || control === 0x140 || control === 0x141
}

/** Pushes what chunk `index` of a row of lanes reads of the four; zero where a source lane does not exist. */
export function pushMoved(code: Code, step: Step, chunks: readonly number[], index: number): void {
  const from = [0, 1, 2, 3].map((lane) => laneRead(controlOf(step), 4 * index + lane))
  const chunkOf = (lane: number | undefined) => (lane === undefined ? -1 : lane >> 2)
  // At most two: neighbours, or one and none.
  const sources = [...new Set(from.map(chunkOf))]
  for (const i of [0, sources.length - 1]) {
    const chunk = sources[i]!
    if (chunk < 0) code.v128(0)
    else code.get(chunks[chunk]!)
  }
  code.shuffleDwords(from.map((lane) => 4 * sources.indexOf(chunkOf(lane)) + ((lane ?? 0) & 3)))
}

// --- omod and clamp

/**
 * What they do to a float result, as the core's `finish…` functions take it: omod in 1:0, clamp in 2. OMOD counts where denormal results are
 * flushed, and not with IEEE set.
 */
export function finishOf({ mods, operation, modes }: Step): number {
  const type = operation.shape.results.find((r) => r !== 'mask')
  if (!isFloat(type)) return 0
  const scales = (type === 'f32' ? modes.flushResults32 : modes.flush64) && !modes.ieee
  return (scales ? mods.omod : 0) | (mods.clamp << 2)
}

/** What omod multiplies by, as the bits of an f32. */
const FACTORS = [0x3f800000, 0x40000000, 0x40800000, 0x3f000000] as const
const ONE = 0x3f800000

/** Pushes f32 results, numbers, behind omod and clamp, not flushed. Of a NaN clamp makes +0. */
export function pushFinished(code: Code, finish: number, result: number): void {
  // Of two that are equal these choose the first one, so −0 becomes +0; and where one is NaN, too.
  if (finish & 4) code.v128(ONE).v128(0)
  code.get(result)
  if (finish & 3) code.v128(FACTORS[finish & 3]!).simd(SIMD.f32x4Mul)
  if (finish & 4) code.simd(SIMD.f32x4Pmax).simd(SIMD.f32x4Pmin)
}
