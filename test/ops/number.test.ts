import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { add, F16, F32, F64, type Format, fma, multiply, type Round, scale } from '../../host/reference/number.ts'

/** A dyadic rational n / 2^k as n · 2^-k: exact, and made without number.ts. */
interface Dyadic {
  readonly n: bigint
  readonly k: number
}
type Word = number | bigint

const LAYOUTS = {
  f16: { format: F16 as unknown as Format<Word>, fraction: 10, bias: 15 },
  f32: { format: F32 as unknown as Format<Word>, fraction: 23, bias: 127 },
  f64: { format: F64 as unknown as Format<Word>, fraction: 52, bias: 1023 },
} as const
type Name = keyof typeof LAYOUTS

const widthOf = (name: Name) => Number(name.slice(1))
const fields = (name: Name, word: Word) => {
  const { fraction, bias } = LAYOUTS[name]
  const bits = BigInt(word)
  const mask = (1n << BigInt(fraction)) - 1n
  return {
    negative: bits >> BigInt(widthOf(name) - 1) === 1n,
    exponent: Number((bits >> BigInt(fraction)) & BigInt(2 * bias + 1)),
    fraction: bits & mask,
  }
}
const isNumber = (name: Name, word: Word) => fields(name, word).exponent < 2 * LAYOUTS[name].bias + 1

/** A finite word's value; infinity counts as the number one step beyond the largest, as IEEE 754 rounds overflow. */
function dyadic(name: Name, word: Word): Dyadic {
  const { fraction, bias } = LAYOUTS[name]
  const f = fields(name, word)
  const n = f.exponent === 0 ? f.fraction : f.fraction | (1n << BigInt(fraction))
  return { n: f.negative ? -n : n, k: bias + fraction - Math.max(f.exponent, 1) }
}
const product = (a: Dyadic, b: Dyadic): Dyadic => ({ n: a.n * b.n, k: a.k + b.k })
function sum(a: Dyadic, b: Dyadic): Dyadic {
  const k = Math.max(a.k, b.k)
  return { n: (a.n << BigInt(k - a.k)) + (b.n << BigInt(k - b.k)), k }
}
const minus = (a: Dyadic): Dyadic => ({ n: -a.n, k: a.k })
const signOf = (a: Dyadic): number => (a.n < 0n ? -1 : a.n > 0n ? 1 : 0)
const distance = (a: Dyadic, b: Dyadic): Dyadic => {
  const d = sum(a, minus(b))
  return d.n < 0n ? minus(d) : d
}
const compare = (a: Dyadic, b: Dyadic): number => signOf(sum(a, minus(b)))

/** Words in the order of their values: sign and magnitude unfolded. */
const step = (name: Name, word: Word, by: 1 | -1): Word => {
  const bits = BigInt(word)
  const top = 1n << BigInt(widthOf(name) - 1)
  const ordered = (bits & top ? -(bits ^ top) : bits) + BigInt(by)
  const back = ordered < 0n ? -ordered | top : ordered
  return name === 'f64' ? back : Number(back)
}

/** Values from infinity's (see dyadic) on are as good as one a quarter step below it. */
function limited(name: Name, exact: Dyadic): Dyadic {
  const { fraction, bias } = LAYOUTS[name]
  const limit = { n: (4n << BigInt(fraction + 1)) - 1n, k: fraction + 2 - bias }
  if (compare(exact, limit) > 0) return limit
  return compare(exact, minus(limit)) < 0 ? minus(limit) : exact
}

/** Whether a word is the exact value rounded: no neighbour is closer, or it is the closest on the right side. */
function isRounded(name: Name, word: Word, unlimited: Dyadic, round: Round): boolean {
  const exact = limited(name, unlimited)
  const order = compare(dyadic(name, word), exact)
  const up = dyadic(name, step(name, word, 1))
  const down = dyadic(name, step(name, word, -1))
  switch (round === 3 ? (exact.n < 0n ? 1 : 2) : round) {
    case 1:
      return order >= 0 && (isLowest(name, word) || compare(down, exact) < 0)
    case 2:
      return order <= 0 && (isHighest(name, word) || compare(up, exact) > 0)
    default: {
      const own = distance(dyadic(name, word), exact)
      const others = [isHighest(name, word) ? undefined : up, isLowest(name, word) ? undefined : down]
      return others.every((other) => {
        if (other === undefined) return true
        const order = compare(own, distance(other, exact))
        return order < 0 || (order === 0 && (BigInt(word) & 1n) === 0n)
      })
    }
  }
}
const isHighest = (name: Name, word: Word) => !isNumber(name, word) && !fields(name, word).negative
const isLowest = (name: Name, word: Word) => !isNumber(name, word) && fields(name, word).negative

/** Finite words, often of special kind or close to one another in size, so that sums cancel and products under- and overflow. */
function finite(name: Name): fc.Arbitrary<Word> {
  const { fraction, bias } = LAYOUTS[name]
  const exponent = fc.oneof(
    fc.integer({ min: 0, max: 2 * bias }),
    fc.integer({ min: bias - 3, max: bias + 3 }),
    fc.constantFrom(0, 1, 2, Math.floor(bias / 2), bias + Math.floor(bias / 2), 2 * bias),
  )
  const all = (1n << BigInt(fraction)) - 1n
  const bits = fc.oneof(fc.bigInt({ min: 0n, max: all }), fc.constantFrom(0n, 1n, 2n, all, all - 1n, all >> 1n, (all >> 1n) + 1n))
  return fc.tuple(fc.boolean(), exponent, bits).map(([negative, e, f]) => {
    const word = ((negative ? 1n : 0n) << BigInt(widthOf(name) - 1)) | (BigInt(e) << BigInt(fraction)) | f
    return name === 'f64' ? word : Number(word)
  })
}
const rounds = fc.constantFrom<Round>(0, 1, 2, 3)

describe.each(Object.keys(LAYOUTS) as Name[])('%s: of numbers, exactly rounded', (name) => {
  const { format } = LAYOUTS[name]
  const runs = { numRuns: 3000 }

  test('add', () => {
    fc.assert(
      fc.property(finite(name), finite(name), rounds, (a, b, round) => {
        const exact = sum(dyadic(name, a), dyadic(name, b))
        const got = add(format, a, b, round)
        return isRounded(name, got, exact, round) && (exact.n === 0n || fields(name, got).negative === exact.n < 0n)
      }),
      runs,
    )
  })

  test('multiply', () => {
    fc.assert(
      fc.property(finite(name), finite(name), rounds, (a, b, round) => {
        const got = multiply(format, a, b, round)
        const negative = fields(name, a).negative !== fields(name, b).negative
        return isRounded(name, got, product(dyadic(name, a), dyadic(name, b)), round) && fields(name, got).negative === negative
      }),
      runs,
    )
  })

  test('fma', () => {
    fc.assert(
      fc.property(finite(name), finite(name), finite(name), rounds, (a, b, c, round) => {
        const exact = sum(product(dyadic(name, a), dyadic(name, b)), dyadic(name, c))
        const got = fma(format, a, b, c, round)
        return isRounded(name, got, exact, round) && (exact.n === 0n || fields(name, got).negative === exact.n < 0n)
      }),
      runs,
    )
  })

  test('fma of a product that the addend nearly cancels', () => {
    fc.assert(
      fc.property(finite(name), finite(name), fc.constantFrom<1 | -1>(1, -1), rounds, (a, b, by, round) => {
        const near = multiply(format, a, b, 0)
        if (!isNumber(name, near) || dyadic(name, near).n === 0n) return true
        const sign = BigInt(format.sign)
        const negated = BigInt(step(name, near, by)) ^ sign
        const c = name === 'f64' ? negated : Number(negated)
        if (!isNumber(name, c)) return true
        return isRounded(name, fma(format, a, b, c, round), sum(product(dyadic(name, a), dyadic(name, b)), dyadic(name, c)), round)
      }),
      runs,
    )
  })

  test('scale by a power of two', () => {
    fc.assert(
      fc.property(
        finite(name),
        fc.oneof(fc.integer({ min: -80, max: 80 }), fc.integer({ min: -3000, max: 3000 })),
        rounds,
        (a, n, round) => {
          const value = dyadic(name, a)
          return isRounded(name, scale(format, a, n, round), { n: value.n, k: value.k - n }, round)
        },
      ),
      runs,
    )
  })

  test('value and word are inverse', () => {
    fc.assert(
      fc.property(finite(name), (a) => format.word(format.value(a)) === a),
      runs,
    )
  })
})

describe('special operands', () => {
  const { nan, infinity } = F32
  test('∞ - ∞ and 0 · ∞ give the default NaN', () => {
    expect(add(F32, infinity, 0xff800000, 0)).toBe(0x7fc00000)
    expect(multiply(F32, 0x80000000, infinity, 0)).toBe(0x7fc00000)
    expect(fma(F64, 0n, 0x7ff0000000000000n, 0x3ff0000000000000n, 0)).toBe(0x7ff8000000000000n)
    expect(fma(F16, 0x7c00, 0x3c00, 0xfc00, 0)).toBe(0x7e00)
  })
  test('the first NaN source comes back, quieted', () => {
    expect(add(F32, 0x3f800000, 0x7f812345, 0)).toBe(0x7fc12345)
    expect(fma(F32, 0xffbfffff, nan, 0x7f800001, 0)).toBe(0xffffffff)
    expect(fma(F32, 0, infinity, 0x7f800001, 0)).toBe(0x7fc00001)
    expect(multiply(F64, 0x7ff0000000000001n, 0n, 3)).toBe(0x7ff8000000000001n)
  })
  test('a sum that is zero is +0, towards −∞ -0; of equal zeros it is their zero', () => {
    for (const round of [0, 1, 3] as const) expect(add(F32, 0x3f800000, 0xbf800000, round)).toBe(0)
    expect(add(F32, 0x3f800000, 0xbf800000, 2)).toBe(0x80000000)
    expect(add(F32, 0, 0x80000000, 2)).toBe(0x80000000)
    expect(add(F32, 0, 0, 2)).toBe(0)
    expect(add(F32, 0x80000000, 0x80000000, 0)).toBe(0x80000000)
    expect(fma(F64, 0x3ff0000000000000n, 0x4000000000000000n, 0xc000000000000000n, 2)).toBe(0x8000000000000000n)
    expect(fma(F16, 0, 0x3c00, 0x8000, 0)).toBe(0)
  })
  test('overflow gives infinity or the largest number, as the round mode goes', () => {
    const results = (sign: number) => ([0, 1, 2, 3] as const).map((round) => multiply(F32, 0x7f000000 + sign, 0x41000000, round))
    expect(results(0)).toEqual([0x7f800000, 0x7f800000, 0x7f7fffff, 0x7f7fffff])
    expect(results(0x80000000)).toEqual([0xff800000, 0xff7fffff, 0xff800000, 0xff7fffff])
  })
  test('65,519 is the largest number that rounds to the largest f16; 65,520 is a tie and goes to infinity', () => {
    expect(F16.round(65519, 0)).toBe(0x7bff)
    expect(F16.round(65520, 0)).toBe(0x7c00)
    expect(F16.round(-65520, 3)).toBe(0xfbff)
  })
})
