/** The core's own functions as material: bodies that are spliced into regions, or called where they cannot be. */
import { fold, type Item, isToken, isValue } from './fold.ts'
import { Code, F32, type FunctionBody, I32, I64, OP, type ParsedModule, parseModule, SIMD, type Token, tokens, V128 } from './wasm.ts'

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
  /** A local that holds a v128 constant (its 16 bytes), where that is better than the constant itself. */
  pooled?(bytes: Uint8Array): number | undefined
}

/** An argument: a local, an i32 constant, or a dword in all four lanes of a v128. */
export type Argument = { readonly local: number } | { readonly constant: number } | { readonly lanes: number }

interface Template {
  readonly body: FunctionBody
  readonly tokens: readonly Token[]
}

/** What a piece of a body is: bytes as they are, an opcode, or something whose operand has to be changed. */
const PIECE = {
  raw: 0,
  value: 1,
  get: 2,
  set: 3,
  call: 4,
  wrap: 5,
  constant: 6,
  global: 7,
  open: 8,
  close: 9,
  branch: 10,
  leave: 11,
  bare: 12,
} as const

interface Piece {
  readonly kind: (typeof PIECE)[keyof typeof PIECE]
  readonly op: number
  /** Local, function, global or label. */
  readonly index: number
  /** Range of bytes of the core. */
  readonly start: number
  readonly end: number
  readonly value: Argument | undefined
}

/** A body ready to be written: with constants for some parameters, perhaps. */
interface Folded {
  readonly pieces: readonly Piece[]
  /** Parameters that the body assigns. */
  readonly assigned: ReadonlySet<number>
  /** Whether there is control flow: any local may be read before it is written and needs its zero, and there may be ways out. */
  readonly branches: boolean
  /** Whether it calls functions. */
  readonly calls: boolean
  /** Locals that are read before they are written where there is none. */
  readonly unset: ReadonlySet<number>
}

export class Kernels {
  readonly #module: ParsedModule
  readonly #bodies: (FunctionBody | undefined)[]
  readonly #templates = new Map<number, Template | undefined>()
  readonly #exportOfFunction = new Map<number, string>()
  readonly #exportOfGlobal = new Map<number, string>()
  readonly #vectors = new Map<string, boolean>()
  readonly #sizes = new Map<number, number>()
  /** Bodies as they are by function, and those with constants by function and constants. */
  readonly #whole = new Map<number, Folded>()
  readonly #folded = new Map<string, Folded>()

  /** @param core the bytes of the core that runs: bodies refer to its memory and globals */
  constructor(core: Uint8Array) {
    this.#module = parseModule(core)
    this.#bodies = Array.from({ length: this.#module.functionCount })
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
    return this.#splices(this.#index(name))
  }

  #splices(index: number): boolean {
    return this.#size(index, []) <= SPLICE_LIMIT
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
  #size(index: number, callers: readonly number[]): number {
    const known = this.#sizes.get(index)
    if (known !== undefined) return known
    if (callers.includes(index) || index < this.#module.importedFunctions) return Number.POSITIVE_INFINITY
    let size = 0
    for (const token of this.#template(index).tokens) {
      size++
      if (token.op === OP.callIndirect) size = Number.POSITIVE_INFINITY
      else if (token.op === OP.call && this.#exportOfFunction.get(token.index) === 'refreshExec') size += 2
      else if (token.op === OP.call && !this.#exportOfFunction.has(token.index)) size += this.#size(token.index, [...callers, index])
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
    if (args.every((arg) => 'local' in arg)) {
      let whole = this.#whole.get(index)
      if (whole === undefined) {
        whole = this.#prepare(this.#template(index).tokens)
        this.#whole.set(index, whole)
      }
      return whole
    }
    let key = `${index}`
    for (const arg of args) key += 'local' in arg ? ' ' : 'lanes' in arg ? ` v${arg.lanes}` : ` ${arg.constant}`
    const known = this.#folded.get(key)
    if (known) return known
    const constants = args.map((arg) => ('local' in arg ? undefined : arg))
    const folded = this.#prepare(fold(this.#module.bytes, this.#template(index).tokens, constants))
    this.#folded.set(key, folded)
    return folded
  }

  #prepare(items: readonly Item[]): Folded {
    const { bytes } = this.#module
    const pieces: Piece[] = []
    const assigned = new Set<number>()
    let [branches, calls] = [false, false]
    for (const item of items) {
      const piece = pieceOf(bytes, item)
      const last = pieces.at(-1)
      if (piece.kind === PIECE.raw && last?.kind === PIECE.raw && last.end === piece.start) {
        pieces[pieces.length - 1] = { ...last, end: piece.end }
        continue
      }
      pieces.push(piece)
      if (piece.kind === PIECE.set) assigned.add(piece.index)
      else if (piece.kind === PIECE.call) calls = true
      else if (BRANCHES.includes(piece.kind)) branches = true
    }
    return { pieces, assigned, branches, calls, unset: readFirst(items) }
  }

  /** Appends a call: the body itself where it can be spliced, else a call of the core. Its result stays on the stack. */
  apply(code: Code, name: string, args: readonly Argument[], locals: Locals): void {
    const index = this.#index(name)
    if (this.#splices(index)) this.#splice(code, index, args, locals)
    else this.call(code, name, args, locals)
  }

  /** Appends a call of the core's function. */
  call(code: Code, name: string, args: readonly Argument[], locals: Locals): void {
    for (const arg of args) push(code, arg)
    code.op(OP.call).u32(locals.functionImport(name))
  }

  /** Appends a body. Pushes of locals and constants are held back until it is known what takes them: calls get them as arguments. */
  #splice(code: Code, index: number, args: readonly Argument[], locals: Locals): void {
    const { body } = this.#template(index)
    const { pieces, assigned, branches, calls, unset } = this.#fold(index, args)
    const { bytes } = this.#module
    const map: Argument[] = []
    const { parameters } = body.type
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
    for (const type of body.locals) {
      const local = locals.temporary(type)
      if (branches || unset.has(map.length)) {
        zero(code, type)
        code.set(local)
      }
      map.push({ local })
    }
    if (branches) code.block(OP.block, body.type.results[0] ?? 0x40)
    let held: Argument[] = []
    const release = () => {
      for (const arg of held) this.#push(code, arg, locals)
      held = []
    }
    let depth = 0
    for (const { kind, op, index: operand, start, end, value } of pieces) {
      if (kind === PIECE.get || kind === PIECE.value) {
        const arg = kind === PIECE.get ? map[operand]! : value!
        if (calls) held.push(arg)
        else this.#push(code, arg, locals)
        continue
      }
      if (kind === PIECE.call) {
        const count = this.#body(operand).type.parameters.length
        const direct = held.length >= count ? held.splice(held.length - count, count) : undefined
        release()
        this.#inner(code, operand, direct, locals)
        continue
      }
      if (held.length > 0) release()
      if (kind === PIECE.raw) code.raw(bytes, start, end)
      else if (kind === PIECE.set) code.op(op).u32((map[operand] as { local: number }).local)
      else if (kind === PIECE.constant) this.#constant(code, bytes.subarray(start, end), locals)
      else if (kind === PIECE.global) code.op(op).u32(locals.globalImport(this.#exportOfGlobal.get(operand)!))
      else if (kind === PIECE.leave) code.op(OP.br).u32(depth)
      else if (kind === PIECE.branch) code.op(op).u32(operand)
      else if (kind === PIECE.bare) code.op(op)
      else {
        depth += kind === PIECE.close ? -1 : 1
        code.op(op).raw(bytes, start + 1, end)
      }
    }
    release()
    if (branches) code.end()
  }

  #push(code: Code, arg: Argument, locals: Locals): void {
    if (!('lanes' in arg)) return push(code, arg)
    const constant = new Code()
    constant.v128(arg.lanes)
    this.#constant(code, constant.bytes.view, locals)
  }

  #constant(code: Code, instruction: Uint8Array, locals: Locals): void {
    const local = locals.pooled?.(instruction.subarray(2))
    if (local === undefined) code.raw(instruction)
    else code.get(local)
  }

  /** A call inside a spliced body; without `args` they are on the stack. */
  #inner(code: Code, index: number, args: readonly Argument[] | undefined, locals: Locals): void {
    const exported = this.#exportOfFunction.get(index)
    // Lanes are masked by EXEC's bits here; the row of masks waits until the core is called (region.ts).
    if (exported === 'refreshExec') return void (args || code.op(OP.drop))
    if (exported !== undefined && (RARE.has(exported) || this.#size(index, []) > SPLICE_LIMIT / 4)) {
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

const BRANCHES: readonly number[] = [PIECE.wrap, PIECE.open, PIECE.branch, PIECE.leave]

/** What an instruction of a folded body is. */
function pieceOf(bytes: Uint8Array, item: Item): Piece {
  if (isValue(item)) return { kind: PIECE.value, op: 0, index: 0, start: 0, end: 0, value: item.value }
  const { op, index, start, end } = isToken(item) ? item : item.wrap
  return { kind: isToken(item) ? kindOf(bytes, item) : PIECE.wrap, op: isToken(item) ? op : OP.block, index, start, end, value: undefined }
}

function kindOf(bytes: Uint8Array, token: Token): Piece['kind'] {
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

/** Locals, parameters among them, that straight code reads before it writes them. */
function readFirst(items: readonly Item[]): Set<number> {
  const [read, written] = [new Set<number>(), new Set<number>()]
  for (const item of items) {
    if (!isToken(item)) continue
    if (item.op === OP.localSet || item.op === OP.localTee) written.add(item.index)
    else if (item.op === OP.localGet && !written.has(item.index)) read.add(item.index)
  }
  return read
}

/** Constants come from memory, or the compiler would make them anew wherever they are used. */
export function loadPool(code: Code, locals: Locals, pool: ReadonlyMap<string, number>): void {
  const shadow = locals.globalImport('SHADOW')
  for (const [key, local] of pool) {
    code
      .op(OP.globalGet)
      .u32(shadow)
      .simd(SIMD.const)
      .raw(Uint8Array.from(key.split(',').map(Number)))
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
