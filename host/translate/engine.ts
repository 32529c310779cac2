/** The translating engine: the core interprets, and what it runs often becomes WebAssembly of its own. */
import { type CoreEngine, type CoreOptions, createCore, joinCore } from '../core/engine.ts'
import { type Engine, type EngineSeed, Stop, type Translated } from '../engine.ts'
import { PROGRAM_ID, WAVE_INSTRUCTIONS, WAVE_MODE, WAVE_PC, WAVE_PROGRAM, WAVE_SIZE, WAVE_STOP } from '../plan/layout.ts'
import { BLOCK_LIMIT, readBlocks } from './graph.ts'
import { Kernels } from './kernels.ts'
import { MODE_GPR_IDX_EN, MODE_KEY, modesOf } from './modes.ts'
import type { Evaluate } from './nest.ts'
import { translate } from './region.ts'

export interface TranslateEngine extends Engine {
  readonly name: 'translate'
  readonly build: CoreEngine['build']
  readonly translated: Translated
}

export interface TranslateOptions extends CoreOptions {
  /**
   * Instructions that a program is interpreted for before it is translated.
   * @default 20000
   */
  readonly threshold?: number
}

/** A translated program at one MODE. */
interface Translation {
  /** Block that starts at a pc. */
  readonly entries: ReadonlyMap<number, number>
  /** Instructions from a pc inside a block to the block's end. */
  readonly rest: ReadonlyMap<number, number>
  readonly run: (wave: number, left: number, block: number) => number
}

/** What is known of a program at one MODE: how long it was interpreted, then its translation. */
interface Program {
  /** Instructions interpreted since the last translation. */
  interpreted: number
  translation: Translation | undefined
  /** Translations so far; each waits longer than the one before. */
  rounds: number
  /** How often translated code was left because values were not grained as they were taken to be. */
  doubts: number
}

/** Instructions that the interpreter runs at a time while a program is cold, or outside of what is translated. */
const COLD_SLICE = 2000
/** How much longer than the threshold a program is interpreted while no wave ends. */
const PATIENCE = 10
/** Doubts after which a program is translated anew, every block testing what it reads. */
const DOUBT_LIMIT = 1000
/** Programs at once; when there are more, all are forgotten. */
const PROGRAM_LIMIT = 64
class Translator implements TranslateEngine {
  readonly name = 'translate'
  readonly #programs = new Map<number, Program>()
  readonly #threshold: number
  #kernels: Kernels | undefined
  #regions = 0
  #bytes = 0
  #seconds = 0
  #refused: string | undefined

  constructor(
    private readonly core: CoreEngine,
    options: TranslateOptions,
  ) {
    this.#threshold = options.threshold ?? 20_000
    if (core.material.bytes === undefined) this.#refused = 'the core was given as a compiled module; give its bytes'
  }

  get build() {
    return this.core.build
  }
  get shared() {
    return this.core.shared
  }
  get heapBase() {
    return this.core.heapBase
  }
  get memory() {
    return this.core.memory
  }
  get translated(): Translated {
    const refused = this.#refused === undefined ? {} : { refused: this.#refused }
    return { regions: this.#regions, bytes: this.#bytes, seconds: this.#seconds, ...refused }
  }

  grow(bytes: number): void {
    this.core.grow(bytes)
  }

  run(wave: number, budget: number): Stop {
    let left = budget
    for (;;) {
      const view = new DataView(this.memory)
      const program = this.#program(view, wave)
      const translation = program?.translation
      const pc = view.getUint32(wave + WAVE_PC, true)
      const block = translation?.entries.get(pc)
      if (translation && block !== undefined) {
        const result = this.#enter(translation, wave, left, block)
        if (result < 0) return view.getUint32(wave + WAVE_STOP, true) as Stop
        left = result
        if (left === 0) return this.core.run(wave, 0)
        // Code that is translated was left, and not for want of budget.
        const doubted = left > BLOCK_LIMIT && translation.rest.has(new DataView(this.memory).getUint32(wave + WAVE_PC, true))
        if (doubted && ++program!.doubts === DOUBT_LIMIT) this.#retranslate(program!, wave)
      }
      // Behind translated code one instruction is what the translation cannot do; inside a block the interpreter goes to its end.
      const slice = Math.min(left, block === undefined ? (translation?.rest.get(pc) ?? Math.min(COLD_SLICE, this.#threshold)) : 1)
      const before = view.getBigUint64(wave + WAVE_INSTRUCTIONS, true)
      const stop = this.core.run(wave, slice)
      const done = Number(new DataView(this.memory).getBigUint64(wave + WAVE_INSTRUCTIONS, true) - before)
      left -= done
      if (program && block === undefined) this.#warm(program, wave, done, stop === Stop.End)
      if (stop !== Stop.Budget || left === 0) return stop
    }
  }

  /** Runs translated code; what it did is counted as the core counts. */
  #enter({ run }: Translation, wave: number, left: number, block: number): number {
    this.core.material.enter(wave)
    const result = run(wave, left, block)
    const done = left - (result < 0 ? ~result : result)
    const view = new DataView(this.memory)
    view.setBigUint64(wave + WAVE_INSTRUCTIONS, view.getBigUint64(wave + WAVE_INSTRUCTIONS, true) + BigInt(done), true)
    if (result < 0) view.setUint32(wave + WAVE_STOP, this.core.material.stopped(), true)
    return result
  }

  #program(view: DataView, wave: number): Program | undefined {
    const mode = view.getUint32(wave + WAVE_MODE, true)
    if (this.#refused !== undefined || view.getUint32(wave + WAVE_SIZE, true) !== 64 || mode & MODE_GPR_IDX_EN) return undefined
    const id = view.getUint32(view.getUint32(wave + WAVE_PROGRAM, true) + PROGRAM_ID, true)
    const key = id * 256 + (mode & MODE_KEY)
    let program = this.#programs.get(key)
    if (program === undefined) {
      if (this.#programs.size >= PROGRAM_LIMIT) this.#programs.clear()
      program = { interpreted: 0, translation: undefined, rounds: 0, doubts: 0 }
      this.#programs.set(key, program)
    }
    return program
  }

  /**
   * Counts interpreted instructions. A program that has had enough of them is translated when a wave ends, since its code is planned
   * by then, or when it has had many; again when more of it turns out to be hot.
   */
  #warm(program: Program, wave: number, instructions: number, ended: boolean): void {
    program.interpreted += instructions
    const enough = this.#threshold * 4 ** program.rounds
    if (program.interpreted < (ended ? enough : PATIENCE * enough)) return
    program.interpreted = 0
    program.rounds++
    this.#retranslate(program, wave)
  }

  #retranslate(program: Program, wave: number): void {
    const start = performance.now()
    try {
      program.translation = this.#translate(wave, program.doubts < DOUBT_LIMIT)
    } catch (error) {
      // A policy that forbids compiling at run time: interpreting goes on and the statistics say why.
      if (!(error instanceof WebAssembly.CompileError || error instanceof EvalError)) throw error
      this.#refused = error.message
    }
    this.#seconds += (performance.now() - start) / 1000
  }

  /** Asks the core what a scalar operation gives. */
  readonly #evaluate: Evaluate = (name, args) =>
    (this.core.material.imports[name] as unknown as (...args: (bigint | number)[]) => bigint)(...args)

  #translate(wave: number, trusting: boolean): Translation {
    const view = new DataView(this.memory)
    this.#kernels ??= new Kernels(this.core.material.bytes!)
    const blocks = readBlocks(this.memory, view.getUint32(wave + WAVE_PROGRAM, true))
    const region = translate(blocks, modesOf(view.getUint32(wave + WAVE_MODE, true)), this.#kernels, trusting, this.#evaluate)
    const module = new WebAssembly.Module(region.bytes)
    const { exports } = new WebAssembly.Instance(module, { core: { ...this.core.material.imports, ...ownGlobals() } })
    this.#regions++
    this.#bytes += region.bytes.length
    const rest = new Map([...blocks.values()].flatMap(({ steps }) => steps.map((step, i) => [step.pc, steps.length - i] as const)))
    return { entries: region.entries, rest, run: exports.run as Translation['run'] }
  }
}

/**
 * Makes the translating engine: results are the same bits as the core's.
 * @throws {CoreError} the core cannot be compiled here
 */
export async function createTranslate(options: TranslateOptions = {}): Promise<TranslateEngine> {
  return new Translator(await createCore(options), options)
}

/** Makes one more engine on memory that another thread's engine has. */
export async function joinTranslate(seed: EngineSeed): Promise<TranslateEngine> {
  return new Translator(await joinCore(seed), {})
}

/** The globals of a new module: instructions left, and what is out of date (region.ts). */
function ownGlobals(): Record<string, WebAssembly.Global> {
  return Object.fromEntries(['left', 'stale', 'unsure'].map((name) => [name, new WebAssembly.Global({ value: 'i32', mutable: true }, 0)]))
}
