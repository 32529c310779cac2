/** What comes back from a job, ready for JSON. */
import type { Export, Outcome } from '../device/index.ts'
import type { EngineName, Translated } from '../engine.ts'
import { FaultError, JobError, LanewiseError, LimitError, MemoryFault, shown } from '../errors.ts'
import type { Difference } from '../results/compare.ts'
import { hex } from '../results/hex.ts'
import type { Profile } from '../results/profile.ts'

/**
 * How a job ended: as expected, with other results, with a fault, at something that Lanewise does not run, at its budget, or before it
 * could run.
 */
export type Status = 'ok' | 'mismatch' | 'fault' | 'unsupported' | 'budget' | 'error'

/** A scalar or VGPR as hexadecimal (a VGPR lane by lane), a buffer or LDS as its bytes in memory order. */
export type ReadValue = string | readonly string[] | { readonly hex: string }

/** An error as data. */
export interface ResultError {
  readonly code: string
  readonly message: string
  /** Path of the key at fault, for ERR_JOB. */
  readonly path?: string
  /** Byte offset of the instruction from the code's first byte. */
  readonly pc?: number
  /** Its text, or its words where it has none. */
  readonly instruction?: string
  readonly workgroup?: readonly [number, number, number]
  readonly wave?: number
  /** Lane and address of an access; a scalar access has no lane. */
  readonly lane?: number
  readonly address?: string
  /** Lines of assembly around the instruction, itself marked with `>`. */
  readonly context?: readonly string[]
}

/** The reference's share of a run with cross-check. */
export interface CheckResult {
  readonly engine: 'reference'
  readonly seconds: number
  /** The first instruction after which the engines differ; null where they agree. */
  readonly parting: null | {
    readonly pc: number
    readonly instruction: string
    readonly workgroup: readonly [number, number, number]
    readonly wave: number
    /** Wave instructions before it. */
    readonly after: number
    /** 1: this instruction did it. More: one of so many from it on, which the engine executes at a stretch. */
    readonly span: number
    /** EXEC and VCC before it. */
    readonly exec: string
    readonly vcc: string
    /** Lines of assembly around it, the instruction itself marked. */
    readonly context: readonly string[]
  }
}

/** What one `exp` sent. */
export interface ExportResult {
  readonly workgroup: readonly [number, number, number]
  readonly wave: number
  readonly pc: number
  /** mrt0 to mrt7, mrtz, null, pos0 to pos3, param0 to param31. */
  readonly target: string
  readonly compressed: boolean
  readonly done: boolean
  readonly validMask: boolean
  /** Lanes that sent. */
  readonly exec: string
  /** By channel (x, y, z, w: those that were sent), lane by lane; null for lanes that did not send. */
  readonly values: Readonly<Record<string, readonly (string | null)[]>>
}

/** What one `s_sendmsg` sent. */
export interface MessageResult {
  readonly workgroup: readonly [number, number, number]
  readonly wave: number
  readonly pc: number
  /** SIMM16. */
  readonly message: number
  readonly m0: string
}

/** What waves did and sent beyond themselves, as data; nothing where they did nothing of the kind. */
export function beyondResult({ beyond, sent }: Pick<Outcome, 'beyond' | 'sent'>): Partial<JobResult> {
  const { exports, exportCount, messages, messageCount } = sent
  return {
    ...(Object.keys(beyond).length > 0 ? { beyond } : {}),
    ...(exportCount > 0 ? { exports: exports.map(exportResult) } : {}),
    ...(exportCount > exports.length ? { moreExports: exportCount - exports.length } : {}),
    ...(messageCount > 0 ? { messages: messages.map((message) => ({ ...message, m0: hex(message.m0, 32) })) } : {}),
    ...(messageCount > messages.length ? { moreMessages: messageCount - messages.length } : {}),
  }
}

function exportResult({ workgroup, wave, pc, target, channels, compressed, done, validMask, exec, values }: Export): ExportResult {
  const bits = compressed ? 16 : 32
  const lanes = (row: Uint32Array): (string | null)[] =>
    Array.from(row, (value, lane) => ((exec >> BigInt(lane)) & 1n ? hex(value, bits) : null))
  const byChannel = Object.fromEntries([...channels].map((channel, i) => [channel, lanes(values[i]!)]))
  return { workgroup, wave, pc, target, compressed, done, validMask, exec: hex(exec, 64), values: byChannel }
}

/** What came of a job; everything in it goes into JSON. */
export interface JobResult {
  readonly name: string
  readonly status: Status
  readonly read: Readonly<Record<string, ReadValue>>
  /** The first 16. */
  readonly differences: readonly Difference[]
  /** Differences beyond those listed. */
  readonly more?: number
  readonly engine: EngineName
  readonly threads: number
  /** Wave instructions, not per lane. */
  readonly instructions: number
  /** Wall time of the dispatch alone, planning included; loading, input generation and comparing are not. */
  readonly seconds: number
  /** How often each approximate operation was executed (wave instructions). */
  readonly approximate: Readonly<Record<string, number>>
  /** How often each operation was executed that acts beyond its wave; a dispatch that has some runs on one thread. */
  readonly beyond?: Readonly<Record<string, number>>
  /** What waves exported, in that order: the first ones. */
  readonly exports?: readonly ExportResult[]
  /** Exports beyond those listed. */
  readonly moreExports?: number
  /** Messages of waves (s_sendmsg), in that order: the first ones. */
  readonly messages?: readonly MessageResult[]
  /** Messages beyond those listed. */
  readonly moreMessages?: number
  /** What the translating engine has made so far (in this thread, for all its jobs). */
  readonly translated?: Translated
  readonly check?: CheckResult
  readonly profile?: Profile
  readonly error?: ResultError
}

/** What an error says, as data. */
export function resultError(error: unknown): ResultError {
  if (!(error instanceof LanewiseError)) return { code: 'ERR_INTERNAL', message: error instanceof Error ? error.message : shown(error) }
  const place = error instanceof FaultError || error instanceof LimitError ? error.place : {}
  const lane = error instanceof MemoryFault && error.lane !== undefined ? { lane: error.lane } : {}
  const access = error instanceof MemoryFault ? { ...lane, address: hex(error.address, 64) } : {}
  const path = error instanceof JobError && error.path !== '' ? { path: error.path } : {}
  return { code: error.code, message: error.message, ...path, ...place, ...access }
}

/** The status of a run that an error stopped. */
export function statusOf(error: LanewiseError): Status {
  if (error.code === 'ERR_UNSUPPORTED') return 'unsupported'
  if (error.code === 'ERR_LIMIT') return 'budget'
  return error instanceof FaultError ? 'fault' : 'error'
}

/** The result of a job that never came to run. */
export function failed(name: string, error: unknown, engine: EngineName): JobResult {
  const unsupported = error instanceof LanewiseError && error.code === 'ERR_UNSUPPORTED'
  return {
    name,
    status: unsupported ? 'unsupported' : 'error',
    read: {},
    differences: [],
    engine,
    threads: 1,
    instructions: 0,
    seconds: 0,
    approximate: {},
    error: resultError(error),
  }
}
