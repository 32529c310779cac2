/** Plan records made ready to run: what a record says is read and looked up once, for most of them run many times. */
import { FaultCode } from '../engine.ts'
import { type Operation, operationOf } from '../isa/operations.ts'
import { RECORD_BYTES } from '../plan/layout.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { OP_ILLEGAL, OP_UNSUPPORTED } from '../plan/record.ts'
import { Fault } from './fault.ts'
import { executorOf } from './operations.ts'
import { readRecord } from './record.ts'
import type { WaveFunction } from './scalar.ts'
import type { Views } from './wave.ts'

export interface Step {
  readonly record: PlanRecord
  /** Throws the fault where there is nothing to execute. */
  readonly execute: WaveFunction
  /** MODE.VSKIP skips it. */
  readonly isVector: boolean
}

const RECORD_WORDS = RECORD_BYTES / 4

/** The records of one engine's memory. */
export class Steps {
  readonly #known = new Map<number, { readonly words: Uint32Array; readonly step: Step }>()

  /** The record at an address. Memory is used again for other programs, so one that is known must still have the same words. */
  at({ view, words }: Views, address: number): Step {
    const known = this.#known.get(address)
    if (known !== undefined && isAt(words, address, known.words)) return known.step
    const step = prepare(readRecord(view, address))
    this.#known.set(address, { words: words.slice(address / 4, address / 4 + RECORD_WORDS), step })
    return step
  }
}

function isAt(words: Uint32Array, address: number, record: Uint32Array): boolean {
  for (let k = 0; k < RECORD_WORDS; k++) if (words[address / 4 + k] !== record[k]) return false
  return true
}

const fails = (code: FaultCode): WaveFunction => {
  return () => {
    throw new Fault(code)
  }
}

function prepare(record: PlanRecord): Step {
  if (record.op === OP_ILLEGAL) return { record, execute: fails(FaultCode.Illegal), isVector: false }
  const operation = record.op === OP_UNSUPPORTED ? undefined : operationOf(record.op)
  if (operation === undefined) return { record, execute: fails(FaultCode.Unsupported), isVector: false }
  return { record, execute: executorOf(operation) ?? fails(FaultCode.Unsupported), isVector: isVector(operation) }
}

/** Everything but scalar operations is what MODE.VSKIP skips. */
const isVector = ({ table }: Operation): boolean => !table.startsWith('sop') && table !== 'smem'
