/** What is planned of a program. Must not load what translates: whether that pays is asked first. */
import { PROGRAM_CODE_BYTES, PROGRAM_PC_TABLE } from '../../plan/layout.ts'

/**
 * Addresses of a program's records, one for each dword of its code; 0 where nothing is planned yet.
 * @param program address of its header
 */
export function recordsOf(memory: ArrayBufferLike, program: number): Uint32Array {
  const view = new DataView(memory)
  const table = view.getUint32(program + PROGRAM_PC_TABLE, true)
  return new Uint32Array(memory, table, view.getUint32(program + PROGRAM_CODE_BYTES, true) >>> 2)
}

/** Of these the ones that are planned, in the order of the code. */
export const plannedOf = (memory: ArrayBufferLike, program: number): Uint32Array =>
  recordsOf(memory, program).filter((record) => record !== 0)
