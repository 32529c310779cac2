/** The fetch stage: operands by KIND_*, SDWA selection, DPP, LDS direct, abs, neg, flushing of denormals. */
import { FaultCode } from '../engine.ts'
import { type Operation, operationOf } from '../isa/operations.ts'
import { EXECZ, INV_2PI, LDS_DIRECT, SOURCE_SCC, VCCZ } from '../isa/registers.ts'
import { bitsOf, isFloat, type OperandType } from '../isa/row.ts'
import { VCC_HI, VCC_LO } from '../plan/layout.ts'
import type { PlanRecord } from '../plan/plan.ts'
import {
  FLAG_DPP,
  FLAG_SDWA,
  KIND_CONSTANT,
  KIND_HIGH,
  KIND_INV_2PI,
  KIND_SCALAR,
  KIND_SIGNED,
  KIND_SPECIAL,
  KIND_VECTOR,
} from '../plan/record.ts'
import { Fault } from './fault.ts'
import { formatOf } from './float.ts'
import type { Modes, Word } from './lane.ts'
import { DESTINATION, isIndexing, isRelative } from './modes.ts'
import { type Format, flushed } from './number.ts'
import { readLane } from './registers.ts'
import { scalarOf, type Wave } from './wave.ts'
import { pair } from './words.ts'

/** Register number of a vector source, moved by M0 where MODE.GPR_IDX_EN says so. A tied source moves with the destination that it is. */
function sourceVgpr(w: Wave, r: PlanRecord, slot: number): number {
  const register = w.vgprOf(r.sources[slot]!)
  if (!isIndexing(w)) return register
  const operand = operationOf(r.op)?.shape.tied === slot ? DESTINATION : slot
  return register + (isRelative(w, operand) ? w.m0 & 0xff : 0)
}

/** Dword `k` of a source in one lane, as it stands in the register. */
export function sourceDword(w: Wave, r: PlanRecord, slot: number, lane: number, k = 0): number {
  const value = r.sources[slot]!
  switch (r.mods.kinds[slot]) {
    case KIND_VECTOR:
      return w.vgpr(sourceVgpr(w, r, slot) + k, lane)
    case KIND_SCALAR:
      return w.scalar(scalarOf(value) + k)
    case KIND_CONSTANT:
      return k === 0 ? value : 0
    case KIND_SIGNED:
      return k === 0 ? value : (value >> 31) >>> 0
    case KIND_HIGH:
      return k === 1 ? value : 0
    case KIND_INV_2PI:
      return Number(BigInt.asUintN(32, INV_2PI.f64 >> BigInt(32 * k)))
    case KIND_SPECIAL:
      return k === 0 ? specialSource(w, value) : 0
    default:
      throw new Fault(FaultCode.Unsupported)
  }
}

function specialSource(w: Wave, encoding: number): number {
  switch (encoding) {
    case VCCZ:
      return w.vcc === 0n ? 1 : 0
    case EXECZ:
      return w.exec === 0n ? 1 : 0
    case SOURCE_SCC:
      return w.scc ? 1 : 0
    case LDS_DIRECT:
      return ldsDirect(w)
    default:
      throw new Fault(FaultCode.Unsupported)
  }
}

/** One value for all lanes from the LDS: byte address in M0[15:0], type in M0[18:16] (GCN3 manual, section "LDS direct reads"). */
function ldsDirect(w: Wave): number {
  const type = (w.m0 >>> 16) & 7
  const bytes = [1, 2, 4, 0, 1, 2, 0, 0][type]!
  if (bytes === 0) throw new Fault(FaultCode.Unsupported)
  const address = w.m0 & 0xffff
  if (address % bytes !== 0) throw new Fault(FaultCode.Misaligned, undefined, BigInt(address), bytes)
  if (address + bytes > w.ldsBytes) throw new Fault(FaultCode.Lds, undefined, BigInt(address), bytes)
  const at = w.lds + address
  switch (type) {
    case 0:
      return w.view.getUint8(at)
    case 1:
      return w.view.getUint16(at, true)
    case 4:
      return w.view.getInt8(at) >>> 0
    case 5:
      return w.view.getInt16(at, true) >>> 0
    default:
      return w.word(at)
  }
}

/** A source of so many bits: numbers up to 32 bits, bigints above. Scalar sources are the same in every lane. */
export function source(w: Wave, r: PlanRecord, slot: number, bits: number, lane = 0): number | bigint {
  if (bits <= 32) return lowBits(sourceDword(w, r, slot, lane), bits)
  if (bits === 64) return pair(sourceDword(w, r, slot, lane), sourceDword(w, r, slot, lane, 1))
  let value = 0n
  for (let k = bits / 32 - 1; k >= 0; k--) value = (value << 32n) | BigInt(sourceDword(w, r, slot, lane, k))
  return value
}

export const lowBits = (word: number, bits: number): number => (bits >= 32 ? word >>> 0 : word & ((1 << bits) - 1))

/** What an operation's shape and traits say of one source. */
export interface SourceShape {
  readonly type: OperandType
  readonly bits: number
  /** Of a float. */
  readonly format: Format<number | bigint> | undefined
  readonly takesModifiers: boolean
  readonly flush: 'never' | 'mode32' | 'mode64' | 'always'
}

export const sourceShapesOf = (operation: Operation): readonly SourceShape[] =>
  operation.shape.sources.map((type) => ({
    type,
    bits: bitsOf(type),
    format: isFloat(type) ? formatOf(bitsOf(type)) : undefined,
    takesModifiers: takesModifiers(operation, type),
    flush: flushOf(operation, type),
  }))

/** abs and neg are for float operands; v_mov and v_cndmask treat theirs as such. */
const takesModifiers = (operation: Operation, type: OperandType): boolean =>
  isFloat(type) || operation.name === 'v_cndmask_b32' || operation.name === 'v_mov_b32'

function flushOf({ traits }: Operation, type: OperandType): SourceShape['flush'] {
  if (!isFloat(type)) return 'never'
  if (traits.has('ftz') && type === 'f32') return 'always'
  if (!traits.has('flush')) return 'never'
  return type === 'f32' ? 'mode32' : 'mode64'
}

/** One operand in every lane, by the lane's number; places of lanes that take no part hold anything. */
export type Row = { [lane: number]: Word }

/** A row for operands or results of so many bits; masks are booleans. */
export const newRow = (type: OperandType): Row => (bitsOf(type) <= 32 ? new Uint32Array(WAVE_LANES) : new Array<Word>(WAVE_LANES).fill(0))
const WAVE_LANES = 64

/**
 * All operands of a vector operation, ready for its lane function, in `rows`.
 * @returns the lanes that have them: all the given ones, but for those that DPP leaves alone
 */
export function fetchRows(
  w: Wave,
  r: PlanRecord,
  shapes: readonly SourceShape[],
  modes: Modes,
  active: readonly number[],
  rows: readonly Row[],
): readonly number[] {
  const lanes = r.flags & FLAG_DPP ? active.filter((lane) => dppEnables(r, lane) && dppFinds(w, r, lane)) : active
  if (lanes.length > 0) for (let slot = 0; slot < shapes.length; slot++) fetchRow(w, r, slot, shapes[slot]!, modes, lanes, rows[slot]!)
  return lanes
}

function fetchRow(w: Wave, r: PlanRecord, slot: number, shape: SourceShape, modes: Modes, lanes: readonly number[], row: Row): void {
  const { type, bits } = shape
  if (type === 'vcc') return spreadMask(w.scalar(VCC_LO), w.scalar(VCC_HI), lanes, row)
  if (type === 'mask') return spreadMask(sourceDword(w, r, slot, 0), sourceDword(w, r, slot, 0, 1), lanes, row)
  const ready = preparation(r, slot, shape, modes)
  if (isSelected(r, slot)) for (const lane of lanes) row[lane] = select(w, r, slot, bits, lane)
  else if (r.mods.kinds[slot] === KIND_VECTOR) readRow(w, sourceVgpr(w, r, slot), bits, lanes, row)
  else return fill(row, lanes, ready === undefined ? source(w, r, slot, bits) : ready(source(w, r, slot, bits)))
  if (ready !== undefined) for (const lane of lanes) row[lane] = ready(row[lane] as number | bigint)
}

function fill(row: Row, lanes: readonly number[], word: Word): void {
  for (const lane of lanes) row[lane] = word
}

function spreadMask(low: number, high: number, lanes: readonly number[], row: Row): void {
  for (const lane of lanes) row[lane] = (((lane < 32 ? low : high) >>> (lane & 31)) & 1) !== 0
}

function readRow(w: Wave, register: number, bits: number, lanes: readonly number[], row: Row): void {
  const { words, size } = w
  const dwords = Math.max(1, bits / 32)
  const at = w.row(register, dwords)
  if (bits === 32) for (const lane of lanes) row[lane] = words[at + lane]!
  else if (bits < 32) for (const lane of lanes) row[lane] = lowBits(words[at + lane]!, bits)
  else if (bits === 64) for (const lane of lanes) row[lane] = pair(words[at + lane]!, words[at + size + lane]!)
  else for (const lane of lanes) row[lane] = readLane(w, register, lane, dwords)
}

/** abs, neg and flushing, where an operand is to have any of them. */
function preparation(r: PlanRecord, slot: number, shape: SourceShape, modes: Modes) {
  const { bits, format, flush } = shape
  const abs = shape.takesModifiers ? (r.mods.abs >>> slot) & 1 : 0
  const neg = shape.takesModifiers ? (r.mods.neg >>> slot) & 1 : 0
  const flushes = flush === 'always' || (flush === 'mode32' && modes.flushSources32) || (flush === 'mode64' && modes.flushSources64)
  if (!abs && !neg && !flushes) return undefined
  return (word: number | bigint): number | bigint => {
    const value = modify(word, bits, abs, neg)
    return flushes ? flushed(format!, value) : value
  }
}

const isSelected = ({ flags }: PlanRecord, slot: number): boolean =>
  ((flags & FLAG_SDWA) !== 0 && slot < 2) || ((flags & FLAG_DPP) !== 0 && slot === 0)

/** The operand after DPP or SDWA. */
function select(w: Wave, r: PlanRecord, slot: number, bits: number, lane: number): number | bigint {
  if (r.flags & FLAG_SDWA) return lowBits(sdwaSelect(sourceDword(w, r, slot, lane), r.imm >>> (slot === 0 ? 5 : 9)), bits)
  const from = dppSource(w, r, lane)
  if (from === undefined) return bits > 32 ? 0n : 0
  return source(w, r, slot, bits, from)
}

/** The active lane that DPP takes the first source from. */
function dppSource(w: Wave, r: PlanRecord, lane: number): number | undefined {
  const from = dppLane(r.imm & 0x1ff, lane, w.size)
  return from !== undefined && w.isActive(from) ? from : undefined
}

/** Whether DPP gives a lane its first source: from another lane, or a 0 by bound_ctrl. Where it does not, the lane's result is not written. */
const dppFinds = (w: Wave, r: PlanRecord, lane: number): boolean => dppSource(w, r, lane) !== undefined || (r.imm & 0x200) !== 0

/** SDWA source selection: bits 2:0 choose bytes 0–3 (0–3), words 0–1 (4–5) or the dword (6), bit 3 extends the sign. */
function sdwaSelect(word: number, control: number): number {
  const sel = control & 7
  if (sel > 5) return word
  const [shift, bits] = sel < 4 ? [sel * 8, 8] : [(sel - 4) * 16, 16]
  const field = (word >>> shift) & ((1 << bits) - 1)
  return control & 8 ? ((field << (32 - bits)) >> (32 - bits)) >>> 0 : field
}

/** The lane that DPP's control word names as source of `lane`; undefined where it lies outside (GCN3 manual, table "DPP_CTRL enumerations"). */
export function dppLane(control: number, lane: number, waveSize: number): number | undefined {
  const row = lane & ~15
  const place = lane & 15
  const inRow = (to: number) => (to >= 0 && to < 16 ? row + to : undefined)
  const inWave = (to: number) => (to >= 0 && to < waveSize ? to : undefined)
  const count = control & 15
  if (control <= 0xff) return (lane & ~3) + ((control >>> ((lane & 3) * 2)) & 3) // quad_perm
  if (control >= 0x101 && control <= 0x10f) return inRow(place + count) // row_shl
  if (control >= 0x111 && control <= 0x11f) return inRow(place - count) // row_shr
  if (control >= 0x121 && control <= 0x12f) return row + ((place - count) & 15) // row_ror
  switch (control) {
    case 0x130: // wave_shl:1
      return inWave(lane + 1)
    case 0x134: // wave_rol:1
      return (lane + 1) % waveSize
    case 0x138: // wave_shr:1
      return inWave(lane - 1)
    case 0x13c: // wave_ror:1
      return (lane + waveSize - 1) % waveSize
    case 0x140: // row_mirror
      return row + (15 - place)
    case 0x141: // row_half_mirror
      return (lane & ~7) + (7 - (lane & 7))
    case 0x142: // row_bcast:15: the last lane of each row to the next row
      return inWave(row - 1)
    case 0x143: // row_bcast:31: lane 31 to rows 2 and 3
      return lane >= 32 ? 31 : undefined
    default:
      throw new Fault(FaultCode.Illegal)
  }
}

/** Also where no lane takes part. @throws {Fault} Illegal, where the instruction's control word is none of the manual's */
export const checkDpp = (r: PlanRecord): void => void dppLane(r.imm & 0x1ff, 0, 64)

/** Whether DPP's row and bank masks let the lane be written. */
function dppEnables(r: PlanRecord, lane: number): boolean {
  const bank = (r.imm >>> (10 + ((lane >>> 2) & 3))) & 1
  const row = (r.imm >>> (14 + (lane >>> 4))) & 1
  return bank !== 0 && row !== 0
}

/** A float's bits after abs and neg, each 0 or 1. */
export function modify(value: number | bigint, bits: number, abs: number, neg: number): number | bigint {
  if (typeof value === 'number') {
    const sign = 1 << (bits - 1)
    const size = abs ? value & ~sign : value
    return (neg ? size ^ sign : size) >>> 0
  }
  const sign = 1n << BigInt(bits - 1)
  const size = abs ? value & ~sign : value
  return neg ? size ^ sign : size
}
