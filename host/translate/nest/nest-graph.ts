/**
 * A loop of several blocks turned inside out: a group of lanes runs all of it before the next one begins, rows and scalars in locals of one
 * function, its blocks as structured control flow. All groups take the same way (nest-flow.ts), so the first one's scalars are everybody's.
 *
 * Results go to shadow rows and locals. Where a group meets what only the ordinary code can do, all groups run again up to the iteration
 * before; nothing has happened yet that would have to be undone.
 */

import { scalarOffset, VCC_LO } from '../../plan/layout.ts'
import { FLAG_APPROXIMATE } from '../../plan/record.ts'
import { loadsLanes, loadWrites } from '../block/accesses.ts'
import { Chunk } from '../block/chunk.ts'
import {
  type Captured,
  CHUNK_BYTES,
  capture,
  hasMask,
  type LaneContext,
  maskOffset,
  SLOW,
  spreadValue,
  type Value,
  watchSmall,
} from '../block/lane-values.ts'
import type { LdsReads } from '../block/lds.ts'
import { isLdsRead } from '../block/lds-plan.ts'
import { countApproximate, EXEC, M0, SCC, type ScalarFile, scalarUses, writeScalar } from '../block/scalars.ts'
import type { Block, Step } from '../code/graph.ts'
import { placeOf } from '../code/place.ts'
import type { Role } from '../code/roles.ts'
import { loadPool, push, type VectorConstant } from '../wasm/kernels.ts'
import { Code, I32, I64, OP, SIMD, V128 } from '../wasm/wasm.ts'
import { follow, GETPC, type GraphNest, type Holdings, RELATIVE, RESUME, relativeRows } from './nest-flow.ts'
import { LaneLoads, readsOf } from './nest-loads.ts'
import { loadsScalars } from './nest-plan.ts'
import { GroupRows, type NestContext } from './nest-rows.ts'
import { UniformScalars } from './nest-scalars.ts'
import { writeLoop } from './structure.ts'

/** Scalar moves. */
const MOVES = /^s_mov_b(32|64)$/
/** Chunks a group: with two there is something to do while one waits, but many rows are spilled twice as often then. */
const CHUNKS = 2
const MANY_ROWS = 24

/** Where control goes from such a loop. */
export interface Ways {
  /** Appends that it goes on at a block. */
  goOn(pc: number): void
  /** Appends that it goes on there by the interpreter. */
  leave(pc: number): void
  /** Whether there is no ordinary code: what the loop does not do itself is the interpreter's. */
  readonly isAlone: boolean
}

export interface GraphNestContext extends NestContext {
  /** Global that tells at which of its inner loops a loop is entered (their number in the list, from 1 on), or 0: at its header. */
  readonly entry: number
}

/**
 * Appends the loop. Control goes on behind it where the ordinary code takes over at the header, if there is ordinary code.
 * @param grainedAt rows that are grained at a block's start
 */
export function writeGraphNest(
  code: Code,
  nest: GraphNest,
  context: GraphNestContext,
  grainedAt: (pc: number) => ReadonlySet<number>,
  pool: ReadonlyMap<VectorConstant, number>,
  ways: Ways,
): void {
  new GraphNestWriter(nest, context, grainedAt, pool).write(code, ways)
}

class GraphNestWriter {
  readonly #chunks: readonly Chunk[]
  readonly #rows: GroupRows
  readonly #shift: number
  readonly #lanes: number
  /** A bit for each lane of a group. */
  readonly #all: bigint
  /** Bits of the group of pairs that are masks, between blocks. */
  readonly #bits = new Map<number, number>()
  readonly #uniform: UniformScalars
  readonly #memory: LaneLoads
  readonly #lds: LdsReads
  /** Scalars that the loop does not change, in all lanes. */
  readonly #spread = new Map<number, Value>()
  readonly #scalars = new Set<Value>()
  readonly #changing = new Set<number>()
  /** How often blocks with approximate operations were run. */
  readonly #runs = new Map<Block, number>()
  /** Written before the groups: what does not change. */
  readonly #before = new Code()
  readonly #body = new Code()
  readonly #iteration: number
  readonly #limit: number
  readonly #spent: number
  readonly #room: number
  readonly #exit: number
  /** Ways out, by the number that `exit` holds. */
  readonly #exits: { readonly state: Holdings; readonly pc: number }[] = []
  /** Number of the inner loop that it is to be entered at, one more than its place in the list, or 0. */
  readonly #entered: number
  /** The same until it has been entered there. */
  readonly #resume: number
  /** The least of the scalars that are tested, and for each chunk also of the rows that the loop does not change. */
  readonly #least: number
  readonly #leasts: readonly number[]
  readonly #exec: number
  /** Whether there is something to test at all. */
  readonly #hasFloats: boolean
  /** The block that is being written: what scalars hold, and masks that the block itself has made. */
  #state!: Holdings
  readonly #own = new Set<number>()

  constructor(
    private readonly nest: GraphNest,
    private readonly context: GraphNestContext,
    private readonly grainedAt: (pc: number) => ReadonlySet<number>,
    private readonly pool: ReadonlyMap<VectorConstant, number>,
  ) {
    const { locals } = context
    const { loop, dirty, roleOf } = nest
    const steps = [...loop.blocks.values()].flatMap((block) => block.steps)
    const count = dirty.size > MANY_ROWS && !steps.some(({ operation }) => SLOW.test(operation.name)) ? 1 : CHUNKS
    this.#hasFloats = !nest.isSure
    this.#rows = new GroupRows(locals, count)
    this.#shift = locals.fresh(I32)
    this.#iteration = locals.fresh(I32)
    this.#limit = locals.fresh(I32)
    this.#spent = locals.fresh(I32)
    this.#room = locals.fresh(I32)
    this.#exit = locals.fresh(I32)
    this.#entered = locals.fresh(I32)
    this.#resume = locals.fresh(I32)
    this.#least = locals.fresh(V128)
    this.#exec = locals.fresh(I64)
    this.#leasts = Array.from({ length: count }, () => locals.fresh(V128))
    this.#lanes = 4 * count
    this.#all = (1n << BigInt(this.#lanes)) - 1n
    this.#uniform = new UniformScalars(context, this.#before)
    this.#memory = new LaneLoads(context, this.#uniform, this.#before, this.#rows.active)
    this.#lds = readsOf(context, this.#rows, this.#uniform, this.#changing, (at) => !dirty.has(at))
    if (steps.some(isLdsRead)) this.#lds.begin(this.#before)
    for (const step of steps) for (const at of scalarWrites(step, roleOf(step))) this.#changing.add(at)
    const lane: LaneContext = {
      ...context,
      carried: (chunk, at) => this.#rows.carry(chunk, at),
      constant: (at) => !dirty.has(at),
    }
    this.#chunks = Array.from({ length: count }, (_, i) => new Chunk(lane, i, this.#rows.base, this.#shift, this.#scalars))
    // What a group writes lives around the loop.
    for (const chunk of this.#chunks.keys()) for (const at of dirty) this.#rows.carry(chunk, at)
    locals.keep()
  }

  #bitsOf(pair: number): number {
    return localIn(this.#bits, pair, () => this.context.locals.fresh(I64))
  }

  // --- blocks

  /** Labels that are open around the structure inside the one that gives an iteration up: those of the groups, a group, and its exit. */
  #fail(depth: number): number {
    return depth + 3
  }

  #block(block: Block, depth: number): void {
    const { nest, context } = this
    const body = this.#body
    this.#state = nest.before.get(block.pc)!.copy()
    this.#own.clear()
    this.#lds.forget()
    for (const chunk of this.#chunks) chunk.enter(this.grainedAt(block.pc))
    body.get(this.#spent).i32(block.steps.length).op(OP.i32Add).set(this.#spent)
    if (block.steps.some((step) => isApproximate(step, nest))) {
      const runs = localIn(this.#runs, block, () => context.locals.fresh(I32))
      body.get(runs).i32(1).op(OP.i32Add).set(runs)
    }
    const bitwise = new Set<Step>()
    for (const step of block.steps) {
      this.#step(step, depth)
      context.locals.reset()
      follow(step, nest.roleOf(step), this.#state, bitwise)
    }
    for (const chunk of this.#chunks) chunk.watchResults(body)
    for (const chunk of this.#chunks) chunk.carryAll(body)
    context.locals.endBlock()
  }

  #step(step: Step, depth: number): void {
    const role = this.nest.roleOf(step)
    const { name } = step.operation
    if (role === 'lanes') this.#lane(step)
    else if (role === 'scalar') this.#scalar(step)
    else if (loadsScalars(step.operation)) this.#uniform.readMemory(this.#body, step, this.#fail(depth))
    else if (RELATIVE.test(name)) this.#relative(step, depth)
    else if (isLdsRead(step)) this.#readLds(step, depth)
    else if (loadsLanes(step.operation)) this.#memory.load(this.#body, step, this.#chunks, this.#fail(depth))
    else if (name === GETPC) this.#uniform.getPc(this.#body, step)
  }

  #readLds(step: Step, depth: number): void {
    this.#chunks.forEach((chunk, i) => {
      this.#lds.read(this.#body, step, chunk, i, this.#fail(depth))
    })
  }

  #lane(step: Step): void {
    const wanted = this.nest.wanted.get(step)
    const captured = step.operation.shape.sources.map((_, slot) => this.#capture(step, slot))
    const laneStep = { step, captured, maskIsDead: wanted === undefined }
    for (const chunk of this.#chunks) chunk.fast(this.#body, laneStep)
    if (!hasMask(step)) return
    const at = maskOffset(step)
    if (wanted === undefined) return void this.#own.delete(at)
    this.#own.add(at)
    if (wanted === 'bits') this.#gatherBits(at)
  }

  #capture(step: Step, slot: number): Captured {
    return capture(step, slot, {
      mask: (at, constant) => {
        if (at !== undefined && this.#state.mask(at) !== 'uniform')
          return this.#own.has(at) ? { kind: 'own' } : { kind: 'slice', bits: this.#bitsOf(at) }
        return this.#uniform.mask(this.#body, at, constant)
      },
      spread: (at) => this.#spreadOf(at),
    })
  }

  /** A scalar in all lanes: once before the loop if nothing in it changes the scalar. */
  #spreadOf(at: number): Value {
    const known = this.#spread.get(at)
    if (known !== undefined) return known
    const changes = this.#changing.has(at)
    const local = changes ? this.context.locals.local(V128) : this.context.locals.fresh(V128)
    const code = changes ? this.#body : this.#before
    code.get(this.#uniform.local(at)).simd(SIMD.i32x4Splat).set(local)
    const value = spreadValue(local, !changes)
    if (!changes) this.#spread.set(at, value)
    return value
  }

  /** Makes bits of a mask that the chunks have as lanes. */
  #gatherBits(at: number): void {
    this.#chunks.forEach((chunk, i) => {
      chunk.pushMask(this.#body, at)
      if (i > 0) this.#body.i32(4 * i).op(OP.i32Shl, OP.i32Or)
    })
    this.#body.op(OP.i64ExtendI32U).get(this.#exec).op(OP.i64And).set(this.#bitsOf(at))
  }

  #scalar(step: Step): void {
    const { kernels, locals } = this.context
    const state = this.#state
    if (!this.nest.bitwise.has(step))
      return MOVES.test(step.operation.name)
        ? this.#uniform.move(this.#body, step)
        : writeScalar(this.#body, step, kernels, locals, this.#uniform.file)
    const file: ScalarFile = {
      load: (code, at, wide) => {
        if (wide && state.mask(at) !== 'uniform') return void code.get(this.#bitsOf(at))
        this.#uniform.file.load(code, at, wide)
        if (wide) this.#slice(code)
      },
      constant: (code, value) => this.#slice(code.i64(value)),
      store: (code, at, _, local) => {
        // SCC is found at the end, from the whole mask.
        if (at !== SCC) code.get(local).i64(this.#all).op(OP.i64And).set(this.#bitsOf(at))
      },
    }
    writeScalar(this.#body, step, kernels, locals, file)
    this.#own.delete(step.dst)
  }

  /** Of 64 bits on the stack those from the group's first lane on. */
  #slice(code: Code): void {
    code.get(this.#shift).op(OP.i64ExtendI32U, OP.i64ShrU)
  }

  // --- registers found at run time

  #relative(step: Step, depth: number): void {
    if (step.operation.name === 'v_movrels_b32') this.#relativeSource(step, depth)
    else this.#relativeDestination(step, depth)
  }

  #relativeSource(step: Step, depth: number): void {
    const { dirty, lastRow } = this.nest
    const rows = relativeRows(step.sources[0], lastRow)
    const results = this.#chunks.map(() => this.context.locals.local(V128))
    // Any of them may be what is read.
    for (const at of rows) if (dirty.has(at)) for (const chunk of this.#chunks) chunk.settle(this.#body, at)
    this.#select(rows, depth, (at) => {
      this.#chunks.forEach((chunk, i) => {
        if (dirty.has(at)) chunk.pushRow(this.#body, at)
        else this.#body.get(this.#rows.base).simdMemory(SIMD.load, at + CHUNK_BYTES * i)
        this.#body.set(results[i]!)
      })
    })
    this.#chunks.forEach((chunk, i) => {
      chunk.put(step.dst, results[i]!)
    })
  }

  #relativeDestination(step: Step, depth: number): void {
    const body = this.#body
    const source = this.#capture(step, 0)
    for (const chunk of this.#chunks) {
      chunk.watchResults(body)
      chunk.carryAll(body)
      chunk.enter(new Set())
    }
    this.#select(relativeRows(step.dst, this.nest.lastRow), depth, (at) => {
      this.#chunks.forEach((chunk, i) => {
        if (source.kind === 'constant') body.v128(source.low)
        else if (source.kind === 'spread') push(body, source.low.arg)
        else chunk.pushRow(body, step.sources[0])
        body.set(this.#rows.carry(i, at))
      })
    })
  }

  /** Appends a choice by M0 among the rows; the iteration is given up where M0 is beyond them. */
  #select(rows: readonly number[], depth: number, arm: (at: number, n: number) => void): void {
    const body = this.#body
    for (let i = 0; i <= rows.length; i++) body.block(OP.block)
    body
      .get(this.#uniform.local(M0))
      .i32(rows.length)
      .op(OP.i32GeU, OP.brIf)
      .u32(this.#fail(depth) + rows.length + 1)
    body
      .get(this.#uniform.local(M0))
      .op(OP.brTable)
      .u32(rows.length - 1)
    for (let i = 0; i < rows.length; i++) body.u32(i)
    rows.forEach((at, i) => {
      body.end()
      arm(at, i)
      body.op(OP.br).u32(rows.length - 1 - i)
    })
    body.end()
  }

  // --- between blocks

  /** Gives an iteration up where a value of it was seen that only the ordinary code can compute with. */
  #test(depth: number): void {
    if (!this.#hasFloats) return
    this.#chunks.forEach((chunk, i) => {
      chunk.pushTests(this.#body)
      if (i > 0) this.#body.simd(SIMD.or)
    })
    this.#body.simd(SIMD.anyTrue).op(OP.brIf).u32(this.#fail(depth))
  }

  /** Masks that are such behind an edge, but before it are the same for all groups. */
  #edge({ pc }: Block, to: number, depth: number): void {
    const { loop, before, after, behind, between, live } = this.nest
    const state = after.get(pc)!
    if (!loop.blocks.has(to)) this.#toBits(state, behind, behind.masks)
    else this.#toBits(state, before.get(to)!, live.get(to)!)
    const cut = between.get(to)
    if (cut !== undefined) this.#toBits(state, cut, cut.masks)
    if (cut !== undefined || !loop.blocks.has(to)) this.#test(depth)
  }
  #toBits(state: Holdings, next: Holdings, pairs: Iterable<number>): void {
    for (const pair of pairs) {
      if (next.mask(pair) === 'uniform' || state.mask(pair) !== 'uniform') continue
      this.#uniform.file.load(this.#body, pair, true)
      this.#slice(this.#body)
      this.#body.i64(this.#all).op(OP.i64And).set(this.#bitsOf(pair))
    }
  }

  #condition({ end }: Block): void {
    const { condition } = end as { condition: string }
    const body = this.#body
    if (condition.startsWith(RESUME))
      return void body
        .get(this.#resume)
        .i32(Number(condition.slice(RESUME.length)))
        .op(OP.i32Eq)
    if (condition.startsWith('scc')) {
      body.get(this.#uniform.local(SCC))
      if (condition === 'scc0') body.op(OP.i32Eqz)
      return
    }
    this.#uniform.file.load(body, condition.startsWith('vcc') ? scalarOffset(VCC_LO) : EXEC, true)
    body.op(OP.i64Eqz)
    if (condition.endsWith('nz')) body.op(OP.i32Eqz)
  }

  /** Begins an iteration, of an inner loop too, unless it is one too many or what is left may not be enough for all blocks. */
  #iterate(header: number, depth: number): void {
    const body = this.#body
    body.get(this.#iteration).get(this.#limit).op(OP.i32Eq).get(this.#spent).get(this.#room).op(OP.i32GtU, OP.i32Or).block(OP.if)
    body
      .i32(this.#exitTo(this.nest.between.get(header)!, this.#placeOf(header)))
      .set(this.#exit)
      .op(OP.br)
      .u32(depth + 1)
      .end()
    body.get(this.#iteration).i32(1).op(OP.i32Add).set(this.#iteration)
    // It is entered at one place only once.
    if (this.nest.resumes.includes(header)) body.i32(0).set(this.#resume)
    if (!this.#hasFloats) return
    this.#chunks.forEach((chunk, i) => {
      chunk.restart(body, this.#leasts[i]!)
    })
  }

  /** Where the guest's code goes on at a header. */
  #placeOf(header: number): number {
    const { loop, found } = this.nest
    const [first] = loop.blocks.get(header)!.steps
    if (header === loop.header) return found.header
    return first === undefined ? header : placeOf(first.pc, first.modes.key)
  }

  /** The number of a way out. */
  #exitTo(state: Holdings, pc: number): number {
    const known = this.#exits.findIndex((exit) => exit.state === state && exit.pc === pc)
    return known < 0 ? this.#exits.push({ state, pc }) - 1 : known
  }

  #writeBody(): void {
    writeLoop(this.#body, this.nest.loop, {
      iteration: (header, depth) => this.#iterate(header, depth),
      block: (block, depth) => this.#block(block, depth),
      condition: (block) => this.#condition(block),
      edge: (from, to, depth) => this.#edge(from, to, depth),
      exit: (from, to, depth) => {
        this.#edge(from, to, depth)
        this.#body.i32(this.#exitTo(this.nest.behind, to)).set(this.#exit).op(OP.br).u32(depth)
      },
    })
  }

  // --- the groups

  /** Appends all of it. */
  write(code: Code, ways: Ways): void {
    const { nest, context } = this
    const { locals, wave, left } = context
    const { longest } = nest
    this.#writeBody()
    const [ran, shadow] = [locals.fresh(I32), locals.fresh(I32)]
    const masks = new Set(this.#exits.flatMap(({ state }) => state.masks))
    const whole = new Map([...masks].map((at) => [at, locals.fresh(I64)]))
    const dirty = [...nest.dirty]

    if (nest.resumes.length > 0) code.op(OP.globalGet).u32(context.entry).set(this.#entered).i32(0).op(OP.globalSet).u32(context.entry)
    code.block(OP.block).op(OP.globalGet).u32(left).i32(longest).op(OP.i32LtU, OP.brIf).u32(0)
    if (nest.needsLanes) code.get(wave).memory(OP.i64Load, EXEC).op(OP.i64Eqz, OP.brIf).u32(0)
    code.op(OP.globalGet).u32(left).i32(longest).op(OP.i32Sub).set(this.#room).i32(0x7fffffff).set(this.#limit)
    code.block(OP.loop).block(OP.block)
    this.#uniform.fetch(code)
    code.append(this.#before)
    loadPool(code, locals, this.pool)
    code.v128(-1).set(this.#least)
    for (const value of this.#scalars) watchSmall(code, this.#least, value.arg)
    code.i32(0).tee(ran).set(this.#shift).get(wave).set(this.#rows.base)
    code.op(OP.globalGet).u32(locals.globalImport('SHADOW')).set(shadow)
    for (const local of whole.values()) code.i64(0n).set(local)

    code.block(OP.loop).block(OP.block)
    this.#beginGroup(code, ran)
    code.block(OP.block).append(this.#body).end()
    for (const [at, local] of whole) {
      code.get(this.#bitsOf(at)).get(this.#shift).op(OP.i64ExtendI32U, OP.i64Shl).get(local).op(OP.i64Or).set(local)
    }
    code.i32(1).set(ran).end()
    this.#rows.keep(code, dirty, shadow, this.#exec)
    this.#rows.next(code, shadow, this.#shift)
    code.end()

    this.#commit(code, dirty)
    this.#exits.forEach(({ state, pc }, number) => {
      code.get(this.#exit).i32(number).op(OP.i32Eq).block(OP.if)
      this.#commitMasks(code, state, whole)
      if (state === nest.behind) ways.goOn(pc)
      else if (ways.isAlone) ways.leave(pc)
      // The ordinary code is what comes behind.
      else if (pc === nest.found.header) code.op(OP.br).u32(3)
      else ways.goOn(pc)
      code.end()
    })
    code.op(OP.unreachable).end()
    code.get(this.#iteration).i32(1).op(OP.i32Sub).tee(this.#limit).op(OP.brIf).u32(0).end().end()
    nest.resumes.forEach((pc, i) => {
      code
        .get(this.#entered)
        .i32(i + 1)
        .op(OP.i32Eq)
        .block(OP.if)
      ways.leave(pc)
      code.end()
    })
    if (ways.isAlone) ways.leave(nest.found.header)
  }

  /** A group's own scalars, masks and rows. A group without active lanes has nothing to do where its masks are zero then. */
  #beginGroup(code: Code, ran: number): void {
    const { nest } = this
    const { wave } = this.context
    const { header } = nest.loop
    const slice = (at: number, local: number) => {
      this.#slice(code.get(wave).memory(OP.i64Load, at))
      code.i64(this.#all).op(OP.i64And).set(local)
    }
    slice(EXEC, this.#exec)
    this.#rows.setActive(code, this.#exec)
    if (this.#exits.every(({ state }) => state.masks.every((at) => state.mask(at) === 'lanes'))) {
      // One group must run, for the scalars.
      code
        .get(this.#exec)
        .op(OP.i64Eqz)
        .get(ran)
        .get(this.#shift)
        .i32(64 - this.#lanes)
        .op(OP.i32Ne, OP.i32Or, OP.i32And, OP.brIf)
        .u32(0)
    }
    for (const at of nest.live.get(header)!) if (nest.before.get(header)!.mask(at) !== 'uniform') slice(at, this.#bitsOf(at))
    this.#uniform.restore(code)
    this.#rows.fetch(code)
    code.append(this.#lds.once)
    this.#chunks.forEach((chunk, i) => {
      code.get(this.#least).set(this.#leasts[i]!)
      chunk.watchConstants(code, this.#leasts[i]!)
    })
    code.i32(0).tee(this.#iteration).set(this.#spent)
    // The first iteration is that of the loop where it is entered.
    if (nest.resumes.length > 0) code.get(this.#entered).tee(this.#resume).block(OP.if).i32(-1).set(this.#iteration).end()
    for (const local of this.#runs.values()) code.i32(0).set(local)
  }

  /** All groups are done: writes what they did to the wave. */
  #commit(code: Code, dirty: readonly number[]): void {
    const { nest, context } = this
    const { locals, wave, left } = context
    this.#rows.commit(code, dirty, wave)
    for (const at of this.#uniform.written) code.get(wave).get(this.#uniform.local(at)).memory(OP.i32Store, at)
    code.op(OP.globalGet).u32(left).get(this.#spent).op(OP.i32Sub, OP.globalSet).u32(left)
    for (const [block, runs] of this.#runs)
      for (const step of block.steps)
        if (isApproximate(step, nest)) countApproximate(code, wave, step, locals, () => code.get(runs).op(OP.i64ExtendI32U))
  }
  #commitMasks(code: Code, state: Holdings, whole: ReadonlyMap<number, number>): void {
    const { wave } = this.context
    for (const at of state.masks) code.get(wave).get(whole.get(at)!).memory(OP.i64Store, at)
    const of = state.sccOf
    if (typeof of === 'number') code.get(wave).get(whole.get(of)!).i64(0n).op(OP.i64Ne).memory(OP.i32Store, SCC)
  }
}

const isApproximate = (step: Step, nest: GraphNest): boolean => nest.roleOf(step) === 'lanes' && (step.flags & FLAG_APPROXIMATE) !== 0

/** Scalars that an instruction changes. */
function scalarWrites(step: Step, role: Role): readonly number[] {
  if (role === 'scalar') return [...scalarUses(step).writes]
  if (step.operation.name === GETPC) return [step.dst, step.dst + 4]
  return loadsScalars(step.operation) ? [...loadWrites(step)] : []
}

/** The number (of a local, for instance) that belongs to a key; a new one where there is none yet. */
function localIn<K>(map: Map<K, number>, key: K, make: () => number): number {
  const known = map.get(key)
  if (known !== undefined) return known
  const local = make()
  map.set(key, local)
  return local
}
