import { describe, expect, test } from 'vitest'
import { FaultCode, Stop } from '../../host/engine.ts'
import { waveOf } from './wave.ts'

const lanes = (f: (lane: number) => number) => Array.from({ length: 64 }, (_, lane) => f(lane) >>> 0)
const ODD = 0xaaaa_aaaa_aaaa_aaaan
const BASE = 0x1_0000_1000n
const bytes = (length: number, f: (i: number) => number = () => 0) => Uint8Array.from({ length }, (_, i) => f(i))
const words = (b: Uint8Array) => [...new Uint32Array(b.buffer, b.byteOffset, b.length / 4)]
/** Address registers v[0:1] of BASE + step × lane. */
const addresses = (step: number, offset = 0) => ({ 0: lanes((lane) => 0x1000 + offset + step * lane), 1: 1 })
const region = (length: number, f?: (i: number) => number, writable = true) => [{ base: BASE, bytes: bytes(length, f), writable }]

describe('flat memory', () => {
  test('`flat_load_dword v2, v[0:1]` reads lane by lane, side by side or not', async () => {
    for (const step of [4, 8, 0]) {
      const w = await waveOf({ asm: 'flat_load_dword v2, v[0:1]', vgpr: addresses(step), regions: region(512, (i) => i >> 2) })
      expect(w.run()).toBe(Stop.End)
      expect(w.v(2)).toEqual(lanes((lane) => ((lane * step) >> 2) * 0x01010101))
    }
  })

  test('`flat_load_dwordx2 v[0:1], v[0:1]` may overwrite its address', async () => {
    const w = await waveOf({ asm: 'flat_load_dwordx2 v[0:1], v[0:1]', vgpr: addresses(8), regions: region(512, (i) => i >> 2) })
    w.run()
    expect(w.v(0)).toEqual(lanes((lane) => 2 * lane * 0x01010101))
    expect(w.v(1)).toEqual(lanes((lane) => (2 * lane + 1) * 0x01010101))
  })

  test('bytes and shorts are extended as the name says', async () => {
    const w = await waveOf({
      asm: 'flat_load_ubyte v2, v[0:1]\nflat_load_sbyte v3, v[0:1]\nflat_load_sshort v4, v[0:1]',
      exec: 1n,
      vgpr: { ...addresses(0), 2: 9 },
      regions: region(4, (i) => [0x80, 0xff, 1, 1][i]!),
    })
    w.run()
    expect([w.v(2)[0], w.v(3)[0], w.v(4)[0], w.v(2)[1]]).toEqual([0x80, 0xffffff80, 0xffffff80, 9])
  })

  test('one lane outside every region is a fault, and no lane has stored', async () => {
    const w = await waveOf({ asm: 'flat_store_dword v[0:1], v2', vgpr: { ...addresses(4), 2: 7 }, regions: region(252) })
    expect(w.run()).toBe(Stop.Fault)
    expect(w.fault).toMatchObject({ code: FaultCode.Memory, lane: 63, address: BASE + 252n, pc: 0 })
    expect(w.memory(0).every((b) => b === 0)).toBe(true)
    expect(w.instructions).toBe(0)
  })

  test('that lane does not count while it is switched off', async () => {
    const w = await waveOf({
      asm: 'flat_store_dword v[0:1], v2',
      exec: 0x7fff_ffff_ffff_ffffn,
      vgpr: { ...addresses(4), 2: 7 },
      regions: region(252),
    })
    expect(w.run()).toBe(Stop.End)
    expect(words(w.memory(0))).toEqual(Array(63).fill(7))
  })

  test('a store to read-only memory is a fault, a load is none', async () => {
    const w = await waveOf({
      asm: 'flat_load_dword v2, v[0:1]\nflat_store_dword v[0:1], v2',
      vgpr: addresses(4),
      regions: region(256, () => 1, false),
    })
    expect(w.run()).toBe(Stop.Fault)
    expect(w.fault).toMatchObject({ code: FaultCode.Memory, lane: 0, pc: 8 })
  })

  test('an access may not run out of its region, nor into the next one', async () => {
    const regions = [
      { base: BASE, bytes: bytes(6) },
      { base: BASE + 8n, bytes: bytes(8) },
    ]
    const w = await waveOf({ asm: 'flat_load_dword v2, v[0:1]', exec: 1n, vgpr: addresses(0, 4), regions })
    expect(w.run()).toBe(Stop.Fault)
    const next = await waveOf({ asm: 'flat_load_dwordx2 v[2:3], v[0:1]', exec: 1n, vgpr: addresses(0, 8), regions })
    expect(next.run()).toBe(Stop.End)
  })

  test('lanes may be in different regions, found by binary search', async () => {
    const regions = [0, 1, 2, 3, 4].map((n) => ({ base: BASE + BigInt(n) * 0x1000n, bytes: bytes(4, () => n + 1) }))
    const w = await waveOf({ asm: 'flat_load_dword v2, v[0:1]', vgpr: { 0: lanes((lane) => 0x1000 + (lane % 5) * 0x1000), 1: 1 }, regions })
    w.run()
    expect(w.v(2)).toEqual(lanes((lane) => ((lane % 5) + 1) * 0x01010101))
  })

  test('of two stores to one address the higher lane wins; atomics go in order', async () => {
    const w = await waveOf({
      asm: 'flat_store_dword v[0:1], v2\nflat_atomic_add v3, v[0:1], v2 glc',
      exec: 0xfn,
      vgpr: { ...addresses(0), 2: [10, 20, 30, 40], 3: 0 },
      regions: region(4),
    })
    w.run()
    expect(w.v(3).slice(0, 5)).toEqual([40, 50, 70, 100, 0])
    expect(words(w.memory(0))).toEqual([140])
  })

  test('`flat_atomic_cmpswap_x2` compares with the second pair', async () => {
    const w = await waveOf({
      asm: 'flat_atomic_cmpswap_x2 v[8:9], v[0:1], v[4:7] glc',
      exec: 3n,
      vgpr: { ...addresses(8), 4: 5, 5: 6, 6: 0x01010101, 7: [0x01010101, 0] },
      regions: region(16, () => 1),
    })
    w.run()
    expect(words(w.memory(0))).toEqual([5, 6, 0x01010101, 0x01010101])
    expect(w.v(9).slice(0, 2)).toEqual([0x01010101, 0x01010101])
  })

  test('an atomic at an address that its size does not divide is a fault', async () => {
    const w = await waveOf({ asm: 'flat_atomic_add v[0:1], v2', exec: 2n, vgpr: addresses(2), regions: region(16) })
    expect(w.run()).toBe(Stop.Fault)
    expect(w.fault).toMatchObject({ code: FaultCode.Misaligned, lane: 1 })
  })

  test('the apertures lead to LDS', async () => {
    const w = await waveOf({ asm: 'flat_store_dword v[0:1], v2', exec: 3n, ldsBytes: 8, vgpr: { 0: [0, 4], 1: 0x20000000, 2: [1, 2] } })
    expect(w.run()).toBe(Stop.End)
    expect([...w.ldsBytes()]).toEqual([1, 0, 0, 0, 2, 0, 0, 0])
  })
})

describe('scalar memory', () => {
  test('`s_load_dwordx4 s[4:7], s[0:1], 0x8` reads in order', async () => {
    const w = await waveOf({ asm: 's_load_dwordx4 s[4:7], s[0:1], 0x8', sgpr: { 0: 0x1000, 1: 1 }, regions: region(32, (i) => i >> 2) })
    w.run()
    expect([w.s(4), w.s(5), w.s(6), w.s(7)]).toEqual([2, 3, 4, 5].map((x) => x * 0x01010101))
  })

  test('beyond a region it faults without a lane and writes nothing', async () => {
    const w = await waveOf({ asm: 's_load_dwordx2 s[4:5], s[0:1], 0x1c', sgpr: { 0: 0x1000, 1: 1, 4: 7 }, regions: region(32) })
    expect(w.run()).toBe(Stop.Fault)
    expect(w.fault).toMatchObject({ code: FaultCode.Memory, lane: -1, address: BASE + 0x1cn })
    expect(w.s(4)).toBe(7)
  })

  test('s_buffer_load reads 0 beyond num_records', async () => {
    const w = await waveOf({
      asm: 's_buffer_load_dwordx4 s[8:11], s[0:3], 0x4',
      sgpr: { 0: 0x1000, 1: 1, 2: 12, 3: 0, 10: 7, 11: 7 },
      regions: region(32, () => 1),
    })
    w.run()
    expect([w.s(8), w.s(9), w.s(10), w.s(11)]).toEqual([0x01010101, 0x01010101, 0, 0])
  })

  test('a load into EXEC is seen by the next instruction', async () => {
    const w = await waveOf({
      asm: 's_load_dwordx2 vcc, s[0:1], 0x0\ns_mov_b64 exec, vcc\nv_mov_b32_e32 v0, 1',
      sgpr: { 0: 0x1000, 1: 1 },
      regions: region(8, (i) => (i ? 0 : 5)),
    })
    w.run()
    expect(w.v(0).slice(0, 4)).toEqual([1, 0, 1, 0])
  })
})

describe('buffers', () => {
  const raw = { 0: 0x1000, 1: 1, 2: 64, 3: 0 } // 64 bytes
  test('a raw buffer reads 0 and drops stores beyond num_records', async () => {
    const w = await waveOf({
      asm: 'buffer_load_dword v1, v0, s[0:3], 0 offen\nbuffer_store_dword v2, v0, s[0:3], 0 offen offset:4',
      sgpr: raw,
      vgpr: { 0: lanes((lane) => 4 * lane), 1: 9, 2: 5 },
      regions: region(64, () => 1),
    })
    expect(w.run()).toBe(Stop.End)
    expect(w.v(1)).toEqual(lanes((lane) => (lane < 16 ? 0x01010101 : 0)))
    expect(words(w.memory(0))).toEqual([0x01010101, ...Array(15).fill(5)])
  })

  test('a wide access is checked dword by dword', async () => {
    const w = await waveOf({
      asm: 'buffer_load_dwordx2 v[1:2], off, s[0:3], 0 offset:60',
      sgpr: raw,
      vgpr: { 1: 9, 2: 9 },
      regions: region(64, () => 1),
    })
    w.run()
    expect([w.v(1)[0], w.v(2)[0]]).toEqual([0x01010101, 0])
  })

  test('scratch: a swizzled resource puts the dwords of the lanes side by side', async () => {
    // swizzle enable in word 1; element size 4, index stride 64, add tid in word 3.
    const sgpr = { 0: 0x1000, 1: 0x80000001, 2: 0xffffffff, 3: (1 << 19) | (3 << 21) | (1 << 23), 4: 256 }
    const w = await waveOf({
      asm: 'buffer_store_dword v1, off, s[0:3], s4 offset:4\nbuffer_load_dword v2, v0, s[0:3], s4 offen\nbuffer_store_byte v3, off, s[0:3], s4 offset:1',
      sgpr,
      vgpr: { 0: 4, 1: lanes((lane) => lane + 1), 3: 0xee },
      regions: region(1024),
    })
    expect(w.run()).toBe(Stop.End)
    expect(words(w.memory(0)).slice(128, 192)).toEqual(lanes((lane) => lane + 1)) // 256 of soffset + 4/4 × 256
    expect(w.v(2)).toEqual(lanes((lane) => lane + 1))
    expect(words(w.memory(0)).slice(64, 128)).toEqual(lanes(() => 0xee00))
  })

  test('a structured buffer checks the index', async () => {
    const w = await waveOf({
      asm: 'buffer_load_dword v1, v0, s[0:3], 0 idxen offset:4',
      target: 'gfx700',
      sgpr: { 0: 0x1000, 1: 1 | (8 << 16), 2: 3, 3: 0 }, // 3 elements of 8 bytes
      vgpr: { 0: lanes((lane) => lane), 1: 9 },
      regions: region(24, (i) => i >> 2),
    })
    w.run()
    expect(w.v(1).slice(0, 4)).toEqual([0x01010101, 0x03030303, 0x05050505, 0])
  })

  test('gfx6: addr64 wraps at 48 bits and knows no range', async () => {
    const w = await waveOf({
      asm: 'buffer_load_dword v2, v[0:1], s[0:3], 0 addr64',
      target: 'gfx600',
      exec: 3n,
      sgpr: { 0: 0x2000, 1: 1, 2: 0, 3: 0xf000 },
      vgpr: { 0: [0xfffff000, 0xfffff004], 1: 0xffffffff },
      regions: region(8, (i) => i >> 2),
    })
    expect(w.run()).toBe(Stop.End)
    expect(w.v(2).slice(0, 2)).toEqual([0, 0x01010101])
  })
})

describe('LDS', () => {
  test('`ds_read2_b64` counts elements of 8 bytes, st64 forms 64 of them', async () => {
    const w = await waveOf({
      asm: 'ds_read2_b64 v[4:7], v0 offset0:1 offset1:2\nds_read2st64_b32 v[8:9], v0 offset0:0 offset1:1',
      ldsBytes: 512,
      m0: 0xffffffff,
      vgpr: { 0: 8 },
    })
    new Uint32Array(w.engine.memory, w.lds, 128).set(Array.from({ length: 128 }, (_, i) => i))
    expect(w.run()).toBe(Stop.End)
    expect([4, 5, 6, 7, 8, 9].map((n) => w.v(n)[17])).toEqual([4, 5, 6, 7, 2, 66])
  })

  test('with equal offsets in write2 the first data wins', async () => {
    const vgpr = { 0: 0, 1: 11, 2: 22 }
    const w = await waveOf({ asm: 'ds_write2_b32 v0, v1, v2 offset0:1 offset1:1', exec: 1n, ldsBytes: 8, m0: 8, vgpr })
    w.run()
    expect(w.ldsBytes()[4]).toBe(11)
  })

  test('beyond the LDS is a fault of the first such lane, without effect; addresses wrap at 32 bits', async () => {
    const m0 = 0xffffffff
    const w = await waveOf({ asm: 'ds_write_b32 v0, v1', ldsBytes: 64, m0, vgpr: { 0: lanes((lane) => 4 * lane), 1: 1 } })
    expect(w.run()).toBe(Stop.Fault)
    expect(w.fault).toMatchObject({ code: FaultCode.Lds, lane: 16, address: 64n })
    expect(w.ldsBytes().every((b) => b === 0)).toBe(true)
    const wrapped = await waveOf({ asm: 'ds_write_b32 v0, v1 offset:16', exec: 1n, ldsBytes: 64, m0, vgpr: { 0: 0xfffffff4, 1: 1 } })
    expect(wrapped.run()).toBe(Stop.End)
    expect(wrapped.ldsBytes()[4]).toBe(1)
  })

  test('beyond M0 reads give 0 and writes are lost, before the allocation counts', async () => {
    const asm = 'ds_write_b64 v0, v[2:3]\nds_read2_b32 v[4:5], v0 offset1:1\nds_add_rtn_u32 v6, v0, v2'
    const w = await waveOf({ asm, exec: 7n, ldsBytes: 16, m0: 12, vgpr: { 0: [0, 8, 0x1001], 2: 5, 3: 6, 4: 9, 5: 9, 6: 9 } })
    expect(w.run()).toBe(Stop.End)
    expect([4, 5, 6].map((n) => w.v(n).slice(0, 3))).toEqual([
      [5, 0, 0],
      [6, 0, 0],
      [5, 0, 0],
    ])
    expect([...w.ldsBytes()]).toEqual([10, 0, 0, 0, 6, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0])
  })

  test('atomics return what was there; cmpst compares with the first data', async () => {
    const w = await waveOf({
      asm: 'ds_add_rtn_u32 v2, v0, v1\nds_cmpst_rtn_b32 v3, v0, v1, v4\nds_inc_u32 v0, v5',
      exec: 3n,
      ldsBytes: 4,
      m0: 4,
      vgpr: { 0: 0, 1: [3, 4], 4: 100, 5: 6 },
    })
    w.run()
    expect(w.v(2).slice(0, 2)).toEqual([0, 3])
    expect(w.v(3).slice(0, 2)).toEqual([7, 7])
    expect(w.ldsBytes()[0]).toBe(1) // 7 is above 6: back to 0, then 1
  })

  test('ds_swizzle: quads and masks; a lane that is off gives 0', async () => {
    const w = await waveOf({
      asm: 'ds_swizzle_b32 v1, v0 offset:swizzle(QUAD_PERM,1,0,3,2)\nds_swizzle_b32 v2, v0 offset:swizzle(SWAP,16)\nds_swizzle_b32 v3, v0 offset:swizzle(BROADCAST,32,5)',
      exec: ODD,
      vgpr: { 0: lanes((lane) => lane + 1), 1: 99, 2: 99, 3: 99 },
    })
    w.run()
    expect(w.v(1)).toEqual(lanes((lane) => (lane & 1 ? 0 : 99)))
    expect(w.v(2)).toEqual(lanes((lane) => (lane & 1 ? (lane ^ 16) + 1 : 99)))
    expect(w.v(3)).toEqual(lanes((lane) => (lane & 1 ? (lane & 32) + 6 : 99)))
  })

  test('ds_bpermute pulls and ds_permute pushes, by bytes and round about', async () => {
    const w = await waveOf({
      asm: 'ds_bpermute_b32 v2, v0, v1\nds_permute_b32 v3, v0, v1',
      vgpr: { 0: lanes((lane) => 4 * (lane + 63)), 1: lanes((lane) => lane) },
    })
    w.run()
    expect(w.v(2)).toEqual(lanes((lane) => (lane + 63) & 63))
    expect(w.v(3)).toEqual(lanes((lane) => (lane + 1) & 63))
  })
})

/** Byte offsets of the lanes' elements, for elements of `bytes` bytes. */
const PLACES: Readonly<Record<string, (lane: number, bytes: number) => number>> = {
  'one behind the other': (lane, bytes) => 16 + lane * bytes,
  'all at one place': () => 32,
  'here and there, two at a place, unaligned': (lane, bytes) => ((lane >> 1) * 37 * bytes + (lane & 4 ? 1 : 0)) % 1900,
  'overlapping each other': (lane) => 8 + lane,
}
const LANES: Readonly<Record<string, bigint>> = { all: 2n ** 64n - 1n, some: 0x8000_0f00_1248_fffen, one: 1n << 40n }
const shuffled = () => Uint8Array.from({ length: 2048 }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 13)
const dwordAt = (bytes: Uint8Array, at: number) => new DataView(bytes.buffer).getUint32(at, true)
const cases = Object.keys(PLACES).flatMap((place) =>
  Object.keys(LANES).flatMap((active) => [1, 2, 3, 4].map((dwords) => [dwords, place, active] as const)),
)

/** What memory and registers v8 and following are when the lanes have loaded, or stored v8 and following, one after the other. */
describe.each(cases)('%i dwords a lane, %s, %s lanes active', (dwords, place, active) => {
  const at = lanes((lane) => PLACES[place]!(lane, dwords * 4))
  const exec = LANES[active]!
  const isActive = (lane: number) => (exec >> BigInt(lane)) & 1n
  const data = Object.fromEntries([0, 1, 2, 3].map((k) => [8 + k, lanes((lane) => (0x01000193 * (lane * 4 + k + 1)) >>> 0)]))
  const loaded = [0, 1, 2, 3].map((k) =>
    lanes((lane) => (k < dwords && isActive(lane) ? dwordAt(shuffled(), at[lane]! + 4 * k) : data[8 + k]![lane]!)),
  )
  const stored = shuffled()
  const view = new DataView(stored.buffer)
  for (let lane = 0; lane < 64; lane++) {
    for (let k = 0; k < dwords && isActive(lane); k++) view.setUint32(at[lane]! + 4 * k, data[8 + k]![lane]!, true)
  }
  const base = 0x1_0000_4000n
  const flat = { 0: at.map((x) => x + 0x4000), 1: 1, ...data }
  const suffix = dwords === 1 ? '' : `x${dwords}`
  const registers = dwords === 1 ? 'v8' : `v[8:${7 + dwords}]`
  const others = [
    { base: 0x4000n, bytes: shuffled() },
    { base: 0x8000_0000n, bytes: new Uint8Array(16) },
  ]

  test('flat', async () => {
    const regions = [...others, { base, bytes: shuffled() }]
    const load = await waveOf({ asm: `flat_load_dword${suffix} ${registers}, v[0:1]`, exec, vgpr: flat, regions })
    expect(load.run()).toBe(Stop.End)
    expect([8, 9, 10, 11].map((n) => load.v(n))).toEqual(loaded)
    const store = await waveOf({ asm: `flat_store_dword${suffix} v[0:1], ${registers}`, exec, vgpr: flat, regions })
    expect(store.run()).toBe(Stop.End)
    expect(store.memory(2)).toEqual(stored)
  })
  test('LDS', async () => {
    const bits = 32 * dwords
    const start = { exec, ldsBytes: 2048, m0: 0xffffffff, vgpr: { 0: at.map((x) => x - 5), ...data } }
    const load = await waveOf({ asm: `ds_read_b${bits} ${registers}, v0 offset:5`, ...start })
    load.ldsBytes().set(shuffled())
    expect(load.run()).toBe(Stop.End)
    expect([8, 9, 10, 11].map((n) => load.v(n))).toEqual(loaded)
    const store = await waveOf({ asm: `ds_write_b${bits} v0, ${registers} offset:5`, ...start })
    store.ldsBytes().set(shuffled())
    expect(store.run()).toBe(Stop.End)
    expect(store.ldsBytes()).toEqual(stored)
  })
  test('addresses that the data replaces', async () => {
    const asm = `flat_load_dword${suffix} v${dwords === 1 ? '1' : `[1:${dwords}]`}, v[0:1]`
    const w = await waveOf({ asm, exec, vgpr: flat, regions: [{ base, bytes: shuffled() }] })
    expect(w.run()).toBe(Stop.End)
    for (const [lane, value] of w.v(1).entries()) expect(value).toBe(isActive(lane) ? dwordAt(shuffled(), at[lane]!) : 1)
  })
})

test('`ds_read2_b32` into its own address register, either way round; write2 goes lane by lane', async () => {
  const start = { ldsBytes: 512, m0: 512, vgpr: { 2: lanes((lane) => 4 * lane), 4: lanes((lane) => lane), 5: lanes((lane) => 100 + lane) } }
  for (const pair of ['v[2:3]', 'v[1:2]']) {
    const w = await waveOf({ asm: `ds_read2_b32 ${pair}, v2 offset0:1 offset1:3`, ...start })
    new Uint32Array(w.engine.memory, w.lds, 128).set(lanes((i) => 1000 + i))
    expect(w.run()).toBe(Stop.End)
    const [first, second] = pair === 'v[2:3]' ? [2, 3] : [1, 2]
    expect(w.v(first).slice(0, 60)).toEqual(lanes((lane) => 1001 + lane).slice(0, 60))
    expect(w.v(second).slice(0, 60)).toEqual(lanes((lane) => 1003 + lane).slice(0, 60))
  }
  const w = await waveOf({ asm: 'ds_write2_b32 v2, v4, v5 offset0:1 offset1:0', ...start })
  expect(w.run()).toBe(Stop.End)
  // Lane i's first word is the next lane's second one, and that lane comes later.
  expect([...new Uint32Array(w.engine.memory, w.lds, 65)]).toEqual([...lanes((lane) => 100 + lane), 63])
})
