/**
 * Edge cases of the vector operations that look at more than their own lane, by hand: start, instruction, and every register that differs
 * afterwards. Source: AMD's GCN manuals, VOP1 to VOP3; interpolation: CLRX, "GCN ISA VINTRP instructions".
 */
import type { WaveState } from '../../../host/device/index.ts'
import type { Operation } from '../../../host/isa/operations.ts'
import type { Generation, Target } from '../../../host/isa/targets.ts'
import { INTERPOLATION } from './interpolation.ts'

/** Dwords by lane; lanes that are not named are as before. */
type Lanes = Readonly<Record<number, number>>

export interface WaveCase {
  readonly name: string
  readonly text: string
  readonly start: WaveState
  /** By VGPR and by scalar operand encoding. */
  readonly vgprs?: Readonly<Record<number, Lanes>>
  readonly sgprs?: Readonly<Record<number, number>>
  /** All that have the operation if not said. */
  readonly generations?: readonly Generation[]
}

/** v0 to v7 hold 0x100 · their number + lane. */
const NUMBERED = new Map(Array.from({ length: 8 }, (_, v) => [v, Array.from({ length: 64 }, (_, lane) => 0x100 * v + lane)] as const))
const start = (state: WaveState = {}): WaveState => ({ vgprs: NUMBERED, ldsBytes: 64, ...state })

// --- interpolation: LDS holds P0 and P10 of x, y, z, w in turn, then P20 of x, y, z, w; twelve dwords an attribute and primitive

const [ONE, TWO, THREE, HALF] = [0x3f800000, 0x40000000, 0x40400000, 0x3f000000]
const [INFINITY, MINUS_INFINITY, QUIET, SIGNALLING, MINUS_ZERO] = [0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x80000000]
const DENORMAL = 0x007fffff
const NEXT = 0x3f800001 // 1 + 2^-23

const attribute = (p0: number, p10: number, p20: number, channel = 0): number[] => {
  const dwords = new Array<number>(12).fill(QUIET)
  dwords[2 * channel] = p0
  dwords[2 * channel + 1] = p10
  dwords[8 + channel] = p20
  return dwords
}
const lds = (...dwords: number[]) => new Uint8Array(Uint32Array.from(dwords).buffer)
const interpolation = (dwords: readonly number[], i: readonly number[], state: WaveState = {}): WaveState => ({
  lds: lds(...dwords),
  ldsBytes: 1024,
  vgprs: new Map([
    [1, i],
    [2, new Array<number>(64).fill(ONE)],
  ]),
  m0: 0,
  ...state,
})
const EDGES = [0, MINUS_ZERO, HALF, INFINITY, MINUS_INFINITY, QUIET, SIGNALLING, DENORMAL, 0xff812345]
const NINE = (1n << 9n) - 1n
/** Of 2 · x + 1. */
const EDGES_RESULT = [ONE, ONE, TWO, INFINITY, MINUS_INFINITY, QUIET, SIGNALLING + 0x400000, ONE, 0xffc12345]
const row = (list: readonly number[]): Lanes => Object.fromEntries(list.entries())

function interpolations(step: 'p1' | 'p2'): WaveCase[] {
  const text = `v_interp_${step}_f32 v2, v1, attr0.x`
  // The second step adds to v2, which holds 1 everywhere.
  const of = (factor: number, addend: number, channel = 0) =>
    step === 'p1' ? attribute(addend, factor, QUIET, channel) : attribute(QUIET, QUIET, factor, channel)
  return [
    {
      name: 'zeros, infinities, NaNs and denormals meet 2 · x + 1',
      text,
      start: interpolation(of(TWO, ONE), EDGES, { exec: NINE, mode: 0x1f0 }),
      vgprs: { 2: row(EDGES_RESULT) },
    },
    {
      name: 'lanes that are off keep what they had',
      text,
      start: interpolation(of(TWO, ONE), EDGES, { exec: 0b101n }),
      vgprs: { 2: { 2: TWO } }, // lane 0 gets the 1 that it had
    },
    {
      name: 'the product is rounded before the sum, to nearest',
      text,
      start: interpolation(of(NEXT, ONE), [NEXT], { exec: 1n }),
      vgprs: { 2: { 0: 0x40000001 } }, // 1 + 2^-22 and 1, of 2 + 2^-22 + 2^-46
    },
    {
      name: 'and upwards where MODE says so',
      text,
      start: interpolation(of(NEXT, ONE), [NEXT], { exec: 1n, mode: 0x3c5 }),
      vgprs: { 2: { 0: 0x40000002 } }, // 1 + 3 · 2^-23 and 1, up to the next multiple of 2^-22
    },
    {
      name: 'overflow towards zero is the largest number, from which the sum takes a little',
      text,
      start: interpolation(of(0x7f7fffff, ONE), [0x7f7fffff, 0xff7fffff], { exec: 3n, mode: 0x3cf }),
      vgprs: { 2: { 0: 0x7f7fffff, 1: 0xff7ffffe } },
    },
    {
      name: 'infinity times zero is the default NaN',
      text,
      start: interpolation(of(INFINITY, ONE), [0, MINUS_ZERO], { exec: 3n }),
      vgprs: { 2: { 0: QUIET, 1: QUIET } },
    },
    {
      name: 'attribute 1, channel w, from M0 on: 4 · (12 + 7) bytes behind byte 16',
      text: text.replace('attr0.x', 'attr1.w'),
      start: interpolation([...new Array<number>(16).fill(QUIET), ...of(TWO, ONE, 3)], [THREE], { exec: 1n, m0: 16 }),
      vgprs: { 2: { 0: 0x40e00000 } },
    },
    {
      name: 'quad 1 begins the second primitive, quad 2 has it, too',
      text,
      start: interpolation([...of(TWO, ONE), ...of(THREE, ONE)], new Array<number>(12).fill(ONE), { exec: 0xfffn, m0: 1 << 16 }),
      vgprs: { 2: row(Array.from({ length: 12 }, (_, lane) => (lane < 4 ? THREE : 0x40800000))) },
    },
  ]
}

const moved = (which: 'p0' | 'p10' | 'p20', word: number, dwords: readonly number[]): WaveCase => ({
  name: `${which} is moved as it is`,
  text: `v_interp_mov_f32 v2, ${which}, attr0.x`,
  start: interpolation(dwords, [], { exec: 0b110n, mode: 0 }),
  vgprs: { 2: { 1: word, 2: word } },
})

export const WAVE_CASES: Readonly<Record<string, readonly WaveCase[]>> = {
  v_nop: [
    { name: 'changes nothing', text: 'v_nop', start: start() },
    { name: 'nor with no lane on', text: 'v_nop', start: start({ exec: 0n }) },
  ],
  v_clrexcp: [
    { name: 'changes no register', text: 'v_clrexcp', start: start() },
    { name: 'nor with no lane on', text: 'v_clrexcp', start: start({ exec: 0n, mode: 0x3ff }) },
  ],
  v_readfirstlane_b32: [
    { name: 'reads the lowest lane that is on', text: 'v_readfirstlane_b32 s4, v3', start: start({ exec: 0xf0n }), sgprs: { 4: 0x304 } },
    { name: 'which may be the last', text: 'v_readfirstlane_b32 s4, v3', start: start({ exec: 1n << 63n }), sgprs: { 4: 0x33f } },
    { name: 'reads lane 0 where none is on', text: 'v_readfirstlane_b32 s4, v3', start: start({ exec: 0n }), sgprs: { 4: 0x300 } },
  ],
  v_readlane_b32: [
    { name: 'reads a lane that is off', text: 'v_readlane_b32 s4, v3, 5', start: start({ exec: 1n }), sgprs: { 4: 0x305 } },
    { name: 'reads with no lane on', text: 'v_readlane_b32 s4, v3, 63', start: start({ exec: 0n }), sgprs: { 4: 0x33f } },
    {
      name: 'takes the lane modulo 64',
      text: 'v_readlane_b32 s4, v3, s6',
      start: start({ sgprs: new Map([[6, 64 + 7]]) }),
      sgprs: { 4: 0x307 },
    },
    {
      name: 'a lane number of all ones is lane 63',
      text: 'v_readlane_b32 s4, v3, m0',
      start: start({ m0: 0xffffffff }),
      sgprs: { 4: 0x33f },
    },
  ],
  v_writelane_b32: [
    {
      name: 'writes a lane that is off, and no other',
      text: 'v_writelane_b32 v3, s6, 5',
      start: start({ exec: 1n, sgprs: new Map([[6, 0xffffffff]]) }),
      vgprs: { 3: { 5: 0xffffffff } },
    },
    { name: 'writes with no lane on', text: 'v_writelane_b32 v3, 1, 63', start: start({ exec: 0n }), vgprs: { 3: { 63: 1 } } },
    {
      name: 'takes the lane modulo 64',
      text: 'v_writelane_b32 v3, -1, s6',
      start: start({ sgprs: new Map([[6, 0x80000041]]) }),
      vgprs: { 3: { 1: 0xffffffff } },
    },
  ],
  v_movreld_b32: [
    { name: 'M0 moves the destination', text: 'v_movreld_b32 v1, v5', start: start({ m0: 3, exec: 0b10n }), vgprs: { 4: { 1: 0x501 } } },
    { name: 'not at all where it is 0', text: 'v_movreld_b32 v1, v5', start: start({ m0: 0, exec: 0b10n }), vgprs: { 1: { 1: 0x501 } } },
    {
      name: 'backwards where it is negative',
      text: 'v_movreld_b32 v3, v5',
      start: start({ m0: 0xffffffff, exec: 1n }),
      vgprs: { 2: { 0: 0x500 } },
    },
    {
      name: 'the source may be a constant',
      text: 'v_movreld_b32 v1, -1',
      start: start({ m0: 1, exec: 1n }),
      vgprs: { 2: { 0: 0xffffffff } },
    },
    { name: 'writes nothing with no lane on', text: 'v_movreld_b32 v1, v5', start: start({ m0: 3, exec: 0n }) },
  ],
  v_movrels_b32: [
    { name: 'M0 moves the source', text: 'v_movrels_b32 v1, v2', start: start({ m0: 3, exec: 0b10n }), vgprs: { 1: { 1: 0x501 } } },
    { name: 'not at all where it is 0', text: 'v_movrels_b32 v1, v2', start: start({ m0: 0, exec: 0b10n }), vgprs: { 1: { 1: 0x201 } } },
    {
      name: 'backwards where it is negative',
      text: 'v_movrels_b32 v1, v5',
      start: start({ m0: 0xfffffffe, exec: 1n }),
      vgprs: { 1: { 0: 0x300 } },
    },
    { name: 'writes nothing with no lane on', text: 'v_movrels_b32 v1, v2', start: start({ m0: 3, exec: 0n }) },
  ],
  v_movrelsd_b32: [
    { name: 'M0 moves both', text: 'v_movrelsd_b32 v1, v2', start: start({ m0: 3, exec: 0b10n }), vgprs: { 4: { 1: 0x501 } } },
    { name: 'onto each other', text: 'v_movrelsd_b32 v2, v2', start: start({ m0: 1 }) },
    { name: 'not at all where it is 0', text: 'v_movrelsd_b32 v1, v2', start: start({ m0: 0, exec: 0b10n }), vgprs: { 1: { 1: 0x201 } } },
    { name: 'writes nothing with no lane on', text: 'v_movrelsd_b32 v1, v2', start: start({ m0: 3, exec: 0n }) },
  ],
  v_interp_p1_f32: interpolations('p1'),
  v_interp_p2_f32: interpolations('p2'),
  v_interp_mov_f32: [
    moved('p0', SIGNALLING, attribute(SIGNALLING, 1, 2)),
    moved('p10', DENORMAL, attribute(1, DENORMAL, 2)),
    moved('p20', MINUS_ZERO, attribute(1, 2, MINUS_ZERO)),
    {
      name: 'each primitive has its own',
      text: 'v_interp_mov_f32 v2, p0, attr0.x',
      start: interpolation([...attribute(7, 8, 9), ...attribute(17, 18, 19), ...attribute(27, 28, 29)], [], { exec: 0x111n, m0: 3 << 16 }),
      vgprs: { 2: { 0: 7, 4: 17, 8: 27 } },
    },
  ],
}

export const waveCasesOf = ({ name }: Operation, { generation }: Target): readonly WaveCase[] =>
  [...(WAVE_CASES[name] ?? []), ...(INTERPOLATION[name] ?? [])].filter(({ generations }) => generations?.includes(generation) ?? true)
