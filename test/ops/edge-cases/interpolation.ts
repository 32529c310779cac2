/**
 * Edge cases of interpolation in VOP3 (gfx8), by hand: modifiers, and parameters of f16. Sources: AMD's GCN3 manual, V_INTERP_P1LL_F16 and
 * its neighbours; for the round mode LLVM's SIModeRegister.cpp; that halves of VGPRs are not kept, Mesa's aco_ir.cpp (instr_is_16bit).
 */
import type { WaveCase } from './whole-wave.ts'

/** Attribute 0, channel x. */
type Parameters = readonly [p0: number, p10: number, p20: number]
/** v2 in lane 0 after the instruction, which begins with all ones there. */
type Case = readonly [text: string, parameters: Parameters, vgprs: Readonly<Record<number, number>>, mode: number, result: number]

/** Round to nearest, all denormals kept, DX10_CLAMP. */
const PLAIN = 0x1f0
const FLUSH_F32 = 0x1c0
const FLUSH_F16 = 0x130
const IEEE = 0x200
/** MODE's round modes: 0 nearest even, 1 towards +∞, 2 towards −∞, 3 towards zero. */
const rounding = (f32: number, f16: number): number => PLAIN | f32 | (f16 << 2)

// Low halves: P0 = 1, P10 = 2, P20 = 3; high halves 10, 20, 30.
const HALVES: Parameters = [0x49003c00, 0x4d004000, 0x4f804200]
// P0 = 1, P10 = 2, P20 = 3
const WHOLES: Parameters = [0x3f800000, 0x40000000, 0x40400000]
// 2, -2, the f16 -1 and 100, 5
const VALUES = { 0: 0x40000000, 1: 0xc0000000, 3: 0x5640bc00, 4: 0x40a00000 }

/** OMOD acts where MODE flushes results of its type and IEEE is clear; elsewhere it does nothing. */
const omod = (text: string, parameters: Parameters, flush: number, plain: number, modified: number): Case[] => [
  [text, parameters, VALUES, flush, modified],
  [text, parameters, VALUES, PLAIN, plain],
  [text, parameters, VALUES, flush | IEEE, plain],
]

const P1: readonly Case[] = [
  ['v_interp_p1_f32_e64 v2, -v0, attr0.x', WHOLES, VALUES, PLAIN, 0xc0400000], // 2 · -2 + 1
  ['v_interp_p1_f32_e64 v2, |v1|, attr0.x', WHOLES, VALUES, PLAIN, 0x40a00000],
  ['v_interp_p1_f32_e64 v2, -|v1|, attr0.x', WHOLES, VALUES, PLAIN, 0xc0400000],
  ['v_interp_p1_f32_e64 v2, v0, attr0.x clamp', WHOLES, VALUES, PLAIN, 0x3f800000],
  ['v_interp_p1_f32_e64 v2, v1, attr0.x clamp', WHOLES, VALUES, PLAIN, 0],
  ['v_interp_p1_f32_e64 v2, v0, attr0.x clamp', [0x7fc00000, 0, 0], VALUES, PLAIN, 0],
  ['v_interp_p1_f32_e64 v2, v0, attr0.x clamp', [0x7fc00000, 0, 0], VALUES, PLAIN & ~0x100, 0x7fc00000],
  ...omod('v_interp_p1_f32_e64 v2, v0, attr0.x mul:2', WHOLES, FLUSH_F32, 0x40a00000, 0x41200000),
]

const P2: readonly Case[] = [
  // v2 is all ones, a NaN, unless it is given.
  ['v_interp_p2_f32_e64 v2, -v0, attr0.x', WHOLES, { ...VALUES, 2: 0x41200000 }, PLAIN, 0x40800000], // 10 - 3 · 2
  ['v_interp_p2_f32_e64 v2, |v1|, attr0.x clamp', WHOLES, { ...VALUES, 2: 0x41200000 }, PLAIN, 0x3f800000],
  ['v_interp_p2_f32_e64 v2, v0, attr0.x div:2', WHOLES, { ...VALUES, 2: 0x41200000 }, FLUSH_F32, 0x41000000],
]

const MOV: readonly Case[] = [
  ['v_interp_mov_f32_e64 v2, p10, attr0.x clamp', WHOLES, {}, PLAIN, 0x3f800000],
  ...omod('v_interp_mov_f32_e64 v2, p20, attr0.x mul:4', WHOLES, FLUSH_F32, 0x40400000, 0x41400000),
  ...omod('v_interp_mov_f32_e64 v2, p0, attr0.x div:2', WHOLES, FLUSH_F32, 0x3f800000, 0x3f000000),
]

/** 1 + 2^-23, and 2^-24, the least f16: half a unit of the last place, which is odd. */
const roundedByF16 = (text: string): Case[] =>
  [
    [0, 0, 0x3f800002],
    [3, 0, 0x3f800002],
    [0, 1, 0x3f800002],
    [0, 2, 0x3f800001],
    [0, 3, 0x3f800001],
  ].map(([f32, f16, result]) => [text, [0x0001, 0x3c00, 0], { 0: 0x3f800001, 3: 0x0001 }, rounding(f32!, f16!), result!])

const P1LL: readonly Case[] = [
  ['v_interp_p1ll_f16 v2, v0, attr0.x', HALVES, VALUES, PLAIN, 0x40a00000], // 2 · 2 + 1
  ['v_interp_p1ll_f16 v2, v0, attr0.x high', HALVES, VALUES, PLAIN, 0x42480000], // 20 · 2 + 10
  ['v_interp_p1ll_f16 v2, -v0, attr0.x', HALVES, VALUES, PLAIN, 0xc0400000],
  ['v_interp_p1ll_f16 v2, |v1|, attr0.x high', HALVES, VALUES, PLAIN, 0x42480000],
  ['v_interp_p1ll_f16 v2, v0, attr0.x clamp', HALVES, VALUES, PLAIN, 0x3f800000],
  ...omod('v_interp_p1ll_f16 v2, v0, attr0.x mul:4', HALVES, FLUSH_F32, 0x40a00000, 0x41a00000),
  // (1 + 2^-10)(1 + 2^-23) loses its 2^-33 before -(1 + 2^-10) is added.
  ['v_interp_p1ll_f16 v2, v0, attr0.x', [0xbc01, 0x3c01, 0], { 0: 0x3f800001 }, PLAIN, 0x34000000],
  ...roundedByF16('v_interp_p1ll_f16 v2, v0, attr0.x'),
  // Parameters are flushed by MODE's bits for f16, f32 always.
  ['v_interp_p1ll_f16 v2, v0, attr0.x', [0x0001, 0, 0], { 0: 0 }, PLAIN, 0x33800000],
  ['v_interp_p1ll_f16 v2, v0, attr0.x', [0x0001, 0, 0], { 0: 0 }, FLUSH_F32, 0x33800000],
  ['v_interp_p1ll_f16 v2, v0, attr0.x', [0x0001, 0, 0], { 0: 0 }, FLUSH_F16, 0],
  ['v_interp_p1ll_f16 v2, v0, attr0.x', [0, 0x7c00, 0], { 0: 0x00000001 }, PLAIN, 0x7fc00000], // infinity · 0
  ['v_interp_p1ll_f16 v2, v0, attr0.x', [0x7c00, 0x3c00, 0], { 0: 0xff800000 }, PLAIN, 0x7fc00000], // infinity - infinity
  // A NaN is made quiet and keeps its payload; the first one of P10, I, P0.
  ['v_interp_p1ll_f16 v2, v0, attr0.x', [0xfe33, 0x7d01, 0], { 0: 0xffc12345 }, PLAIN, 0x7fe02000],
  ['v_interp_p1ll_f16 v2, v0, attr0.x', [0xfe33, 0x3c00, 0], { 0: 0xff812345 }, PLAIN, 0xffc12345],
  ['v_interp_p1ll_f16 v2, v0, attr0.x', [0xfc33, 0x3c00, 0], { 0: 0 }, PLAIN, 0xffc66000],
]

const P1LV: readonly Case[] = [
  ['v_interp_p1lv_f16 v2, v0, attr0.x, v3', HALVES, VALUES, PLAIN, 0x40400000], // 2 · 2 - 1
  ['v_interp_p1lv_f16 v2, v0, attr0.x, v3 high', HALVES, VALUES, PLAIN, 0x430c0000], // 20 · 2 + 100
  ['v_interp_p1lv_f16 v2, v0, attr0.x, -v3', HALVES, VALUES, PLAIN, 0x40a00000], // 4 + 1
  ['v_interp_p1lv_f16 v2, v0, attr0.x, |v3|', HALVES, VALUES, PLAIN, 0x40a00000],
  ['v_interp_p1lv_f16 v2, v0, attr0.x, -v3 high', HALVES, VALUES, PLAIN, 0xc2700000], // 40 - 100
  ['v_interp_p1lv_f16 v2, -v0, attr0.x, -|v3|', HALVES, VALUES, PLAIN, 0xc0a00000], // -4 - 1
  ['v_interp_p1lv_f16 v2, v0, attr0.x, v3 clamp', HALVES, VALUES, PLAIN, 0x3f800000],
  ...omod('v_interp_p1lv_f16 v2, v0, attr0.x, v3 div:2', HALVES, FLUSH_F32, 0x40400000, 0x3fc00000),
  ...roundedByF16('v_interp_p1lv_f16 v2, v0, attr0.x, v3'),
  ['v_interp_p1lv_f16 v2, v0, attr0.x, -v3', [0, 0, 0], { 0: 0, 3: 0x3c000001 }, PLAIN, 0xb3800000],
  ['v_interp_p1lv_f16 v2, v0, attr0.x, -v3', [0, 0, 0], { 0: 0x80000000, 3: 0x3c000001 }, FLUSH_F16, 0x80000000], // -0 + -0
]

const P2_F16: readonly Case[] = [
  // The high half of v2 is cleared.
  ['v_interp_p2_f16 v2, v0, attr0.x, v4', HALVES, VALUES, PLAIN, 0x4980], // 3 · 2 + 5
  ['v_interp_p2_f16 v2, v0, attr0.x, v4 high', HALVES, VALUES, PLAIN, 0x5410], // 30 · 2 + 5
  ['v_interp_p2_f16 v2, -v0, attr0.x, v4', HALVES, VALUES, PLAIN, 0xbc00], // -6 + 5
  ['v_interp_p2_f16 v2, v0, attr0.x, -v4', HALVES, VALUES, PLAIN, 0x3c00],
  ['v_interp_p2_f16 v2, v0, attr0.x, v4 clamp', HALVES, VALUES, PLAIN, 0x3c00],
  ['v_interp_p2_f16 v2, -|v0|, attr0.x, |v4| clamp', HALVES, VALUES, PLAIN, 0],
  ...omod('v_interp_p2_f16 v2, v0, attr0.x, v4 mul:2', HALVES, FLUSH_F16, 0x4980, 0x4d80),
  // 1 + 2^-11 + 2^-40 is rounded to f32 first: 1 + 2^-11, a tie for f16; all by the f16 mode.
  ...[
    [0, 0, 0x3c00],
    [0, 1, 0x3c01],
    [0, 2, 0x3c00],
    [0, 3, 0x3c00],
    [1, 3, 0x3c00],
  ].map(([f32, f16, result]): Case => {
    return ['v_interp_p2_f16 v2, v0, attr0.x, v4', [0, 0, 0x3c00], { 0: 0x2b800000, 4: 0x3f801000 }, rounding(f32!, f16!), result!]
  }),
  // 65,520 overflows as its round mode says.
  ...[0x7c00, 0x7c00, 0x7bff, 0x7bff].map((result, f16): Case => {
    return ['v_interp_p2_f16 v2, v0, attr0.x, v4', [0, 0, 0], { 0: 0, 4: 0x477ff000 }, rounding(0, f16), result]
  }),
  ['v_interp_p2_f16 v2, v0, attr0.x, v4', [0, 0, 0], { 0: 0, 4: 0xb3800000 }, PLAIN, 0x8001],
  ['v_interp_p2_f16 v2, v0, attr0.x, v4', [0, 0, 0], { 0: 0, 4: 0xb3800000 }, FLUSH_F32, 0x8001],
  ['v_interp_p2_f16 v2, v0, attr0.x, v4', [0, 0, 0], { 0: 0, 4: 0xb3800000 }, FLUSH_F16, 0x8000],
  ['v_interp_p2_f16 v2, v0, attr0.x, v4', [0, 0, 0], { 0: 0, 4: 0x00000001 }, rounding(0, 1), 0], // flushed before it is rounded up
  ['v_interp_p2_f16 v2, v0, attr0.x, v4', [0, 0, 0], { 0: 0, 4: 0x7f812345 }, PLAIN, 0x7e09],
]

const lds = ([p0, p10, p20]: Parameters): Uint8Array => new Uint8Array(Uint32Array.of(p0, p10, 0, 0, 0, 0, 0, 0, p20, 0, 0, 0).buffer)

const waveCase = ([text, parameters, vgprs, mode, result]: Case): WaveCase => ({
  name: `MODE 0x${mode.toString(16)}`,
  text,
  start: {
    lds: lds(parameters),
    ldsBytes: 64,
    m0: 0,
    mode,
    exec: 1n,
    vgprs: new Map(Object.entries({ 2: 0xffffffff, ...vgprs }).map(([vgpr, word]) => [Number(vgpr), new Array<number>(64).fill(word)])),
  },
  vgprs: { 2: { 0: result } },
  generations: ['gfx8'],
})

/** By operation. */
export const INTERPOLATION: Readonly<Record<string, readonly WaveCase[]>> = {
  v_interp_p1_f32: P1.map(waveCase),
  v_interp_p2_f32: P2.map(waveCase),
  v_interp_mov_f32: MOV.map(waveCase),
  v_interp_p1ll_f16: P1LL.map(waveCase),
  v_interp_p1lv_f16: P1LV.map(waveCase),
  v_interp_p2_f16: P2_F16.map(waveCase),
}
