/** The kernel argument segment: explicit arguments checked against the metadata, hidden ones filled in. */
import { LaunchError } from '../errors.ts'
import type { KernelArgument } from '../object/code-object.ts'
import type { DeviceKernel } from './device.ts'
import { hex } from './memory.ts'
import type { Size } from './packet.ts'
import { dimensions } from './packet.ts'

/** An explicit kernel argument. */
export type Argument =
  /** A value, little-endian, as many bytes as the kernel takes. */
  | { readonly bytes: Uint8Array }
  /** A pointer: the guest address of a buffer. */
  | { readonly address: bigint }
  /** A pointer to so many bytes of dynamic LDS. */
  | { readonly localBytes: number }

/** What hidden arguments tell. */
export interface HiddenFacts {
  readonly grid: Size
  readonly workgroup: Size
  readonly apertures: { readonly shared: number; readonly private: number }
  /** LDS beyond the kernel's own and that of local arguments, bytes. */
  readonly dynamicLdsBytes: number
  /** Guest address of the queue; only asked for where the kernel wants it. */
  queueAddress(): bigint
}

export interface Kernarg {
  readonly bytes: Uint8Array
  /** LDS beyond the kernel's own, local arguments included. */
  readonly dynamicLdsBytes: number
}

/** Builds the segment by the kernel's metadata. @throws {LaunchError} where arguments do not fit it */
export function kernargSegment(kernel: DeviceKernel, args: readonly Argument[], facts: HiddenFacts): Kernarg {
  const { metadata, descriptor } = kernel
  if (metadata === undefined && args.length > 0)
    throw new LaunchError(`kernel ${kernel.name} has no metadata that tells its arguments; give the kernarg segment's bytes instead`)
  const all = metadata?.args ?? []
  const explicit = all.filter((arg) => !isHidden(arg))
  if (args.length !== explicit.length)
    throw new LaunchError(
      `kernel ${kernel.name} takes ${explicit.length} arguments (${explicit.map(describe).join(', ')}), ${args.length} were given`,
    )
  const end = all.reduce((bytes, arg) => Math.max(bytes, arg.offset + arg.bytes), 0)
  const bytes = new Uint8Array(Math.max(end, metadata?.kernargBytes ?? 0, descriptor.kernargBytes))
  let lds = 0
  explicit.forEach((parameter, i) => {
    const argument = args[i]!
    const where = `argument ${i} of kernel ${kernel.name} (${describe(parameter)})`
    if ('localBytes' in argument) {
      lds = alignUp(descriptor.groupSegmentBytes + lds, parameter.pointeeAlign) - descriptor.groupSegmentBytes
      writeNumber(bytes, parameter, localPointer(where, parameter, argument.localBytes, descriptor.groupSegmentBytes + lds))
      lds += argument.localBytes
    } else
      bytes.set(
        'address' in argument ? pointer(where, parameter, argument.address) : value(where, parameter, argument.bytes),
        parameter.offset,
      )
  })
  const dynamicLdsBytes = lds + facts.dynamicLdsBytes
  for (const parameter of all) if (isHidden(parameter)) writeNumber(bytes, parameter, hidden(parameter, { ...facts, dynamicLdsBytes }))
  return { bytes, dynamicLdsBytes }
}

const isHidden = ({ valueKind }: KernelArgument): boolean => valueKind.startsWith('hidden_')
const describe = ({ name, typeName, valueKind, bytes }: KernelArgument): string =>
  [name, typeName ?? `${valueKind} of ${bytes} bytes`].filter((x) => x !== undefined).join(': ')

/** Value kinds whose argument is the address of guest memory. */
const POINTERS = new Set(['global_buffer', 'pointer'])
const UNSUPPORTED = new Set(['image', 'sampler', 'pipe', 'queue'])

function value(where: string, parameter: KernelArgument, bytes: Uint8Array): Uint8Array {
  if (UNSUPPORTED.has(parameter.valueKind))
    throw new LaunchError(`${where} is a ${parameter.valueKind}; Lanewise has none; use a kernel without`)
  if (parameter.valueKind === 'dynamic_shared_pointer')
    throw new LaunchError(`${where} is a pointer to LDS, a value was given; say how many bytes of LDS it points to`)
  if (bytes.byteLength !== parameter.bytes)
    throw new LaunchError(`${where} takes ${parameter.bytes} bytes, ${bytes.byteLength} were given; check its type`)
  return bytes
}

function pointer(where: string, parameter: KernelArgument, address: bigint): Uint8Array {
  if (!POINTERS.has(parameter.valueKind) && !(parameter.valueKind === 'by_value' && parameter.bytes === 8))
    throw new LaunchError(`${where} is a ${parameter.valueKind}, a buffer was given; check the order of the arguments`)
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, address, true)
  return bytes.subarray(0, parameter.bytes)
}

function localPointer(where: string, parameter: KernelArgument, localBytes: number, offset: number): bigint {
  if (parameter.valueKind !== 'dynamic_shared_pointer')
    throw new LaunchError(`${where} is a ${parameter.valueKind}, bytes of LDS were given; only a pointer to local memory takes them`)
  if (!Number.isInteger(localBytes) || localBytes < 0)
    throw new LaunchError(`${where} is to point to ${localBytes} bytes of LDS; give a whole number, 0 or more`)
  return BigInt(offset)
}

/** A hidden argument's value (LLVM, "AMDHSA Code Object V3/V5 Kernel Argument Metadata Map"). */
function hidden({ valueKind }: KernelArgument, facts: HiddenFacts): bigint {
  const d = 'xyz'.indexOf(valueKind.at(-1)!)
  const grid = facts.grid[d] ?? 1
  const workgroup = facts.workgroup[d] ?? 1
  switch (valueKind.replace(/_[xyz]$/, '')) {
    // Partial workgroups do not count here.
    case 'hidden_block_count':
      return BigInt(Math.floor(grid / workgroup))
    case 'hidden_group_size':
      return BigInt(workgroup)
    case 'hidden_remainder':
      return BigInt(grid % workgroup)
    case 'hidden_grid_dims':
      return BigInt(dimensions(facts.grid))
    case 'hidden_dynamic_lds_size':
      return BigInt(facts.dynamicLdsBytes)
    case 'hidden_private_base':
      return BigInt(facts.apertures.private)
    case 'hidden_shared_base':
      return BigInt(facts.apertures.shared)
    case 'hidden_queue_ptr':
      return facts.queueAddress()
    // There is no host to call, no printf buffer, no heap, no device queue: the documentation lets all of these be 0.
    case 'hidden_global_offset':
    case 'hidden_none':
    case 'hidden_printf_buffer':
    case 'hidden_hostcall_buffer':
    case 'hidden_heap_v1':
    case 'hidden_default_queue':
    case 'hidden_completion_action':
    case 'hidden_multigrid_sync_arg':
      return 0n
    default:
      throw new LaunchError(
        `the kernel wants the hidden argument ${valueKind}, which Lanewise does not know; compile for code object version 4, 5 or 6`,
      )
  }
}

function writeNumber(segment: Uint8Array, { offset, bytes, valueKind }: KernelArgument, number: bigint): void {
  if (number >> BigInt(bytes * 8) !== 0n)
    throw new LaunchError(`${valueKind} is ${hex(number)}, which its ${bytes} bytes do not hold; use a smaller grid or workgroup`)
  for (let i = 0; i < bytes; i++) segment[offset + i] = Number((number >> BigInt(i * 8)) & 0xffn)
}

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align
