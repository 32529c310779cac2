import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'

// Regions of 64 KiB; the word at byte offset n of region i holds n + i. The loops add up in v0 what they load. An index that wraps, or a
// high dword that another lane has, leads from the first region into another one.
const REGION = 0x7_8000_0000n
const CROSSING = 0x9_ffff_8000n
const REGIONS = [REGION, REGION - (1n << 34n), REGION - (1n << 32n), REGION + (1n << 32n), CROSSING]
const BYTES = 0x10000
const low = (address: bigint) => Number(BigInt.asUintN(32, address))
const high = (address: bigint) => Number(BigInt.asUintN(32, address >> 32n))

interface Case {
  readonly body: readonly string[]
  /** v1 is the index, v2 its high dword, v3 the step; s[2:3] is the base, also in v6, v7, which `address` may change lane by lane. */
  readonly index: (lane: number) => number
  readonly step?: (lane: number) => number
  readonly base: bigint
  readonly address?: (lane: number) => bigint
  readonly exec?: bigint
  /** A load is outside of all regions. */
  readonly faults?: true
  /** gfx8 where not said. */
  readonly target?: 'gfx600' | 'gfx700' | 'gfx803'
}

const FROM_INDEX = ['v_lshlrev_b64 v[8:9], 2, v[1:2]', 'v_add_u32 v8, vcc, s2, v8', 'v_addc_u32 v9, vcc, v7, v9, vcc']
const LOAD = ['flat_load_dword v4, v[8:9]', 'v_add_u32 v0, vcc, v4, v0']
const NEXT = ['v_add_u32 v1, vcc, v3, v1']
const SIGNED = ['v_ashrrev_i32 v11, 31, v1', 'v_mov_b32 v10, v1', 'v_lshlrev_b64 v[8:9], 2, v[10:11]', ...FROM_INDEX.slice(1)]
const lanes = (lane: number) => lane

/** Bytes and halves: side by side, alike, apart, and of buffers. */
function smallCases(): Record<string, Case> {
  const cases: Record<string, Case> = {}
  for (const [type, shift] of Object.entries({ ubyte: 0, sbyte: 0, ushort: 1, sshort: 1 })) {
    const sum = 'v_add_u32 v0, vcc, v4, v0'
    const flat = (by: number): Case => ({
      body: [`v_lshlrev_b64 v[8:9], ${by}, v[1:2]`, ...FROM_INDEX.slice(1), `flat_load_${type} v4, v[8:9]`, sum, ...NEXT],
      index: lanes,
      base: REGION + 0x7000n,
    })
    const buffer = `buffer_load_${type} v4, v[8:9], s[8:11], 0 addr64`
    const buffered = ['v_lshl_b64 v[8:9], v[1:2], 1', buffer, 'v_add_i32 v0, vcc, v4, v0', 'v_add_i32 v1, vcc, v3, v1']
    cases[`of a ${type}`] = flat(shift)
    cases[`of a ${type}, apart`] = flat(shift + 2)
    cases[`of a ${type}, alike`] = { ...flat(shift), index: (lane) => lane >> 4 }
    cases[`of a ${type} up to beyond the region’s end`] = {
      ...flat(shift),
      faults: true,
      index: (lane) => (BYTES >> shift) - 130 + (lane & 15),
      base: REGION,
    }
    cases[`of a ${type} of a buffer`] = { body: buffered, index: lanes, base: REGION, target: 'gfx600' }
    cases[`of a ${type} of a buffer at odd addresses`] = { body: buffered, index: lanes, base: REGION + 1n, target: 'gfx600' }
  }
  return cases
}

/** The same by buffer loads, whose resource is s[8:11]: its base counts, its size does not. */
function bufferCases(target: 'gfx600' | 'gfx700'): Record<string, Case> {
  const load = (rest: string) => [`buffer_load_dword v4, v[8:9], s[8:11], ${rest}`, 'v_add_i32 v0, vcc, v4, v0']
  const indexed = (rest: string) => ['v_lshl_b64 v[8:9], v[1:2], 2', ...load(rest), 'v_add_i32 v1, vcc, v3, v1']
  const common = { target, index: lanes, base: REGION }
  return {
    [`of buffers of ${target}`]: { ...common, body: indexed('0 addr64') },
    [`of buffers of ${target}, alike`]: { ...common, body: indexed('s5 addr64 offset:4'), index: (lane) => lane >> 4 },
    [`of buffers of ${target} with offsets`]: { ...common, body: indexed('s5 addr64 offset:2048') },
    [`of buffers of ${target} with a constant as offset`]: { ...common, body: indexed('64 addr64 offset:8') },
    [`of buffers of ${target} from a number of 64 bits on`]: {
      ...common,
      body: [...load('s5 addr64'), 'v_add_i32 v8, vcc, 4, v8', 'v_addc_u32 v9, vcc, 0, v9, vcc'],
    },
    [`of buffers of ${target} whose base changes`]: {
      ...common,
      body: [...indexed('s5 addr64'), 's_add_u32 s8, s8, 8', 's_xor_b32 s5, s5, 4'],
    },
    [`of buffers of ${target} that are no multiples of 4`]: { ...common, body: [...indexed('s5 addr64 offset:2')] },
    [`of buffers of ${target} that are multiples of 2`]: {
      ...common,
      body: ['v_lshl_b64 v[8:9], v[1:2], 1', ...indexed('0 addr64').slice(1)],
    },
    [`of buffers of ${target}, two dwords each`]: {
      ...common,
      body: [
        'v_lshl_b64 v[8:9], v[1:2], 3',
        'buffer_load_dwordx2 v[4:5], v[8:9], s[8:11], 0 addr64',
        'v_xor_b32 v0, v5, v0',
        'v_add_i32 v1, vcc, v3, v1',
      ],
    },
    [`of buffers of ${target}, in lanes that are far apart`]: { ...common, body: indexed('0 addr64'), index: (lane) => (lane * 37) & 63 },
  }
}

const CASES: Readonly<Record<string, Case>> = {
  'that follow each other': { body: [...FROM_INDEX, ...LOAD, ...NEXT], index: lanes, base: REGION },
  'that are alike in rows of 16': { body: [...FROM_INDEX, ...LOAD, ...NEXT], index: (lane) => 100 * (lane >> 4), base: REGION },
  'that are apart': { body: [...FROM_INDEX, ...LOAD, ...NEXT], index: (lane) => 3 * lane, base: REGION },
  'that go down': { body: [...FROM_INDEX, ...LOAD, ...NEXT], index: (lane) => 500 - lane, step: () => -1, base: REGION },
  'that go down beyond the region’s start': {
    faults: true,
    body: [...FROM_INDEX, ...LOAD, ...NEXT],
    index: (lane) => 130 - (lane & 15),
    step: () => -1,
    base: REGION,
  },
  'that go up beyond the region’s end': {
    faults: true,
    body: [...FROM_INDEX, ...LOAD, ...NEXT],
    index: (lane) => BYTES / 4 - 130 + (lane & 15),
    base: REGION,
  },
  'of lanes that drift apart': { body: [...FROM_INDEX, ...LOAD, ...NEXT], index: lanes, step: lanes, base: REGION },
  'whose index wraps': {
    body: [...FROM_INDEX, ...LOAD, ...NEXT],
    index: (lane) => 0xffffffb0 + (lane & 15),
    base: REGION - (0xffffffb0n << 2n),
  },
  'whose index wraps in a word': {
    body: ['v_lshlrev_b32 v8, 2, v1', 'v_add_u32 v8, vcc, s2, v8', 'v_addc_u32 v9, vcc, 0, v7, vcc', ...LOAD, ...NEXT],
    index: (lane) => 0x3fffffb0 + (lane & 15),
    base: REGION - (0x3fffffb0n << 2n),
  },
  'whose signed index turns positive': { body: [...SIGNED, ...LOAD, ...NEXT], index: (lane) => lane - 100, base: REGION + 400n },
  'whose signed index overflows': {
    body: [...SIGNED, ...LOAD, ...NEXT],
    index: (lane) => 0x7fffffb0 + (lane & 15),
    base: REGION - (0x7fffffb0n << 2n),
  },
  'whose high dwords differ': {
    body: [...FROM_INDEX, ...LOAD, ...NEXT],
    index: lanes,
    base: REGION,
    address: (lane) => REGION + (lane & 4 ? 1n << 32n : 0n),
  },
  'whose high dwords come from another number': {
    body: [
      'v_lshlrev_b64 v[8:9], 2, v[1:2]',
      'v_mov_b32 v10, v6',
      'v_add_u32 v11, vcc, s3, v9',
      'flat_load_dword v4, v[10:11]',
      'v_add_u32 v0, vcc, v4, v0',
      ...NEXT,
    ],
    index: (lane) => 0x3fffffc0 + lane,
    base: REGION,
    address: (lane) => REGION + 4n * BigInt(lane),
  },
  'that the loop carries': {
    body: ['flat_load_dword v4, v[6:7]', 'v_add_u32 v0, vcc, v4, v0', 'v_add_u32 v6, vcc, 4, v6', 'v_addc_u32 v7, vcc, 0, v7, vcc'],
    index: lanes,
    base: REGION,
    address: (lane) => REGION + 4n * BigInt(lane),
  },
  'that the loop carries down': {
    body: ['flat_load_dwordx2 v[4:5], v[6:7]', 'v_add_u32 v0, vcc, v5, v0', 'v_add_u32 v6, vcc, -8, v6', 'v_addc_u32 v7, vcc, -1, v7, vcc'],
    index: lanes,
    base: REGION,
    address: (lane) => REGION + 2000n - 16n * BigInt(lane),
  },
  'that the loop carries with a step of each lane': {
    body: ['flat_load_dword v4, v[6:7]', 'v_add_u32 v0, vcc, v4, v0', 'v_add_u32 v6, vcc, v3, v6', 'v_addc_u32 v7, vcc, 0, v7, vcc'],
    index: lanes,
    step: (lane) => 4 * lane,
    base: REGION,
    address: (lane) => REGION + 4n * BigInt(lane),
  },
  'that the loop carries, with different high dwords': {
    body: ['flat_load_dword v4, v[6:7]', 'v_add_u32 v0, vcc, v4, v0', 'v_add_u32 v6, vcc, 4, v6', 'v_addc_u32 v7, vcc, 0, v7, vcc'],
    index: lanes,
    base: REGION,
    address: (lane) => REGION + 4n * BigInt(lane) + (lane & 4 ? 1n << 32n : 0n),
  },
  'of what is small at first': {
    // Products with 2^-60 and 2^-54 are below 2^-102 up to index 1024.
    body: [
      ...FROM_INDEX,
      'flat_load_dword v4, v[8:9]',
      'v_cvt_f32_u32 v5, v4',
      'v_mul_f32 v5, 0x21800000, v5',
      'v_mul_f32 v5, 0x24800000, v5',
      'v_add_f32 v0, v5, v0',
      ...NEXT,
    ],
    index: (lane) => 960 + (lane & 15),
    base: REGION,
  },
  'of what is denormal up to the last two iterations': {
    // Cubes times 2^-143: about 2^-127, which would add up to what can be seen in the sum, and in the end 2^-101.
    body: [
      's_cmp_lt_u32 s0, 3',
      's_cselect_b32 s4, 3700, 0',
      'v_add_u32 v10, vcc, s4, v1',
      'v_mov_b32 v11, 0',
      'v_lshlrev_b64 v[8:9], 2, v[10:11]',
      ...FROM_INDEX.slice(1),
      'flat_load_dword v4, v[8:9]',
      'v_cvt_f32_u32 v5, v4',
      'v_mul_f32 v12, 0x1c000000, v5',
      'v_mul_f32 v12, v12, v5',
      'v_mul_f32 v12, v12, v5',
      'v_mul_f32 v12, 0x1b800000, v12',
      'v_add_f32 v0, v12, v0',
    ],
    index: (lane) => 8 + (lane & 15),
    base: REGION,
  },
  'of which one is outside for one iteration': {
    faults: true,
    body: [
      's_cmp_eq_u32 s0, 60',
      `s_cselect_b32 s4, ${BYTES / 4 - 15}, 0`,
      'v_add_u32 v10, vcc, s4, v1',
      'v_mov_b32 v11, 0',
      'v_lshlrev_b64 v[8:9], 2, v[10:11]',
      ...FROM_INDEX.slice(1),
      ...LOAD,
    ],
    index: (lane) => lane & 15,
    base: REGION,
  },
  'that the loop carries over 4 GiB': {
    body: ['flat_load_dword v4, v[6:7]', 'v_add_u32 v0, vcc, v4, v0', 'v_add_u32 v6, vcc, 4, v6', 'v_addc_u32 v7, vcc, 0, v7, vcc'],
    index: lanes,
    base: REGION,
    address: (lane) => CROSSING + 0x7f00n + 4n * BigInt(lane),
  },
  'that become the next index': {
    body: [...FROM_INDEX, ...LOAD, 'v_sub_u32 v1, vcc, v8, v6', 'v_subb_u32 v2, vcc, v9, v7, vcc', 'v_lshrrev_b32 v1, 2, v1', ...NEXT],
    index: lanes,
    base: REGION,
  },
  'whose dwords are the next ones': {
    body: [
      'v_add_u32 v8, vcc, s2, v1',
      'v_addc_u32 v9, vcc, v7, v2, vcc',
      ...LOAD,
      'v_subrev_u32 v1, vcc, s2, v8',
      'v_add_u32 v1, vcc, 4, v1',
    ],
    index: (lane) => 4 * lane,
    base: REGION,
  },
  'of a group with a lane that is off': {
    body: [...FROM_INDEX, ...LOAD, ...NEXT],
    index: (lane) => (lane === 20 ? 0x7fffffff : lane),
    base: REGION,
    exec: ~(1n << 20n),
  },
  ...smallCases(),
  ...bufferCases('gfx600'),
  ...bufferCases('gfx700'),
  'times a scalar': {
    body: ['v_mul_lo_u32 v10, v1, s4', 'v_mov_b32 v11, 0', 'v_lshlrev_b64 v[8:9], 2, v[10:11]', ...FROM_INDEX.slice(1), ...LOAD, ...NEXT],
    index: (lane) => lane & 15,
    base: REGION,
  },
}

test.each(Object.entries(CASES))(
  'a loop loads from addresses %s',
  async (_, { body, index, step = () => 1, base, address = () => base, exec, faults, target = 'gfx803' }) => {
    const source = ['s_movk_i32 s0, 120', 'loop:', ...body, 's_sub_u32 s0, s0, 1', 's_cmp_lg_u32 s0, 0', 's_cbranch_scc1 loop', 's_endpgm']
    const { words } = assembleProgram(source.join('\n'), TARGETS[target])
    const row = (value: (lane: number) => number) => Array.from({ length: 64 }, (_, lane) => value(lane) >>> 0)
    const vgprs = new Map([
      [1, row(index)],
      [3, row(step)],
      [6, row((lane) => low(address(lane)))],
      [7, row((lane) => high(address(lane)))],
    ])
    const sgprs = new Map([
      [2, low(base)],
      [3, high(base)],
      [4, 5],
      [5, 12],
      // A stride of 16, no records.
      [8, low(base)],
      [9, high(base) | (16 << 16)],
      [10, 0],
      [11, 0x0100f000],
    ])
    const translate = await createTranslate({ threshold: 1 })
    const [want, got] = [await createCore(), translate].map((engine) => {
      const device = new Device(engine, TARGETS[target])
      for (const [i, address] of REGIONS.entries()) {
        const view = device.memory.view(device.memory.allocate(BYTES, { address }))
        const words = Uint32Array.from({ length: BYTES / 4 }, (_, n) => 4 * n + i)
        view.set(new Uint8Array(words.buffer))
      }
      const code = device.loadCode(words)
      const run = (limit: number) => {
        const execution = bareWave(device, code, { vgprs, sgprs, ...(exec === undefined ? {} : { exec: BigInt.asUintN(64, exec) }) })
        const instructions = execution.step(limit)
        const state = execution.waves[0]!.state()
        const result = [execution.status, instructions, ...new Uint32Array(state.buffer, state.byteOffset, 1024 / 4 + 64 * 16)]
        execution.free()
        return result
      }
      // The second time all of the loop is translated.
      return [10_000, 10_000, ...Array.from({ length: 40 }, (_, i) => 300 + i)].map(run)
    })
    expect(translate.nests).toBeGreaterThan(0)
    expect(want![0]![0]).toBe(faults ? 'stopped' : 'done')
    for (const [i, values] of want!.entries()) {
      const first = values.findIndex((value, n) => value !== got![i]![n])
      expect([i, first, got![i]![first]]).toEqual([i, -1, undefined])
    }
  },
)
