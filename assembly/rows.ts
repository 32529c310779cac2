// Registers from and to memory where all active lanes are known to be inside it: the short way of loads and stores, four lanes at a
// time. Lane addresses are the row at `lows`, a register or scratch row, plus a constant.
import { WAVE_EXEC_MASKS } from './generated/layout';
import { put } from './lib/lanes';
import { exec, rowBytes } from './state';

/**
 * How the addresses of the active lanes lie: not all inside; anyhow; all the same; and where all lanes are active, in each four lanes one
 * element behind the other, or in each four all the same.
 */
export const OUTSIDE: i32 = 0, SCATTERED: i32 = 1, EQUAL: i32 = 2, FOURS: i32 = 3, EQUAL_FOURS: i32 = 4;

/** How the active lanes' addresses, the row at `lows`, lie, if they are from `least` to `most`; elements have `bytes` bytes. At least one lane must be active. */
export function arrangement(w: usize, lows: usize, least: u32, most: u32, bytes: u32): i32 {
  const lanes = exec(w), start = i32x4.splat(load<u32>(lows + (<usize>ctz(lanes) << 2)));
  const full = lanes == ~0 && rowBytes == 256, steps = i32x4.mul(i32x4.splat(bytes), i32x4(0, 1, 2, 3));
  let low = start, high = start, apart = i32x4.splat(0), uneven = i32x4.splat(0);
  if (full) {
    for (let o: usize = 0; o < 256; o += 16) {
      const at = v128.load(lows + o), beyond = i32x4.sub(at, i32x4.shuffle(at, at, 0, 0, 0, 0));
      low = i32x4.min_u(low, at);
      high = i32x4.max_u(high, at);
      apart = v128.or(apart, v128.xor(beyond, steps));
      uneven = v128.or(uneven, beyond);
    }
  } else {
    for (let o: usize = 0; o < rowBytes; o += 16) {
      const at = v128.bitselect(v128.load(lows + o), start, v128.load(w + o, WAVE_EXEC_MASKS));
      low = i32x4.min_u(low, at);
      high = i32x4.max_u(high, at);
    }
  }
  if (v128.any_true(v128.or(i32x4.gt_u(high, i32x4.splat(most)), i32x4.lt_u(low, i32x4.splat(least))))) return OUTSIDE;
  if (!v128.any_true(v128.or(v128.xor(low, start), v128.xor(high, start)))) return EQUAL;
  if (!full) return SCATTERED;
  return !v128.any_true(apart) ? FOURS : v128.any_true(uneven) ? SCATTERED : EQUAL_FOURS;
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

/** Whether in all active lanes the row at `at` plus `offset` is a multiple of `alignment`, a power of two. */
export function areMultiples(w: usize, at: usize, offset: u32, alignment: u32): bool {
  const step = i32x4.splat(offset), low = i32x4.splat(alignment - 1);
  let odd = i32x4.splat(0);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    odd = v128.or(odd, v128.and(v128.and(i32x4.add(v128.load(at + o), step), low), v128.load(w + o, WAVE_EXEC_MASKS)));
  }
  return !v128.any_true(odd);
}

/** Loads `dwords` (1 to 4) dwords a lane to the registers at `d`; host addresses are the row at `lows` plus `delta`. */
export function loadRows(w: usize, d: usize, dwords: i32, lows: usize, delta: u32, how: i32): void {
  if (how == EQUAL) return loadEqual(w, d, dwords, load<u32>(lows + (<usize>ctz(exec(w)) << 2)) + delta);
  if (how == FOURS && dwords != 3) return loadFours(d, dwords, lows, delta);
  if (dwords == 1 && exec(w) == ~0) return loadEach(d, lows, delta, how);
  // A lane that is off reads where the first active one does, and keeps its value.
  const safe = i32x4.splat(load<u32>(lows + (<usize>ctz(exec(w)) << 2)) + delta), step = i32x4.splat(delta);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const active = w + o + WAVE_EXEC_MASKS, at = v128.bitselect(i32x4.add(v128.load(lows + o), step), safe, v128.load(active));
    loadFour(d + o, active, dwords, i32x4.extract_lane(at, 0), i32x4.extract_lane(at, 1), i32x4.extract_lane(at, 2), i32x4.extract_lane(at, 3));
  }
}

/** A dword for each of 64 lanes. */
function loadEach(d: usize, lows: usize, delta: u32, how: i32): void {
  if (how == EQUAL_FOURS) {
    for (let o: usize = 0; o < 256; o += 16) v128.store(d + o, v128.load32_splat(load<u32>(lows + o) + delta));
    return;
  }
  for (let o: usize = 0; o < 256; o += 16) {
    const a = load<u32>(lows + o) + delta, b = load<u32>(lows + o, 4) + delta, c = load<u32>(lows + o, 8) + delta, e = load<u32>(lows + o, 12) + delta;
    v128.store(d + o, v128.load_lane<u32>(e, v128.load_lane<u32>(c, v128.load_lane<u32>(b, v128.load_zero<u32>(a), 1), 2), 3));
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

/** 1, 2 or 4 dwords for each of 64 lanes, of four lanes one behind the other. */
function loadFours(d: usize, dwords: i32, lows: usize, delta: u32): void {
  if (dwords == 1) {
    for (let o: usize = 0; o < 256; o += 16) v128.store(d + o, v128.load(load<u32>(lows + o) + delta));
  } else if (dwords == 2) {
    for (let o: usize = 0; o < 256; o += 16) {
      const at = load<u32>(lows + o) + delta, a = v128.load(at), b = v128.load(at, 16);
      v128.store(d + o, v128.shuffle<i32>(a, b, 0, 2, 4, 6));
      v128.store(d + o, v128.shuffle<i32>(a, b, 1, 3, 5, 7), 256);
    }
  } else {
    for (let o: usize = 0; o < 256; o += 16) {
      const at = load<u32>(lows + o) + delta, x = v128.load(at), y = v128.load(at, 16), z = v128.load(at, 32), t = v128.load(at, 48);
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
  if (how == FOURS && dwords != 3) return storeFours(s, dwords, lows, delta);
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

function storeFours(s: usize, dwords: i32, lows: usize, delta: u32): void {
  if (dwords == 1) {
    for (let o: usize = 0; o < 256; o += 16) v128.store(load<u32>(lows + o) + delta, v128.load(s + o));
  } else if (dwords == 2) {
    for (let o: usize = 0; o < 256; o += 16) {
      const to = load<u32>(lows + o) + delta, a = v128.load(s + o), b = v128.load(s + o, 256);
      v128.store(to, v128.shuffle<i32>(a, b, 0, 4, 1, 5));
      v128.store(to, v128.shuffle<i32>(a, b, 2, 6, 3, 7), 16);
    }
  } else {
    for (let o: usize = 0; o < 256; o += 16) {
      const at = load<u32>(lows + o) + delta, x = v128.load(s + o), y = v128.load(s + o, 256), z = v128.load(s + o, 512), t = v128.load(s + o, 768);
      const xy = lowMixed(x, y), zt = lowMixed(z, t), xyHigh = highMixed(x, y), ztHigh = highMixed(z, t);
      v128.store(at, lowHalves(xy, zt));
      v128.store(at, highHalves(xy, zt), 16);
      v128.store(at, lowHalves(xyHigh, ztHigh), 32);
      v128.store(at, highHalves(xyHigh, ztHigh), 48);
    }
  }
}

// --- bytes and halves

/** Loads a byte or two a lane, zero- or sign-extended: `bits` is 8 or 16. */
export function loadSmallRows(w: usize, d: usize, bits: i32, signed: bool, lows: usize, delta: u32, how: i32): void {
  if (bits == 8) {
    if (signed) loadElements<i8>(w, d, lows, delta, how);
    else loadElements<u8>(w, d, lows, delta, how);
  } else if (signed) loadElements<i16>(w, d, lows, delta, how);
  else loadElements<u16>(w, d, lows, delta, how);
}
function loadElements<T>(w: usize, d: usize, lows: usize, delta: u32, how: i32): void {
  if (how == FOURS) {
    for (let o: usize = 0; o < 256; o += 16) v128.store(d + o, loadExtended<T>(load<u32>(lows + o) + delta));
  } else if (how == EQUAL) {
    const x = i32x4.splat(<i32>load<T>(load<u32>(lows + (<usize>ctz(exec(w)) << 2)) + delta));
    for (let o: usize = 0; o < rowBytes; o += 16) put(d + o, w + o + WAVE_EXEC_MASKS, x);
  } else if (exec(w) == ~0) {
    for (let o: usize = 0; o < 256; o += 4) store<i32>(d + o, <i32>load<T>(load<u32>(lows + o) + delta));
  } else {
    for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
      const o = <usize>ctz(lanes) << 2;
      store<i32>(d + o, <i32>load<T>(load<u32>(lows + o) + delta));
    }
  }
}
/** Four elements that follow each other. */
// @ts-ignore: decorator
@inline
function loadExtended<T>(at: usize): v128 {
  if (sizeof<T>() == 2) return v128.load_ext<T>(at);
  const bytes = v128.load_zero<u32>(at);
  return isSigned<T>() ? i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(bytes)) : i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(bytes));
}

/** Stores the low byte or two of each lane, in ascending order. */
export function storeSmallRows(w: usize, s: usize, bits: i32, lows: usize, delta: u32, how: i32): void {
  if (bits == 8) storeElements<u8>(w, s, lows, delta, how);
  else storeElements<u16>(w, s, lows, delta, how);
}
function storeElements<T>(w: usize, s: usize, lows: usize, delta: u32, how: i32): void {
  if (how == FOURS) {
    for (let o: usize = 0; o < 256; o += 16) {
      const to = load<u32>(lows + o) + delta, x = v128.load(s + o);
      if (sizeof<T>() == 1) v128.store_lane<u32>(to, i8x16.shuffle(x, x, 0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
      else v128.store_lane<u64>(to, i16x8.shuffle(x, x, 0, 2, 4, 6, 0, 0, 0, 0), 0);
    }
  } else {
    for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
      const o = <usize>ctz(lanes) << 2;
      store<T>(load<u32>(lows + o) + delta, <T>load<u32>(s + o));
    }
  }
}

/** Copies 1, 2 or a multiple of 4 dwords. */
export function copyDwords(to: usize, from: usize, dwords: u32): void {
  if (dwords == 1) store<u32>(to, load<u32>(from));
  else if (dwords == 2) store<u64>(to, load<u64>(from));
  else for (let o: usize = 0; o < 4 * dwords; o += 16) v128.store(to + o, v128.load(from + o));
}
