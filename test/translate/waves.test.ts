import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { DEFAULT_DESCRIPTOR, Device, dispatch, type Execution, rawKernel } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { program, randomFrom } from './programs.ts'
import { FLOAT_MODES, prologue } from './waves.ts'

/** What stands before a line once in a while. */
const GIVING_WAY = [['s_barrier'], ['s_barrier'], ['s_sleep 1']]
/** Instructions of a dispatch at most. */
const BUDGET = 12_000

/** How a dispatch of three workgroups of up to four waves ends, and how its last workgroup stands then. */
async function outcome(engine: Engine, seed: number, advance: (execution: Execution, left: number) => void) {
  const random = randomFrom(seed)
  const lines = [...prologue(random), ...program(random).split('\n')]
  const source = lines.flatMap((line) => [...(GIVING_WAY[random(30)] ?? []), line]).join('\n')
  const device = new Device(engine, TARGETS.gfx803)
  const { words } = assembleProgram(source, TARGETS.gfx803)
  const rsrc1 = (DEFAULT_DESCRIPTOR.rsrc1 & ~(0xff << 12)) | (FLOAT_MODES[random(FLOAT_MODES.length)]! << 12)
  const lanes = 64 * random(4) + 1 + random(64)
  const kernel = rawKernel(device.loadCode(words), { ...DEFAULT_DESCRIPTOR, rsrc1 })
  const execution = dispatch(device, kernel, { grid: [3 * lanes - random(2) * random(lanes), 1, 1], workgroup: [lanes, 1, 1] })
  while (execution.status === 'running' && execution.instructions < BUDGET) advance(execution, BUDGET - execution.instructions)
  const { status, error, instructions, groupsDone, waves } = execution
  return {
    source,
    said: { status, message: error?.message, instructions, groupsDone, stops: waves.map(({ stop }) => stop) },
    states: waves.map((wave) => Buffer.from(wave.state())),
  }
}

const PROGRAMS = Number(process.env.LANEWISE_PROGRAMS ?? 150)

test(`${PROGRAMS} random programs leave the same in all waves, one by one and in rounds, interpreted and translated`, async () => {
  const seed = Number(process.env.LANEWISE_SEED ?? 1)
  for (let i = seed; i < seed + PROGRAMS; i++) {
    const sizes = randomFrom(i ^ 0x5bd1e995)
    const most = sizes(2) ? BUDGET : 100
    // The scheduler chooses each wave where they are run one by one.
    const want = await outcome(await createCore(), i, (execution, left) => void (execution.next && execution.stepWave(left)))
    const inRounds = (execution: Execution, left: number) => void execution.step(Math.min(left, 1 + sizes(most)))
    for (const engine of [await createCore(), await createTranslate({ threshold: 1 })]) {
      const got = await outcome(engine, i, inRounds)
      expect(got.said, `seed ${i}, ${engine.name}\n${got.source}`).toEqual(want.said)
      for (const [index, state] of got.states.entries())
        expect(state.equals(want.states[index]!), `seed ${i}, ${engine.name}, wave ${index}\n${got.source}`).toBe(true)
    }
  }
}, 300_000)
