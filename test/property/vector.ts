/** Random programs of one vector operation on the three engines: whole waves compared, the first difference told. */
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import { operandsOf } from '../../host/codec/operands.ts'
import type { WaveState } from '../../host/device/index.ts'
import type { Operation } from '../../host/isa/operations.ts'
import { SCALAR_REGISTERS, VGPR_FIRST } from '../../host/isa/registers.ts'
import type { OperandType } from '../../host/isa/row.ts'
import type { Target } from '../../host/isa/targets.ts'
import { WAVE_SCALARS, WAVE_VECTORS } from '../../host/plan/layout.ts'
import { nameOfWord } from '../../host/results/registers.ts'
import { assemble } from '../../host/text/assemble.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { randomFrom } from '../translate/programs.ts'
import { formsOf, MASKS, randomInstruction, randomMask, VGPRS } from './instructions.ts'
import { type Difference, type Disagreement, differenceOf, type End, firstDisagreement, type Machines } from './machines.ts'
import { fromPool, type Pool, poolOf, type Random, registers, word32 } from './values.ts'

/** Instructions of a program, those that change EXEC aside. */
export const LENGTH = 16

/** VGPRs that a state has, and those of the pool that a program's states are made of: about as many values as its lanes meet. */
const STATE = VGPRS + 4
const poolSize = (stateCount: number): number => Math.max(STATE, 8 * stateCount)

/** Some code, and what decides how its states are made. All of them have one MODE, for which it is translated once. */
interface Program {
  readonly operation: Operation
  readonly pieces: readonly Piece[]
  readonly pool: Pool
  /** Types of scalar sources. */
  readonly types: readonly OperandType[]
  readonly mode: number
  /** Whether SRC0 may be LDS_DIRECT. */
  readonly withLds: boolean
  /** Whether M0 moves the numbers of VGPRs. */
  readonly indexes: boolean
}

/** An instruction of the operation, or a move of a mask to EXEC. */
interface Piece {
  readonly instruction: Instruction
  /** The first SGPR of the mask. */
  readonly mask?: number
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

function randomProgram(random: Random, operation: Operation, target: Target, stateCount: number): Program {
  const sources = operation.shape.sources.filter((type) => type !== 'mask' && type !== 'vcc')
  const types = sources.length === 0 ? (['b32'] as const) : sources
  const pool = poolOf(random, types, poolSize(stateCount))
  const forms = formsOf(operation, target)
  const withLds = takesLds(operation) && random(4) === 0
  const narrows = /^v_cmps?x/.test(operation.name)
  const move = assemble('s_mov_b64 exec, s[0:1]', target)
  const pieces: Piece[] = []
  for (let i = 0; i < LENGTH; i++) {
    if (narrows || random(4) === 0) {
      const mask = MASKS + 2 * random(8)
      pieces.push({ instruction: { ...move, fields: { ...move.fields, ssrc0: mask } }, mask })
    }
    pieces.push({ instruction: randomInstruction(random, operation, forms[random(forms.length)]!, target, withLds) })
  }
  const usesM0 = /^v_(interp|movrel)/.test(operation.name)
  const indexes = target.generation === 'gfx8' && !usesM0 && !withLds && random(8) === 0
  const mode = modeOf(random) | (indexes ? GPR_IDX_EN : 0)
  return { operation, pieces, pool, types, mode, withLds, indexes }
}

function randomState(random: Random, { operation, pool, types, mode, withLds, indexes }: Program): WaveState {
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
  return {
    vgprs: fromPool(random, pool, STATE),
    sgprs,
    exec: randomMask(random),
    vcc: (BigInt(word32(random)) << 32n) | BigInt(word32(random)),
    scc: random(2) as 0 | 1,
    m0: indexes ? (random(16) << 12) | random(8) : withLds ? ldsDirectOf(random) : m0Of(random, operation),
    mode,
    ...(withLds || operation.name.startsWith('v_interp') ? randomLds(random, operation) : { ldsBytes: 64 }),
  }
}

function randomLds(random: Random, { name }: Operation): Pick<WaveState, 'lds' | 'ldsBytes'> {
  const ldsBytes = 8192
  const lds = new Uint8Array(ldsBytes)
  const parameters = name.endsWith('f16') ? (['f16', 'f32'] as const) : (['f32'] as const)
  registers(random, parameters, 32, 64).forEach((row, n) => {
    lds.set(new Uint8Array(row.buffer), n * row.byteLength)
  })
  return { lds, ldsBytes }
}

const S_ENDPGM = 0xbf810000
const wordsOf = (pieces: readonly Piece[]): Uint32Array =>
  Uint32Array.from([...pieces.flatMap(({ instruction }) => [...encode(instruction)]), S_ENDPGM])

/**
 * Runs a random program of an operation on all engines, from so many states.
 * @returns active lanes of its instructions, which gave the same on all
 * @throws {Error} telling the first instruction that did not, with all that is needed to see why
 */
export async function compareVectors(machines: Machines, operation: Operation, seed: number, stateCount: number): Promise<number> {
  const random = randomFrom(seed)
  const program = randomProgram(random, operation, machines.target, stateCount)
  const states = Array.from({ length: stateCount }, () => randomState(random, program))
  const found = firstDisagreement(await machines.load(wordsOf(program.pieces)), states, ({ status }, n) => {
    if (status !== 'done') throw new Error(`seed ${seed}, state ${n}: the reference stopped: ${status}`)
  })
  if (found !== undefined)
    throw new Error(`seed ${seed}, state ${found.state}, ${machines.target.name}, ${await locate(machines, program, states, found)}`)
  return states.reduce((lanes, state) => lanes + lanesOf(program, state), 0)
}

/** Lanes of EXEC, of all instructions together. */
function lanesOf({ pieces }: Program, { exec, sgprs }: WaveState): number {
  let lanes = 0
  let active = onesOf(exec!)
  for (const { mask } of pieces) {
    if (mask === undefined) lanes += active
    else active = ones(sgprs!.get(mask)!) + ones(sgprs!.get(mask + 1)!)
  }
  return lanes
}

/** Lanes of a mask. */
export const onesOf = (mask: bigint): number => ones(Number(mask & 0xffffffffn)) + ones(Number(mask >> 32n))

function ones(word: number): number {
  let count = 0
  for (let left = word; left !== 0; left &= left - 1) count++
  return count
}

/** Runs ever longer beginnings of the program until the engines part. */
async function locate(machines: Machines, { pieces }: Program, states: readonly WaveState[], found: Disagreement): Promise<string> {
  const state = states[found.state]!
  const { name } = found.loaded
  let before: End | undefined
  for (let length = 0; length <= pieces.length; length++) {
    const loaded = await machines.load(wordsOf(pieces.slice(0, length)))
    const want = loaded[0]!.run(state)
    const other = loaded.find((l) => l.name === name)!
    // Short programs are translated when they have run for as long as a whole one.
    for (let run = 0; found.isRepeated && run < LENGTH; run++) other.run(state)
    const got = other.run(state)
    const difference = differenceOf(want, got)
    if (difference !== undefined) return report(pieces[length - 1]?.instruction, state, before ?? want, want, got, difference, name)
    before = want
  }
  return `${name}: the program differs as a whole, none of its beginnings does:\n${pieces.map((p) => disassemble(p.instruction)).join('\n')}`
}

const hex = (value: number | undefined): string => `0x${(value ?? 0).toString(16).padStart(8, '0')}`

function report(
  instruction: Instruction | undefined,
  { mode }: WaveState,
  before: End,
  want: End,
  got: End,
  { what, at }: Difference,
  engine: string,
): string {
  const text = instruction === undefined ? 'no instruction at all' : disassemble(instruction)
  const head = `MODE 0x${mode!.toString(16)}, EXEC ${hex(scalar(before, 127))}${hex(scalar(before, 126)).slice(2)}\n  ${text}`
  if (what === 'status') return `${head}\n  ${engine} says ${got.status}, the reference ${want.status}`
  if (what !== 'wave') return `${head}\n  byte ${hex(at)} of ${what} differs on ${engine}`
  const { where, lane } = nameOfWord(at * 4, 64)
  // Of a mask the lane is the place of the lowest bit that differs.
  const difference = want.words[at]! ^ got.words[at]!
  const shown = lane ?? (where.endsWith('_hi') ? 63 : 31) - Math.clz32(difference & -difference)
  const place = lane === undefined ? where : `${where}, lane ${lane}`
  return `${head}\n  ${place}: ${engine} ${hex(got.words[at])}, reference ${hex(want.words[at])}; before in lane ${shown}: ${inputs(instruction, before, shown)}`
}

/** A scalar by its operand encoding; a lane's dword of a VGPR. */
const scalar = ({ words }: End, encoding: number): number => words[WAVE_SCALARS / 4 + encoding]!
export const vector = ({ words }: End, vgpr: number, lane: number): number => words[WAVE_VECTORS / 4 + vgpr * 64 + lane]!

/** What the instruction's operands hold in a lane. */
function inputs(instruction: Instruction | undefined, state: End, lane: number): string {
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
