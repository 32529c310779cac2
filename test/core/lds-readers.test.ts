/** What reads the LDS without being a DS operation: interpolation of parameters, and stores from LDS to buffers. */
import { expect, test } from 'vitest'
import { FaultCode, Stop } from '../../host/engine.ts'
import { waveOf } from './wave.ts'

const BASE = 0x1_0000_1000n
/** Puts the words at the beginning of the wave's LDS. */
const fill = (lds: Uint8Array, words: readonly number[]) => new Uint32Array(lds.buffer, lds.byteOffset, words.length).set(words)

// Attribute 1, channel y of primitive p begins at dword 12 × (2 + p): P0 at 2, P10 at 3, P20 at 9. Quads 0 and 1 differ.
const PARAMETERS = new Array<number>(48).fill(0)
for (const [p, [p0, p10, p20]] of [
  [0x3f800000, 0x40000000, 0x40400000], // 1, 2, 3
  [0x41200000, 0x41a00000, 0x41f00000], // 10, 20, 30
].entries()) {
  PARAMETERS[12 * (2 + p) + 2] = p0!
  PARAMETERS[12 * (2 + p) + 3] = p10!
  PARAMETERS[12 * (2 + p) + 9] = p20!
}

test('`v_interp_p1_f32`, `_p2_f32` and `_mov_f32` take the parameters of each quad of lanes', async () => {
  const asm = 'v_interp_p1_f32 v2, v0, attr1.y\nv_interp_p2_f32 v2, v1, attr1.y\nv_interp_mov_f32 v3, p20, attr1.y'
  const w = await waveOf({ asm, m0: 1 << 16, ldsBytes: 192, vgpr: { 0: 0x40000000, 1: 0x3f800000, 3: 7 }, exec: 0x18n })
  fill(w.ldsBytes(), PARAMETERS)
  expect(w.run()).toBe(Stop.End)
  expect(w.v(2).slice(3, 5)).toEqual([0x41000000, 0x42a00000]) // 1 + 2·2 + 3·1, 10 + 20·2 + 30·1
  expect(w.v(3).slice(2, 6)).toEqual([7, 0x40400000, 0x41f00000, 7])
})

test('`v_interp_p1_f32` rounds after the multiplication and flushes denormals', async () => {
  // P10 · i = (1 + 2^-23)²: rounded to 1 + 2^-22 before P0 = -(1 + 2^-22) is added; fused it would be 2^-46.
  const lds = new Array<number>(12).fill(0)
  lds[0] = 0xbf800002
  lds[1] = 0x3f800001
  lds[2] = 0x00000001
  const asm = 'v_interp_p1_f32 v1, v0, attr0.x\nv_interp_p1_f32 v2, v3, attr0.y'
  const w = await waveOf({ asm, mode: 0x3f0, ldsBytes: 48, vgpr: { 0: 0x3f800001, 3: 0x3f800000 } })
  fill(w.ldsBytes(), lds)
  w.run()
  expect([w.v(1)[0], w.v(2)[0]]).toEqual([0, 0])
})

test('a parameter beyond the LDS is a fault of the first lane', async () => {
  const w = await waveOf({ asm: 'v_interp_mov_f32 v0, p0, attr1.x', ldsBytes: 32, exec: 0xf0n, vgpr: { 0: 5 } })
  expect(w.run()).toBe(Stop.Fault)
  expect(w.fault).toMatchObject({ code: FaultCode.Lds, lane: 4, address: 48n })
  expect(w.v(0)[4]).toBe(5)
})

test('`buffer_store_lds_dword` moves a dword a lane from M0 + offset + 4 × lane in LDS to memory', async () => {
  const sgpr = { 4: Number(BASE & 0xffffffffn), 5: Number(BASE >> 32n), 6: 1024, 7: 0 }
  const regions = [{ base: BASE, bytes: new Uint8Array(64), writable: true }]
  const w = await waveOf({ asm: 'buffer_store_lds_dword s[4:7], 0 offset:8 lds', exec: 4n, m0: 16, sgpr, ldsBytes: 256, regions })
  fill(
    w.ldsBytes(),
    Array.from({ length: 64 }, (_, i) => 100 + i),
  )
  expect(w.run()).toBe(Stop.End)
  // Lane 2 reads LDS dword (16 + 8)/4 + 2 = 8; its address is the buffer's base + 8.
  expect([...new Uint32Array(w.memory(0).buffer)]).toEqual([0, 0, 108, ...Array(13).fill(0)])
})
