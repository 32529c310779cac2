/** Image operations on single texels (GCN3 manual, "Vector Memory Image Instructions"; docs/images.md has the rules in full). */
import { FaultCode } from '../engine.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { FLAG_GLC, FLAG_TFE, IMM_D16, IMM_DMASK } from '../plan/record.ts'
import * as atomics from './atomics.ts'
import { Fault } from './fault.ts'
import { componentCount, decodeTexel, encodeTexel } from './format.ts'
import { checkAddress, type Image, imageSize, locateTexel, locateWhole, readImage, sizeAt } from './image.ts'
import { type Place, read, write } from './memory.ts'
import { readLane, writeLane } from './registers.ts'
import type { WaveFunction } from './scalar.ts'
import { isCompareSwap, located } from './vector-memory.ts'
import type { Wave } from './wave.ts'

/** Which components registers hold, lowest first; no DMASK is that of x. */
const componentsOf = (r: PlanRecord): number[] => [0, 1, 2, 3].filter((k) => (r.imm & IMM_DMASK || 1) & (1 << k))
const vdata = (w: Wave, r: PlanRecord): number => w.vgprOf(r.dst)
const hasStatus = (r: PlanRecord): boolean => (r.flags & FLAG_TFE) !== 0
const isHalf = (r: PlanRecord): boolean => (r.imm & IMM_D16) !== 0

/** @throws {Fault} Unsupported, where D16 is set and may not be */
function checkHalf(w: Wave, r: PlanRecord, allowed: boolean): void {
  if (isHalf(r) && !(allowed && w.generation === 'gfx8')) throw new Fault(FaultCode.Unsupported)
}

/** Writes those of a texel's four words that DMASK has, then the status: nothing here is ever not resident. */
function writeComponents(w: Wave, r: PlanRecord, lane: number, words: readonly number[]): void {
  const components = componentsOf(r)
  for (const [k, component] of components.entries()) w.setVgpr(vdata(w, r) + k, lane, words[component]!)
  if (hasStatus(r)) w.setVgpr(vdata(w, r) + components.length, lane, 0)
}

/** Four words, of which DMASK says which registers hold; the others are 0. */
function readComponents(w: Wave, r: PlanRecord, lane: number): number[] {
  const components = componentsOf(r)
  return [0, 1, 2, 3].map((component) => {
    const k = components.indexOf(component)
    return k < 0 ? 0 : w.vgpr(vdata(w, r) + k, lane)
  })
}

/** A texel's bytes as one number; undefined where it is out of range. */
function readTexel(w: Wave, { texelBytes }: Image, places: readonly Place[]): bigint | undefined {
  if (places.length === 0) return undefined
  const bytes = texelBytes / places.length
  return places.reduce((all, place, k) => all | (read(w, place, bytes) << BigInt(k * bytes * 8)), 0n)
}

function writeTexel(w: Wave, { texelBytes }: Image, places: readonly Place[], texel: bigint): void {
  const bytes = texelBytes / places.length
  for (const [k, place] of places.entries()) write(w, place, bytes, texel >> BigInt(k * bytes * 8))
}

/** How an instruction reads and writes texels: four words to a texel. */
interface Conversion {
  readonly half: boolean
  check?(image: Image): void
  decode(image: Image, texel: bigint | undefined, half: boolean): readonly number[]
  encode(image: Image, words: readonly number[], half: boolean): bigint
}

/** By the resource's format and selection. */
const FORMATTED: Conversion = { half: true, decode: decodeTexel, encode: encodeTexel }

const dwords = (texel: bigint): number[] => [0n, 1n, 2n, 3n].map((k) => Number(BigInt.asUintN(32, texel >> (32n * k))))

/** As it stands, dword by dword. */
const PACKED: Conversion = {
  half: false,
  decode: (_, texel = 0n) => dwords(texel),
  encode: (_, words) => words.reduceRight((all, word) => (all << 32n) | BigInt(word), 0n),
}

/** A single component, extended by its sign. */
const PACKED_SIGNED: Conversion = {
  ...PACKED,
  check(image) {
    if (componentCount(image) !== 1) throw new Fault(FaultCode.Unsupported)
  },
  decode({ texelBytes }, texel = 0n) {
    return [...dwords(BigInt.asUintN(32, BigInt.asIntN(texelBytes * 8, texel))).slice(0, 1), 0, 0, 0]
  },
}

/** @throws {Fault} Unsupported, or Register */
function imageOf(w: Wave, r: PlanRecord, mip: boolean, conversion: Conversion): Image {
  checkHalf(w, r, conversion.half)
  const image = readImage(w, r)
  conversion.check?.(image)
  checkAddress(w, r, image, mip)
  return image
}

const load =
  (conversion: Conversion, mip = false): WaveFunction =>
  (w, r) => {
    const image = imageOf(w, r, mip, conversion)
    located(
      w,
      (lane) => locateTexel(w, r, lane, image, mip, 'read'),
      (places, lane) => writeComponents(w, r, lane, conversion.decode(image, readTexel(w, image, places), isHalf(r))),
    )
  }

const store =
  (conversion: Conversion, mip = false): WaveFunction =>
  (w, r) => {
    const image = imageOf(w, r, mip, conversion)
    located(
      w,
      (lane) => locateTexel(w, r, lane, image, mip, 'write'),
      (places, lane) => writeTexel(w, image, places, conversion.encode(image, readComponents(w, r, lane), isHalf(r))),
    )
  }

export const image_load = load(FORMATTED)
export const image_load_mip = load(FORMATTED, true)
export const image_load_pck = load(PACKED)
export const image_load_pck_sgn = load(PACKED_SIGNED)
export const image_load_mip_pck = load(PACKED, true)
export const image_load_mip_pck_sgn = load(PACKED_SIGNED, true)
export const image_store = store(FORMATTED)
export const image_store_mip = store(FORMATTED, true)
export const image_store_pck = store(PACKED)
export const image_store_mip_pck = store(PACKED, true)

const DATA_FORMAT_32 = 4
const DATA_FORMAT_32_32 = 11

/** Dwords of an atomic's texel. @throws {Fault} Unsupported, for formats and DMASKs that atomics cannot have */
function atomicDwords(r: PlanRecord, { data }: Image, operands: number): number {
  const count = data === DATA_FORMAT_32 ? 1 : data === DATA_FORMAT_32_32 ? 2 : 0
  if (count === 0 || (r.imm & IMM_DMASK) !== 2 ** (count * operands) - 1) throw new Fault(FaultCode.Unsupported)
  return count
}

/** Data is the new value, then what is compared with; with GLC the old value comes back, and the status behind it. */
const atomic =
  (f: atomics.Atomic): WaveFunction =>
  (w, r) => {
    checkHalf(w, r, false)
    const image = readImage(w, r)
    const count = atomicDwords(r, image, isCompareSwap(f) ? 2 : 1)
    checkAddress(w, r, image, false)
    const data = vdata(w, r)
    located(
      w,
      (lane) => locateWhole(w, r, lane, image, 'write'),
      (places, lane) => {
        const old = readTexel(w, image, places) ?? 0n
        const second = isCompareSwap(f) ? readLane(w, data + count, lane, count) : 0n
        const value = BigInt.asUintN(count * 32, f(old, readLane(w, data, lane, count), count * 32, second))
        if (places.length > 0) writeTexel(w, image, places, value)
        if (!(r.flags & FLAG_GLC)) return
        writeLane(w, data, lane, count, old)
        if (hasStatus(r)) w.setVgpr(data + count, lane, 0)
      },
    )
  }

export const image_atomic_swap = atomic(atomics.swap)
export const image_atomic_cmpswap = atomic(atomics.compareSwap)
export const image_atomic_add = atomic(atomics.sum)
export const image_atomic_sub = atomic(atomics.difference)
export const image_atomic_rsub = atomic(atomics.reversedDifference)
export const image_atomic_smin = atomic(atomics.minSigned)
export const image_atomic_umin = atomic(atomics.minUnsigned)
export const image_atomic_smax = atomic(atomics.maxSigned)
export const image_atomic_umax = atomic(atomics.maxUnsigned)
export const image_atomic_and = atomic(atomics.and)
export const image_atomic_or = atomic(atomics.or)
export const image_atomic_xor = atomic(atomics.xor)
export const image_atomic_inc = atomic(atomics.increment)
export const image_atomic_dec = atomic(atomics.decrement)
export const image_atomic_fcmpswap = atomic(atomics.compareSwapFloat)
export const image_atomic_fmin = atomic(atomics.minFloat)
export const image_atomic_fmax = atomic(atomics.maxFloat)

/** Width, height or layers, depth or layers, and levels, at the level that VADDR says. */
export const image_get_resinfo: WaveFunction = (w, r) => {
  checkHalf(w, r, false)
  const { coordinates, layered, width, height, depth, baseLevel, levels, layers } = imageSize(w, r)
  for (const lane of w.activeLanes()) {
    const level = w.vgpr(w.vgprOf(r.sources[0]), lane)
    const sizes = [width, height, depth].slice(0, coordinates).map((size) => sizeAt(size, baseLevel + level))
    const all = [...sizes, ...(layered ? [layers >>> 0] : []), 0, 0].slice(0, 3)
    writeComponents(w, r, lane, [...(level < levels ? all : [0, 0, 0]), levels >>> 0])
  }
}
