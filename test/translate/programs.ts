/** Random programs of gfx803: runs of lanes, scalars between them, loops, masked stretches; registers full of awkward values. */

import { AssembleError } from '../../host/errors.ts'
import { TARGETS, type Target } from '../../host/isa/targets.ts'
import { assemble } from '../../host/text/assemble.ts'

/** A small generator of numbers that repeats by its seed (mulberry32). */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    // Not the remainder: of numbers beyond 2^31 that is a slow one.
    return Math.floor(((t ^ (t >>> 14)) >>> 0) * (below / 2 ** 32))
  }
}
type Random = ReturnType<typeof randomFrom>

const AWKWARD = [
  0, 0x80000000, 0x3f800000, 0xbf800000, 0x40000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0xff812345, 0x7f7fffff,
  0xff7fffff, 1, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x0c800000, 0x0c7fffff, 0x8c7fffff, 0x1f800000, 0x9f812345,
  0x33800000, 0x3effffff, 0x4b000001, 0xcb000001, 0x4f000000, 0xffffffff, 0x7fffffff, 5, 64, 0x3c003c00, 0x7e007c01,
]

/** A word: awkward, near an awkward one, any float of middling size, or any word. */
export function word(random: Random, tame: boolean): number {
  const middling = () => (0x3f000000 + random(0x02000000) + 0x80000000 * random(2)) >>> 0
  if (tame) return middling()
  const kind = random(8)
  if (kind < 4) return AWKWARD[random(AWKWARD.length)]!
  if (kind === 4) return (AWKWARD[random(AWKWARD.length)]! + random(9) - 4) >>> 0
  return kind === 5 ? (random(0x10000) * 0x10000 + random(0x10000)) >>> 0 : middling()
}

const VGPRS = 12
/** Operations by the operands they take: d result, v VGPR, x any 32-bit source, w pair, m mask, h half of one, k a constant, also beyond the width of a shift. */
const VALU = [
  'v_add_f32 d x v',
  'v_sub_f32 d x v',
  'v_subrev_f32 d x v',
  'v_mul_f32 d x v',
  'v_mac_f32 d x v',
  'v_mul_legacy_f32 d x v',
  'v_min_f32 d x v',
  'v_max_f32 d x v',
  'v_mad_f32 d f f f',
  'v_fma_f32 d f f f',
  'v_min3_f32 d f f f',
  'v_med3_f32 d f f f',
  'v_add_f32_e64 d f f',
  'v_mul_f32_e64 d f f',
  'v_mov_b32 d x',
  'v_cvt_f32_i32 d x',
  'v_cvt_i32_f32 d x',
  'v_cvt_f32_ubyte1 d x',
  'v_floor_f32 d x',
  'v_fract_f32 d x',
  'v_sqrt_f32 d x',
  'v_rcp_f32 d x',
  'v_and_b32 d x v',
  'v_xor_b32 d x v',
  'v_lshlrev_b32 d x v',
  'v_ashrrev_i32 d x v',
  'v_alignbit_b32 d v v 7',
  'v_bfe_u32 d v v v',
  'v_mul_lo_u32 d v v',
  'v_add_u32 d vcc x v',
  'v_addc_u32 d vcc x v vcc',
  'v_subb_u32 d vcc x v vcc',
  'v_cndmask_b32 d x v vcc',
  'v_cndmask_b32_e64 d v v m',
  'v_cmp_lt_f32 vcc x v',
  'v_cmp_nge_f32 vcc x v',
  'v_cmp_eq_f32_e64 m v v',
  'v_cmp_class_f32 vcc x v',
  'v_cmp_gt_i32 vcc x v',
  'v_cmpx_o_f32 vcc x v',
  'v_cmp_neq_f32_e64 exec v v',
  'v_add_u32_e64 d exec v v',
  'v_add_f64 w w w',
  'v_mul_f64 w w w',
  'v_fma_f64 w w w w',
  'v_add_f64 w m w',
  'v_fma_f64 w w m w',
  'v_lshlrev_b64 w s w',
  'v_lshlrev_b64 w v w',
  'v_cvt_f64_f32 w x',
  'v_cvt_f32_f64 d w',
  'v_mad_u64_u32 w vcc v v w',
  'v_add_f16 d x v',
  'v_sub_f16 d x v',
  'v_subrev_f16 d v v',
  'v_mad_f16 d f f f',
  'v_sqrt_f16 d x',
  'v_ceil_f16_e64 d f',
  'v_rndne_f16 d v',
  'v_trunc_f16 d v',
  'v_cmp_nle_f16 vcc x v',
  'v_cmp_ge_f16_e64 m f f',
  'v_cvt_f32_f16_e64 d f',
  'v_cvt_f16_f32_e64 d f',
  'v_mul_f16 d x v',
  'v_mac_f16 d x v',
  'v_fma_f16 d f f f',
  'v_mad_f16 d f f f',
  'v_max_f16_e64 d f f',
  'v_max_f16 v1 v1 v1',
  'v_min_f16_e64 d -v2 -v2',
  'v_max_f16_sdwa d v3 v3',
  'v_sub_f16_e64 d f f',
  'v_rcp_f16 d x',
  'v_floor_f16 d x',
  'v_cvt_i16_f16 d x',
  'v_cmp_lt_f16 vcc x v',
  'v_add_f16_sdwa d f f',
  'v_mul_f16_sdwa d f f',
  'v_max_f16_sdwa d f f',
  'v_mac_f16_sdwa d f f',
  'v_cvt_f16_f32_sdwa d f',
  'v_cvt_f32_f16_sdwa d f',
  'v_add_f32_sdwa d f f',
  'v_mac_f32_sdwa d f f',
  'v_mov_b32_sdwa d v',
  'v_or_b32_sdwa d v v',
  'v_lshlrev_b32_sdwa d v v',
  'v_add_u32_sdwa d vcc v v',
  'v_addc_u32_sdwa d vcc v v vcc',
  'v_cndmask_b32_sdwa d v v vcc',
  'v_cmp_lt_f16_sdwa vcc f f',
  'v_cmp_gt_u32_sdwa vcc v v',
  'v_cvt_u32_f32_sdwa d f',
  'v_add_f32_dpp d f f',
  'v_mac_f32_dpp d f f',
  'v_add_f16_dpp d f f',
  'v_mov_b32_dpp d v',
  'v_mov_b32_dpp d v',
  'v_xor_b32_dpp d v v',
  'v_add_u32_dpp d vcc v v',
  'v_addc_u32_dpp d vcc v v vcc',
  'v_cvt_f32_i32_dpp d v',
  'v_add_u16 d x v',
  'v_cvt_f16_f32 d x',
  'v_cvt_f32_f16 d x',
  'v_readfirstlane_b32 s v',
  'v_readlane_b32 s v k',
  'v_readlane_b32 h v z',
  'v_writelane_b32 d h k',
  'v_writelane_b32 v11 h k',
  'v_writelane_b32 v11 z s21',
  'v_mbcnt_lo_u32_b32 d x v',
  'v_mbcnt_hi_u32_b32 d x v',
  'v_mbcnt_lo_u32_b32 d exec_lo v',
  'v_mbcnt_hi_u32_b32 d exec_hi v',
  'v_cndmask_b32_e64 d v v exec',
  'v_perm_b32 d v v v',
]
const SALU = [
  's_add_u32 s z z',
  's_addc_u32 s z z',
  's_sub_i32 s z z',
  's_and_b64 m m m',
  's_or_b64 m m vcc',
  's_andn2_b64 vcc m vcc',
  's_xor_b64 vcc vcc m',
  's_cselect_b32 s z z',
  's_cselect_b64 m m vcc',
  's_cmp_lt_u32 z z',
  's_cmp_eq_u32 z z',
  's_mov_b32 s z',
  's_mov_b64 vcc m',
  's_lshl_b32 s z z',
  's_mul_i32 s z z',
  's_cmov_b32 s z',
  's_bcnt1_i32_b64 s vcc',
  's_addk_i32 s 77',
  's_not_b64 m vcc',
  's_and_b64 exec exec m',
  's_bfe_u32 s z z',
]
const SELECTS = ['BYTE_0', 'BYTE_1', 'BYTE_2', 'BYTE_3', 'WORD_0', 'WORD_1', 'WORD_1', 'DWORD']
const UNUSED = ['UNUSED_PAD', 'UNUSED_SEXT', 'UNUSED_PRESERVE']
const FINISHES = ['clamp', 'mul:2', 'mul:4', 'div:2', 'mul:2 clamp', 'div:2 clamp']
const SHIFT_COUNTS = ['0', '1', '7', '8', '16', '31', '32', '33', '40', '63', '64', '-1', '-16', '1.0', '-0.5']
const CONSTANTS = ['0', '1.0', '-4.0', '0.5', '64', '-1', '0x3f123456', '7']

function operand(kind: string, random: Random): string {
  const v = () => `v${random(VGPRS)}`
  const scalar = () => `s${20 + random(8)}`
  switch (kind) {
    case 'd':
    case 'v':
      return v()
    case 'f': {
      const modifier = random(6)
      return modifier === 0 ? `-${v()}` : modifier === 1 ? `|${v()}|` : modifier === 2 ? `-|${v()}|` : v()
    }
    case 'x':
      return random(3) === 0 ? (random(2) ? scalar() : CONSTANTS[random(CONSTANTS.length)]!) : v()
    case 'w': {
      const first = random(VGPRS - 1)
      return `v[${first}:${first + 1}]`
    }
    case 'k':
      return SHIFT_COUNTS[random(SHIFT_COUNTS.length)]!
    case 's':
      return scalar()
    case 'h':
      return random(5) ? `s${30 + random(8)}` : ['vcc_lo', 'vcc_hi', 'm0'][random(3)]!
    case 'z':
      return random(3) ? scalar() : CONSTANTS[[0, 4, 5, 7][random(4)]!]!
    case 'm': {
      const first = 30 + 2 * random(4)
      return `s[${first}:${first + 1}]`
    }
    default:
      return kind
  }
}

/** An instruction that the hardware has: for one, a VALU operation reads one scalar register at most. */
export const instruction = (random: Random, table: readonly string[], target: Target = TARGETS.gfx803): string =>
  legal(() => spell(attempt(random, table), target), target)

/** The first of random lines that the hardware has. */
export function legal(line: () => string, target: Target): string {
  for (;;) {
    const text = line()
    try {
      assemble(text, target)
      return text
    } catch (error) {
      if (!(error instanceof AssembleError)) throw error
    }
  }
}

/** Sums of integers have other names before gfx8. */
const spell = (text: string, { name }: Target): string => (name === 'gfx803' ? text : text.replace(/^v_(add|sub|subrev)_u32/, 'v_$1_i32'))

function attempt(random: Random, table: readonly string[]): string {
  const [name, ...kinds] = table[random(table.length)]!.split(' ')
  const text = `${name} ${kinds.map((kind) => operand(kind, random)).join(', ')}`
  if (name!.endsWith('_sdwa')) return `${text} ${selects(random, kinds)}`
  if (name!.endsWith('_dpp')) return `${text} ${moves(random)}`
  const isFinished = /_e64|ma[dx]_f|fma_f/.test(name!) && !/cmp|cndmask/.test(name!)
  return isFinished && random(4) === 0 ? `${text} ${FINISHES[random(FINISHES.length)]}` : text
}

/** SDWA's parts of registers: of the destination where the first operand is one, then of the sources. */
function selects(random: Random, [first, ...rest]: readonly string[]): string {
  const pick = (from: readonly string[]) => from[random(from.length)]!
  const sources = rest.filter((kind) => kind !== 'vcc').map((_, i) => `src${i}_sel:${pick(SELECTS)}`)
  const finish = first === 'd' && rest.some((kind) => kind === 'f') && random(6) === 0 ? ['clamp'] : []
  const target = first === 'd' ? [`dst_sel:${pick(SELECTS)}`, `dst_unused:${pick(UNUSED)}`] : []
  return [...finish, ...target, ...sources].join(' ')
}

/** DPP: where lanes read, and which are written. */
function moves(random: Random): string {
  const count = 1 + random(15)
  const quad = [0, 1, 2, 3].map(() => random(4))
  const from = [
    `quad_perm:[${quad}]`,
    `row_shl:${count}`,
    `row_shr:${count}`,
    `row_ror:${count}`,
    'row_mirror',
    'row_half_mirror',
    'wave_shr:1',
    'row_bcast:15',
  ][random(random(4) ? 6 : 8)]
  const mask = () => (random(3) ? '0xf' : `0x${random(16).toString(16)}`)
  return `${from} row_mask:${mask()} bank_mask:${mask()}${random(3) ? ' bound_ctrl:0' : ''}`
}

const body = (random: Random, length: number): string[] => Array.from({ length }, () => instruction(random, random(4) === 0 ? SALU : VALU))

/** A subroutine and a loop that calls it, with a barrier perhaps. It stands behind s_getpc_b64 and a branch of 4 bytes. */
const called = (random: Random, i: number, piece: readonly string[]): string[] => [
  's_getpc_b64 s[58:59]',
  `s_branch over${i}`,
  ...piece,
  ...(random(3) ? [] : ['s_barrier']),
  's_setpc_b64 s[60:61]',
  `over${i}:`,
  's_add_u32 s58, s58, 4',
  's_addc_u32 s59, s59, 0',
  `s_movk_i32 s${40 + i}, ${1 + random(5)}`,
  `loop${i}:`,
  's_swappc_b64 s[60:61], s[58:59]',
  ...(random(3) ? [] : ['s_barrier']),
  `s_sub_u32 s${40 + i}, s${40 + i}, 1`,
  `s_cmp_lg_u32 s${40 + i}, 0`,
  `s_cbranch_scc1 loop${i}`,
]

/** Assembly text of 5 to 60 instructions: pieces in a row, in loops, in subroutines, and under a narrowed EXEC. */
export function program(random: Random): string {
  const lines: string[] = []
  const pieces = 1 + random(4)
  for (let i = 0; i < pieces; i++) {
    const piece = body(random, 3 + random(12))
    const kind = random(5)
    if (kind === 0) lines.push(...piece)
    else if (kind === 4) lines.push(...called(random, i, piece))
    else if (kind === 1)
      lines.push(
        `s_and_saveexec_b64 s[${50 + 2 * i}:${51 + 2 * i}], vcc`,
        `s_cbranch_execz skip${i}`,
        ...piece,
        `skip${i}:`,
        `s_mov_b64 exec, s[${50 + 2 * i}:${51 + 2 * i}]`,
      )
    else
      lines.push(
        `s_movk_i32 s${40 + i}, ${1 + random(5)}`,
        `loop${i}:`,
        ...piece,
        `s_sub_u32 s${40 + i}, s${40 + i}, 1`,
        `s_cmp_lg_u32 s${40 + i}, 0`,
        `s_cbranch_scc1 loop${i}`,
      )
  }
  return [...lines, 's_endpgm'].join('\n')
}

const mode = (first: number, size: number, value: number | string) => `s_setreg_imm32_b32 hwreg(HW_REG_MODE, ${first}, ${size}), ${value}`
/** What stands before a line once in a while: other MODEs, mostly denormals of f32, and vector instructions that are skipped. */
const CHANGES: readonly ((random: Random) => string[])[] = [
  // As compilers do around divisions.
  () => [mode(4, 2, 3)],
  () => [mode(4, 2, 0)],
  (random) => [mode(4, 2, random(4))],
  (random) => [mode(4 + random(2), 1, random(2))],
  (random) => [mode(4, 4, random(16))],
  () => [mode(0, 10, '0x1c0')],
  () => [mode(0, 10, '0x3c0')],
  (random) => [mode(8, 2, random(4))],
  (random) => [mode(random(2) * 2, 2, random(4))],
  // Bits that no code depends on, a value that only the wave knows, and another register.
  (random) => [mode(9, 4, random(4))],
  () => ['s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s20'],
  () => [mode(4, 2, 1), 's_getreg_b32 s20, hwreg(HW_REG_MODE)'],
  () => ['s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 2), 1'],
  () => ['s_setvskip 1, 0', 'v_mov_b32 v3, v4', 'v_readlane_b32 s21, v3, 1', 's_setvskip 0, 0'],
]
const PLAIN_CHANGES = 5

/**
 * A program with changes of MODE in it.
 * @param every about one line of so many has one before it
 * @param plain whether all of them are of denormals
 */
export function changing(random: Random, source: string, every: number, plain: boolean): string {
  const changes = plain ? CHANGES.slice(0, PLAIN_CHANGES) : CHANGES
  // A subroutine's address counts on its branch.
  const before = (line: string) => (line.startsWith('s_branch') || random(every) > 0 ? [] : changes[random(changes.length)]!(random))
  return source
    .split('\n')
    .flatMap((line) => [...before(line), line])
    .join('\n')
}
