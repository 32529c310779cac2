/** 64-bit FNV-1a: the fingerprint of a buffer where its bytes are too many to keep. */

/** The hash as 16 hexadecimal digits. The two halves are kept apart, for BigInt is fifty times slower. */
export function fnv1a64(bytes: Uint8Array): string {
  let low = 0x84222325
  let high = 0xcbf29ce4
  for (const byte of bytes) {
    low = (low ^ byte) >>> 0
    // times 0x100000001b3 = 2^40 + 0x1b3, modulo 2^64
    const product = low * 0x1b3
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0
    low = product >>> 0
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
}
