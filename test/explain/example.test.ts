import { expect, test } from 'vitest'
import { allows } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import { exampleOf } from '../../host/explain/example.ts'
import { FORMATS } from '../../host/isa/formats.ts'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assemble } from '../../host/text/assemble.ts'
import { disassemble } from '../../host/text/disassemble.ts'

test.each(Object.values(TARGETS))('$name: every form of every operation has an example that assembles to itself', (target) => {
  const wrong: string[] = []
  for (const operation of OPERATIONS) {
    for (const format of FORMATS) {
      if (!format.generations.includes(target.generation) || !allows(format, operation)) continue
      if (operation.opcode(format.opcodes, target.generation) === undefined) continue
      try {
        const example = exampleOf(operation, format, target)
        const text = disassemble(example)
        // v_nop and v_clrexcp have one text for two encodings.
        if (/^v_(nop|clrexcp)$/.test(operation.name)) continue
        const again = encode(assemble(text, target))
        if (again.join() !== encode(example).join()) wrong.push(`${operation.name} ${format.name}: ${text}`)
      } catch (error) {
        wrong.push(`${operation.name} ${format.name}: ${(error as Error).message}`)
      }
    }
  }
  expect(wrong).toEqual([])
})
