/** No word is claimed by two operations. */
import { describe, expect, test } from 'vitest'
import { allows } from '../../host/codec/decode.ts'
import { legalValues } from '../../host/codec/legal.ts'
import { FORMATS, type Format } from '../../host/isa/formats.ts'
import { OPERATIONS, type Operation } from '../../host/isa/operations.ts'
import type { Generation, Target } from '../../host/isa/targets.ts'
import { targets } from './corpus.ts'

/** The bits of the first dword that make a word an operation in a format. */
interface Claim {
  readonly format: Format
  readonly operation: Operation
  readonly mask: number
  readonly value: number
}

function claims(generation: Generation): Claim[] {
  return FORMATS.filter(({ generations }) => generations.includes(generation)).flatMap((format) =>
    OPERATIONS.flatMap((operation) => {
      const opcode = operation.opcode(format.opcodes, generation)
      if (opcode === undefined || !allows(format, operation)) return []
      const { op } = format.fields
      const bits = [...format.match, ...(op === undefined ? [] : [[op.hi, op.lo, opcode] as const])]
      const mask = bits.reduce((all, [hi, lo]) => all | ((2 ** (hi - lo + 1) - 1) << lo), 0)
      const value = bits.reduce((all, [, lo, bits]) => all | (bits << lo), 0)
      return [{ format, operation, mask, value }]
    }),
  )
}

/** Whether the operation's fields refuse what the other claim demands of them: SRC0 of VOP1, VOP2, VOPC is never 249 or 250 (SDWA, DPP). */
function refuses({ format, operation }: Claim, other: Claim, generation: Generation): boolean {
  const src0 = other.format.match.find(([hi, lo]) => hi === 8 && lo === 0)
  return src0 !== undefined && legalValues(operation, format, generation).get('src0')?.[src0[2]] === 0
}

describe.each(targets)('$name', ({ generation }: Target) => {
  const all = claims(generation)
  test('no two operations claim one word', () => {
    const overlaps: string[] = []
    all.forEach((a, n) => {
      for (const b of all.slice(0, n)) {
        if (((a.value ^ b.value) & a.mask & b.mask) !== 0) continue
        if (!refuses(a, b, generation) && !refuses(b, a, generation))
          overlaps.push(`${a.operation.name} ${a.format.name} / ${b.operation.name} ${b.format.name}`)
      }
    })
    expect(overlaps).toEqual([])
    expect(all.length).toBeGreaterThan(1000)
  })

  test('a mnemonic means one operation', () => {
    const operations = new Set(all.map(({ operation }) => operation))
    const names = new Set([...operations].map((operation) => operation.mnemonic(generation)))
    expect(names.size).toBe(operations.size)
  })

  test('every opcode fits its field', () => {
    for (const { format, operation } of all) {
      const { op } = format.fields
      if (op !== undefined) expect(operation.opcode(format.opcodes, generation), operation.name).toBeLessThan(2 ** (op.hi - op.lo + 1))
    }
  })
})
