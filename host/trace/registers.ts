/** The registers of a wave as recordings number them, in its block. */
import type { Wave } from '../device/index.ts'
import { SCALAR_COUNT, scalarOffset, vectorOffset, WAVE_MODE, WAVE_SCC, WAVE_STATUS, WAVE_TRAPSTS, waveBytes } from '../plan/layout.ts'
import { type Change, damaged, VGPR0 } from './recording.ts'

/** Header words behind the 128 scalars, in this order from 128 on. */
export const HEADER_REGISTERS: readonly number[] = [WAVE_SCC, WAVE_MODE, WAVE_STATUS, WAVE_TRAPSTS]

/** Byte offset in the block of a register that is one word. */
function offsetOf(register: number): number {
  const offset = register < SCALAR_COUNT ? scalarOffset(register) : HEADER_REGISTERS[register - SCALAR_COUNT]
  if (offset === undefined) throw damaged(`there is no register ${register}`)
  return offset
}

/** A copy of the words of a wave's block. */
export function blockOf(wave: Wave, words: Uint32Array): Uint32Array {
  const start = wave.host >>> 2
  return words.slice(start, start + waveBytes(wave.vgprCount, wave.size) / 4)
}

/** Makes all registers of a wave zero: a recording's start state says what is not. */
export function clear(wave: Wave, words: Uint32Array): void {
  const start = wave.host >>> 2
  for (let register = 0; register < SCALAR_COUNT + HEADER_REGISTERS.length; register++) words[start + offsetOf(register) / 4] = 0
  words.fill(0, start + vectorOffset(0, wave.size) / 4, start + waveBytes(wave.vgprCount, wave.size) / 4)
}

/** What is different in a wave from a block of before; undefined stands for all zero. */
export function changesOf(wave: Wave, words: Uint32Array, before: Uint32Array | undefined): Change[] {
  const start = wave.host >>> 2
  const changes: Change[] = []
  for (let register = 0; register < SCALAR_COUNT + HEADER_REGISTERS.length; register++) {
    const at = offsetOf(register) / 4
    const value = words[start + at]!
    if (value !== (before?.[at] ?? 0)) changes.push({ register, lanes: 1n, values: [value] })
  }
  for (let vgpr = 0; vgpr < wave.vgprCount; vgpr++) {
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
