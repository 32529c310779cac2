import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { generate, h } from '../../host/jobs/generate.ts'
import type { Generator } from '../../host/jobs/job.ts'
import { readJob } from '../../host/jobs/parse.ts'
import type { ElementType } from '../../host/results/elements.ts'
import { fnv1a64 } from '../../host/results/fnv.ts'
import { hexOfBytes } from '../../host/results/hex.ts'

// Expected values: computed with an independent program of the kernels' authors.
test('h mixes index and seed', () => {
  expect([0, 1, 2, 1000].map((i) => h(i, 1).toString(16))).toEqual(['92ca2f0e', '96a0f96b', 'b4421bbb', '276d0a38'])
  expect(h(5, 77)).toBe(0x95046dca)
})

test.each<[ElementType, number, Generator, number, number, number, string]>([
  ['u8', 4, 'raw', 3, 0, 0, '1b971241'],
  ['u16', 3, 'raw', 3, 0, 0, '141b1e979212'],
  ['u64', 2, 'raw', 3, 0, 0, 'cc7d141b64991e97b85f921241d6b941'],
  ['i32', 4, 'int', 4, -5, 5, 'ffffffff0400000005000000fbffffff'],
  ['f16', 3, 'int', 4, -5, 5, '00bc00440045'],
  ['i64', 2, 'int', 4, -5, 5, 'ffffffffffffffff0400000000000000'],
  ['f32', 3, 'uniform', 2, -4, 4, '3a5206c0fa865ac0de992bc0'],
  ['f16', 4, 'uniform', 2, -4, 4, '33c0d4c25dc138c1'],
  ['f64', 2, 'uniform', 2, 0.25, 0.75, '0000607edc9ad73f000000729057d23f'],
  ['f64', 2, 'zeros', 2, 0.25, 0.75, '00'.repeat(16)],
])('%s[%i] %s, seed %i, from %d to %d', (type, length, gen, seed, lo, hi, bytes) => {
  expect(hexOfBytes(generate(gen, type, length, seed, lo, hi))).toBe(bytes)
})

test('FNV-1a of nothing, of "a" and of "foobar" is what its authors published', () => {
  const hash = (text: string) => fnv1a64(new TextEncoder().encode(text))
  expect([hash(''), hash('a'), hash('foobar')]).toEqual(['cbf29ce484222325', 'af63dc4c8601ec8c', '85944171f73967e8'])
})

const KERNELS = '../shared/kernels/jobs'
describe.runIf(existsSync(KERNELS))('buffers of the shared kernels', () => {
  test('a formula gives the bytes of the file beside it', () => {
    const seen = new Set<string>()
    const lines = ['gfx600', 'gfx700', 'gfx803'].flatMap((t) => readFileSync(`${KERNELS}/${t}.small.ndjson`, 'utf8').trim().split('\n'))
    for (const line of lines) {
      const value = JSON.parse(line)
      for (const buffer of readJob(value).buffers.values()) {
        const file: string | undefined = value.buffers[buffer.name].init.file
        if (file === undefined || seen.has(file) || buffer.init.form !== 'gen') continue
        seen.add(file)
        const { gen, seed, lo, hi } = buffer.init
        const made = generate(gen, buffer.type, buffer.length, seed, lo, hi)
        expect(Buffer.compare(readFileSync(`${KERNELS}/${file}`), made), file).toBe(0)
      }
    }
    expect(seen.size).toBeGreaterThan(30)
  })
})
