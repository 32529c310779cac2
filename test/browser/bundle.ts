/** The library as a browser gets it: bundled by esbuild, in memory. For tests only. */
import { basename } from 'node:path'
import { type BuildResult, build, type Metafile } from 'esbuild'

/** Files by name, and what esbuild says of them. */
export interface Bundle {
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly metafile: Metafile
}

/**
 * Bundles host/index.ts for browsers. esbuild refuses an import of a Node built-in, in dependencies too.
 * @param format `esm` has a chunk for each dynamic import; `iife` is one file for a plain script tag that sets `lanewise`
 */
export async function bundle(format: 'esm' | 'iife'): Promise<Bundle> {
  const result: BuildResult<{ write: false; metafile: true }> = await build({
    entryPoints: ['host/index.ts'],
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    format,
    ...(format === 'esm' ? { splitting: true } : { globalName: 'lanewise' }),
    minify: true,
    outdir: 'out',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  return { files: new Map(result.outputFiles.map((file) => [basename(file.path), file.contents])), metafile: result.metafile }
}
