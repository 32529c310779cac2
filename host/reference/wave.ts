/** A wave as the reference sees it: its header, scalar file and vector file, read and written one word at a time. */
import { FaultCode } from '../engine.ts'
import { GENERATIONS, type Generation } from '../isa/targets.ts'
import {
  EXEC_LO,
  M0,
  PROGRAM_BASE,
  PROGRAM_CODE_BYTES,
  PROGRAM_GENERATION,
  PROGRAM_PC_TABLE,
  scalarOffset,
  VCC_LO,
  vectorOffset,
  vgprAt,
  WAVE_LDS,
  WAVE_LDS_BYTES,
  WAVE_MACHINE,
  WAVE_MODE,
  WAVE_PC,
  WAVE_PROGRAM,
  WAVE_SCC,
  WAVE_SGPR_COUNT,
  WAVE_SIZE,
  WAVE_VGPR_COUNT,
} from '../plan/layout.ts'
import { Fault } from './fault.ts'

/** Linear memory as an engine sees it: by bytes, and by dwords for registers (in the host's order of bytes, which is little-endian). */
export interface Views {
  readonly view: DataView
  readonly words: Uint32Array
}

export const viewsOf = (memory: ArrayBufferLike): Views => ({
  view: new DataView(memory),
  words: new Uint32Array(memory, 0, memory.byteLength >>> 2),
})

/** The lanes of the EXEC that was asked for last: it seldom changes. */
let known: { readonly low: number; readonly high: number; readonly size: number; readonly lanes: readonly number[] } | undefined

function lanesOf(low: number, high: number, size: number): readonly number[] {
  if (known !== undefined && known.low === low && known.high === high && known.size === size) return known.lanes
  const lanes: number[] = []
  for (let lane = 0; lane < size; lane++) if ((((lane < 32 ? low : high) >>> (lane & 31)) & 1) !== 0) lanes.push(lane)
  known = { low, high, size, lanes }
  return lanes
}

export class Wave {
  readonly view: DataView
  /** Linear memory by dwords. */
  readonly words: Uint32Array
  /** Lanes. */
  readonly size: number
  readonly machine: number
  readonly program: number
  readonly generation: Generation
  readonly codeBytes: number
  readonly vgprCount: number
  readonly sgprCount: number
  readonly lds: number
  readonly ldsBytes: number
  /** Set by an instruction that does not go on with the next one: byte offset of the next instruction. */
  jump: number | undefined

  constructor(
    { view, words }: Views,
    readonly address: number,
  ) {
    this.view = view
    this.words = words
    this.size = this.header(WAVE_SIZE)
    this.machine = this.header(WAVE_MACHINE)
    this.program = this.header(WAVE_PROGRAM)
    this.generation = GENERATIONS[this.word(this.program + PROGRAM_GENERATION)]!
    this.codeBytes = this.word(this.program + PROGRAM_CODE_BYTES)
    this.vgprCount = this.header(WAVE_VGPR_COUNT)
    this.sgprCount = this.header(WAVE_SGPR_COUNT)
    this.lds = this.header(WAVE_LDS)
    this.ldsBytes = this.header(WAVE_LDS_BYTES)
  }

  /** Guest address of the program's first byte. */
  get programBase(): bigint {
    return this.view.getBigUint64(this.program + PROGRAM_BASE, true)
  }

  /** A word of linear memory. */
  word(address: number): number {
    return this.view.getUint32(address, true)
  }

  header(offset: number): number {
    return this.words[(this.address + offset) >>> 2]!
  }

  setHeader(offset: number, value: number): void {
    this.words[(this.address + offset) >>> 2] = value
  }

  header64(offset: number): bigint {
    return this.view.getBigUint64(this.address + offset, true)
  }

  setHeader64(offset: number, value: bigint): void {
    this.view.setBigUint64(this.address + offset, value, true)
  }

  /** Address of the plan record of the instruction at `pc`, 0 = not planned yet. */
  recordAt(pc: number): number {
    return this.word(this.word(this.program + PROGRAM_PC_TABLE) + pc)
  }

  get pc(): number {
    return this.header(WAVE_PC)
  }
  set pc(value: number) {
    this.setHeader(WAVE_PC, value)
  }

  get scc(): boolean {
    return this.header(WAVE_SCC) !== 0
  }
  set scc(value: boolean) {
    this.setHeader(WAVE_SCC, value ? 1 : 0)
  }

  get mode(): number {
    return this.header(WAVE_MODE)
  }
  set mode(value: number) {
    this.setHeader(WAVE_MODE, value)
  }

  get exec(): bigint {
    return this.scalar64(EXEC_LO)
  }
  set exec(value: bigint) {
    this.setScalar64(EXEC_LO, value)
  }

  get vcc(): bigint {
    return this.scalar64(VCC_LO)
  }

  get m0(): number {
    return this.scalar(M0)
  }
  set m0(value: number) {
    this.setScalar(M0, value)
  }

  isActive(lane: number): boolean {
    return ((this.scalar(EXEC_LO + (lane >>> 5)) >>> (lane & 31)) & 1) !== 0
  }

  /** Numbers of the active lanes, ascending: the order in which memory instructions act. */
  activeLanes(): readonly number[] {
    return lanesOf(this.scalar(EXEC_LO), this.scalar(EXEC_LO + 1), this.size)
  }

  /** A scalar register by its operand encoding. */
  scalar(encoding: number): number {
    return this.header(scalarOffset(encoding))
  }

  setScalar(encoding: number, value: number): void {
    this.setHeader(scalarOffset(encoding), value)
  }

  scalar64(encoding: number): bigint {
    return this.header64(scalarOffset(encoding))
  }

  setScalar64(encoding: number, value: bigint): void {
    this.setHeader64(scalarOffset(encoding), BigInt.asUintN(64, value))
  }

  vgpr(register: number, lane: number): number {
    return this.words[this.row(register) + lane]!
  }

  setVgpr(register: number, lane: number, value: number): void {
    this.words[this.row(register) + lane] = value
  }

  /** Index in `words` of the first of `count` VGPRs' lane 0; each following one is `size` further. @throws {Fault} Register */
  row(register: number, count = 1): number {
    this.checkVgprs(register, count)
    return (this.address + vectorOffset(register, this.size)) / 4
  }

  /** @throws {Fault} Register, where the wave has no such VGPRs: relative indexing went too far */
  checkVgprs(register: number, count: number): void {
    if (register < 0 || register + count > this.vgprCount) throw new Fault(FaultCode.Register)
  }

  /** @throws {Fault} Register, where the wave has no such SGPRs: relative indexing went too far */
  checkSgprs(register: number, count: number): void {
    if (register < 0 || register + count > this.sgprCount) throw new Fault(FaultCode.Register)
  }

  /** Number of the VGPR at an offset of a plan record. */
  vgprOf(offset: number): number {
    return vgprAt(offset, this.size)
  }

  /**
   * Goes on at `pc` after this instruction.
   * @throws {Fault} Jump, where there is no code; the code's very end is where a wave ends
   */
  jumpTo(pc: number): undefined {
    if (pc < 0 || pc > this.codeBytes || pc % 4 !== 0) throw new Fault(FaultCode.Jump, undefined, this.programBase + BigInt(pc))
    this.jump = pc
  }

  /** Goes on at a guest address. @throws {Fault} Jump, where that is not in the program */
  jumpToAddress(address: bigint): undefined {
    const pc = address - this.programBase
    if (pc < 0n || pc > BigInt(this.codeBytes) || pc % 4n !== 0n) throw new Fault(FaultCode.Jump, undefined, address)
    this.jump = Number(pc)
  }
}

/** Operand encoding of the scalar register at an offset of a plan record. */
export const scalarOf = (offset: number): number => (offset - scalarOffset(0)) / 4
