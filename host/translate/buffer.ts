/** Buffer accesses by a 64-bit address (gfx6 and gfx7): the resource's base, the offsets and a pair of rows are added; there is no range check. */
import { IMM_ADDR64, KIND_SCALAR, KIND_SPECIAL } from '../plan/record.ts'
import { wideConstant } from './constant.ts'
import type { Step } from './graph.ts'
import type { ScalarFile } from './scalars.ts'
import { type Code, OP } from './wasm.ts'

/** Bits of a buffer instruction's constant offset. */
export const BUFFER_OFFSET = 0xfff
/** High dword of a resource: the base's part. */
export const BASE_HIGH = 0xffff
/** The base in the first two dwords; addresses have as many bits. */
export const BUFFER_ADDRESS = (BigInt(BASE_HIGH) << 32n) | 0xffff_ffffn

export const isBuffer = ({ operation }: Step): boolean => operation.table === 'mubuf'
/** Of buffer instructions those that translated code does itself. */
export const isAddressed = (step: Step): boolean => (step.imm & ~BUFFER_OFFSET) === IMM_ADDR64 && step.mods.kinds[2] !== KIND_SPECIAL

/** Scalars that are added to addresses: the resource's base and an offset. */
export function resourceReads(step: Step): ReadonlySet<number> {
  if (!isBuffer(step)) return new Set()
  const [, base, offset] = step.sources
  return new Set([base, base + 4, ...(step.mods.kinds[2] === KIND_SCALAR ? [offset] : [])])
}

/** Pushes what they are together with the constant offset: 64 bits. */
export function pushOrigin(code: Code, step: Step, file: ScalarFile): Code {
  const [, base, offset] = step.sources
  file.load(code, base, true)
  code.i64(BUFFER_ADDRESS).op(OP.i64And)
  if (step.mods.kinds[2] === KIND_SCALAR) {
    file.load(code, offset, false)
    code.op(OP.i64ExtendI32U)
  } else code.i64(BigInt.asUintN(32, wideConstant(step.mods.kinds[2]!, offset)))
  return code
    .op(OP.i64Add)
    .i64(BigInt(step.imm & BUFFER_OFFSET))
    .op(OP.i64Add)
}
