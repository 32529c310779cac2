/** Traces: words to results, for a loop that repeats and for words that do not. */
import { createCore, Device, decode, playTrace, TARGETS, tracePlayer } from '../host/index.ts'
import { bestSeconds, type Effort } from './measure.ts'
import { table } from './table.ts'

const { gfx803 } = TARGETS

/** One result: wave instructions a second, and how many nanoseconds each took. */
export interface TraceSpeed {
  readonly name: string
  readonly instructions: number
  readonly millionsPerSecond: number
  readonly nanoseconds: number
  readonly residentMegabytes: number
}

/** VALU operations as compilers choose them most, by name. */
const MIX =
  /^v_(add|sub|mul|max|min|mac|mad|fma|med3)_f32$|^v_(and|or|xor|not)_b32$|^v_(lshl|lshr|ashr)rev_[bi]32$|^v_(add|sub)_u32$|^v_mul_u32_u24$|^v_mov_b32$|^v_cndmask_b32$|^v_cvt_f32_[iu]32$|^v_cvt_[iu]32_f32$|^v_bf[ei]_[ui]32$|^v_cmp_(lt|gt|eq)_(f32|u32)$/

/** Words of mixed vector instructions, the same each time: VOP1, VOP2, VOP3 and VOPC in equal parts. */
function mixedWords(count: number): Uint32Array {
  const words: number[] = []
  const pattern = new Uint32Array(2)
  let state = 1
  const random = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  for (let done = 0; done < count; ) {
    // Sources are VGPRs: bit 8 of their nine bits.
    const heads = [
      random() & 0x7fffffff,
      0x7e000000 | (random() & 0x01ffffff),
      0xd0000000 | (random() & 0x03ffffff),
      0x7c000000 | (random() & 0x01ffffff),
    ]
    const isVop3 = done % 4 === 2
    pattern[0] = isVop3 ? heads[2]! : heads[done % 4]! | 0x100
    pattern[1] = (random() | 0x04020100) >>> 0
    const instruction = decode(pattern, 0, gfx803)
    if (instruction === undefined || !MIX.test(instruction.operation.name)) continue
    words.push(...pattern.subarray(0, instruction.dwords))
    done++
  }
  return Uint32Array.from(words)
}

async function measure(name: string, patterns: number, instructions: number, effort: Effort): Promise<TraceSpeed> {
  const bytes = new Uint8Array(mixedWords(patterns).buffer)
  const times = Math.ceil(instructions / patterns)
  function* source(): Generator<Uint8Array> {
    for (let i = 0; i < times; i++) yield bytes
  }
  const device = new Device(await createCore(), gfx803)
  const vgprs = new Map(Array.from({ length: 256 }, (_, register) => [register, 0x3f800000 + register * 77]))
  const seconds = await bestSeconds(
    effort,
    async () => {
      const player = tracePlayer(device, { vgprs })
      const { error, seconds } = await playTrace(player, device, source(), { form: 'words' })
      if (error !== undefined) throw error
      player.free()
      return seconds
    },
    true,
  )
  const executed = times * patterns
  return {
    name,
    instructions: executed,
    millionsPerSecond: executed / seconds / 1e6,
    nanoseconds: (seconds / executed) * 1e9,
    residentMegabytes: Math.round(process.memoryUsage().rss / 1e6),
  }
}

export async function measureTraces(effort: Effort, large: boolean): Promise<TraceSpeed[]> {
  const million = large ? 100e6 : 5e6
  return [
    await measure('2,000 patterns', 2_000, million / 10, effort),
    await measure('2,000 patterns', 2_000, million, effort),
    await measure('1,000,000 patterns', 1_000_000, million, effort),
  ]
}

export function showTraces(results: readonly TraceSpeed[]): string {
  const rows = results.map(({ name, instructions, millionsPerSecond, nanoseconds, residentMegabytes }) => [
    name,
    instructions.toLocaleString('en'),
    millionsPerSecond.toFixed(2),
    nanoseconds.toFixed(0),
    `${residentMegabytes}`,
  ])
  return `Traces: wave64 instructions of mixed VALU code from machine words, core engine\n${table(['trace', 'instructions', 'M/s', 'ns', 'MB'], rows)}`
}
