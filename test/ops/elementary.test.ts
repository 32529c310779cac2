import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  cosineOfRevolutions,
  exponential2,
  logarithm2,
  reciprocal,
  reciprocalRoot,
  sineOfRevolutions,
  squareRoot,
} from '../../host/reference/elementary.ts'
import { LANE_FUNCTIONS } from '../../host/reference/lanes.ts'
import { F16, F32, F64, type Format, type Range, type Round } from '../../host/reference/number.ts'

type Row = readonly [source: string, nearest: string, up: string, down: string, zero: string]
type Elementary = (x: number, f: Range, round: Round) => number
const FUNCTIONS: Readonly<Record<string, Elementary>> = {
  reciprocal,
  squareRoot,
  reciprocalRoot,
  exponential2,
  logarithm2,
  sineOfRevolutions,
  cosineOfRevolutions,
}

/** Made with mpmath and Python's fractions, see data/README.md. */
const TABLE = JSON.parse(readFileSync(new URL('data/elementary.json', import.meta.url), 'utf8')) as Record<string, Record<string, Row[]>>

describe.each(Object.keys(FUNCTIONS))('%s', (name) => {
  const compute = FUNCTIONS[name]!
  test.each(Object.keys(TABLE[name]!))('of %s is correctly rounded in every mode', (type) => {
    const format = ({ f16: F16, f32: F32, f64: F64 } as unknown as Record<string, Format<number | bigint>>)[type]!
    for (const [source, ...results] of TABLE[name]![type]!) {
      const word = type === 'f64' ? BigInt(source) : Number(source)
      const got = ([0, 1, 2, 3] as const).map((round) => `0x${format.word(compute(format.value(word), format, round)).toString(16)}`)
      expect([source, ...got]).toEqual([source, ...results])
    }
  })
})

describe('all 63,490 numbers of f16', () => {
  // FNV-1a, 64 bits, of the results in order of their sources' bits, two bytes each, low byte first; made with mpmath
  test.each([
    ['v_rcp_f16', 0xcf9e4f73bfff946dn],
    ['v_sqrt_f16', 0xc1993f16173f1f29n],
    ['v_rsq_f16', 0x7018dcc99fa07f97n],
    ['v_exp_f16', 0x8d649c205e86a8a0n],
    ['v_log_f16', 0xb0c7972db67a50aen],
    ['v_sin_f16', 0xbed4efcf05bea169n],
    ['v_cos_f16', 0xcc18bed8c0dac0d9n],
  ])('%s', (name, expected) => {
    const lane = LANE_FUNCTIONS.get(name)!
    let hash = 0xcbf29ce484222325n
    const add = (byte: number) => {
      hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
    }
    for (let word = 0; word < 0x10000; word++) {
      if ((word & 0x7fff) > 0x7c00) continue
      const result = lane(word) as number
      add(result & 255)
      add(result >>> 8)
    }
    expect(hash).toBe(expected)
  })
})

// The examples of AMD's CDNA 3 and RDNA manuals; the default NaN is the positive one here.
describe('special values, as the manuals list them', () => {
  test.each([
    [
      'v_rcp_f32',
      [
        [0xff800000, 0x80000000],
        [0xc0000000, 0xbf000000],
        [0x80000000, 0xff800000],
        [0x00000000, 0x7f800000],
        [0x7f800000, 0],
      ],
    ],
    [
      'v_rsq_f32',
      [
        [0xff800000, 0x7fc00000],
        [0x80000000, 0xff800000],
        [0x00000000, 0x7f800000],
        [0x40800000, 0x3f000000],
        [0x7f800000, 0],
      ],
    ],
    [
      'v_sqrt_f32',
      [
        [0xff800000, 0x7fc00000],
        [0x80000000, 0x80000000],
        [0, 0],
        [0x40800000, 0x40000000],
        [0x7f800000, 0x7f800000],
      ],
    ],
    [
      'v_exp_f32',
      [
        [0xff800000, 0],
        [0x80000000, 0x3f800000],
        [0x7f800000, 0x7f800000],
        [0x40400000, 0x41000000],
        [0xbf800000, 0x3f000000],
      ],
    ],
    [
      'v_log_f32',
      [
        [0xff800000, 0x7fc00000],
        [0xbf800000, 0x7fc00000],
        [0x80000000, 0xff800000],
        [0, 0xff800000],
        [0x3f800000, 0],
        [0x7f800000, 0x7f800000],
      ],
    ],
    [
      'v_sin_f32',
      [
        [0xff800000, 0x7fc00000],
        [0xff7fffff, 0],
        [0x80000000, 0x80000000],
        [0x3e800000, 0x3f800000],
        [0x3f400000, 0xbf800000],
        [0x43808000, 0],
      ],
    ],
    [
      'v_cos_f32',
      [
        [0xff800000, 0x7fc00000],
        [0xff7fffff, 0x3f800000],
        [0x80000000, 0x3f800000],
        [0x3e800000, 0],
        [0x3f000000, 0xbf800000],
      ],
    ],
    [
      'v_rcp_clamp_f32',
      [
        [0, 0x7f7fffff],
        [0x80000000, 0xff7fffff],
        [0x40000000, 0x3f000000],
      ],
    ],
    [
      'v_rcp_legacy_f32',
      [
        [0, 0],
        [0x80000000, 0x80000000],
        [0x40000000, 0x3f000000],
      ],
    ],
    [
      'v_rsq_clamp_f32',
      [
        [0, 0x7f7fffff],
        [0x40800000, 0x3f000000],
      ],
    ],
    [
      'v_rsq_legacy_f32',
      [
        [0, 0],
        [0x40800000, 0x3f000000],
      ],
    ],
    [
      'v_log_clamp_f32',
      [
        [0, 0xff7fffff],
        [0x41000000, 0x40400000],
      ],
    ],
  ] as const)('%s', (name, cases) => {
    const lane = LANE_FUNCTIONS.get(name)!
    for (const [source, result] of cases) expect([source, lane(source)]).toEqual([source, result])
  })

  test.each([
    'v_rcp_f32',
    'v_rsq_f32',
    'v_sqrt_f32',
    'v_exp_f32',
    'v_log_f32',
    'v_sin_f32',
    'v_cos_f32',
    'v_rcp_legacy_f32',
    'v_log_clamp_f32',
  ])('%s quiets a NaN and keeps its payload', (name) => expect(LANE_FUNCTIONS.get(name)!(0xff812345)).toBe(0xffc12345))
})
