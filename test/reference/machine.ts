/** A machine with one wave for tests: lays out memory as the device would, plans code as it is reached, runs the engine. */
import { encode } from '../../host/codec/encode.ts'
import { type Engine, Stop } from '../../host/engine.ts'
import { FORMATS, type FormatName } from '../../host/isa/formats.ts'
import { OPERATION_BY_NAME } from '../../host/isa/operations.ts'
import { GENERATIONS, TARGETS, type TargetName } from '../../host/isa/targets.ts'
import * as layout from '../../host/plan/layout.ts'
import { planStretch } from '../../host/plan/plan.ts'
import { createReference } from '../../host/reference/index.ts'

const WAVE_SIZE = 64
const ALL_LANES = (1n << 64n) - 1n
export const CODE_BASE = 0x7000_0000_0000n
export const SHARED_APERTURE = 0x1000
export const PRIVATE_APERTURE = 0x2000

export interface Region {
  readonly address: bigint
  readonly bytes: Uint8Array
  readonly writable?: boolean
}

export interface Setup {
  readonly target?: TargetName
  readonly words: readonly number[]
  readonly sgpr?: Readonly<Record<number, number>>
  /** By register: one value for all lanes, a list, or a function of the lane. */
  readonly vgpr?: Readonly<Record<number, number | readonly number[] | ((lane: number) => number)>>
  readonly exec?: bigint
  readonly vcc?: bigint
  readonly m0?: number
  readonly scc?: 0 | 1
  readonly mode?: number
  readonly vgprCount?: number
  readonly regions?: readonly Region[]
  readonly lds?: Uint8Array
  readonly gdsBytes?: number
  /** Region index that holds the wave's scratch, and bytes a lane. */
  readonly scratch?: { readonly address: bigint; readonly laneBytes: number }
}

export class Machine {
  readonly engine: Engine = createReference()
  readonly wave: number
  private readonly program: number
  private readonly machine: number
  private readonly lds: number
  private readonly regionHosts: number[] = []
  private next: number
  private nextRecord: number

  constructor(private readonly setup: Setup) {
    const { engine } = this
    this.next = engine.heapBase
    this.machine = this.allocate(layout.MACHINE_BYTES)
    this.program = this.allocate(layout.PROGRAM_BYTES)
    this.wave = this.allocate(layout.WAVE_VECTORS + this.vgprCount * WAVE_SIZE * 4)
    this.lds = this.allocate(setup.lds?.length ?? 0)
    this.layMachine()
    this.layProgram()
    this.layWave()
    this.nextRecord = this.allocate((this.setup.words.length + 2) * layout.RECORD_BYTES * 8)
  }

  private get vgprCount(): number {
    return this.setup.vgprCount ?? 256
  }

  private get view(): DataView {
    return new DataView(this.engine.memory as ArrayBuffer)
  }

  private allocate(bytes: number): number {
    const at = this.next
    this.next = (at + bytes + 63) & ~63
    this.engine.grow(this.next)
    return at
  }

  private put(address: number, value: number): void {
    this.view.setUint32(address, value, true)
  }

  private bytes(address: number, length: number): Uint8Array {
    return new Uint8Array(this.engine.memory as ArrayBuffer, address, length)
  }

  private layMachine(): void {
    const regions = this.setup.regions ?? []
    const table = this.allocate(regions.length * layout.REGION_BYTES)
    this.put(this.machine + layout.MACHINE_REGIONS, table)
    this.put(this.machine + layout.MACHINE_REGION_COUNT, regions.length)
    this.put(this.machine + layout.MACHINE_COUNTERS, this.allocate(2048 * 8))
    this.put(this.machine + layout.MACHINE_GDS, this.allocate(this.setup.gdsBytes ?? 0))
    this.put(this.machine + layout.MACHINE_GDS_BYTES, this.setup.gdsBytes ?? 0)
    this.put(this.machine + layout.MACHINE_SHARED_APERTURE, SHARED_APERTURE)
    this.put(this.machine + layout.MACHINE_PRIVATE_APERTURE, PRIVATE_APERTURE)
    for (const [i, { address, bytes, writable = true }] of regions.entries()) {
      const at = table + i * layout.REGION_BYTES
      const host = this.allocate(bytes.length)
      this.regionHosts.push(host)
      this.view.setBigUint64(at + layout.REGION_BASE, address, true)
      this.put(at + layout.REGION_SIZE, bytes.length)
      this.put(at + layout.REGION_HOST, host)
      this.put(at + layout.REGION_FLAGS, writable ? 1 : 0)
      this.bytes(host, bytes.length).set(bytes)
    }
  }

  private layProgram(): void {
    this.put(this.program + layout.PROGRAM_CODE_BYTES, this.setup.words.length * 4)
    this.put(this.program + layout.PROGRAM_PC_TABLE, this.allocate(this.setup.words.length * 4 + 4))
    this.view.setBigUint64(this.program + layout.PROGRAM_BASE, CODE_BASE, true)
    this.put(this.program + layout.PROGRAM_GENERATION, GENERATIONS.indexOf(this.target.generation))
    this.put(this.program + layout.PROGRAM_WAVE_SIZE, WAVE_SIZE)
  }

  private get target() {
    return TARGETS[this.setup.target ?? 'gfx803']
  }

  private layWave(): void {
    const { sgpr = {}, vgpr = {}, exec = ALL_LANES, vcc = 0n, m0 = 0, scc = 0, mode = 0x3c0, lds, scratch } = this.setup
    const header = (offset: number, value: number) => this.put(this.wave + offset, value)
    header(layout.WAVE_SCC, scc)
    header(layout.WAVE_MODE, mode)
    header(layout.WAVE_SIZE, WAVE_SIZE)
    header(layout.WAVE_PROGRAM, this.program)
    header(layout.WAVE_MACHINE, this.machine)
    header(layout.WAVE_LDS, this.lds)
    header(layout.WAVE_LDS_BYTES, lds?.length ?? 0)
    header(layout.WAVE_VGPR_COUNT, this.vgprCount)
    header(layout.WAVE_SGPR_COUNT, 102)
    this.view.setBigUint64(this.wave + layout.WAVE_SCRATCH_BASE, scratch?.address ?? 0n, true)
    header(layout.WAVE_SCRATCH_LANE_BYTES, scratch?.laneBytes ?? 0)
    if (lds) this.bytes(this.lds, lds.length).set(lds)
    for (const [register, value] of Object.entries(sgpr)) header(layout.WAVE_SCALARS + Number(register) * 4, value)
    header(layout.WAVE_SCALARS + layout.M0 * 4, m0)
    this.view.setBigUint64(this.wave + layout.WAVE_SCALARS + layout.VCC_LO * 4, vcc, true)
    this.view.setBigUint64(this.wave + layout.WAVE_SCALARS + layout.EXEC_LO * 4, exec, true)
    for (const [register, value] of Object.entries(vgpr)) {
      for (let lane = 0; lane < WAVE_SIZE; lane++) {
        const word = typeof value === 'function' ? value(lane) : typeof value === 'number' ? value : (value[lane] ?? 0)
        header(layout.WAVE_VECTORS + (Number(register) * WAVE_SIZE + lane) * 4, word)
      }
    }
  }

  /** Runs until the engine stops for something else than a missing plan. */
  run(budget = 100_000): Stop {
    for (;;) {
      const stop = this.engine.run(this.wave, budget)
      if (stop !== Stop.Plan) return stop
      this.plan()
    }
  }

  private plan(): void {
    const table = this.view.getUint32(this.program + layout.PROGRAM_PC_TABLE, true)
    const options = { waveSize: WAVE_SIZE, vgprCount: this.vgprCount }
    const { records, pcs } = planStretch(
      Uint32Array.from(this.setup.words),
      this.header(layout.WAVE_PC),
      this.target,
      options,
      (pc) => this.view.getUint32(table + pc, true) !== 0,
    )
    new Uint32Array(this.engine.memory as ArrayBuffer, this.nextRecord, records.length).set(records)
    for (const [i, pc] of pcs.entries()) this.put(table + pc, this.nextRecord + i * layout.RECORD_BYTES)
    this.nextRecord += records.length * 4
  }

  header(offset: number): number {
    return this.view.getUint32(this.wave + offset, true)
  }

  header64(offset: number): bigint {
    return this.view.getBigUint64(this.wave + offset, true)
  }

  sgpr(register: number): number {
    return this.header(layout.WAVE_SCALARS + register * 4)
  }

  sgpr64(register: number): bigint {
    return this.header64(layout.WAVE_SCALARS + register * 4)
  }

  vgpr(register: number, lane: number): number {
    return this.header(layout.WAVE_VECTORS + (register * WAVE_SIZE + lane) * 4)
  }

  /** All lanes of a register. */
  row(register: number): number[] {
    return Array.from({ length: WAVE_SIZE }, (_, lane) => this.vgpr(register, lane))
  }

  get exec(): bigint {
    return this.sgpr64(layout.EXEC_LO)
  }

  get vcc(): bigint {
    return this.sgpr64(layout.VCC_LO)
  }

  get scc(): number {
    return this.header(layout.WAVE_SCC)
  }

  get m0(): number {
    return this.sgpr(layout.M0)
  }

  get mode(): number {
    return this.header(layout.WAVE_MODE)
  }

  get pc(): number {
    return this.header(layout.WAVE_PC)
  }

  /** Bytes of a region as words. */
  memory(region = 0): Uint32Array {
    return new Uint32Array(this.bytes(this.regionHosts[region]!, this.setup.regions![region]!.bytes.length).slice().buffer)
  }

  ldsWords(): Uint32Array {
    return new Uint32Array(this.bytes(this.lds, this.setup.lds!.length).slice().buffer)
  }

  counter(operation: number): bigint {
    return this.view.getBigUint64(this.view.getUint32(this.machine + layout.MACHINE_COUNTERS, true) + operation * 8, true)
  }
}

/** Runs the words to their end and returns the machine. */
export function run(setup: Setup): Machine {
  const machine = new Machine(setup)
  const stop = machine.run()
  if (stop !== Stop.End) throw new Error(`stopped with ${stop}, fault ${machine.header(layout.WAVE_FAULT)}`)
  return machine
}

/** Words as bytes, little-endian. */
export const bytesOf = (words: readonly number[]): Uint8Array => new Uint8Array(Uint32Array.from(words).buffer)

/** The words of one instruction from its format's fields. */
export function op(
  name: string,
  format: FormatName,
  fields: Readonly<Record<string, number>> = {},
  { target = 'gfx803', literal }: { target?: TargetName; literal?: number } = {},
): number[] {
  const { generation } = TARGETS[target]
  const operation = OPERATION_BY_NAME.get(name)
  if (operation === undefined) throw new Error(`no operation ${name}`)
  const layout = FORMATS.find((f) => f.name === format && f.generations.includes(generation))!
  return encode({ target: TARGETS[target], operation, format: layout, fields, literal, dwords: layout.dwords })
}

export const ENDPGM = 0xbf810000
/** Operand encodings. */
export const VCC = 106
export const EXEC = 126
export const v = (register: number): number => 256 + register
/** Inline integers 0 to 64. */
export const int = (value: number): number => 128 + value
