/** Random loops of one block on gfx803, most of them such as translated code runs group by group (host/translate/nest/nest.ts), and what they work on. */
import { instruction, type randomFrom, word } from './programs.ts'

type Random = ReturnType<typeof randomFrom>

/** Lane-local operations; the kinds of operands are those of programs.ts. */
export const LANES = [
  'v_add_f32 d x v',
  'v_sub_f32 d x v',
  'v_mul_f32 d x v',
  'v_mac_f32 d x v',
  'v_mad_f32 d f f f',
  'v_fma_f32 d f f f',
  'v_min_f32 d x v',
  'v_max_f32 d x v',
  'v_med3_f32 d f f f',
  'v_mov_b32 d x',
  'v_floor_f32 d x',
  'v_rcp_f32 d x',
  'v_sqrt_f32 d x',
  'v_rsq_f32 d x',
  'v_cvt_f32_i32 d x',
  'v_cvt_i32_f32 d x',
  'v_cvt_f32_ubyte2 d x',
  'v_cvt_f16_f32 d x',
  'v_cvt_f32_f16 d x',
  'v_and_b32 d x v',
  'v_or_b32 d x v',
  'v_xor_b32 d x v',
  'v_mul_lo_u32 d v v',
  'v_mul_hi_u32 d v v',
  'v_mad_u32_u24 d v v v',
  'v_bfi_b32 d v v v',
  'v_add_u16 d x v',
  'v_add_f16 d x v',
  'v_fma_f16 d f f f',
  'v_max_f16_e64 d f f',
  'v_add_f32_e64 d f f',
  'v_mbcnt_lo_u32_b32 d x v',
  'v_mbcnt_hi_u32_b32 d x v',
  'v_add_f64 w w w',
  'v_mul_f64 w w w',
  'v_cvt_f64_f32 w x',
  'v_cvt_f32_f64 d w',
  'v_cvt_f64_i32 w x',
]
/** Operations whose counts and fields are constants: translated code computes with them beforehand. */
export const BY_CONSTANTS = [
  'v_lshlrev_b32 d k v',
  'v_lshrrev_b32 d k v',
  'v_ashrrev_i32 d k v',
  'v_lshlrev_b32_e64 d v k',
  'v_lshrrev_b32_e64 d k k',
  'v_lshlrev_b64 w k w',
  'v_lshrrev_b64 w k w',
  'v_ashrrev_i64 w k w',
  'v_ashrrev_i64 w v k',
  'v_lshrrev_b64 w k k',
  'v_bfe_u32 d v k k',
  'v_bfe_i32 d v k k',
  'v_bfe_u32 d k v k',
  'v_bfm_b32 d k v',
  'v_bfm_b32 d k k',
  'v_alignbit_b32 d v v k',
  'v_alignbit_b32 d k v k',
  'v_alignbyte_b32 d v v k',
  'v_perm_b32 d v v k',
  'v_perm_b32 d k k v',
  'v_bfi_b32 d k v v',
  'v_mul_u32_u24_e64 d k v',
  'v_mad_i32_i24 d v k k',
  'v_ldexp_f32 d v k',
  'v_lshlrev_b16 d k v',
  'v_ashrrev_i16 d k v',
  'v_med3_i32 d v k k',
  'v_sad_u32 d v k v',
  'v_cvt_pk_u8_f32 d v k v',
]
/** Compares, carries and choices by masks in SGPRs. */
export const MASKS = [
  'v_cmp_lt_f32_e64 m v v',
  'v_cmp_nge_f32_e64 m f f',
  'v_cmp_class_f32_e64 m v v',
  'v_cmp_gt_i32_e64 m v x',
  'v_cmp_eq_u32_e64 m v k',
  'v_cmp_lt_f64_e64 m w w',
  'v_cmp_t_u32_e64 m v v',
  'v_cmp_le_i32_e64 exec v v',
  'v_cndmask_b32_e64 d v v m',
  'v_cndmask_b32_e64 d v v m',
  'v_cndmask_b32_e64 d k v m',
  'v_cndmask_b32_e64 d v v s[50:51]',
  'v_cndmask_b32_e64 d v v exec',
  'v_add_u32_e64 d m v v',
  'v_addc_u32_e64 d m v v m',
  'v_subb_u32_e64 d m v v m',
  'v_mad_u64_u32 w m v v w',
]
/** The same by VCC. */
export const BY_VCC = [
  'v_cmp_lt_f32 vcc x v',
  'v_cmp_o_f32 vcc x v',
  'v_cmp_gt_u32 vcc x v',
  'v_cmp_eq_f64 vcc w w',
  'v_cndmask_b32 d x v vcc',
  'v_cndmask_b32 d x v vcc',
  'v_add_u32 d vcc x v',
  'v_addc_u32 d vcc x v vcc',
  'v_subb_u32 d vcc x v vcc',
  'v_subbrev_u32 d vcc x v vcc',
]
/** What compilers do with masks: these leave a group without active lanes as it is, or clear its bits. */
export const TAME_BITWISE = ['s_and_b64 m m m', 's_or_b64 m m m', 's_xor_b64 m m m', 's_andn2_b64 m m m', 's_mov_b64 m m', 's_mov_b64 m 0']
export const BITWISE = [
  ...TAME_BITWISE,
  's_nand_b64 m m m',
  's_nor_b64 m m m',
  's_xnor_b64 m m m',
  's_orn2_b64 m m m',
  's_not_b64 m m',
  's_mov_b64 m exec',
  's_and_b64 m m exec',
  's_andn2_b64 m exec m',
  's_and_b64 m s[50:51] m',
  's_andn2_b64 m m s[50:51]',
  's_and_b64 m m k',
  's_and_b64 m 0xff00f00f m',
  's_andn2_b64 m m 0x80000001',
  's_cselect_b64 m m m',
  's_cselect_b64 m 0 m',
]
export const SCALARS = [
  's_add_u32 s z z',
  's_addc_u32 s z z',
  's_sub_i32 s z z',
  's_mul_i32 s z z',
  's_lshl_b32 s z k',
  's_bfe_u32 s z z',
  's_cmp_lt_u32 z z',
  's_cselect_b32 s z z',
  's_cmov_b32 s z',
  's_mov_b32 s z',
  's_addk_i32 s 77',
  's_cmp_eq_i32 z z',
  's_lshl_b64 s[24:25] s[26:27] k',
]

/** Sums of what is loaded, and what looks at them: t is the result, a an accumulator, l a loaded value, m a mask. */
const SUMS = [
  'v_add_f32 a a l',
  'v_add_f32 a l a',
  'v_sub_f32 a a l',
  'v_mac_f32 a l l',
  'v_mac_f32 a a l',
  'v_mad_f32 a l l -a',
  'v_fma_f32 a l |l| a',
  'v_mul_f32 a a l',
  // These grow until differences of infinities are NaNs, or shrink until they are denormal.
  'v_add_f32 l l l',
  'v_mul_f32 l 0.5 l',
  'v_sub_f32 t a l',
  'v_sub_f32 a a a',
  'v_mul_f32 t l l',
  'v_add_f32 t a a',
  'v_max_f32 a a l',
  'v_med3_f32 a a l t',
  'v_mov_b32 a a',
  'v_mov_b32 t a',
  'v_xor_b32 t a t',
  'v_and_b32 t a l',
  'v_add_u16 t a t',
  'v_cvt_i32_f32 t a',
  'v_cmp_u_f32_e64 m a l',
  'v_cmp_lt_u32_e64 m a t',
  'v_cndmask_b32_e64 a a l m',
  'v_cndmask_b32_e64 t a t m',
]
const SUM_OPERANDS: Readonly<Record<string, readonly string[]>> = {
  a: ['v0', 'v1', 'v2'],
  l: ['v4', 'v5'],
  t: ['v8', 'v9'],
  m: ['s[30:31]', 's[36:37]'],
}
function sums(random: Random): string[] {
  const operand = (text: string) => text.replace(/[alt](?!\w)|^m$/, (kind) => pick(random, SUM_OPERANDS[kind]!))
  const line = () => {
    const [name, ...operands] = pick(random, SUMS).split(' ')
    return `${name} ${operands.map(operand).join(', ')}`
  }
  const load = `flat_load_dwordx2 v[4:5], v[${ADDRESS}:${ADDRESS + 1}]`
  return [...(random(2) ? [load] : []), ...Array.from({ length: 1 + random(5) }, line)]
}

/** Registers that the loops count and address with; the random instructions leave them alone. */
export const COUNTER = 40
export const BASE = 44
export const OFFSET = 46
export const LANE_COUNTER = 12
export const ADDRESS = 14
/** Where loops read LDS, and where else. */
export const LDS_ADDRESS = 50

/** Rows and scalars of addresses that are computed from an index: index and high dword, high dword of the base, step; base, step, factor. */
export const INDEX = 16
export const INDEX_BASE = 54
export const INDEX_STEP = 56
export const FACTOR = 57

/** How addresses come from indices: the code, and the offset from the base. */
interface Indexing {
  readonly lines: readonly string[]
  offsetOf(index: number, factor: number): bigint
}
const low32 = (value: number | bigint): bigint => BigInt.asUintN(32, BigInt(value))
const BASED = [`v_add_u32 v60, vcc, s${INDEX_BASE}, v60`, 'v_addc_u32 v61, vcc, v18, v61, vcc']
const INDEXINGS: readonly Indexing[] = [
  { lines: ['v_lshlrev_b64 v[60:61], 2, v[16:17]', ...BASED], offsetOf: (index) => low32(index) << 2n },
  {
    lines: ['v_mov_b32 v60, v16', 'v_mov_b32 v61, v17', 'v_lshlrev_b64 v[60:61], 2, v[60:61]', ...BASED],
    offsetOf: (index) => low32(index) << 2n,
  },
  {
    lines: ['v_ashrrev_i32 v61, 31, v16', 'v_mov_b32 v60, v16', 'v_lshlrev_b64 v[60:61], 2, v[60:61]', ...BASED],
    offsetOf: (index) => BigInt(index | 0) << 2n,
  },
  {
    lines: ['v_lshlrev_b32 v60, 2, v16', BASED[0]!, 'v_addc_u32 v61, vcc, 0, v18, vcc'],
    offsetOf: (index) => low32(low32(index) << 2n),
  },
  {
    lines: [
      `v_mul_lo_u32 v60, s${FACTOR}, v16`,
      'v_mov_b32 v61, 0',
      'v_lshlrev_b64 v[62:63], 2, v[60:61]',
      `v_add_u32 v60, vcc, s${INDEX_BASE}, v62`,
      'v_addc_u32 v61, vcc, v63, v18, vcc',
    ],
    offsetOf: (index, factor) => low32(BigInt(index) * BigInt(factor)) << 2n,
  },
  {
    // The same from behind.
    lines: [
      'v_lshlrev_b64 v[60:61], 2, v[16:17]',
      `v_sub_u32 v60, vcc, s${INDEX_BASE}, v60`,
      'v_subb_u32 v61, vcc, v18, v61, vcc',
      'v_add_u32 v60, vcc, -8, v60',
      'v_addc_u32 v61, vcc, -1, v61, vcc',
    ],
    offsetOf: (index) => -(low32(index) << 2n) - 8n,
  },
  {
    lines: ['v_lshlrev_b64 v[60:61], 2, v[16:17]', 'v_subrev_u32 v60, vcc, 4, v60', 'v_subbrev_u32 v61, vcc, 0, v61, vcc', ...BASED],
    offsetOf: (index) => (low32(index) << 2n) - 4n,
  },
]
/** What else may look at indices and addresses. */
const ONLOOKERS = [
  'v_cvt_f32_u32 v4, v16',
  'v_xor_b32 v5, v16, v5',
  'v_add_u32 v6, vcc, v16, v6',
  'v_mov_b32 v7, v60',
  'v_cmp_gt_u32_e64 s[30:31], v16, v8',
  'v_mov_b32 v16, v60',
  'v_mov_b32 v17, v61',
  's_add_u32 s54, s54, 4',
  's_xor_b32 s56, s56, 3',
]
function indexed(random: Random): { lines: string[]; indexing: Indexing } {
  const indexing = pick(random, INDEXINGS)
  const load = pick(random, [
    'flat_load_dword v4',
    'flat_load_dword v4',
    'flat_load_dwordx2 v[4:5]',
    'flat_load_dwordx4 v[8:11]',
    'flat_load_sbyte v4',
    'flat_load_ushort v5',
  ])
  const step = `v_add_u32 v16, vcc, ${pick(random, ['1', '1', '2', '-1', '0', `s${INDEX_STEP}`, 'v19', '0x1000'])}, v16`
  const lines = [...indexing.lines, `${load}, v[60:61]`, ...some(random, 3, () => pick(random, ADDED)), ...(random(4) ? [step] : [])]
  const at = random(lines.length + 1)
  lines.splice(at, 0, ...(random(3) ? [] : some(random, 2, () => pick(random, ONLOOKERS))))
  return { lines: [...(random(2) ? sums(random) : []), ...lines], indexing }
}
const ADDED = ['v_fma_f32 v0, v4, v5, v0', 'v_add_f32 v1, v4, v1', 'v_mac_f32 v2, v4, v8', 'v_mul_f32 v9, v4, v5', 'v_or_b32 v3, v4, v3']

export interface LoopProgram {
  readonly source: string
  /** How the loop ends: by the counter in s40, or lane by lane by the counter in v12. */
  readonly divergent: boolean
  /** The offset from the base that an index's address has, where there are indices. */
  readonly offsetOf: Indexing['offsetOf'] | undefined
}

export const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!
const some = (random: Random, most: number, line: () => string): string[] => Array.from({ length: random(most + 1) }, line)

/** A loop between nothing and little else. */
export function loopProgram(random: Random): LoopProgram {
  const end = pick(random, ENDS)(random)
  const wild = random(4) === 0
  const lanes = () => {
    const tables = [LANES, LANES, BY_CONSTANTS, BY_CONSTANTS, MASKS, ...(end.vccIsFree ? [BY_VCC] : [])]
    return instruction(random, pick(random, tables))
  }
  const pieces = [
    ...Array.from({ length: 1 + random(12) }, lanes),
    ...some(random, 3, () => instruction(random, SCALARS)),
    ...(random(2) ? some(random, 2, () => instruction(random, wild ? BITWISE : TAME_BITWISE)) : []),
    ...(random(3) ? [] : some(random, 2, () => scalarLoad(random))),
    ...(random(3) ? [] : some(random, 2, () => vectorLoad(random))),
    ...(random(3) ? [] : ldsReads(random, end.vccIsFree)),
  ]
  const walk = end.vccIsFree && random(2) === 0 ? indexed(random) : undefined
  const body = walk?.lines ?? shuffled(random, random(3) ? pieces : sums(random))
  const moves = random(2) ? step(random, end.vccIsFree) : []
  const many = random(40) === 0 ? Array.from({ length: 40 }, (_, i) => `v_add_u32_e64 v${20 + i}, s[36:37], v${20 + i}, v1`) : []
  const lines = ['s_nop 0', ...end.before, 'loop:', ...body, ...many, ...moves, ...end.lines, 's_mov_b32 s60, s20', 's_endpgm']
  return { source: lines.join('\n'), divergent: end.divergent, offsetOf: walk?.indexing.offsetOf }
}

export function shuffled(random: Random, lines: string[]): string[] {
  for (let i = lines.length - 1; i > 0; i--) {
    const j = random(i + 1)
    ;[lines[i], lines[j]] = [lines[j]!, lines[i]!]
  }
  return lines
}

export const scalarLoad = (random: Random): string => {
  const [suffix, registers] = pick(random, [
    ['', 's22'],
    ['x2', 's[22:23]'],
    ['x4', 's[24:27]'],
  ] as const)
  return `s_load_dword${suffix} ${registers}, s[${BASE}:${BASE + 1}], ${random(2) ? `s${OFFSET}` : pick(random, ['0x0', '0x14', '0x3fc'])}`
}
export const vectorLoad = (random: Random): string => {
  const address = `v[${ADDRESS}:${ADDRESS + 1}]`
  return pick(random, [
    `flat_load_dword v${random(12)}, ${address}`,
    `flat_load_dword v${random(12)}, ${address} glc`,
    `flat_load_dwordx2 v[${2 * random(5)}:${1}], ${address}`,
    `flat_load_dwordx3 v[4:6], ${address}`,
    `flat_load_${pick(random, ['ubyte', 'sbyte', 'ushort', 'sshort'])} v${random(12)}, ${address}`,
    `flat_load_dwordx4 v[8:11], ${address}`,
  ]).replace(/v\[(\d+):1\]/, (_, first) => `v[${first}:${Number(first) + 1}]`)
}

export const pair = (first: number) => `v[${first}:${first + 1}]`
export const quad = (first: number) => `v[${first}:${first + 3}]`

/** @param addresses registers that hold addresses; the first of them may be overwritten */
export function ldsRead(random: Random, addresses: readonly number[]): string {
  const address = `v${pick(random, addresses)}`
  const offset = pick(random, ['', '', ' offset:4', ' offset:64', ' offset:1020', ' offset:3', ' offset:0xfff0'])
  const two = pick(random, ['', ' offset1:1', ' offset0:2 offset1:3', ' offset0:17 offset1:16', ' offset1:255', ' offset0:5 offset1:5'])
  const result = random(12)
  const first = random(9)
  return pick(random, [
    () => `ds_read_b32 v${result}, ${address}${offset}`,
    () => `ds_read2_b32 ${pair(first)}, ${address}${two}`,
    () => `ds_read2_b32 ${pair(first)}, ${address}${two}`,
    () => `ds_read_b64 ${pair(first)}, ${address}${offset}`,
    () => `ds_read2st64_b32 ${pair(first)}, ${address}${pick(random, ['', ' offset1:1', ' offset0:3 offset1:2', ' offset1:255'])}`,
    () => `ds_read2_b64 ${quad(first)}, ${address}${two}`,
    () => `ds_read_b96 v[${first}:${first + 2}], ${address}${offset}`,
    () => `ds_read_b128 ${quad(first)}, ${address}${offset}`,
    () => `ds_read_${pick(random, ['u8', 'i8', 'u16', 'i16'])} v${result}, ${address}${offset}`,
    // The address itself goes.
    () => `ds_read_b32 ${address}, ${address}${offset}`,
    () => `ds_read2_b32 ${pair(addresses[0]!)}, ${address}${two}`,
  ])()
}

/** Reads of LDS that go on, or change what M0 lets them see. */
export const ldsReads = (random: Random, vccIsFree: boolean): string[] => [
  ...some(random, 3, () => ldsRead(random, [LDS_ADDRESS, LDS_ADDRESS + 1])),
  ...(vccIsFree && random(2) ? [`v_add_u32 v${LDS_ADDRESS}, vcc, ${pick(random, ['4', '64', '8', '-4', 'v13'])}, v${LDS_ADDRESS}`] : []),
  ...(random(6) ? [] : [pick(random, ['s_mov_b32 m0, s20', 's_mov_b32 m0, -1', 's_addk_i32 m0, 0xfff0', 's_movk_i32 m0, 0x1000'])]),
]

/** Addresses go on: by an equal step in all lanes, or by one a lane (v13); the scalar offset too. */
function step(random: Random, vccIsFree: boolean): string[] {
  const by = pick(random, ['4', '64', '0x100', '0', '-4', 'v13', '1'])
  const carry = vccIsFree ? 'vcc' : 's[36:37]'
  const low = ADDRESS
  const vector =
    by === '0x100' || vccIsFree
      ? [`v_add_u32 v${low}, vcc, ${by}, v${low}`, `v_addc_u32 v${low + 1}, vcc, 0, v${low + 1}, vcc`]
      : [`v_add_u32_e64 v${low}, ${carry}, ${by}, v${low}`, `v_addc_u32_e64 v${low + 1}, ${carry}, 0, v${low + 1}, ${carry}`]
  if (!vccIsFree && by === '0x100') vector.splice(0)
  const scalar = random(2) ? [`s_add_u32 s${OFFSET}, s${OFFSET}, ${pick(random, ['4', '0x40', '1'])}`] : []
  return shuffled(random, [vector.join('\n'), ...scalar]).filter((line) => line !== '')
}

interface End {
  readonly before: readonly string[]
  readonly lines: readonly string[]
  readonly vccIsFree: boolean
  readonly divergent: boolean
}
const uniform = (lines: readonly string[], vccIsFree = true, before: readonly string[] = []): End => ({
  before,
  lines,
  vccIsFree,
  divergent: false,
})
const divergent = (...lines: string[]): End => ({
  before: [],
  lines: [`v_add_u32 v${LANE_COUNTER}, vcc, -1, v${LANE_COUNTER}`, ...lines, 's_cbranch_execnz loop'],
  vccIsFree: true,
  divergent: true,
})
const COUNT = `s_sub_u32 s${COUNTER}, s${COUNTER}, 1`
const LEFT = `v_cmp_ne_u32 vcc, 0, v${LANE_COUNTER}`
const DONE = `v_cmp_eq_u32 vcc, 0, v${LANE_COUNTER}`

const ENDS: readonly ((random: Random) => End)[] = [
  () => uniform([COUNT, `s_cmp_lg_u32 s${COUNTER}, 0`, 's_cbranch_scc1 loop']),
  () => uniform([COUNT, `s_cmp_eq_u32 s${COUNTER}, 0`, 's_cbranch_scc0 loop']),
  // SCC is the borrow: one iteration more.
  () => uniform([COUNT, 's_cbranch_scc0 loop']),
  () => uniform([COUNT, `s_cmp_lg_u32 s${COUNTER}, 0`, 's_cselect_b64 vcc, -1, 0', 's_cbranch_vccnz loop'], false),
  () => uniform([COUNT, `s_cmp_lg_u32 s${COUNTER}, 0`, 's_cselect_b64 vcc, 0, exec', 's_cbranch_vccz loop'], false),
  // Only half of VCC is the loop's.
  () => uniform(['s_sub_u32 vcc_lo, vcc_lo, 1', 's_cbranch_vccnz loop'], false, [`s_mov_b32 vcc_lo, s${COUNTER}`, 's_mov_b32 vcc_hi, 0']),
  () => uniform(['s_sub_u32 vcc_hi, vcc_hi, 1', 's_cbranch_vccnz loop'], false, [`s_mov_b32 vcc_hi, s${COUNTER}`, 's_mov_b32 vcc_lo, 1']),
  () => uniform([COUNT, `s_min_u32 vcc_lo, s${COUNTER}, 1`, 's_cbranch_vccnz loop'], false, ['s_mov_b32 vcc_hi, 0']),
  // The budget ends these.
  () => uniform(['s_cbranch_vccnz loop'], false),
  () => uniform(['s_cbranch_vccz loop'], false, ['s_mov_b64 vcc, 0']),
  () => divergent(LEFT, 's_and_b64 exec, exec, vcc'),
  () => divergent(DONE, 's_andn2_b64 exec, exec, vcc'),
  () => divergent(LEFT, 's_and_saveexec_b64 s[34:35], vcc'),
  () => divergent(DONE, 's_or_b64 s[34:35], vcc, s[34:35]', 's_andn2_b64 exec, exec, s[34:35]'),
  () => divergent(`v_cmp_lt_i32_e64 s[32:33], 0, v${LANE_COUNTER}`, 's_and_b64 exec, exec, s[32:33]'),
  () => divergent(LEFT, 's_and_b64 s[34:35], vcc, s[50:51]', 's_and_b64 exec, s[34:35], exec'),
]

/** EXEC of all kinds: full, whole groups off, single lanes, none. */
export function execMask(random: Random): bigint {
  const half = () => BigInt(word(random, false))
  const any = (half() << 32n) | half()
  return pick(random, [
    () => 0xffff_ffff_ffff_ffffn,
    () => 0xffff_ffff_ffff_ffffn,
    () => any,
    () => 0x00ff_0000_ff00_0000n,
    () => 0xff00_0000_0000_0000n & any,
    () => 1n << BigInt(random(64)),
    () => 0n,
    () => 0x0000_0000_ffff_ff0fn,
  ])()
}
