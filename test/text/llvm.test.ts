/** Assembly text against LLVM's, in both directions. */
import { describe, expect, test } from 'vitest'
import { decode } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import { assemble } from '../../host/text/assemble.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { corpus, hexOf, QUIRKS, quirkOf, Tally, targets } from '../codec/corpus.ts'

describe.each(targets)('$name', (target) => {
  const lines = corpus(target).filter(({ text }) => text !== '')
  const assembled = (text: string): string => {
    try {
      return hexOf(encode(assemble(text, target)))
    } catch (error) {
      return String(error)
    }
  }

  test('words become LLVM’s text, to the letter', () => {
    const tally = new Tally()
    for (const line of lines) {
      if (quirkOf(target, line) !== undefined) continue
      const instruction = decode(line.words, 0, target)
      const text = instruction === undefined ? 'no instruction' : disassemble(instruction)
      tally.add(
        instruction?.format.name ?? 'none',
        text === line.text,
        () => `${hexOf(line.words)}\n  LLVM     ${line.text}\n  Lanewise ${text}`,
      )
    }
    expect(tally.report()).toBe('')
  })

  test('LLVM’s text becomes the words', () => {
    const tally = new Tally()
    for (const line of lines) {
      if (!line.roundtrip || quirkOf(target, line)?.assembles === false) continue
      const words = assembled(line.text)
      tally.add(
        line.text.split(' ')[0]!.split('_')[0]!,
        words === hexOf(line.words),
        () => `${line.text}\n  LLVM     ${hexOf(line.words)}\n  Lanewise ${words}`,
      )
    }
    expect(tally.report()).toBe('')
    expect(tally.size).toBeGreaterThan(3000)
  })

  test('without a suffix the short encoding is taken where LLVM has one', () => {
    const tally = new Tally()
    for (const line of lines) {
      if (!line.roundtrip || !/^\w+_e32 /.test(line.text)) continue
      const text = line.text.replace('_e32 ', ' ')
      const words = assembled(text)
      tally.add('e32', words === hexOf(line.words), () => `${text}\n  LLVM     ${hexOf(line.words)}\n  Lanewise ${words}`)
    }
    expect(tally.report()).toBe('')
  })

  test('the exceptions are what they are said to be', () => {
    for (const quirk of QUIRKS) {
      for (const line of lines.filter((line) => quirkOf(target, line) === quirk)) {
        const instruction = decode(line.words, 0, target)
        expect(instruction !== undefined, `${line.text} decodes`).toBe(quirk.decodes)
        expect(assembled(line.text) === hexOf(line.words), `${line.text} assembles`).toBe(quirk.assembles)
        if (instruction !== undefined) expect(disassemble(instruction)).not.toBe(line.text)
      }
    }
  })
})
