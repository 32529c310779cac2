/** What the threads of a dispatch did, put together as if one had done it. */
import { type Execution, faultOfTwin, type Outcome, twinWave } from '../device/index.ts'
import { LanewiseError } from '../errors.ts'
import type { Halt, Piece, Report } from './share.ts'

/** How the run as a whole went. */
interface Facts {
  /** Wave instructions that were allowed, as the caller said, and as all threads count. */
  readonly budget: number
  readonly all: number
  /** Whether that was not enough. */
  readonly exhausted: boolean
  readonly seconds: number
}

/**
 * The outcome of all: of several workgroups that stopped it is the first one's, and only what was done up to there counts, as if workgroups
 * had run in order.
 * @param reports the first is the calling thread's
 */
export function merge(execution: Execution, reports: readonly Report[], facts: Facts): Outcome & { readonly threads: number } {
  const halts = reports.flatMap((report, thread) => (report.halt ? [{ ...report.halt, thread }] : []))
  const first = halts.sort((a, b) => a.group - b.group)[0]
  const pieces = reports.flatMap((report) => report.pieces)
  for (const { approximate } of reports.slice(1).flatMap((report) => report.pieces)) execution.device.addApproximate(approximate)
  const before = pieces.filter(({ from }) => first === undefined || from <= first.group)
  const halted =
    first !== undefined && (!facts.exhausted || (sum(before, 'groups') === first.group && sum(before, 'instructions') <= facts.all))
  const counted = halted ? before : pieces
  const { error, wave } = halted
    ? stopOf(execution, first)
    : { error: facts.exhausted ? execution.exhausted(facts.budget, sum(pieces, 'groups')) : undefined }
  execution.settle(error)
  return {
    status: error === undefined ? 'done' : 'stopped',
    error,
    wave,
    // As on one thread, a budget that does not do is used up to the last instruction.
    instructions: Math.min(sum(counted, 'instructions'), facts.all),
    seconds: facts.seconds,
    approximate: total(counted),
    // Waves that act beyond themselves run on one thread.
    beyond: {},
    sent: { exports: [], exportCount: 0, messages: [], messageCount: 0 },
    threads: Math.max(1, reports.filter((report) => report.halt !== undefined || sum(report.pieces, 'groups') > 0).length),
  }
}

/** The error and the wave of a workgroup that stopped. */
function stopOf(execution: Execution, halt: Halt & { readonly thread: number }): Pick<Outcome, 'error' | 'wave'> {
  if (halt.thread === 0) return { error: execution.error, wave: execution.outcome(0).wave }
  const { group, code, message } = halt
  const wave = twinWave(execution, halt.wave)
  return { wave, error: halt.fault ? faultOfTwin(execution, group, wave) : new LanewiseError(code, message) }
}

const sum = (pieces: readonly Piece[], what: 'groups' | 'instructions'): number => pieces.reduce((all, piece) => all + piece[what], 0)

function total(pieces: readonly Piece[]): Record<string, number> {
  const all: Record<string, number> = {}
  for (const { approximate } of pieces) for (const [name, count] of Object.entries(approximate)) all[name] = (all[name] ?? 0) + count
  return all
}
