/** Stores of runs: what rows hold goes to memory when the run's loop is done, in the order of the lanes. */
import { EXEC_LO, scalarOffset } from '../../plan/layout.ts'
import { type Code, I32, I64, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { pairs, pushApart, pushPlace, transpose } from './gather.ts'
import { CHUNK_BYTES, type FunctionLocals, ROW_BYTES } from './lane-values.ts'

/** What each lane stores in one piece. */
export interface Element {
  /** Row of the first dword. */
  readonly data: number
  readonly bytes: number
  /** From the lane's address. */
  readonly offset: number
}

/** Rows from one on. */
export const rowsFrom = (at: number, count: number): number[] => Array.from({ length: count }, (_, i) => at + i * ROW_BYTES)
/** Rows that an element is of. */
export const dataRows = ({ data, bytes }: Element): number[] => rowsFrom(data, Math.ceil(bytes / 4))

/**
 * Appends a store of the active lanes, all of them known to be inside.
 * @param elements what each lane stores, one behind the other
 * @param wave local of the wave's address
 * @param pushPlaces turns a chunk of the row of addresses into host addresses; it has the local of the wave's address, plus how far the chunk is in a row
 * @param inside local of the lanes that store at all, which that sets
 */
export function storeRows(
  code: Code,
  elements: readonly Element[],
  address: number,
  { locals, wave }: { readonly locals: FunctionLocals; readonly wave: number },
  pushPlaces: (base: number) => void,
  inside?: number,
): void {
  const [exec, active, base] = [locals.local(I64), locals.local(I32), locals.local(I32)]
  const places = locals.local(V128)
  const words = elements.map((element) => dataRows(element).map((at) => [at, locals.local(V128)] as const))
  const localsOf = (n: number) => words[n]!.map(([, local]) => local)
  const storeOne = (lane: number) => {
    for (const [n, { bytes, offset }] of elements.entries())
      storeLane(() => pushPlace(code, places, lane), lane, localsOf(n), bytes, offset)
  }
  const [element] = elements as readonly [Element]
  // The compiler would make the constant anew in each turn.
  const steps = locals.local(V128)
  if (elements.length === 1 && element.bytes === 4) code.v128(0, 4, 8, 12).set(steps)
  code.get(wave).memory(OP.i64Load, scalarOffset(EXEC_LO)).set(exec).get(wave).set(base)
  code.block(OP.block).block(OP.loop).get(exec).op(OP.i64Eqz, OP.brIf).u32(1)
  for (const [at, local] of words.flat()) code.get(base).simdMemory(SIMD.load, at).set(local)
  code.get(base).simdMemory(SIMD.load, address)
  pushPlaces(base)
  code.set(places)
  code.get(exec).op(OP.i32WrapI64).i32(15).op(OP.i32And)
  if (inside !== undefined) code.get(inside).simd(SIMD.i32x4Bitmask).op(OP.i32And)
  code.tee(active).i32(15).op(OP.i32Eq).block(OP.if)
  if (elements.length === 1) storeLanes(code, places, localsOf(0), element, steps, locals)
  else for (const lane of [0, 1, 2, 3]) storeOne(lane)
  code.op(OP.else)
  eachActive(code, active, storeOne)
  code.end()
  code.get(exec).i64(4n).op(OP.i64ShrU).set(exec)
  code.get(base).i32(CHUNK_BYTES).op(OP.i32Add).set(base).op(OP.br).u32(0).end().end()
}

/**
 * Stores one to four dwords of each of four lanes, all active: in ascending order, so that of two at one place the higher lane's stays.
 * @param data locals of the dwords
 * @param steps local of how far dwords side by side are from the first one
 */
function storeLanes(
  code: Code,
  lanes: number,
  data: readonly number[],
  { bytes, offset }: Element,
  steps: number,
  locals: FunctionLocals,
): void {
  const [x, y] = data as [number, number]
  if (bytes === 4) {
    const first = locals.local(I32)
    pushPlace(code, lanes, 0).set(first)
    pushApart(code, lanes, first).get(steps).simd(SIMD.xor).simd(SIMD.anyTrue).op(OP.i32Eqz).block(OP.if)
    code.get(first).get(x).simdMemory(SIMD.store, offset).op(OP.else)
    for (const lane of [0, 1, 2, 3]) storeLane(() => pushPlace(code, lanes, lane), lane, data, bytes, offset)
    code.end()
  } else if (bytes === 8) {
    const halves = pairs(locals)
    for (const [n, half] of halves.entries()) {
      code.get(x).get(y)
      code.shuffleDwords([2 * n, 2 * n + 4, 2 * n + 1, 2 * n + 5])
      code.set(half)
    }
    for (const lane of [0, 1, 2, 3])
      pushPlace(code, lanes, lane)
        .get(halves[lane >> 1]!)
        .simdMemory(SIMD.store64Lane, offset)
        .op(lane & 1)
  } else if (bytes === 16) {
    const rows = data.map(() => locals.local(V128))
    transpose(code, data, rows, locals)
    for (const [lane, row] of rows.entries()) pushPlace(code, lanes, lane).get(row).simdMemory(SIMD.store, offset)
  } else for (const lane of [0, 1, 2, 3]) storeLane(() => pushPlace(code, lanes, lane), lane, data, bytes, offset)
}

/** Appends what is done for each active one of four lanes, in ascending order. @param active local of their bits */
export function eachActive(code: Code, active: number, append: (lane: number) => void): void {
  for (const lane of [0, 1, 2, 3]) {
    code
      .get(active)
      .i32(1 << lane)
      .op(OP.i32And)
      .block(OP.if)
    append(lane)
    code.end()
  }
}

/** Stores what one lane has. @param push pushes where */
export function storeLane(push: () => Code, lane: number, data: readonly number[], bytes: number, offset: number): void {
  // Less than a dword: the number of the part that is lowest in the lane.
  const [opcode, part] = bytes === 1 ? [SIMD.store8Lane, 4 * lane] : bytes === 2 ? [SIMD.store16Lane, 2 * lane] : [SIMD.store32Lane, lane]
  for (const [n, local] of data.entries())
    push()
      .get(local)
      .simdMemory(opcode, offset + 4 * n)
      .op(part)
}
