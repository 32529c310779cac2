/** What text calls an operation in one of its formats: the manual's mnemonic and LLVM's suffix. */
import type { Format } from '../isa/formats.ts'
import type { Operation } from '../isa/operations.ts'
import type { Generation } from '../isa/targets.ts'

export const SUFFIXES = ['_e32', '_e64', '_sdwa', '_dpp'] as const
export type Suffix = (typeof SUFFIXES)[number]

/** The suffix that forces a format, or undefined where an operation has one format only (all but VOP). */
export function forcedSuffix(format: Format): Suffix | undefined {
  const { name } = format
  if (name.endsWith('_sdwa')) return '_sdwa'
  if (name.endsWith('_dpp')) return '_dpp'
  if (name === 'vop3a' || name === 'vop3b') return '_e64'
  if (name === 'vop1' || name === 'vop2' || name === 'vopc' || name === 'vintrp') return '_e32'
  return undefined
}

/** The mnemonic with the suffix that LLVM prints. */
export function mnemonicOf(operation: Operation, format: Format, generation: Generation): string {
  const suffix = forcedSuffix(format)
  const mnemonic = operation.mnemonic(generation)
  return suffix !== undefined && printsSuffix(operation, format, generation, suffix) ? mnemonic + suffix : mnemonic
}

function printsSuffix(operation: Operation, format: Format, generation: Generation, suffix: Suffix): boolean {
  if (operation.shape.results.length === 0) return false // v_nop, v_clrexcp
  if (suffix === '_e32') return operation.opcode('vop3', generation) !== undefined
  if (suffix === '_e64')
    return (['vop1', 'vop2', 'vopc', 'vintrp'] as const).some((native) => operation.opcode(native, generation) !== undefined)
  return format.opcodes !== 'vopc'
}
