/** A translated program at one MODE, made here or on another thread, ready to run. Must not load what translates. */
import type { CoreMaterial } from '../core/engine.ts'
import type { SentTranslation } from '../engine.ts'
import { PROGRAM_PC_TABLE } from '../plan/layout.ts'
import { SITE } from './block/sites.ts'
import type { Elder } from './code/graph.ts'
import { modeAt, pcOf } from './code/place.ts'
import type { RegionWriter } from './region.ts'

export interface Translation extends SentTranslation {
  readonly run: (wave: number, left: number, block: number) => number
  /** Runs waves as host/plan/rounds.ts says, those of this MODE, until one is to be interpreted. */
  readonly runRounds: (rounds: number, mode: number) => void
  /** {@link SentTranslation.entries} by MODE, of blocks or within them, and dword of the code, -1 where no block starts; may end before the code does. */
  readonly blocks: ReadonlyMap<number, Int32Array>
  /** What wrote it: it writes the next one, for which most is there. Absent where another thread did, or an earlier engine. */
  readonly writer?: RegionWriter
  /** The other thread's translation that this one replaced: code that it has may not be planned here. */
  readonly elder?: Elder | undefined
}

/** Makes a module run on this thread's core. */
export function linkTranslation(made: SentTranslation, { imports }: CoreMaterial, memory: ArrayBufferLike, elder?: Elder): Translation {
  const tableOf = (program: number) => new DataView(memory).getUint32(program + PROGRAM_PC_TABLE, true)
  const own: Record<string, number> = {
    left: 0,
    unsure: 0,
    entry: 0,
    table: 0,
    records: tableOf(made.program),
    elderRecords: elder === undefined ? 0 : tableOf(elder.program),
  }
  for (const { name } of WebAssembly.Module.imports(made.module)) if (name.startsWith(SITE)) own[name] = 0
  const globals = Object.entries(own).map(
    ([name, value]) => [name, new WebAssembly.Global({ value: 'i32', mutable: true }, value)] as const,
  )
  const { exports } = new WebAssembly.Instance(made.module, { core: { ...imports, ...Object.fromEntries(globals) } })
  const { run, runRounds } = exports as Pick<Translation, 'run' | 'runRounds'>
  return { ...made, run, runRounds, blocks: blocksOf(made), elder }
}

function blocksOf({ entries, rest }: SentTranslation): Map<number, Int32Array> {
  const dwords = (Math.max(0, ...[...entries.keys()].map(pcOf)) >>> 2) + 1
  // A MODE may be one within blocks only.
  const modes = new Set([...entries.keys(), ...rest.keys()].map(modeAt))
  const blocks = new Map([...modes].map((mode) => [mode, new Int32Array(dwords).fill(-1)]))
  for (const [place, number] of entries) blocks.get(modeAt(place))![pcOf(place) >>> 2] = number
  return blocks
}
