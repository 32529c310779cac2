// Integer operations on 64-bit operands: shifts, multiply-add, and sums of absolute differences of bytes at four offsets.
import { kindMask, scalarSource64, spread32, spread64, SPREAD_HIGH } from '../fetch';
import {
  KIND_SCALAR, RECORD_DST, RECORD_MODS, RECORD_SRC0, RECORD_SRC1, RECORD_SRC2, WAVE_EXEC_MASKS,
} from '../generated/layout';
import { integerClamp } from '../lib/mode';
import { shiftLeft64, shiftRight64, shiftRightSigned64 } from '../lib/shift';
import { rowBytes } from '../state';

// wasm takes shift counts modulo 64, as the manual does. A chunk shifted by one count needs no lane-by-lane work.
export function v_lshl_b64(value: v128, count: v128): v128 {
  const n = i64x2.extract_lane(count, 0), m = i64x2.extract_lane(count, 1);
  if (n == m) return shiftLeft64(value, <i32>n);
  return i64x2(i64x2.extract_lane(value, 0) << n, i64x2.extract_lane(value, 1) << m);
}
export function v_lshr_b64(value: v128, count: v128): v128 {
  const n = i64x2.extract_lane(count, 0), m = i64x2.extract_lane(count, 1);
  if (n == m) return shiftRight64(value, <i32>n);
  return i64x2(<u64>i64x2.extract_lane(value, 0) >> n, <u64>i64x2.extract_lane(value, 1) >> m);
}
export function v_ashr_i64(value: v128, count: v128): v128 {
  const n = i64x2.extract_lane(count, 0), m = i64x2.extract_lane(count, 1);
  if (n == m) return shiftRightSigned64(value, <i32>n);
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

export function v_qsad_pk_u16_u8(a: v128, b: v128, c: v128): v128 { return sads(a, b, c, false, false); }
export function v_mqsad_pk_u16_u8(a: v128, b: v128, c: v128): v128 { return sads(a, b, c, true, false); }

/** sad4 of two lanes. */
export function sads(a: v128, b: v128, c: v128, masked: bool, saturates: bool): v128 {
  return i64x2(
    sad4(i64x2.extract_lane(a, 0), <u32>i64x2.extract_lane(b, 0), i64x2.extract_lane(c, 0), masked, saturates),
    sad4(i64x2.extract_lane(a, 1), <u32>i64x2.extract_lane(b, 1), i64x2.extract_lane(c, 1), masked, saturates));
}
/** Four sums of 16 bits, of the bytes of `a` from byte 0, 1, 2 and 3 on against those of `b`, each added to a field of `c`. */
function sad4(a: u64, b: u32, c: u64, masked: bool, saturates: bool): u64 {
  let r: u64 = 0;
  for (let k = 0; k < 4; k++) {
    const sum = sad(<u32>(a >> (8 * k)), b, masked) + (<u32>(c >> (16 * k)) & 0xffff);
    r |= <u64>(saturates ? min<u32>(sum, 0xffff) : sum & 0xffff) << (16 * k);
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

/** Four sums of 32 bits; works on rows itself, as no chunk holds 128 bits of four lanes. Of a lane all is read before anything is written. */
export function v_mqsad_u32_u8(u: usize, w: usize): void {
  const kinds = load<u32>(u, RECORD_MODS), d = w + load<u32>(u, RECORD_DST);
  let a = w + load<u32>(u, RECORD_SRC0), aHigh = a + rowBytes, aMask: usize = -1, b = w + load<u32>(u, RECORD_SRC1), bMask: usize = -1;
  if (kinds & kindMask(0)) {
    a = spread64(u, w, 0);
    aHigh = a + SPREAD_HIGH;
    aMask = 0;
  }
  if (kinds & kindMask(1)) {
    b = spread32(u, w, 1);
    bMask = 0;
  }
  for (let o: usize = 0; o < rowBytes; o += 4) {
    if (!load<u32>(w + o, WAVE_EXEC_MASKS)) continue;
    const bytes = <u64>load<u32>(a + (o & aMask)) | (<u64>load<u32>(aHigh + (o & aMask)) << 32), reference = load<u32>(b + (o & bMask));
    const c0 = addend(u, w, o, 0), c1 = addend(u, w, o, 1), c2 = addend(u, w, o, 2), c3 = addend(u, w, o, 3);
    store<u32>(d + o, sumOf(c0, sad(<u32>bytes, reference, true)));
    store<u32>(d + rowBytes + o, sumOf(c1, sad(<u32>(bytes >> 8), reference, true)));
    store<u32>(d + 2 * rowBytes + o, sumOf(c2, sad(<u32>(bytes >> 16), reference, true)));
    store<u32>(d + 3 * rowBytes + o, sumOf(c3, sad(<u32>(bytes >> 24), reference, true)));
  }
}
function sumOf(a: u32, b: u32): u32 {
  const r = a + b;
  return integerClamp && r < a ? u32.MAX_VALUE : r;
}
/** Dword `k` of src2; constants have 64 bits and zeros above. */
function addend(u: usize, w: usize, o: usize, k: u32): u32 {
  const kind = (load<u32>(u, RECORD_MODS) >> 6) & 7, at = load<u32>(u, RECORD_SRC2);
  if (!kind) return load<u32>(w + at + k * rowBytes + o);
  if (kind == KIND_SCALAR) return load<u32>(w + at + 4 * k);
  return k < 2 ? <u32>(scalarSource64(u, w, 2) >> (32 * k)) : 0;
}
