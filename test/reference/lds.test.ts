/** LDS and GDS operations by hand. */
import { describe, expect, test } from 'vitest'
import { FaultCode, Stop } from '../../host/engine.ts'
import * as layout from '../../host/plan/layout.ts'
import { bytesOf, Machine, op, run, type Setup } from './machine.ts'

const ds = (name: string, fields: Readonly<Record<string, number>>) => op(name, 'ds', fields)
/** LDS of 256 words that hold their own numbers. */
const LDS = bytesOf(Array.from({ length: 256 }, (_, i) => i))
const setup = (words: number[], rest: Partial<Setup> = {}): Setup => ({ words, lds: LDS, m0: 0xffffffff, ...rest })
const fault = (s: Setup) => {
  const m = new Machine(s)
  return [m.run(), m.header(layout.WAVE_FAULT), m.header(layout.WAVE_FAULT_LANE), Number(m.header64(layout.WAVE_FAULT_ADDRESS))]
}

describe('reads and writes', () => {
  test('ds_read_b32 reads at address plus 16-bit offset', () => {
    const m = run(setup(ds('ds_read_b32', { addr: 0, vdst: 1, offset0: 8 }), { vgpr: { 0: (lane) => lane * 4 } }))
    expect(m.row(1)).toEqual(Array.from({ length: 64 }, (_, lane) => lane + 2))
  })

  test('address plus offset wraps at 32 bits', () => {
    const m = run(setup(ds('ds_read_b32', { addr: 0, vdst: 1, offset0: 8 }), { exec: 1n, vgpr: { 0: 0xfffffffc } }))
    expect(m.vgpr(1, 0)).toBe(1)
  })

  test('ds_read2st64_b32 counts offsets in 64 elements, ds_read2_b64 in elements of 8 bytes', () => {
    const st = run(setup(ds('ds_read2st64_b32', { addr: 0, vdst: 2, offset0: 1, offset1: 3 }), { exec: 1n, vgpr: { 0: 4 } }))
    expect([st.vgpr(2, 0), st.vgpr(3, 0)]).toEqual([65, 193])
    const b64 = run(setup(ds('ds_read2_b64', { addr: 0, vdst: 2, offset0: 1, offset1: 3 }), { exec: 1n, vgpr: { 0: 8 } }))
    expect([2, 3, 4, 5].map((r) => b64.vgpr(r, 0))).toEqual([4, 5, 8, 9])
  })

  test('a result may overwrite the address', () => {
    const m = run(setup(ds('ds_read2_b32', { addr: 2, vdst: 2, offset1: 1 }), { exec: 1n, vgpr: { 2: 40 } }))
    expect([m.vgpr(2, 0), m.vgpr(3, 0)]).toEqual([10, 11])
  })

  test('of ds_write2_b32 to one address the first data stays', () => {
    const m = run(setup(ds('ds_write2_b32', { addr: 0, data0: 1, data1: 2 }), { exec: 1n, vgpr: { 0: 0, 1: 111, 2: 222 } }))
    expect(m.ldsWords()[0]).toBe(111)
  })

  test('of two lanes that write one address the higher one wins', () => {
    const m = run(setup(ds('ds_write_b32', { addr: 0, data0: 1 }), { vgpr: { 0: 0, 1: (lane) => lane } }))
    expect(m.ldsWords()[0]).toBe(63)
  })

  test('bytes and halves are extended as their names say', () => {
    const lds = bytesOf([0x0000ff80])
    const read = (name: string) => run(setup(ds(name, { addr: 0, vdst: 1 }), { exec: 1n, lds })).vgpr(1, 0)
    expect(read('ds_read_u8')).toBe(0x80)
    expect(read('ds_read_i8')).toBe(0xffffff80)
    expect(read('ds_read_u16')).toBe(0xff80)
    expect(read('ds_read_i16')).toBe(0xffffff80)
  })

  test('ds_write_b128 and ds_read_b96', () => {
    const words = [...ds('ds_write_b128', { addr: 0, data0: 4 }), ...ds('ds_read_b96', { addr: 0, vdst: 8 })]
    const m = run(setup(words, { exec: 1n, vgpr: { 0: 16, 4: 1, 5: 2, 6: 3, 7: 4 } }))
    expect([...m.ldsWords().slice(4, 8)]).toEqual([1, 2, 3, 4])
    expect([8, 9, 10, 11].map((r) => m.vgpr(r, 0))).toEqual([1, 2, 3, 0])
  })
})

describe('limits', () => {
  test('beyond M0 reads give 0 and writes are lost', () => {
    const words = [...ds('ds_write_b32', { addr: 0, data0: 1 }), ...ds('ds_read_b32', { addr: 0, vdst: 2 })]
    const m = run(setup(words, { exec: 1n, m0: 8, vgpr: { 0: 8, 1: 99, 2: 5 } }))
    expect(m.ldsWords()[2]).toBe(2)
    expect(m.vgpr(2, 0)).toBe(0)
  })

  test('beyond the allocation is a fault that names lane and address and changes nothing', () => {
    const s = setup(ds('ds_write_b32', { addr: 0, data0: 1 }), { vgpr: { 0: (lane) => (lane === 5 ? 1024 : lane * 4), 1: 9 } })
    expect(fault(s)).toEqual([Stop.Fault, FaultCode.Lds, 5, 1024])
    const m = new Machine(s)
    m.run()
    expect(m.ldsWords()[0]).toBe(0)
  })

  test('reads go byte by byte, a misaligned atomic is a fault', () => {
    const m = run(setup(ds('ds_read_b32', { addr: 0, vdst: 2 }), { exec: 1n, vgpr: { 0: 5 } }))
    expect(m.vgpr(2, 0)).toBe(0x02000000)
    const atomic = setup(ds('ds_add_u64', { addr: 0, data0: 2 }), { exec: 4n, vgpr: { 0: 4 } })
    expect(fault(atomic)).toEqual([Stop.Fault, FaultCode.Misaligned, 2, 4])
  })
})

describe('atomics', () => {
  const atomic = (name: string, old: number, data0: number, data1 = 0) => {
    const operands = { data0: 1, ...(/mskor|cmpst|wrap/.test(name) ? { data1: 2 } : {}), ...(name.includes('_rtn_') ? { vdst: 3 } : {}) }
    const m = run(setup(ds(name, { addr: 0, ...operands }), { exec: 1n, lds: bytesOf([old]), vgpr: { 1: data0, 2: data1, 3: 7 } }))
    return [m.ldsWords()[0], m.vgpr(3, 0)]
  }
  test.each<[string, number, number, number, number]>([
    // name, old, data0, data1, new
    ['ds_add_rtn_u32', 0xffffffff, 2, 0, 1],
    ['ds_sub_rtn_u32', 1, 2, 0, 0xffffffff],
    ['ds_rsub_rtn_u32', 1, 5, 0, 4],
    ['ds_inc_rtn_u32', 4, 5, 0, 5],
    ['ds_inc_rtn_u32', 5, 5, 0, 0],
    ['ds_dec_rtn_u32', 0, 5, 0, 5],
    ['ds_dec_rtn_u32', 9, 5, 0, 5],
    ['ds_dec_rtn_u32', 3, 5, 0, 2],
    ['ds_min_rtn_i32', 1, 0xffffffff, 0, 0xffffffff],
    ['ds_max_rtn_u32', 1, 0xffffffff, 0, 0xffffffff],
    ['ds_mskor_rtn_b32', 0xff, 0x0f, 0x100, 0x1f0],
    ['ds_wrxchg_rtn_b32', 1, 2, 0, 2],
    ['ds_cmpst_rtn_b32', 5, 5, 6, 6],
    ['ds_cmpst_rtn_b32', 5, 4, 6, 5],
    ['ds_cmpst_rtn_f32', 0x80000000, 0, 6, 6],
    ['ds_min_rtn_f32', 0x7fc00000, 0x3f800000, 0, 0x7fc00000],
    ['ds_max_rtn_f32', 0x3f800000, 0x40000000, 0, 0x40000000],
    ['ds_add_rtn_f32', 0x3f800000, 0x40000000, 0, 0x40400000],
    ['ds_wrap_rtn_b32', 7, 5, 100, 2],
    ['ds_wrap_rtn_b32', 4, 5, 100, 104],
  ])('%s on %i with %i and %i', (name, old, data0, data1, wanted) => {
    expect(atomic(name, old, data0, data1)).toEqual([wanted, old])
  })

  test('without return no register is written', () => {
    expect(atomic('ds_add_u32', 1, 2)).toEqual([3, 7])
  })

  test('lanes act one after another, lowest first', () => {
    const m = run(setup(ds('ds_add_rtn_u32', { addr: 0, data0: 1, vdst: 2 }), { lds: bytesOf([10]), exec: 0xf0n, vgpr: { 1: 1 } }))
    expect(m.row(2).slice(3, 9)).toEqual([0, 10, 11, 12, 13, 0])
    expect(m.ldsWords()[0]).toBe(14)
  })

  test('ds_wrxchg2_rtn_b32 gives both old values', () => {
    const m = run(
      setup(ds('ds_wrxchg2_rtn_b32', { addr: 0, data0: 1, data1: 2, vdst: 3, offset0: 1, offset1: 2 }), {
        exec: 1n,
        vgpr: { 1: 70, 2: 80 },
      }),
    )
    expect([m.vgpr(3, 0), m.vgpr(4, 0), ...m.ldsWords().slice(1, 3)]).toEqual([1, 2, 70, 80])
  })

  test('64-bit atomics', () => {
    const lds = bytesOf([0xffffffff, 0])
    const m = run(setup(ds('ds_add_rtn_u64', { addr: 0, data0: 2, vdst: 4 }), { exec: 1n, lds, vgpr: { 2: 1, 3: 1 } }))
    expect([...m.ldsWords(), m.vgpr(4, 0), m.vgpr(5, 0)]).toEqual([0, 2, 0xffffffff, 0])
  })

  test('ds_add_src2_u32 adds the dword that the offsets point to, counted in dwords from the address', () => {
    const m = run(setup(ds('ds_add_src2_u32', { addr: 0, offset0: 3 }), { exec: 1n, vgpr: { 0: 8 } }))
    expect(m.ldsWords()[2]).toBe(2 + 5)
  })

  test('ds_append counts active lanes at M0 plus offset, ds_consume takes them off', () => {
    const words = [...ds('ds_append', { vdst: 1, offset0: 4 }), ...ds('ds_consume', { vdst: 2, offset0: 4 })]
    const m = run(setup(words, { m0: 8, exec: 0x7n }))
    expect([m.vgpr(1, 0), m.vgpr(1, 2), m.vgpr(1, 3)]).toEqual([3, 3, 0])
    expect([m.vgpr(2, 0), m.ldsWords()[3]]).toEqual([6, 3])
  })

  test('GDS addresses start at M0[31:16]', () => {
    const words = [...ds('ds_add_rtn_u32', { addr: 0, data0: 1, vdst: 2, gds: 1 }), ...ds('ds_read_b32', { addr: 0, vdst: 3, gds: 1 })]
    const m = run(setup(words, { gdsBytes: 64, m0: (16 << 16) | 16, exec: 3n, vgpr: { 1: 5 } }))
    expect([m.vgpr(2, 0), m.vgpr(2, 1), m.vgpr(3, 0)]).toEqual([0, 5, 10])
  })
})

describe('lanes to lanes', () => {
  const swizzle = (offset: number, exec = (1n << 64n) - 1n) =>
    run({
      words: ds('ds_swizzle_b32', { addr: 0, vdst: 1, offset0: offset & 255, offset1: offset >> 8 }),
      exec,
      vgpr: { 0: (lane) => 100 + lane },
    }).row(1)

  test('ds_swizzle with bit 15 permutes each four lanes', () => {
    expect(swizzle(0x8000 | 0b00011011).slice(0, 8)).toEqual([103, 102, 101, 100, 107, 106, 105, 104])
  })
  test('ds_swizzle masks the lane number within 32 lanes', () => {
    expect(swizzle(0x041f).slice(30, 36)).toEqual([131, 130, 133, 132, 135, 134]) // xor 1
    expect(swizzle(0x0000 | (5 << 5)).slice(32, 34)).toEqual([137, 137]) // and 0, or 5
  })
  test('ds_swizzle from an inactive lane gives 0 and inactive lanes keep theirs', () => {
    expect(swizzle(0x041f, 1n).slice(0, 2)).toEqual([0, 0])
    expect(swizzle(0x041f, 3n).slice(0, 3)).toEqual([101, 100, 0])
  })

  test('ds_permute pushes by byte addresses that wrap; the higher lane wins; nobody gives 0', () => {
    const m = run({
      words: ds('ds_permute_b32', { addr: 0, data0: 1, vdst: 2 }),
      vgpr: { 0: (lane) => (lane < 2 ? 256 + 12 : lane * 4), 1: (lane) => lane + 1, 2: 9 },
      exec: 0xfn,
    })
    expect(m.row(2).slice(0, 5)).toEqual([0, 0, 3, 4, 9])
  })
  test('ds_bpermute pulls; an inactive source gives 0', () => {
    const m = run({
      words: ds('ds_bpermute_b32', { addr: 0, data0: 1, vdst: 1 }),
      vgpr: { 0: (lane) => (lane + 1) * 4, 1: (lane) => lane + 10 },
      exec: 0xfn,
    })
    expect(m.row(1).slice(0, 5)).toEqual([11, 12, 13, 0, 14])
  })
})
