// Scalar compares.
import { MODE_GPR_IDX_EN, MODE_VSKIP, RECORD_SRC1, WAVE_MODE } from '../generated/layout';
import { scalarSource } from '../fetch';
import { M0_OFFSET, setMode } from '../state';

export function s_cmp_eq_i32(a: i32, b: i32): bool { return a == b; }
export function s_cmp_lg_i32(a: i32, b: i32): bool { return a != b; }
export function s_cmp_gt_i32(a: i32, b: i32): bool { return a > b; }
export function s_cmp_ge_i32(a: i32, b: i32): bool { return a >= b; }
export function s_cmp_lt_i32(a: i32, b: i32): bool { return a < b; }
export function s_cmp_le_i32(a: i32, b: i32): bool { return a <= b; }
export function s_cmp_eq_u32(a: u32, b: u32): bool { return a == b; }
export function s_cmp_lg_u32(a: u32, b: u32): bool { return a != b; }
export function s_cmp_gt_u32(a: u32, b: u32): bool { return a > b; }
export function s_cmp_ge_u32(a: u32, b: u32): bool { return a >= b; }
export function s_cmp_lt_u32(a: u32, b: u32): bool { return a < b; }
export function s_cmp_le_u32(a: u32, b: u32): bool { return a <= b; }
export function s_cmp_eq_u64(a: u64, b: u64): bool { return a == b; }
export function s_cmp_lg_u64(a: u64, b: u64): bool { return a != b; }
export function s_bitcmp0_b32(a: u32, b: u32): bool { return ((a >> (b & 31)) & 1) == 0; }
export function s_bitcmp1_b32(a: u32, b: u32): bool { return ((a >> (b & 31)) & 1) != 0; }
export function s_bitcmp0_b64(a: u64, b: u32): bool { return ((a >> (b & 63)) & 1) == 0; }
export function s_bitcmp1_b64(a: u64, b: u32): bool { return ((a >> (b & 63)) & 1) != 0; }

/** From now on vector instructions are skipped, or no longer. */
export function s_setvskip(u: usize, w: usize): void {
  const mode = load<u32>(w, WAVE_MODE) & ~MODE_VSKIP;
  setMode(w, (scalarSource(u, w, 0) >> (scalarSource(u, w, 1) & 31)) & 1 ? mode | MODE_VSKIP : mode);
}
/** Switches VGPR indexing on: M0[7:0] is the index, M0[15:12] says for which operands; they are the raw bits of the ssrc1 field. */
export function s_set_gpr_idx_on(u: usize, w: usize): void {
  store<u8>(w, scalarSource(u, w, 0), M0_OFFSET);
  store<u8>(w, (load<u8>(w, M0_OFFSET + 1) & 15) | (load<u32>(u, RECORD_SRC1) << 4), M0_OFFSET + 1);
  setMode(w, load<u32>(w, WAVE_MODE) | MODE_GPR_IDX_EN);
}
