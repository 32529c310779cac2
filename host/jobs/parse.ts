/** Reads a job's JSON. Whatever is wrong is a JobError that names the key; nothing is guessed. */
import { JobError, LanewiseError } from '../errors.ts'
import { TARGETS, type Target } from '../isa/targets.ts'
import { type Comparison, EXACT, parseComparison } from '../results/compare.ts'
import { bytesOf, ELEMENT_TYPES, type ElementType, floatBits, isFloatType, writeBits } from '../results/elements.ts'
import { nearest } from '../results/nearest.ts'
import {
  type Argument,
  type BareWave,
  type Buffer,
  type Code,
  type Dispatch,
  type Expectation,
  GENERATORS,
  type Init,
  type Job,
  type RawDescriptor,
  type Triple,
  type Want,
} from './job.ts'
import { type Fields, Node } from './node.ts'
import { bitsOfPlace, type Place, parseRegister, SPECIALS } from './place.ts'

const DISPATCH_KEYS = ['grid', 'workgroup', 'args', 'lds', 'kernarg', 'descriptor']
const JOB_KEYS = [
  'name',
  'why',
  'disputed',
  'target',
  'code',
  ...DISPATCH_KEYS,
  'buffers',
  'wave',
  'read',
  'expect',
  'ulp',
  'nan',
  'budget',
]

/** Wave instructions of a job that names no budget: a few minutes. */
export const DEFAULT_BUDGET = 2 ** 32
/** MODE as compilers start compute kernels on gfx8: nearest even, f32 denormals flushed, f16 and f64 kept, DX10_CLAMP, IEEE. */
export const DEFAULT_MODE = 0x3c0

const U32 = 0xffffffff
const U64 = (1n << 64n) - 1n
/** A buffer is one region: below 4 GiB (see host/plan/layout.ts). */
const MOST_BYTES = 2 ** 32 - 1

/**
 * Reads a job from its JSON text.
 * @throws {JobError} the text is no JSON or says something wrong; `path` names the key
 * @throws {LanewiseError} ERR_UNSUPPORTED: a processor that Lanewise has no tables for
 */
export const parseJob = (text: string): Job => readJob(parseJson(text))

/** @throws {JobError} the text is no JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new JobError(`not a JSON object: ${(error as Error).message}`, '')
  }
}

/** Reads a job from a parsed JSON value; throws as {@link parseJob}. */
export function readJob(value: unknown): Job {
  const job = new Node(value, '').object(JOB_KEYS)
  const target = readTarget(job.need('target'))
  const code = readCode(job.need('code'))
  const buffers = readBuffers(job.get('buffers'))
  const place = (node: Node, name: string) => readPlace(node, name, target, buffers)
  job.get('why')?.string()
  job.get('disputed')?.boolean()
  const anyNan = job.get('nan')?.oneOf(['any']) === 'any'
  const ulps = readUlps(job.get('ulp'), place)
  return {
    name: job.get('name')?.string() ?? '',
    target,
    code,
    start: readStart(job, target, code, buffers),
    buffers,
    read:
      job
        .get('read')
        ?.list()
        .map((node) => place(node, node.string())) ?? [],
    expect: [...(job.get('expect')?.members() ?? [])].map(([name, node]) => readExpectation(node, place(node, name), target, ulps, anyNan)),
    budget: job.get('budget')?.integer(1, Number.MAX_SAFE_INTEGER) ?? DEFAULT_BUDGET,
  }
}

function readTarget(node: Node): Target {
  const name = node.string()
  if (Object.hasOwn(TARGETS, name)) return TARGETS[name as keyof typeof TARGETS]
  const known = Object.keys(TARGETS)
  if (/^gfx[0-9a-f]{3,4}$/.test(name))
    throw new LanewiseError('ERR_UNSUPPORTED', `target ${name} is not supported; supported are ${known.join(', ')}`)
  return node.fail(`an LLVM processor name (${known.join(', ')})`)
}

function readCode(node: Node): Code {
  const fields = node.object(['object', 'kernel', 'words', 'file', 'asm', 'source'])
  const [form, code] = fields.exactlyOne(['object', 'words', 'file', 'asm', 'source'])
  if (form !== 'object') fields.get('kernel')?.fail('no kernel name, for only a code object has kernels')
  switch (form) {
    case 'object':
      return { form, file: code.string(), kernel: fields.need('kernel').string() }
    case 'words':
      return { form, words: code.list().map((word) => word.integer(0, U32)) }
    case 'asm':
      return { form, text: code.string() }
    default:
      return { form, file: code.string() }
  }
}

// --- buffers

function readBuffers(node: Node | undefined): ReadonlyMap<string, Buffer> {
  return new Map([...(node?.members() ?? [])].map(([name, buffer]) => [name, readBuffer(name, buffer)]))
}

function readBuffer(name: string, node: Node): Buffer {
  const fields = node.object(['type', 'length', 'init', 'address'])
  const type = fields.need('type').oneOf(ELEMENT_TYPES)
  const length = fields.need('length').integer(0, Math.floor(MOST_BYTES / bytesOf(type)))
  const init = fields.get('init')
  return {
    name,
    type,
    length,
    init: init === undefined ? { form: 'gen', gen: 'zeros', seed: 0, lo: 0, hi: 0 } : readInit(init, type, length),
    address: fields.get('address')?.bigint(0n, U64),
  }
}

function readInit(node: Node, type: ElementType, length: number): Init {
  const fields = node.object(['file', 'fill', 'hex', 'values', 'gen', 'seed', 'lo', 'hi'])
  // A generator and a file beside it hold the same bytes; the generator needs no file.
  if (fields.get('gen') !== undefined && fields.get('file') !== undefined) {
    fields.get('file')?.string()
    for (const key of ['fill', 'hex', 'values']) fields.get(key)?.fail('nothing beside gen and file')
    return readGenerator(fields, type)
  }
  const [form, init] = fields.exactlyOne(['file', 'fill', 'hex', 'values', 'gen'])
  if (form !== 'gen') for (const key of ['seed', 'lo', 'hi']) fields.get(key)?.fail('no such key without gen')
  switch (form) {
    case 'gen':
      return readGenerator(fields, type)
    case 'file':
      return { form, file: init.string() }
    case 'fill':
      return { form, bits: readElement(init, type) }
    case 'hex':
      return { form: 'bytes', bytes: sized(init, init.hex(), bytesOf(type) * length) }
    default:
      return { form: 'bytes', bytes: readValues(init, type, length) }
  }
}

function readGenerator(fields: Fields, type: ElementType): Init {
  const gen = fields.need('gen').oneOf(GENERATORS)
  const seed = fields.get('seed')?.integer(0, U32) ?? 0
  if (gen === 'uniform' && !isFloatType(type)) fields.need('gen').fail(`a generator of integers for ${type}: zeros, raw or int`)
  if (gen !== 'int' && gen !== 'uniform')
    return { form: 'gen', gen, seed, lo: fields.get('lo')?.number() ?? 0, hi: fields.get('hi')?.number() ?? 0 }
  const lo = fields.need('lo')
  const hi = fields.need('hi')
  const bound = (node: Node) => (gen === 'int' ? node.integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER) : node.number())
  if (bound(hi) < bound(lo)) hi.fail(`a number from lo (${bound(lo)}) on`)
  return { form: 'gen', gen, seed, lo: bound(lo), hi: bound(hi) }
}

function readValues(node: Node, type: ElementType, length: number): Uint8Array {
  const list = node.list()
  if (list.length !== length)
    throw new JobError(`${node.path} has ${list.length} values; expected ${length}, the buffer's length`, node.path)
  const size = bytesOf(type)
  const bytes = new Uint8Array(length * size)
  const view = new DataView(bytes.buffer)
  list.forEach((value, i) => {
    writeBits(view, i * size, size, readElement(value, type))
  })
  return bytes
}

/** A number of the type, as bits; floats may also be NaN, inf or -inf, for JSON has no numbers for them. */
function readElement(node: Node, type: ElementType): bigint {
  if (type !== 'f16' && type !== 'f32' && type !== 'f64') return node.bits(bytesOf(type) * 8)
  const special = { nan: Number.NaN, inf: Infinity, infinity: Infinity, '-inf': -Infinity, '-infinity': -Infinity }
  const name = typeof node.value === 'string' ? node.value.toLowerCase() : ''
  return floatBits(type, Object.hasOwn(special, name) ? special[name as keyof typeof special] : node.number())
}

function sized(node: Node, bytes: Uint8Array, wanted: number): Uint8Array {
  if (bytes.length !== wanted) throw new JobError(`${node.path} has ${bytes.length} bytes; expected ${wanted}`, node.path)
  return bytes
}

// --- how the waves start

function readStart(job: Fields, target: Target, code: Code, buffers: ReadonlyMap<string, Buffer>): BareWave | Dispatch {
  const wave = job.get('wave')
  if (wave === undefined) return readDispatch(job, code, buffers)
  for (const key of DISPATCH_KEYS) job.get(key)?.fail('nothing here: a bare wave (wave) excludes a dispatch')
  if (code.form === 'object') wave.fail('nothing here: a bare wave is for raw code, a kernel of a code object is dispatched')
  return readWave(wave, target)
}

function readDispatch(job: Fields, code: Code, buffers: ReadonlyMap<string, Buffer>): Dispatch {
  const raw = code.form !== 'object'
  if (!raw) for (const key of ['kernarg', 'descriptor']) job.get(key)?.fail('nothing here: a code object has its own')
  if (job.get('args') !== undefined) job.get('kernarg')?.fail('nothing here: args say the kernel arguments already')
  return {
    form: 'dispatch',
    grid: readTriple(job.get('grid'), U32),
    workgroup: readTriple(job.get('workgroup'), 1024),
    args:
      job
        .get('args')
        ?.list()
        .map((node) => readArgument(node, buffers)) ?? [],
    lds: job.get('lds')?.integer(0, 65536) ?? 0,
    kernarg: readKernarg(job.get('kernarg')),
    descriptor: readDescriptor(job.get('descriptor')),
  }
}

function readTriple(node: Node | undefined, most: number): Triple | undefined {
  if (node === undefined) return undefined
  const list = node.list().map((size) => size.integer(1, most))
  if (list.length < 1 || list.length > 3) node.fail('one to three sizes, [x, y, z]')
  return [list[0]!, list[1] ?? 1, list[2] ?? 1]
}

function readArgument(node: Node, buffers: ReadonlyMap<string, Buffer>): Argument {
  const fields = node.object(['type', 'value', 'bits', 'buffer', 'offset', 'hex', 'local'])
  const [form, argument] = fields.exactlyOne(['value', 'bits', 'buffer', 'hex', 'local'])
  if (form !== 'buffer') fields.get('offset')?.fail('no offset, for only a buffer has one')
  if (form !== 'value' && form !== 'bits') fields.get('type')?.fail('no type, for only a value or bits have one')
  switch (form) {
    case 'buffer':
      if (!buffers.has(argument.string())) argument.fail(`a buffer of this job (${[...buffers.keys()].join(', ') || 'it has none'})`)
      return { form, name: argument.string(), offset: fields.get('offset')?.bigint(0n, U64) ?? 0n }
    case 'hex':
      return { form: 'bytes', bytes: argument.hex() }
    case 'local':
      return { form, bytes: argument.integer(0, 65536) }
    default: {
      const type = fields.need('type').oneOf(ELEMENT_TYPES)
      const bytes = new Uint8Array(bytesOf(type))
      const bits = form === 'bits' ? argument.bits(bytes.length * 8) : readElement(argument, type)
      writeBits(new DataView(bytes.buffer), 0, bytesOf(type), bits)
      return { form: 'bytes', bytes }
    }
  }
}

function readKernarg(node: Node | undefined): Dispatch['kernarg'] {
  const fields = node?.object(['address', 'hex'])
  return fields && { address: fields.get('address')?.bigint(0n, U64), bytes: fields.need('hex').hex() }
}

function readDescriptor(node: Node | undefined): RawDescriptor | undefined {
  const fields = node?.object(['rsrc1', 'rsrc2', 'rsrc3', 'properties', 'lds', 'scratch'])
  const word = (key: string, most = U32): number => fields?.get(key)?.integer(0, most) ?? 0
  return (
    fields && {
      rsrc1: word('rsrc1'),
      rsrc2: word('rsrc2'),
      rsrc3: word('rsrc3'),
      properties: word('properties', 0xffff),
      lds: word('lds', 65536),
      scratch: word('scratch'),
    }
  )
}

function readWave(node: Node, target: Target): BareWave {
  const fields = node.object(['size', ...Object.keys(SPECIALS), 'sgpr', 'vgpr', 'lds'])
  const size = fields.get('size')?.integer(1, 64) ?? target.waveSize
  if (size !== target.waveSize) fields.get('size')?.fail(`${target.waveSize}, the wave size of ${target.name}`)
  return {
    form: 'wave',
    size,
    exec: fields.get('exec')?.bits(size) ?? (1n << BigInt(size)) - 1n,
    vcc: fields.get('vcc')?.bits(64) ?? 0n,
    scc: fields.get('scc')?.integer(0, 1) ?? 0,
    m0: Number(fields.get('m0')?.bits(32) ?? 0n),
    mode: Number(fields.get('mode')?.bits(32) ?? BigInt(DEFAULT_MODE)),
    sgprs: readScalars(fields.get('sgpr'), target),
    vgprs: readVectors(fields.get('vgpr'), target, size),
    lds: fields.get('lds')?.object(['hex']).need('hex').hex(),
  }
}

function readScalars(node: Node | undefined, target: Target): ReadonlyMap<number, number> {
  const registers = new Map<number, number>()
  for (const [name, value] of node?.members() ?? []) {
    const { first, count } = registersOf(value, name, 'sgpr', target)
    const bits = value.bits(count * 32)
    for (let i = 0; i < count; i++) put(registers, first + i, dword(bits, i), value)
  }
  return registers
}

function readVectors(node: Node | undefined, target: Target, size: number): ReadonlyMap<number, Uint32Array> {
  const registers = new Map<number, Uint32Array>()
  for (const [name, value] of node?.members() ?? []) {
    const { first, count } = registersOf(value, name, 'vgpr', target)
    const lanes = readLanes(value, count * 32, size)
    for (let i = 0; i < count; i++)
      put(
        registers,
        first + i,
        Uint32Array.from(lanes, (bits) => dword(bits, i)),
        value,
      )
  }
  return registers
}

/** One value for every lane, or a list from lane 0 on; missing lanes are 0. */
function readLanes(node: Node, bits: number, size: number): bigint[] {
  if (!Array.isArray(node.value)) return new Array<bigint>(size).fill(node.bits(bits))
  const list = node.list().map((lane) => lane.bits(bits))
  if (list.length > size) node.fail(`at most ${size} lanes`)
  return [...list, ...new Array<bigint>(size - list.length).fill(0n)]
}

function put<T>(registers: Map<number, T>, register: number, value: T, node: Node): void {
  if (registers.has(register)) throw new JobError(`${node.path} sets a register that another key has set`, node.path)
  registers.set(register, value)
}

const dword = (bits: bigint, i: number): number => Number((bits >> BigInt(32 * i)) & 0xffffffffn)

function registersOf(node: Node, name: string, form: 'sgpr' | 'vgpr', target: Target): { first: number; count: number } {
  const place = parseRegister(name, target)
  if (typeof place === 'string') throw new JobError(`unknown register ${node.path}; expected ${place}`, node.path)
  if (place.form === form) return place as { form: typeof form; name: string; first: number; count: number }
  throw new JobError(`${node.path} is no ${form === 'sgpr' ? 'scalar' : 'vector'} register`, node.path)
}

// --- what comes back

function readPlace(node: Node, name: string, target: Target, buffers: ReadonlyMap<string, Buffer>): Place {
  const buffer = buffers.get(name)
  if (buffer !== undefined) return { form: 'buffer', name, type: buffer.type, length: buffer.length }
  const place = parseRegister(name, target)
  if (typeof place !== 'string') return place
  const near = nearest(name, [...buffers.keys(), ...Object.keys(SPECIALS), 'lds'])
  throw new JobError(
    `${node.path}: ${JSON.stringify(name)} is unknown; ${near === undefined ? `expected ${place}` : `did you mean ${near}?`}`,
    node.path,
  )
}

function readUlps(node: Node | undefined, place: (node: Node, name: string) => Place): ReadonlyMap<string, number> {
  return new Map(
    [...(node?.members() ?? [])].map(([name, value]) => {
      const bits = bitsOfPlace(place(value, name))
      if (bits !== 32 && bits !== 64) value.fail('nothing here: only registers of 32 or 64 bits are compared by ulp (buffers have compare)')
      return [name, value.number() >= 0 ? value.number() : value.fail('a number from 0 on')]
    }),
  )
}

function readExpectation(node: Node, place: Place, target: Target, ulps: ReadonlyMap<string, number>, anyNan: boolean): Expectation {
  if (place.form === 'buffer' || place.form === 'lds') return readExpectedBytes(node, place, anyNan)
  const ulp = ulps.get(place.name)
  const comparison: Comparison = ulp === undefined ? { ...EXACT, anyNan } : { ...EXACT, how: 'ulp', ulp, anyNan }
  const bits = bitsOfPlace(place)
  const read = (value: Node): bigint => (bits === 1 ? value.bigint(0n, 1n) : value.bits(bits))
  if (!Array.isArray(node.value)) return { place, want: { form: 'value', value: read(node) }, comparison }
  if (place.form !== 'vgpr') node.fail('one value, for this register has no lanes')
  const lanes = node.list().map((lane) => (lane.value === null ? null : read(lane)))
  if (lanes.length > target.waveSize) node.fail(`at most ${target.waveSize} lanes`)
  return { place, want: { form: 'lanes', lanes }, comparison }
}

function readExpectedBytes(node: Node, place: Place & { form: 'buffer' | 'lds' }, anyNan: boolean): Expectation {
  const fields = node.object(['file', 'hex', 'fnv1a64', 'sample', 'compare'])
  const type = place.form === 'buffer' ? place.type : 'u8'
  const want = readWant(fields, place)
  const compare = fields.get('compare')
  const comparison = compare === undefined ? EXACT : parseComparison(compare.string())
  if (comparison === undefined) return node.fail('compare to be "exact", "ulp N" or "abs A rel R"')
  if (comparison.how === 'ulp' && !isFloatType(type)) compare!.fail(`exact or abs A rel R, for ${type} has no units in the last place`)
  if (comparison.how !== 'exact' && want.form === 'fnv1a64') compare!.fail('exact, for a hash agrees or does not')
  return { place, want, comparison: { ...comparison, anyNan } }
}

function readWant(fields: Fields, place: Place & { form: 'buffer' | 'lds' }): Want {
  const [form, want] = fields.exactlyOne(['file', 'hex', 'fnv1a64', 'sample'])
  switch (form) {
    case 'file':
      return { form, file: want.string() }
    case 'hex': {
      const bytes = want.hex()
      return { form: 'bytes', bytes: place.form === 'buffer' ? sized(want, bytes, bytesOf(place.type) * place.length) : bytes }
    }
    case 'fnv1a64':
      if (!/^[0-9a-fA-F]{16}$/.test(want.string())) want.fail('16 hexadecimal digits')
      return { form, digits: want.string().toLowerCase() }
    default: {
      const sample = want.object(['file', 'stride', 'count'])
      const stride = sample.need('stride').integer(1, U32)
      const count = sample.need('count').integer(0, U32)
      const length = place.form === 'buffer' ? place.length : 65536
      if (count > 0 && (count - 1) * stride >= length) want.fail(`a sample inside the buffer's ${length} elements`)
      return { form, file: sample.need('file').string(), stride, count }
    }
  }
}
