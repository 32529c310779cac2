/** Offload bundles: one code object for each of several targets in one file (clang, "Clang Offload Bundler"). */
import { ObjectError } from '../errors.ts'
import { decompressBundle, isCompressedBundle } from './compressed-bundle.ts'
import { Bytes, startsWith, struct } from './struct.ts'

const MAGIC = '__CLANG_OFFLOAD_BUNDLE__'
const ENTRY = struct(24, [
  ['offset', 'u64'],
  ['size', 'u64'],
  ['idBytes', 'u64'],
])
const MAX_ENTRIES = 4096

export interface BundleEntry {
  /** Such as `hipv4-amdgcn-amd-amdhsa--gfx803`. */
  readonly id: string
  readonly bytes: Uint8Array
}

export const isBundle = (bytes: Uint8Array): boolean => startsWith(bytes, MAGIC)

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
 * @throws {ObjectError} where there is none for the target, or where the bundle is damaged
 */
export async function unbundle(bytes: Uint8Array, target?: string): Promise<Uint8Array> {
  const plain = isCompressedBundle(bytes) ? await decompressBundle(bytes) : bytes
  return isBundle(plain) ? pickEntry(bundleEntries(plain), target) : plain
}
