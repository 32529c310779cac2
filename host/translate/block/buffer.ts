/** Buffer accesses by a 64-bit address (gfx6 and gfx7): the resource's base, the offsets and a pair of rows are added; there is no range check. */
import { IMM_ADDR64, KIND_SCALAR, KIND_SPECIAL } from '../../plan/record.ts'
import { wideConstant } from '../code/constant.ts'
import type { Step } from '../code/graph.ts'
import { type Code, OP } from '../wasm/wasm.ts'
import type { ScalarFile } from './scalars.ts'

/** Bits of a buffer instruction's constant offset. */
export const BUFFER_OFFSET = 0xfff
/** High dword of a resource: the base's part. */
export const BASE_HIGH = 0xffff
/** The base in the first two dwords; addresses have as many bits. */
export const BUFFER_ADDRESS = (BigInt(BASE_HIGH) << 32n) | 0xffff_ffffn

export const isBuffer = ({ operation }: Step): boolean => operation.table === 'mubuf'
/** Of buffer instructions those that translated code does itself. */
export const isAddressed = (step: Step): boolean => (step.imm & ~BUFFER_OFFSET) === IMM_ADDR64 && step.mods.kinds[2] !== KIND_SPECIAL

/** Scalars that buffer accesses read: the resource, of which only the base counts for 64-bit addresses, and an offset. */
export function resourceReads(step: Step): ReadonlySet<number> {
  if (!isBuffer(step)) return new Set()
  const [, base, offset] = step.sources
  const rest = isAddressed(step) ? [] : [base + 8, base + 12]
  return new Set([base, base + 4, ...rest, ...(step.mods.kinds[2] === KIND_SCALAR ? [offset] : [])])
}

/** Pushes the sum of the resource's base, the scalar offset and the constant one: 64 bits. */
export const pushOrigin = (code: Code, step: Step, file: ScalarFile): Code =>
  pushBase(code, step, file)
    .i64(BigInt(step.imm & BUFFER_OFFSET))
    .op(OP.i64Add)

/** The same without the constant offset. */
export function pushBase(code: Code, step: Step, file: ScalarFile): Code {
  file.load(code, step.sources[1], true)
  code.i64(BUFFER_ADDRESS).op(OP.i64And)
  return pushScalarOffset(code, step, file).op(OP.i64ExtendI32U, OP.i64Add)
}

/** Pushes the scalar offset. */
export function pushScalarOffset(code: Code, step: Step, file: ScalarFile): Code {
  const offset = step.sources[2]
  if (step.mods.kinds[2] !== KIND_SCALAR) return code.i32(Number(BigInt.asIntN(32, wideConstant(step.mods.kinds[2]!, offset))))
  file.load(code, offset, false)
  return code
}
