import { expect, test } from 'vitest'
import { report } from '../../host/cli/report.ts'
import type { JobResult } from '../../host/jobs/result.ts'

const RESULT: JobResult = {
  name: 'saxpy',
  status: 'mismatch',
  read: {},
  differences: [{ where: 'v2', lane: 5, expected: '0x40000000', actual: '0xc0000000' }],
  more: 63,
  engine: 'core',
  threads: 1,
  instructions: 5002,
  seconds: 0.0123,
  approximate: { v_rcp_f32: 12 },
  check: {
    engine: 'reference',
    seconds: 0.5,
    parting: {
      pc: 8,
      instruction: 'v_mul_f32_e32 v2, 2.0, v3',
      workgroup: [1, 0, 0],
      wave: 3,
      after: 5002,
      span: 1,
      exec: '0x00000000000000ff',
      vcc: '0x0000000000000000',
      context: ['  0x0004  v_add_u32_e32 v1, vcc, 1, v1', '> 0x0008  v_mul_f32_e32 v2, 2.0, v3', '  0x000c  s_sub_u32 s0, s0, 1'],
    },
  },
}

test('where two engines part: the instruction in its place, masks, registers and lanes', () => {
  expect(report(RESULT, false)).toBe(`MISMATCH saxpy  5,002 instructions, 12.3 ms on core
The engines part at v_mul_f32_e32 v2, 2.0, v3
  after 5,002 instructions, in wave 3 of workgroup 1,0,0
  before it: exec 0x00000000000000ff, vcc 0x0000000000000000

    0x0004  v_add_u32_e32 v1, vcc, 1, v1
  > 0x0008  v_mul_f32_e32 v2, 2.0, v3
    0x000c  s_sub_u32 s0, s0, 1

where  at  reference   as float  core        as float
v2      5  0x40000000  2         0xc0000000  -2
and 63 more
         approximate: v_rcp_f32 12
`)
})

test('64-bit values as doubles, the widest table fits 80 columns', () => {
  const wide = { where: 'v[20:21]', lane: 63, expected: '0x7fefffffffffffff', actual: '0x8000000000000000' }
  const text = report({ ...RESULT, differences: [wide] }, false)
  expect(text).toContain('1.797693e+308')
  expect(text).toContain('-0')
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
})
