// Two-operand scalar operations.
import { FAULT_UNSUPPORTED } from '../generated/layout';
import { logic, logic64, result, result64, resultScc, s0, s0x64, s1, s1x64 } from '../lib/scalar';
import { fault, fork, pcBase, jumpTo, scc } from '../state';

export function s_add_u32(u: usize, w: usize): void { const a = s0(u, w), r = a + s1(u, w); resultScc(u, w, r, r < a); }
export function s_sub_u32(u: usize, w: usize): void { const a = s0(u, w), b = s1(u, w); resultScc(u, w, a - b, a < b); }
export function s_add_i32(u: usize, w: usize): void { const a = s0(u, w), b = s1(u, w), r = a + b; resultScc(u, w, r, <i32>((a ^ r) & (b ^ r)) < 0); }
export function s_sub_i32(u: usize, w: usize): void { const a = s0(u, w), b = s1(u, w), r = a - b; resultScc(u, w, r, <i32>((a ^ b) & (a ^ r)) < 0); }
export function s_addc_u32(u: usize, w: usize): void { const r = <u64>s0(u, w) + s1(u, w) + scc(w); resultScc(u, w, <u32>r, r >> 32 != 0); }
export function s_subb_u32(u: usize, w: usize): void { const r = <u64>s0(u, w) - s1(u, w) - scc(w); resultScc(u, w, <u32>r, <i64>r < 0); }
export function s_min_i32(u: usize, w: usize): void { const a = <i32>s0(u, w), b = <i32>s1(u, w); resultScc(u, w, min(a, b), a < b); }
export function s_min_u32(u: usize, w: usize): void { const a = s0(u, w), b = s1(u, w); resultScc(u, w, min(a, b), a < b); }
export function s_max_i32(u: usize, w: usize): void { const a = <i32>s0(u, w), b = <i32>s1(u, w); resultScc(u, w, max(a, b), a >= b); }
export function s_max_u32(u: usize, w: usize): void { const a = s0(u, w), b = s1(u, w); resultScc(u, w, max(a, b), a >= b); }
export function s_cselect_b32(u: usize, w: usize): void { result(u, w, scc(w) ? s0(u, w) : s1(u, w)); }
export function s_cselect_b64(u: usize, w: usize): void { result64(u, w, scc(w) ? s0x64(u, w) : s1x64(u, w)); }
export function s_and_b32(u: usize, w: usize): void { logic(u, w, s0(u, w) & s1(u, w)); }
export function s_and_b64(u: usize, w: usize): void { logic64(u, w, s0x64(u, w) & s1x64(u, w)); }
export function s_or_b32(u: usize, w: usize): void { logic(u, w, s0(u, w) | s1(u, w)); }
export function s_or_b64(u: usize, w: usize): void { logic64(u, w, s0x64(u, w) | s1x64(u, w)); }
export function s_xor_b32(u: usize, w: usize): void { logic(u, w, s0(u, w) ^ s1(u, w)); }
export function s_xor_b64(u: usize, w: usize): void { logic64(u, w, s0x64(u, w) ^ s1x64(u, w)); }
export function s_andn2_b32(u: usize, w: usize): void { logic(u, w, s0(u, w) & ~s1(u, w)); }
export function s_andn2_b64(u: usize, w: usize): void { logic64(u, w, s0x64(u, w) & ~s1x64(u, w)); }
export function s_orn2_b32(u: usize, w: usize): void { logic(u, w, s0(u, w) | ~s1(u, w)); }
export function s_orn2_b64(u: usize, w: usize): void { logic64(u, w, s0x64(u, w) | ~s1x64(u, w)); }
export function s_nand_b32(u: usize, w: usize): void { logic(u, w, ~(s0(u, w) & s1(u, w))); }
export function s_nand_b64(u: usize, w: usize): void { logic64(u, w, ~(s0x64(u, w) & s1x64(u, w))); }
export function s_nor_b32(u: usize, w: usize): void { logic(u, w, ~(s0(u, w) | s1(u, w))); }
export function s_nor_b64(u: usize, w: usize): void { logic64(u, w, ~(s0x64(u, w) | s1x64(u, w))); }
export function s_xnor_b32(u: usize, w: usize): void { logic(u, w, ~(s0(u, w) ^ s1(u, w))); }
export function s_xnor_b64(u: usize, w: usize): void { logic64(u, w, ~(s0x64(u, w) ^ s1x64(u, w))); }
export function s_lshl_b32(u: usize, w: usize): void { logic(u, w, s0(u, w) << (s1(u, w) & 31)); }
export function s_lshl_b64(u: usize, w: usize): void { logic64(u, w, s0x64(u, w) << (s1(u, w) & 63)); }
export function s_lshr_b32(u: usize, w: usize): void { logic(u, w, s0(u, w) >> (s1(u, w) & 31)); }
export function s_lshr_b64(u: usize, w: usize): void { logic64(u, w, s0x64(u, w) >> (s1(u, w) & 63)); }
export function s_ashr_i32(u: usize, w: usize): void { logic(u, w, <i32>s0(u, w) >> (s1(u, w) & 31)); }
export function s_ashr_i64(u: usize, w: usize): void { logic64(u, w, <i64>s0x64(u, w) >> (s1(u, w) & 63)); }
export function s_bfm_b32(u: usize, w: usize): void { result(u, w, ((1 << (s0(u, w) & 31)) - 1) << (s1(u, w) & 31)); }
export function s_bfm_b64(u: usize, w: usize): void { result64(u, w, ((<u64>1 << (s0(u, w) & 63)) - 1) << (s1(u, w) & 63)); }
export function s_mul_i32(u: usize, w: usize): void { result(u, w, s0(u, w) * s1(u, w)); }
export function s_absdiff_i32(u: usize, w: usize): void { const d = <i32>(s0(u, w) - s1(u, w)); logic(u, w, d < 0 ? -d : d); }

// Bit fields: S1 holds the offset in bits 4:0 (5:0 of 64-bit forms) and the width in 22:16; what lies beyond the top is missing.
export function s_bfe_u32(u: usize, w: usize): void {
  const field = s1(u, w), width = (field >> 16) & 127, x = s0(u, w) >> (field & 31);
  logic(u, w, width >= 32 ? x : x & ((1 << width) - 1));
}
export function s_bfe_i32(u: usize, w: usize): void {
  const field = s1(u, w), offset = field & 31, width = min((field >> 16) & 127, 32 - offset);
  logic(u, w, width == 0 ? 0 : (<i32>(s0(u, w) << (32 - width - offset)) >> (32 - width)));
}
export function s_bfe_u64(u: usize, w: usize): void {
  const field = s1(u, w), width = (field >> 16) & 127, x = s0x64(u, w) >> (field & 63);
  logic64(u, w, width >= 64 ? x : x & ((<u64>1 << width) - 1));
}
export function s_bfe_i64(u: usize, w: usize): void {
  const field = s1(u, w), offset = <u64>(field & 63), width = min(<u64>((field >> 16) & 127), 64 - offset);
  logic64(u, w, width == 0 ? 0 : (<i64>(s0x64(u, w) << (64 - width - offset)) >> (64 - width)));
}

/** Splits the wave; the target is an address in a register pair. */
export function s_cbranch_g_fork(u: usize, w: usize): void {
  fork(u, w, s0x64(u, w), <u32>(s1x64(u, w) - pcBase(w)));
}
/** Returns from a trap handler, which Lanewise does not run. */
export function s_rfe_restore_b64(u: usize, w: usize): void {
  fault(w, FAULT_UNSUPPORTED, -1, 0, 0);
}
