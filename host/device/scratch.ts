/**
 * Scratch: private memory of work-items. Each wave of a workgroup has a piece of its own with unowned space behind it. Within a piece the
 * lanes' dwords are interleaved: byte `o` of lane `l` is at `(o & ~3) * 64 + l * 4 + (o & 3)` (LLVM, "Private Segment", swizzled addressing).
 */
import { LaunchError } from '../errors.ts'
import type { Generation } from '../isa/targets.ts'
import type { GuestMemory, Region } from './memory.ts'

export interface Scratch {
  /** Guest address to which a wave's offset is added; 0 where there is no scratch. */
  readonly base: bigint
  /** Bytes of a lane. */
  readonly laneBytes: number
  /** Bytes from one wave's piece to the next one's. */
  readonly stride: number
  /** A wave's piece, by its number in the workgroup. */
  readonly regions: readonly Region[]
}

/** COMPUTE_TMPRING_SIZE.WAVESIZE counts 256 dwords, so a lane of 64 has a multiple of 16 bytes. */
const LANE_ALIGN = 16
const WAVE_GUARD = 0x10000
/** Scratch offsets of a wave are 32-bit numbers; hardware's limit is lower (13 bits of 256 dwords a wave). */
const MAX_LANE_BYTES = 0x1fff * LANE_ALIGN

/**
 * Gives the waves of a workgroup scratch.
 * @throws {LaunchError} where a work-item wants more than hardware can give
 */
export function allocateScratch(memory: GuestMemory, bytesPerLane: number, waveSize: number, waveCount: number): Scratch {
  if (bytesPerLane === 0) return { base: 0n, laneBytes: 0, stride: 0, regions: [] }
  if (bytesPerLane > MAX_LANE_BYTES)
    throw new LaunchError(
      `a work-item wants ${bytesPerLane} bytes of scratch; hardware has at most ${MAX_LANE_BYTES}; use smaller private arrays or a smaller stack`,
    )
  const laneBytes = Math.ceil(bytesPerLane / LANE_ALIGN) * LANE_ALIGN
  const waveBytes = laneBytes * waveSize
  const stride = waveBytes + WAVE_GUARD
  const base = memory.reserve(stride * waveCount)
  const regions = Array.from({ length: waveCount }, (_, i) =>
    memory.allocate(waveBytes, { name: `scratch of wave ${i}`, address: base + BigInt(stride * i) }),
  )
  return { base, laneBytes, stride, regions }
}

/** Fields of a buffer resource's dwords 1 and 3 (GCN3 manual, "Buffer Resource Descriptor"). */
const SWIZZLE_ENABLE = 1 << 31
const ELEMENT_SIZE_4 = 1 << 19
const INDEX_STRIDE_64 = 3 << 21
const ADD_TID_ENABLE = 1 << 23
const DATA_FORMAT_32 = 4 << 15

/**
 * The buffer resource through which compiled code reaches scratch: four dwords. On gfx8 the data format must be 0, with ADD_TID_ENABLE its
 * bits are part of the stride (LLVM, SIInstrInfo::getScratchRsrcWords23).
 */
export function scratchResource(base: bigint, generation: Generation): [number, number, number, number] {
  const format = generation === 'gfx8' ? 0 : DATA_FORMAT_32
  return [
    Number(base & 0xffffffffn),
    (Number((base >> 32n) & 0xffffn) | SWIZZLE_ENABLE) >>> 0,
    0xffffffff,
    ELEMENT_SIZE_4 | INDEX_STRIDE_64 | ADD_TID_ENABLE | format,
  ]
}
