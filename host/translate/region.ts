import {
  EXEC_LO,
  MACHINE_REGIONS_NUMBER,
  scalarOffset,
  VCC_LO,
  WAVE_INSTRUCTIONS,
  WAVE_MACHINE,
  WAVE_PC,
  WAVE_SCC,
  WAVE_STOP,
} from '../plan/layout.ts'
import { BlockWriter } from './block/block.ts'
import { findGrained } from './block/flow.ts'
import { rolesOf } from './block/lane-roles.ts'
import { pushLanes, watchSmall } from './block/lane-values.ts'
import { BLOCK, BlockLocals, JUMPED, LEAVE, RegionModule, WAVE } from './block/region-module.ts'
import { isStaged } from './block/stages.ts'
import { SMALL } from './code/grain.ts'
import { BLOCK_LIMIT, type Block, type Step, successors } from './code/graph.ts'
import { visitLoops } from './code/loops.ts'
import { flushesOtherwise } from './code/modes.ts'
import { modeAt, pcOf } from './code/place.ts'
import type { Role } from './code/roles.ts'
import { NestWriter } from './nest/nest.ts'
import { type GraphNest, planGraphNest } from './nest/nest-flow.ts'
import { writeGraphNest } from './nest/nest-graph.ts'
import { type Evaluate, planNest } from './nest/nest-plan.ts'
import { addRounds } from './rounds.ts'
import type { Kernels } from './wasm/kernels.ts'
import { Code, type FunctionType, I32, I64, OP, SIMD, V128 } from './wasm/wasm.ts'

const RUN: FunctionType = { parameters: [I32, I32, I32], results: [I32] }
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
