/** Classes by hand; the relations of compares are a table of the edge cases (edge-cases/compares.ts). */
import { describe, expect, test } from 'vitest'
import { operation } from './support.ts'

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
