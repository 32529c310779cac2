/**
 * Memory of a device: an arena in the engine's linear memory, and on top of it the guest's own address space. Guest addresses are 64 bits
 * wide and never offsets into linear memory; the engines find an address in the region table that is kept here.
 */
import type { Engine, SharedMemory } from '../engine.ts'
import { LaunchError, LimitError } from '../errors.ts'
import {
  MACHINE_REGION_COUNT,
  MACHINE_REGIONS,
  MACHINE_REGIONS_NUMBER,
  REGION_BASE,
  REGION_BYTES,
  REGION_FLAGS,
  REGION_HOST,
  REGION_SIZE,
} from '../plan/layout.ts'

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align

/** Every block starts at a multiple of this: a cache line, and room for v128 accesses. */
const BLOCK_ALIGN = 64
/** How much linear memory grows at least, so that an engine that copies on growing rarely copies. */
const GROWTH_BYTES = 1 << 20

/** First-fit allocation in an engine's linear memory. Blocks are zero when they are handed out. */
export class Arena {
  readonly #engine: Engine
  /** Free blocks sorted by start, none touching another. */
  #free: { start: number; end: number }[] = []
  readonly #blocks = new Map<number, number>()
  /** Nothing at or beyond this was ever handed out, so it is still zero. */
  #fresh: number
  #buffer: ArrayBufferLike | undefined
  #bytes: Uint8Array = new Uint8Array()
  #words: Uint32Array = new Uint32Array()

  constructor(engine: Engine) {
    this.#engine = engine
    this.#fresh = alignUp(engine.heapBase, BLOCK_ALIGN)
  }

  /** All linear memory as bytes. Never keep it over an allocation: memory may have moved. */
  get bytes(): Uint8Array {
    this.#refresh()
    return this.#bytes
  }

  /** All linear memory as little-endian words; word `a` is byte `4 a`. Never keep it over an allocation. */
  get words(): Uint32Array {
    this.#refresh()
    return this.#words
  }

  /**
   * Hands out a block of zeros.
   * @returns its byte offset in linear memory, a multiple of 64, never 0
   * @throws {LimitError} where the engine cannot have that much memory
   */
  allocate(bytes: number): number {
    const size = Math.max(BLOCK_ALIGN, alignUp(bytes, BLOCK_ALIGN))
    const start = this.#reuse(size) ?? this.#extend(size)
    this.#blocks.set(start, size)
    return start
  }

  free(start: number): void {
    const size = this.#blocks.get(start)
    if (size === undefined) throw new RangeError(`start is ${start}; it must be a block that allocate returned and nobody freed`)
    this.#blocks.delete(start)
    this.#give(start, start + size)
  }

  #give(start: number, end: number): void {
    const at = this.#free.findIndex((block) => block.start > start)
    this.#free.splice(at < 0 ? this.#free.length : at, 0, { start, end })
    this.#free = this.#free.reduce<{ start: number; end: number }[]>((merged, block) => {
      const last = merged.at(-1)
      if (last?.end === block.start) last.end = block.end
      else merged.push(block)
      return merged
    }, [])
  }

  #reuse(size: number): number | undefined {
    const at = this.#free.findIndex((block) => block.end - block.start >= size)
    const block = this.#free[at]
    if (block === undefined) return undefined
    const start = block.start
    block.start += size
    if (block.start === block.end) this.#free.splice(at, 1)
    this.bytes.fill(0, start, start + size)
    return start
  }

  #extend(size: number): number {
    const { shared } = this.#engine
    if (shared !== undefined) return this.#claim(shared, size)
    const start = this.#fresh
    const end = start + size
    const present = this.#engine.memory.byteLength
    if (end > present) {
      const wanted = Math.max(end, present + GROWTH_BYTES, Math.min(present * 1.5, present + (64 << 20)))
      this.#grow(end, alignUp(wanted, 0x10000))
    }
    this.#fresh = end
    return start
  }

  /** Takes memory that threads share in large pieces, or where there is no room for that, what is needed. */
  #claim(shared: SharedMemory, size: number): number {
    if (size >= GROWTH_BYTES) return shared.claim(size)
    try {
      const start = shared.claim(GROWTH_BYTES)
      this.#give(start + size, start + GROWTH_BYTES)
      return start
    } catch (error) {
      if (!(error instanceof LimitError)) throw error
      return shared.claim(size)
    }
  }

  /** Grows generously, or where that is too much, to what is needed. */
  #grow(needed: number, wanted: number): void {
    try {
      this.#engine.grow(wanted)
    } catch (error) {
      if (!(error instanceof LimitError) || needed >= wanted) throw error
      this.#engine.grow(needed)
    }
  }

  #refresh(): void {
    const { memory } = this.#engine
    if (memory === this.#buffer && this.#bytes.byteLength === memory.byteLength) return
    this.#buffer = memory
    this.#bytes = new Uint8Array(memory)
    this.#words = new Uint32Array(memory, 0, memory.byteLength >>> 2)
  }
}

/** One allocation of the guest. */
export interface Region {
  /** What messages call it. */
  readonly name: string
  /** Guest address. */
  readonly address: bigint
  readonly bytes: number
  readonly writable: boolean
  /** Where its bytes are in linear memory. */
  readonly host: number
}

/** How a piece of guest memory is allocated. */
export interface RegionOptions {
  /** What messages call it; default `buffer`. */
  readonly name?: string
  /** Guest address, 1 to 2^48 - 1; chosen where not given. */
  readonly address?: bigint
  /** Default true. */
  readonly writable?: boolean
}

/** Where an address is by the region closest to it. */
export interface Nearest {
  readonly region: Region
  /** Bytes before its first byte (negative), from its first byte (inside), or past its end (`where` says which). */
  readonly distance: bigint
  readonly where: 'before' | 'inside' | 'after'
}

/** Where chosen addresses begin: above 4 GiB, so that code that loses the high half is found out, and within 47 bits. */
const FIRST_ADDRESS = 0x7e00_0000_0000n
/** Chosen addresses are multiples of this, and at least so much between two regions belongs to nobody. */
const GUARD = 0x10_0000n
/** GCN buffer resources hold 48 address bits. */
const ADDRESS_END = 1n << 48n
const MAX_REGION_BYTES = 2 ** 32 - 1

/** Tables of regions written so far, for all devices: one engine may serve several, one after another. */
let tables = 0
/** Then numbers begin anew. */
const MOST_TABLES = 2 ** 32 - 1

/** The guest's address space. */
export class GuestMemory {
  readonly #arena: Arena
  readonly #machine: number
  readonly #regions: Region[] = []
  #table = 0
  #capacity = 0
  #next = FIRST_ADDRESS

  /** @param machine address of the machine header in linear memory */
  constructor(arena: Arena, machine: number) {
    this.#arena = arena
    this.#machine = machine
  }

  /** Where the next address is chosen from. */
  get nextAddress(): bigint {
    return this.#next
  }

  /** Becomes the guest memory of another device on the same linear memory. This one's own regions must have been freed. */
  adopt(regions: readonly Region[], nextAddress: bigint): void {
    this.#regions.splice(0, this.#regions.length, ...regions)
    this.#next = nextAddress
    this.#writeTable()
  }

  /** All regions, sorted by guest address. */
  get regions(): readonly Region[] {
    return this.#regions
  }

  /**
   * Gives the guest memory, all zero.
   * @param bytes 0 to 2^32 - 1
   * @throws {LaunchError} where a given address is out of range or taken
   * @throws {LimitError} where there is not so much memory
   */
  allocate(bytes: number, options: RegionOptions = {}): Region {
    const { name = 'buffer', writable = true } = options
    if (!Number.isInteger(bytes) || bytes < 0 || bytes > MAX_REGION_BYTES)
      throw new LimitError(`${name} is to have ${bytes} bytes; a buffer can have 0 to ${MAX_REGION_BYTES}; use a smaller one`)
    const address = options.address ?? this.reserve(bytes)
    this.#check(name, address, bytes)
    const region: Region = { name, address, bytes, writable, host: this.#arena.allocate(bytes) }
    const at = this.#regions.findIndex((other) => other.address > address)
    this.#regions.splice(at < 0 ? this.#regions.length : at, 0, region)
    this.#writeTable()
    return region
  }

  /** An address from which on so many bytes are free, with unowned space on both sides; nothing is allocated yet. */
  reserve(bytes: number): bigint {
    for (;;) {
      const address = this.#next
      this.#next += roundUp(BigInt(bytes) + GUARD, GUARD)
      if (this.#overlap(address - GUARD, BigInt(bytes) + 2n * GUARD) === undefined) return address
    }
  }

  /** Takes a region back; its addresses fault from now on. */
  free(region: Region): void {
    const at = this.#regions.indexOf(region)
    if (at < 0) throw new RangeError(`${region.name} at ${hex(region.address)} is no region of this memory, or was freed already`)
    this.#regions.splice(at, 1)
    this.#arena.free(region.host)
    this.#writeTable()
  }

  /** The bytes of a region, live. Never keep them over an allocation: linear memory may move. */
  view(region: Region): Uint8Array {
    return this.#arena.bytes.subarray(region.host, region.host + region.bytes)
  }

  /** A copy of guest memory. @throws {RangeError} where not all of it is in one region */
  read(address: bigint, bytes: number): Uint8Array {
    const host = this.#locate(address, bytes)
    return this.#arena.bytes.slice(host, host + bytes)
  }

  /** Writes guest memory, read-only regions too. @throws {RangeError} where not all of it is in one region */
  write(address: bigint, data: Uint8Array): void {
    const host = this.#locate(address, data.byteLength)
    this.#arena.bytes.set(data, host)
  }

  /** The region closest to an address, for messages; undefined where there is none at all. */
  nearest(address: bigint): Nearest | undefined {
    let best: Nearest | undefined
    for (const region of this.#regions) {
      const found = place(region, address)
      if (best === undefined || gap(found) < gap(best)) best = found
    }
    return best
  }

  #locate(address: bigint, bytes: number): number {
    const region = this.#regions.find((r) => address >= r.address && address + BigInt(bytes) <= r.address + BigInt(r.bytes))
    if (region === undefined) throw new RangeError(`guest memory has no ${bytes} bytes at ${hex(address)}; read or write within one region`)
    return region.host + Number(address - region.address)
  }

  #check(name: string, address: bigint, bytes: number): void {
    if (address < 1n || address + BigInt(bytes) > ADDRESS_END)
      throw new LaunchError(
        `${name} is to have ${bytes} bytes at ${hex(address)}; guest addresses are from 0x1 to 0xffffffffffff; choose another`,
      )
    const other = this.#overlap(address, BigInt(Math.max(bytes, 1)))
    if (other !== undefined)
      throw new LaunchError(
        `${name} is to have ${bytes} bytes at ${hex(address)}, where ${other.name} has ${other.bytes} bytes at ${hex(other.address)}; regions may not overlap; choose another address or give none`,
      )
  }

  #overlap(address: bigint, bytes: bigint): Region | undefined {
    return this.#regions.find((r) => r.address < address + bytes && address < r.address + BigInt(Math.max(r.bytes, 1)))
  }

  /** Writes the table that the engines search: regions with bytes, sorted by address. */
  #writeTable(): void {
    const list = this.#regions.filter((region) => region.bytes > 0)
    if (list.length > this.#capacity) {
      if (this.#table !== 0) this.#arena.free(this.#table)
      this.#capacity = Math.max(16, list.length * 2)
      this.#table = this.#arena.allocate(this.#capacity * REGION_BYTES)
    }
    const { words } = this.#arena
    list.forEach((region, i) => {
      const at = this.#table + i * REGION_BYTES
      words[(at + REGION_BASE) >>> 2] = Number(region.address & 0xffffffffn)
      words[(at + REGION_BASE + 4) >>> 2] = Number(region.address >> 32n)
      words[(at + REGION_SIZE) >>> 2] = region.bytes
      words[(at + REGION_HOST) >>> 2] = region.host
      words[(at + REGION_FLAGS) >>> 2] = region.writable ? 1 : 0
    })
    words[(this.#machine + MACHINE_REGIONS) >>> 2] = this.#table
    words[(this.#machine + MACHINE_REGION_COUNT) >>> 2] = list.length
    tables = tables < MOST_TABLES ? tables + 1 : 1
    words[(this.#machine + MACHINE_REGIONS_NUMBER) >>> 2] = tables
  }
}

function place(region: Region, address: bigint): Nearest {
  const end = region.address + BigInt(region.bytes)
  if (address < region.address) return { region, distance: address - region.address, where: 'before' }
  if (address < end) return { region, distance: address - region.address, where: 'inside' }
  return { region, distance: address - end, where: 'after' }
}

const gap = ({ where, distance }: Nearest): bigint => (where === 'inside' ? -1n : distance < 0n ? -distance : distance)
const roundUp = (value: bigint, align: bigint): bigint => ((value + align - 1n) / align) * align
/** A guest address as messages show it. */
export const hex = (value: bigint | number): string => `0x${value.toString(16)}`
