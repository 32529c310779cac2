/** Reproducible words for tests, special values among them. */
import { type Format, infinity, signBit } from './exact.ts'

/** xorshift32 (G. Marsaglia). */
function generator(seed: number): () => number {
  let x = seed >>> 0 || 1
  return () => {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    x >>>= 0
    return x
  }
}

/**
 * Words of a float format: a third any bits, a third near 1 and one another, so that sums cancel and carry, the rest special: zeros,
 * denormals, limits, powers of two and their neighbours, infinities, NaN.
 */
export function randomWords(f: Format, count: number, seed: number): bigint[] {
  const next = generator(seed * 0x9e3779b1)
  const any = () => ((BigInt(next()) << 32n) | BigInt(next())) & ((1n << BigInt(f.bits)) - 1n)
  const inf = infinity(f)
  const fraction = (1n << BigInt(f.fraction)) - 1n
  const one = (inf >> 1n) & ~fraction
  const special = [
    0n,
    1n,
    fraction,
    fraction + 1n,
    fraction + 2n,
    inf - 1n,
    inf,
    inf + 1n,
    inf | ((fraction + 1n) >> 1n),
    one,
    one + 1n,
    one - 1n,
  ]
  return Array.from({ length: count }, () => {
    const sign = next() & 1 ? signBit(f) : 0n
    switch (next() % 6) {
      case 0:
      case 1:
        return any()
      case 2:
        return sign | (one + (BigInt((next() % 9) - 4) << BigInt(f.fraction)) + (any() & fraction))
      case 3:
        // Few significant bits: ties and exact results.
        return sign | (one + (BigInt((next() % 9) - 4) << BigInt(f.fraction)) + (any() & fraction & ~(fraction >> BigInt(next() % 8))))
      case 4:
        return sign | ((any() & inf) + BigInt(next() % 3))
      default:
        return sign | special[next() % special.length]!
    }
  })
}
