/** What follows the operands: flags, offsets, selects. Each knows how to print itself and how to be read. */
import type { Instruction } from '../codec/instruction.ts'
import type { Format } from '../isa/formats.ts'
import type { Operation } from '../isa/operations.ts'
import type { Generation } from '../isa/targets.ts'
import { isFloat } from '../isa/row.ts'
import { DATA_FORMATS, NUMBER_FORMATS, NUMBER_FORMAT_6_GFX8, SDWA_SELECTS, SDWA_UNUSED } from './names.ts'

type Fields = Readonly<Record<string, number>>

export interface Modifier {
  /** The word before `:`, or the flag itself. */
  readonly name: string
  /** The text, or nothing where the modifier is at its default. */
  print(instruction: Instruction): string
  /**
   * Reads what stands behind `name:`, or undefined for the bare flag.
   * @returns the fields it sets, or a message of what was expected
   */
  parse(value: string | undefined, generation: Generation): Fields | string
}

/** The modifiers in the order in which LLVM prints them. */
export function modifiersOf(operation: Operation, format: Format, generation: Generation): readonly Modifier[] {
  const { name } = operation
  switch (format.name) {
    case 'vop3a': {
      const high = /^v_interp_p(1l[lv]|2)_f16$/.test(name) ? [HIGH] : []
      return [...high, CLAMP, OMOD]
    }
    case 'vop3b': return 'clamp' in format.fields ? [CLAMP, OMOD] : [OMOD]
    case 'vop1_sdwa': case 'vop2_sdwa': case 'vopc_sdwa': return sdwaModifiers(operation, format)
    case 'vop1_dpp': case 'vop2_dpp': return [DPP_CONTROL, ROW_MASK, BANK_MASK, BOUND_CONTROL]
    case 'smem': return operation.shape.sources.length > 0 ? [GLC] : []
    case 'ds': return operation.shape.text === 'custom' ? [] : [...dsOffsets(name), flag('gds')]
    case 'flat': return [GLC, SLC, TFE]
    case 'mubuf': return operation.shape.text === 'custom' && name !== 'buffer_store_lds_dword' ? [] : [...BUFFER_ADDRESS, GLC, LDS, SLC, TFE]
    case 'mtbuf': return [bufferFormat(generation), ...BUFFER_ADDRESS, GLC, SLC, TFE]
    case 'mimg': return [DMASK, flag('unorm'), GLC, SLC, flag('r128'), TFE, flag('lwe'), flag('da'), flag('d16')]
    case 'exp': return [flag('done'), flag('compr'), flag('vm')]
    default: return []
  }
}

const NO_VALUE = 'no value'

function flag(name: string, field = name): Modifier {
  return {
    name,
    print: ({ fields }) => (fields[field] ? name : ''),
    parse: (value) => (value === undefined ? { [field]: 1 } : NO_VALUE),
  }
}

/** An integer, decimal or hexadecimal, or undefined. */
export function parseInteger(text: string | undefined): number | undefined {
  if (text === undefined || !/^-?(0x[0-9a-f]+|0b[01]+|\d+)$/i.test(text)) return undefined
  return text.startsWith('-') ? -Number(text.slice(1)) : Number(text)
}

function integer(value: string | undefined, bits: number): number | string {
  const number = parseInteger(value)
  return number !== undefined && number >= 0 && number < 2 ** bits ? number : `an integer from 0 to ${2 ** bits - 1}`
}

/** `name:number`; left out when it is 0 unless `always`. */
function number(name: string, bits: number, options: { field?: string; hex?: boolean; always?: boolean } = {}): Modifier {
  const { field = name, hex = false, always = false } = options
  return {
    name,
    print({ fields }) {
      const value = fields[field] ?? 0
      return value === 0 && !always ? '' : `${name}:${hex ? `0x${value.toString(16)}` : value}`
    },
    parse(text) {
      const value = integer(text, bits)
      return typeof value === 'string' ? value : { [field]: value }
    },
  }
}

const GLC = flag('glc')
const SLC = flag('slc')
const TFE = flag('tfe')
const LDS = flag('lds')
const CLAMP = flag('clamp')
const DMASK = number('dmask', 4, { hex: true })
const ROW_MASK = number('row_mask', 4, { hex: true, always: true })
const BANK_MASK = number('bank_mask', 4, { hex: true, always: true })
const BUFFER_ADDRESS = [flag('idxen'), flag('offen'), flag('addr64'), number('offset', 12)]

/** Bit 8 of SRC0 of the interpolations in VOP3: the high half of the attribute. */
const HIGH: Modifier = {
  name: 'high',
  print: ({ fields }) => (fields['src0']! & 0x100 ? 'high' : ''),
  parse: (value) => (value === undefined ? { high: 1 } : NO_VALUE),
}

const OMOD: Modifier = {
  name: 'omod',
  print: ({ fields }) => ['', 'mul:2', 'mul:4', 'div:2'][fields['omod'] ?? 0]!,
  parse: () => 'mul:2, mul:4 or div:2',
}

const BOUND_CONTROL: Modifier = {
  name: 'bound_ctrl',
  print: ({ fields }) => (fields['bound_ctrl'] ? 'bound_ctrl:1' : ''),
  // LLVM reads both: the older syntax called the set bit 0.
  parse: (value) => (value === '1' || value === '0' ? { bound_ctrl: 1 } : '0 or 1'),
}

/** Shifts and rotations of DPP_CTRL: [first value, name, amounts from 1]. */
const DPP_ROW_SHIFTS = [[0x100, 'row_shl'], [0x110, 'row_shr'], [0x120, 'row_ror']] as const
const DPP_WAVE_SHIFTS = [[0x130, 'wave_shl'], [0x134, 'wave_rol'], [0x138, 'wave_shr'], [0x13c, 'wave_ror']] as const

const DPP_CONTROL: Modifier = {
  name: 'dpp_ctrl',
  print({ fields }) {
    const control = fields['dpp_ctrl']!
    if (control < 0x100) return `quad_perm:[${[0, 2, 4, 6].map((shift) => (control >>> shift) & 3).join(',')}]`
    for (const [first, name] of DPP_ROW_SHIFTS) if (control > first && control < first + 16) return `${name}:${control - first}`
    for (const [value, name] of DPP_WAVE_SHIFTS) if (control === value) return `${name}:1`
    if (control === 0x140) return 'row_mirror'
    if (control === 0x141) return 'row_half_mirror'
    if (control === 0x142) return 'row_bcast:15'
    if (control === 0x143) return 'row_bcast:31'
    if (control >= 0x150 && control < 0x170) return ' /* row_newbcast/row_share is not supported on ASICs earlier than GFX90A/GFX10 */'
    return ' /* Invalid dpp_ctrl value */'
  },
  parse: () => 'a lane control',
}

function select(name: string, names: readonly string[]): Modifier {
  return {
    name,
    print: ({ fields }) => `${name}:${names[fields[name]!] ?? fields[name]}`,
    parse(value) {
      const number = names.indexOf(value ?? '')
      return number >= 0 ? { [name]: number } : names.join(', ')
    },
  }
}

function sdwaModifiers(operation: Operation, format: Format): readonly Modifier[] {
  const list: Modifier[] = [CLAMP]
  if (format.name !== 'vopc_sdwa') list.push(select('dst_sel', SDWA_SELECTS), select('dst_unused', SDWA_UNUSED))
  list.push(select('src0_sel', SDWA_SELECTS))
  if (format.name !== 'vop1_sdwa') list.push(select('src1_sel', SDWA_SELECTS))
  return list
}

function dsOffsets(name: string): readonly Modifier[] {
  if (/^ds_(read2|write2|wrxchg2)/.test(name)) return [number('offset0', 8), number('offset1', 8)]
  return [name === 'ds_swizzle_b32' ? SWIZZLE : DS_OFFSET]
}

const dsOffset = (fields: Fields): number => fields['offset0']! | (fields['offset1']! << 8)

const DS_OFFSET: Modifier = {
  name: 'offset',
  print: ({ fields }) => (dsOffset(fields) === 0 ? '' : `offset:${dsOffset(fields)}`),
  parse(text) {
    const value = integer(text, 16)
    return typeof value === 'string' ? value : { offset0: value & 255, offset1: value >>> 8 }
  },
}

const SWIZZLE: Modifier = {
  name: 'offset',
  print({ fields }) {
    const offset = dsOffset(fields)
    if (offset === 0) return ''
    const text = swizzle(offset)
    return `offset:${text === undefined ? offset : `swizzle(${text})`}`
  },
  parse: DS_OFFSET.parse,
}

/** The symbolic form of a ds_swizzle_b32 offset: bit 15 quad permutation, else and, or, xor masks of the lane number. */
function swizzle(offset: number): string | undefined {
  if ((offset & 0xff00) === 0x8000) return `QUAD_PERM,${[0, 2, 4, 6].map((shift) => (offset >>> shift) & 3).join(',')}`
  if (offset & 0x8000) return undefined
  const and = offset & 31
  const or = (offset >>> 5) & 31
  const xor = (offset >>> 10) & 31
  if (and === 31 && or === 0 && (xor & (xor - 1)) === 0 && xor !== 0) return `SWAP,${xor}`
  if (and === 31 && or === 0 && (xor & (xor + 1)) === 0 && xor !== 0) return `REVERSE,${xor + 1}`
  const group = 32 - and
  if ((group & (group - 1)) === 0 && or < group && group > 1 && xor === 0) return `BROADCAST,${group},${or}`
  const bits = [4, 3, 2, 1, 0].map((bit) => {
    const [a, o, x] = [(and >>> bit) & 1, (or >>> bit) & 1, (xor >>> bit) & 1]
    if (a === 0) return (o ^ x) === 1 ? '1' : '0'
    return o === 1 ? (x === 1 ? '0' : '1') : x === 1 ? 'i' : 'p'
  })
  return `BITMASK_PERM,"${bits.join('')}"`
}

/** Names of NFMT on a generation. */
export const numberFormats = (generation: Generation): readonly string[] =>
  generation === 'gfx8' ? NUMBER_FORMATS.map((name, n) => (n === 6 ? NUMBER_FORMAT_6_GFX8 : name)) : NUMBER_FORMATS

/** DFMT 1 and NFMT 0 are the defaults that text leaves out. */
const DEFAULT_DFMT = 1

function bufferFormat(generation: Generation): Modifier {
  return {
    name: 'format',
    print({ fields }) {
      const names: string[] = []
      if (fields['dfmt'] !== DEFAULT_DFMT) names.push(DATA_FORMATS[fields['dfmt']!]!)
      if (fields['nfmt'] !== 0) names.push(numberFormats(generation)[fields['nfmt']!]!)
      return names.length === 0 ? '' : `format:[${names.join(',')}]`
    },
    parse: () => 'a list of a data and a number format',
  }
}

void isFloat
