/** Loads of four lanes from four places. */
import { vectorConstant } from '../wasm/kernels.ts'
import { type Code, I32, OP, SIMD, V128 } from '../wasm/wasm.ts'
import type { FunctionLocals } from './lane-values.ts'

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

/**
 * Loads one to four dwords, or what becomes one, for each of four lanes: of dwords side by side and of equal places all at once.
 * @param lanes local of their host addresses
 * @returns locals of the results
 */
export function loadLanes(code: Code, dwords: number, small: SmallLoad | undefined, lanes: number, locals: FunctionLocals): number[] {
  const results = Array.from({ length: dwords }, () => locals.local(V128))
  const [result] = results as [number]
  const first = locals.local(I32)
  const firstLane = () => code.get(lanes).simd(SIMD.i32x4ExtractLane).op(0).set(first)
  if (small) {
    firstLane()
    pushApart(code, lanes, first)
    pushSteps(code, small.bytes, locals).simd(SIMD.xor).simd(SIMD.anyTrue).op(OP.i32Eqz).block(OP.if)
    code.get(first).simdMemory(small.four, 0)
    for (const extend of small.extend) code.simd(extend)
    code.set(result).op(OP.else)
    gatherSmall(code, small, lanes, 0, result)
    code.end()
  } else if (dwords === 1) {
    const apart = locals.local(V128)
    firstLane()
    pushApart(code, lanes, first).tee(apart)
    pushSteps(code, 4, locals).simd(SIMD.xor).simd(SIMD.anyTrue).op(OP.i32Eqz).block(OP.if)
    code.get(first).simdMemory(SIMD.load, 0).set(result).op(OP.else)
    code.get(apart).simd(SIMD.anyTrue).op(OP.i32Eqz).block(OP.if)
    code.get(first).simdMemory(SIMD.load32Splat, 0).set(result).op(OP.else)
    gatherDwords(code, lanes, first, 0, result)
    code.end().end()
  } else if (dwords === 4) {
    const rows = [0, 1, 2, 3].map((lane) => {
      const row = locals.local(V128)
      pushPlace(code, lanes, lane).simdMemory(SIMD.load, 0).set(row)
      return row
    })
    transpose(code, rows, results, locals)
  } else {
    const [low, high] = pairs(locals)
    for (const [n, half] of [low, high].entries()) {
      pushPlace(code, lanes, 2 * n)
        .simdMemory(SIMD.load64Zero, 0)
        .set(half)
      pushPlace(code, lanes, 2 * n + 1)
        .get(half)
        .simdMemory(SIMD.load64Lane, 0)
        .op(1)
        .set(half)
    }
    for (const [n, result] of results.slice(0, 2).entries()) {
      code.get(low).get(high)
      code.shuffleDwords([n, n + 2, n + 4, n + 6])
      code.set(result)
    }
    if (dwords === 3) {
      firstLane()
      gatherDwords(code, lanes, first, 8, results[2]!)
    }
  }
  return results
}

export const pushPlace = (code: Code, lanes: number, lane: number): Code => code.get(lanes).simd(SIMD.i32x4ExtractLane).op(lane)
/** Pushes how far lanes are from the first one. */
export const pushApart = (code: Code, lanes: number, first: number): Code =>
  code.get(lanes).get(first).simd(SIMD.i32x4Splat).simd(SIMD.i32x4Sub)
export const pairs = (locals: FunctionLocals): [number, number] => [locals.local(V128), locals.local(V128)]

/** How far elements side by side, of so many bytes, are from the first one: dwords of a vector. */
const STEPS = new Map(
  [1, 2, 4].map((bytes) => [bytes, vectorConstant(Uint8Array.from({ length: 16 }, (_, i) => (i % 4 === 0 ? bytes * (i >> 2) : 0)))]),
)
function pushSteps(code: Code, bytes: number, locals: FunctionLocals): Code {
  const local = locals.pooled?.(STEPS.get(bytes)!)
  return local === undefined ? code.v128(0, bytes, 2 * bytes, 3 * bytes) : code.get(local)
}

/** Makes columns of four rows: first dwords of two rows alternating, then halves of two such. */
export function transpose(code: Code, rows: readonly number[], columns: readonly number[], locals: FunctionLocals): void {
  const mix = (a: number, b: number, lanes: readonly number[], to = locals.local(V128)) => {
    code.get(a).get(b)
    code.shuffleDwords(lanes)
    code.set(to)
    return to
  }
  const [a, b, c, d] = rows as [number, number, number, number]
  for (const [n, lanes] of [LOW_MIXED, HIGH_MIXED].entries()) {
    const [ab, cd] = [mix(a, b, lanes), mix(c, d, lanes)]
    mix(ab, cd, [0, 1, 4, 5], columns[2 * n]!)
    mix(ab, cd, [2, 3, 6, 7], columns[2 * n + 1]!)
  }
}
const LOW_MIXED = [0, 4, 1, 5]
const HIGH_MIXED = [2, 6, 3, 7]
