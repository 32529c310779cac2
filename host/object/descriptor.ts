/** Kernel descriptors (LLVM, "Kernel Descriptor", 64 bytes), and amd_kernel_code_t of version 2 objects (LLVM, AMDKernelCodeT.h, 256 bytes). */
import type { KernelDescriptor } from './code-object.ts'
import { type Bytes, struct } from './struct.ts'

const KERNEL_DESCRIPTOR = struct(64, [
  ['groupSegmentBytes', 'u32'],
  ['privateSegmentBytes', 'u32'],
  ['kernargBytes', 'u32'],
  ['reserved0', 'pad 4'],
  ['entryOffset', 'i64'],
  ['reserved1', 'pad 20'],
  ['rsrc3', 'u32'],
  ['rsrc1', 'u32'],
  ['rsrc2', 'u32'],
  ['properties', 'u16'],
  ['kernargPreload', 'u16'],
  ['reserved2', 'pad 4'],
])
const AMD_KERNEL_CODE = struct(256, [
  ['versionMajor', 'u32'],
  ['versionMinor', 'u32'],
  ['machineKind', 'u16'],
  ['machineMajor', 'u16'],
  ['machineMinor', 'u16'],
  ['machineStepping', 'u16'],
  ['entryOffset', 'i64'],
  ['prefetch', 'pad 16'],
  ['reserved0', 'pad 8'],
  ['rsrc1', 'u32'],
  ['rsrc2', 'u32'],
  ['properties', 'u32'],
  ['privateSegmentBytes', 'u32'],
  ['groupSegmentBytes', 'u32'],
  ['gdsBytes', 'u32'],
  ['kernargBytes', 'u64'],
  ['fbarriers', 'u32'],
  ['sgprCount', 'u16'],
  ['vgprCount', 'u16'],
  ['reservedRegisters', 'pad 12'],
  ['alignments', 'pad 3'],
  ['waveSizeLog2', 'u8'],
  ['callConvention', 'pad 4'],
  ['reserved1', 'pad 12'],
  ['runtimeSymbol', 'pad 8'],
  ['controlDirectives', 'pad 128'],
])

/** Bits of amd_kernel_code_t's code_properties and what they are in a kernel descriptor. User SGPRs (9:0) are the same in both. */
const CODE_USER_SGPRS = 0x3ff
const CODE_DYNAMIC_STACK = 1 << 20
const PROPERTY_WAVE32 = 1 << 10
const PROPERTY_DYNAMIC_STACK = 1 << 11

export interface ParsedDescriptor {
  readonly descriptor: KernelDescriptor
  /** Signed distance from the descriptor to the first instruction, bytes. */
  readonly entryOffset: number
}

/** @param bytes from the descriptor on */
export function parseDescriptor(bytes: Bytes, what: string): ParsedDescriptor {
  const { entryOffset, ...descriptor } = bytes.read(KERNEL_DESCRIPTOR, 0, what)
  return { descriptor, entryOffset }
}

/** The same facts from a version 2 object. @param bytes from amd_kernel_code_t on */
export function parseKernelCode(bytes: Bytes, what: string): ParsedDescriptor {
  const code = bytes.read(AMD_KERNEL_CODE, 0, what)
  const { groupSegmentBytes, privateSegmentBytes, kernargBytes, rsrc1, rsrc2, entryOffset } = code
  const properties =
    (code.properties & CODE_USER_SGPRS) |
    (code.waveSizeLog2 === 5 ? PROPERTY_WAVE32 : 0) |
    (code.properties & CODE_DYNAMIC_STACK ? PROPERTY_DYNAMIC_STACK : 0)
  const descriptor = { groupSegmentBytes, privateSegmentBytes, kernargBytes, rsrc1, rsrc2, rsrc3: 0, properties, kernargPreload: 0 }
  return { descriptor, entryOffset }
}

export const DESCRIPTOR_BYTES = KERNEL_DESCRIPTOR.bytes
export const KERNEL_CODE_BYTES = AMD_KERNEL_CODE.bytes
