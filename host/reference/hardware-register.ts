/** The hardware registers that s_getreg and s_setreg name (GCN3 manual, table "Hardware Register Values"). */
import { FaultCode } from '../engine.ts'
import { WAVE_GPR_ALLOC, WAVE_HW_ID, WAVE_IB_STS, WAVE_LDS_ALLOC, WAVE_MODE, WAVE_STATUS, WAVE_TRAPSTS } from '../plan/layout.ts'
import { Fault } from './fault.ts'
import type { Wave } from './wave.ts'

const MODE = 1
const STATUS = 2
const TRAPSTS = 3
const HEADER_OFFSETS: Readonly<Record<number, number>> = {
  [MODE]: WAVE_MODE,
  [STATUS]: WAVE_STATUS,
  [TRAPSTS]: WAVE_TRAPSTS,
  4: WAVE_HW_ID,
  5: WAVE_GPR_ALLOC,
  6: WAVE_LDS_ALLOC,
  7: WAVE_IB_STS,
}

/** STATUS bits that follow other state. */
const STATUS_SCC = 1 << 0
const STATUS_EXECZ = 1 << 9
const STATUS_VCCZ = 1 << 10

/** The SIMM16 of s_getreg and s_setreg: register 5:0, first bit 10:6, bits less one 15:11. */
function fieldOf(simm16: number): { register: number; shift: number; mask: number } {
  const bits = ((simm16 >>> 11) & 31) + 1
  return { register: simm16 & 63, shift: (simm16 >>> 6) & 31, mask: bits === 32 ? -1 : (1 << bits) - 1 }
}

export function readHardwareRegister(w: Wave, simm16: number): number {
  const { register, shift, mask } = fieldOf(simm16)
  return (registerValue(w, register) >>> shift) & mask
}

function registerValue(w: Wave, register: number): number {
  const offset = HEADER_OFFSETS[register]
  if (offset === undefined) throw new Fault(FaultCode.Unsupported)
  const value = w.header(offset)
  if (register !== STATUS) return value
  const live = (w.scc ? STATUS_SCC : 0) | (w.exec === 0n ? STATUS_EXECZ : 0) | (w.vcc === 0n ? STATUS_VCCZ : 0)
  return (value & ~(STATUS_SCC | STATUS_EXECZ | STATUS_VCCZ)) | live
}

/** Only MODE and TRAPSTS are a program's to write; of the others there is no effect. @throws {Fault} Unsupported for registers that there are not */
export function writeHardwareRegister(w: Wave, simm16: number, value: number): void {
  const { register, shift, mask } = fieldOf(simm16)
  const offset = HEADER_OFFSETS[register]
  if (offset === undefined) throw new Fault(FaultCode.Unsupported)
  if (register !== MODE && register !== TRAPSTS) return
  const place = mask << shift
  w.setHeader(offset, (w.header(offset) & ~place) | ((value << shift) & place))
}
