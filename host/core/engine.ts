/** The WebAssembly engine: the core behind the interface of host/engine.ts. */
import type { Engine, EngineSeed, SharedMemory, Stop, Templates } from '../engine.ts'
import { CoreError, LimitError } from '../errors.ts'
import {
  type CoreBuild,
  type CoreExports,
  type CoreInstance,
  type CoreSource,
  compileCore,
  coreBytes,
  coreMemory,
  instantiateCore,
  sharedCore,
} from './load.ts'
import { hasFusedMadd } from './relaxed.ts'

/** Which core runs; without options the package's own. */
export interface CoreOptions {
  /** Where the core comes from; by default the copy inlined in this package. */
  readonly source?: CoreSource
  /** Which inlined copy to use; by default `relaxed` where this machine's relaxed_madd is a fused multiply-add, else `simd`. */
  readonly build?: CoreBuild
  /**
   * Whether threads can share its memory, which takes a SharedArrayBuffer: in browsers, cross-origin isolation. A source must be bytes then.
   * @default false
   */
  readonly shared?: boolean
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
}

const PAGE_BYTES = 65536
/** Claims are multiples of this: a cache line, so that threads do not disturb each other. */
const CLAIM_ALIGN = 64
const MAX_BYTES = 2 ** 32

class WasmEngine implements CoreEngine {
  readonly name = 'core'
  readonly heapBase: number
  readonly material: CoreMaterial
  readonly templates: Templates
  readonly #core: CoreExports
  #buffer: ArrayBufferLike

  constructor(
    { exports, imports }: CoreInstance,
    bytes: Uint8Array | undefined,
    readonly build: CoreBuild | undefined,
    readonly shared?: SharedMemory,
  ) {
    this.#core = exports
    this.#buffer = exports.memory.buffer
    this.heapBase = exports.heapBase()
    this.material = { bytes, imports }
    this.templates = {
      plan: (planner, origin, at, end, to, last) => exports.plan(planner, origin, at, end, to, last) >>> 0,
      planBy: (template, words, to) => exports.planBy(template, words, to) !== 0,
      remembered: (planner, words) => exports.remembered(planner, words) >>> 0,
    }
  }

  /** Asking the WebAssembly memory takes long. A buffer that it has left by growing has no bytes any more, but for a shared one. */
  get memory(): ArrayBufferLike {
    if (this.shared !== undefined || this.#buffer.byteLength === 0) this.#buffer = this.#core.memory.buffer
    return this.#buffer
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
  const shared = options.shared === true
  const build = options.source === undefined ? (options.build ?? ((await usableRelaxed()) ? 'relaxed' : 'simd')) : undefined
  const { module, bytes } = build === undefined ? await givenCore(options.source!, shared) : await ownCore(build, shared)
  const memory = coreMemory(shared)
  const instance = await instantiateCore(module, memory)
  return shared ? engineOn({ module, memory, bytes: bytes! }, instance, build) : new WasmEngine(instance, bytes, build)
}

/** A core that is compiled, and its bytes where they are known. */
interface CompiledCore {
  readonly module: WebAssembly.Module
  readonly bytes: Uint8Array | undefined
}

async function givenCore(source: CoreSource, shared: boolean): Promise<CompiledCore> {
  const plain = sourceBytes(source)
  if (!shared) return { module: await compileCore(plain ?? source), bytes: plain }
  if (plain === undefined) throw new CoreError('a core for shared memory is made of bytes; give the source as bytes')
  const bytes = sharedCore(plain)
  return { module: await compileCore(bytes), bytes }
}

/** The package's cores that were asked for: what an engine has had optimized the next one need not wait for. */
const own = new Map<string, Promise<CompiledCore>>()

function ownCore(build: CoreBuild, shared: boolean): Promise<CompiledCore> {
  const key = `${build} ${shared}`
  const compiled = own.get(key) ?? coreBytes(build).then((bytes) => givenCore(bytes, shared))
  own.set(key, compiled)
  return compiled
}

/** Makes one more engine on memory that another thread's engine has. */
export async function joinCore(seed: EngineSeed): Promise<CoreEngine> {
  const instance = await instantiateCore(seed.module, seed.memory)
  const engine = engineOn(seed, instance, undefined)
  instance.exports.share(engine.shared!.claim(instance.exports.scratchBytes()))
  return engine
}

function engineOn(seed: EngineSeed, instance: CoreInstance, build: CoreBuild | undefined): CoreEngine {
  const { exports } = instance
  const engine: WasmEngine = new WasmEngine(instance, seed.bytes, build, {
    seed,
    claim: (bytes) => {
      const taken = new Uint32Array(engine.memory, exports.taken(), 1)
      for (;;) {
        const before = Atomics.load(taken, 0)
        const after = before + Math.ceil(bytes / CLAIM_ALIGN) * CLAIM_ALIGN
        if (engine.heapBase + after > MAX_BYTES)
          throw new LimitError(`the core cannot have ${engine.heapBase + after} bytes of memory; use smaller buffers`)
        engine.grow(engine.heapBase + after)
        if (Atomics.compareExchange(taken, 0, before, after) === before) return engine.heapBase + before
      }
    },
    open: () => exports.share(0),
    reset: () => {
      new Uint8Array(engine.memory, engine.heapBase).fill(0)
      Atomics.store(new Uint32Array(engine.memory, exports.taken(), 1), 0, 0)
    },
  })
  return engine
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
