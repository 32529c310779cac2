// What happens to the results of an instruction behind its operation: masks, omod, clamp, SDWA destinations.
import { NO_SDST, RECORD_MODS, RECORD_OP, WAVE_EXEC_MASKS, WAVE_SCALARS } from './generated/layout';
import { OPERANDS } from './generated/operands';
import { highs, lows, pairHigh, pairLow, put } from './lib/lanes';
import { toFloat, toHalf, toHalfRounded } from './lib/half';
import { scaleScalar } from './lib/double';
import { mulRounded } from './lib/float';
import { dx10Clamp, round32, round64 } from './lib/mode';
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

/** Applies omod (1: ×2, 2: ×4, 3: ÷2), clamp and flushing to the rows at `s` and writes the active lanes of `d`. */
export function finishValue(type: u32, omod: u32, clamp: u32, operands: u32, s: usize, d: usize, w: usize): void {
  const factor: f32 = omod == 1 ? 2 : omod == 2 ? 4 : 0.5;
  const e = w + WAVE_EXEC_MASKS, flushes = (operands & OPERANDS_FLUSH) != 0, always = (operands & OPERANDS_FTZ) == OPERANDS_FTZ;
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const x = v128.load(s + o);
    if (type == TYPE_F64) {
      const top = v128.load(s + rowBytes + o), least = i64x2.splat(flushes ? flushResult64 : 0);
      const a = finish64(pairLow(x, top), omod, factor, clamp, least), b = finish64(pairHigh(x, top), omod, factor, clamp, least);
      put(d + o, e + o, lows(a, b));
      put(d + rowBytes + o, e + o, highs(a, b));
    } else if (type == TYPE_F16) {
      put(d + o, e + o, finish16(x, omod, factor, clamp, i32x4.splat(flushes ? flushResult16 : 0)));
    } else {
      put(d + o, e + o, finish32(x, omod, factor, clamp, i32x4.splat(always ? 0x00800000 : flushes ? flushResult32 : 0)));
    }
  }
}

// Clamp: below zero, zero of either sign and (DX10_CLAMP) NaN become +0, above one becomes one.

function finish32(x: v128, omod: u32, factor: f32, clamp: u32, least: v128): v128 {
  let r = x;
  if (omod) {
    const k = f32x4.splat(factor);
    r = v128.bitselect(x, round32 ? mulRounded(x, k, round32) : f32x4.mul(x, k), f32x4.ne(x, x));
  }
  if (clamp) {
    const one = f32x4.splat(1), y = v128.and(r, f32x4.gt(r, f32x4.splat(0)));
    const clamped = v128.bitselect(one, y, f32x4.gt(y, one));
    r = dx10Clamp ? clamped : v128.bitselect(r, clamped, f32x4.ne(r, r));
  }
  return flush32(r, least);
}
function finish64(x: v128, omod: u32, factor: f32, clamp: u32, least: v128): v128 {
  let r = x;
  if (omod) r = v128.bitselect(x, scale64(x, factor), f64x2.ne(x, x));
  if (clamp) {
    const one = f64x2.splat(1), y = v128.and(r, f64x2.gt(r, f64x2.splat(0)));
    const clamped = v128.bitselect(one, y, f64x2.gt(y, one));
    r = dx10Clamp ? clamped : v128.bitselect(r, clamped, f64x2.ne(r, r));
  }
  return flush64(r, least);
}
function scale64(x: v128, factor: f32): v128 {
  if (round64 == 0) return f64x2.mul(x, f64x2.splat(factor));
  const power = factor < 1 ? -1 : <i32>factor >> 1;
  const low = scaleScalar(f64x2.extract_lane(x, 0), power, round64), high = scaleScalar(f64x2.extract_lane(x, 1), power, round64);
  return f64x2.replace_lane(f64x2.splat(low), 1, high);
}
function finish16(x: v128, omod: u32, factor: f32, clamp: u32, least: v128): v128 {
  const isNan = i32x4.gt_s(v128.and(x, i32x4.splat(0x7fff)), i32x4.splat(0x7c00));
  let r = x;
  if (omod) {
    const scaled = f32x4.mul(toFloat(x), f32x4.splat(factor));
    r = v128.bitselect(x, round64 ? toHalfRounded(scaled, round64) : toHalf(scaled), isNan);
  }
  if (clamp) {
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
