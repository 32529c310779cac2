/** Makes translations: reads what is planned of a program, has it translated, and compiles the module. */
import type { CoreMaterial } from '../core/engine.ts'
import { readBlocks } from './code/graph.ts'
import { placeOf } from './code/place.ts'
import type { Evaluate } from './nest/nest-plan.ts'
import { RegionWriter } from './region.ts'
import { linkTranslation, type Translation } from './translation.ts'
import { Kernels } from './wasm/kernels.ts'

/** What was translated, and how much it is. */
export interface Made {
  readonly translation: Translation
  /** Bytes of the WebAssembly module. */
  readonly bytes: number
  /** Loops that run group by group. */
  readonly nests: number
}

/** What was read of a core, for all engines that run it. */
const kernelsOf = new WeakMap<Uint8Array, Kernels>()

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
   * Translates what is planned of a program.
   * @param program address of its header
   * @param mode MODE that its waves have, those bits of it that matter (MODE_KEY in modes.ts)
   * @param trusting whether values are taken to be grained over blocks (region.ts)
   * @param before the translation of this program that the new one replaces: at this MODE, or one whose code is reached with it
   * @throws {WebAssembly.CompileError} nothing may be compiled here
   */
  make(memory: ArrayBufferLike, program: number, mode: number, trusting: boolean, before?: Translation): Made {
    this.#kernels ??= kernelsOf.get(this.bytes) ?? new Kernels(this.bytes)
    kernelsOf.set(this.bytes, this.#kernels)
    const elder = before?.program === program ? before.elder : before
    const blocks = readBlocks(memory, program, mode, elder)
    const writer = (before?.mode === mode ? before.writer : undefined) ?? new RegionWriter(mode, this.#kernels, this.#evaluate)
    const { bytes, entries, nests, longest } = writer.write(blocks, trusting)
    const rest = new Map<number, number>()
    for (const { steps } of blocks.values()) steps.forEach(({ pc, modes }, i) => void rest.set(placeOf(pc, modes.key), steps.length - i))
    const sent = { program, mode, module: new WebAssembly.Module(bytes), entries, rest, longest, trusting }
    return { translation: { ...linkTranslation(sent, this.material, memory, elder), writer }, bytes: bytes.length, nests }
  }
}
