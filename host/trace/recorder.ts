/** Records what waves execute, instruction by instruction, while an execution runs. */
import { decode } from '../codec/decode.ts'
import type { Execution, Wave } from '../device/index.ts'
import type { Table } from '../isa/operations.ts'
import { waveBytes } from '../plan/layout.ts'
import type { Observer } from '../results/watch.ts'
import { type RecordingHeader, RecordingWriter } from './recording.ts'
import { changesOf, copyBlock, type VgprRange, writtenRange } from './registers.ts'

/** Which wave: number of the workgroup (x runs first), and of the wave in it. */
export interface RecordedWave {
  readonly group: number
  readonly wave: number
}

/** What is recorded, and how. */
export interface RecordOptions {
  /** Default: the first wave of the first workgroup. */
  readonly waves?: readonly RecordedWave[]
  /** Records what every instruction changes, not only those that a replay cannot execute. Default false. */
  readonly registers?: boolean
  /** Takes the bytes of a wave's recording as they come. */
  readonly write: (bytes: Uint8Array, wave: RecordedWave) => void | Promise<void>
}

/** Their results depend on memory, LDS or GDS. */
const OUTSIDE: ReadonlySet<Table> = new Set<Table>(['smem', 'ds', 'flat', 'mubuf', 'mtbuf', 'mimg', 'exp', 'vintrp'])
/** These depend on where the code lies, on the hardware's own registers, or choose lanes by where they branch to. */
const OF_THE_PLACE = /^s_(getpc_b64|swappc_b64|getreg_b32|cbranch_([ig]_fork|join)|rfe_.*)$/
/** A source that reads LDS (GCN3 manual, "LDS Direct"). */
const LDS_DIRECT = 254

/**
 * Records waves of an execution that {@link watch} runs: theirs take a few µs an instruction on the core. Call {@link end} when it has run.
 * @example
 * const recorder = new Recorder({ write: (bytes) => void chunks.push(bytes) })
 * await watch(execution, [recorder])
 * await recorder.end()
 */
export class Recorder implements Observer {
  readonly #waves: ReadonlyMap<string, WaveRecorder>

  constructor(options: RecordOptions) {
    const { waves = [{ group: 0, wave: 0 }] } = options
    this.#waves = new Map(waves.map((wave) => [`${wave.group}.${wave.wave}`, new WaveRecorder(wave, options)]))
  }

  before(execution: Execution, wave: Wave): void {
    // A wave that had to wait has executed nothing.
    for (const recorder of this.#waves.values()) recorder.expects = undefined
    this.#waves.get(`${execution.group}.${wave.index}`)?.before(execution, wave)
  }

  /** Waves that nobody records run on. */
  stretch(): number {
    return [...this.#waves.values()].some(({ expects }) => expects !== undefined) ? 1 : Number.POSITIVE_INFINITY
  }

  /** The execution may be at its next workgroup already, so the recorder that was asked before goes on. */
  after(execution: Execution, wave: Wave): void {
    for (const recorder of this.#waves.values()) if (recorder.expects === wave) recorder.after(execution, wave)
  }

  async flush(): Promise<void> {
    for (const recorder of this.#waves.values()) await recorder.flush()
  }

  /** Writes the ends. @returns those of the waves that never ran */
  async end(): Promise<readonly RecordedWave[]> {
    for (const recorder of this.#waves.values()) await recorder.end()
    return [...this.#waves.values()].filter(({ started }) => !started).map(({ which }) => which)
  }
}

/** What is known of an instruction of the code. */
interface Known {
  readonly words: readonly number[]
  readonly byValue: boolean
}

class WaveRecorder {
  #writer: RecordingWriter | undefined
  #pc = 0
  #exec = 0n
  /** The block before the instruction, where `compares`; of its VGPRs the `range`. */
  #block: Uint32Array | undefined
  #compares = false
  #range: VgprRange | undefined
  #known: Known | undefined
  readonly #all = new Map<number, Known>()

  constructor(
    readonly which: RecordedWave,
    private readonly options: RecordOptions,
  ) {}

  get started(): boolean {
    return this.#writer !== undefined
  }
  /** The wave whose instruction is under way. */
  expects: Wave | undefined

  before(execution: Execution, wave: Wave): void {
    const { words } = execution.device.arena
    this.#writer ??= new RecordingWriter(this.#header(execution, wave), changesOf(wave, words, undefined))
    this.expects = wave
    this.#pc = wave.pc
    this.#exec = wave.exec
    this.#known = this.#instruction(execution, wave)
    const isWhole = this.options.registers === true
    this.#compares = this.#known.byValue || isWhole
    if (!this.#compares) return
    this.#block ??= new Uint32Array(waveBytes(wave.vgprCount, wave.size) / 4)
    this.#range = isWhole ? undefined : writtenRange(wave, words)
    copyBlock(wave, words, this.#block, this.#range)
  }

  after(execution: Execution, wave: Wave): void {
    this.expects = undefined
    const { words, byValue } = this.#known!
    const changes = this.#compares ? changesOf(wave, execution.device.arena.words, this.#block, this.#range) : []
    this.#writer!.step({ pc: this.#pc, words, exec: this.#exec, byValue, changes })
  }

  async flush(): Promise<void> {
    if (this.#writer !== undefined && this.#writer.waiting > 0) await this.options.write(this.#writer.take(), this.which)
  }

  async end(): Promise<void> {
    if (this.#writer === undefined) return
    this.#writer.end()
    await this.flush()
  }

  #header({ device, workgroup }: Execution, wave: Wave): RecordingHeader {
    const { name, waveSize } = device.target
    const registers = this.options.registers === true
    return { version: 1, target: name, waveSize, vgprs: wave.vgprCount, workgroup, wave: wave.index, registers }
  }

  #instruction({ device }: Execution, { pc, program }: Wave): Known {
    let known = this.#all.get(pc)
    if (known === undefined) {
      const { words } = program.code
      const instruction = decode(words, pc >>> 2, device.target)
      const operation = instruction?.operation
      const byValue =
        operation !== undefined &&
        (OUTSIDE.has(operation.table) || OF_THE_PLACE.test(operation.name) || instruction?.fields.src0 === LDS_DIRECT)
      known = { words: [...words.subarray(pc >>> 2, (pc >>> 2) + (instruction?.dwords ?? 1))], byValue }
      this.#all.set(pc, known)
    }
    return known
  }
}
