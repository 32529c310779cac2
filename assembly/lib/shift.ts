// Shifts of four lanes by counts of their own, which WebAssembly lacks. Counts usually agree: then one shift of the whole vector does.

/** Whether all four lanes are the same. */
// @ts-ignore: decorator
@inline
export function uniform(a: v128): bool {
  return !v128.any_true(v128.xor(a, i32x4.shuffle(a, a, 0, 0, 0, 0)));
}

/** 2^n for each lane's n = count & 31: the byte that holds the bit is found by n's upper bits, the bit in it by the lower ones. */
export function pow2(count: v128): v128 {
  const n = i8x16.shuffle(count, count, 0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
  const bit = i8x16.swizzle(i8x16(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0), v128.and(n, i8x16.splat(7)));
  const byte = i8x16.eq(v128.and(n, i8x16.splat(24)), i8x16(0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24));
  return v128.and(bit, byte);
}

function shlEach(a: v128, count: v128): v128 {
  return i32x4.mul(a, pow2(count));
}

function shrEach(a: v128, count: v128): v128 {
  // a >> n = (a × 2^(31 - n)) >> 31 in 64 bits; 31 - n = ~n in five bits.
  const factor = pow2(v128.not(count));
  const low = i64x2.shr_u(i64x2.extmul_low_i32x4_u(a, factor), 31);
  const high = i64x2.shr_u(i64x2.extmul_high_i32x4_u(a, factor), 31);
  return i32x4.shuffle(low, high, 0, 2, 4, 6);
}

function sarEach(a: v128, count: v128): v128 {
  const sign = i32x4.shr_s(a, 31);
  return v128.xor(shrEach(v128.xor(a, sign), count), sign);
}

/** a << count[4:0] */
// @ts-ignore: decorator
@inline
export function shl(a: v128, count: v128): v128 {
  return uniform(count) ? i32x4.shl(a, i32x4.extract_lane(count, 0)) : shlEach(a, count);
}

/** a >> count[4:0], zeros come in */
// @ts-ignore: decorator
@inline
export function shr(a: v128, count: v128): v128 {
  return uniform(count) ? i32x4.shr_u(a, i32x4.extract_lane(count, 0)) : shrEach(a, count);
}

/** a >> count[4:0], copies of the sign come in */
// @ts-ignore: decorator
@inline
export function sar(a: v128, count: v128): v128 {
  return uniform(count) ? i32x4.shr_s(a, i32x4.extract_lane(count, 0)) : sarEach(a, count);
}

/** The low dword of (high:low) >> count[4:0] */
// @ts-ignore: decorator
@inline
export function funnel(high: v128, low: v128, count: v128): v128 {
  if (uniform(count)) {
    const n = i32x4.extract_lane(count, 0);
    return v128.or(i32x4.shr_u(low, n), i32x4.shl(i32x4.shl(high, 1), ~n));
  }
  return v128.or(shrEach(low, count), shlEach(i32x4.shl(high, 1), v128.not(count)));
}

// 64-bit shifts of all lanes by one count, modulo 64. Translated code uses them where the count is a constant.

// @ts-ignore: decorator
@inline
export function shiftLeft64(value: v128, count: i32): v128 { return i64x2.shl(value, count); }
// @ts-ignore: decorator
@inline
export function shiftRight64(value: v128, count: i32): v128 { return i64x2.shr_u(value, count); }
// @ts-ignore: decorator
@inline
export function shiftRightSigned64(value: v128, count: i32): v128 { return i64x2.shr_s(value, count); }
