/** What a command may touch of the outside world; main.ts makes one from `process`, tests make their own. */

export interface Stream {
  /** Resolves when the text is on its way and there is room for more. */
  write(text: string | Uint8Array): Promise<void>
  readonly isTTY: boolean
  /** Characters a line. */
  readonly columns: number
}

export interface Io {
  readonly out: Stream
  readonly err: Stream
  readonly input: AsyncIterable<Uint8Array>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

/** How many colours the stream can show: https://no-color.org, COLORTERM and TERM as terminals set them. */
export function coloursOf(stream: Stream, env: Io['env']): 'none' | '256' | 'true' {
  if (!stream.isTTY || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb') return 'none'
  return /truecolor|24bit/.test(env.COLORTERM ?? '') ? 'true' : '256'
}

/** At most this many characters a line, however wide the terminal is. */
export const WIDTH = 80

/** A line that is redrawn in place while something long goes on; nothing at all where there is no terminal. */
export class Progress {
  #shown = ''
  #last = 0

  constructor(
    private readonly stream: Stream,
    private readonly label: string,
  ) {}

  /** Redraws at most ten times a second. @param total undefined where nobody knows it */
  async show(done: number, total: number | undefined, note = ''): Promise<void> {
    if (!this.stream.isTTY || Date.now() - this.#last < 100) return
    this.#last = Date.now()
    await this.#draw(
      total === undefined ? `${this.label} ${done}${note}` : bar(this.label, done, total, Math.min(WIDTH, this.stream.columns) - 1),
    )
  }

  /** Takes the line away. */
  async clear(): Promise<void> {
    if (this.#shown !== '') await this.#draw('')
  }

  async #draw(text: string): Promise<void> {
    await this.stream.write(`\r${text}${' '.repeat(Math.max(0, this.#shown.length - text.length))}${text === '' ? '\r' : ''}`)
    this.#shown = text
  }
}

/** `label ████░░░░ 50%`, so many characters wide. */
export function bar(label: string, done: number, total: number, width: number): string {
  const part = total === 0 ? 1 : Math.min(1, done / total)
  const room = Math.max(0, width - label.length - 6)
  const full = Math.round(part * room)
  return `${label} ${'█'.repeat(full)}${'░'.repeat(room - full)} ${`${Math.floor(part * 100)}%`.padStart(4)}`.slice(0, width)
}
