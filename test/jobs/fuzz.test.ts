import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LanewiseError } from '../../host/errors.ts'
import { readJob } from '../../host/jobs/parse.ts'
import { runJobs } from '../../host/jobs/run.ts'

const JOBS = [
  {
    name: 'wave',
    target: 'gfx803',
    code: { words: ['0x7e000287', '0xbf810000'] },
    wave: {
      size: 64,
      exec: '0xff',
      vcc: '0x1',
      scc: 1,
      m0: 0,
      mode: '0x3c0',
      sgpr: { s0: 1, 's[4:5]': '0x2' },
      vgpr: { v0: 1, v1: ['0x1'] },
      lds: { hex: '0011' },
    },
    read: ['v0', 's[4:5]', 'lds', 'x'],
    buffers: { x: { type: 'f16', length: 3, init: { values: [1, 'nan', '-inf'] }, address: '0x1000' } },
    expect: { v0: ['0x7', null], scc: 1, x: { hex: '003c00e200fc', compare: 'ulp 2' } },
    ulp: { v0: 1 },
    nan: 'any',
    budget: 100,
  },
  {
    name: 'dispatch',
    target: 'gfx700',
    code: { asm: 's_endpgm' },
    grid: [64, 1, 1],
    workgroup: [64, 1, 1],
    args: [{ type: 'u32', value: 1 }, { buffer: 'y', offset: 0 }, { hex: '00' }, { local: 16 }],
    lds: 0,
    descriptor: { rsrc1: '0xac0042', rsrc2: '0x98c', rsrc3: 0, properties: 9, lds: 0, scratch: 0 },
    buffers: {
      y: { type: 'u32', length: 4, init: { gen: 'int', seed: 1, lo: 0, hi: 3 } },
      z: { type: 'i64', length: 2, init: { fill: '-1' } },
    },
    expect: { y: { fnv1a64: '3558a02a5d52b88b' }, z: { sample: { file: 'z.bin', stride: 1, count: 2 }, compare: 'abs 1 rel 1' } },
    budget: 100,
  },
]

/** Paths of all values in a JSON value. */
function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...path, key]))]
}

function changed(value: unknown, path: readonly (string | number)[], to: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return to
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) }
  Object.assign(copy, { [key]: changed((value as Record<string, unknown>)[key], rest, to) })
  return copy
}

const strange = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    '0x',
    '-1',
    'v0',
    'x',
    -1,
    0.5,
    1e300,
    2 ** 53,
    65,
    [],
    {},
    [[]],
    '0xffffffffffffffffff',
    'abs 1',
    '__proto__',
    'exec',
    64,
  ),
  fc.jsonValue(),
)
const mutated = fc
  .constantFrom(...JOBS)
  .chain((job) => fc.tuple(fc.constant(job), fc.constantFrom(...pathsOf(job)), strange))
  .map(([job, path, value]) => changed(job, path, value))

test('the jobs themselves are right', () => {
  for (const job of JOBS) readJob(job)
})

test('whatever stands in a job, it is read or refused with an error that is meant for people', () => {
  fc.assert(
    fc.property(mutated, (value) => {
      try {
        readJob(value)
      } catch (error) {
        expect(error).toBeInstanceOf(LanewiseError)
      }
    }),
    { numRuns: 3000 },
  )
})

test('a stream of such jobs gives a result for each, and none is an internal error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(mutated, { minLength: 1, maxLength: 4 }), async (values) => {
      const codes: (string | undefined)[] = []
      for await (const { error } of runJobs(values.map((value) => JSON.stringify(value)))) codes.push(error?.code)
      expect(codes).toHaveLength(values.length)
      expect(codes).not.toContain('ERR_INTERNAL')
    }),
    { numRuns: 150 },
  )
})
