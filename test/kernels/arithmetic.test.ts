import { describe, expect, test } from 'vitest'
import { compileKernels } from './compile.ts'
import { pi } from './elementary-exact.ts'
import { type Exact, exact, F16, F32, F64, type Format, infinity, isNan, isNegative, product, rounded, signBit, sum } from './exact.ts'
import { randomWords } from './random.ts'

const kernels = await compileKernels(['double', 'half', 'convert', 'wide'])

const ROUND_MODES = ['nearest even', 'towards +∞', 'towards −∞', 'towards zero'] as const
const COUNT = 6000

const finite = (f: Format, word: bigint) => (word & infinity(f)) !== infinity(f)
const lanes = (f: Format): 32 | 64 => (f === F64 ? 64 : 32)

/** An exact zero sum is +0, towards −∞ −0, but of two zeros of one sign it has that sign. */
function addition(f: Format, a: Exact, aNegative: boolean, b: Exact, bNegative: boolean, mode: number): bigint {
  return rounded(f, sum(a, b), mode, aNegative === bNegative ? aNegative : mode === 2)
}

/** Runs a kernel in every round mode and lists what is not as `want` says; only numbers go in. */
function check(f: Format, name: string, sources: bigint[][], want: (words: bigint[], mode: number) => bigint): void {
  const keep = sources[0]!.map((_, i) => sources.every((s) => finite(f, s[i]!)))
  const numbers = sources.map((s) => s.filter((_, i) => keep[i]))
  for (const mode of ROUND_MODES.keys()) {
    const got = kernels.run(mode === 0 ? name : `${name}_rounded`, lanes(f), numbers, mode)
    const wrong = got.flatMap((word, i) => {
      const words = numbers.map((s) => s[i]!)
      const right = want(words, mode)
      return word === right
        ? []
        : [`${words.map((w) => w.toString(16)).join(', ')} ${ROUND_MODES[mode]}: ${word.toString(16)}, not ${right.toString(16)}`]
    })
    expect(wrong.slice(0, 5)).toEqual([])
  }
}

describe.each([F16, F64])('f$bits arithmetic rounds once in every mode', (f) => {
  const [a, b, c] = [1, 2, 3].map((seed) => randomWords(f, COUNT, seed)) as [bigint[], bigint[], bigint[]]
  const name = (operation: string) => `v_${operation}_f${f.bits}`

  test(name('add'), () => {
    check(f, name('add'), [a, b], ([x, y], mode) => addition(f, exact(f, x!), isNegative(f, x!), exact(f, y!), isNegative(f, y!), mode))
  })
  test(name('mul'), () => {
    check(f, name('mul'), [a, b], ([x, y], mode) => rounded(f, product(exact(f, x!), exact(f, y!)), mode, isNegative(f, x! ^ y!)))
  })
  test(name('fma'), () => {
    check(f, name('fma'), [a, b, c], ([x, y, z], mode) =>
      addition(f, product(exact(f, x!), exact(f, y!)), isNegative(f, x! ^ y!), exact(f, z!), isNegative(f, z!), mode),
    )
  })
  test(`${name('fma')} where the product nearly cancels`, () => {
    const nearly = a.map(
      (x, i) => rounded(f, product(exact(f, finite(f, x) ? x : 0n), exact(f, finite(f, b[i]!) ? b[i]! : 0n)), i % 4) ^ signBit(f),
    )
    check(f, name('fma'), [a, b, nearly], ([x, y, z], mode) =>
      addition(f, product(exact(f, x!), exact(f, y!)), isNegative(f, x! ^ y!), exact(f, z!), isNegative(f, z!), mode),
    )
  })
  test(name('ldexp'), () => {
    const bits = f === F16 ? 16 : 32
    const counts = c.map((w, i) => BigInt.asUintN(bits, i % 3 === 0 ? w : BigInt.asIntN(i % 3 === 1 ? 6 : 12, w)))
    const words = a.map((w) => (finite(f, w) ? w : 0n))
    for (const mode of ROUND_MODES.keys()) {
      const got = kernels.run(`${name('ldexp')}${mode === 0 ? '' : '_rounded'}`, lanes(f), [words, counts], mode)
      const want = words.map((w, i) => {
        const n = Math.max(Math.min(Number(BigInt.asIntN(bits, counts[i]!)), 5000), -5000)
        const { significand, exponent } = exact(f, w)
        return rounded(f, { significand, exponent: exponent + n }, mode, isNegative(f, w))
      })
      expect(got).toEqual(want)
    }
  })
})

test('v_sub_f16 and v_subrev_f16 are additions of the negative', () => {
  const a = randomWords(F16, COUNT, 4)
  const b = randomWords(F16, COUNT, 5)
  const difference = ([x, y]: bigint[], mode: number) =>
    addition(F16, exact(F16, x!), isNegative(F16, x!), exact(F16, y! ^ 0x8000n), !isNegative(F16, y!), mode)
  check(F16, 'v_sub_f16', [a, b], difference)
  check(F16, 'v_subrev_f16', [b, a], ([y, x], mode) => difference([x!, y!], mode))
})

test('v_fma_f64 of infinities, and of products that overflow beside an infinity', () => {
  const [one, large, inf] = [0x3ff0000000000000n, 0x7fefffffffffffffn, 0x7ff0000000000000n]
  const minus = 1n << 63n
  const got = kernels.run('v_fma_f64', 64, [
    [inf, 0n, large, large, inf],
    [one, inf, large, large, one],
    [large, one, inf | minus, one, inf | minus],
  ])
  expect(got.map((w) => (isNan(F64, w) ? 'NaN' : w))).toEqual([inf, 'NaN', inf | minus, inf, 'NaN'])
})

describe('conversions', () => {
  test('v_cvt_f16_f32 rounds once in every mode', () => {
    const words = [...randomWords(F32, COUNT, 6), ...Array.from({ length: 8000 }, (_, i) => BigInt(0x33000000 + i * 0x4321) & 0x47ffffffn)]
    check(F32, 'v_cvt_f16_f32', [words], ([x], mode) => rounded(F16, exact(F32, x!), mode, isNegative(F32, x!)))
  })
  test('v_cvt_f32_f16 is exact for every f16', () => {
    const words = Array.from({ length: 0x8000 }, (_, i) => BigInt(i)).filter((w) => w < 0x7c00n)
    for (const sign of [0n, 0x8000n]) {
      const signed = words
        .slice(0, 0x3e00)
        .concat(words.slice(0x3e00))
        .map((w) => w | sign)
      for (let from = 0; from < signed.length; from += 8192) {
        const part = signed.slice(from, from + 8192)
        expect(kernels.run('v_cvt_f32_f16', 32, [part])).toEqual(part.map((w) => rounded(F32, exact(F16, w), 0, sign !== 0n)))
      }
    }
  })
  test('v_cvt_f32_f64 rounds once in every mode', () => {
    const words = randomWords(F64, COUNT, 8).concat(
      randomWords(F32, COUNT, 9)
        .filter((w) => finite(F32, w))
        .map((w, i) => {
          const f64 = rounded(F64, exact(F32, w), 0, isNegative(F32, w)) // an f32, a tie, or beside one
          return f64 + [0n, 0x10000000n, 0x10000001n, 0xfffffffn, 1n][i % 5]!
        }),
    )
    check(F64, 'v_cvt_f32_f64', [words], ([x], mode) => rounded(F32, exact(F64, x!), mode, isNegative(F64, x!)))
  })
  test('v_cvt_f16_i16 and v_cvt_f16_u16 in every mode', () => {
    const words = Array.from({ length: 8192 }, (_, i) => BigInt(i * 8 + (i % 8)))
    for (const mode of ROUND_MODES.keys()) {
      const suffix = mode === 0 ? '' : '_rounded'
      expect(kernels.run(`v_cvt_f16_u16${suffix}`, 32, [words], mode)).toEqual(
        words.map((w) => rounded(F16, { significand: w, exponent: 0 }, mode)),
      )
      expect(kernels.run(`v_cvt_f16_i16${suffix}`, 32, [words], mode)).toEqual(
        words.map((w) => rounded(F16, { significand: BigInt.asIntN(16, w), exponent: 0 }, mode)),
      )
    }
  })
  test('a NaN keeps sign and leading payload, quieted', () => {
    expect(kernels.run('v_cvt_f16_f32', 32, [[0x7f800001n, 0xffa02000n]])).toEqual([0x7e00n, 0xff01n])
    expect(kernels.run('v_cvt_f32_f16', 32, [[0x7c01n, 0xfe05n]])).toEqual([0x7fc02000n, 0xffc0a000n])
    expect(kernels.run('v_cvt_f32_f64', 64, [[0x7ff0000020000000n, 0xfff8000000000001n]])).toEqual([0x7fc00001n, 0xffc00000n])
    expect(kernels.run('v_cvt_f64_f32', 64, [[0x7f800001n, 0xffc00000n]])).toEqual([0x7ff8000020000000n, 0xfff8000000000000n])
  })
})

test('v_rsq_f64 is correctly rounded', () => {
  const words = randomWords(F64, 3000, 10).filter((w) => finite(F64, w) && w > 0n && !isNegative(F64, w))
  const got = kernels.run('v_rsq_f64', 64, [words])
  // r is the nearest to 1/√x where x·(r − ½ulp)² ≤ 1 ≤ x·(r + ½ulp)².
  const wrong = words.filter((word, i) => {
    const x = exact(F64, word)
    const r = exact(F64, got[i]!)
    const compare = (half: bigint) => {
      const s = { significand: 2n * r.significand + half, exponent: r.exponent - 1 }
      const p = product(x, product(s, s))
      return p.exponent >= 0 ? 1 : p.significand - (1n << BigInt(-p.exponent))
    }
    return compare(-1n) > 0n || compare(1n) < 0n
  })
  expect(wrong.map((w) => w.toString(16))).toEqual([])
})

describe('64-bit integers', () => {
  const U64 = (1n << 64n) - 1n
  const a = randomWords(F64, 2000, 11)
  const b = randomWords(F64, 2000, 12)
  const low = a.map((w) => BigInt.asUintN(32, w ^ (w >> 32n)))
  const other = b.map((w) => BigInt.asUintN(32, w ^ (w >> 32n)))
  const i32 = (w: bigint) => BigInt.asIntN(32, w)

  test('shifts take counts modulo 64, in both operand orders', () => {
    for (const [forward, reversed, want] of [
      ['v_lshl_b64', 'v_lshlrev_b64', (x: bigint, n: bigint) => (x << n) & U64],
      ['v_lshr_b64', 'v_lshrrev_b64', (x: bigint, n: bigint) => x >> n],
      ['v_ashr_i64', 'v_ashrrev_i64', (x: bigint, n: bigint) => BigInt.asUintN(64, BigInt.asIntN(64, x) >> n)],
    ] as const) {
      const wanted = a.map((x, i) => want(x, low[i]! & 63n))
      expect(kernels.run(forward, 64, [a, low])).toEqual(wanted)
      expect(kernels.run(reversed, 64, [low, a])).toEqual(wanted)
    }
  })
  test('v_mad_u64_u32 and its carry', () => {
    const sums = a.map((c, i) => low[i]! * other[i]! + c)
    expect(kernels.run('v_mad_u64_u32', 64, [low, other, a])).toEqual(sums.map((s) => s & U64))
    expect(kernels.run('v_mad_u64_u32_mask', 64, [low, other, a])).toEqual(sums.map((s) => (s > U64 ? U64 : 0n)))
  })
  test('v_mad_i64_i32 and the sign of its 65-bit sum', () => {
    const sums = a.map((c, i) => i32(low[i]!) * i32(other[i]!) + BigInt.asIntN(64, c))
    expect(kernels.run('v_mad_i64_i32', 64, [low, other, a])).toEqual(sums.map((s) => s & U64))
    expect(kernels.run('v_mad_i64_i32_mask', 64, [low, other, a])).toEqual(sums.map((s) => (s < 0n ? U64 : 0n)))
  })
})

describe('f64 taken apart', () => {
  const words = randomWords(F64, 3000, 13).filter((w) => finite(F64, w) && (w & ~signBit(F64)) !== 0n)

  test('v_frexp_mant_f64 and v_frexp_exp_i32_f64 multiply to the number', () => {
    const significands = kernels.run('v_frexp_mant_f64', 64, [words])
    const exponents = kernels.run('v_frexp_exp_i32_f64', 64, [words])
    for (const [i, word] of words.entries()) {
      const { significand, exponent } = exact(F64, significands[i]!)
      const n = Number(BigInt.asIntN(32, exponents[i]!))
      expect(rounded(F64, { significand, exponent: exponent + n })).toBe(word)
      expect(Number((significands[i]! >> 52n) & 0x7ffn)).toBe(1022)
    }
  })

  test('v_fract_f64 is the number less its floor, below 1, in every mode', () => {
    check(F64, 'v_fract_f64', [words], ([x], mode) => {
      const { significand, exponent } = exact(F64, x!)
      const part = exponent >= 0 ? 0n : BigInt.asUintN(-exponent, significand)
      const r = rounded(F64, { significand: part, exponent: Math.min(exponent, 0) }, mode)
      return r < 0x3ff0000000000000n ? r : 0x3fefffffffffffffn
    })
  })

  test('v_trig_preop_f64 gives 53 bits of 2/π in their place', () => {
    const twoOverPi = (2n << (1300n + 1201n)) / pi(1300n)
    const cases = Array.from({ length: 2000 }, (_, i) => ({ segment: BigInt(i % 40), exponent: BigInt((i * 97) % 2048) }))
    const got = kernels.run('v_trig_preop_f64', 64, [cases.map((c) => (c.exponent << 52n) | 0x123456789n), cases.map((c) => c.segment)])
    const want = cases.map(({ segment, exponent }) => {
      const shift = (segment & 31n) * 53n + (exponent > 1077n ? exponent - 1077n : 0n)
      const bits = BigInt.asUintN(1201, twoOverPi << shift) >> (1201n - 53n)
      return rounded(F64, { significand: bits, exponent: -53 - Number(shift) + (exponent >= 1968n ? 128 : 0) })
    })
    expect(got).toEqual(want)
  })
})
