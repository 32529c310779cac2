/** The WebAssembly engine: the core behind the interface of host/engine.ts. */
import type { Engine, Stop } from '../engine.ts'
import { LimitError } from '../errors.ts'
import { type CoreBuild, type CoreExports, type CoreSource, compileCore, instantiateCore } from './load.ts'
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
}

const PAGE_BYTES = 65536

class WasmEngine implements CoreEngine {
  readonly name = 'core'
  readonly heapBase: number
  readonly #core: CoreExports

  constructor(
    core: CoreExports,
    readonly build: CoreBuild | undefined,
  ) {
    this.#core = core
    this.heapBase = core.heapBase()
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
      throw new LimitError(`the core cannot have ${bytes} bytes of memory: ${cause instanceof Error ? cause.message : cause}; use smaller buffers`)
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
  const { source } = options
  if (source !== undefined) return new WasmEngine(await instantiateCore(await compileCore(source)), undefined)
  const build = options.build ?? ((await usableRelaxed()) ? 'relaxed' : 'simd')
  return new WasmEngine(await instantiateCore(await compileCore(undefined, build)), build)
}

/** Whether the package has a relaxed core and this machine fuses. */
async function usableRelaxed(): Promise<boolean> {
  if (!hasFusedMadd()) return false
  return (await import('./generated/relaxed.ts')).base64 !== undefined
}
