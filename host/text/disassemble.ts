/** Instruction → assembly text, to the letter as LLVM's disassembler prints it. */
import type { Instruction } from '../codec/instruction.ts'
import { operandsOf } from '../codec/operands.ts'
import { mnemonicOf } from './mnemonics.ts'
import { modifiersOf } from './modifiers.ts'
import { printOperand } from './print-operand.ts'

/**
 * The text of an instruction, without indentation.
 * @param pcBytes byte offset of the instruction; with it, the target of a branch follows as a comment (`// 0x0120`)
 */
export function disassemble(instruction: Instruction, pcBytes?: number): string {
  const { operation, format, target } = instruction
  const operands = operandsOf(operation, format)
  const texts = operands.map((operand) => printOperand(operand, instruction)).filter((text) => text !== '')
  const modifiers = modifiersOf(operation, format, target.generation)
    .map((modifier) => modifier.print(instruction.fields))
    .filter((text) => text !== '')
  const head = mnemonicOf(operation, format, target.generation)
  const list = format.name === 'exp' ? `${texts[0]} ${texts.slice(1).join(', ')}` : texts.join(', ')
  const text = [head, list, ...modifiers].filter((part) => part !== '').join(' ')
  const isBranch = pcBytes !== undefined && operands.some(({ kind }) => kind === 'branch')
  return isBranch ? `${text} // ${hexOffset(branchTarget(instruction, pcBytes))}` : text
}

/** Byte offset that a branch (SOPP or s_cbranch_i_fork) at `pcBytes` goes to. */
export function branchTarget(instruction: Instruction, pcBytes: number): number {
  return pcBytes + 4 * instruction.dwords + 4 * (((instruction.fields.simm16 ?? 0) << 16) >> 16)
}

const hexOffset = (offset: number): string => `${offset < 0 ? '-' : ''}0x${Math.abs(offset).toString(16).padStart(4, '0')}`
