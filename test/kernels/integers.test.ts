/** Integer kernels against a lane at a time in plain JavaScript, with shift counts that agree and that differ between lanes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileKernels } from './compile.ts'

const kernels = await compileKernels(['vop1', 'vop2', 'vop3', 'clamped'])
const run = (name: string, sources: readonly (readonly number[])[]) =>
  kernels
    .run(
      name,
      32,
      sources.map((s) => s.map(BigInt)),
    )
    .map((word) => hex(Number(word)))
const hex = (x: number) => (x >>> 0).toString(16).padStart(8, '0')

const word = fc.oneof(
  fc.constantFrom(
    0,
    1,
    2,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xffffffff,
    0xfffffffe,
    0xffff,
    0x10000,
    0x7fff,
    0x8000,
    0xffffff,
    0x800000,
    0x7fffff,
    0x01000000,
  ),
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.integer({ min: 0, max: 40 }),
)
const row = fc.array(word, { minLength: 8, maxLength: 8 })
/** One word for every lane, or each its own. */
const count = fc.oneof(
  word.map((x) => Array.from({ length: 8 }, () => x)),
  row,
)

const signed24 = (x: number) => (x << 8) >> 8
const bytes = (x: number) => [x & 255, (x >>> 8) & 255, (x >>> 16) & 255, x >>> 24]
const word32 = (b: readonly number[]) => b[0]! | (b[1]! << 8) | (b[2]! << 16) | (b[3]! << 24)
const ones = (x: number): number => bytes(x).reduce((sum, b) => sum + b.toString(2).replaceAll('0', '').length, 0)
const high = (x: bigint) => Number(BigInt.asUintN(32, x >> 32n))
const low16 = (x: number) => x & 0xffff
const signed16 = (x: number) => (x << 16) >> 16
const field = (a: number, offset: number, width: number) => (a >>> (offset & 31)) & ((2 ** (width & 31) - 1) >>> 0)
const clamped = (x: number, least: number, most: number) => Math.max(least, Math.min(most, x))
const sad = (a: number, b: number, masked = false) =>
  bytes(a).reduce((sum, x, i) => sum + (masked && bytes(b)[i] === 0 ? 0 : Math.abs(x - bytes(b)[i]!)), 0)
const median = (...xs: number[]) => xs.sort((x, y) => x - y)[1]!

const UNARY: Record<string, (a: number) => number> = {
  v_mov_b32: (a) => a,
  v_not_b32: (a) => ~a,
  v_bfrev_b32: (a) => Number.parseInt([...a.toString(2).padStart(32, '0')].reverse().join(''), 2),
  v_ffbh_u32: (a) => (a === 0 ? -1 : Math.clz32(a)),
  v_ffbl_b32: (a) => (a === 0 ? -1 : 31 - Math.clz32(a & -a)),
  v_ffbh_i32: (a) => (a === 0 || a === 0xffffffff ? -1 : Math.clz32((a ^ (a >> 31)) >>> 0)),
}
const BINARY: Record<string, (a: number, b: number) => number> = {
  v_add_co_u32: (a, b) => a + b,
  v_add_co_u32_mask: (a, b) => (a + b > 0xffffffff ? -1 : 0),
  v_add_co_u32_clamped: (a, b) => Math.min(a + b, 0xffffffff),
  v_sub_co_u32: (a, b) => a - b,
  v_sub_co_u32_mask: (a, b) => (a < b ? -1 : 0),
  v_sub_co_u32_clamped: (a, b) => Math.max(a - b, 0),
  v_subrev_co_u32: (a, b) => b - a,
  v_subrev_co_u32_mask: (a, b) => (b < a ? -1 : 0),
  v_subrev_co_u32_clamped: (a, b) => Math.max(b - a, 0),
  v_mul_lo_u32: (a, b) => Math.imul(a, b),
  v_mul_lo_i32: (a, b) => Math.imul(a, b),
  v_mul_hi_u32: (a, b) => high(BigInt(a) * BigInt(b)),
  v_mul_hi_i32: (a, b) => high(BigInt(a | 0) * BigInt(b | 0)),
  v_mul_u32_u24: (a, b) => Math.imul(a & 0xffffff, b & 0xffffff),
  v_mul_i32_i24: (a, b) => Math.imul(signed24(a), signed24(b)),
  v_mul_hi_u32_u24: (a, b) => high(BigInt(a & 0xffffff) * BigInt(b & 0xffffff)),
  v_mul_hi_i32_i24: (a, b) => high(BigInt(signed24(a)) * BigInt(signed24(b))),
  v_min_i32: (a, b) => Math.min(a | 0, b | 0),
  v_max_i32: (a, b) => Math.max(a | 0, b | 0),
  v_min_u32: Math.min,
  v_max_u32: Math.max,
  v_and_b32: (a, b) => a & b,
  v_or_b32: (a, b) => a | b,
  v_xor_b32: (a, b) => a ^ b,
  v_bcnt_u32_b32: (a, b) => ones(a) + b,
  v_cvt_pk_u16_u32: (a, b) => Math.min(a, 0xffff) | (Math.min(b, 0xffff) << 16),
  v_cvt_pk_i16_i32: (a, b) => low16(clamped(a | 0, -0x8000, 0x7fff)) | (clamped(b | 0, -0x8000, 0x7fff) << 16),
}
const SHIFTS: Record<string, (a: number, n: number) => number> = {
  v_lshl_b32: (a, n) => a << (n & 31),
  v_lshr_b32: (a, n) => a >>> (n & 31),
  v_ashr_i32: (a, n) => a >> (n & 31),
}
const HALVES: Record<string, (a: number, b: number) => number> = {
  v_add_u16: (a, b) => a + b,
  v_add_u16_clamped: (a, b) => Math.min(low16(a) + low16(b), 0xffff),
  v_sub_u16: (a, b) => a - b,
  v_sub_u16_clamped: (a, b) => Math.max(low16(a) - low16(b), 0),
  v_subrev_u16: (a, b) => b - a,
  v_subrev_u16_clamped: (a, b) => Math.max(low16(b) - low16(a), 0),
  v_mul_lo_u16: (a, b) => low16(a) * low16(b),
  v_min_u16: (a, b) => Math.min(low16(a), low16(b)),
  v_max_u16: (a, b) => Math.max(low16(a), low16(b)),
  v_min_i16: (a, b) => Math.min(signed16(a), signed16(b)),
  v_max_i16: (a, b) => Math.max(signed16(a), signed16(b)),
  v_lshlrev_b16: (n, a) => low16(a) << (n & 15),
  v_lshrrev_b16: (n, a) => low16(a) >>> (n & 15),
  v_ashrrev_i16: (n, a) => signed16(a) >> (n & 15),
}
const TERNARY: Record<string, (a: number, b: number, c: number) => number> = {
  v_mad_u32_u24: (a, b, c) => Math.imul(a & 0xffffff, b & 0xffffff) + c,
  v_mad_i32_i24: (a, b, c) => Math.imul(signed24(a), signed24(b)) + c,
  v_mad_u32_u24_clamped: (a, b, c) => Math.min((a & 0xffffff) * (b & 0xffffff) + c, 0xffffffff),
  v_mad_i32_i24_clamped: (a, b, c) => clamped(signed24(a) * signed24(b) + (c | 0), -0x80000000, 0x7fffffff),
  v_min3_i32: (a, b, c) => Math.min(a | 0, b | 0, c | 0),
  v_max3_i32: (a, b, c) => Math.max(a | 0, b | 0, c | 0),
  v_med3_i32: (a, b, c) => median(a | 0, b | 0, c | 0),
  v_min3_u32: Math.min,
  v_max3_u32: Math.max,
  v_med3_u32: (a, b, c) => median(a, b, c),
  v_sad_u8: (a, b, c) => sad(a, b) + c,
  v_sad_u8_clamped: (a, b, c) => Math.min(sad(a, b) + c, 0xffffffff),
  v_sad_hi_u8: (a, b, c) => sad(a, b) * 0x10000 + c,
  v_sad_hi_u8_clamped: (a, b, c) => Math.min(sad(a, b) * 0x10000 + c, 0xffffffff),
  v_sad_u16: (a, b, c) => Math.abs(low16(a) - low16(b)) + Math.abs((a >>> 16) - (b >>> 16)) + c,
  v_sad_u32: (a, b, c) => Math.abs(a - b) + c,
  v_sad_u32_clamped: (a, b, c) => Math.min(Math.abs(a - b) + c, 0xffffffff),
  v_msad_u8: (a, b, c) => sad(a, b, true) + c,
  v_bfi_b32: (mask, a, b) => (a & mask) | (b & ~mask),
  v_lerp_u8: (a, b, c) => word32(bytes(a).map((x, i) => (x + bytes(b)[i]! + (bytes(c)[i]! & 1)) >> 1)),
}
const FIELDS: Record<string, (a: number, b: number, c: number) => number> = {
  v_bfe_u32: field,
  v_bfe_i32: (a, offset, width) => {
    const n = Math.min(width & 31, 32 - (offset & 31)) // bits that there are
    return n === 0 ? 0 : (field(a, offset, width) << (32 - n)) >> (32 - n)
  },
}
const FUNNELS: Record<string, (a: number, b: number, c: number) => number> = {
  v_alignbit_b32: (a, b, c) => Number(BigInt.asUintN(32, ((BigInt(a) << 32n) | BigInt(b)) >> BigInt(c & 31))),
  v_alignbyte_b32: (a, b, c) => Number(BigInt.asUintN(32, ((BigInt(a) << 32n) | BigInt(b)) >> BigInt((c & 3) * 8))),
  v_mad_u16: (a, b, c) => low16(low16(a) * low16(b) + low16(c)),
  v_mad_u16_clamped: (a, b, c) => Math.min(low16(a) * low16(b) + low16(c), 0xffff),
  v_mad_i16: (a, b, c) => low16(signed16(a) * signed16(b) + signed16(c)),
  v_mad_i16_clamped: (a, b, c) => low16(clamped(signed16(a) * signed16(b) + signed16(c), -0x8000, 0x7fff)),
  v_perm_b32: (a, b, c) =>
    word32(
      bytes(c).map((pick) =>
        pick < 4
          ? bytes(b)[pick]!
          : pick < 8
            ? bytes(a)[pick - 4]!
            : pick < 12
              ? ([b << 16, b, a << 16, a][pick - 8]! >> 31) & 255
              : pick === 12
                ? 0
                : 255,
      ),
    ),
}

describe('every lane is what one lane in JavaScript gives', () => {
  test.each(Object.entries(UNARY))('%s', (name, want) => {
    fc.assert(
      fc.property(row, (a) => {
        expect(run(name, [a])).toEqual(a.map((x) => hex(want(x))))
      }),
    )
  })
  test.each(Object.entries(BINARY))('%s', (name, want) => {
    fc.assert(
      fc.property(row, row, (a, b) => {
        expect(run(name, [a, b])).toEqual(a.map((x, i) => hex(want(x, b[i]!))))
      }),
    )
  })
  test.each(Object.entries(SHIFTS))('%s, and its reversed form', (name, want) => {
    fc.assert(
      fc.property(row, count, (a, n) => {
        const expected = a.map((x, i) => hex(want(x, n[i]!)))
        expect(run(name, [a, n])).toEqual(expected)
        expect(run(name.replace(/(lshl|lshr|ashr)/, '$1rev'), [n, a])).toEqual(expected)
      }),
    )
  })
  test.each(Object.entries(HALVES))('%s in the low halves', (name, want) => {
    fc.assert(
      fc.property(count, row, (a, b) => {
        expect(run(name, [a, b]).map((w) => w.slice(4))).toEqual(b.map((x, i) => hex(want(a[i]!, x)).slice(4)))
      }),
    )
  })
  test.each(Object.entries(TERNARY))('%s', (name, want) => {
    fc.assert(
      fc.property(row, row, row, (a, b, c) => {
        expect(run(name, [a, b, c])).toEqual(a.map((x, i) => hex(want(x, b[i]!, c[i]!))))
      }),
    )
  })
  test.each(Object.entries(FIELDS))('%s', (name, want) => {
    fc.assert(
      fc.property(row, count, count, (a, b, c) => {
        expect(run(name, [a, b, c])).toEqual(a.map((x, i) => hex(want(x, b[i]!, c[i]!))))
      }),
    )
  })
  test.each(Object.entries(FUNNELS))('%s', (name, want) => {
    const selectors = fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 4, maxLength: 4 }).map((b) => word32(b) >>> 0)
    const last = fc.oneof(count, fc.array(selectors, { minLength: 8, maxLength: 8 }))
    const width = /16/.test(name) ? 4 : 0
    fc.assert(
      fc.property(row, row, last, (a, b, c) => {
        expect(run(name, [a, b, c]).map((w) => w.slice(width))).toEqual(a.map((x, i) => hex(want(x, b[i]!, c[i]!)).slice(width)))
      }),
    )
  })
  test('v_bfm_b32', () => {
    fc.assert(
      fc.property(row, row, (width, offset) => {
        expect(run('v_bfm_b32', [width, offset])).toEqual(width.map((w, i) => hex((2 ** (w & 31) - 1) << (offset[i]! & 31))))
      }),
    )
  })
  test.each(['addc', 'subb', 'subbrev'])('v_%s_co_u32, its carry and its clamp', (verb) => {
    const carry = fc.array(fc.constantFrom(0, 0xffffffff), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(row, row, carry, (a, b, c) => {
        const exact = a.map((x, i) => {
          const bit = c[i]! & 1
          return verb === 'addc' ? x + b[i]! + bit : verb === 'subb' ? x - b[i]! - bit : b[i]! - x - bit
        })
        const name = `v_${verb}_co_u32`
        expect(run(name, [a, b, c])).toEqual(exact.map(hex))
        expect(run(`${name}_mask`, [a, b, c])).toEqual(exact.map((x) => hex(x < 0 || x > 0xffffffff ? -1 : 0)))
        expect(run(`${name}_clamped`, [a, b, c])).toEqual(exact.map((x) => hex(clamped(x, 0, 0xffffffff))))
      }),
    )
  })
  test('v_mbcnt_lo_u32_b32 and v_mbcnt_hi_u32_b32 count the ones below each lane', () => {
    const all = Array.from({ length: 64 }, () => 0xffffffff),
      none = all.map(() => 0)
    const lo = run('v_mbcnt_lo_u32_b32', [all, none])
    expect(lo).toEqual(all.map((_, lane) => hex(Math.min(lane, 32))))
    expect(run('v_mbcnt_hi_u32_b32', [all, lo.map((w) => Number.parseInt(w, 16))])).toEqual(all.map((_, lane) => hex(lane)))
    expect(run('v_mbcnt_lo_u32_b32', [all.map(() => 0x00000103), none]).slice(0, 10)).toEqual([0, 1, 2, 2, 2, 2, 2, 2, 2, 3].map(hex))
  })
})
