/** Operations by what people call them: the manual's name, a generation's mnemonic, with or without LLVM's suffix, in any case. */
import { OPERATION_BY_NAME, OPERATIONS, type Operation } from '../isa/operations.ts'
import { GENERATIONS, type Generation } from '../isa/targets.ts'
import { nearestOf } from '../results/nearest.ts'

/** The generations that have an operation, oldest first. */
export const generationsOf = (operation: Operation): Generation[] =>
  GENERATIONS.filter((generation) => NATIVE.some((format) => operation.opcode(format, generation) !== undefined))

const NATIVE = [
  'sop1',
  'sop2',
  'sopc',
  'sopk',
  'sopp',
  'smrd',
  'smem',
  'vop1',
  'vop2',
  'vopc',
  'vop3',
  'vintrp',
  'ds',
  'flat',
  'mubuf',
  'mtbuf',
  'mimg',
  'exp',
] as const

/**
 * The operation of this name. A generation's own mnemonic goes before the tables' name, so `v_add_u32` is what gfx8 calls so.
 * @param generation only operations that it has, under its names; the newest one that knows the name where it is left out
 */
export function findOperation(name: string, generation?: Generation): Operation | undefined {
  const key = name.toLowerCase().replace(/_(e32|e64|sdwa|dpp)$/, '')
  const called = (g: Generation) => OPERATIONS.find((o) => o.mnemonic(g) === key && generationsOf(o).includes(g))
  if (generation !== undefined) return called(generation) ?? ofGeneration(OPERATION_BY_NAME.get(key), generation)
  return (
    OPERATION_BY_NAME.get(key) ??
    [...GENERATIONS]
      .reverse()
      .map(called)
      .find((o) => o !== undefined)
  )
}

const ofGeneration = (operation: Operation | undefined, generation: Generation): Operation | undefined =>
  operation !== undefined && generationsOf(operation).includes(generation) ? operation : undefined

/** Known names that are spelt much like this one, the nearest first, five at most. */
export function similarNames(name: string): string[] {
  const names = new Set(OPERATIONS.flatMap((o) => [o.name, ...generationsOf(o).map((g) => o.mnemonic(g))]))
  return nearestOf(name.replace(/_(e32|e64|sdwa|dpp)$/i, ''), names, 5)
}
