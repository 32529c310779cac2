/** Nanoseconds a wave64 instruction, operation by operation: reference against core. */
import { bareWave, Device, type Engine, openEngine } from '../host/index.ts'
import { BUFFER_BYTES, MEMORY, memorySubject, type Subject, subjects, TARGET } from './instructions.ts'
import { bestSeconds, type Effort } from './measure.ts'
import { number, ratio, table } from './table.ts'

export interface OperationResult {
  readonly name: string
  /** Nanoseconds an instruction of 64 lanes. */
  readonly reference: number
  readonly core: number
}

/** Instructions side by side, then a loop around them: the core runs some ten thousand at a time, the reference a few. */
const UNROLLED = 128
const LOOPS = { core: 200, reference: 2 } as const
/** s_sub_u32 s0, s0, 1; s_cmp_lg_u32 s0, 0; s_cbranch_scc1; s_endpgm. */
const OVERHEAD = 3
const LOOP_WORDS = [0x80808100, 0xbf078000, 0xbf850000, 0xbf810000] as const

/** A program that runs the instruction UNROLLED times, s0 times over. */
function program({ words }: Subject): Uint32Array {
  const body = Array.from({ length: UNROLLED }, () => words).flat()
  const [sub, compare, branch, end] = LOOP_WORDS
  const back = -(body.length + 3) & 0xffff
  return Uint32Array.from([...body, sub, compare, branch | back, end])
}

/** An engine with a buffer in its memory. */
class Bench {
  readonly #device: Device
  readonly #buffer: bigint

  constructor(
    private readonly name: 'core' | 'reference',
    engine: Engine,
  ) {
    this.#device = new Device(engine, TARGET)
    this.#buffer = this.#device.memory.allocate(BUFFER_BYTES, { name: 'buffer' }).address
  }

  static async open(name: 'core' | 'reference'): Promise<Bench> {
    return new Bench(name, await openEngine(name))
  }

  /** Nanoseconds of one instruction; setting up the wave does not count. */
  async measure(make: (buffer: bigint) => Subject, effort: Effort): Promise<number> {
    const subject = make(this.#buffer)
    const code = this.#device.loadCode(program(subject))
    const loops = LOOPS[this.name]
    const sgprs = new Map([...subject.sgprs, [0, loops]])
    const seconds = await bestSeconds(effort, async () => {
      const execution = bareWave(this.#device, code, { sgprs, vgprs: subject.vgprs, vcc: 0x5a5a1234c3c36789n })
      const start = performance.now()
      execution.step(1e9)
      const elapsed = (performance.now() - start) / 1000
      if (execution.error !== undefined) throw execution.error
      execution.free()
      return elapsed
    })
    return (seconds * 1e9) / (loops * (UNROLLED + OVERHEAD))
  }
}

export async function measureOperations(all: boolean, filter: RegExp, effort: Effort): Promise<OperationResult[]> {
  const reference = await Bench.open('reference')
  const core = await Bench.open('core')
  const makers = [
    ...subjects(all, filter).map((subject) => [subject.name, () => subject] as const),
    ...MEMORY.map((text) => [text.split(' ')[0]!, (buffer: bigint) => memorySubject(text, buffer)] as const),
  ].filter(([name]) => filter.test(name))
  const results: OperationResult[] = []
  for (const [name, make] of makers)
    results.push({ name, reference: await reference.measure(make, effort), core: await core.measure(make, effort) })
  return results
}

export function showOperations(results: readonly OperationResult[]): string {
  const head = ['ns per wave64 instruction', 'reference', 'core', 'reference:core']
  return table(
    head,
    results.map(({ name, reference, core }) => [name, number(reference), number(core), ratio(reference, core)]),
  )
}
