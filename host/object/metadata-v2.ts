/** Metadata of version 2 objects: a YAML text in a note (LLVM, "Code Object V2 Metadata"), in the subset that LLVM writes. */
import { ObjectError } from '../errors.ts'
import type { KernelArgument, KernelMetadata } from './code-object.ts'
import type { Metadata } from './metadata.ts'

type Yaml = string | readonly Yaml[] | { readonly [key: string]: Yaml }

/** @param note the description of an NT_AMD_HSA_METADATA note */
export function parseMetadataV2(note: Uint8Array): Metadata {
  const root = parseYaml(new TextDecoder().decode(note).replace(/\0+$/, ''))
  return { kernels: items(root, 'Kernels').map(kernelOf), printf: items(root, 'Printf').filter((text) => typeof text === 'string') }
}

function kernelOf(kernel: Yaml): KernelMetadata {
  const props = get(kernel, 'CodeProps') ?? {}
  const required = items(get(kernel, 'Attrs') ?? {}, 'ReqdWorkGroupSize').map(Number)
  return {
    name: text(kernel, 'Name') ?? '',
    symbol: text(kernel, 'SymbolName') ?? '',
    args: argumentsOf(items(kernel, 'Args')),
    kernargBytes: count(props, 'KernargSegmentSize', 0),
    kernargAlign: count(props, 'KernargSegmentAlign', 16),
    groupSegmentBytes: count(props, 'GroupSegmentFixedSize', 0),
    privateSegmentBytes: count(props, 'PrivateSegmentFixedSize', 0),
    waveSize: count(props, 'WavefrontSize', 64),
    sgprCount: count(props, 'NumSGPRs', 0),
    vgprCount: count(props, 'NumVGPRs', 0),
    agprCount: 0,
    maxFlatWorkgroupSize: count(props, 'MaxFlatWorkGroupSize', 1024),
    requiredWorkgroupSize: required.length === 3 ? (required as [number, number, number]) : undefined,
    usesDynamicStack: text(props, 'IsDynamicCallStack') === 'true',
  }
}

/** Version 2 says sizes and alignments; offsets follow from them. */
function argumentsOf(args: readonly Yaml[]): KernelArgument[] {
  let end = 0
  return args.map((arg) => {
    const bytes = count(arg, 'Size', 0)
    const align = Math.max(1, count(arg, 'Align', 1))
    const offset = Math.ceil(end / align) * align
    end = offset + bytes
    return {
      name: text(arg, 'Name'),
      typeName: text(arg, 'TypeName'),
      offset,
      bytes,
      valueKind: snakeCase(text(arg, 'ValueKind') ?? 'ByValue'),
      addressSpace: text(arg, 'AddrSpaceQual')?.toLowerCase(),
      pointeeAlign: Math.max(1, count(arg, 'PointeeAlign', 16)),
    }
  })
}

/** HiddenGlobalOffsetX → hidden_global_offset_x, the spelling of later versions; they write MultiGrid as one word. */
const snakeCase = (name: string): string =>
  name
    .replace('MultiGrid', 'Multigrid')
    .replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()

const get = (map: Yaml, key: string): Yaml | undefined =>
  typeof map === 'object' && !Array.isArray(map) ? (map as { [key: string]: Yaml })[key] : undefined
const items = (map: Yaml, key: string): readonly Yaml[] => {
  const value = get(map, key)
  return Array.isArray(value) ? value : []
}
const text = (map: Yaml, key: string): string | undefined => {
  const value = get(map, key)
  return typeof value === 'string' ? value : undefined
}
function count(map: Yaml, key: string, absent: number): number {
  const value = Number(text(map, key) ?? absent)
  if (Number.isInteger(value) && value >= 0 && value < 2 ** 32) return value
  throw new ObjectError(
    `${key} of the metadata is ${text(map, key)}; it must be a whole number below 2^32; the file is damaged, compile it again`,
  )
}

interface Line {
  readonly indent: number
  readonly text: string
}

/** Block maps, block lists, flow lists of scalars, and scalars with or without quotes. */
function parseYaml(source: string): Yaml {
  const lines = source
    .split('\n')
    .filter((line) => !/^\s*(#.*)?$|^---|^\.\.\./.test(line))
    .map((line): Line => ({ indent: line.search(/\S/), text: line.trim() }))
  return block(lines, 0, lines.length)
}

/** The value made of lines `from` to `to`, all indented at least as far as the first. */
function block(lines: readonly Line[], from: number, to: number): Yaml {
  const first = lines[from]
  if (first === undefined || from >= to) return ''
  return first.text.startsWith('- ') || first.text === '-'
    ? blockList(lines, from, to, first.indent)
    : blockMap(lines, from, to, first.indent)
}

/** Where the lines that belong to line `at` end: at the next one that is not indented further. */
function endOf(lines: readonly Line[], at: number, to: number, indent: number): number {
  let end = at + 1
  while (end < to && lines[end]!.indent > indent) end++
  return end
}

function blockList(lines: readonly Line[], from: number, to: number, indent: number): Yaml[] {
  const list: Yaml[] = []
  for (let at = from; at < to; ) {
    const end = endOf(lines, at, to, indent)
    const rest = lines[at]!.text.slice(1)
    const inner: Line = { indent: indent + 1 + rest.search(/\S|$/), text: rest.trim() }
    list.push(
      inner.text.includes(': ') || inner.text.endsWith(':') ? block([inner, ...lines.slice(at + 1, end)], 0, end - at) : scalar(inner.text),
    )
    at = end
  }
  return list
}

function blockMap(lines: readonly Line[], from: number, to: number, indent: number): Yaml {
  const map: Record<string, Yaml> = {}
  for (let at = from; at < to; ) {
    const { text } = lines[at]!
    const colon = text.indexOf(':')
    if (colon < 0)
      throw new ObjectError(`the metadata has the line "${text}", which is no key with a value; the file is damaged, compile it again`)
    // A list may stand at its key's own indentation.
    let end = endOf(lines, at, to, indent)
    while (text.endsWith(':') && end < to && lines[end]!.indent === indent && lines[end]!.text.startsWith('-'))
      end = endOf(lines, end, to, indent)
    const rest = text.slice(colon + 1).trim()
    map[text.slice(0, colon)] = rest === '' ? block(lines, at + 1, end) : scalar(rest)
    at = end
  }
  return map
}

function scalar(text: string): Yaml {
  if (text.startsWith('[') && text.endsWith(']')) {
    const inner = text.slice(1, -1).trim()
    return inner === '' ? [] : inner.split(',').map((item) => scalar(item.trim()))
  }
  return text.replace(/^(['"])(.*)\1$/, '$2')
}
