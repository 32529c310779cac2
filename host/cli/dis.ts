/** `lanewise dis`: machine code to assembly. */
import { decode, disassemble, hex, type Line, list, loadObject, parseWords, type Target, wordsOfBytes, wordsText } from '../index.ts'
import { type Command, UsageError, type Values } from './arguments.ts'
import { batchesOf, bytesOfFile } from './files.ts'
import type { Io } from './io.ts'
import { targetNamed, targetOf, targetOption } from './target.ts'

export const dis: Command = {
  summary: 'disassemble a code object, a file of machine code, or words',
  usage: 'dis FILE | dis --words WORD... | dis --lines [OPTION...]',
  options: {
    target: targetOption,
    words: { value: 'WORD', multiple: true, help: 'Disassemble these 32-bit words, in program order.' },
    lines: { help: 'Words a line on standard input, text a line on standard output; an empty line for what is no instruction.' },
  },
  notes: ['FILE is an AMDGPU code object, which names its target itself, or machine code as little-endian dwords; - is standard input.'],
  examples: [
    ['lanewise dis saxpy.co', 'all kernels and functions of a code object'],
    ['lanewise dis code.bin --target gfx803', 'raw machine code'],
    ['lanewise dis --target gfx803 --words 0xd1c10003 0x040a0300', 'v_mad_f32 v3, v0, v1, v2'],
    ['lanewise dis --target gfx700 --lines < words.txt', 'in bulk'],
  ],
  run: disassembleCommand,
}

async function disassembleCommand(values: Values, io: Io): Promise<number> {
  if (values.flag('lines')) return disassembleLines(values, io)
  if (values.flag('words')) {
    const text = [...values.list('words'), ...values.positionals].join(' ')
    const words = parseWords(text)
    if (words === undefined || words.length === 0) throw new UsageError(`--words ${text}: expected 32-bit words in hexadecimal`)
    return print([{ name: '', lines: list(words, targetOf(values)) }], targetOf(values), values, io)
  }
  const [file, ...rest] = values.positionals
  if (file === undefined || rest.length > 0) throw new UsageError('dis takes one FILE, --words or --lines; see lanewise dis --help')
  const bytes = await bytesOfFile(file, io)
  if (isElf(bytes)) {
    const { target, functions } = readObject(bytes)
    return print(functions, target, values, io)
  }
  const words = wordsOfBytes(bytes)
  if (words === undefined) throw new UsageError(`${file} is no code object, and its ${bytes.length} bytes are no whole number of dwords`)
  const target = targetOf(values)
  return print([{ name: '', lines: list(words, target) }], target, values, io)
}

/** Words a line to text a line. Never stops: what is no instruction, or not exactly one, is an empty line. */
async function disassembleLines(values: Values, io: Io): Promise<number> {
  const target = targetOf(values)
  for await (const lines of batchesOf(values.positionals[0] ?? '-', io)) {
    io.signal.throwIfAborted()
    await io.out.write(lines.map((line) => `${disassembleLine(line, target)}\n`).join(''))
  }
  return 0
}

function disassembleLine(line: string, target: Target): string {
  const words = parseWords(line)
  if (words === undefined) return ''
  const instruction = decode(words, 0, target)
  return instruction === undefined || instruction.dwords !== words.length ? '' : disassemble(instruction)
}

interface Function {
  readonly name: string
  readonly lines: readonly Line[]
}

const isElf = (bytes: Uint8Array): boolean => bytes[0] === 0x7f && bytes[1] === 0x45 && bytes[2] === 0x4c && bytes[3] === 0x46

/** The functions of a code object in the order of their addresses, and what stands before the first. */
function readObject(bytes: Uint8Array): { target: Target; functions: Function[] } {
  const object = loadObject(bytes)
  const target = targetNamed(object.target)
  const functions: Function[] = []
  for (const segment of object.segments.filter((s) => s.executable)) {
    const words = wordsOfBytes(segment.bytes.subarray(0, segment.bytes.length & ~3))!
    const names = new Map<number, string>()
    for (const { name, address, kind } of object.symbols.values()) if (kind === 'function') names.set(address - segment.address, name)
    for (const { name, entry } of object.kernels) names.set(entry - segment.address, name)
    const starts = [...names.keys()].filter((at) => at >= 0 && at < words.length * 4).sort((a, b) => a - b)
    starts.forEach((start, i) => {
      functions.push({ name: names.get(start)!, lines: list(words, target, start, starts[i + 1] ?? words.length * 4) })
    })
  }
  return { target, functions }
}

async function print(functions: readonly Function[], target: Target, values: Values, io: Io): Promise<number> {
  for (const { name, lines } of functions) {
    if (values.flag('json')) {
      const list = lines.map(({ offset, words, text }) => ({ offset, words: Array.from(words, (word) => hex(word, 32)), text }))
      await io.out.write(`${JSON.stringify({ target: target.name, ...(name === '' ? {} : { name }), lines: list })}\n`)
      continue
    }
    if (name !== '') await io.out.write(`${name}:\n`)
    await io.out.write(
      lines.map(({ offset, words, text }) => `${hex(offset, 16).slice(2)}  ${wordsText(words).padEnd(17)}  ${text}\n`).join(''),
    )
  }
  return 0
}
