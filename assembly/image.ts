// Where the texels of linear images are; docs/images.md says which images, and why so.
//
//   word 0  base address 31:0 (/ 256)
//   word 1  base address 7:0 | data format 25:20 | number format 29:26
//   word 2  width 13:0 | height 27:14 | interlaced 31
//   word 3  channel select 11:0 | base level 15:12 | last level 19:16 | tiling index 24:20 | pow2 pad 25 | type 31:28
//   word 4  depth 12:0 | pitch 26:13
//   word 5  base array 12:0 | last array 25:13
//   word 6  compression 21 (gfx8)
import { elementBytes, setFormats } from './format';
import {
  FAULT_MEMORY, FAULT_REGISTER, FAULT_UNSUPPORTED, GFX8, IMM_D16, IMM_DA, IMM_R128, RECORD_IMM, RECORD_SRC0, RECORD_SRC1, WAVE_VECTORS,
  WAVE_VGPR_COUNT,
} from './generated/layout';
import { faulted, locate } from './memory';
import { ADDRESSES } from './scratch';
import { exec, generation, rowBytes } from './state';

/** Types: from CUBE on they have layers, and those that are multiples of 4 no rows. */
const ONE_D: u32 = 8, TWO_D: u32 = 9, THREE_D: u32 = 10, CUBE: u32 = 11, TWO_D_ARRAY: u32 = 13;
const LINEAR_ALIGNED: u32 = 8;
const ADDRESS_MASK: u64 = 0x0000ffffffffffff;

// The instruction's image. Sizes are those of level 0.
let base: u64 = 0;
let type: u32 = 0;
let width: u32 = 0;
let height: u32 = 0;
let depth: u32 = 0;
let pitch: u32 = 0;
let padded: bool = false;
let firstLevel: u32 = 0;
let lastLevel: u32 = 0;
let firstLayer: u32 = 0;
let lastLayer: u32 = 0;
/** Channel select, in the low bits. */
export let selects: u32 = 0;

function isFlat(): bool { return (type & 3) == 0; }
function hasSlices(): bool { return type > TWO_D; }
function isLayered(): bool { return type >= CUBE; }

/** Reads what there is to know of the image; false after a fault. */
export function readImage(u: usize, w: usize): bool {
  const r = w + load<u32>(u, RECORD_SRC1), imm = load<u32>(u, RECORD_IMM), isShort = (imm & IMM_R128) != 0;
  const word2 = load<u32>(r, 8), word3 = load<u32>(r, 12), word4 = isShort ? 0 : load<u32>(r, 16), word5 = isShort ? 0 : load<u32>(r, 20);
  base = (load<u64>(r) << 8) & ADDRESS_MASK;
  type = word3 >> 28;
  width = (word2 & 0x3fff) + 1;
  height = isFlat() ? 1 : ((word2 >> 14) & 0x3fff) + 1;
  depth = (word4 & 0x1fff) + 1;
  pitch = ((word4 >> 13) & 0x3fff) + 1;
  padded = (word3 & (1 << 25)) != 0;
  firstLevel = (word3 >> 12) & 15;
  lastLevel = (word3 >> 16) & 15;
  firstLayer = isLayered() ? word5 & 0x1fff : 0;
  lastLayer = isLayered() ? (word5 >> 13) & 0x1fff : 0;
  selects = word3;
  placed = -1;
  const known = type >= ONE_D && type <= (isShort ? TWO_D : TWO_D_ARRAY) && isLayered() == ((imm & IMM_DA) != 0);
  return (known && (generation >= GFX8 || !(imm & IMM_D16))) || faulted(w, FAULT_UNSUPPORTED, -1, 0, 0);
}

/** Reads the formats, too, and whether the layout is one that is known; false after a fault. */
export function readTexels(u: usize, w: usize): bool {
  if (!readImage(u, w)) return false;
  const r = w + load<u32>(u, RECORD_SRC1), word1 = load<u32>(r, 4), isShort = (load<u32>(u, RECORD_IMM) & IMM_R128) != 0;
  const isLinear = load<i32>(r, 8) >= 0 && ((selects >> 20) & 31) == LINEAR_ALIGNED;
  const isCompressed = generation >= GFX8 && !isShort && (load<u32>(r, 24) & (1 << 21)) != 0;
  if (!setFormats((word1 >> 20) & 63, (word1 >> 26) & 15) || !isLinear || isCompressed) return faulted(w, FAULT_UNSUPPORTED, -1, 0, 0);
  if (isShort) pitch = (width + pitchUnit() - 1) / pitchUnit() * pitchUnit();
  return true;
}

/** Texels of which a pitch is a multiple that no descriptor states. */
function pitchUnit(): u32 { return max(8, 64 / elementBytes()); }
function pow2(n: u32): u32 { return n < 2 ? 1 : 1 << (32 - clz(n - 1)); }
function sizeAt(size: u32, level: u32): u32 { return max(size >> level, 1); }
function isLevel(level: u32): bool { return lastLevel >= firstLevel && level <= lastLevel - firstLevel; }

/** The level that the following are of. */
let placed: u32 = -1;
let start: u64 = 0;
let rowTexels: u32 = 0;
let sliceBytes: u64 = 0;

/** Finds a level, counted from that of the descriptor's sizes; false where its layout is not known. */
function placeLevel(level: u32): bool {
  if (level == placed) return true;
  if (level > 0 && (!padded || elementBytes() == 12)) return false;
  placed = level;
  start = base;
  placeRows(0);
  for (let l: u32 = 0; l < level; l++) {
    const slices = type == THREE_D ? sizeAt(depth, l) : type == CUBE ? 6 * depth : isLayered() ? depth : 1;
    start = (start + pow2(slices) * sliceBytes + 255) & ~255;
    placeRows(l + 1);
  }
  return true;
}
function placeRows(level: u32): void {
  const bytes = elementBytes(), rows = padded ? pow2(sizeAt(height, level)) : height;
  // All three are powers of two, so the largest is a multiple of the others.
  rowTexels = level == 0 ? pitch : max(max(pow2(sizeAt(pitch, level)), pitchUnit()), max<u32>(64, 256 / bytes) / rows);
  sliceBytes = <u64>rowTexels * rows * bytes;
}

function isInside(x: u32, y: u32, slice: u32, level: u32): bool {
  const l = firstLevel + level;
  if (!isLevel(level) || x >= sizeAt(width, l) || y >= sizeAt(height, l)) return false;
  return type == THREE_D ? slice < sizeAt(depth, l) : lastLayer >= firstLayer && slice <= lastLayer - firstLayer;
}

/**
 * Looks up the texel of every active lane in pieces of `part` bytes, one a row of ADDRESSES; what is out of the image's range gets 0.
 * `mip`: the address ends with a level. False after a fault.
 */
export function locateTexels(u: usize, w: usize, mip: bool, writing: bool, part: u32): bool {
  const bytes = elementBytes();
  if (!hasRegisters(u, w, 1 + <u32>!isFlat() + <u32>hasSlices() + <u32>mip)) return false;
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const lane = <i32>ctz(lanes), o = <usize>lane << 2;
    let at = w + load<u32>(u, RECORD_SRC0) + o, y: u32 = 0, slice: u32 = 0, level: u32 = 0;
    const x = load<u32>(at);
    if (!isFlat()) y = load<u32>(at += rowBytes);
    if (hasSlices()) slice = load<u32>(at += rowBytes);
    if (mip) level = load<u32>(at += rowBytes);
    const inside = isInside(x, y, slice, level);
    if (inside && !placeLevel(firstLevel + level)) return faulted(w, FAULT_UNSUPPORTED, firstLevel > 0 ? -1 : lane, 0, 0);
    const texel = start + sliceBytes * (firstLayer + slice) + (<u64>y * rowTexels + x) * bytes;
    for (let i: u32 = 0; i < bytes; i += part) {
      const address = (texel + i) & ADDRESS_MASK, host = inside ? locate(w, address, part, writing) : 0;
      if (inside && host == 0) return faulted(w, FAULT_MEMORY, lane, address, part);
      store<u32>(ADDRESSES + 64 * i + o, host);
    }
  }
  return true;
}

/** Component `c` of what image_get_resinfo says of a level. */
export function imageInfo(c: u32, level: u32): u32 {
  const l = firstLevel + level, layers = lastLayer - firstLayer + 1;
  if (c == 3) return lastLevel - firstLevel + 1;
  if (!isLevel(level)) return 0;
  if (c == 0) return sizeAt(width, l);
  if (c == 1 && isFlat()) return isLayered() ? layers : 0;
  if (c == 1) return sizeAt(height, l);
  if (type == THREE_D) return sizeAt(depth, l);
  return isLayered() && !isFlat() ? layers : 0;
}

/** Registers of an address must be there; false after a fault. */
export function hasRegisters(u: usize, w: usize, count: u32): bool {
  const first = (load<u32>(u, RECORD_SRC0) - <u32>WAVE_VECTORS) / <u32>rowBytes;
  return first + count <= load<u32>(w, WAVE_VGPR_COUNT) || faulted(w, FAULT_REGISTER, -1, first + count - 1, 4);
}
