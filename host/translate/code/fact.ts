/** What is asked of operations again and again, found out once for each: names would be matched, and traits looked up, for every step. */
import { OPERATIONS, type Operation } from '../../isa/operations.ts'

/** The function that remembers what another one says of each operation. */
export function factOf<T>(find: (operation: Operation) => T): (operation: Operation) => T {
  const known = new Array<{ readonly fact: T } | undefined>(OPERATIONS.length)
  return (operation) => {
    let entry = known[operation.number]
    if (entry === undefined) {
      entry = { fact: find(operation) }
      known[operation.number] = entry
    }
    return entry.fact
  }
}
