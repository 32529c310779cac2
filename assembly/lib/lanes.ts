// Chunks of lanes: four lanes of 32 bits or two of 64. Knows no instruction and no MODE.

/** Writes `r` to the four lanes at `d`; lanes whose exec mask at `e` is zero keep what they had. */
export function put(d: usize, e: usize, r: v128): void {
  v128.store(d, v128.bitselect(r, v128.load(d), v128.load(e)));
}

/** Whether all lanes of the wave that runs are active: then a loop need not merge what it writes. Set with the row of lane masks. */
export let allActive: bool = false;
export function setAllActive(all: bool): void {
  allActive = all;
}

/** Lanes 0 and 1 of two rows of halves as 64-bit lanes. */
export function pairLow(low: v128, high: v128): v128 {
  return i32x4.shuffle(low, high, 0, 4, 1, 5);
}
/** Lanes 2 and 3 of two rows of halves as 64-bit lanes. */
export function pairHigh(low: v128, high: v128): v128 {
  return i32x4.shuffle(low, high, 2, 6, 3, 7);
}
/** The low dwords of four 64-bit lanes. */
export function lows(a: v128, b: v128): v128 {
  return i32x4.shuffle(a, b, 0, 2, 4, 6);
}
/** The high dwords of four 64-bit lanes. */
export function highs(a: v128, b: v128): v128 {
  return i32x4.shuffle(a, b, 1, 3, 5, 7);
}

/** Bits 3:0 of `bits` as four lanes, all ones or zero. */
export function masks4(bits: i32): v128 {
  const lanes = i32x4(1, 2, 4, 8);
  return i32x4.eq(v128.and(i32x4.splat(bits), lanes), lanes);
}
/** Bits 1:0 of `bits` as two 64-bit lanes, all ones or zero. */
export function masks2(bits: i32): v128 {
  const lanes = i32x4(1, 1, 2, 2);
  return i32x4.eq(v128.and(i32x4.splat(bits), lanes), lanes);
}

/** Which bytes of a chunk go to each of its four lanes, for `i8x16.swizzle`, from the lane numbers that they come from. */
export function laneBytes(lanes: v128): v128 {
  return v128.or(i32x4.mul(lanes, i32x4.splat(0x04040404)), i32x4.splat(0x03020100));
}
/** The same for a permutation of quads, two bits a lane. */
export function quadLanes(bits: u32): v128 {
  return laneBytes(i32x4(bits & 3, (bits >> 2) & 3, (bits >> 4) & 3, (bits >> 6) & 3));
}
