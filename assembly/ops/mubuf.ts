// Untyped buffer operations.
import {
  FAULT_LDS, FAULT_UNSUPPORTED, FLAG_GLC, IMM_LDS, RECORD_DST, RECORD_FLAGS, RECORD_IMM, WAVE_FAULT_LANE, WAVE_LDS, WAVE_LDS_BYTES,
} from '../generated/layout';
import { bufferTogether, locateBuffer, reportResident } from '../buffer';
import { loadFormatted, storeFormatted } from '../format';
import {
  ADD, AND, atomicLanes, CMPSWAP, DEC, faulted, FCMPSWAP, FMAX, FMIN, INC, loadDwords, loadSmall, OR, SMAX, SMIN, storeDwords, storeSmall, SUB, SWAP,
  UMAX, UMIN, XOR,
} from '../memory';
import { OUTSIDE } from '../rows';
import { LOADED } from '../scratch';
import { exec, fault, M0_OFFSET, rowBytes } from '../state';
import { loadSmallTogether, loadTogether, storeSmallTogether, storeTogether } from '../together';

function data(u: usize, w: usize): usize { return w + load<u32>(u, RECORD_DST); }
function toLds(u: usize): bool { return (load<u32>(u, RECORD_IMM) & IMM_LDS) != 0; }

/** The LDS bit: a lane's dword is in LDS at M0[15:0] + offset + 4 × lane. */
function ldsStart(u: usize, w: usize): u32 {
  return load<u16>(w, M0_OFFSET) + (load<u32>(u, RECORD_IMM) & 0xfff);
}
/** Looks up `bytes` bytes a lane in the buffer, and sees whether LDS has room; false after the fault of the first lane that has one. */
function locateWithLds(u: usize, w: usize, bytes: u32, writing: bool): bool {
  const start = ldsStart(u, w), located = locateBuffer(u, w, 1, bytes, writing, 1, false);
  const lanes = located ? exec(w) : exec(w) & ((<u64>1 << load<u32>(w, WAVE_FAULT_LANE)) - 1);
  const room = load<u32>(w, WAVE_LDS_BYTES), fit = room < start ? 0 : (room - start) >> 2;
  const beyond = fit > 63 ? 0 : lanes >> fit << fit;
  if (beyond == 0) return located;
  const lane = <u32>ctz(beyond);
  return faulted(w, FAULT_LDS, lane, start + 4 * lane, 4);
}
function moveToLds(u: usize, w: usize): void {
  const to = load<u32>(w, WAVE_LDS) + ldsStart(u, w);
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2;
    store<u32>(to + o, load<u32>(LOADED + o));
  }
}

/** A lane's dword goes from LDS to memory. */
export function buffer_store_lds_dword(u: usize, w: usize): void {
  if (!locateWithLds(u, w, 4, true)) return;
  const from = load<u32>(w, WAVE_LDS) + ldsStart(u, w);
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2;
    store<u32>(LOADED + o, load<u32>(from + o));
  }
  storeDwords(w, LOADED, 1);
}

function loads(u: usize, w: usize, dwords: i32): void {
  if (toLds(u)) {
    if (dwords > 1) return fault(w, FAULT_UNSUPPORTED, -1, 0, 0);
    if (!locateWithLds(u, w, 4, false)) return;
    loadDwords(w, LOADED, 1);
    return moveToLds(u, w);
  }
  const how = bufferTogether(u, w, 4 * dwords, false);
  if (how != OUTSIDE) loadTogether(w, data(u, w), dwords, how);
  else if (locateBuffer(u, w, dwords, 4 * dwords, false, 1, false)) loadDwords(w, data(u, w), dwords);
  else return;
  reportResident(u, w, dwords);
}
function loadsSmall(u: usize, w: usize, bits: i32, signed: bool): void {
  if (toLds(u)) {
    if (!locateWithLds(u, w, bits >> 3, false)) return;
    loadSmall(w, LOADED, bits, signed);
    return moveToLds(u, w);
  }
  const how = bufferTogether(u, w, bits >> 3, false);
  if (how != OUTSIDE) loadSmallTogether(w, data(u, w), bits, signed, how);
  else if (locateBuffer(u, w, 1, bits >> 3, false, 1, false)) loadSmall(w, data(u, w), bits, signed);
  else return;
  reportResident(u, w, 1);
}
function stores(u: usize, w: usize, dwords: i32): void {
  const how = bufferTogether(u, w, 4 * dwords, true);
  if (how != OUTSIDE) storeTogether(w, data(u, w), dwords, how);
  else if (locateBuffer(u, w, dwords, 4 * dwords, true, 1, false)) storeDwords(w, data(u, w), dwords);
}
function storesSmall(u: usize, w: usize, bits: i32): void {
  const how = bufferTogether(u, w, bits >> 3, true);
  if (how != OUTSIDE) storeSmallTogether(w, data(u, w), bits, how);
  else if (locateBuffer(u, w, 1, bits >> 3, true, 1, false)) storeSmall(w, data(u, w), bits);
}
/** An atomic; GLC asks for the old value. The compare value of cmpswap follows the data. */
function atomic(u: usize, w: usize, op: i32, wide: bool): void {
  const bytes: u32 = wide ? 8 : 4;
  if (!locateBuffer(u, w, 1, bytes, true, bytes, true)) return;
  const x = data(u, w);
  atomicLanes(w, op, wide, load<u16>(u, RECORD_FLAGS) & FLAG_GLC ? x : 0, x, x + (wide ? 2 : 1) * rowBytes, true);
}

// There are no caches.
export function buffer_wbinvl1(u: usize, w: usize): void {}
export function buffer_wbinvl1_sc(u: usize, w: usize): void {}
export function buffer_wbinvl1_vol(u: usize, w: usize): void {}

export function buffer_load_ubyte(u: usize, w: usize): void { loadsSmall(u, w, 8, false); }
export function buffer_load_sbyte(u: usize, w: usize): void { loadsSmall(u, w, 8, true); }
export function buffer_load_ushort(u: usize, w: usize): void { loadsSmall(u, w, 16, false); }
export function buffer_load_sshort(u: usize, w: usize): void { loadsSmall(u, w, 16, true); }
export function buffer_load_dword(u: usize, w: usize): void { loads(u, w, 1); }
export function buffer_store_dword(u: usize, w: usize): void { stores(u, w, 1); }
export function buffer_load_dwordx2(u: usize, w: usize): void { loads(u, w, 2); }
export function buffer_store_dwordx2(u: usize, w: usize): void { stores(u, w, 2); }
export function buffer_load_dwordx3(u: usize, w: usize): void { loads(u, w, 3); }
export function buffer_store_dwordx3(u: usize, w: usize): void { stores(u, w, 3); }
export function buffer_load_dwordx4(u: usize, w: usize): void { loads(u, w, 4); }
export function buffer_store_dwordx4(u: usize, w: usize): void { stores(u, w, 4); }
export function buffer_store_byte(u: usize, w: usize): void { storesSmall(u, w, 8); }
export function buffer_store_short(u: usize, w: usize): void { storesSmall(u, w, 16); }
export function buffer_atomic_swap(u: usize, w: usize): void { atomic(u, w, SWAP, false); }
export function buffer_atomic_cmpswap(u: usize, w: usize): void { atomic(u, w, CMPSWAP, false); }
export function buffer_atomic_add(u: usize, w: usize): void { atomic(u, w, ADD, false); }
export function buffer_atomic_sub(u: usize, w: usize): void { atomic(u, w, SUB, false); }
export function buffer_atomic_smin(u: usize, w: usize): void { atomic(u, w, SMIN, false); }
export function buffer_atomic_umin(u: usize, w: usize): void { atomic(u, w, UMIN, false); }
export function buffer_atomic_smax(u: usize, w: usize): void { atomic(u, w, SMAX, false); }
export function buffer_atomic_umax(u: usize, w: usize): void { atomic(u, w, UMAX, false); }
export function buffer_atomic_and(u: usize, w: usize): void { atomic(u, w, AND, false); }
export function buffer_atomic_or(u: usize, w: usize): void { atomic(u, w, OR, false); }
export function buffer_atomic_xor(u: usize, w: usize): void { atomic(u, w, XOR, false); }
export function buffer_atomic_inc(u: usize, w: usize): void { atomic(u, w, INC, false); }
export function buffer_atomic_dec(u: usize, w: usize): void { atomic(u, w, DEC, false); }
export function buffer_atomic_fcmpswap(u: usize, w: usize): void { atomic(u, w, FCMPSWAP, false); }
export function buffer_atomic_fmin(u: usize, w: usize): void { atomic(u, w, FMIN, false); }
export function buffer_atomic_fmax(u: usize, w: usize): void { atomic(u, w, FMAX, false); }
export function buffer_atomic_swap_x2(u: usize, w: usize): void { atomic(u, w, SWAP, true); }
export function buffer_atomic_cmpswap_x2(u: usize, w: usize): void { atomic(u, w, CMPSWAP, true); }
export function buffer_atomic_add_x2(u: usize, w: usize): void { atomic(u, w, ADD, true); }
export function buffer_atomic_sub_x2(u: usize, w: usize): void { atomic(u, w, SUB, true); }
export function buffer_atomic_smin_x2(u: usize, w: usize): void { atomic(u, w, SMIN, true); }
export function buffer_atomic_umin_x2(u: usize, w: usize): void { atomic(u, w, UMIN, true); }
export function buffer_atomic_smax_x2(u: usize, w: usize): void { atomic(u, w, SMAX, true); }
export function buffer_atomic_umax_x2(u: usize, w: usize): void { atomic(u, w, UMAX, true); }
export function buffer_atomic_and_x2(u: usize, w: usize): void { atomic(u, w, AND, true); }
export function buffer_atomic_or_x2(u: usize, w: usize): void { atomic(u, w, OR, true); }
export function buffer_atomic_xor_x2(u: usize, w: usize): void { atomic(u, w, XOR, true); }
export function buffer_atomic_inc_x2(u: usize, w: usize): void { atomic(u, w, INC, true); }
export function buffer_atomic_dec_x2(u: usize, w: usize): void { atomic(u, w, DEC, true); }
export function buffer_atomic_fcmpswap_x2(u: usize, w: usize): void { atomic(u, w, FCMPSWAP, true); }
export function buffer_atomic_fmin_x2(u: usize, w: usize): void { atomic(u, w, FMIN, true); }
export function buffer_atomic_fmax_x2(u: usize, w: usize): void { atomic(u, w, FMAX, true); }

export function buffer_load_format_x(u: usize, w: usize): void { loadFormatted(u, w, 1, false, false); }
export function buffer_store_format_x(u: usize, w: usize): void { storeFormatted(u, w, 1, false, false); }
export function buffer_load_format_xy(u: usize, w: usize): void { loadFormatted(u, w, 2, false, false); }
export function buffer_store_format_xy(u: usize, w: usize): void { storeFormatted(u, w, 2, false, false); }
export function buffer_load_format_xyz(u: usize, w: usize): void { loadFormatted(u, w, 3, false, false); }
export function buffer_store_format_xyz(u: usize, w: usize): void { storeFormatted(u, w, 3, false, false); }
export function buffer_load_format_xyzw(u: usize, w: usize): void { loadFormatted(u, w, 4, false, false); }
export function buffer_store_format_xyzw(u: usize, w: usize): void { storeFormatted(u, w, 4, false, false); }
export function buffer_load_format_d16_x(u: usize, w: usize): void { loadFormatted(u, w, 1, false, true); }
export function buffer_store_format_d16_x(u: usize, w: usize): void { storeFormatted(u, w, 1, false, true); }
export function buffer_load_format_d16_xy(u: usize, w: usize): void { loadFormatted(u, w, 2, false, true); }
export function buffer_store_format_d16_xy(u: usize, w: usize): void { storeFormatted(u, w, 2, false, true); }
export function buffer_load_format_d16_xyz(u: usize, w: usize): void { loadFormatted(u, w, 3, false, true); }
export function buffer_store_format_d16_xyz(u: usize, w: usize): void { storeFormatted(u, w, 3, false, true); }
export function buffer_load_format_d16_xyzw(u: usize, w: usize): void { loadFormatted(u, w, 4, false, true); }
export function buffer_store_format_d16_xyzw(u: usize, w: usize): void { storeFormatted(u, w, 4, false, true); }
