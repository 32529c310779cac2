/** The finish stage: flushing of the result, omod, clamp, and the commit of a lane's value to its VGPRs. */
import type { Operation } from '../isa/operations.ts'
import { bitsOf, isFloat, type OperandType } from '../isa/row.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { FLAG_SDWA } from '../plan/record.ts'
import { lowBits } from './fetch.ts'
import { clampFloat, flushDenormal, outputModifier } from './float.ts'
import type { Modes } from './lane.ts'
import { DESTINATION, isRelative } from './modes.ts'
import type { Wave } from './wave.ts'

/** A float result after flushing, omod and clamp; anything else as it is. Doubling does not bring a flushed denormal back. */
export function finish(value: number | bigint, r: PlanRecord, operation: Operation, type: OperandType, modes: Modes): number | bigint {
  if (!isFloat(type)) return value
  const bits = bitsOf(type)
  const single = type === 'f32'
  const flushes = single ? modes.flushResults32 : modes.flushResults64
  const flush = (operation.traits.has('ftz') && single) || (operation.traits.has('flush') && flushes)
  const flushed = (word: number | bigint) => (flush ? flushDenormal(word, bits) : word)
  let result = flushed(value)
  // GCN3 manual, section "Output modifiers": no effect while denormal results are allowed, nor with IEEE set.
  if (r.mods.omod !== 0 && flushes && !modes.ieee)
    result = flushed(outputModifier(result, bits, r.mods.omod, single ? modes.round32 : modes.round64))
  return r.mods.clamp !== 0 ? clampFloat(result, bits, modes.dx10Clamp) : result
}

/** First VGPR of the destination, moved by M0 where MODE.GPR_IDX_EN says so. */
export const destinationVgpr = (w: Wave, r: PlanRecord): number => w.vgprOf(r.dst) + (isRelative(w, DESTINATION) ? w.m0 & 0xff : 0)

/** Writes a lane's value; results of 16 bits clear the high half, SDWA writes what dst_sel and dst_unused say. */
export function commit(w: Wave, r: PlanRecord, register: number, lane: number, value: number | bigint, type: OperandType): void {
  const bits = bitsOf(type)
  if (bits > 32) {
    for (let k = 0; k < bits / 32; k++) w.setVgpr(register + k, lane, Number((BigInt(value) >> BigInt(k * 32)) & 0xffffffffn))
    return
  }
  const word = lowBits(Number(value), bits)
  w.setVgpr(register, lane, r.flags & FLAG_SDWA ? sdwaPlace(word, w.vgpr(register, lane), r.imm & 7, (r.imm >>> 3) & 3) : word)
}

const UNUSED_SEXT = 1
const UNUSED_PRESERVE = 2

/** The destination dword of SDWA: `word` in byte or word `sel`, the rest zero (0), zero below and sign above (1) or kept (2). */
function sdwaPlace(word: number, old: number, sel: number, unused: number): number {
  if (sel > 5) return word
  const [shift, bits] = sel < 4 ? [sel * 8, 8] : [(sel - 4) * 16, 16]
  const mask = (1 << bits) - 1
  const placed = ((word & mask) << shift) >>> 0
  if (unused === UNUSED_PRESERVE) return ((old & ~(mask << shift)) | placed) >>> 0
  if (unused === UNUSED_SEXT) return (((word << (32 - bits)) >> (32 - bits)) << shift) >>> 0
  return placed
}
