/** Plays a trace from its source to its end: machine words, assembly text, or a recording, which is replayed. */
import { bareWave, type Code, type Device, pause, SLICE_MS, type WaveState } from '../device/index.ts'
import { LanewiseError } from '../errors.ts'
import { Differences } from '../results/compare.ts'
import { hex } from '../results/hex.ts'
import { scalarName } from '../results/registers.ts'
import { TracePlayer } from './player.ts'
import { type Change, RecordingReader, type Step, VGPR0 } from './recording.ts'
import { clear, eachWord } from './registers.ts'
import { assembleLines, formOf, peek, type TraceForm, type TraceSource } from './source.ts'

/** How a trace is played. */
export interface TraceOptions {
  /** What the source is; default: found out from its first bytes. */
  readonly form?: TraceForm | undefined
  /** Stops within a few milliseconds and rejects with its reason; the player keeps all registers. */
  readonly signal?: AbortSignal | undefined
  /** Instructions so far, at most about ten calls a second. */
  readonly onProgress?: ((instructions: number) => void) | undefined
}

/** How a trace came out. */
export interface TraceOutcome {
  readonly status: 'done' | 'stopped'
  readonly error: LanewiseError | undefined
  readonly form: TraceForm
  readonly instructions: number
  /** Wall time of reading, planning and running. */
  readonly seconds: number
  /** Of a recording with registers: where the replay became different. At most 16, the last instruction's. */
  readonly differences: Differences
}

/**
 * Prepares a wave with 256 VGPRs for a trace.
 * @param budget instructions at most; default: no end
 * @example
 * const player = tracePlayer(device, { vgprs: new Map([[0, 0x3f800000]]) })
 * const { status, instructions } = await playTrace(player, device, createReadStream('trace.bin'))
 * player.wave.vgpr(2)
 */
export function tracePlayer(device: Device, state: WaveState = {}, budget?: number): TracePlayer {
  const nothing: Code = { words: new Uint32Array(), address: 0n, name: 'trace' }
  return new TracePlayer(device, bareWave(device, nothing, state).waves[0]!, budget)
}

const PROGRESS_MS = 125

/**
 * Plays a trace. Whatever stops it, all registers of `player.wave` stay readable.
 * @param source bytes in pieces of any size; they are used before the next is asked for, so memory does not grow with the trace
 * @throws the signal's reason when it aborts
 * @throws {AssembleError} wrong text; {LanewiseError} ERR_OBJECT: a damaged recording, or one of another target
 */
export async function playTrace(
  player: TracePlayer,
  device: Device,
  source: TraceSource,
  options: TraceOptions = {},
): Promise<TraceOutcome> {
  const start = performance.now()
  const { first, all } = await peek(source)
  const form = options.form ?? formOf(first)
  const differences = new Differences()
  const turn = new Turn(player, options)
  if (form === 'recording') await new Replay(player, device, differences, turn).run(all)
  else await feed(player, form === 'text' ? assembleLines(all, device.target) : all, turn)
  const seconds = (performance.now() - start) / 1000
  const { error, instructions } = player
  return { status: error === undefined ? 'done' : 'stopped', error, form, instructions, seconds, differences }
}

/** Gives control back to the event loop every few milliseconds. */
class Turn {
  #paused = performance.now()
  #reported = this.#paused

  constructor(
    private readonly player: TracePlayer,
    private readonly options: TraceOptions,
  ) {}

  get over(): boolean {
    return performance.now() - this.#paused >= SLICE_MS
  }

  async end(): Promise<void> {
    const { signal, onProgress } = this.options
    await pause()
    this.#paused = performance.now()
    signal?.throwIfAborted()
    if (this.#paused - this.#reported < PROGRESS_MS) return
    this.#reported = this.#paused
    onProgress?.(this.player.instructions)
  }
}

/** Bytes that run between two looks at the clock. */
const PART_BYTES = 1 << 15

async function feed(player: TracePlayer, source: AsyncIterable<Uint8Array>, turn: Turn): Promise<void> {
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length && player.status === 'running'; at += PART_BYTES) {
      player.feed(bytes.subarray(at, at + PART_BYTES))
      if (turn.over) await turn.end()
    }
    if (player.status !== 'running') return
  }
  player.finish()
}

/** Words that wait to be executed together. */
const BATCH_WORDS = 2048

class Replay {
  readonly #batch = new Uint32Array(BATCH_WORDS)
  #length = 0

  constructor(
    private readonly player: TracePlayer,
    private readonly device: Device,
    private readonly differences: Differences,
    private readonly turn: Turn,
  ) {}

  async run(source: AsyncIterable<Uint8Array>): Promise<void> {
    const reader = new RecordingReader(source)
    const { header, changes } = await reader.start()
    const { name, waveSize } = this.device.target
    if (header.target !== name || header.waveSize !== waveSize)
      throw new LanewiseError(
        'ERR_OBJECT',
        `the recording is of ${header.target}, the device is ${name}; make a device for ${header.target}`,
      )
    clear(this.player.wave, this.device.arena.words)
    this.#apply(changes)
    for await (const steps of reader.steps()) {
      for (const step of steps) {
        this.#step(step)
        if (this.player.status !== 'running') return
        if (this.#length === 0 && this.turn.over) await this.turn.end()
      }
    }
    this.#flush()
    this.player.finish()
  }

  /** Executes an instruction, or takes what it wrote; with changes to compare, at once, else some time later. */
  #step({ words, byValue, changes }: Step): void {
    if (!byValue) {
      for (const word of words) this.#batch[this.#length++] = word
      if (changes.length > 0 || this.#length > BATCH_WORDS - 4) this.#flush()
      if (changes.length > 0) this.#compare(changes)
      return
    }
    this.#flush()
    if (this.player.status !== 'running') return
    this.player.skip(words.length * 4)
    this.#apply(changes)
  }

  #flush(): void {
    this.player.feed(new Uint8Array(this.#batch.buffer, 0, this.#length * 4), true)
    this.#length = 0
  }

  #apply(changes: readonly Change[]): void {
    const { words } = this.device.arena
    for (const change of changes)
      eachWord(change, this.player.wave, (index, value) => {
        words[index] = value
      })
  }

  #compare(changes: readonly Change[]): void {
    const { words } = this.device.arena
    for (const change of changes)
      eachWord(change, this.player.wave, (index, value, lane) => {
        const actual = words[index]!
        if (actual === value) return
        const where = nameOf(change.register)
        this.differences.add({ where, ...(lane === undefined ? {} : { lane }), expected: hex(value, 32), actual: hex(actual, 32) })
      })
    if (this.differences.count === 0) return
    const { pc, instructions } = this.player
    this.player.halt(
      new LanewiseError('ERR_CORE', `the replay differs from the recording after ${instructions} instructions, at byte ${pc} of the trace`),
    )
  }
}

const nameOf = (register: number): string =>
  register >= VGPR0 ? `v${register - VGPR0}` : (['scc', 'mode', 'status', 'trapsts'][register - 128] ?? scalarName(register))
