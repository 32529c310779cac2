import type { Kernels, VectorConstant } from '../wasm/kernels.ts'
import { F32, F64, type FunctionType, I32, I64, ModuleBuilder, V128 } from '../wasm/wasm.ts'
import type { FunctionLocals } from './lane-values.ts'
import { SITE } from './sites.ts'

const BEGIN: FunctionType = { parameters: [I32], results: [] }
/** What a block's function takes, the wave, and gives: the number of the block that follows, or one of those below zero. */
export const BLOCK: FunctionType = { parameters: [I32], results: [I32] }
/** Local of the wave's address. */
export const WAVE = 0

/** The interpreter goes on at WAVE_PC. */
export const LEAVE = -1
/** The core, or the block itself, has stopped the wave. */
export const STOPPED = -2
/** At WAVE_PC goes on what a register named. */
export const JUMPED = -3

/** The module under construction and its globals. Imports are made known before functions are added. */
export class RegionModule {
  readonly builder = new ModuleBuilder()
  /** Makes a wave the one that runs. */
  readonly begin = this.builder.imported('begin', BEGIN)
  readonly stop = this.builder.importedGlobal('stop', I32)
  /** The record that the core would run next. */
  readonly next = this.builder.importedGlobal('next', I32)
  /** Instructions left. */
  readonly left = this.builder.importedGlobal('left', I32)
  /** 1 while rows may not be grained that are taken to be: at entry, and when a chunk was computed again. */
  readonly unsure = this.builder.importedGlobal('unsure', I32)
  /** Number of the table of regions in which accesses remember where they were last, and what they remember. */
  readonly table = this.builder.importedGlobal('table', I32)
  readonly sites = new Set<number>()
  /** Where a loop of several blocks is entered (nest-graph.ts). */
  readonly entry = this.builder.importedGlobal('entry', I32)
}

export class BlockLocals implements FunctionLocals {
  readonly types: number[] = []
  /** Locals that are free, by type. */
  readonly #free: number[][] = [V128, F64, F32, I64, I32].map(() => [])
  readonly #temporaries: number[] = []
  readonly #owned: number[] = []
  readonly #kept: number[] = []

  constructor(
    private readonly module: RegionModule,
    private readonly kernels: Kernels,
  ) {}

  local(type: number): number {
    const local = this.#take(type)
    this.#owned.push(local)
    return local
  }
  temporary(type: number): number {
    const local = this.#take(type)
    this.#temporaries.push(local)
    return local
  }
  fresh(type: number): number {
    const local = this.#add(type)
    this.#kept.push(local)
    return local
  }
  #take(type: number): number {
    return this.#free[type - V128]!.pop() ?? this.#add(type)
  }
  #add(type: number): number {
    return BLOCK.parameters.length + this.types.push(type) - 1
  }
  /** Constants that are kept in locals. */
  pool: Map<VectorConstant, number> | undefined
  pooled(constant: VectorConstant): number | undefined {
    // Zeros and ones cost one instruction anyway.
    if (this.pool === undefined || constant === 0 || constant === -1) return undefined
    const known = this.pool.get(constant)
    if (known !== undefined) return known
    const local = this.fresh(V128)
    this.pool.set(constant, local)
    return local
  }
  reset(): void {
    this.#release(this.#temporaries)
  }
  /** Frees all locals but those that keep their values: a block of a loop is done. */
  endBlock(): void {
    this.reset()
    this.#release(this.#owned)
  }
  keep(): void {
    this.#kept.push(...this.#owned.splice(0))
  }
  /** Frees all locals: nothing lives on. */
  clear(): void {
    this.endBlock()
    this.#release(this.#kept)
  }
  #release(list: number[]): void {
    for (const local of list) this.#free[this.types[local - BLOCK.parameters.length]! - V128]!.push(local)
    list.length = 0
  }
  functionImport(name: string): number {
    return this.module.builder.imported(name, this.kernels.type(name))
  }
  globalImport(name: string): number {
    const index = this.module.builder.importedGlobal(name, I32)
    if (name.startsWith(SITE)) this.module.sites.add(index)
    return index
  }
}
