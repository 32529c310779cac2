/**
 * Buffer addressing: descriptor, range check, swizzling, and typed access (GCN3 manual, section "Buffer Addressing", CLRX's "GCN Memory
 * instructions"; the differences between generations from Mesa's notes on NUM_RECORDS).
 */
import { FaultCode } from '../engine.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { IMM_ADDR64, IMM_IDXEN, IMM_LDS, IMM_OFFEN } from '../plan/record.ts'
import { Fault } from './fault.ts'
import { sourceDword } from './fetch.ts'
import { checkFormat, decodeTexel, encodeTexel, texelBytes } from './format.ts'
import { type Access, checkAligned, locate, type Place, read, write } from './memory.ts'
import { readLane } from './registers.ts'
import type { WaveFunction } from './scalar.ts'
import { type Locate, located } from './vector-memory.ts'
import { scalarOf, type Wave } from './wave.ts'

export interface Descriptor {
  readonly base: bigint
  /** Bytes. */
  readonly stride: number
  readonly swizzle: boolean
  /** Bytes or elements, see `outOfRange`. */
  readonly records: number
  /** What each of x, y, z, w is: 0 zero, 1 one, 4–7 a component of the format. */
  readonly select: readonly number[]
  readonly numberFormat: number
  readonly dataFormat: number
  /** Bytes, 2 to 16. */
  readonly elementSize: number
  /** Elements, 8 to 64. */
  readonly indexStride: number
  readonly addThreadId: boolean
}

/** Reads the four scalars from `encoding` on. */
export function readDescriptor(w: Wave, encoding: number): Descriptor {
  const [word0, word1, word2, word3] = [0, 1, 2, 3].map((k) => w.scalar(encoding + k)) as [number, number, number, number]
  return {
    base: BigInt(word0) | (BigInt(word1 & 0xffff) << 32n),
    stride: (word1 >>> 16) & 0x3fff,
    swizzle: word1 >>> 31 !== 0,
    records: word2,
    select: [0, 3, 6, 9].map((shift) => (word3 >>> shift) & 7),
    numberFormat: (word3 >>> 12) & 7,
    dataFormat: (word3 >>> 15) & 15,
    elementSize: 2 << ((word3 >>> 19) & 3),
    indexStride: 8 << ((word3 >>> 21) & 3),
    addThreadId: ((word3 >>> 23) & 1) !== 0,
  }
}

/** The descriptor of a vector instruction. On gfx8 its data format is the stride's bits 17:14 while the thread's number is added. */
export function descriptorOf(w: Wave, r: PlanRecord): Descriptor {
  const descriptor = readDescriptor(w, scalarOf(r.sources[1]))
  if (w.generation !== 'gfx8' || !descriptor.addThreadId) return descriptor
  return { ...descriptor, stride: descriptor.stride | (descriptor.dataFormat << 14) }
}

const ADDRESS_MASK = (1n << 48n) - 1n

interface BufferAddress {
  readonly descriptor: Descriptor
  readonly index: number
  /** Byte offset within the element: the instruction's and VADDR's. */
  readonly offset: number
  readonly soffset: number
}

function bufferAddress(w: Wave, r: PlanRecord, lane: number): BufferAddress {
  const descriptor = descriptorOf(w, r)
  const vaddr = w.vgprOf(r.sources[0])
  const idxen = (r.imm & IMM_IDXEN) !== 0
  const offen = (r.imm & IMM_OFFEN) !== 0
  return {
    descriptor,
    index: (idxen ? w.vgpr(vaddr, lane) : 0) + (descriptor.addThreadId ? lane : 0),
    offset: (offen ? w.vgpr(vaddr + (idxen ? 1 : 0), lane) : 0) + (r.imm & 0xfff),
    soffset: sourceDword(w, r, 2, lane),
  }
}

/** Linear: base + soffset + offset + index * stride. Swizzled: elements of indexStride neighbours interleaved by elementSize bytes. */
function guestAddress({ descriptor, index, offset, soffset }: BufferAddress): bigint {
  const { base, stride, swizzle, indexStride, elementSize } = descriptor
  const start = base + BigInt(soffset)
  if (!swizzle) return (start + BigInt(offset) + BigInt(index) * BigInt(stride)) & ADDRESS_MASK
  const group = BigInt(Math.floor(index / indexStride))
  const element = BigInt(Math.floor(offset / elementSize))
  const block = (group * BigInt(stride) + element * BigInt(elementSize)) * BigInt(indexStride)
  return (start + block + BigInt((index % indexStride) * elementSize + (offset % elementSize))) & ADDRESS_MASK
}

/**
 * Whether an access is beyond the buffer, so that reads give 0 and writes are lost. Without a stride, and on gfx8 without swizzling,
 * NUM_RECORDS counts bytes, from which soffset is taken, and a dword must be within them as a whole (LLVM, "Relaxed Buffer OOB Mode");
 * else it counts elements, and only the index is looked at. Offsets do not wrap here: a sum beyond 32 bits is out of range (LLVM,
 * SelectMUBUFScratchOffen, of negative VADDR).
 */
function outOfRange(w: Wave, { descriptor, index, offset, soffset }: BufferAddress, bytes: number): boolean {
  const { stride, swizzle, records } = descriptor
  const inBytes = stride === 0 || (w.generation === 'gfx8' && !swizzle)
  return inBytes ? offset + index * stride + bytes > records - soffset : index >= records
}

/** gfx6 drops the low address bits of dwords and halves; later generations are run with unaligned access on, as ROCm sets them up. */
const alignedFor = (w: Wave, address: bigint, bytes: number): bigint =>
  w.generation === 'gfx6' ? address & ~BigInt(Math.min(bytes, 4) - 1) : address

/** Pieces are checked and swizzled one by one; an atomic is one piece. A fault names the address of the piece. */
export const locateBuffer: Locate = (w, r, lane, bytes, count, access, isAtomic) => {
  const pieces = Array.from({ length: count }, (_, k) => k * bytes)
  const place = (address: bigint): number => {
    const at = alignedFor(w, address, bytes)
    const found = locate(w, at, bytes, access, lane)
    if (isAtomic) checkAligned(at, bytes, lane)
    return found
  }
  if (r.imm & IMM_ADDR64) {
    const address = address64(w, r, lane)
    return pieces.map((offset) => place((address + BigInt(offset)) & ADDRESS_MASK))
  }
  const first = bufferAddress(w, r, lane)
  return pieces.map((offset): Place => {
    const piece = { ...first, offset: first.offset + offset }
    return outOfRange(w, piece, bytes) ? undefined : place(guestAddress(piece))
  })
}

/**
 * ADDR64 (gfx6 and gfx7): VADDR is a 64-bit offset, nothing is range-checked, and sums wrap in 48 bits. Compilers put any pointer,
 * also one with high bits set, where the descriptor has its base, so stride and swizzle are not looked at.
 */
function address64(w: Wave, r: PlanRecord, lane: number): bigint {
  const offset = readLane(w, w.vgprOf(r.sources[0]), lane, 2)
  return (descriptorOf(w, r).base + offset + BigInt(sourceDword(w, r, 2, lane)) + BigInt(r.imm & 0xfff)) & ADDRESS_MASK
}

// --- typed access

export interface ElementFormat {
  readonly data: number
  readonly number: number
  readonly select: readonly number[]
}

/** Components x, y, z, w in their own places. */
export const IDENTITY: readonly number[] = [4, 5, 6, 7]

export const descriptorFormat = ({ dataFormat, numberFormat, select }: Descriptor): ElementFormat => ({
  data: dataFormat,
  number: numberFormat,
  select,
})

/** A typed element is in range as a whole or not at all; undefined where it is not. */
function locateElement(w: Wave, r: PlanRecord, lane: number, bytes: number, access: Access): readonly Place[] {
  const pieceBytes = bytes % 4 === 0 ? 4 : bytes
  if ((r.imm & IMM_ADDR64) === 0 && outOfRange(w, bufferAddress(w, r, lane), bytes)) return []
  return locateBuffer(w, r, lane, pieceBytes, bytes / pieceBytes, access, false)
}

/** The element's bytes as one number; undefined where it is out of range. */
function readElement(w: Wave, places: readonly Place[], bytes: number): bigint | undefined {
  if (places.length === 0) return undefined
  const pieceBytes = bytes / places.length
  return places.reduce((all, place, k) => all | (read(w, place, pieceBytes) << BigInt(k * pieceBytes * 8)), 0n)
}

/** Loads and stores of one to four components; `half` are the D16 forms of gfx8, a 16-bit component a register. */
export function formatOperations(formatOf: (w: Wave, r: PlanRecord) => ElementFormat) {
  return {
    loadFormat:
      (components: number, half = false): WaveFunction =>
      (w, r) => {
        if (r.imm & IMM_LDS) throw new Fault(FaultCode.Unsupported)
        const format = formatOf(w, r)
        checkFormat(format, w.generation)
        const bytes = texelBytes(format)
        located(
          w,
          (lane) => locateElement(w, r, lane, bytes, 'read'),
          (places, lane) => {
            const words = decodeTexel(format, readElement(w, places, bytes), half)
            for (let k = 0; k < components; k++) w.setVgpr(w.vgprOf(r.dst) + k, lane, words[k]!)
          },
        )
      },
    storeFormat:
      (components: number, half = false): WaveFunction =>
      (w, r) => {
        const format = formatOf(w, r)
        checkFormat(format, w.generation)
        const bytes = texelBytes(format)
        located(
          w,
          (lane) => locateElement(w, r, lane, bytes, 'write'),
          (places, lane) => {
            const words = Array.from({ length: components }, (_, k) => w.vgpr(w.vgprOf(r.dst) + k, lane))
            const texel = encodeTexel(format, words, half)
            const pieceBytes = bytes / places.length
            for (const [k, place] of places.entries()) write(w, place, pieceBytes, texel >> BigInt(k * pieceBytes * 8))
          },
        )
      },
  }
}
