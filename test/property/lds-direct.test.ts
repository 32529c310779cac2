/** LDS_DIRECT with every type that M0 can name, aligned or not, within the LDS or not: all engines give the same value or fault. */
import { expect, test } from 'vitest'
import { bareWave, type Device } from '../../host/device/index.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { Engines } from './engines.ts'

const LDS_BYTES = 16
const lds = Uint8Array.from({ length: LDS_BYTES }, (_, at) => 0x7e + 3 * at)

function outcome(device: Device, m0: number): string {
  const { words } = assembleProgram('v_mov_b32 v1, lds_direct\ns_endpgm', TARGETS.gfx803)
  const execution = bareWave(device, device.loadCode(words), { m0, lds, ldsBytes: LDS_BYTES, exec: 1n })
  execution.step(2)
  const { code, message } = execution.error ?? {}
  return code === undefined ? `0x${execution.waves[0]!.vgpr(1)[0]!.toString(16)}` : `${code} ${message}`
}

const engines = new Engines(TARGETS.gfx803)

test.each([0, 1, 2, 3, 4, 5, 6, 7])('type %i', async (type) => {
  const [[, reference], ...others] = (await engines.devices()) as [readonly [unknown, Device], ...(readonly [{ name: string }, Device])[]]
  for (let address = 0; address <= LDS_BYTES; address++) {
    const want = outcome(reference, (type << 16) | address)
    for (const [{ name }, device] of others)
      expect(`${name}, ${address}: ${outcome(device, (type << 16) | address)}`).toBe(`${name}, ${address}: ${want}`)
  }
})

// By hand: bytes 0x7e 0x81 0x84 0x87; sign extension of bytes and halves (GCN3 manual, "LDS direct reads").
test.each([
  ['unsigned byte 1', 0x0_0001, '0x81'],
  ['unsigned half at 2', 0x1_0002, '0x8784'],
  ['dword at 0', 0x2_0000, '0x8784817e'],
  ['signed byte 0', 0x4_0000, '0x7e'],
  ['signed byte 1', 0x4_0001, '0xffffff81'],
  ['signed half at 2', 0x5_0002, '0xffff8784'],
])('%s', async (_, m0, value) => {
  for (const [{ name }, device] of await engines.devices()) expect([name, outcome(device, m0)]).toEqual([name, value])
})
