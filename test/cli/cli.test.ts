import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { lanewise } from './support.ts'

const room = mkdtempSync(join(tmpdir(), 'lanewise-'))
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(room, name), content)
  return join(room, name)
}
const job = (name: string, more: object = {}) =>
  JSON.stringify({ name, target: 'gfx803', code: { words: ['0x7e000287', '0xbf810000'] }, wave: {}, ...more })
const GOOD = { expect: { v0: '0x7' } }
const BAD = { expect: { v0: '0x3f800000' } }

describe('help', () => {
  test.each([[['--help']], [['help']], [['run', '--help']], [['dis', '-h']], [['asm', '--help']], [['demo', '--help']]])(
    '%j fits 80 columns and has the exit codes',
    async (args) => {
      const { code, out, err } = await lanewise(args)
      expect([code, err]).toEqual([0, ''])
      expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
      expect(out).toContain('Exit code: 0 ok, 1 results differ')
      if (args.length > 1) expect(out).toContain('Examples:')
    },
  )
})

describe('wrong usage is told on standard error, with exit code 2', () => {
  test.each([
    [[], 'no command; there are run, dis, asm'],
    [['rnu'], 'unknown command rnu; did you mean run?'],
    [['run'], 'nothing to run; name a job file, or many jobs with --jobs FILE'],
    [['run', 'x.json', '--chek'], 'unknown option --chek; did you mean --check?'],
    [['run', 'x.json', '--engine', 'gpu'], 'unknown engine gpu; there are auto'],
    [['run', 'x.json', '--threads', '0'], '--threads 0: give a whole number, 1 to 9999'],
    [['run', '--jobs', '-', '--filter', '('], '--filter (: Invalid regular expression'],
    [['run', 'nowhere.json'], 'there is no file nowhere.json'],
    [['run', '--jobs', 'nowhere.ndjson'], 'there is no file nowhere.ndjson'],
    [['run', 'x.json', '--jobs', 'y'], 'job files and --jobs exclude each other'],
    [['dis', '--words', '0x0'], '--target is missing'],
    [['dis', '--words', 'hello', '-t', 'gfx803'], '--words hello: expected 32-bit words in hexadecimal'],
    [['dis', '--lines', '-t', 'gfx8'], 'unknown target gfx8; did you mean'],
    [['asm', '-t', 'gfx803'], 'asm takes one FILE or --lines'],
    [['demo', 'x'], 'demo takes no arguments'],
  ])('%j: %s', async (args, message) => {
    const { code, out, err } = await lanewise(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^error: /)
    expect(err).toContain(message)
  })

  test('--json: the error is an object', async () => {
    const { code, out, err } = await lanewise(['run', '--json', '--chek'])
    expect([code, err]).toEqual([2, ''])
    expect(JSON.parse(out)).toEqual({ error: { code: 'ERR_USAGE', message: 'unknown option --chek; did you mean --check?' } })
  })

  test('a target without tables is unsupported: 3', async () => {
    const { code, err } = await lanewise(['dis', '--words', '0x0', '-t', 'gfx1100'])
    expect([code, err]).toEqual([3, 'error: target gfx1100 is not supported; supported are gfx600, gfx700, gfx803\n'])
  })
})

describe('run', () => {
  test('one job: JSON on standard output, words for people on standard error', async () => {
    const { code, out, err } = await lanewise(['run', file('good.json', job('good', { ...GOOD, read: ['scc'] }))])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ name: 'good', status: 'ok', read: { scc: '0x0' }, instructions: 2 })
    expect(err).toMatch(/^OK +good +2 instructions, .* on translate\n$/)
  })

  test('at a terminal: what people read, and no JSON', async () => {
    const { out } = await lanewise(['run', file('good.json', job('good', GOOD))], { tty: true })
    expect(out).toMatch(/^OK /)
    expect((await lanewise(['run', file('good.json', job('good', GOOD)), '--json'], { tty: true })).out).toMatch(/^\{"name":"good"/)
  })

  test('at a terminal: registers and memory that the job reads', async () => {
    const more = { read: ['v0', 's[0:1]', 'y'], buffers: { y: { type: 'u8', length: 300, init: { fill: 1 } } } }
    const { out } = await lanewise(['run', file('read.json', job('read', more))], { tty: true })
    const lines = out.split('\n')
    expect(lines.slice(1, 3)).toEqual(['v0', '    0 0x00000007 0x00000007 0x00000007 0x00000007'])
    expect(lines).toContain('s[0:1]   0x0000000000000000')
    expect(lines).toContain('y (the first 256 of 300 bytes)')
    expect(lines).toContain('00010  01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01')
  })

  test('differences in a table, values as bits and as floats: 1', async () => {
    const { code, err } = await lanewise(['run', file('bad.json', job('bad', BAD))])
    expect(code).toBe(1)
    const lines = err.split('\n')
    expect(lines[1]).toBe('where  at  expected    as float  actual      as float')
    expect(lines[2]).toBe('v0      0  0x3f800000  1         0x00000007  9.809089e-45')
    expect(lines[18]).toBe('and 48 more')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  test.each([
    ['a fault: 1', { code: { words: ['0xbf920002'] } }, 1],
    ['a used-up budget: 1', { code: { words: ['0xbf82ffff'] }, budget: 10 }, 1],
    ['an unknown key: 2', { nmae: 'x' }, 2],
    ['an unsupported target: 3', { target: 'gfx900' }, 3],
  ])('%s', async (_what, more, exit) => {
    expect((await lanewise(['run', file('x.json', job('x', more))])).code).toBe(exit)
  })

  test('files named in a job are relative to it', async () => {
    file('code.bin', Uint8Array.of(0x87, 2, 0, 0x7e))
    expect((await lanewise(['run', file('x.json', job('x', { code: { file: 'code.bin' }, ...GOOD }))])).code).toBe(0)
    file('code.s', 'v_mov_b32 v0, 7 // and that is all\n')
    expect((await lanewise(['run', file('x.json', job('x', { code: { source: 'code.s' }, ...GOOD }))])).code).toBe(0)
    const { code, out } = await lanewise(['run', file('x.json', job('x', { code: { file: 'none.bin' } }))])
    expect([code, JSON.parse(out).error.message]).toEqual([2, 'cannot read none.bin: there is no file none.bin'])
  })

  test('--jobs: a result a line in order, a bad line among them, a summary on standard error', async () => {
    const lines = `${job('a', GOOD)}\nnonsense\n\n${job('b', BAD)}\n${job('c', GOOD)}`
    for (const name of [file('jobs.ndjson', lines), file('jobs.ndjson.gz', gzipSync(lines))]) {
      const { code, out, err } = await lanewise(['run', '--jobs', name])
      const results = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(results.map(({ name: n, status }) => [n, status])).toEqual([
        ['a', 'ok'],
        ['', 'error'],
        ['b', 'mismatch'],
        ['c', 'ok'],
      ])
      expect(code).toBe(2)
      expect(err).toMatch(/^4 jobs: 2 ok, 1 error, 1 mismatch; 6 instructions in .* on auto\n$/)
    }
  })

  test('--filter', async () => {
    const { out } = await lanewise(['run', '--jobs', '-', '--filter', 'b$'], { input: `${job('ab')}\n${job('ba')}\n${job('bb')}\n` })
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).name),
    ).toEqual(['ab', 'bb'])
  })

  test('--jobs -: each result is there before the next job is sent', async () => {
    const seen: string[] = []
    let arrived = (): void => {}
    async function* input() {
      for (const name of ['first', 'second']) {
        const result = new Promise<void>((resolve) => {
          arrived = resolve
        })
        yield new TextEncoder().encode(`${job(name, GOOD)}\n`)
        await result
        seen.push(name)
      }
    }
    const { code } = await lanewise(['run', '--jobs', '-'], { input: input(), onOut: () => arrived() })
    expect([code, seen]).toEqual([0, ['first', 'second']])
  })

  test('an interrupted run exits with 130', async () => {
    const interrupt = new AbortController()
    setTimeout(() => interrupt.abort(new Error('interrupted')), 50)
    const { code, err } = await lanewise(['run', file('loop.json', job('loop', { code: { words: ['0xbf82ffff'] } }))], {
      signal: interrupt.signal,
    })
    expect([code, err]).toEqual([130, ''])
  })

  test('--check says that the engines agree', async () => {
    const { code, err } = await lanewise(['run', file('good.json', job('good', GOOD)), '--check'])
    expect(code).toBe(0)
    expect(err).toContain("checked: all state the same as the reference's")
  })
})

describe('dis', () => {
  test('--words', async () => {
    const { code, out } = await lanewise(['dis', '-t', 'gfx803', '--words', '0xd1c10003', '0x040a0300', 'bf810000', 'ffffffff'])
    expect([code, out]).toEqual([
      0,
      '0000  d1c10003 040a0300  v_mad_f32 v3, v0, v1, v2\n0008  bf810000           s_endpgm\n000c  ffffffff           .long 0xffffffff\n',
    ])
  })

  test('a code object, whose target it knows', async () => {
    const { code, out } = await lanewise(['dis', 'test/data/kernels/saxpy/gfx803.co'])
    expect(code).toBe(0)
    // From LLVM's own disassembly of this file.
    expect(out.split('\n').slice(0, 3)).toEqual([
      'saxpy:',
      '0000  c0020082 00000024  s_load_dword s2, s[4:5], 0x24',
      '0008  c0060002 00000000  s_load_dwordx2 s[0:1], s[4:5], 0x0',
    ])
    expect(out).not.toContain('.long')
  })

  test('--json', async () => {
    const { out } = await lanewise(['dis', '-t', 'gfx803', '--json', '--words', '0xbf810000'])
    expect(JSON.parse(out)).toEqual({ target: 'gfx803', lines: [{ offset: 0, words: ['0xbf810000'], text: 's_endpgm' }] })
  })

  test('a file that is neither', async () => {
    const { code, err } = await lanewise(['dis', file('odd.bin', Uint8Array.of(1, 2, 3)), '-t', 'gfx803'])
    expect(code).toBe(2)
    expect(err).toContain('its 3 bytes are no whole number of dwords')
  })

  test('--lines: an empty line for what is no instruction, or not one', async () => {
    const input = ['bf810000', 'ffffffff', '', '0x7e000287', '7e000287 bf810000', 'hello', '7e0002ff 12345678', '7e0002ff'].join('\n')
    const { code, out } = await lanewise(['dis', '-t', 'gfx803', '--lines'], { input })
    expect([code, out.split('\n')]).toEqual([
      0,
      ['s_endpgm', '', '', 'v_mov_b32_e32 v0, 7', '', '', 'v_mov_b32_e32 v0, 0x12345678', '', ''],
    ])
  })
})

describe('asm', () => {
  const source = 'start:\n  v_mov_b32 v0, 7\n  s_branch start\n'
  test("an instruction's words a line", async () => {
    const { code, out } = await lanewise(['asm', file('a.s', source), '-t', 'gfx803'])
    expect([code, out]).toEqual([0, '7e000287\nbf82fffe\n'])
  })
  test('-o writes little-endian dwords, --json prints words', async () => {
    const { out } = await lanewise(['asm', file('a.s', source), '-t', 'gfx803', '--json', '-o', join(room, 'a.bin')])
    expect(JSON.parse(out)).toEqual({ target: 'gfx803', words: ['0x7e000287', '0xbf82fffe'] })
    expect(readFileSync(join(room, 'a.bin')).toString('hex')).toBe('8702007efeff82bf')
  })
  test('what is wrong is told with its line and column', async () => {
    const { code, err } = await lanewise(['asm', file('a.s', 's_nop 0\n  v_mvo_b32 v0, 7\n'), '-t', 'gfx803'])
    expect(code).toBe(2)
    expect(err).toMatch(/^error: .*a\.s:2:3: /)
  })
  test('--lines', async () => {
    const { code, out } = await lanewise(['asm', '-t', 'gfx803', '--lines'], { input: 'v_add_f32 v0, v1, v2\nnonsense v0\n\ns_endpgm\n' })
    expect([code, out]).toEqual([0, '02000501\n\n\nbf810000\n'])
  })
})

describe('demo', () => {
  test('draws a picture that fits 80 columns, and all engines agree', async () => {
    const { code, out, err } = await lanewise(['demo', '--png', join(room, 'm.png')])
    expect([code, err]).toEqual([0, ''])
    const lines = out.split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(lines.slice(0, 24).every((line) => line.length === 76)).toBe(true)
    expect(out).toContain('All engines agree')
    expect(readFileSync(join(room, 'm.png')).subarray(1, 4).toString()).toBe('PNG')
  })
})
