/** The finish stage: flushing of the result, omod, clamp, and the commit of a lane's value to its VGPRs. */
import type { Operation } from '../isa/operations.ts'
import { bitsOf, dwordsOf, isFloat, type OperandType } from '../isa/row.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { FLAG_SDWA } from '../plan/record.ts'
import { lowBits, type Row } from './fetch.ts'
import { clampFloat, formatOf, outputModifier } from './float.ts'
import type { Modes } from './lane.ts'
import { DESTINATION, isRelative } from './modes.ts'
import { type Format, flushed } from './number.ts'
import { writeLane } from './registers.ts'
import type { Wave } from './wave.ts'

/** What an operation's shape and traits say of its value. */
export interface ResultShape {
  readonly type: OperandType
  readonly dwords: number
  /** Of a float. */
  readonly format: Format<number | bigint> | undefined
  readonly flush: 'never' | 'mode' | 'always'
}

export function resultShapeOf({ traits }: Operation, type: OperandType): ResultShape {
  const always = traits.has('ftz') && type === 'f32'
  return {
    type,
    dwords: dwordsOf(type),
    format: isFloat(type) ? formatOf(bitsOf(type)) : undefined,
    flush: always ? 'always' : traits.has('flush') ? 'mode' : 'never',
  }
}

/** Flushing, omod and clamp of a float result, where it is to have any of them. Doubling does not bring a flushed denormal back. */
export function finisher(r: PlanRecord, { type, format, flush }: ResultShape, modes: Modes) {
  if (format === undefined) return undefined
  const single = type === 'f32'
  const flushes = single ? modes.flushResults32 : modes.flushResults64
  const isFlushed = flush === 'always' || (flush === 'mode' && flushes)
  // GCN3 manual, section "Output modifiers": no effect while denormal results are allowed, nor with IEEE set.
  const omod = flushes && !modes.ieee ? r.mods.omod : 0
  const clamp = r.mods.clamp !== 0
  if (!isFlushed && omod === 0 && !clamp) return undefined
  const flushedResult = (word: number | bigint) => (isFlushed ? flushed(format, word) : word)
  return (word: number | bigint): number | bigint => {
    let result = flushedResult(word)
    if (omod !== 0) result = flushedResult(outputModifier(format, result, omod, single ? modes.round32 : modes.round64))
    return clamp ? clampFloat(format, result, modes.dx10Clamp) : result
  }
}

/** First VGPR of the destination, moved by M0 where MODE.GPR_IDX_EN says so. */
export const destinationVgpr = (w: Wave, r: PlanRecord): number => w.vgprOf(r.dst) + (isRelative(w, DESTINATION) ? w.m0 & 0xff : 0)

/** Writes the lanes' values; results of 16 bits clear the high half, SDWA writes what dst_sel and dst_unused say. */
export function commit(w: Wave, r: PlanRecord, register: number, lanes: readonly number[], values: Row, type: OperandType): void {
  const { words } = w
  const bits = bitsOf(type)
  if (bits > 32) {
    for (const lane of lanes) writeLane(w, register, lane, bits / 32, values[lane] as bigint)
    return
  }
  const at = w.row(register)
  for (const lane of lanes) {
    const word = lowBits(values[lane] as number, bits)
    words[at + lane] = r.flags & FLAG_SDWA ? sdwaPlace(word, words[at + lane]!, r.imm & 7, (r.imm >>> 3) & 3) : word
  }
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
