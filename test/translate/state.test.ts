import { expect, test } from 'vitest'
import { bareWave, Device } from '../../host/device/index.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/program.ts'
import { createTranslate } from '../../host/translate/engine.ts'

const LANES = Array.from({ length: 64 }, (_, lane) => lane)
const WAVE = { vgprs: new Map([[1, LANES.map((lane) => 4 * lane)]]), lds: new Uint8Array(256).fill(9) }

/** Instructions that are interpreted at a time before a program is translated: all of a short one. */
const THRESHOLD = 5

/** Instructions at a time, of waves one after another: when the first or second one ends the program is translated, and the last one runs in short steps. */
const STEPS = [1000, 1000, 1000, 3]

/** VGPRs after a program, for each of these waves. */
async function vgprs(source: string, registers: readonly number[]): Promise<(readonly number[])[][]> {
  const engine = await createTranslate({ threshold: THRESHOLD })
  const device = new Device(engine, TARGETS.gfx803)
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
  const runs = STEPS.map((step) => {
    const execution = bareWave(device, code, WAVE)
    while (execution.status === 'running') execution.step(step)
    const rows = registers.map((register) => [...execution.waves[0]!.vgpr(register)])
    execution.free()
    return rows
  })
  expect(engine.translated.regions).toBeGreaterThan(0)
  return runs
}

test.each([
  ['s_setvskip', 's_setvskip 1, 0', 's_setvskip 0, 0'],
  ['s_setreg_b32', 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1', 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 0'],
])('what %s lets be skipped is not translated', async (_, on, off) => {
  const source = `
    s_movk_i32 s0, 20
    s_movk_i32 s1, 7
    ${on}
  loop:
    v_mov_b32 v2, v1
    v_readlane_b32 s1, v1, 3
    ds_read_b32 v3, v1
    v_add_u32 v4, vcc, v1, v4
    s_sub_u32 s0, s0, 1
    s_cmp_lg_u32 s0, 0
    s_cbranch_scc1 loop
    ${off}
    v_mov_b32 v5, s1
    s_endpgm`
  const zeros = LANES.map(() => 0)
  const want = [zeros, zeros, zeros, LANES.map(() => 7)]
  expect(await vgprs(source, [2, 3, 4, 5])).toEqual(STEPS.map(() => want))
})

test('a program is translated by the MODE that it begins with, whatever that is where it ends', async () => {
  // As bits of floats, what v1 holds are denormals.
  const source = `
    s_nop 0
    v_mul_f32 v2, 1.0, v1
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
    v_mul_f32 v3, 1.0, v1
    s_endpgm`
  const want = [LANES.map(() => 0), LANES.map((lane) => 4 * lane)]
  expect(await vgprs(source, [2, 3])).toEqual(STEPS.map(() => want))
})

test('a mask of a run is both what v_writelane writes and which lane', async () => {
  // Lanes 2 and up: the mask's low bits 5:0 say lane 60.
  const source = `
    s_nop 0
    v_cmp_lt_u32 vcc, 4, v1
    v_writelane_b32 v2, vcc_lo, vcc_lo
    v_cmp_gt_u32 vcc, 9, v1
    v_mov_b32 v3, vcc_lo
    s_endpgm`
  const want = [LANES.map((lane) => (lane === 60 ? 0xfffffffc : 0)), LANES.map(() => 7)]
  expect(await vgprs(source, [2, 3])).toEqual(STEPS.map(() => want))
})

test('a subroutine may come back with another MODE than it was called with', async () => {
  const source = `
    s_getpc_b64 s[2:3]
    s_branch main
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
    v_mul_f32 v2, 1.0, v1
    s_setpc_b64 s[4:5]
  main:
    s_add_u32 s2, s2, 4
    s_addc_u32 s3, s3, 0
    s_swappc_b64 s[4:5], s[2:3]
    v_mul_f32 v3, 1.0, v1
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    v_mul_f32 v4, 1.0, v1
    s_endpgm`
  const kept = LANES.map((lane) => 4 * lane)
  const want = [kept, kept, LANES.map(() => 0)]
  expect(await vgprs(source, [2, 3, 4])).toEqual(STEPS.map(() => want))
})

test('a wave that stops where MODE is changed for a while does not have the code translated for that MODE, too', async () => {
  const source = `
    s_nop 0
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
    v_mul_f32 v2, 1.0, v1
    v_add_f32 v2, v2, v1
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    v_mul_f32 v3, 1.0, v1
    s_endpgm`
  const engine = await createTranslate({ threshold: 1 })
  const device = new Device(engine, TARGETS.gfx803)
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
  for (const step of [1000, ...Array.from({ length: 20 }, () => 3)]) {
    const execution = bareWave(device, code, WAVE)
    while (execution.status === 'running') execution.step(step)
    execution.free()
  }
  expect(engine.translated.regions).toBe(1)
})
