/** Random image instructions on random images. */
import type { Instruction } from '../../host/codec/instruction.ts'
import type { WaveState } from '../../host/device/index.ts'
import { FORMATS } from '../../host/isa/formats.ts'
import type { Operation } from '../../host/isa/operations.ts'
import type { Target } from '../../host/isa/targets.ts'
import { descriptorOf, type Image } from '../images/descriptor.ts'
import { randomMask } from './instructions.ts'
import { ADDRESS, type MemoryProgram, pick, seldom, several, VADDR } from './memory.ts'
import { type Random, registers, word32 } from './values.ts'

/** Images that a program runs on. */
const IMAGES = 8

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

/** An image that mostly can be accessed and mostly lies in memory. */
function randomImage(random: Random, { layered, formats }: Kind): Image {
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

function randomInstruction(random: Random, operation: Operation, target: Target, { layered, formats }: Kind): Instruction {
  const format = FORMATS.find(({ name, generations }) => name === 'mimg' && generations.includes(target.generation))!
  const dwords = formats[0] === 11 ? 2 : 1
  const whole = (1 << (operation.name.endsWith('cmpswap') ? 2 * dwords : dwords)) - 1
  const isAtomic = operation.name.includes('atomic')
  const fields = {
    dmask: isAtomic && !seldom(random) ? whole : random(16),
    unorm: random(2),
    glc: random(2),
    da: Number(seldom(random) ? random(2) : layered),
    r128: Number(random(12) === 0),
    tfe: Number(random(6) === 0),
    lwe: Number(random(6) === 0),
    slc: random(2),
    vaddr: seldom(random) ? 250 + random(6) : VADDR,
    vdata: seldom(random) ? 248 + random(8) : random(VDATA),
    srsrc: 0,
    ssamp: 0,
    d16: isAtomic ? 0 : Number(target.generation === 'gfx8' ? random(3) === 0 : seldom(random)),
  }
  return { target, operation, format, fields, literal: undefined, dwords: 2 }
}

/** A coordinate: mostly one that there is. */
const randomCoordinate = (random: Random, size: number): number => {
  const kind = random(16)
  if (kind === 0) return word32(random)
  return kind === 1 ? size - 1 + random(3) : random(size)
}

function randomState(random: Random, image: Image): WaveState {
  const data = registers(random, ['f32', 'i32', 'f16'], VADDR, 64)
  // Level, z and layer stand where the type has them, so all but the first register are of any kind.
  const sizes = [image.width, pick(random, [image.height!, 4]), pick(random, [image.depth!, 12, 2]), 3]
  const addresses = sizes.map((size) => Uint32Array.from({ length: 64 }, () => randomCoordinate(random, size)))
  const rows = [...data, ...addresses]
  return {
    exec: randomMask(random),
    sgprs: new Map(descriptorOf(image).map((word, i) => [i, word])),
    vgprs: new Map(rows.map((row, vgpr) => [vgpr, row])),
    ldsBytes: 64,
  }
}

export function randomProgram(random: Random, operation: Operation, target: Target): MemoryProgram {
  const kind = randomKind(random, operation)
  const instructions = several(() => randomInstruction(random, operation, target, kind))
  const images = Array.from({ length: IMAGES }, () => randomImage(random, kind))
  return { instructions, trials: images.map((about) => ({ about, state: randomState(random, about) })) }
}
