#!/usr/bin/env node
/** The one file that touches `process`. */
import { once } from 'node:events'
import type { Stream } from './io.ts'
import { main } from './lanewise.ts'

function streamOf(stream: NodeJS.WriteStream): Stream {
  return {
    write: async (text) => {
      if (!stream.write(text)) await once(stream, 'drain')
    },
    isTTY: stream.isTTY === true,
    columns: stream.columns ?? 80,
  }
}

const interrupt = new AbortController()
process.once('SIGINT', () => {
  interrupt.abort(new Error('interrupted'))
  process.stdin.destroy() // who waits for input waits no longer
})
// Who reads our output may stop reading (`| head`): that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 2))
process.exitCode = await main(process.argv.slice(2), {
  out: streamOf(process.stdout),
  err: streamOf(process.stderr),
  input: process.stdin,
  env: process.env,
  signal: interrupt.signal,
})
