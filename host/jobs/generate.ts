/** Buffer contents from a formula, so that a job need not carry them. All integer arithmetic is modulo 2^32. */
import { bytesOf, type ElementType, numberWriter } from '../results/elements.ts'
import type { Generator } from './job.ts'

/** A well mixed dword for each index (the finaliser of MurmurHash3). */
export function h(i: number, seed: number): number {
  let x = (i + Math.imul(seed, 0x9e3779b9)) >>> 0
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return (x ^ (x >>> 16)) >>> 0
}

/** The buffer's bytes. `lo` and `hi` are integers for `int`. */
export function generate(gen: Generator, type: ElementType, length: number, seed: number, lo: number, hi: number): Uint8Array {
  const size = bytesOf(type)
  const bytes = new Uint8Array(length * size)
  if (gen === 'zeros') return bytes
  const view = new DataView(bytes.buffer)
  if (gen === 'raw') fillRaw(view, size, length, seed)
  else {
    const put = numberWriter(type)
    const numberAt = gen === 'int' ? int(seed, lo, hi) : uniform(type, seed, lo, hi)
    for (let i = 0; i < length; i++) put(view, i * size, numberAt(i))
  }
  return bytes
}

function fillRaw(view: DataView, size: 1 | 2 | 4 | 8, length: number, seed: number): void {
  if (size === 8) for (let i = 0; i < 2 * length; i++) view.setUint32(4 * i, h(i, seed), true)
  else if (size === 4) for (let i = 0; i < length; i++) view.setUint32(4 * i, h(i, seed), true)
  else if (size === 2) for (let i = 0; i < length; i++) view.setUint16(2 * i, h(i, seed) >>> 16, true)
  else for (let i = 0; i < length; i++) view.setUint8(i, h(i, seed) >>> 24)
}

const int = (seed: number, lo: number, hi: number) => {
  const count = hi - lo + 1
  return (i: number): number => lo + (h(i, seed) % count)
}

function uniform(type: ElementType, seed: number, lo: number, hi: number): (i: number) => number {
  if (type === 'f64') return (i) => lo + (hi - lo) * (h(i, seed) / 2 ** 32)
  // To f16 by way of f32.
  return (i) => Math.fround(lo + (hi - lo) * ((h(i, seed) >>> 8) / 2 ** 24))
}
