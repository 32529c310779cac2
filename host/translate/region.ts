/**
 * A program's planned code as one WebAssembly function: blocks behind a br_table, scalars where the core keeps them, runs of
 * lane-local instructions as loops of their own (lanes.ts), everything else a call of the core.
 *
 * Between blocks, and before and after every call of the core, the wave block holds exact architectural state. Inside a block a
 * scalar instruction may run before the lanes that stand before it, or lanes before a scalar instruction, where neither sees the other.
 */

import { bitsOf } from '../isa/row.ts'
import { EXEC_LO, MACHINE_COUNTERS, VCC_LO, WAVE_MACHINE, WAVE_PC, WAVE_SCC } from '../plan/layout.ts'
import { scalarOffset } from '../plan/plan.ts'
import {
  FLAG_APPROXIMATE,
  FLAG_DPP,
  FLAG_SDWA,
  KIND_CONSTANT,
  KIND_HIGH,
  KIND_INV_2PI,
  KIND_NONE,
  KIND_SCALAR,
  KIND_SIGNED,
  KIND_SPECIAL,
  KIND_VECTOR,
} from '../plan/record.ts'
import type { Block, Step } from './graph.ts'
import type { Kernels } from './kernels.ts'
import { type Captured, type FunctionLocals, hasMask, LaneLoop, type LaneModes, type LaneStep, maskOffset } from './lanes.ts'
import { isPlainScalar, overlaps, pair, scalarReads, scalarUses } from './scalars.ts'
import { Code, type FunctionType, I32, I64, ModuleBuilder, OP, SIMD, V128 } from './wasm.ts'

/** Instructions that do nothing to the wave's state. */
const IDLE =
  /^(s_waitcnt|s_nop|v_nop|s_icache_inv|s_inst_prefetch|s_dcache_inv|s_dcache_wb|s_incperflevel|s_decperflevel|s_ttracedata|v_clrexcp)/

const RUN: FunctionType = { parameters: [I32, I32, I32], results: [I32] }
const STEP: FunctionType = { parameters: [I32, I32], results: [] }
const WAVE = 0
const LEFT = 1
const BLOCK = 2

/** What the new module's function is given and gives back. */
export interface Region {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Number of the block that starts at a pc. */
  readonly entries: ReadonlyMap<number, number>
  /** The core's exports that it imports. */
  readonly imports: readonly string[]
}

class RegionLocals implements FunctionLocals {
  readonly types: number[] = []
  readonly #free = new Map<number, number[]>()
  readonly #used: { type: number; local: number }[] = []
  readonly imports: string[] = []

  constructor(
    private readonly module: ModuleBuilder,
    private readonly kernels: Kernels,
  ) {
    this.stale = this.local(I32)
  }

  staleExec(code: Code): void {
    code.i32(1).set(this.stale)
  }

  /** Local that is 1 while the row of EXEC's lane masks is older than EXEC. */
  readonly stale: number

  local(type: number): number {
    return RUN.parameters.length + this.types.push(type) - 1
  }
  temporary(type: number): number {
    const local = this.#free.get(type)?.pop() ?? this.local(type)
    this.#used.push({ type, local })
    return local
  }
  reset(): void {
    for (const { type, local } of this.#used.splice(0)) {
      const free = this.#free.get(type)
      if (free) free.push(local)
      else this.#free.set(type, [local])
    }
  }
  functionImport(name: string): number {
    return this.module.imported(name, this.kernels.type(name), () => this.imports.push(name))
  }
  globalImport(name: string): number {
    return this.module.importedGlobal(name, I32, () => this.imports.push(name))
  }
}

/** Whether a vector instruction can be part of a run of lanes. */
function isLaneStep(step: Step, modes: LaneModes, kernels: Kernels): boolean {
  const { operation, flags, mods } = step
  if (!/^vop[123c]$/.test(operation.table) || /^v_(cmps?x_|mbcnt)/.test(operation.name)) return false
  if (flags & (FLAG_SDWA | FLAG_DPP) || mods.omod || mods.clamp || mods.kinds.includes(KIND_SPECIAL)) return false
  const { results, sources } = operation.shape
  const types = [...results, ...sources]
  if (types.some((t) => t === 's32' || t === 'param' || bitsOf(t) > 64)) return false
  const isVector = (name: string) => kernels.has(name) && kernels.type(name).parameters.every((p) => p === V128)
  if (!isVector(operation.name) || (hasMask(step) && results.length > 1 && !isVector(`${operation.name}_mask`))) return false
  if (operation.shape.sources.length > 4) return false
  const result = results.find((r) => r !== 'mask')
  const traits = operation.traits
  if (result === 'f16' && (traits.has('nan') || modes.flush64)) return false
  if (modes.flush64 && types.some((t) => t === 'f64' || t === 'f16')) return false
  if (traits.has('round') && (result === 'f32' ? modes.round32 : modes.round64) !== 0) return false
  return true
}

/** Writes one block. */
class BlockWriter {
  #run: LaneStep[] = []
  readonly #after: Step[] = []
  /** Scalars that the open run or an instruction behind it writes; the latter also reads. */
  readonly #written = new Set<number>()
  readonly #readAfter = new Set<number>()

  constructor(
    private readonly code: Code,
    private readonly modes: LaneModes,
    private readonly kernels: Kernels,
    private readonly locals: RegionLocals,
    private readonly stop: number,
    private readonly stepImport: number,
  ) {}

  write({ steps }: Block): void {
    steps.forEach((step, index) => {
      const { name } = step.operation
      if (IDLE.test(name) || name === 's_branch' || name.startsWith('s_cbranch_')) return
      if (step.flags & FLAG_APPROXIMATE && isLaneStep(step, this.modes, this.kernels)) this.#count(step)
      if (isLaneStep(step, this.modes, this.kernels)) this.#lanes(step)
      else if (isPlainScalar(step) && this.kernels.has(name)) this.#scalar(step)
      else {
        this.close()
        this.#call(step, steps.length - index)
      }
    })
    this.close()
  }

  /** Ends the open run: its loop, then the scalar instructions that wait for it. */
  close(): void {
    if (this.#run.length > 0) {
      new LaneLoop(this.code, this.#run, this.modes, this.kernels, this.locals, WAVE).write(() => new Code())
      this.#run = []
    }
    for (const step of this.#after.splice(0)) this.#apply(step)
    this.#written.clear()
    this.#readAfter.clear()
  }

  #lanes(step: Step): void {
    const reads = scalarReads(step)
    for (const at of pair(EXEC_LO)) reads.add(at)
    const ownMasks = this.#ownMasks(step)
    for (const at of ownMasks) reads.delete(at)
    const mask = hasMask(step) ? new Set([maskOffset(step), maskOffset(step) + 4]) : new Set<number>()
    const maskClashes = overlaps(mask, this.#readAfter) || this.#after.some((a) => overlaps(mask, scalarUses(a).writes))
    if (overlaps(reads, this.#written) || maskClashes || this.#partlyOwn(step)) this.close()
    const captured = step.operation.shape.sources.map((_, slot) => this.#capture(step, slot))
    this.#run.push({ step, captured })
    for (const at of mask) this.#written.add(at)
  }

  /** Scalars of mask sources that the open run itself has made as lanes. */
  #ownMasks(step: Step): number[] {
    return step.operation.shape.sources.flatMap((type, slot) => {
      if (type !== 'mask' && type !== 'vcc') return []
      const at = type === 'vcc' ? scalarOffset(VCC_LO) : step.sources[slot]!
      return this.#makes(at) ? [at, at + 4] : []
    })
  }

  #makes(at: number): boolean {
    return this.#run.some(({ step }) => hasMask(step) && maskOffset(step) === at)
  }

  /** A mask pair that another one of the run's results overlaps by one register. */
  #partlyOwn(step: Step): boolean {
    if (!hasMask(step)) return false
    const at = maskOffset(step)
    return this.#run.some(({ step: other }) => hasMask(other) && Math.abs(maskOffset(other) - at) === 4)
  }

  /** Spreads a source that is no VGPR, now: a later instruction may change the scalar. */
  #capture(step: Step, slot: number): Captured {
    const type = step.operation.shape.sources[slot]!
    const value = step.sources[slot]!
    if (type === 'mask' || type === 'vcc') {
      const at = type === 'vcc' ? scalarOffset(VCC_LO) : value
      if (this.#makes(at)) return { kind: 'own' }
      const bits = this.locals.local(I64)
      if (type === 'mask' && step.mods.kinds[slot] !== KIND_SCALAR) this.code.i64(wideConstant(step.mods.kinds[slot]!, value))
      else this.code.get(WAVE).memory(OP.i64Load, at)
      this.code.set(bits)
      return { kind: 'mask', bits }
    }
    const kind = step.mods.kinds[slot]!
    if (kind === KIND_VECTOR) return { kind: 'row' }
    const wide = bitsOf(type) === 64
    const low = this.locals.local(V128)
    const high = wide ? this.locals.local(V128) : low
    if (kind === KIND_SCALAR) {
      this.code.get(WAVE).memory(OP.i32Load, value).simd(SIMD.i32x4Splat).set(low)
      if (wide)
        this.code
          .get(WAVE)
          .memory(OP.i32Load, value + 4)
          .simd(SIMD.i32x4Splat)
          .set(high)
      return { kind: 'spread', low, high, constant: undefined }
    }
    const constant = wideConstant(kind, value)
    this.code.v128(Number(BigInt.asIntN(32, constant))).set(low)
    if (wide) this.code.v128(Number(BigInt.asIntN(32, constant >> 32n))).set(high)
    return { kind: 'spread', low, high, constant: value }
  }

  /** A scalar instruction runs now if nothing that waits minds, else behind the run. */
  #scalar(step: Step): void {
    const { reads, writes } = scalarUses(step)
    const waits =
      overlaps(reads, this.#written) ||
      overlaps(writes, this.#written) ||
      overlaps(writes, this.#readAfter) ||
      (this.#run.length > 0 && overlaps(writes, new Set(pair(EXEC_LO))))
    if (!waits) return this.#apply(step)
    this.#after.push(step)
    for (const at of writes) this.#written.add(at)
    for (const at of reads) this.#readAfter.add(at)
  }

  /** The core's own step function with the record's fields as constants. */
  #apply(step: Step): void {
    this.kernels.apply(this.code, step.operation.name, [{ constant: step.address }, { local: WAVE }], this.locals, {
      address: step.address,
      bytes: step.record,
    })
    this.locals.reset()
  }

  /** Any other instruction: the core runs it, and may stop the wave. `rest` counts it and what follows in the block. */
  #call(step: Step, rest: number): void {
    const { code } = this
    code.get(this.locals.stale).block(OP.if).get(WAVE).op(OP.call).u32(this.locals.functionImport('refreshExec'))
    code.i32(0).set(this.locals.stale).end()
    code.i32(step.address).get(WAVE).op(OP.call).u32(this.stepImport)
    code.op(OP.globalGet).u32(this.stop).block(OP.if)
    code.get(WAVE).i32(step.pc).memory(OP.i32Store, WAVE_PC)
    code.get(LEFT).i32(rest).op(OP.i32Add).i32(-1).op(I32_XOR, OP.return).end()
  }

  #count(step: Step): void {
    const at = this.locals.temporary(I32)
    const { code } = this
    code
      .get(WAVE)
      .memory(OP.i32Load, WAVE_MACHINE)
      .memory(OP.i32Load, MACHINE_COUNTERS)
      .i32(step.operation.number * 8)
      .op(OP.i32Add)
      .tee(at)
    code.get(at).memory(OP.i64Load, 0).i64(1n).op(OP.i64Add).memory(OP.i64Store, 0)
    this.locals.reset()
  }
}

const I32_XOR = 0x73

/** The 64 bits of a constant source. */
function wideConstant(kind: number, value: number): bigint {
  if (kind === KIND_SIGNED) return BigInt(value | 0)
  if (kind === KIND_HIGH) return BigInt(value) << 32n
  if (kind === KIND_INV_2PI) return 0x3fc45f306dc9c882n
  if (kind === KIND_CONSTANT || kind === KIND_NONE) return BigInt(value)
  throw new RangeError(`operand kind ${kind} is no constant`)
}

/**
 * Translates blocks.
 *
 * The function is `run(wave, left, block)`: it runs at most `left` instructions from the start of a block on, always whole blocks. It
 * returns what is left, with WAVE_PC where the interpreter shall go on; if the core stopped at WAVE_PC, the complement of that.
 */
export function translate(
  blocks: ReadonlyMap<number, Block>,
  modes: LaneModes,
  kernels: Kernels,
  shared: { maximum: number } | undefined,
): Region {
  const module = new ModuleBuilder()
  module.importMemory(shared)
  const locals = new RegionLocals(module, kernels)
  const stop = locals.globalImport('stop')
  const stepImport = module.imported('runStep', STEP, () => locals.imports.push('runStep'))
  const list = [...blocks.values()].sort((a, b) => a.pc - b.pc)
  const entries = new Map(list.map((block, i) => [block.pc, i]))

  // loop { block… { br_table } code of block 0 … } : label of block i inside is its distance.
  const code = new Code()
  const count = list.length
  code.block(OP.loop)
  for (let i = 0; i < count; i++) code.block(OP.block)
  code.block(OP.block).get(BLOCK).op(OP.brTable).u32(count)
  for (let i = 0; i < count; i++) code.u32(i)
  code.u32(0).end()
  list.forEach((block, i) => {
    if (i > 0) code.end()
    // Labels open here: one a later block, then the loop.
    const again = count - i
    code.get(LEFT).i32(block.steps.length).op(OP.i32LtU).block(OP.if)
    code.get(WAVE).i32(block.pc).memory(OP.i32Store, WAVE_PC).get(LEFT).op(OP.return).end()
    code.get(LEFT).i32(block.steps.length).op(OP.i32Sub).set(LEFT)
    new BlockWriter(code, modes, kernels, locals, stop, stepImport).write(block)
    const goTo = (pc: number, depth: number) => {
      const target = entries.get(pc)
      if (target === undefined) code.get(WAVE).i32(pc).memory(OP.i32Store, WAVE_PC).get(LEFT).op(OP.return)
      else
        code
          .i32(target)
          .set(BLOCK)
          .op(OP.br)
          .u32(again + depth)
    }
    const { end } = block
    if (end.kind === 'leave') code.get(WAVE).i32(end.pc).memory(OP.i32Store, WAVE_PC).get(LEFT).op(OP.return)
    else if (end.kind === 'goto') goTo(end.pc, 0)
    else {
      condition(code, end.condition)
      code.block(OP.if)
      goTo(end.taken, 1)
      code.end()
      goTo(end.pc, 0)
    }
  })
  code.end().end().op(OP_UNREACHABLE)
  module.add(RUN, locals.types, code, 'run')
  return { bytes: module.bytes(), entries, imports: locals.imports }
}

const OP_UNREACHABLE = 0x00

/** Pushes whether a branch is taken. */
function condition(code: Code, name: string): void {
  code.get(WAVE)
  if (name === 'scc0') code.memory(OP.i32Load, WAVE_SCC).op(OP.i32Eqz)
  else if (name === 'scc1') code.memory(OP.i32Load, WAVE_SCC)
  else {
    code.memory(OP.i64Load, scalarOffset(name.startsWith('vcc') ? VCC_LO : EXEC_LO)).op(OP.i64Eqz)
    if (name.endsWith('nz')) code.op(OP.i32Eqz)
  }
}
