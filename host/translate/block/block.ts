/**
 * The code of a block: runs of lanes, scalar instructions before or behind them, and calls of the core.
 */

import { Stop } from '../../engine.ts'
import { bitsOf, type OperandType } from '../../isa/row.ts'
import { EXEC_LO, RECORD_PC, WAVE_MASKED, WAVE_MODE, WAVE_PC } from '../../plan/layout.ts'
import { FLAG_APPROXIMATE, KIND_SCALAR } from '../../plan/record.ts'
import { type Block, modeBehind, type Step } from '../code/graph.ts'
import { flushesOtherwise, modeChange } from '../code/modes.ts'
import { modeAt } from '../code/place.ts'
import { crossLaneWay, type Role } from '../code/roles.ts'
import type { Kernels, VectorConstant } from '../wasm/kernels.ts'
import { type Code, type FunctionType, I32, I64, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { rowsWritten } from './accesses.ts'
import { type UnfinishedRun, writeAgain } from './again.ts'
import { resourceReads } from './buffer.ts'
import { OffsetAccesses } from './buffer-offsets.ts'
import { crossLaneUses, laneSource, writeCrossLane } from './crosslane.ts'
import { GrainState } from './flow.ts'
import { GlobalAccesses, globalAccess, globalReads, isOffsetAccess, isRowOffset } from './global.ts'
import {
  type Captured,
  capture,
  hasMask,
  type LaneStep,
  maskOffset,
  pushLanes,
  rowsRead,
  SHADOW_ROWS,
  type Sources,
  spreadValue,
  VCC_OFFSET,
} from './lane-values.ts'
import { LaneLoop, type LaneMemory } from './lanes.ts'
import { coverReads, LdsReads, pushOutside } from './lds.ts'
import { isLdsRead, isLdsWrite, ldsShape } from './lds-plan.ts'
import { LdsWrites, ldsWriteReads } from './lds-writes.ts'
import { type BlockLocals, JUMPED, LEAVE, type RegionModule, STOPPED, WAVE } from './region-module.ts'
import { countApproximate, EXEC, M0, overlaps, pair, pushRecord, scalarUses, waveScalars, writeScalar } from './scalars.ts'

const STEP: FunctionType = { parameters: [I32, I32], results: [] }
const EXEC_PAIR = pair(EXEC_LO)

/** What runs behind the open run: it reads and writes scalars, and rows, by their offset in the wave block. */
interface Waiting {
  readonly reads: ReadonlySet<number>
  readonly writes: ReadonlySet<number>
  apply(): void
}

/** Steps of lanes before a write of LDS for which it costs as much as it saves to make it a part of their run. */
const FEW_STEPS = 8

/** Rows that a run writes for each of its accesses, from which on those by a row of offsets cost as much as they save. */
const ROWS_PER_ACCESS = 12
/** Steps of a run for which finding out what a buffer's resource reaches does not pay. */
const SHORT_RUN = 4

const NOTHING: ReadonlySet<number> = new Set()

/** Writes the steps of one block. */
export class BlockWriter {
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
  /** Its accesses of global memory, by addresses and by offsets, and the stores among them. */
  #global: GlobalAccesses | undefined
  #offsets: OffsetAccesses | undefined
  #stores: Step[] = []
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
    if (isAccess.some((is, index) => is && isOffsetAccess(steps[index]!))) this.#dropCostly(steps, isAccess)
    const lastAccess = isAccess.lastIndexOf(true)
    steps.forEach((step, index) => {
      this.#mayFail = index <= lastAccess || this.#global !== undefined || this.#offsets !== undefined || this.#ldsWrites !== undefined
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

  /**
   * Leaves buffer accesses by offsets to the core where they would be nearly all of a run, and those by a row of them where each would have the
   * run keep many rows as they were, just in case.
   */
  #dropCostly(steps: readonly Step[], isAccess: boolean[]): void {
    const isPart = (step: Step, i: number) => {
      const role = this.roleOf(step)
      if (role === 'scalar') return !EXEC_PAIR.some((at) => scalarUses(step).writes.has(at))
      return role !== 'call' || isAccess[i] || isLdsRead(step) || crossLaneUses(step)
    }
    for (let from = 0; from < steps.length; ) {
      const end = steps.findIndex((step, i) => i >= from && !isPart(step, i))
      const to = end < 0 ? steps.length : end
      const rows = new Set<number>()
      let [accesses, others] = [0, 0]
      for (let i = from; i < to; i++) {
        const role = this.roleOf(steps[i]!)
        for (const row of rowsWritten(steps[i]!, role)) rows.add(row)
        if (isAccess[i]) accesses++
        else if (role === 'lanes') others++
      }
      const isShort = accesses + others < SHORT_RUN
      const isCostly = (step: Step) => isShort || (isRowOffset(step) && rows.size > ROWS_PER_ACCESS * accesses)
      for (let i = from; i < to; i++) if (isAccess[i] && isOffsetAccess(steps[i]!) && isCostly(steps[i]!)) isAccess[i] = false
      from = to + 1
    }
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
    this.#offsets = undefined
    this.#ldsWrites = undefined
    this.#stores = []
    this.locals.clear()
  }

  /** What touches memory in the open run. */
  #memoryOf(active: number, all: number): LaneMemory {
    const { locals } = this
    const [global, offsets, writes] = [this.#global, this.#offsets, this.#ldsWrites]
    const lds = new LdsReads(locals, WAVE, (code, lanes, chunk) => {
      code.get(active).i32(all).op(OP.i32Ne).block(OP.if).get(lanes).get(active)
      if (chunk > 0) code.i32(4 * chunk).op(OP.i32ShrU)
      pushLanes(code).simd(SIMD.and).set(lanes).end()
    })
    const readsLds = this.#run.some(({ step }) => isLdsRead(step))
    return {
      begin: (code) => {
        if (readsLds) lds.begin(code)
        global?.begin(code)
        offsets?.begin(code, () => this.#leaveRun(code))
      },
      touch(code, step, chunk, index, test) {
        if (isLdsRead(step)) lds.read(code, step, chunk, index)
        else if (isLdsWrite(step)) writes!.touch(code, step, chunk, test!)
        else if (isOffsetAccess(step)) offsets!.touch(code, step, chunk, index, test!)
        else global!.touch(code, step, chunk, test!)
      },
      tests: (global ?? offsets ?? writes) && {
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
    const isAwaited = overlaps(resourceReads(step), this.#written)
    const isSeen = !isStore && this.#stores.some((store) => !this.#offsets?.areApart(store, step))
    if (isSeen || isAwaited || this.#isFull(writes) || this.#clashes(step, undefined, reads, writes)) this.#close()
    if (this.#run.length === 0) this.#open(step, rest)
    this.#usesRows(reads, writes)
    this.#run.push({ step, captured: [], touches: true })
    const accesses = this.#accessesOf(step)
    accesses.add(this.code, step)
    if (isStore) {
      this.#stores.push(step)
      this.#wait({ reads: new Set(reads), writes: NOTHING, apply: () => accesses.store(this.code, step) })
    }
    this.#state.call(step)
  }

  #accessesOf(step: Step): GlobalAccesses | OffsetAccesses {
    if (!isOffsetAccess(step)) {
      this.#global ??= new GlobalAccesses(this.locals, WAVE)
      return this.#global
    }
    this.#offsets ??= new OffsetAccesses(this.locals, WAVE)
    return this.#offsets
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
      this.#offsets?.forget(writes)
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
