/** Loads of less than a dword, by what stands at the end of their names. */
import { OP, SIMD } from './wasm.ts'

/** How a load of less than a dword is written: for one lane, and for four lanes side by side with what makes dwords of them. */
export interface SmallLoad {
  readonly bytes: 1 | 2
  readonly one: number
  readonly four: number
  readonly extend: readonly number[]
}
export const SMALL_LOADS: Readonly<Record<string, SmallLoad>> = {
  ubyte: { bytes: 1, one: OP.i32Load8U, four: SIMD.load32Zero, extend: [SIMD.i16x8ExtendLowU, SIMD.i32x4ExtendLowU] },
  sbyte: { bytes: 1, one: OP.i32Load8S, four: SIMD.load32Zero, extend: [SIMD.i16x8ExtendLowS, SIMD.i32x4ExtendLowS] },
  ushort: { bytes: 2, one: OP.i32Load16U, four: SIMD.load16x4U, extend: [] },
  sshort: { bytes: 2, one: OP.i32Load16S, four: SIMD.load16x4S, extend: [] },
}
