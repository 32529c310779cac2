import { describe, expect, test } from 'vitest'
import * as api from '../../host/index.ts'
import { docOf, exportsOf } from './exports.ts'

const all = exportsOf('host/index.ts')

test('the walk finds every value that there is at run time', () => {
  const values = all.filter(({ name, isType }) => !isType && Object.hasOwn(api, name))
  expect(values.map(({ name }) => name).sort()).toEqual(Object.keys(api).sort())
})

describe('every name of the public API has a doc comment', () => {
  test.each(all.map((e) => [e.name, e] as const))('%s', (_name, e) => {
    expect(docOf(e) ?? '', `${e.file}: ${e.name} has no doc comment`).toMatch(/\w{3}/)
  })
})
