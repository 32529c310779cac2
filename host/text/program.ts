/** Whole assembly sources → words: labels, symbols, directives. */
import { encode } from '../codec/encode.ts'
import { AssembleError } from '../errors.ts'
import type { Target } from '../isa/targets.ts'
import { assembleStatement, type Surroundings } from './assemble.ts'
import { evaluate } from './expression.ts'
import { blankComments, cut } from './scan.ts'

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
  const first = runPass(lines, target, undefined)
  // The second pass knows where labels are; no instruction's size depends on that.
  const { words, labels } = runPass(lines, target, first.labels)
  return { words: Uint32Array.from(words), labels }
}

interface Pass {
  readonly words: number[]
  readonly labels: Map<string, number>
}

const BLOCKS: Readonly<Record<string, string>> = {
  '.amdhsa_kernel': '.end_amdhsa_kernel',
  '.amdgpu_metadata': '.end_amdgpu_metadata',
  '.amd_kernel_code_t': '.end_amd_kernel_code_t',
}
const SILENT: ReadonlySet<string> = new Set([
  '.globl',
  '.global',
  '.weak',
  '.hidden',
  '.protected',
  '.local',
  '.type',
  '.size',
  '.ident',
  '.file',
  '.loc',
  '.addrsig',
  '.addrsig_sym',
  '.amdhsa_code_object_version',
  '.hsa_code_object_version',
  '.hsa_code_object_isa',
  '.amdgpu_hsa_kernel',
  '.cfi_sections',
  '.cfi_startproc',
  '.cfi_endproc',
  '.ident',
])
const NAME = /^[A-Za-z_.$][\w.$@]*/
const S_NOP = 0xbf800000

/** One run over the source. `known` has the labels of the run before. */
function runPass(lines: readonly string[], target: Target, known: ReadonlyMap<string, number> | undefined): Pass {
  const words: number[] = []
  const labels = new Map<string, number>()
  const symbols = new Map<string, number>()
  let block: string | undefined
  let inText = true

  const lookUp = (name: string): number | undefined =>
    symbols.get(name) ?? known?.get(name) ?? (name === '.' ? words.length * 4 : undefined)

  const directive = (line: string, from: number, number: number, name: string): void => {
    const fail = (message: string, column = from + 1): never => {
      throw new AssembleError(message, number, column)
    }
    if (name === '.text') inText = true
    else if (name === '.section') inText = /^\s*"?\.text\b/.test(line.slice(from + name.length))
    else if (name === '.data' || name === '.rodata' || name === '.bss') inText = false
    else if (name in BLOCKS) block = BLOCKS[name]
    else if (name === '.amdgcn_target' || SILENT.has(name) || !inText) {
      const wanted = name === '.amdgcn_target' ? /gfx[0-9a-f]+/.exec(line)?.[0] : undefined
      if (wanted !== undefined && wanted !== target.name)
        fail(`the source is for ${wanted}, but is assembled for ${target.name}; choose that target`)
    } else if (name === '.set' || name === '.equ') {
      const [symbol, value] = cut(line, from + name.length, number)
      if (symbol === undefined || value === undefined) fail(`${name} needs a name and a value: ${name} name, value`)
      define(symbol!.text, value!.text, number, value!.column)
    } else if (name === '.long' || name === '.4byte' || name === '.int') {
      for (const item of cut(line, from + name.length, number)) {
        const value = evaluate(item.text, lookUp) ?? (known === undefined && NAME.test(item.text) ? 0 : undefined)
        if (value === undefined) fail(`${item.text} is no number and no defined symbol`, item.column)
        if (value! < -0x80000000 || value! > 0xffffffff) fail(`${item.text} does not fit a word of 32 bits`, item.column)
        words.push(value! >>> 0)
      }
    } else if (name === '.p2align' || name === '.align' || name === '.balign') {
      const amount = evaluate(cut(line, from + name.length, number)[0]?.text ?? '', lookUp)
      const bytes = name === '.p2align' ? 2 ** (amount ?? -1) : amount
      if (bytes === undefined || !(bytes >= 1 && bytes <= 65536 && Number.isInteger(Math.log2(bytes))))
        fail(`${name} needs a power of two up to 65536 bytes`)
      while ((words.length * 4) % bytes! !== 0) words.push(S_NOP)
    } else fail(`the directive ${name} is not understood; remove it, or assemble the source with LLVM`)
  }

  const define = (name: string, text: string, number: number, column: number): void => {
    const value = evaluate(text, lookUp)
    if (value === undefined && known !== undefined)
      throw new AssembleError(`${text} is no number; an expression of integers and defined symbols was expected`, number, column)
    if (value !== undefined) symbols.set(name, value)
  }

  lines.forEach((line, index) => {
    const number = index + 1
    let from = line.search(/\S/)
    if (from < 0) return
    if (block !== undefined) {
      if (line.trim() === block) block = undefined
      return
    }
    for (
      let label = /^([A-Za-z_.$][\w.$@]*)\s*:(?!:)/.exec(line.slice(from));
      label !== null;
      label = /^([A-Za-z_.$][\w.$@]*)\s*:(?!:)/.exec(line.slice(from))
    ) {
      if (inText) {
        if (labels.has(label[1]!)) throw new AssembleError(`label ${label[1]} is defined twice; choose another name`, number, from + 1)
        labels.set(label[1]!, words.length * 4)
      }
      from += label[0].length
      const blanks = line.slice(from).search(/\S/)
      if (blanks < 0) return
      from += blanks
    }
    const rest = line.slice(from)
    const assignment = /^([A-Za-z_.$][\w.$@]*)\s*=\s*(.*)$/.exec(rest)
    if (assignment !== null) return define(assignment[1]!, assignment[2]!, number, from + rest.length - assignment[2]!.length + 1)
    if (rest.startsWith('.')) return directive(line, from, number, /^\S+/.exec(rest)![0])
    if (!inText) return
    const surroundings: Surroundings = {
      line: number,
      symbols: lookUp,
      distance: (label) => {
        if (known === undefined) return 0
        const goal = known.get(label)
        // Branches are one dword long.
        return goal === undefined ? undefined : goal / 4 - (words.length + 1)
      },
    }
    words.push(...encode(assembleStatement(line, from, target, surroundings)))
  })
  if (block !== undefined) throw new AssembleError(`the source ends before ${block}; add it`, lines.length, 1)
  return { words, labels }
}
