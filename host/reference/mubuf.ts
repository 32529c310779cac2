/** Untyped buffer operations (GCN3 manual, chapter "Vector Memory Buffer Instructions"). */
import { FaultCode } from '../engine.ts'
import { IMM_LDS } from '../plan/record.ts'
import * as atomics from './atomics.ts'
import { descriptorFormat, descriptorOf, formatOperations, locateBuffer } from './buffer.ts'
import { Fault } from './fault.ts'
import { locateLds, read, write } from './memory.ts'
import type { WaveFunction } from './scalar.ts'
import { located, memoryOperations, withStatus } from './vector-memory.ts'
import type { Wave } from './wave.ts'

const vdata = (w: Wave, r: Parameters<WaveFunction>[1]): number => w.vgprOf(r.dst)
const registers = { destination: vdata, data: vdata }
const operations = memoryOperations(locateBuffer, registers)
const { storeNarrow, storeDwords, atomic } = operations

/** LDS address of a lane's dword: M0[15:0], the instruction's offset, four bytes a lane (GCN3 manual, "Memory Buffer Load to LDS"). */
const ldsAddress = (w: Wave, r: Parameters<WaveFunction>[1], lane: number): number => (w.m0 & 0xffff) + (r.imm & 0xfff) + lane * 4

/** Loads whose LDS bit puts the data there instead of in registers. */
const toLds =
  (bytes: 1 | 2 | 4, signed: boolean, f: WaveFunction): WaveFunction =>
  (w, r) => {
    if ((r.imm & IMM_LDS) === 0) return f(w, r)
    located(
      w,
      (lane) => [
        locateBuffer(w, r, lane, bytes, 1, 'read', false)[0],
        locateLds(w, ldsAddress(w, r, lane), 4, Number.POSITIVE_INFINITY, lane),
      ],
      ([from, to]) => {
        const value = read(w, from, bytes)
        write(w, to, 4, signed ? BigInt.asIntN(bytes * 8, value) : value)
      },
    )
  }
const loadNarrow = (bytes: 1 | 2, signed: boolean): WaveFunction =>
  toLds(bytes, signed, withStatus(1, operations.loadNarrow(bytes, signed)))
/** Only single dwords have an LDS form. */
const loadDwords = (dwords: number): WaveFunction => {
  const load = withStatus(dwords, operations.loadDwords(dwords))
  if (dwords === 1) return toLds(4, false, load)
  return (w, r) => {
    if (r.imm & IMM_LDS) throw new Fault(FaultCode.Unsupported)
    return load(w, r)
  }
}

export const buffer_load_ubyte = loadNarrow(1, false)
export const buffer_load_sbyte = loadNarrow(1, true)
export const buffer_load_ushort = loadNarrow(2, false)
export const buffer_load_sshort = loadNarrow(2, true)
export const buffer_load_dword = loadDwords(1)
export const buffer_load_dwordx2 = loadDwords(2)
export const buffer_load_dwordx3 = loadDwords(3)
export const buffer_load_dwordx4 = loadDwords(4)

export const buffer_store_byte = storeNarrow(1)
export const buffer_store_short = storeNarrow(2)
export const buffer_store_dword = storeDwords(1)
export const buffer_store_dwordx2 = storeDwords(2)
export const buffer_store_dwordx3 = storeDwords(3)
export const buffer_store_dwordx4 = storeDwords(4)

export const buffer_atomic_swap = atomic(atomics.swap, 32)
export const buffer_atomic_cmpswap = atomic(atomics.compareSwap, 32)
export const buffer_atomic_add = atomic(atomics.sum, 32)
export const buffer_atomic_sub = atomic(atomics.difference, 32)
export const buffer_atomic_smin = atomic(atomics.minSigned, 32)
export const buffer_atomic_umin = atomic(atomics.minUnsigned, 32)
export const buffer_atomic_smax = atomic(atomics.maxSigned, 32)
export const buffer_atomic_umax = atomic(atomics.maxUnsigned, 32)
export const buffer_atomic_and = atomic(atomics.and, 32)
export const buffer_atomic_or = atomic(atomics.or, 32)
export const buffer_atomic_xor = atomic(atomics.xor, 32)
export const buffer_atomic_inc = atomic(atomics.increment, 32)
export const buffer_atomic_dec = atomic(atomics.decrement, 32)
export const buffer_atomic_fcmpswap = atomic(atomics.compareSwapFloat, 32)
export const buffer_atomic_fmin = atomic(atomics.minFloat, 32)
export const buffer_atomic_fmax = atomic(atomics.maxFloat, 32)
export const buffer_atomic_swap_x2 = atomic(atomics.swap, 64)
export const buffer_atomic_cmpswap_x2 = atomic(atomics.compareSwap, 64)
export const buffer_atomic_add_x2 = atomic(atomics.sum, 64)
export const buffer_atomic_sub_x2 = atomic(atomics.difference, 64)
export const buffer_atomic_smin_x2 = atomic(atomics.minSigned, 64)
export const buffer_atomic_umin_x2 = atomic(atomics.minUnsigned, 64)
export const buffer_atomic_smax_x2 = atomic(atomics.maxSigned, 64)
export const buffer_atomic_umax_x2 = atomic(atomics.maxUnsigned, 64)
export const buffer_atomic_and_x2 = atomic(atomics.and, 64)
export const buffer_atomic_or_x2 = atomic(atomics.or, 64)
export const buffer_atomic_xor_x2 = atomic(atomics.xor, 64)
export const buffer_atomic_inc_x2 = atomic(atomics.increment, 64)
export const buffer_atomic_dec_x2 = atomic(atomics.decrement, 64)
export const buffer_atomic_fcmpswap_x2 = atomic(atomics.compareSwapFloat, 64)
export const buffer_atomic_fmin_x2 = atomic(atomics.minFloat, 64)
export const buffer_atomic_fmax_x2 = atomic(atomics.maxFloat, 64)

/** One dword a lane from LDS to memory. */
export const buffer_store_lds_dword: WaveFunction = (w, r) =>
  located(
    w,
    (lane) => [locateBuffer(w, r, lane, 4, 1, 'write', false)[0], locateLds(w, ldsAddress(w, r, lane), 4, Number.POSITIVE_INFINITY, lane)],
    ([to, from]) => write(w, to, 4, read(w, from, 4)),
  )

// There is no cache to invalidate.
const nothing: WaveFunction = () => {}
export const buffer_wbinvl1 = nothing
export const buffer_wbinvl1_sc = nothing
export const buffer_wbinvl1_vol = nothing

// Format and component selection come from the descriptor.
const { loadFormat, storeFormat } = formatOperations((w, r) => descriptorFormat(descriptorOf(w, r)))
export const buffer_load_format_x = withStatus(1, loadFormat(1))
export const buffer_load_format_xy = withStatus(2, loadFormat(2))
export const buffer_load_format_xyz = withStatus(3, loadFormat(3))
export const buffer_load_format_xyzw = withStatus(4, loadFormat(4))
export const buffer_store_format_x = storeFormat(1)
export const buffer_store_format_xy = storeFormat(2)
export const buffer_store_format_xyz = storeFormat(3)
export const buffer_store_format_xyzw = storeFormat(4)
export const buffer_load_format_d16_x = withStatus(1, loadFormat(1, true))
export const buffer_load_format_d16_xy = withStatus(2, loadFormat(2, true))
export const buffer_load_format_d16_xyz = withStatus(3, loadFormat(3, true))
export const buffer_load_format_d16_xyzw = withStatus(4, loadFormat(4, true))
export const buffer_store_format_d16_x = storeFormat(1, true)
export const buffer_store_format_d16_xy = storeFormat(2, true)
export const buffer_store_format_d16_xyz = storeFormat(3, true)
export const buffer_store_format_d16_xyzw = storeFormat(4, true)
