/** Random image instructions on random images. */
import type { Instruction } from '../../host/codec/instruction.ts'
import type { WaveState } from '../../host/device/index.ts'
import { FORMATS } from '../../host/isa/formats.ts'
import type { Operation } from '../../host/isa/operations.ts'
import type { Target } from '../../host/isa/targets.ts'
import { isImageNumber } from '../../host/reference/format.ts'
import { descriptorOf, type Image } from '../images/descriptor.ts'
import { randomMask } from './instructions.ts'
import { ADDRESS, dataPool, isFormat, type Manner, type MemoryProgram, pick, randomManner, seldom, type Trial, VADDR } from './memory.ts'
import { fromPool, type Pool, type Random, word32 } from './values.ts'

/** Images that a program runs on. */
const IMAGES = 12

const VDATA = 16

/** What the images of a program have in common, so that its instructions suit most of them. */
interface Kind {
  readonly layered: boolean
  /** Data formats to choose from. */
  readonly formats: readonly number[]
}
const ATOMIC_FORMATS = [[4], [11]] as const
const DATA_FORMATS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19]
const randomKind = (random: Random, { name }: Operation): Kind => ({
  layered: random(2) === 0,
  formats: name.includes('atomic') ? pick(random, ATOMIC_FORMATS) : name.endsWith('sgn') ? [1, 2, 4] : DATA_FORMATS,
})

/** An image of which all texels can be accessed and lie in memory. */
function tameImage(random: Random, target: Target, { layered, formats }: Kind): Image {
  const type = pick(random, layered ? (['cube', '1d array', '2d array'] as const) : (['1d', '2d', '3d'] as const))
  const [dataFormat, numberFormat] = randomFormat(random, target, formats)
  // Texels of 12 bytes have no levels.
  const hasLevels = dataFormat !== 13 && random(2) === 0
  const baseLevel = hasLevels ? random(3) : 0
  const baseArray = random(3) ? 0 : random(3)
  return {
    type,
    address: ADDRESS + 256n * BigInt(random(4)),
    dataFormat,
    numberFormat,
    width: 1 + random(16),
    height: 1 + random(8),
    depth: 1 + random(type === 'cube' ? 1 : 4),
    pitch: 1 + random(16),
    padded: hasLevels || random(4) > 0,
    select: random(2) ? [4, 5, 6, 7] : [pick(random, SELECTS), pick(random, SELECTS), pick(random, SELECTS), pick(random, SELECTS)],
    levels: [baseLevel, baseLevel + (hasLevels ? random(4) : 0)],
    layers: [baseArray, baseArray + random(4)],
    tiling: 8,
    interlaced: false,
    compressed: false,
  }
}
const SELECTS = [0, 1, 4, 5, 6, 7]

function randomFormat(random: Random, target: Target, formats: readonly number[]): readonly [data: number, number: number] {
  for (;;) {
    const [data, number] = [pick(random, formats), random(8)]
    if (isFormat(data, number, target) && isImageNumber({ data, number, select: [] })) return [data, number]
  }
}

/** An image that mostly can be accessed and mostly lies in memory. */
function wildImage(random: Random, { layered, formats }: Kind): Image {
  const type = pick(random, layered ? (['cube', '1d array', '2d array'] as const) : (['1d', '2d', '3d'] as const))
  const baseLevel = random(3) ? 0 : random(4)
  const baseArray = random(3) ? 0 : random(4)
  const height = 1 + random(12)
  return {
    type: seldom(random) ? random(16) : type,
    address: ADDRESS + 256n * BigInt(random(4)) + (seldom(random) ? 0x10000n : 0n),
    dataFormat: seldom(random) ? random(64) : pick(random, formats),
    numberFormat: seldom(random) ? random(16) : random(8),
    width: 1 + random(24),
    height,
    depth: 1 + random(5),
    pitch: seldom(random) ? 1 + random(0x4000) : 1 + random(40),
    padded: random(4) > 0,
    select: random(2) ? [4, 5, 6, 7] : [random(8), random(8), random(8), random(8)],
    levels: [baseLevel, seldom(random) ? random(16) : baseLevel + random(4)],
    layers: [baseArray, seldom(random) ? random(16) : baseArray + random(13)],
    tiling: seldom(random) ? random(32) : 8,
    interlaced: seldom(random),
    compressed: seldom(random),
  }
}

function randomInstruction(
  random: Random,
  operation: Operation,
  target: Target,
  { layered, formats }: Kind,
  { wild }: Manner,
): Instruction {
  const format = FORMATS.find(({ name, generations }) => name === 'mimg' && generations.includes(target.generation))!
  const dwords = formats[0] === 11 ? 2 : 1
  const whole = (1 << (operation.name.endsWith('cmpswap') ? 2 * dwords : dwords)) - 1
  const isAtomic = operation.name.includes('atomic')
  const isOdd = () => wild && seldom(random)
  const takesHalves = /^image_(load|store)(_mip)?$/.test(operation.name) && target.generation === 'gfx8'
  const fields = {
    dmask: isAtomic && !isOdd() ? whole : random(16),
    unorm: random(2),
    glc: random(2),
    da: Number(isOdd() ? random(2) : layered),
    r128: Number(wild && random(12) === 0),
    tfe: Number(random(6) === 0),
    lwe: Number(random(6) === 0),
    slc: random(2),
    vaddr: isOdd() ? 250 + random(6) : VADDR,
    vdata: isOdd() ? 248 + random(8) : random(VDATA),
    srsrc: 0,
    ssamp: 0,
    d16: Number(takesHalves || wild ? random(takesHalves ? 3 : 24) === 0 : false),
  }
  return { target, operation, format, fields, literal: undefined, dwords: 2 }
}

/** A coordinate: mostly one that there is. */
const randomCoordinate = (random: Random, size: number): number => {
  const kind = random(16)
  if (kind === 0) return word32(random)
  return kind === 1 ? size - 1 + random(3) : random(size)
}

function randomState(random: Random, image: Image, pool: Pool): WaveState {
  // Level, z and layer stand where the type has them, so all but the first register are of any kind.
  const sizes = [image.width, pick(random, [image.height!, 4]), pick(random, [image.depth!, 12, 2]), 3]
  const vgprs = fromPool(random, pool, VADDR)
  for (const [k, size] of sizes.entries())
    vgprs.set(
      VADDR + k,
      Uint32Array.from({ length: 64 }, () => randomCoordinate(random, size)),
    )
  return {
    exec: randomMask(random),
    sgprs: new Map(descriptorOf(image).map((word, i) => [i, word])),
    vgprs,
    ldsBytes: 64,
  }
}

export function randomProgram(random: Random, operation: Operation, target: Target): MemoryProgram {
  const manner = randomManner(random)
  const kind = randomKind(random, operation)
  const instructions = Array.from({ length: manner.length }, () => randomInstruction(random, operation, target, kind, manner))
  const pool = dataPool(random)
  const randomTrial = (): Trial => {
    const about = manner.wild ? wildImage(random, kind) : tameImage(random, target, kind)
    return { about, state: randomState(random, about, pool) }
  }
  return { instructions, trials: Array.from({ length: IMAGES }, randomTrial) }
}
