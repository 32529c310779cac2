/** Offload bundles: one code object for each of several targets in one file (clang, "Clang Offload Bundler"), also compressed. */
import { ObjectError } from '../errors.ts'
import { Bytes, struct } from './struct.ts'

const MAGIC = '__CLANG_OFFLOAD_BUNDLE__'
const COMPRESSED_MAGIC = 'CCOB'
const ENTRY = struct(24, [
  ['offset', 'u64'],
  ['size', 'u64'],
  ['idBytes', 'u64'],
])
/** Compressed bundles, header versions 1 to 3. */
const COMPRESSED = struct(8, [
  ['magic', 'u32'],
  ['version', 'u16'],
  ['method', 'u16'],
])
const COMPRESSED_REST = {
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
const METHOD_ZLIB = 0
const MAX_ENTRIES = 4096
const MAX_BUNDLE = 1 << 30

export interface BundleEntry {
  /** Such as `hipv4-amdgcn-amd-amdhsa--gfx803`. */
  readonly id: string
  readonly bytes: Uint8Array
}

const startsWith = (bytes: Uint8Array, magic: string): boolean =>
  bytes.byteLength >= magic.length && [...magic].every((letter, i) => bytes[i] === letter.charCodeAt(0))
export const isBundle = (bytes: Uint8Array): boolean => startsWith(bytes, MAGIC)
export const isCompressedBundle = (bytes: Uint8Array): boolean => startsWith(bytes, COMPRESSED_MAGIC)

/** The entries of an uncompressed bundle. @throws {ObjectError} where it is truncated or damaged */
export function bundleEntries(bytes: Uint8Array): BundleEntry[] {
  const file = new Bytes(bytes, 'the offload bundle')
  const { count } = file.read(struct(8, [['count', 'u64']]), MAGIC.length, 'the number of entries')
  if (count > MAX_ENTRIES)
    throw new ObjectError(`the offload bundle has ${count} entries; a sensible one has at most ${MAX_ENTRIES}; the file is damaged`)
  const entries: BundleEntry[] = []
  let at = MAGIC.length + 8
  for (let i = 0; i < count; i++) {
    const what = `entry ${i} of the offload bundle`
    const { offset, size, idBytes } = file.read(ENTRY, at, what)
    const id = new TextDecoder().decode(file.slice(at + ENTRY.bytes, idBytes, `the id of ${what}`).all)
    entries.push({ id, bytes: file.slice(offset, size, what).all })
    at += ENTRY.bytes + idBytes
  }
  return entries
}

/** Picks the entry for a processor. @param target LLVM processor name; without it the only device entry */
export function pickEntry(entries: readonly BundleEntry[], target: string | undefined): Uint8Array {
  const device = entries.filter(({ id }) => processorOf(id) !== undefined)
  const found = device.filter(({ id }) => target === undefined || processorOf(id) === target)
  if (found.length === 1) return found[0]!.bytes
  const wanted = target === undefined ? 'no target was named' : `${found.length === 0 ? 'none' : 'more than one'} is for ${target}`
  throw new ObjectError(`the offload bundle has [${entries.map(({ id }) => id).join(', ')}] and ${wanted}; name one of these targets`)
}

/** `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+` is for gfx90a; host entries are for no processor. */
const processorOf = (id: string): string | undefined => /-amdgcn-amd-amdhsa-[^-]*-(gfx[\w-]+)/.exec(id)?.[1]

/**
 * The code object for a target: picked from an offload bundle, which is decompressed if need be; any other file is returned as it is.
 * @param target LLVM processor name; may be left out where there is only one device entry
 * @throws {ObjectError} where there is none for the target, where the bundle is damaged, or where it is compressed with zstd
 */
export async function unbundle(bytes: Uint8Array, target?: string): Promise<Uint8Array> {
  const plain = isCompressedBundle(bytes) ? await decompress(bytes) : bytes
  return isBundle(plain) ? pickEntry(bundleEntries(plain), target) : plain
}

async function decompress(bytes: Uint8Array): Promise<Uint8Array> {
  const file = new Bytes(bytes, 'the compressed offload bundle')
  const { version, method } = file.read(COMPRESSED, 0, 'its header')
  const rest = COMPRESSED_REST[version as keyof typeof COMPRESSED_REST]
  if (rest === undefined)
    throw new ObjectError(`the compressed offload bundle has version ${version}; Lanewise reads 1 to 3; bundle without compression`)
  if (method !== METHOD_ZLIB)
    throw new ObjectError(
      `the offload bundle is compressed with ${method === 1 ? 'zstd' : `method ${method}`}, which browsers cannot decompress; unpack it with clang-offload-bundler --unbundle, or compile with --no-offload-compress`,
    )
  const { uncompressedBytes } = file.read(rest, COMPRESSED.bytes, 'its header')
  if (uncompressedBytes > MAX_BUNDLE)
    throw new ObjectError(
      `the compressed offload bundle says it has ${uncompressedBytes} bytes; Lanewise reads at most ${MAX_BUNDLE}; the file is damaged`,
    )
  const plain = await inflate(bytes.slice(COMPRESSED.bytes + rest.bytes), uncompressedBytes)
  if (plain.byteLength !== uncompressedBytes)
    throw new ObjectError(
      `the offload bundle decompresses to ${plain.byteLength} bytes; its header says ${uncompressedBytes}; the file is damaged`,
    )
  return plain
}

/** zlib, at most one byte more than expected. */
async function inflate(bytes: Uint8Array<ArrayBuffer>, expected: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')).getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      parts.push(value)
      length += value.byteLength
      if (length > expected) {
        await reader.cancel()
        break
      }
    }
  } catch (cause) {
    throw new ObjectError(`the offload bundle cannot be decompressed: ${(cause as Error).message}; the file is damaged`)
  }
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.byteLength
  }
  return all
}
