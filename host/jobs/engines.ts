/** Engines by name, loaded when they are first wanted. */
import type { Engine, EngineName } from '../engine.ts'
import { LanewiseError, shown } from '../errors.ts'

/**
 * The engines that jobs can run on. `auto` interprets with the core and translates what is hot; `translate` does so almost at once,
 * `core` never.
 */
export const ENGINES = ['auto', 'core', 'translate', 'reference'] as const
/** The name of an engine that jobs can run on. */
export type JobEngine = (typeof ENGINES)[number]

/** Instructions that `translate` interprets before it translates. */
const AT_ONCE = 500

/** The engine that a name stands for, as results call it. */
export const engineNameOf = (engine: JobEngine): EngineName => (engine === 'auto' ? 'translate' : engine)

/**
 * Makes an engine with a memory of its own.
 * @param shared whether threads can share it where they can at all; the reference cannot
 * @throws {CoreError} the WebAssembly core cannot be compiled here
 */
export async function openEngine(name: JobEngine, shared = false): Promise<Engine> {
  if (name === 'core') return (await import('../core/engine.ts')).createCore({ shared })
  if (name === 'auto') return (await import('../translate/engine.ts')).createTranslate({ shared })
  if (name === 'translate') return (await import('../translate/engine.ts')).createTranslate({ shared, threshold: AT_ONCE })
  if (name === 'reference') return createReference()
  throw new LanewiseError('ERR_UNSUPPORTED', `there is no engine ${shown(name)}; there are ${ENGINES.join(', ')}`)
}

/** Makes the plain engine: slow, and independent of the core. */
export const createReference = async (): Promise<Engine> => (await import('../reference/engine.ts')).createReference()

/** Engines that have done a job and wait for the next, by name and kind of memory: making one takes milliseconds, and a small job takes far less. */
const idle = new Map<string, Engine[]>()
const kindOf = (name: JobEngine, shared: boolean): string => `${name} ${shared}`
/** Only small memories are worth keeping, for they are cleared. */
const KEPT_BYTES = 4 << 20

/** An engine whose memory from heapBase on is zero: a kept one, or a new one. */
export async function takeEngine(name: JobEngine, shared: boolean): Promise<Engine> {
  const kept = idle.get(kindOf(name, shared))?.pop()
  if (kept === undefined) return openEngine(name, shared)
  if (kept.shared !== undefined) kept.shared.reset()
  else new Uint8Array(kept.memory, kept.heapBase).fill(0)
  return kept
}

/** Keeps an engine for another job; nothing may read its memory any more. The reference is made anew as fast. */
export function giveBack(engine: Engine, name: JobEngine): void {
  if (name === 'reference' || engine.memory.byteLength > KEPT_BYTES) return
  const kind = kindOf(name, engine.shared !== undefined)
  const waiting = idle.get(kind)
  if (waiting === undefined) idle.set(kind, [engine])
  else waiting.push(engine)
}
