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
  VCC_LO,
  WAVE_LDS,
  WAVE_LDS_BYTES,
  WAVE_MACHINE,
  WAVE_MODE,
  WAVE_PC,
  WAVE_PROGRAM,
  WAVE_SCALARS,
  WAVE_SCC,
  WAVE_SGPR_COUNT,
  WAVE_SIZE,
  WAVE_VECTORS,
  WAVE_VGPR_COUNT,
} from '../plan/layout.ts'
import { Fault } from './fault.ts'

export class Wave {
  readonly view: DataView
  /** Lanes. */
  readonly size: number
  readonly machine: number
  readonly program: number
  readonly generation: Generation
  readonly codeBytes: number
  /** Guest address of the program's first byte. */
  readonly programBase: bigint
  readonly vgprCount: number
  readonly sgprCount: number
  readonly lds: number
  readonly ldsBytes: number
  /** Set by an instruction that does not go on with the next one: byte offset of the next instruction. */
  jump: number | undefined

  constructor(
    memory: ArrayBufferLike,
    readonly address: number,
  ) {
    this.view = new DataView(memory)
    this.size = this.header(WAVE_SIZE)
    this.machine = this.header(WAVE_MACHINE)
    this.program = this.header(WAVE_PROGRAM)
    this.generation = GENERATIONS[this.word(this.program + PROGRAM_GENERATION)]!
    this.codeBytes = this.word(this.program + PROGRAM_CODE_BYTES)
    this.programBase = this.view.getBigUint64(this.program + PROGRAM_BASE, true)
    this.vgprCount = this.header(WAVE_VGPR_COUNT)
    this.sgprCount = this.header(WAVE_SGPR_COUNT)
    this.lds = this.header(WAVE_LDS)
    this.ldsBytes = this.header(WAVE_LDS_BYTES)
  }

  /** A word of linear memory. */
  word(address: number): number {
    return this.view.getUint32(address, true)
  }

  header(offset: number): number {
    return this.word(this.address + offset)
  }

  setHeader(offset: number, value: number): void {
    this.view.setUint32(this.address + offset, value, true)
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
  activeLanes(): number[] {
    const lanes: number[] = []
    for (let lane = 0; lane < this.size; lane++) if (this.isActive(lane)) lanes.push(lane)
    return lanes
  }

  /** A scalar register by its operand encoding. */
  scalar(encoding: number): number {
    return this.header(WAVE_SCALARS + encoding * 4)
  }

  setScalar(encoding: number, value: number): void {
    this.setHeader(WAVE_SCALARS + encoding * 4, value)
  }

  scalar64(encoding: number): bigint {
    return this.header64(WAVE_SCALARS + encoding * 4)
  }

  setScalar64(encoding: number, value: bigint): void {
    this.setHeader64(WAVE_SCALARS + encoding * 4, BigInt.asUintN(64, value))
  }

  vgpr(register: number, lane: number): number {
    return this.view.getUint32(this.vgprAddress(register, lane), true)
  }

  setVgpr(register: number, lane: number, value: number): void {
    this.view.setUint32(this.vgprAddress(register, lane), value, true)
  }

  private vgprAddress(register: number, lane: number): number {
    this.checkVgprs(register, 1)
    return this.address + WAVE_VECTORS + (register * this.size + lane) * 4
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
    return (offset - WAVE_VECTORS) / (this.size * 4)
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
export const scalarOf = (offset: number): number => (offset - WAVE_SCALARS) / 4
