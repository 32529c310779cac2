/**
 * Reading and writing WebAssembly, as far as joining function bodies needs it: sections, LEB128, and where each instruction ends.
 * Source: WebAssembly Core Specification 2.0, "Binary Format". Knows nothing of GPUs.
 */

export const I32 = 0x7f
export const I64 = 0x7e
export const F32 = 0x7d
export const F64 = 0x7c
export const V128 = 0x7b
const EMPTY = 0x40

/** Opcodes that the translator writes itself; everything else is spliced. */
export const OP = {
  unreachable: 0x00,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  brTable: 0x0e,
  return: 0x0f,
  call: 0x10,
  callIndirect: 0x11,
  drop: 0x1a,
  select: 0x1b,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  i32Load: 0x28,
  i64Load: 0x29,
  i32Load8S: 0x2c,
  i32Load8U: 0x2d,
  i32Load16S: 0x2e,
  i32Load16U: 0x2f,
  i32Store: 0x36,
  i64Store: 0x37,
  i32Const: 0x41,
  i64Const: 0x42,
  i32Eqz: 0x45,
  i32Eq: 0x46,
  i32Ne: 0x47,
  i32LtU: 0x49,
  i32GtU: 0x4b,
  i32LeU: 0x4d,
  i32GeU: 0x4f,
  i64Eqz: 0x50,
  i64Ne: 0x52,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i32Mul: 0x6c,
  i32And: 0x71,
  i32Or: 0x72,
  i32Xor: 0x73,
  i32Shl: 0x74,
  i32ShrU: 0x76,
  i64Add: 0x7c,
  i64Sub: 0x7d,
  i64And: 0x83,
  i64Or: 0x84,
  i64Xor: 0x85,
  i64Shl: 0x86,
  i64ShrU: 0x88,
  i32WrapI64: 0xa7,
  i64ExtendI32U: 0xad,
} as const

/** Opcodes behind the 0xfd prefix. */
export const SIMD = {
  load: 0,
  store: 11,
  const: 12,
  shuffle: 13,
  i32x4Splat: 17,
  i64x2Splat: 18,
  i32x4ExtractLane: 27,
  i32x4ReplaceLane: 28,
  i32x4Eq: 55,
  i32x4Ne: 56,
  i32x4LtU: 58,
  i32x4GtU: 60,
  f32x4Eq: 65,
  f32x4Ne: 66,
  f32x4Lt: 67,
  f64x2Ne: 72,
  not: 77,
  and: 78,
  andnot: 79,
  or: 80,
  xor: 81,
  bitselect: 82,
  anyTrue: 83,
  i32x4AllTrue: 163,
  i32x4Bitmask: 164,
  i32x4Shl: 171,
  i32x4Add: 174,
  i32x4Sub: 177,
  i32x4MinU: 183,
  i64x2Bitmask: 196,
} as const

function unsigned(value: number): number[] {
  const bytes: number[] = []
  let rest = value >>> 0
  do {
    const low = rest & 127
    rest >>>= 7
    bytes.push(rest ? low | 128 : low)
  } while (rest)
  return bytes
}

function signed(value: bigint): number[] {
  const bytes: number[] = []
  for (let rest = value; ; ) {
    const low = Number(rest & 127n)
    rest >>= 7n
    if ((rest === 0n && !(low & 64)) || (rest === -1n && low & 64)) return [...bytes, low]
    bytes.push(low | 128)
  }
}

/** The code of one function under construction. Methods append; labels are counted by the caller. */
export class Code {
  readonly bytes: number[] = []

  op(...opcodes: number[]): this {
    this.bytes.push(...opcodes)
    return this
  }
  u32(value: number): this {
    this.bytes.push(...unsigned(value))
    return this
  }
  get(local: number): this {
    return this.op(OP.localGet).u32(local)
  }
  set(local: number): this {
    return this.op(OP.localSet).u32(local)
  }
  tee(local: number): this {
    return this.op(OP.localTee).u32(local)
  }
  i32(value: number): this {
    this.bytes.push(OP.i32Const, ...signed(BigInt(value | 0)))
    return this
  }
  i64(value: bigint): this {
    this.bytes.push(OP.i64Const, ...signed(BigInt.asIntN(64, value)))
    return this
  }
  /** A vector of four dwords. */
  v128(a: number, b = a, c = a, d = a): this {
    this.simd(SIMD.const)
    for (const word of [a, b, c, d]) this.bytes.push(word & 255, (word >>> 8) & 255, (word >>> 16) & 255, word >>> 24)
    return this
  }
  simd(opcode: number): this {
    return this.op(0xfd).u32(opcode)
  }
  lane(opcode: number, lane: number): this {
    return this.simd(opcode).op(lane)
  }
  /** A load or store with a constant offset; alignment is given as 1, which costs nothing. */
  memory(opcode: number, offset: number): this {
    return this.op(opcode, 0).u32(offset)
  }
  simdMemory(opcode: number, offset: number): this {
    return this.simd(opcode).op(0).u32(offset)
  }
  block(opcode: number, type: number = EMPTY): this {
    return this.op(opcode, type)
  }
  end(): this {
    return this.op(OP.end)
  }
  append(other: Code): this {
    for (const byte of other.bytes) this.bytes.push(byte)
    return this
  }
}

export interface FunctionType {
  readonly parameters: readonly number[]
  readonly results: readonly number[]
}

/** What a module imports or exports. */
export type ExternKind = 'function' | 'table' | 'memory' | 'global'

export interface FunctionBody {
  readonly type: FunctionType
  /** Types of the locals behind the parameters. */
  readonly locals: readonly number[]
  /** Range of its instructions in the module's bytes, the closing `end` left out. */
  readonly start: number
  readonly end: number
}

/** A parsed module: what splicing needs of it. */
export interface ParsedModule {
  readonly bytes: Uint8Array
  readonly importedFunctions: number
  readonly functions: readonly FunctionBody[]
  readonly exports: ReadonlyMap<string, { readonly kind: ExternKind; readonly index: number }>
  /** Limits of its imported memory as they are written; those of any memory where it has one of its own. */
  readonly memoryLimits: Uint8Array
}

const KINDS: readonly ExternKind[] = ['function', 'table', 'memory', 'global']

class Reader {
  constructor(
    readonly bytes: Uint8Array,
    public at: number,
  ) {}
  byte(): number {
    return this.bytes[this.at++]!
  }
  u32(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte()
      value |= (byte & 127) << shift
      if (byte < 128) return value >>> 0
    }
  }
  skipLeb(): void {
    while (this.byte() & 128);
  }
  list<T>(item: () => T): T[] {
    return Array.from({ length: this.u32() }, item)
  }
  text(): string {
    const length = this.u32()
    this.at += length
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at))
  }
  limits(): void {
    const flags = this.byte()
    this.skipLeb()
    if (flags & 1) this.skipLeb()
  }
}

export function parseModule(bytes: Uint8Array): ParsedModule {
  const reader = new Reader(bytes, 8)
  let types: FunctionType[] = []
  let declared: number[] = []
  let importedFunctions = 0
  let memoryLimits = Uint8Array.of(0, 1)
  const functions: FunctionBody[] = []
  const exports = new Map<string, { kind: ExternKind; index: number }>()
  while (reader.at < bytes.length) {
    const id = reader.byte()
    const end = reader.u32() + reader.at
    if (id === 1) {
      types = reader.list(() => {
        reader.byte()
        return { parameters: reader.list(() => reader.byte()), results: reader.list(() => reader.byte()) }
      })
    } else if (id === 2) {
      reader.list(() => {
        reader.text()
        reader.text()
        const kind = KINDS[reader.byte()]
        if (kind === 'function') {
          reader.u32()
          importedFunctions++
        } else if (kind === 'global') reader.at += 2
        else {
          if (kind === 'table') reader.byte()
          const start = reader.at
          reader.limits()
          if (kind === 'memory') memoryLimits = bytes.slice(start, reader.at)
        }
      })
    } else if (id === 3) declared = reader.list(() => reader.u32())
    else if (id === 7) {
      reader.list(() => exports.set(reader.text(), { kind: KINDS[reader.byte()]!, index: reader.u32() }))
    } else if (id === 10) {
      reader.list(() => {
        const bodyEnd = reader.u32() + reader.at
        const locals = reader.list(() => ({ count: reader.u32(), type: reader.byte() })).flatMap((g) => Array<number>(g.count).fill(g.type))
        functions.push({ type: types[declared[functions.length]!]!, locals, start: reader.at, end: bodyEnd - 1 })
        reader.at = bodyEnd
      })
    }
    reader.at = end
  }
  return { bytes, importedFunctions, functions, exports, memoryLimits }
}

/** One instruction of a body. `index` is its local, global, function or label; blocks tell their type by their bytes. */
export interface Token {
  readonly op: number
  /** Sub-opcode behind the prefixes 0xfc, 0xfd and 0xfe. */
  readonly sub: number
  readonly index: number
  readonly start: number
  readonly end: number
}

/** Walks over the instructions of a body. @throws {Error} at an opcode that Lanewise's own core never contains */
export function tokens(module: ParsedModule, body: FunctionBody): Token[] {
  const reader = new Reader(module.bytes, body.start)
  const list: Token[] = []
  while (reader.at < body.end) {
    const start = reader.at
    const op = reader.byte()
    let sub = 0
    let index = 0
    if ((op >= 0x20 && op <= 0x24) || op === OP.br || op === OP.brIf || op === OP.call) index = reader.u32()
    else if (op === OP.block || op === OP.loop || op === OP.if) reader.byte()
    else if (op >= 0x28 && op <= 0x3e) {
      reader.skipLeb()
      reader.skipLeb()
    } else if (op === OP.i32Const || op === OP.i64Const) reader.skipLeb()
    else if (op === 0x43) reader.at += 4
    else if (op === 0x44) reader.at += 8
    else if (op === OP.brTable) {
      reader.list(() => reader.u32())
      reader.u32()
    } else if (op === OP.callIndirect) {
      reader.skipLeb()
      reader.skipLeb()
    } else if (op === 0xfc) {
      sub = reader.u32()
      if (sub > 7) reader.at += sub === 11 || sub === 9 ? 1 : 2 // memory.fill; memory.copy and others
    } else if (op === 0xfd) {
      sub = reader.u32()
      if (sub <= 11 || sub === 92 || sub === 93) {
        reader.skipLeb()
        reader.skipLeb()
      } else if (sub === SIMD.const || sub === SIMD.shuffle) reader.at += 16
      else if (sub >= 21 && sub <= 34) reader.at += 1
      else if (sub >= 84 && sub <= 91) {
        reader.skipLeb()
        reader.skipLeb()
        reader.at += 1
      }
    } else if (op === 0xfe) {
      sub = reader.u32()
      reader.skipLeb() // atomic.fence has one byte, all others alignment and offset
      if (sub !== 3) reader.skipLeb()
    } else if (op === 0x1c) reader.list(() => reader.byte())
    else if (op === 0x3f || op === 0x40) reader.at += 1
    else if (
      !(
        op <= 0x01 ||
        op === OP.else ||
        op === OP.end ||
        op === OP.return ||
        op === OP.drop ||
        op === OP.select ||
        (op >= 0x45 && op <= 0xc4)
      )
    )
      throw new Error(`opcode 0x${op.toString(16)} at byte ${start}: not one that the core is made of`)
    list.push({ op, sub, index, start, end: reader.at })
  }
  return list
}

/** A module under construction: types are found or added as functions are declared. */
export class ModuleBuilder {
  readonly #types: string[] = []
  readonly #imports: number[][] = []
  readonly #functions: { type: number; locals: readonly number[]; code: Code; name?: string }[] = []
  readonly #functionImports = new Map<string, number>()
  readonly #globalImports = new Map<string, number>()

  #type(type: FunctionType): number {
    const bytes = [0x60, ...vector(type.parameters.map((t) => [t])), ...vector(type.results.map((t) => [t]))].join()
    const found = this.#types.indexOf(bytes)
    return found >= 0 ? found : this.#types.push(bytes) - 1
  }
  /** Index of a function type, for call_indirect. */
  type(type: FunctionType): number {
    return this.#type(type)
  }
  /** @param limits as another module has them that imports the same memory */
  importMemory(limits: Uint8Array): void {
    this.#imports.push([...string('core'), ...string('memory'), 2, ...limits])
  }
  /** Index of an imported function. All are imported before functions are added. */
  imported(name: string, type: FunctionType): number {
    return this.#import(this.#functionImports, name, [0, ...unsigned(this.#type(type))])
  }
  /** Index of an imported mutable global. */
  importedGlobal(name: string, valueType: number): number {
    return this.#import(this.#globalImports, name, [3, valueType, 1])
  }
  /** Index of a mutable i32 of the module's own that starts as 0; it is imported too, so that indices are known at once. */
  global(name: string): number {
    return this.#import(this.#globalImports, name, [3, I32, 1])
  }
  #import(known: Map<string, number>, name: string, description: readonly number[]): number {
    const index = known.get(name)
    if (index !== undefined) return index
    this.#imports.push([...string('core'), ...string(name), ...description])
    known.set(name, known.size)
    return known.size - 1
  }
  /** Adds a function; import functions before. */
  add(type: FunctionType, locals: readonly number[], code: Code, name?: string): number {
    this.#functions.push({ type: this.#type(type), locals, code, ...(name === undefined ? {} : { name }) })
    return this.#functionImports.size + this.#functions.length - 1
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const bodies = this.#functions.map(({ locals, code }) => {
      const body = vector(locals.map((t) => [1, t]))
      return concat([[...unsigned(body.length + code.bytes.length + 1), ...body], code.bytes, [OP.end]])
    })
    const exports = this.#functions.flatMap(({ name }, i) =>
      name ? [[...string(name), 0, ...unsigned(this.#functionImports.size + i)]] : [],
    )
    return new Uint8Array(
      concat([
        [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
        section(1, vector(this.#types.map((t) => t.split(',').map(Number)))),
        section(2, vector(this.#imports)),
        section(3, vector(this.#functions.map((f) => unsigned(f.type)))),
        section(7, vector(exports)),
        section(10, vector(bodies)),
      ]),
    )
  }
}

function concat(parts: readonly (readonly number[])[]): number[] {
  const all: number[] = []
  for (const part of parts) for (const byte of part) all.push(byte)
  return all
}
const vector = (items: readonly (readonly number[])[]): number[] => concat([unsigned(items.length), ...items])
const string = (text: string): number[] => vector([...new TextEncoder().encode(text)].map((b) => [b]))
const section = (id: number, body: readonly number[]): number[] => concat([[id], unsigned(body.length), body])
