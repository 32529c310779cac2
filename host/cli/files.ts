/** Reading files and standard input. */

import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { UsageError } from './arguments.ts'
import type { Io } from './io.ts'

/** A file's bytes; `-` is standard input. @throws {UsageError} it cannot be read */
export async function bytesOfFile(name: string, io: Io): Promise<Uint8Array> {
  if (name === '-') return whole(io.input)
  return readFile(name).catch(refuse(name))
}

/** Reads files that are named in another one, relative to where that is. */
export function readerBeside(file: string): (path: string) => Promise<Uint8Array> {
  const directory = file === '-' ? '.' : dirname(file)
  return (path) => readFile(resolve(directory, path)).catch(refuse(path))
}

/** The lines of a file or of standard input (`-`), each as soon as it is there; what is gzipped is unpacked. */
export async function* linesOf(name: string, io: Io): AsyncGenerator<string> {
  for await (const lines of batchesOf(name, io)) yield* lines
}

/** The same, those that come together in one list. */
export async function* batchesOf(name: string, io: Io): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of piecesOf(name, io)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    yield lines.map((line) => line.replace(/\r$/, ''))
  }
  if (rest !== '') yield [rest]
}

/** Bytes of a file or of standard input (`-`) as they come; what is gzipped is unpacked. @throws {UsageError} it cannot be read */
export async function* piecesOf(name: string, io: Io): AsyncGenerator<Uint8Array> {
  const source = name === '-' ? io.input : (createReadStream(name) as AsyncIterable<Uint8Array>)
  try {
    yield* await unzipped(source)
  } catch (error) {
    refuse(name)(error)
  }
}

/** Passes bytes on, unpacked if they begin as gzip does (RFC 1952, 2.3.1). */
async function unzipped(source: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const chunks = source[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done) return chunksOf([])
  const all = chunksOf([first.value], chunks)
  if (first.value[0] !== 0x1f || (first.value.length > 1 && first.value[1] !== 0x8b)) return all
  return pipeline(Readable.from(all), createGunzip(), () => {})
}

async function* chunksOf(first: Uint8Array[], rest?: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* first
  for (let next = await rest?.next(); next !== undefined && !next.done; next = await rest?.next()) yield next.value
}

async function whole(source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of source) chunks.push(chunk)
  return Uint8Array.from(Buffer.concat(chunks))
}

/** An operating system's refusal as a sentence. */
function refuse(name: string): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined || error instanceof UsageError) throw error
    throw new UsageError(code === 'ENOENT' ? `there is no file ${name}` : `cannot read ${name}: ${message}`)
  }
}
