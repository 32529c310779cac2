/**
 * Models of what hardware only approximates; Lanewise gives the correctly rounded result. Quotients and roots are exact integers here,
 * exponentials, logarithms and sines come from a table (data/README.md) and from where they are rational.
 */
import { exact, F16, F32, F64, type Format, infinity, isInfinite, isNan, isNegative, rounded } from '../../kernels/exact.ts'
import ELEMENTARY_TABLE from '../data/elementary.json' with { type: 'json' }
import { defaultNan, isZero, largest, nanOf, negate, one, type Round, reciprocal, root, size, withSign } from './float.ts'
import { type Flush, type Lane, type Model, roundOf } from './model.ts'

type Rows = readonly (readonly [source: string, nearest: string, up: string, down: string, zero: string])[]
const TABLE = ELEMENTARY_TABLE as unknown as Readonly<Record<string, Readonly<Record<string, Rows>>>>
const tables = new Map<string, ReadonlyMap<bigint, readonly bigint[]>>()
/** Results by round mode, by source. */
function tableOf(name: string, f: Format): ReadonlyMap<bigint, readonly bigint[]> {
  const key = `${name} ${f.bits}`
  let table = tables.get(key)
  if (table === undefined) {
    table = new Map((TABLE[name]![`f${f.bits}`] ?? []).map(([source, ...results]) => [BigInt(source), results.map(BigInt)]))
    tables.set(key, table)
  }
  return table
}

/** A function of a float that is not NaN; NaN where it is not defined. */
type Function = (f: Format, a: bigint, round: Round) => bigint | undefined

const rcp: Function = (f, a, round) => {
  const negative = isNegative(f, a)
  if (isZero(f, a)) return withSign(f, infinity(f), negative)
  if (isInfinite(f, a)) return withSign(f, 0n, negative)
  const quotient = reciprocal(exact(f, size(f, a)))
  return rounded(f, negative ? { ...quotient, significand: -quotient.significand } : quotient, round)
}
const sqrt: Function = (f, a, round) => {
  if (isZero(f, a) || a === infinity(f)) return a
  return isNegative(f, a) ? defaultNan(f) : rounded(f, root(exact(f, a)), round)
}
const rsq: Function = (f, a, round) => {
  if (isZero(f, a)) return withSign(f, infinity(f), isNegative(f, a))
  if (isNegative(f, a)) return defaultNan(f)
  return a === infinity(f) ? 0n : rounded(f, root(reciprocal(exact(f, a))), round)
}

/** Of whole numbers a power of two; of numbers below a quarter of 1's last bit 1 or what is next to it; else the table. */
const exp: Function = (f, a, round) => {
  if (isInfinite(f, a)) return isNegative(f, a) ? 0n : a
  const { significand, exponent } = exact(f, a)
  if (size(f, a) < one(f) - (BigInt(f.fraction + 2) << BigInt(f.fraction))) {
    if (significand === 0n) return one(f)
    if (significand > 0n) return one(f) + (round === 1 ? 1n : 0n)
    return one(f) - (round >= 2 ? 1n : 0n)
  }
  const low = exponent < 0 ? significand & ((1n << BigInt(-exponent)) - 1n) : 0n
  if (low !== 0n) return tableOf('exponential2', f).get(a)?.[round]
  const power = exponent < 0 ? significand >> BigInt(-exponent) : significand << BigInt(exponent)
  const bounded = power > 5000n ? 5000 : power < -5000n ? -5000 : Number(power)
  return rounded(f, { significand: 1n, exponent: bounded }, round)
}
/** Of powers of two their exponent; else the table. */
const log: Function = (f, a, round) => {
  if (isZero(f, a)) return negate(f, infinity(f))
  if (isNegative(f, a)) return defaultNan(f)
  if (isInfinite(f, a)) return a
  const { significand, exponent } = exact(f, a)
  const digits = significand.toString(2)
  if (!/^10*$/.test(digits)) return tableOf('logarithm2', f).get(a)?.[round]
  return rounded(f, { significand: BigInt(exponent + digits.length - 1), exponent: 0 })
}
/** Of quarters of a revolution; `beyond` is the value outside ±256, where hardware gives up (CDNA 3 manual). */
const wave =
  (name: string, beyond: (f: Format) => bigint, quarters: readonly (-1 | 0 | 1 | undefined)[]): Function =>
  (f, a, round) => {
    if (isInfinite(f, a)) return defaultNan(f)
    const limit = rounded(f, { significand: 256n, exponent: 0 })
    if (size(f, a) > limit) return beyond(f)
    if (isZero(f, a)) return name === 'sineOfRevolutions' ? a : one(f)
    const known = tableOf(name, f).get(a)?.[round]
    if (known !== undefined) return known
    const { significand, exponent } = exact(f, a)
    const turned = exponent >= -2 ? significand << BigInt(exponent + 2) : significand >> BigInt(-2 - exponent)
    if (exponent < -2 && turned << BigInt(-2 - exponent) !== significand) return undefined
    const value = quarters[Number(BigInt.asUintN(2, turned))]
    return value === undefined ? undefined : value === 0 ? 0n : withSign(f, one(f), value < 0)
  }
// Which zero the sine of half a revolution is, no source says.
const sin = wave('sineOfRevolutions', () => 0n, [undefined, 1, undefined, -1])
const cos = wave('cosineOfRevolutions', one, [1, 0, -1, 0])

/** Infinite results become the largest numbers, or zeros of their sign. */
const clamped =
  (of: Function): Function =>
  (f, a, round) => {
    const result = of(f, a, round)
    return result !== undefined && isInfinite(f, result) ? withSign(f, largest(f), isNegative(f, result)) : result
  }
const legacy =
  (of: Function): Function =>
  (f, a, round) => {
    const result = of(f, a, round)
    return result !== undefined && isInfinite(f, result) ? withSign(f, 0n, isNegative(f, result)) : result
  }

/** f32 flushes denormals always, the other two by MODE. */
function entry(name: string, table: string, f: Format, of: Function): [string, Model] {
  const lane: Lane = ([a], at) => (isNan(f, a!) ? nanOf(f, a!) : of(f, a!, roundOf(f, at)))
  const flush: Flush = f === F32 ? 'always' : 'mode'
  return [`${name}_f${f.bits}`, { flush, of: lane, also: [[...tableOf(table, f).keys(), ...rational(f)]] }]
}
/** Whole numbers and quarters around the ends of what the functions give. */
const rational = (f: Format): bigint[] => {
  const whole = [2, 4, 8, 15, 16, 127, 128, 256, 257, -2, -14, -24, -25, -126, -127, -149, -150, -257]
  const quarters = [1, 2, 3, -1, -2, -3, 5]
  return [
    ...whole.map((n) => rounded(f, { significand: BigInt(n), exponent: 0 })),
    ...quarters.map((n) => rounded(f, { significand: BigInt(n), exponent: -2 })),
  ]
}

export const ELEMENTARY: readonly [string, Model][] = [
  ...[F16, F32, F64].flatMap((f) => [
    entry('v_rcp', 'reciprocal', f, rcp),
    entry('v_sqrt', 'squareRoot', f, sqrt),
    entry('v_rsq', 'reciprocalRoot', f, rsq),
  ]),
  ...[F16, F32].flatMap((f) => [
    entry('v_exp', 'exponential2', f, exp),
    entry('v_log', 'logarithm2', f, log),
    entry('v_sin', 'sineOfRevolutions', f, sin),
    entry('v_cos', 'cosineOfRevolutions', f, cos),
  ]),
  ...[F32, F64].flatMap((f) => [
    entry('v_rcp_clamp', 'reciprocal', f, clamped(rcp)),
    entry('v_rsq_clamp', 'reciprocalRoot', f, clamped(rsq)),
  ]),
  entry('v_rcp_iflag', 'reciprocal', F32, rcp),
  entry('v_rcp_legacy', 'reciprocal', F32, legacy(rcp)),
  entry('v_rsq_legacy', 'reciprocalRoot', F32, legacy(rsq)),
  entry('v_exp_legacy', 'exponential2', F32, exp),
  entry('v_log_legacy', 'logarithm2', F32, log),
  entry('v_log_clamp', 'logarithm2', F32, clamped(log)),
]
