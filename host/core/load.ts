/** Compiles and instantiates the WebAssembly core. The one file that knows the AssemblyScript loader. */
import { instantiate, instantiateSync } from '@assemblyscript/loader'
import { CoreError, LimitError } from '../errors.ts'

/** Anything a core can be made from. A response is compiled while it streams. */
export type CoreSource = WebAssembly.Module | BufferSource | Response | PromiseLike<Response> | URL

/** The two builds: plain SIMD, and SIMD with relaxed_madd, which is several times faster at v_fma_f32. Both give the same bits. */
export type CoreBuild = 'simd' | 'relaxed'

/** What the core exports; addresses are byte offsets in `memory`. */
export interface CoreExports extends Record<string, unknown> {
  readonly memory: WebAssembly.Memory
  /** First byte of memory that the core leaves alone. */
  heapBase(): number
  /** See Engine.run. */
  run(wave: number, budget: number): number
  /** Makes a wave the one that translated code works on. */
  begin(wave: number): void
  /** See Templates of host/engine.ts. */
  plan(planner: number, origin: number, at: number, end: number, to: number, last: number): number
  planBy(template: number, words: bigint, to: number): number
  remembered(planner: number, words: bigint): number
  /** Bytes of rows that instances on one memory must not share. */
  scratchBytes(): number
  /** From now on other instances run on the same memory; such rows are at `scratch`, or with 0 where they are. */
  share(scratch: number): void
  /** Address of a dword in which threads keep how many bytes from heapBase on are taken. */
  taken(): number
}

/**
 * Compiles the core. Without a source it uses the copy inlined in this package, which needs no bundler set-up.
 *
 * @param source a module, its bytes, or where to get them
 * @param build which inlined copy; ignored where a source is given
 * @throws {CoreError} the bytes are no core, cannot be fetched, or this package was built without that copy
 */
export async function compileCore(source?: CoreSource, build: CoreBuild = 'simd'): Promise<WebAssembly.Module> {
  try {
    const from = source ?? (await coreBytes(build))
    if (from instanceof WebAssembly.Module) return from
    if (from instanceof ArrayBuffer || ArrayBuffer.isView(from)) return await WebAssembly.compile(from as BufferSource)
    return await compileResponse(await (from instanceof URL ? fetch(from) : (from as Response | PromiseLike<Response>)))
  } catch (cause) {
    if (cause instanceof CoreError) throw cause
    throw new CoreError(
      `the core does not compile: ${cause instanceof Error ? cause.message : cause}; it needs an engine with WebAssembly SIMD (Node 16.4, Chrome 91, Firefox 89, Safari 16.4 or newer)`,
      { cause },
    )
  }
}

/** compileStreaming insists on the MIME type; servers that do not know .wasm get the slower way. */
async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (!response.ok) throw new CoreError(`the core could not be fetched: ${response.url} answered ${response.status}`)
  if (response.headers.get('content-type') === 'application/wasm') return WebAssembly.compileStreaming(response)
  return WebAssembly.compile(await response.arrayBuffer())
}

/** The bytes of an inlined copy. @throws {CoreError} this package was built without it */
export async function coreBytes(build: CoreBuild): Promise<Uint8Array<ArrayBuffer>> {
  const { base64 } = build === 'relaxed' ? await import('./generated/relaxed.ts') : await import('./generated/simd.ts')
  if (base64 === undefined) throw new CoreError(`this build of the package has no ${build} core; build it with "npm run build"`)
  return bytesOf(base64)
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  // Node's own way is ten times as fast as the one that there is everywhere.
  const node = globalThis.process?.getBuiltinModule?.('node:buffer')
  if (node !== undefined) return Uint8Array.from(node.Buffer.from(base64, 'base64'))
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** Memory that every core can start with (asconfig.json, initialMemory), and what it may grow to, in pages of 64 KiB. */
const INITIAL_PAGES = 16
const MAXIMUM_PAGES = 65536
/** Shared memory reserves all that it may grow to; where there is no room for that, less will do. */
const LEAST_MAXIMUM_PAGES = 4096

/**
 * Memory for a core.
 * @param shared whether threads can share it
 * @throws {LimitError} there is no such memory here
 */
export function coreMemory(shared: boolean): WebAssembly.Memory {
  for (let maximum = MAXIMUM_PAGES; ; maximum /= 4) {
    try {
      return new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum, shared })
    } catch (cause) {
      if (shared && maximum > LEAST_MAXIMUM_PAGES) continue
      throw new LimitError(`the core cannot have ${shared ? 'shared ' : ''}memory: ${cause instanceof Error ? cause.message : cause}`)
    }
  }
}

/** How the core imports its memory: "env", "memory", kind 2 (WebAssembly Core Specification 2.0, "Import Section"); then come the limits. */
const MEMORY_IMPORT = [3, ...new TextEncoder().encode('env'), 6, ...new TextEncoder().encode('memory'), 2]
/** Flags of limits: there is a maximum; the memory is shared. */
const LIMITS_MAXIMUM = 1
const LIMITS_SHARED = 3

/** The same core for shared memory: the flags of its memory import say so. @throws {CoreError} it does not import its memory */
export function sharedCore(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const shared = Uint8Array.from(bytes)
  const at = shared.findIndex((_, i) => MEMORY_IMPORT.every((byte, j) => shared[i + j] === byte)) + MEMORY_IMPORT.length
  if (at < MEMORY_IMPORT.length || shared[at] !== LIMITS_MAXIMUM)
    throw new CoreError('this core cannot run on shared memory; it must import env.memory with a maximum, as a build of this package does')
  shared[at] = LIMITS_SHARED
  return shared
}

/** A core and its memory. */
export interface CoreInstance {
  readonly exports: CoreExports
  /** The same as another WebAssembly module imports them. */
  readonly imports: WebAssembly.Exports
}

/** Makes a core out of a compiled module. @throws {CoreError} it is not a core */
export async function instantiateCore(module: WebAssembly.Module, memory: WebAssembly.Memory): Promise<CoreInstance> {
  // On a page's own thread browsers refuse to instantiate large modules at once. Elsewhere that is quicker: the loader's asynchronous way
  // looks for a Response, and with that Node loads all of its fetch.
  const make = 'document' in globalThis ? instantiate : instantiateSync
  const { exports, instance } = await make<CoreExports>(module, { env: { memory } })
  const { start } = exports
  if (typeof start !== 'function' || typeof exports.run !== 'function' || typeof exports.heapBase !== 'function') {
    throw new CoreError('this WebAssembly module is not a Lanewise core; it must export start, run, heapBase and memory')
  }
  start()
  return { exports, imports: instance.exports }
}
