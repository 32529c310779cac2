/** What every operation means, in a sentence of our own. */
import type { Operation } from '../operations.ts'
import { compareMeaning } from './compares.ts'
import { memoryMeaning } from './memory.ts'
import { scalarMeaning } from './scalar.ts'
import { VINTRP, VOP3 } from './vop3.ts'
import { VOP1 } from './vop1.ts'
import { VOP2 } from './vop2.ts'

const VECTOR: Readonly<Record<string, string>> = { ...VOP1, ...VOP2, ...VOP3, ...VINTRP }

/** The sentence; D is the result, S0 to S2 are the sources in the order of the shape. @throws {Error} it has not been written yet */
export function meaningOf({ name }: Pick<Operation, 'name'>): string {
  const meaning = VECTOR[name] ?? compareMeaning(name) ?? scalarMeaning(name) ?? memoryMeaning(name)
  if (meaning === undefined) throw new Error(`${name} has no description; write one in host/isa/descriptions`)
  return meaning
}
