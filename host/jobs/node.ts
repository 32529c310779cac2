/** A JSON value together with the path that names it in errors: what parsing a job reads from. */
import { JobError } from '../errors.ts'
import { bytesOfHex } from '../results/hex.ts'
import { nearest } from '../results/nearest.ts'

export class Node {
  constructor(
    readonly value: unknown,
    readonly path: string,
  ) {}

  fail(expected: string): never {
    throw new JobError(`${this.path || 'the job'} is ${show(this.value)}; expected ${expected}`, this.path)
  }

  /** The members of an object; a key that is not among `keys` is an error. */
  object(keys: readonly string[]): Fields {
    const members = this.members()
    for (const [key, node] of members)
      if (!keys.includes(key)) {
        const near = nearest(key, keys)
        const hint = near === undefined ? `known here: ${keys.join(', ')}` : `did you mean ${near}?`
        throw new JobError(`unknown key ${node.path}; ${hint}`, node.path)
      }
    return new Fields(this, members)
  }

  /** The members of an object whose keys are names of the user's. */
  members(): ReadonlyMap<string, Node> {
    if (typeof this.value !== 'object' || this.value === null || Array.isArray(this.value)) this.fail('an object')
    return new Map(Object.entries(this.value).map(([key, value]) => [key, new Node(value, join(this.path, key))]))
  }

  list(): readonly Node[] {
    if (!Array.isArray(this.value)) this.fail('a list')
    return this.value.map((value, i) => new Node(value, `${this.path}[${i}]`))
  }

  string(): string {
    return typeof this.value === 'string' ? this.value : this.fail('a string')
  }

  boolean(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.fail('true or false')
  }

  oneOf<T extends string>(names: readonly T[]): T {
    const name = names.find((n) => n === this.value)
    return name ?? this.fail(`one of ${names.join(', ')}`)
  }

  /** A finite number, as a JSON number or a string such as "1.5", "-1", "0x10". */
  number(): number {
    const number = typeof this.value === 'string' ? parseNumber(this.value) : this.value
    return typeof number === 'number' && Number.isFinite(number) ? number : this.fail('a number')
  }

  /** An integer from `least` to `most`. */
  integer(least: number, most: number): number {
    return Number(this.bigint(BigInt(least), BigInt(most)))
  }

  /** An integer of any size: a JSON number as far as those are exact, or a string. */
  bigint(least: bigint, most: bigint): bigint {
    const wanted = `an integer from ${least} to ${most > 0xffffffffn ? `0x${most.toString(16)}` : most}`
    if (typeof this.value === 'number' && Number.isInteger(this.value) && !Number.isSafeInteger(this.value))
      this.fail(`${wanted} (write numbers from 2^53 on as strings)`)
    const integer = typeof this.value === 'string' ? parseInteger(this.value) : toBigint(this.value)
    return integer !== undefined && integer >= least && integer <= most ? integer : this.fail(wanted)
  }

  /** So many bits: unsigned, or negative as two's complement. */
  bits(bits: number): bigint {
    const size = BigInt(bits)
    return BigInt.asUintN(bits, this.bigint(-(1n << (size - 1n)), (1n << size) - 1n))
  }

  /** Bytes as hexadecimal digits in memory order. */
  hex(): Uint8Array {
    return bytesOfHex(this.string()) ?? this.fail('hexadecimal digits, two a byte')
  }
}

/** The members of an object of known keys. */
export class Fields {
  constructor(
    readonly node: Node,
    private readonly members: ReadonlyMap<string, Node>,
  ) {}

  get(key: string): Node | undefined {
    return this.members.get(key)
  }

  /** A member that must be there. */
  need(key: string): Node {
    const node = this.members.get(key)
    if (node !== undefined) return node
    const path = join(this.node.path, key)
    throw new JobError(`${path} is missing`, path)
  }

  /** The one member there is of these; none or several are an error. */
  exactlyOne<T extends string>(keys: readonly T[]): readonly [T, Node] {
    const there = keys.filter((key) => this.members.has(key))
    if (there.length !== 1) this.node.fail(`exactly one of ${keys.join(', ')}`)
    return [there[0]!, this.need(there[0]!)]
  }
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)
const toBigint = (value: unknown): bigint | undefined => (Number.isSafeInteger(value) ? BigInt(value as number) : undefined)

function parseInteger(text: string): bigint | undefined {
  const match = /^\s*(-?)(0x[0-9a-fA-F]+|[0-9]+)\s*$/.exec(text)
  return match === null ? undefined : match[1] === '-' ? -BigInt(match[2]!) : BigInt(match[2]!)
}

function parseNumber(text: string): number | undefined {
  const integer = parseInteger(text)
  if (integer !== undefined) return Number(integer)
  return text.trim() === '' ? undefined : Number(text)
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > 40 ? `${text.slice(0, 37)}...` : text
}
