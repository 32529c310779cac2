// Image operations.
import { reportResident } from '../buffer';
import { elementBytes, loadElements, setRaw, storeElements, widths } from '../format';
import { FAULT_UNSUPPORTED, FLAG_GLC, IMM_D16, IMM_DMASK, RECORD_DST, RECORD_FLAGS, RECORD_IMM, RECORD_SRC0 } from '../generated/layout';
import { hasRegisters, imageInfo, locateTexels, readImage, readTexels, selects } from '../image';
import {
  ADD, AND, atomicLanes, CMPSWAP, DEC, FCMPSWAP, FMAX, FMIN, INC, OR, RSUB, SMAX, SMIN, SUB, SWAP, UMAX, UMIN, XOR,
} from '../memory';
import { exec, fault, rowBytes } from '../state';

function dmask(u: usize): u32 { return max<u32>(load<u32>(u, RECORD_IMM) & IMM_DMASK, 1); }
function isD16(u: usize): bool { return (load<u32>(u, RECORD_IMM) & IMM_D16) != 0; }
function data(u: usize, w: usize): usize { return w + load<u32>(u, RECORD_DST); }
function unsupported(w: usize): void { fault(w, FAULT_UNSUPPORTED, -1, 0, 0); }

/** How texels are seen: as the format says, or (_pck) as plain dwords, small ones extended by zeros or (_sgn) their sign. */
const FORMATTED = 0, PACKED = 1, PACKED_SIGNED = 2;

/** A load or store; `mip`: of a level that the address names. */
function access(u: usize, w: usize, mip: bool, seen: i32, writing: bool): void {
  if (!readTexels(u, w)) return;
  if (seen != FORMATTED && (isD16(u) || (seen == PACKED_SIGNED && widths > 0xff))) return unsupported(w);
  const select = seen == FORMATTED ? selects : setRaw(seen == PACKED_SIGNED);
  if (!locateTexels(u, w, mip, writing, min<u32>(elementBytes(), 4))) return;
  if (writing) storeElements(u, w, dmask(u), select, isD16(u));
  else loadElements(u, w, dmask(u), select, isD16(u));
}

/** An atomic; DMASK has a bit for each dword of its data. GLC asks for the old value. */
function atomic(u: usize, w: usize, op: i32): void {
  if (!readTexels(u, w)) return;
  const bytes = elementBytes(), dwords = bytes >> 2, isWhole = widths == 0x20 || widths == 0x2020, all = op == CMPSWAP || op == FCMPSWAP ? 2 * dwords : dwords;
  if (!isWhole || (load<u32>(u, RECORD_IMM) & IMM_DMASK) != <u32>(1 << all) - 1) return unsupported(w);
  if (!locateTexels(u, w, false, true, bytes)) return;
  const x = data(u, w), returns = (load<u16>(u, RECORD_FLAGS) & FLAG_GLC) != 0;
  atomicLanes(w, op, dwords == 2, returns ? x : 0, x, x + dwords * rowBytes, true);
  if (returns) reportResident(u, w, dwords);
}

/** The sizes of the level that the address names. */
export function image_get_resinfo(u: usize, w: usize): void {
  if (!readImage(u, w)) return;
  if (isD16(u)) return unsupported(w);
  if (!hasRegisters(u, w, 1)) return;
  const mask = dmask(u);
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2, level = load<u32>(w + load<u32>(u, RECORD_SRC0) + o);
    let to = data(u, w) + o;
    for (let c: u32 = 0; c < 4; c++) {
      if (!((mask >> c) & 1)) continue;
      store<u32>(to, imageInfo(c, level));
      to += rowBytes;
    }
  }
  reportResident(u, w, popcnt(mask));
}

export function image_load(u: usize, w: usize): void { access(u, w, false, FORMATTED, false); }
export function image_load_mip(u: usize, w: usize): void { access(u, w, true, FORMATTED, false); }
export function image_load_pck(u: usize, w: usize): void { access(u, w, false, PACKED, false); }
export function image_load_pck_sgn(u: usize, w: usize): void { access(u, w, false, PACKED_SIGNED, false); }
export function image_load_mip_pck(u: usize, w: usize): void { access(u, w, true, PACKED, false); }
export function image_load_mip_pck_sgn(u: usize, w: usize): void { access(u, w, true, PACKED_SIGNED, false); }
export function image_store(u: usize, w: usize): void { access(u, w, false, FORMATTED, true); }
export function image_store_mip(u: usize, w: usize): void { access(u, w, true, FORMATTED, true); }
export function image_store_pck(u: usize, w: usize): void { access(u, w, false, PACKED, true); }
export function image_store_mip_pck(u: usize, w: usize): void { access(u, w, true, PACKED, true); }
export function image_atomic_swap(u: usize, w: usize): void { atomic(u, w, SWAP); }
export function image_atomic_cmpswap(u: usize, w: usize): void { atomic(u, w, CMPSWAP); }
export function image_atomic_add(u: usize, w: usize): void { atomic(u, w, ADD); }
export function image_atomic_sub(u: usize, w: usize): void { atomic(u, w, SUB); }
export function image_atomic_rsub(u: usize, w: usize): void { atomic(u, w, RSUB); }
export function image_atomic_smin(u: usize, w: usize): void { atomic(u, w, SMIN); }
export function image_atomic_umin(u: usize, w: usize): void { atomic(u, w, UMIN); }
export function image_atomic_smax(u: usize, w: usize): void { atomic(u, w, SMAX); }
export function image_atomic_umax(u: usize, w: usize): void { atomic(u, w, UMAX); }
export function image_atomic_and(u: usize, w: usize): void { atomic(u, w, AND); }
export function image_atomic_or(u: usize, w: usize): void { atomic(u, w, OR); }
export function image_atomic_xor(u: usize, w: usize): void { atomic(u, w, XOR); }
export function image_atomic_inc(u: usize, w: usize): void { atomic(u, w, INC); }
export function image_atomic_dec(u: usize, w: usize): void { atomic(u, w, DEC); }
export function image_atomic_fcmpswap(u: usize, w: usize): void { atomic(u, w, FCMPSWAP); }
export function image_atomic_fmin(u: usize, w: usize): void { atomic(u, w, FMIN); }
export function image_atomic_fmax(u: usize, w: usize): void { atomic(u, w, FMAX); }
