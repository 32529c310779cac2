/** What the stages outside the operations do to floats. Words are bits: numbers up to 32, bigints above. */
import { F16, F32, F64, type Format, flushed, hasSign, multiply, type Round } from './number.ts'

type Word = number | bigint

/** f16 and f32 words are numbers, f64 words bigints; the caller keeps width and word together. */
export const formatOf = (bits: number): Format<Word> => (bits === 16 ? F16 : bits === 32 ? F32 : F64) as unknown as Format<Word>

/** A denormal becomes a zero of its sign. */
export const flushDenormal = (word: Word, bits: number): Word => flushed(formatOf(bits), word)

const OMOD_FACTORS = [1, 2, 4, 0.5]

/** The output modifier: 1 times 2, 2 times 4, 3 divided by 2. */
export function outputModifier(f: Format<Word>, word: Word, omod: number, round: Round): Word {
  return f.isNaN(word) ? word : multiply(f, word, f.word(OMOD_FACTORS[omod]!), round)
}

/** The clamp of floats to 0..1: -0 becomes +0; NaN becomes 0 where DX10_CLAMP is set. */
export function clampFloat(f: Format<Word>, word: Word, dx10Clamp: boolean): Word {
  if (f.isNaN(word)) return dx10Clamp ? f.word(0) : word
  const value = f.value(word)
  if (hasSign(value)) return f.word(0)
  return value > 1 ? f.word(1) : word
}
