import { describe, expect, test } from 'vitest'
import { readJob } from '../../host/jobs/parse.ts'
import { runJob, runJobs } from '../../host/jobs/run.ts'

const run = (job: object, options = {}) => runJob(readJob({ target: 'gfx803', ...job }), options)
const asm = (...lines: string[]) => ({ asm: lines.join('\n') })

describe('a bare wave', () => {
  test('v_add_f32 v2, v0, v1: what is read comes back as hexadecimal, in the order of the job', async () => {
    const result = await run({
      name: 'add',
      code: { words: ['0x02040300', '0xbf810000'] },
      wave: {
        exec: '0x5',
        vgpr: { v0: '0x3f800000', v1: ['0x40000000', '0x0', '0x40400000'] },
        sgpr: { 's[10:11]': '0x1122334455667788' },
        vcc: '0x7',
      },
      read: ['v2', 's[10:11]', 's10', 'vcc', 'scc', 'exec', 'm0', 'mode'],
      expect: { v2: ['0x40400000', '0x0', '0x40800000', null], vcc: '0x7', exec: '0x5', 's[10:11]': '0x1122334455667788' },
    })
    expect(result).toMatchObject({
      name: 'add',
      status: 'ok',
      differences: [],
      engine: 'translate',
      threads: 1,
      instructions: 2,
      approximate: {},
    })
    expect(Object.keys(result)).toEqual([
      'name',
      'status',
      'read',
      'differences',
      'engine',
      'threads',
      'instructions',
      'seconds',
      'approximate',
      'translated',
    ])
    expect(Object.keys(result.read)).toEqual(['v2', 's[10:11]', 's10', 'vcc', 'scc', 'exec', 'm0', 'mode'])
    const lanes = result.read.v2 as string[]
    expect([lanes.length, ...lanes.slice(0, 4)]).toEqual([64, '0x40400000', '0x00000000', '0x40800000', '0x00000000'])
    expect(result.read).toMatchObject({
      's[10:11]': '0x1122334455667788',
      s10: '0x55667788',
      vcc: '0x0000000000000007',
      scc: '0x0',
      exec: '0x0000000000000005',
      m0: '0x00000000',
      mode: '0x000003c0',
    })
  })

  test('a single expected value counts for the lanes that were active at the start', async () => {
    const job = { code: asm('v_mov_b32 v0, 7'), wave: { exec: '0xf' } }
    expect((await run({ ...job, expect: { v0: 7 } })).status).toBe('ok')
    const { status, differences, more } = await run({ ...job, expect: { v0: new Array(64).fill(7) } })
    expect([status, differences.length, more]).toEqual(['mismatch', 16, 44])
    expect(differences[0]).toEqual({ where: 'v0', lane: 4, expected: '0x00000007', actual: '0x00000000' })
  })

  test('ulps and NaNs as the job allows them', async () => {
    const job = { code: asm('v_mov_b32 v0, 0x3f800001', 'v_mov_b32 v1, 0x7fc00001'), expect: { v0: '0x3f800000', v1: '0xffc00000' } }
    expect((await run(job)).differences).toHaveLength(0 + 16)
    expect((await run({ ...job, wave: {}, ulp: { v0: 1 }, nan: 'any' })).status).toBe('ok')
    expect((await run({ ...job, wave: { exec: '0x1' }, ulp: { v0: 1 } })).differences).toEqual([
      { where: 'v1', lane: 0, expected: '0xffc00000', actual: '0x7fc00001' },
    ])
  })

  test('LDS: what a job gives, changes and reads back', async () => {
    const result = await run({
      code: asm(
        'v_mov_b32 v0, 4',
        'ds_read_b32 v1, v0',
        's_waitcnt lgkmcnt(0)',
        'v_add_u32 v1, vcc, 1, v1',
        'ds_write_b32 v0, v1 offset:4',
        's_endpgm',
      ),
      wave: { exec: '0x1', m0: '0xffffffff', lds: { hex: '00000000 78563412' } },
      expect: { v1: '0x12345679', lds: { hex: '00000000 78563412 79563412' } },
    })
    expect(result).toMatchObject({ status: 'ok', differences: [] })
  })

  test('a buffer at an address of its own', async () => {
    const result = await run({
      code: asm('flat_load_dword v2, v[0:1]', 's_waitcnt 0', 'v_lshlrev_b32 v2, 1, v2', 'flat_store_dword v[0:1], v2'),
      wave: { exec: '0x1', vgpr: { 'v[0:1]': '0x7f0000002004' } },
      buffers: { y: { type: 'u32', length: 2, init: { values: [1, 21] }, address: '0x7f0000002000' } },
      read: ['y'],
      expect: { y: { hex: '010000002a000000' } },
    })
    expect(result).toMatchObject({ status: 'ok', read: { y: { hex: '010000002a000000' } } })
  })
})

describe('a dispatch of raw code', () => {
  test('arguments one behind another, workgroup and work-item ids in their registers', async () => {
    // s[4:5] kernarg, s6 workgroup id, v0 work-item id
    const code = asm(
      's_load_dwordx2 s[0:1], s[4:5], 0x8',
      's_load_dword s2, s[4:5], 0x0',
      's_waitcnt lgkmcnt(0)',
      's_lshl_b32 s3, s6, 6',
      'v_add_u32 v0, vcc, s3, v0',
      'v_mul_lo_u32 v3, v0, s2',
      'v_lshlrev_b32 v0, 2, v0',
      'v_mov_b32 v2, s1',
      'v_add_u32 v1, vcc, s0, v0',
      'v_addc_u32 v2, vcc, 0, v2, vcc',
      'flat_store_dword v[1:2], v3',
    )
    const result = await run({
      code,
      grid: [128, 1, 1],
      workgroup: [64, 1, 1],
      args: [{ type: 'u32', value: 3 }, { buffer: 'out' }],
      buffers: { out: { type: 'u32', length: 128 } },
      read: ['out'],
    })
    expect(result.error).toBeUndefined()
    const { hex } = result.read.out as { hex: string }
    expect(hex.slice(0, 24)).toBe('000000000300000006000000')
    expect(hex.slice(-8)).toBe('7d010000') // 127 * 3 = 0x17d
  })

  test('registers of several waves cannot be read', async () => {
    const result = await run({ code: asm('s_endpgm'), grid: [128, 1, 1], read: ['v0'] })
    expect(result).toMatchObject({ status: 'error', error: { code: 'ERR_JOB' } })
    expect(result.error!.message).toContain('v0 is there once a wave')
  })
})

describe('what stops a job', () => {
  test('a stray address is a fault with its place; state stays readable', async () => {
    const result = await run({
      code: asm('v_mov_b32 v2, 5', 'flat_load_dword v2, v[0:1]'),
      wave: { exec: '0x8', vgpr: { 'v[0:1]': '0xdead0000' } },
      read: ['v2', 'exec'],
      expect: { v2: 6 },
    })
    expect(result).toMatchObject({
      status: 'fault',
      differences: [],
      instructions: 1,
      error: { code: 'ERR_MEMORY_FAULT', pc: 4, instruction: 'flat_load_dword v2, v[0:1]' },
    })
    expect(result.error!.message).toMatch(/lane 3.*0xdead0000/)
    expect((result.read.v2 as string[])[3]).toBe('0x00000005')
  })

  test('an endless loop uses its budget up', async () => {
    const result = await run({ code: { words: ['0xbf82ffff'] }, budget: 1000, wave: {}, read: ['s0'] })
    expect(result).toMatchObject({ status: 'budget', instructions: 1000, error: { code: 'ERR_LIMIT' }, read: { s0: '0x00000000' } })
  })

  test('words that are no instruction', async () => {
    expect(await run({ code: { words: ['0xffffffff'] }, wave: {} })).toMatchObject({
      status: 'fault',
      error: { code: 'ERR_ILLEGAL', pc: 0 },
    })
  })

  test('an instruction that Lanewise does not run is unsupported', async () => {
    expect(await run({ code: asm('image_sample v[0:3], v[4:5], s[0:7], s[8:11] dmask:0xf'), wave: {} })).toMatchObject({
      status: 'unsupported',
      error: { code: 'ERR_UNSUPPORTED', pc: 0 },
    })
  })

  test('assembly that is wrong', async () => {
    expect(await run({ code: asm('v_add_f33 v0, v1, v2'), wave: {} })).toMatchObject({ status: 'error', error: { code: 'ERR_ASSEMBLE' } })
  })

  test('a file that is missing, or has the wrong size', async () => {
    const job = { code: { words: [] }, buffers: { x: { type: 'f32', length: 2, init: { file: 'x.bin' } } } }
    expect(await run(job)).toMatchObject({
      status: 'error',
      error: { code: 'ERR_JOB', message: 'cannot read x.bin: no readFile option was given, so x.bin is out of reach' },
    })
    expect(await run(job, { readFile: async () => new Uint8Array(7) })).toMatchObject({
      status: 'error',
      error: { code: 'ERR_JOB', path: 'buffers.x.init.file', message: 'buffers.x.init.file: x.bin has 7 bytes; expected 8' },
    })
  })

  test('an aborted job rejects with the reason of its signal', async () => {
    const reason = new Error('enough')
    const endless = { code: { words: ['0xbf82ffff'] }, wave: {} }
    await expect(run(endless, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const later = new AbortController()
    setTimeout(() => later.abort(reason), 30)
    await expect(run(endless, { signal: later.signal })).rejects.toBe(reason)
  })
})

describe('the engines', () => {
  const job = {
    code: asm('v_mov_b32 v1, 0x41100000', 'v_sqrt_f32 v2, v1', 'v_rcp_f32 v3, v1', 'v_rcp_f32 v3, v1'),
    wave: {},
    expect: { v2: '0x40400000' },
  }
  test.each(['core', 'translate', 'reference'] as const)('%s counts approximate operations', async (engine) => {
    expect(await run(job, { engine })).toMatchObject({ status: 'ok', engine, approximate: { v_sqrt_f32: 1, v_rcp_f32: 2 } })
  })
  test('a check says that the reference agrees', async () => {
    const result = await run(job, { check: true })
    expect(result).toMatchObject({ status: 'ok', check: { engine: 'reference', parting: null } })
  })
  test('a check stops at a fault of both, and at the budget', async () => {
    expect(await run({ code: asm('v_mov_b32 v0, 1', 's_trap 2'), wave: {} }, { check: true })).toMatchObject({
      status: 'fault',
      error: { code: 'ERR_TRAP' },
      check: { parting: null },
    })
    expect(await run({ code: { words: ['0xbf82ffff'] }, wave: {}, budget: 5000 }, { check: true })).toMatchObject({
      status: 'budget',
      instructions: 5000,
      check: { parting: null },
    })
  })
})

describe('a stream of jobs', () => {
  const line = (name: string, words: string[] = ['0xbf810000']) => JSON.stringify({ name, target: 'gfx803', code: { words }, wave: {} })
  const collect = async (lines: string[], options = {}) => {
    const results = []
    for await (const { name, status, error } of runJobs(lines, options)) results.push([name, status, error?.code])
    return results
  }

  test('goes on after a bad line', async () => {
    expect(
      await collect([
        line('a'),
        '',
        '{"name": "b"',
        '{"name":"c","target":"gfx803","cod":1}',
        '{"name":"d","target":"gfx1100","code":{"words":[]}}',
        line('e'),
      ]),
    ).toEqual([
      ['a', 'ok', undefined],
      ['', 'error', 'ERR_JOB'],
      ['c', 'error', 'ERR_JOB'],
      ['d', 'unsupported', 'ERR_UNSUPPORTED'],
      ['e', 'ok', undefined],
    ])
  })
  test('runs what the filter lets through', async () => {
    expect(await collect([line('one'), line('two'), line('three')], { filter: /^t/ })).toEqual([
      ['two', 'ok', undefined],
      ['three', 'ok', undefined],
    ])
  })
})
