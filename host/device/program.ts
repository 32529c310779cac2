/** A loaded piece of machine code: its program header and pc table in linear memory, planned stretch by stretch as waves reach it. */
import type { Target } from '../isa/targets.ts'
import { GENERATIONS } from '../isa/targets.ts'
import {
  PROGRAM_BASE,
  PROGRAM_BYTES,
  PROGRAM_CODE_BYTES,
  PROGRAM_GENERATION,
  PROGRAM_ID,
  PROGRAM_PC_TABLE,
  PROGRAM_WAVE_SIZE,
  RECORD_BYTES,
} from '../plan/layout.ts'
import { planStretch } from '../plan/plan.ts'
import type { Arena } from './memory.ts'

/** Machine code that was given a place in guest memory. */
export interface Code {
  /** Dwords in program order. */
  readonly words: Uint32Array
  /** Guest address of the first one. */
  readonly address: bigint
  /** What messages call it. */
  readonly name: string
  /** What messages add to byte offsets: where the first dword stands in a longer stream. Default 0. */
  readonly origin?: number
}

/** Programs made so far. */
let programs = 0

/** Code as waves with so many VGPRs run it: an instruction that names a register beyond them is illegal, so plans differ by their number. */
export class Program {
  readonly code: Code
  readonly target: Target
  readonly vgprCount: number
  /** Address of the program header in linear memory. */
  readonly host: number
  readonly #arena: Arena
  readonly #pcTable: number
  readonly #blocks: number[] = []

  constructor(arena: Arena, code: Code, target: Target, vgprCount: number) {
    this.#arena = arena
    this.code = code
    this.target = target
    this.vgprCount = vgprCount
    this.host = arena.allocate(PROGRAM_BYTES)
    // One entry more than the code has dwords: where it runs off its end, an `end` record stands.
    this.#pcTable = arena.allocate((code.words.length + 1) * 4)
    const { words } = arena
    words[(this.host + PROGRAM_CODE_BYTES) >>> 2] = code.words.length * 4
    words[(this.host + PROGRAM_PC_TABLE) >>> 2] = this.#pcTable
    words[(this.host + PROGRAM_BASE) >>> 2] = Number(code.address & 0xffffffffn)
    words[(this.host + PROGRAM_BASE + 4) >>> 2] = Number(code.address >> 32n)
    words[(this.host + PROGRAM_GENERATION) >>> 2] = GENERATIONS.indexOf(target.generation)
    words[(this.host + PROGRAM_WAVE_SIZE) >>> 2] = target.waveSize
    words[(this.host + PROGRAM_ID) >>> 2] = ++programs
  }

  /** Bytes of the code that are there to be run: all of it, but of a stream no more than the piece at hand. */
  get codeBytes(): number {
    return this.#arena.words[(this.host + PROGRAM_CODE_BYTES) >>> 2]!
  }

  /** Whether the instruction at this byte offset has a plan record. */
  planned(pc: number): boolean {
    return this.record(pc) !== 0
  }

  /** Address of the plan record of the instruction at this byte offset, 0 where there is none yet. */
  record(pc: number): number {
    return this.#arena.words[(this.#pcTable + pc) >>> 2]!
  }

  /** Whether this byte offset can be executed: a dword of the code, or its very end. */
  contains(pc: number): boolean {
    return pc >= 0 && pc <= this.code.words.length * 4 && (pc & 3) === 0
  }

  /**
   * Plans the stretch of code that begins at `pc`.
   * @param pc byte offset from the code's first byte, for which {@link contains} holds
   */
  plan(pc: number): void {
    const options = { waveSize: this.target.waveSize, vgprCount: this.vgprCount }
    const { records, pcs } = planStretch(this.code.words, pc, this.target, options, (at) => this.planned(at))
    const block = this.#arena.allocate(records.byteLength)
    this.#blocks.push(block)
    const { words } = this.#arena
    words.set(records, block >>> 2)
    // A stretch without instructions is the `end` record behind the code.
    const starts = pcs.length > 0 ? pcs : [pc]
    starts.forEach((at, i) => {
      words[(this.#pcTable + at) >>> 2] = block + i * RECORD_BYTES
    })
  }

  /** Gives its linear memory back; no wave may run it any more. */
  free(): void {
    for (const block of [...this.#blocks, this.#pcTable, this.host]) this.#arena.free(block)
  }
}
