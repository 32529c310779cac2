import { describe, expect, test } from 'vitest'
import { bareWave, Device } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { readJob, runJob } from '../../host/index.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { WAVE_INSTRUCTIONS, WAVE_SCALARS, WAVE_VECTORS } from '../../host/plan/layout.ts'
import { createReference } from '../../host/reference/engine.ts'
import { crossCheck } from '../../host/results/check.ts'
import { assembleProgram } from '../../host/text/program.ts'

/** A reference that, as its `at`-th instruction, also flips bits of a word of the wave, if it may run at least so many. */
function faulty(at: number, offset: number, bits: number, least = 1): Engine {
  const engine = createReference()
  return {
    name: 'core',
    heapBase: engine.heapBase,
    get memory() {
      return engine.memory
    },
    grow: (bytes) => engine.grow(bytes),
    run(wave, budget) {
      const words = () => new Uint32Array(engine.memory)
      const count = () => words()[(wave + WAVE_INSTRUCTIONS) / 4]!
      for (let left = budget; ; left--) {
        const before = count()
        const stop = engine.run(wave, 1)
        if (budget >= least && before === at - 1 && count() === at) words()[(wave + offset) / 4]! ^= bits
        if (stop !== 3 || left === 1) return stop
      }
    },
  }
}

const LOOP = `
  s_movk_i32 s0, 0x500
again:
  v_add_u32 v1, vcc, 1, v1
  v_mul_f32 v2, 2.0, v3
  s_sub_u32 s0, s0, 1
  s_cmp_lg_u32 s0, 0
  s_cbranch_scc1 again
  s_endpgm`

function check(engine: () => Engine, text = LOOP, stride = 1) {
  const { words } = assembleProgram(text, TARGETS.gfx803)
  return crossCheck(
    async (which) => {
      const device = new Device(which === 'run' ? engine() : createReference(), TARGETS.gfx803)
      return bareWave(device, device.loadCode(words), { exec: 0xffn, vcc: 0x33n, vgprs: new Map([[3, 0x3f800000]]) })
    },
    { budget: 1e6, stride },
  )
}

describe('cross-check', () => {
  test('finds nothing between two references', async () => {
    const { parting, reference } = await check(createReference)
    expect(parting).toBeUndefined()
    expect([reference.status, reference.instructions]).toEqual(['done', 1 + 0x500 * 5 + 1])
  })

  test('finds the instruction, the register and the lane, deep in a later slice', async () => {
    // Instruction 1 is s_movk, so 5003 is the second of a round: v_mul_f32
    const { parting } = await check(() => faulty(5003, WAVE_VECTORS + 2 * 256 + 5 * 4, 0x80000000))
    expect(parting).toMatchObject({
      after: 5002,
      span: 1,
      workgroup: [0, 0, 0],
      wave: 0,
      exec: 0xffn,
      line: { offset: 8, text: 'v_mul_f32_e32 v2, 2.0, v3' },
      list: [{ where: 'v2', lane: 5, expected: '0x40000000', actual: '0xc0000000' }],
      count: 1,
    })
    expect(parting!.context.map(({ offset }) => offset)).toEqual([0, 4, 8, 12, 16])
  })

  test.each([
    ['in the middle', 2003, 'v_mul_f32_e32 v2, 2.0, v3'],
    // 1 and 819 rounds of five.
    ['as the last one of a slice', 4096, 's_cbranch_scc1 65531 // 0x0004'],
    ['at the end', 1 + 0x500 * 5 + 1, 's_endpgm'],
  ])('finds a register that an instruction writes and should not, %s', async (_, at, text) => {
    const { parting } = await check(() => faulty(at, WAVE_VECTORS + 3 * 256 + 63 * 4, 1))
    expect(parting).toMatchObject({ after: at - 1, span: 1, line: { text }, list: [{ where: 'v3', lane: 63 }], count: 1 })
  })

  test('of code that runs off its end, the next workgroup is laid out in the step that ends the last one', async () => {
    const job = readJob({ target: 'gfx803', code: { asm: 's_nop 1' }, grid: [156, 1, 1], workgroup: [100, 1, 1] })
    expect(await runJob(job, { engine: 'core', check: true })).toMatchObject({ status: 'ok', instructions: 3, check: { parting: null } })
  })

  test.each(['0x809afe36', '0xbf00fe36'])('LDS_DIRECT is no source of a scalar operation: %s', async (word) => {
    for (const engine of ['core', 'reference'] as const) {
      const { error } = await runJob(readJob({ target: 'gfx600', code: { words: [word] }, wave: {} }), { engine })
      expect(error).toMatchObject({ code: 'ERR_ILLEGAL', message: expect.stringContaining('operands that gfx600 does not allow') })
    }
  })

  test('finds what was exported and sent though the registers are the same again', async () => {
    const text = 'v_mov_b32 v1, 2\n exp mrt0 off, v1, off, off done vm\n v_mov_b32 v1, 3\n s_nop 0\n s_nop 0\n s_endpgm'
    const lane7 = WAVE_VECTORS + 256 + 7 * 4
    expect((await check(() => faulty(9, lane7, 1, 2), text, 64)).parting).toBeUndefined()
    expect((await check(() => faulty(1, lane7, 1, 2), text, 64)).parting).toMatchObject({
      after: 0,
      span: 4,
      line: { text: 'v_mov_b32_e32 v1, 2' },
      list: [{ where: 'export 0, mrt0.y', lane: 7, expected: '0x00000002', actual: '0x00000003' }],
      count: 1,
    })
    const send = 's_mov_b32 m0, 5\n s_sendmsg 1\n s_mov_b32 m0, 6\n s_nop 0\n s_endpgm'
    expect((await check(() => faulty(1, WAVE_SCALARS + 124 * 4, 2, 2), send, 64)).parting).toMatchObject({
      span: 4,
      list: [{ where: 'message 0, m0', expected: '0x00000005', actual: '0x00000007' }],
      count: 1,
    })
  })

  test('names scalars', async () => {
    const { parting } = await check(() => faulty(1, WAVE_SCALARS + 106 * 4, 1))
    expect(parting).toMatchObject({
      after: 0,
      line: { text: 's_movk_i32 s0, 0x500' },
      vcc: 0x33n,
      list: [{ where: 'vcc_lo', expected: '0x00000033', actual: '0x00000032' }],
    })
  })
})
