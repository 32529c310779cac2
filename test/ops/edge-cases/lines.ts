/**
 * The edge cases of every operation: operands, modifiers and MODE on one side, on the other what a model says that must come out. The
 * models share nothing with the engines; the stages around them are written here once more, from the manuals.
 */
import { takesSign } from '../../../host/codec/operands.ts'
import { formatsOf } from '../../../host/explain/explain.ts'
import type { Format } from '../../../host/isa/formats.ts'
import type { Operation } from '../../../host/isa/operations.ts'
import { isFloat } from '../../../host/isa/row.ts'
import type { Target } from '../../../host/isa/targets.ts'
import { type Format as FloatFormat, isNan, isNegative, signBit } from '../../kernels/exact.ts'
import { COMPARES } from './compares.ts'
import { CONVERSIONS } from './conversions.ts'
import { ELEMENTARY } from './elementary.ts'
import { flushed, one, order, scale } from './float.ts'
import { FLOATS } from './floats.ts'
import { instructionOf, type Setting } from './instruction.ts'
import { INTEGERS } from './integers.ts'
import { type Circumstances, hasDx10Clamp, isIeee, keepsResults, keepsSources, type Model, type Result, roundOf } from './model.ts'
import { demandsOf, formatOf, wordsOf } from './words.ts'

const MODELS: ReadonlyMap<string, Model> = new Map([...INTEGERS, ...COMPARES, ...FLOATS, ...CONVERSIONS, ...ELEMENTARY])

const setting = (mode: number, modifiers: Partial<Setting> = {}): Setting => ({ mode, abs: 0, neg: 0, omod: 0, clamp: 0, ...modifiers })

/** MODE: FP_ROUND [3:0], FP_DENORM [7:4], DX10_CLAMP 8, IEEE 9. The first is how compilers start kernels. */
const PLAIN = [0x3c0, 0x1f0, 0x0f5, 0x0fa, 0x0ff, 0x000, 0x0a0, 0x150].map((mode) => setting(mode))
const MODIFIED = [
  setting(0x1f0, { abs: 0b001, neg: 0b011 }),
  setting(0x3c0, { abs: 0b110, neg: 0b100 }),
  setting(0x1f0, { clamp: 1 }),
  setting(0x100, { omod: 1 }),
  setting(0x10a, { omod: 3, clamp: 1 }),
  setting(0x000, { omod: 2, clamp: 1 }), // without DX10_CLAMP NaN stays
  setting(0x1f0, { omod: 2, neg: 0b111 }), // denormals are kept: no OMOD
  setting(0x300, { omod: 1 }), // IEEE: no OMOD
]

/** One lane: sources in the order of the shape, bits of masks 0 or 1. */
export interface Line {
  readonly lane: number
  readonly sources: readonly bigint[]
  readonly result: Result
}

/** Lines that one instruction can run: in different lanes, with one literal. */
export interface Batch {
  readonly format: Format
  readonly setting: Setting
  readonly lines: readonly Line[]
}

/** Lanes that are on, three of four; those that are off must keep what they had. */
export const LANES: readonly number[] = Array.from({ length: 64 }, (_, lane) => lane).filter((lane) => (lane * 7) % 4 !== 1)

/** Lines under the first setting, where two sources meet in nearly every combination of their words; and under each other one. */
const FIRST = 12 * LANES.length
const OTHERS = LANES.length

/** All edge cases of an operation on a target; none where there is no model. */
export function* batchesOf(operation: Operation, target: Target): Generator<Batch> {
  const model = MODELS.get(operation.name)
  if (model === undefined) return
  const { generation } = target
  for (const [n, { format, ...settings }] of settingsOf(operation, target).entries()) {
    const at = { mode: settings.mode, clamp: settings.clamp === 1, generation }
    const combinations = combinationsOf(operation, model, n === 0 ? FIRST : OTHERS, n)
    for (let first = 0; first < combinations.length; first += LANES.length) {
      const lines = combinations.slice(first, first + LANES.length).flatMap((sources, i) => {
        const lane = LANES[i]!
        const result = resultOf(operation, model, sources, settings, { ...at, lane })
        return result === undefined ? [] : [{ lane, sources, result }]
      })
      if (lines.length > 0) yield { format, setting: settings, lines }
    }
  }
}

/** What a model gives for words that have been through abs, neg and flushing; undefined where there is none, or it does not know. */
export const modelled = (name: string, sources: readonly bigint[], at: Circumstances): Result | undefined =>
  MODELS.get(name)?.of(sources, at)

export const hasModel = ({ name }: Operation): boolean => MODELS.has(name)

function settingsOf(operation: Operation, target: Target): (Setting & { format: Format })[] {
  const { shape } = operation
  const formats = formatsOf(operation, target.generation)
  const native = formats.find(({ name }) => /^vop([12c]|3[ab])$/.test(name))!
  const full = formats.find(({ name }) => /^vop3[ab]$/.test(name))
  const hasFloats = [...shape.sources, ...shape.results].some(isFloat)
  // Integers know no MODE, compares no round modes.
  const modes = !hasFloats ? PLAIN.slice(0, 1) : shape.results[0] === 'mask' ? PLAIN.filter((s) => (s.mode & 15) === 0) : PLAIN
  const plain = modes.map((s) => ({ ...s, format: native }))
  if (full === undefined) return plain
  const signs = shape.sources.reduce((bits, type, n) => bits | (takesSign(operation, type) && n !== shape.tied ? 1 << n : 0), 0)
  const modified = MODIFIED.map((s) => ({ ...s, abs: full.name === 'vop3b' ? 0 : s.abs & signs, neg: s.neg & signs, format: full }))
  return [
    ...plain,
    ...modified.filter((s) => isMeant(operation, s) && instructionOf(operation, full, target, s, ANYWHERE, 0) !== undefined),
  ]
}
const ANYWHERE = { sources: [0, 0, 0, 0], result: 8, mask: 10 }

/** Whether the modifiers do something of which there is a rule: OMOD multiplies floats, CLAMP cuts floats and saturates integers. */
function isMeant({ shape }: Operation, { abs, neg, omod, clamp }: Setting): boolean {
  const [result] = shape.results
  if (omod === 1 && !isFloat(result)) return false
  if (clamp === 1 && !isFloat(result) && result !== 'mask' && shape.sources.some(isFloat)) return false
  return (abs | neg | clamp) !== 0 || (omod !== 0 && isFloat(result))
}

/** Words for all sources, so that each meets many of the others. */
function combinationsOf({ shape, literal }: Operation, { also = [] }: Model, count: number, from: number): bigint[][] {
  const words = shape.sources.map((type, n) => [...new Set([...wordsOf(type), ...(also[n] ?? [])])])
  const sizes = words.map(({ length }) => length)
  const all = Math.max(...sizes)
  const product = sizes.reduce((a, b) => a * b)
  // A literal is one word for all lanes, so there have to be as many batches as it has words.
  const wanted = literal !== undefined && from === 0 ? all * LANES.length : Math.min(Math.max(count, all), product)
  return Array.from({ length: wanted }, (_, line) => {
    const k = line + from * 131
    const round = Math.floor(k / sizes[0]!)
    return words.map((list, n) => {
      if (n === literal) return list[(Math.floor(line / LANES.length) + from * 3) % list.length]!
      return list[(n === 0 ? k : n === 1 ? k + round : 3 * k + 7 * round) % list.length]!
    })
  })
}

// --- the stages: abs, neg, flushing, the operation, flushing, omod, clamp

function resultOf(operation: Operation, model: Model, sources: readonly bigint[], s: Setting, at: Circumstances): Result | undefined {
  const { shape } = operation
  const staged = sources.map((word, n) => {
    const type = shape.sources[n]!
    const f = formatOf(type) ?? (takesSign(operation, type) ? formatOf('f32')! : undefined)
    if (f === undefined) return word
    const positive = (s.abs >> n) & 1 ? word & ~signBit(f) : word
    const signed = (s.neg >> n) & 1 ? positive ^ signBit(f) : positive
    return isFloat(type) && (model.flush === 'always' || (model.flush === 'mode' && !keepsSources(f, at))) ? flushed(f, signed) : signed
  })
  const result = model.of(staged, at)
  const f = formatOf(shape.results[0]!)
  if (f === undefined || result === undefined || typeof result === 'boolean') return result
  return typeof result === 'bigint' ? finished(f, model, result, s, at) : [finished(f, model, result[0], s, at), result[1]]
}

/** OMOD: times 2, times 4, half of; not while denormals are kept, nor with IEEE. CLAMP: between +0 and 1. */
function finished(f: FloatFormat, { flush }: Model, word: bigint, { omod, clamp }: Setting, at: Circumstances): bigint {
  const flushes = flush === 'always' || (flush === 'mode' && !keepsResults(f, at))
  const cut = (value: bigint) => (flushes ? flushed(f, value) : value)
  let result = cut(word)
  if (omod !== 0 && !isNan(f, result) && !keepsResults(f, at) && !isIeee(at))
    result = cut(scale(f, result, [0n, 1n, 2n, -1n][omod]!, roundOf(f, at)))
  if (clamp === 0) return result
  if (isNan(f, result)) return hasDx10Clamp(at) ? 0n : result
  if (isNegative(f, result)) return 0n
  return order(f, result, one(f)) === 1 ? one(f) : result
}

/** What the sources of an operation have not met on a target, by name; all of it where no line runs. */
export function missingOf(operation: Operation, target: Target): string[] {
  const { sources } = operation.shape
  const missing = new Map(sources.flatMap((type, n) => demandsOf(type).map(([name, holds]) => [`source ${n}: ${name}`, { n, holds }])))
  if (!hasModel(operation)) return ['every edge case']
  for (const { lines } of batchesOf(operation, target)) {
    for (const [name, { n, holds }] of missing) if (lines.some((line) => holds(line.sources[n]!))) missing.delete(name)
    if (missing.size === 0) break
  }
  return [...missing.keys()]
}
