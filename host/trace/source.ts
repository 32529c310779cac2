/** What a trace comes as → little-endian machine words: they themselves, assembly text, or a recording. Knows nothing of files. */
import { AssembleError } from '../errors.ts'
import type { Target } from '../isa/targets.ts'
import { assembleProgram } from '../text/program.ts'
import { isRecording, type RecordingHeader, RecordingReader } from './recording.ts'

/** Machine words in little-endian order, assembly text (UTF-8), or what a recorder wrote. */
export type TraceForm = 'words' | 'text' | 'recording'

/** Bytes in pieces of any size. */
export type TraceSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** What a trace is by its first bytes: a recording says so, text has no byte that is no text, all else is machine words. */
export function formOf(first: Uint8Array): TraceForm {
  if (isRecording(first)) return 'recording'
  const isText = first.length > 0 && first.every((byte) => byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d)
  return isText ? 'text' : 'words'
}

/** A source whose first piece has been looked at. */
export async function peek(source: TraceSource): Promise<{ readonly first: Uint8Array; readonly all: AsyncIterable<Uint8Array> }> {
  const pieces = (async function* () {
    yield* source
  })()
  const start: Uint8Array[] = []
  let bytes = 0
  while (bytes < PEEK_BYTES) {
    const next = await pieces.next()
    if (next.done) break
    start.push(next.value)
    bytes += next.value.length
  }
  const first = new Uint8Array(bytes)
  let at = 0
  for (const piece of start) {
    first.set(piece, at)
    at += piece.length
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    if (first.length > 0) yield first
    yield* pieces
  }
  return { first: first.subarray(0, PEEK_BYTES), all: all() }
}

/** A recording whose header has been looked at; its pieces are kept until that is whole. @throws {LanewiseError} ERR_OBJECT: damaged */
export async function peekHeader(
  source: AsyncIterable<Uint8Array>,
): Promise<{ readonly header: RecordingHeader; readonly all: AsyncIterable<Uint8Array> }> {
  const pieces = source[Symbol.asyncIterator]()
  const kept: Uint8Array[] = []
  async function* seen(): AsyncGenerator<Uint8Array> {
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
      kept.push(next.value)
      yield next.value
    }
  }
  const { header } = await new RecordingReader(seen()).start()
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* kept.splice(0)
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value
  }
  return { header, all: all() }
}

/** Enough to tell what a trace is. */
const PEEK_BYTES = 8

/** Lines that are kept with their words, so that those that come again cost little. */
const KEPT_LINES = 1 << 16

/**
 * Assembles text as it comes, line by line: so no line knows of another's labels, and branches name their distance.
 * @throws {AssembleError} with the line's number in the whole text
 */
export async function* assembleLines(source: TraceSource, target: Target): AsyncGenerator<Uint8Array> {
  const assembler = new LineAssembler(target)
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of source) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop()!
    if (lines.length > 0) yield assembler.assemble(lines)
  }
  rest += decoder.decode()
  if (rest !== '') yield assembler.assemble([rest])
}

class LineAssembler {
  #number = 0
  readonly #known = new Map<string, Uint32Array>()

  constructor(private readonly target: Target) {}

  assemble(lines: readonly string[]): Uint8Array {
    const words: number[] = []
    for (const line of lines) {
      this.#number++
      for (const word of this.#line(line)) words.push(word)
    }
    return new Uint8Array(Uint32Array.from(words).buffer)
  }

  #line(line: string): Uint32Array {
    const known = this.#known.get(line)
    if (known !== undefined) return known
    if (this.#known.size >= KEPT_LINES) this.#known.clear()
    try {
      const { words } = assembleProgram(line, this.target)
      this.#known.set(line, words)
      return words
    } catch (error) {
      if (!(error instanceof AssembleError)) throw error
      const { column, message } = error
      throw new AssembleError(`line ${this.#number}: ${message}`, this.#number, column)
    }
  }
}
