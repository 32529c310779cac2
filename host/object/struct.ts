/** Binary structures as data, and reading them with every access checked. Knows nothing of what they mean. */
import { ObjectError } from '../errors.ts'

/** Field types, little-endian; `pad n` is n bytes that nobody reads. u64 and i64 are read as numbers and must be exact as such. */
type FieldType = 'u8' | 'u16' | 'u32' | 'u64' | 'i64' | `pad ${number}`
const FIELD_BYTES = { u8: 1, u16: 2, u32: 4, u64: 8, i64: 8 } as const
const bytesOf = (type: FieldType): number =>
  type.startsWith('pad ') ? Number(type.slice(4)) : FIELD_BYTES[type as keyof typeof FIELD_BYTES]

export interface Struct<Name extends string> {
  readonly bytes: number
  readonly fields: readonly (readonly [name: Name, type: FieldType])[]
}

/** Declares a structure. @param bytes its size by its specification, which the fields must add up to */
export function struct<const Name extends string>(bytes: number, fields: readonly (readonly [Name, FieldType])[]): Struct<Name> {
  const sum = fields.reduce((total, [, type]) => total + bytesOf(type), 0)
  if (sum !== bytes) throw new RangeError(`the fields have ${sum} bytes; the structure has ${bytes}`)
  return { bytes, fields }
}

/** Whether bytes begin with these ASCII letters. */
export const startsWith = (bytes: Uint8Array, magic: string): boolean =>
  bytes.byteLength >= magic.length && [...magic].every((letter, i) => bytes[i] === letter.charCodeAt(0))

/** A run of bytes that is never read beyond its ends. */
export class Bytes {
  readonly all: Uint8Array
  readonly #view: DataView
  readonly #what: string

  /** @param what what messages call it */
  constructor(all: Uint8Array, what: string) {
    this.all = all
    this.#view = new DataView(all.buffer, all.byteOffset, all.byteLength)
    this.#what = what
  }

  get length(): number {
    return this.all.byteLength
  }

  /** @param what what messages call the part @throws {ObjectError} where not all of it is there */
  slice(offset: number, bytes: number, what: string): Bytes {
    this.#check(offset, bytes, what)
    return new Bytes(this.all.subarray(offset, offset + bytes), what)
  }

  read<Name extends string>(layout: Struct<Name>, offset: number, what: string): Readonly<Record<Name, number>> {
    this.#check(offset, layout.bytes, what)
    const values: Partial<Record<Name, number>> = {}
    let at = offset
    for (const [name, type] of layout.fields) {
      if (!type.startsWith('pad')) values[name] = this.#number(type, at, `${name} of ${what}`)
      at += bytesOf(type)
    }
    return values as Record<Name, number>
  }

  /** `count` structures one behind another, each `stride` bytes from the last. */
  table<Name extends string>(layout: Struct<Name>, offset: number, count: number, what: string): Readonly<Record<Name, number>>[] {
    this.#check(offset, count * layout.bytes, `${what}s`)
    return Array.from({ length: count }, (_, i) => this.read(layout, offset + i * layout.bytes, `${what} ${i}`))
  }

  /** Text up to a zero byte or the end. */
  string(offset: number, what: string): string {
    this.#check(offset, 0, what)
    const end = this.all.indexOf(0, offset)
    return new TextDecoder().decode(this.all.subarray(offset, end < 0 ? undefined : end))
  }

  #number(type: FieldType, offset: number, what: string): number {
    switch (type) {
      case 'u8':
        return this.#view.getUint8(offset)
      case 'u16':
        return this.#view.getUint16(offset, true)
      case 'u32':
        return this.#view.getUint32(offset, true)
      default:
        return this.#long(type === 'i64' ? this.#view.getBigInt64(offset, true) : this.#view.getBigUint64(offset, true), what)
    }
  }

  #long(value: bigint, what: string): number {
    const number = Number(value)
    if (!Number.isSafeInteger(number))
      throw new ObjectError(`${what} is 0x${BigInt.asUintN(64, value).toString(16)}; a sensible one is below 2^53; the file is damaged`)
    return number
  }

  #check(offset: number, bytes: number, what: string): void {
    if (offset >= 0 && bytes >= 0 && offset + bytes <= this.length) return
    throw new ObjectError(
      `${what}: ${bytes} bytes at offset ${offset} reach beyond ${this.#what}, which has ${this.length} bytes; the file is truncated or damaged, copy or compile it again`,
    )
  }
}
