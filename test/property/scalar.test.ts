/** The property of scalar operations: whatever the registers, all engines leave the same wave behind. */
import { describe, expect, test } from 'vitest'
import { formatsOf } from '../../host/explain/explain.ts'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { Engines } from './engines.ts'
import { SEED, TIMES } from './property.ts'
import { isTested, STATES, scalarDisagreement } from './scalar.ts'

/** States that share a program; more of them get programs of their own. */
const SHARED = 2 * STATES

describe.each(Object.values(TARGETS))('$name', (target) => {
  const engines = new Engines(target)
  const operations = OPERATIONS.filter((o) => isTested(o) && formatsOf(o, target.generation).length > 0)
  test.each(operations.map((o) => [o.name, o] as const))(
    '%s leaves the same wave on all engines',
    async (_, operation) => {
      for (let left = STATES * TIMES, i = 0; left > 0; left -= SHARED, i++) {
        const seed = SEED * 1_000_003 + operation.number * 7919 + i
        const found = await scalarDisagreement(engines, operation, target, seed, Math.min(left, SHARED))
        if (found !== undefined) expect.fail(found)
      }
    },
    600_000,
  )
})
