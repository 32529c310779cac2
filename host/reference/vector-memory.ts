/** Loads, stores and atomics of vector memory, once it is known where each lane's bytes are. Flat, buffers and images share these. */
import type { PlanRecord } from '../plan/plan.ts'
import { FLAG_GLC, FLAG_TFE } from '../plan/record.ts'
import { type Atomic, compareSwap, compareSwapFloat } from './atomics.ts'
import { type Access, type Place, read, readDword, write, writeDword } from './memory.ts'
import { readLane, writeLane } from './registers.ts'
import type { WaveFunction } from './scalar.ts'
import type { Wave } from './wave.ts'

/**
 * Where `count` pieces of `bytes` bytes each, one behind another in the address space, are for a lane.
 * An atomic's piece must be aligned. @throws {Fault}
 */
export type Locate = (
  w: Wave,
  r: PlanRecord,
  lane: number,
  bytes: number,
  count: number,
  access: Access,
  isAtomic: boolean,
) => readonly Place[]

/** Registers of a memory instruction: where loads go, and where stores and atomics find their data. */
export interface Registers {
  readonly destination: (w: Wave, r: PlanRecord) => number
  readonly data: (w: Wave, r: PlanRecord) => number
}

export const isCompareSwap = (f: Atomic): boolean => f === compareSwap || f === compareSwapFloat

/** Two steps, so that a fault in any lane leaves everything as it was: all lanes are located, then served in ascending order. */
export function located<T>(w: Wave, locate: (lane: number) => T, perform: (places: T, lane: number) => void): void {
  const all = w.activeLanes().map((lane) => [lane, locate(lane)] as const)
  for (const [lane, places] of all) perform(places, lane)
}

/** A status dword of 0 follows the data of a load (MUBUF, MTBUF) where TFE asks for one: nothing here is ever not resident. */
export const withStatus =
  (dwords: number, f: WaveFunction): WaveFunction =>
  (w, r) => {
    f(w, r)
    if (r.flags & FLAG_TFE) for (const lane of w.activeLanes()) w.setVgpr(w.vgprOf(r.dst) + dwords, lane, 0)
  }

/** The instructions that a way of addressing makes. */
export function memoryOperations(locate: Locate, registers: Registers) {
  return {
    /** 1 or 2 bytes, extended to 32 bits. */
    loadNarrow:
      (bytes: 1 | 2, signed: boolean): WaveFunction =>
      (w, r) =>
        located(
          w,
          (lane) => locate(w, r, lane, bytes, 1, 'read', false),
          ([place], lane) => {
            const value = read(w, place, bytes)
            w.setVgpr(registers.destination(w, r), lane, Number(BigInt.asUintN(32, signed ? BigInt.asIntN(bytes * 8, value) : value)))
          },
        ),
    loadDwords:
      (dwords: number): WaveFunction =>
      (w, r) =>
        located(
          w,
          (lane) => locate(w, r, lane, 4, dwords, 'read', false),
          (places, lane) => {
            for (let k = 0; k < dwords; k++) w.setVgpr(registers.destination(w, r) + k, lane, readDword(w, places[k]))
          },
        ),
    storeNarrow:
      (bytes: 1 | 2): WaveFunction =>
      (w, r) =>
        located(
          w,
          (lane) => locate(w, r, lane, bytes, 1, 'write', false),
          ([place], lane) => write(w, place, bytes, BigInt(w.vgpr(registers.data(w, r), lane))),
        ),
    storeDwords:
      (dwords: number): WaveFunction =>
      (w, r) =>
        located(
          w,
          (lane) => locate(w, r, lane, 4, dwords, 'write', false),
          (places, lane) => {
            for (let k = 0; k < dwords; k++) writeDword(w, places[k], w.vgpr(registers.data(w, r) + k, lane))
          },
        ),
    /** Data is the value, then for compare-and-swap what is compared with; the old value comes back where GLC is set. */
    atomic:
      (f: Atomic, width: 32 | 64): WaveFunction =>
      (w, r) => {
        const dwords = width / 32
        located(
          w,
          (lane) => locate(w, r, lane, width / 8, 1, 'write', true),
          ([place], lane) => {
            const data = registers.data(w, r)
            const old = read(w, place, width / 8)
            const second = isCompareSwap(f) ? readLane(w, data + dwords, lane, dwords) : 0n
            write(w, place, width / 8, f(old, readLane(w, data, lane, dwords), width, second))
            if (r.flags & FLAG_GLC) writeLane(w, registers.destination(w, r), lane, dwords, old)
          },
        )
      },
  }
}
