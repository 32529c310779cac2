import { beforeAll, describe, expect, test } from 'vitest'
import { OPERATION_BY_NAME } from '../../host/isa/operations.ts'
import { findEvidence } from './evidence.ts'
import { measure, type Row } from './measure.ts'

const NAMES = [
  'v_add_f32',
  'v_mul_legacy_f32',
  'v_qsad_pk_u16_u8',
  's_add_u32',
  'ds_write_b32',
  'flat_atomic_add',
  's_load_dword',
  'image_load',
  'image_sample',
  'v_interp_p2_f16',
]
let rows: Row[] = []
beforeAll(async () => {
  rows = await measure(
    findEvidence(),
    NAMES.map((name) => OPERATION_BY_NAME.get(name)!),
  )
})
const holds = (name: string, target: string) => rows.find((r) => r.operation.name === name && r.target.name === target)?.holds

describe('the measurement', () => {
  test('has a row for each target that has the operation', () => {
    expect(holds('v_interp_p2_f16', 'gfx700')).toBeUndefined()
    expect(holds('flat_atomic_add', 'gfx600')).toBeUndefined()
    expect(rows.filter(({ operation }) => operation.name === 'v_add_f32')).toHaveLength(3)
  })
  test.each(NAMES.slice(0, 8))('%s is decoded, printed and run', (name) => {
    for (const measure of ['decode', 'text', 'reference', 'core', 'translate'] as const)
      expect([...holds(name, 'gfx803')!]).toContain(measure)
  })
  test('sampling of an image is decoded but not run, whatever a row says', () => {
    expect([...holds('image_sample', 'gfx803')!].filter((m) => m !== 'edge cases')).toEqual(['decode', 'text'])
  })
  test('a plain addition is spliced, an atomic is not', () => {
    expect(holds('v_add_f32', 'gfx803')!.has('spliced')).toBe(true)
    expect(holds('flat_atomic_add', 'gfx803')!.has('spliced')).toBe(false)
  })
  test('a vector that comes with the tests counts', () => {
    expect(holds('v_add_f32', 'gfx803')!.has('vectors')).toBe(true)
    expect(holds('image_sample', 'gfx803')!.has('vectors')).toBe(false)
  })
})
