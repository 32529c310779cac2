import { describe, expect, test } from 'vitest'
import { operation } from './support.ts'

const [ONE, TWO, QUIET] = [0x3f800000, 0x40000000, 0x7fc00000]

/** Results for less, equal, greater and unordered operands, as the table of compares in the manuals has them. */
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
const FLOATS = {
  f32: [
    [ONE, TWO],
    [ONE, ONE],
    [TWO, ONE],
    [QUIET, ONE],
  ],
  f64: [
    [0n, 1n],
    [0x8000000000000000n, 0n],
    [1n, 0n],
    [0n, 0x7ff0000000000001n],
  ],
  f16: [
    [0xc000, 0x3c00],
    [0, 0x8000],
    [0x3c00, 0xc000],
    [0x7e00, 0x7e00],
  ],
} as const

describe.each(Object.keys(FLOATS) as (keyof typeof FLOATS)[])('compares of %s', (type) => {
  test.each(Object.entries(FLOAT_RELATIONS))('%s', (relation, expected) => {
    for (const prefix of ['v_cmp', 'v_cmpx', ...(type === 'f16' ? [] : ['v_cmps', 'v_cmpsx'])]) {
      const compare = operation(`${prefix}_${relation}_${type}`)
      expect(FLOATS[type].map((pair) => (compare(...pair) ? '1' : '0')).join('')).toBe(expected)
    }
  })
})

const INTEGER_RELATIONS = { f: '000', lt: '100', eq: '010', le: '110', gt: '001', ne: '101', ge: '011', t: '111' } as const
const INTEGERS = {
  i32: [
    [0x80000000, 1],
    [5, 5],
    [1, 0xffffffff],
  ],
  u32: [
    [1, 0x80000000],
    [5, 5],
    [0xffffffff, 1],
  ],
  i64: [
    [0x8000000000000000n, 1n],
    [5n, 5n],
    [1n, 0xffffffffffffffffn],
  ],
  u64: [
    [1n, 0x8000000000000000n],
    [5n, 5n],
    [0xffffffffffffffffn, 1n],
  ],
  i16: [
    [0x8000, 1],
    [5, 5],
    [1, 0xffff],
  ],
  u16: [
    [1, 0x8000],
    [5, 5],
    [0xffff, 1],
  ],
} as const

describe.each(Object.keys(INTEGERS) as (keyof typeof INTEGERS)[])('compares of %s', (type) => {
  test.each(Object.entries(INTEGER_RELATIONS))('%s', (relation, expected) => {
    const compare = operation(`v_cmp_${relation}_${type}`)
    expect(INTEGERS[type].map((pair) => (compare(...pair) ? '1' : '0')).join('')).toBe(expected)
  })
})

describe('classes', () => {
  // bit 0 signalling NaN, 1 quiet NaN, 2 -∞, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal, 8 +normal, 9 +∞
  test.each([
    ['v_cmp_class_f32', [0x7f800001, 0xffc00000, 0xff800000, 0xbf800000, 0x807fffff, 0x80000000, 0, 1, 0x00800000, 0x7f800000]],
    [
      'v_cmpx_class_f64',
      [
        0xfff0000000000001n,
        0x7ff8000000000000n,
        0xfff0000000000000n,
        0x8010000000000000n,
        0x800fffffffffffffn,
        0x8000000000000000n,
        0n,
        1n,
        0x7fefffffffffffffn,
        0x7ff0000000000000n,
      ],
    ],
    ['v_cmp_class_f16', [0x7c01, 0xfe00, 0xfc00, 0x8400, 0x83ff, 0x8000, 0, 1, 0x7bff, 0x7c00]],
  ] as const)('%s knows all ten, denormals in every mode', (name, members) => {
    members.forEach((word, bit) => {
      const isOfClass = operation(name, { flushSources32: true, flushSources64: true })
      const classes = Array.from({ length: 10 }, (_, n) => n).filter((n) => isOfClass(word, 1 << n))
      expect(classes).toEqual([bit])
    })
  })
  test('more bits ask for any of the classes', () => {
    expect(operation('v_cmp_class_f32')(0, 0x60)).toBe(true)
    expect(operation('v_cmp_class_f32')(0, 0x39f)).toBe(false)
  })
})
