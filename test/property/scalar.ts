/**
 * Random programs of one scalar operation on the three engines. Each instruction's results are put aside in lanes of VGPRs (v_writelane does
 * not ask EXEC), so that none is lost when a later one overwrites it: each instruction has a lane.
 */
import { decode } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import { type Operand, operandsOf } from '../../host/codec/operands.ts'
import type { WaveState } from '../../host/device/index.ts'
import { formatsOf } from '../../host/explain/explain.ts'
import type { Format } from '../../host/isa/formats.ts'
import type { Operation } from '../../host/isa/operations.ts'
import { LITERAL, SOURCE_SCC } from '../../host/isa/registers.ts'
import type { Target } from '../../host/isa/targets.ts'
import { EXEC_HI, EXEC_LO, M0, VCC_LO } from '../../host/plan/layout.ts'
import { assemble } from '../../host/text/assemble.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { randomFrom } from '../translate/programs.ts'
import { randomMask } from './instructions.ts'
import { type End, firstDisagreement, type Machines } from './machines.ts'
import { operandDword, type Random, word32 } from './values.ts'
import { vector } from './vector.ts'

/** Instructions of a program: twice as many as there are lanes. */
export const LENGTH = 128

/** Scalar registers that instructions name: s0 to s77. */
const SGPRS = 78
/** VGPRs where results of the first 64 instructions are put aside; those behind these have the others'. */
const LOW = 1
const HIGH = 2
const SCC = 3
const EXEC = 4
const ASIDE = [LOW, HIGH, SCC, EXEC]
const placeOf = (vgpr: number, n: number): readonly [vgpr: number, lane: number] => [vgpr + ASIDE.length * (n >>> 6), n & 63]

/** What is left out: where code is, goes or comes from, and VGPR indices, which the vector programs have. */
const ELSEWHERE = /^s_(getpc|setpc|swappc|rfe|cbranch|call|set_gpr_idx)/

export const isTested = (operation: Operation): boolean =>
  /^sop[12ck]$/.test(operation.table) && operation.unsupported === undefined && !ELSEWHERE.test(operation.name)

/** M0 moves register numbers: all of them must exist, pairs be pairs. */
const isRelative = ({ name }: Operation) => name.startsWith('s_movrel')

function randomInstruction(random: Random, operation: Operation, target: Target): Instruction {
  const format = formatsOf(operation, target.generation)[0]!
  for (let attempt = 0; attempt < 40; attempt++) {
    const fields: Record<string, number> = {}
    for (const operand of operandsOf(operation, format)) {
      if (operand.field !== '') fields[operand.field] = chooseOperand(random, operation, operand, format)
    }
    // Compares have no destination, some operations no second source.
    for (const name of Object.keys(format.fields)) if (name !== 'op') fields[name] ??= 0
    const hasLiteral = operation.literal !== undefined || format.literals.some((name) => fields[name] === LITERAL)
    const literal = hasLiteral ? operandDword(random, 'b32') : undefined
    const made = { target, operation, format, fields, literal, dwords: format.dwords + (hasLiteral ? 1 : 0) }
    const read = decode(Uint32Array.from(encode(made)), 0, target)
    if (read?.operation === operation && read.format === format) return read
  }
  throw new Error(`no random instruction of ${operation.name} decodes on ${target.name}`)
}

function chooseOperand(random: Random, operation: Operation, { kind, dwords }: Operand, format: Format): number {
  const sgpr = (below: number) => (dwords > 1 ? random(below) & ~1 : random(below))
  if (isRelative(operation) && (kind === 'scalar' || kind === 'source')) return sgpr(SGPRS - 10)
  switch (kind) {
    case 'scalar':
      return random(6) > 0 ? sgpr(SGPRS) : [VCC_LO, EXEC_LO, dwords > 1 ? VCC_LO : M0][random(3)]!
    case 'source': {
      const choice = random(12)
      if (choice < 6) return sgpr(SGPRS)
      if (choice < 8) return random(2) ? 128 + random(81) : 240 + random(8)
      if (choice === 8 && format.literals.length > 0) return LITERAL
      return dwords > 1 ? [VCC_LO, EXEC_LO][random(2)]! : [VCC_LO, VCC_LO + 1, M0, EXEC_LO, EXEC_LO + 1, 251, 252, 253][random(8)]!
    }
    case 'hex':
      return operandDword(random, 'b32') & 0xffff
    case 'hwreg':
      return chooseHardwareRegister(random, operation)
    default:
      throw new Error(`${operation.name}: no rule for ${kind}`)
  }
}

/** Register 5:0, first bit 10:6, bits less one 15:11. Of MODE only rounding, denormals, DX10_CLAMP and IEEE are written. */
function chooseHardwareRegister(random: Random, { name }: Operation): number {
  const isWritten = name.startsWith('s_setreg')
  const register = isWritten ? [1, 3][random(2)]! : 1 + random(7)
  const width = isWritten && register === 1 ? 10 : 32
  const first = random(width)
  return register | (first << 6) | (random(width - first) << 11)
}

interface Program {
  readonly words: Uint32Array
  readonly instructions: readonly Instruction[]
}

function randomProgram(random: Random, operation: Operation, target: Target): Program {
  const aside = assemble('v_writelane_b32 v0, s0, 0', target)
  const lane = 'src1' in aside.fields ? 'src1' : 'vsrc1'
  const put = (name: number, sgpr: number, n: number) => {
    const [vgpr, to] = placeOf(name, n)
    return encode({ ...aside, fields: { ...aside.fields, vdst: vgpr, src0: sgpr, [lane]: 128 + to } })
  }
  const instructions = Array.from({ length: LENGTH }, () => randomInstruction(random, operation, target))
  const words = instructions.flatMap((instruction, n) => {
    const { sdst } = instruction.fields
    const isPair = operation.shape.results.some((type) => type.endsWith('64'))
    return [
      ...encode(instruction),
      ...(sdst === undefined || isRelative(operation) ? [] : put(LOW, sdst, n)),
      ...(sdst === undefined || !isPair || isRelative(operation) ? [] : put(HIGH, sdst + 1, n)),
      ...put(SCC, SOURCE_SCC, n),
      ...(/exec/.test(operation.name) || sdst === EXEC_LO || sdst === EXEC_HI ? put(EXEC, EXEC_LO, n) : []),
    ]
  })
  return { words: Uint32Array.from([...words, 0xbf810000]), instructions }
}

function randomState(random: Random, operation: Operation, mode: number): WaveState {
  const sgprs = new Map(Array.from({ length: SGPRS }, (_, sgpr) => [sgpr, operandDword(random, 'b32')] as const))
  return {
    sgprs,
    exec: randomMask(random),
    vcc: randomMask(random),
    scc: random(2) as 0 | 1,
    m0: isRelative(operation) ? random(5) * 2 : word32(random),
    mode,
    ldsBytes: 64,
  }
}

/**
 * Runs a random program of an operation on all engines, from so many states.
 * @returns how many instructions gave the same on all
 * @throws {Error} telling the first instruction whose results did not
 */
export async function compareScalars(machines: Machines, operation: Operation, seed: number, stateCount: number): Promise<number> {
  const random = randomFrom(seed)
  const program = randomProgram(random, operation, machines.target)
  // One MODE, for which code is translated once.
  const mode = random(0x400)
  const states = Array.from({ length: stateCount }, () => randomState(random, operation, mode))
  const found = firstDisagreement(await machines.load(program.words), states, ({ status }, n) => {
    if (status !== 'done') throw new Error(`seed ${seed}, state ${n}: the reference stopped: ${status}`)
  })
  if (found === undefined) return stateCount * LENGTH
  const { loaded, state, want, got } = found
  throw new Error(`seed ${seed}, state ${state}, ${machines.target.name}, ${loaded.name} (${got.status}): ${locate(program, want, got)}`)
}

function locate({ instructions }: Program, want: End, got: End): string {
  const result = (end: End, name: number, n: number) => vector(end, ...placeOf(name, n))
  const at = instructions.findIndex((_, n) => ASIDE.some((name) => result(want, name, n) !== result(got, name, n)))
  if (at < 0) return 'the end of the program'
  const results = (end: End) => [HIGH, LOW, SCC, EXEC].map((name) => `0x${result(end, name, at).toString(16)}`).join(' ')
  return `${disassemble(instructions[at]!)}\n  high, low, SCC, EXEC_LO: ${results(got)}, the reference ${results(want)}`
}
