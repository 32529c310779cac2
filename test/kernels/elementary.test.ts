import { describe, expect, test } from 'vitest'
import { compileKernels } from './compile.ts'
import * as truth from './elementary-exact.ts'
import { type Exact, exact, F16, F32, F64, type Format, infinity, isNan, rounded, signBit } from './exact.ts'
import { HARDEST, HARDEST_DIRECTED } from './hardest.ts'
import { randomWords } from './random.ts'

const kernels = await compileKernels(['elementary', 'double'])
const MODES = [0, 1, 2, 3] as const

const positive = (x: Exact) => x.significand > 0n
const always = () => true
/** Up to what magnitude sines are taken of. */
const inTurns = (x: Exact) => Math.abs(Number(x.significand) * 2 ** x.exponent) <= 256
/** Results beyond these are infinite or zero in every format. */
const clampedExp2 = (x: Exact) => {
  const value = Number(x.significand) * 2 ** x.exponent
  return truth.exp2(value > 2000 ? { significand: 2000n, exponent: 0 } : value < -2000 ? { significand: -2000n, exponent: 0 } : x)
}
const reciprocal = (x: Exact): Exact => {
  const negative = x.significand < 0n
  const quotient = (1n << 400n) / (negative ? -x.significand : x.significand)
  return { significand: negative ? -quotient : quotient, exponent: -400 - x.exponent, more: (1n << 400n) % x.significand !== 0n }
}

interface Family {
  readonly name: 'rcp' | 'sqrt' | 'rsq' | 'exp' | 'log' | 'sin' | 'cos'
  readonly of: (x: Exact) => Exact
  readonly domain: (x: Exact) => boolean
}
const FAMILIES: readonly Family[] = [
  { name: 'rcp', of: reciprocal, domain: (x) => x.significand !== 0n },
  { name: 'sqrt', of: truth.squareRoot, domain: positive },
  { name: 'rsq', of: truth.rsqrt, domain: positive },
  { name: 'exp', of: clampedExp2, domain: always },
  { name: 'log', of: truth.log2, domain: positive },
  { name: 'sin', of: truth.sinOfTurns, domain: (x) => inTurns(x) && x.significand !== 0n },
  { name: 'cos', of: truth.cosOfTurns, domain: inTurns },
]

/** What differs from the correctly rounded value; f32 results below the normal numbers are the loop's business. */
function wrong(family: Family, format: Format, words: readonly bigint[]): string[] {
  const inside = words.filter((w) => (w & infinity(format)) !== infinity(format) && family.domain(exact(format, w)))
  const lanes = format === F64 ? 64 : 32
  const name = `v_${family.name}_f${format.bits}`
  const got = MODES.map((round) => kernels.run(round === 0 ? name : `${name}_rounded`, lanes, [inside], round))
  return inside.flatMap((word, i) => {
    const value = family.of(exact(format, word))
    return MODES.flatMap((round) => {
      const want = rounded(format, value, round)
      if (got[round]![i] === want || (format === F32 && (want & ~signBit(F32)) < 0x800000n)) return []
      return [`${word.toString(16)} gave ${got[round]![i]!.toString(16)}, not ${want.toString(16)}, in mode ${round}`]
    })
  })
}

describe.each(FAMILIES)('$name', (family) => {
  test(`v_${family.name}_f16 is correctly rounded for every argument`, () => {
    for (let from = 0; from < 0x10000; from += 0x2000) {
      expect(
        wrong(
          family,
          F16,
          Array.from({ length: 0x2000 }, (_, i) => BigInt(from + i)),
        ),
      ).toEqual([])
    }
  })

  test(`v_${family.name}_f32 is correctly rounded`, () => {
    const normal = randomWords(F32, 6000, 7).filter((w) => (w & 0x7f800000n) !== 0n)
    expect(wrong(family, F32, normal)).toEqual([])
  })

  test(`v_${family.name}_f32 is correctly rounded where that is hardest`, () => {
    expect(wrong(family, F32, [...HARDEST[family.name], ...HARDEST_DIRECTED[family.name]])).toEqual([])
  })
})

test.each(FAMILIES.slice(0, 3))('v_$name_f64 is correctly rounded', (family) => {
  expect(wrong(family, F64, randomWords(F64, 6000, 11))).toEqual([])
})

describe('special arguments', () => {
  const INF = 0x7f800000n
  const MINUS = 0x80000000n
  const ONE = 0x3f800000n
  const NAN = 'NaN'
  test.each([
    ['v_rcp_f32', [0n, MINUS, INF, MINUS | INF], [INF, MINUS | INF, 0n, MINUS]],
    ['v_rcp_clamp_f32', [0n, MINUS, INF], [0x7f7fffffn, 0xff7fffffn, 0n]],
    ['v_rcp_legacy_f32', [0n, MINUS, INF], [0n, MINUS, 0n]],
    ['v_rsq_f32', [0n, MINUS, INF, MINUS | ONE], [INF, MINUS | INF, 0n, NAN]],
    ['v_rsq_clamp_f32', [0n, MINUS, INF], [0x7f7fffffn, 0xff7fffffn, 0n]],
    ['v_rsq_legacy_f32', [0n, MINUS, INF], [0n, MINUS, 0n]],
    ['v_sqrt_f32', [0n, MINUS, INF, MINUS | ONE], [0n, MINUS, INF, NAN]],
    ['v_exp_f32', [0n, MINUS, INF, MINUS | INF, 0x7fc00001n], [ONE, ONE, INF, 0n, NAN]],
    ['v_exp_f16', [0n, 0x8000n, 0x7c00n, 0xfc00n], [0x3c00n, 0x3c00n, 0x7c00n, 0n]],
    ['v_log_f32', [0n, MINUS, INF, MINUS | INF, MINUS | ONE, ONE, 0xffc00001n], [MINUS | INF, MINUS | INF, INF, NAN, NAN, 0n, NAN]],
    ['v_log_clamp_f32', [0n, INF], [0xff7fffffn, 0x7f7fffffn]],
    ['v_sin_f32', [0n, MINUS, 0x3f000000n, 0xbf000000n, 0x43800001n, INF, 0x7fc00001n], [0n, MINUS, 0n, 0n, 0n, NAN, NAN]],
    ['v_sin_f16', [0n, 0x8000n, 0xb800n, 0x5c01n], [0n, 0x8000n, 0n, 0n]],
    ['v_cos_f32', [0n, MINUS, 0x3e800000n, 0xbf000000n, 0x43800001n, INF, 0x7fc00001n], [ONE, ONE, 0n, MINUS | ONE, ONE, NAN, NAN]],
  ] as const)('%s gives exact results in every mode', (name, sources, wanted) => {
    for (const round of MODES) {
      const got = kernels.run(round === 0 ? name : `${name}_rounded`, 32, [sources], round)
      expect(got.map((w) => (isNan(F32, w) ? NAN : w))).toEqual(wanted)
    }
  })

  test('v_exp_f32 beyond the largest number, and below the least', () => {
    expect(wrong(FAMILIES.find((f) => f.name === 'exp')!, F32, [0x43000000n, 0xc3800000n, 0x7f7fffffn, 0xff7fffffn])).toEqual([])
  })
})
