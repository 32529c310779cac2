// Parameter interpolation (CLRX, "GCN ISA VINTRP instructions"): parameters are in the LDS from M0[15:0] on, for each attribute and
// primitive twelve dwords: P0 and P10 of x, y, z and w in turn, then P20 of all four. M0[30:16] tells which quads of lanes begin a new
// primitive; the first one always does. f16 parameters lie two to a dword; `high` picks one (GCN3 manual, V_INTERP_P1LL_F16). What they take
// part in is f32 arithmetic, but in the round mode of f16 (LLVM, SIModeRegister.cpp).
import {
  FAULT_LDS, FAULT_UNSUPPORTED, RECORD_DST, RECORD_IMM, RECORD_MODS, RECORD_SRC0, RECORD_SRC1, WAVE_EXEC_MASKS, WAVE_LDS, WAVE_LDS_BYTES,
} from '../generated/layout';
import { kindMask, spread32 } from '../fetch';
import { toFloat, toHalf, toHalfRounded } from '../lib/half';
import { put } from '../lib/lanes';
import { round32, round64 } from '../lib/mode';
import { anyNan32, flush16, flush32, nan32 } from '../lib/rules';
import { faulted } from '../memory';
import { LANES as FACTORS, LOADED as PARAMETERS, LOW } from '../scratch';
import { exec, fault, flushResult16, flushSource16, M0_OFFSET, rowBytes } from '../state';
import { v_add_f32, v_add_f32_rounded, v_mul_f32, v_mul_f32_rounded } from './vop2';

/** By the source field of v_interp_mov_f32. */
const P10: u32 = 0, P20: u32 = 1, P0: u32 = 2;
const DWORDS: u32 = 12;
/** Bit of imm. */
const HIGH_HALF: u32 = 1 << 8;
// PARAMETERS has the parameter of each active lane, FACTORS a second one.

/** Fills PARAMETERS; false after a fault of the first lane whose parameter is beyond the LDS. */
function readParameters(u: usize, w: usize, which: u32): bool {
  const imm = load<u32>(u, RECORD_IMM), channel = imm & 3, attribute = (imm >> 2) & 63;
  const m0 = load<u32>(w, M0_OFFSET), starts = (m0 >> 16) & 0x7fff;
  const within = which == P20 ? 8 + channel : 2 * channel + (which == P10 ? 1 : 0);
  const first = DWORDS * attribute * (popcnt(starts) + 1) + within;
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const begun = popcnt(starts & ((1 << <u32>(o >> 4)) - 1));
    v128.store(LOW + o, i32x4.splat((m0 & 0xfffc) + 4 * (first + DWORDS * begun)));
  }
  const lds = load<u32>(w, WAVE_LDS), size = <u64>load<u32>(w, WAVE_LDS_BYTES);
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const lane = <i32>ctz(lanes), o = <usize>lane << 2, at = load<u32>(LOW + o);
    if (<u64>at + 4 > size) return faulted(w, FAULT_LDS, lane, at, 4);
    store<u32>(PARAMETERS + o, load<u32>(lds + at));
  }
  return true;
}

/** A denormal becomes a zero of its sign, whatever MODE says, as with v_mad_f32. */
function flushed(x: v128): v128 { return flush32(x, i32x4.splat(0x00800000)); }
function multiply(a: v128, b: v128, round: i32): v128 {
  const r = round == 0 ? v_mul_f32(a, b) : v_mul_f32_rounded(a, b, round);
  return flushed(anyNan32(r) ? nan32(r, a, b, b) : r);
}
function add(a: v128, b: v128, round: i32): v128 {
  const r = round == 0 ? v_add_f32(a, b) : v_add_f32_rounded(a, b, round);
  return flushed(anyNan32(r) ? nan32(r, a, b, b) : r);
}
/** f32 to f16 as a result: rounded, flushed. */
function narrowed(x: v128): v128 {
  return flush16(round64 == 0 ? toHalf(x) : toHalfRounded(x, round64), i32x4.splat(flushResult16));
}

/** Parameters at `a` times coordinates plus the row at `c`, rounded after each step; `half`: and once more, to f16. */
function interpolate(u: usize, w: usize, a: usize, c: usize, round: i32, half: bool): void {
  const d = w + load<u32>(u, RECORD_DST), vector = !(load<u32>(u, RECORD_MODS) & kindMask(0));
  const s = vector ? w + load<u32>(u, RECORD_SRC0) : spread32(u, w, 0), mask: usize = vector ? -1 : 0;
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const product = multiply(flushed(v128.load(a + o)), flushed(v128.load(s + (o & mask))), round);
    const sum = add(product, flushed(v128.load(c + o)), round);
    put(d + o, w + WAVE_EXEC_MASKS + o, half ? narrowed(sum) : sum);
  }
}

/** The halves that the record names of the row at `from`, as f32, with the sign bits `abs` taken away and `neg` turned over. */
function takeHalves(u: usize, from: usize, to: usize, abs: i32, neg: i32): void {
  const shift: i32 = load<u32>(u, RECORD_IMM) & HIGH_HALF ? 16 : 0;
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const x = v128.xor(v128.andnot(i32x4.shr_u(v128.load(from + o), shift), i32x4.splat(abs)), i32x4.splat(neg));
    v128.store(to + o, toFloat(flush16(x, i32x4.splat(flushSource16))));
  }
}
/** Source 1 of the active and all other lanes, in FACTORS. */
function readAddends(u: usize, w: usize): void {
  const vector = !(load<u32>(u, RECORD_MODS) & kindMask(1));
  const s = vector ? w + load<u32>(u, RECORD_SRC1) : spread32(u, w, 1), mask: usize = vector ? -1 : 0;
  for (let o: usize = 0; o < rowBytes; o += 16) v128.store(FACTORS + o, v128.load(s + (o & mask)));
}

export function v_interp_p1_f32(u: usize, w: usize): void {
  if (!readParameters(u, w, P10)) return;
  memory.copy(FACTORS, PARAMETERS, rowBytes);
  if (readParameters(u, w, P0)) interpolate(u, w, FACTORS, PARAMETERS, round32, false);
}
export function v_interp_p2_f32(u: usize, w: usize): void {
  if (readParameters(u, w, P20)) interpolate(u, w, PARAMETERS, w + load<u32>(u, RECORD_DST), round32, false);
}
export function v_interp_p1ll_f16(u: usize, w: usize): void {
  if (!readParameters(u, w, P10)) return;
  takeHalves(u, PARAMETERS, FACTORS, 0, 0);
  if (!readParameters(u, w, P0)) return;
  takeHalves(u, PARAMETERS, PARAMETERS, 0, 0);
  interpolate(u, w, FACTORS, PARAMETERS, round64, false);
}
/** The addend is a parameter, too, though in a register: its type says nothing to the staging of signs. */
export function v_interp_p1lv_f16(u: usize, w: usize): void {
  if (!readParameters(u, w, P10)) return;
  takeHalves(u, PARAMETERS, PARAMETERS, 0, 0);
  readAddends(u, w);
  const mods = load<u32>(u, RECORD_MODS);
  takeHalves(u, FACTORS, FACTORS, (mods >> 10) & 1 ? 0x8000 : 0, (mods >> 13) & 1 ? 0x8000 : 0);
  interpolate(u, w, PARAMETERS, FACTORS, round64, false);
}
export function v_interp_p2_f16(u: usize, w: usize): void {
  if (!readParameters(u, w, P20)) return;
  takeHalves(u, PARAMETERS, PARAMETERS, 0, 0);
  readAddends(u, w);
  interpolate(u, w, PARAMETERS, FACTORS, round64, true);
}
export function v_interp_mov_f32(u: usize, w: usize): void {
  const which = load<u32>(u, RECORD_SRC0);
  if (which > P0) return fault(w, FAULT_UNSUPPORTED, -1, 0, 0);
  if (!readParameters(u, w, which)) return;
  for (let o: usize = 0; o < rowBytes; o += 16) put(w + load<u32>(u, RECORD_DST) + o, w + WAVE_EXEC_MASKS + o, v128.load(PARAMETERS + o));
}
