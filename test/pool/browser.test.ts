import { basename } from 'node:path'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type * as Lanewise from '../../host/index.ts'
import { browserTitle, launch, noBrowser } from '../browser/launch.ts'
import { type Site, serve } from '../browser/server.ts'

/** What makes a page cross-origin isolated, so that it has a SharedArrayBuffer. */
const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' }

/** The library and the worker beside it, as a user's bundler leaves them. */
async function bundles(): Promise<Map<string, Uint8Array>> {
  const entryPoints = { index: 'host/index.ts', worker: 'host/pool/worker.ts' }
  const options = {
    bundle: true,
    splitting: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    outdir: 'out',
    write: false,
  } as const
  const { outputFiles } = await build({ entryPoints, ...options, logLevel: 'silent' })
  return new Map(outputFiles.map(({ path, contents }) => [`/esm/${basename(path)}`, contents]))
}

declare global {
  interface Window {
    lanewise?: typeof Lanewise
  }
}

describe.skipIf(noBrowser)(browserTitle, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** A page of a site with these files and headers, where the library is loaded. */
  async function open(files: Map<string, Uint8Array>, headers: Record<string, string>): Promise<{ page: Page; site: Site }> {
    const site = await serve(files, headers)
    const page = await browser.newPage()
    await page.goto(`${site.origin}/module.html`)
    await page.waitForFunction(() => window.lanewise !== undefined, undefined, { timeout: 60_000 })
    return { page, site }
  }

  /** Runs in the page: counts in a buffer with atomics of all workgroups. */
  async function count(engine: 'core' | 'translate') {
    const { Pool, readJob, runJob } = window.lanewise!
    const asm = `
      s_load_dwordx2 s[0:1], s[4:5], 0x0
      s_movk_i32 s2, 1000
      v_mov_b32 v3, 1
      s_waitcnt lgkmcnt(0)
      v_mov_b32 v1, s0
      v_mov_b32 v2, s1
    loop:
      flat_atomic_add v[1:2], v3
      s_sub_u32 s2, s2, 1
      s_cmp_lg_u32 s2, 0
      s_cbranch_scc1 loop
      s_endpgm`
    const launch = { grid: [64 * 40, 1, 1], workgroup: [64, 1, 1], args: [{ buffer: 'out' }], read: ['out'] }
    const job = readJob({
      name: 'count',
      target: 'gfx803',
      code: { asm },
      ...launch,
      buffers: { out: { type: 'u32', length: 1, init: { gen: 'zeros' } } },
    })
    const pool = new Pool({ patienceMs: 0 })
    const { status, threads, read, error } = await runJob(job, { engine, threads: 2, pool })
    pool.close()
    return { status, threads, read, error }
  }
  const COUNTED = new Uint8Array(Uint32Array.of(64 * 40 * 1000).buffer)
  const expected = { status: 'ok', read: { out: { hex: Buffer.from(COUNTED).toString('hex') } } }

  test.each(['core', 'translate'] as const)('a cross-origin isolated page runs the %s engine on two threads', async (engine) => {
    const { page, site } = await open(await bundles(), ISOLATED)
    expect(await page.evaluate(() => window.crossOriginIsolated)).toBe(true)
    expect(await page.evaluate(count, engine)).toMatchObject({ ...expected, threads: 2 })
    site.close()
  })

  test('a page that is not isolated has one thread', async () => {
    const { page, site } = await open(await bundles(), {})
    expect(await page.evaluate(count, 'core' as const)).toMatchObject({ ...expected, threads: 1 })
    site.close()
  })

  test('where the worker is missing there is one thread', async () => {
    const files = await bundles()
    files.delete('/esm/worker.js')
    const { page, site } = await open(files, ISOLATED)
    expect(await page.evaluate(count, 'core' as const)).toMatchObject({ ...expected, threads: 1 })
    expect(site.missing).toContain('/esm/worker.js')
    site.close()
  })
})
