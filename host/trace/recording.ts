/**
 * The recording of a wave: what it executed, and what a replay cannot compute. docs/traces.md describes the bytes. Knows no files; whoever
 * writes one may gzip it.
 *
 *   "LWTRACE1" │ varint n, n bytes of JSON: header │ changes: start state │ step step … │ 0, varint steps
 *   step       tag │ [svarint pc] │ [words] │ [exec u64] │ [changes]
 *   changes    varint count │ count × (varint register │ u32, or for a VGPR u64 lanes and a u32 a lane)
 */
import { LanewiseError } from '../errors.ts'

const MAGIC = new TextEncoder().encode('LWTRACE1')

export const isRecording = (bytes: Uint8Array): boolean => MAGIC.every((byte, i) => bytes[i] === byte)

/** What a recording says of itself. */
export interface RecordingHeader {
  readonly version: 1
  readonly target: string
  readonly waveSize: number
  readonly vgprs: number
  readonly workgroup: readonly [number, number, number]
  readonly wave: number
  /** The changes of every instruction are there, not only of those that a replay cannot execute. */
  readonly registers: boolean
}

/** A register's new contents. */
export interface Change {
  /** Scalar operand encoding 0–127, {@link HEADER_REGISTERS}, or 256 + VGPR. */
  readonly register: number
  /** Lanes that changed; all of a scalar. */
  readonly lanes: bigint
  /** One a lane in `lanes`, or one. */
  readonly values: readonly number[]
}

export const VGPR0 = 256

/** One executed instruction. */
export interface Step {
  /** Byte offset in the kernel's code. */
  readonly pc: number
  readonly words: readonly number[]
  /** Before the instruction. */
  readonly exec: bigint
  /** Its results depend on what a replay does not have (memory, LDS, its own address): a replay takes `changes` in place of executing it. */
  readonly byValue: boolean
  readonly changes: readonly Change[]
}

const TAG_STEP = 1
const TAG_PC = 2
const TAG_WORDS = 4
const TAG_DWORDS_SHIFT = 3
const TAG_EXEC = 32
const TAG_CHANGES = 64
const TAG_BY_VALUE = 128

/** Writes a recording. Bytes pile up until they are taken. */
export class RecordingWriter {
  #bytes = new Uint8Array(1 << 12)
  #view = new DataView(this.#bytes.buffer)
  #length = 0
  #steps = 0
  #expected = 0
  #exec: bigint | undefined
  readonly #known = new Set<number>()

  constructor(header: RecordingHeader, start: readonly Change[]) {
    for (const byte of MAGIC) this.#byte(byte)
    const text = new TextEncoder().encode(JSON.stringify(header))
    this.#varint(text.length)
    for (const byte of text) this.#byte(byte)
    this.#changes(start)
  }

  step({ pc, words, exec, byValue, changes }: Step): void {
    const known = this.#known.has(pc)
    const tag =
      TAG_STEP |
      (pc === this.#expected ? 0 : TAG_PC) |
      (known ? 0 : TAG_WORDS | (words.length << TAG_DWORDS_SHIFT)) |
      (exec === this.#exec ? 0 : TAG_EXEC) |
      (changes.length === 0 ? 0 : TAG_CHANGES) |
      (byValue ? TAG_BY_VALUE : 0)
    this.#byte(tag)
    if (tag & TAG_PC) this.#svarint((pc - this.#expected) / 4)
    if (tag & TAG_WORDS) for (const word of words) this.#u32(word)
    if (tag & TAG_EXEC) this.#u64(exec)
    if (tag & TAG_CHANGES) this.#changes(changes)
    this.#known.add(pc)
    this.#expected = pc + words.length * 4
    this.#exec = exec
    this.#steps++
  }

  end(): void {
    this.#byte(0)
    this.#varint(this.#steps)
  }

  /** Bytes since the last call. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length)
    this.#length = 0
    return taken
  }

  /** How many bytes wait to be taken. */
  get waiting(): number {
    return this.#length
  }

  #changes(changes: readonly Change[]): void {
    this.#varint(changes.length)
    for (const { register, lanes, values } of changes) {
      this.#varint(register)
      if (register >= VGPR0) this.#u64(lanes)
      for (const value of values) this.#u32(value)
    }
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const larger = new Uint8Array(this.#bytes.length * 2)
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }

  #byte(value: number): void {
    this.#room(1)
    this.#bytes[this.#length++] = value
  }

  #u32(value: number): void {
    this.#room(4)
    this.#view.setUint32(this.#length, value, true)
    this.#length += 4
  }

  #u64(value: bigint): void {
    this.#room(8)
    this.#view.setBigUint64(this.#length, value, true)
    this.#length += 8
  }

  /** Seven bits a byte, lowest first; bit 7 says that more follow. */
  #varint(value: number): void {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#byte((rest % 128) | 128)
    this.#byte(rest)
  }

  /** Twice the number, or for a negative one twice its complement plus one. */
  #svarint(value: number): void {
    this.#varint(value < 0 ? -value * 2 - 1 : value * 2)
  }
}

/** A recording that is none, or is damaged. */
export const damaged = (what: string): LanewiseError => new LanewiseError('ERR_OBJECT', `the recording is damaged: ${what}; record it anew`)

/** Not all bytes of something are here yet. */
class Short extends Error {}

/** More than one step can have. */
const MOST_CHANGES = 512
const MOST_HEADER_BYTES = 1 << 16

/** Reads a recording as its bytes come. */
export class RecordingReader {
  #bytes = new Uint8Array()
  #view = new DataView(this.#bytes.buffer)
  #at = 0
  #pc = 0
  #exec = 0n
  #steps = 0
  readonly #known = new Map<number, readonly number[]>()
  readonly #source: AsyncIterator<Uint8Array>

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Header and start state; read them first, once. @throws {LanewiseError} ERR_OBJECT: damaged */
  async start(): Promise<{ readonly header: RecordingHeader; readonly changes: readonly Change[] }> {
    return this.#whole(() => {
      for (const byte of MAGIC) if (this.#byte() !== byte) throw damaged('it does not begin with LWTRACE1')
      const length = this.#varint()
      if (length > MOST_HEADER_BYTES) throw damaged(`its header is to have ${length} bytes`)
      const text = Uint8Array.from({ length }, () => this.#byte())
      return { header: headerOf(new TextDecoder().decode(text)), changes: this.#changes() }
    })
  }

  /** All steps there are. @throws {LanewiseError} ERR_OBJECT: damaged, or without its end */
  async *steps(): AsyncGenerator<readonly Step[]> {
    for (;;) {
      const batch: Step[] = []
      const ended = await this.#whole(() => this.#batch(batch))
      yield batch
      if (ended) return
    }
  }

  /** Reads steps as far as bytes reach; true at the end. */
  #batch(batch: Step[]): boolean {
    while (batch.length < 4096) {
      const before = this.#at
      try {
        const step = this.#step()
        if (step === undefined) return true
        batch.push(step)
      } catch (error) {
        if (!(error instanceof Short) || batch.length === 0) throw error
        this.#at = before
        return false
      }
    }
    return false
  }

  #step(): Step | undefined {
    const tag = this.#byte()
    if (tag === 0) {
      const steps = this.#varint()
      if (steps !== this.#steps) throw damaged(`it has ${this.#steps} instructions and says ${steps}`)
      return undefined
    }
    if ((tag & TAG_STEP) === 0) throw damaged(`instruction ${this.#steps} begins with the byte ${tag}`)
    const pc = tag & TAG_PC ? this.#pc + this.#svarint() * 4 : this.#pc
    const dwords = (tag >>> TAG_DWORDS_SHIFT) & 3
    const words = tag & TAG_WORDS ? Array.from({ length: dwords }, () => this.#u32()) : this.#known.get(pc)
    if (words === undefined || words.length === 0) throw damaged(`instruction ${this.#steps} at pc 0x${pc.toString(16)} has no words`)
    const exec = tag & TAG_EXEC ? this.#u64() : this.#exec
    const changes = tag & TAG_CHANGES ? this.#changes() : []
    // Nothing of the reader changes before all bytes of the step are there.
    this.#known.set(pc, words)
    this.#pc = pc + words.length * 4
    this.#exec = exec
    this.#steps++
    return { pc, words, exec, byValue: (tag & TAG_BY_VALUE) !== 0, changes }
  }

  #changes(): Change[] {
    const count = this.#varint()
    if (count > MOST_CHANGES) throw damaged(`${count} registers change at once`)
    return Array.from({ length: count }, () => this.#change())
  }

  #change(): Change {
    const register = this.#varint()
    if (register < VGPR0) return { register, lanes: 1n, values: [this.#u32()] }
    if (register >= VGPR0 * 2) throw damaged(`there is no register ${register}`)
    const lanes = this.#u64()
    const values: number[] = []
    for (let rest = lanes; rest !== 0n; rest &= rest - 1n) values.push(this.#u32())
    return { register, lanes, values }
  }

  /** Reads something anew, with more bytes each time, until all of it is there. */
  async #whole<T>(read: () => T): Promise<T> {
    for (;;) {
      const before = this.#at
      try {
        return read()
      } catch (error) {
        if (!(error instanceof Short)) throw error
        this.#at = before
        await this.#more()
      }
    }
  }

  async #more(): Promise<void> {
    const next = await this.#source.next()
    if (next.done) throw damaged('it ends too early')
    const rest = this.#bytes.subarray(this.#at)
    const bytes = new Uint8Array(rest.length + next.value.length)
    bytes.set(rest)
    bytes.set(next.value, rest.length)
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
    this.#at = 0
  }

  #need(bytes: number): number {
    const at = this.#at
    if (at + bytes > this.#bytes.length) throw new Short()
    this.#at += bytes
    return at
  }

  #byte(): number {
    return this.#bytes[this.#need(1)]!
  }
  #u32(): number {
    return this.#view.getUint32(this.#need(4), true)
  }
  #u64(): bigint {
    return this.#view.getBigUint64(this.#need(8), true)
  }

  #varint(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte()
      value += (byte & 127) * scale
      if (byte < 128) return value
      if (scale > 2 ** 42) throw damaged('a number is too long')
    }
  }

  #svarint(): number {
    const value = this.#varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}

function headerOf(text: string): RecordingHeader {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw damaged('its header is no JSON')
  }
  const header = value as RecordingHeader
  if (typeof value !== 'object' || value === null || header.version !== 1 || typeof header.target !== 'string')
    throw damaged('its header is not of version 1')
  return header
}
