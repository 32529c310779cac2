/** Powers, logarithms, sines and inverse roots to 200 bits after the point, by series in big integers. */
import type { Exact } from './exact.ts'

const BITS = 300n
const ONE = 1n << BITS

/** x·2^BITS, cut off. */
function fixed(x: Exact): bigint {
  const shift = BigInt(x.exponent) + BITS
  return shift >= 0n ? x.significand << shift : x.significand >> -shift
}
/** What is cut off here is far below the 200 bits that results are good for. */
const inexact = (significand: bigint, exponent = 0): Exact => ({ significand, exponent: exponent - Number(BITS), more: true })
const times = (a: bigint, b: bigint) => (a * b) >> BITS

/** artanh(n/d) by its series. */
function artanh(x: bigint): bigint {
  const square = times(x, x)
  let total = 0n
  for (let power = x, k = 1n; power !== 0n && power !== -1n; power = times(power, square), k += 2n) total += power / k
  return total
}
const LN2 = 2n * artanh(ONE / 3n)

/** π·2^bits, good to a few units: 16 arctan(1/5) − 4 arctan(1/239) (J. Machin). */
export function pi(bits: bigint): bigint {
  const arctanOfInverse = (n: bigint) => {
    let total = 0n
    for (let power = (1n << bits) / n, k = 1n; power !== 0n; power /= -n * n, k += 2n) total += power / k
    return total
  }
  return 16n * arctanOfInverse(5n) - 4n * arctanOfInverse(239n)
}
const TWO_PI = 2n * pi(BITS)

export function exp2(x: Exact): Exact {
  const whole = fixed(x) >> BITS
  const t = times(fixed(x) - (whole << BITS), LN2)
  let total = 0n
  for (let term = ONE, k = 1n; term !== 0n; term = times(term, t) / k, k++) total += term
  const exactly = (fixed(x) & (ONE - 1n)) === 0n
  return exactly ? { significand: 1n, exponent: Number(whole) } : inexact(total, Number(whole))
}

/** Of positive numbers. */
export function log2(x: Exact): Exact {
  const length = x.significand.toString(2).length
  const m = x.significand << (BITS - BigInt(length - 1)) // in [1, 2)
  const e = x.exponent + length - 1
  if (m === ONE) return { significand: BigInt(e), exponent: 0 }
  const total = (BigInt(e) << BITS) + ((2n * artanh(((m - ONE) << BITS) / (m + ONE))) << BITS) / LN2
  return inexact(total)
}

/** sin(2π·x) */
export function sinOfTurns(x: Exact): Exact {
  const quarters = 4n * fixed(x)
  if ((quarters & (ONE - 1n)) === 0n) return { significand: [0n, 1n, 0n, -1n][Number((quarters >> BITS) & 3n)]!, exponent: 0 }
  const turn = ((fixed(x) % ONE) + ONE) % ONE
  const angle = times(turn > ONE / 2n ? turn - ONE : turn, TWO_PI)
  const square = times(angle, angle)
  let total = 0n
  for (let term = angle, k = 2n; term !== 0n && term !== -1n; term = -times(term, square) / (k * (k + 1n)), k += 2n) total += term
  return inexact(total)
}
export function cosOfTurns(x: Exact): Exact {
  return sinOfTurns({ significand: fixed(x) + ONE / 4n, exponent: -Number(BITS) })
}

/** 1/√x of positive numbers. */
export function rsqrt(x: Exact): Exact {
  // x = m·2^(2k); 2^BITS/√m = √(2^(2·BITS)/m)
  const odd = Math.abs(x.exponent % 2)
  const m = x.significand << BigInt(odd)
  const k = (x.exponent - odd) / 2
  const root = floorRoot((1n << (2n * BITS)) / m)
  return { significand: root, exponent: -Number(BITS) - k, more: root * root * m !== 1n << (2n * BITS) }
}
/** √x of positive numbers. */
export function squareRoot(x: Exact): Exact {
  const odd = Math.abs(x.exponent % 2)
  const n = x.significand << (BigInt(odd) + 2n * BITS)
  const root = floorRoot(n)
  return { significand: root, exponent: (x.exponent - odd) / 2 - Number(BITS), more: root * root !== n }
}
function floorRoot(n: bigint): bigint {
  let r = 1n << BigInt((n.toString(2).length + 1) >> 1)
  for (;;) {
    const next = (r + n / r) >> 1n
    if (next >= r) return r
    r = next
  }
}
