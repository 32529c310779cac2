/** A lane's registers as one number, for instructions whose operands are several dwords wide. */
import type { Wave } from './wave.ts'
import { highDword, lowDword, pair } from './words.ts'

/** `dwords` registers from `register` on, the first one lowest. */
export function readLane(w: Wave, register: number, lane: number, dwords: number): bigint {
  if (dwords === 2) return pair(w.vgpr(register, lane), w.vgpr(register + 1, lane))
  let value = 0n
  for (let k = dwords - 1; k >= 0; k--) value = (value << 32n) | BigInt(w.vgpr(register + k, lane))
  return value
}

export function writeLane(w: Wave, register: number, lane: number, dwords: number, value: bigint): void {
  for (let k = 0; k < dwords; k += 2) {
    const rest = k === 0 ? value : value >> BigInt(k * 32)
    w.setVgpr(register + k, lane, lowDword(rest))
    if (k + 1 < dwords) w.setVgpr(register + k + 1, lane, highDword(rest))
  }
}
