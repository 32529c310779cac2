/** LDS_DIRECT with every type that M0 can name, aligned or not, within the LDS or not: all engines give the same value or fault. */
import { expect, test } from 'vitest'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { type Loaded, Machines } from './machines.ts'
import { vector } from './vector.ts'

const LDS_BYTES = 16
const lds = Uint8Array.from({ length: LDS_BYTES }, (_, at) => 0x7e + 3 * at)

const { words } = assembleProgram('v_mov_b32 v1, lds_direct\ns_endpgm', TARGETS.gfx803)
const machines = new Machines(TARGETS.gfx803, 1)

function outcome(loaded: Loaded, m0: number): string {
  const end = loaded.run({ m0, lds, ldsBytes: LDS_BYTES, exec: 1n })
  return end.status === 'done' ? `0x${vector(end, 1, 0).toString(16)}` : end.status
}

test.each([0, 1, 2, 3, 4, 5, 6, 7])('type %i', async (type) => {
  const [reference, ...others] = await machines.load(words)
  for (let address = 0; address <= LDS_BYTES; address++) {
    const want = outcome(reference!, (type << 16) | address)
    for (const other of others)
      expect(`${other.name}, ${address}: ${outcome(other, (type << 16) | address)}`).toBe(`${other.name}, ${address}: ${want}`)
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
  for (const loaded of await machines.load(words)) expect([loaded.name, outcome(loaded, m0)]).toEqual([loaded.name, value])
})
