/** A device: one engine, its linear memory laid out, and what has been loaded into it. Knows nothing of files or of assembly text. */
import type { Engine } from '../engine.ts'
import { LaunchError } from '../errors.ts'
import { OPERATIONS, PSEUDO_OPERATIONS } from '../isa/operations.ts'
import type { Target } from '../isa/targets.ts'
import type { CodeObject, KernelDescriptor, KernelMetadata, Segment } from '../object/code-object.ts'
import {
  MACHINE_BYTES,
  MACHINE_COUNTERS,
  MACHINE_GDS,
  MACHINE_GDS_BYTES,
  MACHINE_PRIVATE_APERTURE,
  MACHINE_SHARED_APERTURE,
} from '../plan/layout.ts'
import { Arena, GuestMemory } from './memory.ts'
import { type Code, Program } from './program.ts'

/**
 * Text of the instruction at `words[index]`, for messages; undefined or a throw where it has none.
 * @param pcBytes byte offset of the instruction, for branch targets
 */
export type Disassemble = (words: Uint32Array, index: number, target: Target, pcBytes: number) => string | undefined

/** What a device is told when it is made. */
export interface DeviceOptions {
  /** Without it messages show an instruction's words. */
  readonly disassemble?: Disassemble
  /** Address of the global data share where a device of another thread on the same linear memory has one. */
  readonly gdsAddress?: number
}

/** What a dispatch needs to know of a kernel, from a code object or made up for raw code. */
export interface DeviceKernel {
  readonly name: string
  readonly code: Code
  /** Byte offset of the first instruction from the code's first byte. */
  readonly entry: number
  readonly descriptor: KernelDescriptor
  readonly metadata: KernelMetadata | undefined
  /** Guest address of the kernel descriptor, 0 for raw code. */
  readonly object: bigint
}

/** A code object in guest memory. */
export interface LoadedObject {
  readonly object: CodeObject
  /** Guest address to which the object's addresses are relative. */
  readonly base: bigint
  readonly code: Code
  /** The kernel of this name, without a name the only one. @throws {ObjectError} listing those that exist */
  kernel(name?: string): DeviceKernel
  /** Guest address of a global variable or function, undefined where the object has no such symbol. */
  address(symbol: string): bigint | undefined
}

const APPROXIMATE = OPERATIONS.filter(({ traits }) => traits.has('approximate'))

/** Bytes of the global data share (GCN manuals, "Global Data Share"). */
const GDS_BYTES = 0x10000

/**
 * High dwords of the flat apertures where there are any: what the Linux driver sets on gfx7 and gfx8
 * (amdkfd, kfd_flat_memory.c: LDS at 2^61, scratch 4 GiB behind it).
 */
const APERTURES = {
  gfx6: { shared: 0, private: 0 },
  gfx7: { shared: 0x20000000, private: 0x20000001 },
  gfx8: { shared: 0x20000000, private: 0x20000001 },
} as const

/**
 * A GPU without a GPU: guest memory, loaded code and the engine that runs it. All of it lies in the engine's linear memory, so one device
 * has the engine to itself.
 */
export class Device {
  readonly engine: Engine
  readonly target: Target
  readonly options: DeviceOptions
  /** Allocation in linear memory; the guest's own addresses are `memory`'s. */
  readonly arena: Arena
  readonly memory: GuestMemory
  /** Address of the machine header in linear memory. */
  readonly machine: number
  /** Address of the global data share in linear memory. */
  readonly gdsAddress: number
  /** High dwords of the addresses of LDS and scratch in the flat address space; 0 where the target has none. */
  readonly apertures: { readonly shared: number; readonly private: number }
  readonly #counters: number
  readonly #programs = new Map<Code, Program[]>()

  /** @throws {LaunchError} where the engine has a device already */
  constructor(engine: Engine, target: Target, options: DeviceOptions = {}) {
    this.engine = engine
    this.target = target
    this.options = options
    this.arena = new Arena(engine)
    this.machine = this.arena.allocate(MACHINE_BYTES)
    if (this.arena.words[(this.machine + MACHINE_COUNTERS) >>> 2] !== 0)
      throw new LaunchError("the engine has a device already, and all of its memory is that one's; make an engine for each device")
    this.#counters = this.arena.allocate((PSEUDO_OPERATIONS.length + OPERATIONS.length) * 8)
    this.gdsAddress = options.gdsAddress ?? this.arena.allocate(GDS_BYTES)
    this.apertures = APERTURES[target.generation]
    const { words } = this.arena
    words[(this.machine + MACHINE_COUNTERS) >>> 2] = this.#counters
    words[(this.machine + MACHINE_GDS) >>> 2] = this.gdsAddress
    words[(this.machine + MACHINE_GDS_BYTES) >>> 2] = GDS_BYTES
    words[(this.machine + MACHINE_SHARED_APERTURE) >>> 2] = this.apertures.shared
    words[(this.machine + MACHINE_PRIVATE_APERTURE) >>> 2] = this.apertures.private
    this.memory = new GuestMemory(this.arena, this.machine)
  }

  /** The global data share, live. Never keep it over an allocation. */
  get gds(): Uint8Array {
    return this.arena.bytes.subarray(this.gdsAddress, this.gdsAddress + GDS_BYTES)
  }

  /**
   * Maps a code object into guest memory and applies its relocations.
   * @throws {LaunchError} where it was made for another processor
   */
  load(object: CodeObject): LoadedObject {
    if (object.target !== this.target.name)
      throw new LaunchError(
        `the code object is for ${object.target}, the device is ${this.target.name}; compile for ${this.target.name} or make a device for ${object.target}`,
      )
    const executable = object.segments.filter((segment) => segment.executable)
    if (executable.length !== 1)
      throw new LaunchError(
        `the code object has ${executable.length} executable segments; Lanewise runs objects with one; link the object with lld`,
      )
    const span = Math.max(...object.segments.map((segment) => segment.address + segment.memoryBytes))
    const base = this.memory.reserve(span)
    this.#map(object, base)
    const text = executable[0]!
    const address = base + BigInt(text.address)
    const code: Code = { words: wordsOf(this.memory.read(address, text.memoryBytes)), address, name: 'code' }
    return {
      object,
      base,
      code,
      kernel: (name) => {
        const { name: found, entry, descriptor, metadata, descriptorAddress } = object.kernel(name)
        return { name: found, code, entry: entry - text.address, descriptor, metadata, object: base + BigInt(descriptorAddress) }
      },
      address: (symbol) => {
        const found = object.symbols.get(symbol)
        return found === undefined ? undefined : base + BigInt(found.address)
      },
    }
  }

  /**
   * Maps raw machine code, read-only, into guest memory.
   * @param code dwords, or little-endian bytes, a multiple of 4
   * @throws {LaunchError} where its last dword is incomplete, or the address is taken
   */
  loadCode(code: Uint32Array | Uint8Array, options: { readonly name?: string; readonly address?: bigint } = {}): Code {
    const name = options.name ?? 'code'
    if (code.byteLength % 4 !== 0)
      throw new LaunchError(`${name} has ${code.byteLength} bytes; machine code is a multiple of 4; is the file whole?`)
    const words = code instanceof Uint32Array ? code.slice() : wordsOf(code)
    const region = this.memory.allocate(words.byteLength, { ...options, name, writable: false })
    this.memory.view(region).set(new Uint8Array(words.buffer))
    return { words, address: region.address, name }
  }

  /** The code made ready for waves with so many VGPRs. */
  program(code: Code, vgprCount: number): Program {
    const programs = this.#programs.get(code) ?? []
    this.#programs.set(code, programs)
    let program = programs.find((p) => p.vgprCount === vgprCount)
    if (program === undefined) {
      program = new Program(this.arena, code, this.target, vgprCount)
      programs.push(program)
    }
    return program
  }

  /** How often each approximate operation was executed on this device, by name; those never executed are absent. */
  approximate(): Map<string, number> {
    const { words } = this.arena
    const counts = new Map<string, number>()
    for (const { name, number } of APPROXIMATE) {
      const at = (this.#counters + number * 8) >>> 2
      const count = words[at]! + words[at + 1]! * 2 ** 32
      if (count > 0) counts.set(name, count)
    }
    return counts
  }

  /** Adds what other threads executed to {@link approximate}. */
  addApproximate(counts: Readonly<Record<string, number>>): void {
    const view = new DataView(this.arena.bytes.buffer)
    for (const { name, number } of OPERATIONS) {
      const at = this.#counters + number * 8
      const count = counts[name]
      if (count !== undefined) view.setBigUint64(at, view.getBigUint64(at, true) + BigInt(count), true)
    }
  }

  #map(object: CodeObject, base: bigint): void {
    for (const segment of object.segments) {
      if (segment.memoryBytes === 0) continue
      const region = this.memory.allocate(segment.memoryBytes, {
        name: segmentName(segment),
        address: base + BigInt(segment.address),
        writable: segment.writable,
      })
      this.memory.view(region).set(segment.bytes)
    }
    for (const { address, value, kind } of object.relocations) {
      const sum = BigInt.asUintN(64, base + BigInt(value))
      const bytes = new Uint8Array(kind === 'abs64' ? 8 : 4)
      const view = new DataView(bytes.buffer)
      if (kind === 'abs64') view.setBigUint64(0, sum, true)
      else view.setUint32(0, Number(kind === 'low32' ? sum & 0xffffffffn : sum >> 32n), true)
      this.memory.write(base + BigInt(address), bytes)
    }
  }
}

/** A kernel made of raw code. @param entry byte offset of the first instruction */
export function rawKernel(code: Code, descriptor: KernelDescriptor, entry = 0): DeviceKernel {
  return { name: code.name, code, entry, descriptor, metadata: undefined, object: 0n }
}

const segmentName = ({ executable, writable }: Segment): string => (executable ? 'code' : writable ? 'data' : 'constants')

/** Whole dwords of little-endian bytes, copied; hosts that run WebAssembly are little-endian themselves. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const whole = new Uint8Array(bytes.byteLength & ~3)
  // Not `slice`: that of Node's Buffer shares its memory.
  whole.set(bytes.subarray(0, whole.byteLength))
  return new Uint32Array(whole.buffer)
}
