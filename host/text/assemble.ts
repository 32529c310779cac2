/** Assembly text → instructions: the two entries, for a line and for a whole source. */
import type { Instruction } from '../codec/instruction.ts'
import type { Target } from '../isa/targets.ts'
import { blankComments } from './scan.ts'
import { assembleStatement, type Surroundings } from './statement.ts'

export { assembleProgram, type Program } from './program.ts'

const ALONE: Surroundings = { line: 1, symbols: () => undefined, distance: () => undefined }

/**
 * Assembles one instruction in LLVM's syntax; comments may follow it. Of several encodings the shortest that fits is taken,
 * as LLVM does; `_e32`, `_e64`, `_sdwa` and `_dpp` behind the mnemonic force one.
 * @param line without label; a branch takes a number of dwords here, labels only in {@link assembleProgram}
 * @throws {AssembleError} with line 1 and the column of the operand that is wrong
 */
export const assemble = (line: string, target: Target): Instruction => assembleStatement(blankComments(line), 0, target, ALONE)
