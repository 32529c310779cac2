/** The property itself, for one target: whatever the instruction, all engines leave the same wave behind. */
import { expect, test } from 'vitest'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { TARGETS, type TargetName } from '../../host/isa/targets.ts'
import { compareCases, statesOf, TIMEOUT_MS } from './cases.ts'
import { formsOf } from './instructions.ts'
import { Machines } from './machines.ts'
import { compareVectors, LENGTH } from './vector.ts'

/** States that share a program at most. */
const SHARED = 12

export function testProperties(name: TargetName): void {
  const target = TARGETS[name]
  const machines = new Machines(target, LENGTH)
  const operations = OPERATIONS.filter(
    (o) => /^(vop[123c]|vintrp)$/.test(o.table) && formsOf(o, target).length > 0 && o.unsupported === undefined,
  )
  test.each(operations.map((o) => [o.name, o] as const))(
    '%s leaves the same wave on all engines',
    (_, operation) => compareCases(operation, (seed) => compareVectors(machines, operation, seed, statesOf(SHARED))),
    TIMEOUT_MS,
  )
  test('translate has translated them', () => {
    expect(machines.translated).toBeGreaterThan(0)
  })
}
