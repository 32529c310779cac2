import { expect, test } from 'vitest'
import { DEFAULT_DESCRIPTOR, Device, dispatch, dispatchTwin, rawKernel } from '../../host/device/index.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/program.ts'
import { createTranslate, joinTranslate } from '../../host/translate/engine.ts'

// Two engines on one linear memory, as two threads have them: what one has translated runs on the other, too.

const GROUPS = 64
const FIRST_PATH = [0, 1, 2, 3]
const SECOND_PATH = [32, 33, 34, 35]
/** Workgroups below 32 take one loop, those above another; both have instructions that are calls of the core, by their records. */
const ASM = `
    s_load_dwordx2 s[0:1], s[4:5], 0x0
    s_movk_i32 s12, 300
    v_mov_b32 v1, v0
    v_mov_b32 v5, s6
    s_cmp_lt_u32 s6, 32
    s_cbranch_scc0 second
  first:
    v_mad_u32_u24 v1, v1, 3, v5
    v_readlane_b32 s2, v1, 7
    s_nop 0
    s_nop 0
    v_xor_b32 v1, s2, v1
    s_sub_u32 s12, s12, 1
    s_cmp_lg_u32 s12, 0
    s_cbranch_scc1 first
    s_branch out
  second:
    v_mad_u32_u24 v1, v1, 5, v5
    v_readlane_b32 s2, v1, 9
    s_nop 0
    s_nop 0
    v_add_u32 v1, vcc, s2, v1
    s_sub_u32 s12, s12, 1
    s_cmp_lg_u32 s12, 0
    s_cbranch_scc1 second
  out:
    s_lshl_b32 s6, s6, 6
    v_add_u32 v2, vcc, s6, v0
    v_lshlrev_b32 v2, 2, v2
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v3, s1
    v_add_u32 v2, vcc, s0, v2
    v_addc_u32 v3, vcc, 0, v3, vcc
    flat_store_dword v[2:3], v1
    s_endpgm`

const { words, labels } = assembleProgram(ASM, TARGETS.gfx803)
const pcOf = (label: string) => labels.get(label)!

/** What a work-item of a workgroup leaves. */
function expected(group: number): number[] {
  let lanes = Array.from({ length: 64 }, (_, lane) => lane)
  const [factor, from] = group < 32 ? [3, 7] : [5, 9]
  for (let i = 0; i < 300; i++) {
    const next = lanes.map((v) => ((v & 0xffffff) * factor + group) >>> 0)
    lanes = next.map((v) => (group < 32 ? v ^ next[from]! : v + next[from]!) >>> 0)
  }
  return lanes
}

/** Claims the given workgroups, one by one. */
const claims = (groups: readonly number[]) => {
  const rest = groups.map((group) => [group, group + 1] as const)
  return () => rest.shift()
}

test('an engine runs what another one on the same memory has translated, and goes on from it', async () => {
  const engine = await createTranslate({ shared: true, threshold: 100 })
  const device = new Device(engine, TARGETS.gfx803)
  const out = device.memory.allocate(GROUPS * 256, { name: 'out' })
  const args = new Uint8Array(new BigUint64Array([out.address]).buffer)
  const kernel = rawKernel(device.loadCode(words), DEFAULT_DESCRIPTOR)
  const launch = { grid: [GROUPS * 64, 1, 1], workgroup: [64, 1, 1], kernarg: { bytes: args } } as const
  const first = dispatch(device, kernel, launch, claims(FIRST_PATH))
  const twin = first.twin!()
  const program = first.waves[0]!.program
  engine.shared!.open()
  expect(first.step(1e9)).toBeGreaterThan(0)
  expect(first.status).toBe('done')
  const made = engine.translations.of(program.host)
  expect(made.length).toBe(1)
  // As it comes out of postMessage.
  const sent = made.map((translation) => structuredClone(translation))

  const other = await joinTranslate(engine.shared!.seed, { threshold: 100 })
  const second = new Device(other, TARGETS.gfx803, { gdsAddress: device.gdsAddress })
  let joined = program
  const run = (groups: readonly number[]) => {
    const execution = dispatchTwin(second, { ...twin, kernel }, claims(groups))
    joined = execution.waves[0]!.program
    for (const translation of sent) other.translations.adopt(joined.host, translation)
    execution.step(1e9)
    expect(execution.status).toBe('done')
    execution.free()
  }
  run([4, 5, 6])
  expect(other.translated.regions).toBe(0)
  expect(other.translations.of(joined.host).map((translation) => translation.program)).toEqual([program.host])
  // It was never interpreted here, so it was never planned.
  expect(joined.planned(pcOf('first'))).toBe(false)
  run(Array.from({ length: 30 }, (_, i) => 32 + i))
  expect(other.translated.regions).toBeGreaterThan(0)
  expect(joined.planned(pcOf('second'))).toBe(true)
  // Its own translation has the other's blocks, too, and an older one does not replace it.
  run([7, 8, 9, ...SECOND_PATH])
  expect(joined.planned(pcOf('first'))).toBe(false)
  expect(other.translations.of(joined.host).map((translation) => translation.program)).toEqual([joined.host])

  const result = new Uint32Array(device.memory.read(out.address, GROUPS * 256).buffer)
  for (const group of [...FIRST_PATH, 4, 5, 6, 7, 8, 9, ...Array.from({ length: 30 }, (_, i) => 32 + i)])
    expect([...result.subarray(group * 64, group * 64 + 64)]).toEqual(expected(group))
})
