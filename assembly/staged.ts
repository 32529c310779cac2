// Instructions with modifiers, and the counters of approximate ones.
import { step } from './table';

export function stepFlagged(head: u32, u: usize, w: usize): void {
  step(head & 0xffff, u, w);
}
