/**
 * Which field values an operation allows. What LLVM's decoder takes and refuses is the rule: it refuses operand encodings that
 * name nothing and modifiers that the operation does not have, and it ignores bits and source fields that have no meaning.
 */
import type { Format } from '../isa/formats.ts'
import type { Operation } from '../isa/operations.ts'
import {
  INLINE_FLOAT_FIRST,
  INLINE_FLOATS,
  INLINE_INTEGER_FIRST,
  INLINE_INTEGER_LAST,
  INLINE_INV_2PI,
  LATER_SOURCES,
  LITERAL,
  SCALAR_REGISTERS,
  SPECIAL_SOURCES,
  VGPR_FIRST,
} from '../isa/registers.ts'
import { isFloat } from '../isa/row.ts'
import type { Generation } from '../isa/targets.ts'
import { hasSampler, type Operand, operandsOf, takesSign } from './operands.ts'

/** The values of a field that are allowed: `legal[value] === 1`. Fields without an entry may hold anything. */
export type Legal = ReadonlyMap<string, Uint8Array>

/** SRC0 of VOP1, VOP2 and VOPC where a dword with SDWA or DPP modifiers follows. */
const SDWA = 249
const DPP = 250

/** What the fields of an operation in a format may hold. Cached: the same map for the same arguments. */
export function legalValues(operation: Operation, format: Format, generation: Generation): Legal {
  const key = `${operation.number} ${format.name} ${generation}`
  let legal = legals.get(key)
  if (legal === undefined) {
    legal = findLegal(operation, format, generation)
    legals.set(key, legal)
  }
  return legal
}

const legals = new Map<string, Legal>()
const tables = new Map<string, Uint8Array>()

/** A table of allowed values; one for all fields with the same rule and size. */
function tableOf(rule: string, size: number, allowed: (value: number) => boolean): Uint8Array {
  const key = `${rule} ${size}`
  let table = tables.get(key)
  if (table === undefined) {
    table = new Uint8Array(size)
    for (let value = 0; value < size; value++) if (allowed(value)) table[value] = 1
    tables.set(key, table)
  }
  return table
}

function findLegal(operation: Operation, format: Format, generation: Generation): Legal {
  const legal = new Map<string, Uint8Array>()
  const restrict: Restrict = (field, rule, allowed) => {
    const range = format.fields[field]
    if (range !== undefined) legal.set(field, tableOf(rule, 2 ** (range.hi - range.lo + 1), allowed))
  }
  const zero = (...fields: string[]): void => {
    for (const field of fields) restrict(field, 'zero', (value) => value === 0)
  }
  const one = (field: string): void => restrict(field, 'one', (value) => value === 1)
  const operands = operandsOf(operation, format)
  for (const operand of operands) restrictOperand(operand, format, generation, restrict)
  const { name } = operation
  const used = new Set(operands.map(({ field }) => field))
  const unused = (...fields: string[]): string[] => fields.filter((field) => !used.has(field))
  switch (format.name) {
    case 'vop1':
      // Without operands SRC0 may hold anything but what would make it another format: v_nop, v_clrexcp.
      if (generation === 'gfx8' && operands.length === 0) restrict('src0', 'plain', (value) => value !== SDWA && value !== DPP)
      break
    case 'vop3a':
    case 'vop3b': {
      const { omod, clamp } = outputModifiers(operation)
      const signs = signBits(operation, operands)
      restrict('neg', `signs ${signs}`, (value) => (value & ~signs) === 0)
      restrict('abs', `signs ${signs}`, (value) => (value & ~signs) === 0)
      if (!omod) zero('omod')
      if (!clamp) zero('clamp')
      break
    }
    case 'vop1_sdwa':
    case 'vop2_sdwa':
    case 'vopc_sdwa':
      restrictSdwa(operation, format, operands, restrict, zero)
      break
    case 'vop1_dpp':
    case 'vop2_dpp': {
      if (signBits(operation, operands) === 0) zero('src0_neg', 'src0_abs', 'src1_neg', 'src1_abs')
      if (format.name === 'vop1_dpp') zero('src1_neg', 'src1_abs', ...unused('src0', 'vdst'))
      break
    }
    case 'ds':
      zero(...unused('addr', 'data0', 'data1', 'vdst'))
      if (isGlobalOnly(operation)) one('gds')
      break
    case 'flat':
      zero('tfe')
      break
    case 'mubuf':
      if (name.startsWith('buffer_wbinvl1')) zero('offen', 'idxen', 'glc', 'lds', 'vaddr', 'srsrc', 'tfe')
      else if (name === 'buffer_store_lds_dword') {
        zero('offen', 'idxen', 'tfe', 'vaddr')
        one('lds')
      } else {
        if (!loadsToLds(operation)) zero('lds')
        if (!name.startsWith('buffer_load_')) zero('tfe')
      }
      break
    case 'mtbuf':
      zero('tfe')
      break
    case 'mimg':
      if (!hasSampler(operation)) zero('ssamp')
      if (name.startsWith('image_atomic')) zero('d16')
      break
  }
  return legal
}

/** What fields may not hold together, where there is such a rule: an SGPR offset of scalar memory must be a register. */
export function combinationRule(
  operation: Operation,
  format: Format,
  generation: Generation,
): ((fields: Readonly<Record<string, number>>) => boolean) | undefined {
  if (operandsOf(operation, format).every(({ kind }) => kind !== 'memoryOffset')) return undefined
  return ({ imm, offset }) => imm === 1 || isScalarRegister(offset! & 0x7f, 1, generation) || (generation === 'gfx7' && offset === LITERAL)
}

/** Bits of NEG and ABS: one source that takes them is enough for LLVM to ignore those of the others (v_ldexp, v_cmp_class). */
function signBits(operation: Operation, operands: readonly Operand[]): number {
  if (operands.every(({ source }) => source < 0)) return 0
  if (operation.name.startsWith('v_interp_')) return operands.reduce((bits, { source }) => (source < 0 ? bits : bits | (1 << source)), 0)
  return operation.shape.sources.reduce(
    (bits, type, n) => (n === operation.shape.tied || type === 'mask' || type === 'vcc' ? bits : bits | (1 << n)),
    0,
  )
}

/** Allows values in a field; `rule` names the predicate with all that it depends on but the field's size. */
type Restrict = (field: string, rule: string, allowed: (value: number) => boolean) => void

/** Operations on global data share only: GDS must be set. */
export const isGlobalOnly = ({ name }: Operation): boolean => /^ds_(gws_|ordered_count$)/.test(name)
/** Loads that may write to LDS instead of VGPRs. */
export const loadsToLds = ({ name }: Operation): boolean => /^buffer_load_(format_x|[us]byte|[us]short|dword)$/.test(name)

/** Whether the VOP3 form takes OMOD and CLAMP; found by what LLVM accepts, which follows result and source types but for a few. */
export function outputModifiers({ name, shape }: Operation): { omod: boolean; clamp: boolean } {
  const [result] = shape.results
  const floatSource = shape.sources.some(isFloat)
  if (name === 'v_cndmask_b32' || /^v_cmpx?_class_|^v_cvt_(rpi|flr)_/.test(name)) return { omod: false, clamp: false }
  if (result === 'mask') return { omod: false, clamp: floatSource }
  if (/^v_(cvt_pk_u8|cvt_pkaccum|cvt_pknorm)|^v_frexp_exp_i32_f32/.test(name)) return { omod: false, clamp: true }
  if (name === 'v_interp_mov_f32' || isFloat(result) || floatSource) return { omod: true, clamp: true }
  const saturates = shape.results.length === 2 || /^v_(add|sub|subrev)_u16$|^v_mad_|sad_|_[iu]24$/.test(name)
  return { omod: false, clamp: saturates }
}

function restrictOperand({ kind, field, dwords, scale }: Operand, format: Format, generation: Generation, restrict: Restrict): void {
  const literal = format.literals.includes(field)
  const rule = `${kind} ${dwords} ${scale} ${generation} ${literal}`
  switch (kind) {
    case 'scalar':
      return restrict(field, rule, (value) => isScalarRegister(value * scale, dwords, generation))
    case 'source':
      return restrict(
        field,
        rule,
        (value) => value >= VGPR_FIRST || isScalarSource(value, dwords, generation) || (value === LITERAL && literal),
      )
    case 'scalarSource':
      return restrict(field, rule, (value) => isScalarSource(value, dwords, generation) || (value === LITERAL && literal))
    // LLVM also reads the sources that are neither registers nor constants here.
    case 'vectorSource':
      return restrict(field, rule, (value) => value >= VGPR_FIRST || isSpecialSource(value, generation))
    default:
  }
}

/** Whether so many registers from this encoding on exist and are aligned: pairs to 2, more to 4. */
export function isScalarRegister(encoding: number, dwords: number, generation: Generation): boolean {
  // The encoding that LLVM reads as null stands for any width.
  if (encoding === 125) return generation === 'gfx8'
  const range = SCALAR_REGISTERS[generation].find(({ first, count }) => encoding >= first && encoding < first + count)
  if (range === undefined || encoding % Math.min(4, dwords === 3 ? 4 : dwords) !== 0) return false
  // On gfx8 LLVM lets s[96:103] and s[88:103] reach over flat_scratch, but not s[100:103].
  const end = range.name === 's' && dwords > 4 ? 104 : range.first + range.count
  return encoding + dwords <= end
}

function isScalarSource(encoding: number, dwords: number, generation: Generation): boolean {
  if (encoding < INLINE_INTEGER_FIRST) return isScalarRegister(encoding, dwords, generation)
  if (encoding <= INLINE_INTEGER_LAST) return true
  if (encoding >= INLINE_FLOAT_FIRST && encoding < INLINE_FLOAT_FIRST + INLINE_FLOATS.length) return true
  return (generation === 'gfx8' && encoding === INLINE_INV_2PI) || isSpecialSource(encoding, generation)
}

const isSpecialSource = (encoding: number, generation: Generation): boolean =>
  encoding in SPECIAL_SOURCES || (generation === 'gfx8' && encoding in LATER_SOURCES)

function restrictSdwa(
  operation: Operation,
  format: Format,
  operands: readonly Operand[],
  restrict: Restrict,
  zero: (...fields: string[]) => void,
): void {
  const isSelect = (value: number): boolean => value < 7
  for (const n of [0, 1]) {
    const operand = operands.find(({ source }) => source === n)
    if (operand === undefined) {
      if (format.name === 'vop1_sdwa') zero(`src${n}_sel`, `src${n}_sext`, `src${n}_neg`, `src${n}_abs`)
      continue
    }
    restrict(`src${n}_sel`, 'select', isSelect)
    if (takesSign(operation, operand.type)) zero(`src${n}_sext`)
    else zero(`src${n}_neg`, `src${n}_abs`)
  }
  if (format.name === 'vopc_sdwa') return zero('dst_sel', 'dst_unused')
  restrict('dst_sel', 'select', isSelect)
  restrict('dst_unused', 'unused', (value) => value < 3)
}
