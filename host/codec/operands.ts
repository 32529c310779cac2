/**
 * The operands of an instruction in the order in which assembly text names them: which field holds each, what its number
 * means, how wide it is. Decode (which numbers are legal) and text (printing, parsing) share this list.
 */
import type { Format } from '../isa/formats.ts'
import type { Operation } from '../isa/operations.ts'
import { dwordsOf, isFloat, type OperandType } from '../isa/row.ts'
import type { Instruction } from './instruction.ts'

/**
 * What an operand's number means:
 * - `vgpr` a VGPR's number; `source` an operand encoding (scalar register, constant, literal; VGPRs from 256);
 *   `vectorSource` an operand encoding that must be a VGPR, `scalarSource` one that must not; `scalar` the encoding of a
 *   scalar register, divided by `scale`
 * - `vcc` the implied VCC; `literal` the literal dword
 * - `number` a number, `hex` one that is always printed so; `code` a number that is left out when 0; `branch` a signed
 *   dword offset from the next instruction
 * - `waitcnt`, `message`, `hwreg`, `gprIndex` immediates with a syntax of their own
 * - `memoryOffset` OFFSET of scalar memory: a number or a scalar register
 * - `attribute` ATTR and ATTRCHAN; `parameter` p10, p20 or p0
 * - `address` VADDR of buffers, whose width depends on other fields; `exportTarget`, `export` operands of exports
 */
export type OperandKind =
  | 'vgpr'
  | 'source'
  | 'vectorSource'
  | 'scalarSource'
  | 'scalar'
  | 'vcc'
  | 'literal'
  | 'number'
  | 'hex'
  | 'code'
  | 'branch'
  | 'waitcnt'
  | 'message'
  | 'hwreg'
  | 'gprIndex'
  | 'memoryOffset'
  | 'attribute'
  | 'parameter'
  | 'address'
  | 'exportTarget'
  | 'export'

export interface Operand {
  readonly kind: OperandKind
  /** The field that holds it; of operands in several fields the first; empty for `vcc` and `literal`. */
  readonly field: string
  readonly type: OperandType
  /** Registers; data of buffers and images may have more or none, see `registersOf`. */
  readonly dwords: number
  /** What the field's number is multiplied by to be a scalar register. */
  readonly scale: 1 | 2 | 4
  /** Which bit of NEG and ABS, or which SDWA and DPP modifiers, are its own; -1 where it takes none. Of exports: bit of EN. */
  readonly source: number
}

/** The operands in text order. Cached: the same list for the same arguments. */
export function operandsOf(operation: Operation, format: Format): readonly Operand[] {
  let lists = cache.get(format)
  if (lists === undefined) {
    lists = new Map()
    cache.set(format, lists)
  }
  let list = lists.get(operation)
  if (list === undefined) {
    list = listOf(operation, format)
    lists.set(operation, list)
  }
  return list
}

const cache = new Map<Format, Map<Operation, readonly Operand[]>>()

const operand = (kind: OperandKind, field: string, type: OperandType = 'b32', rest: Partial<Operand> = {}): Operand => ({
  kind,
  field,
  type,
  dwords: dwordsOf(type),
  scale: 1,
  source: -1,
  ...rest,
})

function listOf(operation: Operation, format: Format): readonly Operand[] {
  switch (format.name) {
    case 'sop1':
    case 'sop2':
    case 'sopc':
      return scalarOperands(operation)
    case 'sopk':
      return sopkOperands(operation)
    case 'sopp':
      return soppOperands(operation)
    case 'smrd':
    case 'smem':
      return scalarMemoryOperands(operation, format)
    case 'vop1':
    case 'vop2':
    case 'vopc':
      return vectorOperands(operation, false, () => false)
    case 'vop1_sdwa':
    case 'vop2_sdwa':
    case 'vopc_sdwa':
      return vectorOperands(operation, true, () => true)
    case 'vop1_dpp':
    case 'vop2_dpp':
      return vectorOperands(operation, true, (type) => takesSign(operation, type))
    case 'vop3a':
    case 'vop3b':
      return operation.name.startsWith('v_interp_') ? interpolationOperands(operation) : vop3Operands(operation)
    case 'vintrp':
      return [operand('vgpr', 'vdst'), operand(isParameter(operation) ? 'parameter' : 'vgpr', 'vsrc'), operand('attribute', 'attr')]
    case 'ds':
      return dsOperands(operation)
    case 'flat':
      return flatOperands(operation)
    case 'mubuf':
    case 'mtbuf':
      return bufferOperands(operation)
    case 'mimg':
      return imageOperands(operation)
    case 'exp':
      return [operand('exportTarget', 'target'), ...[0, 1, 2, 3].map((source) => operand('export', `vsrc${source}`, 'b32', { source }))]
  }
}

function scalarOperands({ name, shape }: Operation): Operand[] {
  if (name === 's_set_gpr_idx_on') return [operand('source', 'ssrc0'), operand('gprIndex', 'ssrc1')]
  return [
    ...shape.results.map((type) => operand('scalar', 'sdst', type)),
    ...shape.sources.map((type, n) => operand('source', `ssrc${n}`, type)),
  ]
}

function sopkOperands({ name }: Operation): Operand[] {
  const register = operand('scalar', 'sdst')
  const hwreg = operand('hwreg', 'simm16')
  switch (name) {
    case 's_getreg_b32':
      return [register, hwreg]
    case 's_setreg_b32':
      return [hwreg, register]
    case 's_setreg_imm32_b32':
      return [hwreg, operand('literal', '')]
    case 's_cbranch_i_fork':
      return [operand('scalar', 'sdst', 'b64'), operand('branch', 'simm16')]
    default:
      return [register, operand('hex', 'simm16')]
  }
}

const WITHOUT_OPERANDS: ReadonlySet<string> = new Set([
  's_barrier',
  's_wakeup',
  's_icache_inv',
  's_ttracedata',
  's_endpgm_saved',
  's_set_gpr_idx_off',
])

function soppOperands({ name }: Operation): Operand[] {
  if (WITHOUT_OPERANDS.has(name)) return []
  if (name === 's_branch' || name.startsWith('s_cbranch_')) return [operand('branch', 'simm16')]
  if (name.startsWith('s_sendmsg')) return [operand('message', 'simm16')]
  if (name === 's_waitcnt') return [operand('waitcnt', 'simm16')]
  if (name === 's_endpgm') return [operand('code', 'simm16')]
  if (name === 's_set_gpr_idx_mode') return [operand('gprIndex', 'simm16')]
  return [operand('number', 'simm16')]
}

function scalarMemoryOperands({ name, shape }: Operation, { fields }: Format): Operand[] {
  const field = 'sdata' in fields ? 'sdata' : 'sdst'
  const [base, stored] = name === 's_atc_probe' ? (['b64'] as const) : name === 's_atc_probe_buffer' ? (['b128'] as const) : shape.sources
  const address = base === undefined ? [] : [operand('scalar', 'sbase', base, { scale: 2 }), operand('memoryOffset', 'offset')]
  if (name.startsWith('s_atc_probe')) return [operand('number', field), ...address]
  const data = shape.results[0] ?? stored
  return data === undefined ? address : [operand('scalar', field, data), ...address]
}

/** VOP1, VOP2, VOPC: one or two sources in fields, the others (VCC, the literal, the old destination) implied. */
function vectorOperands(operation: Operation, wide: boolean, hasModifiers: (type: OperandType) => boolean): Operand[] {
  const { shape, literal } = operation
  const [result, carry] = shape.results
  const list: Operand[] = []
  if (result === 'mask' || carry !== undefined) list.push(operand('vcc', '', 'mask'))
  if (result === 's32') list.unshift(operand('scalar', 'vdst'))
  else if (result !== undefined && result !== 'mask') list.unshift(operand('vgpr', 'vdst', result))
  const fields = ['src0', 'vsrc1']
  shape.sources.forEach((type, n) => {
    if (n === shape.tied) return
    if (type === 'mask' || type === 'vcc') list.push(operand('vcc', '', 'mask'))
    else if (n === literal) list.push(operand('literal', '', type))
    else {
      const field = fields.shift()!
      const kind = field === 'src0' && !wide ? sourceKind(operation, n) : type === 's32' ? 'scalarSource' : 'vgpr'
      list.push(operand(kind, field, type, hasModifiers(type) ? { source: n } : {}))
    }
  })
  return list
}

function vop3Operands(operation: Operation): Operand[] {
  const { shape } = operation
  const [result, mask] = shape.results
  const list: Operand[] = []
  if (result !== undefined) list.push(operand(result === 'mask' || result === 's32' ? 'scalar' : 'vgpr', 'vdst', result))
  if (mask !== undefined) list.push(operand('scalar', 'sdst', mask))
  shape.sources.forEach((type, n) => {
    if (n === shape.tied || type === 'vcc') return
    list.push(operand(sourceKind(operation, n), `src${n}`, type, takesSign(operation, type) ? { source: n } : {}))
  })
  return list
}

/** Sources that index VGPRs, or that one lane of is read, are VGPRs; lane numbers, written values and masks are scalar. */
function sourceKind({ name, shape }: Operation, n: number): OperandKind {
  if (n === 0 && /^v_(readfirstlane|readlane|movrels|movrelsd)_b32$/.test(name)) return 'vectorSource'
  return shape.sources[n] === 's32' || shape.sources[n] === 'mask' ? 'scalarSource' : 'source'
}

/** Whether a source of this type takes NEG and ABS; v_cndmask_b32 does although it moves plain bits. */
export const takesSign = ({ name }: Operation, type: OperandType): boolean => isFloat(type) || (name === 'v_cndmask_b32' && type !== 'mask')

const isParameter = ({ name }: Operation): boolean => name === 'v_interp_mov_f32'

/** In VOP3, SRC0 is the attribute and SRC1 what VINTRP has in VSRC. */
function interpolationOperands(operation: Operation): Operand[] {
  const list = [
    operand('vgpr', 'vdst', operation.shape.results[0]),
    isParameter(operation) ? operand('parameter', 'src1') : operand('vectorSource', 'src1', 'f32', { source: 1 }),
    operand('attribute', 'src0'),
  ]
  const hasThird = operation.name === 'v_interp_p1lv_f16' || operation.name === 'v_interp_p2_f16'
  return hasThird ? [...list, operand('vectorSource', 'src2', 'f32', { source: 2 })] : list
}

function dsOperands({ shape }: Operation): Operand[] {
  if (shape.text === 'custom') return []
  const fields = ['addr', 'data0', 'data1']
  return [
    ...shape.results.map((type) => operand('vgpr', 'vdst', type)),
    ...shape.sources.map((type, n) => operand('vgpr', fields[n]!, type)),
  ]
}

function flatOperands({ shape }: Operation): Operand[] {
  const data = shape.sources[1]
  return [
    ...shape.results.map((type) => operand('vgpr', 'vdst', type)),
    operand('vgpr', 'addr', 'b64'),
    ...(data === undefined ? [] : [operand('vgpr', 'data', data)]),
  ]
}

function bufferOperands({ name, shape }: Operation): Operand[] {
  const resource = [operand('scalar', 'srsrc', 'b128', { scale: 4 }), operand('source', 'soffset')]
  if (name === 'buffer_store_lds_dword') return resource
  const data = shape.sources[0] ?? shape.results[0]
  return data === undefined ? [] : [operand('vgpr', 'vdata', data), operand('address', 'vaddr'), ...resource]
}

function imageOperands(operation: Operation): Operand[] {
  const data = operand('vgpr', 'vdata', operation.name.endsWith('cmpswap') ? 'b64' : 'b32')
  const list = [data, operand('vgpr', 'vaddr'), operand('scalar', 'srsrc', 'b256', { scale: 4 })]
  return hasSampler(operation) ? [...list, operand('scalar', 'ssamp', 'b128', { scale: 4 })] : list
}

export const hasSampler = ({ name }: Operation): boolean => /^image_(sample|gather4|get_lod)/.test(name)

/** Registers of an operand as the instruction's fields have it; 0 where they say that it is absent. */
export function registersOf(
  { field, dwords }: Operand,
  { operation, format, fields }: Pick<Instruction, 'operation' | 'format' | 'fields'>,
): number {
  if (format.name === 'mimg') {
    if (field === 'vaddr') return imageAddressRegisters(operation)
    return field === 'vdata' ? imageDataRegisters(operation, fields) : dwords
  }
  if (field === 'vdata') return fields.lds ? 0 : dwords + (fields.tfe ?? 0)
  // Only with GLC does an atomic return the old value, and only then does text name VDST.
  if (field === 'vdst' && operation.name.startsWith('flat_atomic') && !fields.glc) return 0
  return dwords
}

/** A register for each bit of DMASK, but gathers return four; one more with TFE. */
function imageDataRegisters({ name }: Operation, { dmask, tfe, vdata }: Instruction['fields']): number {
  const components = name.startsWith('image_gather4') ? 4 : Math.max(1, [1, 2, 4, 8].filter((bit) => dmask! & bit).length)
  const registers = components + tfe!
  const [least, most] = !name.startsWith('image_atomic') ? [1, 5] : name.endsWith('cmpswap') ? [2, 5] : [1, 3]
  // LLVM prints the least where an atomic cannot have so many, and where the last ones would not exist.
  return registers < least || registers > most || vdata! + registers > 256 ? least : registers
}

/** The least that an address can have; the words do not say how many there are. */
function imageAddressRegisters({ name }: Operation): number {
  return name.split('_').filter((part) => /^(c|b|d|cd|o)$/.test(part)).length + 1
}
