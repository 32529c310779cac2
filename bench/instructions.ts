/** One instruction of each operation, with inputs that stay finite and normal however often it runs. */
import { decode } from '../host/codec/decode.ts'
import { encode } from '../host/codec/encode.ts'
import { FORMATS, type Format, type FormatName } from '../host/isa/formats.ts'
import { OPERATION_BY_NAME, OPERATIONS, type Operation } from '../host/isa/operations.ts'
import { bitsOf, isFloat, type NativeFormat, type OperandType, type Shape } from '../host/isa/row.ts'
import { TARGETS } from '../host/isa/targets.ts'
import { M0 } from '../host/plan/layout.ts'
import { assembleProgram } from '../host/text/program.ts'

export const TARGET = TARGETS.gfx803
const LANES = TARGET.waveSize

/** What operations are summed up by. */
export const KINDS = [
  'f32',
  '32-bit integer',
  '16-bit',
  '64-bit',
  'conversion',
  'transcendental',
  'compare',
  'other vector',
  'scalar',
  'memory',
] as const
export type Kind = (typeof KINDS)[number]

/** The kind of a vector or scalar operation: the first that it fits. */
function kindOf({ name, table, shape, traits }: Operation): Kind {
  if (table.startsWith('s')) return 'scalar'
  if (table === 'vopc') return 'compare'
  if (traits.has('approximate')) return 'transcendental'
  if (name.startsWith('v_cvt_')) return 'conversion'
  const types = [...shape.results, ...shape.sources].filter((type) => type !== 'mask' && type !== 'vcc')
  if (types.length === 0 || types.includes('s32') || /interp|movrel/.test(name)) return 'other vector'
  if (types.some((type) => bitsOf(type) === 64)) return '64-bit'
  if (types.some((type) => bitsOf(type) === 16)) return '16-bit'
  return types.includes('f32') ? 'f32' : '32-bit integer'
}

/** What is measured. */
export interface Subject {
  readonly name: string
  readonly kind: Kind
  readonly words: readonly number[]
  /** Start values by VGPR: a dword a lane. */
  readonly vgprs: ReadonlyMap<number, number[]>
  readonly sgprs: ReadonlyMap<number, number>
}

// Registers: source i in v[8i..8i+7] or s[16+8i..], result in v[24..] or s[40..], masks s[10:11], results that are masks s[12:13].
const vectorOf = (source: number): number => 8 * source
const VECTOR_RESULT = 24
const scalarOf = (source: number): number => 16 + 8 * source
const SCALAR_RESULT = 40
const MASK = 10
const MASK_RESULT = 12
const LANE = 14
const VGPR = 256
const LITERAL_ENCODING = 255
const LITERAL = 0x3f800000

/** Words of a source, lane by lane: floats from 1 up to 2, integers of all sizes. */
function wordsOf({ name, shape }: Operation, source: number, lane: number, dword: number): number {
  const type: OperandType = shape.sources[source]!
  const spread = Math.imul(lane * 3 + source + 1, 0x9e3779b1) >>> 0
  // What a sum takes in over and over is small, or a half float would overflow.
  const adds = shape.tied >= 0 && source === 0
  if (type === 'f16') return (adds ? 0x0400 : 0x3c00) | (spread >>> 22)
  if (type === 'f32') return 0x3f800000 | (spread >>> 9)
  if (type === 'f64') return dword === 0 ? spread : 0x3ff00000 | (spread >>> 12)
  // An exponent, which must not lead out of the normal numbers.
  return name.includes('ldexp') ? lane % 8 : spread >>> (lane % 24)
}

function vectorValues(operation: Operation): Map<number, number[]> {
  const values = new Map<number, number[]>()
  const put = (register: number, source: number) => {
    for (let dword = 0; dword < 4; dword++)
      values.set(
        register + dword,
        Array.from({ length: LANES }, (_, lane) => wordsOf(operation, source, lane, dword)),
      )
  }
  for (const source of operation.shape.sources.keys()) put(source === operation.shape.tied ? VECTOR_RESULT : vectorOf(source), source)
  return values
}

function scalarValues(operation: Operation): Map<number, number> {
  const values = new Map<number, number>([
    [MASK, 0x5a5a1234],
    [MASK + 1, 0xc3c36789],
    [LANE, 5],
  ])
  for (const source of operation.shape.sources.keys())
    for (const dword of [0, 1]) values.set(scalarOf(source) + dword, wordsOf(operation, source, 7, dword))
  return values
}

/** The native format, or VOP3 where there is no other. */
function formatOf({ table, shape, opcode }: Operation): Format | undefined {
  const isNative = table !== 'vop3' && opcode(table as NativeFormat, TARGET.generation) !== undefined
  return isNative ? formatNamed(table as FormatName) : vop3Of(shape)
}
/** VOP3 in the form that the shape asks for. */
const vop3Of = (shape: Shape): Format | undefined => formatNamed(shape.results.length > 1 ? 'vop3b' : 'vop3a')
const formatNamed = (name: FormatName): Format | undefined =>
  FORMATS.find((format) => format.name === name && format.generations.includes(TARGET.generation))

function vectorFields({ shape, literal }: Operation, isVop3: boolean): Record<string, number> {
  const fields: Record<string, number> = {}
  const [value] = shape.results
  if (value === 'mask') {
    if (isVop3) fields.vdst = MASK_RESULT
  } else if (value !== undefined) fields.vdst = value === 's32' ? SCALAR_RESULT : VECTOR_RESULT
  if (isVop3 && shape.results.length > 1) fields.sdst = MASK_RESULT
  const explicit = shape.sources.flatMap((type, source) => (source === shape.tied || source === literal || type === 'vcc' ? [] : [source]))
  if (isVop3) {
    for (const source of shape.sources.keys()) {
      const type = shape.sources[source]!
      if (source === shape.tied || type === 'vcc') continue
      fields[`src${source}`] = type === 'mask' ? MASK : type === 's32' ? LANE : VGPR + vectorOf(source)
    }
    return fields
  }
  const [first, second] = explicit.filter((source) => shape.sources[source] !== 'mask')
  if (first !== undefined) fields.src0 = VGPR + vectorOf(first)
  if (second !== undefined) fields.vsrc1 = vectorOf(second)
  return fields
}

function scalarFields({ shape, table }: Operation): Record<string, number> {
  const fields: Record<string, number> = {}
  if (shape.results.length > 0) fields.sdst = SCALAR_RESULT
  if (table === 'sopk') return { sdst: SCALAR_RESULT, simm16: 3 }
  shape.sources.forEach((_, source) => {
    if (source < 2) fields[`ssrc${source}`] = scalarOf(source)
  })
  return fields
}

/** They go elsewhere, change EXEC or MODE, or (interpolation) have operands of their own in LDS. */
const UNSUITED = /^v_interp|^s_\w*(saveexec|wrexec|pc_b64|fork|join|rfe|gpr_idx|cbranch|setreg|getreg|setvskip|call|trap)\w*$/
/** Compares that change EXEC are followed by an instruction that puts it right, and the two are measured together. */
const CHANGES_EXEC = /^v_cmps?x_/
const SET_EXEC = assembleProgram('s_mov_b64 exec, -1', TARGET).words
const TABLES = /^(vop[123c]|sop[12ck])$/

/** @param modifiers fields besides the operands */
function subjectOf(operation: Operation, format = formatOf(operation), modifiers: Record<string, number> = {}): Subject | undefined {
  if (!TABLES.test(operation.table) || UNSUITED.test(operation.name) || operation.unsupported !== undefined) return undefined
  if (format === undefined || operation.opcode(format.opcodes, TARGET.generation) === undefined) return undefined
  const operands = operation.table.startsWith('s') ? scalarFields(operation) : vectorFields(operation, format.name.startsWith('vop3'))
  const fields = { ...operands, ...modifiers }
  const literal = operation.literal === undefined || Object.values(fields).includes(LITERAL_ENCODING) ? undefined : LITERAL
  const words = encode({ target: TARGET, operation, format, fields, literal, dwords: format.dwords + (literal === undefined ? 0 : 1) })
  const whole = CHANGES_EXEC.test(operation.name) ? [...words, ...SET_EXEC] : words
  return { name: operation.name, kind: kindOf(operation), words: whole, vgprs: vectorValues(operation), sgprs: scalarValues(operation) }
}

/** Memory: v[0:1] is an address in a buffer of the guest, v2 one in the LDS, s[4:7] the buffer's resource, v4 data. */
export const MEMORY: readonly string[] = [
  'ds_read_b32 v24, v2',
  'ds_read2_b32 v[24:25], v2 offset0:1 offset1:9',
  'ds_write_b32 v2, v4',
  'ds_add_u32 v2, v4',
  'ds_bpermute_b32 v24, v2, v4',
  'ds_swizzle_b32 v24, v4 offset:swizzle(SWAP,1)',
  'buffer_load_dword v24, v2, s[4:7], 0 offen',
  'buffer_store_dword v4, v2, s[4:7], 0 offen',
  'flat_load_dword v24, v[0:1]',
  'flat_load_dwordx4 v[24:27], v[0:1]',
  'flat_load_ushort v24, v[0:1]',
  'flat_store_dword v[0:1], v4',
  'flat_atomic_add v[0:1], v4',
  's_load_dwordx2 s[40:41], s[4:5], 0x10',
]

/** Bytes of the buffer that memory instructions reach. */
export const BUFFER_BYTES = 4096

/** A memory instruction on a buffer at a guest address. */
export function memorySubject(text: string, buffer: bigint): Subject {
  const low = Number(buffer & 0xffffffffn)
  const high = Number(buffer >> 32n)
  const lanes = (f: (lane: number) => number) => Array.from({ length: LANES }, (_, lane) => f(lane))
  const vgprs = new Map([
    [0, lanes((lane) => low + 16 * lane)],
    [1, lanes(() => high)],
    [2, lanes((lane) => 4 * lane)],
    [4, lanes((lane) => lane)],
  ])
  // Raw buffer, format 32 (GCN3 manual, section 8.1); M0 limits no access of LDS, as compilers have it.
  const sgprs = new Map([[4, low], [5, high], [6, BUFFER_BYTES], [7, 0x00024fac], [M0, 0xffffffff]]) // biome-ignore format: one line a resource
  return { name: text.split(' ')[0]!, kind: 'memory', words: [...assembleProgram(text, TARGET).words], vgprs, sgprs }
}

/** Instructions side by side, then a loop around them. */
export const UNROLLED = 128
/** s_sub_u32 s0, s0, 1; s_cmp_lg_u32 s0, 0; s_cbranch_scc1; s_endpgm. */
const LOOP_WORDS = [0x80808100, 0xbf078000, 0xbf850000, 0xbf810000] as const

/** A program that runs the words s0 times over, and ends. */
export function looped(words: Uint32Array): Uint32Array {
  const [sub, compare, branch, end] = LOOP_WORDS
  const back = -(words.length + 3) & 0xffff
  return Uint32Array.from([...words, sub, compare, branch | back, end])
}
/** Instructions of the loop around. */
export const LOOP_LENGTH = 3

/** A cross-section: every kind of work that kernels do. */
const REPRESENTATIVE = [
  'v_mov_b32', 'v_add_f32', 'v_mul_f32', 'v_mac_f32', 'v_mad_f32', 'v_fma_f32', 'v_max_f32', 'v_med3_f32', 'v_cndmask_b32', 'v_cmp_lt_f32',
  'v_floor_f32', 'v_rcp_f32', 'v_rsq_f32', 'v_sqrt_f32', 'v_exp_f32', 'v_log_f32', 'v_sin_f32', 'v_cvt_f32_i32', 'v_cvt_i32_f32',
  'v_cvt_f16_f32', 'v_and_b32', 'v_add_co_u32', 'v_addc_co_u32', 'v_lshlrev_b32', 'v_bfe_u32', 'v_bfi_b32', 'v_alignbit_b32', 'v_perm_b32',
  'v_mul_lo_u32', 'v_mul_hi_u32', 'v_mul_u32_u24', 'v_mad_u64_u32', 'v_max_i32', 'v_sad_u8', 'v_add_f16', 'v_fma_f16', 'v_add_f64', 'v_mul_f64',
  'v_fma_f64', 'v_rcp_f64', 'v_lshlrev_b64', 'v_div_scale_f32', 'v_div_fmas_f32', 'v_div_fixup_f32', 'v_readfirstlane_b32', 's_add_u32',
  's_and_b64', 's_cmp_lt_u32', 's_lshl_b32', 's_mul_i32', 's_bfe_u32',
] // biome-ignore format: a list of names

/** Subjects by the operations' rows; `all` takes every one that can run over and over. */
export function subjects(all: boolean, filter: RegExp): Subject[] {
  return operationsOf(all, filter).flatMap((operation) => subjectOf(operation) ?? [])
}
const operationsOf = (all: boolean, filter: RegExp): readonly Operation[] =>
  (all ? OPERATIONS : REPRESENTATIVE.map((name) => named(name))).filter(({ name }) => filter.test(name))

/** Modifiers of VOP3 by the fields that ask for them, those of sources on the first one. Halves stay finite where a result goes in again. */
export const MODIFIERS = {
  abs: { abs: 1 },
  neg: { neg: 1 },
  'div:2': { omod: 3 },
  clamp: { clamp: 1 },
} as const
export type Modifier = keyof typeof MODIFIERS

/** An operation in VOP3 without modifiers, and with each that it takes. */
export interface ModifiedSubject {
  readonly plain: Subject
  readonly modified: ReadonlyMap<Modifier, Subject>
}

/** Float operations that take modifiers; `all` as for `subjects`. */
export function modifiedSubjects(all: boolean, filter: RegExp): ModifiedSubject[] {
  return operationsOf(all, filter).flatMap((operation) => {
    const format = vop3Of(operation.shape)
    if (!operation.table.startsWith('v') || format === undefined || !operation.shape.sources.some(isFloat)) return []
    const plain = subjectOf(operation, format)
    const modified = new Map<Modifier, Subject>()
    for (const [name, fields] of Object.entries(MODIFIERS) as [Modifier, Record<string, number>][]) {
      const subject = Object.keys(fields).every((field) => field in format.fields) && subjectOf(operation, format, fields)
      // Square roots of negative numbers would be something else than a modifier: NaNs.
      if (subject && name === 'neg') negateFirst(operation, subject.vgprs)
      // What the operation does not take is no instruction.
      if (subject && decode(Uint32Array.from(subject.words), 0, TARGET) !== undefined) modified.set(name, subject)
    }
    return plain && modified.size > 0 ? [{ plain, modified }] : []
  })
}

function negateFirst({ shape: { sources, tied } }: Operation, vgprs: ReadonlyMap<number, number[]>): void {
  const bits = bitsOf(sources[0]!)
  const register = (tied === 0 ? VECTOR_RESULT : vectorOf(0)) + (bits === 64 ? 1 : 0)
  const values = vgprs.get(register)!
  values.forEach((value, lane) => {
    values[lane] = (value ^ (bits === 16 ? 0x8000 : 0x80000000)) >>> 0
  })
}

function named(name: string): Operation {
  const operation = OPERATION_BY_NAME.get(name)
  if (operation === undefined) throw new Error(`the benchmark names ${name}, which has no row in host/isa/rows`)
  return operation
}
