/** Makes offload bundles. */

/** As "Clang Offload Bundler", Bundled Binary File Layout, has it. */
export function bundle(entries: readonly (readonly [id: string, bytes: Uint8Array])[]): Uint8Array {
  const head = 32 + entries.reduce((sum, [id]) => sum + 24 + id.length, 0)
  const all = new Uint8Array(head + entries.reduce((sum, [, bytes]) => sum + bytes.length, 0))
  const view = new DataView(all.buffer)
  all.set(new TextEncoder().encode('__CLANG_OFFLOAD_BUNDLE__'))
  view.setBigUint64(24, BigInt(entries.length), true)
  let at = 32
  let data = head
  for (const [id, bytes] of entries) {
    view.setBigUint64(at, BigInt(data), true)
    view.setBigUint64(at + 8, BigInt(bytes.length), true)
    view.setBigUint64(at + 16, BigInt(id.length), true)
    all.set(new TextEncoder().encode(id), at + 24)
    all.set(bytes, data)
    at += 24 + id.length
    data += bytes.length
  }
  return all
}

/** A compressed bundle by its document: magic, version, method, file bytes (from version 2 on), uncompressed bytes, hash. */
export function compressed(version: number, method: number, uncompressedBytes: number, packed: Uint8Array): Uint8Array {
  const sizeBytes = version === 3 ? 8 : 4
  const headBytes = 8 + (version === 1 ? 1 : 2) * sizeBytes + 8
  const all = new Uint8Array(headBytes + packed.length)
  const view = new DataView(all.buffer)
  all.set(new TextEncoder().encode('CCOB'))
  view.setUint16(4, version, true)
  view.setUint16(6, method, true)
  const sizes = version === 1 ? [uncompressedBytes] : [all.length, uncompressedBytes]
  sizes.forEach((size, i) => {
    view.setUint32(8 + i * sizeBytes, size, true)
  })
  all.set(packed, headBytes)
  return all
}
