// Typed buffer elements: components packed in memory ↔ one register each (GCN3 manual, tables "Data format" and "Number format").
import { formatWord, locateBuffer, readResource, reportResident } from './buffer';
import { FAULT_UNSUPPORTED, GFX8, IMM_DFMT_SHIFT, IMM_LDS, IMM_NFMT_SHIFT, RECORD_DST, RECORD_IMM } from './generated/layout';
import { toFloat, toHalf } from './lib/half';
import { ADDRESSES } from './scratch';
import { exec, fault, generation, rowBytes } from './state';

/** Number formats. */
const UNORM: u32 = 0, SNORM: u32 = 1, USCALED: u32 = 2, SSCALED: u32 = 3, UINT: u32 = 4, SINT: u32 = 5, SNORM_OGL: u32 = 6, FLOAT: u32 = 7;

/** Bits of the components of each data format, lowest first, a byte each; 0 where there is no such format. The last four are images' alone. */
const WIDTHS = memory.data<u32>([
  0, 0x00000008, 0x00000010, 0x00000808, 0x00000020, 0x00001010, 0x000a0b0b, 0x000b0b0a,
  0x0a0a0a02, 0x020a0a0a, 0x08080808, 0x00002020, 0x10101010, 0x00202020, 0x20202020, 0,
  0x00050605, 0x01050505, 0x05050501, 0x04040404,
]);
const FORMATS: u32 = 20;
/** Formats that only images have and that have a component of one bit. */
const ONE_BIT: u32 = 1 << 17 | 1 << 18;

/** A NaN is quieted, as v_cvt_f32_f16 does. */
function floatOf(bits: u32): f32 {
  if ((bits & 0x7fff) > 0x7c00) bits |= 0x200;
  return f32x4.extract_lane(toFloat(i32x4.splat(bits)), 0);
}
function halfOf(x: f32): u32 {
  return i32x4.extract_lane(toHalf(f32x4.splat(x)), 0) & 0xffff;
}
/** Floats of 10 and 11 bits are halves without sign and without their lowest bits. */
function smallFloatShift(width: u32): u32 {
  return width == 16 ? 0 : 15 - width;
}

/** The register value of a component of `width` bits. */
function expand(x: u32, width: u32, numberFormat: u32): u32 {
  switch (numberFormat) {
    case UINT: return x;
    case SINT: return signedOf(x, width);
    case FLOAT: return width == 32 ? x : reinterpret<u32>(floatOf(x << smallFloatShift(width)));
    default: return reinterpret<u32>(<f32>scaled(x, width, numberFormat));
  }
}
/** The same in 16 bits (D16), rounded once. */
function expandToSixteen(x: u32, width: u32, numberFormat: u32): u32 {
  switch (numberFormat) {
    case UINT: return min(x, <u32>0xffff);
    case SINT: return max(min(signedOf(x, width), 0x7fff), -0x8000) & 0xffff;
    case FLOAT: return width == 32 ? halfOf(reinterpret<f32>(x)) : x << smallFloatShift(width);
    default: return halfOf(toOdd(scaled(x, width, numberFormat)));
  }
}
function signedOf(x: u32, width: u32): i32 {
  return <i32>(x << (32 - width)) >> (32 - width);
}
/** What a component that is neither an integer nor a float stands for. */
function scaled(x: u32, width: u32, numberFormat: u32): f64 {
  const signed = <f64>signedOf(x, width), most = <u32>-1 >> (32 - width);
  switch (numberFormat) {
    case USCALED: return x;
    case SSCALED: return signed;
    case UNORM: return <f64>x / <f64>most;
    case SNORM: return max(signed / <f64>(most >> 1), -1.0);
    default: return (2.0 * signed + 1.0) / <f64>most;
  }
}
/** Rounded to odd, so that rounding once more does no harm. */
function toOdd(x: f64): f32 {
  const nearest = <f32>x, bits = reinterpret<u32>(nearest);
  if (<f64>nearest == x) return nearest;
  return reinterpret<f32>((abs(<f64>nearest) > abs(x) ? bits - 1 : bits) | 1);
}

/** A component of `width` bits from a register value; out of range values saturate, NaN becomes 0 (as a float it stays). */
function pack(x: u32, width: u32, numberFormat: u32): u32 {
  const left = 32 - width, most = <u32>-1 >> left, half = most >> 1, f = <f64>reinterpret<f32>(x);
  switch (numberFormat) {
    case UINT: return min(x, most);
    case SINT: return max(min(<i32>x, <i32>half), ~<i32>half) & most;
    case USCALED: return <u32>within(trunc(f), 0, most);
    case SSCALED: return <u32><i32>within(trunc(f), -<f64>half - 1, half) & most;
    case UNORM: return <u32>nearest(within(f, 0, 1) * <f64>most);
    case SNORM: return <u32><i32>nearest(within(f, -1, 1) * <f64>half) & most;
    case SNORM_OGL: return <u32><i32>nearest((within(f, -1, 1) * <f64>most - 1) * 0.5) & most;
    default: return width == 32 ? x : packFloat(x, width);
  }
}
function within(x: f64, least: f64, most: f64): f64 {
  return x != x ? 0 : max(least, min(most, x));
}
function packFloat(x: u32, width: u32): u32 {
  const h = halfOf(reinterpret<f32>(x));
  if (width == 16) return h;
  // Negative numbers become 0; a NaN is quiet and keeps its highest bits.
  if (h & 0x8000 && (h & 0x7fff) <= 0x7c00) return 0;
  return (h & 0x7fff) >> smallFloatShift(width);
}

/** The register value that a 16-bit one (D16) stands for. */
function fromSixteen(x: u32, numberFormat: u32): u32 {
  if (numberFormat == UINT) return x & 0xffff;
  if (numberFormat == SINT) return <i32>(x << 16) >> 16;
  return reinterpret<u32>(floatOf(x & 0xffff));
}

/** Bits `at` to `at` + `width` - 1 of the element of the lane at `o`; a component never crosses a dword. Out of range it reads 0. */
function component(o: usize, at: u32, width: u32): u32 {
  const host = load<u32>(ADDRESSES + 256 * (at >> 5) + o), low = at & 31;
  if (host == 0) return 0;
  if (width == 32) return load<u32>(host);
  // An element of less than a dword may stand at the very end of its region.
  let x: u32 = 0;
  for (let b = low >> 3; b << 3 < low + width; b++) x |= <u32>load<u8>(host + b) << (b << 3);
  return (x >> low) & ((1 << width) - 1);
}
function setComponent(o: usize, at: u32, width: u32, x: u32): void {
  const host = load<u32>(ADDRESSES + 256 * (at >> 5) + o), low = at & 31, mask = (width == 32 ? -1 : (1 << width) - 1) << low;
  if (host == 0) return;
  for (let b = low >> 3; b << 3 < low + width; b++) {
    const part = mask >> (b << 3);
    store<u8>(host + b, (load<u8>(host + b) & ~part) | (((x << low) >> (b << 3)) & part));
  }
}

/** Formats whose components are all of 10, 11, 16 or 32 bits, as floats are. */
function hasFloats(dataFormat: u32): bool {
  return ((0b0111_1000_1111_0100 >> dataFormat) & 1) != 0;
}

// The formats of the running instruction.
let numberFormat: u32 = 0;
/** As in WIDTHS. */
export let widths: u32 = 0;
/** Components are stored as they are: their low bits. */
let isRaw: bool = false;

/** Bytes of an element. */
export function elementBytes(): u32 {
  return ((widths & 0xff) + ((widths >> 8) & 0xff) + ((widths >> 16) & 0xff) + (widths >> 24)) >> 3;
}
/** Takes formats on; false where there are no such ones. */
export function setFormats(data: u32, number: u32): bool {
  isRaw = false;
  numberFormat = number;
  widths = data < FORMATS ? load<u32>(WIDTHS + 4 * data) : 0;
  if (widths == 0) return false;
  switch (number) {
    case FLOAT: return hasFloats(data);
    case SNORM_OGL: return generation < GFX8 && !((ONE_BIT >> data) & 1);
    case SNORM: return !((ONE_BIT >> data) & 1);
    default: return number < SNORM_OGL;
  }
}
/** Puts plain dwords in the place of the format's components, or one smaller element; gives the channel select that goes with them. */
export function setRaw(signed: bool): u32 {
  const bytes = elementBytes(), dwords = (bytes + 3) >> 2;
  isRaw = true;
  numberFormat = signed ? SINT : UINT;
  widths = bytes < 4 ? 8 * bytes : <u32>0x20202020 >> (32 - 8 * dwords);
  return IDENTITY & ((1 << (3 * dwords)) - 1);
}

/** Reads the formats: MTBUF has them in the instruction, MUBUF in the resource. False after a fault. */
function readFormats(u: usize, w: usize, typed: bool): bool {
  const imm = load<u32>(u, RECORD_IMM), word = formatWord;
  const known = typed
    ? setFormats((imm >> IMM_DFMT_SHIFT) & 15, (imm >> IMM_NFMT_SHIFT) & 7)
    : setFormats((word >> 15) & 15, (word >> 12) & 7) && !(imm & IMM_LDS);
  if (!known) fault(w, FAULT_UNSUPPORTED, -1, 0, 0);
  return known;
}

/** What channel select `select` takes of the four components: 0, 1 or a component. */
function selected(select: u32, r: u32, g: u32, b: u32, a: u32, d16: bool): u32 {
  switch (select) {
    case 1: return one(d16);
    case 4: return r;
    case 5: return g;
    case 6: return b;
    case 7: return a;
    default: return 0;
  }
}
function one(d16: bool): u32 {
  if (numberFormat == UINT || numberFormat == SINT) return 1;
  return d16 ? 0x3c00 : 0x3f800000;
}
/** x y z w in their places. */
const IDENTITY: u32 = 4 | (5 << 3) | (6 << 6) | (7 << 9);

/** Loads `count` components a lane. The resource's channel select counts for MUBUF. */
export function loadFormatted(u: usize, w: usize, count: i32, typed: bool, d16: bool): void {
  if (locateElements(u, w, typed, false)) loadElements(u, w, (1 << count) - 1, typed ? IDENTITY : formatWord, d16);
}
/** Loads those that `mask` has of four components, which `select` takes of the elements at ADDRESSES, to consecutive registers. */
export function loadElements(u: usize, w: usize, mask: u32, select: u32, d16: bool): void {
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2;
    let at: u32 = 0, rest = widths, r: u32 = 0, g: u32 = 0, b: u32 = 0, a = one(d16), to = w + load<u32>(u, RECORD_DST) + o;
    for (let c = 0; rest != 0; c++, rest >>= 8) {
      const width = rest & 0xff, bits = component(o, at, width), x = d16 ? expandToSixteen(bits, width, numberFormat) : expand(bits, width, numberFormat);
      if (c == 0) r = x; else if (c == 1) g = x; else if (c == 2) b = x; else a = x;
      at += width;
    }
    for (let i = 0; i < 4; i++) {
      if (!((mask >> i) & 1)) continue;
      const from = (select >> (3 * i)) & 7;
      store<u32>(to, load<u32>(ADDRESSES + o) == 0 && from != 1 ? 0 : selected(from, r, g, b, a, d16));
      to += rowBytes;
    }
  }
  reportResident(u, w, popcnt(mask));
}

/** The one of four components from which component `c` of an element is stored: the one that a load would make of it; 4 where there is none. */
function sourceOf(c: u32, select: u32): u32 {
  for (let i = 0; i < 4; i++) if (((select >> (3 * i)) & 7) == 4 + c) return i;
  return 4;
}

/** Stores a lane's components; those that the instruction lacks are 0. */
export function storeFormatted(u: usize, w: usize, count: i32, typed: bool, d16: bool): void {
  if (locateElements(u, w, typed, true)) storeElements(u, w, (1 << count) - 1, typed ? IDENTITY : formatWord, d16);
}
/** Stores elements at ADDRESSES; consecutive registers hold the components that `mask` has. */
export function storeElements(u: usize, w: usize, mask: u32, select: u32, d16: bool): void {
  const s = w + load<u32>(u, RECORD_DST);
  for (let lanes = exec(w); lanes != 0; lanes &= lanes - 1) {
    const o = <usize>ctz(lanes) << 2;
    let at: u32 = 0, rest = widths;
    for (let c = 0; rest != 0; c++, rest >>= 8) {
      const width = rest & 0xff, from = sourceOf(c, select), before = popcnt(mask & ((1 << from) - 1));
      const x = (mask >> from) & 1 ? load<u32>(s + before * rowBytes + o) : 0;
      const asIs = isRaw || (d16 && width == 16 && numberFormat == FLOAT);
      setComponent(o, at, width, asIs ? x : pack(d16 ? fromSixteen(x, numberFormat) : x, width, numberFormat));
      at += width;
    }
  }
}

function locateElements(u: usize, w: usize, typed: bool, writing: bool): bool {
  readResource(u, w);
  if (!readFormats(u, w, typed)) return false;
  const bytes = elementBytes();
  return locateBuffer(u, w, (bytes + 3) >> 2, bytes, writing, 1, true);
}
