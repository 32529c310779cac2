// Guest memory, LDS and scratch: guest addresses become host addresses here, or a fault.
//
// Where together.ts does not find all lanes in one place, a vector access works in two steps. First the address of every dword of every active
// lane is looked up and kept in ADDRESSES; one that is nobody's stops the wave before anything happened. Then the lanes load or store, in
// ascending order.
import {
  FAULT_MEMORY, FAULT_MISALIGNED, MACHINE_REGION_COUNT, MACHINE_REGIONS, MACHINE_REGIONS_NUMBER, REGION_BASE, REGION_BYTES, REGION_FLAGS, REGION_HOST, REGION_SIZE,
  WAVE_EXEC_MASKS, WAVE_MACHINE,
} from './generated/layout';
import { ADDRESSES, HIGH, LOW, sharing, SITES } from './scratch';
import { exec, fault, rowBytes } from './state';

// The region that was hit last.
let lastBase: u64 = 0;
let lastSize: u64 = 0;
let lastHost: usize = 0;
let lastFlags: u32 = 0;

/** Number of the table in which they were. */
let table: u32 = 0;

/** Forgets what regions were hit last where `w` has another table: it may have changed between runs. */
export function forgetRegions(w: usize): void {
  const number = load<u32>(load<u32>(w, WAVE_MACHINE), MACHINE_REGIONS_NUMBER);
  if (number != 0 && number == table) return;
  table = number;
  lastSize = 0;
  for (let o: usize = 0; o < 64; o += 8) store<u64>(SITES + o, 0);
}

/** Host address of `bytes` bytes at a guest address, or 0 where they are not all in one region (or not writable). */
export function locate(w: usize, address: u64, bytes: u32, writing: bool): usize {
  const offset = address - lastBase;
  if (offset >= lastSize && !findRegion(w, address)) return 0;
  const inside = address - lastBase;
  if (lastSize - inside < bytes || (writing && !(lastFlags & 1))) return 0;
  return lastHost + <usize>inside;
}

/** The region that holds an address, 0 where there is none. Regions are sorted by address. */
function regionAt(w: usize, address: u64): usize {
  const machine = load<u32>(w, WAVE_MACHINE), regions = load<u32>(machine, MACHINE_REGIONS);
  let low: u32 = 0, high = load<u32>(machine, MACHINE_REGION_COUNT);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u64>(regions + middle * REGION_BYTES, REGION_BASE) <= address) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return 0;
  const region = regions + (low - 1) * REGION_BYTES;
  return address - load<u64>(region, REGION_BASE) < <u64>load<u32>(region, REGION_SIZE) ? region : 0;
}
/** The same for an access of the record `u`: kernels go from buffer to buffer, a record seldom does. */
export function regionOf(u: usize, w: usize, address: u64): usize {
  const site = SITES + ((u >> 3) & 60), last = load<u32>(site);
  if (last != 0 && address - load<u64>(last, REGION_BASE) < <u64>load<u32>(last, REGION_SIZE)) return last;
  const region = regionAt(w, address);
  store<u32>(site, region);
  return region;
}
/** Makes the region that holds an address the last one; false where there is none. */
function findRegion(w: usize, address: u64): bool {
  const region = regionAt(w, address);
  if (region == 0) return false;
  lastBase = load<u64>(region, REGION_BASE);
  lastSize = load<u32>(region, REGION_SIZE);
  lastHost = load<u32>(region, REGION_HOST);
  lastFlags = load<u32>(region, REGION_FLAGS);
  return true;
}

/** Host address of a scalar access; 0 after a fault. */
export function locateScalar(u: usize, w: usize, address: u64, bytes: u32, writing: bool): usize {
  const region = regionOf(u, w, address);
  if (region != 0 && (!writing || load<u32>(region, REGION_FLAGS) & 1)) {
    const inside = <u32>(address - load<u64>(region, REGION_BASE));
    if (load<u32>(region, REGION_SIZE) - inside >= bytes) return load<u32>(region, REGION_HOST) + inside;
  }
  fault(w, FAULT_MEMORY, -1, address, bytes);
  return 0;
}

/**
 * Looks up `bytes` bytes at the guest addresses in LOW and HIGH for all active lanes and writes host addresses to the first row of
 * ADDRESSES; false after a fault. Addresses must be multiples of `alignment`, a power of two.
 */
export function locateLanes(w: usize, bytes: u32, writing: bool, alignment: u32): bool {
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const lane = <i32>ctz(lanes), o = <usize>lane << 2;
    const address = <u64>load<u32>(HIGH + o) << 32 | load<u32>(LOW + o);
    const host = locate(w, address, bytes, writing);
    if (host == 0) return faulted(w, FAULT_MEMORY, lane, address, bytes);
    if (<u32>address & (alignment - 1)) return faulted(w, FAULT_MISALIGNED, lane, address, bytes);
    store<u32>(ADDRESSES + o, host);
  }
  return true;
}

/** Fills rows 1 to `dwords` - 1 of ADDRESSES with what follows on row 0. */
export function spreadDwords(dwords: i32): void {
  for (let i = 1; i < dwords; i++) {
    const step = i32x4.splat(4 * i);
    for (let o: usize = 0; o < rowBytes; o += 16) v128.store(ADDRESSES + 256 * i + o, i32x4.add(v128.load(ADDRESSES + o), step));
  }
}

// --- moving data between the lanes of registers and the addresses in ADDRESSES

/** Loads `dwords` dwords a lane into the registers at `d`. */
export function loadDwords(w: usize, d: usize, dwords: i32): void {
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2;
    for (let i = 0; i < dwords; i++) store<u32>(d + i * rowBytes + o, loadOrZero(load<u32>(ADDRESSES + 256 * i + o)));
  }
}
/** Address 0 is an access that is out of a buffer's range: it reads 0. */
// @ts-ignore: decorator
@inline
export function loadOrZero(address: usize): u32 {
  return address == 0 ? 0 : load<u32>(address);
}
/** And it writes nothing. */
// @ts-ignore: decorator
@inline
export function storeUnlessZero(address: usize, x: u32): void {
  if (address != 0) store<u32>(address, x);
}

/** Loads a byte or two a lane, zero- or sign-extended: `bits` is 8 or 16. */
export function loadSmall(w: usize, d: usize, bits: i32, signed: bool): void {
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2, from = load<u32>(ADDRESSES + o);
    let x: i32 = 0;
    if (from != 0) x = bits == 8 ? (signed ? load<i8>(from) : load<u8>(from)) : signed ? load<i16>(from) : load<u16>(from);
    store<i32>(d + o, x);
  }
}

/** Stores `dwords` dwords a lane from the registers at `s`. */
export function storeDwords(w: usize, s: usize, dwords: i32): void {
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2;
    for (let i = 0; i < dwords; i++) storeUnlessZero(load<u32>(ADDRESSES + 256 * i + o), load<u32>(s + i * rowBytes + o));
  }
}
/** Stores the low byte or two of each lane. */
export function storeSmall(w: usize, s: usize, bits: i32): void {
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2, to = load<u32>(ADDRESSES + o), x = load<u32>(s + o);
    if (to == 0) continue;
    if (bits == 8) store<u8>(to, x);
    else store<u16>(to, x);
  }
}

// --- atomics: what a memory location becomes

export const SWAP = 0, CMPSWAP = 1, ADD = 2, SUB = 3, RSUB = 4, SMIN = 5, UMIN = 6, SMAX = 7, UMAX = 8, AND = 9, OR = 10, XOR = 11, INC = 12,
  DEC = 13, FCMPSWAP = 14, FMIN = 15, FMAX = 16, FADD = 17, MSKOR = 18, WRAP = 19;

// The commoner ones, so that loops can be made of each.
class Swap { @inline of(old: u32, x: u32): u32 { return x; } }
class Add { @inline of(old: u32, x: u32): u32 { return old + x; } }
class Sub { @inline of(old: u32, x: u32): u32 { return old - x; } }
class MinSigned { @inline of(old: u32, x: u32): u32 { return <i32>x < <i32>old ? x : old; } }
class Min { @inline of(old: u32, x: u32): u32 { return x < old ? x : old; } }
class MaxSigned { @inline of(old: u32, x: u32): u32 { return <i32>x > <i32>old ? x : old; } }
class Max { @inline of(old: u32, x: u32): u32 { return x > old ? x : old; } }
class And { @inline of(old: u32, x: u32): u32 { return old & x; } }
class Or { @inline of(old: u32, x: u32): u32 { return old | x; } }
class Xor { @inline of(old: u32, x: u32): u32 { return old ^ x; } }

/** The new value of a location: `x` is the data, `y` the compare value, the second mask or addend where an operation has one. */
export function atomic32(op: i32, old: u32, x: u32, y: u32): u32 {
  switch (op) {
    case SWAP: return changetype<Swap>(0).of(old, x);
    case CMPSWAP: return old == y ? x : old;
    case ADD: return changetype<Add>(0).of(old, x);
    case SUB: return changetype<Sub>(0).of(old, x);
    case RSUB: return x - old;
    case SMIN: return changetype<MinSigned>(0).of(old, x);
    case UMIN: return changetype<Min>(0).of(old, x);
    case SMAX: return changetype<MaxSigned>(0).of(old, x);
    case UMAX: return changetype<Max>(0).of(old, x);
    case AND: return changetype<And>(0).of(old, x);
    case OR: return changetype<Or>(0).of(old, x);
    case XOR: return changetype<Xor>(0).of(old, x);
    case INC: return old >= x ? 0 : old + 1;
    case DEC: return old == 0 || old > x ? x : old - 1;
    case FCMPSWAP: return reinterpret<f32>(old) == reinterpret<f32>(y) ? x : old;
    case FMIN: return reinterpret<f32>(x) < reinterpret<f32>(old) ? x : old;
    case FMAX: return reinterpret<f32>(x) > reinterpret<f32>(old) ? x : old;
    case FADD: return add32(old, x);
    case MSKOR: return (old & ~x) | y;
    case WRAP: return old >= x ? old - x : old + y;
    default: return unreachable();
  }
}
/** Adds as v_add_f32 does, NaNs by operand bits; denormals are kept. */
function add32(a: u32, b: u32): u32 {
  const r = reinterpret<f32>(a) + reinterpret<f32>(b);
  if (r == r) return reinterpret<u32>(r);
  if ((a & 0x7fffffff) > 0x7f800000) return a | 0x00400000;
  return (b & 0x7fffffff) > 0x7f800000 ? b | 0x00400000 : 0x7fc00000;
}

export function atomic64(op: i32, old: u64, x: u64, y: u64): u64 {
  switch (op) {
    case SWAP: return x;
    case CMPSWAP: return old == y ? x : old;
    case ADD: return old + x;
    case SUB: return old - x;
    case RSUB: return x - old;
    case SMIN: return <i64>x < <i64>old ? x : old;
    case UMIN: return x < old ? x : old;
    case SMAX: return <i64>x > <i64>old ? x : old;
    case UMAX: return x > old ? x : old;
    case AND: return old & x;
    case OR: return old | x;
    case XOR: return old ^ x;
    case INC: return old >= x ? 0 : old + 1;
    case DEC: return old == 0 || old > x ? x : old - 1;
    case FCMPSWAP: return reinterpret<f64>(old) == reinterpret<f64>(y) ? x : old;
    case FMIN: return reinterpret<f64>(x) < reinterpret<f64>(old) ? x : old;
    case FMAX: return reinterpret<f64>(x) > reinterpret<f64>(old) ? x : old;
    case MSKOR: return (old & ~x) | y;
    default: return unreachable();
  }
}

/** A 64-bit register pair's lane: `o` is the lane's byte offset in a row. */
export function lane64(row: usize, o: usize): u64 {
  return <u64>load<u32>(row + rowBytes + o) << 32 | load<u32>(row + o);
}
export function setLane64(row: usize, o: usize, x: u64): void {
  store<u32>(row + o, <u32>x);
  store<u32>(row + rowBytes + o, <u32>(x >> 32));
}

/** Lets an operation change a location and gives the value before. `real`: in one step to all instances that share the memory. */
export function update32(op: i32, at: usize, x: u32, y: u32, real: bool): u32 {
  let before = load<u32>(at), found = before;
  if (!real) store<u32>(at, atomic32(op, before, x, y));
  else do {
    before = found;
    found = atomic.cmpxchg<u32>(at, before, atomic32(op, before, x, y));
  } while (found != before);
  return before;
}
export function update64(op: i32, at: usize, x: u64, y: u64, real: bool): u64 {
  let before = load<u64>(at), found = before;
  if (!real) store<u64>(at, atomic64(op, before, x, y));
  else do {
    before = found;
    found = atomic.cmpxchg<u64>(at, before, atomic64(op, before, x, y));
  } while (found != before);
  return before;
}

/**
 * An atomic of all active lanes at ADDRESSES: data at `x`, second operand at `y` (registers), old values to `d` where that is not 0.
 * `global`: other workgroups may be at the same memory.
 */
export function atomicLanes(w: usize, op: i32, wide: bool, d: usize, x: usize, y: usize, global: bool): void {
  const real = global && sharing;
  if (wide) return atomicLanes64(w, op, d, x, y, real);
  if (real && op == ADD && d == 0) return addReally(w, x);
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2, at = load<u32>(ADDRESSES + o);
    const data = load<u32>(x + o), other = load<u32>(y + o), before = at == 0 ? 0 : update32(op, at, data, other, real);
    if (d != 0) store<u32>(d + o, before);
  }
}
function atomicLanes64(w: usize, op: i32, d: usize, x: usize, y: usize, real: bool): void {
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2, at = load<u32>(ADDRESSES + o);
    const data = lane64(x, o), other = lane64(y, o), before = at == 0 ? 0 : update64(op, at, data, other, real);
    if (d != 0) setLane64(d, o, before);
  }
}

/**
 * The same at the addresses that are the row at `lows` plus `delta`, of 32 bits and where no other workgroup is; false, and nothing was done, for
 * operations that have no loop of their own.
 */
export function atomicRows(w: usize, op: i32, d: usize, x: usize, lows: usize, delta: u32): bool {
  switch (op) {
    case SWAP: eachLane<Swap>(w, d, x, lows, delta); return true;
    case ADD: eachLane<Add>(w, d, x, lows, delta); return true;
    case SUB: eachLane<Sub>(w, d, x, lows, delta); return true;
    case SMIN: eachLane<MinSigned>(w, d, x, lows, delta); return true;
    case UMIN: eachLane<Min>(w, d, x, lows, delta); return true;
    case SMAX: eachLane<MaxSigned>(w, d, x, lows, delta); return true;
    case UMAX: eachLane<Max>(w, d, x, lows, delta); return true;
    case AND: eachLane<And>(w, d, x, lows, delta); return true;
    case OR: eachLane<Or>(w, d, x, lows, delta); return true;
    case XOR: eachLane<Xor>(w, d, x, lows, delta); return true;
    default: return false;
  }
}
function eachLane<T>(w: usize, d: usize, x: usize, lows: usize, delta: u32): void {
  for (let o: usize = 0; o < rowBytes; o += 4) {
    if (load<u32>(w + o, WAVE_EXEC_MASKS) == 0) continue;
    const at = load<u32>(lows + o) + delta, before = load<u32>(at);
    store<u32>(at, changetype<T>(0).of(before, load<u32>(x + o)));
    if (d != 0) store<u32>(d + o, before);
  }
}

/** Counting, the commonest atomic, where memory is shared. */
function addReally(w: usize, x: usize): void {
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2, at = load<u32>(ADDRESSES + o);
    if (at != 0) atomic.add<u32>(at, load<u32>(x + o));
  }
}

/** A fault, as the value of a lookup. */
export function faulted(w: usize, code: i32, lane: i32, address: u64, bytes: u32): bool {
  fault(w, code, lane, address, bytes);
  return false;
}
