/** The core's own functions as material: bodies that are spliced into regions, or called where they cannot be. */
import { type Constant, fold, type Item, isToken, isValue } from './fold.ts'
import { type Code, F32, type FunctionBody, I32, I64, OP, type ParsedModule, parseModule, SIMD, type Token, tokens, V128 } from './wasm.ts'

/** Tokens of a body at most, callees included, for it to be spliced; a larger one is called. */
const SPLICE_LIMIT = 700
/** Functions that kernels call for rare operands: those stay calls. */
const RARE: ReadonlySet<string | undefined> = new Set([
  'fmaRounded',
  'scaleScalar',
  'scaleTerm',
  'v_div_fmas_f32_rounded',
  'v_ldexp_f32_rounded',
])

/** What splicing needs of the function that it splices into. */
export interface Locals {
  /** A local for the time of one instruction. */
  temporary(type: number): number
  /** Index in the new module of one of the core's exports. */
  functionImport(name: string): number
  globalImport(name: string): number
  /** A local that holds a v128 constant, where that is better than the constant itself. */
  pooled?(constant: VectorConstant): number | undefined
}

/** An argument: a local, an i32 constant, or a dword in all four lanes of a v128. */
export type Argument = { readonly local: number } | { readonly constant: number } | { readonly lanes: number }

/** A vector constant: a dword that is in all four lanes, or its bytes as text. */
export type VectorConstant = number | string

/** The constant that 16 bytes are. */
export function vectorConstant(bytes: Uint8Array): VectorConstant {
  for (let i = 4; i < 16; i++) if (bytes[i] !== bytes[i & 3]) return bytes.join()
  return bytes[0]! | (bytes[1]! << 8) | (bytes[2]! << 16) | (bytes[3]! << 24)
}

interface Template {
  readonly body: FunctionBody
  readonly tokens: readonly Token[]
}

/** What a piece of a body is: bytes as they are, an opcode, or something whose operand has to be changed. */
const PIECE = {
  /** Bytes of the core, from and to. */
  raw: 0,
  /** Number of a constant of the body. */
  value: 1,
  get: 2,
  /** Opcode, and local. */
  set: 3,
  /** Function. */
  call: 4,
  /** Where a vector constant stands in the core, and its number. */
  constant: 5,
  /** Opcode, and global. */
  global: 6,
  /** Opcode, and the type of a block. */
  open: 7,
  close: 8,
  /** Opcode, and label. */
  branch: 9,
  leave: 10,
  /** Opcode. */
  bare: 11,
} as const

/** Numbers that a piece is written as: what it is, and two operands. */
const STRIDE = 3

/** A body ready to be written: with constants for some parameters, perhaps. */
interface Folded {
  readonly body: FunctionBody
  readonly pieces: readonly number[]
  readonly values: readonly Constant[]
  readonly constants: readonly VectorConstant[]
  /** Parameters that the body assigns. */
  readonly assigned: ReadonlySet<number>
  /** Locals that straight code reads before it writes them. */
  readonly unset: ReadonlySet<number>
  /** Whether there is control flow: any local may be read before it is written, and there may be ways out. */
  readonly branches: boolean
  /** Whether it calls functions. */
  readonly calls: boolean
}

export class Kernels {
  readonly #module: ParsedModule
  readonly #bodies: (FunctionBody | undefined)[] = []
  readonly #templates = new Map<number, Template>()
  readonly #exportOfFunction = new Map<number, string>()
  readonly #exportOfGlobal = new Map<number, string>()
  readonly #vectors = new Map<string, boolean>()
  readonly #sizes = new Map<number, number>()
  /** Bodies as they are by function, and those with constants by function and constants. */
  readonly #whole: Folded[] = []
  readonly #folded: Map<string, Folded>[] = []

  /** @param core the bytes of the core that runs: bodies refer to its memory and globals */
  constructor(core: Uint8Array) {
    this.#module = parseModule(core)
    for (const [name, { kind, index }] of this.#module.exports) {
      if (kind === 'function') this.#exportOfFunction.set(index, name)
      if (kind === 'global') this.#exportOfGlobal.set(index, name)
    }
  }

  /** Limits of the core's memory. */
  get memoryLimits(): Uint8Array {
    return this.#module.memoryLimits
  }

  /** Whether the core exports a function of this name. */
  has(name: string): boolean {
    return this.#module.exports.get(name)?.kind === 'function'
  }

  /** Whether the core exports a function of this name, and all of its parameters are vectors. */
  takesVectors(name: string): boolean {
    let answer = this.#vectors.get(name)
    if (answer === undefined) {
      answer = this.has(name) && this.type(name).parameters.every((p) => p === V128)
      this.#vectors.set(name, answer)
    }
    return answer
  }

  type(name: string): FunctionBody['type'] {
    return this.#body(this.#index(name)).type
  }

  /** Whether a function's body can stand inside another function. */
  spliceable(name: string): boolean {
    return this.#size(this.#index(name)) <= SPLICE_LIMIT
  }

  #index(name: string): number {
    return this.#module.exports.get(name)!.index
  }

  #body(index: number): FunctionBody {
    const number = index - this.#module.importedFunctions
    this.#bodies[number] ??= this.#module.body(number)
    return this.#bodies[number]
  }

  /** Tokens of a function with all that it would pull in; infinite where that is impossible. */
  #size(index: number): number {
    return this.#sizes.get(index) ?? this.#findSize(index, [])
  }
  #findSize(index: number, callers: readonly number[]): number {
    const known = this.#sizes.get(index)
    if (known !== undefined) return known
    if (callers.includes(index) || index < this.#module.importedFunctions) return Number.POSITIVE_INFINITY
    let size = 0
    for (const token of this.#template(index).tokens) {
      size++
      if (token.op === OP.callIndirect) size = Number.POSITIVE_INFINITY
      else if (token.op === OP.call && this.#exportOfFunction.get(token.index) === 'refreshExec') size += 2
      else if (token.op === OP.call && !this.#exportOfFunction.has(token.index)) size += this.#findSize(token.index, [...callers, index])
      else if ((token.op === OP.globalGet || token.op === OP.globalSet) && !this.#exportOfGlobal.has(token.index))
        size = Number.POSITIVE_INFINITY
    }
    this.#sizes.set(index, size)
    return size
  }

  #template(index: number): Template {
    const known = this.#templates.get(index)
    if (known) return known
    const body = this.#body(index)
    const template = { body, tokens: tokens(this.#module, body) }
    this.#templates.set(index, template)
    return template
  }

  #fold(index: number, args: readonly Argument[]): Folded {
    let isWhole = true
    for (const arg of args) isWhole &&= 'local' in arg
    const whole = isWhole ? this.#whole[index] : undefined
    if (whole !== undefined) return whole
    const folded = isWhole ? this.#prepare(index, this.#template(index).tokens) : this.#foldConstants(index, args)
    if (isWhole) this.#whole[index] = folded
    return folded
  }

  #foldConstants(index: number, args: readonly Argument[]): Folded {
    let key = ''
    for (const arg of args) key += 'local' in arg ? ' ' : 'lanes' in arg ? `v${arg.lanes} ` : `${arg.constant} `
    const known = this.#folded[index]?.get(key)
    if (known !== undefined) return known
    const constants = args.map((arg) => ('local' in arg ? undefined : arg))
    const folded = this.#prepare(index, fold(this.#module.bytes, this.#template(index).tokens, constants))
    this.#folded[index] ??= new Map()
    this.#folded[index].set(key, folded)
    return folded
  }

  #prepare(index: number, items: readonly Item[]): Folded {
    const { bytes } = this.#module
    const pieces: number[] = []
    const values: Constant[] = []
    const constants: VectorConstant[] = []
    const assigned = new Set<number>()
    const written = new Set<number>()
    const unset = new Set<number>()
    let [branches, calls] = [false, false]
    for (const item of items) {
      if (isValue(item)) {
        pieces.push(PIECE.value, values.push(item.value) - 1, 0)
        continue
      }
      const { op, index: operand, start, end } = isToken(item) ? item : item.wrap
      const kind = isToken(item) ? kindOf(bytes, item) : PIECE.open
      if (kind === PIECE.raw) {
        const last = pieces.length - STRIDE
        if (pieces[last] === PIECE.raw && pieces[last + 2] === start) pieces[last + 2] = end
        else pieces.push(PIECE.raw, start, end)
      } else if (kind === PIECE.get) {
        if (!written.has(operand)) unset.add(operand)
        pieces.push(kind, operand, 0)
      } else if (kind === PIECE.set) {
        assigned.add(operand)
        written.add(operand)
        pieces.push(kind, op, operand)
      } else if (kind === PIECE.call) {
        calls = true
        pieces.push(kind, operand, 0)
      } else if (kind === PIECE.constant) {
        pieces.push(kind, start, constants.push(vectorConstant(bytes.subarray(end - 16, end))) - 1)
      } else if (kind === PIECE.open) {
        branches = true
        // In the place of an `if` whose condition is known stands a block.
        pieces.push(kind, isToken(item) ? op : OP.block, bytes[start + 1]!)
      } else {
        branches ||= kind === PIECE.branch || kind === PIECE.leave
        pieces.push(kind, op, operand)
      }
    }
    return { body: this.#body(index), pieces, values, constants, assigned, branches, calls, unset }
  }

  /** Appends a call: the body itself where it can be spliced, else a call of the core. Its result stays on the stack. */
  apply(code: Code, name: string, args: readonly Argument[], locals: Locals): void {
    const index = this.#index(name)
    if (this.#size(index) <= SPLICE_LIMIT) this.#splice(code, index, args, locals)
    else this.call(code, name, args, locals)
  }

  /** Appends a call of the core's function. */
  call(code: Code, name: string, args: readonly Argument[], locals: Locals): void {
    for (const arg of args) push(code, arg)
    code.op(OP.call).u32(locals.functionImport(name))
  }

  /** Appends a body. Where it calls functions, pushes of locals and constants are held back until it is known what takes them: calls get them as arguments. */
  #splice(code: Code, index: number, args: readonly Argument[], locals: Locals): void {
    const folded = this.#fold(index, args)
    const { body, pieces, values, constants, branches, calls } = folded
    const { bytes } = this.#module
    const map = this.#mapLocals(code, folded, args, locals)
    if (branches) code.block(OP.block, body.type.results[0] ?? 0x40)
    const held: Argument[] = []
    let depth = 0
    for (let i = 0; i < pieces.length; i += STRIDE) {
      const kind = pieces[i]!
      const a = pieces[i + 1]!
      const b = pieces[i + 2]!
      if (kind === PIECE.get || kind === PIECE.value) {
        const arg = kind === PIECE.get ? map[a]! : values[a]!
        if (calls) held.push(arg)
        else if ('local' in arg) code.get(arg.local)
        else this.#pushConstant(code, arg, locals)
        continue
      }
      if (kind === PIECE.call) {
        const count = this.#body(a).type.parameters.length
        const direct = held.length >= count ? held.splice(held.length - count, count) : undefined
        this.#pushAll(code, held, locals)
        this.#inner(code, a, direct, locals)
        continue
      }
      if (held.length > 0) this.#pushAll(code, held, locals)
      if (kind === PIECE.raw) code.raw(bytes, a, b)
      else if (kind === PIECE.set) code.op(a).u32((map[b] as { local: number }).local)
      else if (kind === PIECE.constant) {
        const local = locals.pooled?.(constants[b]!)
        if (local === undefined) code.raw(bytes, a, a + 18)
        else code.get(local)
      } else if (kind === PIECE.global) code.op(a).u32(locals.globalImport(this.#exportOfGlobal.get(b)!))
      else if (kind === PIECE.leave) code.op(OP.br).u32(depth)
      else if (kind === PIECE.branch) code.op(a).u32(b)
      else if (kind === PIECE.bare) code.op(a)
      else if (kind === PIECE.open) {
        depth++
        code.op(a, b)
      } else {
        depth--
        code.op(a)
      }
    }
    if (held.length > 0) this.#pushAll(code, held, locals)
    if (branches) code.end()
  }

  /** What a body's locals are where it is spliced: arguments, and locals for the time of the instruction. */
  #mapLocals(code: Code, { body, assigned, branches, unset }: Folded, args: readonly Argument[], locals: Locals): Argument[] {
    const { parameters } = body.type
    const map: Argument[] = []
    for (let i = 0; i < parameters.length; i++) {
      if (!assigned.has(i)) {
        map.push(args[i]!)
        continue
      }
      const local = locals.temporary(parameters[i]!)
      push(code, args[i]!)
      code.set(local)
      map.push({ local })
    }
    for (const local of body.locals) {
      const copy = locals.temporary(local)
      if (branches || unset.has(map.length)) {
        zero(code, local)
        code.set(copy)
      }
      map.push({ local: copy })
    }
    return map
  }

  /** Appends pushes that were held back, and forgets them. */
  #pushAll(code: Code, held: Argument[], locals: Locals): void {
    for (const arg of held) this.#push(code, arg, locals)
    held.length = 0
  }

  #push(code: Code, arg: Argument, locals: Locals): void {
    if ('local' in arg) code.get(arg.local)
    else this.#pushConstant(code, arg, locals)
  }
  #pushConstant(code: Code, arg: Constant, locals: Locals): void {
    const local = 'lanes' in arg ? locals.pooled?.(arg.lanes) : undefined
    if (local !== undefined) code.get(local)
    else push(code, arg)
  }

  /** A call inside a spliced body; without `args` they are on the stack. */
  #inner(code: Code, index: number, args: readonly Argument[] | undefined, locals: Locals): void {
    const exported = this.#exportOfFunction.get(index)
    // Lanes are masked by EXEC's bits here; the row of masks waits until the core is called (block.ts).
    if (exported === 'refreshExec') return void (args || code.op(OP.drop))
    if (exported !== undefined && (RARE.has(exported) || this.#size(index) > SPLICE_LIMIT / 4)) {
      for (const arg of args ?? []) this.#push(code, arg, locals)
      code.op(OP.call).u32(locals.functionImport(exported))
      return
    }
    if (args) {
      this.#splice(code, index, args, locals)
      return
    }
    const copies = this.#body(index).type.parameters.map((type) => ({ local: locals.temporary(type) }))
    for (const copy of copies.toReversed()) code.set(copy.local)
    this.#splice(code, index, copies, locals)
  }
}

/** What an instruction of a folded body is. */
function kindOf(bytes: Uint8Array, token: Token): number {
  const { op } = token
  if (op === OP.localGet) return PIECE.get
  if (op === OP.localSet || op === OP.localTee) return PIECE.set
  if (op === OP.call) return PIECE.call
  if (op === OP.globalGet || op === OP.globalSet) return PIECE.global
  if (op === OP.block || op === OP.loop || op === OP.if) return PIECE.open
  if (op === OP.end) return PIECE.close
  if (op === OP.return) return PIECE.leave
  // Folding writes it where the body has something else.
  if (op === OP.unreachable) return PIECE.bare
  if (op === OP.br || op === OP.brIf) return PIECE.branch
  return isConstant(bytes, token) ? PIECE.constant : PIECE.raw
}

/** Constants come from memory, or the compiler would make them anew wherever they are used. */
export function loadPool(code: Code, locals: Locals, pool: ReadonlyMap<VectorConstant, number>): void {
  const shadow = locals.globalImport('SHADOW')
  for (const [constant, local] of pool) {
    code.op(OP.globalGet).u32(shadow)
    if (typeof constant === 'number') code.v128(constant)
    else code.simd(SIMD.const).raw(constant.split(',').map(Number))
    code.simdMemory(SIMD.store, 0).op(OP.globalGet).u32(shadow).simdMemory(SIMD.load, 0).set(local)
  }
}

export function push(code: Code, arg: Argument): void {
  if ('local' in arg) code.get(arg.local)
  else if ('lanes' in arg) code.v128(arg.lanes)
  else code.i32(arg.constant)
}

const isConstant = (bytes: Uint8Array, { start }: Token): boolean => bytes[start] === 0xfd && bytes[start + 1] === SIMD.const

function zero(code: Code, type: number): void {
  if (type === V128) code.v128(0)
  else if (type === I32) code.i32(0)
  else if (type === I64) code.i64(0n)
  else if (type === F32) code.op(0x43).raw(new Uint8Array(4))
  else code.op(0x44).raw(new Uint8Array(8))
}
