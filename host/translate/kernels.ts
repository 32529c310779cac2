/** The core's own functions as material: bodies that are spliced into regions, or called where they cannot be. */
import { fold, type Item, isToken, isValue } from './fold.ts'
import { Code, F32, type FunctionBody, I32, I64, OP, type ParsedModule, parseModule, SIMD, type Token, tokens, V128 } from './wasm.ts'

/** Tokens of a body at most, callees included, for it to be spliced; a larger one is called. */
const SPLICE_LIMIT = 700

/** What splicing needs of the function that it splices into. */
export interface Locals {
  /** A local for the time of one instruction. */
  temporary(type: number): number
  /** Index in the new module of one of the core's exports. */
  functionImport(name: string): number
  globalImport(name: string): number
  /** A local that holds a v128 constant (its 16 bytes), where that is better than the constant itself. */
  pooled?(bytes: Uint8Array): number | undefined
  /** Writes what stands in the place of a call of `refreshExec`: lanes are masked by EXEC's bits, so the row of masks may wait. */
  staleExec(code: Code): void
}

/** An argument: a local, an i32 constant, or a dword in all four lanes of a v128. */
export type Argument = { readonly local: number } | { readonly constant: number } | { readonly lanes: number }

interface Template {
  readonly body: FunctionBody
  readonly tokens: readonly Token[]
}

/** A body ready to be written: with constants for some parameters, perhaps. */
interface Folded {
  readonly items: readonly Item[]
  /** Parameters that the body assigns. */
  readonly assigned: ReadonlySet<number>
  /** Whether there is control flow: any local may be read before it is written and needs its zero, and there may be ways out. */
  readonly branches: boolean
  /** Locals that are read before they are written where there is none. */
  readonly unset: ReadonlySet<number>
}

export class Kernels {
  readonly #module: ParsedModule
  readonly #templates = new Map<number, Template | undefined>()
  readonly #exportOfFunction = new Map<number, string>()
  readonly #exportOfGlobal = new Map<number, string>()
  readonly #sizes = new Map<number, number>()
  readonly #folded = new Map<string, Folded>()

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

  type(name: string): FunctionBody['type'] {
    return this.#body(this.#index(name)).type
  }

  /** Whether a function's body can stand inside another function. */
  spliceable(name: string): boolean {
    return this.#size(this.#index(name), []) <= SPLICE_LIMIT
  }

  #index(name: string): number {
    return this.#module.exports.get(name)!.index
  }

  #body(index: number): FunctionBody {
    return this.#module.functions[index - this.#module.importedFunctions]!
  }

  /** Tokens of a function with all that it would pull in; infinite where that is impossible. */
  #size(index: number, callers: readonly number[]): number {
    if (callers.includes(index) || index < this.#module.importedFunctions) return Number.POSITIVE_INFINITY
    const known = this.#sizes.get(index)
    if (known !== undefined) return known
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
    const parameters = args.map((arg) => ('local' in arg ? undefined : arg))
    const key = `${index} ${JSON.stringify(parameters)}`
    const known = this.#folded.get(key)
    if (known) return known
    const items = fold(this.#module.bytes, this.#template(index).tokens, parameters)
    const control: readonly number[] = [OP.block, OP.loop, OP.if, OP.br, OP.brIf, OP.return]
    const folded = {
      items,
      assigned: new Set(
        items.flatMap((item) => (isToken(item) && (item.op === OP.localSet || item.op === OP.localTee) ? [item.index] : [])),
      ),
      branches: items.some((item) => 'wrap' in item || (isToken(item) && control.includes(item.op))),
      unset: readFirst(items),
    }
    this.#folded.set(key, folded)
    return folded
  }

  /** Appends a call: the body itself where it can be spliced, else a call of the core. Its result stays on the stack. */
  apply(code: Code, name: string, args: readonly Argument[], locals: Locals): void {
    if (this.spliceable(name)) this.#splice(code, this.#index(name), args, locals)
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
    const { items, assigned, branches, unset } = this.#fold(index, args)
    const { bytes } = this.#module
    const map: Argument[] = body.type.parameters.map((type, i) => {
      if (!assigned.has(i)) return args[i]!
      const local = locals.temporary(type)
      push(code, args[i]!)
      code.set(local)
      return { local }
    })
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
    for (const item of items) {
      if (isValue(item)) held.push(item.value)
      else if (!isToken(item)) {
        release()
        depth++
        code.op(OP.block).raw(bytes.subarray(item.wrap.start + 1, item.wrap.end))
      } else if (item.op === OP.localGet) held.push(map[item.index]!)
      else if (item.op === OP.call) {
        const count = this.#body(item.index).type.parameters.length
        const direct = held.length >= count ? held.splice(held.length - count, count) : undefined
        release()
        this.#inner(code, item.index, direct, locals)
      } else {
        release()
        if (item.op === OP.block || item.op === OP.loop || item.op === OP.if) depth++
        else if (item.op === OP.end) depth--
        if (item.op === OP.localSet || item.op === OP.localTee) code.op(item.op).u32((map[item.index] as { local: number }).local)
        else if (item.op === OP.unreachable) code.op(OP.unreachable)
        else if (item.op === OP.return) code.op(OP.br).u32(depth)
        else if (item.op === OP.br || item.op === OP.brIf) code.op(item.op).u32(item.index)
        else if (item.op === OP.globalGet || item.op === OP.globalSet)
          code.op(item.op).u32(locals.globalImport(this.#exportOfGlobal.get(item.index)!))
        else if (isConstant(bytes, item)) this.#constant(code, bytes.subarray(item.start, item.end), locals)
        else code.raw(bytes.subarray(item.start, item.end))
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
    if (exported === 'refreshExec') {
      if (!args) code.op(OP.drop)
      return locals.staleExec(code)
    }
    if (exported !== undefined && this.#size(index, []) > SPLICE_LIMIT / 4) {
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
