/** What the hand cases share: lane functions by name, and the usual modes. */
import type { LaneFunction, Modes, Word } from '../../host/reference/lane.ts'
import { LANE_FUNCTIONS } from '../../host/reference/lanes.ts'

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

/** The lane function of an operation; modes are the usual ones but for what is given. */
export function operation(name: string, modes: Partial<Modes> = {}): (...sources: Word[]) => ReturnType<LaneFunction> {
  const lane = LANE_FUNCTIONS.get(name)
  if (lane === undefined) throw new Error(`no lane function ${name}`)
  return (...sources) => lane(...sources, { ...MODES, ...modes })
}
