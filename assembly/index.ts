// What the host sees of the core: exports only.
import { fillTable } from './table';

fillTable();

export { run } from './wave';

/** First byte of linear memory that is free. */
export function heapBase(): usize {
  return (__heap_base + 63) & ~63;
}
