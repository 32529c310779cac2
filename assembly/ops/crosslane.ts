// Vector operations that see the wave as a whole: lanes by number, registers by M0.
import {
  FAULT_REGISTER, RECORD_DST, RECORD_MODS, RECORD_SRC0, WAVE_EXEC_MASKS, WAVE_VECTORS, WAVE_VGPR_COUNT,
} from '../generated/layout';
import { kindMask, scalarSource, spread32 } from '../fetch';
import { put } from '../lib/lanes';
import { exec, fault, M0_OFFSET, rowBytes, setScalar } from '../state';

export function v_nop(u: usize, w: usize): void {}
/** Exceptions are not kept. */
export function v_clrexcp(u: usize, w: usize): void {}

/** Source `i` of one lane. */
function laneOf(u: usize, w: usize, i: i32, lane: u32): u32 {
  if (load<u32>(u, RECORD_MODS) & kindMask(i)) return scalarSource(u, w, i);
  return load<u32>(w + load<u32>(u + 4 * i, RECORD_SRC0) + (lane << 2));
}
function laneNumber(u: usize, w: usize): u32 {
  return scalarSource(u, w, 1) & (<u32>(rowBytes >> 2) - 1);
}

/** The lowest active lane; lane 0 where there is none. */
export function v_readfirstlane_b32(u: usize, w: usize): void {
  const lanes = exec(w);
  setScalar(w, load<u32>(u, RECORD_DST), laneOf(u, w, 0, lanes == 0 ? 0 : <u32>ctz(lanes)));
}
/** EXEC does not count here. */
export function v_readlane_b32(u: usize, w: usize): void {
  setScalar(w, load<u32>(u, RECORD_DST), laneOf(u, w, 0, laneNumber(u, w)));
}
export function v_writelane_b32(u: usize, w: usize): void {
  store<u32>(w + load<u32>(u, RECORD_DST) + (laneNumber(u, w) << 2), scalarSource(u, w, 0));
}

/** Offset of the VGPR that M0 registers behind the one at `at`; 0 and a fault where the wave has no such register. */
function relative(w: usize, at: u32): usize {
  const index = (at - <u32>WAVE_VECTORS) / <u32>rowBytes + load<u32>(w, M0_OFFSET);
  if (index < load<u32>(w, WAVE_VGPR_COUNT)) return WAVE_VECTORS + index * rowBytes;
  fault(w, FAULT_REGISTER, -1, index, 4);
  return 0;
}
/** Moves a source to a VGPR. */
function move(u: usize, w: usize, d: usize, s: usize, mask: usize): void {
  for (let o: usize = 0; o < rowBytes; o += 16) put(w + d + o, w + WAVE_EXEC_MASKS + o, v128.load(s + (o & mask)));
}
export function v_movreld_b32(u: usize, w: usize): void {
  const d = relative(w, load<u32>(u, RECORD_DST));
  if (d == 0) return;
  if (load<u32>(u, RECORD_MODS) & kindMask(0)) move(u, w, d, spread32(u, w, 0), 0);
  else move(u, w, d, w + load<u32>(u, RECORD_SRC0), -1);
}
/** The source is a VGPR. */
export function v_movrels_b32(u: usize, w: usize): void {
  const s = relative(w, load<u32>(u, RECORD_SRC0));
  if (s != 0) move(u, w, load<u32>(u, RECORD_DST), w + s, -1);
}
export function v_movrelsd_b32(u: usize, w: usize): void {
  const s = relative(w, load<u32>(u, RECORD_SRC0)), d = s == 0 ? 0 : relative(w, load<u32>(u, RECORD_DST));
  if (d != 0) move(u, w, d, w + s, -1);
}
