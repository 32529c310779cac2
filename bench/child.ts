/** Parts of a benchmark that need a process of their own: this program once more, with the section `child` and a request on stdin. */
import { spawnSync } from 'node:child_process'

/** Says on a terminal what is being measured, where the last one stood. */
export function sayProgress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${what}`)
}

/** Bytes of an answer at most. */
const ANSWER_LIMIT = 1 << 26

/**
 * Asks a child, and waits for it.
 * @param task its name in main.ts
 * @param flags of Node
 * @returns what the task gives
 */
export function inChild<Answer>(task: string, request: unknown, flags: readonly string[] = []): Answer {
  const { status, stdout } = spawnSync(process.execPath, [...flags, process.argv[1]!, 'child', task], {
    input: JSON.stringify(request),
    encoding: 'utf8',
    maxBuffer: ANSWER_LIMIT,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`the process that measures ${task} did not end well: ${status}`)
  return JSON.parse(stdout) as Answer
}
