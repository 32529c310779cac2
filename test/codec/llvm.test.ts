/** Decode and encode against LLVM's words: accepted, refused, and back to the same words. */
import { describe, expect, test } from 'vitest'
import { decode } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import type { Target } from '../../host/isa/targets.ts'
import { corpus, hexOf, opcodeTable, Tally, targets, textOf } from './corpus.ts'

/** The tables of gfx6 and gfx7 lack VOP2 0x22 and 0x2b (v_bcnt_u32_b32, v_ldexp_f32), which clang emits there and the manuals have. */
const isMissedByTables = (words: Uint32Array, { generation }: Target): boolean =>
  generation !== 'gfx8' && [0x22, 0x2b].includes(words[0]! >>> 25)

describe.each(targets)('$name', (target) => {
  const lines = corpus(target)

  test('words that LLVM reads decode, in their full length', () => {
    const tally = new Tally()
    for (const line of lines) {
      if (line.text === '') continue
      const instruction = decode(line.words, 0, target)
      const wanted = textOf(target, line) === undefined ? undefined : line.words.length
      tally.add(instruction?.format.name ?? 'none', instruction?.dwords === wanted, () => `${hexOf(line.words)}  ${line.text}`)
    }
    expect(tally.report()).toBe('')
    expect(tally.size).toBeGreaterThan(4000)
  })

  test('words that LLVM refuses, or whose opcode it does not know, do not decode', () => {
    const tally = new Tally()
    for (const { words, text } of lines) {
      if (text !== '' || isMissedByTables(words, target)) continue
      const instruction = decode(words, 0, target)
      tally.add(
        instruction?.format.name ?? 'none',
        instruction === undefined,
        () => `${hexOf(words)} is read as ${instruction?.operation.name}`,
      )
    }
    expect(tally.report()).toBe('')
    expect(tally.size).toBeGreaterThan(300)
  })

  test('decoded words encode to themselves', () => {
    const tally = new Tally()
    for (const line of lines) {
      // Where LLVM's text does not make the words again, they hold bits that have no meaning.
      if (!line.roundtrip || textOf(target, line) === undefined) continue
      const instruction = decode(line.words, 0, target)!
      const words = encode(instruction)
      tally.add(
        instruction.format.name,
        hexOf(words) === hexOf(line.words),
        () => `${hexOf(line.words)} becomes ${hexOf(words)}  ${line.text}`,
      )
    }
    expect(tally.report()).toBe('')
  })

  test('a decoded prefix of an instruction is none: words run out', () => {
    for (const { words, text } of lines.slice(0, 2000)) {
      if (text === '' || words.length === 1) continue
      for (let length = 1; length < words.length; length++) expect(decode(words.subarray(0, length), 0, target)).toBeUndefined()
    }
  })

  test('every opcode of the tables is known under its name', () => {
    const tally = new Tally()
    for (const { opcode, mnemonic, words } of opcodeTable(target)) {
      const instruction = decode(words, 0, target)
      const found = instruction?.operation.mnemonic(target.generation)
      const agrees = found === mnemonic && instruction?.operation.opcode(instruction.format.opcodes, target.generation) === opcode
      tally.add(instruction?.format.name ?? 'none', agrees, () => `${mnemonic} ${opcode} is ${found}`)
    }
    expect(tally.report()).toBe('')
  })
})
