import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { DEFAULT_DESCRIPTOR, Device, dispatch, type Execution, rawKernel, type Schedule, type Size } from '../../host/device/index.ts'
import { type Engine, Stop } from '../../host/engine.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { program, randomFrom } from './programs.ts'
import { FLOAT_MODES, prologue } from './waves.ts'

type Random = ReturnType<typeof randomFrom>

const THRESHOLDS = [1, 1, 7, 40, 300]
/** Instructions of a dispatch at most. */
const BUDGET = 20_000
const LDS_BYTES = 256
const SCRATCH_BYTES = 16
/** v0 to v15. */
const VGPR_GRANULES = 3
/** Scratch's offset is asked for: it is in s9, behind the workgroup's ids. */
const SCRATCH_OFFSET = 1
const SCHEDULES: readonly Schedule[] = ['round-robin', 'round-robin', 'round-robin', 'round-robin', 'oldest-first', 'random:7']
const LDS = ['s_mov_b32 m0, -1', `v_and_b32 v11, 0x${(LDS_BYTES - 4).toString(16)}, v10`]

/** What stops a wave for what is beyond it, or for good. */
const RARE = [
  ['flat_load_dword v9, v[9:10]'],
  ['flat_load_dword v9, v[9:10]'],
  ['exp mrt0 v0, v1, v2, v3'],
  ['s_mov_b32 m0, 0', 'ds_gws_sema_v gds'],
  ['s_mov_b32 m0, 0', 'ds_gws_sema_v gds'],
  ['s_mov_b32 m0, 0', 'ds_gws_sema_p gds'],
  ['s_sethalt 1'],
  ['s_trap 2'],
]
const MODE_CHANGE = 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xf'

/** What stands before a line once in a while: what waves share, what a workgroup begins with, and all that ends a wave, or a round, early. */
function event(random: Random, label: string): readonly string[] {
  const some = (register: string, ...lines: string[]) => [
    ...(register === 's26' ? ['v_readfirstlane_b32 s26, v0'] : []),
    `s_bitcmp1_b32 ${register}, ${random(32)}`,
    `s_cbranch_scc0 ${label}`,
    ...lines,
    `${label}:`,
  ]
  const all = [
    ['s_barrier'],
    ['s_barrier'],
    ['s_barrier'],
    [...LDS, 'ds_add_rtn_u32 v10, v11, v9'],
    [...LDS, 'ds_write_b32 v11, v9'],
    [...LDS, 'ds_read_b32 v9, v11'],
    ['s_memtime s[22:23]', 's_add_u32 s24, s24, s22', 's_xor_b32 s25, s25, s23'],
    ['buffer_store_dword v9, off, s[0:3], s9 offset:4'],
    ['buffer_load_dword v10, off, s[0:3], s9 offset:4'],
    // By chance some waves end here, and others do not.
    some('s19', 's_endpgm'),
    some('s26', 's_barrier'),
    some('s19', MODE_CHANGE, 's_barrier'),
    ['s_sleep 1'],
    [MODE_CHANGE],
    RARE[random(40)] ?? ['s_nop 0'],
  ]
  return all[random(all.length)]!
}

/** A dispatch of workgroups in one to three dimensions, of up to four waves; those at the grid's edges may be smaller. */
function launchOf(random: Random) {
  const workgroup: Size = random(3) ? [1 + random(256), 1, 1] : [1 + random(16), 1 + random(8), 1 + random(2)]
  const size = (items: number, most: number): number => Math.max(1, items * (1 + random(most)) - random(3) * random(items))
  const [x, y, z] = workgroup
  const schedule = SCHEDULES[random(SCHEDULES.length)]!
  return { workgroup, schedule, grid: [size(x, 5), size(y, 2), size(z, 2)] as Size }
}

function sourceOf(random: Random): string {
  const often = [12, 40, 400][random(3)]!
  const ids = ['s_add_u32 s19, s19, s7', 's_xor_b32 s20, s20, s8']
  const lines = [...prologue(random), ...ids, ...program(random).split('\n')]
  return lines.flatMap((line, i) => (random(often) ? [line] : [...event(random, `on${i}`), line])).join('\n')
}

function begin(engine: Engine, device: Device, seed: number) {
  const random = randomFrom(seed)
  const source = sourceOf(random)
  const { words } = assembleProgram(source, TARGETS.gfx803)
  const rsrc1 = (DEFAULT_DESCRIPTOR.rsrc1 & ~(0xff << 12) & ~63) | (FLOAT_MODES[random(FLOAT_MODES.length)]! << 12) | VGPR_GRANULES
  const kernel = rawKernel(device.loadCode(words), {
    ...DEFAULT_DESCRIPTOR,
    rsrc1,
    rsrc2: DEFAULT_DESCRIPTOR.rsrc2 | SCRATCH_OFFSET,
    groupSegmentBytes: LDS_BYTES,
    privateSegmentBytes: SCRATCH_BYTES,
  })
  const launch = launchOf(random)
  return { source, again: (): Execution => dispatch(device, kernel, launch), engine }
}

/** Runs both to the end, or to the budget, in steps of the same size, and compares how they stand behind each. */
function compare(want: Execution, got: Execution, next: () => { limit: number; asks: boolean }, budget: number, where: string): void {
  while (want.status === 'running' && want.instructions < budget) {
    const { limit, asks } = next()
    // Asking for the next wave lays out the next workgroup.
    if (asks) expect(got.next?.index, where).toBe(want.next?.index)
    expect(got.step(limit), where).toBe(want.step(limit))
    expect(standing(got), where).toEqual(standing(want))
    for (const [index, wave] of want.waves.entries()) {
      const other = got.waves[index]!
      expect(Buffer.from(other.state()).equals(Buffer.from(wave.state())), `wave ${index}, ${where}`).toBe(true)
      expect(Buffer.from(other.lds).equals(Buffer.from(wave.lds)), `LDS, ${where}`).toBe(true)
    }
  }
  want.free()
  got.free()
}

/** How an execution stands. */
const standing = (execution: Execution) => ({
  status: execution.status,
  message: execution.error?.message,
  instructions: execution.instructions,
  group: execution.group,
  groupsDone: execution.groupsDone,
  stops: execution.waves.map(({ stop }) => stop),
  approximate: execution.outcome(0).approximate,
  beyond: execution.outcome(0).beyond,
})

const PROGRAMS = Number(process.env.LANEWISE_PROGRAMS ?? 150)

test(`${PROGRAMS} random dispatches stand as the core's wherever a step ends`, async () => {
  const first = Number(process.env.LANEWISE_SEED ?? 1)
  for (let seed = first; seed < first + PROGRAMS; seed++) {
    const sizes = randomFrom(seed ^ 0x2545f491)
    const most = [100, 3000, BUDGET][sizes(3)]!
    const core = await createCore()
    const translate = await createTranslate({ threshold: THRESHOLDS[seed % THRESHOLDS.length]! })
    const [a, b] = [core, translate].map((engine) => begin(engine, new Device(engine, TARGETS.gfx803), seed))
    const where = `seed ${seed}\n${a!.source}`
    // The second time it is translated from the beginning.
    for (let time = 0; time < 2; time++) {
      const [want, got] = [a!.again(), b!.again()]
      compare(want, got, () => ({ limit: 1 + sizes(most), asks: sizes(2) === 0 }), BUDGET, where)
    }
  }
}, 300_000)

test('turns of waves end where the core ends them', async () => {
  // Each wave reads the time before and behind a loop of 90,000 instructions; the first two wait for each other between two of them.
  const loop = (label: string) => [
    's_mov_b32 s20, 30000',
    `${label}:`,
    's_sub_u32 s20, s20, 1',
    's_cmp_lg_u32 s20, 0',
    `s_cbranch_scc1 ${label}`,
  ]
  const lines = ['v_readfirstlane_b32 s18, v0', 's_memtime s[22:23]', ...loop('first'), 's_memtime s[24:25]', 's_cmp_lt_u32 s18, 128']
  const rest = ['s_cbranch_scc0 end', 's_barrier', ...loop('second'), 'end:', 's_memtime s[26:27]', 's_endpgm']
  const engines = [await createCore(), await createTranslate({ threshold: 1 })]
  const [a, b] = engines.map((engine) => {
    const device = new Device(engine, TARGETS.gfx803)
    const kernel = rawKernel(device.loadCode(assembleProgram([...lines, ...rest].join('\n'), TARGETS.gfx803).words), DEFAULT_DESCRIPTOR)
    return () => dispatch(device, kernel, { grid: [768, 1, 1], workgroup: [192, 1, 1] })
  })
  const sizes = randomFrom(1)
  for (const most of [2 ** 31, 100_000, 40_000])
    compare(a!(), b!(), () => ({ limit: 1 + sizes(most), asks: true }), Number.POSITIVE_INFINITY, `${most}`)
})

test('a fault names its workgroup and wave, those before have ended, and those behind have not begun', async () => {
  const source = `
    v_readfirstlane_b32 s18, v0
    s_lshl_b32 s19, s6, 10
    s_add_u32 s18, s18, s19
    s_cmp_lg_u32 s18, 0x${(57 * 1024 + 128).toString(16)}
    s_cbranch_scc1 good
    v_mov_b32 v1, 0
    v_mov_b32 v2, 0
    flat_load_dword v3, v[1:2]
  good:
    s_barrier
    s_endpgm`
  const device = new Device(await createTranslate({ threshold: 1 }), TARGETS.gfx803)
  const kernel = rawKernel(device.loadCode(assembleProgram(source, TARGETS.gfx803).words), DEFAULT_DESCRIPTOR)
  const execution = dispatch(device, kernel, { grid: [256 * 100, 1, 1], workgroup: [256, 1, 1] })
  const { status, error, wave, instructions } = await execution.run()
  expect(status).toBe('stopped')
  expect(error?.message).toMatch(/workgroup 57,0,0, wave 2/)
  expect(wave?.index).toBe(2)
  expect(instructions).toBe(57 * 4 * 7 + 2 * 6 + 7)
  expect(execution).toMatchObject({ group: 57, groupsDone: 57, workgroup: [57, 0, 0] })
  expect(execution.waves.map(({ stop }) => stop)).toEqual([Stop.Barrier, Stop.Barrier, Stop.Fault, 0])
})

test('progress is told, and a signal stops the run', async () => {
  const source = 's_movk_i32 s20, 1000\nagain:\ns_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 again\ns_endpgm'
  const device = new Device(await createTranslate({ threshold: 1 }), TARGETS.gfx803)
  const kernel = rawKernel(device.loadCode(assembleProgram(source, TARGETS.gfx803).words), DEFAULT_DESCRIPTOR)
  const groups = 1_000_000
  const execution = dispatch(device, kernel, { grid: [64 * groups, 1, 1], workgroup: [64, 1, 1] })
  const controller = new AbortController()
  const told: number[] = []
  const onProgress = (done: number, total: number) => {
    expect(total).toBe(groups)
    told.push(done)
    if (told.length === 3) controller.abort(new Error('enough'))
  }
  await expect(execution.run({ signal: controller.signal, onProgress })).rejects.toThrow('enough')
  expect(told.length).toBe(3)
  expect(told[0]).toBeGreaterThan(0)
  expect(told[1]).toBeGreaterThan(told[0]!)
  expect(execution.status).toBe('running')
  expect(execution.instructions).toBe(execution.groupsDone * 3002 + (execution.next?.instructions ?? 0))
})

test('a wave that has changed its MODE is not run as one that has not', async () => {
  const source = `
    v_mov_b32 v1, 1
    v_readfirstlane_b32 s18, v0
    s_cmp_lg_u32 s18, 64
    s_cbranch_scc1 others
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
  others:
    s_barrier
    v_mul_f32 v2, 1.0, v1
    s_endpgm`
  const device = new Device(await createTranslate({ threshold: 1 }), TARGETS.gfx803)
  const kernel = rawKernel(device.loadCode(assembleProgram(source, TARGETS.gfx803).words), DEFAULT_DESCRIPTOR)
  const execution = dispatch(device, kernel, { grid: [960, 1, 1], workgroup: [192, 1, 1] })
  for (let group = 0; group < 5; group++) {
    // Three waves of 7, 8 and 7 instructions.
    execution.step(22)
    expect(execution.waves.map((wave) => wave.vgpr(2)[5])).toEqual([0, 1, 0])
  }
  expect(execution.status).toBe('done')
})
