import { describe, expect, test } from 'vitest'
import { encode } from '../../host/codec/encode.ts'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { exampleOf } from '../../host/explain/example.ts'
import { formatsOf } from '../../host/explain/explain.ts'
import { OPERATION_BY_NAME } from '../../host/isa/operations.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { createReference } from '../../host/reference/engine.ts'

const { gfx803 } = TARGETS
const move = OPERATION_BY_NAME.get('v_mov_b32')!
const format = formatsOf(move, 'gfx8').find(({ name }) => name === 'vop1_dpp')!
const example = exampleOf(move, format, gfx803)

/** What `v_mov_b32_dpp v5, v1` with this dpp_ctrl leaves in v5, or the code of its fault. */
function outcome(engine: Engine, control: number, exec: bigint): string {
  const device = new Device(engine, gfx803)
  const words = Uint32Array.from(encode({ ...example, fields: { ...example.fields, dpp_ctrl: control } }))
  const lanes = Array.from({ length: 64 }, (_, lane) => lane + 100)
  const execution = bareWave(device, device.loadCode(words), { vgprs: new Map([[1, lanes]]), exec })
  execution.step(8)
  return execution.error?.code ?? [...execution.waves[0]!.vgpr(5)].join()
}

describe.each([0xffffffffffffffffn, 0x123456789abcdef0n])('EXEC %i', (exec) => {
  test('every one of the 512 values of dpp_ctrl does the same on core and reference, or is refused by both', async () => {
    const reference = createReference()
    const core = await createCore()
    for (let control = 0; control < 512; control++)
      expect(`${control}: ${outcome(core, control, exec)}`).toBe(`${control}: ${outcome(reference, control, exec)}`)
  })
})
