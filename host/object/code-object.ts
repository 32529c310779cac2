/** What a loaded AMDGPU code object is: plain data, ready to be laid out in guest memory. Knows nothing of devices or instructions. */

export interface CodeObject {
  /** Code object version (LLVM, "User Guide for AMDGPU Backend", Code Object V2 to V6). */
  readonly version: 2 | 3 | 4 | 5 | 6
  /** EF_AMDGPU_MACH of e_flags; 0 where version 2 names the processor only in a note. */
  readonly mach: number
  /** LLVM processor name such as `gfx803`. */
  readonly target: string
  /** Target features with a state, as in a target ID: `xnack+`, `sramecc-`. */
  readonly features: readonly string[]
  /** What is to be mapped, sorted by address. Addresses count from the address at which the device places the object. */
  readonly segments: readonly Segment[]
  /** Places that depend on where the object is put: each gets `base + value` as a 64-bit (or the half of one as a 32-bit) number. */
  readonly relocations: readonly Relocation[]
  /** In the order of the metadata, then of the symbol table. */
  readonly kernels: readonly Kernel[]
  /** Global variables and functions by name. */
  readonly symbols: ReadonlyMap<string, ObjectSymbol>
  /** What hostcall-less printf needs: format strings of the metadata, in order. */
  readonly printf: readonly string[]
  /**
   * The kernel of this name; without a name the only one.
   * @throws {ObjectError} listing the kernels that exist
   */
  kernel(name?: string): Kernel
}

export interface Segment {
  /** Offset from the object's base in guest memory; a multiple of nothing in particular. */
  readonly address: number
  /** Bytes from the file; may be fewer than `memoryBytes`, the rest is zero. */
  readonly bytes: Uint8Array
  readonly memoryBytes: number
  readonly writable: boolean
  readonly executable: boolean
}

export interface Relocation {
  /** Offset from the object's base of the place to write. */
  readonly address: number
  /** Offset from the object's base of what it refers to. */
  readonly value: number
  /** `abs64` writes 8 bytes; `low32` and `high32` write that half of the sum. */
  readonly kind: 'abs64' | 'low32' | 'high32'
}

export interface ObjectSymbol {
  readonly name: string
  readonly address: number
  readonly bytes: number
  readonly kind: 'function' | 'object' | 'other'
}

/** A kernel of a code object: its descriptor, and what the metadata says of it. */
export interface Kernel {
  readonly name: string
  /** Offset of the kernel descriptor (version 2: of amd_kernel_code_t) from the object's base. */
  readonly descriptorAddress: number
  /** Offset of the first instruction from the object's base. */
  readonly entry: number
  readonly descriptor: KernelDescriptor
  /** Absent where the object has no metadata for the kernel. */
  readonly metadata: KernelMetadata | undefined
}

/** The 64 bytes of a kernel descriptor (LLVM, "Kernel Descriptor"), or the same facts from amd_kernel_code_t. */
export interface KernelDescriptor {
  /** Fixed LDS of a workgroup, bytes. */
  readonly groupSegmentBytes: number
  /** Fixed scratch of a work-item, bytes. */
  readonly privateSegmentBytes: number
  /** Bytes of the kernel argument segment; 0 in old objects that say it only in the metadata. */
  readonly kernargBytes: number
  /** Compute_pgm_rsrc1 to 3. */
  readonly rsrc1: number
  readonly rsrc2: number
  readonly rsrc3: number
  /** kernel_code_properties: which user SGPRs are set up, wave size, dynamic stack. */
  readonly properties: number
  /** Kernarg preload specification (gfx90a and later). */
  readonly kernargPreload: number
}

/** Metadata of a kernel (LLVM, "Code Object V3 Metadata" and later); absent keys take the documentation's defaults. */
export interface KernelMetadata {
  readonly name: string
  /** Name of the descriptor's symbol. */
  readonly symbol: string
  readonly args: readonly KernelArgument[]
  readonly kernargBytes: number
  readonly kernargAlign: number
  readonly groupSegmentBytes: number
  readonly privateSegmentBytes: number
  readonly waveSize: number
  readonly sgprCount: number
  readonly vgprCount: number
  readonly agprCount: number
  readonly maxFlatWorkgroupSize: number
  readonly requiredWorkgroupSize: readonly [number, number, number] | undefined
  readonly usesDynamicStack: boolean
}

/** An argument as the metadata describes it: place, size and kind. */
export interface KernelArgument {
  readonly name: string | undefined
  readonly typeName: string | undefined
  readonly offset: number
  readonly bytes: number
  /** by_value, global_buffer, dynamic_shared_pointer, image, sampler, pipe, queue, or hidden_*. */
  readonly valueKind: string
  /** private, global, constant, local, generic or region, for pointers. */
  readonly addressSpace: string | undefined
  /** Alignment of what a dynamic_shared_pointer points to, bytes. */
  readonly pointeeAlign: number
}
