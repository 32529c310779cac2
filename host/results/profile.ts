/** Profiles: what an execution did, by class of instruction and by place in the code. Counts, not time: Lanewise has no clock of the hardware. */
import { decode } from '../codec/decode.ts'
import type { Instruction } from '../codec/instruction.ts'
import type { Execution, Wave } from '../device/index.ts'
import { type Access, accessOf } from './access.ts'
import { lineAt } from './listing.ts'
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
  readonly end: number
}

/** Fills a profile while {@link watch} runs an execution, a few µs an instruction on the core, more for memory instructions. */
export class Profiler implements Observer {
  readonly #places = new Map<number, Place>()
  readonly #waves = new Set<string>()
  #place: Place | undefined
  #access: Access | undefined
  #lanes = 0

  before(execution: Execution, wave: Wave): void {
    this.#waves.add(`${execution.group}.${wave.index}`)
    this.#place = this.#placeAt(execution, wave)
    this.#lanes = bitCount(wave.exec)
    const { instruction } = this.#place
    this.#access = instruction === undefined ? undefined : accessOf(instruction, wave)
  }

  after(_execution: Execution, wave: Wave): void {
    const { spot, instruction, end } = this.#place!
    spot.count++
    spot.lanes += this.#lanes
    if (instruction !== undefined && BRANCH.test(instruction.operation.name) && wave.pc !== end) spot.taken++
    const access = this.#access
    if (access === undefined) return
    spot.readBytes += access.readBytes
    spot.writtenBytes += access.writtenBytes
    if (access.pattern !== undefined) spot.patterns[access.pattern]++
  }

  /** What has been executed so far. */
  profile(execution: Execution): Profile {
    const spots = [...this.#places.values()].map(({ spot }) => spot).sort((a, b) => b.count - a.count || a.pc - b.pc)
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

  #placeAt({ device }: Execution, { pc, program }: Wave): Place {
    let place = this.#places.get(pc)
    if (place === undefined) {
      const { words } = program.code
      const instruction = decode(words, pc >>> 2, device.target)
      const { text } = pc < words.length * 4 ? lineAt(words, device.target, pc) : { text: '' }
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
      place = { spot, instruction, end: pc + (instruction?.dwords ?? 1) * 4 }
      this.#places.set(pc, place)
    }
    return place
  }
}

function bitCount(mask: bigint): number {
  let count = 0
  for (let rest = mask; rest !== 0n; rest &= rest - 1n) count++
  return count
}
