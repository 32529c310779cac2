// The running wave: what every step needs of it, in wasm globals, and the ways to read and write its scalars. Knows no instruction.
import {
  EXEC_HI, EXEC_LO, FAULT_JUMP, GFX8, M0, MODE_GPR_IDX_EN, MODE_VSKIP, PROGRAM_BASE, PROGRAM_CODE_BYTES, PROGRAM_GENERATION, PROGRAM_PC_TABLE, RECORD_PC, STOP_END, STOP_FAULT,
  STOP_PLAN, VCC_LO, WAVE_EXEC_MASKS, WAVE_FAULT, WAVE_FAULT_ADDRESS, WAVE_FAULT_BYTES, WAVE_FAULT_LANE, WAVE_MASKED, WAVE_MODE, WAVE_PC,
  WAVE_PROGRAM, WAVE_SCALARS, WAVE_SCC, WAVE_SIZE,
} from './generated/layout';
import { masks4, setAllActive } from './lib/lanes';
import { flushResults32, flushResults64, flushSources32, flushSources64, setMode as setKernelMode } from './lib/mode';

/** Offsets of single scalars in the wave block. */
export const VCC: usize = WAVE_SCALARS + 4 * VCC_LO;
export const EXEC: usize = WAVE_SCALARS + 4 * EXEC_LO;
export const M0_OFFSET: usize = WAVE_SCALARS + 4 * M0;

/** Bytes of a VGPR's row. */
export let rowBytes: usize = 256;
/** Index into GENERATIONS. */
export let generation: i32 = GFX8;
/** Magnitudes below these are flushed: the smallest normal number where MODE flushes, zero where it does not. */
export let flushSource32: u32 = 0;
export let flushResult32: u32 = 0;
export let flushSource64: u64 = 0;
export let flushResult64: u64 = 0;
export let flushSource16: i32 = 0;
export let flushResult16: i32 = 0;
/** The larger of those of sources and results. */
export let limit32: u32 = 0;
export let limit64: u64 = 0;
/** Records whose first dword (op and flags) is above this take the slow way: flagged ones, or all while VGPR indexing is on. */
export let plainLimit: u32 = 0xffff;

/** The record that runs next; 0 when the wave stops. */
export let next: usize = 0;
export function setNext(u: usize): void {
  next = u;
}
/** Why the wave stops (Stop), 0 while it runs. */
export let stop: i32 = 0;
/** Records executed that are no instructions. */
export let pseudo: i32 = 0;
export function setPseudo(n: i32): void {
  pseudo = n;
}

/** The smallest normal numbers have this bit and no other: their mantissas have so many bits. */
const MIN_BIT_16: u32 = 10;
const MIN_BIT_32: u32 = 23;
const MIN_BIT_64: u64 = 52;
/** MODE bits 31:29: depth of the stack of forks. */
export const MODE_CSP_SHIFT: u32 = 29;

/** MODE that the globals are made of; at first none. */
let known: u64 = u64.MAX_VALUE;

/** Reads what MODE says into the globals. */
function refreshMode(w: usize): void {
  const mode = load<u32>(w, WAVE_MODE);
  if (mode == known) return;
  known = mode;
  setKernelMode(mode);
  flushSource32 = flushSources32 << MIN_BIT_32;
  flushResult32 = flushResults32 << MIN_BIT_32;
  flushSource64 = <u64>flushSources64 << MIN_BIT_64;
  flushResult64 = <u64>flushResults64 << MIN_BIT_64;
  flushSource16 = flushSources64 << MIN_BIT_16;
  flushResult16 = flushResults64 << MIN_BIT_16;
  limit32 = max(flushSource32, flushResult32);
  limit64 = max(flushSource64, flushResult64);
  plainLimit = mode & (MODE_GPR_IDX_EN | MODE_VSKIP) ? 0 : 0xffff;
}

/** Writes MODE. */
export function setMode(w: usize, mode: u32): void {
  store<u32>(w, mode, WAVE_MODE);
  refreshMode(w);
}

/** Expands EXEC to the row of lane masks, where that was made of another one. */
export function refreshExec(w: usize): void {
  let bits = load<u64>(w, EXEC);
  setAllActive(<usize>ctz(~bits) >= rowBytes >> 2);
  if (bits == load<u64>(w, WAVE_MASKED)) return;
  store<u64>(w, bits, WAVE_MASKED);
  for (let o: usize = 0; o < rowBytes; o += 16, bits >>= 4) v128.store(w + o, masks4(<i32>bits), WAVE_EXEC_MASKS);
}

/** Makes `w` the wave that runs. */
export function enter(w: usize): void {
  rowBytes = load<u32>(w, WAVE_SIZE) << 2;
  generation = load<u32>(load<u32>(w, WAVE_PROGRAM), PROGRAM_GENERATION);
  stop = 0;
  pseudo = 0;
  refreshMode(w);
  refreshExec(w);
}

/** Goes on at `pc`, a byte offset. */
export function jump(w: usize, pc: u32): void {
  const program = load<u32>(w, WAVE_PROGRAM);
  const bytes = load<u32>(program, PROGRAM_CODE_BYTES);
  if (pc == bytes) return halt(w, STOP_END, pc);
  if (pc > bytes || pc & 3) return fault(w, FAULT_JUMP, -1, pcBase(w) + <i64><i32>pc, 4);
  next = load<u32>(load<u32>(program, PROGRAM_PC_TABLE) + pc);
  if (next == 0) halt(w, STOP_PLAN, pc);
}

/** Guest address of the code's first byte. */
export function pcBase(w: usize): u64 {
  return load<u64>(load<u32>(w, WAVE_PROGRAM), PROGRAM_BASE);
}
/** Goes on at a guest address; tells whether that is an instruction of the program (it faults where it is not). */
export function jumpTo(w: usize, address: u64): bool {
  const pc = address - pcBase(w);
  if (pc >> 32) fault(w, FAULT_JUMP, -1, address, 4);
  else jump(w, <u32>pc);
  return stop != STOP_FAULT;
}

/**
 * Lets the smaller group of lanes go first and saves the other one: EXEC and address in the four SGPRs at 4 × depth. Lanes of `mask`
 * go to the guest address `target`, the others go on (GCN3 manual, s_cbranch_g_fork).
 */
export function fork(u: usize, w: usize, mask: u64, target: u64): void {
  const lanes = exec(w), pass = mask & lanes, fail = ~mask & lanes;
  if (pass == lanes) {
    jumpTo(w, target);
    return;
  }
  if (fail == lanes) return;
  const mode = load<u32>(w, WAVE_MODE), saved = w + WAVE_SCALARS + 16 * (mode >> MODE_CSP_SHIFT);
  const passLater = popcnt(fail) < popcnt(pass);
  if (!passLater && !jumpTo(w, target)) return;
  store<u64>(saved, passLater ? pass : fail);
  store<u64>(saved, passLater ? target : pcBase(w) + load<u32>(u, RECORD_PC) + 4, 8);
  store<u32>(w, mode + (1 << MODE_CSP_SHIFT), WAVE_MODE);
  setExec(w, passLater ? fail : pass);
}

/** Ends the run behind a completed instruction; the wave goes on at `pc`. */
export function halt(w: usize, reason: i32, pc: u32): void {
  store<u32>(w, pc, WAVE_PC);
  stop = reason;
  next = 0;
}

/** Stops at the running instruction, which must not have had any effect. `lane` is -1 for scalar accesses. */
export function fault(w: usize, code: i32, lane: i32, address: u64, bytes: u32): void {
  store<u32>(w, code, WAVE_FAULT);
  store<i32>(w, lane, WAVE_FAULT_LANE);
  store<u64>(w, address, WAVE_FAULT_ADDRESS);
  store<u32>(w, bytes, WAVE_FAULT_BYTES);
  stop = STOP_FAULT;
  next = 0;
}

// --- scalars: `at` is an offset into the wave block

/** Writes a scalar dword; a write to EXEC refreshes the lane masks. */
export function setScalar(w: usize, at: usize, x: u32): void {
  store<u32>(w + at, x);
  if (at >= EXEC) refreshExec(w);
}
/** Writes a scalar pair. */
export function setScalar64(w: usize, at: usize, x: u64): void {
  store<u64>(w + at, x);
  if (at >= EXEC - 4) refreshExec(w);
}
export function exec(w: usize): u64 {
  return load<u64>(w, EXEC);
}
export function setExec(w: usize, x: u64): void {
  store<u64>(w, x, EXEC);
  refreshExec(w);
}
export function scc(w: usize): u32 {
  return load<u32>(w, WAVE_SCC);
}
export function setScc(w: usize, x: bool): void {
  store<u32>(w, x, WAVE_SCC);
}
/** VCC of the wave's lanes. */
export function vcc(w: usize): u64 {
  return rowBytes == 256 ? load<u64>(w, VCC) : load<u32>(w, VCC);
}
