/** Runs edge cases on the engines: a program for each setting, an instruction for each batch, a lane for each line. */
import { encode } from '../../../host/codec/encode.ts'
import { bareWave, type Device, type WaveState } from '../../../host/device/index.ts'
import type { Operation } from '../../../host/isa/operations.ts'
import { dwordsOf } from '../../../host/isa/row.ts'
import type { Target } from '../../../host/isa/targets.ts'
import { WAVE_SCALARS, WAVE_VECTORS } from '../../../host/plan/layout.ts'
import { nameOfWord } from '../../../host/results/registers.ts'
import { assembleProgram } from '../../../host/text/assemble.ts'
import { disassemble } from '../../../host/text/disassemble.ts'
import { instructionOf, type Places } from './instruction.ts'
import { type Batch, batchesOf, LANES, type Line } from './lines.ts'
import { type WaveCase, waveCasesOf } from './whole-wave.ts'

const EXEC = LANES.reduce((mask, lane) => mask | (1n << BigInt(lane)), 0n)
/** What destinations hold before; lanes that are off hold it afterwards. */
const OLD = 0x5eed0000
/** The upper half of registers whose operand has 16 bits. */
const NOISE = 0xabcd0000
const S_ENDPGM = 0xbf810000
/** s[2:3] holds EXEC; each batch has six scalar registers behind that: its mask, the resulting one, EXEC afterwards. */
const FIRST_SGPR = 4

interface Placed extends Places {
  readonly batch: Batch
  readonly text: string
  readonly words: readonly number[]
  readonly exec: number
}

interface Program {
  readonly words: Uint32Array
  readonly state: WaveState
  readonly placed: readonly Placed[]
}

/** Batches of a program: as many as there are scalar registers for. */
const BATCHES = 16

/** One or more programs for each MODE. */
function programsOf(operation: Operation, target: Target): Program[] {
  const byMode = new Map<number, Batch[]>()
  for (const batch of batchesOf(operation, target)) {
    const { mode } = batch.setting
    byMode.set(mode, [...(byMode.get(mode) ?? []), batch])
  }
  const programs: Program[] = []
  for (const batches of byMode.values()) {
    for (let i = 0; i < batches.length; i += BATCHES) programs.push(programOf(operation, target, batches.slice(i, i + BATCHES)))
  }
  return programs
}

const isMask = (type: string | undefined) => type === 'mask' || type === 'vcc'

function programOf(operation: Operation, target: Target, batches: readonly Batch[]): Program {
  const { shape } = operation
  const vgprs = new Map<number, Uint32Array>()
  const sgprs = new Map<number, number>()
  const pair = (sgpr: number, mask: bigint) => {
    sgprs.set(sgpr, Number(mask & 0xffffffffn))
    sgprs.set(sgpr + 1, Number(mask >> 32n))
  }
  pair(2, EXEC)
  let vgpr = 1
  const take = (dwords: number) => {
    vgpr += dwords > 1 ? vgpr & 1 : 0
    vgpr += dwords
    return vgpr - dwords
  }
  const placed = batches.map((batch, n): Placed => {
    const sgpr = FIRST_SGPR + 6 * n
    const resultType = shape.results.find((type) => !isMask(type))
    const dwords = resultType === undefined ? 0 : dwordsOf(resultType)
    const result = take(dwords)
    for (let k = 0; k < dwords; k++) vgprs.set(result + k, new Uint32Array(64).fill(OLD + k))
    const sources = shape.sources.map((type, source) => {
      if (isMask(type)) {
        pair(
          sgpr,
          batch.lines.reduce((mask, line) => mask | (line.sources[source]! << BigInt(line.lane)), 0n),
        )
        return sgpr
      }
      const first = source === shape.tied ? result : take(dwordsOf(type))
      for (let k = 0; k < dwordsOf(type); k++) vgprs.set(first + k, rowOf(batch.lines, source, k, type.endsWith('16')))
      return first
    })
    const places = { sources, result, mask: sgpr + 2 }
    const literal = operation.literal === undefined ? undefined : Number(batch.lines[0]!.sources[operation.literal])
    const instruction = instructionOf(operation, batch.format, target, batch.setting, places, literal)
    if (instruction === undefined) throw new Error(`${operation.name}: no instruction in ${batch.format.name}`)
    const text = disassemble(instruction)
    // Masks go through VCC where the format implies it.
    const before = assembleProgram(`s_mov_b64 vcc, s[${sgpr}:${sgpr + 1}]`, target).words
    const isImplied = batch.format.name !== 'vop3b' && !(batch.format.name === 'vop3a' && shape.results[0] === 'mask')
    const after = [
      ...(isImplied ? [`s_mov_b64 s[${sgpr + 2}:${sgpr + 3}], vcc`] : []),
      `s_mov_b64 s[${sgpr + 4}:${sgpr + 5}], exec`,
      's_mov_b64 exec, s[2:3]',
    ].join('\n')
    const words = [...before, ...encode(instruction), ...assembleProgram(after, target).words]
    return { ...places, batch, text, words, exec: sgpr + 4 }
  })
  const state = { vgprs, sgprs, exec: EXEC, mode: batches[0]!.setting.mode, ldsBytes: 64 }
  return { words: Uint32Array.from([...placed.flatMap(({ words }) => words), S_ENDPGM]), state, placed }
}

/** A dword of a source in all lanes; lanes that are off have the first line's. */
function rowOf(lines: readonly Line[], source: number, dword: number, isHalf: boolean): Uint32Array {
  const part = (line: Line) => Number((line.sources[source]! >> BigInt(32 * dword)) & 0xffffffffn) + (isHalf ? NOISE : 0)
  const row = new Uint32Array(64).fill(part(lines[0]!))
  for (const line of lines) row[line.lane] = part(line)
  return row
}

const hex = (word: bigint | number | undefined) => (word === undefined ? 'nothing' : `0x${word.toString(16)}`)

type Devices = readonly Device[]

/** The wave after a program, on each engine; translate interprets a program once before it translates it. */
function* outcomes(
  devices: Devices,
  program: Uint32Array,
  state: WaveState,
): Generator<readonly [engine: string, words: Uint32Array, error: string | undefined]> {
  for (const device of devices) {
    const { name } = device.engine
    const code = device.loadCode(program)
    for (let i = 0; i < (name === 'translate' ? 2 : 1); i++) {
      const execution = bareWave(device, code, state)
      while (execution.status === 'running') execution.step(1000)
      const words = new Uint32Array(execution.waves[0]!.state().buffer)
      execution.free()
      yield [name, words, execution.error?.message]
    }
  }
}

/** Every line that an engine gets wrong, as text. */
export function* failures(devices: Devices, operation: Operation, target: Target): Generator<string> {
  for (const program of programsOf(operation, target)) {
    for (const [engine, words, error] of outcomes(devices, program.words, program.state)) {
      if (error !== undefined) yield `${engine}: ${error}`
      else for (const failure of check(operation, program, words)) yield `${engine}, MODE ${hex(program.state.mode)}, ${failure}`
    }
  }
  for (const wave of waveCasesOf(operation, target)) {
    const program = Uint32Array.from([...assembleProgram(wave.text, target).words, S_ENDPGM])
    const [, before] = [...outcomes([devices[0]!], Uint32Array.of(S_ENDPGM), wave.start)][0]!
    for (const [engine, words, error] of outcomes(devices, program, wave.start)) {
      if (error !== undefined) yield `${engine}, ${wave.name}: ${error}`
      else for (const failure of checkWave(wave, before, words)) yield `${engine}, ${wave.text}, ${wave.name}: ${failure}`
    }
  }
}

/** Every register of the wave, those that the case does not name as before. */
function* checkWave({ vgprs = {}, sgprs = {} }: WaveCase, before: Uint32Array, after: Uint32Array): Generator<string> {
  const wanted = before.slice()
  for (const [sgpr, word] of Object.entries(sgprs)) wanted[WAVE_SCALARS / 4 + Number(sgpr)] = word
  for (const [vgpr, lanes] of Object.entries(vgprs)) {
    for (const [lane, word] of Object.entries(lanes)) wanted[WAVE_VECTORS / 4 + 64 * Number(vgpr) + Number(lane)] = word
  }
  for (let at = WAVE_SCALARS / 4; at < wanted.length; at++) {
    const { where, lane } = nameOfWord(at * 4, 64)
    if (after[at] !== wanted[at]) yield `${where}, lane ${lane}: ${hex(after[at])}, not ${hex(wanted[at])}`
  }
}

function* check({ name, shape }: Operation, { placed, state }: Program, words: Uint32Array): Generator<string> {
  const scalars = (sgpr: number) => BigInt(words[WAVE_SCALARS / 4 + sgpr]!) | (BigInt(words[WAVE_SCALARS / 4 + sgpr + 1]!) << 32n)
  const type = shape.results.find((t) => !isMask(t))
  const hasMask = shape.results.includes('mask')
  const lanesOf = (vgpr: number) => (lane: number) => words[WAVE_VECTORS / 4 + vgpr * 64 + lane]!
  const oldOf = (vgpr: number) => (lane: number) => (state.vgprs!.get(vgpr) as Uint32Array)[lane]!
  const value = (first: number, lane: number, row: (vgpr: number) => (lane: number) => number) =>
    Array.from({ length: dwordsOf(type!) }, (_, k) => BigInt(row(first + k)(lane)) << BigInt(32 * k)).reduce((a, b) => a | b)
  for (const { batch, result, mask, exec, text } of placed) {
    const lines = new Map(batch.lines.map((line) => [line.lane, line]))
    let on = 0n
    let known = BigInt.asUintN(64, ~0n)
    for (let lane = 0; lane < 64; lane++) {
      const line = lines.get(lane)
      // A lane that is on has no line where no result is known.
      if (line === undefined && LANES.includes(lane)) {
        known ^= 1n << BigInt(lane)
        continue
      }
      const { word, bit } = line === undefined ? { word: undefined, bit: false } : partsOf(line.result)
      if (bit) on |= 1n << BigInt(lane)
      const given = `${text}, lane ${lane}: ${line?.sources.map(hex).join(', ') ?? 'EXEC off'}`
      const wanted = type === undefined ? 0n : (word ?? value(result, lane, oldOf))
      const got = type === undefined ? 0n : value(result, lane, lanesOf)
      if (got !== wanted) yield `${given} is ${hex(got)}, not ${hex(wanted)}`
      if (hasMask && ((scalars(mask) >> BigInt(lane)) & 1n) !== BigInt(bit)) yield `${given}: the bit of the mask is not ${bit}`
    }
    // v_cmpx writes EXEC; nothing else does.
    const wanted = /^v_cmps?x_/.test(name) ? on : EXEC
    if ((scalars(exec) & known) !== (wanted & known)) yield `${text}: EXEC is ${hex(scalars(exec))}, not ${hex(wanted)}`
  }
}

const partsOf = (result: Line['result']): { word: bigint | undefined; bit: boolean } =>
  typeof result === 'boolean'
    ? { word: undefined, bit: result }
    : typeof result === 'bigint'
      ? { word: result, bit: false }
      : { word: result[0], bit: result[1] }
