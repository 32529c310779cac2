/**
 * Cross-check: the same work on two engines in step. After every instruction, what it may have written is compared, a wave as a whole when it has
 * ended, and everything after each slice. Where they part, the slice is run again, and the first instruction after which anything differs is shown.
 */
import { decode } from '../codec/decode.ts'
import type { Execution, Sent, Wave } from '../device/index.ts'
import { FaultCode } from '../engine.ts'
import { CoreError } from '../errors.ts'
import type { Table } from '../isa/operations.ts'
import {
  RECORD_DST,
  vectorOffset,
  vgprAt,
  WAVE_EXEC_MASKS,
  WAVE_FAULT_ADDRESS,
  WAVE_FAULT_BYTES,
  WAVE_FAULT_LANE,
  WAVE_HW_ID,
  WAVE_INSTRUCTIONS,
  WAVE_PC,
  WAVE_SCALARS,
  WAVE_SIZE,
  WAVE_STOP,
} from '../plan/layout.ts'
import { type Difference, Differences } from './compare.ts'
import { hex } from './hex.ts'
import { type Line, lineAt, list } from './listing.ts'
import { nameOfWord } from './registers.ts'

/** How two engines are run in step. */
export interface CheckOptions {
  /** Wave instructions in all. */
  readonly budget: number
  /**
   * Instructions from one comparison of waves to the next, 1 to 4096; default 1. More let an engine do what it does only at a stretch,
   * and let a difference pass that is overwritten at once.
   */
  readonly stride?: number
  readonly signal?: AbortSignal | undefined
  /** Workgroups done and in all. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/** What a cross-check found. `expected` is always the reference's word, `actual` the other engine's. */
export interface Check {
  /** The checked engine's run and the reference's, both at their end or where they parted. */
  readonly run: Execution
  readonly reference: Execution
  /** Wall time that each spent running. */
  readonly seconds: number
  readonly referenceSeconds: number
  /** The budget was used up. */
  readonly exhausted: boolean
  /** Absent where the engines agree. */
  readonly parting: Parting | undefined
}

/** The first instruction after which two engines differ. */
export interface Parting {
  /** Wave instructions that both executed before it. */
  readonly after: number
  /** 1: the instruction of `line` did it. More: one of so many from there on, executed at a stretch. */
  readonly span: number
  readonly workgroup: readonly [number, number, number]
  readonly wave: number
  readonly line: Line
  /** The instruction in its place: some lines before and after, itself included. */
  readonly context: readonly Line[]
  /** Before the instruction. */
  readonly exec: bigint
  readonly vcc: bigint
  /** The first differences, and how many there are in all. */
  readonly list: readonly Difference[]
  readonly count: number
}

/** Starts the work on one of the two engines. */
type Begin = (which: 'run' | 'reference') => Promise<Execution>

/** Wave instructions between two comparisons of everything; a multiple of every stride that is a power of two. */
const SLICE = 4096

/**
 * Runs two executions of the same work in step.
 * @param begin starts the work afresh, the same way each time; called again to find the instruction
 * @throws the signal's reason when it aborts
 */
export async function crossCheck(begin: Begin, options: CheckOptions): Promise<Check> {
  const run = await begin('run')
  const reference = await begin('reference')
  const pair: Pair = { run, reference, seconds: 0, referenceSeconds: 0, compared: 0 }
  let sent = NOTHING_SENT
  const stride = options.stride ?? 1
  let done = 0
  let parting: Parting | undefined
  while (reference.status === 'running' && done < options.budget && parting === undefined) {
    options.signal?.throwIfAborted()
    const limit = Math.min(SLICE, options.budget - done)
    if (!advance(pair, limit, stride) || compare(reference, run, true, sent).count > 0) parting = await locate(begin, done, stride)
    sent = countsOf(reference.sent)
    done += limit
    options.onProgress?.(reference.groupsDone, reference.groupCount)
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  const { seconds, referenceSeconds } = pair
  return { run, reference, seconds, referenceSeconds, parting, exhausted: reference.status === 'running' && parting === undefined }
}

/** Two executions of the same work and the wall time that each has spent running. */
interface Pair {
  readonly run: Execution
  readonly reference: Execution
  seconds: number
  referenceSeconds: number
  /** Waves that were compared in part. */
  compared: number
}

/** Runs both up to `limit` instructions further; false where waves differ. */
function advance(pair: Pair, limit: number, stride: number): boolean {
  const { run, reference } = pair
  for (let done = 0; done < limit && reference.status === 'running'; done += stride) {
    const wave = stride === 1 ? reference.next : undefined
    const written = wave && destinationOf(wave, reference.device.arena.words)
    const steps = Math.min(stride, limit - done)
    const start = performance.now()
    run.step(steps)
    const middle = performance.now()
    reference.step(steps)
    pair.seconds += (middle - start) / 1000
    pair.referenceSeconds += (performance.now() - middle) / 1000
    if (run.status !== reference.status) return false
    // Where code runs off its end, the same step goes on with the next workgroup.
    const here = wave !== undefined && reference.waves.includes(wave)
    if (!here) {
      if (!reference.waves.every((w) => sameWave(reference, run, w))) return false
    } else if (!sameWave(reference, run, wave, isAtEnd(wave) ? undefined : written, pair.compared++)) return false
  }
  return true
}

/** Whether nothing more of the wave will be compared: it has ended, or does so at the next step's beginning. */
const isAtEnd = (wave: Wave): boolean => wave.ended || wave.pc >= wave.program.codeBytes

/** VGPRs that an instruction writes at most: four, and the status of an access. */
const MOST_WRITTEN = 5
/** Other VGPRs that are compared after an instruction, by turns: one that was written and should not have been is found soon. */
const BY_TURNS = 2

/** The first VGPR that the wave's next instruction may write, -1 for none; undefined where nobody knows yet: it is not planned. */
function destinationOf(wave: Wave, words: Uint32Array): number | undefined {
  const record = wave.program.record(wave.pc)
  if (record === 0) return undefined
  const offset = words[(record + RECORD_DST) >>> 2]!
  return Math.max(-1, Math.floor(vgprAt(offset, wave.size)))
}

/**
 * Compares a wave of the reference with its counterpart, word by word where both lie.
 * @param written the first VGPR that the last instruction may have written; default: all are compared
 * @param turn which of the other VGPRs are compared, too
 */
function sameWave(reference: Execution, run: Execution, wave: Wave, written?: number, turn = 0): boolean {
  const other = run.waves[wave.index]
  if (other === undefined) return false
  const a = reference.device.arena.words
  const b = run.device.arena.words
  const same = (from: number, to: number): boolean => {
    for (let i = from / 4; i < to / 4; i++) if (a[wave.host / 4 + i] !== b[other.host / 4 + i]) return false
    return true
  }
  const rows = (first: number, count: number): boolean => {
    const end = Math.min(first + count, wave.vgprCount)
    return same(vectorOffset(first, wave.size), vectorOffset(end, wave.size))
  }
  return (
    same(WAVE_PC, WAVE_SIZE) &&
    same(WAVE_INSTRUCTIONS, WAVE_HW_ID) &&
    same(WAVE_SCALARS, WAVE_EXEC_MASKS) &&
    (written === undefined
      ? rows(0, wave.vgprCount)
      : (written < 0 || rows(written, MOST_WRITTEN)) && rows((turn * BY_TURNS) % wave.vgprCount, BY_TURNS))
  )
}

/**
 * Runs both anew up to the slice, then one instruction at a time. An engine that does things only at a stretch may do right in single
 * steps; then the shortest stretch that shows the difference is found.
 */
async function locate(begin: Begin, before: number, stride: number): Promise<Parting> {
  for (const span of [1, 4, 16, 64, 256, 1024, SLICE].filter((n) => n < stride).concat(stride)) {
    const run = await begin('run')
    const reference = await begin('reference')
    try {
      for (let done = 0; done < before; done += stride) for (const execution of [run, reference]) execution.step(stride)
      const parting = walk(reference, run, before, span)
      if (parting !== undefined) return parting
    } finally {
      run.free()
      reference.free()
    }
  }
  throw new CoreError(`the engines differed after ${before} to ${before + SLICE} instructions, but not when run again; please report it`)
}

/** Runs a slice, comparing after every `span` instructions. */
function walk(reference: Execution, run: Execution, before: number, span: number): Parting | undefined {
  for (let done = 0; done < SLICE; done += span) {
    const scene = sceneOf(reference)
    const sent = countsOf(reference.sent)
    if (scene === undefined) return undefined
    run.step(span)
    reference.step(span)
    const { list, count } = compare(reference, run, span > 1 || scene.touchesMemory, sent)
    if (count > 0) return { after: before + done, span, ...scene.parting, list, count }
  }
  return undefined
}

const MEMORY: ReadonlySet<Table> = new Set<Table>(['smem', 'ds', 'flat', 'mubuf', 'mtbuf', 'mimg', 'exp', 'sopp'])
const LINES_BEFORE = 4
const LINES_AFTER = 2

/** What is about to happen. */
function sceneOf(execution: Execution) {
  const wave = execution.next
  if (wave === undefined) return undefined
  const { words } = wave.program.code
  const { pc, exec, vcc, index } = wave
  const instruction = decode(words, pc / 4, execution.device.target)
  const line = lineAt(words, execution.device.target, pc)
  return {
    touchesMemory: instruction === undefined || MEMORY.has(instruction.operation.table),
    parting: { workgroup: execution.workgroup, wave: index, line, context: around(wave, execution), exec, vcc },
  }
}

function around(wave: Wave, execution: Execution): Line[] {
  const lines = list(wave.program.code.words, execution.device.target)
  const at = lines.findIndex((line) => line.offset === wave.pc)
  return at < 0
    ? [lineAt(wave.program.code.words, execution.device.target, wave.pc)]
    : lines.slice(Math.max(0, at - LINES_BEFORE), at + 1 + LINES_AFTER)
}

// --- comparing

/**
 * Compares waves, and with `memory` LDS, GDS, guest memory, and what was sent. Fewer reasons to look at memory make single steps fast.
 * @param sent how much of what was sent has been compared already
 */
function compare(reference: Execution, run: Execution, memory: boolean, sent: SentCounts): Differences {
  const differences = new Differences()
  const status = (execution: Execution) => execution.error?.code ?? execution.status
  if (status(reference) !== status(run)) differences.add({ where: 'status', expected: status(reference), actual: status(run) })
  if (reference.groupsDone !== run.groupsDone || reference.waves.length !== run.waves.length) {
    differences.add({ where: 'workgroups done', expected: `${reference.groupsDone}`, actual: `${run.groupsDone}` })
    return differences
  }
  reference.waves.forEach((wave, i) => {
    compareWaves(wave, run.waves[i]!, differences)
  })
  if (!memory) return differences
  compareSent(reference.sent, run.sent, sent, differences)
  if (reference.waves.length > 0) compareBytes('lds', reference.waves[0]!.lds, run.waves[0]!.lds, differences)
  compareBytes('gds', reference.device.gds, run.device.gds, differences)
  reference.device.memory.regions.forEach((region, i) => {
    compareBytes(region.name, reference.device.memory.view(region), run.device.memory.view(run.device.memory.regions[i]!), differences)
  })
  return differences
}

/** Exports and messages that are kept. */
interface SentCounts {
  readonly exports: number
  readonly messages: number
}
const NOTHING_SENT: SentCounts = { exports: 0, messages: 0 }
const countsOf = ({ exports, messages }: Sent): SentCounts => ({ exports: exports.length, messages: messages.length })

/** Compares what waves sent behind the first ones; of those that are not kept, how many there are. */
function compareSent(reference: Sent, run: Sent, from: SentCounts, differences: Differences): void {
  const differ = (where: string, a: number, b: number | undefined, lane?: number): void => {
    if (a === b) return
    const actual = b === undefined ? 'nothing' : hex(b, 32)
    differences.add({ where, ...(lane === undefined ? {} : { lane }), expected: hex(a, 32), actual })
  }
  differ('exports', reference.exportCount, run.exportCount)
  differ('messages', reference.messageCount, run.messageCount)
  for (let i = from.exports; i < reference.exports.length; i++) {
    const { target, channels, exec, values } = reference.exports[i]!
    const other = run.exports[i]
    if (other?.exec !== exec)
      differences.add({
        where: `export ${i}, exec`,
        expected: hex(exec, 64),
        actual: other === undefined ? 'nothing' : hex(other.exec, 64),
      })
    if (other?.target !== target) differences.add({ where: `export ${i}`, expected: target, actual: other?.target ?? 'nothing' })
    values.forEach((row, channel) => {
      row.forEach((value, lane) => {
        differ(`export ${i}, ${target}.${channels[channel]}`, value, other?.values[channel]?.[lane], lane)
      })
    })
  }
  for (let i = from.messages; i < reference.messages.length; i++) {
    differ(`message ${i}`, reference.messages[i]!.message, run.messages[i]?.message)
    differ(`message ${i}, m0`, reference.messages[i]!.m0, run.messages[i]?.m0)
  }
}

function compareWaves(reference: Wave, run: Wave, differences: Differences): void {
  const a = wordsOf(reference.state())
  const b = wordsOf(run.state())
  for (let i = 0; i < a.length; i++) {
    if (a[i] === b[i] || isLoose(i * 4, reference)) continue
    differences.add({ ...nameOfWord(i * 4, reference.size), expected: hex(a[i]!, 32), actual: hex(b[i]!, 32) })
  }
}

const ACCESS_FAULTS: readonly number[] = [FaultCode.Memory, FaultCode.Lds, FaultCode.Misaligned]

/**
 * Words that may differ: why a wave paused (where a slice ends it is out of budget, or before code that is not planned yet; what ended
 * it is in the status), and the address of a fault that has none.
 */
function isLoose(offset: number, wave: Wave): boolean {
  if (offset === WAVE_STOP) return true
  const isAccess =
    offset === WAVE_FAULT_LANE || offset === WAVE_FAULT_BYTES || (offset >= WAVE_FAULT_ADDRESS && offset < WAVE_FAULT_ADDRESS + 8)
  return isAccess && !ACCESS_FAULTS.includes(wave.fault)
}

/** Bytes by dwords, then what is left over; places are named by their byte offset. */
function compareBytes(name: string, reference: Uint8Array, run: Uint8Array, differences: Differences): void {
  const a = wordsOf(reference)
  const b = wordsOf(run)
  const where = (offset: number): string => `${name}+0x${offset.toString(16)}`
  for (let i = 0; i < a.length; i++)
    if (a[i] !== b[i]) differences.add({ where: where(i * 4), expected: hex(a[i]!, 32), actual: hex(b[i]!, 32) })
  for (let i = a.length * 4; i < reference.length; i++)
    if (reference[i] !== run[i]) differences.add({ where: where(i), expected: hex(reference[i]!, 8), actual: hex(run[i]!, 8) })
}

/** Blocks and regions begin at multiples of 64 bytes, copies at 0. */
const wordsOf = (bytes: Uint8Array): Uint32Array => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
