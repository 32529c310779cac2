/** Instruction → machine words; the other direction of decode.ts. */
import type { Format } from '../isa/formats.ts'
import { hasLiteral } from './decode.ts'
import type { Instruction } from './instruction.ts'

/**
 * The words of an instruction, first word first, each unsigned; fields that are left out are 0.
 * @throws {RangeError} a field is unknown or does not fit its bits; the operation has no opcode in the format;
 *   a literal is missing, superfluous or no 32-bit number
 */
export function encode(instruction: Instruction): number[] {
  const { operation, format, fields, literal, target } = instruction
  const opcode = operation.opcode(format.opcodes, target.generation)
  if (opcode === undefined)
    throw new RangeError(`${operation.name} has no opcode in ${format.name} on ${target.name}; choose another format`)
  const words = new Array<number>(format.dwords).fill(0)
  const put = (value: number, lo: number): void => {
    words[lo >>> 5]! |= value << (lo & 31)
  }
  for (const [, lo, bits] of format.match) put(bits, lo)
  if (format.fields.op !== undefined) put(checked(format, 'op', opcode), format.fields.op.lo)
  for (const name of Object.keys(fields)) put(checked(format, name, fields[name]!), format.fields[name]!.lo)
  if (hasLiteral(operation, format, fields, target.generation)) words.push(checkedLiteral(instruction))
  else if (literal !== undefined)
    throw new RangeError(`${operation.name}: literal is ${literal}, but no field of ${format.name} refers to one; it must be undefined`)
  return words.map((word) => word >>> 0)
}

function checked(format: Format, name: string, value: number): number {
  const field = format.fields[name]
  if (field === undefined)
    throw new RangeError(`${format.name} has no field ${name}; its fields are ${Object.keys(format.fields).join(', ')}`)
  const bits = field.hi - field.lo + 1
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits) {
    throw new RangeError(`${format.name}.${name} is ${value}; it must be an integer from 0 to ${2 ** bits - 1} (${bits} bits)`)
  }
  return value
}

function checkedLiteral({ operation, literal }: Instruction): number {
  if (literal === undefined)
    throw new RangeError(`${operation.name}: literal is undefined, but a field refers to it; it must be an integer from 0 to 4294967295`)
  if (!Number.isInteger(literal) || literal < 0 || literal > 0xffffffff) {
    throw new RangeError(`${operation.name}: literal is ${literal}; it must be an integer from 0 to 4294967295`)
  }
  return literal
}
