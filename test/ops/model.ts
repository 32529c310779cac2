/**
 * The stages around a lane function, small and slow, so that single-instruction jobs can hold the lane functions to their expected
 * results: fetch, abs, neg, flush, operation, omod, clamp, flush. No SDWA, no DPP, no memory.
 */
import { decode } from '../../host/codec/decode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import type { OperandType } from '../../host/isa/row.ts'
import { TARGETS, type TargetName } from '../../host/isa/targets.ts'
import type { LaneFunction, Modes, Word } from '../../host/reference/lane.ts'
import { LANE_FUNCTIONS } from '../../host/reference/lanes.ts'

/** A single-instruction job: one register list holds 64 lanes, or one value for all. */
export interface Job {
  readonly name: string
  readonly target: TargetName
  readonly code: { readonly words: readonly string[] }
  readonly wave: {
    readonly exec: string
    readonly mode: string
    readonly vcc?: string
    readonly m0?: string
    readonly vgpr?: Readonly<Record<string, Lanes>>
    readonly sgpr?: Readonly<Record<string, string>>
  }
  readonly expect: Readonly<Record<string, Lanes>>
  readonly ulp?: Readonly<Record<string, number>>
  readonly nan?: 'any'
}
type Lanes = string | readonly (string | null)[]

const laneOf = (lanes: Lanes | undefined, lane: number): number => Number((typeof lanes === 'string' ? lanes : lanes?.[lane]) ?? 0)

/** Scalar dwords by operand encoding. */
function scalars(job: Job): Map<number, number> {
  const file = new Map<number, number>()
  const put = (first: number, value: string, dwords: number) => {
    for (let k = 0; k < dwords; k++) file.set(first + k, Number((BigInt(value) >> BigInt(32 * k)) & 0xffffffffn))
  }
  for (const [name, value] of Object.entries(job.wave.sgpr ?? {})) {
    const [, first, last] = /^s\[?(\d+):?(\d*)/.exec(name)!
    put(Number(first), value, last ? Number(last) - Number(first) + 1 : 1)
  }
  put(106, job.wave.vcc ?? '0', 2)
  put(124, job.wave.m0 ?? '0', 1)
  put(126, job.wave.exec, 2)
  return file
}

/** Inline float constants from encoding 240 on: 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2π). */
const CONSTANTS = {
  16: [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118],
  32: [0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983],
  64: [0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000, 0x40000000, 0xc0000000, 0x40100000, 0xc0100000, 0],
} as const

const widthOf = (type: OperandType): number => (type === 'mask' || type === 'vcc' ? 64 : Number(type.slice(1)))
const isFloat = (type: OperandType): boolean => type.startsWith('f')

/** The word that an operand encoding stands for in a lane. */
function fetch(job: Job, file: Map<number, number>, i: Instruction, encoding: number, type: OperandType, lane: number): Word {
  const width = widthOf(type)
  const dwords = Math.max(1, width / 32)
  const join = (dword: (k: number) => number): Word => {
    if (width <= 32) return width === 16 ? dword(0) & 0xffff : dword(0)
    let all = 0n
    for (let k = dwords - 1; k >= 0; k--) all = (all << 32n) | BigInt(dword(k))
    return all
  }
  if (encoding >= 256) return join((k) => laneOf(job.wave.vgpr?.[`v${encoding - 256 + k}`], lane))
  if (encoding < 128) return join((k) => file.get(encoding + k) ?? 0)
  if (encoding === 255) return width === 64 && isFloat(type) ? BigInt(i.literal!) << 32n : join((k) => (k === 0 ? i.literal! : 0))
  if (encoding <= 208) {
    const n = encoding <= 192 ? encoding - 128 : 192 - encoding
    return width <= 32 ? (width === 16 ? n & 0xffff : n >>> 0) : BigInt.asUintN(width, BigInt(n))
  }
  if (encoding === 248 && width === 64 && isFloat(type)) return 0x3fc45f306dc9c882n
  const constants = CONSTANTS[isFloat(type) ? (width as 16 | 32 | 64) : 32]
  const word = constants[encoding - 240]!
  return width === 64 ? BigInt(word) << (isFloat(type) ? 32n : 0n) : word
}

/** Bits of a float type: width, and the sizes of infinity and of the smallest normal number. */
const FLOATS = {
  16: { infinity: 0x7c00n, normal: 0x0400n, one: 0x3c00n },
  32: { infinity: 0x7f800000n, normal: 0x00800000n, one: 0x3f800000n },
  64: { infinity: 0x7ff0000000000000n, normal: 0x0010000000000000n, one: 0x3ff0000000000000n },
} as const
type Width = keyof typeof FLOATS

const word = (bits: bigint, width: number): Word => (width > 32 ? bits : Number(bits))
const signOf = (width: number): bigint => 1n << BigInt(width - 1)

function flush(value: Word, width: Width): Word {
  const bits = BigInt(value)
  const size = bits & (signOf(width) - 1n)
  return size < FLOATS[width].normal ? word(bits & signOf(width), width) : value
}

function clamp(value: Word, width: Width, dx10: boolean): Word {
  const bits = BigInt(value)
  const { infinity, one } = FLOATS[width]
  if ((bits & (signOf(width) - 1n)) > infinity) return dx10 ? word(0n, width) : value
  if (bits & signOf(width)) return word(0n, width)
  return bits > one ? word(one, width) : value
}

export function modesOf(job: Job, clampBit: boolean, lane: number): Modes {
  const mode = Number(job.wave.mode)
  return {
    round32: (mode & 3) as Modes['round32'],
    round64: ((mode >> 2) & 3) as Modes['round64'],
    flushSources32: (mode & 0x10) === 0,
    flushResults32: (mode & 0x20) === 0,
    flushSources64: (mode & 0x40) === 0,
    flushResults64: (mode & 0x80) === 0,
    dx10Clamp: (mode & 0x100) !== 0,
    ieee: (mode & 0x200) !== 0,
    generation: TARGETS[job.target].generation,
    clamp: clampBit,
    lane,
  }
}

export interface Outcome {
  readonly instruction: Instruction
  /** Results of the active lanes: registers from `vdst` on, and the mask in `sdst` (an operand encoding). */
  readonly values: readonly (Word | undefined)[]
  readonly valueType: OperandType | undefined
  readonly vdst: number
  readonly mask: bigint | undefined
  readonly sdst: number
}

/** Decodes and runs the job's one instruction. */
export function runJob(job: Job): Outcome {
  const i = decode(Uint32Array.from(job.code.words, Number), 0, TARGETS[job.target])!
  const { operation, fields, format } = i
  const { shape, traits } = operation
  const lane = LANE_FUNCTIONS.get(operation.name) as LaneFunction
  const file = scalars(job)
  const exec = BigInt(job.wave.exec)
  const valueType = shape.results.find((t) => t !== 'mask')
  const encodings = sourceEncodings(i)
  const values: (Word | undefined)[] = []
  let mask = 0n
  for (let at = 0; at < 64; at++) {
    if (((exec >> BigInt(at)) & 1n) === 0n) {
      values.push(undefined)
      continue
    }
    const modes = modesOf(job, fields.clamp === 1, at)
    const flushes = (type: OperandType, which: 'Sources' | 'Results') =>
      traits.has('ftz') || (traits.has('flush') && modes[`flush${which}${type === 'f32' ? '32' : '64'}`])
    const sources = shape.sources.map((type, n) => {
      const fetched = fetch(job, file, i, encodings[n]!, type, at)
      if (type === 'mask' || type === 'vcc') return (BigInt(fetched) >> BigInt(at)) % 2n === 1n
      if (!isFloat(type)) return fetched
      const width = widthOf(type) as Width
      let bits = BigInt(fetched)
      if (((fields.abs ?? 0) >> n) & 1) bits &= ~signOf(width)
      if (((fields.neg ?? 0) >> n) & 1) bits ^= signOf(width)
      return flushes(type, 'Sources') ? flush(word(bits, width), width) : word(bits, width)
    })
    const result = lane(...sources, modes)
    const [value, bit] = typeof result === 'boolean' ? [undefined, result] : typeof result === 'object' ? result : [result, false]
    if (bit) mask |= 1n << BigInt(at)
    values.push(value === undefined ? value : finish(value, valueType!))

    function finish(raw: Word, type: OperandType): Word {
      if (!isFloat(type)) return raw
      const width = widthOf(type) as Width
      let done = flushes(type, 'Results') ? flush(raw, width) : raw
      if (fields.omod && modes[type === 'f32' ? 'flushResults32' : 'flushResults64'] && !modes.ieee) {
        const multiply = LANE_FUNCTIONS.get(`v_mul_${type}`)!
        done = multiply(done, fetch(job, file, i, [0, 244, 246, 240][fields.omod]!, type, at), modes) as Word
      }
      if (fields.clamp) done = clamp(done, width, modes.dx10Clamp)
      return flushes(type, 'Results') ? flush(done, width) : done
    }
  }
  const isMask = shape.results.includes('mask')
  const sdst = format.name === 'vop3b' ? fields.sdst! : valueType === undefined && format.name === 'vop3a' ? fields.vdst! : 106
  return { instruction: i, values, valueType, vdst: fields.vdst ?? 0, mask: isMask ? mask : undefined, sdst }
}

/** Operand encodings in the shape's order. */
function sourceEncodings({ operation, fields, format }: Instruction): readonly number[] {
  const { shape, literal } = operation
  const vop3 = format.name.startsWith('vop3')
  const free = vop3 ? [fields.src0!, fields.src1!, fields.src2!] : [fields.src0!, (fields.vsrc1 ?? 0) + 256, 106]
  if (literal !== undefined) return literal === 1 ? [fields.src0!, 255, fields.vsrc1! + 256] : [fields.src0!, fields.vsrc1! + 256, 255]
  return shape.sources.map((type, n) => (type === 'vcc' ? 106 : n === shape.tied ? fields.vdst! + 256 : free[n]!))
}
