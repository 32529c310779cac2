/** Random programs of one operation on the reference, the core and translate: whole waves compared, the first difference told. */

import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import { operandsOf } from '../../host/codec/operands.ts'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, type Code, Device, type Execution, type WaveState } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import type { Operation } from '../../host/isa/operations.ts'
import { SCALAR_REGISTERS, VGPR_FIRST } from '../../host/isa/registers.ts'
import { TARGETS, type Target, type TargetName } from '../../host/isa/targets.ts'
import { WAVE_SCALARS, WAVE_VECTORS } from '../../host/plan/layout.ts'
import { createReference } from '../../host/reference/engine.ts'
import { nameOfWord } from '../../host/results/registers.ts'
import { assemble } from '../../host/text/assemble.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { randomFrom } from '../translate/programs.ts'
import { formsOf, MASKS, randomInstruction, randomMask, VGPRS } from './instructions.ts'
import { type Random, registers, word32 } from './values.ts'

/** Instructions of a program, each with 64 lanes. */
const LENGTH = 16
/** Programs of an operation on a target: 4 × 16 × 64 lanes, of which EXEC leaves about two thirds. */
export const PROGRAMS = 4
/** Programs after which the engines are made anew: code that was run stays in their memories. */
const LIFETIME = 200

/** A program and the state that it starts in. */
interface Case {
  readonly target: Target
  /** With what stands between them: moves to EXEC. */
  readonly pieces: readonly (readonly number[])[]
  readonly instructions: readonly (Instruction | undefined)[]
  readonly state: WaveState
}

/** MODE's bit that adds M0[7:0] to the VGPRs that M0[15:12] names, on gfx8. */
const GPR_IDX_EN = 1 << 27

/** MODE: as compilers start kernels, all denormals kept, any. */
const modeOf = (random: Random): number => {
  const kind = random(4)
  return kind === 0 ? 0x3c0 : kind === 1 ? 0x1f0 : random(0x400)
}

/** M0 is a register offset for v_movrel*; for v_interp_* it says where LDS is read and which quads begin a primitive; elsewhere it is any word. */
const m0Of = (random: Random, { name }: Operation): number =>
  name.startsWith('v_movrel') ? random(8) : name.startsWith('v_interp') ? (random(0x8000) << 16) | (random(64) * 4) : word32(random)

/** Operations to which M0 is nothing else, and that read no scalar register besides. */
const takesLds = ({ name, shape }: Operation): boolean =>
  shape.sources.length > 0 && !shape.sources.includes('mask') && !/^v_(interp|movrel|(read|write)\w*lane)/.test(name)

/** M0 for LDS_DIRECT: the value's aligned address in [15:0], its type in [18:16]: bytes, halves, dwords, signed bytes, signed halves. */
function ldsDirectOf(random: Random): number {
  const [type, bytes] = [
    [0, 1],
    [1, 2],
    [2, 4],
    [4, 1],
    [5, 2],
  ][random(5)] as [number, number]
  return (type << 16) | (random(1024) & -bytes)
}

function randomCase(random: Random, operation: Operation, target: Target): Case {
  const types = operation.shape.sources.filter((type) => type !== 'mask' && type !== 'vcc')
  const values = types.length === 0 ? (['b32'] as const) : types
  const forms = formsOf(operation, target)
  const pieces: (readonly number[])[] = []
  const instructions: (Instruction | undefined)[] = []
  const withLds = takesLds(operation) && random(4) === 0
  const narrows = operation.name.startsWith('v_cmp') && /^v_cmps?x/.test(operation.name)
  for (let i = 0; i < LENGTH; i++) {
    if (narrows || random(4) === 0) {
      const first = MASKS + 2 * random(8)
      pieces.push(encode(assemble(`s_mov_b64 exec, s[${first}:${first + 1}]`, target)))
      instructions.push(undefined)
    }
    const instruction = randomInstruction(random, operation, forms[random(forms.length)]!, target, withLds)
    pieces.push(encode(instruction))
    instructions.push(instruction)
  }
  return { target, pieces, instructions, state: randomState(random, operation, values, target, withLds) }
}

function randomState(
  random: Random,
  operation: Operation,
  types: Parameters<typeof registers>[1],
  target: Target,
  withLds: boolean,
): WaveState {
  const vgprs = registers(random, types, VGPRS + 4, 64)
  const sgprs = new Map<number, number>()
  registers(random, types, MASKS, 1).forEach((value, sgpr) => {
    // A mask is any word; half of the scalars serve as those.
    sgprs.set(sgpr, sgpr % 4 < 2 ? value[0]! : word32(random))
  })
  for (let k = 0; k < 8; k++) {
    const mask = randomMask(random)
    sgprs.set(MASKS + 2 * k, Number(mask & 0xffffffffn))
    sgprs.set(MASKS + 2 * k + 1, Number(mask >> 32n))
  }
  const readsLds = withLds || operation.name.startsWith('v_interp')
  const parameters = operation.name.endsWith('f16') ? (['f16', 'f32'] as const) : (['f32'] as const)
  const usesM0 = /^v_(interp|movrel)/.test(operation.name)
  const indexes = target.generation === 'gfx8' && !usesM0 && !withLds && random(8) === 0
  return {
    vgprs: new Map(vgprs.map((row, vgpr) => [vgpr, row])),
    sgprs,
    exec: randomMask(random),
    vcc: (BigInt(word32(random)) << 32n) | BigInt(word32(random)),
    scc: random(2) as 0 | 1,
    m0: indexes ? (random(16) << 12) | random(8) : withLds ? ldsDirectOf(random) : m0Of(random, operation),
    mode: modeOf(random) | (indexes ? GPR_IDX_EN : 0),
    ldsBytes: readsLds ? 8192 : 64,
    ...(readsLds ? { lds: new Uint8Array(registers(random, parameters, 32, 64).flatMap((row) => [...new Uint8Array(row.buffer)])) } : {}),
  }
}

/** The three engines, each with a device for a target. */
export class Engines {
  #left = 0
  #devices: readonly (readonly [Engine, Device])[] = []

  constructor(private readonly target: Target) {}

  async devices(): Promise<readonly (readonly [Engine, Device])[]> {
    if (this.#left-- > 0) return this.#devices
    this.#left = LIFETIME
    const engines = [createReference(), await createCore(), await createTranslate({ threshold: 1 })]
    this.#devices = engines.map((engine) => [engine, new Device(engine, this.target)] as const)
    return this.#devices
  }
}

export interface State {
  readonly words: Uint32Array
  readonly status: string
}

/** Runs code to its end, which is reached without a fault. */
export function finalState(device: Device, code: Code, start: WaveState): State {
  const execution: Execution = bareWave(device, code, start)
  while (execution.status === 'running') execution.step(1000)
  const bytes = execution.waves[0]!.state()
  execution.free()
  return { words: new Uint32Array(bytes.buffer), status: execution.error?.message ?? 'done' }
}

const wordsOf = (pieces: readonly (readonly number[])[]): Uint32Array => Uint32Array.from([...pieces.flat(), 0xbf810000])

/** The first dword that differs, -1 where the ends differ. */
export function firstDifference(a: State, b: State): number | undefined {
  if (a.status !== b.status) return -1
  for (let at = 0; at < a.words.length; at++) if (a.words[at] !== b.words[at]) return at
  return undefined
}

/**
 * Runs one random program of an operation on all engines.
 * @returns undefined where they agree, else the first instruction after which they do not, with all that is needed to see why
 */
export async function disagreement(
  engines: Engines,
  operation: Operation,
  targetName: TargetName,
  seed: number,
): Promise<string | undefined> {
  const target = TARGETS[targetName]
  const { pieces, instructions, state } = randomCase(randomFrom(seed), operation, target)
  const words = wordsOf(pieces)
  const [[, reference], ...others] = (await engines.devices()) as [readonly [Engine, Device], ...(readonly [Engine, Device])[]]
  const want = finalState(reference, reference.loadCode(words), state)
  if (want.status !== 'done') return `seed ${seed}: the reference stopped: ${want.status}`
  for (const [engine, device] of others) {
    const code = device.loadCode(words)
    // Translate interprets a program once before it translates it.
    const runs = engine.name === 'translate' ? 2 : 1
    for (let run = 0; run < runs; run++) {
      if (firstDifference(want, finalState(device, code, state)) === undefined) continue
      return locate([reference, device], engine.name, pieces, instructions, state, run).then(
        (text) => `seed ${seed}, ${targetName}, ${text}`,
      )
    }
  }
  return undefined
}

/** Runs ever longer beginnings of the program until the engines part. */
async function locate(
  [reference, device]: readonly [Device, Device],
  name: string,
  pieces: Case['pieces'],
  instructions: Case['instructions'],
  state: WaveState,
  runs: number,
): Promise<string> {
  let before = finalState(reference, reference.loadCode(wordsOf([])), state)
  for (let length = 1; length <= pieces.length; length++) {
    const words = wordsOf(pieces.slice(0, length))
    const want = finalState(reference, reference.loadCode(words), state)
    const code = device.loadCode(words)
    for (let run = 0; run < runs; run++) finalState(device, code, state)
    const got = finalState(device, code, state)
    const at = firstDifference(want, got)
    if (at !== undefined) return report(instructions[length - 1], state, before, want, got, at, name)
    before = want
  }
  return `${name}: the program differs as a whole, none of its beginnings does`
}

const hex = (value: number | undefined): string => `0x${(value ?? 0).toString(16).padStart(8, '0')}`

function report(
  instruction: Instruction | undefined,
  { mode }: WaveState,
  before: State,
  want: State,
  got: State,
  at: number,
  engine: string,
): string {
  const text = instruction === undefined ? 's_mov_b64 exec, …' : disassemble(instruction)
  const head = `MODE 0x${mode!.toString(16)}, EXEC ${hex(scalar(before, 127))}${hex(scalar(before, 126)).slice(2)}\n  ${text}`
  if (at < 0) return `${head}\n  ${engine} says ${got.status}, the reference ${want.status}`
  const { where, lane } = nameOfWord(at * 4, 64)
  // Of a mask the lane is the place of the lowest bit that differs.
  const difference = want.words[at]! ^ got.words[at]!
  const shown = lane ?? (where.endsWith('_hi') ? 63 : 31) - Math.clz32(difference & -difference)
  const place = lane === undefined ? where : `${where}, lane ${lane}`
  return `${head}\n  ${place}: ${engine} ${hex(got.words[at])}, reference ${hex(want.words[at])}; before in lane ${shown}: ${inputs(instruction, before, shown)}`
}

/** A scalar by its operand encoding; a lane's dword of a VGPR. */
const scalar = ({ words }: State, encoding: number): number => words[WAVE_SCALARS / 4 + encoding]!
export const vector = ({ words }: State, vgpr: number, lane: number): number => words[WAVE_VECTORS / 4 + vgpr * 64 + lane]!

/** What the instruction's operands hold in a lane. */
function inputs(instruction: Instruction | undefined, state: State, lane: number): string {
  if (instruction === undefined) return ''
  const { operation, format, fields, literal, target } = instruction
  return operandsOf(operation, format)
    .map(({ kind, field, dwords }) => {
      const value = fields[field] ?? 0
      const vgpr = kind === 'vgpr' ? value : kind === 'source' || kind === 'vectorSource' ? value - VGPR_FIRST : -1
      const at = (k: number) => (vgpr >= 0 ? vector(state, vgpr + k, lane) : scalar(state, (kind === 'vcc' ? 106 : value) + k))
      const isScalar =
        kind === 'vcc' || (vgpr < 0 && SCALAR_REGISTERS[target.generation].some((r) => value >= r.first && value < r.first + r.count))
      if (vgpr < 0 && !isScalar) return `${field} ${literal === undefined ? value : hex(literal)}`
      return `${field || kind} ${Array.from({ length: dwords }, (_, k) => hex(at(k)))
        .reverse()
        .join('_')}`
    })
    .join(', ')
}
