import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode } from '../../host/codec/decode.ts'
import { Device } from '../../host/device/index.ts'
import { bareWave, TARGETS, type TargetName } from '../../host/index.ts'
import { packRecord, planInstruction } from '../../host/plan/plan.ts'
import { OP_ILLEGAL } from '../../host/plan/record.ts'
import { TracePlanner } from '../../host/trace/planner.ts'
import { playTrace, tracePlayer } from '../../host/trace/play.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { bytesOf, codeOf, cut, deviceFor, registersOf, wordsOf } from './support.ts'

const STATE = {
  vgprs: new Map([
    [0, 0x3f800000],
    [1, 0x40000000],
  ]),
  sgprs: new Map([[4, 7]]),
} as const
const STRAIGHT = `
  v_add_f32 v2, v0, v1
  v_mul_f32 v3, 0x40490fdb, v2
  v_mad_f32 v4, v2, -v3, |v1| clamp
  s_add_u32 s5, s4, 0x12345678
  v_cmp_lt_f32 vcc, v0, v1
  v_cndmask_b32 v5, v0, v1, vcc
  s_movk_i32 s6, 0xfff0
  v_mov_b32 v6, s5
  s_and_saveexec_b64 s[8:9], 0xf
  v_mov_b32 v7, 1.0
  s_mov_b64 exec, -1
  s_barrier
  v_add_u32 v8, vcc, v6, v7
  s_sleep 1
  v_xor_b32 v9, v8, v2
`

describe.each(['core', 'reference'] as const)('%s', (engine) => {
  test('a trace leaves what the same code leaves as a program', async () => {
    const device = await deviceFor('gfx803', engine)
    const program = bareWave(device, codeOf(device, STRAIGHT), STATE)
    await program.run()
    const player = tracePlayer(device, STATE)
    const outcome = await playTrace(player, device, [bytesOf(wordsOf(STRAIGHT))])
    expect([outcome.status, outcome.form, outcome.instructions]).toEqual(['done', 'words', program.instructions])
    expect(registersOf(player.wave)).toEqual(registersOf(program.waves[0]!))
    expect(player.wave.vgpr(2)[63]).toBe(0x40400000) // 1 + 2
  })

  test('branches count and change nothing; s_swappc_b64 writes the address behind it; s_endpgm ends', async () => {
    const device = await deviceFor('gfx803', engine)
    const text = `
      s_branch 100
      s_cmp_eq_u32 s0, 0
      s_cbranch_scc1 -7
      s_setpc_b64 s[0:1]
      s_swappc_b64 s[2:3], s[0:1]
      v_mov_b32 v0, 1.0
      s_endpgm
      v_mov_b32 v0, 2.0`
    const player = tracePlayer(device)
    const { status, instructions } = await playTrace(player, device, [bytesOf(wordsOf(text))])
    expect([status, instructions]).toEqual(['done', 7])
    expect(player.wave.vgpr(0)[0]).toBe(0x3f800000)
    expect([player.wave.sgpr(2), player.wave.sgpr(3)]).toEqual([20, 0])
  })
})

test('forks and joins are unsupported: a trace of words does not tell which lanes went where', async () => {
  const device = await deviceFor()
  const player = tracePlayer(device)
  const { error } = await playTrace(player, device, [bytesOf(wordsOf('s_nop 0\ns_cbranch_join s0'))])
  expect(error).toMatchObject({ code: 'ERR_UNSUPPORTED', place: { pc: 4 } })
})

test('wherever the bytes are cut, the result is the same', async () => {
  const device = await deviceFor()
  const text = STRAIGHT.repeat(500)
  const whole = tracePlayer(device, STATE)
  await playTrace(whole, device, [bytesOf(wordsOf(text))])
  expect(whole.instructions).toBe(15 * 500)
  for (const sizes of [[1], [3, 5, 7], [4096 * 4 - 1, 2], [16384, 4]]) {
    const player = tracePlayer(device, STATE)
    const { instructions } = await playTrace(player, device, cut(bytesOf(wordsOf(text)), sizes), { form: 'words' })
    expect(instructions).toBe(whole.instructions)
    expect(registersOf(player.wave)).toEqual(registersOf(whole.wave))
  }
})

test('assembly text is assembled line by line, and an error names its line', async () => {
  const device = await deviceFor()
  const text = new TextEncoder().encode(STRAIGHT)
  const player = tracePlayer(device, STATE)
  const { form, instructions } = await playTrace(player, device, cut(text, [13]))
  expect([form, instructions]).toEqual(['text', 15])
  expect(player.wave.vgpr(2)[0]).toBe(0x40400000)
  const wrong = new TextEncoder().encode('v_mov_b32 v0, 1.0\n\nv_mvo_b32 v0, 1.0\n')
  await expect(playTrace(tracePlayer(device), device, [wrong])).rejects.toMatchObject({ code: 'ERR_ASSEMBLE', line: 3 })
})

test('an illegal word stops the trace there, and registers stay', async () => {
  const device = await deviceFor()
  const player = tracePlayer(device)
  const words = Uint32Array.of(...wordsOf('v_mov_b32 v0, 1.0'), 0xffffffff, ...wordsOf('v_mov_b32 v0, 2.0'))
  const { status, error, instructions } = await playTrace(player, device, [bytesOf(words)])
  expect([status, instructions, player.pc]).toEqual(['stopped', 1, 4])
  expect(error).toMatchObject({ code: 'ERR_ILLEGAL', place: { pc: 4 } })
  expect(player.wave.vgpr(0)[0]).toBe(0x3f800000)
})

test('an instruction that is cut off at the end is illegal', async () => {
  const device = await deviceFor()
  for (const bytes of [bytesOf(wordsOf('v_mad_f32 v0, v1, v2, v3')).subarray(0, 4), Uint8Array.of(0, 0, 0x80, 0xbf, 1, 2)]) {
    const { error } = await playTrace(tracePlayer(device), device, [bytes], { form: 'words' })
    expect(error).toMatchObject({ code: 'ERR_ILLEGAL' })
  }
})

test('a budget stops it to the instruction', async () => {
  const device = await deviceFor()
  const player = tracePlayer(device, {}, 10_001)
  const { error, instructions } = await playTrace(player, device, [bytesOf(wordsOf('v_add_u32 v0, vcc, 1, v0\n'.repeat(20_000)))])
  expect(error).toMatchObject({ code: 'ERR_LIMIT' })
  expect([instructions, player.wave.vgpr(0)[0]]).toEqual([10_001, 10_001])
})

test('an abort rejects with its reason and keeps the state', async () => {
  const device = await deviceFor()
  const player = tracePlayer(device)
  const abort = new AbortController()
  const piece = bytesOf(wordsOf('v_add_u32 v0, vcc, 1, v0\n'.repeat(10_000)))
  const endless = (function* () {
    for (;;) yield piece
  })()
  setTimeout(() => abort.abort(new Error('enough')), 50)
  await expect(playTrace(player, device, endless, { signal: abort.signal })).rejects.toThrow('enough')
  expect(player.instructions).toBeGreaterThan(0)
  expect(player.wave.vgpr(0)[0]).toBe(player.instructions)
})

test('a million instructions of one piece of code, faults named by their place in the trace', async () => {
  const device = await deviceFor()
  const player = tracePlayer(device)
  const piece = bytesOf(wordsOf('v_add_u32 v0, vcc, 1, v0\n'.repeat(10_000)))
  const source = [...Array.from({ length: 100 }, () => piece), bytesOf(wordsOf('s_trap 2'))]
  const { error } = await playTrace(player, device, source)
  expect(player.wave.vgpr(5)[0]).toBe(0)
  expect(player.wave.vgpr(0)[0]).toBe(1_000_000)
  expect(error).toMatchObject({ code: 'ERR_TRAP', place: { pc: 4_000_000 } })
})

describe.each(Object.keys(TARGETS) as TargetName[])('%s: records of the trace planner', (name) => {
  const target = TARGETS[name]
  const options = { waveSize: 64, vgprCount: 256 }
  const branch = /^s_(branch|cbranch|setpc|swappc|rfe)/

  /** Planned the common way. */
  function wanted(words: Uint32Array): Uint32Array | undefined {
    const instruction = decode(words, 0, target)
    if (instruction === undefined || branch.test(instruction.operation.name)) return undefined
    const record = planInstruction(instruction, 0, options)
    const packed = new Uint32Array(8)
    packRecord(packed, 0, record)
    return record.op === OP_ILLEGAL ? undefined : packed
  }

  test.each(['core', 'reference'] as const)('are those of planInstruction, remembered, tabulated or new (%s)', async (engine) => {
    const { arena, engine: { templates } } = await deviceFor(name, engine) // biome-ignore format: one line
    const planner = new TracePlanner(arena, templates, target, 256)
    const at = arena.allocate(8)
    const to = arena.allocate(32)
    let compared = 0
    // Few operations, so that each comes often enough to get its tables.
    const word = fc.oneof(
      fc.integer({ min: 0, max: 0x01ffffff }).map((low) => (0x02000000 | low) >>> 0), // one VOP2
      fc.integer({ min: 0, max: 0x0001ffff }).map((low) => (0xd1c10000 | (low & 0x87ff)) >>> 0), // one VOP3 (gfx8)
      fc.integer({ min: 0, max: 0x0001ffff }).map((low) => (0xd2820000 | (low & 0x0fff)) >>> 0), // one VOP3 (gfx6, gfx7)
      fc.integer({ min: 0, max: 0xffff }).map((low) => (0x80000000 | low) >>> 0), // s_add_u32
      fc.integer({ min: 0, max: 0xff }).map((low) => (0x7e000200 | low) >>> 0), // v_mov_b32
    )
    fc.assert(
      fc.property(word, fc.integer({ min: 0, max: 0xffffffff }), (w0, w1) => {
        const words = Uint32Array.of(w0, w1)
        const want = wanted(words)
        if (want === undefined) return
        compared++
        arena.words.set(words, at / 4)
        planner.plan(at, at + 8, true, to, 1)
        expect([...arena.words.subarray(to / 4, to / 4 + 8)]).toEqual([...want])
      }),
      { numRuns: 20_000 },
    )
    expect(compared).toBeGreaterThan(5_000)
  })
})

test.each([undefined, 1])('a device that translates plays traces, too: the core alone does it (threshold %s)', async (threshold) => {
  const engine = await createTranslate(threshold === undefined ? {} : { threshold })
  const device = new Device(engine, TARGETS.gfx803)
  const player = tracePlayer(device)
  const add = (by: number) => bytesOf(wordsOf(`s_add_u32 s1, s1, ${by}\nv_add_u32 v1, vcc, ${by}, v1`))
  const one = add(1)
  // Short pieces that are all different, then one that is longer than what is interpreted at a time.
  for (let by = 1; by <= 60; by++) player.feed(add(by), true)
  player.feed(
    Uint8Array.from({ length: 4000 * 8 }, (_, i) => one[i % 8]!),
    true,
  )
  player.finish()
  const sum = (60 * 61) / 2 + 4000
  expect([player.status, player.instructions]).toEqual(['done', 8120])
  expect([player.wave.sgpr(1), player.wave.vgpr(1)[63]]).toEqual([sum, sum])
  expect(engine.translated.regions).toBe(0)
})
