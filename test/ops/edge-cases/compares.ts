/** Models of the compares, from the manuals' table of what each relation says to less, equal, greater and unordered operands. */
import { F16, F32, F64, type Format, isInfinite, isNan, isNegative } from '../../kernels/exact.ts'
import { isSignalling, isZero, order, size } from './float.ts'
import { type Lane, type Model, models } from './model.ts'

const FLOAT_RELATIONS = {
  f: '0000',
  lt: '1000',
  eq: '0100',
  le: '1100',
  gt: '0010',
  lg: '1010',
  ge: '0110',
  o: '1110',
  u: '0001',
  nge: '1001',
  nlg: '0101',
  ngt: '1101',
  nle: '0011',
  neq: '1011',
  nlt: '0111',
  tru: '1111',
} as const
const INTEGER_RELATIONS = { f: '000', lt: '100', eq: '010', le: '110', gt: '001', ne: '101', ge: '011', t: '111' } as const
const FLOATS = { f16: F16, f32: F32, f64: F64 } as const
const INTEGERS = ['i16', 'u16', 'i32', 'u32', 'i64', 'u64'] as const

const ofFloats =
  (f: Format, answers: string): Lane =>
  ([a, b]) =>
    answers[(order(f, a!, b!) ?? 2) + 1] === '1'

const ofIntegers = (type: (typeof INTEGERS)[number], answers: string): Lane => {
  const read = (word: bigint) => (type.startsWith('i') ? BigInt.asIntN(Number(type.slice(1)), word) : word)
  return ([a, b]) => {
    const difference = read(a!) - read(b!)
    return answers[difference < 0n ? 0 : difference > 0n ? 2 : 1] === '1'
  }
}

/** 0 signalling NaN, 1 quiet NaN, 2 -∞, 3 -normal, 4 -denormal, 5 -0, 6 to 9 the same upwards: the manuals' list of classes. */
function classOf(f: Format, a: bigint): number {
  if (isNan(f, a)) return isSignalling(f, a) ? 0 : 1
  const isDenormal = size(f, a) < 1n << BigInt(f.fraction)
  const kind = isZero(f, a) ? 0 : isDenormal ? 1 : isInfinite(f, a) ? 3 : 2
  return isNegative(f, a) ? 5 - kind : 6 + kind
}
const ofClass =
  (f: Format): Lane =>
  ([a, classes]) =>
    ((classes! >> BigInt(classOf(f, a!))) & 1n) === 1n

/** Classes one by one, and all but one. */
const CLASSES = Array.from({ length: 10 }, (_, bit) => [1n << BigInt(bit), 0x3ffn ^ (1n << BigInt(bit))]).flat()

/** One relation under all its names: x writes EXEC too, s signals NaNs; neither changes a bit of the mask. */
const names = (prefixes: readonly string[], rest: string, of: Lane) =>
  Object.fromEntries(prefixes.map((prefix) => [`${prefix}_${rest}`, of]))

export const COMPARES: readonly [string, Model][] = [
  ...Object.entries(FLOATS).flatMap(([type, f]) => [
    ...Object.entries(FLOAT_RELATIONS).flatMap(([relation, answers]) =>
      models('mode', names(['v_cmp', 'v_cmpx', ...(f === F16 ? [] : ['v_cmps', 'v_cmpsx'])], `${relation}_${type}`, ofFloats(f, answers))),
    ),
    ...['v_cmp', 'v_cmpx'].map((prefix): [string, Model] => [
      `${prefix}_class_${type}`,
      { flush: 'never', of: ofClass(f), also: [[], CLASSES] },
    ]),
  ]),
  ...INTEGERS.flatMap((type) =>
    Object.entries(INTEGER_RELATIONS).flatMap(([relation, answers]) =>
      models('never', names(['v_cmp', 'v_cmpx'], `${relation}_${type}`, ofIntegers(type, answers))),
    ),
  ),
]
