import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/program.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { randomFrom } from './programs.ts'

/** Each operation, of an f16 in v1, one in v2 and an f32 in v3, then others of what it gives, so that numbers stay f32 and are read as bits. 1.5 times many an f16 is in the middle between two: least numbers decide. */
const SOURCE = `
  s_nop 0
  v_floor_f16 v10, v1
  v_ceil_f16 v11, v1
  v_rndne_f16 v12, v1
  v_trunc_f16 v13, v1
  v_sqrt_f16_e64 v14, |v1|
  v_rcp_f16 v15, v1
  v_cvt_f16_f32 v16, v3
  v_add_f16 v17, v1, v2
  v_sub_f16 v18, v1, v2
  v_subrev_f16 v19, v1, v2
  v_mul_f16 v20, v1, v2
  v_mad_f16 v21, v1, v2, -v1
  v_mov_b32 v22, v2
  v_mac_f16 v22, v1, v1
  v_add_f16 v23, v16, v17
  v_mad_f16 v24, |v20|, -v14, v15
  v_cvt_f32_f16 v25, v20
  v_cvt_f32_f16 v26, v1
  v_cvt_f32_f16 v27, -v17
  v_cmp_lt_f16 s[20:21], v17, v18
  v_cmp_nge_f16 s[22:23], |v20|, v24
  v_cmp_eq_f16 vcc, v17, v17
  v_mul_f16 v28, 0x3555, v17
  v_add_f16 v29, -4.0, v20
  v_xor_b32 v30, v17, v20
  v_mul_f16 v31, v17, v20
  v_mov_b32 v17, v31
  v_max_f16 v32, v31, v28
  v_fma_f16 v33, v1, v2, v3
  v_fma_f16 v34, v1, -v2, |v17|
  v_fma_f16 v35, v1, v1, v18
  v_mov_b32 v4, 0x3e00
  v_mov_b32 v5, 1
  v_mov_b32 v6, 0x8001
  v_fma_f16 v42, v1, v4, v5
  v_fma_f16 v43, v1, v4, v6
  v_max_f16 v36, v1, v1
  v_min_f16_e64 v37, -v20, -v20
  v_max_f16 v38, v20, v20
  v_add_f16 v38, v38, v37
  v_mul_f16_sdwa v39, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:DWORD
  v_mac_f16_sdwa v39, v2, v20 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_0
  v_max_f16_sdwa v40, v39, v39 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0
  v_max_f16_sdwa v41, v40, v40 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0
  s_endpgm`

/** Waves of all f16, each with others; some bring a NaN. What is above an f16 in its register means nothing. */
function states(engine: Engine): Uint32Array[] {
  const random = randomFrom(1)
  const device = new Device(engine, TARGETS.gfx803)
  const code = device.loadCode(assembleProgram(SOURCE, TARGETS.gfx803).words)
  const isNan = (half: number) => (half & 0x7fff) > 0x7c00
  const number = (): number => {
    const half = random(0x10000)
    return isNan(half) ? number() : half + 0x10000 * random(0x10000)
  }
  return Array.from({ length: 1024 }, (_, wave) => {
    const first = Array.from({ length: 64 }, (_, lane) => 64 * wave + lane + 0x10000 * random(0x10000))
    // Near where an f16 ends, and in the middle between two.
    const float = () => (((random(2) << 31) | ((102 + random(45)) << 23) | (random(0x800) << 12)) + random(3) - 1) >>> 0
    const lanes = (value: () => number) => Array.from({ length: 64 }, value)
    const vgprs = new Map([
      [1, first],
      [2, lanes(number)],
      [3, lanes(float)],
    ])
    const execution = bareWave(device, code, { vgprs, mode: 0x3c0 })
    while (execution.status === 'running') execution.step(1000)
    const state = execution.waves[0]!.state()
    const words = new Uint32Array(state.buffer, state.byteOffset, state.byteLength / 4).slice(256 / 4, (1024 + 44 * 256) / 4)
    execution.free()
    return words
  })
}

test('chains of f16 operations give the same in translate as in core, for all f16', async () => {
  const want = states(await createCore())
  const engine = await createTranslate({ threshold: 1 })
  const got = states(engine)
  expect(engine.translated.regions).toBe(1)
  // EXEC's lane masks are a cache.
  const masked = (words: Uint32Array) => [...words.subarray(0, 128), ...words.subarray((1024 - 256) / 4)].join()
  const wrong = got.findIndex((words, wave) => masked(words) !== masked(want[wave]!))
  if (wrong < 0) return
  const at = got[wrong]!.findIndex((word, i) => word !== want[wrong]![i])
  expect.fail(
    `wave ${wrong}, dword ${at - 192}: ${got[wrong]![at]!.toString(16)} instead of ${want[wrong]![at]!.toString(16)} (v0 starts at 0)`,
  )
})
