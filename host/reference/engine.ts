/** The reference engine: runs plan records one lane at a time. It says what instructions mean; the core is compared with it. */
import { type Engine, FaultCode, Stop } from '../engine.ts'
import { LimitError } from '../errors.ts'
import { type Operation, operationOf } from '../isa/operations.ts'
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
import { FLAG_APPROXIMATE, OP_END, OP_GOTO, OP_ILLEGAL, OP_UNSUPPORTED } from '../plan/record.ts'
import { Fault } from './fault.ts'
import { MODE_VSKIP } from './modes.ts'
import { executorOf } from './operations.ts'
import { nextPc, readRecord } from './record.ts'
import { Wave } from './wave.ts'

/** Below are addresses that no structure may have: 0 means "none" in many places. */
const HEAP_BASE = 1024
const INITIAL_BYTES = 1 << 20
/** What an ArrayBuffer can surely have, and what 32-bit addresses reach. */
const LIMIT_BYTES = 2 ** 32 - 65536

/** Makes a reference engine with a memory of its own. */
export function createReference(): Engine {
  let memory = new ArrayBuffer(INITIAL_BYTES)
  return {
    name: 'reference',
    heapBase: HEAP_BASE,
    get memory() {
      return memory
    },
    grow(bytes) {
      if (bytes <= memory.byteLength) return
      memory = grown(memory, bytes)
    },
    run: (wave, budget) => run(new Wave(memory, wave), budget),
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

function run(w: Wave, budget: number): Stop {
  const stop = runUntilStop(w, budget)
  w.setHeader(WAVE_STOP, stop)
  return stop
}

function runUntilStop(w: Wave, budget: number): Stop {
  if (w.pc > w.codeBytes || w.pc % 4 !== 0) return fault(w, new Fault(FaultCode.Jump, undefined, w.programBase + BigInt(w.pc)))
  let left = budget
  let at = 0
  for (;;) {
    if (left === 0) return Stop.Budget
    if (w.pc === w.codeBytes) return Stop.End
    if (at === 0) at = w.recordAt(w.pc)
    if (at === 0) return Stop.Plan
    const record = readRecord(w.view, at)
    if (record.op === OP_END) return Stop.End
    if (record.op === OP_GOTO) {
      w.pc = record.imm
      at = 0
      continue
    }
    left--
    const stop = step(w, record)
    if (stop !== undefined) return stop
    at = w.jump === undefined ? at + RECORD_BYTES : 0
  }
}

/** Executes one instruction: all of it, or nothing at all and a fault. */
function step(w: Wave, r: PlanRecord): Stop | undefined {
  w.jump = undefined
  w.pc = r.pc
  let stop: Stop | undefined
  try {
    stop = execute(w, r)
  } catch (error) {
    if (error instanceof Fault) return fault(w, error)
    throw error
  }
  w.pc = w.jump ?? nextPc(r)
  w.setHeader64(WAVE_INSTRUCTIONS, w.header64(WAVE_INSTRUCTIONS) + 1n)
  if (r.flags & FLAG_APPROXIMATE) countApproximate(w, r)
  return stop
}

function execute(w: Wave, r: PlanRecord): Stop | undefined {
  if (r.op === OP_ILLEGAL) throw new Fault(FaultCode.Illegal)
  const operation = r.op === OP_UNSUPPORTED ? undefined : operationOf(r.op)
  if (operation === undefined) throw new Fault(FaultCode.Unsupported)
  if (isVector(operation) && w.mode & MODE_VSKIP) return undefined
  const executor = executorOf(operation)
  if (executor === undefined) throw new Fault(FaultCode.Unsupported)
  return executor(w, r) ?? undefined
}

/** Everything but scalar operations is what MODE.VSKIP skips. */
const isVector = ({ table }: Operation): boolean => !table.startsWith('sop') && table !== 'smem'

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
