/** Compiles and instantiates the WebAssembly core. The one file that knows the AssemblyScript loader. */
import { instantiate } from '@assemblyscript/loader'
import { CoreError } from '../errors.ts'

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
  enter(wave: number): void
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
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** A core with a memory of its own. */
export interface CoreInstance {
  readonly exports: CoreExports
  /** The same as another WebAssembly module imports them. */
  readonly imports: WebAssembly.Exports
}

/** Makes a core of its own memory out of a compiled module. @throws {CoreError} it is not a core */
export async function instantiateCore(module: WebAssembly.Module): Promise<CoreInstance> {
  const { exports, instance } = await instantiate<CoreExports>(module, {})
  const { start } = exports
  if (typeof start !== 'function' || typeof exports.run !== 'function' || typeof exports.heapBase !== 'function') {
    throw new CoreError('this WebAssembly module is not a Lanewise core; it must export start, run, heapBase and memory')
  }
  start()
  return { exports, imports: instance.exports }
}
