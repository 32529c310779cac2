/** Runs one instruction on given values and tells what it leaves. */
import type { Instruction } from '../codec/instruction.ts'
import { type Operand, operandsOf } from '../codec/operands.ts'
import { VGPR_FIRST } from '../isa/registers.ts'
import type { OperandType } from '../isa/row.ts'
import type { Target } from '../isa/targets.ts'
import type { JobEngine } from '../jobs/engines.ts'
import { parseJob } from '../jobs/parse.ts'
import type { ResultError } from '../jobs/result.ts'
import { runJob } from '../jobs/run.ts'
import { assemble } from '../text/assemble.ts'
import { disassemble } from '../text/disassemble.ts'
import { printOperand } from '../text/print-operand.ts'
import { readValue, showValue, type Value } from './value.ts'

/** Where and how {@link runExample} runs. */
export interface ExampleOptions {
  readonly target: Target
  /** Default `core`. */
  readonly engine?: JobEngine
  /** MODE; default 0x3c0: nearest, f32 denormals flushed, f16 and f64 denormals kept, DX10_CLAMP, IEEE. */
  readonly mode?: number
}

/** A register before or after the instruction: one value where all lanes have the same or it is scalar, else lane by lane. */
export interface RegisterValue {
  readonly register: string
  readonly type: OperandType
  readonly lanes: readonly Value[]
}

/** An instruction that was run alone, and the registers around it. */
export interface ExampleRun {
  readonly instruction: string
  readonly target: string
  readonly engine: JobEngine
  readonly mode: number
  /** Registers that the instruction reads. */
  readonly before: readonly RegisterValue[]
  /** Registers that it writes, and all of VCC, EXEC, SCC and M0 that it has changed. */
  readonly after: readonly RegisterValue[]
  /** Why there is nothing after it. */
  readonly error?: ResultError
}

const SPECIALS = ['vcc', 'exec', 'scc', 'm0'] as const
const SPECIAL_TYPES: Readonly<Record<string, OperandType>> = { vcc: 'mask', exec: 'mask', scc: 'u32', m0: 'u32' }
const START: Readonly<Record<string, bigint>> = { vcc: 0n, exec: 0xffffffffffffffffn, scc: 0n, m0: 0n }

/**
 * Runs `text` on a wave of its own.
 * @param values by register (`v1`, `v[2:3]`, `s4`, `vcc`, `exec`, `scc`, `m0`): floats, whole numbers or 0x words, for all lanes, or a list
 *   with commas from lane 0 on. A register that an operand begins with has the operand's type; all others are 0
 * @throws {AssembleError} the text is no instruction; {RangeError} a value does not fit its register
 */
export async function runExample(text: string, values: Readonly<Record<string, string>>, options: ExampleOptions): Promise<ExampleRun> {
  const { target, engine = 'core', mode = 0x3c0 } = options
  const instruction = assemble(text, target)
  const operands = registersOf(instruction)
  const given = readAll(values, operands)
  const results = unique(operands.filter(({ written }) => written))
  const job = {
    name: 'explain',
    target: target.name,
    code: { asm: text },
    wave: { mode: hexOf(BigInt(mode)), ...wave(given) },
    read: [...results.map(({ register }) => register).filter((r) => !isSpecial(r)), ...SPECIALS],
    budget: 4,
  }
  const result = await runJob(parseJob(JSON.stringify(job)), { engine })
  const lanes = Math.max(1, ...[...given.values()].map(({ bits }) => bits.length))
  const before = unique(operands.filter(({ written, read }) => read || !written)).map(({ register, type }) => {
    const bits = given.get(register)?.bits ?? [START[register] ?? 0n]
    return { register, type, lanes: bits.map((b) => showValue(b, type)) }
  })
  const base = { instruction: disassemble(instruction), target: target.name, engine, mode, before }
  if (result.status !== 'ok')
    return { ...base, after: [], error: result.error ?? { code: 'ERR_LIMIT', message: `the run ended with ${result.status}` } }
  const after = results
    .filter(({ register }) => !isSpecial(register))
    .map(({ register, type }) => ({
      register,
      type,
      lanes: lanesOf(result.read[register], lanes).map((bits) => showValue(bits, type)),
    }))
  const changed = SPECIALS.filter((name) => {
    const now = BigInt(result.read[name] as string)
    return results.some((r) => r.register === name) || now !== (given.get(name)?.bits[0] ?? START[name])
  }).map((name) => ({
    register: name,
    type: SPECIAL_TYPES[name]!,
    lanes: [showValue(BigInt(result.read[name] as string), SPECIAL_TYPES[name]!)],
  }))
  return { ...base, after: [...after, ...changed] }
}

// --- registers

interface Register {
  readonly register: string
  readonly type: OperandType
  readonly written: boolean
  readonly read: boolean
}

/** The registers that an instruction names, results first. */
function registersOf(instruction: Instruction): Register[] {
  const { operation, format } = instruction
  const results = operation.shape.results.length
  const list = operandsOf(operation, format).flatMap((operand, i): Register[] => {
    const register = nameOf(operand, instruction)
    if (register === undefined) return []
    const written = i < results || (i === 0 && operation.table === 'sopk' && !/cmpk|setreg/.test(operation.name))
    const read = i >= results || (i === 0 && operation.shape.tied >= 0) || (i === 0 && operation.table === 'sopk')
    return [{ register, type: typeOf(operand), written, read: read || operand.kind === 'export' }]
  })
  return operation.shape.sources.includes('vcc') ? [...list, { register: 'vcc', type: 'mask', written: false, read: true }] : list
}

/** Interpolation parameters and lane numbers are plain words. */
const typeOf = ({ type }: Operand): OperandType => (type === 'vcc' ? 'mask' : type === 's32' || type === 'param' ? 'b32' : type)

/** `v1`, `v[2:3]`, `s4`, `vcc` …; undefined for constants and numbers. */
function nameOf(operand: Operand, instruction: Instruction): string | undefined {
  const { kind, field, dwords } = operand
  const value = instruction.fields[field] ?? 0
  const vector = kind === 'vgpr' ? value : (kind === 'source' || kind === 'vectorSource') && value >= VGPR_FIRST ? value - VGPR_FIRST : -1
  if (vector >= 0) return dwords > 1 ? `v[${vector}:${vector + dwords - 1}]` : `v${vector}`
  const text = printOperand(operand, instruction)
  return /(?<![\w])(s\d+|s\[\d+:\d+\]|vcc|exec|m0)(?![\w])/.exec(text)?.[1]
}

function unique(list: readonly Register[]): Register[] {
  return list.filter(({ register }, i) => list.findIndex((other) => other.register === register) === i)
}

const isSpecial = (register: string): boolean => (SPECIALS as readonly string[]).includes(register)

// --- values

interface Given {
  readonly bits: readonly bigint[]
}

/** Values by the whole name of their register. */
function readAll(values: Readonly<Record<string, string>>, operands: readonly Register[]): Map<string, Given> {
  const given = new Map<string, Given>()
  for (const [name, text] of Object.entries(values)) {
    const operand = operands.find(({ register }) => register === name || firstOf(register) === name)
    const type = operand?.type ?? SPECIAL_TYPES[name] ?? (name.includes('[') ? 'b64' : 'b32')
    try {
      given.set(operand?.register ?? name, { bits: text.split(',').map((part) => readValue(part.trim(), type)) })
    } catch (error) {
      throw new RangeError(`${name}: ${(error as Error).message}`)
    }
  }
  return given
}

/** `v2` of `v[2:3]`. */
const firstOf = (register: string): string => register.replace(/^([sv])\[(\d+):\d+\]$/, '$1$2')

const hexOf = (bits: bigint): string => `0x${bits.toString(16)}`

/** The wave of a job. */
function wave(given: ReadonlyMap<string, Given>): Record<string, unknown> {
  const sgpr: Record<string, string> = {}
  const vgpr: Record<string, string | string[]> = {}
  const special: Record<string, unknown> = {}
  for (const [name, { bits }] of given) {
    const [first = 0n] = bits
    if (name === 'scc') special.scc = Number(first)
    else if (isSpecial(name)) special[name] = hexOf(first)
    else if (name.startsWith('s')) sgpr[name] = hexOf(first)
    else vgpr[name] = bits.length > 1 ? bits.map(hexOf) : hexOf(first)
  }
  return { ...special, sgpr, vgpr }
}

/** The first lanes of a register as read: scalar registers have one value. */
function lanesOf(value: unknown, lanes: number): bigint[] {
  if (typeof value === 'string') return [BigInt(value)]
  return (value as readonly string[]).slice(0, lanes).map(BigInt)
}
