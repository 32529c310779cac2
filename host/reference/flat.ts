/** Flat memory operations (GCN3 manual, chapter "Flat Memory Instructions"): global memory, LDS and scratch by 64-bit addresses. */
import { FaultCode } from '../engine.ts'
import { MACHINE_PRIVATE_APERTURE, MACHINE_SHARED_APERTURE, WAVE_SCRATCH_BASE, WAVE_SCRATCH_LANE_BYTES } from '../plan/layout.ts'
import { FLAG_TFE } from '../plan/record.ts'
import * as atomics from './atomics.ts'
import { Fault } from './fault.ts'
import { type Access, checkAligned, locate, locateLds, type Place } from './memory.ts'
import { readLane } from './registers.ts'
import type { WaveFunction } from './scalar.ts'
import { type Locate, memoryOperations } from './vector-memory.ts'
import type { Wave } from './wave.ts'

/** The address's high dword tells LDS and scratch from the rest; M0 clamps nothing here. */
const locateFlat: Locate = (w, r, lane, bytes, count, access, isAtomic) => {
  const address = BigInt.asUintN(64, readLane(w, w.vgprOf(r.sources[0]), lane, 2) + BigInt((r.imm << 16) >> 16))
  const high = Number(address >> 32n)
  const low = Number(address & 0xffffffffn)
  if (high === w.word(w.machine + MACHINE_PRIVATE_APERTURE)) return locateScratch(w, low, address, bytes, count, access, lane)
  const place =
    high === w.word(w.machine + MACHINE_SHARED_APERTURE)
      ? locateLds(w, low, bytes * count, Number.POSITIVE_INFINITY, lane, isAtomic)!
      : locate(w, address, bytes * count, access, lane)
  if (isAtomic) checkAligned(address, bytes, lane)
  return Array.from({ length: count }, (_, k) => place + k * bytes)
}

/**
 * Scratch is interleaved by dwords: dword n of all lanes, then dword n + 1 (the buffer descriptors of compilers say the same:
 * element size 4, index stride 64). Nothing may cross dwords; so there are no 64-bit atomics.
 */
function locateScratch(w: Wave, low: number, address: bigint, bytes: number, count: number, access: Access, lane: number): Place[] {
  if (low + bytes * count > w.header(WAVE_SCRATCH_LANE_BYTES)) throw new Fault(FaultCode.Memory, lane, address, bytes * count)
  if ((low & 3) + bytes > 4) throw new Fault(FaultCode.Misaligned, lane, address, bytes * count)
  const start = w.header64(WAVE_SCRATCH_BASE) + BigInt(low - (low & 3)) * BigInt(w.size) + BigInt(lane * 4 + (low & 3))
  return Array.from({ length: count }, (_, k) => locate(w, start + BigInt(k * w.size * 4), bytes, access, lane))
}

/** TFE asks for a status that flat instructions have no register for in LLVM's syntax. */
const withoutStatus =
  <T extends unknown[]>(make: (...how: T) => WaveFunction) =>
  (...how: T): WaveFunction => {
    const f = make(...how)
    return (w, r) => {
      if (r.flags & FLAG_TFE) throw new Fault(FaultCode.Unsupported)
      f(w, r)
    }
  }
const operations = memoryOperations(locateFlat, {
  destination: (w, r) => w.vgprOf(r.dst),
  data: (w, r) => w.vgprOf(r.sources[1]),
})
const loadNarrow = withoutStatus(operations.loadNarrow)
const loadDwords = withoutStatus(operations.loadDwords)
const storeNarrow = withoutStatus(operations.storeNarrow)
const storeDwords = withoutStatus(operations.storeDwords)
const atomic = withoutStatus(operations.atomic)

export const flat_load_ubyte = loadNarrow(1, false)
export const flat_load_sbyte = loadNarrow(1, true)
export const flat_load_ushort = loadNarrow(2, false)
export const flat_load_sshort = loadNarrow(2, true)
export const flat_load_dword = loadDwords(1)
export const flat_load_dwordx2 = loadDwords(2)
export const flat_load_dwordx3 = loadDwords(3)
export const flat_load_dwordx4 = loadDwords(4)

export const flat_store_byte = storeNarrow(1)
export const flat_store_short = storeNarrow(2)
export const flat_store_dword = storeDwords(1)
export const flat_store_dwordx2 = storeDwords(2)
export const flat_store_dwordx3 = storeDwords(3)
export const flat_store_dwordx4 = storeDwords(4)

export const flat_atomic_swap = atomic(atomics.swap, 32)
export const flat_atomic_cmpswap = atomic(atomics.compareSwap, 32)
export const flat_atomic_add = atomic(atomics.sum, 32)
export const flat_atomic_sub = atomic(atomics.difference, 32)
export const flat_atomic_smin = atomic(atomics.minSigned, 32)
export const flat_atomic_umin = atomic(atomics.minUnsigned, 32)
export const flat_atomic_smax = atomic(atomics.maxSigned, 32)
export const flat_atomic_umax = atomic(atomics.maxUnsigned, 32)
export const flat_atomic_and = atomic(atomics.and, 32)
export const flat_atomic_or = atomic(atomics.or, 32)
export const flat_atomic_xor = atomic(atomics.xor, 32)
export const flat_atomic_inc = atomic(atomics.increment, 32)
export const flat_atomic_dec = atomic(atomics.decrement, 32)
export const flat_atomic_fcmpswap = atomic(atomics.compareSwapFloat, 32)
export const flat_atomic_fmin = atomic(atomics.minFloat, 32)
export const flat_atomic_fmax = atomic(atomics.maxFloat, 32)
export const flat_atomic_swap_x2 = atomic(atomics.swap, 64)
export const flat_atomic_cmpswap_x2 = atomic(atomics.compareSwap, 64)
export const flat_atomic_add_x2 = atomic(atomics.sum, 64)
export const flat_atomic_sub_x2 = atomic(atomics.difference, 64)
export const flat_atomic_smin_x2 = atomic(atomics.minSigned, 64)
export const flat_atomic_umin_x2 = atomic(atomics.minUnsigned, 64)
export const flat_atomic_smax_x2 = atomic(atomics.maxSigned, 64)
export const flat_atomic_umax_x2 = atomic(atomics.maxUnsigned, 64)
export const flat_atomic_and_x2 = atomic(atomics.and, 64)
export const flat_atomic_or_x2 = atomic(atomics.or, 64)
export const flat_atomic_xor_x2 = atomic(atomics.xor, 64)
export const flat_atomic_inc_x2 = atomic(atomics.increment, 64)
export const flat_atomic_dec_x2 = atomic(atomics.decrement, 64)
export const flat_atomic_fcmpswap_x2 = atomic(atomics.compareSwapFloat, 64)
export const flat_atomic_fmin_x2 = atomic(atomics.minFloat, 64)
export const flat_atomic_fmax_x2 = atomic(atomics.maxFloat, 64)
