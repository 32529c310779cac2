// The function table that the step loop calls through.
import { OPERATION_COUNT } from './generated/layout';
import { STEPS } from './generated/dispatch';

/** Function table indices by operation number. */
export const TABLE = memory.data(4 * OPERATION_COUNT, 16);

/** Fills the table; once, before anything runs. */
export function fillTable(): void {
  // The first word of a function object is its table index.
  for (let op = 0; op < OPERATION_COUNT; op++) store<u32>(TABLE + 4 * op, load<u32>(changetype<usize>(unchecked(STEPS[op]))));
}

/** Runs the function of operation `op` on a record, whatever the record's flags say. */
// @ts-ignore: decorator
@inline
export function step(op: u32, u: usize, w: usize): void {
  call_indirect<void>(load<u32>(TABLE + 4 * op), u, w);
}
