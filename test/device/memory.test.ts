import { expect, test } from 'vitest'
import { Arena, GuestMemory } from '../../host/device/memory.ts'
import { LaunchError, LimitError } from '../../host/errors.ts'
import {
  MACHINE_REGION_COUNT,
  MACHINE_REGIONS,
  REGION_BASE,
  REGION_BYTES,
  REGION_FLAGS,
  REGION_HOST,
  REGION_SIZE,
} from '../../host/plan/layout.ts'
import { FakeEngine } from './fake.ts'

function memory(mostBytes?: number) {
  const engine = new FakeEngine(() => undefined, mostBytes)
  const arena = new Arena(engine)
  const machine = arena.allocate(64)
  const table = () => {
    const view = new DataView(engine.memory)
    const at = view.getUint32(machine + MACHINE_REGIONS, true)
    return Array.from({ length: view.getUint32(machine + MACHINE_REGION_COUNT, true) }, (_, i) => {
      const region = at + i * REGION_BYTES
      return {
        address: view.getBigUint64(region + REGION_BASE, true),
        bytes: view.getUint32(region + REGION_SIZE, true),
        host: view.getUint32(region + REGION_HOST, true),
        writable: (view.getUint32(region + REGION_FLAGS, true) & 1) === 1,
      }
    })
  }
  return { arena, guest: new GuestMemory(arena, machine), table }
}

test('blocks do not overlap, start at multiples of 64 and never at 0', () => {
  const { arena } = memory()
  const blocks = [1, 64, 65, 100000, 0].map((bytes) => [arena.allocate(bytes), bytes] as const).sort(([a], [b]) => a - b)
  blocks.forEach(([start], i) => {
    expect(start % 64).toBe(0)
    expect(start).toBeGreaterThan(0)
    if (i > 0) expect(start).toBeGreaterThanOrEqual(blocks[i - 1]![0] + blocks[i - 1]![1])
  })
})

test('freed blocks are used again, merged, and zero', () => {
  const { arena } = memory()
  const [a, b] = [arena.allocate(64), arena.allocate(64)]
  arena.allocate(64)
  arena.bytes.fill(0xff, a, a + 128)
  arena.free(b)
  arena.free(a)
  const both = arena.allocate(128)
  expect(both).toBe(a)
  expect(arena.bytes.slice(both, both + 128)).toEqual(new Uint8Array(128))
  expect(() => arena.free(b)).toThrow(RangeError)
})

test('regions keep their bytes when linear memory grows', () => {
  const { guest } = memory()
  const region = guest.allocate(8)
  guest.view(region).set([1, 2, 3])
  guest.allocate(5_000_000)
  expect([...guest.read(region.address, 3)]).toEqual([1, 2, 3])
})

test('the region table is sorted by address and leaves out what has no bytes', () => {
  const { guest, table } = memory()
  const high = guest.allocate(16, { address: 0x7f0000002000n })
  const low = guest.allocate(8, { address: 0x7f0000001000n, writable: false })
  const empty = guest.allocate(0, { address: 0x7f0000001800n })
  expect(guest.regions.map(({ address }) => address)).toEqual([low.address, empty.address, high.address])
  expect(table()).toEqual([
    { address: 0x7f0000001000n, bytes: 8, host: low.host, writable: false },
    { address: 0x7f0000002000n, bytes: 16, host: high.host, writable: true },
  ])
  guest.free(low)
  expect(table().map(({ address }) => address)).toEqual([high.address])
})

test('the table grows with many regions', () => {
  const { guest, table } = memory()
  for (let i = 0; i < 100; i++) guest.allocate(4)
  expect(table().length).toBe(100)
})

test('chosen addresses have unowned space between them and around given ones', () => {
  const { guest } = memory()
  const first = guest.allocate(100)
  guest.allocate(4, { address: first.address + 0x200000n })
  for (let i = 0; i < 5; i++) guest.allocate(100)
  const { regions } = guest
  for (let i = 1; i < regions.length; i++)
    expect(regions[i]!.address - (regions[i - 1]!.address + BigInt(regions[i - 1]!.bytes))).toBeGreaterThan(0xf0000n)
})

test('overlap, addresses out of range and absurd sizes are errors that say so', () => {
  const { guest } = memory()
  guest.allocate(16, { name: 'x', address: 0x1000n })
  expect(() => guest.allocate(16, { name: 'y', address: 0x100fn })).toThrow(LaunchError)
  expect(() => guest.allocate(16, { name: 'y', address: 0x100fn })).toThrow(
    'y is to have 16 bytes at 0x100f, where x has 16 bytes at 0x1000',
  )
  expect(() => guest.allocate(16, { address: 0n })).toThrow(/guest addresses are from 0x1/)
  expect(() => guest.allocate(16, { address: 0xfffffffffffffff8n })).toThrow(LaunchError)
  expect(() => guest.allocate(2 ** 32)).toThrow(LimitError)
  expect(() => guest.allocate(1.5)).toThrow(LimitError)
})

test('memory that the engine cannot have is a LimitError, and what fits exactly is given', () => {
  const { guest } = memory(0x200000)
  guest.allocate(0x1e0000)
  expect(() => guest.allocate(0x100000)).toThrow(LimitError)
})

test('reads and writes stay within a region', () => {
  const { guest } = memory()
  const { address } = guest.allocate(8)
  guest.write(address + 4n, new Uint8Array([9, 8, 7, 6]))
  expect([...guest.read(address, 8)]).toEqual([0, 0, 0, 0, 9, 8, 7, 6])
  expect(() => guest.read(address + 4n, 5)).toThrow(RangeError)
  expect(() => guest.write(address - 1n, new Uint8Array(1))).toThrow(RangeError)
})

test('the nearest region of an address is told with the distance', () => {
  const { guest } = memory()
  const a = guest.allocate(16, { name: 'a', address: 0x1000n })
  const b = guest.allocate(16, { name: 'b', address: 0x2000n })
  expect(guest.nearest(0xffcn)).toEqual({ region: a, distance: -4n, where: 'before' })
  expect(guest.nearest(0x1008n)).toEqual({ region: a, distance: 8n, where: 'inside' })
  expect(guest.nearest(0x1010n)).toEqual({ region: a, distance: 0n, where: 'after' })
  expect(guest.nearest(0x1fffn)).toEqual({ region: b, distance: -1n, where: 'before' })
})
