/** One wave's block in linear memory: laying it out, and reading the registers of a wave that has stopped. */
import { type FaultCode, Stop } from '../engine.ts'
import type { Generation } from '../isa/targets.ts'
import {
  EXEC_HI,
  EXEC_LO,
  EXEC_MASKS_BYTES,
  M0,
  SCALAR_COUNT,
  scalarOffset,
  VCC_HI,
  VCC_LO,
  vectorOffset,
  WAVE_ENGINE,
  WAVE_ENGINE_BYTES,
  WAVE_EXEC_MASKS,
  WAVE_FAULT,
  WAVE_FAULT_ADDRESS,
  WAVE_FAULT_BYTES,
  WAVE_FAULT_LANE,
  WAVE_GPR_ALLOC,
  WAVE_HW_ID,
  WAVE_INSTRUCTIONS,
  WAVE_LDS,
  WAVE_LDS_ALLOC,
  WAVE_LDS_BYTES,
  WAVE_MACHINE,
  WAVE_MASKED,
  WAVE_MODE,
  WAVE_PC,
  WAVE_PROGRAM,
  WAVE_SCC,
  WAVE_SGPR_COUNT,
  WAVE_SIZE,
  WAVE_STATUS,
  WAVE_STOP,
  WAVE_VGPR_COUNT,
  waveBytes,
} from '../plan/layout.ts'
import type { Arena } from './memory.ts'
import type { Program } from './program.ts'

/** Words of the header that say where things are in linear memory, or why the last call of the engine returned: no state of the machine. */
const UNCOMPARED_WORDS = [WAVE_PROGRAM, WAVE_MACHINE, WAVE_LDS, WAVE_STOP]

/** A wave. Everything it says is read from the block, so it is always what the engine left there. */
export class Wave {
  /** Number of the wave in its workgroup. */
  readonly index: number
  /** Address of the block in linear memory. */
  readonly host: number
  readonly program: Program
  readonly #arena: Arena

  constructor(arena: Arena, index: number, host: number, program: Program) {
    this.#arena = arena
    this.index = index
    this.host = host
    this.program = program
  }

  /** Byte offset, from the program's first byte, of the instruction that runs next, or that faulted. */
  get pc(): number {
    return this.word(WAVE_PC)
  }
  get scc(): number {
    return this.word(WAVE_SCC)
  }
  get mode(): number {
    return this.word(WAVE_MODE)
  }
  get status(): number {
    return this.word(WAVE_STATUS)
  }
  /** Lanes of the wave. */
  get size(): number {
    return this.word(WAVE_SIZE)
  }
  get exec(): bigint {
    return this.pair(EXEC_LO, EXEC_HI)
  }
  get vcc(): bigint {
    return this.pair(VCC_LO, VCC_HI)
  }
  get m0(): number {
    return this.sgpr(M0)
  }
  get vgprCount(): number {
    return this.word(WAVE_VGPR_COUNT)
  }
  get sgprCount(): number {
    return this.word(WAVE_SGPR_COUNT)
  }
  /** Why the engine stopped last. */
  get stop(): Stop {
    return this.word(WAVE_STOP) as Stop
  }
  get ended(): boolean {
    return this.stop === Stop.End
  }
  get fault(): FaultCode {
    return this.word(WAVE_FAULT) as FaultCode
  }
  /** Lane of the fault, or undefined where it was a scalar access. */
  get faultLane(): number | undefined {
    const lane = this.word(WAVE_FAULT_LANE)
    return lane === 0xffffffff ? undefined : lane
  }
  get faultAddress(): bigint {
    return this.long(WAVE_FAULT_ADDRESS)
  }
  get faultBytes(): number {
    return this.word(WAVE_FAULT_BYTES)
  }
  /** Instructions that the wave has completed. */
  get instructions(): number {
    return this.word(WAVE_INSTRUCTIONS) + this.word(WAVE_INSTRUCTIONS + 4) * 2 ** 32
  }
  /** The same modulo 2^32: enough to tell what one call of the engine has completed. */
  get instructionsLow(): number {
    return this.word(WAVE_INSTRUCTIONS)
  }

  /** A scalar by its operand encoding, 0 to 127: SGPRs, VCC, M0, EXEC. */
  sgpr(encoding: number): number {
    if (!Number.isInteger(encoding) || encoding < 0 || encoding >= SCALAR_COUNT)
      throw new RangeError(`encoding is ${encoding}; it must be an integer from 0 to ${SCALAR_COUNT - 1}`)
    return this.word(scalarOffset(encoding))
  }

  /** A copy of a VGPR, lane by lane. */
  vgpr(register: number): Uint32Array {
    if (!Number.isInteger(register) || register < 0 || register >= this.vgprCount)
      throw new RangeError(`register is ${register}; it must be an integer from 0 to ${this.vgprCount - 1}, the wave has no more VGPRs`)
    const start = (this.host + vectorOffset(register, this.size)) / 4
    return this.#arena.words.slice(start, start + this.size)
  }

  /** A copy of the workgroup's LDS. */
  get lds(): Uint8Array {
    const start = this.word(WAVE_LDS)
    return this.#arena.bytes.slice(start, start + this.word(WAVE_LDS_BYTES))
  }

  /**
   * A copy of the block in which everything is zero that equal waves of two engines may differ in: addresses in linear memory, why the engine
   * returned, its own words, and the cache of EXEC. So two waves are in the same state where these bytes are the same.
   * @param bytes where it is put, {@link stateBytes} of them; by default anew
   */
  state(bytes: Uint8Array<ArrayBuffer> = new Uint8Array(this.stateBytes)): Uint8Array<ArrayBuffer> {
    bytes.set(this.#arena.bytes.subarray(this.host, this.host + this.stateBytes))
    for (const offset of UNCOMPARED_WORDS) bytes.fill(0, offset, offset + 4)
    bytes.fill(0, WAVE_ENGINE, WAVE_ENGINE + WAVE_ENGINE_BYTES)
    bytes.fill(0, WAVE_EXEC_MASKS, WAVE_EXEC_MASKS + EXEC_MASKS_BYTES)
    return bytes
  }

  get stateBytes(): number {
    return waveBytes(this.vgprCount, this.size)
  }

  /** A word of the block, by layout.ts. */
  word(offset: number): number {
    return this.#arena.words[(this.host + offset) >>> 2]!
  }

  private long(offset: number): bigint {
    return BigInt(this.word(offset)) | (BigInt(this.word(offset + 4)) << 32n)
  }

  private pair(low: number, high: number): bigint {
    return BigInt(this.sgpr(low)) | (BigInt(this.sgpr(high)) << 32n)
  }
}

/** Words that a wave starts with. All else in its block is zero. */
export interface WaveStart {
  /** Header words by their offset in layout.ts. */
  readonly header: ReadonlyMap<number, number>
  /** The scalar file: all of it, by operand encoding. */
  readonly scalars: Uint32Array
  /** VGPRs lane by lane. */
  readonly vectors: ReadonlyMap<number, ArrayLike<number>>
}

/** SGPRs that an operand can name, VCC and what stands behind it aside (GCN manuals, "Scalar operands"). */
export const SGPR_LIMIT: Readonly<Record<Generation, number>> = { gfx6: 104, gfx7: 104, gfx8: 102 }

/** Facts of which the header is made. */
export interface WaveFacts {
  /** Byte offset of the first instruction. */
  readonly pc: number
  readonly mode: number
  /** Address and bytes of the workgroup's LDS. */
  readonly lds: number
  readonly ldsBytes: number
  readonly sgprCount: number
  /** Waves of the workgroup, and which of them this is. */
  readonly waves: number
  readonly index: number
}

/** STATUS: the wave is one of several of a workgroup; the wave exists (GCN3 manual, "STATUS"). */
const STATUS_IN_TG = 1 << 11
const STATUS_VALID = 1 << 16

/** Header words of a wave that is to start. HW_ID says the wave's number, as if the workgroup had the machine to itself. */
export function headerOf(machine: number, { pc, mode, lds, ldsBytes, sgprCount, waves, index }: WaveFacts): Map<number, number> {
  return new Map([
    [WAVE_PC, pc],
    [WAVE_MODE, mode],
    [WAVE_STATUS, STATUS_VALID | (waves > 1 ? STATUS_IN_TG : 0)],
    [WAVE_MACHINE, machine],
    [WAVE_LDS, lds],
    [WAVE_LDS_BYTES, ldsBytes],
    [WAVE_SGPR_COUNT, sgprCount],
    [WAVE_HW_ID, (index >> 2) | ((index & 3) << 4)],
    [WAVE_LDS_ALLOC, Math.ceil(ldsBytes / 256) << 12],
  ])
}

/** Blocks of the waves of a workgroup, one behind another. */
export interface WaveBlocks {
  readonly waves: readonly Wave[]
  /** Address of the first one. */
  readonly start: number
  /** Bytes from one to the next. */
  readonly stride: number
  free(): void
}

export function allocateWaves(arena: Arena, program: Program, count: number): WaveBlocks {
  const stride = waveBytes(program.vgprCount, program.target.waveSize)
  const start = arena.allocate(stride * count)
  const waves = Array.from({ length: count }, (_, index) => new Wave(arena, index, start + index * stride, program))
  return { waves, start, stride, free: () => arena.free(start) }
}

/** GPR_ALLOC (GCN3 manual): VGPRs in granules of 4, less one, in bits 13:8; SGPRs in granules of 8, less one, in bits 27:24. */
const gprAlloc = (vgprCount: number, sgprCount: number): number =>
  ((Math.ceil(vgprCount / 4) - 1) << 8) | ((Math.max(1, Math.ceil(sgprCount / 8)) - 1) << 24)

/** Lays a wave out: everything that neither `start` names nor follows from the program becomes 0. */
export function writeWave(arena: Arena, wave: Wave, start: WaveStart): void {
  const { words } = arena
  const { vgprCount, host: program, target } = wave.program
  const at = wave.host >>> 2
  words.fill(0, at, at + waveBytes(vgprCount, target.waveSize) / 4)
  words[at + WAVE_SIZE / 4] = target.waveSize
  words[at + WAVE_VGPR_COUNT / 4] = vgprCount
  words[at + WAVE_PROGRAM / 4] = program
  words[at + WAVE_GPR_ALLOC / 4] = gprAlloc(vgprCount, start.header.get(WAVE_SGPR_COUNT) ?? 0)
  for (const [offset, value] of start.header) words[at + offset / 4] = value
  words.set(start.scalars, at + scalarOffset(0) / 4)
  writeMasks(words, at, target.waveSize)
  for (const [register, lanes] of start.vectors) words.set(lanes, at + vectorOffset(register, target.waveSize) / 4)
}

/** EXEC as lane masks: the engine would make them when the wave first runs, for each wave anew. */
function writeMasks(words: Uint32Array, at: number, waveSize: number): void {
  const halves = [words[at + scalarOffset(EXEC_LO) / 4]!, words[at + scalarOffset(EXEC_HI) / 4]!]
  words.set(halves, at + WAVE_MASKED / 4)
  for (let lane = 0; lane < waveSize; lane++) words[at + WAVE_EXEC_MASKS / 4 + lane] = -((halves[lane >>> 5]! >>> (lane & 31)) & 1)
}
