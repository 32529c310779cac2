// Program control.
import { FAULT_TRAP, FAULT_UNSUPPORTED, MODE_GPR_IDX_EN, RECORD_PC, STOP_BARRIER, STOP_END, STOP_YIELD, WAVE_MODE } from '../generated/layout';
import { imm } from '../lib/scalar';
import { exec, fault, halt, jump, M0_OFFSET, scc, setMode, vcc } from '../state';

/** Ends the turn behind this instruction. */
function leave(u: usize, w: usize, reason: i32): void { halt(w, reason, load<u32>(u, RECORD_PC) + 4); }
function branchIf(u: usize, w: usize, taken: bool): void { if (taken) jump(w, imm(u)); }

export function s_endpgm(u: usize, w: usize): void { leave(u, w, STOP_END); }
export function s_endpgm_saved(u: usize, w: usize): void { leave(u, w, STOP_END); }
export function s_barrier(u: usize, w: usize): void { leave(u, w, STOP_BARRIER); }
export function s_sleep(u: usize, w: usize): void { leave(u, w, STOP_YIELD); }
export function s_branch(u: usize, w: usize): void { jump(w, imm(u)); }
export function s_cbranch_scc0(u: usize, w: usize): void { branchIf(u, w, !scc(w)); }
export function s_cbranch_scc1(u: usize, w: usize): void { branchIf(u, w, scc(w) != 0); }
export function s_cbranch_vccz(u: usize, w: usize): void { branchIf(u, w, vcc(w) == 0); }
export function s_cbranch_vccnz(u: usize, w: usize): void { branchIf(u, w, vcc(w) != 0); }
export function s_cbranch_execz(u: usize, w: usize): void { branchIf(u, w, exec(w) == 0); }
export function s_cbranch_execnz(u: usize, w: usize): void { branchIf(u, w, exec(w) != 0); }

// No debugger is attached: its flags are 0.
export function s_cbranch_cdbgsys(u: usize, w: usize): void {}
export function s_cbranch_cdbguser(u: usize, w: usize): void {}
export function s_cbranch_cdbgsys_or_user(u: usize, w: usize): void {}
export function s_cbranch_cdbgsys_and_user(u: usize, w: usize): void {}

// Memory is in order, and there are no caches, priorities or performance counters to tell of.
export function s_nop(u: usize, w: usize): void {}
export function s_waitcnt(u: usize, w: usize): void {}
export function s_setprio(u: usize, w: usize): void {}
export function s_icache_inv(u: usize, w: usize): void {}
export function s_incperflevel(u: usize, w: usize): void {}
export function s_decperflevel(u: usize, w: usize): void {}
export function s_ttracedata(u: usize, w: usize): void {}
export function s_wakeup(u: usize, w: usize): void {}

export function s_trap(u: usize, w: usize): void { fault(w, FAULT_TRAP, -1, imm(u) & 0xff, 0); }
/** A killed wave is one that has ended. */
export function s_setkill(u: usize, w: usize): void { if (imm(u) & 1) leave(u, w, STOP_END); }
/** Halting a wave is for debuggers; only switching it off is harmless. */
export function s_sethalt(u: usize, w: usize): void { if (imm(u) & 1) fault(w, FAULT_UNSUPPORTED, -1, 0, 0); }

export function s_set_gpr_idx_off(u: usize, w: usize): void { setMode(w, load<u32>(w, WAVE_MODE) & ~MODE_GPR_IDX_EN); }
/** M0[15:12] says for which operands VGPR indexing works. */
export function s_set_gpr_idx_mode(u: usize, w: usize): void {
  store<u8>(w, (load<u8>(w, M0_OFFSET + 1) & 15) | (imm(u) << 4), M0_OFFSET + 1);
}
