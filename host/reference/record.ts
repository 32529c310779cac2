/** Reads plan records back from linear memory; see host/plan/record.ts for what the fields mean. */
import {
  RECORD_DST,
  RECORD_FLAGS,
  RECORD_IMM,
  RECORD_MODS,
  RECORD_OP,
  RECORD_PC,
  RECORD_SRC0,
  RECORD_SRC1,
  RECORD_SRC2,
} from '../plan/layout.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { unpackMods } from '../plan/record.ts'

/** `imm` comes signed. */
export function readRecord(view: DataView, address: number): PlanRecord {
  const word = (offset: number) => view.getUint32(address + offset, true)
  return {
    op: view.getUint16(address + RECORD_OP, true),
    flags: view.getUint16(address + RECORD_FLAGS, true),
    pc: word(RECORD_PC),
    dst: word(RECORD_DST),
    sources: [word(RECORD_SRC0), word(RECORD_SRC1), word(RECORD_SRC2)],
    imm: word(RECORD_IMM) | 0,
    mods: unpackMods(word(RECORD_MODS)),
  }
}

/** Offset of the instruction behind this one, in bytes from the program's first. */
export const nextPc = (r: PlanRecord): number => r.pc + r.mods.dwords * 4
