/**
 * What the two-operand vector operations do with one lane: words in, word out (types in lane.ts). Sources have been through abs, neg
 * and flushing; omod, clamp of floats and the flushing of the result come after.
 * Source: AMD's "Southern Islands", "Sea Islands" and "Graphics Core Next Architecture, Generation 3" instruction set manuals, chapter
 * "Vector ALU Instructions", VOP2; where they say too little, CLRX's GcnInstrsVop2. `Hardware:` marks what differs from the manual.
 */
import type { Modes } from './lane.ts'
import {
  add,
  F16,
  F32,
  type Format,
  flushed,
  isSignalling,
  multiply,
  NEAREST,
  nanOf,
  type Round,
  roundInteger,
  scale,
  ZERO,
} from './number.ts'
import { byteOf, convert, countBits, i16, i24, i32, saturate, saturates, u16, u24, u32 } from './words.ts'

type Word = number | bigint

// --- add, subtract, multiply

export const v_add_f32 = (a: number, b: number, m: Modes) => add(F32, a, b, m.round32)
export const v_sub_f32 = (a: number, b: number, m: Modes) => subtract(F32, a, b, m.round32)
/** D = S1 - S0. */
export const v_subrev_f32 = (a: number, b: number, m: Modes) => subtractReversed(F32, a, b, m.round32)
export const v_mul_f32 = (a: number, b: number, m: Modes) => multiply(F32, a, b, m.round32)
export const v_add_f16 = (a: number, b: number, m: Modes) => add(F16, a, b, m.round64)
export const v_sub_f16 = (a: number, b: number, m: Modes) => subtract(F16, a, b, m.round64)
export const v_subrev_f16 = (a: number, b: number, m: Modes) => subtractReversed(F16, a, b, m.round64)
export const v_mul_f16 = (a: number, b: number, m: Modes) => multiply(F16, a, b, m.round64)

/** A NaN keeps the sign that it has as a source. */
const subtract = (f: Format<number>, a: number, b: number, round: Round) =>
  f.isNaN(a) || f.isNaN(b) ? nanOf(f, a, b) : add(f, a, u32(b ^ f.sign), round)
const subtractReversed = (f: Format<number>, a: number, b: number, round: Round) =>
  f.isNaN(a) || f.isNaN(b) ? nanOf(f, a, b) : add(f, b, u32(a ^ f.sign), round)

/** D = S0 * S1, but zero times anything, infinities and NaN too, is +0. */
export const v_mul_legacy_f32 = (a: number, b: number, m: Modes) =>
  F32.value(a) === 0 || F32.value(b) === 0 ? 0 : multiply(F32, a, b, m.round32)

// --- multiply and add, rounded after the multiplication

const multiplyAdd = (f: Format<number>, a: number, b: number, c: number, round: Round, between: (product: number) => number): number =>
  f.isNaN(a) || f.isNaN(b) || f.isNaN(c) ? nanOf(f, a, b, c) : add(f, between(multiply(f, a, b, round)), c, round)

/** S0 * S1 + S2; a denormal product is flushed, as denormal sources and results are, whatever MODE says. */
export const mad32 = (a: number, b: number, c: number, m: Modes): number => multiplyAdd(F32, a, b, c, m.round32, (p) => flushed(F32, p))
/** S0 * S1 + S2; a denormal product is kept, sources and result go by MODE. */
export const mad16 = (a: number, b: number, c: number, m: Modes): number => multiplyAdd(F16, a, b, c, m.round64, (p) => p)
/** As mad32, but zero times anything is +0. Which NaN comes back if S2 is one goes by the common rule all the same. */
export const madLegacy = (a: number, b: number, c: number, m: Modes): number =>
  (F32.value(a) === 0 || F32.value(b) === 0) && !F32.isNaN(c) ? add(F32, 0, c, m.round32) : mad32(a, b, c, m)

/** D = S0 * S1 + D. */
export const v_mac_f32 = (a: number, b: number, d: number, m: Modes) => mad32(a, b, d, m)
export const v_mac_legacy_f32 = (a: number, b: number, d: number, m: Modes) => madLegacy(a, b, d, m)
/** D = S0 * K + S1. */
export const v_madmk_f32 = (a: number, k: number, b: number, m: Modes) => mad32(a, k, b, m)
/** D = S0 * S1 + K. */
export const v_madak_f32 = (a: number, b: number, k: number, m: Modes) => mad32(a, b, k, m)
export const v_mac_f16 = (a: number, b: number, d: number, m: Modes) => mad16(a, b, d, m)
export const v_madmk_f16 = (a: number, k: number, b: number, m: Modes) => mad16(a, k, b, m)
export const v_madak_f16 = (a: number, b: number, k: number, m: Modes) => mad16(a, b, k, m)

/** D = S0 * 2^S1, S1 signed; rounded once. */
export const v_ldexp_f16 = (a: number, exponent: number, m: Modes) => scale(F16, a, i16(exponent), m.round64)

// --- minimum and maximum

/**
 * The lesser of two floats, -0 below +0. One NaN gives the number, two the first, quieted; with IEEE set a signalling NaN is the
 * result, quieted.
 * Hardware: that -0 is less than +0 is not in the older manuals (tinygrad, test/amd/hw).
 */
export function minimum<W extends Word>(f: Format<W>, a: W, b: W, m: Modes): W {
  const nan = nanOfExtremum(f, a, b, m)
  if (nan !== undefined) return nan
  const x = f.value(a)
  const y = f.value(b)
  return x < y || (x === y && Object.is(x, -0)) ? a : b
}

/** The greater of two floats, by the same rules. */
export function maximum<W extends Word>(f: Format<W>, a: W, b: W, m: Modes): W {
  const nan = nanOfExtremum(f, a, b, m)
  if (nan !== undefined) return nan
  const x = f.value(a)
  const y = f.value(b)
  return x > y || (x === y && Object.is(x, 0)) ? a : b
}

function nanOfExtremum<W extends Word>(f: Format<W>, a: W, b: W, m: Modes): W | undefined {
  if (m.ieee && isSignalling(f, a)) return f.quiet(a)
  if (m.ieee && isSignalling(f, b)) return f.quiet(b)
  if (f.isNaN(a)) return f.isNaN(b) ? f.quiet(a) : b
  return f.isNaN(b) ? a : undefined
}

export const v_min_f32 = (a: number, b: number, m: Modes) => minimum(F32, a, b, m)
export const v_max_f32 = (a: number, b: number, m: Modes) => maximum(F32, a, b, m)
export const v_min_f16 = (a: number, b: number, m: Modes) => minimum(F16, a, b, m)
export const v_max_f16 = (a: number, b: number, m: Modes) => maximum(F16, a, b, m)
/** D = S0 < S1 ? S0 : S1, so S1 where either is NaN; quieted if that is NaN. */
export const v_min_legacy_f32 = (a: number, b: number) => (F32.value(a) < F32.value(b) ? a : quieted(b))
/** D = S0 >= S1 ? S0 : S1, so S1 where either is NaN; quieted if that is NaN. */
export const v_max_legacy_f32 = (a: number, b: number) => (F32.value(a) >= F32.value(b) ? a : quieted(b))
const quieted = (a: number) => (F32.isNaN(a) ? F32.quiet(a) : a)

export const v_min_i32 = (a: number, b: number) => (i32(a) < i32(b) ? a : b)
export const v_max_i32 = (a: number, b: number) => (i32(a) > i32(b) ? a : b)
export const v_min_u32 = (a: number, b: number) => Math.min(a, b)
export const v_max_u32 = (a: number, b: number) => Math.max(a, b)
export const v_min_i16 = (a: number, b: number) => u16(Math.min(i16(a), i16(b)))
export const v_max_i16 = (a: number, b: number) => u16(Math.max(i16(a), i16(b)))
export const v_min_u16 = (a: number, b: number) => Math.min(u16(a), u16(b))
export const v_max_u16 = (a: number, b: number) => Math.max(u16(a), u16(b))

// --- integers: add and subtract with carry; from gfx8 clamp saturates, and the carry is told all the same

type Carried = readonly [value: number, carry: boolean]

function sum(n: number, m: Modes): Carried {
  const carry = n > 0xffffffff
  return [carry && saturates(m) ? 0xffffffff : u32(n), carry]
}

function difference(n: number, m: Modes): Carried {
  const borrow = n < 0
  return [borrow && saturates(m) ? 0 : u32(n), borrow]
}

/** D = S0 + S1; the mask gets the carry. */
export const v_add_co_u32 = (a: number, b: number, m: Modes) => sum(a + b, m)
export const v_sub_co_u32 = (a: number, b: number, m: Modes) => difference(a - b, m)
export const v_subrev_co_u32 = (a: number, b: number, m: Modes) => difference(b - a, m)
/** D = S0 + S1 + carry in. */
export const v_addc_co_u32 = (a: number, b: number, carry: boolean, m: Modes) => sum(a + b + Number(carry), m)
/** D = S0 - S1 - borrow in. */
export const v_subb_co_u32 = (a: number, b: number, borrow: boolean, m: Modes) => difference(a - b - Number(borrow), m)
export const v_subbrev_co_u32 = (a: number, b: number, borrow: boolean, m: Modes) => difference(b - a - Number(borrow), m)

export const v_add_u16 = (a: number, b: number, m: Modes) => unsigned16(u16(a) + u16(b), m)
export const v_sub_u16 = (a: number, b: number, m: Modes) => unsigned16(u16(a) - u16(b), m)
export const v_subrev_u16 = (a: number, b: number, m: Modes) => unsigned16(u16(b) - u16(a), m)
const unsigned16 = (n: number, m: Modes) => (saturates(m) ? saturate(n, 0, 0xffff) : u16(n))

// --- integers: multiply

/** D = S0[23:0] * S1[23:0], the low 32 bits; the product of 48 bits is exact in a JavaScript number. */
export const v_mul_u32_u24 = (a: number, b: number) => u32(u24(a) * u24(b))
export const v_mul_i32_i24 = (a: number, b: number) => u32(i24(a) * i24(b))
/** The bits above, of a product of 64. */
export const v_mul_hi_u32_u24 = (a: number, b: number) => Math.floor((u24(a) * u24(b)) / 2 ** 32)
export const v_mul_hi_i32_i24 = (a: number, b: number) => u32(Math.floor((i24(a) * i24(b)) / 2 ** 32))
export const v_mul_lo_u16 = (a: number, b: number) => u16(u16(a) * u16(b))

// --- bits and shifts: counts are taken modulo the width; the `rev` forms take the count first

export const v_and_b32 = (a: number, b: number) => u32(a & b)
export const v_or_b32 = (a: number, b: number) => u32(a | b)
export const v_xor_b32 = (a: number, b: number) => u32(a ^ b)
export const v_lshl_b32 = (a: number, count: number) => u32(a << (count & 31))
export const v_lshr_b32 = (a: number, count: number) => a >>> (count & 31)
export const v_ashr_i32 = (a: number, count: number) => u32(a >> (count & 31))
export const v_lshlrev_b32 = (count: number, a: number) => v_lshl_b32(a, count)
export const v_lshrrev_b32 = (count: number, a: number) => v_lshr_b32(a, count)
export const v_ashrrev_i32 = (count: number, a: number) => v_ashr_i32(a, count)
export const v_lshlrev_b16 = (count: number, a: number) => u16(a << (count & 15))
export const v_lshrrev_b16 = (count: number, a: number) => u16(a) >>> (count & 15)
export const v_ashrrev_i16 = (count: number, a: number) => u16(i16(a) >> (count & 15))
/** D = S0[4:0] ones, shifted left by S1[4:0]. */
export const v_bfm_b32 = (width: number, offset: number) => u32(((1 << (width & 31)) - 1) << (offset & 31))
/** D = the lane's bit of the mask ? S1 : S0. */
export const v_cndmask_b32 = (a: number, b: number, bit: boolean) => (bit ? b : a)
/** D = S1 + the number of ones in S0 at places below the lane's number (lanes 0 to 31). */
export const v_mbcnt_lo_u32_b32 = (a: number, b: number, m: Modes) => u32(b + countBits(a & lanesBelow(m.lane)))
/** The same for lanes 32 to 63. */
export const v_mbcnt_hi_u32_b32 = (a: number, b: number, m: Modes) => u32(b + countBits(a & lanesBelow(m.lane - 32)))
const lanesBelow = (lane: number) => (lane <= 0 ? 0 : lane >= 32 ? -1 : (1 << lane) - 1)

// --- pack

/** Two 16-bit results in one word, the first one low. */
const pack = (low: number, high: number) => u32(u16(low) | (high << 16))

/** D = S0 and S1 as signed numbers of 16 bits, saturated. */
export const v_cvt_pk_i16_i32 = (a: number, b: number) => pack(saturate(i32(a), -0x8000, 0x7fff), saturate(i32(b), -0x8000, 0x7fff))
export const v_cvt_pk_u16_u32 = (a: number, b: number) => pack(Math.min(a, 0xffff), Math.min(b, 0xffff))

/** -1 to 1 become -32767 to 32767, rounded to nearest even. */
const signedNorm = (a: number) => saturate(roundInteger(F32.value(a) * 0x7fff, NEAREST), -0x7fff, 0x7fff)
/** 0 to 1 become 0 to 65535. */
const unsignedNorm = (a: number) => saturate(roundInteger(F32.value(a) * 0xffff, NEAREST), 0, 0xffff)

export const v_cvt_pknorm_i16_f32 = (a: number, b: number) => pack(signedNorm(a), signedNorm(b))
export const v_cvt_pknorm_u16_f32 = (a: number, b: number) => pack(unsignedNorm(a), unsignedNorm(b))

/** D = S0 and S1 as f16, rounded towards zero whatever MODE says; denormal results are flushed as MODE says of f16. */
export function v_cvt_pkrtz_f16_f32(a: number, b: number, m: Modes): number {
  const half = (word: number) => {
    const result = convert(F32, F16, word, ZERO)
    return m.flushResults64 ? flushed(F16, result) : result
  }
  return pack(half(a), half(b))
}

/** D = D with byte S1[1:0] replaced by S0 as a number from 0 to 255, rounded as MODE says and saturated. */
export const v_cvt_pkaccum_u8_f32 = (a: number, place: number, d: number, m: Modes) => replaceByte(d, place & 3, unsigned8(a, m))

export const unsigned8 = (a: number, m: Modes): number => saturate(roundInteger(F32.value(a), m.round32), 0, 255)
export const replaceByte = (word: number, place: number, byte: number): number => u32(word ^ ((byteOf(word, place) ^ byte) << (8 * place)))
