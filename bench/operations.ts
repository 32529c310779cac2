/** Nanoseconds a wave64 instruction, operation by operation: reference against core. */
import { bareWave, Device, type Engine, openEngine } from '../host/index.ts'
import { sayProgress } from './child.ts'
import {
  BUFFER_BYTES,
  KINDS,
  type Kind,
  LOOP_LENGTH,
  looped,
  MEMORY,
  memorySubject,
  type Subject,
  subjects,
  TARGET,
  UNROLLED,
} from './instructions.ts'
import { bestOfEach, cpuSeconds, type Effort, geometricMean } from './measure.ts'
import { number, ratio, table } from './table.ts'

export interface OperationResult {
  readonly name: string
  readonly kind: Kind
  /** Nanoseconds an instruction of 64 lanes. */
  readonly reference: number
  readonly core: number
}

/** Turns of the loop in a run: about a millisecond. */
const LOOPS = { core: 200, reference: 2 } as const

/** An engine with a buffer in its memory. */
export class Stand {
  readonly #device: Device
  readonly #buffer: bigint

  /** @param loops turns of the loop in a run */
  constructor(
    engine: Engine,
    private readonly loops: number,
  ) {
    this.#device = new Device(engine, TARGET)
    this.#buffer = this.#device.memory.allocate(BUFFER_BYTES, { name: 'buffer' }).address
  }

  /**
   * What runs a subject once, unrolled in a loop, and gives the nanoseconds of one instruction. Setting up the wave does not count.
   * @param make gets the address of the buffer
   */
  prepare(make: (buffer: bigint) => Subject, mode?: number): () => number {
    const subject = make(this.#buffer)
    const code = this.#device.loadCode(looped(Uint32Array.from(Array.from({ length: UNROLLED }, () => subject.words).flat())))
    const sgprs = new Map([...subject.sgprs, [0, this.loops]])
    const state = { sgprs, vgprs: subject.vgprs, vcc: 0x5a5a1234c3c36789n, ...(mode === undefined ? {} : { mode }) }
    return () => {
      const execution = bareWave(this.#device, code, state)
      const seconds = cpuSeconds(() => execution.step(1e9))
      if (execution.error !== undefined) throw execution.error
      execution.free()
      return (seconds * 1e9) / (this.loops * (UNROLLED + LOOP_LENGTH))
    }
  }
}

export async function measureOperations(all: boolean, filter: RegExp, effort: Effort): Promise<OperationResult[]> {
  const reference = new Stand(await openEngine('reference'), LOOPS.reference)
  const core = new Stand(await openEngine('core'), LOOPS.core)
  const makers = [
    ...subjects(all, filter).map((subject) => [subject.name, subject.kind, () => subject] as const),
    ...MEMORY.map((text) => [text.split(' ')[0]!, 'memory', (buffer: bigint) => memorySubject(text, buffer)] as const),
  ].filter(([name]) => filter.test(name))
  const results = makers.map(([name, kind, make]) => {
    sayProgress(name)
    const [slow, fast] = bestOfEach(effort, [reference.prepare(make), core.prepare(make)])
    return { name, kind, reference: slow!, core: fast! }
  })
  sayProgress('')
  return results
}

const factor = ({ reference, core }: OperationResult): number => reference / core

/** What the core is expected to be faster by: where f32 and 32-bit integers are computed, and anywhere. */
const EXPECTED = { plain: 10, any: 4 } as const
const PLAIN: ReadonlySet<Kind> = new Set(['f32', '32-bit integer'])

function showKinds(results: readonly OperationResult[]): string {
  const rows = KINDS.flatMap((kind) => {
    const some = results.filter((r) => r.kind === kind).sort((a, b) => factor(a) - factor(b))
    if (some.length === 0) return []
    const [least] = some
    return [[kind, `${some.length}`, ratio(geometricMean(some.map(factor)), 1), ratio(factor(least!), 1), least!.name]]
  })
  const all = ['all', `${results.length}`, ratio(geometricMean(results.map(factor)), 1)]
  return table(['reference:core', 'operations', 'geom. mean', 'least', ''], [...rows, all])
}

function showBelow(results: readonly OperationResult[]): string {
  const list = (some: readonly OperationResult[]) => some.map((r) => `${r.name} ${number(factor(r))}`).join(', ') || 'none'
  const plain = results.filter((r) => PLAIN.has(r.kind) && factor(r) < EXPECTED.plain)
  const any = results.filter((r) => factor(r) < EXPECTED.any)
  return `f32 and 32-bit integer below ${EXPECTED.plain}: ${list(plain)}\nany below ${EXPECTED.any}: ${list(any)}\n`
}

export function showOperations(results: readonly OperationResult[]): string {
  const head = ['ns per wave64 instruction', 'reference', 'core', 'reference:core']
  const rows = results.map((r) => [r.name, number(r.reference), number(r.core), ratio(r.reference, r.core)])
  return `${table(head, rows)}\n${showKinds(results)}\n${showBelow(results)}`
}
