/** Sources of a record that are constants. */
import { INV_2PI } from '../../isa/registers.ts'
import { KIND_CONSTANT, KIND_HIGH, KIND_INV_2PI, KIND_NONE, KIND_SIGNED } from '../../plan/record.ts'

/** The 64 bits of a constant source; a 32-bit operand sees the low half. */
export function wideConstant(kind: number, value: number): bigint {
  if (kind === KIND_SIGNED) return BigInt(value | 0)
  if (kind === KIND_HIGH) return BigInt(value) << 32n
  if (kind === KIND_INV_2PI) return INV_2PI.f64
  if (kind === KIND_CONSTANT || kind === KIND_NONE) return BigInt(value)
  throw new RangeError(`operand kind ${kind} is no constant`)
}
