// Records of scalar instructions.
import { scalarSource, scalarSource64 } from '../fetch';
import { KIND_SCALAR, RECORD_DST, RECORD_IMM, RECORD_MODS, RECORD_SRC0 } from '../generated/layout';
import { setScalar, setScalar64 } from '../state';

// Steps read their sources by these: the usual one, a register, without a call.

// @ts-ignore: decorator
@inline
function isRegister(u: usize, i: i32): bool {
  return ((load<u32>(u, RECORD_MODS) >> (3 * i)) & 7) == KIND_SCALAR;
}
// @ts-ignore: decorator
@inline
export function source(u: usize, w: usize, i: i32): u32 {
  return isRegister(u, i) ? load<u32>(w + load<u32>(u + 4 * i, RECORD_SRC0)) : scalarSource(u, w, i);
}
// @ts-ignore: decorator
@inline
export function source64(u: usize, w: usize, i: i32): u64 {
  return isRegister(u, i) ? load<u64>(w + load<u32>(u + 4 * i, RECORD_SRC0)) : scalarSource64(u, w, i);
}

/** The 16-bit constant, sign-extended; for branches the target pc. */
export function imm(u: usize): i32 { return load<i32>(u, RECORD_IMM); }
/** Writes the destination. */
export function result(u: usize, w: usize, x: u32): void { setScalar(w, load<u32>(u, RECORD_DST), x); }
export function result64(u: usize, w: usize, x: u64): void { setScalar64(w, load<u32>(u, RECORD_DST), x); }
