// The records that no instruction stands for, and the way out for operations without kernel.
import { FAULT_ILLEGAL, FAULT_UNSUPPORTED, RECORD_IMM, RECORD_PC, STOP_DEVICE, STOP_END } from './generated/layout';
import { fault, halt, jump, pseudo, setPseudo } from './state';

export function illegal(u: usize, w: usize): void {
  fault(w, FAULT_ILLEGAL, -1, 0, 0);
}
export function unsupported(u: usize, w: usize): void {
  fault(w, FAULT_UNSUPPORTED, -1, 0, 0);
}
/** Ties a stretch of records to another one. */
export function goOn(u: usize, w: usize): void {
  setPseudo(pseudo + 1);
  jump(w, load<u32>(u, RECORD_IMM));
}
/** The code's end counts as s_endpgm, but as no instruction. */
export function end(u: usize, w: usize): void {
  setPseudo(pseudo + 1);
  halt(w, STOP_END, load<u32>(u, RECORD_PC));
}
/** An instruction that acts beyond its wave: it is the device's, and does not count before that has performed it. */
export function device(u: usize, w: usize): void {
  setPseudo(pseudo + 1);
  halt(w, STOP_DEVICE, load<u32>(u, RECORD_PC));
}
