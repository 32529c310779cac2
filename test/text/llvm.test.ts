/** Assembly text against LLVM's, in both directions. */
import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { decode } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import { assemble, assembleProgram } from '../../host/text/assemble.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { corpus, hexOf, QUIRKS, quirkOf, Tally, targets, textOf, wordsOf } from '../codec/corpus.ts'

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
      const instruction = decode(line.words, 0, target)
      const text = instruction === undefined ? undefined : disassemble(instruction)
      const wanted = textOf(target, line)
      tally.add(instruction?.format.name ?? 'none', text === wanted, () => `${hexOf(line.words)}\n  LLVM     ${wanted}\n  Lanewise ${text}`)
    }
    expect(tally.report()).toBe('')
  })

  test('LLVM’s text becomes the words', () => {
    const tally = new Tally()
    for (const line of lines) {
      const text = textOf(target, line)
      if (!line.roundtrip || text === undefined) continue
      const words = assembled(text)
      tally.add(
        line.text.split(' ')[0]!.split('_')[0]!,
        words === hexOf(line.words),
        () => `${text}\n  LLVM     ${hexOf(line.words)}\n  Lanewise ${words}`,
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

  test('text that is not what its words say becomes them, or is refused', () => {
    for (const quirk of QUIRKS) {
      for (const line of lines.filter((line) => quirkOf(target, line) === quirk)) {
        expect(assembled(line.text) === hexOf(line.words), `${line.text} assembles`).toBe(quirk.assembles)
        expect(textOf(target, line)).not.toBe(line.text)
      }
    }
  })
})

/** Listings of compiled kernels beside the repository: text, then `// address: words`. */
const kernels = new URL('../../../shared/kernels/', import.meta.url)

describe.runIf(existsSync(kernels))('listings of compiled kernels', () => {
  const names = ['mandelbrot', 'matmul_tiled', 'convert', 'int64ops', 'transcend']
  test.each(targets.flatMap((target) => names.map((name) => [target.name, name, target] as const)))('%s %s', (_, name, target) => {
    const listing = gunzipSync(readFileSync(new URL(`${name}/lst/${target.name}.lst.gz`, kernels))).toString()
    const source: string[] = []
    const wanted: number[] = []
    for (const line of listing.split('\n')) {
      const [, text, hex] = /^\t(.*?)\s*\/\/ [0-9A-F]+: ([0-9A-F ]+?)(?: <.*)?$/.exec(line) ?? []
      if (text === undefined) continue
      const words = wordsOf(hex!)
      const printed = disassemble(decode(words, 0, target)!)
      // Branches of gfx6 and gfx7 listings name labels of the compiler's.
      if (!text.includes('.LBB')) expect(printed).toBe(text)
      source.push(printed)
      wanted.push(...words)
    }
    expect(hexOf(assembleProgram(source.join('\n'), target).words)).toBe(hexOf(wanted))
    expect(wanted.length).toBeGreaterThan(20)
  })
})
