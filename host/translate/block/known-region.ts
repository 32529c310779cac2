/** The region of guest memory that an access hit last: whether lanes are in it, and where that is on the host. */

import { REGION_BASE, REGION_FLAGS, REGION_HOST, REGION_SIZE } from '../../plan/layout.ts'
import type { Step } from '../code/graph.ts'
import { type Code, I64, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { unalignedBits } from './accesses.ts'
import type { FunctionLocals } from './lane-values.ts'
import { pushRecord } from './scalars.ts'

/** Bit of a region's flags: it may be written. */
export const WRITABLE = 1

/** An access of lanes. */
export interface Access {
  readonly step: Step
  /** How much a lane touches. */
  readonly bytes: number
  readonly writes: boolean
  /** Of buffer accesses the i64 local of what is added to the addresses, and that makes them ones of 48 bits. */
  readonly origin?: number | undefined
}

/** Pushes a dword of the addresses of four lanes. */
export type PushRow = (dword: 0 | 1) => void

export class KnownRegion {
  /** In all lanes: the dwords of the base, less the origin; the offset of the first access that is not inside any more (0 while nothing is known), and the base on the host. */
  readonly #low: number
  readonly #high: number
  readonly #end: number
  readonly #host: number

  constructor(
    private readonly locals: FunctionLocals,
    readonly access: Access,
  ) {
    this.#low = locals.fresh(V128)
    this.#high = locals.fresh(V128)
    this.#end = locals.fresh(V128)
    this.#host = locals.fresh(V128)
  }

  /** Appends that nothing is known yet. Lanes that are off load from the start of the region, which is then at the host's address 0. */
  forget(code: Code): void {
    code.v128(0).tee(this.#end).set(this.#host)
  }

  /**
   * Appends the test whether four lanes are inside, and what to do where not all that are active are; returns the local of their host addresses.
   * @param active local of the lanes that are active
   * @param otherwise appends code that does not come back, or that makes the region known which they are in; it has the lanes that are outside in a local
   */
  locate(code: Code, row: PushRow, active: number, otherwise: (outside: number, test: () => void) => void): number {
    const places = this.locals.local(V128)
    const outside = this.locals.temporary(V128)
    const test = () => {
      row(0)
      code.get(this.#low).simd(SIMD.i32x4Sub).tee(places).get(this.#end).simd(SIMD.i32x4GeU)
      if (this.access.origin === undefined) {
        row(1)
        code.get(this.#high).simd(SIMD.xor)
      } else this.#pushApart(code, row, places)
      code.simd(SIMD.or).get(active).simd(SIMD.and).tee(outside).simd(SIMD.anyTrue)
    }
    test()
    code.block(OP.if)
    otherwise(outside, test)
    code.end()
    code.get(places).get(active).simd(SIMD.and).get(this.#host).simd(SIMD.i32x4Add).set(places)
    return places
  }

  /** Pushes lanes that are not zero where an address, of 48 bits, is 4 GiB or more from the base, or where not all of its bits count. */
  #pushApart(code: Code, row: PushRow, places: number): void {
    row(1)
    code.get(this.#high).simd(SIMD.i32x4Sub)
    row(0)
    code.get(this.#low).simd(SIMD.i32x4LtU).simd(SIMD.i32x4Add).i32(16).simd(SIMD.i32x4Shl)
    const unaligned = unalignedBits(this.access.bytes)
    if (unaligned > 0) code.get(places).v128(unaligned).simd(SIMD.and).simd(SIMD.or)
  }

  /** Pushes host addresses where it is known that all lanes are inside: of those whose low dwords are on the stack. */
  pushPlaces(code: Code): void {
    code.get(this.#low).simd(SIMD.i32x4Sub).get(this.#host).simd(SIMD.i32x4Add)
  }

  /** Appends that a region is known. @param pointer local of its place in the table; @param fail the label, so far away, where control goes if that is none for such accesses */
  learn(code: Code, pointer: number, fail: number): void {
    const { bytes, writes, origin } = this.access
    const field = (offset: number) => code.get(pointer).memory(OP.i32Load, offset)
    if (writes) field(REGION_FLAGS).i32(WRITABLE).op(OP.i32And, OP.i32Eqz, OP.brIf).u32(fail)
    if (origin === undefined) {
      // base + size - 1 must not go beyond 4 GiB of the same high dword.
      field(REGION_BASE)
      field(REGION_SIZE).op(OP.i32Add).i32(-1).op(OP.i32Add)
      field(REGION_BASE).op(OP.i32LtU, OP.brIf).u32(fail)
    } else if (unalignedBits(bytes) > 0) {
      // Bits that do not count are told by how far addresses are from the base.
      field(REGION_BASE).i32(unalignedBits(bytes)).op(OP.i32And, OP.brIf).u32(fail)
    }
    field(REGION_SIZE).i32(bytes).op(OP.i32LtU, OP.brIf).u32(fail)
    this.recall(code, pointer)
  }

  /** The same of a region that was learnt before. */
  recall(code: Code, pointer: number): void {
    const { origin } = this.access
    const splat = (offset: number) => code.get(pointer).memory(OP.i32Load, offset)
    if (origin === undefined) {
      splat(REGION_BASE).simd(SIMD.i32x4Splat).set(this.#low)
      splat(REGION_BASE + 4)
        .simd(SIMD.i32x4Splat)
        .set(this.#high)
    } else {
      const base = this.locals.temporary(I64)
      code.get(pointer).memory(OP.i64Load, REGION_BASE).get(origin).op(OP.i64Sub).tee(base)
      code.op(OP.i32WrapI64).simd(SIMD.i32x4Splat).set(this.#low)
      code.get(base).i64(32n).op(OP.i64ShrU, OP.i32WrapI64).simd(SIMD.i32x4Splat).set(this.#high)
    }
    splat(REGION_SIZE)
      .i32(this.access.bytes - 1)
      .op(OP.i32Sub)
      .simd(SIMD.i32x4Splat)
      .set(this.#end)
    splat(REGION_HOST).simd(SIMD.i32x4Splat).set(this.#host)
  }
}

/** Sets a local to the address of the first lane that is outside. */
export function firstOutside(code: Code, row: PushRow, outside: number, address: number, locals: FunctionLocals): void {
  const lane = locals.temporary(V128)
  // Its bytes, for a swizzle.
  code.get(outside).v128(0).simd(SIMD.i32x4Ne).simd(SIMD.i32x4Bitmask).op(OP.i32Ctz)
  code.i32(0x04040404).op(OP.i32Mul).i32(0x03020100).op(OP.i32Add).simd(SIMD.i32x4Splat).set(lane)
  const dword = (n: 0 | 1) => {
    row(n)
    return code.get(lane).simd(SIMD.swizzle).simd(SIMD.i32x4ExtractLane).op(0).op(OP.i64ExtendI32U)
  }
  dword(1).i64(32n).op(OP.i64Shl)
  dword(0).op(OP.i64Or).set(address)
}

/** Looks the region up in which an address (i64 local) lies; where there is none, control goes to the label that is `depth` away. */
export function findRegion(
  code: Code,
  { locals, wave }: { readonly locals: FunctionLocals; readonly wave: number },
  step: Step,
  address: number,
  region: number,
  depth: number,
): void {
  pushRecord(code, step, locals)
  code.get(wave).get(address).op(OP.call).u32(locals.functionImport('regionOf')).tee(region)
  code.op(OP.i32Eqz, OP.brIf).u32(depth)
}
