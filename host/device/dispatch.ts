/**
 * A dispatch: what the packet processor and the hardware do before the first instruction of a kernel. Source for all of it: LLVM, "User
 * Guide for AMDGPU Backend", AMDHSA: "Kernel Dispatch", "Initial Kernel Execution State", "Kernel Prolog".
 */
import { LaunchError } from '../errors.ts'
import type { Generation } from '../isa/targets.ts'
import type { KernelDescriptor } from '../object/code-object.ts'
import { EXEC_LO, MACHINE_TIME, SCALAR_COUNT, scalarOffset, WAVE_SCRATCH_BASE, WAVE_SCRATCH_LANE_BYTES, waveBytes } from '../plan/layout.ts'
import {
  ROUNDS_CLEARED,
  ROUNDS_END,
  ROUNDS_FIRST,
  ROUNDS_GROUPS,
  ROUNDS_ID,
  ROUNDS_IMAGE,
  ROUNDS_PIECES,
  ROUNDS_SET,
  ROUNDS_STRIDE,
  ROUNDS_TIME,
  ROUNDS_X,
  roundsBytes,
} from '../plan/rounds.ts'
import type { Device, DeviceKernel } from './device.ts'
import { type Claim, Execution, type Workload } from './execution.ts'
import { kernargSegment } from './kernarg.ts'
import type { DispatchTwin, Launch } from './launch.ts'
import type { Region } from './memory.ts'
import { dispatchPacket, queue, type Size } from './packet.ts'
import { allocateScratch, type Scratch, scratchResource } from './scratch.ts'
import { allocateWaves, headerOf, SGPR_LIMIT, type Wave, type WaveBlocks, type WaveStart, writeWave } from './wave.ts'

/**
 * What raw code starts as that says nothing else: s[0:3] scratch buffer, s[4:5] kernarg, s6 to s8 workgroup ids, v0 to v2 work-item ids.
 */
export const DEFAULT_DESCRIPTOR: KernelDescriptor = {
  groupSegmentBytes: 0,
  privateSegmentBytes: 0,
  kernargBytes: 0,
  // 256 VGPRs, 104 SGPRs; float mode 0xc0, DX10_CLAMP, IEEE.
  rsrc1: 63 | (12 << 6) | (0xc0 << 12) | (1 << 21) | (1 << 23),
  rsrc2: (6 << 1) | (7 << 7) | (2 << 11),
  rsrc3: 0,
  properties: 0b1001,
  kernargPreload: 0,
}

const DEFAULT_STACK_BYTES = 16384
const MAX_GRID = 2 ** 32 - 1
const MAX_WORKGROUP = 1024
/** LDS that one workgroup can have (LLVM, AMDGPU.td, FeatureLocalMemorySize32768 and 65536). */
const MAX_LDS: Readonly<Record<Generation, number>> = { gfx6: 0x8000, gfx7: 0x10000, gfx8: 0x10000 }

// --- compute_pgm_rsrc1 and 2
const vgprCountOf = (rsrc1: number): number => ((rsrc1 & 63) + 1) * 4
const sgprCountOf = (rsrc1: number, generation: Generation): number => Math.min((((rsrc1 >>> 6) & 15) + 1) * 8, SGPR_LIMIT[generation])
/** FLOAT_MODE 19:12, ENABLE_DX10_CLAMP 21 and ENABLE_IEEE_MODE 23 are MODE 7:0, 8 and 9. */
const modeOf = (rsrc1: number): number => ((rsrc1 >>> 12) & 0xff) | (((rsrc1 >>> 21) & 1) << 8) | (((rsrc1 >>> 23) & 1) << 9)
const userSgprCountOf = (rsrc2: number): number => (rsrc2 >>> 1) & 31
/** Work-item ids in VGPRs: x, then y, then z. */
const workItemIdsOf = (rsrc2: number): number => Math.min((rsrc2 >>> 11) & 3, 2) + 1

/** kernel_code_properties bit 11. */
const USES_DYNAMIC_STACK = 1 << 11
const MAX_USER_SGPRS = 16

/** Which SGPRs the hardware itself sets, behind the user SGPRs, in this order; undefined where rsrc2 does not ask for one. */
interface SystemSgprs {
  readonly workgroupIds: readonly (number | undefined)[]
  readonly workgroupInfo: number | undefined
  readonly scratchOffset: number | undefined
}

function systemSgprsOf(rsrc2: number): SystemSgprs {
  let next = userSgprCountOf(rsrc2)
  const take = (bit: number) => ((rsrc2 >>> bit) & 1 ? next++ : undefined)
  return { workgroupIds: [take(7), take(8), take(9)], workgroupInfo: take(10), scratchOffset: take(0) }
}

/**
 * Prepares a dispatch. Run it with {@link Execution.run}, or instruction by instruction with {@link Execution.step}.
 * @param claim which workgroups to run, where others run the rest; by default all
 * @throws {LaunchError} where grid, workgroup, arguments, LDS or scratch do not fit the kernel or the hardware
 */
export function dispatch(device: Device, kernel: DeviceKernel, launch: Launch, claim?: Claim): Execution {
  return new Execution(device, new Dispatch(device, kernel, launch), claim, launch.schedule)
}

/** The workgroups of a dispatch. */
class Dispatch implements Workload {
  readonly groupCount: number
  readonly #device: Device
  readonly #kernel: DeviceKernel
  readonly #grid: Size
  readonly #workgroup: Size
  readonly #groups: Size
  /** A bit for each dimension in which the last workgroups are smaller than the others. */
  readonly #partial: Size
  readonly #firstGroup: number
  readonly #launch: Launch
  readonly #nextAddress: bigint
  /** Guest memory of this dispatch alone. */
  readonly #regions: Region[] = []
  readonly #scratch: Scratch
  readonly #ldsBytes: number
  readonly #lds: number
  /** Linear memory that is zero when a workgroup begins: LDS and scratch. */
  readonly #cleared: readonly (readonly [start: number, bytes: number])[]
  readonly #userSgprs: readonly number[]
  readonly #systemSgprs: SystemSgprs
  readonly #blocks: WaveBlocks
  /** How workgroups start, by the bits of `#partial` for those that are the last ones. */
  readonly #starts: (Start | undefined)[] = []
  /** The workgroup that was asked for last, its x, and how it starts: it is asked for in each of its rounds. */
  #present = 0
  #x = 0
  #start: Start | undefined

  constructor(device: Device, kernel: DeviceKernel, launch: Launch) {
    const { descriptor } = kernel
    this.#device = device
    this.#kernel = kernel
    this.#launch = launch
    this.#nextAddress = device.memory.nextAddress
    this.#grid = launch.grid
    this.#workgroup = launch.workgroup ?? launch.grid
    checkSizes(kernel, this.#grid, this.#workgroup)
    this.#groups = eachDimension((d) => Math.ceil(this.#grid[d]! / this.#workgroup[d]!))
    this.#partial = eachDimension((d) => (this.#grid[d] % this.#workgroup[d] === 0 ? 0 : 1 << d))
    const [from, to] = launch.groups ?? [0, volume(this.#groups)]
    if (!(from >= 0 && from <= to && to <= volume(this.#groups)))
      throw new LaunchError(`workgroups ${from} to ${to} are to run; the grid has ${volume(this.#groups)}; give a range within it`)
    this.#firstGroup = from
    this.groupCount = to - from
    const waveCount = Math.ceil(volume(this.#workgroup) / device.target.waveSize)
    try {
      const { bytes, dynamicLdsBytes } = this.#arguments(launch)
      this.#ldsBytes = checkLds(device, kernel, descriptor.groupSegmentBytes + dynamicLdsBytes)
      this.#scratch = allocateScratch(device.memory, scratchBytesOf(kernel, launch), device.target.waveSize, waveCount)
      this.#regions.push(...this.#scratch.regions)
      this.#userSgprs = this.#setUserSgprs(bytes, launch.kernarg?.address)
    } catch (error) {
      this.#freeRegions()
      throw error
    }
    this.#systemSgprs = systemSgprsOf(descriptor.rsrc2)
    this.#blocks = allocateWaves(device.arena, device.program(kernel.code, vgprCountOf(descriptor.rsrc1)), waveCount)
    this.#lds = device.arena.allocate(this.#ldsBytes)
    const scratch = this.#scratch.regions.map(({ host, bytes }) => [host, bytes] as const)
    this.#cleared = this.#ldsBytes > 0 ? [[this.#lds, this.#ldsBytes], ...scratch] : scratch
  }

  position(group: number): Size {
    const [columns, rows] = this.#groups
    const number = this.#firstGroup + group
    const x = number % columns
    const line = (number - x) / columns
    const y = line % rows
    return [x, y, (line - y) / rows]
  }

  /** LDS and scratch are zero in each workgroup, though hardware promises nothing: so results do not depend on what ran before. */
  prepare(group: number): readonly Wave[] {
    const { arena, machine } = this.#device
    const { waves, image } = this.#startOf(group)
    const { bytes, words } = arena
    for (const [start, size] of this.#cleared) bytes.fill(0, start, start + size)
    // Time starts anew in each workgroup, later ones later, so that it does not tell how many threads there are.
    words[(machine + MACHINE_TIME) >>> 2] = 0
    words[(machine + MACHINE_TIME + 4) >>> 2] = this.#firstGroup + group
    words.copyWithin(this.#blocks.start >>> 2, image >>> 2, (image + this.#blocks.stride * waves.length) >>> 2)
    const [id] = this.#systemSgprs.workgroupIds
    if (id !== undefined) for (let i = 0; i < waves.length; i++) words[(waves[i]!.host + scalarOffset(id)) >>> 2] = this.#x
    return waves
  }

  rounds(group: number, most: number): number {
    const { rounds } = this.#startOf(group)
    const { words } = this.#device.arena
    words[(rounds + ROUNDS_X) >>> 2] = this.#x
    // The row's last workgroup may begin otherwise.
    const behind = this.#groups[0] - 1 - this.#x - this.#partial[0]
    words[(rounds + ROUNDS_GROUPS) >>> 2] = Math.max(0, Math.min(most, behind))
    return rounds
  }

  setAside(waves: readonly Wave[]): () => void {
    const { arena, machine, memory } = this.#device
    const blocks = waves.map(({ host, program, size }) => [host, waveBytes(program.vgprCount, size)] as const)
    const own = [...blocks, [this.#lds, this.#ldsBytes] as const, [machine + MACHINE_TIME, 8] as const]
    const copies = own.map(([start, bytes]) => [start, arena.bytes.slice(start, start + bytes)] as const)
    const scratch = this.#scratch.regions.map((region) => [region, memory.view(region).slice()] as const)
    return () => {
      for (const [start, bytes] of copies) arena.bytes.set(bytes, start)
      for (const [region, bytes] of scratch) memory.view(region).set(bytes)
    }
  }

  readonly twin = (): DispatchTwin => ({
    target: this.#device.target,
    gdsAddress: this.#device.gdsAddress,
    kernel: this.#kernel,
    launch: this.#launch,
    regions: this.#device.memory.regions.filter((region) => !this.#regions.includes(region)),
    nextAddress: this.#nextAddress,
  })

  free(): void {
    this.#blocks.free()
    for (const start of this.#starts.splice(0)) if (start !== undefined) this.#freeStart(start)
    this.#device.arena.free(this.#lds)
    this.#freeRegions()
  }

  #freeStart({ image, rounds }: Start): void {
    this.#device.arena.free(image)
    this.#device.arena.free(rounds)
  }

  #freeRegions(): void {
    for (const region of this.#regions.splice(0)) this.#device.memory.free(region)
  }

  #allocate(name: string, bytes: Uint8Array, address?: bigint): bigint {
    const region = this.#device.memory.allocate(bytes.byteLength, { name, writable: false, ...(address === undefined ? {} : { address }) })
    this.#device.memory.view(region).set(bytes)
    this.#regions.push(region)
    return region.address
  }

  #arguments(launch: Launch): { bytes: Uint8Array; dynamicLdsBytes: number } {
    const dynamicLdsBytes = launch.dynamicLdsBytes ?? 0
    if (launch.kernarg !== undefined) {
      if (launch.args !== undefined && launch.args.length > 0)
        throw new LaunchError('both arguments and a kernarg segment were given; give one of them')
      return { bytes: launch.kernarg.bytes, dynamicLdsBytes }
    }
    return kernargSegment(this.#kernel, launch.args ?? [], {
      grid: this.#grid,
      workgroup: this.#workgroup,
      apertures: this.#device.apertures,
      dynamicLdsBytes,
      queueAddress: () => this.#queue(),
    })
  }

  #queueAddress: bigint | undefined
  #queue(): bigint {
    this.#queueAddress ??= this.#allocate('queue', queue(this.#device.apertures))
    return this.#queueAddress
  }

  /** User SGPRs in the order of the bits of kernel_code_properties that ask for them. */
  #setUserSgprs(kernargBytes: Uint8Array, kernargAddress: bigint | undefined): readonly number[] {
    const { properties, rsrc2 } = this.#kernel.descriptor
    const { base, laneBytes } = this.#scratch
    const kernarg = this.#allocate('kernarg', kernargAddress === undefined ? padded(kernargBytes) : kernargBytes, kernargAddress)
    const setUp: readonly (() => readonly number[])[] = [
      () => scratchResource(base, this.#device.target.generation),
      () => pair(this.#packet(kernarg)),
      () => pair(this.#queue()),
      () => pair(kernarg),
      () => [0, 0], // dispatch id: each dispatch is the first of its queue
      () => [Number(base & 0xffffffffn), laneBytes], // flat scratch init of gfx7 and gfx8
      () => [laneBytes],
      () => [this.#groups[0]], // grid workgroup counts: version 2 objects only
      () => [this.#groups[1]],
      () => [this.#groups[2]],
    ]
    const sgprs = setUp.flatMap((words, bit) => ((properties >>> bit) & 1 ? words() : []))
    const count = userSgprCountOf(rsrc2)
    if (count > MAX_USER_SGPRS || sgprs.length > MAX_USER_SGPRS)
      throw new LaunchError(
        `kernel ${this.#kernel.name} asks for ${Math.max(count, sgprs.length)} user SGPRs; hardware has ${MAX_USER_SGPRS}; check its descriptor`,
      )
    return sgprs.slice(0, count)
  }

  #packet(kernarg: bigint): bigint {
    const bytes = dispatchPacket({
      grid: this.#grid,
      workgroup: this.#workgroup,
      privateSegmentBytes: this.#scratch.laneBytes,
      groupSegmentBytes: this.#ldsBytes,
      kernelObject: this.#kernel.object,
      kernarg,
    })
    return this.#allocate('dispatch packet', bytes)
  }

  /** How a workgroup starts, but for its x, which is in `#x` then. */
  #startOf(group: number): Start {
    if (group === this.#present && this.#start !== undefined) return this.#start
    const [x, y, z] = this.position(group)
    const [columns, rows, layers] = this.#groups
    const [partX, partY, partZ] = this.#partial
    const key = (x === columns - 1 ? partX : 0) | (y === rows - 1 ? partY : 0) | (z === layers - 1 ? partZ : 0)
    const start = this.#starts[key] ?? this.#layOut([x, y, z])
    this.#starts[key] = start
    if (start.y !== y || start.z !== z) this.#setRow(start, y, z)
    this.#present = group
    this.#start = start
    this.#x = x
    return start
  }

  #setRow(start: Start, y: number, z: number): void {
    start.y = y
    start.z = z
    const { words } = this.#device.arena
    const [, idY, idZ] = this.#systemSgprs.workgroupIds
    for (let i = 0; i < start.waves.length; i++) {
      const block = start.image + i * this.#blocks.stride
      if (idY !== undefined) words[(block + scalarOffset(idY)) >>> 2] = y
      if (idZ !== undefined) words[(block + scalarOffset(idZ)) >>> 2] = z
    }
  }

  #layOut(position: Size): Start {
    const { arena, target } = this.#device
    const extent = eachDimension((d) => Math.min(this.#workgroup[d]!, this.#grid[d]! - position[d]! * this.#workgroup[d]!))
    const waves = this.#blocks.waves.slice(0, Math.ceil(volume(extent) / target.waveSize))
    for (const wave of waves) writeWave(arena, wave, this.#waveStart(wave.index, extent, waves.length))
    const { start, stride } = this.#blocks
    const bytes = stride * waves.length
    const image = arena.allocate(bytes)
    arena.bytes.copyWithin(image, start, start + bytes)
    return { waves, image, rounds: this.#describe(image, start + bytes), y: 0, z: 0 }
  }

  /** Makes the record of what the engine needs to run such workgroups by itself (rounds.ts). */
  #describe(image: number, end: number): number {
    const { arena, machine, target } = this.#device
    const rounds = arena.allocate(roundsBytes(this.#cleared.length))
    const { words } = arena
    const set = (offset: number, word: number): void => {
      words[(rounds + offset) >>> 2] = word
    }
    const [id] = this.#systemSgprs.workgroupIds
    set(ROUNDS_FIRST, this.#blocks.start)
    set(ROUNDS_STRIDE, this.#blocks.stride)
    set(ROUNDS_END, end)
    set(ROUNDS_IMAGE, image)
    set(ROUNDS_SET, waveBytes(workItemIdsOf(this.#kernel.descriptor.rsrc2), target.waveSize))
    set(ROUNDS_ID, id === undefined ? 0 : scalarOffset(id))
    set(ROUNDS_TIME, machine + MACHINE_TIME)
    set(ROUNDS_CLEARED, this.#cleared.length)
    this.#cleared.flat().forEach((word, i) => void set(ROUNDS_PIECES + 4 * i, word))
    return rounds
  }

  #waveStart(index: number, extent: Size, waves: number): WaveStart {
    const { machine, target } = this.#device
    const { rsrc1, rsrc2 } = this.#kernel.descriptor
    const header = headerOf(machine, {
      pc: this.#kernel.entry,
      mode: modeOf(rsrc1),
      lds: this.#lds,
      ldsBytes: this.#ldsBytes,
      sgprCount: sgprCountOf(rsrc1, target.generation),
      waves,
      index,
    })
    const scratch = this.#scratch.base + BigInt(this.#scratch.stride * index)
    const [scratchLow, scratchHigh] = pair(scratch)
    header
      .set(WAVE_SCRATCH_BASE, scratchLow)
      .set(WAVE_SCRATCH_BASE + 4, scratchHigh)
      .set(WAVE_SCRATCH_LANE_BYTES, this.#scratch.laneBytes)
    const scalars = new Uint32Array(SCALAR_COUNT)
    scalars.set(this.#userSgprs)
    const { workgroupInfo, scratchOffset } = this.#systemSgprs
    // First wave of the workgroup in bit 31, waves of the workgroup in bits 5:0.
    if (workgroupInfo !== undefined) scalars[workgroupInfo] = (index === 0 ? 0x80000000 : 0) | waves
    if (scratchOffset !== undefined) scalars[scratchOffset] = this.#scratch.stride * index
    const first = index * target.waveSize
    const lanes = Math.min(target.waveSize, volume(extent) - first)
    scalars.set(pair((1n << BigInt(lanes)) - 1n), EXEC_LO)
    return { header, scalars, vectors: workItemIds(workItemIdsOf(rsrc2), first, lanes, extent) }
  }
}

/** How workgroups of one size begin. */
interface Start {
  readonly waves: readonly Wave[]
  /** Where in linear memory their blocks are as they begin, for a workgroup at `y` and `z`; its x is still to be set. */
  readonly image: number
  y: number
  z: number
  /** Address of what an engine needs to run such workgroups by itself. */
  readonly rounds: number
}

/** v0 (x), v1 (y), v2 (z): work-items are numbered x first over the workgroup's actual extent. */
function workItemIds(count: number, first: number, lanes: number, [x, y]: Size): Map<number, Uint32Array> {
  const ids = [(item: number) => item % x, (item: number) => Math.floor(item / x) % y, (item: number) => Math.floor(item / (x * y))]
  return new Map(ids.slice(0, count).map((id, register) => [register, Uint32Array.from({ length: lanes }, (_, lane) => id(first + lane))]))
}

/** The segment to a multiple of 16 bytes: compilers load whole dwords, and merge loads up to its alignment. */
function padded(kernarg: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(kernarg.byteLength / 16) * 16)
  bytes.set(kernarg)
  return bytes
}

function scratchBytesOf({ descriptor, metadata }: DeviceKernel, launch: Launch): number {
  const dynamic = (descriptor.properties & USES_DYNAMIC_STACK) !== 0 || metadata?.usesDynamicStack === true
  return descriptor.privateSegmentBytes + (dynamic ? (launch.stackBytes ?? DEFAULT_STACK_BYTES) : 0)
}

function checkSizes({ name, metadata }: DeviceKernel, grid: Size, workgroup: Size): void {
  checkSize('grid', grid, MAX_GRID)
  checkSize('workgroup', workgroup, MAX_WORKGROUP)
  const items = volume(workgroup)
  const most = Math.min(MAX_WORKGROUP, metadata?.maxFlatWorkgroupSize ?? MAX_WORKGROUP)
  if (items > most)
    throw new LaunchError(
      `a workgroup of ${workgroup.join('x')} has ${items} work-items; kernel ${name} takes at most ${most}; use a smaller workgroup`,
    )
  const required = metadata?.requiredWorkgroupSize
  if (required !== undefined && required.join() !== workgroup.join())
    throw new LaunchError(`the workgroup is ${workgroup.join('x')}; kernel ${name} was compiled for ${required.join('x')}; use that`)
}

function checkSize(what: string, size: Size, most: number): void {
  if (size.length !== 3 || size.some((items) => !Number.isInteger(items) || items < 1 || items > most))
    throw new LaunchError(`the ${what} is [${size.join(', ')}]; it must be three whole numbers from 1 to ${most}`)
}

function checkLds({ target }: Device, { name }: DeviceKernel, bytes: number): number {
  const most = MAX_LDS[target.generation]
  if (!Number.isInteger(bytes) || bytes < 0 || bytes > most)
    throw new LaunchError(
      `kernel ${name} wants ${bytes} bytes of LDS; a workgroup on ${target.name} has at most ${most}; use less dynamic LDS`,
    )
  return bytes
}

const eachDimension = (of: (dimension: 0 | 1 | 2) => number): Size => [of(0), of(1), of(2)]
const volume = ([x, y, z]: Size): number => x * y * z
const pair = (value: bigint): [number, number] => [Number(value & 0xffffffffn), Number(value >> 32n)]
