/** Parameters beyond the LDS: all engines name the same one. */
import { expect, test } from 'vitest'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { Machines } from './machines.ts'

// P0 is at 0 and P10 at 4 (CLRX, "GCN ISA VINTRP instructions"). Which of two that are missing is named is a choice: P10.
test.each(['v_interp_p1_f32 v1, v0, attr0.x', 'v_interp_p1ll_f16 v1, v0, attr0.x'])('`%s` without any LDS faults at P10', async (text) => {
  const { words } = assembleProgram(`${text}\ns_endpgm`, TARGETS.gfx803)
  for (const loaded of await new Machines(TARGETS.gfx803, 1).load(words))
    expect([loaded.name, loaded.run({ ldsBytes: 0 }).status]).toEqual([
      loaded.name,
      expect.stringContaining('lane 0 accessed 4 bytes at 0x4'),
    ])
})
