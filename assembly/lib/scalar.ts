// Records of scalar instructions, for kernels that read and write for themselves.
import { RECORD_DST, RECORD_IMM } from '../generated/layout';
import { setScalar, setScalar64 } from '../state';

/** The 16-bit constant, sign-extended; for branches the target pc. */
export function imm(u: usize): i32 { return load<i32>(u, RECORD_IMM); }
/** Writes the destination. */
export function result(u: usize, w: usize, x: u32): void { setScalar(w, load<u32>(u, RECORD_DST), x); }
export function result64(u: usize, w: usize, x: u64): void { setScalar64(w, load<u32>(u, RECORD_DST), x); }
