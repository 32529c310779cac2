/**
 * Runs a straight stream of machine words, of any length, on one wave: piece by piece through one block of plan records that is used again and
 * again. Knows nothing of files or text.
 */

import { Beyond, type Sent } from '../device/beyond.ts'
import { faultOf, placeOf, placeText } from '../device/faults.ts'
import type { Device } from '../device/index.ts'
import type { Arena } from '../device/memory.ts'
import { type Code, Program } from '../device/program.ts'
import { Wave } from '../device/wave.ts'
import { Stop } from '../engine.ts'
import { CoreError, type LanewiseError, LimitError } from '../errors.ts'
import { PROGRAM_BASE, PROGRAM_CODE_BYTES, PROGRAM_ID, PROGRAM_PC_TABLE, RECORD_BYTES, WAVE_PC, WAVE_PROGRAM } from '../plan/layout.ts'
import { OP_END } from '../plan/record.ts'
import { TracePlanner } from './planner.ts'

/** Words of a piece: its records (32 bytes each) stay in a processor's second cache, and it runs for a fraction of a millisecond. */
export const PIECE_WORDS = 4096
const PIECE_BYTES = 4 * PIECE_WORDS
const MAX_BUDGET = 2 ** 31 - 1
const RECORD_WORDS = RECORD_BYTES / 4

/** The piece at hand as code. */
class PieceOfCode implements Code {
  readonly address = 0n
  readonly name = 'trace'
  origin = 0

  constructor(
    private readonly arena: Arena,
    private readonly start: number,
  ) {}

  /** Linear memory may have moved since the last look. */
  get words(): Uint32Array {
    return this.arena.words.subarray(this.start / 4, this.start / 4 + PIECE_WORDS)
  }
}

/** A wave that executes a trace. */
export class TracePlayer {
  /** `running` until the trace has ended (`done`) or something stopped it (`stopped`). */
  status: 'running' | 'done' | 'stopped' = 'running'
  /** Why it stopped. */
  error: LanewiseError | undefined
  /** Instructions completed. */
  instructions = 0
  /** The wave; all its registers can be read whenever nothing runs. Its pc counts from {@link origin}. */
  readonly wave: Wave
  readonly #device: Device
  readonly #program: Program
  /** Address of the words at hand, and how many bytes they have; what is planned or runs of them begins with the first. */
  readonly #piece: number
  #bytes = 0
  readonly #records: number
  readonly #planner: TracePlanner
  #budget: number
  readonly #beyond: Beyond
  readonly #code: PieceOfCode

  /**
   * @param start a wave that is laid out, with registers as the trace starts; the trace runs in its block
   * @param budget instructions at most; default: no end
   */
  constructor(device: Device, start: Wave, budget = Number.POSITIVE_INFINITY) {
    if (!(budget >= 1)) throw new RangeError(`budget is ${budget}; it must be at least 1 instruction`)
    this.#device = device
    this.#budget = budget
    this.#beyond = new Beyond(device)
    this.#piece = device.arena.allocate(4 * PIECE_WORDS)
    this.#code = new PieceOfCode(device.arena, this.#piece)
    this.#program = new Program(device.arena, this.#code, device.target, start.vgprCount)
    this.#records = device.arena.allocate((PIECE_WORDS + 1) * RECORD_BYTES)
    this.#planner = new TracePlanner(device.arena, device.engine.templates, device.target, start.vgprCount)
    this.wave = new Wave(device.arena, start.index, start.host, this.#program)
    const { words } = device.arena
    words[(start.host + WAVE_PROGRAM) >>> 2] = this.#program.host
    // Each piece has records of its own, at the same places.
    words[(this.#program.host + PROGRAM_ID) >>> 2] = 0
  }

  /** What the wave exported, and its messages; places count from the trace's first byte. */
  get sent(): Sent {
    return this.#beyond.sent
  }

  /** How often each operation was executed that acts beyond its wave. */
  get beyond(): Readonly<Record<string, number>> {
    return this.#beyond.counts
  }

  /** Bytes of the trace before the piece at hand. */
  get origin(): number {
    return this.#code.origin
  }

  /** Byte offset in the trace of the instruction that runs next, or that faulted. */
  get pc(): number {
    return this.origin + this.wave.pc
  }

  /**
   * Runs more of the trace: little-endian machine words. What is left when the trace has ended is not looked at.
   * @param whole the bytes end with an instruction's end, so all of them run now; else they may be cut anywhere, and a last word may wait
   */
  feed(bytes: Uint8Array, whole = false): void {
    for (let taken = 0; taken < bytes.length && this.status === 'running'; ) {
      const part = bytes.subarray(taken, taken + PIECE_BYTES - this.#bytes)
      this.#device.arena.bytes.set(part, this.#piece + this.#bytes)
      this.#bytes += part.length
      taken += part.length
      if (this.#bytes === PIECE_BYTES || taken === bytes.length) this.#play(whole && taken === bytes.length)
    }
  }

  /** Takes an instruction as executed whose results are written from elsewhere; nothing fed may wait. */
  skip(bytes: number): void {
    if (this.instructions >= this.#budget) return this.#stop(this.#exhausted())
    this.#code.origin += bytes
    this.instructions++
  }

  /** Stops here, because of something outside the trace. */
  halt(error: LanewiseError): void {
    this.#stop(error)
  }

  /** The trace has no more words. A last word that is not whole, or no whole instruction, is illegal. */
  finish(): void {
    if (this.status !== 'running') return
    const whole = Math.ceil(this.#bytes / 4) * 4
    this.#device.arena.bytes.fill(0xff, this.#piece + this.#bytes, this.#piece + whole)
    this.#bytes = whole
    this.#play(true)
    if (this.status === 'running') this.status = 'done'
  }

  /** Gives the memory of program and records back; the wave stays. */
  free(): void {
    this.#program.free()
    this.#planner.free()
    for (const block of [this.#records, this.#piece]) this.#device.arena.free(block)
  }

  /** Plans and runs what is at hand, as far as it goes. */
  #play(final: boolean): void {
    while (this.status === 'running') {
      if (this.instructions >= this.#budget && this.#bytes > 0) return this.#stop(this.#exhausted())
      const limit = Math.min(PIECE_WORDS, this.#budget - this.instructions)
      const planner = this.#planner
      const records = planner.plan(this.#piece, this.#piece + (this.#bytes & ~3), final, this.#records, limit)
      if (records === 0) return
      const { taken } = planner
      this.#run(records, taken)
      if (this.status !== 'running') return
      const { words, bytes } = this.#device.arena
      this.#code.origin += taken
      words[(this.wave.host + WAVE_PC) >>> 2] = 0
      bytes.copyWithin(this.#piece, this.#piece + taken, this.#piece + this.#bytes)
      this.#bytes -= taken
      if (planner.end === 'program') this.status = 'done'
      else if (planner.end === 'words') return
    }
  }

  /** Runs so many records, which stand for so many bytes of the piece. */
  #run(records: number, codeBytes: number): void {
    const { words } = this.#device.arena
    const { host } = this.#program
    const origin = BigInt(this.#code.origin)
    words[(host + PROGRAM_CODE_BYTES) >>> 2] = codeBytes
    words[(host + PROGRAM_BASE) >>> 2] = Number(origin & 0xffffffffn)
    words[(host + PROGRAM_BASE + 4) >>> 2] = Number(origin >> 32n)
    const end = (this.#records >>> 2) + records * RECORD_WORDS
    words.fill(0, end, end + RECORD_WORDS)
    words[end] = OP_END
    words[end + 1] = codeBytes
    const before = this.wave.instructions
    this.#goTo(0, 0)
    for (;;) {
      const stop = this.#device.engine.run(this.wave.host, MAX_BUDGET)
      if (stop === Stop.End) break
      if (stop === Stop.Fault || (stop === Stop.Device && !this.#goBeyond())) {
        this.#stop(faultOf(this.#device, this.wave, [0, 0, 0]))
        break
      }
      // A barrier is met by a wave alone, and nobody waits for a turn.
      if (stop !== Stop.Barrier && stop !== Stop.Yield && stop !== Stop.Device) {
        this.#stop(new CoreError(`the ${this.#device.engine.name} engine returned stop ${String(stop)} in a trace; please report it`))
        break
      }
      const { pc } = this.wave
      if (pc === codeBytes) break
      this.#goTo(pc, this.#find(pc, records))
    }
    this.instructions += this.wave.instructions - before
  }

  /** Performs an instruction that acts beyond the wave, which is alone; whether it could. */
  #goBeyond(): boolean {
    const result = this.#beyond.perform(this.wave, 0, [0, 0, 0])
    if (typeof result === 'object') this.#beyond.pass(this.wave)
    return result !== 'fault'
  }

  /** Makes a record the one that runs next: the pc table needs no entry but this, for a trace has no jumps. */
  #goTo(pc: number, record: number): void {
    const { words } = this.#device.arena
    words[(this.wave.host + WAVE_PC) >>> 2] = pc
    words[(words[(this.#program.host + PROGRAM_PC_TABLE) >>> 2]! + pc) >>> 2] = this.#records + record * RECORD_BYTES
  }

  /** The record of a pc. */
  #find(pc: number, records: number): number {
    const { words } = this.#device.arena
    let low = 0
    let high = records - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (words[(this.#records >>> 2) + middle * RECORD_WORDS + 1]! < pc) low = middle + 1
      else high = middle
    }
    return low
  }

  #stop(error: LanewiseError): void {
    this.status = 'stopped'
    this.error = error
  }

  #exhausted(): LimitError {
    const words = this.#device.arena.words
    words[(this.#program.host + PROGRAM_CODE_BYTES) >>> 2] = this.#bytes & ~3
    const place = this.#bytes < 4 ? undefined : placeOf(this.#device, this.wave, [0, 0, 0])
    const next = place === undefined ? '' : `, before ${placeText(place)}`
    return new LimitError(
      `the budget of ${this.#budget} wave instructions is used up at byte ${this.origin} of the trace${next}; give a larger one`,
      place,
    )
  }
}
