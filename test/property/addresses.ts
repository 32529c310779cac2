/** Random LDS and flat instructions whose lanes' addresses lie in all the ways that engines tell apart. */
import { decode } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import { operandsOf } from '../../host/codec/operands.ts'
import type { Operation } from '../../host/isa/operations.ts'
import type { Target } from '../../host/isa/targets.ts'
import { formsOf, randomMask } from './instructions.ts'
import { ADDRESS, dataPool, type Manner, type MemoryProgram, pick, randomManner, seldom, type Trial, VADDR } from './memory.ts'
import { fromPool, type Random, word32 } from './values.ts'

const TRIALS = 12
const LDS_BYTES = 0x4000
/** High dword of flat addresses of LDS (host/device/device.ts). */
const SHARED_APERTURE = 0x20000000
/** Bytes that the random places of tame programs span; what instructions add to them stays inside of LDS and memory. */
const SPAN = 0x800

/** Elements are of so many bytes: atomics fault where they are not aligned. */
const unitOf = ({ name }: Operation): number =>
  /(64|x2|x4|x3)$/.test(name) ? 8 : /(8|byte)$/.test(name) ? 1 : /(16|short)$/.test(name) ? 2 : 4

/** How the lanes' places lie: by themselves, all the same, at a distance, and so in each four lanes. */
function randomPlaces(random: Random, unit: number, aligned: boolean): Uint32Array {
  const step = aligned ? 8 : 1
  const place = () => step * random(SPAN / step)
  const [start, fours] = [place(), Array.from({ length: 16 }, place)]
  const distance = unit * pick(random, [1, 1, 2, 4])
  const make = pick<(lane: number) => number>(random, [
    () => place(),
    () => start,
    (lane) => start + distance * lane,
    (lane) => start + distance * (63 - lane),
    (lane) => fours[lane >> 2]! + unit * (lane & 3),
    (lane) => fours[lane >> 2]!,
  ])
  const places = Uint32Array.from({ length: 64 }, (_, lane) => make(lane))
  // One lane does otherwise than all others.
  if (random(3) === 0) places[random(64)] = place()
  return places
}

function randomInstruction(random: Random, operation: Operation, target: Target, { wild }: Manner): Instruction {
  const [format] = formsOf(operation, target)
  const isLds = operation.table === 'ds'
  // Of 64 elements each, or of a byte.
  const unit = operation.name.includes('st64') ? 1 : 8
  for (let attempt = 0; attempt < 100; attempt++) {
    const fields: Record<string, number> = { addr: VADDR, vdst: wild && random(3) === 0 ? VADDR - random(4) : random(20) }
    if (isLds)
      Object.assign(fields, { data0: random(16), data1: random(16), offset0: unit * random(16), offset1: unit * random(4), gds: 0 })
    else Object.assign(fields, { data: random(16), glc: random(2), slc: random(2), tfe: Number(wild && seldom(random)) })
    if (wild && isLds && random(2)) Object.assign(fields, { offset0: random(256), offset1: random(256) })
    // What an operation does not use is 0.
    const used = operandsOf(operation, format!).map(({ field }) => field)
    for (const name of Object.keys(fields)) if (!used.includes(name) && /^(addr|data|vdst)/.test(name)) fields[name] = 0
    const made: Instruction = { target, operation, format: format!, fields, literal: undefined, dwords: 2 }
    const read = decode(Uint32Array.from(encode(made)), 0, target)
    if (read?.operation === operation && read.format === format) return read
  }
  throw new Error(`no random instruction of ${operation.name} decodes on ${target.name}`)
}

export function randomProgram(random: Random, operation: Operation, target: Target): MemoryProgram {
  const manner = randomManner(random)
  const instructions = Array.from({ length: manner.length }, () => randomInstruction(random, operation, target, manner))
  const pool = dataPool(random)
  const aligned = /^(ds|flat_atomic)/.test(operation.name) && !/read|write|load|store/.test(operation.name)
  const randomTrial = (): Trial => {
    const vgprs = fromPool(random, pool, VADDR)
    const about = { inLds: operation.table === 'ds' || random(4) === 0, m0: manner.wild && random(2) ? random(LDS_BYTES + 16) : 0xffffffff }
    const places = randomPlaces(random, unitOf(operation), aligned && !(manner.wild && seldom(random)))
    if (manner.wild && random(2)) places[random(64)] = pick(random, [word32(random), LDS_BYTES - random(16), 0x10000 - random(16)])
    const isFlat = operation.table === 'flat'
    const low = isFlat && !about.inLds ? Number(ADDRESS & 0xffffffffn) : 0
    vgprs.set(
      VADDR,
      places.map((x) => x + low),
    )
    if (isFlat) {
      const highs = new Uint32Array(64).fill(about.inLds ? SHARED_APERTURE : Number(ADDRESS >> 32n))
      if (manner.wild && seldom(random)) highs[random(64)] = pick(random, [SHARED_APERTURE, SHARED_APERTURE + 1, 0])
      vgprs.set(VADDR + 1, highs)
    }
    return { about, state: { exec: randomMask(random), vgprs, m0: about.m0, ldsBytes: LDS_BYTES } }
  }
  return { instructions, trials: Array.from({ length: TRIALS }, randomTrial) }
}
