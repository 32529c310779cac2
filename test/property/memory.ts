/** Memory instructions on all engines: one piece of guest memory, filled the same before each run, and the first difference told. */
import { describe, expect, test } from 'vitest'
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import type { WaveState } from '../../host/device/index.ts'
import { OPERATIONS, type Operation } from '../../host/isa/operations.ts'
import type { NativeFormat } from '../../host/isa/row.ts'
import { TARGETS, type Target, type TargetName } from '../../host/isa/targets.ts'
import { checkFormat } from '../../host/reference/format.ts'
import { nameOfWord } from '../../host/results/registers.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { randomFrom } from '../translate/programs.ts'
import { compareCases, TIMEOUT_MS } from './cases.ts'
import { type Disagreement, firstDisagreement, Machines } from './machines.ts'
import { type Pool, poolOf, type Random, registers } from './values.ts'
import { onesOf } from './vector.ts'

/** Where the memory is, and its bytes. */
export const ADDRESS = 0xab_cdef_1200n
const BYTES = 1 << 16
/** Instructions of a program at least. */
const LENGTH = 2
/** VGPRs of a program's pool. */
const POOL = 48
/** Instructions find their addresses in this VGPR and those behind it, data in lower ones. */
export const VADDR = 24

export const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!
export const seldom = (random: Random): boolean => random(24) === 0

/** Whether a format exists: those that do not are unsupported. */
export function isFormat(data: number, number: number, { generation }: Target): boolean {
  try {
    checkFormat({ data, number, select: [] }, generation)
    return true
  } catch {
    return false
  }
}

function randomBytes(): Uint8Array {
  const bytes = new Uint8Array(BYTES)
  registers(randomFrom(5), ['f32', 'i32', 'f16'], BYTES / 256, 64).forEach((row, n) => {
    bytes.set(new Uint8Array(row.buffer), n * row.byteLength)
  })
  return bytes
}

export const machinesOf = (target: Target): Machines => new Machines(target, LENGTH, { address: ADDRESS, bytes: randomBytes() })

/**
 * How a program is made. Most are tame: all they do is supported and allowed, so that all of their instructions are compared. In the others
 * anything may fault, and soon something does.
 */
export interface Manner {
  readonly wild: boolean
  readonly length: number
}

export function randomManner(random: Random): Manner {
  const wild = random(4) === 0
  return { wild, length: wild ? LENGTH : 4 * LENGTH }
}

/** VGPRs before {@link VADDR} are data. */
export const dataPool = (random: Random): Pool => poolOf(random, ['f32', 'i32', 'f16'], POOL)

/** What a program starts with, and what that is in words. */
export interface Trial {
  readonly state: WaveState
  readonly about: object
}

/** A program, and what it starts with. */
export interface MemoryProgram {
  readonly instructions: readonly Instruction[]
  readonly trials: readonly Trial[]
}

const S_ENDPGM = 0xbf810000

/**
 * Runs a program from several states on all engines.
 * @returns active lanes of the instructions that were completed
 * @throws {Error} telling what was not the same on all
 */
export async function compareMemory(machines: Machines, { instructions, trials }: MemoryProgram, seed: number): Promise<number> {
  const loaded = await machines.load(Uint32Array.from([...instructions.flatMap((i) => [...encode(i)]), S_ENDPGM]))
  const states = trials.map(({ state }) => state)
  let lanes = 0
  const found = firstDisagreement(loaded, states, (end, n) => {
    lanes += onesOf(states[n]!.exec!) * Math.min(end.instructions, instructions.length)
  })
  if (found === undefined) return lanes
  const { about, state } = trials[found.state]!
  const shown = JSON.stringify(about, (_, x) => (typeof x === 'bigint' ? hex(x) : x))
  const text = instructions.map(disassemble).join('\n')
  throw new Error(`seed ${seed}, ${machines.target.name}, state ${found.state}: ${shown}\n${text}\n${report(found, state)}`)
}

const hex = (x: number | bigint): string => `0x${x.toString(16)}`

function report({ loaded: { name }, what, at, want, got }: Disagreement, state: WaveState): string {
  if (what === 'status') return `${name}: ${got.status}\nreference: ${want.status}`
  if (what !== 'wave') {
    const [wanted, found] = what === 'LDS' ? [want.lds, got.lds] : [want.memory, got.memory]
    return `byte ${hex(at)} of ${what}: ${name} ${found[at]}, reference ${wanted[at]}`
  }
  const { where, lane } = nameOfWord(at * 4, 64)
  const address = [0, 1, 2, 3].map((k) => (state.vgprs!.get(VADDR + k) as Uint32Array | undefined)?.[lane ?? 0])
  return `${where}, lane ${lane}: ${name} ${hex(got.words[at]!)}, reference ${hex(want.words[at]!)}; address ${address.join(', ')}`
}

/** Describes the property on targets: all engines do the same with random programs of each operation of some tables. */
export function describeMemory(
  targets: readonly TargetName[],
  tables: readonly NativeFormat[],
  randomProgram: (random: Random, operation: Operation, target: Target) => MemoryProgram,
): void {
  describe.each(targets)('%s', (name) => {
    const target = TARGETS[name]
    const operations = OPERATIONS.filter(
      ({ table, unsupported, traits, opcode }) =>
        tables.includes(table as NativeFormat) &&
        unsupported === undefined &&
        !traits.has('device') &&
        opcode(table as NativeFormat, target.generation) !== undefined,
    )
    const machines = machinesOf(target)
    test.each(operations.map((o) => [o.name, o] as const))(
      '%s',
      (_, operation) =>
        compareCases(operation, (seed) => compareMemory(machines, randomProgram(randomFrom(seed), operation, target), seed)),
      TIMEOUT_MS,
    )
    test('translate has translated them', () => {
      expect(machines.translated).toBeGreaterThan(0)
    })
  })
}
