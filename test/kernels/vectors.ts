/**
 * Reads single-instruction jobs (`../shared/vectors`) for kernels: operands come from the job's text, and the stages around a lane
 * operation (docs/architecture.md) are written out here for one lane, plainly. Jobs with omod or a float's clamp are left to the engines' tests.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { OPERATIONS, type Operation } from '../../host/isa/operations.ts'
import { bitsOf, isFloat, type OperandType } from '../../host/isa/row.ts'
import type { Kernels } from './compile.ts'

const folder = fileURLToPath(new URL('../../../shared/vectors/operations/', import.meta.url))
export const haveVectors = existsSync(folder)

interface Job {
  readonly name: string
  readonly wave: {
    readonly exec?: string
    readonly mode: string
    readonly vcc?: string
    readonly vgpr?: Readonly<Record<string, string | readonly string[]>>
    readonly sgpr?: Readonly<Record<string, string>>
  }
  readonly ulp?: Readonly<Record<string, number>>
  readonly expect: Readonly<Record<string, string | readonly (string | null)[]>>
}

export interface Case {
  readonly text: string
  readonly operation: Operation
  readonly job: Job
}

/** Jobs of a target that run one of the kernels; disputed ones are left out unless they are asked for. */
export function cases(target: string, kernels: Kernels, disputed = false): Case[] {
  const byMnemonic = new Map(OPERATIONS.map((o) => [o.mnemonic(GENERATION[target]!), o]))
  const result: Case[] = []
  for (const file of readdirSync(folder).filter((f) => f.startsWith(`${target}.`) && /\.(vop[123c]|approx|disputed)\./.test(f))) {
    if (file.includes('disputed') !== disputed) continue
    for (const line of gunzipSync(readFileSync(folder + file))
      .toString()
      .trim()
      .split('\n')) {
      const job = JSON.parse(line) as Job
      const operation = byMnemonic.get(job.name.split(' ')[0]!.replace(/_e(32|64)$/, ''))
      if (operation === undefined || !kernels.names.includes(operation.name) || / (mul:|div:|sdwa|quad_perm|row_)/.test(job.name)) continue
      if (/ clamp/.test(job.name) && !kernels.names.includes(`${operation.name}_clamped`)) continue
      result.push({ text: `${target}: ${job.name} (mode ${job.wave.mode})`, operation, job })
    }
  }
  return result
}
const GENERATION: Readonly<Record<string, 'gfx6' | 'gfx7' | 'gfx8'>> = { gfx600: 'gfx6', gfx700: 'gfx7', gfx803: 'gfx8' }

/** Runs a case and says where the result differs. */
export function differences(kernels: Kernels, { operation, job }: Case): string[] {
  const { shape, traits } = operation
  const mode = Number(job.wave.mode)
  kernels.setMode(mode)
  const exec = BigInt(job.wave.exec ?? '0xffffffffffffffff')
  const wide = [...shape.results, ...shape.sources].some((t) => t !== 'mask' && t !== 'vcc' && bitsOf(t) === 64)
  const laneBits = wide ? 64 : 32

  const text = job.name.slice(job.name.indexOf(' ') + 1).replace(' clamp', '')
  const operands = text.split(/,\s*(?![^[]*\])/).map((o) => o.trim())
  const results = shape.results.length
  const sources = shape.sources.map((type, i): bigint[] => {
    if (type === 'vcc' || type === 'mask') {
      const lanes = bare(job, type === 'vcc' ? 'vcc' : operands[i + results]!, type, 0)
      return Array.from({ length: 64 }, (_, lane) => ((lanes >> BigInt(lane)) & 1n ? (1n << BigInt(laneBits)) - 1n : 0n))
    }
    const operand = i === shape.tied ? operands[0]! : operands[i + results]!
    return Array.from({ length: 64 }, (_, lane) => source(job, operand, type, lane, operation, mode))
  })

  const type = shape.results[0]!
  const round = (isFloat(type) ? type : shape.sources[0]) === 'f32' ? mode & 3 : (mode >> 2) & 3
  const call = (suffix: string) => kernels.run(operation.name + suffix, laneBits, sources, round)
  if (type === 'mask') {
    const words = call('')
    const wanted = maskExpected(job, operands[0]!) ?? 0n
    return words.flatMap((word, lane) =>
      ((exec >> BigInt(lane)) & 1n) === 0n || (word !== 0n) === (((wanted >> BigInt(lane)) & 1n) !== 0n)
        ? []
        : [`lane ${lane}: ${sources.map((s) => hex(s[lane]!)).join(', ')} gave ${word !== 0n}`],
    )
  }
  const words = / clamp/.test(job.name) ? call('_clamped') : call(traits.has('round') && round !== 0 ? '_rounded' : '')
  const differing: string[] = []
  for (let lane = 0; lane < 64; lane++) {
    if (!((exec >> BigInt(lane)) & 1n)) continue
    const wanted = expected(job, operands[0]!, lane)
    if (wanted === undefined) continue
    const own = sources.map((s) => s[lane]!)
    const got = result(words[lane]! & mask(bitsOf(type)), type, operation, own, mode)
    if (!same(got, wanted & mask(bitsOf(type)), type, Object.values(job.ulp ?? {})[0] ?? 0)) {
      differing.push(`lane ${lane}: ${own.map(hex).join(', ')} gave ${hex(got)}, not ${hex(wanted)}`)
    }
  }
  if (shape.results[1] === 'mask' && kernels.names.includes(`${operation.name}_mask`)) {
    const wanted = maskExpected(job, operands[1]!)
    const masks = call('_mask')
    for (let lane = 0; lane < 64 && wanted !== undefined; lane++) {
      if ((exec >> BigInt(lane)) & 1n && (masks[lane]! !== 0n) !== (((wanted >> BigInt(lane)) & 1n) !== 0n)) {
        differing.push(`lane ${lane}: ${sources.map((s) => hex(s[lane]!)).join(', ')} gave mask ${masks[lane] !== 0n}`)
      }
    }
  }
  return differing
}

const hex = (x: bigint) => `0x${x.toString(16)}`
const mask = (bits: number) => (1n << BigInt(bits)) - 1n

/** One lane of an operand in LLVM's syntax: selected, abs, neg, flushed. */
function source(job: Job, operand: string, type: OperandType, lane: number, operation: Operation, mode: number): bigint {
  const bits = bitsOf(type)
  let word = bare(job, operand.replace(/^-(?=[|vs(])/, '').replace(/^\||\|$/g, ''), type, lane)
  if (isFloat(type)) {
    const sign = 1n << BigInt(bits - 1)
    if (operand.includes('|')) word &= ~sign
    if (/^-[|vs(]/.test(operand)) word ^= sign
    if (flushes(operation, mode & (bits === 32 ? 0x10 : 0x40))) word = flushed(word & mask(bits), bits)
  }
  return word
}

function bare(job: Job, operand: string, type: OperandType, lane: number): bigint {
  const bits = bitsOf(type)
  const register = /^([vs])(?:(\d+)|\[(\d+):(\d+)\])$/.exec(operand)
  if (register !== null) {
    const [, file, single, first] = register
    const index = Number(single ?? first)
    const at = (n: number) => dword(job, file!, n, lane)
    return bits === 64 ? at(index) | (at(index + 1) << 32n) : at(index)
  }
  if (operand === 'vcc') return BigInt(job.wave.vcc ?? '0')
  if (/^-?\d+$/.test(operand)) return BigInt(operand) & mask(bits)
  if (/^0x/.test(operand)) return type === 'f64' ? BigInt(operand) << 32n : BigInt(operand)
  if (operand.startsWith('0.15915494')) return bits === 64 ? 0x3fc45f306dc9c882n : bits === 16 ? 0x3118n : 0x3e22f983n
  const value = Number(operand)
  if (Number.isNaN(value)) throw new Error(`operand ${operand} of ${job.name}`)
  const view = new DataView(new ArrayBuffer(8))
  if (bits === 64) view.setFloat64(0, value)
  else view.setFloat32(0, value)
  if (bits === 64) return view.getBigUint64(0)
  // The inline constants are powers of two in f16's range.
  const single = BigInt(view.getUint32(0))
  return bits === 16 && isFloat(type) ? ((single >> 16n) & 0x8000n) | (((single >> 13n) & 0x3ffffn) - (112n << 10n)) : single
}

function dword(job: Job, file: string, index: number, lane: number): bigint {
  const registers = (file === 'v' ? job.wave.vgpr : job.wave.sgpr) ?? {}
  const value = registers[`${file}${index}`]
  if (value !== undefined) return BigInt(Array.isArray(value) ? (value[lane] ?? 0) : (value as string))
  for (const [name, pair] of Object.entries(registers)) {
    const range = /\[(\d+):(\d+)\]/.exec(name)
    if (range === null || index < Number(range[1]) || index > Number(range[2])) continue
    return (BigInt(Array.isArray(pair) ? (pair[lane] ?? 0) : (pair as string)) >> BigInt(32 * (index - Number(range[1])))) & mask(32)
  }
  return 0n
}

const PARAMETERS = {
  16: { fraction: 10n, quiet: 0x200n, infinity: 0x7c00n, nan: 0x7e00n },
  32: { fraction: 23n, quiet: 0x400000n, infinity: 0x7f800000n, nan: 0x7fc00000n },
  64: { fraction: 52n, quiet: 1n << 51n, infinity: 0x7ff0000000000000n, nan: 0x7ff8000000000000n },
} as const
const parameters = (bits: number) => PARAMETERS[bits as 16 | 32 | 64]
const isNan = (word: bigint, bits: number) => (word & mask(bits - 1)) > parameters(bits).infinity

function flushed(word: bigint, bits: number): bigint {
  const magnitude = word & mask(bits - 1)
  return magnitude < 1n << parameters(bits).fraction ? word - magnitude : word
}

/** NaN rule and flushing of one result. */
function result(word: bigint, type: OperandType, operation: Operation, sources: readonly bigint[], mode: number): bigint {
  if (!isFloat(type)) return word
  const bits = bitsOf(type)
  if (operation.traits.has('nan') && isNan(word, bits)) {
    const first = operation.shape.sources.findIndex((t, i) => isFloat(t) && isNan(sources[i]! & mask(bits), bits))
    word = first < 0 ? parameters(bits).nan : (sources[first]! & mask(bits)) | parameters(bits).quiet
  }
  return flushes(operation, mode & (bits === 32 ? 0x20 : 0x80)) ? flushed(word, bits) : word
}

const flushes = ({ traits }: Operation, allowed: number) => traits.has('ftz') || (traits.has('flush') && !allowed)

function expected(job: Job, destination: string, lane: number): bigint | undefined {
  const at = (name: string): bigint | undefined => {
    const value = job.expect[name]
    const word = Array.isArray(value) ? value[lane] : (value as string | undefined)
    return word === undefined || word === null ? undefined : BigInt(word)
  }
  const whole = at(destination)
  const pair = /^v\[(\d+):/.exec(destination)
  if (whole !== undefined || pair === null) return whole
  const low = at(`v${pair[1]}`),
    high = at(`v${Number(pair[1]) + 1}`)
  return low === undefined || high === undefined ? undefined : low | (high << 32n)
}

function maskExpected(job: Job, destination: string): bigint | undefined {
  const value = job.expect[destination]
  return typeof value === 'string' ? BigInt(value) : undefined
}

/** Equal, or both NaN where the job compares approximately, or no more than `ulp` numbers apart. */
function same(got: bigint, wanted: bigint, type: OperandType, ulp: number): boolean {
  if (got === wanted) return true
  if (ulp === 0 || !isFloat(type)) return false
  const bits = bitsOf(type)
  if (isNan(got, bits) && isNan(wanted, bits)) return true
  const order = (word: bigint) => (word >> BigInt(bits - 1) ? -(word & mask(bits - 1)) : word)
  const distance = order(got) - order(wanted)
  return distance >= -BigInt(ulp) && distance <= BigInt(ulp)
}
