// Scalar compares.
import { FAULT_UNSUPPORTED, KIND_SCALAR, RECORD_MODS, RECORD_SRC1, WAVE_MODE, WAVE_SCALARS } from '../generated/layout';
import { s0, s0x64, s1, s1x64 } from '../lib/scalar';
import { fault, M0_OFFSET, MODE_GPR_IDX_EN, setMode, setScc } from '../state';

export function s_cmp_eq_i32(u: usize, w: usize): void { setScc(w, <i32>s0(u, w) == <i32>s1(u, w)); }
export function s_cmp_lg_i32(u: usize, w: usize): void { setScc(w, <i32>s0(u, w) != <i32>s1(u, w)); }
export function s_cmp_gt_i32(u: usize, w: usize): void { setScc(w, <i32>s0(u, w) > <i32>s1(u, w)); }
export function s_cmp_ge_i32(u: usize, w: usize): void { setScc(w, <i32>s0(u, w) >= <i32>s1(u, w)); }
export function s_cmp_lt_i32(u: usize, w: usize): void { setScc(w, <i32>s0(u, w) < <i32>s1(u, w)); }
export function s_cmp_le_i32(u: usize, w: usize): void { setScc(w, <i32>s0(u, w) <= <i32>s1(u, w)); }
export function s_cmp_eq_u32(u: usize, w: usize): void { setScc(w, s0(u, w) == s1(u, w)); }
export function s_cmp_lg_u32(u: usize, w: usize): void { setScc(w, s0(u, w) != s1(u, w)); }
export function s_cmp_gt_u32(u: usize, w: usize): void { setScc(w, s0(u, w) > s1(u, w)); }
export function s_cmp_ge_u32(u: usize, w: usize): void { setScc(w, s0(u, w) >= s1(u, w)); }
export function s_cmp_lt_u32(u: usize, w: usize): void { setScc(w, s0(u, w) < s1(u, w)); }
export function s_cmp_le_u32(u: usize, w: usize): void { setScc(w, s0(u, w) <= s1(u, w)); }
export function s_cmp_eq_u64(u: usize, w: usize): void { setScc(w, s0x64(u, w) == s1x64(u, w)); }
export function s_cmp_lg_u64(u: usize, w: usize): void { setScc(w, s0x64(u, w) != s1x64(u, w)); }
export function s_bitcmp0_b32(u: usize, w: usize): void { setScc(w, ((s0(u, w) >> (s1(u, w) & 31)) & 1) == 0); }
export function s_bitcmp1_b32(u: usize, w: usize): void { setScc(w, ((s0(u, w) >> (s1(u, w) & 31)) & 1) != 0); }
export function s_bitcmp0_b64(u: usize, w: usize): void { setScc(w, ((s0x64(u, w) >> (s1(u, w) & 63)) & 1) == 0); }
export function s_bitcmp1_b64(u: usize, w: usize): void { setScc(w, ((s0x64(u, w) >> (s1(u, w) & 63)) & 1) != 0); }

/** Skipping of vector instructions can be switched off; switching it on is not supported. */
export function s_setvskip(u: usize, w: usize): void {
  if ((s0(u, w) >> (s1(u, w) & 31)) & 1) fault(w, FAULT_UNSUPPORTED, -1, 0, 0);
}
/** Switches VGPR indexing on: M0[7:0] is the index, M0[15:12] says for which operands; they are the raw bits of the ssrc1 field. */
export function s_set_gpr_idx_on(u: usize, w: usize): void {
  const value = load<u32>(u, RECORD_SRC1), kind = (load<u32>(u, RECORD_MODS) >> 3) & 7;
  const field = kind == KIND_SCALAR ? (value - <u32>WAVE_SCALARS) >> 2 : value;
  store<u8>(w, s0(u, w), M0_OFFSET);
  store<u8>(w, (load<u8>(w, M0_OFFSET + 1) & 15) | (field << 4), M0_OFFSET + 1);
  setMode(w, load<u32>(w, WAVE_MODE) | MODE_GPR_IDX_EN);
}
