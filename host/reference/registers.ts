/** A lane's registers as one number, for instructions whose operands are several dwords wide. */
import type { Wave } from './wave.ts'

/** `dwords` registers from `register` on, the first one lowest. */
export function readLane(w: Wave, register: number, lane: number, dwords: number): bigint {
  let value = 0n
  for (let k = dwords - 1; k >= 0; k--) value = (value << 32n) | BigInt(w.vgpr(register + k, lane))
  return value
}

export function writeLane(w: Wave, register: number, lane: number, dwords: number, value: bigint): void {
  for (let k = 0; k < dwords; k++) w.setVgpr(register + k, lane, Number((value >> BigInt(k * 32)) & 0xffffffffn))
}
