import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bytesOf, wordsOf } from '../trace/support.ts'
import { lanewise } from './support.ts'

const room = mkdtempSync(join(tmpdir(), 'lanewise-'))
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(room, name), content)
  return join(room, name)
}
const TEXT = 'v_mov_b32 v0, 1.0\nv_add_f32 v1, v0, v0\n'
const WORDS = bytesOf(wordsOf(TEXT))
const STATE = { vgpr: { v0: '0x3f800000', v1: '0x40000000' } }

test('machine words, gzipped words, text, standard input: the same state', async () => {
  const sources: [string, Uint8Array | string][] = [
    [file('t.bin', WORDS), ''],
    [file('t.bin.gz', gzipSync(WORDS)), ''],
    [file('t.s', TEXT), ''],
    ['-', WORDS],
  ]
  for (const [name, input] of sources) {
    const { code, out } = await lanewise(['run', '--trace', name, '--target', 'gfx803', '--json'], { input })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ status: 'ok', instructions: 2, trace: { state: STATE } })
  }
})

test('a start gives registers and says what to expect', async () => {
  const start = file(
    'start.json',
    JSON.stringify({ target: 'gfx803', wave: { vgpr: { v1: '0x40000000' } }, read: ['v2'], expect: { v2: '0x40800000' } }),
  )
  const good = await lanewise(['run', '--trace', file('a.s', 'v_add_f32 v2, v1, v1'), start, '--json'])
  expect([good.code, JSON.parse(good.out).read.v2[0]]).toEqual([0, '0x40800000'])
  const bad = await lanewise(['run', '--trace', file('b.s', 'v_add_f32 v2, 1.0, v1'), start, '--json'])
  expect([bad.code, JSON.parse(bad.out).status]).toEqual([1, 'mismatch'])
})

test('at a terminal: speed and registers, 80 columns', async () => {
  const { out } = await lanewise(['run', '--trace', file('t.s', TEXT), '--target', 'gfx803'], { tty: true })
  expect(out).toMatch(/^OK /)
  expect(out).toContain('v1    0x40000000 in all lanes')
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('Ctrl-C keeps the state and prints it; exit code 130', async () => {
  const abort = new AbortController()
  const piece = bytesOf(wordsOf('v_add_u32 v0, vcc, 1, v0\n'.repeat(10_000)))
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield piece
  }
  setTimeout(() => abort.abort(new Error('interrupted')), 100)
  const { code, out } = await lanewise(['run', '--trace', '-', '--target', 'gfx803', '--json'], { input: endless(), signal: abort.signal })
  const { status, instructions, trace } = JSON.parse(out)
  expect([code, status]).toEqual([130, 'interrupted'])
  expect(Number(trace.state.vgpr.v0)).toBe(instructions)
})

test('a fault shows its lines, exit code 1', async () => {
  const { code, out } = await lanewise(['run', '--trace', file('f.s', `${TEXT}s_trap 2\n`), '--target', 'gfx803'], { tty: true })
  expect(code).toBe(1)
  expect(out).toContain('> 0x0008  s_trap 2')
})

test('a job is recorded, and its recording replayed', async () => {
  const job = file('job.json', JSON.stringify({ target: 'gfx803', code: { asm: `${TEXT}s_endpgm` }, wave: {} }))
  const recording = join(room, 'wave.lwt')
  const recorded = await lanewise(['run', job, '--record', recording, '--record-registers', '--json'])
  expect(recorded.code).toBe(0)
  expect(gunzipSync(readFileSync(recording)).subarray(0, 8).toString()).toBe('LWTRACE1')
  const start = file('empty.json', '{}')
  for (const more of [[], ['--target', 'gfx803'], [start], [start, '--target', 'gfx803']]) {
    const { code, out } = await lanewise(['run', '--trace', recording, ...more, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ status: 'ok', instructions: 3, trace: { form: 'recording', state: STATE } })
  }
  const other = await lanewise(['run', '--trace', recording, '--target', 'gfx700', '--json'])
  expect([other.code, JSON.parse(other.out).error.message]).toEqual([2, expect.stringContaining('the recording is of gfx803')])
  const cut = await lanewise(['run', '--trace', file('cut.lwt', gunzipSync(readFileSync(recording)).subarray(0, 20)), '--json'])
  expect([cut.code, cut.out + cut.err]).toEqual([2, expect.stringContaining('the recording is damaged')])
})

test.each([
  [['--trace', 'LICENSE'], '--trace needs --target NAME'],
  [['--trace', 'nowhere', '--target', 'gfx803'], 'there is no file nowhere'],
  [['--trace', 'x', '--target', 'gfx803', '--form', 'elf'], '--form elf: there are words, text, recording'],
  [['--trace', 'x', '--target', 'gfx803', '--engine', 'translate'], 'a trace runs on core or reference'],
  [['--trace', 'x', '--target', 'gfx803', '--check'], '--check does not go with --trace'],
  [['j.json', '--form', 'text'], '--form goes with --trace'],
  [['j.json', '--record-wave', '0.0'], 'go with --record FILE'],
  [['j.json', '--record', 'f', '--record-wave', '0'], '--record-wave 0: give workgroup and wave'],
  [['j.json', '--schedule', 'fifo'], '--schedule fifo: there are round-robin'],
])('run %j: %s', async (args, message) => {
  const { code, out, err } = await lanewise(['run', ...args])
  expect(code).toBe(2)
  expect(out + err).toContain(message)
})
