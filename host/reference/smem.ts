/** Scalar memory (GCN3 manual, chapter "Scalar Memory Operations"; Southern Islands manual, "SMRD"). The low two bits of bases and offsets do not count. */
import { MACHINE_TIME } from '../plan/layout.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { KIND_NONE } from '../plan/record.ts'
import { readDescriptor } from './buffer.ts'
import { sourceDword } from './fetch.ts'
import { locate, type Place, read, write } from './memory.ts'
import type { WaveFunction } from './scalar.ts'
import { scalarOf, type Wave } from './wave.ts'

const offsetOf = (w: Wave, r: PlanRecord): number => (r.mods.kinds[1] === KIND_NONE ? r.imm : sourceDword(w, r, 1, 0))
const aligned = (address: bigint): bigint => BigInt.asUintN(64, address & ~3n)
const baseOf = (r: PlanRecord): number => scalarOf(r.sources[0])

type Places = (w: Wave, r: PlanRecord, dwords: number, access: 'read' | 'write') => readonly Place[]

/** Base and offset as they are. */
const global: Places = (w, r, dwords, access) => {
  const address = BigInt.asUintN(64, aligned(w.scalar64(baseOf(r))) + aligned(BigInt(offsetOf(w, r))))
  const place = locate(w, address, dwords * 4, access)
  return Array.from({ length: dwords }, (_, k) => place + k * 4)
}

/** Through a buffer descriptor: dwords beyond its size read 0 and are not written; those within it are one access. */
const buffer: Places = (w, r, dwords, access) => {
  const descriptor = readDescriptor(w, baseOf(r))
  const size = descriptor.stride === 0 ? descriptor.records : descriptor.stride * descriptor.records
  const offset = (offsetOf(w, r) & ~3) >>> 0
  const within = Math.max(0, Math.min(dwords, Math.floor((size - offset) / 4)))
  if (within === 0) return new Array<Place>(dwords).fill(undefined)
  const place = locate(w, aligned(descriptor.base + BigInt(offset)), within * 4, access)
  return Array.from({ length: dwords }, (_, k) => (k < within ? place + k * 4 : undefined))
}

const load =
  (places: Places, dwords: number): WaveFunction =>
  (w, r) => {
    const words = places(w, r, dwords, 'read').map((place) => Number(read(w, place, 4)))
    for (const [k, word] of words.entries()) w.setScalar(scalarOf(r.dst) + k, word)
  }
const store =
  (places: Places, dwords: number): WaveFunction =>
  (w, r) => {
    for (const [k, place] of places(w, r, dwords, 'write').entries()) write(w, place, 4, BigInt(w.scalar(scalarOf(r.dst) + k)))
  }

export const s_load_dword = load(global, 1)
export const s_load_dwordx2 = load(global, 2)
export const s_load_dwordx4 = load(global, 4)
export const s_load_dwordx8 = load(global, 8)
export const s_load_dwordx16 = load(global, 16)
export const s_buffer_load_dword = load(buffer, 1)
export const s_buffer_load_dwordx2 = load(buffer, 2)
export const s_buffer_load_dwordx4 = load(buffer, 4)
export const s_buffer_load_dwordx8 = load(buffer, 8)
export const s_buffer_load_dwordx16 = load(buffer, 16)
export const s_store_dword = store(global, 1)
export const s_store_dwordx2 = store(global, 2)
export const s_store_dwordx4 = store(global, 4)
export const s_buffer_store_dword = store(buffer, 1)
export const s_buffer_store_dwordx2 = store(buffer, 2)
export const s_buffer_store_dwordx4 = store(buffer, 4)

/** The machine's clock: every read moves it on by one, so that runs repeat. */
const time: WaveFunction = (w, r) => {
  const now = w.view.getBigUint64(w.machine + MACHINE_TIME, true)
  w.view.setBigUint64(w.machine + MACHINE_TIME, now + 1n, true)
  w.setScalar64(scalarOf(r.dst), now)
}
export const s_memtime = time
export const s_memrealtime = time

// There is no cache to invalidate or write back, and an address probe has no result.
const nothing: WaveFunction = () => {}
export const s_dcache_inv = nothing
export const s_dcache_inv_vol = nothing
export const s_dcache_wb = nothing
export const s_dcache_wb_vol = nothing
export const s_atc_probe = nothing
export const s_atc_probe_buffer = nothing
