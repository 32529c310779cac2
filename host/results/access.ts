/** What a memory instruction is about to touch, from its fields and the wave's registers: bytes, and how the lanes lie. For statistics only. */
import type { Instruction } from '../codec/instruction.ts'
import type { Wave } from '../device/index.ts'
import { EXEC_HI, EXEC_LO } from '../plan/layout.ts'

/** An access of all active lanes. */
export interface Access {
  readonly readBytes: number
  readonly writtenBytes: number
  /** Of vector memory with at least two active lanes; one lane alone is `same`. */
  readonly pattern: 'contiguous' | 'same' | 'scattered' | undefined
}

/** What an instruction will access; undefined where it touches no memory. */
export function accessOf(instruction: Instruction, wave: Wave): Access | undefined {
  const { table, name } = instruction.operation
  if (table === 'smem') {
    const bytes = name.includes('_load_') ? 4 * dwordsOfName(name) : 0
    return bytes === 0 ? undefined : { readBytes: bytes, writtenBytes: 0, pattern: undefined }
  }
  if (table !== 'ds' && table !== 'flat' && table !== 'mubuf' && table !== 'mtbuf') return undefined
  const lanes = lanesOf(wave)
  const bytes = elementBytes(name)
  if (bytes === 0 || lanes.length === 0) return undefined
  const total = lanes.length * bytes
  const atomic = isAtomic(instruction)
  const stores = /_(store|write|wrxchg)/.test(name)
  const pattern = table === 'ds' ? undefined : patternOf(addresses(instruction, wave, lanes), lanes, bytes)
  return { readBytes: atomic || !stores ? total : 0, writtenBytes: atomic || stores ? total : 0, pattern }
}

const isAtomic = ({ operation: { name, table } }: Instruction): boolean =>
  name.includes('atomic') || (table === 'ds' && !/^ds_(read|write\d?_?(st64_)?b|swizzle|permute|bpermute)/.test(name))

/** Dwords of a scalar load: s_load_dwordx4. */
const dwordsOfName = (name: string): number => Number(/dwordx(\d+)$/.exec(name)?.[1] ?? 1)

/** Bytes a lane by the manual's names of sizes; 0 where an instruction moves data between lanes only. */
function elementBytes(name: string): number {
  if (/^ds_(swizzle|permute|bpermute|nop|gws|consume|append|ordered)|wbinvl1/.test(name)) return 0
  const unit = unitBytes(name)
  return /^ds_(read|write|wrxchg)2/.test(name) ? 2 * unit : unit
}

function unitBytes(name: string): number {
  const dwords = /dwordx(\d)/.exec(name)
  if (dwords !== null) return 4 * Number(dwords[1])
  if (/byte|_[iu]8$|_b8$/.test(name)) return 1
  if (/short|_[iu]16$|_b16$/.test(name)) return 2
  const components = /_format_(?:d16_)?(x+y?z?w?)$/.exec(name)
  if (components !== null) return 4 * components[1]!.length
  const bits = /_[biuf](32|64|96|128)$/.exec(name)
  if (bits !== null) return Number(bits[1]) / 8
  return /_x2$/.test(name) ? 8 : 4
}

/** The active lanes. */
function lanesOf(wave: Wave): number[] {
  const exec = [wave.sgpr(EXEC_LO), wave.sgpr(EXEC_HI)]
  const lanes: number[] = []
  for (let lane = 0; lane < wave.size; lane++) if ((exec[lane >>> 5]! >>> (lane & 31)) & 1) lanes.push(lane)
  return lanes
}

/** Addresses of the lanes, up to what is the same for all of them. */
function addresses({ operation: { table }, fields }: Instruction, wave: Wave, lanes: readonly number[]): number[] {
  const vgpr = (register: number): Uint32Array => (register < wave.vgprCount ? wave.vgpr(register) : new Uint32Array(wave.size))
  if (table === 'flat') {
    const low = vgpr(fields.addr!)
    const high = vgpr(fields.addr! + 1)
    return lanes.map((lane) => high[lane]! * 2 ** 32 + low[lane]!)
  }
  const { vaddr = 0, idxen = 0, offen = 0, addr64 = 0, srsrc = 0 } = fields
  if (addr64) {
    const low = vgpr(vaddr)
    const high = vgpr(vaddr + 1)
    return lanes.map((lane) => high[lane]! * 2 ** 32 + low[lane]!)
  }
  const word1 = wave.sgpr((srsrc * 4 + 1) & 127)
  const word3 = wave.sgpr((srsrc * 4 + 3) & 127)
  const stride = (word1 >>> 16) & 0x3fff
  const index = idxen ? vgpr(vaddr) : undefined
  const offset = offen ? vgpr(vaddr + idxen) : undefined
  const addThread = (word3 >>> 23) & 1
  const swizzled = word1 >>> 31 === 1
  return lanes.map((lane) => {
    const item = (index?.[lane] ?? 0) + (addThread ? lane : 0)
    const byte = offset?.[lane] ?? 0
    return swizzled ? swizzle(item, byte, word1, word3) : item * stride + byte
  })
}

/** Interleaved elements (GCN3 manual, 8.1.5, "Swizzled Buffer Addressing"). */
function swizzle(item: number, byte: number, word1: number, word3: number): number {
  const stride = (word1 >>> 16) & 0x3fff
  const elementBytes = 2 << ((word3 >>> 19) & 3)
  const indexStride = 8 << ((word3 >>> 21) & 3)
  const row = Math.floor(item / indexStride) * stride + Math.floor(byte / elementBytes) * elementBytes
  return row * indexStride + (item % indexStride) * elementBytes + (byte % elementBytes)
}

/** Lanes that are switched off leave gaps of their size. */
function patternOf(places: readonly number[], lanes: readonly number[], bytes: number): Access['pattern'] {
  if (places.every((place) => place === places[0])) return 'same'
  return places.every((place, i) => place - places[0]! === (lanes[i]! - lanes[0]!) * bytes) ? 'contiguous' : 'scattered'
}
