// What happens to the results of an instruction behind its operation: masks, omod, clamp, SDWA destinations.
import { NO_SDST, RECORD_MODS, RECORD_OP, WAVE_EXEC_MASKS, WAVE_SCALARS } from './generated/layout';
import { OPERANDS } from './generated/operands';
import { allActive, highs, lows, pairHigh, pairLow, put } from './lib/lanes';
import { toFloat, toHalf, toHalfRounded } from './lib/half';
import { scaleScalar } from './lib/double';
import { mulRounded } from './lib/float';
import { dx10Clamp, flushResults32, flushResults64, ieee, round32, round64 } from './lib/mode';
import { flush16, flush32, flush64 } from './lib/rules';
import { flushResult16, flushResult32, flushResult64, rowBytes, setExec, setScalar64 } from './state';

// A word of OPERANDS: type codes of the sources in 3:0, 7:4 and 11:8, of the value in 15:12, then flags. Written by host/build.
export const TYPE_NONE: u32 = 0, TYPE_F16: u32 = 2, TYPE_F32: u32 = 3, TYPE_F64: u32 = 4, TYPE_I64: u32 = 6;
/** The place of the value's type. */
export const VALUE: i32 = 3;
export const OPERANDS_CMPX: u32 = 1 << 16;
/** Results are flushed as MODE says; with the next bit always. */
export const OPERANDS_FLUSH: u32 = 1 << 17;
export const OPERANDS_FTZ: u32 = 3 << 17;
/** A vector operation, to which VGPR indexing applies. */
export const OPERANDS_VECTOR: u32 = 1 << 19;
/** Vector ALU, memory and export: what MODE's VSKIP leaves out. */
export const OPERANDS_SKIPPED: u32 = 1 << 20;
/** The step reads the destination, though no source says so. */
export const OPERANDS_ACCUMULATES: u32 = 1 << 21;
/** Source 2 is the destination. */
export const OPERANDS_TIED: u32 = 1 << 22;
/** Above: the number of the operation's loop with modifiers (table.ts), 0 where it has none. */
export const OPERANDS_MODIFIED_SHIFT: u32 = 23;

export function typeOf(operands: u32, place: i32): u32 {
  return (operands >> (4 * place)) & 15;
}
export function isFloatType(type: u32): bool {
  return type >= TYPE_F16 && type <= TYPE_F64;
}

export function isWideType(type: u32): bool {
  return type == TYPE_F64 || type == TYPE_I64;
}

/** Writes a mask result to the record's sdst, for v_cmpx to EXEC too. Bits of inactive lanes are 0. */
export function writeMask(u: usize, w: usize, bits: u64): void {
  const sdst = (load<u32>(u, RECORD_MODS) >> 22) & 0xff;
  if (sdst != NO_SDST) setScalar64(w, WAVE_SCALARS + 4 * sdst, bits);
  if (load<u32>(OPERANDS + 4 * load<u16>(u, RECORD_OP)) & OPERANDS_CMPX) setExec(w, bits);
}

// --- omod and clamp. What an instruction's do is a number: omod in 1:0 (1: ×2, 2: ×4, 3: ÷2; 0 where it does not count), clamp in 2.

/** The number of a float result; `type` is its type. */
export function finishOf(mods: u32, type: u32): u32 {
  return type == TYPE_F32 ? finishOf32(mods) : finishOf64(mods);
}
/** OMOD counts where MODE flushes denormal results, and not with IEEE set. */
// @ts-ignore: decorator
@inline
export function finishOf32(mods: u32): u32 {
  return (mods >> 15) & (flushResults32 > ieee ? 7 : 4);
}
// @ts-ignore: decorator
@inline
export function finishOf64(mods: u32): u32 {
  return (mods >> 15) & (flushResults64 > ieee ? 7 : 4);
}
/** By number: what omod multiplies by; what clamp keeps results between; leastSize32. */
const FINISH = memory.data<u32>([
  0x3f800000, 0xff800000, 0x7f800000, 0x00ffffff, 0x40000000, 0xff800000, 0x7f800000, 0x00ffffff,
  0x40800000, 0xff800000, 0x7f800000, 0x00ffffff, 0x3f000000, 0xff800000, 0x7f800000, 0x01ffffff,
  0x3f800000, 0x00000000, 0x3f800000, 0x00ffffff, 0x40000000, 0x00000000, 0x3f800000, 0x00ffffff,
  0x40800000, 0x00000000, 0x3f800000, 0x00ffffff, 0x3f000000, 0x00000000, 0x3f800000, 0x01ffffff,
], 16);
// @ts-ignore: decorator
@inline
function scaleOf(finish: u32): f32 { return load<f32>(FINISH + 16 * finish); }
// @ts-ignore: decorator
@inline
export function factor32(finish: u32): v128 { return v128.load32_splat(FINISH + 16 * finish); }
// @ts-ignore: decorator
@inline
export function lowest32(finish: u32): v128 { return v128.load32_splat(FINISH + 16 * finish, 4); }
// @ts-ignore: decorator
@inline
export function highest32(finish: u32): v128 { return v128.load32_splat(FINISH + 16 * finish, 8); }
// @ts-ignore: decorator
@inline
export function factor64(finish: u32): v128 { return f64x2.promote_low_f32x4(factor32(finish)); }
// @ts-ignore: decorator
@inline
export function lowest64(finish: u32): v128 { return f64x2.promote_low_f32x4(lowest32(finish)); }
// @ts-ignore: decorator
@inline
export function highest64(finish: u32): v128 { return f64x2.promote_low_f32x4(highest32(finish)); }
/** The least magnitude of numbers that are not below `limit`, neither before omod nor behind it. */
// @ts-ignore: decorator
@inline
export function leastMagnitude64(finish: u32, limit: u64): v128 { return i64x2.splat(limit + (<u64>((finish & 3) == 3) << 52)); }
/** The size of numbers, to be compared as unsigned: twice the bits without the sign, less 1. Denormals have the least, zeros the most. */
// @ts-ignore: decorator
@inline
export function size32(x: v128): v128 { return i32x4.add(i32x4.add(x, x), i32x4.splat(-1)); }
/** The least size of numbers that are not below `limit`, the smallest normal number or zero, unless they are zero. */
// @ts-ignore: decorator
@inline
export function sizeOfLimit32(limit: u32): v128 { return i32x4.splat(limit + limit - u32(limit != 0)); }
/** The least size of numbers that are no denormals, neither before omod nor behind it. */
// @ts-ignore: decorator
@inline
export function leastSize32(finish: u32): v128 { return v128.load32_splat(FINISH + 16 * finish, 12); }

/** Applies omod, clamp and flushing to the rows at `s` and writes the active lanes of `d`; `s` is `d`, or scratch. */
export function finishValue(type: u32, finish: u32, operands: u32, s: usize, d: usize, w: usize): void {
  const flushes = (operands & OPERANDS_FLUSH) != 0, always = (operands & OPERANDS_FTZ) == OPERANDS_FTZ, to = allActive ? d : s;
  if (type == TYPE_F64) finishRows64(s, to, finish, i64x2.splat(flushes ? flushResult64 : 0));
  else if (type == TYPE_F16) finishRow16(s, to, finish, i32x4.splat(flushes ? flushResult16 : 0));
  else finishRow32(s, to, finish, i32x4.splat(always ? 0x00800000 : flushes ? flushResult32 : 0));
  if (allActive) return;
  for (let o: usize = 0; o < rowBytes; o += 16) {
    put(d + o, w + o + WAVE_EXEC_MASKS, v128.load(s + o));
    if (type == TYPE_F64) put(d + rowBytes + o, w + o + WAVE_EXEC_MASKS, v128.load(s + rowBytes + o));
  }
}

// Clamp: below zero, zero of either sign and (DX10_CLAMP) NaN become +0, above one becomes one.
// Loops take two chunks at a time where going round costs as much as a chunk.

/** Whether no result is to be rounded but to the nearest, and no NaN is kept by clamp: what remains needs no case. */
// @ts-ignore: decorator
@inline
function isEven(finish: u32, round: i32): bool { return (round == 0 || (finish & 3) == 0) && ((finish & 4) == 0 || dx10Clamp != 0); }

function finishRow32(s: usize, d: usize, finish: u32, least: v128): void {
  if (!isEven(finish, round32)) {
    for (let o: usize = 0; o < rowBytes; o += 16) v128.store(d + o, finish32(v128.load(s + o), finish, least));
    return;
  }
  const k = factor32(finish);
  if (finish & 4) {
    const bottom = i32x4.max_s(i32x4.sub(least, i32x4.splat(1)), i32x4.splat(0));
    for (let o: usize = 0; o < rowBytes; o += 32) {
      v128.store(d + o, clamped32(f32x4.mul(v128.load(s + o), k), bottom));
      v128.store(d + o, clamped32(f32x4.mul(v128.load(s + o, 16), k), bottom), 16);
    }
  } else {
    for (let o: usize = 0; o < rowBytes; o += 32) {
      const x = v128.load(s + o), y = v128.load(s + o, 16);
      v128.store(d + o, v128.bitselect(x, flush32(f32x4.mul(x, k), least), f32x4.ne(x, x)));
      v128.store(d + o, v128.bitselect(y, flush32(f32x4.mul(y, k), least), f32x4.ne(y, y)), 16);
    }
  }
}
/** Clamped, and zero up to `bottom`, the largest number that becomes zero. A NaN, too, is not above that. */
// @ts-ignore: decorator
@inline
function clamped32(x: v128, bottom: v128): v128 { return f32x4.pmin(f32x4.splat(1), v128.and(x, f32x4.gt(x, bottom))); }
// @ts-ignore: decorator
@inline
function clamped64(x: v128, bottom: v128): v128 { return f64x2.pmin(f64x2.splat(1), v128.and(x, f64x2.gt(x, bottom))); }
/** Numbers kept between `low` and `high`. */
// @ts-ignore: decorator
@inline
export function within32(x: v128, low: v128, high: v128): v128 {
  // Of two zeros these choose the first one.
  return f32x4.pmin(high, f32x4.pmax(low, x));
}
// @ts-ignore: decorator
@inline
export function within64(x: v128, low: v128, high: v128): v128 { return f64x2.pmin(high, f64x2.pmax(low, x)); }
/** Any results after omod, clamp and flushing. */
export function finish32(x: v128, finish: u32, least: v128): v128 {
  let r = x;
  if (finish & 3) {
    const k = factor32(finish);
    r = v128.bitselect(x, round32 ? mulRounded(x, k, round32) : f32x4.mul(x, k), f32x4.ne(x, x));
  }
  if (finish & 4) {
    const one = f32x4.splat(1), y = v128.and(r, f32x4.gt(r, f32x4.splat(0)));
    const clamped = v128.bitselect(one, y, f32x4.gt(y, one));
    r = dx10Clamp ? clamped : v128.bitselect(r, clamped, f32x4.ne(r, r));
  }
  return flush32(r, least);
}

function finishRows64(s: usize, d: usize, finish: u32, least: v128): void {
  const omod = finish & 3;
  if ((finish & 4) != 0 && isEven(finish, round64)) {
    const k = factor64(omod), bottom = i64x2.sub(least, i64x2.shr_u(i64x2.neg(least), 63));
    for (let o: usize = 0; o < rowBytes; o += 16) {
      const low = v128.load(s + o), top = v128.load(s + rowBytes + o);
      const a = clamped64(f64x2.mul(pairLow(low, top), k), bottom), b = clamped64(f64x2.mul(pairHigh(low, top), k), bottom);
      v128.store(d + o, lows(a, b));
      v128.store(d + rowBytes + o, highs(a, b));
    }
    return;
  }
  // Without clamp, numbers that are normal before and after omod, and zeros, have its power added to their exponents.
  const power: i32 = omod == 3 ? -1 : <i32>omod, added = i32x4.splat(power << 20), lowest = power < 0 ? 2 : 1, from = i32x4.splat(lowest << 21);
  const range = i32x4.splat(((2047 - max(power, 0) - lowest) << 21) - 1);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const low = v128.load(s + o), top = v128.load(s + rowBytes + o), twice = i32x4.add(top, top);
    const zero = i32x4.eq(v128.or(twice, low), i32x4.splat(0)), simple = v128.or(zero, i32x4.le_u(i32x4.sub(twice, from), range));
    if ((finish & 4) == 0 && i32x4.all_true(simple)) {
      v128.store(d + o, low);
      v128.store(d + rowBytes + o, i32x4.add(top, v128.andnot(added, zero)));
    } else {
      const a = finish64(pairLow(low, top), finish, least), b = finish64(pairHigh(low, top), finish, least);
      v128.store(d + o, lows(a, b));
      v128.store(d + rowBytes + o, highs(a, b));
    }
  }
}
export function finish64(x: v128, finish: u32, least: v128): v128 {
  let r = x;
  if (finish & 3) r = v128.bitselect(x, scale64(x, finish & 3), f64x2.ne(x, x));
  if (finish & 4) {
    const one = f64x2.splat(1), y = v128.and(r, f64x2.gt(r, f64x2.splat(0)));
    const clamped = v128.bitselect(one, y, f64x2.gt(y, one));
    r = dx10Clamp ? clamped : v128.bitselect(r, clamped, f64x2.ne(r, r));
  }
  return flush64(r, least);
}
function scale64(x: v128, omod: u32): v128 {
  if (round64 == 0) return f64x2.mul(x, f64x2.splat(scaleOf(omod)));
  const power = omod == 3 ? -1 : <i32>omod;
  const low = scaleScalar(f64x2.extract_lane(x, 0), power, round64), high = scaleScalar(f64x2.extract_lane(x, 1), power, round64);
  return f64x2.replace_lane(f64x2.splat(low), 1, high);
}

function finishRow16(s: usize, d: usize, finish: u32, least: v128): void {
  // Simple are halves that are normal before and after omod, which adds to their exponents, and zeros. The high halves of lanes are 0.
  const omod = finish & 3, power: i32 = omod == 3 ? -1 : <i32>omod, added = i32x4.splat((power << 10) & 0xffff);
  const from = omod ? i32x4.splat(power < 0 ? 0x800 : 0x400) : least, range = i32x4.sub(i32x4.splat(0x7bff - (max(power, 0) << 10)), from);
  const bottom = i16x8.splat(finish & 4 ? 0 : -0x8000), top = i16x8.splat(finish & 4 ? 0x3c00 : 0x7fff);
  for (let o: usize = 0; o < rowBytes; o += 32) {
    const x = v128.load(s + o), size = v128.and(x, i32x4.splat(0x7fff)), zero = i16x8.eq(size, i16x8.splat(0));
    const y = v128.load(s + o, 16), sizeY = v128.and(y, i32x4.splat(0x7fff)), zeroY = i16x8.eq(sizeY, i16x8.splat(0));
    const simple = v128.or(zero, i16x8.le_u(i16x8.sub(size, from), range)), simpleY = v128.or(zeroY, i16x8.le_u(i16x8.sub(sizeY, from), range));
    if (i8x16.bitmask(v128.and(simple, simpleY)) == 0xffff) {
      // Positive halves are in order as integers, and negative ones below them.
      v128.store(d + o, i16x8.min_s(i16x8.max_s(i16x8.add(x, v128.andnot(added, zero)), bottom), top));
      v128.store(d + o, i16x8.min_s(i16x8.max_s(i16x8.add(y, v128.andnot(added, zeroY)), bottom), top), 16);
    } else {
      v128.store(d + o, finish16(x, finish, least));
      v128.store(d + o, finish16(y, finish, least), 16);
    }
  }
}
export function finish16(x: v128, finish: u32, least: v128): v128 {
  const isNan = i32x4.gt_s(v128.and(x, i32x4.splat(0x7fff)), i32x4.splat(0x7c00));
  let r = x;
  if (finish & 3) {
    const scaled = f32x4.mul(toFloat(x), f32x4.splat(scaleOf(finish)));
    r = v128.bitselect(x, round64 ? toHalfRounded(scaled, round64) : toHalf(scaled), isNan);
  }
  if (finish & 4) {
    // Positive halves compare as integers; bit 15 makes a negative one larger than all of them.
    const negative = i32x4.ge_s(v128.and(r, i32x4.splat(0xffff)), i32x4.splat(0x8000));
    const clamped = v128.andnot(v128.andnot(i32x4.min_s(r, i32x4.splat(0x3c00)), negative), isNan);
    r = dx10Clamp ? clamped : v128.bitselect(r, clamped, isNan);
  }
  return v128.and(flush16(r, least), i32x4.splat(0xffff));
}

/** SDWA: writes the row at `s` to the part of the register at `d` that dst_sel (2:0) names; dst_unused (4:3) says what becomes of the rest. */
export function finishSelected(imm: u32, s: usize, d: usize, w: usize): void {
  const select = imm & 7, unused = (imm >> 3) & 3, e = w + WAVE_EXEC_MASKS;
  const bits = select < 4 ? 8 : 16, low = select < 4 ? 8 * select : 16 * (select & 1);
  const part = select >= 6 ? i32x4.splat(-1) : i32x4.splat(((1 << bits) - 1) << low);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    let r = v128.load(s + o);
    if (select < 6) {
      const x = i32x4.shl(r, low);
      if (unused == 1) r = i32x4.shl(i32x4.shr_s(i32x4.shl(r, 32 - bits), 32 - bits), low);
      else r = v128.bitselect(x, unused == 2 ? v128.load(d + o) : i32x4.splat(0), part);
    }
    put(d + o, e + o, r);
  }
}
