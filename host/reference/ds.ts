/** LDS and GDS operations (GCN3 manual, chapter "Data Share"). Addresses count bytes; address plus offset wraps at 32 bits. */
import { FaultCode } from '../engine.ts'
import { MACHINE_GDS, MACHINE_GDS_BYTES } from '../plan/layout.ts'
import type { PlanRecord } from '../plan/plan.ts'
import * as atomics from './atomics.ts'
import { Fault } from './fault.ts'
import { checkAligned, locateGds, locateLds, type Place, read, write } from './memory.ts'
import { readLane, writeLane } from './registers.ts'
import type { WaveFunction } from './scalar.ts'
import { located } from './vector-memory.ts'
import type { Wave } from './wave.ts'

const IMM_GDS = 1 << 16
const isGds = (r: PlanRecord): boolean => (r.imm & IMM_GDS) !== 0
const offset0 = (r: PlanRecord): number => r.imm & 0xff
const offset1 = (r: PlanRecord): number => (r.imm >>> 8) & 0xff
/** The 16-bit offset of instructions with one address. */
const offset16 = (r: PlanRecord): number => r.imm & 0xffff

const addr = (w: Wave, r: PlanRecord, lane: number): number => w.vgpr(w.vgprOf(r.sources[0]), lane)
const data0 = (w: Wave, r: PlanRecord, lane: number, dwords: number): bigint => readLane(w, w.vgprOf(r.sources[1]), lane, dwords)
const data1 = (w: Wave, r: PlanRecord, lane: number, dwords: number): bigint => readLane(w, w.vgprOf(r.sources[2]), lane, dwords)
const result = (w: Wave, r: PlanRecord, lane: number, dwords: number, value: bigint): void =>
  writeLane(w, w.vgprOf(r.dst), lane, dwords, value)

interface Options {
  /** Misaligned addresses are faults; known only after the access is known to be within bounds. */
  readonly atomic: boolean
}
const PLAIN: Options = { atomic: false }
const ATOMIC: Options = { atomic: true }

/** Place of one lane's access. */
const place = (w: Wave, r: PlanRecord, address: number, bytes: number, lane: number, { atomic }: Options): Place =>
  isGds(r) ? locateGds(w, address >>> 0, bytes, lane, atomic) : locateLds(w, address >>> 0, bytes, w.m0, lane, atomic)

/** Instructions with one address of `bytes` bytes. */
const one =
  (bytes: number, options: Options, perform: (w: Wave, r: PlanRecord, at: Place, lane: number) => void): WaveFunction =>
  (w, r) =>
    located(
      w,
      (lane) => place(w, r, addr(w, r, lane) + offset16(r), bytes, lane, options),
      (at, lane) => perform(w, r, at, lane),
    )

/** Instructions with two addresses: the offsets count elements (`stride` 1) or 64 elements. */
const two =
  (
    bytes: number,
    stride: 1 | 64,
    options: Options,
    perform: (w: Wave, r: PlanRecord, at: readonly [Place, Place], lane: number) => void,
  ): WaveFunction =>
  (w, r) =>
    located(
      w,
      (lane) => {
        const base = addr(w, r, lane)
        const at = (offset: number) => place(w, r, base + offset * stride * bytes, bytes, lane, options)
        return [at(offset0(r)), at(offset1(r))] as const
      },
      (both, lane) => perform(w, r, both, lane),
    )

// --- reads and writes

const load = (bytes: number, extend: (value: bigint) => bigint = (value) => value): WaveFunction =>
  one(bytes, PLAIN, (w, r, at, lane) => result(w, r, lane, Math.max(1, bytes / 4), extend(read(w, at, bytes))))
const load2 = (bytes: number, stride: 1 | 64): WaveFunction =>
  two(bytes, stride, PLAIN, (w, r, [first, second], lane) =>
    result(w, r, lane, bytes / 2, read(w, first, bytes) | (read(w, second, bytes) << BigInt(bytes * 8))),
  )
const store = (bytes: number): WaveFunction =>
  one(bytes, PLAIN, (w, r, at, lane) => write(w, at, bytes, data0(w, r, lane, Math.max(1, bytes / 4))))
/** Where both addresses are one, the first data stays (GCN3 manual, DS_WRITE2). */
const store2 = (bytes: number, stride: 1 | 64): WaveFunction =>
  two(bytes, stride, PLAIN, (w, r, [first, second], lane) => {
    write(w, second, bytes, data1(w, r, lane, bytes / 4))
    write(w, first, bytes, data0(w, r, lane, bytes / 4))
  })

const wideLoad = (dwords: 3 | 4): WaveFunction =>
  one(dwords * 4, PLAIN, (w, r, at, lane) => {
    for (let k = 0; k < dwords; k++) w.setVgpr(w.vgprOf(r.dst) + k, lane, at === undefined ? 0 : w.word(at + k * 4))
  })
const wideStore = (dwords: 3 | 4): WaveFunction =>
  one(dwords * 4, PLAIN, (w, r, at, lane) => {
    if (at === undefined) return
    for (let k = 0; k < dwords; k++) write(w, at + k * 4, 4, BigInt(w.vgpr(w.vgprOf(r.sources[1]) + k, lane)))
  })

export const ds_read_b32 = load(4)
export const ds_read_b64 = load(8)
export const ds_read_u8 = load(1)
export const ds_read_u16 = load(2)
export const ds_read_i8 = load(1, (value) => BigInt.asIntN(8, value))
export const ds_read_i16 = load(2, (value) => BigInt.asIntN(16, value))
export const ds_read_b96 = wideLoad(3)
export const ds_read_b128 = wideLoad(4)
export const ds_read2_b32 = load2(4, 1)
export const ds_read2st64_b32 = load2(4, 64)
export const ds_read2_b64 = load2(8, 1)
export const ds_read2st64_b64 = load2(8, 64)

export const ds_write_b8 = store(1)
export const ds_write_b16 = store(2)
export const ds_write_b32 = store(4)
export const ds_write_b64 = store(8)
export const ds_write_b96 = wideStore(3)
export const ds_write_b128 = wideStore(4)
export const ds_write2_b32 = store2(4, 1)
export const ds_write2st64_b32 = store2(4, 64)
export const ds_write2_b64 = store2(8, 1)
export const ds_write2st64_b64 = store2(8, 64)

// --- atomics

/** MEM = f(MEM, data0); the old value comes back where `returns`. */
const atomic = (f: atomics.Atomic, width: 32 | 64, returns = false): WaveFunction =>
  one(width / 8, ATOMIC, (w, r, at, lane) => {
    const old = read(w, at, width / 8)
    write(w, at, width / 8, f(old, data0(w, r, lane, width / 32), width, 0n))
    if (returns) result(w, r, lane, width / 32, old)
  })
/** The same with data1 as second operand. */
const atomic2 = (f: atomics.Atomic, width: 32 | 64, returns = false): WaveFunction =>
  one(width / 8, ATOMIC, (w, r, at, lane) => {
    const old = read(w, at, width / 8)
    write(w, at, width / 8, f(old, data0(w, r, lane, width / 32), width, data1(w, r, lane, width / 32)))
    if (returns) result(w, r, lane, width / 32, old)
  })
/** LDS compares with data0 and stores data1; memory atomics have them the other way round. */
const swapped =
  (f: atomics.Atomic): atomics.Atomic =>
  (old, compared, width, stored) =>
    f(old, stored, width, compared)
const exchange2 = (width: 32 | 64, stride: 1 | 64): WaveFunction =>
  two(width / 8, stride, ATOMIC, (w, r, [first, second], lane) => {
    const bytes = width / 8
    const old = read(w, first, bytes) | (read(w, second, bytes) << BigInt(width))
    write(w, second, bytes, data1(w, r, lane, width / 32))
    write(w, first, bytes, data0(w, r, lane, width / 32))
    result(w, r, lane, width / 16, old)
  })

export const ds_add_u32 = atomic(atomics.sum, 32)
export const ds_sub_u32 = atomic(atomics.difference, 32)
export const ds_rsub_u32 = atomic(atomics.reversedDifference, 32)
export const ds_inc_u32 = atomic(atomics.increment, 32)
export const ds_dec_u32 = atomic(atomics.decrement, 32)
export const ds_min_i32 = atomic(atomics.minSigned, 32)
export const ds_max_i32 = atomic(atomics.maxSigned, 32)
export const ds_min_u32 = atomic(atomics.minUnsigned, 32)
export const ds_max_u32 = atomic(atomics.maxUnsigned, 32)
export const ds_and_b32 = atomic(atomics.and, 32)
export const ds_or_b32 = atomic(atomics.or, 32)
export const ds_xor_b32 = atomic(atomics.xor, 32)
export const ds_min_f32 = atomic(atomics.minFloat, 32)
export const ds_max_f32 = atomic(atomics.maxFloat, 32)
export const ds_mskor_b32 = atomic2(atomics.masked, 32)
export const ds_cmpst_b32 = atomic2(swapped(atomics.compareSwap), 32)
export const ds_cmpst_f32 = atomic2(swapped(atomics.compareSwapFloat), 32)
export const ds_add_u64 = atomic(atomics.sum, 64)
export const ds_sub_u64 = atomic(atomics.difference, 64)
export const ds_rsub_u64 = atomic(atomics.reversedDifference, 64)
export const ds_inc_u64 = atomic(atomics.increment, 64)
export const ds_dec_u64 = atomic(atomics.decrement, 64)
export const ds_min_i64 = atomic(atomics.minSigned, 64)
export const ds_max_i64 = atomic(atomics.maxSigned, 64)
export const ds_min_u64 = atomic(atomics.minUnsigned, 64)
export const ds_max_u64 = atomic(atomics.maxUnsigned, 64)
export const ds_and_b64 = atomic(atomics.and, 64)
export const ds_or_b64 = atomic(atomics.or, 64)
export const ds_xor_b64 = atomic(atomics.xor, 64)
export const ds_min_f64 = atomic(atomics.minFloat, 64)
export const ds_max_f64 = atomic(atomics.maxFloat, 64)
export const ds_mskor_b64 = atomic2(atomics.masked, 64)
export const ds_cmpst_b64 = atomic2(swapped(atomics.compareSwap), 64)
export const ds_cmpst_f64 = atomic2(swapped(atomics.compareSwapFloat), 64)
export const ds_add_f32 = atomic(atomics.sumFloat, 32)

export const ds_add_rtn_u32 = atomic(atomics.sum, 32, true)
export const ds_sub_rtn_u32 = atomic(atomics.difference, 32, true)
export const ds_rsub_rtn_u32 = atomic(atomics.reversedDifference, 32, true)
export const ds_inc_rtn_u32 = atomic(atomics.increment, 32, true)
export const ds_dec_rtn_u32 = atomic(atomics.decrement, 32, true)
export const ds_min_rtn_i32 = atomic(atomics.minSigned, 32, true)
export const ds_max_rtn_i32 = atomic(atomics.maxSigned, 32, true)
export const ds_min_rtn_u32 = atomic(atomics.minUnsigned, 32, true)
export const ds_max_rtn_u32 = atomic(atomics.maxUnsigned, 32, true)
export const ds_and_rtn_b32 = atomic(atomics.and, 32, true)
export const ds_or_rtn_b32 = atomic(atomics.or, 32, true)
export const ds_xor_rtn_b32 = atomic(atomics.xor, 32, true)
export const ds_min_rtn_f32 = atomic(atomics.minFloat, 32, true)
export const ds_max_rtn_f32 = atomic(atomics.maxFloat, 32, true)
export const ds_mskor_rtn_b32 = atomic2(atomics.masked, 32, true)
export const ds_cmpst_rtn_b32 = atomic2(swapped(atomics.compareSwap), 32, true)
export const ds_cmpst_rtn_f32 = atomic2(swapped(atomics.compareSwapFloat), 32, true)
export const ds_wrxchg_rtn_b32 = atomic(atomics.swap, 32, true)
export const ds_wrxchg2_rtn_b32 = exchange2(32, 1)
export const ds_wrxchg2st64_rtn_b32 = exchange2(32, 64)
export const ds_add_rtn_u64 = atomic(atomics.sum, 64, true)
export const ds_sub_rtn_u64 = atomic(atomics.difference, 64, true)
export const ds_rsub_rtn_u64 = atomic(atomics.reversedDifference, 64, true)
export const ds_inc_rtn_u64 = atomic(atomics.increment, 64, true)
export const ds_dec_rtn_u64 = atomic(atomics.decrement, 64, true)
export const ds_min_rtn_i64 = atomic(atomics.minSigned, 64, true)
export const ds_max_rtn_i64 = atomic(atomics.maxSigned, 64, true)
export const ds_min_rtn_u64 = atomic(atomics.minUnsigned, 64, true)
export const ds_max_rtn_u64 = atomic(atomics.maxUnsigned, 64, true)
export const ds_and_rtn_b64 = atomic(atomics.and, 64, true)
export const ds_or_rtn_b64 = atomic(atomics.or, 64, true)
export const ds_xor_rtn_b64 = atomic(atomics.xor, 64, true)
export const ds_min_rtn_f64 = atomic(atomics.minFloat, 64, true)
export const ds_max_rtn_f64 = atomic(atomics.maxFloat, 64, true)
export const ds_mskor_rtn_b64 = atomic2(atomics.masked, 64, true)
export const ds_cmpst_rtn_b64 = atomic2(swapped(atomics.compareSwap), 64, true)
export const ds_cmpst_rtn_f64 = atomic2(swapped(atomics.compareSwapFloat), 64, true)
export const ds_wrxchg_rtn_b64 = atomic(atomics.swap, 64, true)
export const ds_wrxchg2_rtn_b64 = exchange2(64, 1)
export const ds_wrxchg2st64_rtn_b64 = exchange2(64, 64)
export const ds_add_rtn_f32 = atomic(atomics.sumFloat, 32, true)
export const ds_wrap_rtn_b32 = atomic2(atomics.wrap, 32, true)

/** Each half of a 64-bit cell is replaced by its half of the data, less the top bit, where that top bit is set. */
export const ds_condxchg32_rtn_b64: WaveFunction = (w, r) =>
  located(
    w,
    (lane) => place(w, r, (addr(w, r, lane) + offset16(r)) & 0xfff8, 8, lane, ATOMIC),
    (at, lane) => {
      const old = read(w, at, 8)
      const data = data0(w, r, lane, 2)
      const half = (shift: bigint): bigint => {
        const word = (data >> shift) & 0xffffffffn
        return word >> 31n ? word & 0x7fffffffn : (old >> shift) & 0xffffffffn
      }
      write(w, at, 8, half(0n) | (half(32n) << 32n))
      result(w, r, lane, 2, old)
    },
  )

/**
 * MEM[A] = f(MEM[A], MEM[B]). B is A plus a signed number of dwords: the offset fields' low 15 bits, or, where bit 15 is set, bits 31:17
 * of the address, which A itself then lacks (GCN3 manual, DS_ADD_SRC2_U32).
 */
const memoryToMemory =
  (f: atomics.Atomic, width: 32 | 64): WaveFunction =>
  (w, r) =>
    located(
      w,
      (lane) => {
        const address = addr(w, r, lane)
        const byAddress = (r.imm & 0x8000) !== 0
        const dwords = byAddress ? address >> 17 : (r.imm << 17) >> 17
        const a = byAddress ? address & 0x1ffff : address
        const at = (address: number) => place(w, r, address, width / 8, lane, ATOMIC)
        return [at(a), at(a + dwords * 4)] as const
      },
      ([a, b]) => write(w, a, width / 8, f(read(w, a, width / 8), read(w, b, width / 8), width, 0n)),
    )
export const ds_add_src2_u32 = memoryToMemory(atomics.sum, 32)
export const ds_sub_src2_u32 = memoryToMemory(atomics.difference, 32)
export const ds_rsub_src2_u32 = memoryToMemory(atomics.reversedDifference, 32)
export const ds_inc_src2_u32 = memoryToMemory(atomics.increment, 32)
export const ds_dec_src2_u32 = memoryToMemory(atomics.decrement, 32)
export const ds_min_src2_i32 = memoryToMemory(atomics.minSigned, 32)
export const ds_max_src2_i32 = memoryToMemory(atomics.maxSigned, 32)
export const ds_min_src2_u32 = memoryToMemory(atomics.minUnsigned, 32)
export const ds_max_src2_u32 = memoryToMemory(atomics.maxUnsigned, 32)
export const ds_and_src2_b32 = memoryToMemory(atomics.and, 32)
export const ds_or_src2_b32 = memoryToMemory(atomics.or, 32)
export const ds_xor_src2_b32 = memoryToMemory(atomics.xor, 32)
export const ds_min_src2_f32 = memoryToMemory(atomics.minFloat, 32)
export const ds_max_src2_f32 = memoryToMemory(atomics.maxFloat, 32)
export const ds_write_src2_b32 = memoryToMemory(atomics.swap, 32)
export const ds_add_src2_u64 = memoryToMemory(atomics.sum, 64)
export const ds_sub_src2_u64 = memoryToMemory(atomics.difference, 64)
export const ds_rsub_src2_u64 = memoryToMemory(atomics.reversedDifference, 64)
export const ds_inc_src2_u64 = memoryToMemory(atomics.increment, 64)
export const ds_dec_src2_u64 = memoryToMemory(atomics.decrement, 64)
export const ds_min_src2_i64 = memoryToMemory(atomics.minSigned, 64)
export const ds_max_src2_i64 = memoryToMemory(atomics.maxSigned, 64)
export const ds_min_src2_u64 = memoryToMemory(atomics.minUnsigned, 64)
export const ds_max_src2_u64 = memoryToMemory(atomics.maxUnsigned, 64)
export const ds_and_src2_b64 = memoryToMemory(atomics.and, 64)
export const ds_or_src2_b64 = memoryToMemory(atomics.or, 64)
export const ds_xor_src2_b64 = memoryToMemory(atomics.xor, 64)
export const ds_min_src2_f64 = memoryToMemory(atomics.minFloat, 64)
export const ds_max_src2_f64 = memoryToMemory(atomics.maxFloat, 64)
export const ds_write_src2_b64 = memoryToMemory(atomics.swap, 64)
export const ds_add_src2_f32 = memoryToMemory(atomics.sumFloat, 32)

// --- counters

/**
 * The counter at M0 plus offset changes by the number of active lanes, which all get its old value. LDS takes the counter's place from
 * M0[15:0] (LLVM puts the pointer there), GDS from its base in M0[31:16].
 */
const count =
  (direction: 1n | -1n): WaveFunction =>
  (w, r) => {
    const active = w.activeLanes()
    if (active.length === 0) return
    const at = counterPlace(w, r)
    const old = read(w, at, 4)
    write(w, at, 4, old + direction * BigInt(active.length))
    for (const lane of active) result(w, r, lane, 1, old)
  }
export const ds_append = count(1n)
export const ds_consume = count(-1n)

function counterPlace(w: Wave, r: PlanRecord): Place {
  if (!isGds(r)) return locateLds(w, (w.m0 & 0xffff) + offset16(r), 4, Number.POSITIVE_INFINITY, undefined, true)
  const address = (w.m0 >>> 16) + offset16(r)
  if (address + 4 > w.word(w.machine + MACHINE_GDS_BYTES)) throw new Fault(FaultCode.Lds, undefined, BigInt(address), 4)
  checkAligned(address, 4)
  return w.word(w.machine + MACHINE_GDS) + address
}

// --- lanes to lanes: no memory is touched

/** Every active lane takes the word of the lane that `from` names; an inactive one gives 0. */
const pull =
  (word: (w: Wave, r: PlanRecord, lane: number) => number, from: (w: Wave, r: PlanRecord, lane: number) => number): WaveFunction =>
  (w, r) =>
    located(
      w,
      (lane) => {
        const source = from(w, r, lane)
        return w.isActive(source) ? word(w, r, source) : 0
      },
      (value, lane) => w.setVgpr(w.vgprOf(r.dst), lane, value),
    )

/** Offset bit 15 set: a permutation of each four lanes in bits 7:0. Else, within 32 lanes: and-mask 4:0, or-mask 9:5, xor-mask 14:10. */
export const ds_swizzle_b32 = pull(addr, (_, r, lane) => {
  const offset = offset16(r)
  if (offset & 0x8000) return (lane & ~3) + ((offset >>> ((lane & 3) * 2)) & 3)
  const mask = (shift: number): number => (offset >>> shift) & 31
  return (lane & ~31) + (((lane & 31 & mask(0)) | mask(5)) ^ mask(10))
})

const laneOfAddress = (w: Wave, r: PlanRecord, lane: number): number => ((addr(w, r, lane) + offset16(r)) >>> 2) % w.size

export const ds_bpermute_b32 = pull((w, r, lane) => Number(data0(w, r, lane, 1)), laneOfAddress)

/** Every active lane sends its word to the lane that its address names; of two senders the higher lane wins, without one it is 0. */
export const ds_permute_b32: WaveFunction = (w, r) => {
  const sent = new Array<number>(w.size).fill(0)
  for (const lane of w.activeLanes()) sent[laneOfAddress(w, r, lane)] = Number(data0(w, r, lane, 1))
  for (const lane of w.activeLanes()) w.setVgpr(w.vgprOf(r.dst), lane, sent[lane]!)
}

export const ds_nop: WaveFunction = () => {}
