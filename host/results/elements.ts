/** The element types of buffers: their bytes, their bits, and the numbers they stand for. Little-endian throughout. */

export const ELEMENT_TYPES = ['u8', 'i8', 'u16', 'i16', 'f16', 'u32', 'i32', 'f32', 'u64', 'i64', 'f64'] as const
/** What the elements of a buffer are. */
export type ElementType = (typeof ELEMENT_TYPES)[number]

/** Bytes of one element. */
export const bytesOf = (type: ElementType): 1 | 2 | 4 | 8 => (Number(type.slice(1)) / 8) as 1 | 2 | 4 | 8
export const isFloatType = (type: ElementType): boolean => type.startsWith('f')

/** The bits of the element at byte `offset`. */
export function readBits(view: DataView, offset: number, bytes: 1 | 2 | 4 | 8): bigint {
  switch (bytes) {
    case 1:
      return BigInt(view.getUint8(offset))
    case 2:
      return BigInt(view.getUint16(offset, true))
    case 4:
      return BigInt(view.getUint32(offset, true))
    default:
      return view.getBigUint64(offset, true)
  }
}

/** Writes the low bits of `bits`. */
export function writeBits(view: DataView, offset: number, bytes: 1 | 2 | 4 | 8, bits: bigint): void {
  switch (bytes) {
    case 1:
      return view.setUint8(offset, Number(bits & 0xffn))
    case 2:
      return view.setUint16(offset, Number(bits & 0xffffn), true)
    case 4:
      return view.setUint32(offset, Number(bits & 0xffffffffn), true)
    default:
      return view.setBigUint64(offset, BigInt.asUintN(64, bits), true)
  }
}

const scratch = new DataView(new ArrayBuffer(8))

/** The f16 nearest to `value`, ties to even. */
export function f16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size >= 65520) return sign | 0x7c00
  // One unit in the last place is 2^-24 for denormals and grows with the exponent; dividing by a power of two is exact.
  scratch.setFloat64(0, size)
  const exponent = Math.max(-14, ((scratch.getUint16(0) >>> 4) & 0x7ff) - 1023)
  const units = size / 2 ** (exponent - 10)
  const below = Math.floor(units)
  const rest = units - below
  const rounded = rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below
  return sign | ((exponent + 14) * 1024 + rounded)
}

/** The number that f16 bits stand for. */
export function f16Value(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >>> 10) & 31
  const fraction = bits & 1023
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25)
}

/** The number that an element's bits stand for; 64-bit integers lose what a double cannot hold. */
export function numberOf(type: ElementType, bits: bigint): number {
  if (type === 'f16') return f16Value(Number(bits))
  if (type === 'f32') {
    scratch.setUint32(0, Number(bits))
    return scratch.getFloat32(0)
  }
  if (type === 'f64') {
    scratch.setBigUint64(0, bits)
    return scratch.getFloat64(0)
  }
  return Number(type.startsWith('i') ? BigInt.asIntN(bytesOf(type) * 8, bits) : bits)
}

/** The bits of a number as a float of `type`, rounded to nearest even (f64 to f16 in one step). */
export function floatBits(type: 'f16' | 'f32' | 'f64', value: number): bigint {
  if (type === 'f16') return BigInt(f16Bits(value))
  if (type === 'f32') {
    scratch.setFloat32(0, value)
    return BigInt(scratch.getUint32(0))
  }
  scratch.setFloat64(0, value)
  return scratch.getBigUint64(0)
}

/** Writes a number as an element of a type at a byte offset: a float rounded to nearest even, an integer modulo its size. */
export function numberWriter(type: ElementType): (view: DataView, offset: number, value: number) => void {
  if (type === 'f16') return (view, offset, value) => view.setUint16(offset, f16Bits(value), true)
  if (type === 'f32') return (view, offset, value) => view.setFloat32(offset, value, true)
  if (type === 'f64') return (view, offset, value) => view.setFloat64(offset, value, true)
  const bytes = bytesOf(type)
  if (bytes === 1) return (view, offset, value) => view.setUint8(offset, value)
  if (bytes === 2) return (view, offset, value) => view.setUint16(offset, value, true)
  if (bytes === 4) return (view, offset, value) => view.setUint32(offset, value, true)
  return (view, offset, value) => view.setBigUint64(offset, BigInt.asUintN(64, BigInt(value)), true)
}
