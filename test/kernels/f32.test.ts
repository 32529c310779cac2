/** Exact f32 arithmetic against big integers: an f32 is an integer × 2^-149, so sums and products are exact as integers. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileKernels } from './compile.ts'

const kernels = await compileKernels(['vop1', 'vop2', 'vop3'])

const NAN = 0x7fc00000
const INFINITY = 0x7f800000
const isNan = (bits: number) => (bits & 0x7fffffff) > INFINITY
const isInfinite = (bits: number) => (bits & 0x7fffffff) === INFINITY

/** A finite f32 as an integer of 2^-149. */
function integer(bits: number): bigint {
  const exponent = (bits >>> 23) & 0xff
  const significand = BigInt(exponent === 0 ? bits & 0x7fffff : (bits & 0x7fffff) | 0x800000)
  const magnitude = significand << BigInt(Math.max(exponent, 1) - 1)
  return bits >>> 31 ? -magnitude : magnitude
}

/** value × 2^-scale as f32, rounded; round as in MODE: 0 nearest even, 1 up, 2 down, 3 towards zero. `value` is not 0. */
function rounded(value: bigint, scale: number, round: number): number {
  const negative = value < 0n
  const magnitude = negative ? -value : value
  const bitLength = magnitude.toString(2).length
  // The result counts 2^exponent; never finer than 2^-149.
  const exponent = Math.max(bitLength - scale - 24, -149)
  const drop = exponent + scale
  const kept = drop > 0 ? magnitude >> BigInt(drop) : magnitude << BigInt(-drop)
  const rest = drop > 0 ? magnitude - (kept << BigInt(drop)) : 0n
  const half = drop > 0 ? 1n << BigInt(drop - 1) : 1n
  const away =
    rest !== 0n &&
    (round === 0 ? rest > half || (rest === half && (kept & 1n) === 1n) : round === 1 ? !negative : round === 2 ? negative : false)
  // Adding to the bits carries into the exponent by itself.
  const below = kept >= 0x800000n ? BigInt(exponent + 149 + 1) * 0x800000n + kept - 0x800000n : kept
  const bits = below + (away ? 1n : 0n)
  const largest = round === 3 || (round === 1 && negative) || (round === 2 && !negative) ? 0x7f7fffffn : 0x7f800000n
  const held = bits >= 0x7f800000n ? largest : bits
  return Number(held) + (negative ? 0x80000000 : 0)
}

/** a × b + c in one rounding; NaN is NAN. */
function fma(a: number, b: number, c: number, round: number): number {
  const productSign = (a ^ b) >>> 31
  if (isNan(a) || isNan(b) || isNan(c)) return NAN
  if (isInfinite(a) || isInfinite(b)) {
    if (integerOrInfinity(a) === 0n || integerOrInfinity(b) === 0n) return NAN
    if (isInfinite(c) && c >>> 31 !== productSign) return NAN
    return INFINITY + productSign * 0x80000000
  }
  if (isInfinite(c)) return c
  const product = integer(a) * integer(b)
  const sum = product + (integer(c) << 149n)
  if (sum !== 0n) return rounded(sum, 298, round)
  const signs = productSign + (c >>> 31)
  return (round === 2 ? signs > 0 : signs === 2) ? 0x80000000 : 0
}
const integerOrInfinity = (bits: number) => (isInfinite(bits) ? undefined : integer(bits))

const run = (name: string, sources: readonly (readonly number[])[], round = 0) =>
  kernels
    .run(
      name,
      32,
      sources.map((s) => s.map(BigInt)),
      round,
    )
    .map((word) => (isNan(Number(word)) ? NAN : Number(word)))

/** Words that meet: neighbours of powers of two, few significant bits, all exponents, and the special values. */
const word = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom(0, 0x80000000),
        fc.integer({ min: 1, max: 254 }),
        fc.constantFrom(0, 1, 2, 0x400000, 0x7fffff, 0x7ffffe, 0x555555, 0x400001),
      )
      .map(([sign, exponent, fraction]) => sign + exponent * 0x800000 + fraction),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(0, 0x80000000), fc.integer({ min: 110, max: 145 }), fc.integer({ min: 0, max: 0x7fffff }))
      .map(([sign, exponent, fraction]) => sign + exponent * 0x800000 + fraction),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      0,
      0x80000000,
      1,
      0x80000001,
      0x7fffff,
      0x807fffff,
      INFINITY,
      0xff800000,
      NAN,
      0x7f800001,
      0xffc12345,
      0x7f7fffff,
      0xff7fffff,
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffffffff }) },
)
const row = fc.array(word, { minLength: 16, maxLength: 16 })
const round = fc.integer({ min: 0, max: 3 })
const hex = (words: readonly number[]) => words.map((w) => w.toString(16).padStart(8, '0'))

describe('f32 arithmetic rounds as the exact result does, in all four modes', () => {
  const kernel = (name: string, mode: number) => (mode === 0 ? name : `${name}_rounded`)
  test('v_fma_f32', () => {
    fc.assert(
      fc.property(row, row, row, round, (a, b, c, mode) => {
        expect(hex(run(kernel('v_fma_f32', mode), [a, b, c], mode))).toEqual(hex(a.map((x, i) => fma(x, b[i]!, c[i]!, mode))))
      }),
      { numRuns: 3000 },
    )
  })
  const near = (a: number, b: number, c: number, mode: number) =>
    expect(hex(run(kernel('v_fma_f32', mode), [[a], [b], [c]], mode))).toEqual(hex([fma(a, b, c, mode)]))
  const sign = fc.constantFrom(0, 0x80000000)
  test('v_fma_f32 where the sum is so near to a tie that f64 cannot tell', () => {
    // An odd number of 25 bits as 3 × x is a tie; the addend is far below f64's last bit.
    const x = fc.integer({ min: 5592406 >> 1, max: (11184810 >> 1) - 1 }).map((n) => n * 2 + 1)
    fc.assert(
      fc.property(x, sign, sign, fc.integer({ min: 1, max: 126 }), round, (x, s, t, exponent, mode) => {
        const leading = 31 - Math.clz32(x)
        near(((127 + leading) * 0x800000 + ((x << (23 - leading)) & 0x7fffff) + s) >>> 0, 0x40400000, t + exponent * 0x800000, mode)
      }),
      { numRuns: 2000 },
    )
  })
  test('v_fma_f32 where that happens among the denormals', () => {
    // 2^-150 (1 - 2^-46) is nearly half of the last bit of a denormal.
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 0x7fffff }), sign, sign, round, (n, s, t, mode) => {
        near((127 - 75) * 0x800000 + 1 + s, (127 - 75) * 0x800000 - 2, t + n, mode)
      }),
      { numRuns: 2000 },
    )
  })
  test('v_add_f32, v_sub_f32, v_subrev_f32', () => {
    fc.assert(
      fc.property(row, row, round, (a, b, mode) => {
        const one = 0x3f800000
        const minus = (x: number) => (x ^ 0x80000000) >>> 0
        expect(hex(run(kernel('v_add_f32', mode), [a, b], mode))).toEqual(hex(a.map((x, i) => fma(x, one, b[i]!, mode))))
        expect(hex(run(kernel('v_sub_f32', mode), [a, b], mode))).toEqual(hex(a.map((x, i) => fma(x, one, minus(b[i]!), mode))))
        expect(hex(run(kernel('v_subrev_f32', mode), [a, b], mode))).toEqual(hex(a.map((x, i) => fma(b[i]!, one, minus(x), mode))))
      }),
      { numRuns: 1000 },
    )
  })
  test('v_mul_f32', () => {
    fc.assert(
      fc.property(row, row, round, (a, b, mode) => {
        const want = a.map((x, i) => {
          const zero = ((x ^ b[i]!) & 0x80000000) >>> 0 // added to a product of its sign it changes nothing
          return fma(x, b[i]!, zero, mode)
        })
        expect(hex(run(kernel('v_mul_f32', mode), [a, b], mode))).toEqual(hex(want))
      }),
      { numRuns: 1000 },
    )
  })
  test('v_ldexp_f32', () => {
    const exponent = fc.array(fc.oneof(fc.integer({ min: -300, max: 300 }), fc.constantFrom(0x7fffffff, -0x80000000, -150, -149, 127)), {
      minLength: 16,
      maxLength: 16,
    })
    fc.assert(
      fc.property(row, exponent, round, (a, n, mode) => {
        const want = a.map((x, i) => {
          if (isNan(x)) return NAN
          if (isInfinite(x) || integer(x) === 0n) return x
          return n[i]! > 300 ? rounded(integer(x) << 700n, 149, mode) : rounded(integer(x), 149 - Math.max(n[i]!, -600), mode)
        })
        expect(hex(run(kernel('v_ldexp_f32', mode), [a, n.map((x) => x >>> 0)], mode))).toEqual(hex(want))
      }),
      { numRuns: 1000 },
    )
  })
  test('v_cvt_f32_i32 and v_cvt_f32_u32', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffffffff }), { minLength: 16, maxLength: 16 }), round, (a, mode) => {
        const want = (x: number) => (x === 0 ? 0 : rounded(BigInt(x), 0, mode))
        expect(hex(run(kernel('v_cvt_f32_u32', mode), [a], mode))).toEqual(hex(a.map(want)))
        expect(hex(run(kernel('v_cvt_f32_i32', mode), [a], mode))).toEqual(hex(a.map((x) => want(x | 0))))
      }),
      { numRuns: 1000 },
    )
  })
})
