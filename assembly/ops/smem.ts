// Scalar memory: SMRD on gfx6 and gfx7, SMEM on gfx8.
import { KIND_NONE, MACHINE_TIME, RECORD_DST, RECORD_IMM, RECORD_MODS, RECORD_SRC0, WAVE_MACHINE } from '../generated/layout';
import { scalarSource } from '../fetch';
import { locateScalar } from '../memory';
import { copyDwords } from '../rows';
import { EXEC, refreshExec } from '../state';
import { result64 } from '../lib/scalar';

/** The offset: a constant, or what an SGPR holds (both in bytes). */
function offset(u: usize, w: usize): i64 {
  const kind = (load<u32>(u, RECORD_MODS) >> 3) & 7;
  return kind == KIND_NONE ? <i64>load<i32>(u, RECORD_IMM) : <i64>scalarSource(u, w, 1);
}
/** Addresses are dword addresses: the lowest two bits do not count. */
function address(u: usize, w: usize): u64 {
  return (load<u64>(w + load<u32>(u, RECORD_SRC0)) & ~3) + (offset(u, w) & ~3);
}
function moved(w: usize, to: usize, dwords: u32): void {
  if (to + 4 * dwords > w + EXEC) refreshExec(w);
}

function loadScalars(u: usize, w: usize, dwords: u32): void {
  const from = locateScalar(u, w, address(u, w), 4 * dwords, false);
  if (from == 0) return;
  const to = w + load<u32>(u, RECORD_DST);
  copyDwords(to, from, dwords);
  moved(w, to, dwords);
}
function storeScalars(u: usize, w: usize, dwords: u32): void {
  const to = locateScalar(u, w, address(u, w), 4 * dwords, true);
  if (to != 0) copyDwords(to, w + load<u32>(u, RECORD_DST), dwords);
}
export function s_load_dword(u: usize, w: usize): void { loadScalars(u, w, 1); }
export function s_load_dwordx2(u: usize, w: usize): void { loadScalars(u, w, 2); }
export function s_load_dwordx4(u: usize, w: usize): void { loadScalars(u, w, 4); }
export function s_load_dwordx8(u: usize, w: usize): void { loadScalars(u, w, 8); }
export function s_load_dwordx16(u: usize, w: usize): void { loadScalars(u, w, 16); }
export function s_store_dword(u: usize, w: usize): void { storeScalars(u, w, 1); }
export function s_store_dwordx2(u: usize, w: usize): void { storeScalars(u, w, 2); }
export function s_store_dwordx4(u: usize, w: usize): void { storeScalars(u, w, 4); }

// Buffers: base 47:0, stride 61:48, num_records in dword 2 (of stride bytes each where there is a stride).

/** Bytes of the buffer that the resource at `r` describes. */
function bufferBytes(r: usize): u64 {
  const records = <u64>load<u32>(r, 8), stride = (load<u32>(r, 4) >> 16) & 0x3fff;
  return stride == 0 ? records : records * stride;
}
const BASE_MASK: u64 = 0x0000ffffffffffff;

/** Looks up the dwords that are in range; the others read 0 and are not written. -1 after a fault. */
function dwordsInRange(u: usize, w: usize, dwords: u32): i32 {
  const r = w + load<u32>(u, RECORD_SRC0), bytes = bufferBytes(r), start = <u64>(offset(u, w) & ~3);
  return start >= bytes ? 0 : <i32>min(<u64>dwords, (bytes - start) >> 2);
}
function bufferAddress(u: usize, w: usize): u64 {
  return (load<u64>(w + load<u32>(u, RECORD_SRC0)) & BASE_MASK & ~3) + (offset(u, w) & ~3);
}
function loadBuffer(u: usize, w: usize, dwords: u32): void {
  const count = dwordsInRange(u, w, dwords);
  let from: usize = 0;
  if (count != 0) {
    from = locateScalar(u, w, bufferAddress(u, w), 4 * count, false);
    if (from == 0) return;
  }
  const to = w + load<u32>(u, RECORD_DST);
  memory.copy(to, from, 4 * count);
  memory.fill(to + 4 * count, 0, 4 * (dwords - count));
  moved(w, to, dwords);
}
function storeBuffer(u: usize, w: usize, dwords: u32): void {
  const count = dwordsInRange(u, w, dwords);
  if (count == 0) return;
  const to = locateScalar(u, w, bufferAddress(u, w), 4 * count, true);
  if (to != 0) memory.copy(to, w + load<u32>(u, RECORD_DST), 4 * count);
}
export function s_buffer_load_dword(u: usize, w: usize): void { loadBuffer(u, w, 1); }
export function s_buffer_load_dwordx2(u: usize, w: usize): void { loadBuffer(u, w, 2); }
export function s_buffer_load_dwordx4(u: usize, w: usize): void { loadBuffer(u, w, 4); }
export function s_buffer_load_dwordx8(u: usize, w: usize): void { loadBuffer(u, w, 8); }
export function s_buffer_load_dwordx16(u: usize, w: usize): void { loadBuffer(u, w, 16); }
export function s_buffer_store_dword(u: usize, w: usize): void { storeBuffer(u, w, 1); }
export function s_buffer_store_dwordx2(u: usize, w: usize): void { storeBuffer(u, w, 2); }
export function s_buffer_store_dwordx4(u: usize, w: usize): void { storeBuffer(u, w, 4); }

/** Reads the machine's clock, which ticks once a read so that runs repeat. */
function readTime(u: usize, w: usize): void {
  const machine = load<u32>(w, WAVE_MACHINE), now = load<u64>(machine, MACHINE_TIME);
  store<u64>(machine, now + 1, MACHINE_TIME);
  result64(u, w, now);
}
export function s_memtime(u: usize, w: usize): void { readTime(u, w); }
export function s_memrealtime(u: usize, w: usize): void { readTime(u, w); }

// There are no caches.
export function s_dcache_inv(u: usize, w: usize): void {}
export function s_dcache_inv_vol(u: usize, w: usize): void {}
export function s_dcache_wb(u: usize, w: usize): void {}
export function s_dcache_wb_vol(u: usize, w: usize): void {}
export function s_atc_probe(u: usize, w: usize): void {}
export function s_atc_probe_buffer(u: usize, w: usize): void {}
