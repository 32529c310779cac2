/** What operand encodings stand for, by generation. Data only. Source: the ISA manuals, table "Scalar Operand Encodings". */
import type { Generation } from './targets.ts'

/** A run of scalar registers: `count` encodings from `first` on. */
export interface ScalarRange {
  readonly first: number
  readonly count: number
  /** `s` and `ttmp` are numbered (`s5`, `s[4:7]`); the others are a pair (`vcc`, `vcc_lo`, `vcc_hi`) or single (`m0`). */
  readonly name: string
}

const common: readonly ScalarRange[] = [
  { first: 106, count: 2, name: 'vcc' },
  { first: 108, count: 2, name: 'tba' },
  { first: 110, count: 2, name: 'tma' },
  { first: 112, count: 12, name: 'ttmp' },
  { first: 124, count: 1, name: 'm0' },
  { first: 126, count: 2, name: 'exec' },
]

export const SCALAR_REGISTERS: Readonly<Record<Generation, readonly ScalarRange[]>> = {
  gfx6: [{ first: 0, count: 104, name: 's' }, ...common],
  gfx7: [{ first: 0, count: 104, name: 's' }, { first: 104, count: 2, name: 'flat_scratch' }, ...common],
  gfx8: [
    { first: 0, count: 102, name: 's' }, { first: 102, count: 2, name: 'flat_scratch' }, { first: 104, count: 2, name: 'xnack_mask' }, ...common,
    // LLVM reads the encoding that later generations gave to NULL; the GCN3 manual has it reserved.
    { first: 125, count: 1, name: 'null' },
  ],
}

/** The inline integer 0; 129 to 192 are 1 to 64. */
export const INLINE_INTEGER_FIRST = 128
/** The inline integer -16; 193 is -1. */
export const INLINE_INTEGER_LAST = 208
/** A constant as an operand of each float type sees it. */
export interface InlineFloat {
  readonly value: number
  readonly f16: number
  readonly f32: number
  readonly f64: bigint
}

/** Inline floats 240 to 247. */
export const INLINE_FLOATS: readonly InlineFloat[] = [
  { value: 0.5, f16: 0x3800, f32: 0x3f000000, f64: 0x3fe0000000000000n },
  { value: -0.5, f16: 0xb800, f32: 0xbf000000, f64: 0xbfe0000000000000n },
  { value: 1, f16: 0x3c00, f32: 0x3f800000, f64: 0x3ff0000000000000n },
  { value: -1, f16: 0xbc00, f32: 0xbf800000, f64: 0xbff0000000000000n },
  { value: 2, f16: 0x4000, f32: 0x40000000, f64: 0x4000000000000000n },
  { value: -2, f16: 0xc000, f32: 0xc0000000, f64: 0xc000000000000000n },
  { value: 4, f16: 0x4400, f32: 0x40800000, f64: 0x4010000000000000n },
  { value: -4, f16: 0xc400, f32: 0xc0800000, f64: 0xc010000000000000n },
]
export const INLINE_FLOAT_FIRST = 240
/** 1/(2π), from GCN 1.2. The double is not the correctly rounded one. */
export const INV_2PI: InlineFloat = { value: 1 / (2 * Math.PI), f16: 0x3118, f32: 0x3e22f983, f64: 0x3fc45f306dc9c882n }
export const INLINE_INV_2PI = 248

export const VCCZ = 251
export const EXECZ = 252
export const SOURCE_SCC = 253
export const LDS_DIRECT = 254
/** Sources that are no registers. */
export const SPECIAL_SOURCES: Readonly<Record<number, string>> = {
  [VCCZ]: 'src_vccz', [EXECZ]: 'src_execz', [SOURCE_SCC]: 'src_scc', [LDS_DIRECT]: 'src_lds_direct',
}

/** Encodings of gfx9 that LLVM also reads on gfx8, where the GCN3 manual has them reserved. */
export const LATER_SOURCES: Readonly<Record<number, string>> = {
  235: 'src_shared_base', 236: 'src_shared_limit', 237: 'src_private_base', 238: 'src_private_limit',
}

export const LITERAL = 255
/** Encodings from here on are VGPRs. */
export const VGPR_FIRST = 256
