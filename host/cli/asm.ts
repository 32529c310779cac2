/** `lanewise asm`: assembly to machine code. */
import { writeFile } from 'node:fs/promises'
import { AssembleError, assemble, assembleProgram, encode, hex, list, type Target, wordsText } from '../index.ts'
import { type Command, UsageError, type Values } from './arguments.ts'
import { batchesOf, bytesOfFile } from './files.ts'
import type { Io } from './io.ts'
import { targetOf, targetOption } from './target.ts'

export const asm: Command = {
  summary: 'assemble a file of LLVM assembly text',
  usage: 'asm FILE --target NAME | asm --lines --target NAME',
  options: {
    target: targetOption,
    output: { short: 'o', value: 'FILE', help: 'Write machine code (little-endian dwords) to FILE instead of printing words.' },
    lines: { help: 'An instruction a line on standard input, its words a line on standard output; an empty line for what is none.' },
  },
  notes: [
    'FILE holds instructions, labels and comments in LLVM syntax; - is standard input. Printed are the words of one instruction a line.',
  ],
  examples: [
    ['lanewise asm kernel.s --target gfx803', "print each instruction's words"],
    ['lanewise asm kernel.s --target gfx803 -o code.bin', 'write machine code'],
    ['echo "v_add_f32 v0, v1, v2" | lanewise asm --lines --target gfx803', '02000501'],
  ],
  run: assembleCommand,
}

async function assembleCommand(values: Values, io: Io): Promise<number> {
  const target = targetOf(values)
  if (values.flag('lines')) return assembleLines(target, values, io)
  const [file, ...rest] = values.positionals
  if (file === undefined || rest.length > 0) throw new UsageError('asm takes one FILE or --lines; see lanewise asm --help')
  const words = assembleFile(file, new TextDecoder().decode(await bytesOfFile(file, io)), target)
  const output = values.text('output')
  if (output !== undefined) await writeFile(output, bytesOf(words))
  if (values.flag('json'))
    await io.out.write(`${JSON.stringify({ target: target.name, words: Array.from(words, (word) => hex(word, 32)) })}\n`)
  else if (output === undefined)
    await io.out.write(
      list(words, target)
        .map((line) => `${wordsText(line.words)}\n`)
        .join(''),
    )
  return 0
}

function assembleFile(file: string, text: string, target: Target): Uint32Array {
  try {
    return assembleProgram(text, target).words
  } catch (error) {
    if (!(error instanceof AssembleError)) throw error
    throw new AssembleError(`${file}:${error.line}:${error.column}: ${error.message}`, error.line, error.column)
  }
}

/** An instruction a line to words a line. Never stops: what is no instruction is an empty line. */
async function assembleLines(target: Target, values: Values, io: Io): Promise<number> {
  for await (const lines of batchesOf(values.positionals[0] ?? '-', io)) {
    io.signal.throwIfAborted()
    await io.out.write(lines.map((line) => `${assembleLine(line, target)}\n`).join(''))
  }
  return 0
}

function assembleLine(line: string, target: Target): string {
  try {
    return wordsText(encode(assemble(line, target)))
  } catch {
    return ''
  }
}

function bytesOf(words: Uint32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(words.length * 4))
  words.forEach((word, i) => {
    view.setUint32(i * 4, word, true)
  })
  return new Uint8Array(view.buffer)
}
