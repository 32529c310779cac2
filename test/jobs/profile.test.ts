import { expect, test } from 'vitest'
import { report } from '../../host/cli/report.ts'
import { readJob } from '../../host/jobs/parse.ts'
import { runJob } from '../../host/jobs/run.ts'

/** Ten times round, half of the lanes; then loads and stores. */
const LOOP = readJob({
  name: 'loop',
  target: 'gfx803',
  code: {
    asm: `
      s_mov_b32 s0, 10
      s_mov_b64 exec, 0xff
    again:
      v_add_f32 v0, 1.0, v0
      s_sub_u32 s0, s0, 1
      s_cmp_lg_u32 s0, 0
      s_cbranch_scc1 again
      v_rcp_f32 v1, v0
      s_mov_b32 m0, -1
      ds_write_b32 v2, v1
      ds_read2_b32 v[4:5], v2 offset1:1
      buffer_load_dword v6, v2, s[4:7], 0 offen
      buffer_store_dwordx2 v[4:5], v3, s[4:7], 0 offen
      s_load_dwordx4 s[8:11], s[12:13], 0x0
      s_endpgm`,
  },
  wave: {
    sgpr: { s4: '0x10000', s5: 0, s6: 4096, s7: '0x00027fac', s12: '0x10000' },
    vgpr: { v2: Array.from({ length: 64 }, (_, lane) => lane * 4), v3: 64 },
  },
  buffers: { x: { type: 'u32', length: 1024, init: { fill: 0 }, address: '0x10000' } },
})

test('a profile counts classes, lanes, branches, bytes and patterns', async () => {
  const { status, error, profile, instructions } = await runJob(LOOP, { profile: true })
  expect({ status, error }).toEqual({ status: 'ok', error: undefined })
  expect(profile).toMatchObject({
    instructions,
    waves: 1,
    classes: { VALU: 11, SALU: 23, SMEM: 1, LDS: 2, VMEM: 2, control: 11, export: 0 },
    activeLanes: 8,
    branches: { taken: 9, notTaken: 1 },
    // 8 lanes × 4 loaded, 8 × 8 stored, 16 by the scalar load.
    globalBytes: { read: 48, written: 64 },
    ldsBytes: { read: 64, written: 32 },
    patterns: { contiguous: 1, same: 1, scattered: 0 },
    approximate: { v_rcp_f32: 1 },
  })
  expect(profile!.spots[0]).toMatchObject({ pc: 12, text: 'v_add_f32_e32 v0, 1.0, v0', count: 10, lanes: 80 })
  expect(profile!.spots.find(({ text }) => text.startsWith('s_cbranch_scc1'))).toMatchObject({ count: 10, taken: 9 })
})

test('at a terminal a profile fits 80 columns, hot spots first', async () => {
  const lines = report(await runJob(LOOP, { profile: true }), false).split('\n')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  expect(lines.find((line) => line.includes('v_add_f32'))).toMatch(/^ +10 +20\.0% +8\.0 +000c +v_add_f32_e32 v0, 1\.0, v0$/)
})
