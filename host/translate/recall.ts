/**
 * What this thread has translated, by what it was made of: code that is loaded anew, on another device perhaps, need not be translated once
 * more, and what the engine has compiled and optimized of a module is there at once. Must not load what translates.
 */
import type { SentTranslation } from '../engine.ts'
import { RECORD_BYTES } from '../plan/layout.ts'
import { plannedOf, recordsOf } from './code/planned.ts'

/** A translation wherever its program lies. */
export interface Remembered extends Omit<SentTranslation, 'program'> {
  /** Bytes of the WebAssembly module, and loops in it that run group by group. */
  readonly bytes: number
  readonly nests: number
}

interface Entry extends Origin {
  readonly made: Remembered
}

/** Bytes of modules that are remembered for each core; machine code is about ten times as long. */
const KEPT_BYTES = 4 << 20
/** The newest come last. */
const entriesOf = new WeakMap<Uint8Array, Entry[]>()

/** All that a translation is made of: its core, and the content that {@link contentOf} gives. */
export interface Origin {
  /** Bytes of the core that runs: the same object, since cores are loaded once. */
  readonly core: Uint8Array
  readonly content: Uint32Array
}

/**
 * What is planned of a program, with how it is to be translated.
 * @param program address of its header
 * @param mode bits of MODE that matter
 */
export function contentOf(memory: ArrayBufferLike, program: number, mode: number, trusting: boolean): Uint32Array {
  const words = new Uint32Array(memory)
  const planned = plannedOf(memory, program)
  const content = new Uint32Array(HEAD + planned.length * RECORD_WORDS)
  content.set([mode, trusting ? 1 : 0, recordsOf(memory, program).length])
  planned.forEach((address, n) => {
    const record = address >>> 2
    const at = HEAD + n * RECORD_WORDS
    for (let word = 0; word < RECORD_WORDS; word++) content[at + word] = words[record + word]!
  })
  return content
}
const HEAD = 3
const RECORD_WORDS = RECORD_BYTES / 4

/** Whether anything of a core is remembered: if not, nobody has to find out what a program's content is. */
export const remembers = (core: Uint8Array): boolean => entriesOf.has(core)

/** What was made of the same before. */
export function recall({ core, content }: Origin): Remembered | undefined {
  const entries = entriesOf.get(core) ?? []
  const found = entries.findIndex((entry) => isSame(entry.content, content))
  if (found < 0) return undefined
  const [entry] = entries.splice(found, 1)
  entries.push(entry!)
  return entry!.made
}

/** Remembers what was made; the oldest are forgotten. */
export function remember(origin: Origin, made: Remembered): void {
  const entries = entriesOf.get(origin.core) ?? []
  entriesOf.set(origin.core, entries)
  entries.push({ ...origin, made })
  let bytes = entries.reduce((all, entry) => all + entry.made.bytes, 0)
  while (bytes > KEPT_BYTES && entries.length > 1) bytes -= entries.shift()!.made.bytes
}

/** Two that differ do so in their first words, mostly. */
const isSame = (a: Uint32Array, b: Uint32Array): boolean => a.length === b.length && a.every((word, i) => word === b[i])
