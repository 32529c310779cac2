/** The processors that Lanewise knows, and the generations whose tables they share. Data only. */

/** A generation shares one set of opcode tables; opcode columns of rows stand in this order. */
export const GENERATIONS = ['gfx6', 'gfx7', 'gfx8'] as const
/** Processors that share opcode tables: gfx6 is GCN 1.0, gfx7 GCN 1.1, gfx8 GCN 1.2. */
export type Generation = (typeof GENERATIONS)[number]

/** What tells one processor of a generation from another. */
export interface Target {
  /** LLVM processor name. */
  readonly name: string
  readonly generation: Generation
  /** EF_AMDGPU_MACH value in e_flags of its code objects (LLVM, "User Guide for AMDGPU Backend", ELF header). */
  readonly mach: number
  /** Lanes of a wave. */
  readonly waveSize: 64 | 32
}

/** GCN 1.0 is gfx6, GCN 1.1 gfx7, GCN 1.2 gfx8. */
export const TARGETS = {
  gfx600: { name: 'gfx600', generation: 'gfx6', mach: 0x020, waveSize: 64 },
  gfx700: { name: 'gfx700', generation: 'gfx7', mach: 0x022, waveSize: 64 },
  gfx803: { name: 'gfx803', generation: 'gfx8', mach: 0x02a, waveSize: 64 },
} as const satisfies Record<string, Target>
/** LLVM's name of a processor that Lanewise has tables for. */
export type TargetName = keyof typeof TARGETS
