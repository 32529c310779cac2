/** The error vocabulary: one base class, a stable `code`, data as fields; the message says what happened, what was expected, what to do. */

export type ErrorCode =
  | 'ERR_DECODE'
  | 'ERR_ASSEMBLE'
  | 'ERR_OBJECT'
  | 'ERR_UNSUPPORTED'
  | 'ERR_MEMORY_FAULT'
  | 'ERR_ILLEGAL'
  | 'ERR_LAUNCH'
  | 'ERR_LIMIT'
  | 'ERR_JOB'
  | 'ERR_CORE'
  | 'ERR_TRAP'
  | 'ERR_DEADLOCK'

/** The base of all errors: `code` is stable, `message` is for people. Names are written out, for minifiers rename classes. */
export class LanewiseError extends Error {
  override readonly name: string = 'LanewiseError'
  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Words that are no instruction, where one was wanted. */
export class DecodeError extends LanewiseError {
  override readonly name: string = 'DecodeError'
  constructor(
    message: string,
    readonly word: number,
    readonly byteOffset: number,
  ) {
    super('ERR_DECODE', message)
  }
}
/** Assembly text that cannot be assembled. `line` and `column` count from 1. */
export class AssembleError extends LanewiseError {
  override readonly name: string = 'AssembleError'
  constructor(
    message: string,
    readonly line: number,
    readonly column: number,
  ) {
    super('ERR_ASSEMBLE', message)
  }
}
/** A file that is no code object that Lanewise can load, or lacks what was asked of it. */
export class ObjectError extends LanewiseError {
  override readonly name: string = 'ObjectError'
  constructor(message: string) {
    super('ERR_OBJECT', message)
  }
}
/** A grid, workgroup, argument or buffer that does not fit the kernel or the hardware. */
export class LaunchError extends LanewiseError {
  override readonly name: string = 'LaunchError'
  constructor(message: string) {
    super('ERR_LAUNCH', message)
  }
}
/** A job file that says something wrong; `path` is the JSON path of the offending key. */
export class JobError extends LanewiseError {
  override readonly name: string = 'JobError'
  constructor(
    message: string,
    readonly path: string,
  ) {
    super('ERR_JOB', message)
  }
}
/** The WebAssembly core could not be loaded or contradicts itself. */
export class CoreError extends LanewiseError {
  override readonly name: string = 'CoreError'
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_CORE', message, options)
  }
}

/** Where in a run something happened. */
export interface Place {
  /** Byte offset of the instruction from the program's first byte. */
  readonly pc: number
  /** The instruction in LLVM's syntax, or its words where it has none. */
  readonly instruction: string
  readonly workgroup: readonly [number, number, number]
  /** Wave of the workgroup. */
  readonly wave: number
  /** Lines of assembly around it, the instruction itself marked with `>`; absent where nobody disassembles. */
  readonly context?: readonly string[]
}

/** Something that stopped a wave; registers and memory stay as they were before the instruction. */
export class FaultError extends LanewiseError {
  override readonly name: string = 'FaultError'
  constructor(
    code: ErrorCode,
    message: string,
    readonly place: Place,
  ) {
    super(code, message)
  }
}
/** A budget or size limit was reached. */
export class LimitError extends LanewiseError {
  override readonly name: string = 'LimitError'
  constructor(
    message: string,
    /** Where a run stood that has used up its budget. */
    readonly place?: Place,
  ) {
    super('ERR_LIMIT', message)
  }
}
/** A lane touched an address that is not its own. */
export class MemoryFault extends FaultError {
  override readonly name: string = 'MemoryFault'
  constructor(
    message: string,
    place: Place,
    readonly lane: number | undefined,
    readonly address: bigint,
  ) {
    super('ERR_MEMORY_FAULT', message, place)
  }
}
/** A known instruction that Lanewise does not run. */
export class UnsupportedError extends FaultError {
  override readonly name: string = 'UnsupportedError'
  constructor(message: string, place: Place) {
    super('ERR_UNSUPPORTED', message, place)
  }
}

/** Any value as an error can show it. `String` alone throws for objects whose `toString` is no function. */
export const shown = (value: unknown): string =>
  typeof value !== 'object' || value === null ? String(value) : Array.isArray(value) ? 'a list' : 'an object'
