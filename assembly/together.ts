// The short way to memory: whether what all active lanes of an instruction touch is in one region that allows it, and where.
//
// A lane's address is a row of 32-bit places plus something that all lanes have in common, so a region's bounds are two bounds of places.
// Nothing here faults: OUTSIDE asks for a closer look (memory.ts), lane by lane.
import { REGION_BASE, REGION_FLAGS, REGION_HOST, REGION_SIZE, WAVE_EXEC_MASKS } from './generated/layout';
import { atomicRows, regionOf } from './memory';
import { areMultiples, arrangement, isUniform, loadRows, loadSmallRows, OUTSIDE, storeRows, storeSmallRows } from './rows';
import { ADDRESSES, LOW, sharing } from './scratch';
import { exec, rowBytes } from './state';

/** The row of places, what is added to them to make host addresses, and to make the low dwords of guest addresses. */
let places: usize = 0;
let delta: u32 = 0;
let origin: u32 = 0;
/** How far the dwords of a lane are apart. */
let pitch: u32 = 4;

/** Bytes of a scratch dword's row: the dwords of 64 lanes are side by side (AMDGPUUsage, "Private Segment"). */
export const SCRATCH_ROW: u32 = 256;

/** Byte offset of the first active lane in a row; at least one must be active. */
function firstLane(w: usize): usize { return <usize>ctz(exec(w)) << 2; }

/** The region of an address, 0 where there is none or it may not be written. */
function regionFor(u: usize, w: usize, address: u64, writing: bool): usize {
  const region = regionOf(u, w, address);
  return region != 0 && writing && !(load<u32>(region, REGION_FLAGS) & 1) ? 0 : region;
}

/** How the addresses lie (see rows.ts) whose dwords are the rows at `lows` and `highs`. At least one lane must be active. */
export function addressesTogether(u: usize, w: usize, lows: usize, highs: usize, bytes: u32, writing: bool): i32 {
  const high = load<u32>(highs + firstLane(w));
  return isUniform(w, highs, high) ? offsetsTogether(u, w, <u64>high << 32, lows, -1, bytes, writing) : OUTSIDE;
}

/** The same for addresses that are `start` plus an offset, the row at `lows`, which may be `most` at most. */
export function offsetsTogether(u: usize, w: usize, start: u64, lows: usize, most: u32, bytes: u32, writing: bool): i32 {
  const region = regionFor(u, w, start + load<u32>(lows + firstLane(w)), writing);
  if (region == 0) return OUTSIDE;
  const size = load<u32>(region, REGION_SIZE), before = <i64>(load<u64>(region, REGION_BASE) - start), last = before + size - bytes;
  if (size < bytes || last < 0 || before >> 32 > 0) return OUTSIDE;
  places = lows;
  delta = load<u32>(region, REGION_HOST) - <u32>before;
  origin = <u32>start;
  pitch = 4;
  return arrangement(w, lows, <u32>max(before, 0), <u32>min(last, <i64>most), bytes);
}

/**
 * The same for scratch: a lane's byte at an offset, the row at `lows` plus `immediate`, is in dword offset / 4 of the 64 lanes' at `start`.
 * Nothing may cross dwords.
 */
export function scratchTogether(u: usize, w: usize, start: u64, lows: usize, immediate: u32, most: u32, bytes: u32, writing: bool): i32 {
  const region = regionFor(u, w, start, writing), dwords = (bytes + 3) >> 2;
  if (region == 0) return OUTSIDE;
  const before = <u32>(start - load<u64>(region, REGION_BASE)), rows = (load<u32>(region, REGION_SIZE) - before) / SCRATCH_ROW;
  const end = min(<i64>most, (<i64>rows - dwords) * 4 + 3 - immediate);
  if (end < 0) return OUTSIDE;
  const last = i32x4.splat(<u32>end), step = i32x4.splat(immediate), inside = i32x4.splat(3), furthest = i32x4.splat(4 - min(bytes, <u32>4));
  let lane = i32x4(0, 4, 8, 12), outside = i32x4.splat(0);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const given = v128.load(lows + o), offset = i32x4.add(given, step), part = v128.and(offset, inside);
    const bad = v128.or(i32x4.gt_u(given, last), i32x4.gt_u(part, furthest));
    outside = v128.or(outside, v128.and(bad, v128.load(w + o, WAVE_EXEC_MASKS)));
    v128.store(LOW + o, i32x4.add(i32x4.add(i32x4.shl(v128.andnot(offset, inside), 6), part), lane));
    lane = i32x4.add(lane, i32x4.splat(16));
  }
  if (v128.any_true(outside)) return OUTSIDE;
  places = LOW;
  delta = load<u32>(region, REGION_HOST) + before;
  origin = <u32>start;
  pitch = SCRATCH_ROW;
  return arrangement(w, LOW, 0, -1, min(bytes, <u32>4));
}

/** Whether the guest addresses of all active lanes are multiples of `alignment`, a power of two. */
export function areAligned(w: usize, alignment: u32): bool {
  return areMultiples(w, places, origin, alignment);
}
/** Writes the host addresses of `dwords` dwords a lane to as many rows of ADDRESSES. */
export function keepAddresses(dwords: i32): void {
  for (let i = 0; i < dwords; i++) {
    const step = i32x4.splat(delta + pitch * i);
    for (let o: usize = 0; o < rowBytes; o += 16) v128.store(ADDRESSES + 256 * i + o, i32x4.add(v128.load(places + o), step));
  }
}

/** Does an atomic at once (see atomicRows); false where it does not. */
export function atomicTogether(w: usize, op: i32, d: usize, x: usize): bool {
  return !sharing && atomicRows(w, op, d, x, places, delta);
}

// --- What is found together is moved at once. `how` is not OUTSIDE.

/** Loads `dwords` (1 to 4) dwords a lane to the registers at `d`. */
export function loadTogether(w: usize, d: usize, dwords: i32, how: i32): void {
  if (pitch == 4) return loadRows(w, d, dwords, places, delta, how);
  for (let i = 0; i < dwords; i++) loadRows(w, d + i * rowBytes, 1, places, delta + pitch * i, how);
}
export function storeTogether(w: usize, s: usize, dwords: i32, how: i32): void {
  if (pitch == 4) return storeRows(w, s, dwords, places, delta, how);
  for (let i = 0; i < dwords; i++) storeRows(w, s + i * rowBytes, 1, places, delta + pitch * i, how);
}
/** Loads a byte or two a lane, zero- or sign-extended. */
export function loadSmallTogether(w: usize, d: usize, bits: i32, signed: bool, how: i32): void {
  loadSmallRows(w, d, bits, signed, places, delta, how);
}
export function storeSmallTogether(w: usize, s: usize, bits: i32, how: i32): void {
  storeSmallRows(w, s, bits, places, delta, how);
}
