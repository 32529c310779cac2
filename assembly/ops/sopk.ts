// Scalar operations with a 16-bit constant; the destination is a source too.
import { scalarSource } from '../fetch';
import {
  FAULT_UNSUPPORTED, RECORD_SRC0, WAVE_GPR_ALLOC, WAVE_HW_ID, WAVE_IB_STS, WAVE_LDS_ALLOC, WAVE_MODE, WAVE_SCC, WAVE_STATUS, WAVE_TRAPSTS,
} from '../generated/layout';
import { imm, result } from '../lib/scalar';
import { exec, fault, fork, pcBase, setMode, vcc } from '../state';

export function s_movk_i32(k: i32): i32 { return k; }
export function s_cmovk_i32(old: i32, k: i32, scc: u32): i32 { return scc ? k : old; }
export function s_cmpk_eq_i32(old: i32, k: i32): bool { return old == k; }
export function s_cmpk_lg_i32(old: i32, k: i32): bool { return old != k; }
export function s_cmpk_gt_i32(old: i32, k: i32): bool { return old > k; }
export function s_cmpk_ge_i32(old: i32, k: i32): bool { return old >= k; }
export function s_cmpk_lt_i32(old: i32, k: i32): bool { return old < k; }
export function s_cmpk_le_i32(old: i32, k: i32): bool { return old <= k; }
// Unsigned compares take the constant without sign.
export function s_cmpk_eq_u32(old: u32, k: i32): bool { return old == <u32>(k & 0xffff); }
export function s_cmpk_lg_u32(old: u32, k: i32): bool { return old != <u32>(k & 0xffff); }
export function s_cmpk_gt_u32(old: u32, k: i32): bool { return old > <u32>(k & 0xffff); }
export function s_cmpk_ge_u32(old: u32, k: i32): bool { return old >= <u32>(k & 0xffff); }
export function s_cmpk_lt_u32(old: u32, k: i32): bool { return old < <u32>(k & 0xffff); }
export function s_cmpk_le_u32(old: u32, k: i32): bool { return old <= <u32>(k & 0xffff); }
export function s_addk_i32(old: i32, k: i32): i32 { return old + k; }
export function s_addk_i32_scc(old: i32, k: i32): bool { return ((old ^ (old + k)) & (k ^ (old + k))) < 0; }
export function s_mulk_i32(old: i32, k: i32): i32 { return old * k; }

/** Splits the wave; the mask is in the sdst field's register pair. */
export function s_cbranch_i_fork(u: usize, w: usize): void {
  fork(u, w, load<u64>(w + load<u32>(u, RECORD_SRC0)), pcBase(w) + <i64>imm(u));
}

// Hardware registers: simm16 holds the number in 5:0, the lowest bit in 10:6 and the bits less one in 15:11.
const HW_MODE = 1, HW_STATUS = 2, HW_TRAPSTS = 3, HW_HW_ID = 4, HW_GPR_ALLOC = 5, HW_LDS_ALLOC = 6, HW_IB_STS = 7;
/** Bits of STATUS that follow from the rest of the wave (GCN3 manual, STATUS register). */
const STATUS_SCC: u32 = 1, STATUS_EXECZ: u32 = 1 << 9, STATUS_VCCZ: u32 = 1 << 10;

function status(w: usize): u32 {
  const kept = load<u32>(w, WAVE_STATUS) & ~(STATUS_SCC | STATUS_EXECZ | STATUS_VCCZ);
  return kept | load<u32>(w, WAVE_SCC) | (exec(w) == 0 ? STATUS_EXECZ : 0) | (vcc(w) == 0 ? STATUS_VCCZ : 0);
}
function fieldMask(u: usize): u32 {
  const size = ((imm(u) >> 11) & 31) + 1;
  return size == 32 ? -1 : (1 << size) - 1;
}
export function s_getreg_b32(u: usize, w: usize): void {
  let x: u32 = 0;
  switch (imm(u) & 63) {
    case HW_MODE: x = load<u32>(w, WAVE_MODE); break;
    case HW_STATUS: x = status(w); break;
    case HW_TRAPSTS: x = load<u32>(w, WAVE_TRAPSTS); break;
    case HW_HW_ID: x = load<u32>(w, WAVE_HW_ID); break;
    case HW_GPR_ALLOC: x = load<u32>(w, WAVE_GPR_ALLOC); break;
    case HW_LDS_ALLOC: x = load<u32>(w, WAVE_LDS_ALLOC); break;
    case HW_IB_STS: x = load<u32>(w, WAVE_IB_STS); break;
    default: return fault(w, FAULT_UNSUPPORTED, -1, 0, 0);
  }
  result(u, w, (x >> ((imm(u) >> 6) & 31)) & fieldMask(u));
}
function setRegister(u: usize, w: usize, x: u32): void {
  const offset = (imm(u) >> 6) & 31, mask = fieldMask(u) << offset, bits = (x << offset) & mask;
  switch (imm(u) & 63) {
    case HW_MODE: return setMode(w, (load<u32>(w, WAVE_MODE) & ~mask) | bits);
    case HW_TRAPSTS: return store<u32>(w, (load<u32>(w, WAVE_TRAPSTS) & ~mask) | bits, WAVE_TRAPSTS);
    // A program without privileges cannot write the others: no effect.
    case HW_STATUS: case HW_HW_ID: case HW_GPR_ALLOC: case HW_LDS_ALLOC: case HW_IB_STS: return;
    default: fault(w, FAULT_UNSUPPORTED, -1, 0, 0);
  }
}
export function s_setreg_b32(u: usize, w: usize): void { setRegister(u, w, scalarSource(u, w, 0)); }
export function s_setreg_imm32_b32(u: usize, w: usize): void { setRegister(u, w, scalarSource(u, w, 0)); }
