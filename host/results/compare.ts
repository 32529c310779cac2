/** When two values count as equal, and where two buffers differ. */
import { bytesOf, type ElementType, f16Value, isFloatType, numberOf, readBits } from './elements.ts'
import { hex } from './hex.ts'

/** How values are compared. NaNs agree by their bits, unless `anyNan` says that any NaN may stand for any NaN. */
export interface Comparison {
  /** `exact`: all bits; `ulp`: so many representable values apart; `near`: |got - want| ≤ abs + rel · |want|. */
  readonly how: 'exact' | 'ulp' | 'near'
  readonly ulp: number
  readonly abs: number
  readonly rel: number
  readonly anyNan: boolean
}

export const EXACT: Comparison = { how: 'exact', ulp: 0, abs: 0, rel: 0, anyNan: false }

/** Reads `exact`, `ulp N`, `abs A`, `rel R` or `abs A rel R`; undefined where the text is none of them. */
export function parseComparison(text: string): Comparison | undefined {
  if (text.trim() === 'exact') return EXACT
  const words = text.trim().split(/\s+/)
  const numbers = new Map<string, number>()
  for (let i = 0; i < words.length; i += 2) {
    const key = words[i] ?? ''
    const value = Number(words[i + 1] ?? Number.NaN)
    if (!['ulp', 'abs', 'rel'].includes(key) || numbers.has(key) || !(value >= 0 && value < Infinity)) return undefined
    numbers.set(key, value)
  }
  const ulp = numbers.get('ulp')
  if (ulp !== undefined) return numbers.size === 1 ? { ...EXACT, how: 'ulp', ulp } : undefined
  return { ...EXACT, how: 'near', abs: numbers.get('abs') ?? 0, rel: numbers.get('rel') ?? 0 }
}

/** Whether a value is good enough. */
export function agrees(expected: bigint, actual: bigint, type: ElementType, comparison: Comparison): boolean {
  if (expected === actual) return true
  if (isFloatType(type) && (isNan(type, expected) || isNan(type, actual)))
    return comparison.anyNan && isNan(type, expected) && isNan(type, actual)
  if (comparison.anyNan && type === 'f32' && isHalfNan(expected) && isHalfNan(actual)) return true
  if (comparison.how === 'ulp') return distance(type, expected, actual) <= comparison.ulp
  if (comparison.how === 'exact') return false
  const want = numberOf(type, expected)
  const apart = Math.abs(numberOf(type, actual) - want)
  return apart < Infinity && apart <= comparison.abs + comparison.rel * Math.abs(want)
}

const isNan = (type: ElementType, bits: bigint): boolean => Number.isNaN(numberOf(type, bits))
/** A register does not say that it holds an f16; with a zero high half, as f16 results leave it, an f16 NaN is taken for one. */
const isHalfNan = (bits: bigint): boolean => bits <= 0xffffn && Number.isNaN(f16Value(Number(bits)))

/** How many representable values lie between two floats; -0 and +0 are one. */
export function distance(type: ElementType, a: bigint, b: bigint): number {
  const sign = 1n << BigInt(bytesOf(type) * 8 - 1)
  const place = (bits: bigint): bigint => ((bits & sign) === 0n ? bits : sign - bits)
  const apart = place(a) - place(b)
  return Number(apart < 0n ? -apart : apart)
}

/** One place where a result is not what was expected. */
export interface Difference {
  /** Register or buffer by its name in the job. */
  readonly where: string
  /** Lane of a vector register. */
  readonly lane?: number
  /** Element of a buffer. */
  readonly index?: number
  readonly expected: string
  readonly actual: string
}

/** Differences are counted without end and kept up to this many. */
export const DIFFERENCES_KEPT = 16

export class Differences {
  readonly list: Difference[] = []
  count = 0

  add(difference: Difference): void {
    this.count++
    if (this.list.length < DIFFERENCES_KEPT) this.list.push(difference)
  }
}

/** Compares element by element; both sides must be equally long. `stride` is the distance of the compared elements in `actual`. */
export function compareElements(
  where: string,
  type: ElementType,
  expected: Uint8Array,
  actual: Uint8Array,
  comparison: Comparison,
  differences: Differences,
  stride = 1,
): void {
  const size = bytesOf(type)
  const want = new DataView(expected.buffer, expected.byteOffset, expected.byteLength)
  const got = new DataView(actual.buffer, actual.byteOffset, actual.byteLength)
  for (let i = 0; i * size < expected.length; i++) {
    const index = i * stride
    if (sameBytes(expected, i * size, actual, index * size, size)) continue
    const a = readBits(want, i * size, size)
    const b = readBits(got, index * size, size)
    if (!agrees(a, b, type, comparison)) differences.add({ where, index, expected: hex(a, size * 8), actual: hex(b, size * 8) })
  }
}

function sameBytes(a: Uint8Array, atA: number, b: Uint8Array, atB: number, size: number): boolean {
  for (let i = 0; i < size; i++) if (a[atA + i] !== b[atB + i]) return false
  return true
}
