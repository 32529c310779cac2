/** Random loops of several blocks on gfx803 that all lanes run alike: branches on scalars, loops in loops, ways out in the middle, registers found by M0. */
import {
  BITWISE,
  BY_CONSTANTS,
  BY_VCC,
  COUNTER,
  LANES,
  LDS_ADDRESS,
  ldsRead,
  MASKS,
  pick,
  SCALARS,
  scalarLoad,
  TAME_BITWISE,
  vectorLoad,
} from './loops.ts'
import { instruction, type randomFrom } from './programs.ts'

type Random = ReturnType<typeof randomFrom>

/** Inner loops count in s41 and s42; flags are in s[56:57]. */
const INNER = [41, 42]
const FLAG = 's[56:57]'
/** Operations without floats: loops of these alone have no ordinary code besides. */
const INTEGERS = [
  'v_mov_b32 d x',
  'v_mov_b32 d v',
  'v_mov_b32 d v',
  'v_and_b32 d x v',
  'v_xor_b32 d x v',
  'v_mul_lo_u32 d v v',
  'v_bfi_b32 d v v v',
  'v_alignbit_b32 d v v k',
  'v_lshlrev_b32 d k v',
  'v_lshlrev_b64 w k w',
  'v_mad_u64_u32 w m v v w',
]
const MOVES = ['v_mov_b32 d v', 'v_mov_b32 d v', 'v_mov_b32 d x']

class Writer {
  #labels = 0
  #inner = 0
  #size = 0
  readonly #lanes: readonly (readonly string[])[]
  readonly #bitwise: readonly string[]
  readonly #vcc: boolean
  readonly #loads: boolean

  constructor(private readonly random: Random) {
    const integers = random(2) === 0
    this.#loads = random(2) === 0
    this.#vcc = random(3) > 0
    this.#lanes = [
      MOVES,
      ...(integers ? [INTEGERS, INTEGERS] : [LANES, LANES, BY_CONSTANTS, MASKS]),
      ...(this.#vcc ? [integers ? ['v_add_u32 d vcc x v', 'v_cndmask_b32 d x v vcc', 'v_addc_u32 d vcc x v vcc'] : BY_VCC] : []),
    ]
    this.#bitwise = random(4) ? TAME_BITWISE : BITWISE
  }

  label(): string {
    return `label${this.#labels++}`
  }
  #some(most: number, line: () => string): string[] {
    return Array.from({ length: 1 + this.random(most) }, line)
  }

  #straight(): string[] {
    const { random } = this
    const line = (): string => {
      const kind = random(20)
      if (kind < 13) return instruction(random, pick(random, this.#lanes))
      if (kind < 15) return instruction(random, SCALARS)
      if (kind < 16) return instruction(random, this.#bitwise)
      if (kind < 17) return this.#loads && random(4) ? this.#load() : scalarLoad(random)
      if (kind < 18) return pick(random, ['s_getpc_b64 s[24:25]', 's_nop 0', 's_mov_b64 s[30:31], exec', 's_mov_b32 s36, 7'])
      return this.#relative()
    }
    return this.#some(5, line)
  }

  #load(): string {
    const { random } = this
    if (random(2)) return vectorLoad(random)
    return `${random(3) ? 's_mov_b32 m0, -1\n' : ''}${ldsRead(random, [LDS_ADDRESS, LDS_ADDRESS + 1])}`
  }

  /** M0 is a small number mostly; v19 is the last register. */
  #relative(): string {
    const { random } = this
    const index = pick(random, [
      `s_and_b32 m0, s${COUNTER}, 7`,
      `s_and_b32 m0, s${20 + random(8)}, 3`,
      's_mov_b32 m0, 2',
      `s_mov_b32 m0, s${COUNTER}`,
    ])
    const source = pick(random, [`v${random(8)}`, '0x3f800000', `s${20 + random(8)}`])
    return `${index}\n${random(3) ? `v_movrels_b32 v${random(12)}, v${random(8)}` : `v_movreld_b32 v${random(5)}, ${source}`}`
  }

  /** Sets SCC to something that is the same for all lanes. */
  #compare(): string {
    const { random } = this
    return pick(random, [
      `s_bitcmp1_b32 s${COUNTER}, ${random(3)}`,
      `s_cmp_gt_u32 s${COUNTER}, ${1 + random(20)}`,
      `s_cmp_lt_u32 s${20 + random(8)}, s${20 + random(8)}`,
      `s_cmp_eq_u32 s${COUNTER}, 2`,
    ])
  }
  #branch(target: string): string[] {
    const { random } = this
    const kind = random(6)
    if (kind === 0)
      return [
        this.#compare(),
        `s_cselect_b64 vcc, ${pick(random, ['-1', 'exec', '1'])}, 0`,
        `s_cbranch_vcc${pick(random, ['z', 'nz'])} ${target}`,
      ]
    if (kind === 1) return [`s_cbranch_exec${pick(random, ['z', 'nz'])} ${target}`]
    return [this.#compare(), `s_cbranch_scc${random(2)} ${target}`]
  }

  /** One thing or the other, as compilers write it: a flag is set, and looked at behind the first one. */
  #either(): string[] {
    const [second, end] = [this.label(), this.label()]
    const flip = this.random(4) === 0
    return [
      this.#compare(),
      `s_mov_b64 ${FLAG}, ${flip ? 0 : -1}`,
      `s_cbranch_scc1 ${second}`,
      ...this.#straight(),
      `s_mov_b64 ${FLAG}, ${flip ? -1 : 0}`,
      `${second}:`,
      `${flip ? 's_and_b64' : 's_andn2_b64'} vcc, exec, ${FLAG}`,
      `s_cbranch_vccnz ${end}`,
      ...this.#straight(),
      `${end}:`,
    ]
  }

  #inside(): string[] {
    const register = INNER[this.#inner]
    if (register === undefined) return this.#straight()
    this.#inner++
    const label = this.label()
    const body = this.pieces(2)
    this.#inner--
    return [
      `s_movk_i32 s${register}, ${1 + this.random(5)}`,
      `${label}:`,
      ...body,
      `s_sub_u32 s${register}, s${register}, 1`,
      `s_cmp_lg_u32 s${register}, 0`,
      `s_cbranch_scc1 ${label}`,
    ]
  }

  #piece(): string[] {
    const { random } = this
    const kind = random(10)
    if (this.#size++ > 12 || kind < 3) return this.#straight()
    if (kind < 5) {
      const label = this.label()
      return [...this.#branch(label), ...this.pieces(2), `${label}:`]
    }
    if (kind < 6) {
      const [other, end] = [this.label(), this.label()]
      return [...this.#branch(other), ...this.pieces(2), `s_branch ${end}`, `${other}:`, ...this.#straight(), `${end}:`]
    }
    if (kind < 8) return this.#either()
    return kind < 9 ? this.#inside() : [this.#compare(), 's_cbranch_scc1 out']
  }
  pieces(most: number): string[] {
    return Array.from({ length: 1 + this.random(most) }, () => this.#piece()).flat()
  }
}

/** A loop with something before it and behind it; its header is at its beginning, or in its middle. */
export function graphProgram(random: Random): string {
  const writer = new Writer(random)
  const inside = random(4) === 0 ? ['s_branch middle', 'loop:', ...writer.pieces(1), 'middle:'] : ['loop:']
  const count = [`s_sub_u32 s${COUNTER}, s${COUNTER}, 1`, `s_cmp_lg_u32 s${COUNTER}, 0`]
  const again = random(4) === 0 ? ['s_cbranch_scc0 out', ...writer.pieces(1), 's_branch loop'] : ['s_cbranch_scc1 loop']
  const behind = ['s_mov_b32 s60, s20', 's_branch end', 'out:', 's_mov_b32 s60, s21', 'end:', 's_endpgm']
  return ['s_nop 0', ...inside, ...writer.pieces(4), ...count, ...again, ...behind].join('\n')
}
