/** The translating engine: the core interprets, and what it runs often becomes WebAssembly of its own. */
import { type CoreEngine, type CoreOptions, createCore, joinCore } from '../core/engine.ts'
import { type Engine, type EngineSeed, type SentTranslation, Stop, type Translated, type Translations } from '../engine.ts'
import { PROGRAM_ID, WAVE_INSTRUCTIONS, WAVE_MODE, WAVE_PC, WAVE_PROGRAM, WAVE_SIZE, WAVE_STOP } from '../plan/layout.ts'
import { ROUNDS_END, ROUNDS_LEFT, ROUNDS_LEFT_OF_TURN, ROUNDS_TURN, ROUNDS_WAVE } from '../plan/rounds.ts'
import { INTERPRETED_MODES, MODE_KEY } from './code/modes.ts'
import { placeOf } from './code/place.ts'
import { plannedOf } from './code/planned.ts'
import type { Maker } from './make.ts'
import { contentOf, type Origin, type Remembered, recall, remember, remembers } from './recall.ts'
import { linkTranslation, type Translation } from './translation.ts'
import { MOST_SAVED, worthOf } from './worth.ts'

export interface TranslateEngine extends Engine {
  readonly name: 'translate'
  readonly build: CoreEngine['build']
  readonly translated: Translated
  readonly translations: Translations
  /** Loops that were written to run group by group (nest.ts), in all translations so far. */
  readonly nests: number
}

export interface TranslateOptions extends CoreOptions {
  /**
   * Instructions that a program is interpreted for before it is translated, whether that pays or not.
   * @default as soon as what is left to do is expected to take longer than translating
   */
  readonly threshold?: number
}

/** What is known of a program at one MODE: how long it was interpreted, then its translation. */
interface Program {
  /** Bits of MODE by which it is translated: a wave may have changed its own by the time that is done. */
  readonly mode: number
  /** Instructions interpreted since the last translation. */
  interpreted: number
  /** Waves that ended meanwhile, and the instructions of their whole lives. */
  ended: number
  lived: number
  /** How many instructions there must be to come before it is worth asking again whether translating pays; with a threshold, have been interpreted. */
  asked: number
  /** With a threshold: instructions that were planned when that was asked last. */
  planned: number
  /** How many must have been interpreted before it is worth looking again for a translation that is remembered. */
  sought: number
  /** One made for this MODE, or if there is none one for another MODE, whose code changes to this one. */
  translation: Translation | undefined
  /** Its blocks at this MODE. */
  blocks: Int32Array | undefined
  /** Translations so far; each waits longer than the one before. */
  rounds: number
  /** How often translated code was left because values were not grained as they were taken to be. */
  doubts: number
  /** Instructions that translated code has run since the last of them. */
  ran: number
}

/** Instructions that the interpreter runs at a time while a program is cold, or outside of what is translated. */
const COLD_SLICE = 2000
/** How much longer than the threshold a program is interpreted while no wave ends: code that it comes to later is not planned yet. */
const PATIENCE = 10
/**
 * With a threshold: a program of more planned instructions takes so long to translate that it had better be done once. It waits until nothing new
 * was planned for as long as it has run, or its wave ends, and again until so many instructions were interpreted for each that is planned.
 */
const LARGE = { instructions: 400, again: 8 } as const
/**
 * What translating costs, in nanoseconds: for the first program of a thread (the translator is still to be loaded) and for others; for each
 * planned instruction, and more for the first ones, while the translator's code is cold.
 */
const FIRST_PRICE = 30_000_000
const NEXT_PRICE = 4_000_000
const PRICE = 30_000
const COLD_PRICE = 40_000
const COLD_INSTRUCTIONS = 400
/** Before the first wave has ended, one of so many is taken to run as long as that has run by then. */
const SURE = 4
/** What a thread that joined counts as done: the thread that began before is about to translate, and will send what it made. */
const JOINED_ROUNDS = 2
/**
 * Where translating does not pay, so many calls of `run` go to the core uncounted before one is counted again, more each time: counting takes
 * a fifth of what a wave of fifty instructions does. With the counted one they are primes, so that they do not fall into step with the waves
 * of workgroups.
 */
const CALM = [60, 126, 250, 508, 1020, 2038, 4090] as const
/** Doubts after which a program is translated anew, every block testing what it reads. */
const DOUBT_LIMIT = 1000
/** Translated instructions that are worth a doubt. */
const FORGIVEN = 300
/** Program ids and modes make one key: there are so many of the latter. */
const MODES = MODE_KEY + 1
/** Programs at once; when there are more, all are forgotten. */
const PROGRAM_LIMIT = 64
/** Whether no engine of this thread has translated anything yet. */
let isCold = true

class Translator implements TranslateEngine, Translations {
  readonly name = 'translate'
  readonly #programs = new Map<number, Program>()
  readonly #threshold: number | undefined
  /** Waves that are still to come, as far as is known. */
  #expected = 0
  /** Calls of `run` that are not counted, and instructions that waves that end there may have run. */
  #calm = 0
  /** Which of CALM comes next. */
  #patience = 0
  #words: Uint32Array
  /** Of the wave that ran last: its program's id, the bits of MODE that matter, and what is known of these. */
  #lastId = 0
  #lastMode = 0
  #last: Program | undefined
  #maker: Maker | undefined
  #isLoading = false
  #runsRounds = false
  #regions = 0
  #nests = 0
  #bytes = 0
  #recalled = 0
  #seconds = 0
  #refused: string | undefined
  onMade: ((made: SentTranslation) => void) | undefined

  /** @param joined whether another thread runs the same programs, and began before */
  constructor(
    private readonly core: CoreEngine,
    options: TranslateOptions,
    private readonly joined = false,
  ) {
    this.#threshold = options.threshold
    this.#words = new Uint32Array(core.memory)
    if (core.material.bytes === undefined) this.#refused = 'the core was given as a compiled module; give its bytes'
  }

  /** Loads what translates: most of this engine's code, and not needed at once. Until then all is interpreted. */
  async load(): Promise<void> {
    const { bytes } = this.core.material
    if (bytes === undefined || this.#isLoading) return
    this.#isLoading = true
    try {
      const { Maker } = await import('./make.ts')
      this.#maker = new Maker(this.core.material, bytes)
    } catch (error) {
      this.#refused = error instanceof Error ? error.message : String(error)
    }
  }

  get build() {
    return this.core.build
  }
  get shared() {
    return this.core.shared
  }
  get templates() {
    return this.core.templates
  }
  get heapBase() {
    return this.core.heapBase
  }
  get memory() {
    return this.core.memory
  }
  get translated(): Translated {
    const refused = this.#refused === undefined ? {} : { refused: this.#refused }
    return { regions: this.#regions, bytes: this.#bytes, recalled: this.#recalled, seconds: this.#seconds, ...refused }
  }

  get runsRounds(): boolean {
    return this.#runsRounds
  }

  get nests(): number {
    return this.#nests
  }

  get translations(): Translations {
    return this
  }

  of(program: number): readonly SentTranslation[] {
    // Not by the address: a program of an earlier device may have been at the same one.
    const id = this.#idOf(program)
    const translations = [...this.#programs].map(([key, { translation }]) => (Math.floor(key / MODES) === id ? translation : undefined))
    return [...new Set(translations)].filter((translation) => translation !== undefined).map(sentOf)
  }

  adopt(program: number, made: SentTranslation): void {
    const id = this.#idOf(program)
    const known = this.#programOf(id, made.mode)
    const { translation } = known
    // What this thread has made itself may know more of the code.
    if (made.trusting && translation?.mode === made.mode && translation.rest.size > made.rest.size) return
    this.#give(id, linkTranslation(made, this.core.material, this.memory))
    if (!made.trusting) known.doubts = DOUBT_LIMIT
    this.#calm = 0
  }

  /** Gives a program's new translation to waves of all MODEs that it has code for, where they have none of their own. */
  #give(id: number, translation: Translation): void {
    this.#runsRounds = true
    for (const [mode, blocks] of translation.blocks) {
      const known = this.#programOf(id, mode)
      if (mode !== translation.mode && known.translation?.mode === mode) continue
      known.translation = translation
      known.blocks = blocks
    }
  }

  grow(bytes: number): void {
    this.core.grow(bytes)
  }

  expect(waves: number): void {
    // Another dispatch.
    if (waves > this.#expected) {
      this.#calm = 0
      this.#patience = 0
    }
    this.#expected = waves
  }

  run(wave: number, budget: number): Stop {
    if (this.#calm === 0) return this.#run(wave, budget)
    this.#calm--
    const stop = this.core.run(wave, budget)
    // A wave that goes on and on may be worth it yet; and so ends what is run at a stretch, every few milliseconds.
    if (stop === Stop.Budget) this.#calm = 0
    return stop
  }

  runRounds(rounds: number): void {
    const program = this.#program(this.#word(rounds + ROUNDS_WAVE))
    const translation = program?.translation
    if (translation === undefined) return
    const all = this.#word(rounds + ROUNDS_LEFT)
    translation.runRounds(rounds, translation.mode)
    const turn = this.#word(rounds + ROUNDS_LEFT_OF_TURN)
    const left = Math.min(turn, this.#word(rounds + ROUNDS_LEFT))
    program!.ran += all - this.#word(rounds + ROUNDS_LEFT)
    const wave = this.#word(rounds + ROUNDS_WAVE)
    if (wave !== this.#word(rounds + ROUNDS_END)) this.#doubt(program!, wave, left)
    // A wave that has run out of instructions between two blocks.
    if (left === 0 && turn < this.#word(rounds + ROUNDS_TURN)) this.core.run(wave, 0)
  }

  /** Counts a doubt where code that is translated was left, and not for want of budget; few among many instructions are none. */
  #doubt(program: Program, wave: number, left: number): void {
    const { trusting, longest, rest } = program.translation!
    if (!trusting || left <= longest || !rest.has(this.#placeOf(wave))) return
    program.doubts = Math.max(0, program.doubts - program.ran / FORGIVEN) + 1
    program.ran = 0
    if (program.doubts >= DOUBT_LIMIT) this.#retranslate(program, wave)
  }

  #run(wave: number, budget: number): Stop {
    // The core alone, and at once: such a program has a place for the first of its records only.
    if (this.#idOf(this.#word(wave + WAVE_PROGRAM)) === 0) return this.core.run(wave, budget)
    let left = budget
    for (;;) {
      const program = this.#program(wave)
      const words = this.#words
      const at = wave >>> 2
      const translation = program?.translation
      const pc = words[at + WAVE_PC / 4]!
      const block = blockAt(program?.blocks, pc)
      if (translation !== undefined && block >= 0) {
        const all = left
        left = translation.run(wave, all, block)
        program!.ran += all - (left < 0 ? ~left : left)
        if (left < 0) return words[at + WAVE_STOP / 4]! as Stop
        if (left === 0) return this.core.run(wave, 0)
        this.#doubt(program!, wave, left)
      }
      // Inside a block the interpreter goes to its end, at whatever MODE; what the translation cannot do is one instruction.
      const cold = block < 0 ? Math.min(COLD_SLICE, this.#threshold ?? COLD_SLICE) : 1
      const rest = translation?.rest.get(this.#placeOf(wave))
      const slice = Math.min(left, rest ?? cold)
      const before = words[at + WAVE_INSTRUCTIONS / 4]!
      const stop = this.core.run(wave, slice)
      // A slice is far below 2^32, so the low dword tells.
      const done = (words[at + WAVE_INSTRUCTIONS / 4]! - before) >>> 0
      left -= done
      // What is left of translated code, where a budget ended in it, is not worth translating again.
      if (program && block < 0 && rest === undefined) this.#warm(program, wave, done, stop)
      if (stop !== Stop.Budget || left === 0) return stop
    }
  }

  #placeOf(wave: number): number {
    return placeOf(this.#word(wave + WAVE_PC), this.#word(wave + WAVE_MODE) & MODE_KEY)
  }

  /** What is known of a wave's program at its MODE; undefined where that is interpreted in any case. */
  #program(wave: number): Program | undefined {
    const at = wave >>> 2
    // Shared memory that has grown leaves `#words` as it was, with half of the wave's header perhaps: this is the last word that is read of it.
    if (at + WAVE_STOP / 4 >= this.#words.length) this.#words = new Uint32Array(this.core.memory)
    const id = this.#idOf(this.#words[at + WAVE_PROGRAM / 4]!)
    const mode = this.#words[at + WAVE_MODE / 4]!
    if (this.#refused !== undefined || this.#words[at + WAVE_SIZE / 4] !== 64 || mode & INTERPRETED_MODES) return undefined
    const key = mode & MODE_KEY
    if (this.#last !== undefined && id === this.#lastId && key === this.#lastMode) return this.#last
    this.#lastId = id
    this.#lastMode = key
    this.#last = this.#programOf(id, key)
    return this.#last
  }

  #idOf(program: number): number {
    return this.#word(program + PROGRAM_ID)
  }

  /** A word of the core's memory, which grows between runs, and not while a wave runs: then `#words` has ended, or ends before the word. */
  #word(address: number): number {
    const word = this.#words[address >>> 2]
    if (word !== undefined) return word
    this.#words = new Uint32Array(this.core.memory)
    return this.#words[address >>> 2]!
  }

  #programOf(id: number, mode: number): Program {
    const key = id * MODES + mode
    let program = this.#programs.get(key)
    if (program === undefined) {
      if (this.#programs.size >= PROGRAM_LIMIT) {
        this.#programs.clear()
        this.#last = undefined
      }
      program = {
        mode,
        interpreted: 0,
        ended: 0,
        lived: 0,
        asked: 0,
        planned: 0,
        sought: 0,
        translation: undefined,
        blocks: undefined,
        rounds: this.joined ? JOINED_ROUNDS : 0,
        doubts: 0,
        ran: 0,
      }
      this.#programs.set(key, program)
    }
    return program
  }

  /**
   * Counts interpreted instructions. A program is translated when that pays or when it has had enough of them; best when a wave ends,
   * since its code is planned by then. Again when more of it turns out to be hot.
   */
  #warm(program: Program, wave: number, instructions: number, stop: Stop): void {
    const ended = stop === Stop.End
    program.interpreted += instructions
    if (ended) {
      program.ended++
      // Whoever runs for 2^32 instructions has been translated.
      program.lived += this.#word(wave + WAVE_INSTRUCTIONS)
    }
    const done =
      this.#threshold === undefined
        ? this.#seek(program, wave) || (this.#isReady && this.#pays(program, wave, stop) && this.#retranslate(program, wave))
        : this.#isReady && this.#isEnough(program, wave, this.#threshold, ended) && this.#retranslate(program, wave)
    if (!done) return
    program.interpreted = 0
    program.ended = 0
    program.lived = 0
    program.asked = 0
    program.sought = 0
    program.rounds++
  }

  /** Whether it is worth asking for a translation: not while what translates is being loaded. */
  get #isReady(): boolean {
    return !this.#isLoading || this.#maker !== undefined
  }

  /** With a threshold: enough is enough. */
  #isEnough(program: Program, wave: number, threshold: number, ended: boolean): boolean {
    const { interpreted, rounds, asked, planned } = program
    if (interpreted < Math.max(asked, (ended ? 1 : PATIENCE) * threshold * 4 ** rounds)) return false
    program.planned = plannedOf(this.memory, this.#word(wave + WAVE_PROGRAM)).length
    if (program.planned <= LARGE.instructions) return true
    const settled = ended || program.planned === planned ? interpreted : 2 * interpreted
    program.asked = Math.max(settled, rounds === 0 ? 0 : LARGE.again * program.planned)
    return interpreted >= program.asked
  }

  /** Looks whether what is planned by now was translated before; each time after twice as many instructions. */
  #seek(program: Program, wave: number): boolean {
    if (program.interpreted < program.sought || this.joined || !remembers(this.core.material.bytes!)) return false
    program.sought = 2 * program.interpreted
    return this.#recall(program, wave, this.#originOf(program, wave))
  }

  #recall(program: Program, wave: number, origin: Origin): boolean {
    const start = performance.now()
    const made = recall(origin)
    if (made === undefined || made.module === program.translation?.module) return false
    const sent = { ...made, program: this.#word(wave + WAVE_PROGRAM) }
    this.#take(wave, linkTranslation(sent, this.core.material, this.memory), made)
    this.#recalled++
    this.#seconds += (performance.now() - start) / 1000
    return true
  }

  /** What a wave's program would be translated from now. */
  #originOf({ mode, doubts }: Program, wave: number): Origin {
    const content = contentOf(this.memory, this.#word(wave + WAVE_PROGRAM), mode, doubts < DOUBT_LIMIT)
    return { core: this.core.material.bytes!, content }
  }

  #take(wave: number, translation: Translation, { bytes, nests }: Pick<Remembered, 'bytes' | 'nests'>): void {
    this.#give(this.#idOf(this.#word(wave + WAVE_PROGRAM)), translation)
    this.#regions++
    this.#bytes += bytes
    this.#nests += nests
    this.onMade?.(sentOf(translation))
  }

  /** Whether translating is expected to save more than it costs. */
  #pays(program: Program, wave: number, stop: Stop): boolean {
    const { asked, rounds } = program
    const { waves, instructions } = this.#foresee(program, wave)
    const likely = waves * instructions
    if (likely * MOST_SAVED > priceOf(0, rounds) && likely >= asked) {
      const address = this.#word(wave + WAVE_PROGRAM)
      const { count, saved } = worthOf(this.memory, address, instructions)
      if (waves * saved > priceOf(count, rounds)) {
        program.asked = 0
        return true
      }
      // There is no need to ask again soon.
      program.asked = 2 * likely
    }
    if ((stop === Stop.End || stop === Stop.Barrier) && !this.joined && !this.#hasTranslated(wave)) {
      this.#calm = CALM[this.#patience]!
      this.#patience = Math.min(this.#patience + 1, CALM.length - 1)
    }
    return false
  }

  /**
   * Waves that are likely to interpret the program, and how many instructions. Who joined expects nothing of waves to come, for the first
   * thread does, and sends what it makes: it takes this one to go on for as long as it has run.
   */
  #foresee({ interpreted, ended, lived, rounds }: Program, wave: number): { waves: number; instructions: number } {
    if (this.joined) return { waves: 1, instructions: interpreted }
    // Later, translated code runs most of a wave.
    const interpretedOf = (whole: number) => (rounds === 0 ? whole : Math.min(interpreted, whole))
    const own = interpretedOf(this.#word(wave + WAVE_INSTRUCTIONS))
    if (ended === 0) return { waves: Math.max(1, this.#expected / SURE), instructions: own }
    const mean = interpretedOf(lived) / ended
    return this.#expected * mean >= own ? { waves: this.#expected, instructions: mean } : { waves: 1, instructions: own }
  }

  /** Whether there is a translation of a wave's program, at any MODE. */
  #hasTranslated(wave: number): boolean {
    const id = this.#idOf(this.#word(wave + WAVE_PROGRAM))
    for (const [key, { translation }] of this.#programs) if (translation !== undefined && Math.floor(key / MODES) === id) return true
    return false
  }

  /** @returns false where what translates is not loaded yet: the dispatch goes on meanwhile */
  #retranslate(program: Program, wave: number): boolean {
    const origin = this.#originOf(program, wave)
    if (this.#recall(program, wave, origin)) return true
    if (this.#maker === undefined) {
      this.load()
      return false
    }
    const start = performance.now()
    try {
      const { mode, doubts, translation: before } = program
      const made = this.#maker.make(this.memory, this.#word(wave + WAVE_PROGRAM), mode, doubts < DOUBT_LIMIT, before)
      isCold = false
      this.#take(wave, made.translation, made)
      // What refers to records of another program, too, runs only here.
      if (made.translation.elder === undefined) remember(origin, { ...sentOf(made.translation), bytes: made.bytes, nests: made.nests })
    } catch (error) {
      // A policy that forbids compiling at run time: interpreting goes on and the statistics say why.
      if (!(error instanceof WebAssembly.CompileError || error instanceof EvalError)) throw error
      this.#refused = error.message
    }
    this.#seconds += (performance.now() - start) / 1000
    return true
  }
}

/**
 * Makes the translating engine: results are the same bits as the core's.
 * @throws {CoreError} the core cannot be compiled here
 */
export async function createTranslate(options: TranslateOptions = {}): Promise<TranslateEngine> {
  const engine = new Translator(await createCore(options), options)
  // Who says when to translate gets it then.
  if (options.threshold !== undefined) await engine.load()
  return engine
}

/** Makes one more engine on memory that another thread's engine has. */
export async function joinTranslate(seed: EngineSeed, options: TranslateOptions = {}): Promise<TranslateEngine> {
  const engine = new Translator(await joinCore(seed), options, true)
  if (options.threshold !== undefined) await engine.load()
  return engine
}

const sentOf = ({ program, mode, module, entries, rest, longest, trusting }: Translation): SentTranslation => ({
  program,
  mode,
  module,
  entries,
  rest,
  longest,
  trusting,
})

const blockAt = (blocks: Int32Array | undefined, pc: number): number => (pc & 3 ? -1 : (blocks?.[pc >>> 2] ?? -1))

/** Nanoseconds that translating so many instructions takes; each round has to gain four times as much as the one before. */
function priceOf(count: number, rounds: number): number {
  const price = isCold ? FIRST_PRICE + COLD_PRICE * Math.min(count, COLD_INSTRUCTIONS) : NEXT_PRICE
  return (price + PRICE * count) * 4 ** rounds
}
