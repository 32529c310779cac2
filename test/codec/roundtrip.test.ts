/** decode ∘ encode = identity, for every format of every target; and random words never do worse than be no instruction. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allows, decode, hasLiteral } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import { combinationRule, legalValues } from '../../host/codec/legal.ts'
import { FORMATS, type Format } from '../../host/isa/formats.ts'
import { OPERATIONS } from '../../host/isa/operations.ts'
import type { Target } from '../../host/isa/targets.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { hexOf, targets } from './corpus.ts'

const formatsOf = ({ generation }: Target): Format[] => FORMATS.filter(({ generations }) => generations.includes(generation))

/** Any instruction of a format: an operation that has it, and field values that it allows. */
function instructions(format: Format, target: Target): fc.Arbitrary<Instruction> {
  const { generation } = target
  const operations = OPERATIONS.filter(
    (operation) => operation.opcode(format.opcodes, generation) !== undefined && allows(format, operation),
  )
  return fc.constantFrom(...operations).chain((operation) => {
    const legal = legalValues(operation, format, generation)
    const fields: Record<string, fc.Arbitrary<number>> = {}
    for (const [name, { hi, lo }] of Object.entries(format.fields)) {
      if (name === 'op') continue
      const values = legal.get(name)
      fields[name] =
        values === undefined
          ? fc.integer({ min: 0, max: 2 ** (hi - lo + 1) - 1 })
          : fc.constantFrom(...Array.from(values.keys()).filter((value) => values[value] === 1))
    }
    const fitting = fc.record(fields).filter(combinationRule(operation, format, generation) ?? (() => true))
    return fc.record({ fields: fitting, word: fc.integer({ min: 0, max: 0xffffffff }) }).map(({ fields, word }) => {
      const literal = hasLiteral(operation, format, fields, generation) ? word : undefined
      return { target, operation, format, fields, literal, dwords: format.dwords + (literal === undefined ? 0 : 1) }
    })
  })
}

describe.each(targets)('$name', (target) => {
  test.each(formatsOf(target).map((format) => [format.name, format] as const))(
    '%s: an encoded instruction decodes to itself',
    (_, format) => {
      fc.assert(
        fc.property(instructions(format, target), (instruction) => {
          const words = encode(instruction)
          expect(words).toHaveLength(instruction.dwords)
          const decoded = decode(Uint32Array.from(words), 0, target)
          expect(decoded?.operation.name).toBe(instruction.operation.name)
          expect(decoded).toEqual(instruction)
        }),
        { numRuns: 40 },
      )
    },
  )

  test('random words are no instruction, or one that encodes and prints', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffffffff }), { minLength: 1, maxLength: 4 }), (words) => {
        const instruction = decode(Uint32Array.from(words), 0, target)
        if (instruction === undefined) return
        const again = decode(Uint32Array.from(encode(instruction)), 0, target)
        expect(again).toEqual(instruction)
        expect(disassemble(instruction)).toMatch(/^[a-z]/)
        expect(disassemble(instruction)).not.toMatch(/undefined|NaN|\?/)
      }),
      { numRuns: 1500 },
    )
  })

  test('an instruction is read at its index', () => {
    const words = Uint32Array.from([0xbf800000, 0xbf810000])
    expect(decode(words, 1, target)?.operation.name).toBe('s_endpgm')
    expect(decode(words, 2, target)).toBeUndefined()
    expect(hexOf(words)).toBe('bf800000 bf810000')
  })
})

describe('encode says what does not fit', () => {
  const target = targets.find(({ name }) => name === 'gfx803')!
  const add = decode(Uint32Array.of(0x020a0501), 0, target)! // v_add_f32_e32 v5, v1, v2

  test('a field beyond its bits', () => {
    expect(() => encode({ ...add, fields: { ...add.fields, vdst: 256 } })).toThrow(
      new RangeError('vop2.vdst is 256; it must be an integer from 0 to 255 (8 bits)'),
    )
    expect(() => encode({ ...add, fields: { ...add.fields, src0: -1 } })).toThrow(/vop2\.src0 is -1; .* from 0 to 511/)
    expect(() => encode({ ...add, fields: { ...add.fields, vdst: 1.5 } })).toThrow(RangeError)
  })
  test('a field that the format has not', () => {
    expect(() => encode({ ...add, fields: { ...add.fields, glc: 1 } })).toThrow(/vop2 has no field glc/)
  })
  test('a literal too many, too few, too large', () => {
    expect(() => encode({ ...add, literal: 7 })).toThrow(/literal is 7, but no field of vop2 refers to one/)
    const withLiteral = { ...add, fields: { ...add.fields, src0: 255 } }
    expect(() => encode(withLiteral)).toThrow(/v_add_f32: literal is undefined, but a field refers to it/)
    expect(() => encode({ ...withLiteral, literal: 2 ** 32 })).toThrow(/literal is 4294967296; it must be an integer from 0 to 4294967295/)
    expect(encode({ ...withLiteral, literal: 0xdeadbeef })).toEqual([0x020a04ff, 0xdeadbeef])
  })
  test('a format in which the operation has no opcode', () => {
    const sop2 = FORMATS.find(({ name }) => name === 'sop2')!
    expect(() => encode({ ...add, format: sop2, fields: {} })).toThrow(/v_add_f32 has no opcode in sop2 on gfx803/)
  })
})
