/** Images: the resource, and where its texels are. The rules, and where they come from: docs/images.md. */
import { FaultCode } from '../engine.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { IMM_DA, IMM_R128 } from '../plan/record.ts'
import { Fault } from './fault.ts'
import { checkFormat, isImageNumber, texelBytes } from './format.ts'
import { type Access, locate, type Place } from './memory.ts'
import { scalarOf, type Wave } from './wave.ts'

/** TYPE of a resource that is an image. */
const DIMENSIONS = {
  8: { coordinates: 1, layered: false },
  9: { coordinates: 2, layered: false },
  10: { coordinates: 3, layered: false },
  11: { coordinates: 2, layered: true },
  12: { coordinates: 1, layered: true },
  13: { coordinates: 2, layered: true },
} as const
const IMG_3D = 10
const IMG_CUBE = 11
const CUBE_FACES = 6
const LINEAR_ALIGNED = 8

/** An image as a resource describes it: all that does not depend on how its texels are stored. */
export interface ImageSize {
  readonly type: keyof typeof DIMENSIONS
  /** Coordinates within a layer: x, or x and y, or x, y and z. */
  readonly coordinates: number
  /** Whether a layer follows them. */
  readonly layered: boolean
  /** Texels of level 0. */
  readonly width: number
  readonly height: number
  readonly depth: number
  readonly baseLevel: number
  /** Levels and layers that can be reached; 0 or less where the last comes before the first. */
  readonly levels: number
  readonly layers: number
}

/** An image whose texels can be found. */
export interface Image extends ImageSize {
  readonly base: bigint
  readonly data: number
  readonly number: number
  readonly select: readonly number[]
  readonly texelBytes: number
  /** Texels from row to row of level 0. */
  readonly pitch: number
  readonly padded: boolean
  readonly baseArray: number
  /** Slices of level 0, all of them. */
  readonly slices: number
}

const unsupported = (lane?: number): never => {
  throw new Fault(FaultCode.Unsupported, lane)
}

const bits = (word: number, low: number, count: number): number => (word >>> low) & (2 ** count - 1)

function resourceWords(w: Wave, r: PlanRecord): number[] {
  const first = scalarOf(r.sources[1])
  const count = r.imm & IMM_R128 ? 4 : 8
  return Array.from({ length: 8 }, (_, k) => (k < count ? w.scalar(first + k) : 0))
}

/** @throws {Fault} Unsupported */
export const imageSize = (w: Wave, r: PlanRecord): ImageSize => sizeOf(resourceWords(w, r), r)

function sizeOf(words: readonly number[], r: PlanRecord): ImageSize {
  const [, , word2, word3, word4, word5] = words as [number, number, number, number, number, number]
  const type = bits(word3, 28, 4) as keyof typeof DIMENSIONS
  const dimensions = DIMENSIONS[type] ?? unsupported()
  if (dimensions.layered !== ((r.imm & IMM_DA) !== 0)) unsupported()
  // The short resource has no words for layers and depth.
  if (r.imm & IMM_R128 && type !== 8 && type !== 9) unsupported()
  const baseLevel = bits(word3, 12, 4)
  return {
    type,
    ...dimensions,
    width: bits(word2, 0, 14) + 1,
    height: dimensions.coordinates === 1 ? 1 : bits(word2, 14, 14) + 1,
    depth: type === IMG_3D ? bits(word4, 0, 13) + 1 : 1,
    baseLevel,
    levels: bits(word3, 16, 4) - baseLevel + 1,
    layers: bits(word5, 13, 13) - bits(word5, 0, 13) + 1,
  }
}

/** @throws {Fault} Unsupported, for what docs/images.md calls so */
export function readImage(w: Wave, r: PlanRecord): Image {
  const words = resourceWords(w, r)
  const [word0, word1, word2, word3, word4, word5, word6] = words as [number, number, number, number, number, number, number]
  const size = sizeOf(words, r)
  const format = { data: bits(word1, 20, 6), number: bits(word1, 26, 4), select: [0, 3, 6, 9].map((low) => bits(word3, low, 3)) }
  if (!isImageNumber(format)) unsupported()
  checkFormat(format, w.generation)
  const bytes = texelBytes(format)
  const isInterlaced = bits(word2, 31, 1) !== 0
  const isCompressed = w.generation === 'gfx8' && bits(word6, 21, 1) !== 0
  if (isInterlaced || isCompressed || bits(word3, 20, 5) !== LINEAR_ALIGNED) unsupported()
  return {
    ...size,
    ...format,
    base: (BigInt(bits(word1, 0, 8)) << 40n) | (BigInt(word0) << 8n),
    texelBytes: bytes,
    pitch: r.imm & IMM_R128 ? roundUp(size.width, pitchAlign(bytes)) : bits(word4, 13, 14) + 1,
    padded: bits(word3, 25, 1) !== 0,
    baseArray: size.layered ? bits(word5, 0, 13) : 0,
    slices: size.layered ? (bits(word4, 0, 13) + 1) * (size.type === IMG_CUBE ? CUBE_FACES : 1) : size.depth,
  }
}

/** Whether it is known where levels behind level 0 are. */
const hasLevels = ({ padded, texelBytes }: Image): boolean => padded && texelBytes !== 12

const roundUp = (n: number, multiple: number): number => Math.ceil(n / multiple) * multiple
const nextPowerOf2 = (n: number): number => 2 ** Math.ceil(Math.log2(n))
/** Texels. */
const pitchAlign = (bytes: number): number => Math.max(8, 64 / bytes)

/** A size at a level, counted from level 0. */
export const sizeAt = (size: number, level: number): number => Math.max(1, Math.floor(size / 2 ** level))

interface Level {
  /** Bytes from the base. */
  readonly start: number
  /** Texels. */
  readonly pitch: number
  readonly sliceBytes: number
}

/** Where a level is, counted from level 0: they stand one behind another. */
function levelOf(image: Image, level: number): Level {
  const { texelBytes: bytes, padded, type, slices } = image
  const height = sizeAt(image.height, level)
  const rows = padded ? nextPowerOf2(height) : height
  let pitch = image.pitch
  if (level > 0) {
    pitch = roundUp(nextPowerOf2(sizeAt(image.pitch, level)), pitchAlign(bytes))
    while ((pitch * rows) % Math.max(64, 256 / bytes) !== 0) pitch += pitchAlign(bytes)
  }
  if (level === 0) return { start: 0, pitch, sliceBytes: pitch * rows * bytes }
  const before = levelOf(image, level - 1)
  const slicesBefore = nextPowerOf2(type === IMG_3D ? sizeAt(slices, level - 1) : slices)
  return { start: roundUp(before.start + slicesBefore * before.sliceBytes, 256), pitch, sliceBytes: pitch * rows * bytes }
}

/** Registers of an address; `mip` is a level behind the coordinates. */
const addressDwords = ({ coordinates, layered }: ImageSize, mip: boolean): number => coordinates + Number(layered) + Number(mip)

/** Whether the wave has the registers of an address. @throws {Fault} Register */
export function checkAddress(w: Wave, r: PlanRecord, image: ImageSize, mip: boolean): void {
  const last = w.vgprOf(r.sources[0]) + addressDwords(image, mip) - 1
  if (last >= w.vgprCount) throw new Fault(FaultCode.Register, undefined, BigInt(last), 4)
}

const ADDRESS_MASK = (1n << 48n) - 1n

/** Guest address of a lane's texel; undefined where it is out of range. @throws {Fault} Unsupported */
function texelAddress(w: Wave, r: PlanRecord, lane: number, image: Image, mip: boolean): bigint | undefined {
  const { coordinates, layered, baseLevel, levels, layers } = image
  const given = Array.from({ length: addressDwords(image, mip) }, (_, k) => w.vgpr(w.vgprOf(r.sources[0]) + k, lane))
  const level = mip ? given.at(-1)! : 0
  if (level >= levels) return undefined
  const sizes = [image.width, image.height, image.depth]
  for (let k = 0; k < coordinates; k++) if (given[k]! >= sizeAt(sizes[k]!, baseLevel + level)) return undefined
  const layer = layered ? given[coordinates]! : 0
  if (layered && layer >= layers) return undefined
  // A level that all lanes have is not the lane's fault.
  if (baseLevel + level > 0 && !hasLevels(image)) unsupported(baseLevel > 0 ? undefined : lane)
  const { start, pitch, sliceBytes } = levelOf(image, baseLevel + level)
  const slice = coordinates === 3 ? given[2]! : image.baseArray + layer
  const row = coordinates === 1 ? 0 : given[1]!
  return (
    (image.base + BigInt(start) + BigInt(slice) * BigInt(sliceBytes) + BigInt((row * pitch + given[0]!) * image.texelBytes)) & ADDRESS_MASK
  )
}

/** The place of a lane's texel as a whole, as atomics want it; none where it is out of range. @throws {Fault} */
export function locateWhole(w: Wave, r: PlanRecord, lane: number, image: Image, access: Access): readonly Place[] {
  const address = texelAddress(w, r, lane, image, false)
  return address === undefined ? [] : [locate(w, address, image.texelBytes, access, lane)]
}

/** The places of a lane's texel, dword by dword where it has some; none where it is out of range. @throws {Fault} */
export function locateTexel(w: Wave, r: PlanRecord, lane: number, image: Image, mip: boolean, access: Access): readonly Place[] {
  const address = texelAddress(w, r, lane, image, mip)
  if (address === undefined) return []
  const bytes = Math.min(4, image.texelBytes)
  const pieces = Array.from({ length: image.texelBytes / bytes }, (_, k) => (address + BigInt(k * bytes)) & ADDRESS_MASK)
  return pieces.map((at) => locate(w, at, bytes, access, lane))
}
