/**
 * Runs workgroups one after another, and the waves of a workgroup in turns. A workgroup in which nothing can run before waves of other
 * workgroups have done something (GWS, ordered counts) is set aside until then. What runs when depends on instruction counts alone, never on time,
 * so two executions of the same work on two engines stay in step whatever the size of their steps.
 */
import { Stop } from '../engine.ts'
import { CoreError, type LanewiseError, LimitError } from '../errors.ts'
import { WAVE_INSTRUCTIONS, WAVE_STOP } from '../plan/layout.ts'
import { ROUNDS_FIRST, ROUNDS_GROUPS, ROUNDS_LEFT, ROUNDS_LEFT_OF_TURN, ROUNDS_STRIDE, ROUNDS_TURN, ROUNDS_WAVE } from '../plan/rounds.ts'
import { actsBeyondWaves, Beyond, type Sent, type Wait } from './beyond.ts'
import type { Device } from './device.ts'
import { faultOf, placeOf } from './faults.ts'
import type { DispatchTwin } from './launch.ts'
import { hex } from './memory.ts'
import { type Schedule, type Scheduler, schedulerOf } from './schedule.ts'
import { pause, SLICE_MS, Slices } from './slices.ts'
import { deadlock, deadlockOfAll, exhausted, type Stall, type Standing, whoStands } from './stalls.ts'
import type { Wave } from './wave.ts'

/** What an execution runs: workgroups that are laid out in the same wave blocks, one after another. */
export interface Workload {
  /** What another thread runs the same workgroups from; absent where only this one can. */
  readonly twin?: (() => DispatchTwin) | undefined
  readonly groupCount: number
  /** Lays out the waves of a workgroup, and its LDS. */
  prepare(group: number): readonly Wave[]
  /**
   * Address of what an engine needs to run the waves of the present workgroup by itself, and of those that follow it and begin alike, `most` of them at
   * most (host/plan/rounds.ts). Absent where that is not possible.
   */
  rounds?(group: number, most: number): number
  /**
   * Copies all that waves of the present workgroup have of their own. Absent where there is only one workgroup.
   * @returns puts it back, any number of times
   */
  setAside?(waves: readonly Wave[]): () => void
  /** Coordinates of a workgroup in the grid. */
  position(group: number): readonly [number, number, number]
  /** Gives linear and guest memory back. */
  free(): void
}

/** Gives workgroups that are to run: the first one's number and that behind the last, each time greater ones; undefined when there are no more. */
export type Claim = () => readonly [from: number, to: number] | undefined

/** Limits of a run, and how it is followed and stopped. */
export interface RunOptions {
  /** Wave instructions in all, 1 to 2^53; default 2^32. */
  readonly budget?: number
  /** Stops within a few milliseconds and rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Workgroups done and in all; at most 10 calls a second, the last one when all is done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/** How a run came out. */
export interface Outcome {
  readonly status: 'done' | 'stopped'
  /** Why it stopped: a FaultError, an UnsupportedError, a deadlock, or a LimitError where the budget is used up. */
  readonly error: LanewiseError | undefined
  /** The wave that stopped it; its registers are those before the instruction. */
  readonly wave: Wave | undefined
  /** Wave instructions completed, not per lane. */
  readonly instructions: number
  /** Wall time of the run alone. */
  readonly seconds: number
  /** How often each approximate operation was executed (wave instructions). */
  readonly approximate: Readonly<Record<string, number>>
  /** How often each operation was executed that acts beyond its wave: dispatches with such operations run on one thread. */
  readonly beyond: Readonly<Record<string, number>>
  /** What waves exported, and their messages. */
  readonly sent: Sent
}

/** What a wave does: it waits at a barrier, was halted for good, has ended, or can run if nothing beyond its workgroup keeps it from that. */
type Doing = 'runs' | 'waits' | 'halted' | 'ended'

/** A workgroup that was set aside. */
interface Aside {
  readonly waves: readonly Wave[]
  readonly doing: readonly Doing[]
  readonly alive: number
  readonly blocked: ReadonlyMap<Wave, Wait>
  readonly scheduler: Scheduler
  readonly restore: () => void
}

/** Budgets are signed 32-bit numbers in the engine. */
const MAX_BUDGET = 2 ** 31 - 1
const PROGRESS_MS = 125
/** Asking an engine that cannot run waves by itself, or not yet, takes a third of what a short wave does: it is asked once in so many rounds. */
const MOST_UNASKED = 16
/** STATUS.HALT: s_sethalt stopped the wave for good. */
const STATUS_HALT = 1 << 13
/** Workgroups that a deadlock's message tells of. */
const TOLD_GROUPS = 32

/** Work in progress. */
export class Execution {
  readonly device: Device
  readonly groupCount: number
  /** Workgroups that have ended. */
  groupsDone = 0
  /** Wave instructions completed. */
  instructions = 0
  /** `running` until all workgroups have ended (`done`) or something stopped one (`stopped`). */
  status: 'running' | 'done' | 'stopped' = 'running'
  /** Why it stopped. */
  error: LanewiseError | undefined
  /** Waves of the present workgroup; after the end, of the last one. */
  waves: readonly Wave[] = []
  /** Number of the present workgroup. */
  group = 0
  readonly #workload: Workload
  /** Of the workgroups that were claimed, the next one to begin, and the end. */
  #unbegun = 0
  #claimed: number
  #claim: Claim = () => undefined
  readonly #approximateBefore: ReadonlyMap<string, number>
  /** What the waves of the present workgroup do, by their numbers. */
  #doing: Doing[] = []
  /** How many of them have not ended. */
  #alive = 0
  /** Waves of the present workgroup that wait for something beyond it. */
  readonly #blocked = new Map<Wave, Wait>()
  readonly #aside = new Map<number, Aside>()
  readonly #beyond: Beyond
  /** Linear memory during a step; asking the arena for each wave would take as long as some waves do. */
  #words: Uint32Array
  /** Whether a wave had to wait in the present step. */
  #hasToWait = false
  /** Whether others run workgroups of the same dispatch. */
  #isShared = false
  /** Whether all waves of the workgroup are to run in the order of their numbers: it begins, or goes on behind a barrier. */
  #isRound = false
  /** Whether `group` is still to be laid out. */
  #isBetween = true
  #current = 0
  /** Instructions that are left of the present turn. */
  #turn = 0
  readonly #schedule: Schedule
  /** Whether waves that neither use up their turns nor give them away run in the order of their numbers. */
  readonly #isInOrder: boolean
  #scheduler: Scheduler
  /** Whether the engine may run waves by itself. */
  readonly #hasRounds: boolean
  /** Rounds in which it is not asked to, and how many those are when it is asked the next time and cannot. */
  #unasked = 0
  #pause = 1

  /**
   * @param claim which workgroups to run; by default all
   * @param schedule default `round-robin`
   */
  constructor(device: Device, workload: Workload, claim?: Claim, schedule: Schedule = 'round-robin') {
    this.#schedule = schedule
    this.#isInOrder = schedule === 'round-robin'
    this.#scheduler = schedulerOf(schedule)
    this.device = device
    this.#beyond = new Beyond(device)
    this.#workload = workload
    this.groupCount = workload.groupCount
    this.#words = device.arena.words
    this.#hasRounds = device.engine.runRounds !== undefined && workload.rounds !== undefined
    this.#approximateBefore = device.approximate()
    this.#claimed = this.groupCount
    if (claim !== undefined) this.shareOut(claim)
    this.#advance()
    if (this.status === 'running') this.#begin()
  }

  /** Coordinates of the present workgroup. */
  get workgroup(): readonly [number, number, number] {
    return this.#workload.position(this.group)
  }

  /**
   * What another thread runs workgroups of the same dispatch from; undefined where only this one can: also where the code has instructions
   * that act beyond their wave.
   */
  get twin(): (() => DispatchTwin) | undefined {
    const code = this.waves[0]?.program.code
    return code !== undefined && actsBeyondWaves(code, this.device.target) ? undefined : this.#workload.twin
  }

  /**
   * Shares the workgroups that are left: this execution runs the present one to its end, then those that `claim` gives.
   * @returns the first workgroup that is left
   */
  shareOut(claim: Claim): number {
    const left = this.#unbegun
    this.#claimed = left
    this.#claim = claim
    this.#isShared = true
    return left
  }

  /** Coordinates of a workgroup in the grid. */
  position(group: number): readonly [number, number, number] {
    return this.#workload.position(group)
  }

  /** The wave that the next step begins with; undefined when there is none. */
  get next(): Wave | undefined {
    if (this.status !== 'running') return undefined
    if (this.#isBetween) this.#begin()
    return this.waves[this.#current]
  }

  /**
   * Runs at most so many instructions; fewer only when all is done or something stops the run. With `limit` 1 it is exactly the next
   * instruction of {@link next} that runs, or none where that has to wait for what other waves do. The blocks of a workgroup that has ended stay as they are until the next call of `step` or `next`.
   * @param limit 1 to 2^53
   * @returns instructions completed
   */
  step(limit: number): number {
    if (!(limit >= 1)) throw new RangeError(`limit is ${limit}; it must be at least 1 instruction`)
    const before = this.instructions
    const end = before + Math.floor(limit)
    this.#hasToWait = false
    this.#words = this.device.arena.words
    while (this.status === 'running' && this.instructions < end && !(limit === 1 && this.#hasToWait)) {
      if (this.#isBetween) this.#begin()
      if (this.#isRound) this.#runRound(end - this.instructions)
      else this.#run(end - this.instructions)
    }
    return this.instructions - before
  }

  /**
   * Runs the wave {@link next} alone, until it has ended, has to wait, or another wave has its turn.
   * @param limit instructions at most, 1 to 2^53
   * @returns instructions completed
   */
  stepWave(limit: number): number {
    const wave = this.next
    const before = this.instructions
    const end = before + Math.floor(limit)
    this.#hasToWait = false
    this.#words = this.device.arena.words
    while (
      this.status === 'running' &&
      !this.#isBetween &&
      this.waves[this.#current] === wave &&
      this.instructions < end &&
      !this.#hasToWait
    )
      this.#run(end - this.instructions)
    return this.instructions - before
  }

  /**
   * Runs to the end, giving control back to the event loop every few milliseconds.
   * @returns how it came out; faults and an exhausted budget are outcomes, not rejections, and leave all state readable
   * @throws the signal's reason when it aborts
   */
  async run(options: RunOptions = {}): Promise<Outcome> {
    const { budget = 2 ** 32, signal, onProgress } = options
    if (!(budget >= 1)) throw new RangeError(`budget is ${budget}; it must be at least 1 instruction`)
    const start = performance.now()
    const end = this.instructions + Math.floor(budget)
    const slices = new Slices()
    let paused = start
    let reported = start
    for (;;) {
      signal?.throwIfAborted()
      const from = performance.now()
      this.step(Math.min(slices.instructions, end - this.instructions))
      const now = performance.now()
      if (this.status !== 'running' || this.instructions >= end) break
      slices.took(now - from)
      if (onProgress && now - reported >= PROGRESS_MS) {
        reported = now
        onProgress(this.groupsDone, this.groupCount)
      }
      if (now - paused >= SLICE_MS) {
        await pause()
        paused = performance.now()
      }
    }
    if (this.status === 'running') this.#stop(this.exhausted(budget))
    onProgress?.(this.groupsDone, this.groupCount)
    return this.outcome((performance.now() - start) / 1000)
  }

  /** What {@link run} returns, for those who step by themselves. */
  outcome(seconds: number): Outcome {
    const approximate: Record<string, number> = {}
    for (const [name, count] of this.device.approximate()) {
      const executed = count - (this.#approximateBefore.get(name) ?? 0)
      if (executed > 0) approximate[name] = executed
    }
    return {
      status: this.status === 'done' ? 'done' : 'stopped',
      error: this.error,
      wave: this.error === undefined ? undefined : this.waves[this.#current],
      instructions: this.instructions,
      seconds,
      approximate,
      beyond: this.#beyond.counts,
      sent: this.#beyond.sent,
    }
  }

  /** What waves exported so far, and their messages. */
  get sent(): Sent {
    return this.#beyond.sent
  }

  /** The present workgroup's waves that have not ended. */
  get stall(): Stall {
    const standings = this.waves
      .filter(({ index }) => this.#doing[index] !== 'ended')
      .map((wave) => ({ wave, state: this.#stateOf(wave), on: this.#blocked.get(wave)?.on }))
    return { device: this.device, workgroup: this.workgroup, standings }
  }

  /**
   * The error of a budget that is used up, with the place where this execution stands.
   * @param groupsDone workgroups done by all threads
   */
  exhausted(budget: number, groupsDone = this.groupsDone): LimitError {
    const done = `${groupsDone} of ${this.groupCount} workgroups done`
    const stands = this.status === 'running' && this.#alive > 0
    const wave = stands ? this.waves[this.#current] : undefined
    if (wave !== undefined) return exhausted(this.stall, wave, budget, done)
    return new LimitError(`the budget of ${budget} wave instructions is used up, ${done}; look for an endless loop or give a larger budget`)
  }

  /** Ends it as those ended it who ran the rest. */
  settle(error: LanewiseError | undefined): void {
    this.status = error === undefined ? 'done' : 'stopped'
    this.error = error
  }

  /** Gives back the memory of waves, LDS, scratch and arguments; nothing of them can be read any more. */
  free(): void {
    this.status = this.status === 'running' ? 'stopped' : this.status
    this.waves = []
    this.#workload.free()
  }

  /** Lays out the next workgroup, or goes on with one that was set aside. */
  #begin(): void {
    this.#isBetween = false
    if (this.#blocked.size > 0) this.#blocked.clear()
    const aside = this.#aside.get(this.group)
    if (aside !== undefined) this.#resume(aside)
    else {
      this.waves = this.#workload.prepare(this.group)
      this.#words = this.device.arena.words
      // Those that are set aside keep theirs.
      if (this.#aside.size > 0) this.#scheduler = schedulerOf(this.#schedule)
      this.#enter()
      this.#isRound = this.#isInOrder
    }
    this.#current = this.#isRound ? 0 : this.#scheduler.choose(-1, false, this.#isAble)!
    this.#turn = this.#scheduler.turn()
  }

  /** The workgroup's waves have been laid out. */
  #enter(): void {
    const { length } = this.waves
    this.#alive = length
    // Not `fill`: what V8 calls for it takes as long as a short wave. Nor a new list.
    if (this.#doing.length > length) this.#doing.length = length
    for (let index = 0; index < length; index++) this.#doing[index] = 'runs'
    this.device.engine.expect?.((this.groupCount - this.group) * length)
    this.#beyond.begin(this.group, this.waves)
    this.#scheduler.begin(this.group, length)
  }

  #resume(aside: Aside): void {
    this.#isRound = false
    this.#aside.delete(this.group)
    aside.restore()
    this.waves = aside.waves
    this.#scheduler = aside.scheduler
    this.#doing = [...aside.doing]
    this.#alive = aside.alive
    for (const [wave, wait] of aside.blocked) this.#blocked.set(wave, wait)
  }

  /** Lets another workgroup run until waves of this one can go on. */
  #setAside(): void {
    if (this.#workload.setAside === undefined) return this.#block()
    this.#aside.set(this.group, {
      waves: this.waves,
      doing: [...this.#doing],
      alive: this.#alive,
      blocked: new Map(this.#blocked),
      scheduler: this.#scheduler,
      restore: this.#workload.setAside(this.waves),
    })
    this.#advance()
  }

  /** Runs the waves one after another, each to its end or the next barrier: as {@link #run} would, without asking each time who is next. */
  #runRound(limit: number): void {
    const end = this.instructions + limit
    if (this.#hasRounds && this.device.engine.runsRounds && this.#unasked-- <= 0 && !this.#runRounds(limit)) return
    const { waves } = this
    const first = this.#current
    for (let index = first; index < waves.length; index++) {
      if (this.#doing[index] === 'ended') continue
      if (index > first) {
        this.#current = index
        this.#turn = this.#scheduler.turn()
        if (this.instructions >= end) return
      }
      const wave = waves[index]!
      const before = this.instructions
      const stop = this.#runWave(wave, end - before)
      if (stop === Stop.End) this.#leave(wave)
      else if (stop === Stop.Barrier && this.instructions > before) this.#doing[index] = 'waits'
      else return this.#goOn(wave, stop, this.instructions - before)
    }
    this.#pass()
  }

  /**
   * Lets the engine run waves by itself, and workgroups behind this one, as far as it can.
   * @returns whether the present wave is still to run: not where the limit is used up, or the turn, or all workgroups have ended that were claimed
   */
  #runRounds(limit: number): boolean {
    // One that had been set aside is followed by others.
    const isLatest = this.#aside.size === 0 && this.group === this.#unbegun - 1
    const rounds = this.#workload.rounds!(this.group, isLatest ? this.#claimed - this.#unbegun : 0)
    const words = this.#words
    const at = rounds >>> 2
    const first = words[at + ROUNDS_FIRST / 4]!
    const stride = words[at + ROUNDS_STRIDE / 4]!
    const groups = words[at + ROUNDS_GROUPS / 4]!
    const most = Math.min(limit, MAX_BUDGET)
    words[at + ROUNDS_WAVE / 4] = first + stride * this.#current
    words[at + ROUNDS_LEFT / 4] = most
    words[at + ROUNDS_LEFT_OF_TURN / 4] = this.#turn
    words[at + ROUNDS_TURN / 4] = this.#scheduler.turn()
    this.device.engine.runRounds!(rounds)
    const left = words[at + ROUNDS_LEFT / 4]!
    if (left === most) {
      this.#unasked = this.#pause
      this.#pause = Math.min(2 * this.#pause, MOST_UNASKED)
      return true
    }
    this.#pause = 1
    this.instructions += most - left
    this.#turn = words[at + ROUNDS_LEFT_OF_TURN / 4]!
    const passed = groups - words[at + ROUNDS_GROUPS / 4]!
    if (passed > 0) this.#follow(passed)
    this.#stand((words[at + ROUNDS_WAVE / 4]! - first) / stride)
    if (this.#alive === 0) this.#end()
    else if (this.#turn <= 0) {
      this.#isRound = false
      this.#pass()
    } else return left > 0
    return false
  }

  /** Workgroups have been run, and the one that follows them was laid out. */
  #follow(passed: number): void {
    this.groupsDone += passed
    this.#beyond.end(this.group)
    this.group += passed
    this.#unbegun += passed
    this.#enter()
  }

  /** The waves of the workgroup before `current` have stopped in this round: what they wrote tells how. Those behind may have ended in one before. */
  #stand(current: number): void {
    const { waves } = this
    for (let index = 0; index < waves.length; index++) {
      if (this.#doing[index] === 'ended') continue
      const wave = waves[index]!
      if (this.#words[(wave.host + WAVE_STOP) >>> 2] === Stop.End) this.#leave(wave)
      else this.#doing[index] = index < current ? 'waits' : 'runs'
    }
    this.#current = current
  }

  /** Runs the present wave until it stops once. */
  #run(limit: number): void {
    const wave = this.next!
    const before = this.instructions
    const stop = this.#runWave(wave, limit)
    this.#goOn(wave, stop, this.instructions - before)
  }

  /** Runs a wave until it stops once, and counts what it does. */
  #runWave({ host }: Wave, limit: number): Stop {
    this.#isRound = false
    const counter = (host + WAVE_INSTRUCTIONS) >>> 2
    const before = this.#words[counter]!
    const stop = this.device.engine.run(host, Math.min(limit, this.#turn, MAX_BUDGET))
    // A turn is shorter than 2^32 instructions, so the counter's low half tells.
    const executed = (this.#words[counter]! - before) >>> 0
    this.instructions += executed
    this.#turn -= executed
    return stop
  }

  /** What follows from why the present wave stopped. */
  #goOn(wave: Wave, stop: Stop, executed: number): void {
    if (stop === Stop.End) {
      this.#leave(wave)
      this.#pass()
    } else if (stop === Stop.Plan) {
      this.#plan(wave)
      // The turn's last instruction went there.
      if (this.#turn <= 0) this.#pass()
    } else if (stop === Stop.Device) this.#goBeyond(wave)
    else if (stop === Stop.Fault) this.#stop(faultOf(this.device, wave, this.workgroup))
    else if (stop !== Stop.Budget && stop !== Stop.Barrier && stop !== Stop.Yield) this.#blame(`returned the unknown stop ${String(stop)}`)
    else if (executed === 0) this.#blame(`stopped at pc ${hex(wave.pc)} without running anything`)
    else if (stop !== Stop.Budget) {
      if (stop === Stop.Barrier) this.#doing[wave.index] = 'waits'
      else if (wave.status & STATUS_HALT) this.#doing[wave.index] = 'halted'
      this.#pass()
    } else if (this.#turn <= 0) this.#pass()
  }

  #leave(wave: Wave): void {
    this.#doing[wave.index] = 'ended'
    this.#alive--
    this.#beyond.leave(this.group, wave)
  }

  /** The engine did what it must not do. */
  #blame(what: string): void {
    this.#stop(new CoreError(`the ${this.device.engine.name} engine ${what}; please report it`))
  }

  /** Performs the instruction at which the wave stands, or lets it wait. */
  #goBeyond(wave: Wave): void {
    if (this.#isShared)
      return this.#stop(
        new CoreError(
          `${placeOf(this.device, wave, this.workgroup).instruction} acts beyond its wave, and other threads run workgroups of the dispatch; run it on one thread`,
        ),
      )
    const result = this.#beyond.perform(wave, this.group, this.workgroup)
    if (result === 'fault') return this.#stop(faultOf(this.device, wave, this.workgroup))
    if (typeof result === 'object') {
      this.#blocked.set(wave, result)
      this.#hasToWait = true
      return this.#pass()
    }
    this.#blocked.delete(wave)
    this.instructions++
    this.#turn--
    if (result === 'yield' || this.#turn <= 0) this.#pass()
  }

  #plan(wave: Wave): void {
    const { program, pc } = wave
    if (!program.contains(pc)) return this.#blame(`asks for a plan of pc ${hex(pc)}, which is outside the code`)
    if (program.planned(pc)) return this.#blame(`asks for a plan of pc ${hex(pc)}, which is planned`)
    program.plan(pc)
    // Linear memory may have grown.
    this.#words = this.device.arena.words
  }

  /** Gives the turn to the next wave that can run. */
  #pass(): void {
    if (this.#alive === 0) return this.#end()
    const next = this.#scheduler.choose(this.#current, this.#isAble(this.#current), this.#isAble)
    if (next !== undefined) this.#current = next
    else if (this.#blocked.size > 0) return this.#setAside()
    else if (this.#doing.includes('halted')) return this.#block()
    else this.#release()
    this.#turn = this.#scheduler.turn()
  }

  #block(): void {
    const { stall } = this
    this.#current = stall.standings[0]!.wave.index
    this.#stop(deadlock(stall))
  }

  /** All workgroups that have begun are set aside, and there are no others. */
  #blockAll(): void {
    const groups = [...this.#aside.keys()].sort((a, b) => a - b)
    const who = groups.slice(0, TOLD_GROUPS).map((group) => {
      this.#goTo(group)
      return { workgroup: this.workgroup, text: whoStands(this.stall) }
    })
    this.#goTo(groups[0]!)
    const { stall } = this
    this.#current = stall.standings[0]!.wave.index
    this.#stop(deadlockOfAll(stall, who, groups.length - who.length))
  }

  /** Lays out a workgroup that stays set aside. */
  #goTo(group: number): void {
    const aside = this.#aside.get(group)!
    this.group = group
    this.#begin()
    this.#aside.set(group, aside)
  }

  #stateOf(wave: Wave): Standing['state'] {
    if (this.#blocked.has(wave)) return 'wants'
    const doing = this.#doing[wave.index]!
    return doing === 'ended' ? 'runs' : doing
  }

  /** Whether the wave with this number can run. */
  readonly #isAble = (index: number): boolean => {
    if (this.#doing[index] !== 'runs') return false
    return this.#blocked.size === 0 || (this.#blocked.get(this.waves[index]!)?.ready() ?? true)
  }

  /** All waves that have not ended are at the barrier (GCN3 manual, S_BARRIER: terminated waves do not count); they go on in order. */
  #release(): void {
    const { waves } = this
    this.#isRound = this.#isInOrder
    for (let i = 0; i < waves.length; i++) if (this.#doing[i] === 'waits') this.#doing[i] = 'runs'
    this.#current = this.#isRound ? this.#doing.indexOf('runs') : this.#scheduler.choose(-1, false, this.#isAble)!
  }

  #end(): void {
    this.groupsDone++
    this.#beyond.end(this.group)
    this.#advance()
  }

  #advance(): void {
    this.#isBetween = true
    const group = (this.#aside.size > 0 ? this.#able() : undefined) ?? this.#nextGroup()
    if (group !== undefined) this.group = group
    else if (this.#aside.size > 0) this.#blockAll()
    else this.status = 'done'
  }

  #nextGroup(): number | undefined {
    if (this.#unbegun === this.#claimed) {
      const claimed = this.#claim()
      if (claimed === undefined) return undefined
      ;[this.#unbegun, this.#claimed] = claimed
    }
    return this.#unbegun++
  }

  /** The first workgroup that was set aside and can go on. */
  #able(): number | undefined {
    let first: number | undefined
    for (const [group, { blocked }] of this.#aside)
      if ((first === undefined || group < first) && [...blocked.values()].some((wait) => wait.ready())) first = group
    return first
  }

  #stop(error: LanewiseError): void {
    this.status = 'stopped'
    this.error = error
  }
}
