/** Modifiers where a row is done in one go but for a lane that needs care: what was done before it must stay, in registers that are source and destination. */
import { describe, expect, test } from 'vitest'
import { waveOf } from './wave.ts'

/** The row of `usual`, but for some lanes. */
const row = (usual: number, odd: Readonly<Record<number, number>> = {}) => Array.from({ length: 64 }, (_, lane) => odd[lane] ?? usual)
/** IEEE off, denormals of f32 flushed, DX10_CLAMP. */
const MODE = 0x1c0

const [ONE, TWO, THREE, MINUS_FIVE] = [0x3f800000, 0x40000000, 0x40400000, 0xc0a00000] as const
const [LEAST_NORMAL, MINUS_ZERO, INFINITE] = [0x00800000, 0x80000000, 0x7f800000] as const

describe('a lane that needs care', () => {
  test.each(['v_mac_f32_e64 v0, -v1, v2', 'v_mad_f32 v0, -v1, v2, v0', 'v_fma_f32 v0, -v1, v2, v0'])('`%s`', async (asm) => {
    // A signalling NaN is negated and quieted; a denormal is zero; the product may be zero.
    const w = await waveOf({ asm, mode: MODE, vgpr: { 0: row(ONE), 1: row(TWO, { 20: 0, 45: 0x7f800001, 46: 1 }), 2: row(THREE) } })
    w.run()
    expect(w.v(0)).toEqual(row(MINUS_FIVE, { 20: ONE, 45: 0xffc00001, 46: ONE }))
  })

  test('`v_max_f32 v0, |v0|, v1`: NaN gives the other operand', async () => {
    const vgpr = { 0: row(0xc0400000, { 37: 0x7fc00000, 38: MINUS_ZERO }), 1: row(TWO, { 38: MINUS_ZERO }) }
    const w = await waveOf({ asm: 'v_max_f32_e64 v0, |v0|, v1', mode: MODE, vgpr })
    w.run()
    expect(w.v(0)).toEqual(row(THREE, { 37: TWO, 38: 0 }))
  })

  test('`v_add_f32_sdwa v0, -v1, v2 dst_sel:WORD_1` keeps the rest of v0', async () => {
    const asm = 'v_add_f32_sdwa v0, -v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD'
    // 3 + 2^-22 - 2 = 1 + 2^-22.
    const w = await waveOf({ asm, mode: MODE, vgpr: { 0: row(0x11111111), 1: row(TWO, { 45: 0x7fc00005 }), 2: row(0x40400001) } })
    w.run()
    expect(w.v(0)).toEqual(row(0x00021111, { 45: 0x00051111 }))
  })

  test('inactive lanes are left alone on both ways', async () => {
    const exec = 0x5555_5555_5555_5555n
    const w = await waveOf({ asm: 'v_add_f32_e64 v0, -v0, v1', mode: MODE, exec, vgpr: { 0: row(TWO, { 33: 1, 44: 1 }), 1: row(THREE) } })
    w.run()
    expect(w.v(0)).toEqual(row(ONE, { 44: THREE }).map((x, lane) => (lane & 1 ? (lane === 33 ? 1 : TWO) : x)))
  })
})

describe('omod and clamp', () => {
  test.each([
    // A result is flushed before omod and behind it.
    ['v_mul_f32_e64 v0, v1, v2 mul:4', 0x1f800000, 0x1f800000, 0],
    ['v_mul_f32_e64 v0, v1, v2 mul:2', LEAST_NORMAL, ONE, 0x01000000],
    ['v_mul_f32_e64 v0, v1, v2 div:2', LEAST_NORMAL, ONE, 0],
    ['v_mul_f32_e64 v0, v1, v2 div:2', LEAST_NORMAL, TWO, LEAST_NORMAL],
    ['v_mul_f32_e64 v0, v1, v2 mul:2', 0x7f000000, ONE, INFINITE],
    ['v_mul_f32_e64 v0, v1, v2 clamp', MINUS_ZERO, ONE, 0],
    ['v_mul_f32_e64 v0, v1, v2 clamp', INFINITE, ONE, ONE],
    ['v_mul_f32_e64 v0, v1, v2 clamp', 0xff800000, ONE, 0],
    ['v_mul_f32_e64 v0, v1, v2 clamp', INFINITE, 0, 0],
    ['v_mul_f32_e64 v0, v1, v2 clamp', 0x3e800000, THREE, 0x3f400000],
    ['v_mul_f32_e64 v0, v1, v2 mul:2 clamp', 0x3e800000, THREE, ONE],
    ['v_mul_f32_e64 v0, v1, v2', MINUS_ZERO, ONE, MINUS_ZERO],
    ['v_max_f32_e64 v0, v1, v2 clamp', MINUS_ZERO, MINUS_ZERO, 0],
    ['v_max_f32_e64 v0, v1, v2 mul:2', MINUS_ZERO, MINUS_ZERO, MINUS_ZERO],
  ])('`%s` of %i and %i is %i', async (asm, a, b, result) => {
    const w = await waveOf({ asm, mode: MODE, vgpr: { 1: row(a), 2: row(b) } })
    w.run()
    expect(w.v(0)).toEqual(row(result))
  })

  test.each([
    ['IEEE is on', 0x3c0],
    ['denormals are kept', 0x1f0],
  ])('omod does not count where %s, clamp does', async (_, mode) => {
    const w = await waveOf({
      asm: 'v_mul_f32_e64 v0, v1, v2 mul:2\nv_mul_f32_e64 v3, v1, v2 mul:2 clamp',
      mode,
      vgpr: { 1: row(TWO), 2: row(ONE) },
    })
    w.run()
    expect([w.v(0), w.v(3)]).toEqual([row(TWO), row(ONE)])
  })
})
