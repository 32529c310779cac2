import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { JobError, LanewiseError } from '../../host/errors.ts'
import { parseJob, readJob } from '../../host/jobs/parse.ts'

const raw = (more: object = {}) => ({ target: 'gfx803', code: { words: ['0xbf810000'] }, ...more })
const object = (more: object = {}) => ({ target: 'gfx803', code: { object: 'a.co', kernel: 'a' }, ...more })
const bare = (wave: object, more: object = {}) => raw({ wave, ...more })

function problem(job: unknown): JobError {
  try {
    readJob(job)
  } catch (error) {
    if (error instanceof JobError) return error
    throw error
  }
  throw new Error(`accepted: ${JSON.stringify(job)}`)
}

describe('what is wrong names its key', () => {
  test.each<[string, object, string]>([
    ['an unknown key', raw({ bufers: {} }), 'bufers'],
    ['an unknown key deep down', raw({ buffers: { x: { type: 'f32', length: 4, init: { genn: 'raw' } } } }), 'buffers.x.init.genn'],
    ['no target', { code: { words: [] } }, 'target'],
    ['a target that is no processor', raw({ target: 'tonga!' }), 'target'],
    ['no code', { target: 'gfx803' }, 'code'],
    ['two forms of code', raw({ code: { words: [], asm: '' } }), 'code'],
    ['a code object without kernel', raw({ code: { object: 'a.co' } }), 'code.kernel'],
    ['a kernel of raw code', raw({ code: { words: [], kernel: 'a' } }), 'code.kernel'],
    ['a word of 33 bits', raw({ code: { words: ['0x0', '0x100000000'] } }), 'code.words[1]'],
    ['a negative word', raw({ code: { words: [-1] } }), 'code.words[0]'],
    ['a grid of text', raw({ grid: 'big' }), 'grid'],
    ['a grid of four sizes', raw({ grid: [1, 1, 1, 1] }), 'grid'],
    ['an empty grid', raw({ grid: [64, 0, 1] }), 'grid[1]'],
    ['half a work-item', raw({ grid: [1.5, 1, 1] }), 'grid[0]'],
    ['a buffer of no type', raw({ buffers: { x: { length: 1 } } }), 'buffers.x.type'],
    ['a buffer of an unknown type', raw({ buffers: { x: { type: 'f8', length: 1 } } }), 'buffers.x.type'],
    ['a buffer of negative length', raw({ buffers: { x: { type: 'u8', length: -1 } } }), 'buffers.x.length'],
    ['a buffer beyond 4 GiB', raw({ buffers: { x: { type: 'f64', length: 2 ** 29 } } }), 'buffers.x.length'],
    ['too few values', raw({ buffers: { x: { type: 'u8', length: 2, init: { values: [1] } } } }), 'buffers.x.init.values'],
    [
      'a value that is an object, of a kind that does not become text',
      raw({ buffers: { x: { type: 'f16', length: 1, init: { values: [{ toString: false }] } } } }),
      'buffers.x.init.values[0]',
    ],
    ['a value beyond its type', raw({ buffers: { x: { type: 'u8', length: 1, init: { values: [256] } } } }), 'buffers.x.init.values[0]'],
    ['too many hex bytes', raw({ buffers: { x: { type: 'u8', length: 1, init: { hex: '0011' } } } }), 'buffers.x.init.hex'],
    ['odd hex digits', raw({ buffers: { x: { type: 'u8', length: 1, init: { hex: '012' } } } }), 'buffers.x.init.hex'],
    ['two ways to start', raw({ buffers: { x: { type: 'u8', length: 1, init: { hex: '01', fill: 0 } } } }), 'buffers.x.init'],
    ['uniform integers', raw({ buffers: { x: { type: 'u8', length: 1, init: { gen: 'uniform', lo: 0, hi: 1 } } } }), 'buffers.x.init.gen'],
    ['hi below lo', raw({ buffers: { x: { type: 'u8', length: 1, init: { gen: 'int', lo: 3, hi: 1 } } } }), 'buffers.x.init.hi'],
    ['int without bounds', raw({ buffers: { x: { type: 'u8', length: 1, init: { gen: 'int' } } } }), 'buffers.x.init.lo'],
    ['an argument that is no buffer', object({ args: [{ buffer: 'x' }] }), 'args[0].buffer'],
    ['an argument of two forms', object({ args: [{ type: 'u32', value: 1, hex: '00' }] }), 'args[0]'],
    ['an argument without type', object({ args: [{ value: 1 }] }), 'args[0].type'],
    ['an offset without buffer', object({ args: [{ hex: '00', offset: 1 }] }), 'args[0].offset'],
    ['kernarg beside args', raw({ args: [], kernarg: { hex: '00' } }), 'kernarg'],
    ['a descriptor beside a code object', object({ descriptor: {} }), 'descriptor'],
    ['a bare wave with a grid', bare({}, { grid: [64, 1, 1] }), 'grid'],
    ['a bare wave of a code object', object({ wave: {} }), 'wave'],
    ['wave32 on gfx8', bare({ size: 32 }), 'wave.size'],
    ['v256', bare({ vgpr: { v256: 0 } }), 'wave.vgpr.v256'],
    ['s102, which is FLAT_SCRATCH on gfx8', bare({ sgpr: { s102: 0 } }), 'wave.sgpr.s102'],
    ['a vector register among scalars', bare({ sgpr: { v1: 0 } }), 'wave.sgpr.v1'],
    ['a range upside down', bare({ sgpr: { 's[5:4]': '0x0' } }), 'wave.sgpr.s[5:4]'],
    ['a register set twice', bare({ sgpr: { 's[4:5]': '0x0', s5: '0x0' } }), 'wave.sgpr.s5'],
    ['65 lanes', bare({ vgpr: { v0: new Array(65).fill(0) } }), 'wave.vgpr.v0'],
    ['scc 2', bare({ scc: 2 }), 'wave.scc'],
    ['a fraction in a register', bare({ sgpr: { s0: '1.5' } }), 'wave.sgpr.s0'],
    ['a number that JSON has rounded', bare({ sgpr: { 's[0:1]': 2 ** 60 } }), 'wave.sgpr.s[0:1]'],
    ['an unknown place to read', raw({ read: ['v1', 'x'] }), 'read[1]'],
    ['an unknown place to expect', raw({ expect: { w1: 0 } }), 'expect.w1'],
    ['lanes of a scalar', raw({ expect: { s1: ['0x0'] } }), 'expect.s1'],
    [
      'an unknown comparison',
      raw({ buffers: { x: { type: 'f32', length: 1 } }, expect: { x: { hex: '00000000', compare: 'about' } } }),
      'expect.x',
    ],
    [
      'ulps of integers',
      raw({ buffers: { x: { type: 'u32', length: 1 } }, expect: { x: { hex: '00000000', compare: 'ulp 1' } } }),
      'expect.x.compare',
    ],
    [
      'a hash compared nearly',
      raw({ buffers: { x: { type: 'f32', length: 1 } }, expect: { x: { fnv1a64: '0'.repeat(16), compare: 'ulp 1' } } }),
      'expect.x.compare',
    ],
    [
      'a sample beyond the end',
      raw({ buffers: { x: { type: 'f32', length: 4 } }, expect: { x: { sample: { file: 'a', stride: 3, count: 3 } } } }),
      'expect.x.sample',
    ],
    ['ulps of a buffer', raw({ buffers: { x: { type: 'f32', length: 1 } }, ulp: { x: 1 } }), 'ulp.x'],
    ['nan: none', raw({ nan: 'none' }), 'nan'],
    ['no budget', raw({ budget: 0 }), 'budget'],
  ])('%s', (_what, job, path) => {
    const error = problem(job)
    expect(error.path).toBe(path)
    expect(error.message).toContain(path)
  })

  test('text that is no JSON', () => {
    expect(() => parseJob('{"target": ')).toThrow(JobError)
    expect(() => parseJob('[]')).toThrow('the job is []')
  })

  test('a mistyped key is told the known one', () => {
    expect(problem(raw({ expct: {} })).message).toBe('unknown key expct; did you mean expect?')
  })

  test('a processor without tables is unsupported, not an error of the job', () => {
    const run = () => readJob(raw({ target: 'gfx1100' }))
    expect(run).toThrow(LanewiseError)
    expect(run).toThrow('target gfx1100 is not supported; supported are gfx600, gfx700, gfx803')
  })
})

describe('what is right', () => {
  test('registers by name, range and lane', () => {
    const { start } = readJob(
      bare({
        exec: '0xf',
        vcc: '0x5',
        sgpr: { s0: '-1', 's[4:5]': '0x1122334455667788' },
        vgpr: { v0: 7, v1: ['0x0', '0x1'], 'v[2:3]': '0x100000002' },
      }),
    )
    if (start.form !== 'wave') throw new Error('no wave')
    expect(start).toMatchObject({ size: 64, exec: 15n, vcc: 5n, scc: 0, m0: 0, mode: 0x3c0 })
    expect([...start.sgprs]).toEqual([
      [0, 0xffffffff],
      [4, 0x55667788],
      [5, 0x11223344],
    ])
    expect(start.vgprs.get(0)).toEqual(new Uint32Array(64).fill(7))
    expect([...start.vgprs.get(1)!.slice(0, 3)]).toEqual([0, 1, 0])
    expect([start.vgprs.get(2)![63], start.vgprs.get(3)![63]]).toEqual([2, 1])
  })

  test('EXEC is all ones where nothing is said', () => {
    expect(readJob(bare({})).start).toMatchObject({ exec: 0xffff_ffff_ffff_ffffn })
  })

  test('arguments are bytes as the kernel finds them', () => {
    const args = [
      { type: 'u32', value: 4096 },
      { type: 'f32', value: 2.5 },
      { type: 'f32', bits: '0x40200000' },
      { type: 'f16', value: '1.5' },
      { type: 'i64', value: '-2' },
      { hex: '00 11' },
      { local: 1024 },
      { buffer: 'x', offset: 8 },
    ]
    const { start } = readJob(object({ args, buffers: { x: { type: 'u8', length: 16 } } }))
    if (start.form !== 'dispatch') throw new Error('no dispatch')
    const bytes = (...list: number[]) => ({ form: 'bytes', bytes: Uint8Array.from(list) })
    expect(start.args).toEqual([
      bytes(0, 16, 0, 0),
      bytes(0, 0, 0x20, 0x40),
      bytes(0, 0, 0x20, 0x40),
      bytes(0, 0x3e),
      bytes(0xfe, 255, 255, 255, 255, 255, 255, 255),
      bytes(0, 0x11),
      { form: 'local', bytes: 1024 },
      { form: 'buffer', name: 'x', offset: 8n },
    ])
  })

  test('float values that JSON has no numbers for', () => {
    const job = readJob(raw({ buffers: { x: { type: 'f32', length: 4, init: { values: ['nan', '-inf', 'Infinity', '-0.0'] } } } }))
    const init = job.buffers.get('x')!.init
    expect(init.form === 'bytes' && [...new Uint32Array(init.bytes.buffer)]).toEqual([0x7fc00000, 0xff800000, 0x7f800000, 0x80000000])
  })

  test('a buffer called like a register is the buffer', () => {
    expect(readJob(raw({ buffers: { v0: { type: 'u8', length: 1 } }, read: ['v0'] })).read[0]!.form).toBe('buffer')
  })
})

const SHARED = '../shared'
const supported = (file: string) => /gfx(600|700|803)/.test(file)
describe.runIf(existsSync(SHARED))('every shared job of a supported target is accepted', () => {
  test.each(['kernels/jobs', 'vectors/operations'])('%s', (directory) => {
    for (const file of readdirSync(`${SHARED}/${directory}`).filter(supported)) {
      const bytes = readFileSync(`${SHARED}/${directory}/${file}`)
      for (const line of (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().trim().split('\n')) parseJob(line)
    }
  })
})
