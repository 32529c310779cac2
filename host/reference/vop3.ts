/**
 * What the vector operations that have only the VOP3 encoding do with one lane: words in, word out (types in lane.ts). Sources have
 * been through abs, neg and flushing; omod, clamp of floats and the flushing of the result come after.
 * Source: AMD's "Southern Islands", "Sea Islands" and "Graphics Core Next Architecture, Generation 3" instruction set manuals, chapter
 * "Vector ALU Instructions", VOP3; where they say too little, CLRX's GcnInstrsVop3. `Hardware:` marks what differs from the manual.
 */
import { twoOverPi } from './elementary.ts'
import type { Modes } from './lane.ts'
import {
  add,
  F16,
  F32,
  F64,
  type Format,
  fma,
  isInfinite,
  largest,
  multiply,
  NEAREST,
  nanOf,
  power,
  type Round,
  roundExact,
  scale,
  withSign,
} from './number.ts'
import { mad16, mad32, madLegacy, maximum, minimum, replaceByte, unsigned8 } from './vop2.ts'
import { byteOf, countBits, halfOf, i16, i24, i32, i64, saturate, saturates, u16, u24, u32, u64 } from './words.ts'

type Word = number | bigint

// --- floats

export const v_add_f64 = (a: bigint, b: bigint, m: Modes) => add(F64, a, b, m.round64)
export const v_mul_f64 = (a: bigint, b: bigint, m: Modes) => multiply(F64, a, b, m.round64)
/** D = S0 * S1 + S2, rounded once. */
export const v_fma_f32 = (a: number, b: number, c: number, m: Modes) => fma(F32, a, b, c, m.round32)
export const v_fma_f64 = (a: bigint, b: bigint, c: bigint, m: Modes) => fma(F64, a, b, c, m.round64)
export const v_fma_f16 = (a: number, b: number, c: number, m: Modes) => fma(F16, a, b, c, m.round64)
/** D = S0 * S1 + S2, rounded after the multiplication and again after the addition. */
export const v_mad_f32 = (a: number, b: number, c: number, m: Modes) => mad32(a, b, c, m)
export const v_mad_f16 = (a: number, b: number, c: number, m: Modes) => mad16(a, b, c, m)
/** The same where zero times anything is +0. */
export const v_mad_legacy_f32 = (a: number, b: number, c: number, m: Modes) => madLegacy(a, b, c, m)

/**
 * D = S0 * S1 where S2 > 0 and S1 is a number above the least, else the least number; zero times anything is +0. For the specular
 * term of lighting.
 */
export function v_mullit_f32(a: number, b: number, c: number, m: Modes): number {
  const x = F32.value(a)
  const y = F32.value(b)
  if (!(F32.value(c) > 0) || !(y > -largest(F32))) return F32.word(-largest(F32))
  return x === 0 || y === 0 ? 0 : multiply(F32, a, b, m.round32)
}

/** D = S0 * 2^S1, S1 signed; rounded once. */
export const v_ldexp_f32 = (a: number, exponent: number, m: Modes) => scale(F32, a, i32(exponent), m.round32)
export const v_ldexp_f64 = (a: bigint, exponent: number, m: Modes) => scale(F64, a, i32(exponent), m.round64)

// --- minimum, maximum, median

export const v_min_f64 = (a: bigint, b: bigint, m: Modes) => minimum(F64, a, b, m)
export const v_max_f64 = (a: bigint, b: bigint, m: Modes) => maximum(F64, a, b, m)
export const v_min3_f32 = (a: number, b: number, c: number, m: Modes) => minimum(F32, minimum(F32, a, b, m), c, m)
export const v_max3_f32 = (a: number, b: number, c: number, m: Modes) => maximum(F32, maximum(F32, a, b, m), c, m)
/** The middle one; with a NaN among them, v_min3_f32. */
export function v_med3_f32(a: number, b: number, c: number, m: Modes): number {
  if (F32.isNaN(a) || F32.isNaN(b) || F32.isNaN(c)) return v_min3_f32(a, b, c, m)
  const top = F32.value(v_max3_f32(a, b, c, m))
  if (top === F32.value(a)) return maximum(F32, b, c, m)
  if (top === F32.value(b)) return maximum(F32, a, c, m)
  return maximum(F32, a, b, m)
}

const median = (a: number, b: number, c: number) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
export const v_min3_i32 = (a: number, b: number, c: number) => u32(Math.min(i32(a), i32(b), i32(c)))
export const v_max3_i32 = (a: number, b: number, c: number) => u32(Math.max(i32(a), i32(b), i32(c)))
export const v_med3_i32 = (a: number, b: number, c: number) => u32(median(i32(a), i32(b), i32(c)))
export const v_min3_u32 = (a: number, b: number, c: number) => Math.min(a, b, c)
export const v_max3_u32 = (a: number, b: number, c: number) => Math.max(a, b, c)
export const v_med3_u32 = (a: number, b: number, c: number) => median(a, b, c)

// --- cube maps: S0, S1, S2 are x, y, z of a direction; of equally long axes z comes before y before x

type Axis = 'x' | 'y' | 'z'

function majorAxis(x: number, y: number, z: number): Axis {
  const [sizeX, sizeY, sizeZ] = [Math.abs(F32.value(x)), Math.abs(F32.value(y)), Math.abs(F32.value(z))]
  if (sizeZ >= sizeX && sizeZ >= sizeY) return 'z'
  return sizeY >= sizeX ? 'y' : 'x'
}

const below0 = (a: number) => F32.value(a) < 0
const negated = (a: number) => u32(a ^ F32.sign)

/** D = number of the face: 0 +x, 1 -x, 2 +y, 3 -y, 4 +z, 5 -z; -0 counts as positive. */
export function v_cubeid_f32(x: number, y: number, z: number): number {
  switch (majorAxis(x, y, z)) {
    case 'z':
      return F32.word(below0(z) ? 5 : 4)
    case 'y':
      return F32.word(below0(y) ? 3 : 2)
    default:
      return F32.word(below0(x) ? 1 : 0)
  }
}
/** D = coordinate to the right on the face, not divided yet. */
export function v_cubesc_f32(x: number, y: number, z: number): number {
  switch (majorAxis(x, y, z)) {
    case 'z':
      return below0(z) ? negated(x) : x
    case 'y':
      return x
    default:
      return below0(x) ? z : negated(z)
  }
}
/** D = coordinate downwards on the face, not divided yet. */
export function v_cubetc_f32(x: number, y: number, z: number): number {
  switch (majorAxis(x, y, z)) {
    case 'z':
      return negated(y)
    case 'y':
      return below0(y) ? negated(z) : z
    default:
      return negated(y)
  }
}
/** D = twice the coordinate along the longest axis. */
export function v_cubema_f32(x: number, y: number, z: number, m: Modes): number {
  return multiply(F32, { x, y, z }[majorAxis(x, y, z)], F32.word(2), m.round32)
}

// --- division: n / d is scaled (div_scale), approximated by Newton's iteration, scaled back (div_fmas) and mended (div_fixup)
// Hardware: the manuals' formulas are wrong. The rules here agree with what AMD's rocjitsu (pull request 11613 in ROCm/rocm-systems) and
// tinygrad (test/amd/hw) report of later cards, but for one: there, a quotient 2^far too small is scaled although it is not denormal.

/** Numbers by which the division of a format decides; exponents are the biased ones of the bits. */
interface Division<W extends Word> {
  readonly format: Format<W>
  /** The exponent of the power of two that div_scale and div_fmas scale by. */
  readonly step: number
  /** The difference of exponents from which on a quotient, or a step on the way to it, leaves the range. */
  readonly far: number
  /** A numerator up to this exponent is tiny: the remainder would be denormal. */
  readonly tiny: number
}
const DIVISION32: Division<number> = { format: F32, step: 64, far: 96, tiny: 24 }
const DIVISION64: Division<bigint> = { format: F64, step: 128, far: 768, tiny: 53 }

/** Whether n / d, n not zero, is less than the smallest normal number. */
const isBelowNormal = <W extends Word>(f: Format<W>, n: W, d: W) =>
  f.value(n) !== 0 && Math.abs(f.value(n) / f.value(d)) < power(f.minExponent)

/**
 * D = S0, which is the denominator S1 or the numerator S2, scaled so that the division's steps neither overflow nor lose bits. The
 * mask says that the result has to be scaled back by v_div_fmas.
 */
function divScale<W extends Word>({ format: f, step, far, tiny }: Division<W>, a: W, d: W, n: W): readonly [W, boolean] {
  const exponent = f.exponentField(d)
  const difference = f.exponentField(n) - exponent
  const isTiny = f.exponentField(n) <= tiny
  const isNumber = exponent <= 2 * f.maxExponent
  const isSmall = exponent !== 0 && (((isTiny || !isNumber) && difference <= -far) || isBelowNormal(f, n, d))
  const scaleBack = difference >= far || isSmall
  if (f.value(d) === 0 || f.value(n) === 0) return [f.nan, scaleBack]
  const isDenominator = a === d
  let by = 0
  if (difference >= far) by = isDenominator ? step : 0
  else if (exponent === 0) by = step
  else if (exponent >= 2 * f.maxExponent - 1)
    by = isSmall && !isDenominator ? 0 : -step // where 1 / d is denormal
  else if (isSmall) by = isDenominator ? 0 : step
  else if (isTiny) by = step
  return [scale(f, a, by, NEAREST), scaleBack] // exact: scaled like this neither number leaves the range
}
export const v_div_scale_f32 = (a: number, d: number, n: number) => divScale(DIVISION32, a, d, n)
export const v_div_scale_f64 = (a: bigint, d: bigint, n: bigint) => divScale(DIVISION64, a, d, n)

/** D = S0 * S1 + S2, scaled back if the mask says so: up if |S2| ≥ 2, else down; rounded once, but for what overflows before it is scaled. */
function divFmas<W extends Word>({ format: f, step }: Division<W>, a: W, b: W, c: W, scaleBack: boolean, round: Round): W {
  const unscaled = fma(f, a, b, c, round)
  if (!scaleBack) return unscaled
  const by = f.exponentField(c) > f.maxExponent ? step : -step
  return Math.abs(f.value(unscaled)) >= largest(f) ? scale(f, unscaled, by, round) : fma(f, a, b, c, round, by)
}
export const v_div_fmas_f32 = (a: number, b: number, c: number, scaleBack: boolean, m: Modes) =>
  divFmas(DIVISION32, a, b, c, scaleBack, m.round32)
export const v_div_fmas_f64 = (a: bigint, b: bigint, c: bigint, scaleBack: boolean, m: Modes) =>
  divFmas(DIVISION64, a, b, c, scaleBack, m.round64)

/** D = the quotient S0 of S2 / S1 with the sign it must have, and the special cases of division put right. */
function divFixup<W extends Word>(f: Format<W>, quotient: W, d: W, n: W): W {
  if (f.isNaN(n) || f.isNaN(d)) return nanOf(f, n, d)
  const negative = f.isNegative(d) !== f.isNegative(n)
  const signed = (value: number) => f.word(withSign(value, negative))
  const x = Math.abs(f.value(d))
  const y = Math.abs(f.value(n))
  if ((x === 0 && y === 0) || (isInfinite(x) && isInfinite(y))) return f.nan
  if (x === 0 || isInfinite(y)) return signed(Number.POSITIVE_INFINITY)
  if (y === 0 || isInfinite(x)) return signed(0)
  // f16 divides in f32, so its quotient needs no more than the above
  if (f.name !== 'f16' && f.exponentField(n) - f.exponentField(d) < -(f.maxExponent + f.precision - 1)) return signed(0)
  const q = f.value(quotient)
  if (!Number.isNaN(q)) return signed(q)
  return f.name === 'f16' ? f.quiet(quotient) : signed(Number.POSITIVE_INFINITY)
}
export const v_div_fixup_f32 = (q: number, d: number, n: number) => divFixup(F32, q, d, n)
export const v_div_fixup_f64 = (q: bigint, d: bigint, n: bigint) => divFixup(F64, q, d, n)
export const v_div_fixup_f16 = (q: number, d: number, n: number) => divFixup(F16, q, d, n)

/**
 * D = 53 bits of 2/π as a number of their weight, segment S1[4:0] of those that matter for an angle of S0's size: argument reduction
 * multiplies S0 by three of them. The table ends after 1,201 bits.
 */
export function v_trig_preop_f64(a: bigint, segment: number): bigint {
  const exponent = F64.exponentField(a)
  const place = (segment & 31) * 53 + Math.max(exponent - 1077, 0)
  const bits = (place > 1148 ? twoOverPi << BigInt(place - 1148) : twoOverPi >> BigInt(1148 - place)) & 0x1fffffffffffffn
  const weight = -53 - place + (exponent >= 1968 ? 128 : 0)
  return F64.word(roundExact({ negative: false, significand: bits, exponent: weight }, F64, NEAREST))
}

// --- integers: multiply and add

export const v_mul_lo_u32 = (a: number, b: number) => u32(Math.imul(a, b))
export const v_mul_lo_i32 = v_mul_lo_u32
export const v_mul_hi_u32 = (a: number, b: number) => Number((BigInt(a) * BigInt(b)) >> 32n)
export const v_mul_hi_i32 = (a: number, b: number) => u32(Number((BigInt(i32(a)) * BigInt(i32(b))) >> 32n))

const unsigned32 = (n: number, m: Modes) => (saturates(m) ? saturate(n, 0, 0xffffffff) : u32(n))
const signed32 = (n: number, m: Modes) => u32(saturates(m) ? saturate(n, -0x80000000, 0x7fffffff) : n)
/** D = S0[23:0] * S1[23:0] + S2; the sum is exact in a JavaScript number. */
export const v_mad_u32_u24 = (a: number, b: number, c: number, m: Modes) => unsigned32(u24(a) * u24(b) + c, m)
export const v_mad_i32_i24 = (a: number, b: number, c: number, m: Modes) => signed32(i24(a) * i24(b) + i32(c), m)
export const v_mad_u16 = (a: number, b: number, c: number, m: Modes) => {
  const n = u16(a) * u16(b) + u16(c)
  return saturates(m) ? Math.min(n, 0xffff) : u16(n)
}
export const v_mad_i16 = (a: number, b: number, c: number, m: Modes) => {
  const n = i16(a) * i16(b) + i16(c)
  return u16(saturates(m) ? saturate(n, -0x8000, 0x7fff) : n)
}
/** D = S0 * S1 + S2; the mask gets bit 64 of the sum. */
export function v_mad_u64_u32(a: number, b: number, c: bigint, m: Modes): readonly [bigint, boolean] {
  const n = BigInt(a) * BigInt(b) + c
  const carry = n > 0xffffffffffffffffn
  return [carry && saturates(m) ? 0xffffffffffffffffn : u64(n), carry]
}
/** The same for signed numbers; the mask gets bit 64 of the sum, which is its sign. */
export function v_mad_i64_i32(a: number, b: number, c: bigint, m: Modes): readonly [bigint, boolean] {
  const n = BigInt(i32(a)) * BigInt(i32(b)) + i64(c)
  const overflows = n !== i64(n)
  return [overflows && saturates(m) ? (n < 0n ? 0x8000000000000000n : 0x7fffffffffffffffn) : u64(n), n < 0n]
}

// --- bits

/** D = S1 + number of ones in S0. */
export const v_bcnt_u32_b32 = (a: number, b: number) => u32(b + countBits(a))
/** D = S2[4:0] bits of S0 from place S1[4:0] on; bits beyond the word are zero. */
export const v_bfe_u32 = (a: number, place: number, width: number) => u32((a >>> (place & 31)) & ((1 << (width & 31)) - 1))
/** The same, sign-extended; bits beyond the word are copies of the sign. A field of no bits is 0. */
export function v_bfe_i32(a: number, place: number, width: number): number {
  const unused = 32 - (width & 31)
  return unused === 32 ? 0 : u32(((a >> (place & 31)) << unused) >> unused)
}
/** D = bits of S1 where S0 has ones, of S2 where it has zeros. */
export const v_bfi_b32 = (a: number, b: number, c: number) => u32((a & b) | (~a & c))
/** D = 32 bits of the pair S0:S1 (S0 high) from place S2[4:0] on. */
export const v_alignbit_b32 = (a: number, b: number, c: number) => (c & 31 ? u32((a << (32 - (c & 31))) | (b >>> (c & 31))) : b)
/** The same from byte S2[1:0] on. */
export const v_alignbyte_b32 = (a: number, b: number, c: number) => v_alignbit_b32(a, b, (c & 3) * 8)

/** Byte `select` of the pair S0:S1 (S1 low); 8 to 11 are eight copies of the sign of bytes 1, 3, 5, 7; 12 is 0; above is 0xff. */
function permuted(a: number, b: number, select: number): number {
  const byte = (n: number) => (n < 4 ? byteOf(b, n) : byteOf(a, n - 4))
  if (select < 8) return byte(select)
  if (select < 12) return byte(2 * select - 15) & 0x80 ? 255 : 0
  return select === 12 ? 0 : 255
}
/** D = four bytes, each selected by the byte of S2 at its place. */
export const v_perm_b32 = (a: number, b: number, c: number) => eachByte((n) => permuted(a, b, byteOf(c, n)))

const eachByte = (of: (n: number) => number) => u32(of(0) | (of(1) << 8) | (of(2) << 16) | (of(3) << 24))

/** D = the mean of each pair of bytes, rounded up where S2's byte is odd, else down. */
export const v_lerp_u8 = (a: number, b: number, c: number) => eachByte((n) => (byteOf(a, n) + byteOf(b, n) + (byteOf(c, n) & 1)) >> 1)

/** D = S2 with byte S1[1:0] replaced by S0 as a number from 0 to 255, rounded as MODE says and saturated. */
export const v_cvt_pk_u8_f32 = (a: number, place: number, c: number, m: Modes) => replaceByte(c, place & 3, unsigned8(a, m))

export const v_lshl_b64 = (a: bigint, count: number) => u64(a << BigInt(count & 63))
export const v_lshr_b64 = (a: bigint, count: number) => a >> BigInt(count & 63)
export const v_ashr_i64 = (a: bigint, count: number) => u64(i64(a) >> BigInt(count & 63))
export const v_lshlrev_b64 = (count: number, a: bigint) => v_lshl_b64(a, count)
export const v_lshrrev_b64 = (count: number, a: bigint) => v_lshr_b64(a, count)
export const v_ashrrev_i64 = (count: number, a: bigint) => v_ashr_i64(a, count)

// --- sums of absolute differences, for motion estimation; differences are unsigned

const difference = (a: number, b: number) => Math.abs(a - b)
const sumOfBytes = (of: (n: number) => number) => of(0) + of(1) + of(2) + of(3)
const sad = (a: number, b: number) => sumOfBytes((n) => difference(byteOf(a, n), byteOf(b, n)))
/** Bytes of S1 that are 0 do not count. */
const msad = (a: number, b: number) => sumOfBytes((n) => (byteOf(b, n) === 0 ? 0 : difference(byteOf(a, n), byteOf(b, n))))

/** D = S2 + the four differences of bytes. */
export const v_sad_u8 = (a: number, b: number, c: number, m: Modes) => unsigned32(c + sad(a, b), m)
/** D = S2 + 2^16 times the four differences of bytes. */
export const v_sad_hi_u8 = (a: number, b: number, c: number, m: Modes) => unsigned32(c + sad(a, b) * 0x10000, m)
export const v_sad_u16 = (a: number, b: number, c: number, m: Modes) =>
  unsigned32(c + difference(halfOf(a, 0), halfOf(b, 0)) + difference(halfOf(a, 1), halfOf(b, 1)), m)
export const v_sad_u32 = (a: number, b: number, c: number, m: Modes) => unsigned32(c + difference(a, b), m)
export const v_msad_u8 = (a: number, b: number, c: number, m: Modes) => unsigned32(c + msad(a, b), m)

/** Four sums: of S0's bytes 0–3, 1–4, 2–5 and 3–6 against S1, each added to its `bits` bits of S2. */
function windows(sum: typeof sad, bits: 16 | 32, a: bigint, b: number, c: bigint, m: Modes): bigint {
  const top = 2 ** bits - 1
  let d = 0n
  for (let n = 0; n < 4; n++) {
    const total = Number(BigInt.asUintN(bits, c >> BigInt(n * bits))) + sum(Number(BigInt.asUintN(32, a >> BigInt(8 * n))), b)
    d |= BigInt(saturates(m) ? Math.min(total, top) : total % (top + 1)) << BigInt(n * bits)
  }
  return d
}
export const v_qsad_pk_u16_u8 = (a: bigint, b: number, c: bigint, m: Modes) => windows(sad, 16, a, b, c, m)
export const v_mqsad_pk_u16_u8 = (a: bigint, b: number, c: bigint, m: Modes) => windows(msad, 16, a, b, c, m)
export const v_mqsad_u32_u8 = (a: bigint, b: number, c: bigint, m: Modes) => windows(msad, 32, a, b, c, m)
