// The function table that the step loop calls through: the build puts the steps in it by operation number, behind the empty entry 0, and the
// loops with modifiers behind them.
import { OPERATION_COUNT } from './generated/layout';

/** Runs the function of operation `op` on a record, whatever the record's flags say. */
// @ts-ignore: decorator
@inline
export function step(op: u32, u: usize, w: usize): void {
  call_indirect<void>(op + 1, u, w);
}

/** Runs the loop with modifiers that has a number from 1 on. */
// @ts-ignore: decorator
@inline
export function stepModified(number: u32, u: usize, w: usize): void {
  call_indirect<void>(OPERATION_COUNT + number, u, w);
}
