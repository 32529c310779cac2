/** Lanewise's public API, every name by hand. Everything here runs in Node and in browsers. */

export { decode } from './codec/decode.ts'
export { encode } from './codec/encode.ts'
export type { Instruction } from './codec/instruction.ts'
export { type CoreEngine, type CoreOptions, createCore } from './core/engine.ts'
export { type CoreBuild, type CoreSource, compileCore } from './core/load.ts'
export {
  type Argument,
  bareWave,
  type Code,
  DEFAULT_DESCRIPTOR,
  DEFAULT_MODE,
  Device,
  type DeviceKernel,
  type DeviceOptions,
  type Disassemble,
  dispatch,
  type Execution,
  type Export,
  type GuestMemory,
  type Launch,
  type LoadedObject,
  type Message,
  type Outcome,
  parseSchedule,
  type Region,
  type RegionOptions,
  type RunOptions,
  rawKernel,
  type Schedule,
  type Sent,
  type Size,
  type Wave,
  type WaveState,
} from './device/index.ts'
export { type Engine, type EngineName, type EngineSeed, FaultCode, type SharedMemory, Stop } from './engine.ts'
export {
  AssembleError,
  CoreError,
  DecodeError,
  type ErrorCode,
  FaultError,
  JobError,
  LanewiseError,
  LaunchError,
  LimitError,
  MemoryFault,
  ObjectError,
  type Place,
  UnsupportedError,
} from './errors.ts'
export {
  type BitRange,
  drawBits,
  type Encoding,
  type Example,
  type ExampleOptions,
  type ExampleRun,
  type ExplainedOperand,
  type Explanation,
  explain,
  findOperation,
  generationsOf,
  type RegisterValue,
  runExample,
  similarNames,
  type Value,
} from './explain/index.ts'
export { OPERATION_BY_NAME, OPERATIONS, type Operation, type Table } from './isa/operations.ts'
export { GENERATIONS, type Generation, TARGETS, type Target, type TargetName } from './isa/targets.ts'
export { createReference, ENGINES, type JobEngine, openEngine } from './jobs/engines.ts'
export type { Job } from './jobs/job.ts'
export type { ReadFile } from './jobs/load.ts'
export { parseJob, parseJson, readJob } from './jobs/parse.ts'
export {
  type CheckResult,
  type ExportResult,
  type JobResult,
  type MessageResult,
  type ReadValue,
  type ResultError,
  resultError,
  type Status,
} from './jobs/result.ts'
export { type JobsOptions, type RunJobOptions, runJob, runJobs } from './jobs/run.ts'
export { type RunTraceOptions, readTraceJob, runTrace, type TraceResult, type TraceState } from './jobs/trace.ts'
export type { CodeObject, Kernel, KernelArgument, KernelDescriptor, KernelMetadata } from './object/code-object.ts'
export { type LoadOptions, loadObject, unbundle } from './object/index.ts'
export { coreCount, Pool, type PoolOptions, type PoolOutcome, type PoolRunOptions } from './pool/index.ts'
export { type Check, type CheckOptions, crossCheck, type Parting } from './results/check.ts'
export type { Difference } from './results/compare.ts'
export { type ElementType, numberOf } from './results/elements.ts'
export { fnv1a64 } from './results/fnv.ts'
export { bytesOfHex, hex, hexOfBytes } from './results/hex.ts'
export { type Line, lineAt, list, parseWords, wordsOfBytes, wordsText } from './results/listing.ts'
export { nearest } from './results/nearest.ts'
export { CLASSES, type InstructionClass, type Patterns, type Profile, Profiler, type Spot } from './results/profile.ts'
export { type Observer, type WatchOptions, watch } from './results/watch.ts'
export { assemble } from './text/assemble.ts'
export { branchTarget, disassemble } from './text/disassemble.ts'
export { assembleProgram, type Program } from './text/program.ts'
export { playTrace, type TraceOptions, type TraceOutcome, tracePlayer } from './trace/play.ts'
export { TracePlayer } from './trace/player.ts'
export { type RecordedWave, Recorder, type RecordOptions } from './trace/recorder.ts'
export { type Change, type RecordingHeader, RecordingReader, type Step } from './trace/recording.ts'
export type { TraceForm, TraceSource } from './trace/source.ts'
