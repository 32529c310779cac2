/** MODE as far as translated code depends on it, and how instructions change it. */
import type { Operation } from '../../isa/operations.ts'
import { MODE_GPR_IDX_EN, MODE_VSKIP } from '../../plan/layout.ts'
import type { Mods } from '../../plan/record.ts'
import { wideConstant } from './constant.ts'
import { factOf } from './fact.ts'

/** MODE, as far as it decides how lanes are translated. */
export interface LaneModes {
  /** The bits of MODE that the rest is made of. */
  readonly key: number
  readonly flushSources32: boolean
  readonly flushResults32: boolean
  readonly flush64: boolean
  readonly round32: number
  readonly round64: number
  /** Clamp sends NaN to 0. */
  readonly dx10Clamp: boolean
  readonly ieee: boolean
}

/** MODE bits by which code is translated. */
export const MODE_KEY = 0x3ff
/** Those that no kernel reads: what flushes f32 denormals stands around them. */
const MODE_DENORM_32 = 0x30

/** MODE bits that change what vector instructions do to registers: with them a program is interpreted. */
export const INTERPRETED_MODES = MODE_GPR_IDX_EN | MODE_VSKIP

const known: LaneModes[] = []

/** MODE taken apart (GCN3 manual, "MODE register"): round 1:0 and 3:2, denormals 5:4 and 7:6 (sources, results), DX10_CLAMP 8, IEEE 9. */
export function modesOf(mode: number): LaneModes {
  const key = mode & MODE_KEY
  known[key] ??= {
    key,
    round32: mode & 3,
    round64: (mode >>> 2) & 3,
    flushSources32: (mode & 0x10) === 0,
    flushResults32: (mode & 0x20) === 0,
    flush64: (mode & 0xc0) !== 0xc0,
    dx10Clamp: (mode & 0x100) !== 0,
    ieee: (mode & 0x200) !== 0,
  }
  return known[key]
}

/** Number of MODE among the hardware registers that s_setreg names. */
const HW_MODE = 1
const setsRegister = factOf(({ name }) => name === 's_setreg_imm32_b32')

/** An instruction as far as it can change MODE. */
interface Planned {
  readonly operation: Operation
  readonly imm: number
  readonly mods: Mods
  readonly sources: readonly [number, ...number[]]
}

/** Bits of MODE that an instruction writes, and what it writes there. */
export interface ModeChange {
  readonly mask: number
  readonly bits: number
}

/**
 * How an instruction changes MODE, where it writes constants, and only bits by which code is translated. The SIMM16 of s_setreg: register 5:0, first
 * bit 10:6, bits less one 15:11.
 */
export function modeChange({ operation, imm, mods, sources }: Planned): ModeChange | undefined {
  if (!setsRegister(operation) || (imm & 63) !== HW_MODE) return undefined
  const [first, size] = [(imm >>> 6) & 31, ((imm >>> 11) & 31) + 1]
  if (first + size > 10) return undefined
  const mask = ((1 << size) - 1) << first
  return { mask, bits: (Number(BigInt.asUintN(32, wideConstant(mods.kinds[0], sources[0]))) << first) & mask }
}

/** Whether an instruction changes what is flushed of f32, and nothing else. */
export const flushesOtherwise = (planned: Planned): boolean => {
  const change = modeChange(planned)
  return change !== undefined && (change.mask & ~MODE_DENORM_32) === 0
}
