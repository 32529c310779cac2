// What happens to the results of an instruction: masks, omod, clamp, SDWA destinations.
import { NO_SDST, RECORD_MODS, RECORD_OP, WAVE_SCALARS } from './generated/layout';
import { OPERANDS } from './generated/operands';
import { setExec, setScalar64 } from './state';

/** Word of OPERANDS: operand type codes and these flags. */
export const OPERANDS_CMPX: u32 = 1 << 16;

/** Writes a mask result to the record's sdst, for v_cmpx to EXEC too. Bits of inactive lanes are 0. */
export function writeMask(u: usize, w: usize, bits: u64): void {
  const sdst = (load<u32>(u, RECORD_MODS) >> 22) & 0xff;
  if (sdst != NO_SDST) setScalar64(w, WAVE_SCALARS + 4 * sdst, bits);
  if (load<u32>(OPERANDS + 4 * load<u16>(u, RECORD_OP)) & OPERANDS_CMPX) setExec(w, bits);
}
