import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

// The command as it is installed; it is there after `npm run build`.
const MAIN = 'dist/cli/main.js'

describe.runIf(existsSync(MAIN))('the lanewise process', () => {
  const start = (...args: string[]) => spawn(process.execPath, [MAIN, ...args])
  const job = (word: string) => `{"target": "gfx803", "code": {"words": ["${word}"]}, "wave": {}}\n`
  const exitCode = async (child: ReturnType<typeof start>) => (await once(child, 'exit'))[0] as number | null

  /** A process that has run one job and waits for the next. */
  async function running() {
    const child = start('run', '--jobs', '-')
    child.stdin.write(job('0xbf810000'))
    await once(child.stdout, 'data')
    return child
  }

  test('Ctrl-C ends waiting for jobs with 130', async () => {
    const child = await running()
    child.kill('SIGINT')
    expect(await exitCode(child)).toBe(130)
  })

  test('Ctrl-C ends an endless kernel with 130', async () => {
    const child = await running()
    child.stdin.write(job('0xbf82ffff'))
    setTimeout(() => child.kill('SIGINT'), 300)
    expect(await exitCode(child)).toBe(130)
  })

  test('a reader that stops reading is no error', async () => {
    const child = start('dis', '--lines', '--target', 'gfx803')
    child.stdin.on('error', () => {})
    child.stdin.end('bf810000\n'.repeat(1e6))
    child.stdout.once('data', () => child.stdout.destroy())
    expect(await exitCode(child)).toBe(0)
  })

  test('wrong usage: 2', async () => {
    expect(await exitCode(start('rnu'))).toBe(2)
  })
})
