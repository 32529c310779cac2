/** What follows the operands: flags, offsets, selects. Each knows how to print itself and how to be read. */
import type { Format } from '../isa/formats.ts'
import type { Operation } from '../isa/operations.ts'
import type { Generation } from '../isa/targets.ts'
import { evaluate, type Symbols } from './expression.ts'
import { DATA_FORMATS, numberFormats, SDWA_SELECTS, SDWA_UNUSED } from './names.ts'

type Fields = Readonly<Record<string, number>>

export interface Modifier {
  /** The words that introduce it: before `:`, or alone. */
  readonly names: readonly string[]
  /** The text, or nothing where the modifier is at its default. */
  print(fields: Fields): string
  /**
   * Reads what stands behind `name:`, or undefined for the bare word.
   * @returns the bits that it sets in fields, or what was expected instead
   */
  parse(value: string | undefined, name: string, symbols: Symbols): Fields | string
  /** What it is, where text must name it. */
  readonly required?: string
  /** What its fields hold when text does not name it, where that is not 0. */
  readonly defaults?: Fields
}

/** The modifiers in the order in which LLVM prints them. */
export function modifiersOf({ name, shape }: Operation, format: Format, generation: Generation): readonly Modifier[] {
  switch (format.name) {
    case 'vop3a':
      return /^v_interp_p(1l[lv]|2)_f16$/.test(name) ? [HIGH, CLAMP, OMOD] : [CLAMP, OMOD]
    case 'vop3b':
      return 'clamp' in format.fields ? [CLAMP, OMOD] : [OMOD]
    case 'vop1_sdwa':
      return [CLAMP, DST_SEL, DST_UNUSED, SRC0_SEL]
    case 'vop2_sdwa':
      return [CLAMP, DST_SEL, DST_UNUSED, SRC0_SEL, SRC1_SEL]
    case 'vopc_sdwa':
      return [CLAMP, SRC0_SEL, SRC1_SEL]
    case 'vop1_dpp':
    case 'vop2_dpp':
      return [DPP_CONTROL, ROW_MASK, BANK_MASK, BOUND_CONTROL]
    case 'smem':
      return shape.sources.length > 0 ? [GLC] : []
    case 'ds':
      if (shape.text === 'custom') return []
      if (/^ds_(read2|write2|wrxchg2)/.test(name)) return [number('offset0', 8), number('offset1', 8), GDS]
      return [name === 'ds_swizzle_b32' ? SWIZZLE : DS_OFFSET, GDS]
    case 'flat':
      return [GLC, SLC]
    case 'mubuf':
      return name.startsWith('buffer_wbinvl1') ? [] : [...bufferAddress(format), GLC, LDS, SLC, TFE]
    case 'mtbuf':
      return [bufferFormat(generation), ...bufferAddress(format), GLC, SLC, TFE]
    case 'mimg':
      return [DMASK, flag('unorm'), GLC, SLC, flag('r128'), TFE, flag('lwe'), flag('da'), flag('d16')]
    case 'exp':
      return [flag('done'), flag('compr'), flag('vm')]
    default:
      return []
  }
}

const NO_VALUE = 'nothing behind it: it is a flag'

function flag(name: string): Modifier {
  return {
    names: [name],
    print: (fields) => (fields[name] ? name : ''),
    parse: (value) => (value === undefined ? { [name]: 1 } : NO_VALUE),
  }
}

/** An integer that fits so many bits, or what was expected. */
function integer(value: string | undefined, bits: number, symbols: Symbols): number | string {
  const result = value === undefined ? undefined : evaluate(value, symbols)
  return result !== undefined && result >= 0 && result < 2 ** bits ? result : `:N with N from 0 to ${2 ** bits - 1}`
}

/** `name:number`; left out when it is 0 unless it has another default, which is printed too. */
function number(name: string, bits: number, { hex = false, normally = 0 } = {}): Modifier {
  return {
    names: [name],
    print: (fields) => (fields[name] === 0 && normally === 0 ? '' : `${name}:${hex ? `0x${fields[name]!.toString(16)}` : fields[name]}`),
    parse(text, _, symbols) {
      const value = integer(text, bits, symbols)
      return typeof value === 'string' ? value : { [name]: value }
    },
    defaults: { [name]: normally },
  }
}

const GLC = flag('glc')
const SLC = flag('slc')
const TFE = flag('tfe')
const LDS = flag('lds')
const GDS = flag('gds')
const CLAMP = flag('clamp')
const DMASK = number('dmask', 4, { hex: true })
const ROW_MASK = number('row_mask', 4, { hex: true, normally: 15 })
const BANK_MASK = number('bank_mask', 4, { hex: true, normally: 15 })
const bufferAddress = (format: Format): Modifier[] => [
  flag('idxen'),
  flag('offen'),
  ...('addr64' in format.fields ? [flag('addr64')] : []),
  number('offset', 12),
]

/** Bit 8 of SRC0 of the interpolations in VOP3: the high half of the attribute. */
const HIGH: Modifier = {
  names: ['high'],
  print: (fields) => (fields.src0! & 0x100 ? 'high' : ''),
  parse: (value) => (value === undefined ? { src0: 0x100 } : NO_VALUE),
}

const OUTPUT_MODIFIERS = ['', 'mul:2', 'mul:4', 'div:2']

const OMOD: Modifier = {
  names: ['mul', 'div'],
  print: (fields) => OUTPUT_MODIFIERS[fields.omod!]!,
  parse(value, name) {
    const omod = OUTPUT_MODIFIERS.indexOf(`${name}:${value}`)
    return omod > 0 ? { omod } : name === 'mul' ? ':2 or :4' : ':2'
  },
}

const BOUND_CONTROL: Modifier = {
  names: ['bound_ctrl'],
  print: (fields) => (fields.bound_ctrl ? 'bound_ctrl:1' : ''),
  // LLVM reads both: the older syntax called the set bit 0.
  parse: (value) => (value === '1' || value === '0' ? { bound_ctrl: 1 } : ':1'),
}

/** DPP_CTRL: first value and amounts of shifts and rotations, and the values of others (GCN3 manual, "DPP_CTRL"). */
const DPP_SHIFTS: Readonly<Record<string, readonly [first: number, least: number, most: number]>> = {
  row_shl: [0x101, 1, 15],
  row_shr: [0x111, 1, 15],
  row_ror: [0x121, 1, 15],
  wave_shl: [0x130, 1, 1],
  wave_rol: [0x134, 1, 1],
  wave_shr: [0x138, 1, 1],
  wave_ror: [0x13c, 1, 1],
}
const DPP_OTHERS: Readonly<Record<string, number>> = {
  row_mirror: 0x140,
  row_half_mirror: 0x141,
  'row_bcast:15': 0x142,
  'row_bcast:31': 0x143,
}

const DPP_CONTROL: Modifier = {
  required: 'a lane control such as quad_perm:[0,1,2,3] or row_shl:1',
  names: ['quad_perm', ...Object.keys(DPP_SHIFTS), 'row_mirror', 'row_half_mirror', 'row_bcast'],
  print(fields) {
    const control = fields.dpp_ctrl!
    if (control < 0x100) return `quad_perm:[${lanesOfQuad(control).join(',')}]`
    for (const [name, [first, least, most]] of Object.entries(DPP_SHIFTS)) {
      const amount = control - first + least
      if (amount >= least && amount <= most) return `${name}:${amount}`
    }
    const other = Object.keys(DPP_OTHERS).find((name) => DPP_OTHERS[name] === control)
    if (other !== undefined) return other
    return control >= 0x150 && control < 0x170
      ? ' /* row_newbcast/row_share is not supported on ASICs earlier than GFX90A/GFX10 */'
      : ' /* Invalid dpp_ctrl value */'
  },
  parse(value, name) {
    if (name === 'quad_perm') {
      const lanes = /^\[\s*([0-3])\s*,\s*([0-3])\s*,\s*([0-3])\s*,\s*([0-3])\s*\]$/.exec(value ?? '')
      return lanes === null ? ':[a,b,c,d] with lanes from 0 to 3' : { dpp_ctrl: quadOfLanes(lanes.slice(1).map(Number)) }
    }
    const shift = DPP_SHIFTS[name]
    if (shift !== undefined) {
      const [first, least, most] = shift
      const amount = /^\d+$/.test(value ?? '') ? Number(value) : 0
      return amount >= least && amount <= most
        ? { dpp_ctrl: first + amount - least }
        : least === most
          ? `:${least}`
          : `:N with N from ${least} to ${most}`
    }
    const other = DPP_OTHERS[value === undefined ? name : `${name}:${value}`]
    return other === undefined ? (name === 'row_bcast' ? ':15 or :31' : NO_VALUE) : { dpp_ctrl: other }
  },
}

const lanesOfQuad = (bits: number): number[] => [0, 2, 4, 6].map((shift) => (bits >>> shift) & 3)
const quadOfLanes = (lanes: readonly number[]): number => lanes.reduce((bits, lane, place) => bits | (lane << (2 * place)), 0)

function select(name: string, names: readonly string[], normally: string): Modifier {
  return {
    names: [name],
    print: (fields) => `${name}:${names[fields[name]!]}`,
    parse: (value) => (names.includes(value ?? '') ? { [name]: names.indexOf(value!) } : `: and one of ${names.join(', ')}`),
    defaults: { [name]: names.indexOf(normally) },
  }
}

const DST_SEL = select('dst_sel', SDWA_SELECTS, 'DWORD')
const DST_UNUSED = select('dst_unused', SDWA_UNUSED, 'UNUSED_PRESERVE')
const SRC0_SEL = select('src0_sel', SDWA_SELECTS, 'DWORD')
const SRC1_SEL = select('src1_sel', SDWA_SELECTS, 'DWORD')

const dsOffset = (fields: Fields): number => fields.offset0! | (fields.offset1! << 8)

const DS_OFFSET: Modifier = {
  names: ['offset'],
  print: (fields) => (dsOffset(fields) === 0 ? '' : `offset:${dsOffset(fields)}`),
  parse(text, _, symbols) {
    const value = integer(text, 16, symbols)
    return typeof value === 'string' ? value : { offset0: value & 255, offset1: value >>> 8 }
  },
}

const SWIZZLE: Modifier = {
  names: ['offset'],
  print(fields) {
    const offset = dsOffset(fields)
    const text = offset === 0 ? undefined : printSwizzle(offset)
    return text === undefined ? DS_OFFSET.print(fields) : `offset:swizzle(${text})`
  },
  parse(text, name, symbols) {
    const macro = /^swizzle\((.*)\)$/.exec(text ?? '')
    if (macro === null) return DS_OFFSET.parse(text, name, symbols)
    const value = parseSwizzle(macro[1]!.split(',').map((part) => part.trim()))
    return typeof value === 'string' ? value : { offset0: value & 255, offset1: value >>> 8 }
  },
}

const QUAD_MODE = 0x8000

/** The symbolic form of a ds_swizzle_b32 offset: a permutation of quads, or and, or, xor masks of the lane number. */
function printSwizzle(offset: number): string | undefined {
  if ((offset & 0xff00) === QUAD_MODE) return `QUAD_PERM,${lanesOfQuad(offset).join(',')}`
  if (offset & QUAD_MODE) return undefined
  const and = offset & 31
  const or = (offset >>> 5) & 31
  const xor = (offset >>> 10) & 31
  if (and === 31 && or === 0 && isPowerOf2(xor)) return `SWAP,${xor}`
  if (and === 31 && or === 0 && xor > 0 && isPowerOf2(xor + 1)) return `REVERSE,${xor + 1}`
  const group = 32 - and
  if (group > 1 && isPowerOf2(group) && or < group && xor === 0) return `BROADCAST,${group},${or}`
  return `BITMASK_PERM,"${[4, 3, 2, 1, 0].map((bit) => MASK_LETTERS[((and >>> bit) & 1) | (((or >>> bit) & 1) << 1) | (((xor >>> bit) & 1) << 2)]).join('')}"`
}

/** By and, or << 1, xor << 2 of a bit: what becomes of it: 0, 1, preserved, inverted. */
const MASK_LETTERS = '0p111i00'
const isPowerOf2 = (value: number): boolean => value > 0 && (value & (value - 1)) === 0

const SWIZZLE_FORMS = ':swizzle(QUAD_PERM,a,b,c,d), (BITMASK_PERM,"ppppp"), (BROADCAST,group,lane), (SWAP,n) or (REVERSE,n), or a number'

function parseSwizzle([mode, ...parts]: readonly string[]): number | string {
  const numbers = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : -1))
  const [first = -1, second = -1] = numbers
  const isGroup = isPowerOf2(first) && first >= 2 && first <= 32
  if (mode === 'QUAD_PERM' && numbers.length === 4 && numbers.every((lane) => lane >= 0 && lane < 4))
    return QUAD_MODE | quadOfLanes(numbers)
  if (mode === 'SWAP' && numbers.length === 1 && isPowerOf2(first) && first <= 16) return 31 | (first << 10)
  if (mode === 'REVERSE' && numbers.length === 1 && isGroup) return 31 | ((first - 1) << 10)
  if (mode === 'BROADCAST' && numbers.length === 2 && isGroup && second >= 0 && second < first) return (32 - first) | (second << 5)
  const letters = /^"([01pi]{5})"$/.exec(parts[0] ?? '')
  if (mode !== 'BITMASK_PERM' || letters === null) return SWIZZLE_FORMS
  return [...letters[1]!].reverse().reduce((bits, letter, bit) => bits | (LETTER_MASKS[letter]! << bit), 0)
}

/** The masks of a letter at bit 0: and 0, or 5, xor 10. */
const LETTER_MASKS: Readonly<Record<string, number>> = { 0: 0, 1: 1 << 5, p: 1, i: 1 | (1 << 10) }

/** DFMT 1 and NFMT 0 are the defaults that text leaves out. */
function bufferFormat(generation: Generation): Modifier {
  const numbers = numberFormats(generation)
  const expected = `:[data format, number format] of ${DATA_FORMATS.join(', ')}; ${numbers.join(', ')}`
  return {
    names: ['format', 'dfmt', 'nfmt'],
    print({ dfmt, nfmt }) {
      const names = [...(dfmt === 1 ? [] : [DATA_FORMATS[dfmt!]]), ...(nfmt === 0 ? [] : [numbers[nfmt!]])]
      return names.length === 0 ? '' : `format:[${names.join(',')}]`
    },
    parse(value, name, symbols) {
      if (name !== 'format') {
        const number = integer(value, name === 'dfmt' ? 4 : 3, symbols)
        return typeof number === 'string' ? number : { [name]: number }
      }
      const list = /^\[(.*)\]$/.exec(value ?? '')
      if (list === null) {
        const number = integer(value, 7, symbols)
        return typeof number === 'string' ? expected : { dfmt: number & 15, nfmt: number >>> 4 }
      }
      const fields: Record<string, number> = {}
      for (const part of list[1]!.split(',').map((text) => text.trim())) {
        const dfmt = DATA_FORMATS.indexOf(part)
        const nfmt = numbers.indexOf(part)
        if (dfmt >= 0 && fields.dfmt === undefined) fields.dfmt = dfmt
        else if (nfmt >= 0 && fields.nfmt === undefined) fields.nfmt = nfmt
        else return expected
      }
      return fields
    },
    defaults: { dfmt: 1 },
  }
}

/** The fields of an instruction of this format before text says anything. */
export function defaultFields(operation: Operation, format: Format, generation: Generation): Record<string, number> {
  const fields: Record<string, number> = {}
  for (const name of Object.keys(format.fields)) if (name !== 'op') fields[name] = 0
  return Object.assign(fields, ...modifiersOf(operation, format, generation).map(({ defaults }) => defaults ?? {}))
}
