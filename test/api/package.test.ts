import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import * as source from '../../host/index.ts'
import { exportsOf } from './exports.ts'

// The package as its users see it: built, and found by its name. Files in build/ are inside the package, so the name leads to dist/.
const FOLDER = 'build/api'
const node = (...args: string[]): string => execFileSync(process.execPath, args, { encoding: 'utf8' })

beforeAll(() => {
  if (!existsSync('dist/index.js')) throw new Error('dist/index.js does not exist; run npm run build')
  mkdirSync(FOLDER, { recursive: true })
})

test('`import "lanewise"` gives every value of host/index.ts', () => {
  writeFileSync(`${FOLDER}/names.mjs`, "import * as lanewise from 'lanewise'\nconsole.log(JSON.stringify(Object.keys(lanewise)))\n")
  expect(JSON.parse(node(`${FOLDER}/names.mjs`)).sort()).toEqual(Object.keys(source).sort())
})

test('`lanewise/core.wasm` is a core that compiles', async () => {
  writeFileSync(`${FOLDER}/core.mjs`, "console.log(import.meta.resolve('lanewise/core.wasm'))\n")
  const url = new URL(node(`${FOLDER}/core.mjs`).trim())
  const module = await WebAssembly.compile(readFileSync(url))
  expect(WebAssembly.Module.exports(module).map(({ name }) => name)).toEqual(expect.arrayContaining(['memory', 'run', 'heapBase']))
})

test('the types are there, for every name', () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const types = readFileSync(exports['.'].types, 'utf8')
  const missing = exportsOf('host/index.ts').filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(types))
  expect(missing.map(({ name }) => name)).toEqual([])
})

test('the example of the README runs as it is written', () => {
  const [, example] = /## API\s+```js\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))!
  const print = 'console.log(JSON.stringify({ status, error, instructions, result: [...result] }))\n'
  writeFileSync(`${FOLDER}/readme.mjs`, example + print)
  const { status, error, instructions, result } = JSON.parse(node(`${FOLDER}/readme.mjs`))
  expect({ status, error, result }).toEqual({ status: 'done', error: undefined, result: new Array(1024).fill(6) })
  expect(instructions).toBeGreaterThan(0)
})
