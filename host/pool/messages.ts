/** What the first thread and a worker say to each other. All of it goes through postMessage. */
import type { DispatchTwin } from '../device/index.ts'
import type { EngineName, EngineSeed, SentTranslation } from '../engine.ts'
import type { ErrorCode } from '../errors.ts'
import type { Report } from './share.ts'

/** What a worker hears. */
export type Message = Preparation | Invitation | News

/** Says that an invitation will come. */
export interface Preparation {
  readonly form: 'preparation'
  readonly engine: EngineName
}

/** What the first thread has translated while a worker takes part. */
export interface News {
  readonly form: 'translation'
  /** Number of the code, as in the invitation. */
  readonly code: number
  readonly made: SentTranslation
}

/** Asks a worker to take part in a dispatch. */
export interface Invitation {
  readonly form: 'invitation'
  /** Number of the worker among the threads of the dispatch; 0 is the first thread. */
  readonly index: number
  readonly threads: number
  readonly control: SharedArrayBuffer
  readonly groupCount: number
  /** Wave instructions of all threads. */
  readonly budget: number
  /** Number of the device; a worker keeps what it made for the last one. */
  readonly device: number
  /** Number of the kernel's code among all that were ever sent: programs are planned once. */
  readonly code: number
  readonly engine: EngineName
  readonly seed: EngineSeed
  readonly twin: DispatchTwin
  /** What the first thread has translated of the kernel's code. */
  readonly translations: readonly SentTranslation[]
}

export type Answer =
  /** The worker begins to run workgroups. */
  | { readonly form: 'ready' }
  | { readonly form: 'report'; readonly report: Report }
  /** It could not go on, and workgroups that it had claimed are lost. */
  | { readonly form: 'failed'; readonly code: ErrorCode; readonly message: string }
