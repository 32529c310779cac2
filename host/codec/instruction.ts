/** A decoded instruction: what codec, text and plan exchange. */
import type { Format } from '../isa/formats.ts'
import type { Operation } from '../isa/operations.ts'
import type { Target } from '../isa/targets.ts'

/** A decoded instruction: an operation in one of its formats, with the values of all fields. */
export interface Instruction {
  readonly target: Target
  readonly operation: Operation
  readonly format: Format
  /** Raw value of every field of the format but `op`, by the manual's names. */
  readonly fields: Readonly<Record<string, number>>
  /** The literal dword behind the instruction, if it has one (unsigned). */
  readonly literal: number | undefined
  /** Dwords in all, literal included: 1, 2 or 3. */
  readonly dwords: number
}
