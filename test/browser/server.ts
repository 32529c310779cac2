/** A page with the library, and the test data, served on 127.0.0.1. For tests only. */
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'

/** Folders of the repository that the site has, too; jobs name files relative to their own. */
const FOLDERS = /^\/(test\/)?data\//
const PAGES: Readonly<Record<string, string>> = {
  '/module.html': '<script type="module">import * as lanewise from "/esm/index.js"; window.lanewise = lanewise</script>',
  '/script.html': '<script src="/iife/index.js"></script>',
}

export interface Site {
  /** Origin without a slash at its end. */
  readonly origin: string
  /** Paths that were asked for and do not exist. */
  readonly missing: readonly string[]
  close(): void
}

/**
 * @param files contents by path, such as `/esm/index.js`
 * @param headers of all answers
 */
export async function serve(files: ReadonlyMap<string, Uint8Array>, headers: Readonly<Record<string, string>> = {}): Promise<Site> {
  const missing: string[] = []
  const contents = async (path: string): Promise<string | Uint8Array | undefined> => {
    if (PAGES[path] !== undefined) return `<!doctype html><title>Lanewise</title>${PAGES[path]}`
    if (files.has(path)) return files.get(path)
    return FOLDERS.test(path) ? readFile(join('.', normalize(path))).catch(() => undefined) : undefined
  }
  const server: Server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const body = await contents(path)
    if (body === undefined) missing.push(path)
    response.statusCode = body === undefined ? 404 : 200
    response.setHeaders(new Map(Object.entries({ ...headers, 'content-type': typeOf(path) })))
    response.end(body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, missing, close: () => server.close() }
}

function typeOf(path: string): string {
  if (path.endsWith('.html')) return 'text/html; charset=utf-8'
  return path.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'application/octet-stream'
}
