/** Guest memory and LDS: where an access goes in linear memory, or the fault that it is. */
import { FaultCode } from '../engine.ts'
import {
  MACHINE_GDS,
  MACHINE_GDS_BYTES,
  MACHINE_REGION_COUNT,
  MACHINE_REGIONS,
  REGION_BASE,
  REGION_BYTES,
  REGION_FLAGS,
  REGION_HOST,
  REGION_SIZE,
} from '../plan/layout.ts'
import { Fault } from './fault.ts'
import type { Wave } from './wave.ts'

export type Access = 'read' | 'write'

/** Where in linear memory an access goes; undefined where the hardware drops it: reads give 0, writes are lost. */
export type Place = number | undefined

const WRITABLE = 1

/**
 * Linear-memory address of guest bytes.
 * @throws {Fault} Memory, unless one region holds them all and allows the access
 */
export function locate(w: Wave, address: bigint, bytes: number, access: Access, lane?: number): number {
  const regions = w.word(w.machine + MACHINE_REGIONS)
  const count = w.word(w.machine + MACHINE_REGION_COUNT)
  for (let i = 0; i < count; i++) {
    const region = regions + i * REGION_BYTES
    const offset = Number(address - w.view.getBigUint64(region + REGION_BASE, true)) // rounded where it is far beyond any region
    if (offset < 0 || offset + bytes > w.word(region + REGION_SIZE)) continue
    if (access === 'write' && (w.word(region + REGION_FLAGS) & WRITABLE) === 0) break
    return w.word(region + REGION_HOST) + offset
  }
  throw new Fault(FaultCode.Memory, lane, BigInt.asUintN(64, address), bytes)
}

/**
 * Linear-memory address of LDS bytes. `limit` is M0, which clamps LDS instructions on gfx6 to gfx8: beyond it they read 0 and write
 * nothing (GCN3 manual, section "Out-of-range behavior"). Beyond the workgroup's allocation but within M0 the manual has the same;
 * Lanewise stops there, because compilers set M0 to -1 and the kernel is wrong.
 * @throws {Fault} Lds; Misaligned, where the access is within bounds and `aligned`
 */
export function locateLds(w: Wave, address: number, bytes: number, limit: number, lane?: number, aligned = false): Place {
  if (address + bytes > limit) return undefined
  if (address + bytes > w.ldsBytes) throw new Fault(FaultCode.Lds, lane, BigInt(address), bytes)
  if (aligned) checkAligned(address, bytes, lane)
  return w.lds + address
}

/**
 * Linear-memory address of GDS bytes; the wave's part of the GDS is its base in M0[31:16] and its size in M0[15:0].
 * Faults name the address in the whole GDS.
 * @throws {Fault} Lds; Misaligned, where the access is within bounds and `aligned`
 */
export function locateGds(w: Wave, address: number, bytes: number, lane?: number, aligned = false): Place {
  if (address + bytes > (w.m0 & 0xffff)) return undefined
  const at = (w.m0 >>> 16) + address
  if (at + bytes > w.word(w.machine + MACHINE_GDS_BYTES)) throw new Fault(FaultCode.Lds, lane, BigInt(at), bytes)
  if (aligned) checkAligned(at, bytes, lane)
  return w.word(w.machine + MACHINE_GDS) + at
}

/** Atomics want their addresses aligned; plain reads and writes go byte by byte. @throws {Fault} Misaligned */
export function checkAligned(address: bigint | number, bytes: number, lane?: number): void {
  if (BigInt(address) % BigInt(bytes) !== 0n) throw new Fault(FaultCode.Misaligned, lane, BigInt(address), bytes)
}

export const readDword = (w: Wave, place: Place): number => (place === undefined ? 0 : w.view.getUint32(place, true))

export function writeDword(w: Wave, place: Place, value: number): void {
  if (place !== undefined) w.view.setUint32(place, value, true)
}

/** Little-endian bytes (1, 2, 4 or 8) as an unsigned number. */
export function read(w: Wave, place: Place, bytes: number): bigint {
  if (place === undefined) return 0n
  if (bytes === 1) return BigInt(w.view.getUint8(place))
  if (bytes === 2) return BigInt(w.view.getUint16(place, true))
  if (bytes === 4) return BigInt(w.view.getUint32(place, true))
  return w.view.getBigUint64(place, true)
}

export function write(w: Wave, place: Place, bytes: number, value: bigint): void {
  if (place === undefined) return
  if (bytes === 1) w.view.setUint8(place, Number(value & 0xffn))
  else if (bytes === 2) w.view.setUint16(place, Number(value & 0xffffn), true)
  else if (bytes === 4) w.view.setUint32(place, Number(value & 0xffffffffn), true)
  else w.view.setBigUint64(place, BigInt.asUintN(64, value), true)
}
