import { builtinModules } from 'node:module'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type Bundle, bundle } from './bundle.ts'

const isBuiltin = (path: string): boolean => path.startsWith('node:') || builtinModules.includes(path)

/** Imports of Node built-ins that are left in the outputs or stand in an input. */
const builtins = ({ metafile }: Bundle): string[] =>
  [...Object.entries(metafile.inputs), ...Object.entries(metafile.outputs)].flatMap(([file, { imports }]) =>
    imports.filter(({ path }) => isBuiltin(path)).map(({ path }) => `${file} imports ${path}`),
  )

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`

test.each(['esm', 'iife'] as const)('the library bundles for browsers as %s without a Node built-in', async (format) => {
  const result = await bundle(format)
  expect(builtins(result)).toEqual([])
  const all = [...result.files.values()]
  const sum = (sizes: number[]) => sizes.reduce((a, b) => a + b, 0)
  const raw = sum(all.map((bytes) => bytes.length))
  const zipped = sum(all.map((bytes) => gzipSync(bytes).length))
  console.log(`browser bundle (${format}): ${result.files.size} files, ${kilobytes(raw)}, gzipped ${kilobytes(zipped)}`)
})

test('nothing of the command line or the build is in the bundle', async () => {
  const { metafile } = await bundle('esm')
  expect(Object.keys(metafile.inputs).filter((file) => /^host\/(cli|build)\//.test(file))).toEqual([])
})

test('the core, the translating engine and the reference are chunks that load when they are wanted', async () => {
  const { metafile } = await bundle('esm')
  const dynamic = Object.values(metafile.outputs).flatMap(({ imports }) => imports.filter((i) => i.kind === 'dynamic-import'))
  const chunks = dynamic.map(({ path }) => path.replace(/^out\/(\w+)-.*/, '$1'))
  expect(chunks).toEqual(expect.arrayContaining(['simd', 'relaxed', 'engine']))
})
