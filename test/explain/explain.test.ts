import { describe, expect, test } from 'vitest'
import { drawBits, explain, findOperation, runExample, similarNames } from '../../host/explain/index.ts'
import { readValue, showValue } from '../../host/explain/value.ts'
import { meaningOf } from '../../host/isa/descriptions/index.ts'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { TARGETS } from '../../host/isa/targets.ts'

const { gfx700, gfx803 } = TARGETS
const of = (name: string) => explain(findOperation(name)!)

describe('names', () => {
  test('a name is found in any case and with a suffix', () => {
    expect(findOperation('V_CUBESC_F32')?.name).toBe('v_cubesc_f32')
    expect(findOperation('v_add_f32_e64')?.name).toBe('v_add_f32')
  })
  test("a generation's own name stands for what it means there", () => {
    expect(findOperation('v_add_i32')?.name).toBe('v_add_co_u32')
    expect(findOperation('v_add_u32', 'gfx8')?.name).toBe('v_add_co_u32')
    expect(findOperation('v_add_u32', 'gfx6')).toBeUndefined()
    expect(findOperation('v_add_i32', 'gfx8')).toBeUndefined()
  })
  test('what is unknown has neighbours', () => {
    expect(findOperation('v_cubesx_f32')).toBeUndefined()
    expect(similarNames('v_cubesx_f32')[0]).toBe('v_cubesc_f32')
    expect(similarNames('nothing_of_the_kind')).toEqual([])
  })
  test('every operation has a meaning that ends in a full stop and an explanation', () => {
    const meanings = OPERATIONS.map(meaningOf)
    expect(meanings.filter((text) => !text.endsWith('.') || text.includes('undefined'))).toEqual([])
    for (const operation of OPERATIONS) expect(explain(operation).encodings.length).toBeGreaterThan(0)
  })
})

describe('v_cubesc_f32', () => {
  // Opcodes: CLRX, "GCN ISA VOP3 instructions".
  test('has opcode 325 on GCN 1.0 and 1.1, 453 on GCN 1.2', () => {
    const { encodings } = of('v_cubesc_f32')
    expect(encodings.map((e) => [e.format, e.generations, e.opcode])).toEqual([
      ['vop3a', ['gfx6', 'gfx7'], 325],
      ['vop3a', ['gfx8'], 453],
    ])
  })
  test('the bits of GCN 1.2 are drawn with the fields of the manual', () => {
    const bits = of('v_cubesc_f32').encodings[1]!.bits
    expect(bits.map(({ holds, hi, lo }) => `${holds} ${hi}:${lo}`)).toEqual([
      'NEG 63:61',
      'OMOD 60:59',
      'SRC2 58:50',
      'SRC1 49:41',
      'SRC0 40:32',
      '110100 31:26',
      '0111000101 25:16',
      'CLAMP 15:15',
      '- 14:11',
      'ABS 10:8',
      'VDST 7:0',
    ])
    expect(drawBits(bits).split('\n')[1]).toBe('│  NEG  │ OMOD  │ SRC2  │ SRC1  │ SRC0  │')
  })
  test('takes three floats and gives one', () => {
    const { operands, fidelity } = of('v_cubesc_f32')
    expect(operands.map((o) => [o.field, o.type, o.access])).toEqual([
      ['VDST', 'f32', 'written'],
      ['SRC0', 'f32', 'read'],
      ['SRC1', 'f32', 'read'],
      ['SRC2', 'f32', 'read'],
    ])
    expect(fidelity).toBe('exact')
  })
  // |y| is the largest: sc = x (GCN3 manual, V_CUBESC_F32).
  test.each(['core', 'reference'] as const)('is 1 for (1, -2.5, 0.5) on %s', async (engine) => {
    const run = await runExample('v_cubesc_f32 v5, v1, v2, v3', { v1: '1.0', v2: '-2.5', v3: '0.5' }, { target: gfx803, engine })
    expect(run.after).toEqual([{ register: 'v5', type: 'f32', lanes: [{ hex: '0x3f800000', number: '1' }] }])
    expect(run.before.map((r) => r.lanes[0]!.hex)).toEqual(['0x3f800000', '0xc0200000', '0x3f000000'])
  })
})

test('every drawing fits 80 columns and has every bit once', () => {
  for (const operation of OPERATIONS) {
    for (const { bits, format } of explain(operation).encodings) {
      const widest = Math.max(
        ...drawBits(bits)
          .split('\n')
          .map((line) => line.length),
      )
      expect(widest, `${operation.name} ${format}`).toBeLessThanOrEqual(80)
      expect(bits.reduce((sum, { hi, lo }) => sum + hi - lo + 1, 0) % 32, `${operation.name} ${format}`).toBe(0)
    }
  }
})

describe('running', () => {
  test('v_add_f64 takes a pair by its first register', async () => {
    const { after } = await runExample(
      'v_add_f64 v[8:9], v[2:3], v[4:5]',
      { v2: '1.5', 'v[4:5]': '0x4000000000000000' },
      { target: gfx803 },
    )
    expect(after).toEqual([{ register: 'v[8:9]', type: 'f64', lanes: [{ hex: '0x400c000000000000', number: '3.5' }] }])
  })
  test('a list of values goes lane by lane, and VCC is a result', async () => {
    const { after } = await runExample('v_cmp_lt_f32 vcc, v1, v2', { v1: '1,2,3', v2: '2.5' }, { target: gfx700 })
    // Lanes 0 and 1 have 1 and 2; lane 2 has 3; the others 0.
    expect(after).toEqual([{ register: 'vcc', type: 'mask', lanes: [{ hex: '0xfffffffffffffffb' }] }])
  })
  test('v_cndmask_b32 reads the mask that is given', async () => {
    const { after } = await runExample('v_cndmask_b32 v5, v1, v2, vcc', { v1: '1', v2: '2', vcc: '0x2', exec: '0x3' }, { target: gfx803 })
    expect(after[0]).toMatchObject({ register: 'v5', lanes: [{ number: '1' }] })
  })
  test('s_add_u32 tells the carry', async () => {
    const { after } = await runExample('s_add_u32 s5, s1, s2', { s1: '0xffffffff', s2: '2' }, { target: gfx803 })
    expect(after).toEqual([
      { register: 's5', type: 'u32', lanes: [{ hex: '0x00000001', number: '1' }] },
      { register: 'scc', type: 'u32', lanes: [{ hex: '0x00000001', number: '1' }] },
    ])
  })
  test('MODE decides what becomes of a denormal', async () => {
    const values = { v1: '0x00000001', v2: '0' }
    const sum = async (mode: number) => (await runExample('v_add_f32 v5, v1, v2', values, { target: gfx803, mode })).after[0]!.lanes[0]!.hex
    expect(await sum(0x3c0)).toBe('0x00000000')
    expect(await sum(0x3f0)).toBe('0x00000001')
  })
  test('what faults says why', async () => {
    const run = await runExample('flat_load_dword v5, v[2:3]', { v2: '0x1000' }, { target: gfx803 })
    expect(run.error?.code).toBe('ERR_MEMORY_FAULT')
    expect(run.after).toEqual([])
  })
})

describe('values', () => {
  test.each([
    ['1.0', 'f32', 0x3f800000n],
    ['-2.5', 'f32', 0xc0200000n],
    ['1', 'f16', 0x3c00n],
    ['-0', 'f64', 0x8000000000000000n],
    ['nan', 'f32', 0x7fc00000n],
    ['-inf', 'f32', 0xff800000n],
    ['-1', 'i32', 0xffffffffn],
    ['1.5', 'b32', 0x3fc00000n],
    ['7', 'b32', 7n],
    ['0xdeadbeef', 'f32', 0xdeadbeefn],
  ] as const)('%s as %s is %s', (text, type, bits) => {
    expect(readValue(text, type)).toBe(bits)
  })
  test.each([
    ['1.5', 'u32'],
    ['0x100000000', 'f32'],
    ['4294967296', 'u32'],
    ['one', 'f32'],
    ['', 'f32'],
  ] as const)('%j is no %s', (text, type) => {
    expect(() => readValue(text, type)).toThrow(RangeError)
  })
  test('numbers are as short as their type allows', () => {
    expect(showValue(0x3dcccccdn, 'f32')).toEqual({ hex: '0x3dcccccd', number: '0.1' })
    expect(showValue(0x80000000n, 'f32').number).toBe('-0')
    expect(showValue(0xffffffffn, 'i32').number).toBe('-1')
  })
})
