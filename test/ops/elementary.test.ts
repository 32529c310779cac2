import { readFileSync } from 'node:fs'
import fc from 'fast-check'
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
import type { Modes } from '../../host/reference/lane.ts'
import { LANE_FUNCTIONS } from '../../host/reference/lanes.ts'
import { F16, F32, F64, type Format, type Range, type Round } from '../../host/reference/number.ts'
import { MODES, operation } from './support.ts'

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

type Type = 'f16' | 'f32' | 'f64'
const ROUNDS = [0, 1, 2, 3] as const
/** The round modes, with another one where the type does not look. */
const ROUNDINGS: Readonly<Record<Type, readonly Partial<Modes>[]>> = {
  f16: ROUNDS.map((round) => ({ round32: ((round + 1) & 3) as Round, round64: round })),
  f32: ROUNDS.map((round) => ({ round32: round, round64: ((round + 1) & 3) as Round })),
  f64: ROUNDS.map((round) => ({ round32: ((round + 1) & 3) as Round, round64: round })),
}
const hex = (word: unknown): string => `0x${(word as number | bigint).toString(16)}`

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

/** Made with mpmath by data/elementary.py: sources at which results turn, and the results in the four round modes. */
const EDGES = JSON.parse(readFileSync(new URL('data/elementary-edges.json', import.meta.url), 'utf8')) as Record<string, Row[]>
const KIN: Readonly<Record<string, readonly string[]>> = {
  v_rcp_f32: ['v_rcp_iflag_f32', 'v_rcp_clamp_f32', 'v_rcp_legacy_f32'],
  v_rsq_f32: ['v_rsq_clamp_f32', 'v_rsq_legacy_f32'],
  v_exp_f32: ['v_exp_legacy_f32'],
  v_log_f32: ['v_log_clamp_f32', 'v_log_legacy_f32'],
  v_rsq_f64: ['v_rsq_clamp_f64'],
}
const inModes = (name: string) => ROUNDINGS[name.slice(-3) as Type].map((modes) => operation(name, modes))

describe('where results turn', () => {
  test.each(Object.keys(EDGES).flatMap((name) => [name, ...(KIN[name] ?? [])].map((kin) => [kin, name] as const)))('%s', (kin, name) => {
    const lanes = inModes(kin)
    for (const [source, ...results] of EDGES[name]!) {
      const word = name.endsWith('f64') ? BigInt(source) : Number(source)
      // The functions of the clamp and legacy kinds never overflow here: the largest result of f32 is 2^126.
      expect([source, ...lanes.map((lane) => hex(lane(word)))]).toEqual([source, ...results])
    }
  })

  test('v_rcp_clamp_f64 gives the largest number where v_rcp_f64 overflows', () => {
    expect(inModes('v_rcp_f64').map((lane) => hex(lane(1n)))).toEqual([
      '0x7ff0000000000000',
      '0x7ff0000000000000',
      '0x7fefffffffffffff',
      '0x7fefffffffffffff',
    ])
    for (const lane of inModes('v_rcp_clamp_f64')) {
      expect([1n, 0x8000000000000001n].map((word) => hex(lane(word)))).toEqual(['0x7fefffffffffffff', '0xffefffffffffffff'])
    }
  })
})

describe('all 63,490 numbers of f16', () => {
  // By round mode: FNV-1a, 64 bits, of the results in order of their sources' bits, two bytes each, low byte first (data/elementary.py).
  test.each([
    ['v_rcp_f16', [0xcf9e4f73bfff946dn, 0xaaa6cfa4af04bb21n, 0x2211de329374bad1n, 0xb66204062fe5d46dn]],
    ['v_sqrt_f16', [0xc1993f16173f1f29n, 0x60919bda96de13a1n, 0xe452a6c6c7419893n, 0xe452a6c6c7419893n]],
    ['v_rsq_f16', [0x7018dcc99fa07f97n, 0x8725e1ef450681dfn, 0x17e5c32505dbfcf9n, 0x17e5c32505dbfcf9n]],
    ['v_exp_f16', [0x8d649c205e86a8a0n, 0x2dbbb1400669ebd6n, 0xfd3c1f8699b50c5dn, 0xfd3c1f8699b50c5dn]],
    ['v_log_f16', [0xb0c7972db67a50aen, 0xb6a3326a7ab8c885n, 0x3cfc677e7872e701n, 0x1921287d0eb96c0en]],
    ['v_sin_f16', [0xbed4efcf05bea169n, 0x90a994dc3a6deb99n, 0xde4ab14518890bd9n, 0x2c397224f470daa5n]],
    ['v_cos_f16', [0xcc18bed8c0dac0d9n, 0x6c9a963e87535c35n, 0x9b4d240bb2173f81n, 0x566a1af709079b71n]],
  ] as const)('%s', (name, expected) => {
    const lane = LANE_FUNCTIONS.get(name)!
    const sums = ROUNDINGS.f16.map((rounding) => {
      const modes = { ...MODES, ...rounding }
      let hash = 0xcbf29ce484222325n
      const add = (byte: number) => {
        hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
      }
      for (let word = 0; word < 0x10000; word++) {
        if ((word & 0x7fff) > 0x7c00) continue
        const result = lane(word, modes) as number
        add(result & 255)
        add(result >>> 8)
      }
      return hash
    })
    expect(sums).toEqual(expected)
  })
})

/** A word's value as a fraction n / 2^k, made without number.ts. */
function fraction(word: bigint, { fraction, bias }: { fraction: number; bias: number }): { n: bigint; k: number } {
  const exponent = Number((word >> BigInt(fraction)) & BigInt(2 * bias + 1))
  const low = word & ((1n << BigInt(fraction)) - 1n)
  return { n: exponent === 0 ? low : low | (1n << BigInt(fraction)), k: bias + fraction - Math.max(exponent, 1) }
}

const LAYOUTS = { f32: { fraction: 23, bias: 127 }, f64: { fraction: 52, bias: 1023 } }
const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
/** How n / 2^k, n > 0, compares with 1. */
const against = (n: bigint, k: number): number => (k >= 0 ? order(n, 1n << BigInt(k)) : 1)
type Fraction = ReturnType<typeof fraction>
/** Whether r is below (-1), at (0) or above (1) the function of x: r · x to 1, r² · x to 1, r² to x. */
const PLACES: Readonly<Record<string, (r: Fraction, x: Fraction) => number>> = {
  rcp: (r, x) => against(r.n * x.n, r.k + x.k),
  rsq: (r, x) => against(r.n * r.n * x.n, 2 * r.k + x.k),
  sqrt: (r, x) =>
    order((r.n * r.n) << BigInt(Math.max(x.k, 0) + Math.max(-2 * r.k, 0)), x.n << BigInt(Math.max(2 * r.k, 0) + Math.max(-x.k, 0))),
}

describe.each(['f32', 'f64'] as const)('any positive number of %s', (type) => {
  const layout = LAYOUTS[type]
  const infinity = BigInt(2 * layout.bias + 1) << BigInt(layout.fraction)
  const place = (name: string, word: bigint, x: bigint) =>
    word === infinity ? 1 : PLACES[name]!(fraction(word, layout), fraction(x, layout))
  /** Where the number lies that is halfway to the next one; beyond the largest one that decides on infinity. */
  const middle = (name: string, word: bigint, x: bigint) => {
    const { n, k } = fraction(word, layout)
    return PLACES[name]!({ n: 2n * n + 1n, k: k + 1 }, fraction(x, layout))
  }

  test.each(Object.keys(PLACES))('v_%s lies on the right side of the exact result, and next to it', (name) => {
    const [nearest, up, down, zero] = inModes(`v_${name}_${type}`)
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: infinity - 1n }), (x) => {
        const run = (lane: typeof zero & {}) => BigInt(lane(type === 'f64' ? x : Number(x)) as number | bigint)
        const [n, u, d] = [run(nearest!), run(up!), run(down!)]
        expect(run(zero!)).toBe(d)
        if (u === d) {
          expect([place(name, d, x), n]).toEqual([0, d])
        } else {
          expect([place(name, d, x), place(name, u, x), u - d]).toEqual([-1, 1, 1n])
          const half = middle(name, d, x)
          expect(n).toBe(half > 0 || (half === 0 && (d & 1n) === 0n) ? d : u)
        }
      }),
      { numRuns: 2000 },
    )
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
    const lane = operation(name)
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
  ])('%s quiets a NaN and keeps its payload', (name) => expect(operation(name)(0xff812345)).toBe(0xffc12345))
})
