import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operationsPage } from '../../host/explain/page.ts'
import { OPERATIONS } from '../../host/isa/operations.ts'

test('docs/operations.md is what `npm run docs` writes', () => {
  expect(readFileSync('docs/operations.md', 'utf8') === operationsPage(), 'docs/operations.md is stale; run npm run docs').toBe(true)
})

test('the page has a line for every operation', () => {
  const page = operationsPage()
  expect(OPERATIONS.filter(({ name }) => !page.includes(`| **${name}**`))).toEqual([])
})
