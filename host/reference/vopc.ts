/**
 * The vector compares, one function a name, made from families: v_cmp_<relation>_<type>. v_cmpx, v_cmps and v_cmpsx give the same
 * result; writing EXEC (x) is the engine's, and signalling on NaN (s) changes no result.
 * Source: AMD's "Southern Islands", "Sea Islands" and "Graphics Core Next Architecture, Generation 3" instruction set manuals, VOPC.
 */
import type { LaneFunction } from './lane.ts'
import { F16, F32, F64, type Format, isSignalling, power } from './number.ts'
import { i16, i32, i64, u16 } from './words.ts'

/**
 * Relations of floats. The first eight are ordered, false where an operand is NaN, and `lg` is "less or greater"; the `n` forms
 * are their opposites, so true where an operand is NaN: v_cmp_neq is the C operator !=.
 */
const FLOAT_RELATIONS: Readonly<Record<string, (x: number, y: number) => boolean>> = {
  f: () => false,
  lt: (x, y) => x < y,
  eq: (x, y) => x === y,
  le: (x, y) => x <= y,
  gt: (x, y) => x > y,
  lg: (x, y) => x < y || x > y,
  ge: (x, y) => x >= y,
  o: (x, y) => !Number.isNaN(x) && !Number.isNaN(y),
  u: (x, y) => Number.isNaN(x) || Number.isNaN(y),
  nge: (x, y) => !(x >= y),
  nlg: (x, y) => !(x < y || x > y),
  ngt: (x, y) => !(x > y),
  nle: (x, y) => !(x <= y),
  neq: (x, y) => x !== y,
  nlt: (x, y) => !(x < y),
  tru: () => true,
}

const INTEGER_RELATIONS: Readonly<Record<string, (x: number | bigint, y: number | bigint) => boolean>> = {
  f: () => false,
  lt: (x, y) => x < y,
  eq: (x, y) => x === y,
  le: (x, y) => x <= y,
  gt: (x, y) => x > y,
  ne: (x, y) => x !== y,
  ge: (x, y) => x >= y,
  t: () => true,
}

const same = <T>(a: T): T => a
const INTEGER_TYPES = { i32, u32: same<number>, i64, u64: same<bigint>, i16, u16 } as const
const FLOAT_TYPES = { f32: F32, f64: F64, f16: F16 } as const

/**
 * Whether S0 is of one of the classes whose bits are set in S1, seen on S0's bits whatever MODE says of denormals:
 * 0 signalling NaN, 1 quiet NaN, 2 -∞, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal, 8 +normal, 9 +∞.
 */
const isOfClass =
  <W extends number | bigint>(f: Format<W>) =>
  (a: W, classes: number): boolean =>
    ((classes >>> classOf(f, a)) & 1) === 1

function classOf<W extends number | bigint>(f: Format<W>, a: W): number {
  if (f.isNaN(a)) return isSignalling(f, a) ? 0 : 1
  const size = Math.abs(f.value(a))
  const kind = size === 0 ? 0 : size < power(f.minExponent) ? 1 : size < Number.POSITIVE_INFINITY ? 2 : 3
  return f.isNegative(a) ? 5 - kind : 6 + kind
}

function* compares(): Generator<readonly [name: string, compare: LaneFunction]> {
  for (const [type, f] of Object.entries(FLOAT_TYPES)) {
    const value = f.value as (word: number | bigint) => number
    for (const [relation, holds] of Object.entries(FLOAT_RELATIONS)) {
      yield [`${relation}_${type}`, (a: number | bigint, b: number | bigint) => holds(value(a), value(b))]
    }
    yield [`class_${type}`, isOfClass(f as Format<number | bigint>)]
  }
  for (const [type, read] of Object.entries(INTEGER_TYPES)) {
    const value = read as (word: number | bigint) => number | bigint
    for (const [relation, holds] of Object.entries(INTEGER_RELATIONS)) {
      yield [`${relation}_${type}`, (a: number | bigint, b: number | bigint) => holds(value(a), value(b))]
    }
  }
}

/** Every compare by its name; some exist on no generation (there is no v_cmps of integers), which does no harm. */
export const COMPARES: Readonly<Record<string, LaneFunction>> = Object.fromEntries(
  [...compares()].flatMap(([name, compare]) => ['v_cmp', 'v_cmpx', 'v_cmps', 'v_cmpsx'].map((prefix) => [`${prefix}_${name}`, compare])),
)
