import { expect, test } from 'vitest'
import { lanewise } from './support.ts'

test('explain prints meaning, operands, encodings and an example within 80 columns', async () => {
  const { code, out } = await lanewise(['explain', 'v_add_f32'])
  expect(code).toBe(0)
  expect(out).toContain('D = S0 + S1.')
  for (const form of [
    'VOP2 on gfx6, gfx7: opcode 3',
    'VOP2 on gfx8: opcode 1',
    'VOP3A on gfx8: opcode 257',
    'VOP2_SDWA on gfx8',
    'VOP2_DPP on gfx8',
  ])
    expect(out).toContain(form)
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('explain runs the instruction on values', async () => {
  const { code, out } = await lanewise(['explain', 'v_cubesc_f32', 'v5,', 'v1,', 'v2,', 'v3', '--v1', '1.0', '--v2', '-2.5', '--v3', '0.5'])
  expect(code).toBe(0)
  expect(out).toContain('Run on gfx803, core, MODE 0x3c0')
  expect(out).toMatch(/→ +v5 +0x3f800000 +1\n/)
})

test('explain runs its own example when only values are given', async () => {
  const { out } = await lanewise(['explain', 'v_add_i32', '--target', 'gfx600', '--v1', '2', '--v2=-3', '--engine', 'reference', '--json'])
  const { run } = JSON.parse(out)
  expect(run).toMatchObject({ instruction: 'v_add_i32_e32 v5, vcc, v1, v2', engine: 'reference', target: 'gfx600' })
  expect(run.after[0]).toEqual({ register: 'v5', type: 'u32', lanes: [{ hex: '0xffffffff', number: '4294967295' }] })
})

test('operands may begin with a minus', async () => {
  const { code, out } = await lanewise([
    'explain',
    'v_mad_f32',
    'v5,',
    '-v1,',
    '-|v2|,',
    'v3',
    '--v1',
    '-2',
    '--v2',
    '3',
    '--v3',
    '0.5',
    '--json',
  ])
  expect(code).toBe(0)
  // -(-2) · -|3| + 0.5
  expect(JSON.parse(out).run).toMatchObject({ instruction: 'v_mad_f32 v5, -v1, -|v2|, v3', after: [{ lanes: [{ number: '-5.5' }] }] })
})

test('explain without a name lists the families, with a family its operations', async () => {
  expect((await lanewise(['explain'])).out).toMatch(/^vop3 +vector, three operands/m)
  expect((await lanewise(['explain', 'vintrp'])).out).toContain('v_interp_mov_f32')
})

test.each([
  [['explain', 'v_cubesx_f32'], 'did you mean v_cubesc_f32'],
  [['explain', 'v_add_u32', '--target', 'gfx600'], 'gfx600 has no v_add_u32'],
  [['explain', 'v_add_f32', '--v1', 'one'], 'v1: "one" is no f32'],
  [['explain', 'v_add_f32', '--mode', '0x3c0'], '--mode is for running'],
  [['explain', 'v_add_f32', '--v1', '1', '--mode', 'x'], '--mode is x'],
  [['explain', 'v_add_f32', '--v1', '1', '--engine', 'cor'], 'did you mean core'],
  [['explain', 'v_add_f32', '--w1', '1'], 'unknown option --w1'],
  [['explain', 'v_add_f32', '--v1'], '--v1 needs a value'],
  [['explain', 'v_add_f32', 'v5, v1'], 'v_add_f32'],
])('%j is refused', async (args, message) => {
  const { code, err } = await lanewise(args)
  expect(code).toBe(2)
  expect(err).toContain(message)
})

test('what Lanewise does not run is exit code 3, a fault is 1', async () => {
  expect((await lanewise(['explain', 's_rfe_b64', '--s0', '1'])).code).toBe(3)
  expect((await lanewise(['explain', 'flat_load_dword', '--v2', '0x1000'])).code).toBe(1)
})
