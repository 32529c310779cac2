/** Engines by name, loaded when they are first wanted. */
import type { Engine } from '../engine.ts'
import { LanewiseError } from '../errors.ts'

/** The engines that jobs can run on. */
export const ENGINES = ['core', 'translate', 'reference'] as const
export type JobEngine = (typeof ENGINES)[number]

/**
 * Makes an engine with a memory of its own.
 * @throws {CoreError} the WebAssembly core cannot be compiled here
 */
export async function openEngine(name: JobEngine): Promise<Engine> {
  if (name === 'core') return (await import('../core/engine.ts')).createCore()
  if (name === 'translate') return (await import('../translate/engine.ts')).createTranslate()
  if (name === 'reference') return (await import('../reference/engine.ts')).createReference()
  throw new LanewiseError('ERR_UNSUPPORTED', `there is no engine ${String(name)}; there are ${ENGINES.join(', ')}`)
}
