/** A job as parsed: what to run, from what start, and what to expect. Nothing is loaded yet; files are still names. */
import type { Target } from '../isa/targets.ts'
import type { Comparison } from '../results/compare.ts'
import type { ElementType } from '../results/elements.ts'
import type { Place } from './place.ts'

/** A job, checked and complete: what to run, from what start, what to give back and what to expect. */
export interface Job {
  readonly name: string
  readonly target: Target
  readonly code: Code
  /** How the waves start: from registers (a bare wave), or as the hardware starts a dispatch. */
  readonly start: BareWave | Dispatch
  readonly buffers: ReadonlyMap<string, Buffer>
  /** What to give back; names of registers and buffers. */
  readonly read: readonly Place[]
  readonly expect: readonly Expectation[]
  /** Wave instructions in all. */
  readonly budget: number
}

export type Code =
  | { readonly form: 'object'; readonly file: string; readonly kernel: string }
  | { readonly form: 'words'; readonly words: readonly number[] }
  | { readonly form: 'file'; readonly file: string }
  | { readonly form: 'asm'; readonly text: string }
  | { readonly form: 'source'; readonly file: string }

export type Triple = readonly [x: number, y: number, z: number]

export interface Dispatch {
  readonly form: 'dispatch'
  /** Work-items; undefined: one wave. */
  readonly grid: Triple | undefined
  /** Work-items; undefined: the grid. */
  readonly workgroup: Triple | undefined
  readonly args: readonly Argument[]
  /** Dynamic LDS bytes beyond the kernel's own. */
  readonly lds: number
  readonly kernarg: { readonly address: bigint | undefined; readonly bytes: Uint8Array } | undefined
  readonly descriptor: RawDescriptor | undefined
}

export type Argument =
  | { readonly form: 'bytes'; readonly bytes: Uint8Array }
  | { readonly form: 'buffer'; readonly name: string; readonly offset: bigint }
  | { readonly form: 'local'; readonly bytes: number }

/** What a kernel descriptor would say of raw code (LLVM, "User Guide for AMDGPU Backend", Kernel Descriptor). */
export interface RawDescriptor {
  readonly rsrc1: number
  readonly rsrc2: number
  readonly rsrc3: number
  readonly properties: number
  readonly lds: number
  /** Scratch bytes a lane. */
  readonly scratch: number
}

export interface BareWave {
  readonly form: 'wave'
  readonly size: number
  readonly exec: bigint
  readonly vcc: bigint
  readonly scc: number
  readonly m0: number
  readonly mode: number
  /** Start values by register number, dword by dword. */
  readonly sgprs: ReadonlyMap<number, number>
  /** Start values by register number: a dword a lane. */
  readonly vgprs: ReadonlyMap<number, Uint32Array>
  readonly lds: Uint8Array | undefined
}

export interface Buffer {
  readonly name: string
  readonly type: ElementType
  /** Elements. */
  readonly length: number
  readonly init: Init
  readonly address: bigint | undefined
}

export type Init =
  | { readonly form: 'bytes'; readonly bytes: Uint8Array }
  | { readonly form: 'file'; readonly file: string }
  | { readonly form: 'fill'; readonly bits: bigint }
  | { readonly form: 'gen'; readonly gen: Generator; readonly seed: number; readonly lo: number; readonly hi: number }

export const GENERATORS = ['zeros', 'raw', 'int', 'uniform'] as const
export type Generator = (typeof GENERATORS)[number]

/** What one register or buffer should hold in the end. */
export interface Expectation {
  readonly place: Place
  readonly want: Want
  readonly comparison: Comparison
}

export type Want =
  /** One value: of a scalar, or of every lane that was active at the start. */
  | { readonly form: 'value'; readonly value: bigint }
  /** Lane by lane; null is not compared. */
  | { readonly form: 'lanes'; readonly lanes: readonly (bigint | null)[] }
  | { readonly form: 'bytes'; readonly bytes: Uint8Array }
  | { readonly form: 'file'; readonly file: string }
  | { readonly form: 'fnv1a64'; readonly digits: string }
  | { readonly form: 'sample'; readonly file: string; readonly stride: number; readonly count: number }
