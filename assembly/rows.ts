// Registers from and to memory where all active lanes are known to be inside it: the short way of loads and stores, four lanes at a
// time. Lane addresses are the row at `lows`, a register or scratch row, plus a constant.
import { WAVE_EXEC_MASKS } from './generated/layout';
import { put } from './lib/lanes';
import { exec, rowBytes } from './state';

/** How the addresses of the active lanes lie: not all inside; anyhow; one element behind the other, all lanes active; all the same. */
export const OUTSIDE: i32 = 0, SCATTERED: i32 = 1, ADJACENT: i32 = 2, EQUAL: i32 = 3;

/**
 * How the active lanes' addresses, the row at `lows` plus `offset`, lie, if they are from 0 to `last` (wrapping at 32 bits); elements have
 * `bytes` bytes. At least one lane must be active.
 */
export function arrangement(w: usize, lows: usize, offset: u32, last: u32, bytes: u32): i32 {
  const lanes = exec(w), most = i32x4.splat(last), step = i32x4.splat(offset), next = i32x4.splat(4 * bytes);
  const start = i32x4.splat(load<u32>(lows + (<usize>ctz(lanes) << 2)));
  let expected = i32x4.add(start, i32x4.mul(i32x4.splat(bytes), i32x4(0, 1, 2, 3)));
  let outside = i32x4.splat(0), apart = i32x4.splat(0), differ = i32x4.splat(0);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const at = v128.load(lows + o), active = v128.load(w + o, WAVE_EXEC_MASKS);
    outside = v128.or(outside, v128.and(i32x4.gt_u(i32x4.add(at, step), most), active));
    apart = v128.or(apart, v128.xor(at, expected));
    differ = v128.or(differ, v128.and(v128.xor(at, start), active));
    expected = i32x4.add(expected, next);
  }
  if (v128.any_true(outside)) return OUTSIDE;
  if (!v128.any_true(differ)) return EQUAL;
  return lanes == ~0 && rowBytes == 256 && !v128.any_true(apart) ? ADJACENT : SCATTERED;
}

/** Whether the row at `at` has the same dword `x` in all active lanes. */
export function isUniform(w: usize, at: usize, x: u32): bool {
  const same = i32x4.splat(x);
  let differ = i32x4.splat(0);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    differ = v128.or(differ, v128.and(v128.xor(v128.load(at + o), same), v128.load(w + o, WAVE_EXEC_MASKS)));
  }
  return !v128.any_true(differ);
}

/** Loads `dwords` (1 to 4) dwords a lane to the registers at `d`; host addresses are the row at `lows` plus `delta`. */
export function loadRows(w: usize, d: usize, dwords: i32, lows: usize, delta: u32, how: i32): void {
  if (how == EQUAL) return loadEqual(w, d, dwords, load<u32>(lows + (<usize>ctz(exec(w)) << 2)) + delta);
  if (how == ADJACENT && dwords != 3) return loadAdjacent(d, dwords, load<u32>(lows) + delta);
  // A lane that is off reads where the first active one does, and keeps its value.
  const safe = i32x4.splat(load<u32>(lows + (<usize>ctz(exec(w)) << 2)) + delta), step = i32x4.splat(delta);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const active = w + o + WAVE_EXEC_MASKS, at = v128.bitselect(i32x4.add(v128.load(lows + o), step), safe, v128.load(active));
    loadFour(d + o, active, dwords, i32x4.extract_lane(at, 0), i32x4.extract_lane(at, 1), i32x4.extract_lane(at, 2), i32x4.extract_lane(at, 3));
  }
}

/** Four lanes from four addresses, under the masks at `e`. */
// @ts-ignore: decorator
@inline
function loadFour(d: usize, e: usize, dwords: i32, a: usize, b: usize, c: usize, f: usize): void {
  if (dwords == 1) {
    put(d, e, v128.load_lane<u32>(f, v128.load_lane<u32>(c, v128.load_lane<u32>(b, v128.load_zero<u32>(a), 1), 2), 3));
  } else if (dwords == 4) {
    const x = v128.load(a), y = v128.load(b), z = v128.load(c), t = v128.load(f);
    const xy = lowMixed(x, y), zt = lowMixed(z, t), xyHigh = highMixed(x, y), ztHigh = highMixed(z, t);
    put(d, e, lowHalves(xy, zt));
    put(d + rowBytes, e, highHalves(xy, zt));
    put(d + 2 * rowBytes, e, lowHalves(xyHigh, ztHigh));
    put(d + 3 * rowBytes, e, highHalves(xyHigh, ztHigh));
  } else {
    const low = v128.load_lane<u64>(b, v128.load_zero<u64>(a), 1), high = v128.load_lane<u64>(f, v128.load_zero<u64>(c), 1);
    put(d, e, v128.shuffle<i32>(low, high, 0, 2, 4, 6));
    put(d + rowBytes, e, v128.shuffle<i32>(low, high, 1, 3, 5, 7));
    if (dwords == 3) {
      const third = v128.load_lane<u32>(c + 8, v128.load_lane<u32>(b + 8, v128.load_zero<u32>(a + 8), 1), 2);
      put(d + 2 * rowBytes, e, v128.load_lane<u32>(f + 8, third, 3));
    }
  }
}

// Columns of four rows are made in two steps: dwords of two rows alternating, then halves of two such.
// @ts-ignore: decorator
@inline
function lowMixed(a: v128, b: v128): v128 { return v128.shuffle<i32>(a, b, 0, 4, 1, 5); }
// @ts-ignore: decorator
@inline
function highMixed(a: v128, b: v128): v128 { return v128.shuffle<i32>(a, b, 2, 6, 3, 7); }
// @ts-ignore: decorator
@inline
function lowHalves(a: v128, b: v128): v128 { return v128.shuffle<i64>(a, b, 0, 2); }
// @ts-ignore: decorator
@inline
function highHalves(a: v128, b: v128): v128 { return v128.shuffle<i64>(a, b, 1, 3); }

function loadEqual(w: usize, d: usize, dwords: i32, from: usize): void {
  for (let i = 0; i < dwords; i++) {
    const x = v128.load_splat<u32>(from + 4 * i), to = d + i * rowBytes;
    for (let o: usize = 0; o < rowBytes; o += 16) put(to + o, w + o + WAVE_EXEC_MASKS, x);
  }
}

/** All 64 lanes, one element behind the other. */
function loadAdjacent(d: usize, dwords: i32, from: usize): void {
  if (dwords == 1) {
    for (let o: usize = 0; o < 256; o += 16) v128.store(d + o, v128.load(from + o));
  } else if (dwords == 2) {
    for (let o: usize = 0; o < 256; o += 16) {
      const a = v128.load(from + 2 * o), b = v128.load(from + 2 * o, 16);
      v128.store(d + o, v128.shuffle<i32>(a, b, 0, 2, 4, 6));
      v128.store(d + o, v128.shuffle<i32>(a, b, 1, 3, 5, 7), 256);
    }
  } else {
    for (let o: usize = 0; o < 256; o += 16) {
      const at = from + 4 * o, x = v128.load(at), y = v128.load(at, 16), z = v128.load(at, 32), t = v128.load(at, 48);
      const xy = lowMixed(x, y), zt = lowMixed(z, t), xyHigh = highMixed(x, y), ztHigh = highMixed(z, t);
      v128.store(d + o, lowHalves(xy, zt));
      v128.store(d + o, highHalves(xy, zt), 256);
      v128.store(d + o, lowHalves(xyHigh, ztHigh), 512);
      v128.store(d + o, highHalves(xyHigh, ztHigh), 768);
    }
  }
}

/** Stores `dwords` (1 to 4) dwords a lane from the registers at `s`, lane by lane in ascending order. */
export function storeRows(w: usize, s: usize, dwords: i32, lows: usize, delta: u32, how: i32): void {
  if (how == ADJACENT && dwords != 3) return storeAdjacent(s, dwords, load<u32>(lows) + delta);
  if (how == EQUAL) {
    // What the last lane stores is what stays.
    const last = <usize>(63 - clz(exec(w))) << 2;
    return storeLane(load<u32>(lows + last) + delta, s + last, dwords);
  }
  const step = i32x4.splat(delta);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const at = i32x4.add(v128.load(lows + o), step), active = i32x4.bitmask(v128.load(w + o, WAVE_EXEC_MASKS));
    if (dwords == 1 && active == 15) {
      const x = v128.load(s + o);
      v128.store_lane<u32>(i32x4.extract_lane(at, 0), x, 0);
      v128.store_lane<u32>(i32x4.extract_lane(at, 1), x, 1);
      v128.store_lane<u32>(i32x4.extract_lane(at, 2), x, 2);
      v128.store_lane<u32>(i32x4.extract_lane(at, 3), x, 3);
      continue;
    }
    if (active & 1) storeLane(i32x4.extract_lane(at, 0), s + o, dwords);
    if (active & 2) storeLane(i32x4.extract_lane(at, 1), s + o + 4, dwords);
    if (active & 4) storeLane(i32x4.extract_lane(at, 2), s + o + 8, dwords);
    if (active & 8) storeLane(i32x4.extract_lane(at, 3), s + o + 12, dwords);
  }
}
// @ts-ignore: decorator
@inline
function storeLane(to: usize, s: usize, dwords: i32): void {
  store<u32>(to, load<u32>(s));
  for (let i = 1; i < dwords; i++) store<u32>(to + 4 * i, load<u32>(s + i * rowBytes));
}

/** Stores two elements a lane at a constant distance: of each lane that at `delta` comes last, and stays where they are one. */
export function storeTwo(w: usize, s: usize, other: usize, dwords: i32, lows: usize, delta: u32, distance: u32): void {
  const step = i32x4.splat(delta);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const at = i32x4.add(v128.load(lows + o), step), active = i32x4.bitmask(v128.load(w + o, WAVE_EXEC_MASKS));
    if (active & 1) storeBoth(i32x4.extract_lane(at, 0), s + o, other + o, dwords, distance);
    if (active & 2) storeBoth(i32x4.extract_lane(at, 1), s + o + 4, other + o + 4, dwords, distance);
    if (active & 4) storeBoth(i32x4.extract_lane(at, 2), s + o + 8, other + o + 8, dwords, distance);
    if (active & 8) storeBoth(i32x4.extract_lane(at, 3), s + o + 12, other + o + 12, dwords, distance);
  }
}
// @ts-ignore: decorator
@inline
function storeBoth(to: usize, s: usize, other: usize, dwords: i32, distance: u32): void {
  storeLane(to + distance, other, dwords);
  storeLane(to, s, dwords);
}

function storeAdjacent(s: usize, dwords: i32, to: usize): void {
  if (dwords == 1) {
    for (let o: usize = 0; o < 256; o += 16) v128.store(to + o, v128.load(s + o));
  } else if (dwords == 2) {
    for (let o: usize = 0; o < 256; o += 16) {
      const a = v128.load(s + o), b = v128.load(s + o, 256);
      v128.store(to + 2 * o, v128.shuffle<i32>(a, b, 0, 4, 1, 5));
      v128.store(to + 2 * o, v128.shuffle<i32>(a, b, 2, 6, 3, 7), 16);
    }
  } else {
    for (let o: usize = 0; o < 256; o += 16) {
      const at = to + 4 * o, x = v128.load(s + o), y = v128.load(s + o, 256), z = v128.load(s + o, 512), t = v128.load(s + o, 768);
      const xy = lowMixed(x, y), zt = lowMixed(z, t), xyHigh = highMixed(x, y), ztHigh = highMixed(z, t);
      v128.store(at, lowHalves(xy, zt));
      v128.store(at, highHalves(xy, zt), 16);
      v128.store(at, lowHalves(xyHigh, ztHigh), 32);
      v128.store(at, highHalves(xyHigh, ztHigh), 48);
    }
  }
}

/** Copies 1, 2 or a multiple of 4 dwords. */
export function copyDwords(to: usize, from: usize, dwords: u32): void {
  if (dwords == 1) store<u32>(to, load<u32>(from));
  else if (dwords == 2) store<u64>(to, load<u64>(from));
  else for (let o: usize = 0; o < 4 * dwords; o += 16) v128.store(to + o, v128.load(from + o));
}
