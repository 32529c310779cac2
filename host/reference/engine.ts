/** The reference engine: runs plan records one lane at a time. It says what instructions mean; the core is compared with it. */
import { type Engine, FaultCode, Stop } from '../engine.ts'
import { LimitError } from '../errors.ts'
import {
  MACHINE_COUNTERS,
  RECORD_BYTES,
  WAVE_FAULT,
  WAVE_FAULT_ADDRESS,
  WAVE_FAULT_BYTES,
  WAVE_FAULT_LANE,
  WAVE_INSTRUCTIONS,
  WAVE_STOP,
} from '../plan/layout.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { FLAG_APPROXIMATE, OP_DEVICE, OP_END, OP_GOTO } from '../plan/record.ts'
import { Fault } from './fault.ts'
import { MODE_VSKIP } from './modes.ts'
import { nextPc } from './record.ts'
import { type Step, Steps } from './step.ts'
import { viewsOf, Wave } from './wave.ts'

/** Below are addresses that no structure may have: 0 means "none" in many places. */
const HEAP_BASE = 1024
const INITIAL_BYTES = 1 << 20
/** What an ArrayBuffer can surely have, and what 32-bit addresses reach. */
const LIMIT_BYTES = 2 ** 32 - 65536

/** Makes a reference engine with a memory of its own. */
export function createReference(): Engine {
  let memory = new ArrayBuffer(INITIAL_BYTES)
  let views = viewsOf(memory)
  const steps = new Steps()
  return {
    name: 'reference',
    heapBase: HEAP_BASE,
    get memory() {
      return memory
    },
    grow(bytes) {
      if (bytes <= memory.byteLength) return
      memory = grown(memory, bytes)
      views = viewsOf(memory)
    },
    run: (wave, budget) => run(new Wave(views, wave), steps, budget),
  }
}

/** A copy with room to spare, so that growing step by step stays cheap. */
function grown(memory: ArrayBuffer, bytes: number): ArrayBuffer {
  if (bytes > LIMIT_BYTES)
    throw new LimitError(`${bytes} bytes of memory were asked for; the reference engine can have ${LIMIT_BYTES} at most`)
  const larger = new ArrayBuffer(Math.min(LIMIT_BYTES, Math.max(bytes, memory.byteLength * 2)))
  new Uint8Array(larger).set(new Uint8Array(memory))
  return larger
}

function run(w: Wave, steps: Steps, budget: number): Stop {
  const stop = runUntilStop(w, steps, budget)
  w.setHeader(WAVE_STOP, stop)
  return stop
}

function runUntilStop(w: Wave, steps: Steps, budget: number): Stop {
  if (w.pc > w.codeBytes || w.pc % 4 !== 0) return fault(w, new Fault(FaultCode.Jump, undefined, w.programBase + BigInt(w.pc)))
  let left = budget
  let at = 0
  for (;;) {
    if (left === 0) return Stop.Budget
    if (w.pc === w.codeBytes) return Stop.End
    if (at === 0) at = w.recordAt(w.pc)
    if (at === 0) return Stop.Plan
    const step = steps.at(w, at)
    const { record } = step
    if (record.op === OP_END) return Stop.End
    if (record.op === OP_DEVICE) return Stop.Device
    if (record.op === OP_GOTO) {
      w.pc = record.imm
      at = 0
      continue
    }
    left--
    const stop = executeOne(w, step)
    if (stop !== undefined) return stop
    at = w.jump === undefined ? at + RECORD_BYTES : 0
  }
}

/** Executes one instruction: all of it, or nothing at all and a fault. */
function executeOne(w: Wave, step: Step): Stop | undefined {
  const { record } = step
  w.jump = undefined
  w.pc = record.pc
  let stop: Stop | undefined
  try {
    stop = execute(w, step)
  } catch (error) {
    if (error instanceof Fault) return fault(w, error)
    throw error
  }
  w.pc = w.jump ?? nextPc(record)
  countInstruction(w)
  if (record.flags & FLAG_APPROXIMATE) countApproximate(w, record)
  return stop
}

function execute(w: Wave, { record, execute, isVector }: Step): Stop | undefined {
  if (isVector && w.mode & MODE_VSKIP) return undefined
  return execute(w, record) ?? undefined
}

/** Adds one to the u64. */
function countInstruction(w: Wave): void {
  const low = (w.header(WAVE_INSTRUCTIONS) + 1) >>> 0
  w.setHeader(WAVE_INSTRUCTIONS, low)
  if (low === 0) w.setHeader(WAVE_INSTRUCTIONS + 4, w.header(WAVE_INSTRUCTIONS + 4) + 1)
}

function countApproximate(w: Wave, r: PlanRecord): void {
  const counter = w.word(w.machine + MACHINE_COUNTERS) + r.op * 8
  w.view.setBigUint64(counter, w.view.getBigUint64(counter, true) + 1n, true)
}

function fault(w: Wave, { code, lane, address, bytes }: Fault): Stop {
  w.setHeader(WAVE_FAULT, code)
  w.setHeader(WAVE_FAULT_LANE, lane)
  w.setHeader64(WAVE_FAULT_ADDRESS, BigInt.asUintN(64, address))
  w.setHeader(WAVE_FAULT_BYTES, bytes)
  return Stop.Fault
}
