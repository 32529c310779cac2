/** Segments, symbols and relocations of an ELF file: as the linker laid them out, or for relocatable files as laid out here. */
import { ObjectError } from '../errors.ts'
import type { Relocation, Segment } from './code-object.ts'
import {
  type Elf,
  type ElfSymbol,
  PF_W,
  PF_X,
  PT_LOAD,
  type Rela,
  relocationsOf,
  type Section,
  SHF_ALLOC,
  SHF_EXECINSTR,
  SHF_WRITE,
  SHN_ABS,
  SHN_AMDGPU_LDS,
  SHN_UNDEF,
  SHT_NOBITS,
  SHT_RELA,
} from './elf.ts'
import { Bytes } from './struct.ts'

/** An object laid out from address 0. */
export interface Image {
  readonly segments: readonly Segment[]
  readonly relocations: readonly Relocation[]
  /** Defined symbols, their values addresses. */
  readonly symbols: readonly ElfSymbol[]
}

/** Objects beyond this are damaged or do not belong here. */
const MAX_IMAGE = 1 << 28

/** R_AMDGPU_* (LLVM, "Relocation Records"). */
const R = {
  NONE: 0,
  ABS32_LO: 1,
  ABS32_HI: 2,
  ABS64: 3,
  REL32: 4,
  REL64: 5,
  ABS32: 6,
  GOTPCREL: 7,
  GOTPCREL32_LO: 8,
  GOTPCREL32_HI: 9,
  REL32_LO: 10,
  REL32_HI: 11,
  RELATIVE64: 13,
  REL16: 14,
} as const

/** What the linker laid out. */
export function linkedImage(elf: Elf): Image {
  const segments = elf.programHeaders
    .filter(({ type, memsz }) => type === PT_LOAD && memsz > 0)
    .map(({ vaddr, offset, filesz, memsz, flags }): Segment => {
      checkEnd(vaddr + memsz)
      if (filesz > memsz)
        throw new ObjectError(`a segment has ${filesz} bytes in the file and ${memsz} in memory; the file is damaged, compile it again`)
      const bytes = elf.file.slice(offset, filesz, `the segment at 0x${vaddr.toString(16)}`).all
      return { address: vaddr, bytes, memoryBytes: memsz, writable: (flags & PF_W) !== 0, executable: (flags & PF_X) !== 0 }
    })
    .sort((a, b) => a.address - b.address)
  segments.forEach((segment, i) => {
    const before = segments[i - 1]
    if (before !== undefined && before.address + before.memoryBytes > segment.address)
      throw new ObjectError(
        `segments at 0x${before.address.toString(16)} and 0x${segment.address.toString(16)} overlap; the file is damaged, compile it again`,
      )
  })
  const defined = allSymbols(elf).filter(({ section }) => section !== SHN_UNDEF)
  return { segments, relocations: dynamicRelocations(elf), symbols: defined }
}

const allSymbols = (elf: Elf): ElfSymbol[] => [...elf.symbolTables.values()].flat()

function dynamicRelocations(elf: Elf): Relocation[] {
  return elf.sections
    .filter(({ type, flags }) => type === SHT_RELA && flags & SHF_ALLOC)
    .flatMap((section) =>
      relocationsOf(elf.file, section).flatMap((rela): Relocation[] => {
        if (rela.type === R.NONE) return []
        if (rela.type === R.RELATIVE64) return [{ address: rela.offset, value: rela.addend, kind: 'abs64' }]
        const symbol = elf.symbolTables.get(section.link)?.[rela.symbol]
        if (rela.type === R.ABS64 && symbol !== undefined && symbol.section !== SHN_UNDEF)
          return [{ address: rela.offset, value: symbol.value + rela.addend, kind: 'abs64' }]
        throw new ObjectError(
          `relocation type ${rela.type} against ${symbol?.name ?? `symbol ${rela.symbol}`} cannot be resolved; link the object with everything it refers to`,
        )
      }),
    )
}

function checkEnd(end: number): void {
  if (end > MAX_IMAGE)
    throw new ObjectError(
      `the object reaches to 0x${end.toString(16)}; Lanewise loads objects of at most 0x${MAX_IMAGE.toString(16)} bytes; the file is damaged`,
    )
}

/** Sections that share a segment, in the order of the segments: constants, code, data. */
const GROUPS = [
  { writable: false, executable: false },
  { writable: false, executable: true },
  { writable: true, executable: false },
] as const
const PAGE = 0x1000
const MAX_ALIGN = 0x10000
const GOT_ENTRY = 8

/** Lays out a relocatable file as a linker would, and resolves its relocations. */
export function relocatableImage(elf: Elf): Image {
  const layout = new Layout(elf)
  for (const section of elf.sections) if (section.type === SHT_RELA) layout.relocate(section)
  return { segments: layout.segments, relocations: layout.relocations, symbols: layout.symbols }
}

class Layout {
  readonly segments: Segment[] = []
  readonly relocations: Relocation[] = []
  readonly symbols: readonly ElfSymbol[]
  readonly #elf: Elf
  /** Address of each section that is loaded, by index. */
  readonly #addresses = new Map<number, number>()
  /** Address of a symbol's entry in the global offset table, by the symbol's name. */
  readonly #got = new Map<string, number>()
  #end = 0

  constructor(elf: Elf) {
    this.#elf = elf
    for (const group of GROUPS) this.#place(group)
    this.#reserveGot()
    this.symbols = allSymbols(elf)
      .filter(({ section }) => section === SHN_ABS || this.#addresses.has(section))
      .map((symbol) => ({ ...symbol, value: this.#valueOf(symbol) }))
  }

  /** One segment of all loaded sections with these flags. */
  #place({ writable, executable }: (typeof GROUPS)[number]): void {
    const start = alignUp(this.#end, PAGE)
    let end = start
    const members: { section: Section; at: number }[] = []
    this.#elf.sections.forEach((section, index) => {
      if (!(section.flags & SHF_ALLOC) || (section.size === 0 && index === 0)) return
      if (((section.flags & SHF_WRITE) !== 0) !== writable || ((section.flags & SHF_EXECINSTR) !== 0) !== executable) return
      if (section.addralign > MAX_ALIGN)
        throw new ObjectError(
          `a section is to be aligned to ${section.addralign} bytes; at most ${MAX_ALIGN} are sensible; the file is damaged, compile it again`,
        )
      const at = alignUp(end, Math.max(1, section.addralign))
      end = at + section.size
      checkEnd(end)
      this.#addresses.set(index, at)
      members.push({ section, at: at - start })
    })
    if (end === start) return
    const bytes = new Uint8Array(end - start)
    for (const { section, at } of members)
      if (section.type !== SHT_NOBITS) bytes.set(this.#elf.file.slice(section.offset, section.size, 'a section').all, at)
    this.#add({ address: start, bytes, memoryBytes: bytes.byteLength, writable, executable })
  }

  #add(segment: Segment): void {
    this.segments.push(segment)
    this.#end = segment.address + segment.memoryBytes
  }

  /** Global offset table: the address of each symbol that code reaches through it. */
  #reserveGot(): void {
    const start = alignUp(this.#end, PAGE)
    const wanted = new Map<string, ElfSymbol>()
    for (const section of this.#elf.sections)
      if (section.type === SHT_RELA)
        for (const rela of relocationsOf(this.#elf.file, section))
          if (rela.type === R.GOTPCREL || rela.type === R.GOTPCREL32_LO || rela.type === R.GOTPCREL32_HI) {
            const symbol = this.#symbolOf(section, rela)
            wanted.set(symbol.name, symbol)
          }
    if (wanted.size === 0) return
    let at = start
    for (const [name, symbol] of wanted) {
      this.#got.set(name, at)
      if (symbol.section !== SHN_UNDEF) this.relocations.push({ address: at, value: this.#valueOf(symbol), kind: 'abs64' })
      at += GOT_ENTRY
    }
    this.#add({ address: start, bytes: new Uint8Array(at - start), memoryBytes: at - start, writable: false, executable: false })
  }

  /** Applies the relocations of one SHT_RELA section to the section that it names. */
  relocate(section: Section): void {
    const base = this.#addresses.get(section.info)
    if (base === undefined) return // debug information and the like
    for (const rela of relocationsOf(this.#elf.file, section)) if (rela.type !== R.NONE) this.#apply(section, rela, base + rela.offset)
  }

  #apply(section: Section, rela: Rela, address: number): void {
    const symbol = this.#symbolOf(section, rela)
    const value = this.#valueOf(symbol) + rela.addend
    const relative = BigInt(value - address)
    const { type } = rela
    if (type === R.ABS64) this.#absolute(symbol, address, value, 'abs64')
    else if (type === R.ABS32 || type === R.ABS32_LO) this.#absolute(symbol, address, value, 'low32')
    else if (type === R.ABS32_HI) this.#absolute(symbol, address, value, 'high32')
    else if (type === R.REL64) this.#write(address, relative, 8)
    else if (type === R.REL32 || type === R.REL32_LO) this.#write(address, relative, 4)
    else if (type === R.REL32_HI) this.#write(address, relative >> 32n, 4)
    else if (type === R.REL16) this.#write(address, (relative - 4n) / 4n, 2)
    else if (type === R.GOTPCREL || type === R.GOTPCREL32_LO) this.#write(address, this.#gotDistance(symbol, rela, address), 4)
    else if (type === R.GOTPCREL32_HI) this.#write(address, this.#gotDistance(symbol, rela, address) >> 32n, 4)
    else throw new ObjectError(`relocation type ${type} against ${symbol.name} is unknown; link the object with lld`)
  }

  #gotDistance = (symbol: ElfSymbol, rela: Rela, address: number): bigint => BigInt(this.#got.get(symbol.name)! + rela.addend - address)

  /** Absolute symbols and undefined weak ones (0) are known now; all others wait for the base. */
  #absolute(symbol: ElfSymbol, address: number, value: number, kind: Relocation['kind']): void {
    if (symbol.section !== SHN_ABS && symbol.section !== SHN_UNDEF) this.relocations.push({ address, value, kind })
    else this.#write(address, kind === 'high32' ? BigInt(value) >> 32n : BigInt(value), kind === 'abs64' ? 8 : 4)
  }

  #write(address: number, value: bigint, bytes: number): void {
    const segment = this.segments.find((s) => address >= s.address && address + bytes <= s.address + s.memoryBytes)
    if (segment === undefined)
      throw new ObjectError(`a relocation writes ${bytes} bytes at 0x${address.toString(16)}, outside every section; compile it again`)
    for (let i = 0; i < bytes; i++) segment.bytes[address - segment.address + i] = Number((value >> BigInt(8 * i)) & 0xffn)
  }

  #symbolOf(section: Section, rela: Rela): ElfSymbol {
    const symbol = this.#elf.symbolTables.get(section.link)?.[rela.symbol]
    if (symbol === undefined)
      throw new ObjectError(`a relocation names symbol ${rela.symbol}, which is not there; the file is damaged, compile it again`)
    return symbol
  }

  #valueOf(symbol: ElfSymbol): number {
    if (symbol.section === SHN_ABS) return symbol.value
    if (symbol.section === SHN_UNDEF && symbol.weak) return 0
    const base = this.#addresses.get(symbol.section)
    if (base !== undefined) return base + symbol.value
    const why = symbol.section === SHN_AMDGPU_LDS ? 'is LDS that the linker places' : 'is not defined in the object'
    throw new ObjectError(`${symbol.name || 'a section'} ${why}; link the object with lld before loading it`)
  }
}

/** The bytes of an image at an address. */
export function imageBytes(image: Image, address: number, bytes: number, what: string): Bytes {
  const segment = image.segments.find((s) => address >= s.address && address + bytes <= s.address + s.memoryBytes)
  if (segment === undefined)
    throw new ObjectError(`${what} is at 0x${address.toString(16)}, outside every segment; the file is damaged, compile it again`)
  const copy = new Uint8Array(bytes)
  copy.set(segment.bytes.subarray(address - segment.address, address - segment.address + bytes))
  return new Bytes(copy, what)
}

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align
