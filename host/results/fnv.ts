/** 64-bit FNV-1a: the fingerprint of a buffer where its bytes are too many to keep. */

/** The hash as 16 hexadecimal digits. All in integers of 32 bits: BigInt takes two hundred times as long, doubles four times. */
export function fnv1a64(bytes: Uint8Array): string {
  let low = 0x84222325 | 0
  let high = 0xcbf29ce4 | 0
  for (let i = 0; i < bytes.length; i++) {
    low ^= bytes[i]!
    // times 0x100000001b3 = 2^40 + 0x1b3, modulo 2^64; the low half 16 bits at a time
    const first = (low & 0xffff) * 0x1b3
    const second = (low >>> 16) * 0x1b3 + (first >>> 16)
    high = (Math.imul(high, 0x1b3) + (second >>> 16) + (low << 8)) | 0
    low = (second << 16) | (first & 0xffff)
  }
  return hex32(high) + hex32(low)
}

const hex32 = (word: number): string => (word >>> 0).toString(16).padStart(8, '0')
