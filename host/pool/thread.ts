/** Starts worker threads, in Node or in a browser, and speaks to them. */
import type { Answer, Message } from './messages.ts'

export interface Thread {
  /** Whether it ever said anything. */
  answered: boolean
  /** Hears what the worker says. */
  onAnswer: (answer: Answer) => void
  /** Hears that the worker is no more, and why. */
  onEnd: (why: string) => void
  /** @throws where something of it cannot be sent from here */
  tell(message: Message): void
  /** Whether the process stays alive for the worker's sake. */
  hold(on: boolean): void
  end(): void
}

/** Node's module of worker threads; undefined in browsers. Not imported, for bundlers for browsers have none. */
const workerThreads = () => globalThis.process?.getBuiltinModule?.('node:worker_threads')

/** Whether there is memory here that threads can share: in browsers only with cross-origin isolation. */
export const canShare = (): boolean => typeof SharedArrayBuffer === 'function' && (globalThis.crossOriginIsolated ?? true)

/** So many threads run at once here. */
export const coreCount = (): number =>
  globalThis.process?.getBuiltinModule?.('node:os')?.availableParallelism() ?? globalThis.navigator?.hardwareConcurrency ?? 1

/**
 * Starts a worker.
 * @param url where its module is; by default beside this one
 * @throws where there are no workers, or not from there
 */
export function startThread(url: URL | undefined): Thread {
  const node = workerThreads()
  return node === undefined ? webThread(url) : nodeThread(node, url)
}

function nodeThread({ Worker }: NonNullable<ReturnType<typeof workerThreads>>, url: URL | undefined): Thread {
  const worker = new Worker(url ?? new URL('./worker.js', import.meta.url))
  worker.unref()
  const thread: Thread = {
    answered: false,
    onAnswer: () => {},
    onEnd: () => {},
    tell: (message) => worker.postMessage(message),
    hold: (on) => (on ? worker.ref() : worker.unref()),
    end: () => void worker.terminate(),
  }
  worker.on('message', (answer: Answer) => hear(thread, answer))
  worker.on('error', (error) => thread.onEnd(error instanceof Error ? error.message : String(error)))
  worker.on('exit', (code) => thread.onEnd(`it ended with code ${code}`))
  return thread
}

function webThread(url: URL | undefined): Thread {
  // Bundlers look for exactly these words.
  const worker = url ? new Worker(url, { type: 'module' }) : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
  const thread: Thread = {
    answered: false,
    onAnswer: () => {},
    onEnd: () => {},
    tell: (message) => worker.postMessage(message),
    hold: () => {},
    end: () => worker.terminate(),
  }
  worker.onmessage = ({ data }: MessageEvent<Answer>) => hear(thread, data)
  worker.onerror = ({ message }) => thread.onEnd(message ?? 'its module did not load')
  return thread
}

function hear(thread: Thread, answer: Answer): void {
  thread.answered = true
  thread.onAnswer(answer)
}
