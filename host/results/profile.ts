/** Profiles: what an execution did, by class of instruction and by place in the code. Counts, not time: Lanewise has no clock of the hardware. */
import { decode } from '../codec/decode.ts'
import type { Instruction } from '../codec/instruction.ts'
import type { Execution, Wave } from '../device/index.ts'
import type { Target } from '../isa/targets.ts'
import { EXEC_HI, EXEC_LO } from '../plan/layout.ts'
import { type Access, accessOf } from './access.ts'
import { lineAt } from './listing.ts'
import { type Part, partOf } from './stretch.ts'
import type { Observer } from './watch.ts'

/** Classes of instructions, as the manuals' chapters divide them. */
export const CLASSES = ['VALU', 'SALU', 'SMEM', 'LDS', 'VMEM', 'control', 'export'] as const
/** A class of instructions: VALU, SALU and so on. */
export type InstructionClass = (typeof CLASSES)[number]

/** How the active lanes of a vector memory instruction lie to each other. */
export interface Patterns {
  /** Each lane directly behind the one before. */
  contiguous: number
  /** All lanes at one address. */
  same: number
  scattered: number
}

/** One instruction of the code. */
export interface Spot {
  /** Byte offset from the code's first byte. */
  readonly pc: number
  readonly text: string
  readonly class: InstructionClass
  /** Times that a wave executed it. */
  count: number
  /** Active lanes, summed over those times. */
  lanes: number
  /** Branches: times taken. */
  taken: number
  readBytes: number
  writtenBytes: number
  /** Vector memory. */
  readonly patterns: Patterns
}

/** What an execution did. */
export interface Profile {
  readonly instructions: number
  readonly waves: number
  readonly classes: Readonly<Record<InstructionClass, number>>
  /** Mean of active lanes of vector instructions, 0 to the wave's size. */
  readonly activeLanes: number
  readonly branches: { readonly taken: number; readonly notTaken: number }
  /** Bytes that active lanes asked for. */
  readonly globalBytes: { readonly read: number; readonly written: number }
  readonly ldsBytes: { readonly read: number; readonly written: number }
  /** Of vector memory instructions. */
  readonly patterns: Patterns
  /** Approximate operations (wave instructions). */
  readonly approximate: Readonly<Record<string, number>>
  /** All instructions that were executed, the most frequent first. */
  readonly spots: readonly Spot[]
}

const CONTROL = /^s_(branch|cbranch_|endpgm|barrier|setpc|swappc|rfe|trap|sethalt|sleep|sendmsg|waitcnt|nop|setprio|wakeup)/
const BRANCH = /^s_cbranch_/

function classOf({ operation: { name, table } }: Instruction): InstructionClass {
  if (CONTROL.test(name)) return 'control'
  if (table.startsWith('vo') || table === 'vintrp') return 'VALU'
  if (table.startsWith('so')) return 'SALU'
  if (table === 'smem') return 'SMEM'
  if (table === 'ds') return 'LDS'
  return table === 'exp' ? 'export' : 'VMEM'
}

/** A spot, and what has to be known to fill it. */
interface Place {
  readonly spot: Spot
  readonly instruction: Instruction | undefined
  readonly part: Part
  /** Byte offset behind it. */
  readonly end: number
}

/** Places that run one after another with the same lanes, and how often all of them did. */
interface Stretch {
  readonly places: readonly Place[]
  /** The last one is a branch. */
  readonly branches: boolean
  count: number
  lanes: number
}

const STRETCH_LIMIT = 1024

/** Fills a profile while {@link watch} runs an execution by stretches of straight code, a few µs each on the core. */
export class Profiler implements Observer {
  readonly #places = new Map<number, Place>()
  /** By pc of the first place. */
  readonly #stretches = new Map<number, Stretch>()
  readonly #waves = new Set<string>()
  #stretch: Stretch | undefined
  #access: Access | undefined
  #lanes = 0

  before(execution: Execution, wave: Wave): void {
    this.#waves.add(`${execution.group}.${wave.index}`)
    this.#stretch = this.#stretchAt(execution, wave)
    this.#lanes = bitCount(wave.sgpr(EXEC_LO)) + bitCount(wave.sgpr(EXEC_HI))
    const { part, instruction } = this.#stretch.places[0]!
    this.#access = part === 'first' ? accessOf(instruction!, wave) : undefined
  }

  stretch(): number {
    return this.#stretch!.places.length
  }

  after(_execution: Execution, wave: Wave, instructions: number): void {
    const stretch = this.#stretch!
    const { places } = stretch
    if (instructions === places.length) {
      stretch.count++
      stretch.lanes += this.#lanes
      const last = places.at(-1)!
      if (stretch.branches && wave.pc !== last.end) last.spot.taken++
    } else for (const { spot } of places.slice(0, instructions)) add(spot, 1, this.#lanes)
    if (this.#access !== undefined) addAccess(places[0]!.spot, this.#access)
  }

  /** What has been executed so far. */
  profile(execution: Execution): Profile {
    this.#spread()
    const executed = [...this.#places.values()].map(({ spot }) => spot).filter(({ count }) => count > 0)
    const spots = executed.sort((a, b) => b.count - a.count || a.pc - b.pc)
    const sum = (of: (spot: Spot) => number): number => spots.reduce((total, spot) => total + of(spot), 0)
    const within = (classes: readonly InstructionClass[], of: (spot: Spot) => number): number =>
      sum((spot) => (classes.includes(spot.class) ? of(spot) : 0))
    const vector = within(['VALU', 'LDS', 'VMEM'], ({ count }) => count)
    const branches = spots.filter(({ text }) => BRANCH.test(text))
    const taken = branches.reduce((total, spot) => total + spot.taken, 0)
    const bytes = (...classes: InstructionClass[]) => ({
      read: within(classes, ({ readBytes }) => readBytes),
      written: within(classes, ({ writtenBytes }) => writtenBytes),
    })
    return {
      instructions: sum(({ count }) => count),
      waves: this.#waves.size,
      classes: Object.fromEntries(CLASSES.map((name) => [name, within([name], ({ count }) => count)])) as Profile['classes'],
      activeLanes: vector === 0 ? 0 : within(['VALU', 'LDS', 'VMEM'], ({ lanes }) => lanes) / vector,
      branches: { taken, notTaken: branches.reduce((total, { count }) => total + count, 0) - taken },
      globalBytes: bytes('VMEM', 'SMEM'),
      ldsBytes: bytes('LDS'),
      patterns: {
        contiguous: sum(({ patterns }) => patterns.contiguous),
        same: sum(({ patterns }) => patterns.same),
        scattered: sum(({ patterns }) => patterns.scattered),
      },
      approximate: execution.outcome(0).approximate,
      spots,
    }
  }

  /** Gives what whole stretches did to their places. */
  #spread(): void {
    for (const stretch of this.#stretches.values()) {
      for (const { spot } of stretch.places) add(spot, stretch.count, stretch.lanes)
      stretch.count = 0
      stretch.lanes = 0
    }
  }

  #stretchAt({ device }: Execution, { pc, program }: Wave): Stretch {
    const known = this.#stretches.get(pc)
    if (known !== undefined) return known
    const { words } = program.code
    const places = [this.#placeAt(words, pc, device.target)]
    for (let place = places[0]!; place.part === 'inner' || place.part === 'first'; places.push(place)) {
      place = this.#placeAt(words, place.end, device.target)
      if ((place.part !== 'inner' && place.part !== 'last') || places.length === STRETCH_LIMIT) break
    }
    const stretch = { places, branches: BRANCH.test(places.at(-1)!.spot.text), count: 0, lanes: 0 }
    this.#stretches.set(pc, stretch)
    return stretch
  }

  #placeAt(words: Uint32Array, pc: number, target: Target): Place {
    let place = this.#places.get(pc)
    if (place === undefined) {
      const instruction = decode(words, pc >>> 2, target)
      const { text } = pc < words.length * 4 ? lineAt(words, target, pc) : { text: '' }
      const spot: Spot = {
        pc,
        text,
        class: instruction === undefined ? 'control' : classOf(instruction),
        count: 0,
        lanes: 0,
        taken: 0,
        readBytes: 0,
        writtenBytes: 0,
        patterns: { contiguous: 0, same: 0, scattered: 0 },
      }
      place = { spot, instruction, part: partOf(instruction), end: pc + (instruction?.dwords ?? 1) * 4 }
      this.#places.set(pc, place)
    }
    return place
  }
}

function add(spot: Spot, count: number, lanes: number): void {
  spot.count += count
  spot.lanes += lanes
}

function addAccess(spot: Spot, { readBytes, writtenBytes, pattern }: Access): void {
  spot.readBytes += readBytes
  spot.writtenBytes += writtenBytes
  if (pattern !== undefined) spot.patterns[pattern]++
}

/** Of 32 bits. */
function bitCount(mask: number): number {
  const pairs = mask - ((mask >>> 1) & 0x55555555)
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
