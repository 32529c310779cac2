import { expect, test } from 'vitest'
import { bareWave, Device } from '../../host/device/index.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { openEngine } from '../../host/jobs/engines.ts'

// s_endpgm behind each; the second operand of s_set_gpr_idx_on is a field of its own, whatever its encoding stands for elsewhere.
test.each([
  ['s_set_gpr_idx_on 21, 0x9f', 0xbf119f95, 0xf015],
  ['s_set_gpr_idx_on 21, 0xc1', 0xbf11c195, 0x1015],
  ['s_set_gpr_idx_on 21, 0xf1', 0xbf11f195, 0x1015],
  ['s_set_gpr_idx_on 21, gpr_idx(SRC1,DST)', 0xbf110a95, 0xa015],
  ['s_setreg_b32 hwreg(HW_REG_HW_ID, 8, 1), s6, which has no effect', 0xb9060204, 0],
  ['s_setreg_b32 hwreg(HW_REG_GPR_ALLOC), s6, which has no effect', 0xb906f805, 0],
])('%s leaves M0 the same in core and reference', async (_, word, m0) => {
  for (const name of ['core', 'reference'] as const) {
    const device = new Device(await openEngine(name), TARGETS.gfx803)
    const execution = bareWave(device, device.loadCode(Uint32Array.from([word, 0xbf810000])), { sgprs: new Map([[6, 0xffff]]) })
    const { status, error } = await execution.run()
    expect([name, status, error?.message]).toEqual([name, 'done', undefined])
    expect([name, execution.waves[0]!.m0]).toEqual([name, m0])
  }
})
