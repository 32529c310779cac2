/** Random programs that load from global memory and store to it between other instructions, and what they work on. */
import { TARGETS, type Target } from '../../host/isa/targets.ts'
import { ldsAddresses } from './lds.ts'
import { BY_CONSTANTS, BY_VCC, execMask, LANES, ldsRead, MASKS, pair, pick, quad, SCALARS } from './loops.ts'
import { instruction, legal, type randomFrom, word } from './programs.ts'

type Random = ReturnType<typeof randomFrom>

/** First rows of addresses; the random instructions leave them alone. v18 is for what they are computed from, v19 an address in LDS. */
export const ADDRESSES = [12, 14, 16]
const COUNTER = 40
/** Regions: two to read and write that are neighbours, a small one that is for reading, one that crosses 4 GiB. */
export const REGIONS = [
  { address: 0x1_0000_0000n, bytes: 4096, writable: true },
  { address: 0x1_0000_2000n, bytes: 1024, writable: true },
  { address: 0x2_0000_0040n, bytes: 1280, writable: false },
  { address: 0x3_ffff_ff00n, bytes: 512, writable: true },
] as const

/** How programs touch memory. */
export interface Accesses {
  readonly target: Target
  load(random: Random): string
  store(random: Random): string
  /** Addresses of the first region. */
  compute(random: Random): string[]
  /** What else there is. */
  other(random: Random): string
}

const address = (random: Random): string => pair(pick(random, ADDRESSES))
const load = (random: Random): string =>
  pick(random, [
    () => `flat_load_dword v${random(12)}, ${address(random)}`,
    () => `flat_load_dword v${random(12)}, ${address(random)}${pick(random, ['', ' glc'])}`,
    () => `flat_load_dwordx2 ${pair(random(11))}, ${address(random)}`,
    () => `flat_load_dwordx3 v${pick(random, ['[0:2]', '[5:7]', '[9:11]'])}, ${address(random)}`,
    () => `flat_load_dwordx4 ${quad(random(9))}, ${address(random)}`,
    () => `flat_load_${pick(random, ['ubyte', 'sbyte', 'ushort', 'sshort'])} v${random(12)}, ${address(random)}`,
  ])()
const store = (random: Random): string =>
  pick(random, [
    () => `flat_store_dword ${address(random)}, v${random(12)}`,
    () => `flat_store_dword ${address(random)}, v${random(19)}`,
    () => `flat_store_dwordx2 ${address(random)}, ${pair(random(11))}`,
    () => `flat_store_dwordx3 ${address(random)}, v[2:4]`,
    () => `flat_store_dwordx4 ${address(random)}, ${quad(random(9))}`,
    () => `flat_store_${pick(random, ['byte', 'short'])} ${address(random)}, v${random(12)}`,
  ])()

/** Offsets in the first region in v18, out of what rows hold, floats perhaps: side by side, or anywhere. */
export function computeOffsets(random: Random): string[] {
  const index = pick(random, [
    () => [
      'v_mbcnt_lo_u32_b32 v18, -1, 0',
      'v_mbcnt_hi_u32_b32 v18, -1, v18',
      `v_lshlrev_b32 v18, ${pick(random, [0, 1, 2, 2, 3, 4])}, v18`,
    ],
    () => [`v_mov_b32 v18, v${random(12)}`],
    () => [`v_mul_f32 v18, v${random(12)}, v${random(12)}`],
    () => [`v_mac_f32 v18, v${random(12)}, v${random(12)}`],
    () => [`v_cvt_u32_f32 v18, v${random(12)}`, 'v_lshlrev_b32 v18, 2, v18'],
  ])()
  return [...index, `v_and_b32 v18, ${pick(random, ['0xffc', '0xff0', '0x3fc', '0x7ff'])}, v18`]
}
function compute(random: Random): string[] {
  const row = pick(random, ADDRESSES)
  const high = pick(random, ['v_mov_b32 HIGH, 1', 'v_addc_u32 HIGH, vcc, 0, v15, vcc', 'v_addc_u32 HIGH, vcc, 0, v13, vcc']).replace(
    'HIGH',
    `v${row + 1}`,
  )
  return [...computeOffsets(random), `v_add_u32 v${row}, vcc, ${pick(random, [0, 's41'])}, v18`, high]
}

const other = (random: Random): string =>
  pick(random, [
    () => `v_add_u32 v${pick(random, ADDRESSES)}, vcc, ${pick(random, ['4', '-4', '64', 's50'])}, v${pick(random, ADDRESSES)}`,
    () => `v_writelane_b32 v${pick(random, ADDRESSES)}, s50, ${random(64)}`,
    () => `v_writelane_b32 v${random(12)}, s20, ${random(64)}`,
    () => `v_readlane_b32 ${pick(random, ['s50', 's20'])}, v${random(13)}, ${random(64)}`,
    () => `v_readfirstlane_b32 s21, v${random(18)}`,
    () => `v_mov_b32 v${pick(random, ADDRESSES)}, v${pick(random, ADDRESSES)}`,
    () => 's_mov_b64 exec, s[52:53]',
    () => 's_and_b64 exec, exec, vcc',
    () => 's_mov_b64 exec, -1',
    () => 'flat_atomic_add v[12:13], v1',
    () => 'ds_write_b32 v19, v3',
    () => 'ds_write2_b32 v19, v3, v18 offset1:1',
    () => 's_load_dword s20, s[54:55], 0x0',
    () => 's_add_u32 s41, s41, 4',
    () => 's_nop 0',
    () => 'v_exp_f32 v3, v4',
    () => `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), ${pick(random, ['0xf', '0xc', '0x0'])}`,
  ])()

/** FLAT instructions of gfx803. */
export const FLAT: Accesses = { target: TARGETS.gfx803, load, store, compute, other }

/** Straight code, mostly in a loop. */
export function globalProgram(random: Random, { target, load, store, compute, other }: Accesses): string {
  const stores = random(3)
  const isDense = random(3) === 0
  const line = (): string[] => {
    if (isDense && random(3)) return [random(8) === 0 ? other(random) : random(3) > stores ? load(random) : store(random)]
    const kind = random(14)
    if (kind < 3) return [load(random)]
    if (kind < 3 + stores) return [store(random)]
    if (kind === 6 || kind === 7) return random(3) ? compute(random) : [load(random)]
    if (kind === 8 && random(3) === 0) return [legal(() => ldsRead(random, [19]), target)]
    if (kind === 9 && random(2) === 0) return [other(random)]
    return [instruction(random, pick(random, [LANES, LANES, BY_CONSTANTS, MASKS, BY_VCC, SCALARS]), target)]
  }
  const body = Array.from({ length: 1 + random(20) }, line).flat()
  if (random(4) === 0) return [...body, 's_endpgm'].join('\n')
  const end = [`s_sub_u32 s${COUNTER}, s${COUNTER}, 1`, `s_cmp_lg_u32 s${COUNTER}, 0`, 's_cbranch_scc1 loop']
  return ['s_nop 0', 'loop:', ...body, ...end, 's_endpgm'].join('\n')
}

/** Addresses of 64 lanes: as those in LDS lie, mostly in one region, or with a lane or a half of them in another one, or nowhere. */
function addresses(random: Random): bigint[] {
  const region = pick(random, [...REGIONS, REGIONS[0], REGIONS[0], REGIONS[0], REGIONS[0]])
  const other = pick(random, [REGIONS[0], REGIONS[1], { address: BigInt(word(random, false)) << BigInt(random(16)), bytes: 16 }])
  const offsets = random(6)
    ? ldsAddresses(random, region.bytes).map((offset) => (random(8) ? Math.min(offset, region.bytes - 16) : offset))
    : ldsAddresses(random, region.bytes)
  const from = random(80)
  const odd = random(6) === 0 ? (lane: number) => lane >= from : () => false
  return offsets.map((offset, lane) => (odd(lane) ? other.address + BigInt(offset % other.bytes) : region.address + BigInt(offset)))
}

/** Registers and the contents of memory. */
export function globalState(random: Random, mode: number) {
  const tame = random(4) > 0
  const rare = pick(random, [0, 20, 400])
  const isTame = () => !(rare > 0 && random(rare) === 0)
  const words = (bytes: number) => new Uint8Array(Uint32Array.from({ length: bytes >> 2 }, () => word(random, isTame())).buffer)
  const vgprs = new Map(Array.from({ length: 20 }, (_, v) => [v, Array.from({ length: 64 }, () => word(random, tame))] as const))
  for (const row of ADDRESSES) {
    const lanes = addresses(random)
    vgprs.set(
      row,
      lanes.map((address) => Number(address & 0xffffffffn)),
    )
    vgprs.set(
      row + 1,
      lanes.map((address) => Number((address >> 32n) & 0xffffffffn)),
    )
  }
  vgprs.set(19, ldsAddresses(random, 2048))
  const sgprs = new Map(Array.from({ length: 40 }, (_, s) => [s + 18, word(random, tame)] as const))
  sgprs
    .set(COUNTER, 1 + random(30))
    .set(41, random(3) ? 0 : 4 * random(1024))
    .set(50, 4 * random(20))
    .set(54, 0)
    .set(55, 1)
  const state = { vgprs, sgprs, exec: execMask(random), vcc: execMask(random), m0: 0xffffffff, mode, ldsBytes: 4096, lds: words(4096) }
  return { state, memory: REGIONS.map(({ bytes }) => words(bytes)) }
}
