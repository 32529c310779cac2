/** The property of scalar operations: whatever the registers, all engines leave the same wave behind. */
import { describe, expect, test } from 'vitest'
import { formatsOf } from '../../host/explain/explain.ts'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { CASES, compareCases, TIMEOUT_MS } from './cases.ts'
import { Machines } from './machines.ts'
import { compareScalars, isTested, LENGTH } from './scalar.ts'

/** States that share a program at most. */
const SHARED = 256

describe.each(Object.values(TARGETS))('$name', (target) => {
  const machines = new Machines(target, LENGTH)
  const operations = OPERATIONS.filter((o) => isTested(o) && formatsOf(o, target.generation).length > 0)
  const states = Math.min(Math.ceil(CASES / LENGTH), SHARED)
  test.each(operations.map((o) => [o.name, o] as const))(
    '%s leaves the same wave on all engines',
    (_, operation) => compareCases(operation, (seed) => compareScalars(machines, operation, seed, states)),
    TIMEOUT_MS,
  )
  test('translate has translated them', () => {
    expect(machines.translated).toBeGreaterThan(0)
  })
})
