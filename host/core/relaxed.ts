/** Tells whether this machine's f32x4.relaxed_madd is a true fused multiply-add. */

// (module (func (export "madd") (param f32 f32 f32) (result f32)
//   (f32x4.extract_lane 0 (f32x4.relaxed_madd (f32x4.splat (local.get 0)) (f32x4.splat (local.get 1)) (f32x4.splat (local.get 2))))))
const PROBE = new Uint8Array([
  0x00,
  0x61,
  0x73,
  0x6d,
  0x01,
  0x00,
  0x00,
  0x00, // magic, version
  0x01,
  0x08,
  0x01,
  0x60,
  0x03,
  0x7d,
  0x7d,
  0x7d,
  0x01,
  0x7d, // type: (f32, f32, f32) -> f32
  0x03,
  0x02,
  0x01,
  0x00, // one function
  0x07,
  0x08,
  0x01,
  0x04,
  0x6d,
  0x61,
  0x64,
  0x64,
  0x00,
  0x00, // export "madd"
  0x0a,
  0x16,
  0x01,
  0x14,
  0x00, // one body of 20 bytes, no locals
  0x20,
  0x00,
  0xfd,
  0x13,
  0x20,
  0x01,
  0xfd,
  0x13,
  0x20,
  0x02,
  0xfd,
  0x13, // splat each parameter
  0xfd,
  0x85,
  0x02, // f32x4.relaxed_madd
  0xfd,
  0x1f,
  0x00, // f32x4.extract_lane 0
  0x0b,
])

/** The engine has relaxed SIMD, and relaxed_madd rounds once. */
export function hasFusedMadd(): boolean {
  if (!WebAssembly.validate(PROBE)) return false
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(PROBE))
  const madd = exports.madd as (a: number, b: number, c: number) => number
  // (1 + 2^-12)² - (1 + 2^-11) is 2^-24 exactly; rounded after the multiplication it is 0.
  return madd(1 + 2 ** -12, 1 + 2 ** -12, -(1 + 2 ** -11)) === 2 ** -24
}
