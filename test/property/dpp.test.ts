import { describe, expect, test } from 'vitest'
import { encode } from '../../host/codec/encode.ts'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import { exampleOf } from '../../host/explain/example.ts'
import { formatsOf } from '../../host/explain/explain.ts'
import { OPERATION_BY_NAME } from '../../host/isa/operations.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { createReference } from '../../host/reference/engine.ts'

const { gfx803 } = TARGETS
/** v_mov_b32 v6, 1 */
const MOVE_ONE = 0x7e0c0281

/** Words of an operation with DPP. */
function wordsOf(name: string, fields: Record<string, number>): readonly number[] {
  const operation = OPERATION_BY_NAME.get(name)!
  const format = formatsOf(operation, 'gfx8').find((candidate) => candidate.name.endsWith('_dpp'))!
  const example = exampleOf(operation, format, gfx803)
  return encode({ ...example, fields: { ...example.fields, ...fields } })
}

/** What DPP and v_mov_b32 v6, 1 behind it leave in v5, v6, VCC and EXEC, or the code of the fault. */
function outcome(device: Device, name: string, fields: Record<string, number>, exec: bigint): string {
  const words = Uint32Array.from([...wordsOf(name, fields), MOVE_ONE])
  const lanes = Array.from({ length: 64 }, (_, lane) => lane + 100)
  const vgprs = new Map([
    [1, lanes],
    [2, lanes.map((lane) => lane - (lane & 3))],
  ])
  const execution = bareWave(device, device.loadCode(words), { vgprs, exec })
  execution.step(8)
  const wave = execution.waves[0]!
  const left = execution.error?.code ?? [wave.vcc, wave.exec, ...wave.vgpr(5), ...wave.vgpr(6)].join()
  execution.free()
  return left
}

describe.each([0xffffffffffffffffn, 0x123456789abcdef0n])('EXEC %i', (exec) => {
  test('every one of the 512 values of dpp_ctrl does the same on core and reference, or is refused by both', async () => {
    const reference = new Device(createReference(), gfx803)
    const core = new Device(await createCore(), gfx803)
    for (let control = 0; control < 512; control++)
      expect(`${control}: ${outcome(core, 'v_mov_b32', { dpp_ctrl: control }, exec)}`).toBe(
        `${control}: ${outcome(reference, 'v_mov_b32', { dpp_ctrl: control }, exec)}`,
      )
  })

  test.each(['v_mov_b32', 'v_add_co_u32', 'v_cndmask_b32'])('lanes that DPP of %s leaves out are on again behind it', async (name) => {
    const reference = new Device(createReference(), gfx803)
    const core = new Device(await createCore(), gfx803)
    for (const dpp_ctrl of [0x00, 0x1b, 0x101, 0x111, 0x12f, 0x138, 0x140, 0x143])
      for (const bound_ctrl of [0, 1])
        for (const mask of [0x00, 0x0f, 0x95, 0xff]) {
          const fields = { dpp_ctrl, bound_ctrl, row_mask: mask & 15, bank_mask: mask >> 4 }
          expect([fields, outcome(core, name, fields, exec)]).toEqual([fields, outcome(reference, name, fields, exec)])
        }
  })
})
