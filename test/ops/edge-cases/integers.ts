/** Models of the operations on integers and bits, in exact integers. Source: AMD's GCN manuals, vector ALU instructions. */
import { type Circumstances, type Lane, type Model, models, saturates } from './model.ts'

type Words = readonly bigint[]

const u = (bits: number, n: bigint) => BigInt.asUintN(bits, n)
const s = (bits: number, n: bigint) => BigInt.asIntN(bits, n)
const sorted = (list: readonly bigint[]) => [...list].sort((a, b) => (a < b ? -1 : 1))
const least = (...list: bigint[]) => sorted(list)[0]!
const greatest = (...list: bigint[]) => sorted(list).at(-1)!
const median = (...list: bigint[]) => sorted(list)[1]!
const within = (low: bigint, n: bigint, high: bigint) => greatest(low, least(n, high))
const bitsOf = (width: number, a: bigint) => Array.from({ length: width }, (_, i) => ((a >> BigInt(i)) & 1n) === 1n)
const ones = (a: bigint) => BigInt(bitsOf(64, a).filter((bit) => bit).length)
const byte = (a: bigint, n: number) => (a >> BigInt(8 * n)) & 0xffn
const size = (a: bigint) => (a < 0n ? -a : a)
const list4 = (of: (n: number) => bigint) => [0, 1, 2, 3].map(of)
const joined = (bits: number, parts: readonly bigint[]) => parts.reduce((all, part, n) => all | (part << BigInt(n * bits)), 0n)
const total = (list: readonly bigint[]) => list.reduce((a, b) => a + b, 0n)

/** The exact result cut off, or with clamp the nearest number that the type has. */
const unsigned = (bits: number, n: bigint, at: Circumstances) => (saturates(at) ? within(0n, n, (1n << BigInt(bits)) - 1n) : u(bits, n))
const signed = (bits: number, n: bigint, at: Circumstances) =>
  u(bits, saturates(at) ? within(-(1n << BigInt(bits - 1)), n, (1n << BigInt(bits - 1)) - 1n) : n)

/** The exact sum or difference, and whether it leaves 32 bits. */
const carried =
  (exact: (words: Words) => bigint): Lane =>
  (words, at) => {
    const n = exact(words)
    return [unsigned(32, n, at), n < 0n || n >= 1n << 32n]
  }

const shift =
  (bits: number, of: (a: bigint, count: bigint) => bigint, reversed: boolean): Lane =>
  ([x, y]) => {
    const [a, count] = reversed ? [y!, x!] : [x!, y!]
    return u(bits, of(a, count % BigInt(bits)))
  }
const left = (a: bigint, count: bigint) => a << count
const right = (a: bigint, count: bigint) => a >> count
const arithmetic = (bits: number) => (a: bigint, count: bigint) => s(bits, a) >> count

const absolute = (a: bigint, b: bigint) => size(a - b)
const sad = (a: bigint, b: bigint) => total(list4((n) => absolute(byte(a, n), byte(b, n))))
/** Bytes of the reference that are 0 are masked out. */
const msad = (a: bigint, b: bigint) => total(list4((n) => (byte(b, n) === 0n ? 0n : absolute(byte(a, n), byte(b, n)))))
const windows =
  (bits: number, sum: typeof sad): Lane =>
  ([a, b, c], at) =>
    joined(
      bits,
      list4((n) => unsigned(bits, u(bits, c! >> BigInt(n * bits)) + sum(u(32, a! >> BigInt(8 * n)), b!), at)),
    )

const extreme =
  (of: (...list: bigint[]) => bigint, bits: number, isSigned: boolean): Lane =>
  (words) =>
    u(bits, of(...words.map((word) => (isSigned ? s(bits, word) : word))))

const firstOne = (bits: readonly boolean[]) => u(32, BigInt(bits.indexOf(true)))
const highestFirst = (a: bigint) => bitsOf(32, a).reverse()

/** Byte `select` of the pair a:b; copies of signs, 0 and 0xff beyond. */
function permuted(a: bigint, b: bigint, select: bigint): bigint {
  const pair = (a << 32n) | b
  if (select < 8n) return byte(pair, Number(select))
  if (select < 12n) return byte(pair, 2 * Number(select) - 15) >= 0x80n ? 0xffn : 0n
  return select === 12n ? 0n : 0xffn
}

const belowLane = ([mask, b]: Words, lanes: number) => u(32, b! + ones(mask! & ((1n << BigInt(Math.max(0, Math.min(lanes, 32)))) - 1n)))

export const INTEGERS: readonly [string, Model][] = models('never', {
  v_mov_b32: ([a]) => a!,
  v_not_b32: ([a]) => 0xffffffffn - a!,
  v_bfrev_b32: ([a]) => joined(1, highestFirst(a!).map(BigInt)),
  v_ffbh_u32: ([a]) => firstOne(highestFirst(a!)),
  v_ffbl_b32: ([a]) => firstOne(bitsOf(32, a!)),
  v_ffbh_i32: ([a]) => firstOne(highestFirst(s(32, a!) < 0n ? 0xffffffffn - a! : a!)),
  v_and_b32: ([a, b]) => a! & b!,
  v_or_b32: ([a, b]) => a! | b!,
  v_xor_b32: ([a, b]) => a! ^ b!,
  v_bcnt_u32_b32: ([a, b]) => u(32, b! + ones(a!)),
  v_mbcnt_lo_u32_b32: (words, { lane }) => belowLane(words, lane),
  v_mbcnt_hi_u32_b32: (words, { lane }) => belowLane(words, lane - 32),
  v_bfm_b32: ([width, offset]) => u(32, ((1n << (width! % 32n)) - 1n) << (offset! % 32n)),
  v_bfe_u32: ([a, offset, width]) => u(Number(width! % 32n), a! >> (offset! % 32n)),
  v_bfe_i32: ([a, offset, width]) => u(32, s(Number(width! % 32n), s(32, a!) >> (offset! % 32n))),
  v_bfi_b32: ([a, b, c]) => (a! & b!) | ((0xffffffffn - a!) & c!),
  v_alignbit_b32: ([a, b, c]) => u(32, ((a! << 32n) | b!) >> (c! % 32n)),
  v_alignbyte_b32: ([a, b, c]) => u(32, ((a! << 32n) | b!) >> (8n * (c! % 4n))),
  v_perm_b32: ([a, b, c]) =>
    joined(
      8,
      list4((n) => permuted(a!, b!, byte(c!, n))),
    ),
  v_lerp_u8: ([a, b, c]) =>
    joined(
      8,
      list4((n) => (byte(a!, n) + byte(b!, n) + (byte(c!, n) & 1n)) >> 1n),
    ),
  v_cndmask_b32: ([a, b, bit]) => (bit ? b! : a!),

  v_lshl_b32: shift(32, left, false),
  v_lshlrev_b32: shift(32, left, true),
  v_lshr_b32: shift(32, right, false),
  v_lshrrev_b32: shift(32, right, true),
  v_ashr_i32: shift(32, arithmetic(32), false),
  v_ashrrev_i32: shift(32, arithmetic(32), true),
  v_lshlrev_b16: shift(16, left, true),
  v_lshrrev_b16: shift(16, right, true),
  v_ashrrev_i16: shift(16, arithmetic(16), true),
  v_lshl_b64: shift(64, left, false),
  v_lshlrev_b64: shift(64, left, true),
  v_lshr_b64: shift(64, right, false),
  v_lshrrev_b64: shift(64, right, true),
  v_ashr_i64: shift(64, arithmetic(64), false),
  v_ashrrev_i64: shift(64, arithmetic(64), true),

  v_add_co_u32: carried(([a, b]) => a! + b!),
  v_sub_co_u32: carried(([a, b]) => a! - b!),
  v_subrev_co_u32: carried(([a, b]) => b! - a!),
  v_addc_co_u32: carried(([a, b, c]) => a! + b! + c!),
  v_subb_co_u32: carried(([a, b, c]) => a! - b! - c!),
  v_subbrev_co_u32: carried(([a, b, c]) => b! - a! - c!),
  v_add_u16: ([a, b], at) => unsigned(16, a! + b!, at),
  v_sub_u16: ([a, b], at) => unsigned(16, a! - b!, at),
  v_subrev_u16: ([a, b], at) => unsigned(16, b! - a!, at),
  v_mul_lo_u16: ([a, b]) => u(16, a! * b!),
  v_mad_u16: ([a, b, c], at) => unsigned(16, a! * b! + c!, at),
  v_mad_i16: ([a, b, c], at) => signed(16, s(16, a!) * s(16, b!) + s(16, c!), at),
  v_mul_u32_u24: ([a, b]) => u(32, u(24, a!) * u(24, b!)),
  v_mul_hi_u32_u24: ([a, b]) => (u(24, a!) * u(24, b!)) >> 32n,
  v_mul_i32_i24: ([a, b]) => u(32, s(24, a!) * s(24, b!)),
  v_mul_hi_i32_i24: ([a, b]) => u(32, (s(24, a!) * s(24, b!)) >> 32n),
  v_mad_u32_u24: ([a, b, c], at) => unsigned(32, u(24, a!) * u(24, b!) + c!, at),
  v_mad_i32_i24: ([a, b, c], at) => signed(32, s(24, a!) * s(24, b!) + s(32, c!), at),
  v_mul_lo_u32: ([a, b]) => u(32, a! * b!),
  v_mul_lo_i32: ([a, b]) => u(32, s(32, a!) * s(32, b!)),
  v_mul_hi_u32: ([a, b]) => (a! * b!) >> 32n,
  v_mul_hi_i32: ([a, b]) => u(32, (s(32, a!) * s(32, b!)) >> 32n),
  v_mad_u64_u32: ([a, b, c], at) => {
    const n = a! * b! + c!
    return [unsigned(64, n, at), n >= 1n << 64n]
  },
  // Bit 64 of the exact sum is its sign.
  v_mad_i64_i32: ([a, b, c], at) => {
    const n = s(32, a!) * s(32, b!) + s(64, c!)
    return [signed(64, n, at), n < 0n]
  },

  v_min_i32: extreme(least, 32, true),
  v_max_i32: extreme(greatest, 32, true),
  v_min_u32: extreme(least, 32, false),
  v_max_u32: extreme(greatest, 32, false),
  v_min_i16: extreme(least, 16, true),
  v_max_i16: extreme(greatest, 16, true),
  v_min_u16: extreme(least, 16, false),
  v_max_u16: extreme(greatest, 16, false),
  v_min3_i32: extreme(least, 32, true),
  v_max3_i32: extreme(greatest, 32, true),
  v_med3_i32: extreme(median, 32, true),
  v_min3_u32: extreme(least, 32, false),
  v_max3_u32: extreme(greatest, 32, false),
  v_med3_u32: extreme(median, 32, false),

  v_sad_u8: ([a, b, c], at) => unsigned(32, c! + sad(a!, b!), at),
  v_sad_hi_u8: ([a, b, c], at) => unsigned(32, c! + (sad(a!, b!) << 16n), at),
  v_sad_u16: ([a, b, c], at) => unsigned(32, c! + absolute(u(16, a!), u(16, b!)) + absolute(a! >> 16n, b! >> 16n), at),
  v_sad_u32: ([a, b, c], at) => unsigned(32, c! + absolute(a!, b!), at),
  v_msad_u8: ([a, b, c], at) => unsigned(32, c! + msad(a!, b!), at),
  v_qsad_pk_u16_u8: windows(16, sad),
  v_mqsad_pk_u16_u8: windows(16, msad),
  v_mqsad_u32_u8: windows(32, msad),

  v_cvt_pk_u16_u32: ([a, b]) => joined(16, [least(a!, 0xffffn), least(b!, 0xffffn)]),
  v_cvt_pk_i16_i32: ([a, b]) =>
    joined(
      16,
      [a!, b!].map((n) => u(16, within(-0x8000n, s(32, n), 0x7fffn))),
    ),
})
