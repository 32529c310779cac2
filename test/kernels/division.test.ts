/** The steps of f32 division together, as compilers emit them (LLVM, AMDGPU, fdiv f32): they must give the correctly rounded quotient. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileKernels } from './compile.ts'

const kernels = await compileKernels(['vop2', 'vop3'])
const run = (name: string, ...sources: readonly number[][]): number[] =>
  kernels
    .run(
      name,
      32,
      sources.map((s) => s.map(BigInt)),
    )
    .map(Number)

const view = new DataView(new ArrayBuffer(4))
const value = (bits: number): number => {
  view.setUint32(0, bits)
  return view.getFloat32(0)
}
const bits = (x: number): number => {
  view.setFloat32(0, x)
  return view.getUint32(0)
}
const negated = (row: readonly number[]) => row.map((x) => (x ^ 0x80000000) >>> 0)
const ONE = 0x3f800000

function divide(numerator: number[], denominator: number[]): number[] {
  const d = run('v_div_scale_f32', denominator, denominator, numerator)
  const n = run('v_div_scale_f32', numerator, denominator, numerator)
  const scaled = run('v_div_scale_f32_mask', numerator, denominator, numerator)
  let r = d.map((x) => bits(1 / value(x))) // v_rcp_f32
  r = run(
    'v_fma_f32',
    run(
      'v_fma_f32',
      negated(d),
      r,
      d.map(() => ONE),
    ),
    r,
    r,
  )
  let q = run('v_mul_f32', n, r)
  q = run('v_fma_f32', run('v_fma_f32', negated(d), q, n), r, q)
  q = run('v_div_fmas_f32', run('v_fma_f32', negated(d), q, n), r, q, scaled)
  return run('v_div_fixup_f32', q, denominator, numerator)
}

const word = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(0, 0x80000000),
      fc.integer({ min: 0, max: 254 }),
      fc.oneof(fc.integer({ min: 0, max: 0x7fffff }), fc.constantFrom(0, 1, 0x7fffff, 0x400000)),
    )
    .map(([sign, exponent, fraction]) => sign + exponent * 0x800000 + fraction),
  fc.constantFrom(0, 0x80000000, 1, 0x7f800000, 0xff800000, 0x7f7fffff, 0x00800000, 0x7e800000, 0x7f000000),
)
const row = fc.array(word, { minLength: 16, maxLength: 16 })
const hex = (x: number) => x.toString(16).padStart(8, '0')

test('the division sequence gives the correctly rounded quotient, denormals, infinities and zeros included', () => {
  fc.assert(
    fc.property(row, row, (n, d) => {
      const got = divide(n, d).map((q, i) => `${hex(n[i]!)} / ${hex(d[i]!)} = ${Number.isNaN(value(q)) ? 'NaN' : hex(q)}`)
      // The quotient of two f32 rounded to f64 and then to f32 is correctly rounded where it is normal; see below for denormals.
      const want = n.map((x, i) => `${hex(x)} / ${hex(d[i]!)} = ${quotient(x, d[i]!)}`)
      expect(got).toEqual(want)
    }),
    { numRuns: 2000 },
  )
})

/** value(n) / value(d) as f32, exactly rounded also where it is denormal. */
function quotient(n: number, d: number): string {
  const q = value(n) / value(d)
  if (Number.isNaN(q)) return 'NaN'
  if (Math.abs(q) >= 2 ** -126 || q === 0 || !Number.isFinite(q)) return hex(bits(q))
  // In units of 2^-149: n × 2^149 / d, integers of 2^-149 each.
  const integer = (x: number) => BigInt(Math.abs(value(x)) * 2 ** 149)
  const top = integer(n) << 149n,
    bottom = integer(d)
  let whole = top / bottom
  const rest = 2n * (top % bottom)
  if (rest > bottom || (rest === bottom && (whole & 1n) === 1n)) whole += 1n
  return hex(Number(whole) + (q < 0 ? 0x80000000 : 0))
}
