/** Which operations the reference runs. */
import { expect, test } from 'vitest'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { referenceOperations } from '../../host/reference/index.ts'

test('every operation has a reference function, but those whose row says that they are not run, or run by the device', () => {
  const have = new Set(referenceOperations())
  const missing = OPERATIONS.filter(({ name }) => !have.has(name))
  expect(missing.filter(({ unsupported, traits }) => unsupported === undefined && !traits.has('device'))).toEqual([])
})
