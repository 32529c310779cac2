/** Loads of four lanes from four places. */
import { type Code, OP, SIMD } from './wasm.ts'

/** How a load of less than a dword is written: for one lane, and for four lanes side by side with what makes dwords of them. */
export interface SmallLoad {
  readonly bytes: 1 | 2
  readonly one: number
  readonly four: number
  readonly extend: readonly number[]
}
/** Loads of less than a dword, by what stands at the end of their names. */
export const SMALL_LOADS: Readonly<Record<string, SmallLoad>> = {
  ubyte: { bytes: 1, one: OP.i32Load8U, four: SIMD.load32Zero, extend: [SIMD.i16x8ExtendLowU, SIMD.i32x4ExtendLowU] },
  sbyte: { bytes: 1, one: OP.i32Load8S, four: SIMD.load32Zero, extend: [SIMD.i16x8ExtendLowS, SIMD.i32x4ExtendLowS] },
  ushort: { bytes: 2, one: OP.i32Load16U, four: SIMD.load16x4U, extend: [] },
  sshort: { bytes: 2, one: OP.i32Load16S, four: SIMD.load16x4S, extend: [] },
}

/**
 * Loads a dword for each of four lanes.
 * @param lanes local of their host addresses
 * @param first local of the first lane's
 */
export function gatherDwords(code: Code, lanes: number, first: number, offset: number, result: number): void {
  code.get(first).simdMemory(SIMD.load32Zero, offset).set(result)
  for (const lane of [1, 2, 3])
    code.get(lanes).simd(SIMD.i32x4ExtractLane).op(lane).get(result).simdMemory(SIMD.load32Lane, offset).op(lane).set(result)
}
/** The same of less than a dword. */
export function gatherSmall(code: Code, { one }: SmallLoad, lanes: number, offset: number, result: number): void {
  for (const lane of [0, 1, 2, 3]) {
    code.get(lanes).simd(SIMD.i32x4ExtractLane).op(lane).memory(one, offset)
    if (lane === 0) code.simd(SIMD.i32x4Splat)
    else code.simd(SIMD.i32x4ReplaceLane).op(lane)
  }
  code.set(result)
}
