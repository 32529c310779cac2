// Two-operand scalar operations.
import { scalarSource64 } from '../fetch';
import { fault, fork } from '../state';

// SCC is the carry or borrow of unsigned numbers, the overflow of signed ones.
export function s_add_u32(a: u32, b: u32): u32 { return a + b; }
export function s_add_u32_scc(a: u32, b: u32): bool { return a + b < a; }
export function s_sub_u32(a: u32, b: u32): u32 { return a - b; }
export function s_sub_u32_scc(a: u32, b: u32): bool { return a < b; }
export function s_add_i32(a: i32, b: i32): i32 { return a + b; }
export function s_add_i32_scc(a: i32, b: i32): bool { return ((a ^ (a + b)) & (b ^ (a + b))) < 0; }
export function s_sub_i32(a: i32, b: i32): i32 { return a - b; }
export function s_sub_i32_scc(a: i32, b: i32): bool { return ((a ^ b) & (a ^ (a - b))) < 0; }
export function s_addc_u32(a: u32, b: u32, scc: u32): u32 { return a + b + scc; }
export function s_addc_u32_scc(a: u32, b: u32, scc: u32): bool { return (<u64>a + b + scc) >> 32 != 0; }
export function s_subb_u32(a: u32, b: u32, scc: u32): u32 { return a - b - scc; }
export function s_subb_u32_scc(a: u32, b: u32, scc: u32): bool { return <u64>a < <u64>b + scc; }

// SCC: the first operand was chosen; on a tie that is so for max and not for min.
export function s_min_i32(a: i32, b: i32): i32 { return min(a, b); }
export function s_min_i32_scc(a: i32, b: i32): bool { return a < b; }
export function s_min_u32(a: u32, b: u32): u32 { return min(a, b); }
export function s_min_u32_scc(a: u32, b: u32): bool { return a < b; }
export function s_max_i32(a: i32, b: i32): i32 { return max(a, b); }
export function s_max_i32_scc(a: i32, b: i32): bool { return a >= b; }
export function s_max_u32(a: u32, b: u32): u32 { return max(a, b); }
export function s_max_u32_scc(a: u32, b: u32): bool { return a >= b; }

export function s_cselect_b32(a: u32, b: u32, scc: u32): u32 { return scc ? a : b; }
export function s_cselect_b64(a: u64, b: u64, scc: u32): u64 { return scc ? a : b; }
export function s_and_b32(a: u32, b: u32): u32 { return a & b; }
export function s_and_b64(a: u64, b: u64): u64 { return a & b; }
export function s_or_b32(a: u32, b: u32): u32 { return a | b; }
export function s_or_b64(a: u64, b: u64): u64 { return a | b; }
export function s_xor_b32(a: u32, b: u32): u32 { return a ^ b; }
export function s_xor_b64(a: u64, b: u64): u64 { return a ^ b; }
export function s_andn2_b32(a: u32, b: u32): u32 { return a & ~b; }
export function s_andn2_b64(a: u64, b: u64): u64 { return a & ~b; }
export function s_orn2_b32(a: u32, b: u32): u32 { return a | ~b; }
export function s_orn2_b64(a: u64, b: u64): u64 { return a | ~b; }
export function s_nand_b32(a: u32, b: u32): u32 { return ~(a & b); }
export function s_nand_b64(a: u64, b: u64): u64 { return ~(a & b); }
export function s_nor_b32(a: u32, b: u32): u32 { return ~(a | b); }
export function s_nor_b64(a: u64, b: u64): u64 { return ~(a | b); }
export function s_xnor_b32(a: u32, b: u32): u32 { return ~(a ^ b); }
export function s_xnor_b64(a: u64, b: u64): u64 { return ~(a ^ b); }

export function s_lshl_b32(a: u32, b: u32): u32 { return a << (b & 31); }
export function s_lshl_b64(a: u64, b: u32): u64 { return a << (b & 63); }
export function s_lshr_b32(a: u32, b: u32): u32 { return a >> (b & 31); }
export function s_lshr_b64(a: u64, b: u32): u64 { return a >> (b & 63); }
export function s_ashr_i32(a: i32, b: u32): i32 { return a >> (b & 31); }
export function s_ashr_i64(a: i64, b: u32): i64 { return a >> (b & 63); }
export function s_bfm_b32(a: u32, b: u32): u32 { return ((1 << (a & 31)) - 1) << (b & 31); }
export function s_bfm_b64(a: u32, b: u32): u64 { return ((<u64>1 << (a & 63)) - 1) << (b & 63); }
export function s_mul_i32(a: i32, b: i32): i32 { return a * b; }
export function s_absdiff_i32(a: i32, b: i32): i32 { const d = a - b; return d < 0 ? -d : d; }

// Bit fields: S1 holds the offset in bits 4:0 (5:0 of 64-bit forms) and the width in 22:16; what lies beyond the top is missing.
export function s_bfe_u32(a: u32, b: u32): u32 {
  const width = (b >> 16) & 127, x = a >> (b & 31);
  return width >= 32 ? x : x & ((1 << width) - 1);
}
export function s_bfe_i32(a: i32, b: u32): i32 {
  const offset = b & 31, width = min((b >> 16) & 127, 32 - offset);
  return width == 0 ? 0 : (a << (32 - width - offset)) >> (32 - width);
}
export function s_bfe_u64(a: u64, b: u32): u64 {
  const width = (b >> 16) & 127, x = a >> (b & 63);
  return width >= 64 ? x : x & ((<u64>1 << width) - 1);
}
export function s_bfe_i64(a: i64, b: u32): i64 {
  const offset = <i64>(b & 63), width = min(<i64>((b >> 16) & 127), 64 - offset);
  return width == 0 ? 0 : (a << (64 - width - offset)) >> (64 - width);
}

/** Splits the wave; the target is an address in a register pair. */
export function s_cbranch_g_fork(u: usize, w: usize): void {
  fork(u, w, scalarSource64(u, w, 0), scalarSource64(u, w, 1));
}
