import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { program, randomFrom, word } from './programs.ts'

/** MODE: round modes, denormal modes, DX10_CLAMP and IEEE mixed, the usual one most often. */
const MODES = [0x3c0, 0x3c0, 0x3c0, 0x3f0, 0x1c0, 0x1c0, 0x0c0, 0x2c0, 0x1c1, 0x3cf, 0x3c5, 0x300, 0x3d0, 0x3e0]
/** What stands before a line once in a while: other MODEs, and vector instructions that are skipped. */
const CHANGES = [
  ['s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), 0x1c0'],
  ['s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xf'],
  ['s_setreg_imm32_b32 hwreg(HW_REG_MODE, 8, 2), 0'],
  ['s_setvskip 1, 0', 'v_mov_b32 v3, v4', 'v_readlane_b32 s21, v3, 1', 's_setvskip 0, 0'],
]
/** Instructions at a time that are interpreted before a program is translated. */
const THRESHOLDS = [1, 1, 7, 40, 300]

/** Instructions of a program at most. */
const BUDGET = 5000

/** One of the programs; of some of them MODE changes. */
function sourceOf(random: (below: number) => number): string {
  const lines = program(random).split('\n')
  const often = [40, 400][random(2)]!
  // A subroutine's address counts on its branch.
  const before = (line: string) => (line.startsWith('s_branch') ? [] : (CHANGES[random(often)] ?? []))
  return lines.flatMap((line) => [...before(line), line]).join('\n')
}

/** All registers of the wave after a program, as text, and what was said of its end. */
async function outcome(engine: Engine, seed: number): Promise<string> {
  const random = randomFrom(seed)
  const source = sourceOf(random)
  const tame = random(3) === 0
  const device = new Device(engine, TARGETS.gfx803)
  const { words } = assembleProgram(source, TARGETS.gfx803)
  const vgprs = new Map(Array.from({ length: 12 }, (_, v) => [v, Array.from({ length: 64 }, () => word(random, tame))] as const))
  const sgprs = new Map(Array.from({ length: 40 }, (_, s) => [s + 18, word(random, tame)] as const))
  const exec = random(3) ? 0xffffffffffffffffn : (BigInt(word(random, false)) << 32n) | BigInt(word(random, false))
  const execution = bareWave(device, device.loadCode(words), { vgprs, sgprs, exec, mode: MODES[random(MODES.length)]! })
  // All at once, or in stretches that end anywhere.
  const stretch = random(2) ? BUDGET : 1 + random(40)
  while (execution.status === 'running' && execution.instructions < BUDGET)
    execution.step(Math.min(stretch, BUDGET - execution.instructions))
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

const PROGRAMS = Number(process.env.LANEWISE_PROGRAMS ?? 300)

test(`${PROGRAMS} random programs leave the same state in translate as in core`, async () => {
  const seed = Number(process.env.LANEWISE_SEED ?? 1)
  for (let i = 0; i < PROGRAMS; i++) {
    const want = await outcome(await createCore(), seed + i)
    const translate = await createTranslate({ threshold: THRESHOLDS[i % THRESHOLDS.length]! })
    const got = await outcome(translate, seed + i)
    if (got === want) continue
    const lines = want.split('\n')
    const first = got.split('\n').findIndex((line, at) => line !== lines[at])
    const where = `seed ${seed + i}: ${got.split('\n')[first]} instead of ${lines[first]} (dwords of the wave block; v0 starts at 256)`
    expect.fail(`${where}\n${sourceOf(randomFrom(seed + i))}`)
  }
}, 300_000)
