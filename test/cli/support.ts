/** Runs the command line inside the test. */

import type { Io } from '../../host/cli/io.ts'
import { main } from '../../host/cli/lanewise.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface World {
  readonly input?: string | Uint8Array | AsyncIterable<Uint8Array>
  readonly tty?: boolean
  readonly env?: Io['env']
  readonly signal?: AbortSignal
  /** Called with what has been written so far. */
  readonly onOut?: (text: string) => void
}

export async function lanewise(args: readonly string[], world: World = {}): Promise<Ran> {
  let out = ''
  let err = ''
  const text = (data: string | Uint8Array): string => (typeof data === 'string' ? data : new TextDecoder().decode(data))
  const io: Io = {
    out: {
      isTTY: world.tty ?? false,
      columns: 80,
      write: async (data) => {
        out += text(data)
        world.onOut?.(out)
      },
    },
    err: {
      isTTY: world.tty ?? false,
      columns: 80,
      write: async (data) => {
        err += text(data)
      },
    },
    input: inputOf(world.input ?? ''),
    env: world.env ?? {},
    signal: world.signal ?? new AbortController().signal,
  }
  const code = await main(args, io)
  return { code, out, err }
}

async function* inputOf(input: NonNullable<World['input']>): AsyncGenerator<Uint8Array> {
  if (typeof input === 'string') yield new TextEncoder().encode(input)
  else if (input instanceof Uint8Array) yield input
  else yield* input
}
