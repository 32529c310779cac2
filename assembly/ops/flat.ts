// Flat memory operations (gfx7, gfx8): global memory, and through apertures LDS and scratch.
import {
  FAULT_LDS, FAULT_MEMORY, FAULT_MISALIGNED, FLAG_GLC, FLAG_TFE, FAULT_UNSUPPORTED, MACHINE_PRIVATE_APERTURE, MACHINE_SHARED_APERTURE, RECORD_DST, RECORD_FLAGS, RECORD_IMM,
  RECORD_SRC0, RECORD_SRC1, WAVE_EXEC_MASKS, WAVE_LDS, WAVE_LDS_BYTES, WAVE_MACHINE, WAVE_SCRATCH_BASE, WAVE_SCRATCH_LANE_BYTES,
} from '../generated/layout';
import {
  ADD, AND, atomicLanes, CMPSWAP, DEC, faulted, FCMPSWAP, FMAX, FMIN, INC, loadDwords, loadSmall, locate, locateLanes, OR, SMAX, SMIN,
  spreadDwords, storeDwords, storeSmall, SUB, SWAP, UMAX, UMIN, XOR,
} from '../memory';
import { isUniform, OUTSIDE } from '../rows';
import { ADDRESSES, HIGH, LOW } from '../scratch';
import { exec, fault, rowBytes } from '../state';
import {
  addressesTogether, areAligned, atomicTogether, keepAddresses, loadSmallTogether, loadTogether, SCRATCH_ROW, scratchTogether, storeSmallTogether, storeTogether,
} from '../together';

/** Looks all lanes up, one by one; false after a fault. `bytes` is the size of the access. */
function locateFlat(u: usize, w: usize, bytes: u32, writing: bool, alignment: u32): bool {
  if (load<u16>(u, RECORD_FLAGS) & FLAG_TFE) {
    fault(w, FAULT_UNSUPPORTED, -1, 0, 0);
    return false;
  }
  const low = w + load<u32>(u, RECORD_SRC0), high = low + rowBytes, machine = load<u32>(w, WAVE_MACHINE);
  const offset = i32x4.splat(load<i32>(u, RECORD_IMM)), sign = i32x4.splat(load<i32>(u, RECORD_IMM) >> 31);
  const shared = i32x4.splat(load<u32>(machine, MACHINE_SHARED_APERTURE)), own = i32x4.splat(load<u32>(machine, MACHINE_PRIVATE_APERTURE));
  let apertures = i32x4.splat(0);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const before = v128.load(low + o), at = i32x4.add(before, offset);
    const carry = i32x4.lt_u(at, before); // all ones is -1
    const top = i32x4.sub(i32x4.add(v128.load(high + o), sign), carry);
    v128.store(LOW + o, at);
    v128.store(HIGH + o, top);
    apertures = v128.or(apertures, v128.and(v128.or(i32x4.eq(top, shared), i32x4.eq(top, own)), v128.load(w + o, WAVE_EXEC_MASKS)));
  }
  const dwords = (bytes + 3) >> 2;
  if (v128.any_true(apertures)) return locateInApertures(w, bytes, dwords, writing, alignment);
  if (!locateLanes(w, bytes, writing, alignment)) return false;
  spreadDwords(dwords);
  return true;
}

/** Lane by lane, some in LDS or scratch. */
function locateInApertures(w: usize, bytes: u32, dwords: i32, writing: bool, alignment: u32): bool {
  const machine = load<u32>(w, WAVE_MACHINE);
  const shared = load<u32>(machine, MACHINE_SHARED_APERTURE), own = load<u32>(machine, MACHINE_PRIVATE_APERTURE);
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const lane = <i32>ctz(lanes), o = <usize>lane << 2, low = load<u32>(LOW + o), high = load<u32>(HIGH + o);
    if (high == own) {
      if (!locateInScratch(w, lane, low, bytes, dwords, writing, alignment)) return false;
      continue;
    }
    const inLds = high == shared, address = inLds ? <u64>low : <u64>high << 32 | low;
    const host = inLds ? (address + bytes <= <u64>load<u32>(w, WAVE_LDS_BYTES) ? load<u32>(w, WAVE_LDS) + low : 0) : locate(w, address, bytes, writing);
    if (host == 0) return faulted(w, inLds ? FAULT_LDS : FAULT_MEMORY, lane, address, bytes);
    if (low & (alignment - 1)) return faulted(w, FAULT_MISALIGNED, lane, address, bytes);
    for (let i = 0; i < dwords; i++) store<u32>(ADDRESSES + 256 * i + o, host + 4 * i);
  }
  return true;
}
/** The dwords of 64 lanes are side by side, so nothing may cross dwords, and there are no 64-bit atomics. */
function locateInScratch(w: usize, lane: i32, low: u32, bytes: u32, dwords: i32, writing: bool, alignment: u32): bool {
  const address = <u64>load<u32>(HIGH + (<usize>lane << 2)) << 32 | low, part = min(bytes, <u32>4);
  if (<u64>low + bytes > <u64>load<u32>(w, WAVE_SCRATCH_LANE_BYTES)) return faulted(w, FAULT_MEMORY, lane, address, bytes);
  if ((low & 3) + part > 4 || alignment > 4) return faulted(w, FAULT_MISALIGNED, lane, address, bytes);
  for (let i = 0; i < dwords; i++) {
    const at = load<u64>(w, WAVE_SCRATCH_BASE) + (<u64>(low >> 2) + i) * SCRATCH_ROW + 4 * lane + (low & 3), host = locate(w, at, part, writing);
    if (host == 0) return faulted(w, FAULT_MEMORY, lane, at, part);
    store<u32>(ADDRESSES + 256 * i + (<usize>lane << 2), host);
  }
  return true;
}

function data(u: usize, w: usize): usize { return w + load<u32>(u, RECORD_SRC1); }
function destination(u: usize, w: usize): usize { return w + load<u32>(u, RECORD_DST); }

/** How the addresses lie that are all in global memory or all in scratch (see together.ts); OUTSIDE where that takes a closer look. */
function together(u: usize, w: usize, bytes: u32, writing: bool): i32 {
  if (load<u16>(u, RECORD_FLAGS) & FLAG_TFE || load<u32>(u, RECORD_IMM) != 0 || exec(w) == 0) return OUTSIDE;
  const lows = w + load<u32>(u, RECORD_SRC0), highs = lows + rowBytes, own = load<u32>(load<u32>(w, WAVE_MACHINE), MACHINE_PRIVATE_APERTURE);
  if (load<u32>(highs + (<usize>ctz(exec(w)) << 2)) != own) return addressesTogether(u, w, lows, highs, bytes, writing);
  const room = load<u32>(w, WAVE_SCRATCH_LANE_BYTES);
  if (room < bytes || !isUniform(w, highs, own)) return OUTSIDE;
  return scratchTogether(u, w, load<u64>(w, WAVE_SCRATCH_BASE), lows, 0, room - bytes, bytes, writing);
}
function loads(u: usize, w: usize, dwords: i32): void {
  const how = together(u, w, 4 * dwords, false);
  if (how != OUTSIDE) loadTogether(w, destination(u, w), dwords, how);
  else if (locateFlat(u, w, 4 * dwords, false, 1)) loadDwords(w, destination(u, w), dwords);
}
function loadsSmall(u: usize, w: usize, bits: i32, signed: bool): void {
  const how = together(u, w, bits >> 3, false);
  if (how != OUTSIDE) loadSmallTogether(w, destination(u, w), bits, signed, how);
  else if (locateFlat(u, w, bits >> 3, false, 1)) loadSmall(w, destination(u, w), bits, signed);
}
function stores(u: usize, w: usize, dwords: i32): void {
  const how = together(u, w, 4 * dwords, true);
  if (how != OUTSIDE) storeTogether(w, data(u, w), dwords, how);
  else if (locateFlat(u, w, 4 * dwords, true, 1)) storeDwords(w, data(u, w), dwords);
}
function storesSmall(u: usize, w: usize, bits: i32): void {
  const how = together(u, w, bits >> 3, true);
  if (how != OUTSIDE) storeSmallTogether(w, data(u, w), bits, how);
  else if (locateFlat(u, w, bits >> 3, true, 1)) storeSmall(w, data(u, w), bits);
}
export function flat_load_ubyte(u: usize, w: usize): void { loadsSmall(u, w, 8, false); }
export function flat_load_sbyte(u: usize, w: usize): void { loadsSmall(u, w, 8, true); }
export function flat_load_ushort(u: usize, w: usize): void { loadsSmall(u, w, 16, false); }
export function flat_load_sshort(u: usize, w: usize): void { loadsSmall(u, w, 16, true); }
export function flat_load_dword(u: usize, w: usize): void { loads(u, w, 1); }
export function flat_load_dwordx2(u: usize, w: usize): void { loads(u, w, 2); }
export function flat_load_dwordx3(u: usize, w: usize): void { loads(u, w, 3); }
export function flat_load_dwordx4(u: usize, w: usize): void { loads(u, w, 4); }
export function flat_store_byte(u: usize, w: usize): void { storesSmall(u, w, 8); }
export function flat_store_short(u: usize, w: usize): void { storesSmall(u, w, 16); }
export function flat_store_dword(u: usize, w: usize): void { stores(u, w, 1); }
export function flat_store_dwordx2(u: usize, w: usize): void { stores(u, w, 2); }
export function flat_store_dwordx3(u: usize, w: usize): void { stores(u, w, 3); }
export function flat_store_dwordx4(u: usize, w: usize): void { stores(u, w, 4); }

/** An atomic; GLC asks for the old value. The compare value of cmpswap follows the data in the register pair. */
function atomic(u: usize, w: usize, op: i32, wide: bool): void {
  const bytes: u32 = wide ? 8 : 4;
  const x = data(u, w), d = load<u16>(u, RECORD_FLAGS) & FLAG_GLC ? destination(u, w) : 0;
  if (together(u, w, bytes, true) != OUTSIDE && areAligned(w, bytes)) {
    if (!wide && atomicTogether(w, op, d, x)) return;
    keepAddresses(1);
  } else if (!locateFlat(u, w, bytes, true, bytes)) return;
  atomicLanes(w, op, wide, d, x, x + (wide ? 2 : 1) * rowBytes, true);
}
export function flat_atomic_swap(u: usize, w: usize): void { atomic(u, w, SWAP, false); }
export function flat_atomic_cmpswap(u: usize, w: usize): void { atomic(u, w, CMPSWAP, false); }
export function flat_atomic_add(u: usize, w: usize): void { atomic(u, w, ADD, false); }
export function flat_atomic_sub(u: usize, w: usize): void { atomic(u, w, SUB, false); }
export function flat_atomic_smin(u: usize, w: usize): void { atomic(u, w, SMIN, false); }
export function flat_atomic_umin(u: usize, w: usize): void { atomic(u, w, UMIN, false); }
export function flat_atomic_smax(u: usize, w: usize): void { atomic(u, w, SMAX, false); }
export function flat_atomic_umax(u: usize, w: usize): void { atomic(u, w, UMAX, false); }
export function flat_atomic_and(u: usize, w: usize): void { atomic(u, w, AND, false); }
export function flat_atomic_or(u: usize, w: usize): void { atomic(u, w, OR, false); }
export function flat_atomic_xor(u: usize, w: usize): void { atomic(u, w, XOR, false); }
export function flat_atomic_inc(u: usize, w: usize): void { atomic(u, w, INC, false); }
export function flat_atomic_dec(u: usize, w: usize): void { atomic(u, w, DEC, false); }
export function flat_atomic_fcmpswap(u: usize, w: usize): void { atomic(u, w, FCMPSWAP, false); }
export function flat_atomic_fmin(u: usize, w: usize): void { atomic(u, w, FMIN, false); }
export function flat_atomic_fmax(u: usize, w: usize): void { atomic(u, w, FMAX, false); }
export function flat_atomic_swap_x2(u: usize, w: usize): void { atomic(u, w, SWAP, true); }
export function flat_atomic_cmpswap_x2(u: usize, w: usize): void { atomic(u, w, CMPSWAP, true); }
export function flat_atomic_add_x2(u: usize, w: usize): void { atomic(u, w, ADD, true); }
export function flat_atomic_sub_x2(u: usize, w: usize): void { atomic(u, w, SUB, true); }
export function flat_atomic_smin_x2(u: usize, w: usize): void { atomic(u, w, SMIN, true); }
export function flat_atomic_umin_x2(u: usize, w: usize): void { atomic(u, w, UMIN, true); }
export function flat_atomic_smax_x2(u: usize, w: usize): void { atomic(u, w, SMAX, true); }
export function flat_atomic_umax_x2(u: usize, w: usize): void { atomic(u, w, UMAX, true); }
export function flat_atomic_and_x2(u: usize, w: usize): void { atomic(u, w, AND, true); }
export function flat_atomic_or_x2(u: usize, w: usize): void { atomic(u, w, OR, true); }
export function flat_atomic_xor_x2(u: usize, w: usize): void { atomic(u, w, XOR, true); }
export function flat_atomic_inc_x2(u: usize, w: usize): void { atomic(u, w, INC, true); }
export function flat_atomic_dec_x2(u: usize, w: usize): void { atomic(u, w, DEC, true); }
export function flat_atomic_fcmpswap_x2(u: usize, w: usize): void { atomic(u, w, FCMPSWAP, true); }
export function flat_atomic_fmin_x2(u: usize, w: usize): void { atomic(u, w, FMIN, true); }
export function flat_atomic_fmax_x2(u: usize, w: usize): void { atomic(u, w, FMAX, true); }
