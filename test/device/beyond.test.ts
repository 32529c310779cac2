/** Instructions that act beyond their wave, on all engines. */
import { describe, expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, DEFAULT_DESCRIPTOR, Device, dispatch, type Execution, rawKernel, type Schedule } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { FaultError, UnsupportedError } from '../../host/errors.ts'
import { parseJob, playTrace, RecordingReader, runJob, tracePlayer } from '../../host/index.ts'
import { TARGETS, type TargetName } from '../../host/isa/targets.ts'
import { createReference } from '../../host/reference/index.ts'
import { assembleProgram } from '../../host/text/program.ts'
import { createTranslate } from '../../host/translate/engine.ts'

const engines: readonly (readonly [string, () => Engine | Promise<Engine>])[] = [
  ['reference', createReference],
  ['core', createCore],
  ['translate', () => createTranslate({ threshold: 1 })],
]

const SCHEDULES = ['round-robin', 'oldest-first', 'random:1', 'random:2'] as const

describe.each(engines)('%s', (_, create) => {
  async function wave(text: string, { target = 'gfx803' as TargetName, exec = 0xfn, m0 = 0, mode = 0x3c0 } = {}) {
    const device = new Device(await create(), TARGETS[target])
    const code = device.loadCode(assembleProgram(text, TARGETS[target]).words)
    const lanes = (first: number) => Uint32Array.from({ length: 64 }, (_, lane) => first + lane)
    const vgprs = new Map([0, 1, 2, 3].map((register) => [register, lanes(register * 0x10000 + 0x100)]))
    return { device, execution: bareWave(device, code, { exec, m0, mode, vgprs }) }
  }

  /** `groups` workgroups of `waves` waves; s6 is the workgroup's number, s12 is free. */
  async function grid(text: string, groups: number, waves = 1, schedule: Schedule = 'round-robin') {
    const device = new Device(await create(), TARGETS.gfx803)
    const code = device.loadCode(assembleProgram(text, TARGETS.gfx803).words)
    const out = device.memory.allocate(4096, { name: 'out', address: 0x10000n })
    const kernel = rawKernel(code, { ...DEFAULT_DESCRIPTOR, groupSegmentBytes: 64 })
    const execution = dispatch(device, kernel, { grid: [groups * waves * 64, 1, 1], workgroup: [waves * 64, 1, 1], schedule })
    return { device, execution, words: () => new Uint32Array(device.memory.view(out).slice().buffer) }
  }

  const sentBy = (execution: Execution) => execution.outcome(0).sent

  test.each(['gfx600', 'gfx700', 'gfx803'] as const)('exp sends enabled channels of active lanes (%s)', async (target) => {
    const { execution } = await wave(
      'exp pos1 v0, off, v2, off done\nexp mrt7 v3, v3, off, off compr vm\nexp null off, off, off, off\ns_endpgm',
      {
        target,
        exec: 0b101n,
      },
    )
    expect(await execution.run()).toMatchObject({ status: 'done', instructions: 4, beyond: { exp: 3 } })
    const { exports, exportCount } = sentBy(execution)
    expect(exportCount).toBe(3)
    const head = { workgroup: [0, 0, 0], wave: 0, exec: 0b101n }
    expect(exports[0]).toMatchObject({ ...head, pc: 0, target: 'pos1', channels: 'xz', compressed: false, done: true, validMask: false })
    expect(exports[0]!.values.map((row) => [...row.slice(0, 4)])).toEqual([
      [0x100, 0, 0x102, 0],
      [0x20100, 0, 0x20102, 0],
    ])
    expect(exports[1]).toMatchObject({ ...head, pc: 8, target: 'mrt7', channels: 'xy', compressed: true, done: false, validMask: true })
    expect(exports[1]!.values.map((row) => [...row.slice(0, 4)])).toEqual([
      [0x100, 0, 0x102, 0],
      [3, 0, 3, 0],
    ])
    expect(exports[2]).toMatchObject({ ...head, pc: 16, target: 'null', channels: '', values: [] })
  })

  test('exp to a target that does not exist is illegal', async () => {
    const device = new Device(await create(), TARGETS.gfx803)
    const execution = bareWave(device, device.loadCode(Uint32Array.of(0xc40000a1, 0, 0xbf810000)))
    expect(await execution.run()).toMatchObject({ status: 'stopped', instructions: 0, error: { code: 'ERR_ILLEGAL' } })
  })

  test('MODE.VSKIP skips exports', async () => {
    const { execution } = await wave('exp mrt0 v0, v0, v0, v0\ns_endpgm', { mode: 0x100003c0 })
    expect(await execution.run()).toMatchObject({ status: 'done', instructions: 2, sent: { exportCount: 0 } })
  })

  test('s_sendmsg tells what it sent', async () => {
    const { execution } = await wave('s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 1)\ns_endpgm', { m0: 7 })
    expect((await execution.run()).sent.messages).toEqual([{ workgroup: [0, 0, 0], wave: 0, pc: 0, message: 0x122, m0: 7 }])
  })

  test.each(SCHEDULES)('ds_ordered_count adds in the order of the dispatch (%s)', async (schedule) => {
    // Wave 0 of each workgroup comes late; each wave writes what it got to out[2 group + wave].
    const { execution, words, device } = await grid(
      `
      v_readfirstlane_b32 s12, v0
      s_lshr_b32 s12, s12, 6
      s_cmp_lg_u32 s12, 0
      s_cbranch_scc1 count
      s_sleep 1
      s_sleep 1
      count:
      v_mov_b32 v1, 3
      ds_ordered_count v2, v1 offset:772 gds
      s_lshl_b32 s13, s6, 1
      s_add_u32 s13, s13, s12
      s_lshl_b32 s13, s13, 2
      s_add_u32 s13, s13, 0x10000
      v_mov_b32 v4, s13
      v_mov_b32 v5, 0
      s_mov_b64 exec, 1
      flat_store_dword v[4:5], v2
      s_endpgm`,
      3,
      2,
      schedule,
    )
    expect((await execution.run()).error).toBeUndefined()
    expect([...words().slice(0, 6)]).toEqual([0, 3, 6, 9, 12, 15])
    expect(new Uint32Array(device.gds.slice(0, 8).buffer)[1]).toBe(18)
  })

  test('ds_ordered_count without release keeps those behind it waiting until the wave ends', async () => {
    const { execution } = await grid('v_mov_b32 v1, 1\nds_ordered_count v2, v1 offset:4 gds\ns_endpgm', 1, 2)
    expect(await execution.run()).toMatchObject({ status: 'done', instructions: 6 })
  })

  test('ds_ordered_count can swap', async () => {
    const { device, execution } = await wave('ds_ordered_count v2, v0 offset:0x1304 gds\ns_endpgm', { exec: 0b10n })
    device.gds.set([9], 4)
    await execution.run()
    expect(execution.waves[0]!.vgpr(2).slice(0, 3)).toEqual(Uint32Array.of(0x20100, 9, 0x20102))
    expect(new Uint32Array(device.gds.slice(0, 8).buffer)[1]).toBe(0x101)
  })

  // Each workgroup stores 1 to out[group], meets the others, and adds up what they stored to out[64 + group].
  const MEETING = (barrier: string) => `
    s_lshl_b32 s12, s6, 2
    s_add_u32 s12, s12, 0x10000
    v_mov_b32 v4, s12
    v_mov_b32 v5, 0
    v_mov_b32 v6, 1
    v_mov_b32 v1, 2
    s_mov_b32 m0, 0x30000
    ds_write_b32 v5, v4
    flat_store_dword v[4:5], v6
    ${barrier}
    ds_read_b32 v9, v5
    v_mov_b32 v2, 0x10000
    v_mov_b32 v3, 0
    flat_load_dword v7, v[2:3]
    v_mov_b32 v2, 0x10004
    flat_load_dword v8, v[2:3]
    v_add_u32 v7, vcc, v7, v8
    v_mov_b32 v2, 0x10008
    flat_load_dword v8, v[2:3]
    v_add_u32 v7, vcc, v7, v8
    v_add_u32 v9, vcc, 0x100, v9
    v_mov_b32 v10, 0
    flat_store_dword v[9:10], v7
    s_endpgm`

  test.each(SCHEDULES)(
    'ds_gws_barrier waits for all workgroups, again and again; LDS and registers of those that wait are kept (%s)',
    async (schedule) => {
      // The first one sets the counter: two more are to come. v1 sets it again.
      const start = 's_cmp_lg_u32 s6, 0\ns_cbranch_scc1 ready\nds_gws_init v1 offset:2 gds\nready:'
      const { execution, words } = await grid(
        MEETING(`${start}\nds_gws_barrier v1 offset:2 gds\nds_gws_barrier v1 offset:2 gds`),
        3,
        1,
        schedule,
      )
      const outcome = await execution.run()
      expect(outcome.error).toBeUndefined()
      expect(outcome.beyond).toEqual({ ds_gws_init: 1, ds_gws_barrier: 6 })
      expect([...words().slice(0, 3)]).toEqual([1, 1, 1])
      expect([...words().slice(64, 67)]).toEqual([3, 3, 3])
    },
  )

  test('semaphores let as many waves through as there were releases', async () => {
    // Workgroup 2 releases two of the others, which wait for it.
    const sync = `
      s_cmp_eq_u32 s6, 2
      s_cbranch_scc1 release
      ds_gws_sema_p gds
      s_branch on
      release:
      ds_gws_sema_br v1 gds
      on:`
    const { execution, words } = await grid(MEETING(sync), 3)
    expect(await execution.run()).toMatchObject({ status: 'done', beyond: { ds_gws_sema_p: 2, ds_gws_sema_br: 1 } })
    expect([...words().slice(64, 67)]).toEqual([3, 3, 3])
  })

  test('ds_gws_sema_v lets one through, ds_gws_sema_release_all all that wait', async () => {
    const text = (release: string) => `
      s_cmp_eq_u32 s6, 2
      s_cbranch_scc1 release
      ds_gws_sema_p gds
      s_endpgm
      release:
      ${release}
      s_endpgm`
    const all = await grid(text('ds_gws_sema_release_all gds'), 3)
    expect(await all.execution.run()).toMatchObject({ status: 'done', beyond: { ds_gws_sema_p: 2 } })
    const one = await grid(text('ds_gws_sema_v gds'), 3)
    const { error } = await one.execution.run()
    expect(error?.code).toBe('ERR_DEADLOCK')
    expect(one.execution.groupsDone).toBe(2)
  })

  test('waves of two workgroups meet at s_barrier and at a GWS barrier', async () => {
    // Four waves: the counter is set once, by wave 0 of workgroup 0, behind whose s_barrier its other wave is.
    const { execution, words } = await grid(
      `
      v_readfirstlane_b32 s12, v0
      s_or_b32 s13, s12, s6
      s_cmp_lg_u32 s13, 0
      s_cbranch_scc1 ready
      v_mov_b32 v1, 3
      ds_gws_init v1 gds
      ready:
      s_barrier
      ds_gws_barrier v1 gds
      s_barrier
      v_mov_b32 v4, 0x10000
      v_mov_b32 v5, 0
      v_mov_b32 v6, 1
      s_mov_b64 exec, 1
      flat_atomic_add v[4:5], v6
      s_endpgm`,
      2,
      2,
      'random:5',
    )
    expect(await execution.run()).toMatchObject({ status: 'done', beyond: { ds_gws_init: 1, ds_gws_barrier: 4 } })
    expect(words()[0]).toBe(4)
  })

  test('scratch of a workgroup that waits is kept', async () => {
    const device = new Device(await create(), TARGETS.gfx803)
    const out = device.memory.allocate(4096, { name: 'out', address: 0x10000n })
    // Each wave stores its workgroup's number to scratch, meets the other one, and loads it again.
    const text = `
      v_mov_b32 v1, 1
      s_cmp_lg_u32 s6, 0
      s_cbranch_scc1 ready
      ds_gws_init v1 gds
      ready:
      v_add_u32 v2, vcc, 7, s6
      v_mov_b32 v3, 8
      buffer_store_dword v2, v3, s[0:3], 0 offen
      ds_gws_barrier v1 gds
      buffer_load_dword v6, v3, s[0:3], 0 offen
      s_lshl_b32 s12, s6, 2
      s_add_u32 s12, s12, 0x10000
      v_mov_b32 v4, s12
      v_mov_b32 v5, 0
      flat_store_dword v[4:5], v6
      s_endpgm`
    const code = device.loadCode(assembleProgram(text, TARGETS.gfx803).words)
    const kernel = rawKernel(code, { ...DEFAULT_DESCRIPTOR, privateSegmentBytes: 16 })
    const execution = dispatch(device, kernel, { grid: [128, 1, 1], workgroup: [64, 1, 1] })
    expect((await execution.run()).error).toBeUndefined()
    expect([...new Uint32Array(device.memory.view(out).slice(0, 8).buffer)]).toEqual([7, 8])
  })

  test('a barrier that somebody never reaches is a deadlock that tells who waits where', async () => {
    const { execution } = await grid('v_mov_b32 v1, 3\nds_gws_init v1 gds\nds_gws_barrier v1 gds\ns_endpgm', 2, 2)
    const { error } = await execution.run()
    expect(error).toBeInstanceOf(FaultError)
    expect(error).toMatchObject({ code: 'ERR_DEADLOCK', place: { workgroup: [0, 0, 0], wave: 0, pc: 12 } })
    expect(error!.message).toMatch(
      /^no wave can go on: workgroup 0,0,0 and 1,0,0: wave 0, 1: is at .* at pc 0xc, waiting for GWS barrier 0; what/,
    )
  })

  test('s_setkill ends the wave', async () => {
    const { execution } = await wave('s_setkill 0\ns_setkill 1\ns_nop 0\ns_endpgm')
    expect(await execution.run()).toMatchObject({ status: 'done', instructions: 2 })
  })

  test.each([
    ['s_rfe_b64 s[0:1]', /trap handler/],
    ['s_sethalt 1', /debugger/],
    ['s_sendmsghalt sendmsg(MSG_INTERRUPT)', /debugger/],
  ])('%s says what is missing', async (text, why) => {
    const { execution } = await wave(`${text}\ns_endpgm`)
    const { error } = await execution.run()
    expect(error).toBeInstanceOf(UnsupportedError)
    expect(error!.message).toMatch(why)
  })
})

test('where other threads run workgroups too, an instruction that acts beyond its wave is an error', async () => {
  const device = new Device(await createCore(), TARGETS.gfx803)
  const code = device.loadCode(assembleProgram('exp mrt0 v0, v0, v0, v0\ns_endpgm', TARGETS.gfx803).words)
  const kernel = rawKernel(code, DEFAULT_DESCRIPTOR)
  const execution = dispatch(device, kernel, { grid: [128, 1, 1], workgroup: [64, 1, 1] }, () => [0, 2])
  expect(await execution.run()).toMatchObject({ status: 'stopped', instructions: 0, error: { code: 'ERR_CORE' } })
})

test('a trace counts and sends, and a wave alone waits for nobody', async () => {
  const device = new Device(await createCore(), TARGETS.gfx803)
  const { words } = assembleProgram(
    'v_mov_b32 v1, 5\nds_gws_init v1 gds\nds_gws_barrier v1 gds\nds_gws_sema_p offset:3 gds\nds_ordered_count v2, v1 gds\nexp pos0 v1, v2, off, off done\ns_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)\nv_mov_b32 v3, 1',
    TARGETS.gfx803,
  )
  device.gds.set([9])
  const player = tracePlayer(device)
  const { status, instructions } = await playTrace(player, device, [new Uint8Array(words.slice().buffer)])
  expect([status, instructions]).toEqual(['done', 8])
  expect(player.beyond).toEqual({ ds_gws_init: 1, ds_gws_barrier: 1, ds_gws_sema_p: 1, ds_ordered_count: 1, exp: 1, s_sendmsg: 1 })
  expect(player.sent.exports).toMatchObject([{ target: 'pos0', pc: 36, done: true }])
  expect([player.sent.exports[0]!.values[1]![7], device.gds[0], player.wave.vgpr(3)[0]]).toEqual([9, 14, 1])
})

describe('jobs', () => {
  const job = parseJob(
    JSON.stringify({
      target: 'gfx803',
      code: {
        asm: 's_mov_b32 m0, 0\nv_mov_b32 v1, 3\nds_ordered_count v2, v1 offset:768 gds\nexp mrt0 v2, v1, off, off done vm\ns_endpgm',
      },
      grid: [512, 1, 1],
      workgroup: [64, 1, 1],
    }),
  )
  const orders = Array.from({ length: 8 }, (_, group) => `0x${(group * 3).toString(16).padStart(8, '0')}`)

  test.each([
    ['alone', { threads: 1 }],
    ['with threads allowed', { threads: 2 }],
    ['checked', { check: true }],
    ['profiled', { profile: true }],
    ['on the reference', { engine: 'reference' }],
  ] as const)('exports come in the order of the dispatch: %s', async (_, options) => {
    const result = await runJob(job, options)
    expect(result).toMatchObject({ status: 'ok', threads: 1, instructions: 40, beyond: { ds_ordered_count: 8, exp: 8 } })
    expect(result.exports!.map(({ values }) => values.x![63])).toEqual(orders)
    expect(result.exports![0]).toMatchObject({ target: 'mrt0', done: true, validMask: true, compressed: false, exec: '0xffffffffffffffff' })
    expect(JSON.parse(JSON.stringify(result.exports))).toEqual(result.exports)
  })

  // Workgroups 0 and 1 wait for 2 at a barrier; all run 4 instructions, and 0 one more.
  const meeting = parseJob(
    JSON.stringify({
      target: 'gfx803',
      code: {
        asm: `
          v_mov_b32 v1, 2
          s_cmp_lg_u32 s6, 0
          s_cbranch_scc1 ready
          ds_gws_init v1 gds
          ready:
          ds_gws_barrier v1 gds
          v_mov_b32 v2, 7
          s_endpgm`,
      },
      grid: [192, 1, 1],
      workgroup: [64, 1, 1],
    }),
  )

  test('a profile counts an instruction that waited once', async () => {
    const { profile, status } = await runJob(meeting, { profile: true })
    expect(status).toBe('ok')
    const counts = profile!.spots.map(({ text, count }) => [text.split(' ')[0], count] as const)
    expect(Object.fromEntries(counts)).toEqual({
      v_mov_b32_e32: 3,
      s_cmp_lg_u32: 3,
      s_cbranch_scc1: 3,
      ds_gws_init: 1,
      ds_gws_barrier: 3,
      s_endpgm: 3,
    })
  })

  test.each(['0.0', '2.0'])(
    'a recording of wave %s has its own instructions, in order, though others ran while it waited',
    async (which) => {
      const [group, wave] = which.split('.').map(Number) as [number, number]
      const chunks: Uint8Array[] = []
      await runJob(meeting, { record: { waves: [{ group, wave }], write: (bytes) => void chunks.push(bytes) } })
      const reader = new RecordingReader(
        (async function* () {
          yield* chunks
        })(),
      )
      await reader.start()
      const pcs: number[] = []
      for await (const steps of reader.steps()) pcs.push(...steps.map(({ pc }) => pc))
      expect(pcs).toEqual(group === 0 ? [0, 4, 8, 12, 20, 28, 32] : [0, 4, 8, 20, 28, 32])
    },
  )

  test('engines that are checked stay in step while workgroups wait', async () => {
    expect(await runJob(meeting, { check: true })).toMatchObject({ status: 'ok', instructions: 19, check: { parting: null } })
  })

  test('a budget that ends while waves wait says where', async () => {
    const result = await runJob({ ...meeting, budget: 8 }, {})
    expect(result).toMatchObject({ status: 'budget', instructions: 8 })
  })
})
