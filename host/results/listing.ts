/** Machine code as lines of assembly. */
import { decode } from '../codec/decode.ts'
import type { Target } from '../isa/targets.ts'
import { disassemble } from '../text/disassemble.ts'
import { hex } from './hex.ts'

/** One instruction, or one dword that begins none. */
export interface Line {
  /** Bytes from the code's first one. */
  readonly offset: number
  readonly words: Uint32Array
  /** In LLVM's syntax; `.long 0x…` where the dword begins no instruction. A branch names its target in a comment. */
  readonly text: string
}

/** The instructions of a piece of code from byte `from` on, one behind another, up to byte `to`. */
export function list(words: Uint32Array, target: Target, from = 0, to = words.length * 4): Line[] {
  const lines: Line[] = []
  const end = Math.min(to, words.length * 4)
  for (let offset = from; offset < end; ) {
    const line = lineAt(words, target, offset)
    lines.push(line)
    offset += line.words.length * 4
  }
  return lines
}

/** The instruction at a byte offset of the code; its end, where a wave may stand, too, has no words. */
export function lineAt(words: Uint32Array, target: Target, offset: number): Line {
  const index = offset / 4
  if (index >= words.length) return { offset, words: words.subarray(words.length), text: 'the end of the code' }
  const instruction = decode(words, index, target)
  if (instruction === undefined) return { offset, words: words.subarray(index, index + 1), text: `.long ${hex(words[index]!, 32)}` }
  return { offset, words: words.subarray(index, index + instruction.dwords), text: disassemble(instruction, offset) }
}

/** Words as they are written in a line: eight digits each. */
export const wordsText = (words: Iterable<number>): string => Array.from(words, (word) => word.toString(16).padStart(8, '0')).join(' ')

/** Reads such words, with or without `0x`, separated by blanks or commas; undefined where something else is among them. */
export function parseWords(text: string): Uint32Array | undefined {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  return words.every((word) => /^(0x)?[0-9a-f]{1,8}$/i.test(word))
    ? Uint32Array.from(words, (word) => Number.parseInt(word, 16))
    : undefined
}

/** A file's bytes as little-endian dwords; undefined where they are no whole number of dwords. */
export function wordsOfBytes(bytes: Uint8Array): Uint32Array | undefined {
  if (bytes.length % 4 !== 0) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(i * 4, true))
}
