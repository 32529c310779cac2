/** Buffer contents from a formula, so that a job need not carry them. All integer arithmetic is modulo 2^32. */
import { bytesOf, type ElementType, floatBits, writeBits } from '../results/elements.ts'
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
  const element = { raw, int, uniform }[gen]
  for (let i = 0; i < length; i++) writeBits(view, i * size, size, element(type, i, seed, lo, hi))
  return bytes
}

function raw(type: ElementType, i: number, seed: number): bigint {
  const bytes = bytesOf(type)
  if (bytes === 8) return BigInt(h(2 * i, seed)) | (BigInt(h(2 * i + 1, seed)) << 32n)
  return BigInt(h(i, seed) >>> (32 - 8 * bytes))
}

function int(type: ElementType, i: number, seed: number, lo: number, hi: number): bigint {
  const value = lo + (h(i, seed) % (hi - lo + 1))
  return type === 'f16' || type === 'f32' || type === 'f64' ? floatBits(type, value) : BigInt(value)
}

function uniform(type: ElementType, i: number, seed: number, lo: number, hi: number): bigint {
  const part = type === 'f64' ? h(i, seed) / 2 ** 32 : (h(i, seed) >>> 8) / 2 ** 24
  const value = lo + (hi - lo) * part
  if (type === 'f64') return floatBits('f64', value)
  return type === 'f16' ? floatBits('f16', Math.fround(value)) : floatBits('f32', value)
}
