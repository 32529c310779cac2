/** Instructions of edge cases: sources and results in registers of our choice, modifiers in the fields that the format has for them. */
import { decode } from '../../../host/codec/decode.ts'
import { encode } from '../../../host/codec/encode.ts'
import type { Instruction } from '../../../host/codec/instruction.ts'
import { operandsOf } from '../../../host/codec/operands.ts'
import { exampleOf } from '../../../host/explain/example.ts'
import type { Format } from '../../../host/isa/formats.ts'
import type { Operation } from '../../../host/isa/operations.ts'
import { VGPR_FIRST } from '../../../host/isa/registers.ts'
import type { Target } from '../../../host/isa/targets.ts'

/** Modifiers and MODE that lines run under. Bits of `abs` and `neg` stand for sources. */
export interface Setting {
  readonly mode: number
  readonly abs: number
  readonly neg: number
  readonly omod: number
  readonly clamp: number
}

/** Where operands are: VGPRs by source, of masks the scalar register; the result's VGPR; the scalar register of the resulting mask. */
export interface Places {
  readonly sources: readonly number[]
  readonly result: number
  readonly mask: number
}

/** The sources that the instruction names, by their number in the shape. */
const namedSources = ({ shape }: Operation, format: Format): number[] =>
  shape.sources.flatMap((type, n) => (n === shape.tied || (type === 'vcc' && format.name.startsWith('vop3')) ? [] : [n]))

/** @returns undefined where there is no such instruction */
export function instructionOf(
  operation: Operation,
  format: Format,
  target: Target,
  setting: Setting,
  places: Places,
  literal: number | undefined,
): Instruction | undefined {
  const example = exampleOf(operation, format, target)
  const fields: Record<string, number> = { ...example.fields }
  const operands = operandsOf(operation, format)
  const results = operation.shape.results.length
  const put = (field: string, kind: string, register: number) => {
    if (field !== '') fields[field] = kind === 'source' || kind === 'vectorSource' ? VGPR_FIRST + register : register
  }
  for (const { field, kind } of operands.slice(0, results)) put(field, kind, kind === 'scalar' ? places.mask : places.result)
  namedSources(operation, format).forEach((n, i) => {
    const { field, kind } = operands[results + i]!
    put(field, kind, places.sources[n]!)
  })
  for (const name of ['abs', 'neg', 'omod', 'clamp'] as const) {
    if (name in format.fields) fields[name] = setting[name]
    else if (setting[name] !== 0) return undefined
  }
  const made = { ...example, fields, literal: operation.literal === undefined ? undefined : literal }
  const read = decode(Uint32Array.from(encode(made)), 0, target)
  return read?.operation === operation && read.format === format ? read : undefined
}
