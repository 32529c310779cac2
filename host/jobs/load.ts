/** Fetches what a job names: code, buffers, expected bytes. Files come through an injected reader, so jobs run in browsers too. */
import { JobError } from '../errors.ts'
import type { CodeObject } from '../object/code-object.ts'
import { loadObject, unbundle } from '../object/index.ts'
import { bytesOf, writeBits } from '../results/elements.ts'
import { wordsOfBytes } from '../results/listing.ts'
import { assembleProgram } from '../text/program.ts'
import { generate } from './generate.ts'
import type { Buffer, Job, Want } from './job.ts'

/** Gives a file's bytes. `path` is as the job says it: relative to the job file. */
export type ReadFile = (path: string) => Promise<Uint8Array>

/** A job with everything that it names. */
export interface LoadedJob {
  readonly job: Job
  readonly code: { readonly object: CodeObject; readonly kernel: string } | { readonly words: Uint32Array }
  /** Start contents by buffer. */
  readonly buffers: ReadonlyMap<string, Uint8Array>
  /** Expected bytes by buffer, where the job names a file. */
  readonly expected: ReadonlyMap<string, Uint8Array>
}

/**
 * Loads a job.
 * @throws {JobError} a file cannot be read or has the wrong size
 * @throws {ObjectError} the code object cannot be loaded
 * @throws {AssembleError} the assembly text is wrong
 */
export async function loadJob(job: Job, readFile: ReadFile): Promise<LoadedJob> {
  const read: ReadFile = (path) =>
    readFile(path).catch((error) => {
      throw new JobError(`cannot read ${path}: ${(error as Error).message}`, 'file')
    })
  const buffers = new Map<string, Uint8Array>()
  for (const buffer of job.buffers.values()) buffers.set(buffer.name, await contents(buffer, read))
  const expected = new Map<string, Uint8Array>()
  for (const { place, want } of job.expect) {
    if (want.form === 'file' || want.form === 'sample') expected.set(place.name, await expectation(want, job.buffers.get(place.name), read))
  }
  return { job, code: await codeOf(job, read), buffers, expected }
}

async function codeOf(job: Job, read: ReadFile): Promise<LoadedJob['code']> {
  const { code, target } = job
  switch (code.form) {
    case 'object':
      return { object: loadObject(await unbundle(await read(code.file), target.name), { target: target.name }), kernel: code.kernel }
    case 'words':
      return { words: Uint32Array.from(code.words) }
    case 'file': {
      const words = wordsOfBytes(await read(code.file))
      if (words === undefined)
        throw new JobError(`${code.file} is no whole number of dwords; expected little-endian machine code`, 'code.file')
      return { words }
    }
    case 'asm':
      return { words: assembleProgram(code.text, target).words }
    default:
      return { words: assembleProgram(new TextDecoder().decode(await read(code.file)), target).words }
  }
}

async function contents({ name, type, length, init }: Buffer, read: ReadFile): Promise<Uint8Array> {
  const size = bytesOf(type)
  switch (init.form) {
    case 'bytes':
      return init.bytes
    case 'gen':
      return generate(init.gen, type, length, init.seed, init.lo, init.hi)
    case 'file':
      return sized(await read(init.file), length * size, init.file, `buffers.${name}.init.file`)
    default: {
      const bytes = new Uint8Array(length * size)
      if (length > 0) writeBits(new DataView(bytes.buffer), 0, size, init.bits)
      for (let filled = size; filled < bytes.length; filled *= 2) bytes.copyWithin(filled, 0, filled)
      return bytes
    }
  }
}

async function expectation(want: Want & { form: 'file' | 'sample' }, buffer: Buffer | undefined, read: ReadFile): Promise<Uint8Array> {
  const bytes = await read(want.file)
  if (buffer === undefined) return bytes
  const elements = want.form === 'sample' ? want.count : buffer.length
  return sized(bytes, elements * bytesOf(buffer.type), want.file, `expect.${buffer.name}`)
}

function sized(bytes: Uint8Array, wanted: number, file: string, path: string): Uint8Array {
  if (bytes.length !== wanted) throw new JobError(`${path}: ${file} has ${bytes.length} bytes; expected ${wanted}`, path)
  return bytes
}
