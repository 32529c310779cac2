import { readFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { loadObject, unbundle } from '../../host/object/index.ts'

const gfx803 = new Uint8Array(readFileSync('test/data/objects/fill.gfx803.v4.o'))
const gfx700 = new Uint8Array(readFileSync('test/data/objects/fill.gfx700.v4.o'))

/** As "Clang Offload Bundler", Bundled Binary File Layout, has it. */
function bundle(entries: readonly (readonly [id: string, bytes: Uint8Array])[]): Uint8Array {
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

/** Version 2 of the compressed header: magic, version, method, file bytes, uncompressed bytes, hash. */
function compress(plain: Uint8Array, method = 0, uncompressedBytes = plain.length): Uint8Array {
  const packed = deflateSync(plain)
  const all = new Uint8Array(24 + packed.length)
  const view = new DataView(all.buffer)
  all.set(new TextEncoder().encode('CCOB'))
  view.setUint16(4, 2, true)
  view.setUint16(6, method, true)
  view.setUint32(8, all.length, true)
  view.setUint32(12, uncompressedBytes, true)
  all.set(packed, 24)
  return all
}

const both = bundle([
  ['host-x86_64-unknown-linux-gnu-', new Uint8Array()],
  ['hipv4-amdgcn-amd-amdhsa--gfx700', gfx700],
  ['hipv4-amdgcn-amd-amdhsa--gfx803', gfx803],
])

test('the entry for the target is picked', async () => {
  expect(await unbundle(both, 'gfx700')).toEqual(gfx700)
  expect(loadObject(both, { target: 'gfx803' }).target).toBe('gfx803')
})

test('without a target the only device entry is taken, and several are an error that lists them', async () => {
  expect(await unbundle(bundle([['hip-amdgcn-amd-amdhsa--gfx803:xnack-', gfx803]]))).toEqual(gfx803)
  await expect(unbundle(both)).rejects.toThrow(/hipv4-amdgcn-amd-amdhsa--gfx700, hipv4-amdgcn-amd-amdhsa--gfx803\] and no target was named/)
  await expect(unbundle(both, 'gfx600')).rejects.toThrow(/none is for gfx600/)
})

test('a file that is no bundle is returned as it is', async () => {
  expect(await unbundle(gfx803, 'gfx803')).toBe(gfx803)
})

test('zlib is decompressed', async () => {
  expect(await unbundle(compress(both), 'gfx803')).toEqual(gfx803)
})

test('zstd, damage and wrong sizes are errors', async () => {
  await expect(unbundle(compress(both, 1), 'gfx803')).rejects.toThrow(/zstd.*clang-offload-bundler --unbundle/)
  await expect(unbundle(compress(both).fill(0x55, 40, 60), 'gfx803')).rejects.toThrow(/cannot be decompressed/)
  await expect(unbundle(compress(both, 0, 100), 'gfx803')).rejects.toThrow(/its header says 100/)
  await expect(unbundle(both.subarray(0, 60), 'gfx803')).rejects.toThrow(/reach beyond the offload bundle/)
})
