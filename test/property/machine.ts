/** Memory instructions on all engines: one piece of guest memory, filled the same on each, and the first difference told. */
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, type Code, Device, type WaveState } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import type { Target } from '../../host/isa/targets.ts'
import { createReference } from '../../host/reference/engine.ts'
import { nameOfWord } from '../../host/results/registers.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { randomFrom } from '../translate/programs.ts'
import { type Random, registers } from './values.ts'

/** Where the memory is, and its bytes. */
export const ADDRESS = 0xab_cdef_1200n
export const BYTES = 1 << 16
/** Instructions find their addresses in this VGPR and those behind it, data in lower ones. */
export const VADDR = 24

export const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!
export const seldom = (random: Random): boolean => random(24) === 0

/** A wave's words at its end, and what stopped it. */
interface End {
  readonly words: Uint32Array
  readonly lds: Uint8Array
  readonly status: string
}

/** An engine with its memory. */
export class Machine {
  readonly device: Device
  readonly #region

  constructor(engine: Engine, target: Target) {
    this.device = new Device(engine, target)
    this.#region = this.device.memory.allocate(BYTES, { address: ADDRESS, name: 'memory' })
    const random = randomFrom(5)
    const words = registers(random, ['f32', 'i32', 'f16'], BYTES / 4 / 64, 64).flatMap((row) => [...row])
    this.device.memory.write(ADDRESS, new Uint8Array(Uint32Array.from(words).buffer))
  }

  get memory(): Uint8Array {
    return this.device.memory.view(this.#region)
  }

  run(code: Code, state: WaveState): End {
    const execution = bareWave(this.device, code, state)
    while (execution.status === 'running') execution.step(1000)
    const [wave] = execution.waves
    const bytes = wave!.state()
    const lds = wave!.lds.slice()
    execution.free()
    return { words: new Uint32Array(bytes.buffer), lds, status: execution.error?.message ?? 'done' }
  }
}

const hex = (x: number | bigint): string => `0x${x.toString(16)}`
const S_ENDPGM = 0xbf810000

/** The reference, which comes first, the core and translate. */
export async function machinesOf(target: Target): Promise<readonly Machine[]> {
  return [createReference(), await createCore(), await createTranslate({ threshold: 1 })].map((engine) => new Machine(engine, target))
}

/** What a program starts with, and what that is in words. */
export interface Trial {
  readonly state: WaveState
  readonly about: object
}

/** Runs a program from several states on all engines; translate translates it at the second. @returns undefined where they agree */
export function disagreement(
  machines: readonly Machine[],
  instructions: readonly Instruction[],
  trials: readonly Trial[],
): string | undefined {
  const words = Uint32Array.from([...instructions.flatMap((i) => [...encode(i)]), S_ENDPGM])
  const codes = machines.map(({ device }) => device.loadCode(words))
  for (const [i, { state, about }] of trials.entries()) {
    const [want, ...others] = machines.map((machine, n) => machine.run(codes[n]!, state)) as [End, ...End[]]
    for (const [n, got] of others.entries()) {
      const difference = compare(machines[n + 1]!, got, machines[0]!, want, state)
      if (difference === undefined) continue
      const shown = JSON.stringify(about, (_, x) => (typeof x === 'bigint' ? hex(x) : x))
      return `trial ${i}: ${shown}\n${instructions.map(disassemble).join('\n')}\n${difference}`
    }
  }
  return undefined
}

/** The first thing in which a machine and the reference differ. */
function compare(machine: Machine, got: End, reference: Machine, want: End, state: WaveState): string | undefined {
  const name = machine.device.engine.name
  if (got.status !== want.status) return `${name}: ${got.status}\nreference: ${want.status}`
  const at = got.words.findIndex((word, i) => word !== want.words[i])
  if (at >= 0) {
    const { where, lane } = nameOfWord(at * 4, 64)
    const address = [0, 1, 2, 3].map((k) => (state.vgprs!.get(VADDR + k) as Uint32Array)[lane ?? 0])
    return `${where}, lane ${lane}: ${name} ${hex(got.words[at]!)}, reference ${hex(want.words[at]!)}; address ${address.join(', ')}`
  }
  return compareBytes('LDS', name, got.lds, want.lds) ?? compareBytes('memory', name, machine.memory, reference.memory)
}

function compareBytes(what: string, name: string, got: Uint8Array, want: Uint8Array): string | undefined {
  if (Buffer.compare(got, want) === 0) return undefined
  const place = got.findIndex((byte, i) => byte !== want[i])
  return `byte ${hex(place)} of ${what}: ${name} ${got[place]}, reference ${want[place]}`
}
