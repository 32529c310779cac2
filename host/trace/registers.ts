/** The registers of a wave as recordings number them, in its block. */
import type { Wave } from '../device/index.ts'
import {
  MODE_GPR_IDX_EN,
  RECORD_DST,
  SCALAR_COUNT,
  scalarOffset,
  vectorOffset,
  vgprAt,
  WAVE_MODE,
  WAVE_SCC,
  WAVE_STATUS,
  WAVE_TRAPSTS,
  waveBytes,
} from '../plan/layout.ts'
import { OP_DEVICE } from '../plan/record.ts'
import { type Change, damaged, VGPR0 } from './recording.ts'

/** Header words behind the 128 scalars, in this order from 128 on. */
export const HEADER_REGISTERS: readonly number[] = [WAVE_SCC, WAVE_MODE, WAVE_STATUS, WAVE_TRAPSTS]

/** Byte offset in the block of a register that is one word. */
function offsetOf(register: number): number {
  const offset = register < SCALAR_COUNT ? scalarOffset(register) : HEADER_REGISTERS[register - SCALAR_COUNT]
  if (offset === undefined) throw damaged(`there is no register ${register}`)
  return offset
}

/** Puts the words of a wave's block into `block`, which has room for them; of VGPRs those in `range`, by default all. */
export function copyBlock(
  wave: Wave,
  words: Uint32Array,
  block: Uint32Array,
  range: VgprRange = { first: 0, count: wave.vgprCount },
): void {
  const start = wave.host >>> 2
  const copy = (from: number, to: number): void => block.set(words.subarray(start + from / 4, start + to / 4), from / 4)
  copy(0, vectorOffset(0, wave.size))
  const end = Math.min(range.first + range.count, wave.vgprCount)
  copy(vectorOffset(range.first, wave.size), vectorOffset(end, wave.size))
}

/** VGPRs that a memory instruction or an interpolation writes at most: four, and the status of an access. */
const MOST_WRITTEN = 5

/** The VGPRs that the wave's next instruction may write, which depends on memory; undefined where nobody knows: all. */
export function writtenRange(wave: Wave, words: Uint32Array): VgprRange | undefined {
  const record = wave.program.record(wave.pc)
  if (record === 0 || (words[record >>> 2]! & 0xffff) === OP_DEVICE || (wave.mode & MODE_GPR_IDX_EN) !== 0) return undefined
  const first = vgprAt(words[(record + RECORD_DST) >>> 2]!, wave.size)
  return first < 0 ? { first: 0, count: 0 } : { first, count: MOST_WRITTEN }
}

/** Makes all registers of a wave zero: a recording's start state says what is not. */
export function clear(wave: Wave, words: Uint32Array): void {
  const start = wave.host >>> 2
  for (let register = 0; register < SCALAR_COUNT + HEADER_REGISTERS.length; register++) words[start + offsetOf(register) / 4] = 0
  words.fill(0, start + vectorOffset(0, wave.size) / 4, start + waveBytes(wave.vgprCount, wave.size) / 4)
}

/** VGPRs of a wave: `count` from `first` on, as many of them as there are. */
export interface VgprRange {
  readonly first: number
  readonly count: number
}

/** What is different in a wave from a block of before, VGPRs outside `range` aside; undefined stands for all zero, and for all VGPRs. */
export function changesOf(wave: Wave, words: Uint32Array, before: Uint32Array | undefined, range?: VgprRange): Change[] {
  const start = wave.host >>> 2
  const changes: Change[] = []
  const { first = 0, count = wave.vgprCount } = range ?? {}
  const end = Math.min(first + count, wave.vgprCount)
  for (let register = 0; register < SCALAR_COUNT + HEADER_REGISTERS.length; register++) {
    const at = offsetOf(register) / 4
    const value = words[start + at]!
    if (value !== (before?.[at] ?? 0)) changes.push({ register, lanes: 1n, values: [value] })
  }
  for (let vgpr = first; vgpr < end; vgpr++) {
    const at = vectorOffset(vgpr, wave.size) / 4
    let lanes = 0n
    const values: number[] = []
    for (let lane = 0; lane < wave.size; lane++) {
      const value = words[start + at + lane]!
      if (value === (before?.[at + lane] ?? 0)) continue
      lanes |= 1n << BigInt(lane)
      values.push(value)
    }
    if (values.length > 0) changes.push({ register: VGPR0 + vgpr, lanes, values })
  }
  return changes
}

/** Calls `visit` with the place in linear memory, the lane and the value of every word that a change is made of. */
export function eachWord(change: Change, wave: Wave, visit: (index: number, value: number, lane: number | undefined) => void): void {
  const start = wave.host >>> 2
  if (change.register < VGPR0) return visit(start + offsetOf(change.register) / 4, change.values[0]!, undefined)
  const vgpr = change.register - VGPR0
  if (vgpr >= wave.vgprCount) throw damaged(`there is no v${vgpr}`)
  let next = 0
  for (let lane = 0; lane < wave.size; lane++) {
    if (((change.lanes >> BigInt(lane)) & 1n) === 1n) visit(start + vectorOffset(vgpr, wave.size) / 4 + lane, change.values[next++]!, lane)
  }
}
