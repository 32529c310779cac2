import { readFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { loadObject, unbundle } from '../../host/object/index.ts'
import { bundle, compressed } from './bundles.ts'

const gfx803 = new Uint8Array(readFileSync('test/data/objects/fill.gfx803.v4.o'))
const gfx700 = new Uint8Array(readFileSync('test/data/objects/fill.gfx700.v4.o'))

const compress = (plain: Uint8Array, uncompressedBytes = plain.length): Uint8Array =>
  compressed(2, 0, uncompressedBytes, deflateSync(plain))

/** Of version 2, by LLVM 19. */
const zstd = new Uint8Array(readFileSync('test/data/objects/fill.bundle.zstd'))
const frame = zstd.subarray(24)
const plainBytes = new DataView(zstd.buffer, zstd.byteOffset).getUint32(12, true)

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

test('what clang-offload-bundler compresses with zstd is decompressed', async () => {
  expect(await unbundle(zstd, 'gfx803')).toEqual(gfx803)
  expect(await unbundle(zstd, 'gfx700')).toEqual(gfx700)
})

test.each([1, 2, 3])('header version %d, in both methods', async (version) => {
  expect(await unbundle(compressed(version, 0, both.length, deflateSync(both)), 'gfx803')).toEqual(gfx803)
  expect(await unbundle(compressed(version, 1, plainBytes, frame), 'gfx803')).toEqual(gfx803)
})

test('what stands behind a compressed bundle that says where it ends is no part of it', async () => {
  for (const bundle of [zstd, compress(both)]) expect(await unbundle(Uint8Array.from([...bundle, 1, 2, 3, 4]), 'gfx700')).toEqual(gfx700)
})

test('versions and methods that nobody knows, damage and wrong sizes are errors', async () => {
  await expect(unbundle(compressed(4, 0, 8, frame))).rejects.toThrow(/has version 4; Lanewise reads 1 to 3/)
  await expect(unbundle(compressed(2, 2, 8, frame))).rejects.toThrow(/with method 2; Lanewise reads 0 \(zlib\) and 1 \(zstd\)/)
  await expect(unbundle(compressed(2, 1, 100, frame))).rejects.toThrow(/zstd frame has \d+ bytes, the header says 100/)
  await expect(unbundle(compressed(2, 1, plainBytes, frame.subarray(0, 500)))).rejects.toThrow(/cannot be decompressed: .*damaged/)
  await expect(unbundle(compressed(2, 1, plainBytes, new Uint8Array(3)))).rejects.toThrow(/cannot be decompressed: .*damaged/)
  await expect(unbundle(compressed(2, 1, plainBytes, deflateSync(both)))).rejects.toThrow(/cannot be decompressed|zstd frame has/)
  await expect(unbundle(zstd.subarray(0, 500))).rejects.toThrow(/reach beyond the compressed offload bundle/)
  await expect(unbundle(compress(both).fill(0x55, 40, 60), 'gfx803')).rejects.toThrow(/cannot be decompressed/)
  await expect(unbundle(compress(both, 100), 'gfx803')).rejects.toThrow(/its header says 100/)
  await expect(unbundle(both.subarray(0, 60), 'gfx803')).rejects.toThrow(/reach beyond the offload bundle/)
})
