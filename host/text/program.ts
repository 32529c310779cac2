/** Whole assembly sources → words: labels, symbols, directives. */
import { encode } from '../codec/encode.ts'
import { AssembleError } from '../errors.ts'
import type { Target } from '../isa/targets.ts'
import { evaluate } from './expression.ts'
import { blankComments, cut, type Item } from './scan.ts'
import { assembleStatement, type Surroundings } from './statement.ts'

/** An assembled program. */
export interface Program {
  /** Machine code, a word an element. */
  readonly words: Uint32Array
  /** Byte offsets of labels from the first word. */
  readonly labels: Map<string, number>
}

/**
 * Assembles a source file in LLVM's syntax.
 *
 * Understood: an instruction a line, labels (`name:`), comments (`//`, `;`, slash-star), `.set name, value` and `name = value`,
 * `.long` (`.4byte`, `.int`), `.p2align`/`.align` (filled with s_nop). Read over: what describes symbols, sections other than
 * `.text` with all they hold, `.amdhsa_kernel` and metadata blocks. `.amdgcn_target` must name the target. Others are refused.
 * @throws {AssembleError} with the line, and the column of what is wrong
 */
export function assembleProgram(source: string, target: Target): Program {
  const lines = blankComments(source).split(/\r?\n/)
  const first = new Pass(target, undefined).run(lines)
  // The second pass knows where labels are; no instruction's size depends on that.
  const { words, labels } = new Pass(target, first.labels).run(lines)
  return { words: Uint32Array.from(words), labels }
}

/** Directives that begin a block to be read over, and its end. */
const BLOCKS: Readonly<Record<string, string>> = {
  '.amdhsa_kernel': '.end_amdhsa_kernel',
  '.amdgpu_metadata': '.end_amdgpu_metadata',
  '.amd_kernel_code_t': '.end_amd_kernel_code_t',
}
/** Directives that say nothing about the code's bytes. */
const SILENT: ReadonlySet<string> = new Set(
  (
    '.globl .global .weak .hidden .protected .local .type .size .ident .file .loc .addrsig .addrsig_sym .amdhsa_code_object_version ' +
    '.hsa_code_object_version .hsa_code_object_isa .amdgpu_hsa_kernel .cfi_sections .cfi_startproc .cfi_endproc'
  ).split(' '),
)
const S_NOP = 0xbf800000
const NAME = '[A-Za-z_.$][\\w.$@]*'
const LABEL = new RegExp(`^(${NAME})\\s*:(?!:)\\s*`)
const ASSIGNMENT = new RegExp(`^(${NAME})\\s*=\\s*(.*)$`)
const ONLY_NAME = new RegExp(`^${NAME}$`)

/** One run over a source. */
class Pass {
  readonly words: number[] = []
  readonly labels = new Map<string, number>()
  readonly #symbols = new Map<string, number>()
  readonly #target: Target
  /** Labels of the run before. */
  readonly #known: ReadonlyMap<string, number> | undefined
  /** What ends the block that is read over. */
  #block: string | undefined
  #inText = true
  #line = 0

  constructor(target: Target, known: ReadonlyMap<string, number> | undefined) {
    this.#target = target
    this.#known = known
  }

  run(lines: readonly string[]): this {
    for (const line of lines) {
      this.#line++
      this.#read(line)
    }
    if (this.#block !== undefined) this.#fail(1, `the source ends before ${this.#block}; add it`)
    return this
  }

  #read(line: string): void {
    if (this.#block !== undefined) {
      if (line.trim() === this.#block) this.#block = undefined
      return
    }
    const from = this.#readLabels(line)
    const rest = line.slice(from).trimEnd()
    if (rest === '') return
    const assignment = ASSIGNMENT.exec(rest)
    if (assignment !== null) return this.#define(assignment[1]!, assignment[2]!, from + rest.length - assignment[2]!.length + 1)
    if (rest.startsWith('.')) return this.#directive(line, from)
    if (this.#inText) this.words.push(...encode(assembleStatement(line, from, this.#target, this.#surroundings())))
  }

  /** @returns where the line goes on */
  #readLabels(line: string): number {
    let from = Math.max(0, line.search(/\S/))
    for (let label = LABEL.exec(line.slice(from)); label !== null; label = LABEL.exec(line.slice(from))) {
      if (this.#inText) {
        if (this.labels.has(label[1]!)) this.#fail(from + 1, `label ${label[1]} is defined twice; choose another name`)
        this.labels.set(label[1]!, this.words.length * 4)
      }
      from += label[0].length
    }
    return from
  }

  #surroundings(): Surroundings {
    return {
      line: this.#line,
      symbols: this.#lookUp,
      distance: (label) => {
        if (this.#known === undefined) return 0
        const goal = this.#known.get(label)
        // Branches are one dword long.
        return goal === undefined ? undefined : goal / 4 - (this.words.length + 1)
      },
    }
  }

  readonly #lookUp = (name: string): number | undefined =>
    this.#symbols.get(name) ?? this.#known?.get(name) ?? (name === '.' ? this.words.length * 4 : undefined)

  #define(name: string, text: string, column: number): void {
    const value = evaluate(text, this.#lookUp)
    if (value !== undefined) this.#symbols.set(name, value)
    // In the first pass it may depend on labels that follow.
    else if (this.#known !== undefined)
      this.#fail(column, `${text} is no number; an expression of integers and defined symbols was expected`)
  }

  #directive(line: string, from: number): void {
    const name = /^\S+/.exec(line.slice(from))![0]
    const items = (): Item[] => cut(line, from + name.length, this.#line)
    if (name in BLOCKS) this.#block = BLOCKS[name]
    else if (name === '.text') this.#inText = true
    else if (name === '.section') this.#inText = /^\s*"?\.text\b/.test(line.slice(from + name.length))
    else if (name === '.data' || name === '.rodata' || name === '.bss') this.#inText = false
    else if (name === '.amdgcn_target') this.#checkTarget(line, from)
    else if (SILENT.has(name) || !this.#inText) return
    else if (name === '.set' || name === '.equ') {
      const [symbol, value] = items()
      if (symbol === undefined || value === undefined) this.#fail(from + 1, `${name} needs a name and a value: ${name} name, value`)
      this.#define(symbol.text, value.text, value.column)
    } else if (name === '.long' || name === '.4byte' || name === '.int') this.words.push(...items().map((item) => this.#word(item)))
    else if (name === '.p2align' || name === '.align' || name === '.balign') {
      const amount = evaluate(items()[0]?.text ?? '', this.#lookUp) ?? -1
      this.#align(name === '.p2align' ? 2 ** amount : amount, from + 1)
    } else this.#fail(from + 1, `the directive ${name} is not understood; remove it, or assemble the source with LLVM`)
  }

  #checkTarget(line: string, from: number): void {
    const named = /gfx[0-9a-f]+/.exec(line)?.[0]
    if (named === this.#target.name) return
    this.#fail(
      from + 1,
      `the source is for ${named ?? 'no known processor'}, but is assembled for ${this.#target.name}; choose that target`,
    )
  }

  #word({ text, column }: Item): number {
    const value = evaluate(text, this.#lookUp) ?? (this.#known === undefined && ONLY_NAME.test(text) ? 0 : undefined)
    if (value === undefined) this.#fail(column, `${text} is no number and no defined symbol`)
    if (value < -0x80000000 || value > 0xffffffff) this.#fail(column, `${text} does not fit a word of 32 bits`)
    return value >>> 0
  }

  #align(bytes: number, column: number): void {
    if (!(bytes >= 1 && bytes <= 65536 && Number.isInteger(Math.log2(bytes))))
      this.#fail(column, 'an alignment is a power of two up to 65536 bytes')
    while ((this.words.length * 4) % bytes !== 0) this.words.push(S_NOP)
  }

  #fail(column: number, message: string): never {
    throw new AssembleError(message, this.#line, column)
  }
}
