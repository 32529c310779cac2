import { expect, test } from 'vitest'
import { DEFAULT_DESCRIPTOR, Device, dispatch, rawKernel } from '../../host/device/index.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/program.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { worthOf } from '../../host/translate/worth.ts'

/** A loop that runs so many times, and once in the first workgroups. */
const program = (body: string, times: number, earlyGroups = 0) => `
    v_mov_b32 v1, v0
    s_mov_b32 s7, 1
    s_cmp_lt_u32 s6, ${earlyGroups}
    s_cbranch_scc1 again
    s_movk_i32 s7, ${times}
  again:
    ${body}
    s_sub_u32 s7, s7, 1
    s_cmp_lg_u32 s7, 0
    s_cbranch_scc1 again
    s_endpgm`
const LANES = 'v_mad_u32_u24 v1, v1, 3, v0\n'.repeat(40)

/** Runs so many workgroups of one wave. */
async function run(device: Device, asm: string, groups: number) {
  const kernel = rawKernel(device.loadCode(assembleProgram(asm, TARGETS.gfx803).words), DEFAULT_DESCRIPTOR)
  const execution = dispatch(device, kernel, { grid: [64 * groups, 1, 1], workgroup: [64, 1, 1] })
  const outcome = await execution.run()
  expect(outcome.error).toBeUndefined()
  return { execution, instructions: outcome.instructions, regions: device.engine.translated!.regions }
}

const open = async () => new Device(await createTranslate(), TARGETS.gfx803)
const instructionsOf = (groups: number, times: number) => groups * (5 + 43 * times + 1)

test('a few waves are interpreted; a later dispatch of many is translated', async () => {
  const device = await open()
  const few = await run(device, program(LANES, 2), 200)
  expect(few).toMatchObject({ regions: 0, instructions: instructionsOf(200, 2) })
  const many = await run(device, program(LANES, 2000), 300)
  expect(many).toMatchObject({ regions: 1, instructions: instructionsOf(300, 2000) })
})

test('where the first waves are short and later ones are not, the later ones are translated', async () => {
  const device = await open()
  const { instructions, regions } = await run(device, program(LANES, 2000, 500), 1000)
  expect(instructions).toBe(instructionsOf(500, 2000) + 500 * (4 + 43 + 1))
  expect(regions).toBe(1)
})

test('one wave that goes on and on is translated', async () => {
  const device = await open()
  const { instructions, regions } = await run(device, program(LANES.repeat(10), 30000), 1)
  expect(regions).toBe(1)
  expect(instructions).toBe(5 + 403 * 30000 + 1)
})

test('so is one behind others that were short', async () => {
  const device = await open()
  const { instructions, regions } = await run(device, program(LANES.repeat(10), 30000, 300), 301)
  expect(regions).toBe(1)
  expect(instructions).toBe(300 * (4 + 403 + 1) + 5 + 403 * 30000 + 1)
})

test('so are waves that wait at barriers, if they do enough between', async () => {
  const device = await open()
  const { instructions, regions } = await run(device, program(`${LANES}\ns_barrier`, 2000), 300)
  expect(regions).toBe(1)
  expect(instructions).toBe(300 * (5 + 44 * 2000 + 1))
})

test('with a threshold, long code that goes on and on is translated once: when nothing new comes any more', async () => {
  const device = new Device(await createTranslate({ threshold: 500 }), TARGETS.gfx803)
  const part = (n: number, times: number) => `
    s_movk_i32 s8, ${times}
  part${n}:
    ${LANES.repeat(10)}
    s_sub_u32 s8, s8, 1
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 part${n}
    s_branch next${n}
    s_nop 0
  next${n}:`
  // 5,000 instructions are interpreted at least, and twice as many while there is new code: the parts begin after 0, 6,000 and 14,000 of them.
  const { instructions, regions } = await run(device, program(`${part(0, 15)}${part(1, 20)}${part(2, 30)}`, 20), 1)
  expect(regions).toBe(1)
  expect(instructions).toBe(5 + 20 * (65 * 403 + 3 * 2 + 3) + 1)
})

test.each([
  ['lane instructions save time', LANES, 1],
  ['scalar ones, too', 's_add_u32 s9, s9, s7\n'.repeat(40), 1],
  ['and barriers', 's_barrier\n'.repeat(40), 1],
  ['calls of the core do not', 'ds_add_u32 v0, v1\n'.repeat(40), -1],
])('%s', async (_, body, sign) => {
  const device = await open()
  const { execution } = await run(device, program(body, 2), 2)
  const { host } = execution.waves[0]!.program
  const [once, often] = [1, 1000].map((times) => worthOf(device.engine.memory, host, 48 + 43 * (times - 1)))
  expect(once!.count).toBe(49)
  expect(Math.sign(once!.saved)).toBe(sign)
  // What a wave executes more than there is runs in the loop.
  expect(often!.saved / once!.saved).toBeGreaterThan(500)
})
