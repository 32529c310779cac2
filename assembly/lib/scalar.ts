// Operands of scalar instructions: sources as 32 or 64 bits, results with or without SCC.
import { RECORD_DST, RECORD_IMM } from '../generated/layout';
import { scalarSource, scalarSource64 } from '../fetch';
import { setScalar, setScalar64, setScc } from '../state';

export function s0(u: usize, w: usize): u32 { return scalarSource(u, w, 0); }
export function s1(u: usize, w: usize): u32 { return scalarSource(u, w, 1); }
export function s0x64(u: usize, w: usize): u64 { return scalarSource64(u, w, 0); }
export function s1x64(u: usize, w: usize): u64 { return scalarSource64(u, w, 1); }
/** The 16-bit constant, sign-extended; for branches the target pc. */
export function imm(u: usize): i32 { return load<i32>(u, RECORD_IMM); }
/** What the destination holds. */
export function old(u: usize, w: usize): u32 { return load<u32>(w + load<u32>(u, RECORD_DST)); }
export function old64(u: usize, w: usize): u64 { return load<u64>(w + load<u32>(u, RECORD_DST)); }

/** Writes the destination, SCC stays. */
export function result(u: usize, w: usize, x: u32): void { setScalar(w, load<u32>(u, RECORD_DST), x); }
export function result64(u: usize, w: usize, x: u64): void { setScalar64(w, load<u32>(u, RECORD_DST), x); }
/** Writes the destination and an SCC of its own. */
export function resultScc(u: usize, w: usize, x: u32, scc: bool): void { setScc(w, scc); result(u, w, x); }
/** Writes the destination; SCC tells whether it is not zero. */
export function logic(u: usize, w: usize, x: u32): void { setScc(w, x != 0); result(u, w, x); }
export function logic64(u: usize, w: usize, x: u64): void { setScc(w, x != 0); result64(u, w, x); }
