/** How long an engine runs at a stretch: a few milliseconds, whatever its speed. */

/** Slices begin small and grow: the reference takes a hundred times as long as the core. */
const FIRST_SLICE = 64
const LEAST_SLICE = 16
/** Even the slowest instructions of the core get through so many in a fraction of a second. */
const MOST_SLICE = 1 << 18
/** A slice of a run takes about this long, and control goes back to the event loop about this often. */
export const SLICE_MS = 4

/** The size of the next slice, by how long the ones before took. */
export class Slices {
  /** Instructions of the next slice. */
  instructions = FIRST_SLICE

  /** A slice of so many instructions took so long. */
  took(elapsedMs: number): void {
    const wanted = (this.instructions * SLICE_MS) / Math.max(elapsedMs, SLICE_MS / 4)
    this.instructions = Math.round(Math.min(Math.max(wanted, LEAST_SLICE), MOST_SLICE))
  }
}

/** Lets the event loop turn once. Timers would wait for milliseconds; setImmediate is not in browsers, but the quickest where it is. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof globalThis.setImmediate === 'function') {
      globalThis.setImmediate(resolve)
      return
    }
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(0)
  })
}
