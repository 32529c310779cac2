import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device, type Execution, type Region } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { graphProgram } from './graphs.ts'
import { ldsAddresses } from './lds.ts'
import {
  ADDRESS,
  BASE,
  COUNTER,
  execMask,
  FACTOR,
  INDEX,
  INDEX_BASE,
  INDEX_STEP,
  LANE_COUNTER,
  LDS_ADDRESS,
  type LoopProgram,
  loopProgram,
  OFFSET,
} from './loops.ts'
import { changing, randomFrom, word } from './programs.ts'

/** MODE: with and without denormals, other round modes, no IEEE. */
const MODES = [0x3c0, 0x3c0, 0x3c0, 0x3f0, 0x3f0, 0x1c0, 0x3cf, 0x300, 0x3d0, 0x3e0]
const BUDGET = 20_000
const LDS_BYTES = 4096

/** Regions: two side by side, one that crosses 4 GiB, one far off. */
const REGIONS = [
  [0x1_0000_1000n, 0x1000],
  [0x1_0000_2000n, 0x3456],
  [0x2_ffff_f800n, 0x2000],
  [0x7f_0000_0000n, 0x10000],
] as const

/** What is rare in memory: anything awkward, infinities (which sums make NaNs of, WebAssembly's own ones), small numbers, NaNs with payloads. */
const SPICES: readonly ((random: Random) => number)[] = [
  (random) => word(random, false),
  (random) => pick(random, [0x7f800000, 0xff800000]),
  (random) => random(0x0c900000) + 0x80000000 * random(2),
  (random) => 0x7f800001 + random(0x7fffff) + 0x80000000 * random(2),
]

type Random = ReturnType<typeof randomFrom>
const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!

/** A program, its registers and memory, by its seed. */
function scenario(seed: number, program: (random: Random) => Pick<LoopProgram, 'source' | 'offsetOf'>) {
  const random = randomFrom(seed)
  const { source: steady, offsetOf } = program(random)
  const source = random(3) ? steady : changing(random, steady, 2 + random(20), random(4) > 0)
  const tame = random(4) > 0
  const data = () => word(random, tame || random(8) > 0)
  const rare = pick(random, [0, 20, 400, 4000])
  const spice = pick(random, SPICES)
  const memory = REGIONS.map(([, bytes]) =>
    Uint32Array.from({ length: Math.ceil(bytes / 4) }, () => (rare > 0 && random(rare) === 0 ? spice(random) : word(random, true))),
  )
  const trips = 1 + random(pick(random, [3, 40, 300]))
  const vgprs = new Map(Array.from({ length: 20 }, (_, v) => [v, Array.from({ length: 64 }, data)] as const))
  vgprs.set(
    LANE_COUNTER,
    Array.from({ length: 64 }, () => 1 + random(random(3) ? trips : 2)),
  )
  vgprs.set(
    LANE_COUNTER + 1,
    Array.from({ length: 64 }, () => 4 * random(3)),
  )
  const addresses = laneAddresses(random)
  vgprs.set(
    ADDRESS,
    addresses.map((a) => Number(a & 0xffffffffn)),
  )
  vgprs.set(
    ADDRESS + 1,
    addresses.map((a) => Number(a >> 32n)),
  )
  const sgprs = new Map(Array.from({ length: 50 }, (_, s) => [s + 18, data()] as const))
  sgprs.set(COUNTER, trips)
  const [base, bytes] = pick(random, REGIONS)
  const start = base + BigInt(random(2) ? 0 : random(bytes))
  sgprs.set(BASE, Number(start & 0xffffffffn)).set(BASE + 1, Number(start >> 32n))
  sgprs.set(OFFSET, random(3) ? 0 : random(bytes))
  for (const row of [LDS_ADDRESS, LDS_ADDRESS + 1]) vgprs.set(row, ldsAddresses(random, LDS_BYTES))
  if (offsetOf !== undefined) setIndices(random, offsetOf, vgprs, sgprs)
  const half = () => BigInt(word(random, false))
  const state = {
    vgprs,
    sgprs,
    exec: offsetOf && random(4) ? 0xffff_ffff_ffff_ffffn : execMask(random),
    vcc: (half() << 32n) | half(),
    scc: random(2) as 0 | 1,
    mode: pick(random, MODES),
    lds: new Uint8Array(Uint32Array.from({ length: LDS_BYTES / 4 }, () => word(random, rare === 0 || random(rare) > 0)).buffer),
    ldsBytes: LDS_BYTES,
    m0: random(4) ? 0xffffffff : random(LDS_BYTES + 64),
  }
  return { seed, source, memory, state }
}

/** Indices that grow with the lane's number, in rows of 16 or 8 lanes, or do not, from where the addresses are in a region. */
function setIndices(
  random: Random,
  offsetOf: NonNullable<LoopProgram['offsetOf']>,
  vgprs: Map<number, number[]>,
  sgprs: Map<number, number>,
): void {
  const first = pick(random, [
    () => 0,
    () => random(1000),
    () => 0x7fffffe8 + random(24),
    () => 0xffffffd8 + random(40),
    () => word(random, false),
  ])()
  const stride = pick(random, [0, 1, 1, 1, 2, 4, -1, 17, 0x40000000])
  const every = pick(random, [16, 16, 16, 64, 8, 4])
  const wide = random(6) === 0
  const odd = random(4) ? undefined : random(64)
  const alike = random(2)
  const lanes = (value: (lane: number) => number) => Array.from({ length: 64 }, (_, lane) => value(lane) >>> 0)
  vgprs.set(
    INDEX,
    lanes((lane) => (lane === odd ? first : first + stride * (lane % every) + 3 * Math.floor(lane / every))),
  )
  vgprs.set(
    INDEX + 1,
    lanes((lane) => (wide ? lane >> 5 : 0)),
  )
  const [base, bytes] = pick(random, REGIONS)
  const factor = pick(random, [1, 3, 16, 0])
  const start = base + BigInt(4 * random(random(3) ? bytes >> 3 : bytes >> 2)) - offsetOf(first, factor)
  const high = Number(BigInt.asUintN(32, start >> 32n))
  vgprs.set(
    INDEX + 2,
    lanes((lane) => (random(100) || lane < 48 ? high : high + 1)),
  )
  vgprs.set(
    INDEX + 3,
    lanes((lane) => (alike ? 1 : (lane >> 4) + 1)),
  )
  sgprs.set(INDEX_BASE, Number(BigInt.asUintN(32, start))).set(INDEX_BASE + 1, high)
  sgprs.set(INDEX_STEP, random(20)).set(FACTOR, factor)
}

/** Contiguous, equal, scattered, in two regions, close to an end, in the apertures, nowhere. */
function laneAddresses(random: Random): bigint[] {
  const [base, bytes] = pick(random, REGIONS)
  const start = base + BigInt(4 * random(random(2) ? 64 : bytes >> 2))
  const kind = random(12)
  const inAnyRegion = () => {
    const [at, size] = pick(random, REGIONS)
    return at + BigInt(4 * random(size >> 2))
  }
  return Array.from({ length: 64 }, (_, lane) => {
    if (kind < 4) return start + BigInt(4 * lane)
    if (kind < 5) return start
    if (kind < 6) return base + BigInt(4 * random(bytes >> 4))
    if (kind < 7) return inAnyRegion()
    if (kind < 8) return base + BigInt(bytes - 4 * random(16) - 4 + random(2))
    if (kind < 9) return (lane & 8 ? 0x2000_0000n << 32n : base) + BigInt(4 * lane)
    if (kind < 10) return 0xffff_ffff_0000_0000n + BigInt(random(2) ? 0 : 4 * lane)
    if (kind < 11) return start + BigInt(lane >> 2)
    return lane === 37 ? 16n : start
  })
}

type Scene = ReturnType<typeof scenario>

interface Outcome {
  readonly said: readonly unknown[]
  /** All that the wave block holds, of v0 to v63. */
  readonly registers: Uint32Array
}

function registers(execution: Execution): Uint32Array {
  const state = execution.waves[0]!.state()
  return new Uint32Array(state.buffer, state.byteOffset, 1024 / 4 + 64 * 64).slice()
}

class Machine {
  readonly device: Device
  readonly #code: ReturnType<Device['loadCode']>
  readonly #scenario: Scene

  constructor(engine: Engine, scene: Scene) {
    this.#scenario = scene
    this.device = new Device(engine, TARGETS.gfx803)
    REGIONS.forEach(([address, bytes], i) => {
      const region: Region = this.device.memory.allocate(bytes, { address })
      const words = this.#scenario.memory[i]!
      this.device.memory.view(region).set(new Uint8Array(words.buffer, 0, bytes))
    })
    this.#code = this.device.loadCode(assembleProgram(this.#scenario.source, TARGETS.gfx803).words)
  }

  begin(): Execution {
    return bareWave(this.device, this.#code, this.#scenario.state)
  }

  /** What a run says and leaves. */
  async outcome(budget = BUDGET): Promise<Outcome> {
    const execution = this.begin()
    const { status, error, instructions, approximate } = await execution.run({ budget })
    const result = { said: [status, error?.message, instructions, approximate], registers: registers(execution) }
    execution.free()
    return result
  }
}

function compare(got: Outcome, want: Outcome, what: string, { seed, source, state }: Scene): void {
  const said = [got, want].map((outcome) => JSON.stringify(outcome.said))
  const first = got.registers.findIndex((x, i) => x !== want.registers[i])
  if (first < 0 && said[0] === said[1]) return
  const [x, y] = [got, want].map(({ registers }) => registers[first]?.toString(16))
  const where = `seed ${seed}, ${what}: ${said[0]} instead of ${said[1]}; dword ${first} is ${x} instead of ${y} (v0 starts at 256)`
  expect.fail(`${where}\nexec ${state.exec.toString(16)} vcc ${state.vcc.toString(16)} mode ${state.mode.toString(16)}\n${source}`)
}

function stopped(execution: Execution, limit: number): Outcome {
  const instructions = execution.step(limit)
  return { said: [execution.status, instructions], registers: registers(execution) }
}

/** Both engines a few instructions at a time. */
function lockstep(a: Execution, b: Execution, random: Random, scene: Scene): void {
  for (let stop = 0; a.status === 'running' && stop < 30; stop++) {
    const limit = pick(random, [1, 2, 5, 30, 77, 300, 1000, 6000])
    const [want, got] = [stopped(a, limit), stopped(b, limit)]
    compare(got, want, `after stop ${stop}`, scene)
  }
}

const LOOPS = Number(process.env.LANEWISE_PROGRAMS ?? 120)

const SEED = Number(process.env.LANEWISE_SEED ?? 1)

/** Runs programs on both engines, to their end and cut anywhere. @returns how many have loops that run group by group */
async function compareAll(program: (random: Random) => Pick<LoopProgram, 'source' | 'offsetOf'>): Promise<number> {
  let nested = 0
  for (let seed = SEED; seed < SEED + LOOPS; seed++) {
    const scene = scenario(seed, program)
    const core = new Machine(await createCore(), scene)
    const engine = await createTranslate({ threshold: 1 })
    const translate = new Machine(engine, scene)
    const want = await core.outcome()
    compare(await translate.outcome(), want, 'cold', scene)
    compare(await translate.outcome(), want, 'hot', scene)
    lockstep(core.begin(), translate.begin(), randomFrom(seed), scene)
    if (engine.nests > 0) nested++
    if (seed % 20 > 0) continue
    for (let budget = 1; budget <= 100; budget++)
      compare(await translate.outcome(budget), await core.outcome(budget), `budget ${budget}`, scene)
  }
  return nested
}

test(`${LOOPS} random loops leave the same state in translate as in core, wherever they are cut`, async () => {
  // Else this would be one more test of ordinary translated code.
  expect(await compareAll(loopProgram)).toBeGreaterThan(LOOPS / 2)
}, 300_000)

test(`${LOOPS} random loops of several blocks leave the same state in translate as in core, wherever they are cut`, async () => {
  expect(await compareAll((random) => ({ source: graphProgram(random), offsetOf: undefined }))).toBeGreaterThan(LOOPS / 2)
}, 300_000)

// In the 128th iteration v1 is infinite, in the 127th half of it denormal: what comes of that is the ISA's from then on, not WebAssembly's.
const DOUBLE = 'v_add_f32 v1, v1, v1'
const NAN = 'v_sub_f32 v2, v1, v1'
test.each([
  ['a sum of NaNs that the next iteration reads as bits', ['v_xor_b32 v8, v0, v8', DOUBLE, NAN, 'v_add_f32 v0, v0, v2'], 0x7fc00000],
  ['NaNs that the same iteration reads as bits', [DOUBLE, NAN, 'v_xor_b32 v8, v2, v8', 'v_mov_b32 v0, v2'], 0x7fc00000],
  ['NaNs that nothing but bits are left of', [DOUBLE, NAN, 'v_xor_b32 v0, v2, v0', 'v_mov_b32 v2, 0'], 0x7fc00000],
  ['NaNs on their way through registers', [DOUBLE, 'v_mov_b32 v0, v2', NAN], 0x7fc00000],
  ['NaNs that are compared as numbers', [DOUBLE, NAN, 'v_cmp_gt_i32 vcc, 0, v2', 'v_cndmask_b32 v0, 7, v2, vcc'], 7],
  ['NaNs that are chosen by masks', [DOUBLE, NAN, 'v_cmp_u_f32 vcc, v2, v2', 'v_cndmask_b32 v0, 7, v2, vcc'], 0x7fc00000],
  ['denormals that are flushed', ['v_mul_f32 v1, 0.5, v1', 'v_mov_b32 v0, v1'], 0],
  ['denormals that products flush before they are added', ['v_mul_f32 v1, 0.5, v1', 'v_mad_f32 v0, v1, 0.5, v3'], 0],
  [
    'denormal squares plus nothing, which only bits show',
    ['v_mul_f32 v2, 0x1f800000, v1', 'v_fma_f32 v2, v2, v2, s4', 'v_xor_b32 v0, v2, v0', 'v_mul_f32 v1, 0x3f8ccccd, v1'],
    // The bits of the squares, in binary64 rounded to binary32, those below 2^-126 taken as zero.
    11009659,
  ],
  ['denormals that are read as bits', ['v_mul_f32 v1, 0.5, v1', 'v_or_b32 v0, v1, v3'], 0],
])('a loop runs group by group until there are %s', async (_, body, want) => {
  const source = [
    's_movk_i32 s0, 130',
    'loop:',
    ...body,
    's_sub_u32 s0, s0, 1',
    's_cmp_lg_u32 s0, 0',
    's_cbranch_scc1 loop',
    's_endpgm',
  ].join('\n')
  const { words } = assembleProgram(source, TARGETS.gfx803)
  const translate = await createTranslate({ threshold: 1 })
  const results = [await createCore(), translate].map((engine) => {
    const device = new Device(engine, TARGETS.gfx803)
    const code = device.loadCode(words)
    // The second time all of the loop is translated.
    return [1, 2].map(() => {
      const execution = bareWave(device, code, { vgprs: new Map([[1, 0x3f800000]]) })
      execution.step(10_000)
      return registers(execution)
    })
  })
  expect(translate.nests).toBeGreaterThan(0)
  expect(results[0]![0]![1024 / 4]).toBe(want)
  expect(results[1]).toEqual(results[0])
})

/** An engine that translates at once, with a program. */
async function translating(source: string) {
  const engine = await createTranslate({ threshold: 1 })
  const device = new Device(engine, TARGETS.gfx803)
  return { engine, device, code: device.loadCode(assembleProgram(source, TARGETS.gfx803).words) }
}

test('a loop of several blocks finds registers by M0, and leaves it to the core where M0 is beyond the 16 rows that it knows', async () => {
  const source = [
    's_movk_i32 s0, 24',
    'loop:',
    's_bitcmp1_b32 s0, 0',
    's_cbranch_scc1 odd',
    's_mov_b32 m0, s0',
    'v_movrels_b32 v30, v1',
    'v_add_u32 v31, vcc, v31, v30',
    'odd:',
    's_sub_u32 s0, s0, 1',
    's_cmp_lg_u32 s0, 0',
    's_cbranch_scc1 loop',
    's_endpgm',
  ].join('\n')
  const { engine, device, code } = await translating(source)
  const vgprs = new Map(Array.from({ length: 32 }, (_, v) => [v, v === 31 ? 0 : 1000 + v] as const))
  // The second time all of the loop is translated.
  const sums = [1, 2].map(() => {
    const execution = bareWave(device, code, { vgprs })
    execution.step(10_000)
    return registers(execution)[(1024 + 31 * 256) / 4]
  })
  expect(engine.nests).toBeGreaterThan(0)
  // v25, v23, … v3: twelve of them.
  expect(sums).toEqual([12 * 1000 + 168, 12 * 1000 + 168])
})

test('a loop that reads LDS runs group by group, up to where M0 ends what it sees', async () => {
  const source = [
    's_mov_b32 m0, s1',
    's_movk_i32 s0, 40',
    'loop:',
    'ds_read2_b32 v[2:3], v1 offset1:1',
    'v_add_u32 v1, vcc, 4, v1',
    'v_add_u32 v0, vcc, v2, v0',
    'v_add_u32 v0, vcc, v3, v0',
    's_sub_u32 s0, s0, 1',
    's_cmp_lg_u32 s0, 0',
    's_cbranch_scc1 loop',
    's_endpgm',
  ].join('\n')
  const { engine, device, code } = await translating(source)
  const lds = new Uint8Array(Uint32Array.from({ length: 256 }, (_, i) => i).buffer)
  const lanes = Array.from({ length: 64 }, (_, lane) => lane)
  const sums = (m0: number) => {
    const execution = bareWave(device, code, {
      vgprs: new Map([[1, lanes.map((lane) => 4 * lane)]]),
      sgprs: new Map([[1, m0]]),
      lds,
      ldsBytes: 1024,
    })
    execution.step(10_000)
    return registers(execution).slice(1024 / 4, 1024 / 4 + 64)
  }
  // Lane n adds the dwords n + i and n + i + 1, those that M0 lets it see at once.
  const want = (dwords: number) =>
    Uint32Array.from(lanes, (lane) => {
      let sum = 0
      for (let at = lane; at < lane + 40; at++) sum += (at < dwords ? at : 0) + (at + 1 < dwords ? at + 1 : 0)
      return sum
    })
  sums(0xffffffff)
  expect(engine.nests).toBeGreaterThan(0)
  expect(sums(0xffffffff)).toEqual(want(256))
  expect(sums(4 * 90)).toEqual(want(90))
})
