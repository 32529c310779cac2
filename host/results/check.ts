/**
 * Cross-check: the same work on two engines in step, everything compared after each slice. Where they part, the slice is run again
 * instruction by instruction, and the first one whose results differ is shown.
 */
import { decode } from '../codec/decode.ts'
import type { Table } from '../isa/operations.ts'
import type { Execution, Wave } from '../device/index.ts'
import { WAVE_STOP } from '../plan/layout.ts'
import { type Difference, Differences } from './compare.ts'
import { hex } from './hex.ts'
import { type Line, lineAt, list } from './listing.ts'
import { nameOfWord } from './registers.ts'

export interface CheckOptions {
  /** Wave instructions in all. */
  readonly budget: number
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
  readonly workgroup: readonly [number, number, number]
  readonly wave: number
  readonly line: Line
  /** The instruction in its place: some lines before and after, itself included. */
  readonly context: readonly Line[]
  /** Before the instruction. */
  readonly exec: bigint
  readonly vcc: bigint
  readonly differences: readonly Difference[]
  /** Differences in all. */
  readonly count: number
}

/** Wave instructions between two comparisons. */
const SLICE = 4096

/**
 * Runs two executions of the same work in step.
 * @param begin starts the work afresh, the same way each time; called again to find the instruction
 * @throws the signal's reason when it aborts
 */
export async function crossCheck(begin: (which: 'run' | 'reference') => Promise<Execution>, options: CheckOptions): Promise<Check> {
  const run = await begin('run')
  const reference = await begin('reference')
  const seconds = { run: 0, reference: 0 }
  let done = 0
  while (reference.status === 'running' && done < options.budget) {
    options.signal?.throwIfAborted()
    const limit = Math.min(SLICE, options.budget - done)
    seconds.run += timed(() => run.step(limit))
    seconds.reference += timed(() => reference.step(limit))
    const differences = compare(reference, run, true)
    if (differences.count > 0) {
      const parting = await locate(begin, done, differences)
      return { run, reference, seconds: seconds.run, referenceSeconds: seconds.reference, exhausted: false, parting }
    }
    done += limit
    options.onProgress?.(reference.groupsDone, reference.groupCount)
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  const exhausted = reference.status === 'running'
  return { run, reference, seconds: seconds.run, referenceSeconds: seconds.reference, exhausted, parting: undefined }
}

function timed(work: () => void): number {
  const start = performance.now()
  work()
  return (performance.now() - start) / 1000
}

/** Runs both anew up to the slice, then one instruction at a time. */
async function locate(begin: (which: 'run' | 'reference') => Promise<Execution>, before: number, found: Differences): Promise<Parting> {
  const run = await begin('run')
  const reference = await begin('reference')
  try {
    if (before > 0) for (const execution of [run, reference]) execution.step(before)
    for (let i = 0; i < SLICE; i++) {
      const scene = sceneOf(reference)
      if (scene === undefined) break
      run.step(1)
      reference.step(1)
      const differences = compare(reference, run, scene.touchesMemory)
      if (differences.count > 0) return { after: before + i, ...scene.parting, differences: differences.list, count: differences.count }
    }
    throw new Error(`engines differed in ${found.list[0]?.where} after ${before} to ${before + SLICE} instructions, but not when run again`)
  } finally {
    run.free()
    reference.free()
  }
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
  return at < 0 ? [lineAt(wave.program.code.words, execution.device.target, wave.pc)] : lines.slice(Math.max(0, at - LINES_BEFORE), at + 1 + LINES_AFTER)
}

// --- comparing

/** Compares waves, and with `memory` LDS, GDS and guest memory. Fewer reasons to look at memory make single steps fast. */
function compare(reference: Execution, run: Execution, memory: boolean): Differences {
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
  if (reference.waves.length > 0) compareBytes('lds', reference.waves[0]!.lds, run.waves[0]!.lds, differences)
  compareBytes('gds', reference.device.gds, run.device.gds, differences)
  reference.device.memory.regions.forEach((region, i) => {
    compareBytes(region.name, reference.device.memory.view(region), run.device.memory.view(run.device.memory.regions[i]!), differences)
  })
  return differences
}

/** Why a wave paused may differ where a slice ends: out of budget, or before code that is not planned yet. What ended it is in the status. */
function compareWaves(reference: Wave, run: Wave, differences: Differences): void {
  const a = wordsOf(reference.state())
  const b = wordsOf(run.state())
  for (let i = 0; i < a.length; i++)
    if (a[i] !== b[i] && i * 4 !== WAVE_STOP) differences.add({ ...nameOfWord(i * 4, reference.size), expected: hex(a[i]!, 32), actual: hex(b[i]!, 32) })
}

/** Bytes by dwords, then what is left over. */
function compareBytes(where: string, reference: Uint8Array, run: Uint8Array, differences: Differences): void {
  const a = wordsOf(reference)
  const b = wordsOf(run)
  for (let i = 0; i < a.length; i++)
    if (a[i] !== b[i]) differences.add({ where, index: i, expected: hex(a[i]!, 32), actual: hex(b[i]!, 32) })
  for (let i = a.length * 4; i < reference.length; i++)
    if (reference[i] !== run[i]) differences.add({ where: `${where} byte`, index: i, expected: hex(reference[i]!, 8), actual: hex(run[i]!, 8) })
}

/** Blocks and regions begin at multiples of 64 bytes, copies at 0. */
const wordsOf = (bytes: Uint8Array): Uint32Array => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
