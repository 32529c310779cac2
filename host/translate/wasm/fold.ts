/**
 * A body with constants for some of its parameters: what follows from them is computed, and what cannot be reached is left out. Kernels ask
 * whether all lanes shift by one count; where the count is a constant, only the shift itself stays.
 */
import { OP, SIMD, type Token } from './wasm.ts'

/** An i32, or a dword in all four lanes of a v128. */
export type Constant = { readonly constant: number } | { readonly lanes: number }

/** An instruction of the body, a constant on the stack, or a block in the place of an `if` whose condition is known. */
export type Item = Token | { readonly value: Constant } | { readonly wrap: Token }

export const isToken = (item: Item): item is Token => 'op' in item
export const isValue = (item: Item | undefined): item is { readonly value: Constant } => item !== undefined && 'value' in item

/** Operations on two i32, and on two vectors with the same dword in all lanes. */
const I32_FOLDS: Readonly<Record<number, (a: number, b: number) => number>> = {
  [OP.i32Add]: (a, b) => (a + b) | 0,
  [OP.i32Sub]: (a, b) => (a - b) | 0,
  [OP.i32Mul]: (a, b) => Math.imul(a, b),
  [OP.i32And]: (a, b) => a & b,
  [OP.i32Or]: (a, b) => a | b,
  [OP.i32Xor]: (a, b) => a ^ b,
  [OP.i32Shl]: (a, b) => a << b,
  [OP.i32ShrU]: (a, b) => (a >>> b) | 0,
  [OP.i32Eq]: (a, b) => Number(a === b),
  [OP.i32Ne]: (a, b) => Number(a !== b),
}
const LANE_FOLDS: Readonly<Record<number, (a: number, b: number) => number>> = {
  [SIMD.and]: (a, b) => a & b,
  [SIMD.or]: (a, b) => a | b,
  [SIMD.xor]: (a, b) => a ^ b,
  [SIMD.i32x4Add]: (a, b) => (a + b) | 0,
  [SIMD.i32x4Sub]: (a, b) => (a - b) | 0,
}

/** A label of the body as it is now. `inline`: the chosen arm of an `if`, without a label. */
interface Frame {
  readonly kind: 'block' | 'if' | 'wrap' | 'inline'
  /** Index of the token that ends it. */
  readonly end: number
  /** Whether something branches to its end. */
  reached: boolean
}

/**
 * Folds a body.
 * @param bytes what the tokens are ranges of
 * @param parameters what is known of each parameter
 */
export function fold(bytes: Uint8Array, tokens: readonly Token[], parameters: readonly (Constant | undefined)[]): readonly Item[] {
  if (parameters.every((p) => p === undefined) || tokens.some(({ op }) => op === OP.loop)) return tokens
  return new Folder(bytes, tokens, parameters).fold()
}

class Folder {
  readonly #out: Item[] = []
  readonly #known = new Map<number, Constant>()
  readonly #frames: Frame[] = []
  /** How often each local is set. */
  readonly #sets = new Map<number, number>()
  /** Whether what comes next may be skipped at run time. */
  #conditional = false
  #dead = false
  #at = 0

  constructor(
    private readonly bytes: Uint8Array,
    private readonly tokens: readonly Token[],
    private readonly parameters: readonly (Constant | undefined)[],
  ) {
    parameters.forEach((value, local) => {
      if (value !== undefined) this.#known.set(local, value)
    })
    for (const { op, index } of tokens)
      if (op === OP.localSet || op === OP.localTee) this.#sets.set(index, (this.#sets.get(index) ?? 0) + 1)
  }

  fold(): readonly Item[] {
    for (; this.#at < this.tokens.length; this.#at++) {
      const token = this.tokens[this.#at]!
      if (this.#dead) this.#skip(token)
      else this.#token(token)
    }
    return this.#out
  }

  /** Passes over what cannot be reached, up to the end of the innermost block. */
  #skip(token: Token): void {
    if (token.op === OP.block || token.op === OP.if) this.#at = this.#arms(this.#at).end
    else if (token.op === OP.else || token.op === OP.end) this.#token(token)
  }

  #token(token: Token): void {
    const { op } = token
    if (op === OP.localGet) this.#push(token, this.#known.get(token.index))
    else if (op === OP.localSet || op === OP.localTee) this.#set(token)
    else if (op === OP.i32Const) this.#push(token, { constant: signedLeb(this.bytes, token.start + 1) })
    else if (op === OP.block) this.#open('block', this.#arms(this.#at).end, token)
    else if (op === OP.if) this.#if(token)
    else if (op === OP.else) this.#else(token)
    else if (op === OP.end) this.#end(token)
    else if (op === OP.br || op === OP.brIf) this.#branch(token)
    else if (op === OP.return || op === OP.brTable || op === OP.unreachable) {
      if (op === OP.brTable) {
        for (const frame of this.#frames) frame.reached = true
        this.#conditional = true
      }
      this.#out.push(token)
      this.#dead = true
    } else this.#compute(token)
  }

  #push(token: Token, value: Constant | undefined): void {
    this.#out.push(value === undefined ? token : { value })
  }

  /** The constant so far down on the stack, if it is one. */
  #top(down = 0): Constant | undefined {
    for (let i = 0; i <= down; i++) if (!isValue(this.#out.at(-1 - i))) return undefined
    return (this.#out.at(-1 - down) as { value: Constant }).value
  }

  #replace(count: number, value: Constant): void {
    this.#out.splice(this.#out.length - count, count, { value })
  }

  #set(token: Token): void {
    const value = this.#top()
    this.#known.delete(token.index)
    // A local that is set in one way only is that constant from here on.
    const once = this.#sets.get(token.index) === 1 && token.index >= this.parameters.length
    if (value === undefined || !once || this.#conditional) return void this.#out.push(token)
    this.#known.set(token.index, value)
    if (token.op === OP.localSet) this.#out.pop()
  }

  #compute(token: Token): void {
    const [a, b] = [this.#top(1), this.#top()]
    const value = this.#value(token, a, b)
    if (value === undefined) this.#out.push(token)
    else this.#replace(value.operands, value.result)
  }

  #value(token: Token, a: Constant | undefined, b: Constant | undefined): { operands: number; result: Constant } | undefined {
    const { op, sub } = token
    if (op !== 0xfd) {
      if (b === undefined || !('constant' in b)) return undefined
      if (op === OP.i32Eqz) return { operands: 1, result: { constant: Number(b.constant === 0) } }
      const f = I32_FOLDS[op]
      return f && a && 'constant' in a ? { operands: 2, result: { constant: f(a.constant, b.constant) } } : undefined
    }
    if (sub === SIMD.const) return constantOf(this.bytes.subarray(token.end - 16, token.end))
    if (b === undefined || !('lanes' in b)) return undefined
    if (sub === SIMD.anyTrue) return { operands: 1, result: { constant: Number(b.lanes !== 0) } }
    if (sub === SIMD.not) return { operands: 1, result: { lanes: ~b.lanes } }
    if (sub === SIMD.i32x4ExtractLane) return { operands: 1, result: { constant: b.lanes } }
    if (a === undefined || !('lanes' in a)) return undefined
    // Of two vectors that are one dword all over, a shuffle that keeps bytes in their places is the same again.
    if (
      sub === SIMD.shuffle &&
      a.lanes === b.lanes &&
      this.bytes.subarray(token.end - 16, token.end).every((byte, i) => ((byte ^ i) & 3) === 0)
    )
      return { operands: 2, result: a }
    const f = LANE_FOLDS[sub]
    return f && { operands: 2, result: { lanes: f(a.lanes, b.lanes) } }
  }

  // --- control

  /** Where the arms of the block or `if` at a token end. */
  #arms(start: number): { else: number | undefined; end: number } {
    let depth = 0
    let otherwise: number | undefined
    for (let at = start + 1; ; at++) {
      const { op } = this.tokens[at]!
      if (op === OP.block || op === OP.if) depth++
      else if (op === OP.else && depth === 0) otherwise = at
      else if (op === OP.end && depth-- === 0) return { else: otherwise, end: at }
    }
  }

  #open(kind: Frame['kind'], end: number, item?: Item): void {
    this.#frames.push({ kind, end, reached: false })
    if (item !== undefined) this.#out.push(item)
  }

  #if(token: Token): void {
    const condition = this.#top()
    const arms = this.#arms(this.#at)
    if (condition === undefined || !('constant' in condition)) {
      this.#conditional = true
      return this.#open('if', arms.end, token)
    }
    this.#out.pop()
    const first = condition.constant !== 0 ? this.#at + 1 : (arms.else ?? arms.end - 1) + 1
    const last = condition.constant !== 0 ? (arms.else ?? arms.end) : arms.end
    if (first >= last) {
      this.#at = arms.end
      return
    }
    const leaves = this.tokens.slice(first, last).some(({ op }) => [OP.br, OP.brIf, OP.brTable, OP.return].some((branch) => branch === op))
    if (leaves) this.#open('wrap', arms.end, { wrap: token })
    else this.#open('inline', arms.end)
    this.#at = first - 1
  }

  #else(token: Token): void {
    const frame = this.#frames.at(-1)!
    if (frame.kind === 'if') {
      this.#out.push(token)
      this.#dead = false
      return
    }
    // The arm that was chosen ends here.
    this.#at = frame.end
    this.#end(this.tokens[frame.end]!)
  }

  #end(token: Token): void {
    const frame = this.#frames.pop()!
    if (frame.kind !== 'inline') this.#out.push(token)
    this.#dead &&= frame.kind !== 'if' && !frame.reached
    // What comes behind a block counts as reached unless it says otherwise.
    if (this.#dead && frame.kind !== 'inline') this.#out.push({ ...token, op: OP.unreachable })
  }

  #branch(token: Token): void {
    const condition = token.op === OP.brIf ? this.#top() : { constant: 1 }
    if (condition !== undefined && 'constant' in condition) {
      if (token.op === OP.brIf) this.#out.pop()
      if (condition.constant === 0) return
      this.#dead = true
    } else this.#conditional = true
    const frame = this.#frames.at(-1 - token.index)
    if (frame !== undefined) frame.reached = true
    this.#out.push(this.#dead ? { ...token, op: OP.br } : token)
  }
}

/** A v128 constant that is one dword all over. */
function constantOf(bytes: Uint8Array): { operands: number; result: Constant } | undefined {
  if (bytes.some((byte, i) => byte !== bytes[i & 3])) return undefined
  return { operands: 0, result: { lanes: bytes[0]! | (bytes[1]! << 8) | (bytes[2]! << 16) | (bytes[3]! << 24) } }
}

/** A signed LEB128 of up to 32 bits. */
function signedLeb(bytes: Uint8Array, start: number): number {
  let value = 0
  for (let at = start, shift = 0; ; shift += 7) {
    const byte = bytes[at++]!
    value |= (byte & 127) << shift
    if (byte < 128) return shift < 25 && byte & 64 ? value | (-1 << (shift + 7)) : value
  }
}
