// What the loops do to floats around an operation: denormals flushed, NaN results rebuilt from operand bits. Knows no instruction.

/** Lanes whose magnitude is below `least` (the smallest normal f32, or zero to keep all) become zeros of their sign. */
export function flush32(x: v128, least: v128): v128 {
  const size = f32x4.abs(x);
  return v128.xor(x, v128.and(size, f32x4.lt(size, least)));
}
export function flush64(x: v128, least: v128): v128 {
  const size = f64x2.abs(x);
  return v128.xor(x, v128.and(size, f64x2.lt(size, least)));
}
/** f16 in the low half of each lane; the high half is left as it is. `least` is 0x400 or 0. */
export function flush16(x: v128, least: v128): v128 {
  const magnitude = i32x4.splat(0x7fff);
  return v128.andnot(x, v128.and(i32x4.lt_s(v128.and(x, magnitude), least), magnitude));
}

/** Whether one of the lanes is NaN. */
export function anyNan32(r: v128): bool {
  return v128.any_true(f32x4.ne(r, r));
}
export function anyNan64(r: v128): bool {
  return v128.any_true(f64x2.ne(r, r));
}
export function anyNan16(r: v128): bool {
  return v128.any_true(isNan16(r));
}
function isNan16(x: v128): v128 {
  return i32x4.gt_s(v128.and(x, i32x4.splat(0x7fff)), i32x4.splat(0x7c00));
}

// The NaN rule: where the result is NaN, the first NaN among the sources with its quiet bit set, else the default NaN.
// An operation of two sources passes the second one twice.

export function nan32(r: v128, a: v128, b: v128, c: v128): v128 {
  const quiet = i32x4.splat(0x00400000);
  let nan = i32x4.splat(0x7fc00000);
  nan = v128.bitselect(v128.or(c, quiet), nan, f32x4.ne(c, c));
  nan = v128.bitselect(v128.or(b, quiet), nan, f32x4.ne(b, b));
  nan = v128.bitselect(v128.or(a, quiet), nan, f32x4.ne(a, a));
  return v128.bitselect(nan, r, f32x4.ne(r, r));
}
export function nan64(r: v128, a: v128, b: v128, c: v128): v128 {
  const quiet = i64x2.splat(0x0008000000000000);
  let nan = i64x2.splat(0x7ff8000000000000);
  nan = v128.bitselect(v128.or(c, quiet), nan, f64x2.ne(c, c));
  nan = v128.bitselect(v128.or(b, quiet), nan, f64x2.ne(b, b));
  nan = v128.bitselect(v128.or(a, quiet), nan, f64x2.ne(a, a));
  return v128.bitselect(nan, r, f64x2.ne(r, r));
}
export function nan16(r: v128, a: v128, b: v128, c: v128): v128 {
  const quiet = i32x4.splat(0x0200);
  let nan = i32x4.splat(0x7e00);
  nan = v128.bitselect(v128.or(c, quiet), nan, isNan16(c));
  nan = v128.bitselect(v128.or(b, quiet), nan, isNan16(b));
  nan = v128.bitselect(v128.or(a, quiet), nan, isNan16(a));
  return v128.bitselect(nan, r, isNan16(r));
}
