/** Random buffer instructions on random buffers. */
import { decode } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import type { Operation } from '../../host/isa/operations.ts'
import type { Target } from '../../host/isa/targets.ts'
import { formsOf, randomMask } from './instructions.ts'
import { ADDRESS, dataPool, isFormat, type Manner, type MemoryProgram, pick, randomManner, seldom, type Trial, VADDR } from './memory.ts'
import { fromPool, type Random, word32 } from './values.ts'

/** Buffers that a program runs on. */
const BUFFERS = 12

const SOFFSET = 4
const LDS_BYTES = 1024

/** Whether addresses must be aligned: so tame programs have nothing but multiples of 8 in them. */
const isAtomic = ({ name }: Operation): boolean => name.includes('atomic')

/** An instruction that decodes to what it was made of. */
function randomInstruction(random: Random, operation: Operation, target: Target, { wild }: Manner): Instruction {
  const [format] = formsOf(operation, target)
  const isLds = operation.name.includes('_lds_')
  const unit = !wild && isAtomic(operation) ? 8 : 4
  for (let attempt = 0; attempt < 100; attempt++) {
    const fields: Record<string, number> = {
      offset: unit === 4 && random(3) === 0 ? random(0x1000) : unit * random(16),
      offen: random(2),
      idxen: random(2),
      glc: random(2),
      slc: random(2),
      tfe: Number(random(8) === 0),
      vaddr: VADDR,
      vdata: wild && seldom(random) ? 248 + random(8) : random(16),
      srsrc: 0,
      soffset: random(3) ? 128 + unit * random(64 / unit) : SOFFSET,
    }
    if ('addr64' in format!.fields && random(6) === 0) Object.assign(fields, { addr64: 1, offen: 0, idxen: 0 })
    else if ('addr64' in format!.fields) fields.addr64 = 0
    if (operation.table === 'mubuf') fields.lds = isLds ? 1 : Number(wild && random(6) === 0)
    if (isLds) Object.assign(fields, { offen: 0, idxen: 0, tfe: 0, vaddr: 0 })
    if (operation.name.startsWith('buffer_wbinvl1')) for (const name of Object.keys(fields)) fields[name] = 0
    if (operation.table === 'mtbuf') Object.assign(fields, randomFormat(random, target, wild))
    const made: Instruction = { target, operation, format: format!, fields, literal: undefined, dwords: 2 }
    const read = decode(Uint32Array.from(encode(made)), 0, target)
    if (read?.operation === operation && read.format === format) return read
  }
  throw new Error(`no random instruction of ${operation.name} decodes on ${target.name}`)
}

function randomFormat(random: Random, target: Target, wild: boolean): { readonly dfmt: number; readonly nfmt: number } {
  for (;;) {
    const [dfmt, nfmt] = [seldom(random) ? random(16) : 1 + random(14), random(8)]
    if (wild || isFormat(dfmt, nfmt, target)) return { dfmt, nfmt }
  }
}

/** A buffer of which all that its number of records lets pass lies in memory. */
const tameBuffer = (random: Random, operation: Operation, target: Target) => {
  const unit = isAtomic(operation) ? 8 : 1
  return {
    base: ADDRESS + BigInt(pick(random, [0, 0, 256, unit * random(64)])),
    stride: random(2) ? 0 : 4 * Math.max(1, unit / 4) * random(9),
    swizzle: random(4) === 0 ? 1 : 0,
    records: pick(random, [0x400, 64, random(256)]),
    select: random(2) ? 0o7654 : random(0x1000),
    ...randomFormat(random, target, false),
    elementSize: random(4),
    indexStride: random(4),
    addTid: 0,
    ...(random(6) === 0 ? SCRATCH : {}),
  }
}

/** What makes scratch of a buffer: the dwords of the lanes side by side. */
const SCRATCH = { stride: 0, swizzle: 1, records: 0x200, elementSize: 1, indexStride: 3, addTid: 1 }

/** A buffer that mostly lies in memory, its fields by name. */
const wildBuffer = (random: Random, target: Target) => ({
  base: ADDRESS + BigInt(pick(random, [0, 0, 256, 4 * random(64), random(256)])) + (seldom(random) ? 0x10000n : 0n),
  stride: random(2) ? 0 : seldom(random) ? random(0x4000) : 4 * random(17),
  swizzle: random(4) === 0 ? 1 : 0,
  records: seldom(random) ? word32(random) : pick(random, [0x4000, 0x400, 64, random(256)]),
  select: random(2) ? 0o7654 : random(0x1000),
  ...randomFormat(random, target, true),
  elementSize: random(4),
  indexStride: random(4),
  addTid: random(6) === 0 ? 1 : 0,
})

const wordsOf = (b: ReturnType<typeof wildBuffer>): number[] => [
  Number(b.base & 0xffffffffn),
  (Number(b.base >> 32n) | (b.stride << 16) | (b.swizzle << 31)) >>> 0,
  b.records,
  b.select | (b.nfmt << 12) | (b.dfmt << 15) | (b.elementSize << 19) | (b.indexStride << 21) | (b.addTid << 23),
]

/** An index, or an offset: mostly small and mostly a multiple of 8, so that atomics are aligned. */
function randomOffset(random: Random, operation: Operation, wild: boolean): number {
  if (wild) return seldom(random) ? word32(random) : random(3) ? 8 * random(24) : random(64)
  if (isAtomic(operation)) return 8 * random(seldom(random) ? 0x800 : 24)
  return seldom(random) ? random(0x4000) : random(3) ? 8 * random(24) : random(64)
}

export function randomProgram(random: Random, operation: Operation, target: Target): MemoryProgram {
  const manner = randomManner(random)
  const { wild, length } = manner
  const instructions = Array.from({ length }, () => randomInstruction(random, operation, target, manner))
  const isAddr64 = instructions.some(({ fields }) => fields.addr64 === 1)
  const pool = dataPool(random)
  const randomTrial = (): Trial => {
    const about = {
      ...(wild ? wildBuffer(random, target) : tameBuffer(random, operation, target)),
      ...(wild && random(4) === 0 ? SCRATCH : {}),
    }
    const vgprs = fromPool(random, pool, VADDR)
    const isUniform = random(4) === 0
    for (const k of [0, 1]) {
      const offset = randomOffset(random, operation, wild)
      vgprs.set(
        VADDR + k,
        Uint32Array.from({ length: 64 }, () => (isAddr64 && k === 1 ? 0 : isUniform ? offset : randomOffset(random, operation, wild))),
      )
    }
    const offset = wild && random(2) ? random(64) : 8 * random(32)
    const sgprs = new Map([...wordsOf(about), offset].map((word, i) => [i, word]))
    return { about, state: { exec: randomMask(random), sgprs, vgprs, m0: 4 * random(64), ldsBytes: LDS_BYTES } }
  }
  return { instructions, trials: Array.from({ length: BUFFERS }, randomTrial) }
}
