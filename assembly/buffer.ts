// Addresses of buffer instructions: resource, offsets, swizzling and range checks.
//
//   resource  base 47:0 | stride 61:48 | swizzle 63 | num_records 95:64 | dst_sel 107:96 | nfmt 110:108 | dfmt 114:111
//             | element size 116:115 | index stride 118:117 | add tid 119
//
// Source: GCN3 manual, section 8.1 (the same fields in the Southern and Sea Islands manuals).
import {
  FAULT_MEMORY, FAULT_MISALIGNED, FLAG_TFE, GFX6, GFX8, IMM_ADDR64, IMM_IDXEN, IMM_OFFEN, RECORD_DST, RECORD_FLAGS, RECORD_IMM, RECORD_SRC0,
  RECORD_SRC1, WAVE_EXEC_MASKS,
} from './generated/layout';
import { scalarSource } from './fetch';
import { faulted, locate } from './memory';
import { isUniform, OUTSIDE } from './rows';
import { ADDRESSES, LOW } from './scratch';
import { exec, generation, rowBytes } from './state';
import { areAligned, keepAddresses, offsetsTogether, scratchTogether } from './together';

const BASE_MASK: u64 = 0x0000ffffffffffff;

// The instruction's resource and offsets.
let base: u64 = 0;
let stride: u32 = 0;
let records: u32 = 0;
let swizzled: bool = false;
let addTid: bool = false;
let elementBytes: u32 = 4;
let indexStride: u32 = 64;
let scalarOffset: u32 = 0;
let immediate: u32 = 0;
/** Word 3 of the resource: formats and channel selects. */
export let formatWord: u32 = 0;

/** Reads the instruction's resource and offsets. */
export function readResource(u: usize, w: usize): void {
  const r = w + load<u32>(u, RECORD_SRC1), high = load<u32>(r, 4), word3 = load<u32>(r, 12);
  base = load<u64>(r) & BASE_MASK;
  stride = (high >> 16) & 0x3fff;
  swizzled = high >> 31 != 0;
  records = load<u32>(r, 8);
  elementBytes = 2 << ((word3 >> 19) & 3);
  indexStride = 8 << ((word3 >> 21) & 3);
  addTid = (word3 & (1 << 23)) != 0;
  // gfx8 keeps bits 17:14 of the stride in the data format's place where lanes are indices.
  if (addTid && generation >= GFX8) stride |= ((word3 >> 15) & 15) << 14;
  formatWord = word3;
  scalarOffset = scalarSource(u, w, 2);
  immediate = load<u32>(u, RECORD_IMM) & 0xfff;
}

/**
 * Looks up `bytes` bytes a lane, in `dwords` pieces, and fills as many rows of ADDRESSES; what is out of the buffer's range gets 0.
 * False after a fault. Addresses in range must be multiples of `alignment`. `whole`: in range are all pieces or none.
 */
export function locateBuffer(u: usize, w: usize, dwords: i32, bytes: u32, writing: bool, alignment: u32, whole: bool): bool {
  if (bufferTogether(u, w, bytes, writing) != OUTSIDE && (alignment == 1 || areAligned(w, alignment))) {
    keepAddresses(dwords);
    return true;
  }
  readResource(u, w);
  const part = bytes / dwords;
  kept = generation == GFX6 ? 0 - min(part, <u32>4) : -1;
  return locateEachDword(u, w, load<u32>(u, RECORD_IMM), dwords, part, writing, alignment, whole ? bytes : part);
}

/** Bits of an address that count: gfx6 knows no unaligned halves and dwords. */
let kept: u32 = -1;

/** How the addresses lie that are all in a raw buffer's range (see together.ts); OUTSIDE where that takes a closer look. */
export function bufferTogether(u: usize, w: usize, bytes: u32, writing: bool): i32 {
  if (exec(w) == 0 || load<u32>(u, RECORD_IMM) & IMM_IDXEN) return OUTSIDE;
  readResource(u, w);
  const how = load<u32>(u, RECORD_IMM) & IMM_ADDR64 ? addressedTogether(u, w, bytes, writing) : rawTogether(u, w, bytes, writing);
  if (how == OUTSIDE || generation != GFX6 || bytes == 1) return how;
  return (bytes == 2 || (bytes & 3) == 0) && areAligned(w, min(bytes, <u32>4)) ? how : OUTSIDE;
}
function rawTogether(u: usize, w: usize, bytes: u32, writing: bool): i32 {
  const least = <u64>scalarOffset + immediate + bytes;
  if (stride != 0 || least > <u64>records) return OUTSIDE;
  const lows = load<u32>(u, RECORD_IMM) & IMM_OFFEN ? w + load<u32>(u, RECORD_SRC0) : zeros(), most = records - <u32>least;
  if (!swizzled && !addTid) return offsetsTogether(u, w, base + scalarOffset + immediate, lows, most, bytes, writing);
  if (!swizzled || !addTid || elementBytes != 4 || indexStride != 64) return OUTSIDE;
  return scratchTogether(u, w, base + scalarOffset, lows, immediate, most, bytes, writing);
}
/** gfx6 and gfx7, addr64: see locateEachDword. */
function addressedTogether(u: usize, w: usize, bytes: u32, writing: bool): i32 {
  const lows = w + load<u32>(u, RECORD_SRC0), highs = lows + rowBytes, high = load<u32>(highs + (<usize>ctz(exec(w)) << 2));
  const start = (base + scalarOffset + immediate + (<u64>high << 32)) & BASE_MASK;
  return start + (2 << 32) < BASE_MASK && isUniform(w, highs, high) ? offsetsTogether(u, w, start, lows, -1, bytes, writing) : OUTSIDE;
}
/** A row of zeros. */
function zeros(): usize {
  for (let o: usize = 0; o < rowBytes; o += 16) v128.store(LOW + o, i32x4.splat(0));
  return LOW;
}

/** The general case: lane by lane, dword by dword. `checked`: bytes that must be in range. */
function locateEachDword(u: usize, w: usize, imm: u32, dwords: i32, bytes: u32, writing: bool, alignment: u32, checked: u32): bool {
  const from = w + load<u32>(u, RECORD_SRC0), offsets = from + (imm & IMM_IDXEN ? rowBytes : 0), addr64 = (imm & IMM_ADDR64) != 0;
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const lane = <i32>ctz(lanes), o = <usize>lane << 2;
    const index = <u64>(imm & IMM_IDXEN ? load<u32>(from + o) : 0) + (addTid ? lane : 0);
    const offset = <u64>(imm & IMM_OFFEN ? load<u32>(offsets + o) : 0) + immediate;
    for (let i = 0; i < dwords; i++) {
      let host: usize = 0;
      // gfx6 and gfx7, addr64: a 64-bit address on top of the base; no range check, no stride.
      if (addr64 || inRange(index, checked > bytes ? offset : offset + 4 * i, checked)) {
        const inside = addr64 ? (<u64>load<u32>(from + rowBytes + o) << 32 | load<u32>(from + o)) + immediate + 4 * i : place(index, offset + 4 * i);
        const address = (base + scalarOffset + inside) & BASE_MASK & <i64><i32>kept;
        host = locate(w, address, bytes, writing);
        if (host == 0) return faulted(w, FAULT_MEMORY, lane, address, bytes);
        if (<u32>address & (alignment - 1)) return faulted(w, FAULT_MISALIGNED, lane, address, bytes);
      }
      store<u32>(ADDRESSES + 256 * i + o, host);
    }
  }
  return true;
}

/**
 * What num_records counts depends on generation and resource (Mesa, ac_descriptors and si_state: "The NUM_RECORDS field"): bytes without
 * stride, on gfx8 also without swizzling; else elements, and the index alone is checked. Sums do not wrap at 32 bits (LLVM,
 * SelectMUBUFScratchOffen, of negative VADDR).
 */
function inRange(index: u64, offset: u64, bytes: u32): bool {
  if (stride != 0 && (generation < GFX8 || swizzled)) return index < records;
  const at = offset + index * stride;
  return at + bytes + scalarOffset <= <u64>records;
}

/** Offset of a byte in the buffer; swizzling interleaves elements of neighbouring indices. */
function place(index: u64, offset: u64): u64 {
  if (!swizzled) return index * stride + offset;
  const high = index / indexStride * stride + offset / elementBytes * elementBytes;
  return high * indexStride + (index % indexStride) * elementBytes + offset % elementBytes;
}

/** TFE: the register behind the data says that all of it was there. */
export function reportResident(u: usize, w: usize, dwords: i32): void {
  if (!(load<u16>(u, RECORD_FLAGS) & FLAG_TFE)) return;
  const d = w + load<u32>(u, RECORD_DST) + dwords * rowBytes;
  for (let o: usize = 0; o < rowBytes; o += 16) v128.store(d + o, v128.andnot(v128.load(d + o), v128.load(w + o, WAVE_EXEC_MASKS)));
}
