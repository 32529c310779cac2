/** Which operations the reference runs. */
import { expect, test } from 'vitest'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { referenceOperations } from '../../host/reference/index.ts'

test('every operation has a reference function, but images and interpolation of halves', () => {
  const have = new Set(referenceOperations())
  const missing = OPERATIONS.filter(({ name }) => !have.has(name))
  expect(missing.filter(({ table, name }) => table !== 'mimg' && !/^v_interp_p.*_f16$/.test(name))).toEqual([])
})
