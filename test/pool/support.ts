/** Pools for tests: the worker's module is TypeScript, so it is bundled first. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll } from 'vitest'
import { Pool } from '../../host/pool/index.ts'

/** A pool in whose dispatches all threads begin together, however small they are; made before the tests of a file and closed behind them. */
export function testPool(): () => Pool {
  const folder = mkdtempSync(join(tmpdir(), 'lanewise-pool-'))
  const outfile = join(folder, 'worker.mjs')
  let pool: Pool | undefined
  beforeAll(async () => {
    await build({
      entryPoints: ['host/pool/worker.ts'],
      outfile,
      bundle: true,
      platform: 'neutral',
      mainFields: ['module', 'main'],
      format: 'esm',
    })
    pool = new Pool({ worker: pathToFileURL(outfile), patienceMs: 0 })
  })
  afterAll(() => {
    pool?.close()
    rmSync(folder, { recursive: true })
  })
  return () => pool!
}
