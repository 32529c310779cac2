// Export.
import { FAULT_UNSUPPORTED, RECORD_IMM } from '../generated/layout';
import { fault } from '../state';

/** The null target takes data to nowhere; nothing receives what goes to the others (render targets, positions, parameters). */
const TARGET_NULL: u32 = 9;

export function exp(u: usize, w: usize): void {
  if (((load<u32>(u, RECORD_IMM) >> 4) & 0x3f) != TARGET_NULL) fault(w, FAULT_UNSUPPORTED, -1, 0, 0);
}
