/** Engines by name, loaded when they are first wanted. */
import type { Engine } from '../engine.ts'
import { LanewiseError } from '../errors.ts'

/** The engines that jobs can run on. */
export const ENGINES = ['core', 'translate', 'reference'] as const
/** The name of an engine that jobs can run on. */
export type JobEngine = (typeof ENGINES)[number]

/**
 * Makes an engine with a memory of its own.
 * @param shared whether threads can share it where they can at all; the reference cannot
 * @throws {CoreError} the WebAssembly core cannot be compiled here
 */
export async function openEngine(name: JobEngine, shared = false): Promise<Engine> {
  if (name === 'core') return (await import('../core/engine.ts')).createCore({ shared })
  if (name === 'translate') return (await import('../translate/engine.ts')).createTranslate({ shared })
  if (name === 'reference') return (await import('../reference/engine.ts')).createReference()
  throw new LanewiseError('ERR_UNSUPPORTED', `there is no engine ${String(name)}; there are ${ENGINES.join(', ')}`)
}

/** Cores that have done a job and wait for the next: making one takes milliseconds, and a small job takes far less. */
const idle: Engine[] = []
const idleShared: Engine[] = []
/** Only small memories are worth keeping, for they are cleared. */
const KEPT_BYTES = 4 << 20

/** An engine whose memory from heapBase on is zero: a kept core, or a new one. */
export async function takeEngine(name: JobEngine, shared: boolean): Promise<Engine> {
  const kept = name === 'core' ? (shared ? idleShared : idle).pop() : undefined
  if (kept === undefined) return openEngine(name, shared)
  if (kept.shared !== undefined) kept.shared.reset()
  else new Uint8Array(kept.memory, kept.heapBase).fill(0)
  return kept
}

/** Keeps an engine for another job; nothing may read its memory any more. */
export function giveBack(engine: Engine): void {
  // The translating engine knows programs by their addresses, so it starts afresh.
  if (engine.name !== 'core' || engine.memory.byteLength > KEPT_BYTES) return
  if (engine.shared === undefined) idle.push(engine)
  else idleShared.push(engine)
}
