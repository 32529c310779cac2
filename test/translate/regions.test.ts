import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/program.ts'
import { createTranslate } from '../../host/translate/engine.ts'

const ADDRESS = 0x1_0000_0000n

test.each([
  ['scalar loads', 's_load_dword s0, s[2:3], 0x0'],
  ['vector loads', 'flat_load_dword v0, v[2:3]'],
  ['stores', 'flat_store_dword v[2:3], v4'],
  ['atomics', 'flat_atomic_add v[2:3], v4'],
])('%s of a buffer that was freed since the last run fault, and those of its successor see it', async (_, access) => {
  // The second load faults in the 17th iteration, so that translated code is left there.
  const source = `loop:
    ${access}
    s_load_dword s1, s[2:3], s5
    s_add_u32 s5, s5, 4
    s_cmp_lg_u32 s5, 0
    s_cbranch_scc1 loop
    s_endpgm`
  const outcomes = []
  for (const engine of [await createCore(), await createTranslate({ threshold: 1 })]) {
    const device = new Device(engine, TARGETS.gfx803)
    const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
    const low = Number(ADDRESS & 0xffffffffn)
    const high = Number(ADDRESS >> 32n)
    const sgprs = new Map([
      [2, low],
      [3, high],
      [5, 0],
    ])
    const vgprs = new Map([
      [2, low],
      [3, high],
      [4, 7],
    ])
    const run = async () => {
      const execution = bareWave(device, code, { sgprs, vgprs })
      const { status, error, instructions } = await execution.run()
      const wave = execution.waves[0]!
      const result = { status, error: error?.message, instructions, registers: Buffer.from(wave.state()).toString('base64') }
      execution.free()
      return result
    }
    const results = []
    let region = device.memory.allocate(64, { address: ADDRESS })
    results.push(await run(), await run())
    device.memory.free(region)
    results.push(await run())
    // Something else has the memory now, so the buffer lies elsewhere.
    device.arena.allocate(64)
    region = device.memory.allocate(64, { address: ADDRESS })
    device.memory.view(region).fill(9)
    results.push(await run(), [...device.memory.view(region)])
    outcomes.push(results)
  }
  expect(outcomes[0]![2]).toMatchObject({ status: 'stopped' })
  expect(outcomes[1]).toEqual(outcomes[0])
})

test('a call between a change of EXEC and what the core masks by it', async () => {
  const source = `
    v_mov_b32 v1, 0
    s_movk_i32 s12, 200
    s_mov_b32 s14, 0x0f335577
    s_mov_b32 s15, 0x1234abcd
    s_getpc_b64 s[10:11]
  here:
    s_add_u32 s10, s10, DISTANCE
    s_addc_u32 s11, s11, 0
  loop:
    s_mov_b64 exec, s[14:15]
    s_swappc_b64 s[16:17], s[10:11]
    s_mov_b64 exec, -1
    v_mbcnt_lo_u32_b32 v2, -1, v2
    s_sub_u32 s12, s12, 1
    s_cmp_lg_u32 s12, 0
    s_cbranch_scc1 loop
    s_endpgm
  callee:
    v_mbcnt_hi_u32_b32 v1, -1, v1
    s_not_b64 exec, exec
    s_setpc_b64 s[16:17]`
  const { labels } = assembleProgram(source.replace('DISTANCE', '64'), TARGETS.gfx803)
  const { words } = assembleProgram(source.replace('DISTANCE', `${labels.get('callee')! - labels.get('here')!}`), TARGETS.gfx803)
  const states = []
  for (const engine of [await createCore(), await createTranslate({ threshold: 1 })]) {
    const device = new Device(engine, TARGETS.gfx803)
    const execution = bareWave(device, device.loadCode(words), {})
    const { status, instructions } = await execution.run()
    states.push({ status, instructions, registers: Buffer.from(execution.waves[0]!.state()).toString('base64') })
  }
  expect(states[0]).toMatchObject({ status: 'done', instructions: 7 + 200 * 10 + 1 })
  expect(states[1]).toEqual(states[0])
})
