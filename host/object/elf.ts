/** ELF files for AMDGPU: header, sections, program headers, symbols, notes, relocations. Sources: System V ABI; LLVM, "User Guide for AMDGPU Backend", ELF Code Object. */
import { ObjectError } from '../errors.ts'
import { Bytes, struct } from './struct.ts'

const IDENT = struct(16, [
  ['magic', 'u32'],
  ['class', 'u8'],
  ['data', 'u8'],
  ['identVersion', 'u8'],
  ['osabi', 'u8'],
  ['abiVersion', 'u8'],
  ['reserved', 'pad 7'],
])
const ELF_HEADER = struct(64, [
  ['ident', 'pad 16'],
  ['type', 'u16'],
  ['machine', 'u16'],
  ['version', 'u32'],
  ['entry', 'u64'],
  ['phoff', 'u64'],
  ['shoff', 'u64'],
  ['flags', 'u32'],
  ['ehsize', 'u16'],
  ['phentsize', 'u16'],
  ['phnum', 'u16'],
  ['shentsize', 'u16'],
  ['shnum', 'u16'],
  ['shstrndx', 'u16'],
])
const PROGRAM_HEADER = struct(56, [
  ['type', 'u32'],
  ['flags', 'u32'],
  ['offset', 'u64'],
  ['vaddr', 'u64'],
  ['paddr', 'u64'],
  ['filesz', 'u64'],
  ['memsz', 'u64'],
  ['align', 'u64'],
])
const SECTION_HEADER = struct(64, [
  ['name', 'u32'],
  ['type', 'u32'],
  ['flags', 'u64'],
  ['addr', 'u64'],
  ['offset', 'u64'],
  ['size', 'u64'],
  ['link', 'u32'],
  ['info', 'u32'],
  ['addralign', 'u64'],
  ['entsize', 'u64'],
])
const SYMBOL = struct(24, [
  ['name', 'u32'],
  ['info', 'u8'],
  ['other', 'u8'],
  ['shndx', 'u16'],
  ['value', 'u64'],
  ['size', 'u64'],
])
const NOTE = struct(12, [
  ['namesz', 'u32'],
  ['descsz', 'u32'],
  ['type', 'u32'],
])
const RELA = struct(24, [
  ['offset', 'u64'],
  ['type', 'u32'],
  ['symbol', 'u32'],
  ['addend', 'i64'],
])

const ELF_MAGIC = 0x464c457f
const CLASS_64 = 2
const LITTLE_ENDIAN = 1
const EM_AMDGPU = 224
const OSABI_AMDGPU_HSA = 64
export const ET_REL = 1
export const ET_DYN = 3
export const PT_LOAD = 1
const PT_NOTE = 4
export const PF_X = 1
export const PF_W = 2
const SHT_SYMTAB = 2
export const SHT_RELA = 4
const SHT_NOTE = 7
export const SHT_NOBITS = 8
const SHT_DYNSYM = 11
export const SHF_WRITE = 1
export const SHF_ALLOC = 2
export const SHF_EXECINSTR = 4
export const SHN_UNDEF = 0
export const SHN_AMDGPU_LDS = 0xff00
export const SHN_ABS = 0xfff1

export type ElfHeader = ReturnType<typeof readHeader>
export type Section = Readonly<Record<(typeof SECTION_HEADER)['fields'][number][0], number>>
export type ProgramHeader = Readonly<Record<(typeof PROGRAM_HEADER)['fields'][number][0], number>>
export type Rela = Readonly<Record<(typeof RELA)['fields'][number][0], number>>

export interface ElfSymbol {
  readonly name: string
  /** STT_*: 1 object, 2 function, 10 HSA kernel (version 2). */
  readonly type: number
  readonly weak: boolean
  readonly section: number
  readonly value: number
  readonly bytes: number
}

export interface Note {
  readonly owner: string
  readonly type: number
  readonly description: Uint8Array
}

/** An ELF file, its tables read. */
export interface Elf {
  readonly file: Bytes
  readonly header: ElfHeader
  readonly sections: readonly Section[]
  readonly programHeaders: readonly ProgramHeader[]
  /** By section index, the symbols of each symbol table. */
  readonly symbolTables: ReadonlyMap<number, readonly ElfSymbol[]>
  readonly notes: readonly Note[]
}

/** @throws {ObjectError} where it is no 64-bit little-endian ELF file for amdhsa, or is truncated or damaged */
export function parseElf(bytes: Uint8Array): Elf {
  const file = new Bytes(bytes, 'the file')
  const header = readHeader(file)
  const sections = header.shnum === 0 ? [] : file.table(SECTION_HEADER, header.shoff, header.shnum, 'section header')
  const programHeaders = header.phnum === 0 ? [] : file.table(PROGRAM_HEADER, header.phoff, header.phnum, 'program header')
  return {
    file,
    header,
    sections,
    programHeaders,
    symbolTables: readSymbols(file, sections),
    notes: readNotes(file, sections, programHeaders),
  }
}

function readHeader(file: Bytes) {
  if (file.length < ELF_HEADER.bytes)
    throw new ObjectError(`the file has ${file.length} bytes; an ELF file has at least ${ELF_HEADER.bytes}; is it a code object at all?`)
  const ident = file.read(IDENT, 0, 'the ELF header')
  const expect = (what: string, found: number, expected: number, advice: string) => {
    if (found !== expected) throw new ObjectError(`${what} is 0x${found.toString(16)}, expected 0x${expected.toString(16)}; ${advice}`)
  }
  expect('the magic number', ident.magic, ELF_MAGIC, 'give an AMDGPU ELF code object, such as clang writes with -target amdgcn-amd-amdhsa')
  expect('the ELF class', ident.class, CLASS_64, 'AMDGPU code objects for amdhsa are 64-bit; r600 objects are not supported')
  expect('the byte order', ident.data, LITTLE_ENDIAN, 'AMDGPU code objects are little-endian')
  // Only now: in a file that is no ELF file these fields are anything.
  const header = { ...ident, ...file.read(ELF_HEADER, 0, 'the ELF header') }
  expect('the machine', header.machine, EM_AMDGPU, 'it is an ELF file for another processor; give the device code, not the host program')
  expect('the OS ABI', header.osabi, OSABI_AMDGPU_HSA, 'compile for the target triple amdgcn-amd-amdhsa')
  if (header.shnum > 0) expect('the size of a section header', header.shentsize, SECTION_HEADER.bytes, 'the file is damaged')
  if (header.phnum > 0) expect('the size of a program header', header.phentsize, PROGRAM_HEADER.bytes, 'the file is damaged')
  return header
}

function readSymbols(file: Bytes, sections: readonly Section[]): Map<number, readonly ElfSymbol[]> {
  const tables = new Map<number, readonly ElfSymbol[]>()
  sections.forEach((section, index) => {
    if (section.type !== SHT_SYMTAB && section.type !== SHT_DYNSYM) return
    const strings = sectionBytes(file, sections, section.link, 'string table')
    const count = Math.floor(section.size / SYMBOL.bytes)
    const symbols = file.table(SYMBOL, section.offset, count, 'symbol').map((symbol) => ({
      name: strings.string(symbol.name, 'the name of a symbol'),
      type: symbol.info & 15,
      weak: symbol.info >>> 4 === 2,
      section: symbol.shndx,
      value: symbol.value,
      bytes: symbol.size,
    }))
    tables.set(index, symbols)
  })
  return tables
}

/** The bytes of a section in the file. */
export function sectionBytes(file: Bytes, sections: readonly Section[], index: number, what: string): Bytes {
  const section = sections[index]
  if (section === undefined)
    throw new ObjectError(
      `${what}: section ${index} is wanted, the file has ${sections.length}; the file is damaged, copy or compile it again`,
    )
  return file.slice(section.offset, section.size, what)
}

function readNotes(file: Bytes, sections: readonly Section[], programHeaders: readonly ProgramHeader[]): Note[] {
  const segments = programHeaders.filter(({ type }) => type === PT_NOTE).map(({ offset, filesz }) => [offset, filesz] as const)
  const places =
    segments.length > 0 ? segments : sections.filter(({ type }) => type === SHT_NOTE).map(({ offset, size }) => [offset, size] as const)
  return places.flatMap(([offset, bytes]) => notesOf(file.slice(offset, bytes, 'the notes')))
}

function notesOf(bytes: Bytes): Note[] {
  const notes: Note[] = []
  for (let at = 0; at + NOTE.bytes <= bytes.length; ) {
    const { namesz, descsz, type } = bytes.read(NOTE, at, 'a note')
    const owner = bytes.slice(at + NOTE.bytes, namesz, "a note's name").string(0, "a note's name")
    const start = at + NOTE.bytes + align4(namesz)
    notes.push({ owner, type, description: bytes.slice(start, descsz, "a note's description").all })
    at = start + align4(descsz)
  }
  return notes
}

/** The relocations of a SHT_RELA section. */
export const relocationsOf = (file: Bytes, section: Section): readonly Rela[] =>
  file.table(RELA, section.offset, Math.floor(section.size / RELA.bytes), 'relocation')

const align4 = (value: number): number => (value + 3) & ~3
