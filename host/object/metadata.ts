/** Metadata of code objects: msgpack maps of versions 3 and later (LLVM, "Code Object V3 Metadata" to V5). */
import { decode } from '@msgpack/msgpack'
import { ObjectError, shown } from '../errors.ts'
import type { KernelArgument, KernelMetadata } from './code-object.ts'

export interface Metadata {
  readonly kernels: readonly KernelMetadata[]
  readonly printf: readonly string[]
}

type Map_ = Readonly<Record<string, unknown>>

/** @param note the description of an NT_AMDGPU_METADATA note */
export function parseMetadata(note: Uint8Array): Metadata {
  const limit = note.byteLength
  let root: unknown
  try {
    root = decode(note, { maxStrLength: limit, maxBinLength: limit, maxArrayLength: limit, maxMapLength: limit, maxExtLength: limit })
  } catch (cause) {
    throw new ObjectError(
      `the metadata note of ${limit} bytes is no msgpack: ${(cause as Error).message}; the file is damaged, compile it again`,
    )
  }
  const map = asMap(root, 'the metadata')
  return {
    kernels: list(map, 'amdhsa.kernels').map((kernel, i) => kernelOf(asMap(kernel, `kernel ${i} of the metadata`), i)),
    printf: list(map, 'amdhsa.printf').filter((text) => typeof text === 'string'),
  }
}

function kernelOf(map: Map_, index: number): KernelMetadata {
  const name = text(map, '.name')
  const symbol = text(map, '.symbol')
  if (name === undefined || symbol === undefined)
    throw new ObjectError(`kernel ${index} of the metadata has no ${name === undefined ? '.name' : '.symbol'}; compile it again`)
  const what = `the metadata of kernel ${name}`
  const required = list(map, '.reqd_workgroup_size')
  return {
    name,
    symbol,
    args: list(map, '.args').map((arg, i) => argumentOf(asMap(arg, `argument ${i} of ${what}`), `argument ${i} of ${what}`)),
    kernargBytes: count(map, '.kernarg_segment_size', 0, what),
    kernargAlign: count(map, '.kernarg_segment_align', 16, what),
    groupSegmentBytes: count(map, '.group_segment_fixed_size', 0, what),
    privateSegmentBytes: count(map, '.private_segment_fixed_size', 0, what),
    waveSize: count(map, '.wavefront_size', 64, what),
    sgprCount: count(map, '.sgpr_count', 0, what),
    vgprCount: count(map, '.vgpr_count', 0, what),
    agprCount: count(map, '.agpr_count', 0, what),
    maxFlatWorkgroupSize: count(map, '.max_flat_workgroup_size', 1024, what),
    requiredWorkgroupSize: required.length === 3 ? (required.map(Number) as [number, number, number]) : undefined,
    usesDynamicStack: map['.uses_dynamic_stack'] === true,
  }
}

/** Bytes that a kernarg segment can have at most; far beyond what any compiler allows. */
export const MAX_KERNARG = 1 << 20

function argumentOf(map: Map_, what: string): KernelArgument {
  const offset = count(map, '.offset', undefined, what)
  const bytes = count(map, '.size', undefined, what)
  if (offset + bytes > MAX_KERNARG)
    throw new ObjectError(
      `${what} has ${bytes} bytes at offset ${offset}; arguments end before ${MAX_KERNARG}; the file is damaged, compile it again`,
    )
  return {
    name: text(map, '.name'),
    typeName: text(map, '.type_name'),
    offset,
    bytes,
    valueKind: text(map, '.value_kind') ?? 'by_value',
    addressSpace: text(map, '.address_space'),
    pointeeAlign: Math.max(1, count(map, '.pointee_align', 16, what)),
  }
}

function asMap(value: unknown, what: string): Map_ {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Map_
  throw new ObjectError(`${what} is no map; the file is damaged, compile it again`)
}

const list = (map: Map_, key: string): readonly unknown[] => {
  const value = map[key]
  return Array.isArray(value) ? value : []
}

const text = (map: Map_, key: string): string | undefined => {
  const value = map[key]
  return typeof value === 'string' ? value : undefined
}

function count(map: Map_, key: string, absent: number | undefined, what: string): number {
  const value = map[key] ?? absent
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32) return value
  throw new ObjectError(`${key} of ${what} is ${shown(value)}; it must be a whole number below 2^32; the file is damaged, compile it again`)
}
