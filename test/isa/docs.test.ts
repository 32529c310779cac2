import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const GUIDE = 'docs/adding-an-operation.md'
/** A path alone on its line, then a block of code from that file. */
const EXCERPT = /^`([\w/.-]+)`\n\n```\w*\n([\s\S]*?)\n```$/gm

describe(`${GUIDE} shows code as it is`, () => {
  const excerpts = [...readFileSync(GUIDE, 'utf8').matchAll(EXCERPT)].map(([, file, code]) => [file!, code!] as const)

  test('there are excerpts', () => expect(excerpts.length).toBeGreaterThan(3))
  test.each(excerpts)('%s', (file, code) => expect(readFileSync(file, 'utf8')).toContain(code))
})
