// LDS and GDS operations.
import {
  FAULT_LDS, FAULT_MISALIGNED, MACHINE_GDS, MACHINE_GDS_BYTES, RECORD_DST, RECORD_IMM, RECORD_SRC0, RECORD_SRC1, RECORD_SRC2, WAVE_EXEC_MASKS, WAVE_LDS, WAVE_LDS_BYTES,
  WAVE_MACHINE,
} from '../generated/layout';
import { laneBytes, put, quadLanes } from '../lib/lanes';
import {
  ADD, AND, atomicLanes, atomicRows, CMPSWAP, DEC, FADD, faulted, FCMPSWAP, FMAX, FMIN, INC, lane64, loadDwords, loadOrZero, loadSmall, MSKOR, OR, RSUB,
  setLane64, SMAX, SMIN, storeDwords, storeSmall, storeUnlessZero, SUB, SWAP, UMAX, UMIN, update32, update64, WRAP, XOR,
} from '../memory';
import { areMultiples, arrangement, loadRows, loadSmallRows, OUTSIDE, storeRows, storeSmallRows, storeTwo } from '../rows';
import { ADDRESSES, LANES, LOADED, LOW, SECOND, sharing } from '../scratch';
import { exec, fault, M0_OFFSET, rowBytes } from '../state';

function destination(u: usize, w: usize): usize { return w + load<u32>(u, RECORD_DST); }
function data0(u: usize, w: usize): usize { return w + load<u32>(u, RECORD_SRC1); }
function data1(u: usize, w: usize): usize { return w + load<u32>(u, RECORD_SRC2); }
/** The 16-bit byte offset of operations with one address. */
function offset16(u: usize): u32 { return load<u32>(u, RECORD_IMM) & 0xffff; }
function isGds(u: usize): bool { return (load<u32>(u, RECORD_IMM) >> 16) != 0; }

/** Writes address register + `offset`, wrapping at 32 bits, to the row at `to`. */
function setAddresses(u: usize, w: usize, to: usize, offset: u32): void {
  const from = w + load<u32>(u, RECORD_SRC0), step = i32x4.splat(offset);
  for (let o: usize = 0; o < rowBytes; o += 16) v128.store(to + o, i32x4.add(v128.load(from + o), step));
}

// Where the addresses of the running instruction count from in host memory, how many bytes there are from there, and how many the
// instruction may see: M0, or in the GDS a part of M0[15:0] bytes at M0[31:16].
let base: usize = 0;
let size: u32 = 0;
let limit: u32 = 0;
/** What stands before the part of the GDS; 0 for LDS. */
let start: u32 = 0;

function readLimits(u: usize, w: usize): void {
  const m0 = load<u32>(w, M0_OFFSET);
  if (!isGds(u)) {
    base = load<u32>(w, WAVE_LDS);
    size = load<u32>(w, WAVE_LDS_BYTES);
    limit = m0;
    start = 0;
    return;
  }
  const machine = load<u32>(w, WAVE_MACHINE), bytes = load<u32>(machine, MACHINE_GDS_BYTES);
  start = m0 >> 16;
  base = load<u32>(machine, MACHINE_GDS) + start;
  size = bytes - min(bytes, start);
  limit = m0 & 0xffff;
}

/**
 * Turns the byte addresses in the row at `from` into host addresses in row `row` of ADDRESSES; false, without a fault, where an active
 * lane's `bytes` bytes are not all inside or not a multiple of `alignment`.
 */
function allInside(w: usize, from: usize, bytes: u32, row: usize, alignment: u32): bool {
  const end = min(size, limit);
  if (end < bytes) return exec(w) == 0;
  const last = i32x4.splat(end - bytes), host = i32x4.splat(base), low = i32x4.splat(alignment - 1), zero = i32x4.splat(start);
  let bad = i32x4.splat(0);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const at = v128.load(from + o);
    bad = v128.or(bad, v128.and(v128.or(i32x4.gt_u(at, last), v128.and(i32x4.add(at, zero), low)), v128.load(w + o, WAVE_EXEC_MASKS)));
    v128.store(ADDRESSES + 256 * row + o, i32x4.add(at, host));
  }
  return !v128.any_true(bad);
}

/** One lane's host address in row `row` of ADDRESSES, 0 where it is beyond what the instruction may see; false after a fault. */
function locateLane(w: usize, lane: i32, from: usize, bytes: u32, row: usize, alignment: u32): bool {
  const o = <usize>lane << 2, at = load<u32>(from + o), end = <u64>at + bytes;
  store<u32>(ADDRESSES + 256 * row + o, end > <u64>limit ? 0 : base + at);
  if (end > <u64>limit) return true;
  if (end > <u64>size) return faulted(w, FAULT_LDS, lane, at + start, bytes);
  return ((at + start) & (alignment - 1)) == 0 || faulted(w, FAULT_MISALIGNED, lane, at + start, bytes);
}

/** Looks up `dwords` dwords at the addresses in LOW into as many rows of ADDRESSES; false after a fault. */
function locateLow(u: usize, w: usize, bytes: u32, alignment: u32): bool {
  readLimits(u, w);
  if (!allInside(w, LOW, bytes, 0, alignment)) {
    for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) if (!locateLane(w, <i32>ctz(lanes), LOW, bytes, 0, alignment)) return false;
  }
  followUp(0, (bytes + 3) >> 2);
  return true;
}
function locateAt(u: usize, w: usize, bytes: u32, alignment: u32): bool {
  setAddresses(u, w, LOW, offset16(u));
  return locateLow(u, w, bytes, alignment);
}
/** The same for two addresses a lane, in LOW and SECOND; the rows of the second ones follow those of the first. */
function locatePair(u: usize, w: usize, dwords: i32, alignment: u32): bool {
  readLimits(u, w);
  const bytes = 4 * dwords, both = allInside(w, LOW, bytes, 0, alignment);
  if (!allInside(w, SECOND, bytes, dwords, alignment) || !both) {
    for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
      const lane = <i32>ctz(lanes);
      if (!locateLane(w, lane, LOW, bytes, 0, alignment) || !locateLane(w, lane, SECOND, bytes, dwords, alignment)) return false;
    }
  }
  followUp(0, dwords);
  followUp(dwords, dwords);
  return true;
}
/** Fills the rows of ADDRESSES behind `row` with the dwords that follow; 0 stays 0. */
function followUp(row: usize, dwords: i32): void {
  const first = ADDRESSES + 256 * row;
  for (let i = 1; i < dwords; i++) {
    const step = i32x4.splat(4 * i);
    for (let o: usize = 0; o < rowBytes; o += 16) {
      const at = v128.load(first + o);
      v128.store(first + 256 * i + o, v128.and(i32x4.add(at, step), i32x4.ne(at, i32x4.splat(0))));
    }
  }
}

/** The two addresses of read2, write2 and wrxchg2: offsets count elements, or 64 of them. */
function locateTwo(u: usize, w: usize, dwords: i32, scale: u32, alignment: u32): bool {
  const imm = load<u32>(u, RECORD_IMM), unit = 4 * dwords * scale;
  setAddresses(u, w, LOW, (imm & 0xff) * unit);
  setAddresses(u, w, SECOND, ((imm >> 8) & 0xff) * unit);
  return locatePair(u, w, dwords, alignment);
}

/**
 * How the active lanes' addresses lie (see rows.ts), if with offsets up to `offset` all of them are in the LDS; OUTSIDE where that takes a
 * closer look.
 */
function together(u: usize, w: usize, bytes: u32, offset: u32): i32 {
  const end = min(load<u32>(w, WAVE_LDS_BYTES), load<u32>(w, M0_OFFSET));
  if (isGds(u) || end < offset + bytes || exec(w) == 0) return OUTSIDE;
  return arrangement(w, addresses(u, w), 0, end - offset - bytes, bytes);
}
function addresses(u: usize, w: usize): usize { return w + load<u32>(u, RECORD_SRC0); }

function read(u: usize, w: usize, dwords: i32): void {
  const offset = offset16(u), how = together(u, w, 4 * dwords, offset);
  if (how != OUTSIDE) loadRows(w, destination(u, w), dwords, addresses(u, w), load<u32>(w, WAVE_LDS) + offset, how);
  else if (locateAt(u, w, 4 * dwords, 1)) loadDwords(w, destination(u, w), dwords);
}
function readSmall(u: usize, w: usize, bits: i32, signed: bool): void {
  const offset = offset16(u), how = together(u, w, bits >> 3, offset);
  if (how != OUTSIDE) loadSmallRows(w, destination(u, w), bits, signed, addresses(u, w), load<u32>(w, WAVE_LDS) + offset, how);
  else if (locateAt(u, w, bits >> 3, 1)) loadSmall(w, destination(u, w), bits, signed);
}
function read2(u: usize, w: usize, dwords: i32, scale: u32): void {
  const imm = load<u32>(u, RECORD_IMM), unit = 4 * dwords * scale, offset = (imm & 0xff) * unit, other = ((imm >> 8) & 0xff) * unit;
  const how = together(u, w, 4 * dwords, max(offset, other));
  if (how == OUTSIDE) {
    if (locateTwo(u, w, dwords, scale, 1)) loadDwords(w, destination(u, w), 2 * dwords);
    return;
  }
  const lows = addresses(u, w), lds = load<u32>(w, WAVE_LDS), d = destination(u, w), second = d + dwords * rowBytes;
  // The half that overwrites the addresses comes last.
  const early = lows - d < <usize>dwords * rowBytes;
  if (!early) loadRows(w, d, dwords, lows, lds + offset, how);
  loadRows(w, second, dwords, lows, lds + other, how);
  if (early) loadRows(w, d, dwords, lows, lds + offset, how);
}
function write(u: usize, w: usize, dwords: i32): void {
  const offset = offset16(u), how = together(u, w, 4 * dwords, offset);
  if (how != OUTSIDE) storeRows(w, data0(u, w), dwords, addresses(u, w), load<u32>(w, WAVE_LDS) + offset, how);
  else if (locateAt(u, w, 4 * dwords, 1)) storeDwords(w, data0(u, w), dwords);
}
function writeSmall(u: usize, w: usize, bits: i32): void {
  const offset = offset16(u), how = together(u, w, bits >> 3, offset);
  if (how != OUTSIDE) storeSmallRows(w, data0(u, w), bits, addresses(u, w), load<u32>(w, WAVE_LDS) + offset, how);
  else if (locateAt(u, w, bits >> 3, 1)) storeSmall(w, data0(u, w), bits);
}
/** With equal addresses in a lane the first data wins, so it is written last. */
function write2(u: usize, w: usize, dwords: i32, scale: u32): void {
  const imm = load<u32>(u, RECORD_IMM), unit = 4 * dwords * scale, offset = (imm & 0xff) * unit, other = ((imm >> 8) & 0xff) * unit;
  const first = data0(u, w), second = data1(u, w);
  if (together(u, w, 4 * dwords, max(offset, other)) != OUTSIDE) {
    return storeTwo(w, first, second, dwords, addresses(u, w), load<u32>(w, WAVE_LDS) + offset, other - offset);
  }
  if (!locateTwo(u, w, dwords, scale, 1)) return;
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2;
    for (let i = 0; i < dwords; i++) storeUnlessZero(load<u32>(ADDRESSES + 256 * (dwords + i) + o), load<u32>(second + i * rowBytes + o));
    for (let i = 0; i < dwords; i++) storeUnlessZero(load<u32>(ADDRESSES + 256 * i + o), load<u32>(first + i * rowBytes + o));
  }
}
/** Exchanges two locations a lane. */
function exchange2(u: usize, w: usize, dwords: i32, scale: u32): void {
  if (!locateTwo(u, w, dwords, scale, 4 * dwords)) return;
  const first = data0(u, w), second = data1(u, w), d = destination(u, w);
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2, a = load<u32>(ADDRESSES + o), b = load<u32>(ADDRESSES + 256 * dwords + o);
    if (dwords == 1) {
      const x = load<u32>(first + o), y = load<u32>(second + o), before = loadOrZero(a), other = loadOrZero(b);
      storeUnlessZero(b, y);
      storeUnlessZero(a, x);
      store<u32>(d + o, before);
      store<u32>(d + rowBytes + o, other);
    } else {
      const x = lane64(first, o), y = lane64(second, o), before = a == 0 ? 0 : load<u64>(a), other = b == 0 ? 0 : load<u64>(b);
      if (b != 0) store<u64>(b, y);
      if (a != 0) store<u64>(a, x);
      setLane64(d, o, before);
      setLane64(d + 2 * rowBytes, o, other);
    }
  }
}
/** An atomic; `x` is the data register, `y` the second one. */
function atomic(u: usize, w: usize, op: i32, wide: bool, returns: bool, x: usize, y: usize): void {
  const bytes: u32 = wide ? 8 : 4, offset = offset16(u), d = returns ? destination(u, w) : 0;
  if (!wide && together(u, w, bytes, offset) != OUTSIDE && areMultiples(w, addresses(u, w), offset, bytes)) {
    if (atomicRows(w, op, d, x, addresses(u, w), load<u32>(w, WAVE_LDS) + offset)) return;
  }
  if (locateAt(u, w, bytes, bytes)) atomicLanes(w, op, wide, d, x, y, isGds(u));
}
function alu(u: usize, w: usize, op: i32, wide: bool, returns: bool): void { atomic(u, w, op, wide, returns, data0(u, w), data1(u, w)); }
/** Compare-and-swap: the first data register is the compare value. */
function compareSwap(u: usize, w: usize, op: i32, wide: bool, returns: bool): void { atomic(u, w, op, wide, returns, data1(u, w), data0(u, w)); }

/**
 * MEM[A] op= MEM[B]: B is A + 4 × a signed 15-bit offset of offset1 and offset0, or, where offset1[7] is set, 4 × A[31:17]
 * (GCN3 manual, DS_ADD_SRC2_U32).
 */
function source2(u: usize, w: usize, op: i32, wide: bool): void {
  const bytes: u32 = wide ? 8 : 4, imm = offset16(u), own = (imm & 0x8000) != 0, from = w + load<u32>(u, RECORD_SRC0);
  const near = i32x4.splat((<i32>(imm << 17) >> 17) << 2);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const register = v128.load(from + o), a = own ? v128.and(register, i32x4.splat(0x1ffff)) : register;
    v128.store(LOW + o, a);
    v128.store(SECOND + o, i32x4.add(a, own ? i32x4.shl(i32x4.shr_s(register, 17), 2) : near));
  }
  const dwords = wide ? 2 : 1;
  if (!locatePair(u, w, dwords, bytes)) return;
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2, a = load<u32>(ADDRESSES + o), b = load<u32>(ADDRESSES + 256 * dwords + o);
    if (a == 0) continue;
    if (wide) update64(op, a, b == 0 ? 0 : load<u64>(b), 0, sharing && isGds(u));
    else update32(op, a, loadOrZero(b), 0, sharing && isGds(u));
  }
}

/** Counts the active lanes up or down at M0[15:0] + offset (GDS: M0[31:16]); all of them get the old value. */
function count(u: usize, w: usize, sign: i32): void {
  if (exec(w) == 0) return;
  readLimits(u, w);
  const at: u32 = (isGds(u) ? 0 : limit & 0xffff) + offset16(u);
  if (<u64>at + 4 > <u64>size) return fault(w, FAULT_LDS, -1, at + start, 4);
  if ((at + start) & 3) return fault(w, FAULT_MISALIGNED, -1, at + start, 4);
  const d = destination(u, w), before = update32(ADD, base + at, sign * <i32>popcnt(exec(w)), 0, sharing && isGds(u));
  for (let o: usize = 0; o < rowBytes; o += 4) if (load<u32>(w + o, WAVE_EXEC_MASKS)) store<u32>(d + o, before);
}
export function ds_append(u: usize, w: usize): void { count(u, w, 1); }
export function ds_consume(u: usize, w: usize): void { count(u, w, -1); }
export function ds_nop(u: usize, w: usize): void {}

/**
 * Exchanges each dword of an aligned pair whose new value has bit 31 set; the bit itself is not stored. The address has 16 bits (AMD's
 * pseudocode of DS_CONDXCHG32_RTN_B64).
 */
export function ds_condxchg32_rtn_b64(u: usize, w: usize): void {
  setAddresses(u, w, LOW, offset16(u));
  for (let o: usize = 0; o < rowBytes; o += 16) v128.store(LOW + o, v128.and(v128.load(LOW + o), i32x4.splat(0xfff8)));
  if (!locateLow(u, w, 8, 8)) return;
  const x = data0(u, w), d = destination(u, w);
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2, low = load<u32>(x + o), high = load<u32>(x + rowBytes + o);
    exchangeIf(load<u32>(ADDRESSES + o), low, d + o);
    exchangeIf(load<u32>(ADDRESSES + 256 + o), high, d + rowBytes + o);
  }
}
function exchangeIf(at: usize, x: u32, d: usize): void {
  const before = loadOrZero(at);
  if (x >> 31) storeUnlessZero(at, x & 0x7fffffff);
  store<u32>(d, before);
}

// --- lanes among themselves; no memory is touched

function commit(u: usize, w: usize): void {
  const d = destination(u, w);
  for (let o: usize = 0; o < rowBytes; o += 16) put(d + o, w + o + WAVE_EXEC_MASKS, v128.load(LANES + o));
}
/** Offset bit 15: quads are permuted by offset[7:0]; else lane = ((lane & offset[4:0]) | offset[9:5]) ^ offset[14:10] among 32. */
export function ds_swizzle_b32(u: usize, w: usize): void {
  const mode = offset16(u), s = addresses(u, w), quads = (mode & 0x8000) != 0;
  // Both change the low two bits of lane numbers alike in all fours, and the others alike in all lanes of a four.
  const inFour = quads ? quadLanes(mode) : swizzledLanes(mode);
  const kept = quads ? 0x70 : (mode & 28) << 2, set = quads ? 0 : (mode >> 3) & 0x70, flipped = quads ? 0 : (mode >> 8) & 0x70;
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const from = (o & 0x80) | (((o & kept) | set) ^ flipped);
    // A lane that is switched off gives 0.
    v128.store(LANES + o, i8x16.swizzle(v128.and(v128.load(s + from), v128.load(w + from, WAVE_EXEC_MASKS)), inFour));
  }
  commit(u, w);
}
/** Which bytes of four lanes go where, if the low bits of lane numbers change as offset[1:0], [6:5] and [11:10] say. */
function swizzledLanes(mode: u32): v128 {
  const lane = i32x4(0, 1, 2, 3), kept = i32x4.splat(mode & 3), set = i32x4.splat((mode >> 5) & 3), flipped = i32x4.splat((mode >> 10) & 3);
  return laneBytes(v128.xor(v128.or(v128.and(lane, kept), set), flipped));
}

/** Pushes: the lane at (address + offset) / 4 gets this lane's data; the highest lane wins. */
export function ds_permute_b32(u: usize, w: usize): void {
  const to = addresses(u, w), s = data0(u, w), offset = offset16(u), last = <u32>(rowBytes >> 2) - 1;
  for (let o: usize = 0; o < rowBytes; o += 8) store<u64>(LANES + o, 0);
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2;
    store<u32>(LANES + ((((load<u32>(to + o) + offset) >> 2) & last) << 2), load<u32>(s + o));
  }
  commit(u, w);
}
/** Pulls: takes the data of the lane at (address + offset) / 4. */
export function ds_bpermute_b32(u: usize, w: usize): void {
  const from = addresses(u, w), offset = offset16(u), last = <u32>(rowBytes >> 2) - 1, masks = w + WAVE_EXEC_MASKS;
  let s = data0(u, w);
  if (exec(w) != ~0) {
    // A lane that is switched off gives 0.
    for (let o: usize = 0; o < rowBytes; o += 16) v128.store(LOADED + o, v128.and(v128.load(s + o), v128.load(masks + o)));
    s = LOADED;
  }
  for (let o: usize = 0; o < rowBytes; o += 4) store<u32>(LANES + o, load<u32>(s + ((((load<u32>(from + o) + offset) >> 2) & last) << 2)));
  commit(u, w);
}

export function ds_read_b32(u: usize, w: usize): void { read(u, w, 1); }
export function ds_write_b32(u: usize, w: usize): void { write(u, w, 1); }
export function ds_read_b64(u: usize, w: usize): void { read(u, w, 2); }
export function ds_write_b64(u: usize, w: usize): void { write(u, w, 2); }
export function ds_read_b96(u: usize, w: usize): void { read(u, w, 3); }
export function ds_write_b96(u: usize, w: usize): void { write(u, w, 3); }
export function ds_read_b128(u: usize, w: usize): void { read(u, w, 4); }
export function ds_write_b128(u: usize, w: usize): void { write(u, w, 4); }
export function ds_read_i8(u: usize, w: usize): void { readSmall(u, w, 8, true); }
export function ds_read_u8(u: usize, w: usize): void { readSmall(u, w, 8, false); }
export function ds_read_i16(u: usize, w: usize): void { readSmall(u, w, 16, true); }
export function ds_read_u16(u: usize, w: usize): void { readSmall(u, w, 16, false); }
export function ds_write_b8(u: usize, w: usize): void { writeSmall(u, w, 8); }
export function ds_write_b16(u: usize, w: usize): void { writeSmall(u, w, 16); }
export function ds_read2_b32(u: usize, w: usize): void { read2(u, w, 1, 1); }
export function ds_write2_b32(u: usize, w: usize): void { write2(u, w, 1, 1); }
export function ds_wrxchg2_rtn_b32(u: usize, w: usize): void { exchange2(u, w, 1, 1); }
export function ds_read2st64_b32(u: usize, w: usize): void { read2(u, w, 1, 64); }
export function ds_write2st64_b32(u: usize, w: usize): void { write2(u, w, 1, 64); }
export function ds_wrxchg2st64_rtn_b32(u: usize, w: usize): void { exchange2(u, w, 1, 64); }
export function ds_wrxchg_rtn_b32(u: usize, w: usize): void { alu(u, w, SWAP, false, true); }
export function ds_read2_b64(u: usize, w: usize): void { read2(u, w, 2, 1); }
export function ds_write2_b64(u: usize, w: usize): void { write2(u, w, 2, 1); }
export function ds_wrxchg2_rtn_b64(u: usize, w: usize): void { exchange2(u, w, 2, 1); }
export function ds_read2st64_b64(u: usize, w: usize): void { read2(u, w, 2, 64); }
export function ds_write2st64_b64(u: usize, w: usize): void { write2(u, w, 2, 64); }
export function ds_wrxchg2st64_rtn_b64(u: usize, w: usize): void { exchange2(u, w, 2, 64); }
export function ds_wrxchg_rtn_b64(u: usize, w: usize): void { alu(u, w, SWAP, true, true); }
export function ds_add_u32(u: usize, w: usize): void { alu(u, w, ADD, false, false); }
export function ds_add_rtn_u32(u: usize, w: usize): void { alu(u, w, ADD, false, true); }
export function ds_add_src2_u32(u: usize, w: usize): void { source2(u, w, ADD, false); }
export function ds_sub_u32(u: usize, w: usize): void { alu(u, w, SUB, false, false); }
export function ds_sub_rtn_u32(u: usize, w: usize): void { alu(u, w, SUB, false, true); }
export function ds_sub_src2_u32(u: usize, w: usize): void { source2(u, w, SUB, false); }
export function ds_rsub_u32(u: usize, w: usize): void { alu(u, w, RSUB, false, false); }
export function ds_rsub_rtn_u32(u: usize, w: usize): void { alu(u, w, RSUB, false, true); }
export function ds_rsub_src2_u32(u: usize, w: usize): void { source2(u, w, RSUB, false); }
export function ds_inc_u32(u: usize, w: usize): void { alu(u, w, INC, false, false); }
export function ds_inc_rtn_u32(u: usize, w: usize): void { alu(u, w, INC, false, true); }
export function ds_inc_src2_u32(u: usize, w: usize): void { source2(u, w, INC, false); }
export function ds_dec_u32(u: usize, w: usize): void { alu(u, w, DEC, false, false); }
export function ds_dec_rtn_u32(u: usize, w: usize): void { alu(u, w, DEC, false, true); }
export function ds_dec_src2_u32(u: usize, w: usize): void { source2(u, w, DEC, false); }
export function ds_min_i32(u: usize, w: usize): void { alu(u, w, SMIN, false, false); }
export function ds_min_rtn_i32(u: usize, w: usize): void { alu(u, w, SMIN, false, true); }
export function ds_min_src2_i32(u: usize, w: usize): void { source2(u, w, SMIN, false); }
export function ds_max_i32(u: usize, w: usize): void { alu(u, w, SMAX, false, false); }
export function ds_max_rtn_i32(u: usize, w: usize): void { alu(u, w, SMAX, false, true); }
export function ds_max_src2_i32(u: usize, w: usize): void { source2(u, w, SMAX, false); }
export function ds_min_u32(u: usize, w: usize): void { alu(u, w, UMIN, false, false); }
export function ds_min_rtn_u32(u: usize, w: usize): void { alu(u, w, UMIN, false, true); }
export function ds_min_src2_u32(u: usize, w: usize): void { source2(u, w, UMIN, false); }
export function ds_max_u32(u: usize, w: usize): void { alu(u, w, UMAX, false, false); }
export function ds_max_rtn_u32(u: usize, w: usize): void { alu(u, w, UMAX, false, true); }
export function ds_max_src2_u32(u: usize, w: usize): void { source2(u, w, UMAX, false); }
export function ds_and_b32(u: usize, w: usize): void { alu(u, w, AND, false, false); }
export function ds_and_rtn_b32(u: usize, w: usize): void { alu(u, w, AND, false, true); }
export function ds_and_src2_b32(u: usize, w: usize): void { source2(u, w, AND, false); }
export function ds_or_b32(u: usize, w: usize): void { alu(u, w, OR, false, false); }
export function ds_or_rtn_b32(u: usize, w: usize): void { alu(u, w, OR, false, true); }
export function ds_or_src2_b32(u: usize, w: usize): void { source2(u, w, OR, false); }
export function ds_xor_b32(u: usize, w: usize): void { alu(u, w, XOR, false, false); }
export function ds_xor_rtn_b32(u: usize, w: usize): void { alu(u, w, XOR, false, true); }
export function ds_xor_src2_b32(u: usize, w: usize): void { source2(u, w, XOR, false); }
export function ds_mskor_b32(u: usize, w: usize): void { alu(u, w, MSKOR, false, false); }
export function ds_mskor_rtn_b32(u: usize, w: usize): void { alu(u, w, MSKOR, false, true); }
export function ds_min_f32(u: usize, w: usize): void { alu(u, w, FMIN, false, false); }
export function ds_min_rtn_f32(u: usize, w: usize): void { alu(u, w, FMIN, false, true); }
export function ds_min_src2_f32(u: usize, w: usize): void { source2(u, w, FMIN, false); }
export function ds_max_f32(u: usize, w: usize): void { alu(u, w, FMAX, false, false); }
export function ds_max_rtn_f32(u: usize, w: usize): void { alu(u, w, FMAX, false, true); }
export function ds_max_src2_f32(u: usize, w: usize): void { source2(u, w, FMAX, false); }
export function ds_cmpst_b32(u: usize, w: usize): void { compareSwap(u, w, CMPSWAP, false, false); }
export function ds_cmpst_rtn_b32(u: usize, w: usize): void { compareSwap(u, w, CMPSWAP, false, true); }
export function ds_cmpst_f32(u: usize, w: usize): void { compareSwap(u, w, FCMPSWAP, false, false); }
export function ds_cmpst_rtn_f32(u: usize, w: usize): void { compareSwap(u, w, FCMPSWAP, false, true); }
export function ds_write_src2_b32(u: usize, w: usize): void { source2(u, w, SWAP, false); }
export function ds_add_u64(u: usize, w: usize): void { alu(u, w, ADD, true, false); }
export function ds_add_rtn_u64(u: usize, w: usize): void { alu(u, w, ADD, true, true); }
export function ds_add_src2_u64(u: usize, w: usize): void { source2(u, w, ADD, true); }
export function ds_sub_u64(u: usize, w: usize): void { alu(u, w, SUB, true, false); }
export function ds_sub_rtn_u64(u: usize, w: usize): void { alu(u, w, SUB, true, true); }
export function ds_sub_src2_u64(u: usize, w: usize): void { source2(u, w, SUB, true); }
export function ds_rsub_u64(u: usize, w: usize): void { alu(u, w, RSUB, true, false); }
export function ds_rsub_rtn_u64(u: usize, w: usize): void { alu(u, w, RSUB, true, true); }
export function ds_rsub_src2_u64(u: usize, w: usize): void { source2(u, w, RSUB, true); }
export function ds_inc_u64(u: usize, w: usize): void { alu(u, w, INC, true, false); }
export function ds_inc_rtn_u64(u: usize, w: usize): void { alu(u, w, INC, true, true); }
export function ds_inc_src2_u64(u: usize, w: usize): void { source2(u, w, INC, true); }
export function ds_dec_u64(u: usize, w: usize): void { alu(u, w, DEC, true, false); }
export function ds_dec_rtn_u64(u: usize, w: usize): void { alu(u, w, DEC, true, true); }
export function ds_dec_src2_u64(u: usize, w: usize): void { source2(u, w, DEC, true); }
export function ds_min_i64(u: usize, w: usize): void { alu(u, w, SMIN, true, false); }
export function ds_min_rtn_i64(u: usize, w: usize): void { alu(u, w, SMIN, true, true); }
export function ds_min_src2_i64(u: usize, w: usize): void { source2(u, w, SMIN, true); }
export function ds_max_i64(u: usize, w: usize): void { alu(u, w, SMAX, true, false); }
export function ds_max_rtn_i64(u: usize, w: usize): void { alu(u, w, SMAX, true, true); }
export function ds_max_src2_i64(u: usize, w: usize): void { source2(u, w, SMAX, true); }
export function ds_min_u64(u: usize, w: usize): void { alu(u, w, UMIN, true, false); }
export function ds_min_rtn_u64(u: usize, w: usize): void { alu(u, w, UMIN, true, true); }
export function ds_min_src2_u64(u: usize, w: usize): void { source2(u, w, UMIN, true); }
export function ds_max_u64(u: usize, w: usize): void { alu(u, w, UMAX, true, false); }
export function ds_max_rtn_u64(u: usize, w: usize): void { alu(u, w, UMAX, true, true); }
export function ds_max_src2_u64(u: usize, w: usize): void { source2(u, w, UMAX, true); }
export function ds_and_b64(u: usize, w: usize): void { alu(u, w, AND, true, false); }
export function ds_and_rtn_b64(u: usize, w: usize): void { alu(u, w, AND, true, true); }
export function ds_and_src2_b64(u: usize, w: usize): void { source2(u, w, AND, true); }
export function ds_or_b64(u: usize, w: usize): void { alu(u, w, OR, true, false); }
export function ds_or_rtn_b64(u: usize, w: usize): void { alu(u, w, OR, true, true); }
export function ds_or_src2_b64(u: usize, w: usize): void { source2(u, w, OR, true); }
export function ds_xor_b64(u: usize, w: usize): void { alu(u, w, XOR, true, false); }
export function ds_xor_rtn_b64(u: usize, w: usize): void { alu(u, w, XOR, true, true); }
export function ds_xor_src2_b64(u: usize, w: usize): void { source2(u, w, XOR, true); }
export function ds_mskor_b64(u: usize, w: usize): void { alu(u, w, MSKOR, true, false); }
export function ds_mskor_rtn_b64(u: usize, w: usize): void { alu(u, w, MSKOR, true, true); }
export function ds_min_f64(u: usize, w: usize): void { alu(u, w, FMIN, true, false); }
export function ds_min_rtn_f64(u: usize, w: usize): void { alu(u, w, FMIN, true, true); }
export function ds_min_src2_f64(u: usize, w: usize): void { source2(u, w, FMIN, true); }
export function ds_max_f64(u: usize, w: usize): void { alu(u, w, FMAX, true, false); }
export function ds_max_rtn_f64(u: usize, w: usize): void { alu(u, w, FMAX, true, true); }
export function ds_max_src2_f64(u: usize, w: usize): void { source2(u, w, FMAX, true); }
export function ds_cmpst_b64(u: usize, w: usize): void { compareSwap(u, w, CMPSWAP, true, false); }
export function ds_cmpst_rtn_b64(u: usize, w: usize): void { compareSwap(u, w, CMPSWAP, true, true); }
export function ds_cmpst_f64(u: usize, w: usize): void { compareSwap(u, w, FCMPSWAP, true, false); }
export function ds_cmpst_rtn_f64(u: usize, w: usize): void { compareSwap(u, w, FCMPSWAP, true, true); }
export function ds_write_src2_b64(u: usize, w: usize): void { source2(u, w, SWAP, true); }
export function ds_wrap_rtn_b32(u: usize, w: usize): void { alu(u, w, WRAP, false, true); }
export function ds_add_f32(u: usize, w: usize): void { alu(u, w, FADD, false, false); }
export function ds_add_rtn_f32(u: usize, w: usize): void { alu(u, w, FADD, false, true); }
export function ds_add_src2_f32(u: usize, w: usize): void { source2(u, w, FADD, false); }
