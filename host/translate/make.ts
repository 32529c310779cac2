/** Makes translations: reads what is planned of a program, has it translated, and compiles the module. */
import type { CoreMaterial } from '../core/engine.ts'
import { WAVE_MODE, WAVE_PROGRAM } from '../plan/layout.ts'
import { readBlocks } from './graph.ts'
import { Kernels } from './kernels.ts'
import { modesOf } from './modes.ts'
import type { Evaluate } from './nest-plan.ts'
import { RegionWriter } from './region.ts'

/** A translated program at one MODE. */
export interface Translation {
  /** Block that starts at a pc. */
  readonly entries: ReadonlyMap<number, number>
  /** Instructions from a pc inside a block to the block's end. */
  readonly rest: ReadonlyMap<number, number>
  /** Bytes of the WebAssembly module. */
  readonly bytes: number
  /** Loops that run group by group. */
  readonly nests: number
  readonly run: (wave: number, left: number, block: number) => number
  /** What wrote it: it writes the next one, for which most is there. */
  readonly writer: RegionWriter
}

export class Maker {
  #kernels: Kernels | undefined
  /** Asks the core what a scalar operation gives. */
  readonly #evaluate: Evaluate

  /** @param bytes of the core that runs */
  constructor(
    private readonly material: CoreMaterial,
    private readonly bytes: Uint8Array,
  ) {
    this.#evaluate = (name, args) => (material.imports[name] as unknown as (...args: (bigint | number)[]) => bigint)(...args)
  }

  /**
   * Translates the program of a wave at the wave's MODE.
   * @param trusting whether values are taken to be grained over blocks (region.ts)
   * @param before the translation of this program at this MODE that the new one replaces
   * @throws {WebAssembly.CompileError} nothing may be compiled here
   */
  make(memory: ArrayBufferLike, wave: number, trusting: boolean, before?: Translation): Translation {
    const view = new DataView(memory)
    this.#kernels ??= new Kernels(this.bytes)
    const blocks = readBlocks(memory, view.getUint32(wave + WAVE_PROGRAM, true))
    const modes = modesOf(view.getUint32(wave + WAVE_MODE, true))
    const writer = before?.writer ?? new RegionWriter(modes, this.#kernels, this.#evaluate)
    const region = writer.write(blocks, trusting)
    const module = new WebAssembly.Module(region.bytes)
    const { exports } = new WebAssembly.Instance(module, { core: { ...this.material.imports, ...ownGlobals() } })
    const rest = new Map<number, number>()
    for (const { steps } of blocks.values()) steps.forEach((step, i) => void rest.set(step.pc, steps.length - i))
    const run = exports.run as Translation['run']
    return { entries: region.entries, rest, bytes: region.bytes.length, nests: region.nests, run, writer }
  }
}

/** The globals of a new module: instructions left, and what is out of date (region.ts). */
function ownGlobals(): Record<string, WebAssembly.Global> {
  return Object.fromEntries(['left', 'stale', 'unsure'].map((name) => [name, new WebAssembly.Global({ value: 'i32', mutable: true }, 0)]))
}
