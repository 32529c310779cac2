/** The three engines side by side: the same code from the same states on each, and everything that a run leaves compared. */
import { createCore } from '../../host/core/engine.ts'
import { bareWave, type Code, Device, type WaveState } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import type { Target } from '../../host/isa/targets.ts'
import { createReference } from '../../host/reference/engine.ts'
import { createTranslate } from '../../host/translate/engine.ts'

/** Programs after which the engines are made anew: code that was run stays in their memories. */
const LIFETIME = 200

/** Guest memory that every run begins with. */
export interface Memory {
  readonly address: bigint
  readonly bytes: Uint8Array
}

/** What a run leaves; the program's next run overwrites it. */
export interface End {
  /** The wave's state, and the same in dwords. */
  readonly wave: Uint8Array
  readonly words: Uint32Array
  readonly lds: Uint8Array
  readonly memory: Uint8Array
  readonly instructions: number
  /** What stopped it, or `done`. */
  readonly status: string
}

const NO_MEMORY = new Uint8Array()

/** A program on one engine. */
export class Loaded {
  #wave: Uint8Array<ArrayBuffer> | undefined

  constructor(
    readonly device: Device,
    private readonly code: Code,
    private readonly memory: Memory | undefined,
  ) {}

  get name(): Engine['name'] {
    return this.device.engine.name
  }

  /** Runs it to its end, or to a fault. */
  run(state: WaveState): End {
    if (this.memory !== undefined) this.device.memory.write(this.memory.address, this.memory.bytes)
    const execution = bareWave(this.device, this.code, state)
    while (execution.status === 'running') execution.step(1000)
    const wave = execution.waves[0]!
    this.#wave = wave.state(this.#wave)
    const end = {
      wave: this.#wave,
      words: new Uint32Array(this.#wave.buffer),
      lds: wave.lds,
      memory: this.#view(),
      instructions: wave.instructions,
      status: execution.error?.message ?? 'done',
    }
    execution.free()
    return end
  }

  #view(): Uint8Array {
    const { memory } = this.device
    const region = memory.regions.find(({ address }) => address === this.memory?.address)
    return region === undefined ? NO_MEMORY : memory.view(region)
  }
}

/** The reference, which comes first, the core and translate. */
export class Machines {
  #left = 0
  #translated = 0
  #devices: readonly Device[] = []

  /** @param length instructions of a program at least: translate translates it when it has run once */
  constructor(
    readonly target: Target,
    private readonly length: number,
    private readonly memory?: Memory,
  ) {}

  /** Devices of the engines, for one program. */
  async devices(): Promise<readonly Device[]> {
    if (this.#left-- === 0) await this.#renew()
    return this.#devices
  }

  async load(words: Uint32Array): Promise<readonly Loaded[]> {
    return (await this.devices()).map((device) => new Loaded(device, device.loadCode(words), this.memory))
  }

  /** Programs that translate has translated so far. */
  get translated(): number {
    return this.#translated + (this.#devices.at(-1)?.engine.translated?.regions ?? 0)
  }

  async #renew(): Promise<void> {
    this.#left = LIFETIME - 1
    this.#translated = this.translated
    const engines = [createReference(), await createCore(), await createTranslate({ threshold: this.length })]
    this.#devices = engines.map((engine) => new Device(engine, this.target))
    const { memory } = this
    if (memory !== undefined) for (const device of this.#devices) device.memory.allocate(memory.bytes.length, { ...memory, name: 'memory' })
  }
}

/** Where two ends part: the dword of the wave's block, or the byte. */
export interface Difference {
  readonly what: 'status' | 'wave' | 'LDS' | 'memory'
  readonly at: number
}

export function differenceOf(want: End, got: End): Difference | undefined {
  if (want.status !== got.status) return { what: 'status', at: 0 }
  if (Buffer.compare(want.wave, got.wave) !== 0) return { what: 'wave', at: want.words.findIndex((word, at) => word !== got.words[at]) }
  if (Buffer.compare(want.lds, got.lds) !== 0) return { what: 'LDS', at: want.lds.findIndex((byte, at) => byte !== got.lds[at]) }
  if (Buffer.compare(want.memory, got.memory) !== 0)
    return { what: 'memory', at: want.memory.findIndex((byte, at) => byte !== got.memory[at]) }
  return undefined
}

/** An end that is not the reference's. */
export interface Disagreement extends Difference {
  readonly loaded: Loaded
  /** Which of the states. */
  readonly state: number
  /** Whether the engine has run the program before, so that translate has translated it. */
  readonly isRepeated: boolean
  readonly want: End
  readonly got: End
}

/**
 * Runs a program from several states on all engines. From the first one translate runs it twice: interpreted, then translated.
 * @param see is shown each end of the reference
 */
export function firstDisagreement(
  [reference, ...others]: readonly Loaded[],
  states: readonly WaveState[],
  see: (end: End, state: number) => void,
): Disagreement | undefined {
  for (const [n, state] of states.entries()) {
    const want = reference!.run(state)
    see(want, n)
    for (const loaded of others) {
      const runs = n === 0 && loaded.name === 'translate' ? 2 : 1
      for (let run = 0; run < runs; run++) {
        const got = loaded.run(state)
        const difference = differenceOf(want, got)
        if (difference === undefined) continue
        return { ...difference, loaded, state: n, isRepeated: n + run > 0, want, got }
      }
    }
  }
  return undefined
}
