/**
 * A program's planned code as a WebAssembly module: a function a block, scalars where the core keeps them, runs of lane-local
 * instructions as loops of their own (lanes.ts), everything else a call of the core.
 *
 * Between blocks, and before and after every call of the core, the wave block holds exact architectural state. Inside a block a
 * scalar instruction may run before the lanes that stand before it, or lanes before a scalar instruction, where neither sees the other.
 */
import { Stop } from '../engine.ts'
import { bitsOf, type OperandType } from '../isa/row.ts'
import {
  EXEC_LO,
  MACHINE_REGIONS_NUMBER,
  RECORD_PC,
  scalarOffset,
  VCC_LO,
  WAVE_INSTRUCTIONS,
  WAVE_MACHINE,
  WAVE_MASKED,
  WAVE_MODE,
  WAVE_PC,
  WAVE_SCC,
  WAVE_STOP,
} from '../plan/layout.ts'
import { FLAG_APPROXIMATE, KIND_SCALAR, KIND_SPECIAL } from '../plan/record.ts'
import { type UnfinishedRun, writeAgain } from './again.ts'
import { crossLaneUses, laneSource, writeCrossLane } from './crosslane.ts'
import { findGrained, GrainState } from './flow.ts'
import { GlobalAccesses, globalAccess, globalReads } from './global.ts'
import { SMALL } from './grain.ts'
import { BLOCK_LIMIT, type Block, modeBehind, type Step, successors } from './graph.ts'
import type { Kernels, VectorConstant } from './kernels.ts'
import {
  type Captured,
  capture,
  type FunctionLocals,
  hasMask,
  isWide,
  type LaneStep,
  maskOffset,
  pushLanes,
  rowsRead,
  type Sources,
  spreadValue,
  VCC_OFFSET,
  watchSmall,
} from './lane-values.ts'
import { LaneLoop, type LaneMemory } from './lanes.ts'
import { coverReads, LdsReads, pushOutside } from './lds.ts'
import { isLdsRead, isLdsWrite, ldsShape } from './lds-plan.ts'
import { LdsWrites, ldsWriteReads } from './lds-writes.ts'
import { visitLoops } from './loops.ts'
import { type LaneModes, MODE_DENORM_32, modeChange } from './modes.ts'
import { NestWriter } from './nest.ts'
import { type GraphNest, planGraphNest } from './nest-flow.ts'
import { writeGraphNest } from './nest-graph.ts'
import { type Evaluate, planNest, rowsWritten } from './nest-plan.ts'
import { SHADOW_ROWS } from './nest-rows.ts'
import { modeAt, pcOf } from './place.ts'
import { bestRole, crossLaneWay, laneFacts, type Role } from './roles.ts'
import { addRounds } from './rounds.ts'
import { countApproximate, EXEC, isPlainScalar, M0, overlaps, pair, pushRecord, scalarUses, waveScalars, writeScalar } from './scalars.ts'
import { finishOf, isDpp, isSdwa, isStaged, staysInRow } from './stages.ts'
import { SITE } from './translation.ts'
import { Code, F32, F64, type FunctionType, I32, I64, ModuleBuilder, OP, SIMD, V128 } from './wasm.ts'

const RUN: FunctionType = { parameters: [I32, I32, I32], results: [I32] }
const BLOCK: FunctionType = { parameters: [I32], results: [I32] }
const STEP: FunctionType = { parameters: [I32, I32], results: [] }
const BEGIN: FunctionType = { parameters: [I32], results: [] }
const WAVE = 0
const EXEC_PAIR = pair(EXEC_LO)

/** What a block's function returns besides the next block's number. */
const LEAVE = -1
const STOPPED = -2
/** At WAVE_PC goes on what a register named. */
const JUMPED = -3

/** The new module. */
export interface Region {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Number of the block that starts at a place. */
  readonly entries: ReadonlyMap<number, number>
  /** Loops that run group by group. */
  readonly nests: number
  /** Instructions that must be left for any of it to begin. */
  readonly longest: number
}

class BlockLocals implements FunctionLocals {
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

/** The module under construction and its globals. Imports are made known before functions are added. */
class RegionModule {
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

/** Whether a vector instruction can be part of a run of lanes. */
function isLaneStep(step: Step, kernels: Kernels): boolean {
  const { operation, mods, modes } = step
  const { functions, flushes64, round } = laneFacts(operation)
  if (mods.kinds.includes(KIND_SPECIAL) || (isStaged(step) && !isLaneStaged(step, kernels))) return false
  // What writes EXEC is for the core: the row of lane masks has to follow.
  if (hasMask(step) && maskOffset(step) >= scalarOffset(EXEC_LO) - 4) return false
  if ((modes.flush64 && flushes64) || (round !== undefined && modes[round] !== 0)) return false
  return functions.every((name) => kernels.takesVectors(name))
}

/** Whether runs have what stands around the operation: not around 64-bit ones, and no integer saturation. */
function isLaneStaged(step: Step, kernels: Kernels): boolean {
  const finish = finishOf(step)
  if (isWide(step)) return !isSdwa(step) && !isDpp(step) && !step.mods.clamp && finish === 0
  if (isDpp(step) && !staysInRow(step)) return false
  if (step.mods.clamp && kernels.has(`${step.operation.name}_clamped`)) return false
  return (finish & 3) === 0 || step.modes.round32 === 0
}

/** Roles of steps, found once. */
export function rolesOf(kernels: Kernels): (step: Step) => Role {
  // By MODE and dword of the code: they are asked for a hundred times.
  const roles = new Map<LaneModes, Role[]>()
  return (step) => {
    let known = roles.get(step.modes)
    if (known === undefined) {
      known = []
      roles.set(step.modes, known)
    }
    known[step.pc >>> 2] ??= roleOf(step, kernels)
    return known[step.pc >>> 2]!
  }
}

function roleOf(step: Step, kernels: Kernels): Role {
  const best = bestRole(step.operation)
  const isAsGood = best === 'lanes' ? isLaneStep(step, kernels) : best !== 'scalar' || isPlainScalar(step)
  return isAsGood ? best : 'call'
}

/** Whether an instruction changes what is flushed of f32, and nothing else. */
const flushesOtherwise = (step: Step): boolean => {
  const change = modeChange(step)
  return change !== undefined && (change.mask & ~MODE_DENORM_32) === 0
}

/** What runs behind the open run: it reads and writes scalars, and rows, by their offset in the wave block. */
interface Waiting {
  readonly reads: ReadonlySet<number>
  readonly writes: ReadonlySet<number>
  apply(): void
}

/** Steps of lanes before a write of LDS for which it costs as much as it saves to make it a part of their run. */
const FEW_STEPS = 8

const NOTHING: ReadonlySet<number> = new Set()

/** Writes the steps of one block. */
class BlockWriter {
  #run: LaneStep[] = []
  /** Reads of LDS that are known to be inside of it. */
  #covered: ReadonlySet<Step> = new Set()
  #hadRun = false
  /** What was grained when the open run began. */
  #grained = new Set<number>()
  readonly #state: GrainState
  readonly #after: Waiting[] = []
  /** Scalars that the open run or an instruction behind it writes, and rows that the latter writes; those that the latter reads. */
  readonly #written = new Set<number>()
  readonly #readAfter = new Set<number>()
  /** Scalars that were set since the run was opened, by instructions that run before it. */
  readonly #changed = new Set<number>()
  /** Scalar pairs that masks of the open run go to. */
  readonly #masks = new Set<number>()
  /** Rows that the open run reads, and that it writes. */
  readonly #rowsRead = new Set<number>()
  readonly #rowsWritten = new Set<number>()
  /** Rows, and scalars, that moves between them have read since the run was opened, where those are done before it. */
  readonly #moved = new Set<number>()
  readonly #ofRun = [this.#written, this.#readAfter, this.#changed, this.#masks, this.#rowsRead, this.#rowsWritten, this.#moved]
  readonly #stepImport: number
  /** Bits of MODE that the core knows of, and the last change that it was not told. */
  #modeOfCore = 0
  #lastChange: Step | undefined
  /** The first step of the open run; how many steps that and what follows in the block are. */
  #start: { readonly step: Step; readonly rest: number } | undefined
  /** Its accesses of global memory, and whether there are stores among them. */
  #global: GlobalAccesses | undefined
  #stores = false
  #ldsWrites: LdsWrites | undefined
  /** Whether it has such accesses, or may get some. */
  #mayFail = false
  /** Locals of what scalars held when it began that were written since. */
  readonly #before = new Map<number, number>()

  constructor(
    private readonly code: Code,
    private readonly kernels: Kernels,
    private readonly roleOf: (step: Step) => Role,
    private readonly locals: BlockLocals,
    private readonly module: RegionModule,
    grained: ReadonlySet<number>,
    private readonly inlines: boolean,
  ) {
    this.#state = new GrainState(new Set(grained))
    this.#stepImport = module.builder.imported('runStep', STEP)
  }

  write({ pc, steps, end }: Block): void {
    this.#modeOfCore = modeAt(pc)
    const last = end.kind === 'stop' || end.kind === 'jump' ? steps.at(-1) : undefined
    const isAccess = steps.map((step, index) => this.inlines && this.#isAccess(step) && !this.#isAlone(steps, index))
    const lastAccess = isAccess.lastIndexOf(true)
    steps.forEach((step, index) => {
      this.#mayFail = index <= lastAccess || this.#global !== undefined || this.#ldsWrites !== undefined
      const role = this.roleOf(step)
      if (role === 'lanes') this.#lanes(step, steps.length - index)
      else if (role === 'scalar') this.#scalar(step)
      else if (this.inlines && isLdsRead(step)) this.#read(steps, index)
      else if (isAccess[index]) this.#touch(step, steps.length - index)
      else if (role === 'call' && crossLaneUses(step)) this.#crossLane(step)
      else if (flushesOtherwise(step)) this.#changeMode(step)
      else if (role === 'call' && step !== last) {
        this.#close()
        this.#call(step, steps.length - index)
      }
    })
    this.#close()
    this.#tellMode()
    if (last !== undefined) end.kind === 'stop' ? this.#stopBy(last) : this.#jumpBy(last)
  }

  #isAccess(step: Step): boolean {
    return globalAccess(step) !== undefined || isLdsWrite(step)
  }

  /**
   * Whether a write of LDS is better done by the core: nothing that could be part of its run stands behind it, and little before it. At two
   * addresses the core is slower.
   */
  #isAlone(steps: readonly Step[], index: number): boolean {
    if (!isLdsWrite(steps[index]!) || ldsShape(steps[index]!.operation)!.unit !== undefined) return false
    const endsRun = (step: Step) => this.roleOf(step) === 'call' && !this.#isAccess(step) && !isLdsRead(step) && !crossLaneUses(step)
    const isLane = (step: Step) => this.roleOf(step) === 'lanes' || globalAccess(step) === 'load'
    const end = steps.findIndex((step, i) => i > index && endsRun(step))
    if (steps.slice(index + 1, end < 0 ? steps.length : end).some(isLane)) return false
    const begin = steps.findLastIndex((step, i) => i < index && endsRun(step))
    return steps.slice(begin + 1, index).filter(isLane).length < FEW_STEPS
  }

  #touch(step: Step, rest: number): void {
    if (isLdsWrite(step)) this.#writeLds(step, rest)
    else this.#touchGlobal(step, rest)
  }

  /** Ends the open run: its loop, then the scalar instructions that wait for it. */
  #close(): void {
    if (this.#run.length > 0) {
      const { kernels, locals, module } = this
      const [modeOfCore, mode] = [this.#modeOfCore, this.#mode]
      const again = (code: Code, run: UnfinishedRun) => {
        code.i32(1).op(OP.globalSet).u32(module.unsure)
        const { begin } = module
        writeAgain(code, run, { locals, wave: WAVE, runStep: this.#stepImport, begin, changed: this.#changed, modeOfCore, mode })
      }
      const memory = (active: number, all: number) => this.#memoryOf(active, all)
      const pool = new Map<VectorConstant, number>()
      locals.pool = pool
      new LaneLoop(this.code, this.#run, { kernels, locals, wave: WAVE, grained: this.#grained, pool }, again, memory).write()
      locals.pool = undefined
      this.#run = []
    }
    for (const { apply } of this.#after.splice(0)) apply()
    for (const set of this.#ofRun) set.clear()
    this.#before.clear()
    this.#global = undefined
    this.#ldsWrites = undefined
    this.#stores = false
    this.locals.clear()
  }

  /** What touches memory in the open run. */
  #memoryOf(active: number, all: number): LaneMemory {
    const { locals } = this
    const [global, writes] = [this.#global, this.#ldsWrites]
    const lds = new LdsReads(locals, WAVE, (code, lanes, chunk) => {
      code.get(active).i32(all).op(OP.i32Ne).block(OP.if).get(lanes).get(active)
      if (chunk > 0) code.i32(4 * chunk).op(OP.i32ShrU)
      pushLanes(code).simd(SIMD.and).set(lanes).end()
    })
    const readsLds = this.#run.some(({ step }) => isLdsRead(step))
    return {
      begin(code) {
        if (readsLds) lds.begin(code)
        global?.begin(code)
      },
      touch(code, step, chunk, index, test) {
        if (isLdsRead(step)) lds.read(code, step, chunk, index)
        else if (isLdsWrite(step)) writes!.touch(code, step, chunk, test!)
        else global!.touch(code, step, chunk, test!)
      },
      tests: (global ?? writes) && {
        find: (code, exec, shift, fail) => global?.find(code, exec, shift, fail),
        leave: (code) => this.#leaveRun(code),
        moved: this.#moved,
      },
    }
  }

  /** Leaves where the open run began: nothing of it is done yet but scalars, which get back what they were. */
  #leaveRun(code: Code): void {
    for (const [at, local] of this.#before) code.get(WAVE).get(local).memory(OP.i32Store, at)
    code.get(WAVE).i32(this.#start!.step.pc).memory(OP.i32Store, WAVE_PC)
    this.#giveBack(this.#start!.rest, LEAVE)
  }

  /** Adds a step to the open run; `rest` counts it and what follows in the block. */
  #lanes(step: Step, rest: number): void {
    const mask = hasMask(step) ? maskOffset(step) : undefined
    const reads = rowsRead(step)
    const writes = rowsWritten(step, 'lanes')
    if (this.#run.length > 0 && (this.#isFull(writes) || this.#clashes(step, mask, reads, writes))) this.#close()
    if (this.#run.length === 0) this.#open(step, rest)
    this.#usesRows(reads, writes)
    if (step.flags & FLAG_APPROXIMATE) this.#after.push({ reads: NOTHING, writes: NOTHING, apply: () => this.#countApproximate(step) })
    const captured: Captured[] = []
    for (let slot = 0; slot < step.operation.shape.sources.length; slot++) captured.push(capture(step, slot, this.#sources))
    this.#run.push({ step, captured })
    this.#state.lanes(step)
    if (mask === undefined) return
    this.#masks.add(mask)
    this.#written.add(mask)
    this.#written.add(mask + 4)
  }

  #countApproximate(step: Step): void {
    countApproximate(this.code, WAVE, step, this.locals, () => this.code.i64(1n))
    this.locals.reset()
  }

  /** Adds an access of global memory to the open run. A load sees what was stored before, so that has to be done. */
  #touchGlobal(step: Step, rest: number): void {
    const isStore = globalAccess(step) === 'store'
    const [reads, writes] = [globalReads(step), rowsWritten(step, 'call')]
    if ((this.#stores && !isStore) || this.#isFull(writes) || this.#clashes(step, undefined, reads, writes)) this.#close()
    if (this.#run.length === 0) this.#open(step, rest)
    this.#usesRows(reads, writes)
    this.#run.push({ step, captured: [], touches: true })
    this.#global ??= new GlobalAccesses(this.locals, WAVE)
    const global = this.#global
    if (isStore) {
      this.#stores = true
      this.#wait({ reads: new Set(reads), writes: NOTHING, apply: () => global.store(this.code, step) })
    }
    this.#state.call(step)
  }

  /** The same of a write of LDS. */
  #writeLds(step: Step, rest: number): void {
    const reads = ldsWriteReads(step)
    if (this.#isFull([]) || this.#clashes(step, undefined, reads, []) || this.#written.has(M0)) this.#close()
    if (this.#run.length === 0) this.#open(step, rest)
    this.#usesRows(reads, [])
    this.#run.push({ step, captured: [], touches: true })
    this.#ldsWrites ??= new LdsWrites(this.locals, WAVE)
    const writes = this.#ldsWrites
    writes.add(this.code, step)
    this.#wait({ reads: new Set(reads), writes: NOTHING, apply: () => writes.write(this.code, step) })
    this.#state.call(step)
  }

  /** Adds a read of LDS to the open run. Where it may not be all inside, the interpreter takes over. */
  #read(steps: readonly Step[], index: number): void {
    const step = steps[index]!
    const rest = steps.length - index
    if (!this.#covered.has(step)) {
      this.#close()
      const reads = coverReads(steps, index, this.roleOf)
      this.#covered = reads.steps
      pushOutside(this.code, reads, this.locals, WAVE)
      this.code.block(OP.if).get(WAVE).i32(step.pc).memory(OP.i32Store, WAVE_PC)
      this.#giveBack(rest, LEAVE)
      this.code.end()
      this.locals.clear()
    }
    const [reads, writes] = [[step.sources[0]], rowsWritten(step, 'call')]
    if (this.#ldsWrites !== undefined || this.#isFull(writes) || this.#clashes(step, undefined, reads, writes)) this.#close()
    if (this.#run.length === 0) this.#open(step, rest)
    this.#usesRows(reads, writes)
    this.#run.push({ step, captured: [], touches: true })
    this.#state.call(step)
  }

  #usesRows(reads: readonly number[], writes: readonly number[]): void {
    for (const row of reads) this.#rowsRead.add(row)
    for (const row of writes) this.#rowsWritten.add(row)
  }

  /** Whether the open run would write more rows than can be kept as they were, where an access may fail. */
  #isFull(writes: readonly number[]): boolean {
    return this.#mayFail && this.#rowsWritten.size + writes.length > SHADOW_ROWS
  }

  /**
   * Whether a step cannot stand in the open run: it reads what waits to be written, or writes what is yet to be read or written.
   * @param mask the scalar pair that takes its mask
   */
  #clashes(step: Step, mask: number | undefined, rows: readonly number[], results: readonly number[]): boolean {
    const written = this.#written
    if (written.size > 0) {
      if (written.has(EXEC) || written.has(EXEC + 4) || this.#readsWritten(step)) return true
      for (const row of rows) if (written.has(row)) return true
    }
    if (this.#after.length > 0) {
      if (mask !== undefined && (this.#isAwaited(mask) || this.#isAwaited(mask + 4))) return true
      for (const row of results) if (this.#isAwaited(row)) return true
    }
    // A pair that another one of the run's results overlaps by one register.
    return mask !== undefined && (this.#masks.has(mask + 4) || this.#masks.has(mask - 4))
  }

  /** Whether a step reads scalars that wait to be written, but for masks that the open run itself has made as lanes. */
  #readsWritten({ operation, mods, sources }: Step): boolean {
    const types = operation.shape.sources
    for (let slot = 0; slot < types.length; slot++) {
      const type = types[slot]!
      if (
        type === 'vcc' ? this.#isAwaitedMask(VCC_OFFSET) : mods.kinds[slot] === KIND_SCALAR && this.#isAwaitedSource(type, sources[slot]!)
      )
        return true
    }
    return false
  }
  #isAwaitedSource(type: OperandType, at: number): boolean {
    if (type === 'mask') return this.#isAwaitedMask(at)
    // A mask of the run may be read as a number too: v_addc_u32 v0, vcc, v1, vcc_lo, vcc.
    return this.#written.has(at) || (bitsOf(type) === 64 && this.#written.has(at + 4))
  }
  #isAwaitedMask(at: number): boolean {
    return (this.#written.has(at) || this.#written.has(at + 4)) && !this.#makes(at)
  }

  /** Whether what waits behind the run reads or writes a scalar or a row. */
  #isAwaited(at: number): boolean {
    return this.#readAfter.has(at) || this.#isSetAfter(at)
  }
  #isSetAfter(at: number): boolean {
    for (const { writes } of this.#after) if (writes.has(at)) return true
    return false
  }

  /** Begins a run. What an earlier run of the block has tested holds only if none of its chunks was computed again. */
  #open(step: Step, rest: number): void {
    this.#start = { step, rest }
    this.#grained = new Set(this.#state.rows)
    if (this.#hadRun && this.#grained.size > 0) {
      this.code.op(OP.globalGet).u32(this.module.unsure).block(OP.if).get(WAVE).i32(step.pc).memory(OP.i32Store, WAVE_PC)
      this.#giveBack(rest, LEAVE)
      this.code.end()
    }
    this.#hadRun = true
  }

  /** Returns from the block before its end. */
  #giveBack(rest: number, result: number): void {
    const { code, module } = this
    code.op(OP.globalGet).u32(module.left).i32(rest).op(OP.i32Add, OP.globalSet).u32(module.left).i32(result).op(OP.return)
  }

  /** Whether the open run's last word on a scalar pair is a mask of its own. */
  #makes(at: number): boolean {
    return this.#masks.has(at) && !this.#isSetAfter(at) && !this.#isSetAfter(at + 4)
  }

  /** Takes sources that are no VGPRs as they are now: later instructions may change the scalars. */
  readonly #sources: Sources = {
    mask: (at, constant) => {
      if (at !== undefined && this.#makes(at)) return { kind: 'own' }
      const bits = this.locals.local(I64)
      if (at === undefined) this.code.i64(constant)
      else this.code.get(WAVE).memory(OP.i64Load, at)
      this.code.set(bits)
      return { kind: 'mask', bits }
    },
    spread: (at) => this.#spread(at),
  }

  #spread(at: number) {
    const local = this.locals.local(V128)
    this.code.get(WAVE).memory(OP.i32Load, at).simd(SIMD.i32x4Splat).set(local)
    return spreadValue(local, true)
  }

  /** A scalar instruction runs now if nothing that waits minds, else behind the run. */
  #scalar(step: Step): void {
    const { reads, writes } = scalarUses(step)
    this.#state.scalar(step)
    const apply = () => {
      writeScalar(this.code, step, this.kernels, this.locals, waveScalars(WAVE))
      this.locals.reset()
    }
    if (this.#waits(reads, writes)) this.#wait({ reads, writes, apply })
    else this.#applyNow(writes, apply)
  }

  #applyNow(writes: ReadonlySet<number>, apply: () => void): void {
    if (this.#run.length > 0) {
      for (const at of writes) this.#changed.add(at)
      if (this.#mayFail) this.#remember(writes)
    }
    apply()
  }

  /** Keeps scalars that the run would have to give back as they were, since an access of it may fail, or one that is still to come. */
  #remember(scalars: ReadonlySet<number>): void {
    for (const at of scalars) {
      if (this.#before.has(at)) continue
      const local = this.locals.local(I32)
      this.code.get(WAVE).memory(OP.i32Load, at).set(local)
      this.#before.set(at, local)
    }
  }

  #waits(reads: ReadonlySet<number>, writes: ReadonlySet<number>): boolean {
    return (
      overlaps(reads, this.#written) ||
      overlaps(writes, this.#written) ||
      overlaps(writes, this.#readAfter) ||
      (this.#run.length > 0 && EXEC_PAIR.some((at) => writes.has(at))) ||
      // The core would ask it if it had to read again.
      (writes.has(M0) && this.#run.some(({ touches }) => touches))
    )
  }
  #wait(waiting: Waiting): void {
    this.#after.push(waiting)
    for (const at of waiting.writes) this.#written.add(at)
    for (const at of waiting.reads) this.#readAfter.add(at)
  }

  /** The same for moves between scalars and lanes. A mask that the run makes, which spilling moves to a lane, is kept: the run may make another one. */
  #crossLane(step: Step): void {
    const { reads, writes } = crossLaneUses(step)!
    const kept = this.#keep(laneSource(step))
    const others = kept === undefined ? reads : new Set([...reads].filter((at) => at !== laneSource(step)))
    const apply = () => {
      writeCrossLane(this.code, step, WAVE, this.locals, waveScalars(WAVE), kept)
      this.locals.reset()
    }
    const waits =
      kept !== undefined ||
      (crossLaneWay(step.operation) === 'writelane' && this.#run.length > 0 && this.#mayFail) ||
      this.#waits(others, writes) ||
      [...others, ...writes].some((at) => this.#rowsWritten.has(at)) ||
      overlaps(writes, this.#rowsRead)
    this.#state.call(step)
    for (const at of writes) this.#grained.delete(at)
    if (waits) return this.#wait({ reads: others, writes, apply })
    if (this.#run.length > 0) for (const at of reads) this.#moved.add(at)
    this.#applyNow(writes, apply)
  }

  /** What pushes half of a mask of the open run as it is now, if a scalar is that. */
  #keep(at: number | undefined): (() => void) | undefined {
    if (at === undefined) return undefined
    const maker = this.#run.findLast(({ step }) => hasMask(step) && [0, 4].includes(at - maskOffset(step)))
    if (maker === undefined || this.#after.some(({ writes }) => writes.has(at))) return undefined
    maker.keeps ??= this.locals.local(I64)
    const [{ keeps }, isHigh] = [maker, at !== maskOffset(maker.step)]
    return () => {
      this.code.get(keeps!)
      if (isHigh) this.code.i64(32n).op(OP.i64ShrU)
      this.code.op(OP.i32WrapI64)
    }
  }

  /**
   * A change of MODE that only changes what is flushed: no kernel sees it, so the run goes on. What the core keeps of MODE follows when the
   * core is called; mostly MODE is as before by then.
   */
  #changeMode(step: Step): void {
    const { mask, bits } = modeChange(step)!
    if (this.#run.length > 0 && this.#mayFail) this.#remember(new Set([WAVE_MODE]))
    this.code
      .get(WAVE)
      .get(WAVE)
      .memory(OP.i32Load, WAVE_MODE)
      .i32(~mask)
      .op(OP.i32And)
      .i32(bits)
      .op(OP.i32Or)
      .memory(OP.i32Store, WAVE_MODE)
    this.#lastChange = step
  }

  /** Bits of MODE as they are now. */
  get #mode(): number {
    return this.#lastChange === undefined ? this.#modeOfCore : modeBehind(this.#lastChange)
  }

  /** Has the core take MODE from the wave, by an instruction that makes it what it is. */
  #tellMode(): void {
    if (this.#lastChange === undefined) return
    const mode = this.#mode
    if (mode !== this.#modeOfCore) this.#runStep(this.#lastChange)
    this.#modeOfCore = mode
    this.#lastChange = undefined
  }

  #runStep(step: Step): void {
    pushRecord(this.code, step, this.locals)
    this.code.get(WAVE).op(OP.call).u32(this.#stepImport)
  }

  /** Any other instruction: the core runs it, and may stop the wave. `rest` counts it and what follows in the block. */
  #call(step: Step, rest: number): void {
    const { code, module } = this
    this.#tellMode()
    this.#modeOfCore = modeBehind(step)
    // The row of EXEC's lane masks waits until the core is called.
    code.get(WAVE).memory(OP.i64Load, WAVE_MASKED).get(WAVE).memory(OP.i64Load, EXEC).op(OP.i64Ne).block(OP.if)
    code.get(WAVE).op(OP.call).u32(this.locals.functionImport('refreshExec')).end()
    this.#runStep(step)
    code.op(OP.globalGet).u32(module.stop).block(OP.if)
    code.get(WAVE).i32(step.pc).memory(OP.i32Store, WAVE_PC)
    this.#giveBack(rest, STOPPED)
    code.end()
    this.#state.call(step)
    this.#state.scalar(step)
  }

  /** The block's last step stops the wave: as the core does it, without calling that. */
  #stopBy({ operation, pc }: Step): void {
    const { code, module } = this
    code
      .get(WAVE)
      .i32(pc + 4)
      .memory(OP.i32Store, WAVE_PC)
    code
      .i32(operation.name === 's_barrier' ? Stop.Barrier : Stop.End)
      .op(OP.globalSet)
      .u32(module.stop)
    code.i32(STOPPED).op(OP.return)
  }

  /** The block's last step goes to an instruction: to which one the core says. */
  #jumpBy(step: Step): void {
    const { code, module } = this
    this.#runStep(step)
    code.op(OP.globalGet).u32(module.stop).block(OP.if)
    // Where the target is still to be planned, or is the code's end, the jump itself is done.
    code.op(OP.globalGet).u32(module.stop).i32(Stop.Fault).op(OP.i32Eq).block(OP.if)
    code.get(WAVE).i32(step.pc).memory(OP.i32Store, WAVE_PC)
    this.#giveBack(1, STOPPED)
    code.end().i32(STOPPED).op(OP.return).end()
    code.get(WAVE).op(OP.globalGet).u32(module.next).memory(OP.i32Load, RECORD_PC).memory(OP.i32Store, WAVE_PC)
    code.i32(JUMPED).op(OP.return)
  }
}

/** The function of a block, and what it was made of besides. */
interface BlockCode {
  readonly key: string
  readonly locals: readonly number[]
  readonly code: Code
  /** Whether it has a loop written by nest.ts. */
  readonly isNest: boolean
}

/** A program whose waves come with one MODE. It is written again when more of it is planned: blocks that are what they were keep their functions. */
export class RegionWriter {
  readonly #module = new RegionModule()
  readonly #roles: (step: Step) => Role
  /**
   * Roles in loops that run group by group: what stands around operations is not for them. A group does not know what the lanes of others hold (DPP),
   * and loops with SDWA are of halves: long code, which V8 compiles for longer than it saves (dotf16, measured).
   */
  readonly #nestRoles: (step: Step) => Role
  /** Numbers of all blocks that there ever were, and their functions by number. */
  readonly #numbers = new Map<number, number>()
  readonly #written: BlockCode[] = []

  /** @param mode bits of MODE that waves come with */
  constructor(
    private readonly mode: number,
    private readonly kernels: Kernels,
    private readonly evaluate: Evaluate,
  ) {
    this.#roles = rolesOf(kernels)
    this.#nestRoles = (step) => (isStaged(step) ? 'call' : flushesOtherwise(step) ? 'idle' : this.#roles(step))
    this.#module.builder.importMemory(kernels.memoryLimits)
  }

  /**
   * Translates blocks.
   *
   * The module exports `run(wave, left, block)`: it runs at most `left` instructions from the start of a block on, always whole blocks, and
   * counts them as the core does. It returns what is left, with WAVE_PC where the interpreter shall go on; if the core stopped at WAVE_PC, the
   * complement of that, and WAVE_STOP says why. What it exports besides, rounds.ts says.
   *
   * @param trusting whether values are taken to be grained over blocks; if not, every block tests what it reads
   */
  write(blocks: ReadonlyMap<number, Block>, trusting: boolean): Region {
    const { builder } = this.#module
    const grained = trusting ? findGrained(blocks, this.#roles) : new Map<number, ReadonlySet<number>>()
    const nests = findNests(blocks, this.#nestRoles)
    // What is left of such a loop, at the end of a budget, is the interpreter's: ordinary code for it would seldom run.
    const alone = [...nests.values()].filter((nest) => trusting && nest.isSure)
    const inside = new Set(alone.flatMap(({ found }) => [...found.blocks.keys()]))
    const resumes = new Map(
      alone.flatMap((nest) => nest.resumes.map((pc, i) => [pc, { header: nest.found.header, number: i + 1 }] as const)),
    )
    const isEntry = (pc: number) => !inside.has(pc) || nests.has(pc) || resumes.has(pc)
    const entered = [...blocks.keys()].filter(isEntry)
    for (const pc of entered) if (!this.#numbers.has(pc)) this.#numbers.set(pc, this.#numbers.size)
    const entries = new Map(entered.map((place) => [place, this.#numbers.get(place)!]))
    const outer = new Map([...entries].filter(([place]) => modeAt(place) === this.mode).map(([place, number]) => [pcOf(place), number]))
    for (const [pc, number] of this.#numbers) {
      const block = blocks.get(pc)
      if (block === undefined) continue
      const known = this.#written[number]
      const nest = nests.get(pc)
      const surroundings: Surroundings = {
        grained: (at) => grained.get(at) ?? NO_ROWS,
        entries,
        nest,
        inlines: trusting,
        isOrdinary: !inside.has(pc),
        resume: resumes.get(pc),
      }
      const key = keyOf(block, surroundings)
      if (known?.key !== key) this.#written[number] = this.#block(block, surroundings, key)
    }
    builder.restart()
    const functions = this.#written.map(({ locals, code }) => builder.add(BLOCK, locals, code))
    const blockAt = builder.add(BLOCK, [], blockAtFunction(outer))
    const run = builder.add(RUN, [], runFunction(functions, blockAt, this.#module), 'run')
    addRounds(builder, run, blockAt)
    const longest = Math.max(BLOCK_LIMIT, ...alone.map((nest) => nest.longest))
    return { bytes: builder.bytes(), entries, nests: this.#written.filter(({ isNest }) => isNest).length, longest }
  }

  #block(block: Block, surroundings: Surroundings, key: string): BlockCode {
    const { kernels, evaluate } = this
    return { key, ...blockFunction(block, surroundings, this.#module, kernels, this.#roles, this.#nestRoles, evaluate) }
  }
}

const NO_ROWS: ReadonlySet<number> = new Set()

/** What a block's function is made of besides the block. */
interface Surroundings {
  /** Rows that are grained at a block's start. */
  grained(pc: number): ReadonlySet<number>
  /** Numbers of the blocks that can be entered; to others control leaves. */
  readonly entries: ReadonlyMap<number, number>
  /** The loop of several blocks whose header the block is. */
  readonly nest: GraphNest | undefined
  /** Whether accesses that may fault are part of runs; where that fails time and again, they are calls of the core. */
  readonly inlines: boolean
  /** Whether the block itself is written, and not only what it is the header of. */
  readonly isOrdinary: boolean
  /** The loop that is entered at the block, an inner loop's header: by its own header, and the number of the inner loop. */
  readonly resume: { readonly header: number; readonly number: number } | undefined
}

/** A text that is the same where a block's function would be. Records of a pc do not change, so the number of steps tells which they are. */
function keyOf(block: Block, { grained, entries, nest, inlines, isOrdinary, resume }: Surroundings): string {
  const blocks = nest === undefined ? [block] : [...nest.found.blocks.values()]
  const texts = blocks.map((b) =>
    [b.pc, b.steps.length, b.end.kind, ...successors(b).map((to) => entries.get(to)), ...[...grained(b.pc)].sort()].join(),
  )
  return `${inlines} ${isOrdinary} ${resume?.number} ${resume && entries.get(resume.header)} ${texts.join(' ')}`
}

/** Loops of several blocks that can run group by group, by their headers; of those inside of each other the outer ones. */
function findNests(blocks: ReadonlyMap<number, Block>, roles: (step: Step) => Role): Map<number, GraphNest> {
  const nests = new Map<number, GraphNest>()
  if (![...blocks.values()].some(goesBack)) return nests
  visitLoops(blocks, (loop) => {
    const nest = planGraphNest(loop, roles)
    if (nest !== undefined) nests.set(loop.header, nest)
    return nest !== undefined
  })
  return nests
}

/** Whether a block goes to itself or back: without that there is no loop, and what looks for some need not even be compiled. */
const goesBack = (block: Block): boolean => successors(block).some((to) => pcOf(to) <= pcOf(block.pc))

/** Goes from block to block until one leaves. */
function runFunction(functions: readonly number[], blockAt: number, module: RegionModule): Code {
  const [wave, left, block] = [0, 1, 2]
  const code = new Code()
  code.get(wave).op(OP.call).u32(module.begin)
  if (module.sites.size > 0) forgetSites(code, wave, module)
  code.get(left).op(OP.globalSet).u32(module.left).i32(1).op(OP.globalSet).u32(module.unsure)
  // loop { block × n { br_table } call of block 0; br … }; numbers below zero go to the last label.
  code.block(OP.loop)
  for (let i = 0; i <= functions.length; i++) code.block(OP.block)
  code.get(block).op(OP.brTable).u32(functions.length)
  for (let i = 0; i <= functions.length; i++) code.u32(i)
  code.end()
  functions.forEach((index, i) => {
    code
      .get(wave)
      .op(OP.call)
      .u32(index)
      .set(block)
      .op(OP.br)
      .u32(functions.length - i)
      .end()
  })
  // Who jumps knows nothing of the values that the target takes to be grained.
  code.get(block).i32(JUMPED).op(OP.i32Eq).block(OP.if).i32(1).op(OP.globalSet).u32(module.unsure)
  code.get(wave).memory(OP.i32Load, WAVE_PC).op(OP.call).u32(blockAt)
  code.tee(block).i32(LEAVE).op(OP.i32Ne, OP.brIf).u32(1).end()
  code.get(wave).get(wave).memory(OP.i64Load, WAVE_INSTRUCTIONS)
  code.get(left).op(OP.globalGet).u32(module.left).op(OP.i32Sub, OP.i64ExtendI32U, OP.i64Add).memory(OP.i64Store, WAVE_INSTRUCTIONS)
  code.get(block).i32(LEAVE).op(OP.i32Eq).block(OP.if).op(OP.globalGet).u32(module.left).op(OP.return).end()
  code.get(wave).op(OP.globalGet).u32(module.stop).memory(OP.i32Store, WAVE_STOP)
  code.op(OP.globalGet).u32(module.left).i32(-1).op(OP.i32Xor, OP.return).end().i32(0)
  return code
}

/** Appends that accesses forget where they were, if that was found in another table of regions. */
function forgetSites(code: Code, wave: number, { table, sites }: RegionModule): void {
  const number = () => code.get(wave).memory(OP.i32Load, WAVE_MACHINE).memory(OP.i32Load, MACHINE_REGIONS_NUMBER)
  number().op(OP.i32Eqz)
  number().op(OP.globalGet).u32(table).op(OP.i32Ne, OP.i32Or).block(OP.if)
  number().op(OP.globalSet).u32(table)
  for (const site of sites) code.i32(0).op(OP.globalSet).u32(site)
  code.end()
}

/** Returns the number of the block that starts at a pc, LEAVE where none does. */
function blockAtFunction(entries: ReadonlyMap<number, number>): Code {
  const code = new Code()
  pushBlockAt(
    code,
    0,
    [...entries].sort(([a], [b]) => a - b),
  )
  return code
}

/** Blocks are sorted by pc. */
function pushBlockAt(code: Code, pc: number, blocks: readonly (readonly [pc: number, number: number])[]): void {
  const middle = blocks.length >>> 1
  const [at, number] = blocks[middle]!
  if (middle === 0) return void code.i32(number).i32(LEAVE).get(pc).i32(at).op(OP.i32Eq, OP.select)
  code.get(pc).i32(at).op(OP.i32LtU).block(OP.if, I32)
  pushBlockAt(code, pc, blocks.slice(0, middle))
  code.op(OP.else)
  pushBlockAt(code, pc, blocks.slice(middle))
  code.end()
}

function blockFunction(
  block: Block,
  surroundings: Surroundings,
  module: RegionModule,
  kernels: Kernels,
  roles: (step: Step) => Role,
  nestRoles: (step: Step) => Role,
  evaluate: Evaluate,
): Omit<BlockCode, 'key'> {
  const locals = new BlockLocals(module, kernels)
  const code = new Code()
  const { entries, nest: graphNest, isOrdinary } = surroundings
  const grained = surroundings.grained(block.pc)
  const count = block.steps.length
  const leave = (pc: number) => code.get(WAVE).i32(pcOf(pc)).memory(OP.i32Store, WAVE_PC).i32(LEAVE).op(OP.return)
  if (grained.size > 0) {
    code.op(OP.globalGet).u32(module.unsure).block(OP.if)
    testGrain(code, grained, locals)
    code.block(OP.if)
    leave(block.pc)
    code.end().i32(0).op(OP.globalSet).u32(module.unsure).end()
    locals.clear()
  } else code.i32(0).op(OP.globalSet).u32(module.unsure)
  const goOn = (pc: number) => {
    const target = entries.get(pc)
    if (target === undefined) leave(pc)
    else code.i32(target).op(OP.return)
  }
  const nest = isOrdinary && goesBack(block) ? planNest(block, nestRoles, evaluate) : undefined
  let isNest = false
  if (nest !== undefined || graphNest !== undefined) {
    const context = { kernels, locals, wave: WAVE, grained, left: module.left }
    locals.pool = new Map()
    if (graphNest !== undefined) {
      const ways = { goOn, leave, isAlone: !isOrdinary }
      writeGraphNest(code, graphNest, { ...context, entry: module.entry }, surroundings.grained, locals.pool, ways)
      isNest = true
    } else isNest = new NestWriter(nest!, context, locals.pool).write(code, () => goOn(block.end.pc))
    locals.pool = undefined
    locals.clear()
  }
  if (!isOrdinary) {
    const { resume } = surroundings
    if (resume !== undefined) code.i32(resume.number).op(OP.globalSet).u32(module.entry).i32(entries.get(resume.header)!).op(OP.return)
    else if (!isNest) leave(block.pc)
    return { locals: locals.types, code, isNest }
  }
  code.block(OP.loop)
  code.op(OP.globalGet).u32(module.left).i32(count).op(OP.i32LtU).block(OP.if)
  leave(block.pc)
  code.end()
  code.op(OP.globalGet).u32(module.left).i32(count).op(OP.i32Sub, OP.globalSet).u32(module.left)
  new BlockWriter(code, kernels, roles, locals, module, grained, surroundings.inlines).write(block)
  /** Goes on at a pc; `depth` labels are open inside the loop. A loop of one block stays inside, unless it has become unsure. */
  const goTo = (pc: number, depth: number) => {
    if (pc === block.pc) code.op(OP.globalGet).u32(module.unsure).op(OP.i32Eqz, OP.brIf).u32(depth)
    goOn(pc)
  }
  const { end } = block
  if (end.kind === 'branch') {
    condition(code, end.condition)
    code.block(OP.if)
    goTo(end.taken, 1)
    code.end()
    goTo(end.pc, 0)
  } else if (end.kind === 'goto') goTo(end.pc, 0)
  else if (end.kind === 'leave') leave(end.pc)
  code.end().op(OP.unreachable)
  return { locals: locals.types, code, isNest }
}

/** Pushes whether an active lane of a row is too small. */
function testGrain(code: Code, rows: ReadonlySet<number>, locals: BlockLocals): void {
  const [small, row, active] = [locals.local(V128), locals.local(V128), locals.local(V128)]
  const [chunk, shift, exec] = [locals.local(I32), locals.local(I32), locals.local(I64)]
  code.v128(-1).set(small).get(WAVE).set(chunk).i32(0).set(shift).get(WAVE).memory(OP.i64Load, scalarOffset(EXEC_LO)).set(exec)
  code.block(OP.loop)
  code.get(exec).get(shift).op(OP.i64ExtendI32U, OP.i64ShrU, OP.i32WrapI64)
  pushLanes(code).set(active)
  for (const at of rows) {
    // An inactive lane counts as zero.
    code.get(chunk).simdMemory(SIMD.load, at).get(active).simd(SIMD.and).set(row)
    watchSmall(code, small, { local: row })
  }
  code.get(chunk).i32(16).op(OP.i32Add).set(chunk)
  code.get(shift).i32(4).op(OP.i32Add).tee(shift).i32(64).op(OP.i32LtU, OP.brIf).u32(0).end()
  code.get(small).v128(SMALL).simd(SIMD.i32x4LtU).simd(SIMD.anyTrue)
}

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
