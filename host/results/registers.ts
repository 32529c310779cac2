/** Registers by the names that assembly gives them, found from their place in a wave's block. */
import {
  EXEC_HI,
  EXEC_LO,
  M0,
  SCALAR_COUNT,
  VCC_HI,
  VCC_LO,
  vectorOffset,
  vgprAt,
  WAVE_FAULT,
  WAVE_FAULT_ADDRESS,
  WAVE_FAULT_LANE,
  WAVE_INSTRUCTIONS,
  WAVE_MODE,
  WAVE_PC,
  WAVE_SCALARS,
  WAVE_SCC,
  WAVE_STATUS,
  WAVE_STOP,
  WAVE_TRAPSTS,
} from '../plan/layout.ts'

const SCALAR_NAMES: ReadonlyMap<number, string> = new Map([
  [VCC_LO, 'vcc_lo'],
  [VCC_HI, 'vcc_hi'],
  [M0, 'm0'],
  [EXEC_LO, 'exec_lo'],
  [EXEC_HI, 'exec_hi'],
])

const HEADER_NAMES: ReadonlyMap<number, string> = new Map([
  [WAVE_PC, 'pc'],
  [WAVE_SCC, 'scc'],
  [WAVE_MODE, 'mode'],
  [WAVE_STATUS, 'status'],
  [WAVE_TRAPSTS, 'trapsts'],
  [WAVE_INSTRUCTIONS, 'instructions'],
  [WAVE_STOP, 'stop'],
  [WAVE_FAULT, 'fault'],
  [WAVE_FAULT_LANE, 'fault lane'],
  [WAVE_FAULT_ADDRESS, 'fault address'],
])

/** A scalar by its operand encoding, 0 to 127. */
export const scalarName = (encoding: number): string =>
  SCALAR_NAMES.get(encoding) ?? (encoding < VCC_LO ? `s${encoding}` : `scalar ${encoding}`)

/** What the word at byte `offset` of a wave's block is. */
export function nameOfWord(offset: number, waveSize: number): { where: string; lane?: number } {
  const vgpr = Math.floor(vgprAt(offset, waveSize))
  if (vgpr >= 0) return { where: `v${vgpr}`, lane: (offset - vectorOffset(vgpr, waveSize)) / 4 }
  const scalar = (offset - WAVE_SCALARS) / 4
  if (scalar >= 0 && scalar < SCALAR_COUNT) return { where: scalarName(scalar) }
  return { where: HEADER_NAMES.get(offset) ?? `header word ${offset}` }
}
