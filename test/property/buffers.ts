/** Random buffer instructions on random buffers. */
import { decode } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import type { WaveState } from '../../host/device/index.ts'
import type { Operation } from '../../host/isa/operations.ts'
import type { Target } from '../../host/isa/targets.ts'
import { formsOf, randomMask } from './instructions.ts'
import { ADDRESS, type MemoryProgram, pick, seldom, several, type Trial, VADDR } from './memory.ts'
import { type Random, registers, word32 } from './values.ts'

/** Buffers that a program runs on. */
const BUFFERS = 8

const SOFFSET = 4
const LDS_BYTES = 1024

/** An instruction that decodes to what it was made of. */
function randomInstruction(random: Random, operation: Operation, target: Target): Instruction {
  const [format] = formsOf(operation, target)
  for (let attempt = 0; attempt < 100; attempt++) {
    const fields: Record<string, number> = {
      offset: random(3) === 0 ? random(0x1000) : 4 * random(16),
      offen: random(2),
      idxen: random(2),
      glc: random(2),
      slc: random(2),
      tfe: Number(random(8) === 0),
      vaddr: VADDR,
      vdata: seldom(random) ? 248 + random(8) : random(16),
      srsrc: 0,
      soffset: random(3) ? 128 + 4 * random(16) : SOFFSET,
    }
    if ('addr64' in format!.fields && random(6) === 0) Object.assign(fields, { addr64: 1, offen: 0, idxen: 0 })
    else if ('addr64' in format!.fields) fields.addr64 = 0
    if (operation.table === 'mubuf') fields.lds = operation.name.includes('_lds_') ? 1 : Number(random(6) === 0)
    if (operation.name.includes('_lds_')) Object.assign(fields, { offen: 0, idxen: 0, tfe: 0, vaddr: 0 })
    if (operation.name.startsWith('buffer_wbinvl1')) for (const name of Object.keys(fields)) fields[name] = 0
    if (operation.table === 'mtbuf') Object.assign(fields, { dfmt: seldom(random) ? random(16) : 1 + random(14), nfmt: random(8) })
    const made: Instruction = { target, operation, format: format!, fields, literal: undefined, dwords: 2 }
    const read = decode(Uint32Array.from(encode(made)), 0, target)
    if (read?.operation === operation && read.format === format) return read
  }
  throw new Error(`no random instruction of ${operation.name} decodes on ${target.name}`)
}

/** A buffer that mostly lies in memory, its fields by name. */
const randomBuffer = (random: Random) => ({
  base: ADDRESS + BigInt(pick(random, [0, 0, 256, 4 * random(64), random(256)])) + (seldom(random) ? 0x10000n : 0n),
  stride: random(2) ? 0 : seldom(random) ? random(0x4000) : 4 * random(17),
  swizzle: random(4) === 0 ? 1 : 0,
  records: seldom(random) ? word32(random) : pick(random, [0x4000, 0x400, 64, random(256)]),
  select: random(2) ? 0o7654 : random(0x1000),
  nfmt: random(8),
  dfmt: seldom(random) ? random(16) : 1 + random(14),
  elementSize: random(4),
  indexStride: random(4),
  addTid: random(6) === 0 ? 1 : 0,
})

const wordsOf = (b: ReturnType<typeof randomBuffer>): number[] => [
  Number(b.base & 0xffffffffn),
  (Number(b.base >> 32n) | (b.stride << 16) | (b.swizzle << 31)) >>> 0,
  b.records,
  b.select | (b.nfmt << 12) | (b.dfmt << 15) | (b.elementSize << 19) | (b.indexStride << 21) | (b.addTid << 23),
]

/** An index, or an offset: mostly small and mostly a multiple of 8, so that atomics are aligned. */
const randomOffset = (random: Random): number => (seldom(random) ? word32(random) : random(3) ? 8 * random(24) : random(64))

function randomTrial(random: Random, isAddr64: boolean): Trial {
  const about = randomBuffer(random)
  const addresses = [0, 1].map((k) => Uint32Array.from({ length: 64 }, () => (isAddr64 && k === 1 ? 0 : randomOffset(random))))
  const rows = [...registers(random, ['f32', 'i32', 'f16'], VADDR, 64), ...addresses]
  const state: WaveState = {
    exec: randomMask(random),
    sgprs: new Map([...wordsOf(about), random(2) ? 4 * random(64) : random(64)].map((word, i) => [i, word])),
    vgprs: new Map(rows.map((row, vgpr) => [vgpr, row])),
    m0: 4 * random(64),
    ldsBytes: LDS_BYTES,
  }
  return { about, state }
}

export function randomProgram(random: Random, operation: Operation, target: Target): MemoryProgram {
  const instructions = several(() => randomInstruction(random, operation, target))
  const isAddr64 = instructions.some(({ fields }) => fields.addr64 === 1)
  const trials = Array.from({ length: BUFFERS }, () => randomTrial(random, isAddr64))
  return { instructions, trials }
}
