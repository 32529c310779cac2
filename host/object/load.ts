/** Bytes of a file → CodeObject. */
import { ObjectError } from '../errors.ts'
import { bundleEntries, isBundle, pickEntry } from './bundle.ts'
import type { CodeObject, Kernel, KernelMetadata, ObjectSymbol } from './code-object.ts'
import { isCompressedBundle } from './compressed-bundle.ts'
import { DESCRIPTOR_BYTES, KERNEL_CODE_BYTES, type ParsedDescriptor, parseDescriptor, parseKernelCode } from './descriptor.ts'
import { type Elf, type ElfSymbol, ET_DYN, ET_REL, type Note, parseElf } from './elf.ts'
import { type Image, imageBytes, linkedImage, relocatableImage } from './image.ts'
import { featuresOf, machineName } from './machines.ts'
import { MAX_KERNARG, type Metadata, parseMetadata } from './metadata.ts'
import { parseMetadataV2 } from './metadata-v2.ts'
import { Bytes, struct } from './struct.ts'

/** What a code object must be. */
export interface LoadOptions {
  /** LLVM processor name; picks an entry of an offload bundle, and must be the code object's own. */
  readonly target?: string | undefined
}

/** e_ident[EI_ABIVERSION] of versions 2 to 6. */
const VERSIONS = [2, 3, 4, 5, 6] as const
type Version = (typeof VERSIONS)[number]

/** Notes: NT_AMDGPU_METADATA of versions 3 and later; NT_AMD_HSA_ISA_VERSION and NT_AMD_HSA_METADATA of version 2. */
const NT_AMDGPU_METADATA = 32
const NT_AMD_HSA_ISA_VERSION = 3
const NT_AMD_HSA_METADATA = 10
const ISA_VERSION = struct(16, [
  ['vendorBytes', 'u16'],
  ['architectureBytes', 'u16'],
  ['major', 'u32'],
  ['minor', 'u32'],
  ['stepping', 'u32'],
])

const STT_OBJECT = 1
const STT_FUNC = 2
const STT_AMDGPU_HSA_KERNEL = 10

/**
 * Loads an AMDGPU code object: an ELF file for amdhsa of code object version 2 to 6, linked or relocatable, or an uncompressed offload bundle with one.
 * @param bytes the file; it is not changed, and parts of it may be shared with the result
 * @throws {ObjectError} where it is something else, is truncated or damaged, or is for another target; compressed bundles go through {@link unbundle} first
 */
export function loadObject(bytes: Uint8Array, options: LoadOptions = {}): CodeObject {
  if (isCompressedBundle(bytes))
    throw new ObjectError('the file is a compressed offload bundle; unpack it first: loadObject(await unbundle(bytes, target))')
  const elf = parseElf(isBundle(bytes) ? pickEntry(bundleEntries(bytes), options.target) : bytes)
  const version = versionOf(elf)
  const target = targetOf(elf, version)
  if (options.target !== undefined && options.target !== target)
    throw new ObjectError(
      `the code object is for ${target}, expected ${options.target}; compile for ${options.target} or choose another target`,
    )
  const image = imageOf(elf)
  const metadata = metadataOf(elf.notes, version)
  const kernels = version === 2 ? kernelsV2(image, metadata) : kernelsOf(image, metadata)
  return {
    version,
    mach: elf.header.flags & 0xff,
    target,
    features: featuresOf(elf.header.flags, version),
    segments: image.segments,
    relocations: image.relocations,
    kernels,
    symbols: symbolsOf(image),
    printf: metadata.printf,
    kernel: (name) => pickKernel(kernels, name),
  }
}

function versionOf({ header }: Elf): Version {
  const version = VERSIONS[header.abiVersion]
  if (version === undefined)
    throw new ObjectError(
      `the ABI version is ${header.abiVersion}; Lanewise reads 0 to 4 (code object versions 2 to 6); compile with -mcode-object-version=5`,
    )
  return version
}

function targetOf({ header, notes }: Elf, version: Version): string {
  const mach = header.flags & 0xff
  if (mach === 0 && version === 2) return isaVersionOf(notes)
  const name = machineName(mach)
  if (name === undefined)
    throw new ObjectError(
      `e_flags is 0x${header.flags.toString(16)}; no processor with EF_AMDGPU_MACH 0x${mach.toString(16)} is known; compile for another`,
    )
  return name
}

function isaVersionOf(notes: readonly Note[]): string {
  const note = notes.find(({ owner, type }) => owner === 'AMD' && type === NT_AMD_HSA_ISA_VERSION)
  if (note === undefined) throw new ObjectError('neither e_flags nor a note says the processor; compile with -mcpu')
  const { major, minor, stepping } = new Bytes(note.description, 'the ISA version note').read(ISA_VERSION, 0, 'the ISA version')
  return `gfx${major}${minor}${stepping.toString(16)}`
}

function imageOf(elf: Elf): Image {
  if (elf.header.type === ET_DYN) return linkedImage(elf)
  if (elf.header.type === ET_REL) return relocatableImage(elf)
  throw new ObjectError(
    `the ELF type is ${elf.header.type}; expected ${ET_DYN} (shared object) or ${ET_REL} (relocatable); link with lld -shared`,
  )
}

function metadataOf(notes: readonly Note[], version: Version): Metadata {
  const [owner, type, parse] =
    version === 2 ? (['AMD', NT_AMD_HSA_METADATA, parseMetadataV2] as const) : (['AMDGPU', NT_AMDGPU_METADATA, parseMetadata] as const)
  const note = notes.find((n) => n.owner === owner && n.type === type)
  return note === undefined ? { kernels: [], printf: [] } : parse(note.description)
}

/** Versions 3 and later: a kernel is a symbol `name.kd` of a descriptor. */
function kernelsOf(image: Image, metadata: Metadata): Kernel[] {
  const symbols = byName(image)
  const described = metadata.kernels.map((kernel) => {
    const symbol = symbols.get(kernel.symbol)
    if (symbol === undefined)
      throw new ObjectError(
        `kernel ${kernel.name} of the metadata has no symbol ${kernel.symbol}; the file was stripped or is damaged, compile it again`,
      )
    return kernelAt(image, kernel.name, symbol.value, kernel, descriptorAt)
  })
  const known = new Set(metadata.kernels.map(({ symbol }) => symbol))
  const others = [...symbols.values()].filter(({ name, type }) => type === STT_OBJECT && name.endsWith('.kd') && !known.has(name))
  return [...described, ...others.map(({ name, value }) => kernelAt(image, name.slice(0, -'.kd'.length), value, undefined, descriptorAt))]
}

/** Version 2: a kernel is a symbol of its own type at amd_kernel_code_t, before the code. */
function kernelsV2(image: Image, metadata: Metadata): Kernel[] {
  const described = new Map(metadata.kernels.map((kernel) => [kernel.name, kernel]))
  return [...byName(image).values()]
    .filter(({ type }) => type === STT_AMDGPU_HSA_KERNEL)
    .map(({ name, value }) => kernelAt(image, name, value, described.get(name), kernelCodeAt))
}

type DescriptorAt = (image: Image, address: number, what: string) => ParsedDescriptor
const descriptorAt: DescriptorAt = (image, address, what) => parseDescriptor(imageBytes(image, address, DESCRIPTOR_BYTES, what), what)
const kernelCodeAt: DescriptorAt = (image, address, what) => parseKernelCode(imageBytes(image, address, KERNEL_CODE_BYTES, what), what)

function kernelAt(image: Image, name: string, address: number, metadata: KernelMetadata | undefined, at: DescriptorAt): Kernel {
  const { descriptor, entryOffset } = at(image, address, `the descriptor of kernel ${name}`)
  const entry = address + entryOffset
  if (!image.segments.some((s) => s.executable && entry >= s.address && entry < s.address + s.memoryBytes))
    throw new ObjectError(`kernel ${name} begins at 0x${entry.toString(16)}, which is no code; its descriptor is damaged, compile it again`)
  const kernargBytes = Math.max(descriptor.kernargBytes, metadata?.kernargBytes ?? 0)
  if (kernargBytes > MAX_KERNARG)
    throw new ObjectError(
      `kernel ${name} wants ${kernargBytes} bytes of arguments; at most ${MAX_KERNARG} are sensible; the file is damaged, compile it again`,
    )
  return { name, descriptorAddress: address, entry, descriptor, metadata }
}

const byName = (image: Image): Map<string, ElfSymbol> =>
  new Map(image.symbols.filter(({ name }) => name !== '').map((symbol) => [symbol.name, symbol]))

function symbolsOf(image: Image): Map<string, ObjectSymbol> {
  const kindOf = (type: number): ObjectSymbol['kind'] => (type === STT_FUNC ? 'function' : type === STT_OBJECT ? 'object' : 'other')
  return new Map([...byName(image)].map(([name, { type, value, bytes }]) => [name, { name, address: value, bytes, kind: kindOf(type) }]))
}

function pickKernel(kernels: readonly Kernel[], name: string | undefined): Kernel {
  const found = name === undefined && kernels.length === 1 ? kernels[0] : kernels.find((kernel) => kernel.name === name)
  if (found !== undefined) return found
  const names = kernels.map((kernel) => kernel.name).join(', ')
  if (kernels.length === 0) throw new ObjectError('the code object has no kernels; was it compiled with kernel functions?')
  if (name === undefined) throw new ObjectError(`the code object has ${kernels.length} kernels: ${names}; name one of them`)
  throw new ObjectError(`the code object has no kernel "${name}"; it has ${names}`)
}
