// Sources that are no VGPR: scalars, inline constants and literals, spread over a chunk. A loop reads a source at
// `pointer + (offset & mask)`; what is spread here has mask 0.
import {
  KIND_CONSTANT, KIND_HIGH, KIND_INV_2PI, KIND_SCALAR, KIND_SIGNED, KIND_SPECIAL, RECORD_MODS, RECORD_SRC0, WAVE_SCC,
} from './generated/layout';
import { SPREAD } from './scratch';
import { exec, vcc } from './state';

/** Where a spread 64-bit source has its high dwords. */
export const SPREAD_HIGH: usize = 16;

/** Bits of mods that hold the kind of source `i` (as a mask), zero where it is a VGPR. */
// @ts-ignore: decorator
@inline
export function kindMask(i: i32): u32 {
  return 7 << (3 * i);
}

/** The 32-bit value of a source that is no VGPR. */
export function scalarSource(u: usize, w: usize, i: i32): u32 {
  const value = load<u32>(u + 4 * i, RECORD_SRC0);
  switch ((load<u32>(u, RECORD_MODS) >> (3 * i)) & 7) {
    case KIND_SCALAR: return load<u32>(w + value);
    case KIND_SPECIAL: return special(w, value);
    default: return value;
  }
}

/** The 64-bit value of a source that is no VGPR. */
export function scalarSource64(u: usize, w: usize, i: i32): u64 {
  const value = load<u32>(u + 4 * i, RECORD_SRC0);
  switch ((load<u32>(u, RECORD_MODS) >> (3 * i)) & 7) {
    case KIND_SCALAR: return load<u64>(w + value);
    case KIND_SIGNED: return <i64><i32>value;
    case KIND_HIGH: return <u64>value << 32;
    case KIND_INV_2PI: return 0x3fc45f306dc9c882;
    case KIND_SPECIAL: return special(w, value);
    default: return value;
  }
}

/** Operand encodings 251 to 253. */
function special(w: usize, encoding: u32): u32 {
  if (encoding == 251) return vcc(w) == 0;
  if (encoding == 252) return exec(w) == 0;
  return load<u32>(w, WAVE_SCC);
}

/** Spreads source `i` over two chunks of four lanes and returns where. */
export function spread32(u: usize, w: usize, i: i32): usize {
  const at = SPREAD + 32 * i, x = i32x4.splat(scalarSource(u, w, i));
  v128.store(at, x);
  v128.store(at, x, 16);
  return at;
}

/** Spreads source `i`, low and high dwords apart. */
export function spread64(u: usize, w: usize, i: i32): usize {
  const at = SPREAD + 32 * i, x = scalarSource64(u, w, i);
  v128.store(at, i32x4.splat(<i32>x));
  v128.store(at, i32x4.splat(<i32>(x >> 32)), SPREAD_HIGH);
  return at;
}

/** Without and with the modifier: the bits that abs leaves and those that neg flips, of f32 (and the high dwords of f64), then of f16. */
const SIGNS = memory.data<u32>([-1, 0x7fffffff, 0, 0x80000000, -1, 0xffff7fff, 0, 0x8000]);
/** The place of f16 there. */
export const SIGNS_F16: usize = 16;

/** The bits of source `i` that abs in mods leaves as they are, in every lane. */
// @ts-ignore: decorator
@inline
export function keptBits(mods: u32, i: i32, type: usize = 0): v128 {
  return v128.load32_splat(SIGNS + type + (((mods >> (9 + i)) & 1) << 2));
}
/** The bits of source `i` that neg in mods flips afterwards. */
// @ts-ignore: decorator
@inline
export function flippedBits(mods: u32, i: i32, type: usize = 0): v128 {
  return v128.load32_splat(SIGNS + type + (((mods >> (12 + i)) & 1) << 2), 8);
}
