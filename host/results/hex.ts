/** Hexadecimal, one way for all of it: lower case, `0x`, as many digits as the value has bits. */

/** `0x` and the digits of a value of so many bits. */
export const hex = (value: number | bigint, bits: number): string => `0x${value.toString(16).padStart(Math.ceil(bits / 4), '0')}`

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Bytes in memory order, two digits each. */
export function hexOfBytes(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += DIGITS[byte]
  return text
}

/** The bytes of such a text, or undefined where it is none. Blanks between bytes are allowed. */
export function bytesOfHex(text: string): Uint8Array | undefined {
  const digits = text.replace(/\s+/g, '')
  if (digits.length % 2 === 1 || /[^0-9a-fA-F]/.test(digits)) return undefined
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16))
}
