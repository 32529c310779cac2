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
  i32LtS: 0x48,
  i32LtU: 0x49,
  i32GtU: 0x4b,
  i32LeU: 0x4d,
  i32GeS: 0x4e,
  i32GeU: 0x4f,
  i64Eqz: 0x50,
  i64Eq: 0x51,
  i64Ne: 0x52,
  i64LtS: 0x53,
  i64LtU: 0x54,
  i64GtS: 0x55,
  i64GtU: 0x56,
  i64GeU: 0x5a,
  i32Ctz: 0x68,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i32Mul: 0x6c,
  i32DivU: 0x6e,
  i32And: 0x71,
  i32Or: 0x72,
  i32Xor: 0x73,
  i32Shl: 0x74,
  i32ShrS: 0x75,
  i32ShrU: 0x76,
  i64Ctz: 0x7a,
  i64Add: 0x7c,
  i64Sub: 0x7d,
  i64Mul: 0x7e,
  i64And: 0x83,
  i64Or: 0x84,
  i64Xor: 0x85,
  i64Shl: 0x86,
  i64ShrS: 0x87,
  i64ShrU: 0x88,
  i32WrapI64: 0xa7,
  i64ExtendI32S: 0xac,
  i64ExtendI32U: 0xad,
} as const

/** Opcodes behind the 0xfc prefix, with the numbers of the memories. */
export const BULK = { copy: [10, 0, 0], fill: [11, 0] } as const

/** Opcodes behind the 0xfd prefix. */
export const SIMD = {
  load: 0,
  load16x4S: 3,
  load16x4U: 4,
  load32Splat: 9,
  store: 11,
  const: 12,
  shuffle: 13,
  swizzle: 14,
  i32x4Splat: 17,
  i64x2Splat: 18,
  i32x4ExtractLane: 27,
  i32x4ReplaceLane: 28,
  i32x4Eq: 55,
  i32x4Ne: 56,
  i32x4LtU: 58,
  i32x4GtS: 59,
  i32x4GtU: 60,
  i32x4GeU: 64,
  f32x4Eq: 65,
  f32x4Ne: 66,
  f32x4Lt: 67,
  f32x4Gt: 68,
  f32x4Le: 69,
  f32x4Ge: 70,
  f64x2Ne: 72,
  not: 77,
  and: 78,
  andnot: 79,
  or: 80,
  xor: 81,
  bitselect: 82,
  anyTrue: 83,
  load32Lane: 86,
  load64Lane: 87,
  store8Lane: 88,
  store16Lane: 89,
  store32Lane: 90,
  store64Lane: 91,
  load32Zero: 92,
  load64Zero: 93,
  i16x8ExtendLowS: 135,
  i16x8ExtendLowU: 137,
  f32x4Ceil: 103,
  f32x4Floor: 104,
  f32x4Trunc: 105,
  f32x4Nearest: 106,
  i32x4AllTrue: 163,
  i32x4Bitmask: 164,
  i32x4ExtendLowS: 167,
  i32x4ExtendLowU: 169,
  i32x4Shl: 171,
  i32x4ShrS: 172,
  i32x4ShrU: 173,
  i32x4Add: 174,
  i32x4Sub: 177,
  i32x4Mul: 181,
  i32x4MinS: 182,
  i32x4MinU: 183,
  i32x4MaxS: 184,
  i32x4MaxU: 185,
  i64x2Bitmask: 196,
  i64x2Add: 206,
  i64x2Mul: 213,
  f32x4Abs: 224,
  f32x4Sqrt: 227,
  f32x4Add: 228,
  f32x4Sub: 229,
  f32x4Mul: 230,
  f32x4Div: 231,
  f32x4Pmin: 234,
  f32x4Pmax: 235,
} as const

/** Bytes that a method of {@link Code} writes at most, but for ranges: it makes so much room. */
const ROOM = 24

/** Bytes under construction, of a function's code mostly. Methods append; labels are counted by the caller. */
export class Code {
  #buffer: Uint8Array
  #length = 0
  /** Where room ends. */
  #full: number

  /** @param size bytes that are likely to be enough */
  constructor(size = 512) {
    this.#buffer = new Uint8Array(size)
    this.#full = size - ROOM
  }

  get length(): number {
    return this.#length
  }
  get view(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }
  #grow(bytes: number): void {
    const larger = new Uint8Array(Math.max(4 * this.#buffer.length, this.#length + bytes + 2 * ROOM))
    larger.set(this.view)
    this.#buffer = larger
    this.#full = larger.length - ROOM
  }

  // These are called by the ten thousand, before anything is optimized: they call nothing themselves where numbers are small.

  /** Up to four bytes, by name: a list for each call would be half of the garbage that translating makes. */
  op(a: number, b?: number, c?: number, d?: number): this {
    if (this.#length > this.#full) this.#grow(0)
    const to = this.#buffer
    let at = this.#length
    to[at++] = a
    if (b !== undefined) {
      to[at++] = b
      if (c !== undefined) to[at++] = c
      if (d !== undefined) to[at++] = d
    }
    this.#length = at
    return this
  }
  u32(value: number): this {
    if (this.#length > this.#full) this.#grow(0)
    if (value < 128) this.#buffer[this.#length++] = value
    else this.#length = putUnsigned(this.#buffer, this.#length, value)
    return this
  }
  get(local: number): this {
    if (local > 127) return this.op(OP.localGet).u32(local)
    if (this.#length > this.#full) this.#grow(0)
    this.#buffer[this.#length++] = OP.localGet
    this.#buffer[this.#length++] = local
    return this
  }
  set(local: number): this {
    if (local > 127) return this.op(OP.localSet).u32(local)
    if (this.#length > this.#full) this.#grow(0)
    this.#buffer[this.#length++] = OP.localSet
    this.#buffer[this.#length++] = local
    return this
  }
  tee(local: number): this {
    return this.op(OP.localTee).u32(local)
  }
  i32(value: number): this {
    this.op(OP.i32Const)
    this.#length = putSigned(this.#buffer, this.#length, value)
    return this
  }
  i64(value: bigint): this {
    let rest = BigInt.asIntN(64, value)
    this.op(OP.i64Const)
    for (; rest < -64n || rest > 63n; rest >>= 7n) this.op(Number(rest & 127n) | 128)
    return this.op(Number(rest & 127n))
  }
  /** A vector of four dwords. */
  v128(a: number, b = a, c = a, d = a): this {
    this.op(0xfd, SIMD.const)
    const to = this.#buffer
    let at = this.#length
    for (let i = 0; i < 4; i++) {
      const word = i === 0 ? a : i === 1 ? b : i === 2 ? c : d
      to[at] = word
      to[at + 1] = word >>> 8
      to[at + 2] = word >>> 16
      to[at + 3] = word >>> 24
      at += 4
    }
    this.#length = at
    return this
  }
  simd(opcode: number): this {
    return opcode < 128 ? this.op(0xfd, opcode) : this.op(0xfd, (opcode & 127) | 128, opcode >>> 7)
  }
  bulk(bytes: readonly number[]): this {
    return this.op(0xfc).raw(bytes)
  }
  /** A load or store with a constant offset; alignment is given as 1, which costs nothing. */
  memory(opcode: number, offset: number): this {
    return this.op(opcode, 0).u32(offset)
  }
  simdMemory(opcode: number, offset: number): this {
    return this.op(0xfd, opcode, 0).u32(offset)
  }
  block(opcode: number, type: number = EMPTY): this {
    return this.op(opcode, type)
  }
  end(): this {
    return this.op(OP.end)
  }
  /** Picks four of the eight dwords of two vectors. */
  shuffleDwords(lanes: readonly number[]): this {
    this.simd(SIMD.shuffle)
    const to = this.#buffer
    let at = this.#length
    for (let i = 0; i < 4; i++) {
      const first = 4 * lanes[i]!
      to[at] = first
      to[at + 1] = first + 1
      to[at + 2] = first + 2
      to[at + 3] = first + 3
      at += 4
    }
    this.#length = at
    return this
  }
  /** Bytes as they are. They are few, mostly: one by one is quicker than a view of them. */
  raw(bytes: ArrayLike<number>, start = 0, end = bytes.length): this {
    const count = end - start
    if (this.#length + count > this.#full) this.#grow(count)
    const to = this.#buffer
    let at = this.#length
    if (count > LONG && bytes instanceof Uint8Array) {
      to.set(bytes.subarray(start, end), at)
      at += count
    } else for (let from = start; from < end; from++) to[at++] = bytes[from]!
    this.#length = at
    return this
  }
  append(other: Code): this {
    return this.raw(other.#buffer, 0, other.#length)
  }
}

/** Bytes that are rather copied at once. */
const LONG = 32

/** Unsigned LEB128 of 32 bits; returns where it ends. */
function putUnsigned(to: Uint8Array, start: number, value: number): number {
  let at = start
  let rest = value >>> 0
  for (; rest > 127; rest >>>= 7) to[at++] = (rest & 127) | 128
  to[at] = rest
  return at + 1
}
/** Bytes of an unsigned LEB128. */
function unsignedBytes(value: number): number {
  let bytes = 1
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes++
  return bytes
}
/** Signed LEB128 of 32 bits. */
function putSigned(to: Uint8Array, start: number, value: number): number {
  let at = start
  let rest = value | 0
  for (; rest < -64 || rest > 63; rest >>= 7) to[at++] = (rest & 127) | 128
  to[at] = rest & 127
  return at + 1
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
  readonly exports: ReadonlyMap<string, { readonly kind: ExternKind; readonly index: number }>
  /** Limits of its imported memory as they are written; those of any memory where it has one of its own. */
  readonly memoryLimits: Uint8Array
  /** One of its own functions, numbered from 0. Read when it is asked for: few of them ever are. */
  body(number: number): FunctionBody
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
    const { bytes } = this
    let at = this.at
    let byte = bytes[at++]!
    let value = byte & 127
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++]!
      value |= (byte & 127) << shift
    }
    this.at = at
    return value >>> 0
  }
  skipLeb(): void {
    while (this.byte() & 128);
  }
  valueTypes(): readonly number[] {
    const list: number[] = []
    for (let left = this.u32(); left > 0; left--) list.push(this.byte())
    return list
  }
  skipText(): void {
    const length = this.u32()
    this.at += length
  }
  limits(): void {
    const flags = this.byte()
    this.skipLeb()
    if (flags & 1) this.skipLeb()
  }
}

export function parseModule(bytes: Uint8Array): ParsedModule {
  const reader = new Reader(bytes, 8)
  const types: FunctionType[] = []
  let declared = new Uint32Array()
  let importedFunctions = 0
  let memoryLimits = Uint8Array.of(0, 1)
  let starts = new Uint32Array()
  const exports = new Map<string, { kind: ExternKind; index: number }>()
  while (reader.at < bytes.length) {
    const id = reader.byte()
    const end = reader.u32() + reader.at
    if (id === 1) {
      for (let left = reader.u32(); left > 0; left--) {
        reader.byte()
        types.push({ parameters: reader.valueTypes(), results: reader.valueTypes() })
      }
    } else if (id === 2) {
      for (let left = reader.u32(); left > 0; left--) {
        reader.skipText()
        reader.skipText()
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
      }
    } else if (id === 3) {
      declared = new Uint32Array(reader.u32())
      for (let i = 0; i < declared.length; i++) declared[i] = reader.u32()
    } else if (id === 7) {
      const names = asciiOf(bytes, reader.at, end)
      const start = reader.at
      for (let left = reader.u32(); left > 0; left--) {
        const length = reader.u32()
        const from = reader.at - start
        reader.at += length
        exports.set(names.slice(from, from + length), { kind: KINDS[reader.byte()]!, index: reader.u32() })
      }
    } else if (id === 10) {
      starts = new Uint32Array(reader.u32())
      for (let i = 0; i < starts.length; i++) {
        starts[i] = reader.at
        reader.at = reader.u32() + reader.at
      }
    }
    reader.at = end
  }
  const body = (number: number): FunctionBody => {
    reader.at = starts[number]!
    const end = reader.u32() + reader.at - 1
    const locals: number[] = []
    for (let groups = reader.u32(); groups > 0; groups--) {
      const count = reader.u32()
      const type = reader.byte()
      for (let i = 0; i < count; i++) locals.push(type)
    }
    return { type: types[declared[number]!]!, locals, start: reader.at, end }
  }
  return { bytes, importedFunctions, exports, memoryLimits, body }
}

/** Bytes as text, one character each: the core's own names are ASCII. Node's decoder of such text takes a millisecond to be made. */
function asciiOf(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end; at += AT_ONCE)
    text += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, Math.min(at + AT_ONCE, end)))
  return text
}
/** Arguments that a call surely can have. */
const AT_ONCE = 4096

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
      for (let labels = reader.u32(); labels >= 0; labels--) reader.u32()
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
    } else if (op === 0x1c) reader.valueTypes()
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
  readonly #imports: ((to: Code) => void)[] = []
  #functions: { type: number; locals: readonly number[]; code: Code; name: string | undefined }[] = []
  readonly #functionImports = new Map<string, number>()
  readonly #globalImports = new Map<string, number>()

  #type({ parameters, results }: FunctionType): number {
    const key = `${parameters.join()}:${results.join()}`
    const found = this.#types.indexOf(key)
    return found >= 0 ? found : this.#types.push(key) - 1
  }
  /** @param limits the memory's limits as another module's import states them */
  importMemory(limits: Uint8Array): void {
    this.#imports.push((to) => {
      name(to, 'memory')
      to.op(2)
      to.raw(limits)
    })
  }
  /** Index of an imported function. All are imported before functions are added. */
  imported(name: string, type: FunctionType): number {
    const known = this.#functionImports.get(name)
    if (known !== undefined) return known
    const index = this.#type(type)
    return this.#import(this.#functionImports, name, (to) => {
      to.op(0)
      to.u32(index)
    })
  }
  /** Index of an imported mutable global; the module's own are imported too, so that indices are known at once. */
  importedGlobal(name: string, valueType: number): number {
    return this.#import(this.#globalImports, name, (to) => to.raw([3, valueType, 1]))
  }
  #import(known: Map<string, number>, field: string, description: (to: Code) => void): number {
    const index = known.get(field)
    if (index !== undefined) return index
    this.#imports.push((to) => {
      name(to, field)
      description(to)
    })
    known.set(field, known.size)
    return known.size - 1
  }
  /** Forgets the functions for a module that has others; imports keep their indices. */
  restart(): void {
    this.#functions = []
  }
  /** Adds a function and gives its index. */
  add(type: FunctionType, locals: readonly number[], code: Code, name?: string): number {
    this.#functions.push({ type: this.#type(type), locals, code, name })
    return this.#functionImports.size + this.#functions.length - 1
  }

  bytes(): Uint8Array<ArrayBuffer> {
    let size = 1024
    for (const { locals, code } of this.#functions) size += 2 * locals.length + code.length + 16
    const to = new Code(size)
    to.raw([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
    section(to, 1, this.#types, (part, key) => {
      part.op(0x60)
      for (const types of key.split(':').map((list) => (list === '' ? [] : list.split(',').map(Number)))) {
        part.u32(types.length)
        part.raw(types)
      }
    })
    section(to, 2, this.#imports, (part, write) => write(part))
    section(to, 3, this.#functions, (part, f) => part.u32(f.type))
    const named = this.#functions
      .map((f, i) => [f.name, this.#functionImports.size + i] as const)
      .filter(([exported]) => exported !== undefined)
    section(to, 7, named, (part, [exported, index]) => {
      text(part, exported!)
      part.op(0)
      part.u32(index)
    })
    section(
      to,
      10,
      this.#functions,
      (part, { locals, code }) => {
        const groups = locals.length
        part.u32(unsignedBytes(groups) + 2 * groups + code.length + 1).u32(groups)
        for (const type of locals) part.op(1, type)
        part.append(code).op(OP.end)
      },
      size,
    )
    return new Uint8Array(to.view)
  }
}

/** @param size bytes that it is likely to have */
function section<T>(to: Code, id: number, items: readonly T[], write: (part: Code, item: T) => void, size?: number): void {
  const part = new Code(size)
  part.u32(items.length)
  for (const item of items) write(part, item)
  to.op(id)
  to.u32(part.length)
  to.append(part)
}
/** A name: all are ASCII, for they are the core's. */
function text(to: Code, value: string): void {
  to.u32(value.length)
  for (let i = 0; i < value.length; i++) to.op(value.charCodeAt(i))
}
/** The two names of an import; all come from the core. */
function name(to: Code, field: string): void {
  text(to, 'core')
  text(to, field)
}
