/**
 * f16 numbers in f32 lanes. Each f16 is an f32, so operations on f16 are f32 ones with one more rounding; and what is rounded to f16 can stay an f32:
 * the next operation of a run takes it as it is, and its bits are made only for who reads them (the compiler leaves out what nobody does).
 *
 * That a second rounding changes nothing, and which operations that is true of, is said in assembly/ops/half.ts. Here are those to nearest, of numbers:
 * NaNs are tested by who writes a run (chunk.ts).
 */
import { type Argument, type Locals, push } from '../wasm/kernels.ts'
import { type Code, SIMD, V128 } from '../wasm/wasm.ts'

const SIGN = 0x80000000 | 0
const INFINITY = 0x7f800000
/** 2^16, which is the first number that an f16 has no room for; 2^112, by which f16 exponents are too small in an f32; 2^-14, the least normal f16. */
const TOO_LARGE = 0x47800000
const REBIAS = 0x77800000
const LEAST_NORMAL = 0x38800000
const ONE = 0x3f800000

/** What is written with: the function under construction, and the sources as f32 lanes. */
interface Context {
  readonly code: Code
  readonly locals: Locals
  readonly sources: readonly Argument[]
  /** Tests that a local holds no NaN: rounded, it would be an infinity. */
  watch(local: number): void
}

const pushConstant = (code: Code, locals: Locals, dword: number): Code => {
  const local = locals.pooled?.(dword)
  return local === undefined ? code.v128(dword) : code.get(local)
}

/** Operations on the sources in the order given. */
const simple =
  (opcode: number, ...slots: readonly number[]) =>
  ({ code, locals, sources }: Pick<Context, 'code' | 'locals' | 'sources'>): void => {
    for (const slot of slots) pushFloat(code, locals, sources[slot]!)
    code.simd(opcode)
  }
/** The product is rounded, too. */
function productAndSum({ code, locals, sources: [a, b, c], watch }: Context): void {
  const [product, bits, rounded] = [locals.temporary(V128), locals.temporary(V128), locals.temporary(V128)]
  simple(SIMD.f32x4Mul, 0, 1)({ code, locals, sources: [a!, b!] })
  code.set(product)
  watch(product)
  writeRounded(code, locals, product, bits, rounded)
  code.get(rounded)
  pushFloat(code, locals, c!)
  code.simd(SIMD.f32x4Add)
}

/** The product is exact; the sum is rounded to odd: of the two f32 next to it the one whose last bit is 1, so that rounding it to f16 is right. */
function fused({ code, locals, sources: [a, b, c] }: Context): void {
  const [product, sum, rest, error] = [V128, V128, V128, V128].map((type) => locals.temporary(type)) as [number, number, number, number]
  simple(SIMD.f32x4Mul, 0, 1)({ code, locals, sources: [a!, b!] })
  code.tee(product)
  pushFloat(code, locals, c!)
  code.simd(SIMD.f32x4Add).tee(sum).get(product).simd(SIMD.f32x4Sub).set(rest)
  code.get(product).get(sum).get(rest).simd(SIMD.f32x4Sub).simd(SIMD.f32x4Sub)
  pushFloat(code, locals, c!)
  code.get(rest).simd(SIMD.f32x4Sub).simd(SIMD.f32x4Add).tee(error)
  // Not where the sum is infinite or NaN: then the error is NaN.
  code.simd(SIMD.f32x4Abs).v128(0).simd(SIMD.f32x4Gt).set(rest)
  code.get(error).get(sum).simd(SIMD.xor).i32(31).simd(SIMD.i32x4ShrS).get(rest).simd(SIMD.and).get(sum).simd(SIMD.i32x4Add)
  code.get(rest).i32(31).simd(SIMD.i32x4ShrU).simd(SIMD.or)
}

/** Operations whose result is an f16, by what they do before it is rounded. */
const ROUNDED: Readonly<Record<string, (context: Context) => void>> = {
  v_add_f16: simple(SIMD.f32x4Add, 0, 1),
  v_sub_f16: simple(SIMD.f32x4Sub, 0, 1),
  v_subrev_f16: simple(SIMD.f32x4Sub, 1, 0),
  v_mul_f16: simple(SIMD.f32x4Mul, 0, 1),
  v_mad_f16: productAndSum,
  v_mac_f16: productAndSum,
  v_madak_f16: productAndSum,
  v_madmk_f16: productAndSum,
  v_fma_f16: fused,
  v_floor_f16: simple(SIMD.f32x4Floor, 0),
  v_ceil_f16: simple(SIMD.f32x4Ceil, 0),
  v_trunc_f16: simple(SIMD.f32x4Trunc, 0),
  v_rndne_f16: simple(SIMD.f32x4Nearest, 0),
  v_sqrt_f16: simple(SIMD.f32x4Sqrt, 0),
  v_rcp_f16: ({ code, locals, sources }) => {
    pushConstant(code, locals, ONE)
    pushFloat(code, locals, sources[0]!)
    code.simd(SIMD.f32x4Div)
  },
  v_cvt_f16_f32: ({ code, locals, sources }) => pushFloat(code, locals, sources[0]!),
}
/** Compares, and whether the answer is turned round. */
const COMPARES: Readonly<Record<string, readonly [opcode: number, isNegated: boolean]>> = {
  v_cmp_lt_f16: [SIMD.f32x4Lt, false],
  v_cmp_eq_f16: [SIMD.f32x4Eq, false],
  v_cmp_le_f16: [SIMD.f32x4Le, false],
  v_cmp_gt_f16: [SIMD.f32x4Gt, false],
  v_cmp_ge_f16: [SIMD.f32x4Ge, false],
  v_cmp_neq_f16: [SIMD.f32x4Ne, false],
  v_cmp_nlt_f16: [SIMD.f32x4Lt, true],
  v_cmp_nle_f16: [SIMD.f32x4Le, true],
  v_cmp_ngt_f16: [SIMD.f32x4Gt, true],
  v_cmp_nge_f16: [SIMD.f32x4Ge, true],
}

/** Whether an operation gives an f16 in this way. */
export const givesHalf = (name: string): boolean => name in ROUNDED
/** Whether a compare of f16 can take them as f32. */
export const comparesHalves = (name: string): boolean => name in COMPARES

/** Pushes the result before it is rounded. */
export function pushUnrounded(name: string, context: Context): void {
  ROUNDED[name]!(context)
}

/** Pushes a mask. */
export function pushCompared(code: Code, name: string, sources: readonly Argument[], locals: Locals): void {
  const [opcode, isNegated] = COMPARES[name]!
  simple(opcode, 0, 1)({ code, locals, sources })
  if (isNegated) code.simd(SIMD.not)
}

/** Pushes the f32 that an argument is. */
export function pushFloat(code: Code, locals: Locals, arg: Argument): void {
  if ('lanes' in arg) pushConstant(code, locals, arg.lanes)
  else push(code, arg)
}

/** Pushes the f32 of an f16 in the low halves of lanes. NaNs keep their payload. */
export function pushWidened(code: Code, locals: Locals, bits: number): void {
  const scaled = locals.temporary(V128)
  code.get(bits).i32(17).simd(SIMD.i32x4Shl).i32(4).simd(SIMD.i32x4ShrU)
  pushConstant(code, locals, REBIAS).simd(SIMD.f32x4Mul).set(scaled)
  // Infinities and NaNs get the largest exponent.
  code.get(scaled).get(scaled)
  pushConstant(code, locals, TOO_LARGE).simd(SIMD.f32x4Ge)
  code.i32(24).simd(SIMD.i32x4Shl).i32(1).simd(SIMD.i32x4ShrU).simd(SIMD.or)
  code.get(bits).i32(15).simd(SIMD.i32x4ShrU).i32(31).simd(SIMD.i32x4Shl).simd(SIMD.or)
}

/** The same of a constant. */
export function widened(bits: number): number {
  const [sign, exponent, significand] = [(bits & 0x8000) << 16, (bits >>> 10) & 31, bits & 0x3ff]
  if (exponent === 31) return sign | INFINITY | (significand << 13)
  if (exponent > 0) return sign | ((exponent + 112) << 23) | (significand << 13)
  return sign | new Int32Array(Float32Array.of(significand * 2 ** -24).buffer)[0]!
}

/** Rounds numbers to f16: sets locals to their bits and to the f32 that they are. */
export function writeRounded(code: Code, locals: Locals, from: number, bits: number, float: number): void {
  const [magnitude, power, large] = [locals.temporary(V128), locals.temporary(V128), locals.temporary(V128)]
  code.get(from).i32(1).simd(SIMD.i32x4Shl).i32(1).simd(SIMD.i32x4ShrU)
  pushConstant(code, locals, TOO_LARGE).simd(SIMD.i32x4MinS).tee(magnitude)
  // Added to 2^13 times its power of two (a denormal's is that of the least normal number), a number is rounded where an f16 ends.
  pushConstant(code, locals, INFINITY).simd(SIMD.and)
  pushConstant(code, locals, LEAST_NORMAL).simd(SIMD.i32x4MaxS).tee(power)
  pushConstant(code, locals, 13 << 23)
    .simd(SIMD.i32x4Add)
    .set(large)
  code.get(magnitude).get(large).simd(SIMD.f32x4Add).set(magnitude)
  // What was added has the significand's first bit, too: a place of the exponent.
  code.get(magnitude).get(large).simd(SIMD.i32x4Sub).get(power).i32(13).simd(SIMD.i32x4ShrU).simd(SIMD.i32x4Add)
  pushConstant(code, locals, 113 << 10).simd(SIMD.i32x4Sub)
  code.get(from).i32(31).simd(SIMD.i32x4ShrU).i32(15).simd(SIMD.i32x4Shl).simd(SIMD.or).set(bits)
  code.get(magnitude).get(large).simd(SIMD.f32x4Sub).tee(magnitude)
  code.get(magnitude)
  pushConstant(code, locals, TOO_LARGE).simd(SIMD.f32x4Ge)
  pushConstant(code, locals, INFINITY).simd(SIMD.and).simd(SIMD.or)
  code.get(from)
  pushConstant(code, locals, SIGN).simd(SIMD.and).simd(SIMD.or).set(float)
}
