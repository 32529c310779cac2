/** Errors of a run say where it stands: pc, instruction with the lines around it, wave and workgroup. */
import { describe, expect, test } from 'vitest'
import { readJob, runJob, runTrace } from '../../host/index.ts'

/** Wave 0 loops; the others wait at the barrier. */
const NEVER_MET = `
  v_cmp_gt_u32 vcc, 64, v0
  s_cbranch_vccz wait
loop:
  s_add_u32 s8, s8, 1
  s_branch loop
wait:
  s_barrier
  s_endpgm
`
const spinning = { target: 'gfx803', code: { asm: NEVER_MET }, grid: [192, 1, 1], workgroup: [192, 1, 1], budget: 200_000 }

describe.each([
  ['alone', {}],
  ['watched', { profile: true }],
  ['checked', { check: true, engine: 'core' }],
] as const)('a budget used up, %s', (_, options) => {
  test('shows the loop and who waits where', async () => {
    const job = { ...spinning, budget: 'check' in options ? 3000 : 200_000 }
    const { status, error } = await runJob(readJob(job), options)
    expect(status).toBe('budget')
    expect(error).toMatchObject({ code: 'ERR_LIMIT', wave: 0, workgroup: [0, 0, 0] })
    const { pc, instruction, context, message } = error!
    expect([8, 12]).toContain(pc)
    expect(context).toContain(`> 0x000${pc!.toString(16)}  ${instruction}`)
    expect(context).toContain('  0x0010  s_barrier')
    if ('check' in options) return
    expect(message).toMatch(/wave 0: next is s_(add_u32 s8, s8, 1|branch .*) at pc 0x[8c]; wave 1, 2: waits at s_barrier at pc 0x10; look/)
  })
})

test('a trace that uses up its budget shows the instruction that would have been next', async () => {
  const words = Uint8Array.from({ length: 40 }, (_, i) => [0x01, 0x00, 0x08, 0x80][i % 4]!)
  const { status, error } = await runTrace({ target: 'gfx803', budget: 3 }, [words])
  expect(status).toBe('budget')
  expect(error).toMatchObject({ pc: 12, instruction: 's_add_u32 s8, s1, s0', wave: 0 })
  expect(error!.context![0]).toBe('> 0x000c  s_add_u32 s8, s1, s0')
})

test.each(['core', 'reference'] as const)('a fault of the global data share is told as one, on %s', async (engine) => {
  const asm = 's_mov_b32 m0, 0xfff00040\nv_mov_b32 v0, 32\nds_add_u32 v0, v1 gds\ns_endpgm'
  const { error } = await runJob(readJob({ target: 'gfx803', code: { asm }, wave: {} }), { engine })
  expect(error!.message).toMatch(/: GDS: lane 0 accessed 4 bytes at 0x10010, there are 65536 bytes; .* M0\[31:16\]$/)
  expect(error!.message).not.toMatch(/LDS/)
})
