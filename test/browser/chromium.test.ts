import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type * as Lanewise from '../../host/index.ts'
import { bundle } from './bundle.ts'
import { browserTitle, launch, noBrowser } from './launch.ts'
import { type Site, serve } from './server.ts'

// The hashes come from the same sources compiled as C (test/data/kernels/README.md). Only mandelbrot is long enough to be translated.
const SAXPY_HASH = 'e3ac9893c4be350d'
const RUNS: readonly (readonly [name: string, engine: Lanewise.JobEngine, buffer: string, hash: string])[] = [
  ['saxpy', 'core', 'y', SAXPY_HASH],
  ['saxpy', 'translate', 'y', SAXPY_HASH],
  ['saxpy', 'reference', 'y', SAXPY_HASH],
  ['mandelbrot', 'translate', 'out', 'ab496cf214bd3b9c'],
]

/** What the pages define. */
declare global {
  interface Window {
    lanewise?: typeof Lanewise
  }
}

describe.skipIf(noBrowser)(browserTitle, () => {
  let browser: Browser
  let site: Site
  beforeAll(async () => {
    const files = new Map<string, Uint8Array>()
    for (const format of ['esm', 'iife'] as const)
      for (const [name, contents] of (await bundle(format)).files) files.set(`/${format}/${name}`, contents)
    site = await serve(files)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
  })

  describe.each(['module.html', 'script.html'])('%s', (document) => {
    let page: Page
    const errors: string[] = []
    beforeAll(async () => {
      page = await browser.newPage()
      page.on('pageerror', (error) => errors.push(error.message))
      await page.goto(`${site.origin}/${document}`)
      await page.waitForFunction(() => window.lanewise !== undefined, undefined, { timeout: 60_000 })
    })
    afterAll(() => page?.close())

    test('loads without an error, and without cross-origin isolation', async () => {
      expect(await page.evaluate(() => window.crossOriginIsolated)).toBe(false)
      expect(await page.evaluate(() => typeof SharedArrayBuffer)).toBe('undefined')
      expect(errors).toEqual([])
    })

    test.each(RUNS)('%s gives the result of the CPU on the %s engine', async (name, engine, buffer, hash) => {
      const result = await page.evaluate(run, { name, buffer, engine, check: false })
      expect(result).toMatchObject({ status: 'ok', differences: [], engine, hash, threads: 1 })
      expect(result.error).toBeUndefined()
      expect(result.instructions).toBeGreaterThan(0)
    })

    test('core and reference agree in all state', async () => {
      const saxpy: Run = { name: 'saxpy', buffer: 'y', engine: 'core', check: true }
      const { status, check } = await page.evaluate(run, saxpy)
      expect({ status, parting: check?.parting }).toEqual({ status: 'ok', parting: null })
    })

    test('words go to text and back', async () => {
      const text = await page.evaluate(() => {
        const { assembleProgram, decode, disassemble, TARGETS } = window.lanewise!
        const { words } = assembleProgram('v_add_f32 v2, v0, v1', TARGETS.gfx803)
        return [words[0], disassemble(decode(words, 0, TARGETS.gfx803)!)]
      })
      expect(text).toEqual([0x02040300, expect.stringMatching(/^v_add_f32(_e32)? v2, v0, v1$/)])
    })
  })

  test('asks for nothing that the site does not have', () => {
    expect(site.missing.filter((path) => path !== '/favicon.ico')).toEqual([])
  })
})

interface Run {
  readonly name: string
  readonly buffer: string
  readonly engine: Lanewise.JobEngine
  readonly check: boolean
}

/** Runs in the page: a job of the test data, its files over HTTP. `hash` is that of a buffer as it was read back. */
async function run({ name, buffer, engine, check }: Run) {
  const { bytesOfHex, fnv1a64, readJob, runJob } = window.lanewise!
  const readFile = async (path: string) => new Uint8Array(await (await fetch(`/test/data/kernels/${path}`)).arrayBuffer())
  const lines = new TextDecoder().decode(await readFile('gfx803.ndjson')).split('\n')
  const job = JSON.parse(lines.find((line) => line.includes(`"${name}.gfx803`))!)
  const result = await runJob(readJob({ ...job, read: [buffer] }), { engine, check, readFile })
  const { hex } = result.read[buffer] as { hex: string }
  return { ...result, hash: fnv1a64(bytesOfHex(hex)!) }
}
