import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device, type Execution } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { changing, program, randomFrom, word } from './programs.ts'

/** MODE: round modes, denormal modes, DX10_CLAMP and IEEE mixed, the usual one most often. */
const MODES = [0x3c0, 0x3c0, 0x3c0, 0x3f0, 0x1c0, 0x1c0, 0x0c0, 0x2c0, 0x1c1, 0x3cf, 0x3c5, 0x300, 0x3d0, 0x3e0]
/** Instructions at a time that are interpreted before a program is translated. */
const THRESHOLDS = [1, 1, 7, 40, 300]

/** Instructions of a program at most. */
const BUDGET = 5000

/** How many lines there are for a change of MODE. */
const EVERY = [3, 8, 20, 200, 2000]

/** One of the programs; in most of them MODE changes. */
const sourceOf = (random: (below: number) => number): string =>
  changing(random, program(random), EVERY[random(EVERY.length)]!, random(2) === 0)

/** All registers of waves after a program, as text, and what was said of its end: in a translating engine, the later ones run what the first one made worthwhile. */
function outcomes(engine: Engine, seed: number, waves: number): string[] {
  const random = randomFrom(seed)
  const source = sourceOf(random)
  const tame = random(3) === 0
  const device = new Device(engine, TARGETS.gfx803)
  const code = device.loadCode(assembleProgram(source, TARGETS.gfx803).words)
  const vgprs = new Map(Array.from({ length: 12 }, (_, v) => [v, Array.from({ length: 64 }, () => word(random, tame))] as const))
  const sgprs = new Map(Array.from({ length: 40 }, (_, s) => [s + 18, word(random, tame)] as const))
  const exec = random(3) ? 0xffffffffffffffffn : (BigInt(word(random, false)) << 32n) | BigInt(word(random, false))
  const mode = MODES[random(MODES.length)]!
  return Array.from({ length: waves }, () => {
    const execution = bareWave(device, code, { vgprs, sgprs, exec, mode })
    // All at once, or in stretches that end anywhere.
    const stretch = random(2) ? BUDGET : 1 + random(40)
    while (execution.status === 'running' && execution.instructions < BUDGET)
      execution.step(Math.min(stretch, BUDGET - execution.instructions))
    return stateOf(execution)
  })
}

function stateOf(execution: Execution): string {
  const { status, error, instructions } = execution
  const state = execution.waves[0]!.state()
  const result = [
    status,
    error?.message ?? '',
    String(instructions),
    ...new Uint32Array(state.buffer, state.byteOffset, 1024 / 4 + 12 * 64),
  ]
  execution.free()
  return result.map((x, i) => (i < 3 ? x : `${i - 3}:${(x as number).toString(16)}`)).join('\n')
}

/** Waves of one program. */
const WAVES = 3

const PROGRAMS = Number(process.env.LANEWISE_PROGRAMS ?? 300)

test(`${PROGRAMS} random programs leave the same state in translate as in core`, async () => {
  const seed = Number(process.env.LANEWISE_SEED ?? 1)
  for (let i = 0; i < PROGRAMS; i++) {
    const [want] = outcomes(await createCore(), seed + i, 1)
    const translate = await createTranslate({ threshold: THRESHOLDS[i % THRESHOLDS.length]! })
    const got = outcomes(translate, seed + i, WAVES).find((state) => state !== want)
    if (got === undefined) continue
    const lines = want!.split('\n')
    const first = got.split('\n').findIndex((line, at) => line !== lines[at])
    const where = `seed ${seed + i}: ${got.split('\n')[first]} instead of ${lines[first]} (dwords of the wave block; v0 starts at 256)`
    expect.fail(`${where}\n${sourceOf(randomFrom(seed + i))}`)
  }
}, 300_000)
