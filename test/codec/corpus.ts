/** Words with LLVM's text for them: the committed sample always, the whole collection beside the repository where it is there. */
import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { TARGETS, type Target } from '../../host/isa/targets.ts'

export interface Line {
  readonly words: Uint32Array
  /** Empty where LLVM refuses the words. */
  readonly text: string
  /** Whether LLVM assembles the text to these words. */
  readonly roundtrip: boolean
}

export const targets: readonly Target[] = Object.values(TARGETS)

const sample = new URL('./data/', import.meta.url)
const whole = new URL('../../../shared/isa/', import.meta.url)
const read = (url: URL): string => gunzipSync(readFileSync(url)).toString()

function lines(text: string): Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [words, disassembly = '', roundtrip] = line.split('\t')
      return { words: wordsOf(words!), text: disassembly, roundtrip: roundtrip === '1' }
    })
}

export const wordsOf = (text: string): Uint32Array => Uint32Array.from(text.split(' '), (word) => Number.parseInt(word, 16))
export const hexOf = (words: Iterable<number>): string => Array.from(words, (word) => word.toString(16).padStart(8, '0')).join(' ')

/** All lines of a target: the sample, and the whole collection if there is one. */
export function corpus({ name }: Target): Line[] {
  const list = lines(read(new URL(`${name}.tsv.gz`, sample)))
  for (const file of [`${name}.tsv.gz`, `${name}.undefined-opcodes.tsv.gz`]) {
    const url = new URL(`corpus/${file}`, whole)
    if (existsSync(url)) list.push(...lines(read(url)))
  }
  return list
}

/** A row of the collection's opcode tables. */
export interface OpcodeRow {
  readonly opcode: number
  readonly mnemonic: string
  readonly words: Uint32Array
}

export function opcodeTable({ name }: Target): OpcodeRow[] {
  const url = new URL(`opcodes/${name}.tsv`, whole)
  if (!existsSync(url)) return []
  return readFileSync(url, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [, opcode, mnemonic, words] = line.split('\t')
      return { opcode: Number(opcode), mnemonic: mnemonic!, words: wordsOf(words!) }
    })
}

/** How a line of gfx600 or gfx700 differs from what the words say: there the text is what LLVM's assembler was given, not what it read back. */
export interface Quirk {
  readonly why: string
  readonly text: RegExp
  /** What the words say, made from the line's text; there is none where they are no instruction. */
  readonly reads?: (text: string) => string
  /** Whether the line's own text becomes the words, too. */
  readonly assembles: boolean
}

/** The number at the end of a line, as the 16 bits that the words have. */
const cut = (text: string): string =>
  text.replace(/\S+$/, (number) => {
    const bits = Number(number) & 0xffff
    return bits === 0 || text.startsWith('s_cbranch') ? `${bits}` : `0x${bits.toString(16)}`
  })

export const QUIRKS: readonly Quirk[] = [
  {
    why: 'LLVM cuts a number to 16 bits without a word, Lanewise refuses it',
    text: /^s_\w+ 0x[0-9a-f]{5,8}$/,
    reads: cut,
    assembles: false,
  },
  { why: 'negative numbers are the same 16 bits as positive ones', text: /^s_\w+ -\d+$/, reads: cut, assembles: true },
  {
    why: 'the words do not hold the size of an image address: the least is as good as any',
    text: /^image_atomic_(rsub|fcmpswap|fmin|fmax) \S+ v\[\d+:\d+\],/,
    reads: (text) => text.replace(/ v\[(\d+):\d+\], s/, ' v$1, s'),
    assembles: true,
  },
  {
    why: 'VOP3B has neither ABS nor, before gfx8, CLAMP; LLVM drops them, Lanewise refuses them',
    text: /^v_div_scale_f\d\d .*(\||clamp)/,
    reads: (text) => text.replaceAll('|', '').replace(' clamp', ''),
    assembles: false,
  },
  {
    why: 'SRC_SCC is no register that a mask can be written to',
    text: /^v_((add|sub|subrev)_i32|(addc|subb|subbrev)_u32|mad_[iu]64_[iu]32)\w* \S+ src_scc,/,
    assembles: false,
  },
  { why: 'VOP3 has no literal before gfx10; LLVM drops it', text: /^v_msad_u8 .*lit\(/, assembles: false },
]

export const quirkOf = ({ generation }: Target, { text }: Line): Quirk | undefined =>
  generation === 'gfx8' ? undefined : QUIRKS.find((quirk) => quirk.text.test(text))

/** What a line's words say; undefined where they are no instruction. */
export function textOf(target: Target, line: Line): string | undefined {
  const quirk = quirkOf(target, line)
  return quirk === undefined ? line.text : quirk.reads?.(line.text)
}

/** Counts agreement by group and keeps the first disagreements, for a failure message that says where to look. */
export class Tally {
  readonly #groups = new Map<string, { agreed: number; all: number }>()
  readonly #examples: string[] = []

  add(group: string, agrees: boolean, example: () => string): void {
    const counts = this.#groups.get(group) ?? { agreed: 0, all: 0 }
    this.#groups.set(group, counts)
    counts.all++
    if (agrees) counts.agreed++
    else if (this.#examples.length < 12) this.#examples.push(example())
  }

  get size(): number {
    return [...this.#groups.values()].reduce((sum, { all }) => sum + all, 0)
  }

  /** Empty where all agree. */
  report(): string {
    const wrong = [...this.#groups].filter(([, { agreed, all }]) => agreed < all)
    if (wrong.length === 0) return ''
    return [...[...this.#groups].map(([group, { agreed, all }]) => `${group} ${agreed}/${all}`), ...this.#examples].join('\n')
  }
}
