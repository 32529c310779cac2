/** The property of LDS and flat instructions: whole waves, faults, LDS and memory are the same on all engines, however addresses lie. */
import { describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { TARGETS, type TargetName } from '../../host/isa/targets.ts'
import { randomFrom } from '../translate/programs.ts'
import { randomProgram } from './addresses.ts'
import { compareCases, TIMEOUT_MS } from './cases.ts'
import { compareMemory, machinesOf } from './memory.ts'

describe.each(['gfx700', 'gfx803'] satisfies TargetName[])('%s', (name) => {
  const target = TARGETS[name]
  const operations = OPERATIONS.filter(
    (o) =>
      /^(ds|flat)$/.test(o.table) &&
      o.unsupported === undefined &&
      !o.traits.has('device') &&
      o.opcode(o.table, target.generation) !== undefined,
  )
  const machines = machinesOf(target)
  test.each(operations.map((o) => [o.name, o] as const))(
    '%s',
    (_, operation) => compareCases(operation, (seed) => compareMemory(machines, randomProgram(randomFrom(seed), operation, target), seed)),
    TIMEOUT_MS,
  )
  test('translate has translated them', () => {
    expect(machines.translated).toBeGreaterThan(0)
  })
})
