import { describe, expect, test } from 'vitest'
import { agrees, compareElements, Differences, distance, EXACT, parseComparison } from '../../host/results/compare.ts'
import { type ElementType, f16Bits, f16Value, floatBits } from '../../host/results/elements.ts'

const how = (text: string, anyNan = false) => ({ ...parseComparison(text)!, anyNan })

describe('parseComparison', () => {
  test.each(['', 'ulp', 'ulp -1', 'ulp 1 abs 1', 'abs', 'near 1', 'rel x', 'abs 1 abs 2', 'exact 1'])('%j is none', (text) => {
    expect(parseComparison(text)).toBeUndefined()
  })
  test('abs A rel R', () => expect(parseComparison('abs 1e-6 rel 2e-5')).toEqual({ ...EXACT, how: 'near', abs: 1e-6, rel: 2e-5 }))
})

describe('agrees', () => {
  test.each<[string, ElementType, bigint, bigint, boolean]>([
    ['exact', 'f32', 0x3f800000n, 0x3f800000n, true],
    ['exact', 'f32', 0x00000000n, 0x80000000n, false],
    ['ulp 0', 'f32', 0x00000000n, 0x80000000n, true],
    ['ulp 1', 'f32', 0x3f800000n, 0x3f800001n, true],
    ['ulp 1', 'f32', 0x3f800000n, 0x3f800002n, false],
    ['ulp 2', 'f32', 0x00000001n, 0x80000001n, true],
    ['ulp 1', 'f32', 0x00000001n, 0x80000001n, false],
    ['ulp 1', 'f32', 0x7f7fffffn, 0x7f800000n, true],
    ['ulp 1', 'f32', 0x7f800000n, 0x7f800001n, false],
    ['ulp 1', 'f16', 0x3c00n, 0x3c01n, true],
    ['ulp 1', 'f64', 0x3ff0000000000000n, 0x3feffffffffffffen, false],
    ['ulp 1', 'f64', 0x3ff0000000000000n, 0x3fefffffffffffffn, true],
    ['abs 0.5', 'f32', 0x3f800000n, 0x3fc00000n, true],
    ['abs 0.25', 'f32', 0x3f800000n, 0x3fc00000n, false],
    ['rel 0.5', 'f32', 0x3f800000n, 0x3fc00000n, true],
    ['abs 3', 'i32', 0xffffffffn, 0x2n, true],
    ['abs 1', 'f32', 0x7f800000n, 0x7f7fffffn, false],
    ['rel 1', 'f32', 0x7f800000n, 0x3f800000n, false],
    ['abs 1', 'f32', 0x7f7fffffn, 0x7f800000n, false],
    ['exact', 'f32', 0x7fc00000n, 0x7fc00001n, false],
  ])('%s of %s: %s and %s: %s', (comparison, type, want, got, good) => {
    expect(agrees(want, got, type, how(comparison))).toBe(good)
  })

  test('any NaN may stand for any NaN where the job says so, but for no number', () => {
    expect(agrees(0x7fc00000n, 0xff800001n, 'f32', how('exact', true))).toBe(true)
    expect(agrees(0x7fc00000n, 0x7f800000n, 'f32', how('exact', true))).toBe(false)
    expect(agrees(0x7e00n, 0xfe01n, 'f32', how('exact', true))).toBe(true)
  })
})

test('distance counts over zero', () => expect(distance('f32', 0x80000002n, 0x3n)).toBe(5))

describe('f16', () => {
  // IEEE 754 binary16: largest 65504, ties to even, denormals down to 2^-24
  test.each([
    [65504, 0x7bff],
    [65519.99, 0x7bff],
    [65520, 0x7c00],
    [1, 0x3c00],
    [-2, 0xc000],
    [2 ** -24, 1],
    [2 ** -25, 0],
    [1.5 * 2 ** -24, 2],
    [2 ** -14, 0x400],
    [2 ** -14 - 2 ** -25, 0x400],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [-0, 0x8000],
    [Infinity, 0x7c00],
    [Number.NaN, 0x7e00],
  ])('%d is %i', (value, bits) => expect(f16Bits(value)).toBe(bits))

  test('every f16 but the NaNs survives the way there and back', () => {
    for (let bits = 0; bits < 0x10000; bits++) if ((bits & 0x7fff) <= 0x7c00) expect(f16Bits(f16Value(bits))).toBe(bits)
  })
  test('f32 bits', () => expect(floatBits('f32', 0.1)).toBe(0x3dcccccdn))
})

test('differences are counted without end and kept up to 16', () => {
  const differences = new Differences()
  compareElements('y', 'u16', new Uint8Array(200), new Uint8Array(200).fill(1), EXACT, differences)
  expect(differences.count).toBe(100)
  expect(differences.list).toHaveLength(16)
  expect(differences.list[3]).toEqual({ where: 'y', index: 3, expected: '0x0000', actual: '0x0101' })
})

test('a sample is compared at its stride', () => {
  const differences = new Differences()
  compareElements('y', 'u8', Uint8Array.of(1, 2, 3), Uint8Array.of(1, 9, 2, 9, 4), EXACT, differences, 2)
  expect(differences.list).toEqual([{ where: 'y', index: 4, expected: '0x03', actual: '0x04' }])
})
