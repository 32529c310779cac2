// Integer operations on 64-bit operands: shifts, multiply-add, and sums of absolute differences of bytes at four offsets.

// wasm takes shift counts modulo 64, as the manual does. A chunk shifted by one count needs no lane-by-lane work.
export function v_lshl_b64(value: v128, count: v128): v128 {
  const n = i64x2.extract_lane(count, 0), m = i64x2.extract_lane(count, 1);
  if (n == m) return i64x2.shl(value, <i32>n);
  return i64x2(i64x2.extract_lane(value, 0) << n, i64x2.extract_lane(value, 1) << m);
}
export function v_lshr_b64(value: v128, count: v128): v128 {
  const n = i64x2.extract_lane(count, 0), m = i64x2.extract_lane(count, 1);
  if (n == m) return i64x2.shr_u(value, <i32>n);
  return i64x2(<u64>i64x2.extract_lane(value, 0) >> n, <u64>i64x2.extract_lane(value, 1) >> m);
}
export function v_ashr_i64(value: v128, count: v128): v128 {
  const n = i64x2.extract_lane(count, 0), m = i64x2.extract_lane(count, 1);
  if (n == m) return i64x2.shr_s(value, <i32>n);
  return i64x2(i64x2.extract_lane(value, 0) >> n, i64x2.extract_lane(value, 1) >> m);
}
export function v_lshlrev_b64(count: v128, value: v128): v128 { return v_lshl_b64(value, count); }
export function v_lshrrev_b64(count: v128, value: v128): v128 { return v_lshr_b64(value, count); }
export function v_ashrrev_i64(count: v128, value: v128): v128 { return v_ashr_i64(value, count); }

export function v_mad_u64_u32(a: v128, b: v128, c: v128): v128 {
  return i64x2.add(i64x2.mul(a, b), c);
}
/** The carry out of bit 63. */
export function v_mad_u64_u32_mask(a: v128, b: v128, c: v128): v128 {
  const flip = i64x2.splat(i64.MIN_VALUE);
  return i64x2.lt_s(v128.xor(v_mad_u64_u32(a, b, c), flip), v128.xor(c, flip));
}

export function v_mad_i64_i32(a: v128, b: v128, c: v128): v128 {
  return i64x2.add(i64x2.mul(signed(a), signed(b)), c);
}
/** Bit 64 of the sum of sign-extended terms: its true sign (AMD's pseudocode computes 65 bits; hardware's word is not public). */
export function v_mad_i64_i32_mask(a: v128, b: v128, c: v128): v128 {
  const p = i64x2.mul(signed(a), signed(b)), s = i64x2.add(p, c);
  const overflow = v128.andnot(v128.xor(s, c), v128.xor(p, c));
  return i64x2.shr_s(v128.xor(s, overflow), 63);
}
function signed(x: v128): v128 {
  return i64x2.shr_s(i64x2.shl(x, 32), 32);
}

export function v_qsad_pk_u16_u8(a: v128, b: v128, c: v128): v128 {
  return i64x2(
    sad4(i64x2.extract_lane(a, 0), <u32>i64x2.extract_lane(b, 0), i64x2.extract_lane(c, 0), false),
    sad4(i64x2.extract_lane(a, 1), <u32>i64x2.extract_lane(b, 1), i64x2.extract_lane(c, 1), false));
}
export function v_mqsad_pk_u16_u8(a: v128, b: v128, c: v128): v128 {
  return i64x2(
    sad4(i64x2.extract_lane(a, 0), <u32>i64x2.extract_lane(b, 0), i64x2.extract_lane(c, 0), true),
    sad4(i64x2.extract_lane(a, 1), <u32>i64x2.extract_lane(b, 1), i64x2.extract_lane(c, 1), true));
}

/** Four sums of 16 bits, of the bytes of `a` from byte 0, 1, 2 and 3 on against those of `b`, each added to a field of `c`. */
function sad4(a: u64, b: u32, c: u64, masked: bool): u64 {
  let r: u64 = 0;
  for (let k = 0; k < 4; k++) {
    const sum = sad(<u32>(a >> (8 * k)), b, masked) + (<u32>(c >> (16 * k)) & 0xffff);
    r |= <u64>(sum & 0xffff) << (16 * k);
  }
  return r;
}

/** Sum of absolute differences of four bytes; `masked` leaves out those where the byte of `b`, the reference, is zero. */
function sad(a: u32, b: u32, masked: bool): u32 {
  let sum: u32 = 0;
  for (let k = 0; k < 32; k += 8) {
    const x = <i32>(a >> k) & 0xff, y = <i32>(b >> k) & 0xff;
    if (y != 0 || !masked) sum += abs(x - y);
  }
  return sum;
}
