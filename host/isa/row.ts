/** What one operation is, as a row of a table: its opcodes, its shape, and what modifiers and MODE do to it. */
import type { Generation } from './targets.ts'

/** No opcode on this generation. */
export const _ = undefined

/** One opcode a generation, in the order of GENERATIONS. */
export type Opcodes = readonly (number | undefined)[]

/**
 * Facts about an operation that its shape does not tell:
 * - `flush`: f16, f32 and f64 sources, and such a result, are flushed as MODE's denormal bits of their own type say
 *   (so v_cvt_f32_f64 flushes its source by the bits for f64, its result by those for f32)
 * - `ftz`: denormals are flushed, sources and result, whatever MODE says (v_mad_f32, v_mac_f32, v_rcp_f32)
 * - `round`: the result depends on MODE's round mode: that of the result's type if it is a float, else of the source's
 * - `nan`: a NaN result is built by the common rule (first NaN source quieted, else the default NaN); only where all floats are
 *   of one type: conversions build theirs themselves
 * - `approximate`: hardware promises about 1 ULP; Lanewise returns the correctly rounded result
 * - `scc`: of a scalar operation: SCC tells whether the result is not zero (of s_*_saveexec_b64: whether the new EXEC is not)
 * - `device`: it acts beyond its wave (exports, messages, what orders the waves of a dispatch): no engine runs it, but the device does
 * Flushing keeps the sign, is done after abs and neg, and on the rounded result. Without a trait the operation works on the bits
 * as they are, and what it says of floats is all its own (v_min_f32 and its kin pass denormals on: they have no denormal mode
 * before gfx9, say LLVM's SIISelLowering and Mesa's ac_nir_to_llvm; v_frexp_* take denormals apart, v_cmp_class_* tell them, in every mode).
 */
export type Trait = 'flush' | 'ftz' | 'round' | 'nan' | 'approximate' | 'scc' | 'device'

/** A row as written in the tables: operation, native opcodes by format, shape, and the rest. */
export type RowSource = readonly [name: string, opcodes: RowOpcodes, shape: string, rest?: RowRest]

/** `vop3` is only written where it is not the native opcode + VOP3_OFFSET; `null` means there is no VOP3 form. */
export type RowOpcodes = Readonly<Partial<Record<Exclude<NativeFormat, 'vop3'>, Opcodes>> & { vop3?: Opcodes | null }>

export interface RowRest {
  /** Mnemonics of generations whose manual calls the operation otherwise. */
  readonly names?: Readonly<Partial<Record<Generation, string>>>
  /** Traits, separated by blanks. */
  readonly traits?: string
  /** Which 64-bit forms of VOP1, VOP2 and VOPC exist on gfx8; both where not said. */
  readonly forms?: 'none' | 'sdwa' | 'dpp'
  /** Why Lanewise does not run it: it has neither reference function nor kernel, and is planned as `unsupported`. */
  readonly unsupported?: string
  /** Why Lanewise does not run it in all its forms: the fault `Unsupported` says so. */
  readonly partly?: string
  /** The source that is always the literal dword (v_madmk, v_madak, s_setreg_imm32_b32). */
  readonly literal?: 0 | 1 | 2
}

/** Formats in which a row states opcodes; `vop3` covers VOP3A and VOP3B. */
export type NativeFormat =
  | 'sop1' | 'sop2' | 'sopc' | 'sopk' | 'sopp' | 'smrd' | 'smem'
  | 'vop1' | 'vop2' | 'vopc' | 'vop3' | 'vintrp'
  | 'ds' | 'flat' | 'mubuf' | 'mtbuf' | 'mimg' | 'exp'

/**
 * The type of an operand: kind and bits.
 * f float, i signed, u unsigned, b plain bits; `mask` one bit a lane in a scalar register (pair in wave64);
 * `s32` a scalar dword among vector operands; `param` an interpolation parameter; `vcc` VCC as an implied lane mask.
 */
export type OperandType =
  | 'f16' | 'f32' | 'f64' | 'i16' | 'i32' | 'i64' | 'u16' | 'u32' | 'u64'
  | 'b16' | 'b32' | 'b64' | 'b96' | 'b128' | 'b256' | 'b512' | 'mask' | 's32' | 'param' | 'vcc'

/** A parsed shape such as `u32, mask = u32, u32, mask`. */
export interface Shape {
  readonly text: string
  /** Results: the value, and for carries, div_scale and compares the mask. */
  readonly results: readonly OperandType[]
  readonly sources: readonly OperandType[]
  /** Index of the source that is the old destination (written `=f32`), or -1. */
  readonly tied: number
}

const shapes = new Map<string, Shape>()

/** Parses a shape; `custom` has no operands of its own and is up to the format. Many rows have the same one. */
export function parseShape(text: string): Shape {
  let shape = shapes.get(text)
  if (shape === undefined) {
    shape = readShape(text)
    shapes.set(text, shape)
  }
  return shape
}

function readShape(text: string): Shape {
  const equals = text.indexOf('=')
  const list = (s: string) => s.split(',').map((x) => x.trim()).filter((x) => x !== '')
  const results = equals < 0 ? [] : list(text.slice(0, equals))
  const sources = equals < 0 ? [] : list(text.slice(equals + 1))
  return {
    text,
    results: results as OperandType[],
    sources: sources.map((s) => s.replace('=', '')) as OperandType[],
    tied: sources.findIndex((s) => s.startsWith('=')),
  }
}

/** Bits of an operand; a mask counts as one register pair (64). */
export function bitsOf(type: OperandType): number {
  if (type === 'mask' || type === 'vcc') return 64
  if (type === 's32' || type === 'param') return 32
  return Number(type.slice(1))
}

/** Registers (dwords) of an operand. */
export const dwordsOf = (type: OperandType): number => Math.max(1, bitsOf(type) / 32)
export const isFloat = (type: OperandType | undefined): boolean => type?.startsWith('f') ?? false
