/** `--record`: recordings into files. */
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGzip, type Gzip } from 'node:zlib'
import type { RecordedWave, RecordOptions } from '../index.ts'
import { UsageError, type Values } from './arguments.ts'

/** What the command line says of a recording; undefined where it wants none. */
export function recordingOf(values: Values): { readonly options: RecordOptions; close(): Promise<void> } | undefined {
  const file = values.text('record')
  const waves = values.list('record-wave').map(waveOf)
  const registers = values.flag('record-registers')
  if (file === undefined) {
    if (waves.length > 0 || registers) throw new UsageError('--record-wave and --record-registers go with --record FILE')
    return undefined
  }
  const nameOf = ({ group, wave }: RecordedWave): string => (waves.length > 1 ? `${file}.${group}.${wave}` : file)
  const files = new Map<string, { readonly gzip: Gzip; readonly done: Promise<void> }>()
  const write = async (bytes: Uint8Array, wave: RecordedWave): Promise<void> => {
    const name = nameOf(wave)
    let open = files.get(name)
    if (open === undefined) {
      const gzip = createGzip()
      open = { gzip, done: finished(gzip.pipe(createWriteStream(name))) }
      // A file that cannot be written is told when it is closed.
      open.done.catch(() => {})
      files.set(name, open)
    }
    if (!open.gzip.write(bytes)) await new Promise<void>((resolve) => open.gzip.once('drain', resolve))
  }
  const close = async (): Promise<void> => {
    for (const [name, { gzip, done }] of files) {
      gzip.end()
      await done.catch((error: Error) => {
        throw new UsageError(`cannot write ${name}: ${error.message}`)
      })
    }
  }
  return { options: { registers, write, ...(waves.length > 0 ? { waves } : {}) }, close }
}

function waveOf(text: string): RecordedWave {
  const match = /^(\d{1,10})\.(\d{1,2})$/.exec(text)
  if (match === null) throw new UsageError(`--record-wave ${text}: give workgroup and wave by number, such as 0.0`)
  return { group: Number(match[1]), wave: Number(match[2]) }
}
