/** Random buffer loads and stores for the programs of global.ts: by 64-bit addresses (gfx6 and gfx7), raw ones, and scratch; and their resources. */
import { TARGETS } from '../../host/isa/targets.ts'
import { type Accesses, ADDRESSES, computeOffsets, FLAT, globalState, REGIONS } from './global.ts'
import { pair, pick, quad } from './loops.ts'
import { legal, type randomFrom } from './programs.ts'

type Random = ReturnType<typeof randomFrom>

/** Resources: those of 64-bit addresses, a raw one, and scratch. s42 and s43 are the first region's address, less the base of the first one. */
const ADDRESSED = ['s[8:11]', 's[8:11]', 's[12:15]']
const RAW = 's[4:7]'
const SCRATCH = 's[0:3]'
const SOFFSETS = ['0', '0', '0', '0', '0', '0', '0', 's50', 's50', 's41', '4', '64', '-4', '1.0']
const OFFSETS = ['', '', ' offset:4', ' offset:4', ' offset:8', ' offset:12', ' offset:2', ' offset:3', ' offset:56', ' offset:4092']

const LOADS = ['dword', 'dword', 'dwordx2', 'dwordx3', 'dwordx4', 'ubyte', 'sbyte', 'ushort', 'sshort']
const STORES = ['dword', 'dword', 'dwordx2', 'dwordx3', 'dwordx4', 'byte', 'short']

/** Registers for what is loaded or stored. */
function data(random: Random, type: string): string {
  const first = random(9)
  const many: Readonly<Record<string, string>> = { dwordx2: pair(first), dwordx3: `v[${first}:${first + 2}]`, dwordx4: quad(first) }
  return many[type] ?? `v${random(12)}`
}

/** Address, resource and offsets. */
function operands(random: Random, hasAddr64: boolean): string {
  const [soffset, offset] = [pick(random, SOFFSETS), pick(random, OFFSETS)]
  const plain = () => {
    const resource = pick(random, [RAW, SCRATCH, SCRATCH])
    const way = pick(random, [
      'off',
      'off',
      'off',
      'off',
      'offen',
      'offen',
      'offen',
      random(4) ? 'offen' : 'idxen',
      random(4) ? 'off' : 'offen idxen',
    ])
    const rows = way === 'off' ? 'off' : way === 'offen idxen' ? 'v[18:19]' : pick(random, ['v19', 'v18'])
    return `${rows}, ${resource}, ${soffset}${way === 'off' ? '' : ` ${way}`}${offset}`
  }
  if (!hasAddr64 || random(4) === 0) return plain()
  return `${pair(pick(random, ADDRESSES))}, ${pick(random, ADDRESSED)}, ${random(3) ? '0' : soffset} addr64${random(3) ? '' : offset}`
}

/** An access by offsets such as translated code does itself, if lanes and resources allow it. */
function tidy(random: Random, type: string): string {
  const [soffset, offset] = [pick(random, ['0', '0', '0', '0', 's50', '4']), pick(random, ['', '', ' offset:4', ' offset:8', ' offset:16'])]
  if (random(2)) return `off, ${SCRATCH}, ${soffset}${offset}`
  return `${pick(random, ['v18', 'v19', 'v19'])}, ${/x/.test(type) ? RAW : pick(random, [RAW, SCRATCH])}, ${soffset} offen${offset}`
}

const ENDS = ['', '', '', '', '', '', '', ' glc', ' glc', ' slc']

/** Changes of resources and offsets that are none of the kind. */
const TIDY_CHANGES = ['s_add_u32 s0, s0, 16', 's_add_u32 s4, s4, 16', 's_mov_b32 s2, 64', 's_mov_b32 s6, 256', 's_add_u32 s50, s50, 4'].map(
  (line) => () => line,
)

/** Buffer instructions of a target, and its FLAT ones where it has them. @param isTidy they are all such as translated code may do itself */
export function buffersOf(name: 'gfx600' | 'gfx700' | 'gfx803', isTidy = false): Accesses {
  const target = TARGETS[name]
  const hasAddr64 = name !== 'gfx803'
  const access = (random: Random, way: 'load' | 'store', types: readonly string[]): string =>
    legal(() => {
      const type = pick(random, types)
      if (isTidy && random(8)) return `buffer_${way}_${type} ${data(random, type)}, ${tidy(random, type)}`
      if (random(8) === 0) return FLAT[way](random)
      return `buffer_${way}_${type} ${data(random, type)}, ${operands(random, hasAddr64)}${pick(random, ENDS)}`
    }, target)
  const sum = hasAddr64 ? 'v_add_i32' : 'v_add_u32'
  return {
    target,
    load: (random) => access(random, 'load', LOADS),
    store: (random) => access(random, 'store', STORES),
    compute(random) {
      const row = pick(random, ADDRESSES)
      return [
        ...computeOffsets(random),
        `${sum} v${row}, vcc, s42, v18`,
        `v_mov_b32 v${row + 1}, s43`,
        `v_addc_u32 v${row + 1}, vcc, 0, v${row + 1}, vcc`,
      ]
    },
    other: (random) =>
      legal(
        () =>
          pick(random, [
            ...(isTidy ? TIDY_CHANGES : []),
            () => `${sum} v${pick(random, ADDRESSES)}, vcc, ${pick(random, ['4', '-4', '64', 's50'])}, v${pick(random, ADDRESSES)}`,
            () => 's_mov_b64 s[8:9], s[12:13]',
            () => 's_add_u32 s8, s8, 4',
            () => 's_xor_b32 s50, s50, 64',
            () => 's_mov_b32 s6, 64',
            () => 's_add_u32 s0, s0, 16',
            () => 's_add_u32 s4, s4, 16',
            () => 's_mov_b32 s2, 16',
            () => 's_and_b32 s1, s1, 0x7fffffff',
            () => `v_readlane_b32 ${pick(random, ['s8', 's50', 's0', 's3'])}, v${random(13)}, ${random(64)}`,
            () => 'v_readfirstlane_b32 s50, v18',
            () => 'v_cmp_lt_f32_e64 s[50:51], v1, v2',
            () => `buffer_load_dword v3, ${operands(random, hasAddr64)} tfe`,
            () => `buffer_atomic_add v3, ${operands(random, hasAddr64)}`,
            () => FLAT.other(random),
            () => FLAT.other(random),
            () => FLAT.other(random),
          ])(),
        target,
      ),
  }
}

/** Registers and the contents of memory: rows of 64-bit addresses hold them less a base, with other bits above the 48 that count. */
export function bufferState(random: Random, mode: number, isTidy = false) {
  const { state, memory } = globalState(random, mode)
  const base = pick(random, [0n, 0n, 64n, 0x1_0000_0000n, 0x1_0000_0000n, 0x1_0000_0100n, 0xffff_ffff_ffc0n, 0x1234_5678_9abcn])
  const garbage = () => BigInt(pick(random, [0, 0, 0, random(0x10000)])) << 48n
  for (const row of ADDRESSES) {
    const [low, high] = [state.vgprs.get(row)!, state.vgprs.get(row + 1)!]
    for (let lane = 0; lane < 64; lane++) {
      const address = BigInt.asUintN(64, ((BigInt(high[lane]!) << 32n) | BigInt(low[lane]!)) - base + garbage())
      low[lane] = Number(address & 0xffffffffn)
      high[lane] = Number(address >> 32n)
    }
  }
  const first = BigInt.asUintN(64, REGIONS[0].address - base)
  const { sgprs } = state
  sgprs.set(42, Number(first & 0xffffffffn)).set(43, Number(first >> 32n))
  const resource = (at: number, address: bigint, word1: number, word2: number, word3: number) =>
    sgprs
      .set(at, Number(address & 0xffffffffn))
      .set(at + 1, (Number(address >> 32n) | word1) >>> 0)
      .set(at + 2, word2)
      .set(at + 3, word3)
  const words = (): [number, number, number] => [random(0x10000) * 0x10000, random(0x1000), random(0x10000) * 0x10000]
  resource(8, base, ...words())
  resource(12, BigInt.asUintN(48, base + BigInt(4 * random(8))), ...words())
  const start = () =>
    REGIONS[random(5) ? 0 : random(4)]!.address + BigInt(pick(random, [0, 0, 0, 0, 16, 256, 4 * random(64), isTidy ? 4 : random(16)]))
  const isOdd = () => random(isTidy ? 40 : 16) === 0
  resource(4, start(), isOdd() ? random(0x10000) * 0x10000 : 0, pick(random, [4096, 4096, 8192, 2048, 1000, 12]), random(0x80000))
  // Elements of 4 bytes, 64 indices, and the lane's number added; swizzled. The stride is 0 but where gfx7 counts by it.
  const scratch = (1 << 19) | (3 << 21) | (1 << 23)
  resource(
    0,
    start(),
    isOdd() ? random(0x10000) * 0x10000 : 0x80000000,
    pick(random, [4096, 0x10000, 0xffffffff, 64, 20]),
    isOdd() ? random(0x10000) * 0x10000 : scratch | random(0x8000) | (random(8) ? 0 : 4 << 15),
  )
  if (isTidy) for (const row of [18, 19]) state.vgprs.set(row, tidyOffsets(random))
  return { state, memory }
}

/** Offsets of 64 lanes: side by side, alike, or anywhere, and some out of range. */
function tidyOffsets(random: Random): number[] {
  const [first, step, from] = [4 * random(32), pick(random, [0, 4, 4, 8, 16, 64]), random(3) ? 64 : random(64)]
  return Array.from({ length: 64 }, (_, lane) => (lane < from ? first + step * lane : pick(random, [4 * random(1024), 4092, 0xfffffffc])))
}
