/** The property itself, for one target: whatever the instruction, all engines leave the same wave behind. */
import { expect, test } from 'vitest'
import { OPERATIONS } from '../../host/isa/operations.ts'
import type { TargetName } from '../../host/isa/targets.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { disagreement, Engines, PROGRAMS } from './engines.ts'
import { formsOf } from './instructions.ts'

/** `npm run test:deep` sets it to 100: so many times the programs. */
export const TIMES = Number(process.env.LANEWISE_TIMES ?? 1)
export const SEED = Number(process.env.LANEWISE_SEED ?? 1)

export function testProperties(target: TargetName): void {
  const engines = new Engines(TARGETS[target])
  const operations = OPERATIONS.filter(
    (o) => /^(vop[123c]|vintrp)$/.test(o.table) && formsOf(o, TARGETS[target]).length > 0 && o.unsupported === undefined,
  )
  test.each(operations.map((o) => [o.name, o] as const))(
    '%s leaves the same wave on all engines',
    async (_, operation) => {
      for (let i = 0; i < PROGRAMS * TIMES; i++) {
        const found = await disagreement(engines, operation, target, SEED * 1_000_003 + operation.number * 7919 + i)
        if (found !== undefined) expect.fail(found)
      }
    },
    600_000,
  )
}
