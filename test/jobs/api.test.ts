import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  assemble,
  createCore,
  createReference,
  Device,
  decode,
  disassemble,
  dispatch,
  encode,
  loadObject,
  TARGETS,
} from '../../host/index.ts'

test.each([['core', createCore] as const, ['reference', createReference] as const])(
  'saxpy through the public API on the %s engine',
  async (_name, create) => {
    const device = new Device(await create(), TARGETS.gfx803)
    const kernel = device.load(loadObject(readFileSync('test/data/kernels/saxpy/gfx803.co'))).kernel('saxpy')
    const count = 200
    const a = Math.fround(1.7)
    const xs = Float32Array.from({ length: count }, (_, i) => i / 7 - 9)
    const ys = Float32Array.from({ length: count }, (_, i) => 3 - i / 11)
    const [x, y] = [device.memory.allocate(count * 4, { name: 'x' }), device.memory.allocate(count * 4, { name: 'y' })]
    device.memory.view(x).set(new Uint8Array(xs.buffer))
    device.memory.view(y).set(new Uint8Array(ys.buffer))
    const execution = dispatch(device, kernel, {
      grid: [256, 1, 1],
      workgroup: [64, 1, 1],
      args: [
        { bytes: new Uint8Array(Uint32Array.of(count).buffer) },
        { bytes: new Uint8Array(Float32Array.of(a).buffer) },
        { address: x.address },
        { address: y.address },
      ],
    })
    const { status, error } = await execution.run({ budget: 1e6 })
    expect([status, error]).toEqual(['done', undefined])
    // The kernel is compiled with -ffp-contract=off: product and sum are rounded apart.
    const want = xs.map((value, i) => Math.fround(Math.fround(a * value) + ys[i]!))
    expect([...new Float32Array(device.memory.view(y).slice().buffer)]).toEqual([...want])
    execution.free()
  },
)

test('text to words and back', () => {
  const words = encode(assemble('v_mad_f32 v3, v0, v1, v2', TARGETS.gfx803))
  expect(words).toEqual([0xd1c10003, 0x040a0300])
  expect(disassemble(decode(Uint32Array.from(words), 0, TARGETS.gfx803)!)).toBe('v_mad_f32 v3, v0, v1, v2')
})
