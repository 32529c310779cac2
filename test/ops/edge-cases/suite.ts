/** The edge cases of one target, on all three engines. */
import { expect, test } from 'vitest'
import { generationsOf } from '../../../host/explain/find.ts'
import { OPERATIONS } from '../../../host/isa/operations.ts'
import { TARGETS, type TargetName } from '../../../host/isa/targets.ts'
import { Machines } from '../../property/machines.ts'
import { hasModel } from './lines.ts'
import { failures } from './run.ts'
import { waveCasesOf } from './whole-wave.ts'

const SHOWN = 6

export function testEdgeCases(name: TargetName): void {
  const target = TARGETS[name]
  const machines = new Machines(target, 1)
  const operations = OPERATIONS.filter(
    (o) =>
      generationsOf(o).includes(target.generation) && o.unsupported === undefined && (hasModel(o) || waveCasesOf(o, target).length > 0),
  )
  test.each(operations.map((o) => [o.name, o] as const))('%s', async (_, operation) => {
    const found: string[] = []
    for (const failure of failures(await machines.devices(), operation, target)) if (found.push(failure) >= SHOWN) break
    expect(found).toEqual([])
  })
}
