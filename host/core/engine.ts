/** The WebAssembly engine: the core behind the interface of host/engine.ts. */
import type { Engine, Stop } from '../engine.ts'
import { LimitError } from '../errors.ts'
import { type CoreBuild, type CoreExports, type CoreInstance, type CoreSource, compileCore, coreBytes, instantiateCore } from './load.ts'
import { hasFusedMadd } from './relaxed.ts'

export interface CoreOptions {
  /** Where the core comes from; by default the copy inlined in this package. */
  readonly source?: CoreSource
  /** Which inlined copy to use; by default `relaxed` where this machine's relaxed_madd is a fused multiply-add, else `simd`. */
  readonly build?: CoreBuild
}

/** The core as an engine. */
export interface CoreEngine extends Engine {
  readonly name: 'core'
  /** The inlined copy that runs, or undefined where the caller gave a source. */
  readonly build: CoreBuild | undefined
  /** What translated code needs of the core. */
  readonly material: CoreMaterial
}

/** The running core as another WebAssembly module is made of it. */
export interface CoreMaterial {
  /** Bytes of the core, or undefined where it was given as a compiled module: bodies cannot be taken from that. */
  readonly bytes: Uint8Array | undefined
  readonly imports: WebAssembly.Exports
  /** Makes a wave the one that translated code works on. */
  enter(wave: number): void
  /** Why the core stopped inside translated code (Stop). */
  stopped(): number
}

const PAGE_BYTES = 65536

class WasmEngine implements CoreEngine {
  readonly name = 'core'
  readonly heapBase: number
  readonly material: CoreMaterial
  readonly #core: CoreExports

  constructor(
    { exports, imports }: CoreInstance,
    bytes: Uint8Array | undefined,
    readonly build: CoreBuild | undefined,
  ) {
    this.#core = exports
    this.heapBase = exports.heapBase()
    this.material = {
      bytes,
      imports,
      enter: (wave) => exports.enter(wave),
      stopped: () => (imports.stop as WebAssembly.Global<'i32'>).value,
    }
  }

  get memory(): ArrayBufferLike {
    return this.#core.memory.buffer
  }

  grow(bytes: number): void {
    const missing = bytes - this.memory.byteLength
    if (missing <= 0) return
    try {
      this.#core.memory.grow(Math.ceil(missing / PAGE_BYTES))
    } catch (cause) {
      throw new LimitError(
        `the core cannot have ${bytes} bytes of memory: ${cause instanceof Error ? cause.message : cause}; use smaller buffers`,
      )
    }
  }

  run(wave: number, budget: number): Stop {
    return this.#core.run(wave, budget) as Stop
  }
}

/**
 * Makes an engine that runs waves in WebAssembly.
 * @throws {CoreError} the core cannot be compiled here
 */
export async function createCore(options: CoreOptions = {}): Promise<CoreEngine> {
  const build = options.source === undefined ? (options.build ?? ((await usableRelaxed()) ? 'relaxed' : 'simd')) : undefined
  const bytes = build === undefined ? sourceBytes(options.source) : await coreBytes(build)
  const module = await compileCore(bytes ?? options.source)
  return new WasmEngine(await instantiateCore(module), bytes, build)
}

/** The bytes of a source that is bytes. */
function sourceBytes(source: CoreSource | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (source instanceof ArrayBuffer) return new Uint8Array(source)
  if (!ArrayBuffer.isView(source)) return undefined
  return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength)
}

/** Whether the package has a relaxed core and this machine fuses. */
async function usableRelaxed(): Promise<boolean> {
  if (!hasFusedMadd()) return false
  return (await import('./generated/relaxed.ts')).base64 !== undefined
}
