import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

// The command as it is installed; it is there after `npm run build`.
const MAIN = 'dist/cli/main.js'

describe.runIf(existsSync(MAIN))('the lanewise process', () => {
  const start = (...args: string[]) => spawn(process.execPath, [MAIN, ...args])
  const exit = (child: ReturnType<typeof start>) => new Promise<number | null>((resolve) => child.on('exit', resolve))

  test('Ctrl-C ends an endless kernel with 130', async () => {
    const job = join(mkdtempSync(join(tmpdir(), 'lanewise-')), 'loop.json')
    writeFileSync(job, '{"target": "gfx803", "code": {"words": ["0xbf82ffff"]}, "wave": {}}')
    const child = start('run', job)
    setTimeout(() => child.kill('SIGINT'), 2000)
    expect(await exit(child)).toBe(130)
  })

  test('Ctrl-C ends waiting for jobs with 130', async () => {
    const child = start('run', '--jobs', '-')
    setTimeout(() => child.kill('SIGINT'), 2000)
    expect(await exit(child)).toBe(130)
  })

  test('a reader that stops reading is no error', async () => {
    const child = start('dis', '--lines', '--target', 'gfx803')
    child.stdin.on('error', () => {})
    child.stdin.end('bf810000\n'.repeat(1e6))
    child.stdout.once('data', () => child.stdout.destroy())
    expect(await exit(child)).toBe(0)
  })

  test('wrong usage: 2', async () => {
    expect(await exit(start('rnu'))).toBe(2)
  })
})
