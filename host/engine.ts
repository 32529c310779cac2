/** The one interface that the engines implement. An engine runs waves that the device has laid out in its linear memory. */

export type EngineName = 'reference' | 'core' | 'translate'

/** Why `run` returned; also in WAVE_STOP of the wave header. */
export const Stop = {
  /** s_endpgm, or the code's end. */
  End: 1,
  /** s_barrier was executed; WAVE_PC is behind it. */
  Barrier: 2,
  /** The budget is used up; WAVE_PC is the next instruction. */
  Budget: 3,
  /** The instruction at WAVE_PC has no plan record yet. */
  Plan: 4,
  /** The instruction at WAVE_PC could not be executed and had no effect; WAVE_FAULT says why. */
  Fault: 5,
  /** s_sleep and others that give the turn away; WAVE_PC is behind. */
  Yield: 6,
  /** The instruction at WAVE_PC acts beyond its wave; it has not run, and the device performs it. */
  Device: 7,
} as const
export type Stop = (typeof Stop)[keyof typeof Stop]

/** WAVE_FAULT. */
export const FaultCode = {
  /** Guest address outside every region, or a write to a read-only one. */
  Memory: 1,
  /** Beyond the workgroup's LDS (or the GDS). */
  Lds: 2,
  /** An address that the access's size does not allow. */
  Misaligned: 3,
  /** No instruction has this encoding. */
  Illegal: 4,
  /** A known instruction that Lanewise does not run. */
  Unsupported: 5,
  /** pc left the code. */
  Jump: 6,
  /** s_trap. */
  Trap: 7,
  /** A register index beyond what the wave was given. */
  Register: 8,
} as const
export type FaultCode = (typeof FaultCode)[keyof typeof FaultCode]

/** Linear memory that threads share, each with an engine of its own. */
export interface SharedMemory {
  /** What another thread makes an engine on the same memory from; goes through postMessage. */
  readonly seed: EngineSeed
  /**
   * Takes bytes that no thread has, and lets memory grow where it must; they are zero.
   * @returns the first one's address, a multiple of 64
   * @throws {LimitError} where there are no more
   */
  claim(bytes: number): number
  /** Says, before it happens, that other threads begin to run waves. */
  open(): void
  /** Forgets everything that was claimed, and makes it zero; no other thread may have an engine on this memory any more. */
  reset(): void
}

/** What an engine on another thread is made from. */
/** What a thread makes an engine from on linear memory that another one has. */
export interface EngineSeed {
  readonly memory: WebAssembly.Memory
  readonly module: WebAssembly.Module
  /** The module's bytes, for translation. */
  readonly bytes: Uint8Array
}

/** What a translating engine has made so far. */
export interface Translated {
  /** Programs (each at one MODE) that have translations, and bytes of WebAssembly of these. */
  readonly regions: number
  readonly bytes: number
  /** How many of them were there already, since an earlier engine of this thread had made them of the same code. */
  readonly recalled: number
  /** Seconds spent on translating and compiling. */
  readonly seconds: number
  /** Why nothing is translated here, if so: all is interpreted then. */
  readonly refused?: string
}

/** Plans the words of a trace by tables in linear memory; host/plan/templates.ts shows them. All are addresses. */
export interface Templates {
  /**
   * Plans the words from `at` to `end` until one is unknown, records have reached `last`, or an instruction is not whole. PLANNER_NEXT says where.
   * @param origin where pcs count from
   * @returns the address behind the last record
   */
  plan(planner: number, origin: number, at: number, end: number, to: number, last: number): number
  /** Writes the record of an instruction by its template; whether all its fields have rows. */
  planBy(template: number, words: bigint, to: number): boolean
  /** Where an instruction is remembered. */
  remembered(planner: number, words: bigint): number
}

/** A translation on its way to threads whose engines are on the same memory. Goes through postMessage. */
export interface SentTranslation {
  /** Address of the program's header where it was translated. The module refers to that program's records. */
  readonly program: number
  /** Bits of MODE that it is for: waves come with them, whatever they change later. */
  readonly mode: number
  readonly module: WebAssembly.Module
  /** Number of the block that starts at a place (host/translate/code/place.ts). */
  readonly entries: ReadonlyMap<number, number>
  /** Instructions from a place inside a block to the block's end. */
  readonly rest: ReadonlyMap<number, number>
  /** Instructions that must be left for any block to begin. */
  readonly longest: number
  /** Whether values are taken to be grained over blocks. */
  readonly trusting: boolean
}

/** How an engine that translates shares what it made. */
export interface Translations {
  /** All that there is of the program whose header is at an address. */
  of(program: number): readonly SentTranslation[]
  /** Hears of each translation that this engine makes. */
  onMade: ((made: SentTranslation) => void) | undefined
  /**
   * Takes over what another thread has translated.
   * @param program address of the header of the same code, for as many VGPRs, as this thread has it
   */
  adopt(program: number, made: SentTranslation): void
}

/** What runs waves. The device lays them out in the engine's linear memory as host/plan/layout.ts says. */
export interface Engine {
  readonly name: EngineName
  /** Of the translating engine: what it has made so far. */
  readonly translated?: Translated
  /** Of the translating engine: what other threads can have of it. */
  readonly translations?: Translations
  /** Where linear memory can be shared; then all of it is taken by `claim`. */
  readonly shared?: SharedMemory | undefined
  /** Where the engine can plan by tables. */
  readonly templates?: Templates | undefined
  /** First byte of linear memory that is the device's to use; a multiple of 64. */
  readonly heapBase: number
  /** All linear memory; replaced when it grows, so never keep it over a call of `grow`. */
  readonly memory: ArrayBufferLike
  /** Makes linear memory at least this many bytes long. @throws {LimitError} where that is more than the engine can have */
  grow(bytes: number): void
  /** Hears how many waves of the same program are still to run, the present ones included: whether preparing for them pays. */
  expect?(waves: number): void
  /**
   * Runs the wave whose block starts at `wave` until it stops.
   * @param budget instructions at most, 1 to 2^31-1
   */
  run(wave: number, budget: number): Stop
  /**
   * Runs the waves of a workgroup, and the workgroups behind it, as host/plan/rounds.ts says, as far as the engine can do that by itself. It stops where no
   * instructions are left, where all has ended, and wherever `run` has to take over, with the wave that has its turn: perhaps at once.
   * @param rounds address of the record
   */
  runRounds?(rounds: number): void
  /** Whether `runRounds` may do anything: not before something is translated. */
  readonly runsRounds?: boolean
}
