/** A bare wave on the core, laid out by hand: what the device does, in as few lines as tests of single programs need. */
import { createCore } from '../../host/core/engine.ts'
import { type Engine, type FaultCode, Stop } from '../../host/engine.ts'
import { OPERATIONS, PSEUDO_OPERATIONS } from '../../host/isa/operations.ts'
import { GENERATIONS, TARGETS, type TargetName } from '../../host/isa/targets.ts'
import * as L from '../../host/plan/layout.ts'
import { planStretch } from '../../host/plan/plan.ts'
import { assembleProgram } from '../../host/text/assemble.ts'

export interface Start {
  /** LLVM assembly text, or the program's words; s_endpgm is added. */
  readonly asm?: string
  readonly words?: readonly number[]
  readonly target?: TargetName
  readonly exec?: bigint
  readonly vcc?: bigint
  readonly scc?: number
  readonly m0?: number
  readonly mode?: number
  readonly sgpr?: Readonly<Record<number, number>>
  /** One value for all lanes, or lane by lane (missing lanes are 0). */
  readonly vgpr?: Readonly<Record<number, number | readonly number[]>>
  readonly ldsBytes?: number
  /** Regions of guest memory: address, bytes, writable. */
  readonly regions?: readonly { readonly base: bigint; readonly bytes: Uint8Array; readonly writable?: boolean }[]
}

const VGPRS = 256
const CODE_BASE = 0x7000_0000_0000n
const S_ENDPGM = 0xbf810000

/** The state after a run, read from linear memory. */
export class TestWave {
  constructor(
    readonly engine: Engine,
    readonly start: Start,
  ) {
    const target = TARGETS[start.target ?? 'gfx803']
    const words = start.asm === undefined ? start.words! : assembleProgram(start.asm, target).words
    this.words = Uint32Array.from([...words, S_ENDPGM])
    let at = engine.heapBase
    const take = (bytes: number) => {
      const address = at
      at = (at + bytes + 63) & ~63
      return address
    }
    const machine = take(L.MACHINE_BYTES)
    const regions = take(L.REGION_BYTES * 8)
    const counters = take(8 * (PSEUDO_OPERATIONS.length + OPERATIONS.length))
    const program = take(L.PROGRAM_BYTES)
    this.pcTable = take(this.words.length * 4)
    this.wave = take(L.WAVE_VECTORS + VGPRS * 256)
    this.lds = take(start.ldsBytes ?? 0)
    const hosts = (start.regions ?? []).map((r) => take(r.bytes.length))
    this.free = take(0)
    engine.grow(at + 0x40000)
    new Uint8Array(engine.memory, engine.heapBase, at + 0x40000 - engine.heapBase).fill(0)
    this.counters = counters
    const set = (address: number, ...values: number[]) => {
      for (const [i, v] of values.entries()) this.u32[(address >>> 2) + i] = v
    }
    const set64 = (address: number, x: bigint) => set(address, Number(x & 0xffffffffn), Number((x >> 32n) & 0xffffffffn))
    set(machine + L.MACHINE_REGIONS, regions)
    set(machine + L.MACHINE_REGION_COUNT, hosts.length)
    set(machine + L.MACHINE_COUNTERS, counters)
    set(machine + L.MACHINE_SHARED_APERTURE, 0x20000000)
    set(machine + L.MACHINE_PRIVATE_APERTURE, 0x20000001)
    for (const [i, r] of (start.regions ?? []).entries()) {
      const entry = regions + i * L.REGION_BYTES
      set64(entry + L.REGION_BASE, r.base)
      set(entry + L.REGION_SIZE, r.bytes.length, hosts[i]!, r.writable === false ? 0 : 1)
      new Uint8Array(engine.memory, hosts[i], r.bytes.length).set(r.bytes)
    }
    this.hosts = hosts
    set(program + L.PROGRAM_CODE_BYTES, this.words.length * 4, this.pcTable)
    set64(program + L.PROGRAM_BASE, CODE_BASE)
    set(program + L.PROGRAM_GENERATION, GENERATIONS.indexOf(target.generation), 64)
    const w = this.wave
    set(w + L.WAVE_SCC, start.scc ?? 0, start.mode ?? 0x3c0)
    set(w + L.WAVE_SIZE, 64, program, machine, this.lds, start.ldsBytes ?? 0, VGPRS, 102)
    const scalar = (n: number) => w + L.WAVE_SCALARS + 4 * n
    set64(scalar(L.EXEC_LO), start.exec ?? 0xffffffffffffffffn)
    set64(scalar(L.VCC_LO), start.vcc ?? 0n)
    set(scalar(L.M0), start.m0 ?? 0)
    for (const [n, x] of Object.entries(start.sgpr ?? {})) set(scalar(Number(n)), x)
    for (const [n, x] of Object.entries(start.vgpr ?? {})) {
      for (let lane = 0; lane < 64; lane++) {
        set(w + L.WAVE_VECTORS + Number(n) * 256 + 4 * lane, typeof x === 'number' ? x : (x[lane] ?? 0))
      }
    }
  }
  readonly words: Uint32Array
  readonly wave: number
  readonly lds: number
  readonly hosts: readonly number[]
  private readonly pcTable: number
  private readonly counters: number
  private free: number

  get u32(): Uint32Array {
    return new Uint32Array(this.engine.memory)
  }
  get pc(): number {
    return this.u32[(this.wave + L.WAVE_PC) >>> 2]!
  }

  /** Runs as the device does: plans what is asked for, goes on after yields. */
  run(budget = 100000): Stop {
    for (;;) {
      const stop = this.engine.run(this.wave, budget)
      if (stop === Stop.Plan) this.plan()
      else if (stop !== Stop.Yield) return stop
    }
  }

  plan(): void {
    const table = new Uint32Array(this.engine.memory, this.pcTable, this.words.length)
    const options = { waveSize: 64, vgprCount: VGPRS }
    const target = TARGETS[this.start.target ?? 'gfx803']
    const { records, pcs } = planStretch(this.words, this.pc, target, options, (pc) => table[pc >>> 2] !== 0)
    this.u32.set(records, this.free >>> 2)
    for (const [i, pc] of pcs.entries()) table[pc >>> 2] = this.free + i * L.RECORD_BYTES
    this.free += records.byteLength
  }

  header(offset: number): number {
    return this.u32[(this.wave + offset) >>> 2]!
  }
  header64(offset: number): bigint {
    return (BigInt(this.header(offset + 4)) << 32n) | BigInt(this.header(offset))
  }
  s(n: number): number {
    return this.header(L.WAVE_SCALARS + 4 * n)
  }
  s64(n: number): bigint {
    return (BigInt(this.s(n + 1)) << 32n) | BigInt(this.s(n))
  }
  get scc(): number {
    return this.header(L.WAVE_SCC)
  }
  get exec(): bigint {
    return this.s64(L.EXEC_LO)
  }
  get vcc(): bigint {
    return this.s64(L.VCC_LO)
  }
  v(n: number): readonly number[] {
    return [...new Uint32Array(this.engine.memory, this.wave + L.WAVE_VECTORS + n * 256, 64)]
  }
  get fault(): { code: FaultCode; lane: number; address: bigint; pc: number } {
    return {
      code: this.header(L.WAVE_FAULT) as FaultCode,
      lane: this.header(L.WAVE_FAULT_LANE) | 0,
      address: this.header64(L.WAVE_FAULT_ADDRESS),
      pc: this.pc,
    }
  }
  memory(region: number): Uint8Array {
    return new Uint8Array(this.engine.memory, this.hosts[region], this.start.regions![region]!.bytes.length).slice()
  }
  ldsBytes(): Uint8Array {
    return new Uint8Array(this.engine.memory, this.lds, this.start.ldsBytes ?? 0)
  }
  count(operation: string): number {
    const number = OPERATIONS.find((o) => o.name === operation)!.number
    return this.u32[(this.counters >>> 2) + 2 * number]!
  }
  get instructions(): number {
    return this.header(L.WAVE_INSTRUCTIONS)
  }
}

let core: Promise<Engine> | undefined
/** A wave in its start state on a core that all tests of a file share. */
export async function waveOf(start: Start): Promise<TestWave> {
  core ??= createCore()
  return new TestWave(await core, start)
}
