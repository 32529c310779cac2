// One-operand scalar operations.
import { scalarSource, scalarSource64 } from '../fetch';
import {
  FAULT_REGISTER, RECORD_DST, RECORD_MODS, RECORD_PC, RECORD_SRC0, STOP_FAULT, WAVE_MODE, WAVE_SCALARS, WAVE_SGPR_COUNT,
} from '../generated/layout';
import { result, result64 } from '../lib/scalar';
import { fault, jump, jumpTo, M0_OFFSET, MODE_CSP_SHIFT, pcBase, setExec, setScalar, setScalar64, stop } from '../state';

export function s_mov_b32(a: u32): u32 { return a; }
export function s_mov_b64(a: u64): u64 { return a; }
export function s_cmov_b32(a: u32, old: u32, scc: u32): u32 { return scc ? a : old; }
export function s_cmov_b64(a: u64, old: u64, scc: u32): u64 { return scc ? a : old; }
export function s_not_b32(a: u32): u32 { return ~a; }
export function s_not_b64(a: u64): u64 { return ~a; }
export function s_wqm_b32(a: u32): u32 { return <u32>wholeQuads(a); }
export function s_wqm_b64(a: u64): u64 { return wholeQuads(a); }
export function s_brev_b32(a: u32): u32 { return <u32>(reverse(a) >> 32); }
export function s_brev_b64(a: u64): u64 { return reverse(a); }

export function s_bcnt0_i32_b32(a: u32): u32 { return 32 - popcnt(a); }
export function s_bcnt0_i32_b64(a: u64): u32 { return 64 - <u32>popcnt(a); }
export function s_bcnt1_i32_b32(a: u32): u32 { return popcnt(a); }
export function s_bcnt1_i32_b64(a: u64): u32 { return <u32>popcnt(a); }
// Places of bits: -1 where there is none.
export function s_ff0_i32_b32(a: u32): u32 { return firstOne(~a); }
export function s_ff0_i32_b64(a: u64): u32 { return firstOne(~a); }
export function s_ff1_i32_b32(a: u32): u32 { return firstOne(a); }
export function s_ff1_i32_b64(a: u64): u32 { return firstOne(a); }
export function s_flbit_i32_b32(a: u32): u32 { return a == 0 ? -1 : clz(a); }
export function s_flbit_i32_b64(a: u64): u32 { return a == 0 ? -1 : <u32>clz(a); }
export function s_flbit_i32(a: i32): u32 { return s_flbit_i32_b32(a ^ (a >> 31)); }
export function s_flbit_i32_i64(a: i64): u32 { return s_flbit_i32_b64(a ^ (a >> 63)); }

export function s_sext_i32_i8(a: i32): i32 { return (a << 24) >> 24; }
export function s_sext_i32_i16(a: i32): i32 { return (a << 16) >> 16; }
export function s_bitset0_b32(a: u32, old: u32): u32 { return old & ~(1 << (a & 31)); }
export function s_bitset0_b64(a: u32, old: u64): u64 { return old & ~(<u64>1 << (a & 63)); }
export function s_bitset1_b32(a: u32, old: u32): u32 { return old | (1 << (a & 31)); }
export function s_bitset1_b64(a: u32, old: u64): u64 { return old | (<u64>1 << (a & 63)); }
export function s_quadmask_b32(a: u32): u32 { return <u32>quadMask(a); }
export function s_quadmask_b64(a: u64): u64 { return quadMask(a); }
export function s_abs_i32(a: i32): i32 { return a < 0 ? -a : a; }

// The new EXEC; the destination gets the old one.
export function s_and_saveexec_b64(a: u64, exec: u64): u64 { return a & exec; }
export function s_or_saveexec_b64(a: u64, exec: u64): u64 { return a | exec; }
export function s_xor_saveexec_b64(a: u64, exec: u64): u64 { return a ^ exec; }
export function s_andn2_saveexec_b64(a: u64, exec: u64): u64 { return a & ~exec; }
export function s_orn2_saveexec_b64(a: u64, exec: u64): u64 { return a | ~exec; }
export function s_nand_saveexec_b64(a: u64, exec: u64): u64 { return ~(a & exec); }
export function s_nor_saveexec_b64(a: u64, exec: u64): u64 { return ~(a | exec); }
export function s_xnor_saveexec_b64(a: u64, exec: u64): u64 { return ~(a ^ exec); }

export function s_getpc_b64(u: usize, w: usize): void { result64(u, w, behind(u, w)); }
export function s_setpc_b64(u: usize, w: usize): void { jumpTo(w, scalarSource64(u, w, 0)); }
export function s_swappc_b64(u: usize, w: usize): void { const to = scalarSource64(u, w, 0), back = behind(u, w); if (jumpTo(w, to)) result64(u, w, back); }

/** Guest address of the next instruction. */
function behind(u: usize, w: usize): u64 {
  return pcBase(w) + load<u32>(u, RECORD_PC) + ((load<u32>(u, RECORD_MODS) >> 30) << 2);
}
/** Place of the lowest 1, -1 where there is none. */
function firstOne(x: u64): u32 {
  return x == 0 ? -1 : <u32>ctz(x);
}
/** Bit 0 of each group of four tells whether the group is not zero. */
function quads(x: u64): u64 {
  x |= x >> 1;
  return (x | (x >> 2)) & 0x1111111111111111;
}
function wholeQuads(x: u64): u64 {
  return quads(x) * 15;
}
/** One bit a group of four. */
function quadMask(x: u64): u64 {
  let mask: u64 = 0;
  for (let q: u64 = quads(x); q != 0; q &= q - 1) mask |= <u64>1 << (ctz(q) >> 2);
  return mask;
}
function reverse(x: u64): u64 {
  x = ((x >> 1) & 0x5555555555555555) | ((x & 0x5555555555555555) << 1);
  x = ((x >> 2) & 0x3333333333333333) | ((x & 0x3333333333333333) << 2);
  x = ((x >> 4) & 0x0f0f0f0f0f0f0f0f) | ((x & 0x0f0f0f0f0f0f0f0f) << 4);
  return bswap(x);
}

/** Offset of the scalar that is M0 registers behind the one at `at`; 0 and a fault where the wave has no such SGPR. */
function relative(w: usize, at: u32, dwords: u32): usize {
  const index = (at - <u32>WAVE_SCALARS) / 4 + load<u32>(w, M0_OFFSET);
  if (<u64>index + dwords <= <u64>load<u32>(w, WAVE_SGPR_COUNT)) return WAVE_SCALARS + 4 * index;
  fault(w, FAULT_REGISTER, -1, index, 4 * dwords);
  return 0;
}
export function s_movrels_b32(u: usize, w: usize): void {
  const at = relative(w, load<u32>(u, RECORD_SRC0), 1);
  if (at) result(u, w, load<u32>(w + at));
}
export function s_movrels_b64(u: usize, w: usize): void {
  const at = relative(w, load<u32>(u, RECORD_SRC0), 2);
  if (at) result64(u, w, load<u64>(w + at));
}
export function s_movreld_b32(u: usize, w: usize): void {
  const at = relative(w, load<u32>(u, RECORD_DST), 1);
  if (at) setScalar(w, at, scalarSource(u, w, 0));
}
export function s_movreld_b64(u: usize, w: usize): void {
  const at = relative(w, load<u32>(u, RECORD_DST), 2);
  if (at) setScalar64(w, at, scalarSource64(u, w, 0));
}

/** Joins what a fork split: goes to the other path the first time, on the second time. */
export function s_cbranch_join(u: usize, w: usize): void {
  const mode = load<u32>(w, WAVE_MODE), depth = mode >> MODE_CSP_SHIFT;
  if (depth == scalarSource(u, w, 0)) return;
  const saved = w + WAVE_SCALARS + 16 * ((depth - 1) & 7), to = <u32>(load<u64>(saved, 8) - pcBase(w)), lanes = load<u64>(saved);
  jump(w, to);
  if (stop == STOP_FAULT) return;
  store<u32>(w, mode - (1 << MODE_CSP_SHIFT), WAVE_MODE);
  setExec(w, lanes);
}

/** M0[7:0] is the index that VGPR indexing adds. */
export function s_set_gpr_idx_idx(u: usize, w: usize): void {
  store<u8>(w, scalarSource(u, w, 0), M0_OFFSET);
}
