/** What the hand cases share: lane functions by name, and the usual modes. */
import type { LaneFunction, Modes, Word } from '../../host/reference/lane.ts'
import { LANE_FUNCTIONS } from '../../host/reference/lanes.ts'
import { modelled } from './edge-cases/lines.ts'
import type { Result } from './edge-cases/model.ts'

/** Round to nearest, f32 denormals flushed, f16 and f64 denormals kept, DX10_CLAMP, IEEE off. */
export const MODES: Modes = {
  round32: 0,
  round64: 0,
  flushSources32: true,
  flushResults32: true,
  flushSources64: false,
  flushResults64: false,
  dx10Clamp: true,
  ieee: false,
  generation: 'gfx8',
  clamp: false,
  lane: 0,
}

/** MODE as the manuals lay it out. */
const modeOf = (m: Modes): number =>
  m.round32 |
  (m.round64 << 2) |
  (m.flushSources32 ? 0 : 0x10) |
  (m.flushResults32 ? 0 : 0x20) |
  (m.flushSources64 ? 0 : 0x40) |
  (m.flushResults64 ? 0 : 0x80) |
  (m.dx10Clamp ? 0x100 : 0) |
  (m.ieee ? 0x200 : 0)

const textOf = (result: Result | ReturnType<LaneFunction>): string =>
  typeof result === 'object' ? result.map(textOf).join() : typeof result === 'boolean' ? `${result}` : `0x${result.toString(16)}`

/**
 * The lane function of an operation; modes are the usual ones but for what is given. Where the edge cases have a model of the operation,
 * that must say the same: so the values worked out by hand hold the model, too, and the model holds the other engines.
 */
export function operation(name: string, modes: Partial<Modes> = {}): (...sources: Word[]) => ReturnType<LaneFunction> {
  const lane = LANE_FUNCTIONS.get(name)
  if (lane === undefined) throw new Error(`no lane function ${name}`)
  const all = { ...MODES, ...modes }
  return (...sources) => {
    const result = lane(...sources, all)
    const words = sources.map((word) => BigInt(word))
    const model = modelled(name, words, { mode: modeOf(all), generation: all.generation, clamp: all.clamp, lane: all.lane })
    if (model !== undefined && textOf(model) !== textOf(result))
      throw new Error(`${name}(${words.map(textOf).join(', ')}) is ${textOf(result)}, the model says ${textOf(model)}`)
    return result
  }
}
