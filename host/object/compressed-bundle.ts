/** Compressed offload bundles (clang, "Clang Offload Bundler", "Compression and Decompression"): a header, then the bundle in zlib or zstd. */
import { ObjectError } from '../errors.ts'
import { Bytes, startsWith, struct } from './struct.ts'

const MAGIC = 'CCOB'
const HEAD = struct(8, [
  ['magic', 'u32'],
  ['version', 'u16'],
  ['method', 'u16'],
])
/** What follows, by version. `fileBytes` counts the header, too; the hash is that of the plain bundle, and not checked. */
const REST = {
  1: struct(12, [
    ['uncompressedBytes', 'u32'],
    ['hash', 'pad 8'],
  ]),
  2: struct(16, [
    ['fileBytes', 'u32'],
    ['uncompressedBytes', 'u32'],
    ['hash', 'pad 8'],
  ]),
  3: struct(24, [
    ['fileBytes', 'u64'],
    ['uncompressedBytes', 'u64'],
    ['hash', 'pad 8'],
  ]),
} as const
/** LLVM, llvm::compression::Format. */
const METHODS = [inflate, decompressZstd]
const MOST_BYTES = 1 << 30

export const isCompressedBundle = (bytes: Uint8Array): boolean => startsWith(bytes, MAGIC)

/** The bundle inside. @throws {ObjectError} it is damaged, or of a version or a method that Lanewise does not know */
export async function decompressBundle(bytes: Uint8Array): Promise<Uint8Array> {
  const file = new Bytes(bytes, 'the compressed offload bundle')
  const { version, method } = file.read(HEAD, 0, 'its header')
  const rest = REST[version as keyof typeof REST]
  if (rest === undefined)
    throw new ObjectError(`the compressed offload bundle has version ${version}; Lanewise reads 1 to 3; bundle without compression`)
  const decompress = METHODS[method]
  if (decompress === undefined)
    throw new ObjectError(
      `the offload bundle is compressed with method ${method}; Lanewise reads 0 (zlib) and 1 (zstd); bundle without compression`,
    )
  const fields: { readonly fileBytes?: number; readonly uncompressedBytes: number } = file.read(rest, HEAD.bytes, 'its header')
  const { uncompressedBytes, fileBytes = file.length } = fields
  if (uncompressedBytes > MOST_BYTES)
    throw new ObjectError(
      `the compressed offload bundle says it has ${uncompressedBytes} bytes; Lanewise reads at most ${MOST_BYTES}; the file is damaged`,
    )
  const start = HEAD.bytes + rest.bytes
  const { all } = file.slice(start, fileBytes - start, 'its contents')
  const plain = await decompress(all, uncompressedBytes).catch((cause: Error) => {
    throw new ObjectError(`the offload bundle cannot be decompressed: ${cause.message}; the file is damaged`)
  })
  if (plain.byteLength !== uncompressedBytes)
    throw new ObjectError(
      `the offload bundle decompresses to ${plain.byteLength} bytes; its header says ${uncompressedBytes}; the file is damaged`,
    )
  return plain
}

/** zlib, by the platform; no more than one piece beyond the expected bytes. */
async function inflate(bytes: Uint8Array, expected: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  // A copy, for what is shared between threads is no part of a Blob.
  const reader = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream('deflate')).getReader()
  while (length <= expected) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    length += value.byteLength
  }
  await reader.cancel()
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.byteLength
  }
  return all
}

/** zstd, which platforms do not have everywhere; its decoder is loaded when it is first wanted. */
async function decompressZstd(bytes: Uint8Array, expected: number): Promise<Uint8Array> {
  // The decoder trusts the frame, so what the frame says is looked at first.
  const said = zstdContentBytes(new Bytes(bytes, 'the zstd frame')) ?? expected
  if (said !== expected) throw new Error(`its zstd frame has ${said} bytes, the header says ${expected}`)
  const { decompress } = await import('fzstd')
  return decompress(bytes, new Uint8Array(expected))
}

/** The size of the content that a frame names; undefined where it names none (RFC 8878, 3.1.1.1). */
function zstdContentBytes(frame: Bytes): number | undefined {
  const { descriptor } = frame.read(
    struct(5, [
      ['magic', 'u32'],
      ['descriptor', 'u8'],
    ]),
    0,
    'the frame header',
  )
  const single = (descriptor >>> 5) & 1
  const at = 5 + (1 - single) + [0, 1, 2, 4][descriptor & 3]!
  switch (descriptor >>> 6) {
    case 0:
      return single === 1 ? frame.read(struct(1, [['bytes', 'u8']]), at, 'the content size').bytes : undefined
    case 1:
      return frame.read(struct(2, [['bytes', 'u16']]), at, 'the content size').bytes + 256
    case 2:
      return frame.read(struct(4, [['bytes', 'u32']]), at, 'the content size').bytes
    default:
      return frame.read(struct(8, [['bytes', 'u64']]), at, 'the content size').bytes
  }
}
