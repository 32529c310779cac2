/**
 * The operands of an instruction in the order in which assembly text names them: which field holds each, what its number
 * means, how wide it is. Decode (which numbers are legal) and text (printing, parsing) share this list.
 */
import type { Format } from '../isa/formats.ts'
import type { Instruction } from './instruction.ts'
import type { Operation } from '../isa/operations.ts'
import { dwordsOf, isFloat, type OperandType } from '../isa/row.ts'
import type { Generation } from '../isa/targets.ts'

/**
 * What an operand's number means:
 * - `vgpr` a VGPR's number; `source` an operand encoding (scalar register, constant, literal; VGPRs from 256);
 *   `vectorSource` an operand encoding that must be a VGPR; `scalar` the encoding of a scalar register, divided by `scale`
 * - `vcc` the implied VCC; `literal` the literal dword
 * - `number` a number, `hex` one that is always printed so; `code` a number that is left out when 0; `branch` a signed dword offset from the next instruction
 * - `waitcnt`, `message`, `hwreg`, `gprIndex` 16-bit (gprIndex: 8 or 16 bit) immediates with a syntax of their own
 * - `memoryOffset` OFFSET of scalar memory: a number or a scalar register
 * - `attribute` ATTR and ATTRCHAN; `parameter` p10, p20 or p0
 * - `address` VADDR of buffers, whose width depends on other fields; `exportTarget`, `export` operands of exports
 */
export type OperandKind =
  | 'vgpr' | 'source' | 'vectorSource' | 'scalar' | 'vcc' | 'literal'
  | 'number' | 'hex' | 'code' | 'branch' | 'waitcnt' | 'message' | 'hwreg' | 'gprIndex'
  | 'memoryOffset' | 'attribute' | 'parameter' | 'address' | 'exportTarget' | 'export'

export interface Operand {
  readonly kind: OperandKind
  /** The field that holds it; of operands in several fields the first; empty for `vcc` and `literal`. */
  readonly field: string
  readonly type: OperandType
  /** Registers; data of buffers and images may have more, see `dataDwords`. */
  readonly dwords: number
  /** What the field's number is multiplied by to be a scalar register. */
  readonly scale: 1 | 2 | 4
  /** Number of the source for NEG, ABS and SEXT, or -1 where it has no modifiers. */
  readonly source: number
}

/** The operands in text order. Cached: the same list for the same arguments. */
export function operandsOf(operation: Operation, format: Format, generation: Generation): readonly Operand[] {
  let lists = cache.get(format)
  if (lists === undefined) cache.set(format, (lists = new Map()))
  const key = `${operation.number} ${generation}`
  let list = lists.get(key)
  if (list === undefined) lists.set(key, (list = listOf(operation, format, generation)))
  return list
}

const cache = new Map<Format, Map<string, readonly Operand[]>>()

const operand = (kind: OperandKind, field: string, type: OperandType = 'b32', rest: Partial<Operand> = {}): Operand =>
  ({ kind, field, type, dwords: dwordsOf(type), scale: 1, source: -1, ...rest })

function listOf(operation: Operation, format: Format, generation: Generation): readonly Operand[] {
  const { shape, name } = operation
  const [result, mask] = shape.results
  const sources = shape.sources
  switch (format.name) {
    case 'sop1': case 'sop2': case 'sopc': return scalarOperands(operation)
    case 'sopk': return sopkOperands(name)
    case 'sopp': return soppOperands(name)
    case 'smrd': case 'smem': return memoryOperands(operation, format)
    case 'vop1': case 'vop1_sdwa': case 'vop1_dpp': case 'vop2': case 'vop2_sdwa': case 'vop2_dpp': case 'vopc': case 'vopc_sdwa':
      return vectorOperands(operation, format)
    case 'vop3a': case 'vop3b': return vop3Operands(operation)
    case 'vintrp':
      return [operand('vgpr', 'vdst'), name === 'v_interp_mov_f32' ? operand('parameter', 'vsrc') : operand('vgpr', 'vsrc'), operand('attribute', 'attr')]
    case 'ds': return dsOperands(operation)
    case 'flat': {
      const list = [operand('vgpr', 'addr', 'b64')]
      // Only with GLC does an atomic return the old value; text then names VDST.
      if (result !== undefined) list.unshift(operand('vgpr', 'vdst', result))
      if (sources[1] !== undefined) list.push(operand('vgpr', 'data', sources[1]))
      return list
    }
    case 'mubuf': case 'mtbuf': {
      if (shape.text === 'custom' && name !== 'buffer_store_lds_dword') return []
      const list = [...(name === 'buffer_store_lds_dword' ? [] : [operand('address', 'vaddr')]), operand('scalar', 'srsrc', 'b128', { scale: 4 }), operand('source', 'soffset')]
      const data = sources[0] ?? result
      if (data !== undefined) list.unshift(operand('vgpr', 'vdata', data))
      return list
    }
    case 'mimg': {
      const list = [operand('vgpr', 'vdata', result ?? 'b32'), operand('vgpr', 'vaddr', sources[0] ?? 'b32'), operand('scalar', 'srsrc', 'b256', { scale: 4 })]
      if (/_(sample|gather4|get_lod)/.test(name)) list.push(operand('scalar', 'ssamp', 'b128', { scale: 4 }))
      return list
    }
    case 'exp':
      return [operand('exportTarget', 'target'), ...['vsrc0', 'vsrc1', 'vsrc2', 'vsrc3'].map((field, source) => operand('export', field, 'b32', { source }))]
  }
  function scalarOperands({ shape }: Operation): Operand[] {
    if (name === 's_set_gpr_idx_on') return [operand('source', 'ssrc0'), operand('gprIndex', 'ssrc1')]
    return [
      ...shape.results.map((type) => operand('scalar', 'sdst', type)),
      ...shape.sources.map((type, n) => operand('source', `ssrc${n}`, type)),
    ]
  }
  function vectorOperands({ literal }: Operation, { name: formatName }: Format): Operand[] {
    const sdwa = formatName.endsWith('_sdwa')
    const dpp = formatName.endsWith('_dpp')
    const plain = !sdwa && !dpp
    const list: Operand[] = []
    if (formatName.startsWith('vopc')) list.push(operand('vcc', '', 'mask'))
    else if (result === 's32') list.push(operand('scalar', 'vdst'))
    else if (result !== undefined) list.push(operand('vgpr', 'vdst', result))
    if (mask !== undefined) list.push(operand('vcc', '', 'mask'))
    let vsrc1 = false
    sources.forEach((type, n) => {
      if (n === shape.tied) return
      if (type === 'mask' || type === 'vcc') list.push(operand('vcc', '', 'mask'))
      else if (n === literal) list.push(operand('literal', '', type))
      else if (n === 0) list.push(operand(!plain ? 'vgpr' : onlyVector(0) ? 'vectorSource' : 'source', 'src0', type, sdwa || (dpp && takesNeg(type)) ? { source: 0 } : {}))
      else if (type === 's32') list.push(operand('source', 'vsrc1'))
      else if (!vsrc1) {
        list.push(operand('vgpr', 'vsrc1', type, sdwa || (dpp && takesNeg(type)) ? { source: 1 } : {}))
        vsrc1 = true
      }
    })
    return list
  }
  /** Sources that index VGPRs, or are read from one lane of a VGPR, cannot be scalar. */
  function onlyVector(n: number): boolean {
    return n === 0 && /^v_(readfirstlane|readlane|movrels|movrelsd)_b32$/.test(name)
  }
  function vop3Operands({ shape }: Operation): Operand[] {
    if (name.startsWith('v_interp_')) return interpOperands()
    const list: Operand[] = []
    if (result === 'mask' || result === 's32') list.push(operand('scalar', 'vdst', result))
    else if (result !== undefined) list.push(operand('vgpr', 'vdst', result))
    if (mask !== undefined) list.push(operand('scalar', 'sdst', mask))
    shape.sources.forEach((type, n) => {
      if (n === shape.tied || type === 'vcc') return
      list.push(operand(onlyVector(n) ? 'vectorSource' : 'source', `src${n}`, type, takesNeg(type) ? { source: n } : {}))
    })
    return list
  }
  function takesNeg(type: OperandType): boolean {
    return isFloat(type) || (name === 'v_cndmask_b32' && type !== 'mask')
  }
  function interpOperands(): Operand[] {
    const list = [operand('vgpr', 'vdst', result)]
    if (name === 'v_interp_mov_f32') list.push(operand('parameter', 'src1'))
    else list.push(operand('vectorSource', 'src1', 'f32', { source: 1 }))
    list.push(operand('attribute', 'src0'))
    if (name === 'v_interp_p1lv_f16' || name === 'v_interp_p2_f16') list.push(operand('vectorSource', 'src2', 'f32', { source: 2 }))
    return list
  }
  function dsOperands({ shape }: Operation): Operand[] {
    if (shape.text === 'custom') return []
    const fields = ['addr', 'data0', 'data1']
    return [
      ...shape.results.map((type) => operand('vgpr', 'vdst', type)),
      ...shape.sources.map((type, n) => operand('vgpr', fields[n]!, type)),
    ]
  }
  function memoryOperands({ shape }: Operation, { fields }: Format): Operand[] {
    const data = 'sdata' in fields ? 'sdata' : 'sdst'
    const offset = operand('memoryOffset', 'offset')
    const [result] = shape.results
    if (name.startsWith('s_atc_probe')) {
      return [operand('number', data), operand('scalar', 'sbase', name === 's_atc_probe' ? 'b64' : 'b128', { scale: 2 }), offset]
    }
    const type = result ?? shape.sources[1]
    if (type === undefined) return []
    const list = [operand('scalar', data, type)]
    if (shape.sources[0] !== undefined) list.push(operand('scalar', 'sbase', shape.sources[0], { scale: 2 }), offset)
    return list
  }
  function sopkOperands(name: string): Operand[] {
    const register = operand('scalar', 'sdst')
    switch (name) {
      case 's_getreg_b32': return [register, operand('hwreg', 'simm16')]
      case 's_setreg_b32': return [operand('hwreg', 'simm16'), register]
      case 's_setreg_imm32_b32': return [operand('hwreg', 'simm16'), operand('literal', '')]
      case 's_cbranch_i_fork': return [operand('scalar', 'sdst', 'b64'), operand('branch', 'simm16')]
      default: return [register, operand('hex', 'simm16')]
    }
  }
  function soppOperands(name: string): Operand[] {
    if (name === 's_branch' || name.startsWith('s_cbranch_')) return [operand('branch', 'simm16')]
    if (name.startsWith('s_sendmsg')) return [operand('message', 'simm16')]
    switch (name) {
      case 's_waitcnt': return [operand('waitcnt', 'simm16')]
      case 's_endpgm': return [operand('code', 'simm16')]
      case 's_set_gpr_idx_mode': return [operand('gprIndex', 'simm16')]
      case 's_barrier': case 's_wakeup': case 's_icache_inv': case 's_ttracedata': case 's_endpgm_saved': case 's_set_gpr_idx_off': return []
      default: return [operand('number', 'simm16')]
    }
  }
}

/** Registers of an operand as the instruction's fields have them; 0 where the fields say that it is absent. */
export function dataDwords(operand: Operand, { operation, format, fields }: Instruction): number {
  switch (operand.field) {
    case 'vdst':
      if (format.name === 'flat' && operation.name.startsWith('flat_atomic') && !fields['glc']) return 0
      return operand.dwords + (format.name === 'flat' ? (fields['tfe'] ?? 0) : 0)
    case 'vdata':
      if (format.name === 'mimg') {
        const dwords = imageDwords(operation, fields)
        // LLVM prints one register where the others would not exist.
        return fields['vdata']! + dwords > 256 ? 1 : dwords
      }
      return fields['lds'] ? 0 : operand.dwords + (fields['tfe'] ?? 0)
    case 'vaddr': return format.name === 'mimg' ? imageAddressDwords(operation) : operand.dwords
    default: return operand.dwords
  }
}

/** A dword for each bit of DMASK, but gathers return four; one more with TFE. */
function imageDwords({ name }: Operation, { dmask, tfe }: Instruction['fields']): number {
  const components = name.startsWith('image_gather4') ? 4 : Math.max(1, [1, 2, 4, 8].filter((bit) => dmask! & bit).length)
  const dwords = components + tfe!
  // Atomics know one or two dwords, compare-and-swap two or four, and one more; LLVM prints the fewest for other masks.
  if (!name.startsWith('image_atomic')) return dwords
  if (name.endsWith('cmpswap')) return dwords >= 2 && dwords <= 5 ? dwords : 2
  return dwords <= 3 ? dwords : 1
}

/** The fewest address dwords, which is what LLVM prints: the words do not say how many there are. */
function imageAddressDwords({ name }: Operation): number {
  return name.split('_').filter((part) => /^(c|b|d|cd|o)$/.test(part)).length + 1
}
