/** Random programs of gfx803 that read and write LDS between other instructions, some of them in loops, and what they work on. */
import { BY_CONSTANTS, BY_VCC, execMask, LANES, ldsRead, MASKS, pair, pick, quad, SCALARS } from './loops.ts'
import { instruction, type randomFrom, word } from './programs.ts'

type Random = ReturnType<typeof randomFrom>

/** Rows of addresses; the random instructions leave them alone. */
const ADDRESSES = [12, 13, 14]
const COUNTER = 40

function ldsWrite(random: Random): string {
  const address = `v${pick(random, ADDRESSES)}`
  const offset = pick(random, ['', '', ' offset:4', ' offset:64', ' offset:2'])
  const two = pick(random, ['', ' offset1:1', ' offset0:2 offset1:3', ' offset0:7 offset1:7', ' offset1:255'])
  const [x, y] = [random(12), random(12)]
  const first = random(9)
  return pick(random, [
    () => `ds_write_b32 ${address}, v${x}${offset}`,
    () => `ds_write_b32 ${address}, v${x}${offset}`,
    () => `ds_write2_b32 ${address}, v${x}, v${y}${two}`,
    () => `ds_write_b64 ${address}, ${pair(first)}${offset}`,
    () => `ds_write2st64_b32 ${address}, v${x}, v${y}${pick(random, ['', ' offset1:1'])}`,
    () => `ds_write2_b64 ${address}, ${pair(first)}, v[6:7]${two}`,
    () => `ds_write_b128 ${address}, ${quad(first)}${offset}`,
    () => `ds_write2st64_b64 ${address}, ${pair(first)}, v[4:5]${pick(random, ['', ' offset1:1'])}`,
    () => `ds_write_b96 ${address}, v[${first}:${first + 2}]${offset}`,
    () => `ds_write_b${pick(random, ['8', '16'])} ${address}, v${x}${offset}`,
    () => `ds_write_b32 ${address}, ${address}`,
  ])()
}

const other = (random: Random): string =>
  pick(random, [
    () => `v_add_u32 v${pick(random, ADDRESSES)}, vcc, ${pick(random, ['4', '-4', '64', 's50'])}, v${pick(random, ADDRESSES)}`,
    () => `v_writelane_b32 v${pick(random, ADDRESSES)}, s50, ${random(64)}`,
    () => `v_readlane_b32 ${pick(random, ['s50', 's20', 'm0'])}, v${random(13)}, ${random(64)}`,
    () => `v_mov_b32 v13, v${pick(random, ADDRESSES)}`,
    () => `s_mov_b32 m0, ${pick(random, ['-1', '-1', '-1', '0x1000', 's51', '0'])}`,
    () => 's_mov_b64 exec, s[52:53]',
    () => 's_and_b64 exec, exec, vcc',
    () => 's_mov_b64 exec, -1',
    () => 'ds_add_u32 v12, v1',
    () => 'ds_read_b32 v3, v12 gds',
    () => 's_load_dword s20, s[54:55], 0x0',
    () => 's_nop 0',
  ])()

/** Straight code, mostly in a loop. */
export function ldsProgram(random: Random): string {
  const writes = random(3)
  const line = () => {
    const kind = random(12)
    if (kind < 5) return ldsRead(random, ADDRESSES)
    if (kind < 5 + writes) return ldsWrite(random)
    if (kind === 11 && random(3) === 0) return other(random)
    return instruction(random, pick(random, [LANES, LANES, BY_CONSTANTS, MASKS, BY_VCC, SCALARS]))
  }
  const body = Array.from({ length: 1 + random(24) }, line)
  if (random(5) === 0) return [...body, 's_endpgm'].join('\n')
  const end = [`s_sub_u32 s${COUNTER}, s${COUNTER}, 1`, `s_cmp_lg_u32 s${COUNTER}, 0`, 's_cbranch_scc1 loop']
  return ['s_nop 0', 'loop:', ...body, ...end, 's_endpgm'].join('\n')
}

/** Side by side, equal, in steps, in fours, anywhere, near the end, beyond it. */
export function ldsAddresses(random: Random, bytes: number): number[] {
  const start = random(4) ? 4 * random(32) : random(bytes)
  const kind = random(14)
  const odd = random(64)
  return Array.from({ length: 64 }, (_, lane) => {
    if (kind < 4) return start + 4 * lane
    if (kind < 5) return start
    if (kind < 7) return start + 8 * lane
    if (kind < 8) return start + 16 * (lane >> 2)
    if (kind < 9) return start + 68 * (lane >> 4) + 4 * (lane & 15)
    if (kind < 11) return random(bytes >> 1)
    if (kind < 12) return bytes - (odd & 1 ? random(24) : 4 * random(12))
    if (kind < 13) return lane === odd ? bytes + random(9) - 8 : start + 4 * lane
    return lane === odd ? 0xfffffff0 + random(16) : start
  })
}

/** Registers, LDS and what M0 lets see of it. */
export function ldsState(random: Random, mode: number) {
  const tame = random(4) > 0
  const ldsBytes = pick(random, [4096, 4096, 65536, 2050, 16])
  const rare = pick(random, [0, 20, 400])
  const words = Uint32Array.from({ length: ldsBytes >> 2 }, () => word(random, !(rare > 0 && random(rare) === 0)))
  const vgprs = new Map(Array.from({ length: 12 }, (_, v) => [v, Array.from({ length: 64 }, () => word(random, tame))] as const))
  for (const row of ADDRESSES) vgprs.set(row, ldsAddresses(random, ldsBytes))
  const sgprs = new Map(Array.from({ length: 40 }, (_, s) => [s + 18, word(random, tame)] as const))
  sgprs
    .set(COUNTER, 1 + random(30))
    .set(50, 4 * random(20))
    .set(51, random(ldsBytes + 8))
    .set(54, 0)
    .set(55, 1)
  const exec = execMask(random)
  const m0 = random(6) ? 0xffffffff : random(ldsBytes + 64)
  return { vgprs, sgprs, exec, vcc: execMask(random), m0, mode, ldsBytes, lds: new Uint8Array(words.buffer) }
}
