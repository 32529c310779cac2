import { expect, test } from 'vitest'
import { bareWave, type WaveState } from '../../host/device/index.ts'
import { Stop } from '../../host/engine.ts'
import { EXEC_LO, M0, VCC_LO, WAVE_LDS_BYTES } from '../../host/plan/layout.ts'
import { fakeDevice } from './fake.ts'

function wave(state: WaveState) {
  const device = fakeDevice(() => Stop.End)
  return bareWave(device, device.loadCode(new Uint32Array(2)), state).waves[0]!
}

test('registers that are not named are 0, EXEC is all ones, MODE is 0x3c0, and there are 256 VGPRs', () => {
  const w = wave({})
  expect([w.exec, w.vcc, w.scc, w.m0, w.mode, w.pc, w.vgprCount]).toEqual([0xffffffffffffffffn, 0n, 0, 0, 0x3c0, 0, 256])
  expect([...w.vgpr(255)]).toEqual(new Array(64).fill(0))
})

test('registers are what was given, lane by lane', () => {
  const w = wave({
    exec: 0x5n,
    vcc: 0x1_0000_0002n,
    scc: 1,
    m0: -1,
    mode: 0x1f0,
    sgprs: new Map([[4, 0x3f800000]]),
    vgprs: new Map<number, number | number[]>([
      [0, 0x40000000],
      [1, [7, 8]],
    ]),
    lds: new Uint8Array([1, 2]),
  })
  expect([w.exec, w.sgpr(EXEC_LO), w.vcc, w.sgpr(VCC_LO), w.scc, w.sgpr(M0), w.mode, w.sgpr(4)]).toEqual([
    5n,
    5,
    0x1_0000_0002n,
    2,
    1,
    0xffffffff,
    0x1f0,
    0x3f800000,
  ])
  expect([...w.vgpr(0)]).toEqual(new Array(64).fill(0x40000000))
  expect([...w.vgpr(1)].slice(0, 3)).toEqual([7, 8, 0])
  expect([[...w.lds.slice(0, 3)], w.word(WAVE_LDS_BYTES)]).toEqual([[1, 2, 0], 0x10000])
})

test('registers that do not exist are RangeErrors', () => {
  expect(() => wave({ vgprs: new Map([[256, 0]]) })).toThrow(RangeError)
  expect(() => wave({ sgprs: new Map([[128, 0]]) })).toThrow(RangeError)
  expect(() => wave({ vgprs: new Map([[0, new Array(65).fill(0)]]) })).toThrow(/v0 has 65 lanes; a wave has 64/)
  expect(() => wave({}).vgpr(256)).toThrow(RangeError)
  expect(() => wave({}).sgpr(-1)).toThrow(RangeError)
})

test('equal waves of two devices have equal states, whatever lies where in linear memory', () => {
  const device = fakeDevice(() => Stop.End)
  device.arena.allocate(12345)
  const other = bareWave(device, device.loadCode(new Uint32Array(2)), { m0: 3 }).waves[0]!
  expect(wave({ m0: 3 }).state()).toEqual(other.state())
  expect(wave({ m0: 4 }).state()).not.toEqual(other.state())
})

test('code can be bytes of any kind, at any place in their buffer, but whole dwords', () => {
  const device = fakeDevice(() => Stop.End)
  const bytes = Uint8Array.of(9, 1, 2, 3, 4, 5, 6, 7, 8)
  for (const code of [bytes.subarray(1), Buffer.from(bytes).subarray(1)])
    expect([...device.loadCode(code).words]).toEqual([0x04030201, 0x08070605])
  const { address } = device.loadCode(Uint32Array.of(0xbf810000))
  expect([...device.memory.read(address, 4)]).toEqual([0, 0, 0x81, 0xbf])
  expect(() => device.loadCode(bytes)).toThrow(/code has 9 bytes; machine code is a multiple of 4/)
})
