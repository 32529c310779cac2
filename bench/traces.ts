/** Traces: words to results, for a loop that repeats and for words that do not. */
import { existsSync, readFileSync } from 'node:fs'
import { createCore, Device, playTrace, TARGETS, tracePlayer } from '../host/index.ts'
import { inChild } from './child.ts'
import { mixedWords } from './mixed.ts'
import { number, table } from './table.ts'

/** A trace: so many different instructions, over and over. */
export interface TraceRequest {
  readonly patterns: number
  readonly instructions: number
}

/** How fast one was played. */
export interface TraceSpeed extends TraceRequest {
  /** Reading, planning and running; waiting for the CPU does not count. */
  readonly seconds: number
  /** Largest resident memory of the process that played it, the engine and Node included, and before it began. */
  readonly peakBytes: number
  readonly startBytes: number
}

const VGPRS = new Map(Array.from({ length: 256 }, (_, register) => [register, 0x3f800000 + register * 77]))
/** A short trace first: the core and the planner are compiled then. */
const WARMING: TraceRequest = { patterns: 2000, instructions: 200_000 }

/** Seconds of playing a trace. */
async function play({ patterns, instructions }: TraceRequest): Promise<number> {
  const bytes = new Uint8Array(mixedWords(patterns).buffer)
  function* source(): Generator<Uint8Array> {
    for (let done = 0; done < instructions; done += patterns) yield bytes
  }
  const device = new Device(await createCore(), TARGETS.gfx803)
  const player = tracePlayer(device, { vgprs: VGPRS })
  const before = process.cpuUsage()
  const { error } = await playTrace(player, device, source(), { form: 'words' })
  const { user, system } = process.cpuUsage(before)
  if (error !== undefined) throw error
  player.free()
  return (user + system) / 1e6
}

/** Bytes. Linux counts for this program alone; elsewhere it may be what the parent had when it made this process. */
function peak(): number {
  const kilobytes = existsSync('/proc/self/status') && /^VmHWM:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))
  return 1024 * (kilobytes ? Number(kilobytes[1]) : process.resourceUsage().maxRSS)
}

/** Plays a trace in this process, whose memory should not have been used for others. */
export async function measureTraceHere(request: TraceRequest): Promise<TraceSpeed> {
  await play(WARMING)
  const startBytes = peak()
  const seconds = await play(request)
  return { ...request, seconds, peakBytes: peak(), startBytes }
}

const MILLION = 1_000_000

/** Each trace in a process of its own, the better of two runs. */
export function measureTraces(large: boolean): TraceSpeed[] {
  const lengths = [1, 10, ...(large ? [100] : [])]
  return [2000, MILLION].flatMap((patterns) =>
    lengths.map((millions) => {
      const runs = [1, 2].map(() => inChild<TraceSpeed>('trace', { patterns, instructions: millions * MILLION }))
      return runs.reduce((a, b) => (a.seconds < b.seconds ? a : b))
    }),
  )
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0)

export function showTraces(results: readonly TraceSpeed[]): string {
  const rows = results.map((r, i) => {
    const shorter = results[i - 1]
    // How the time for an instruction has grown since the trace before, which is a tenth as long.
    const growth = shorter?.patterns === r.patterns ? number(r.seconds / r.instructions / (shorter.seconds / shorter.instructions)) : '-'
    const speed = [(r.instructions / r.seconds / 1e6).toFixed(2), ((r.seconds / r.instructions) * 1e9).toFixed(0)]
    return [`${r.patterns.toLocaleString('en')} patterns`, r.instructions.toLocaleString('en'), ...speed, growth, megabytes(r.peakBytes), megabytes(r.startBytes)]
  }) // biome-ignore format: one line a row
  return `Wave64 instructions of mixed VALU code from machine words, core engine\n${table(['trace', 'instructions', 'M/s', 'ns', 'growth', 'peak MB', 'before'], rows)}`
}
