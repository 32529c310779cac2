/**
 * The linear-memory map that both engines run on. Every value is a byte offset or a byte count; host/build copies this file's
 * numbers into assembly/generated/layout.ts, so they are written here only.
 *
 *   machine ──► regions[]      guest allocations, sorted by guest address
 *           ──► counters[]     how often each operation number was executed (approximate ones only)
 *   program ──► pcTable[]      one u32 a code dword: address of its plan record, 0 = not planned yet
 *   wave      header │ scalar file │ EXEC as lane masks │ vector file (rows of waveSize dwords)
 */

// --- machine header: one a device
/** Address of the region table. */
export const MACHINE_REGIONS = 0
/** Number of regions. */
export const MACHINE_REGION_COUNT = 4
/** Address of a u64 counter for each operation number. */
export const MACHINE_COUNTERS = 8
/** Address and bytes of the global data share. */
export const MACHINE_GDS = 12
export const MACHINE_GDS_BYTES = 16
/** High dwords of the flat apertures: addresses whose high dword equals these are LDS and scratch (gfx7 and gfx8). */
export const MACHINE_SHARED_APERTURE = 20
export const MACHINE_PRIVATE_APERTURE = 24
/** Another number for each table of regions, so that engines may remember what they found there; 0: they must not. */
export const MACHINE_REGIONS_NUMBER = 28
/** What s_memtime and s_memrealtime return, u64; each read adds one, so that runs repeat. A workgroup starts at 2^32 times its number. */
export const MACHINE_TIME = 32
export const MACHINE_BYTES = 64

// --- region: 32 bytes
/** Guest address, u64. */
export const REGION_BASE = 0
/** Bytes, u32 (a region is below 4 GiB). */
export const REGION_SIZE = 8
/** Where its bytes are in linear memory. */
export const REGION_HOST = 12
/** Bit 0: writable. */
export const REGION_FLAGS = 16
export const REGION_BYTES = 32

// --- program header: one a loaded piece of machine code
export const PROGRAM_CODE_BYTES = 0
export const PROGRAM_PC_TABLE = 4
/** Guest address of code byte 0, u64. */
export const PROGRAM_BASE = 8
/** Index into GENERATIONS. */
export const PROGRAM_GENERATION = 16
export const PROGRAM_WAVE_SIZE = 20
/** A number that no other program of this process has: addresses are used again. 0 where records change, so that nothing of them may be remembered. */
export const PROGRAM_ID = 24
export const PROGRAM_BYTES = 32

// --- wave header
/** Byte offset from the program's first byte of the instruction that runs next (or that faulted). */
export const WAVE_PC = 0
/** 0 or 1. */
export const WAVE_SCC = 4
export const WAVE_MODE = 8
/** Bit 27 of MODE: VGPR indexing is on (GCN3 manual, MODE register). */
export const MODE_GPR_IDX_EN = 1 << 27
/** Bit 28: vector instructions are skipped. */
export const MODE_VSKIP = 1 << 28
export const WAVE_STATUS = 12
export const WAVE_TRAPSTS = 16
export const WAVE_SIZE = 20
export const WAVE_PROGRAM = 24
export const WAVE_MACHINE = 28
/** Address and bytes of the workgroup's LDS. */
export const WAVE_LDS = 32
export const WAVE_LDS_BYTES = 36
export const WAVE_VGPR_COUNT = 40
/** SGPRs that the wave may name (VCC, M0, EXEC and TTMPs aside). */
export const WAVE_SGPR_COUNT = 44
/** Instructions executed, u64. */
export const WAVE_INSTRUCTIONS = 48
/** HW_ID, GPR_ALLOC, LDS_ALLOC, IB_STS as s_getreg reads them. */
export const WAVE_HW_ID = 56
export const WAVE_GPR_ALLOC = 60
export const WAVE_LDS_ALLOC = 64
export const WAVE_IB_STS = 68
/** Guest address of the wave's scratch, u64, and bytes a lane: what the private flat aperture reaches. */
export const WAVE_SCRATCH_BASE = 72
export const WAVE_SCRATCH_LANE_BYTES = 80
/** Why the engine stopped (Stop), and the fault record that goes with it. */
export const WAVE_STOP = 84
/** FaultCode. */
export const WAVE_FAULT = 88
/** Lane of the fault, or 0xffffffff where it is a scalar access. */
export const WAVE_FAULT_LANE = 92
/** Address, u64: guest address, or LDS byte address. */
export const WAVE_FAULT_ADDRESS = 96
/** Bytes of the access. */
export const WAVE_FAULT_BYTES = 104
/** Free for the engine that runs the wave; never compared. */
export const WAVE_ENGINE = 128
export const WAVE_ENGINE_BYTES = 128
/** Of these, u64: EXEC that the row at WAVE_EXEC_MASKS was made of. Whoever lays a wave out leaves both zero, or makes both. */
export const WAVE_MASKED = 128
/** Scalar file: dwords indexed by operand encoding 0–127: SGPRs, VCC 106/107, TTMPs, M0 124, EXEC 126/127. */
export const WAVE_SCALARS = 256
export const SCALAR_COUNT = 128
/** EXEC expanded to one all-ones or zero dword a lane; a cache kept by the engine, never compared. */
export const WAVE_EXEC_MASKS = 768
export const EXEC_MASKS_BYTES = 256
/** Vector file: rows of waveSize dwords, one a VGPR. */
export const WAVE_VECTORS = 1024

/** Offset of a scalar (operand encoding 0–127) in a wave's block. */
export const scalarOffset = (encoding: number): number => WAVE_SCALARS + encoding * 4
/** Offset of a VGPR's row in a wave's block. */
export const vectorOffset = (vgpr: number, waveSize: number): number => WAVE_VECTORS + vgpr * waveSize * 4
/** Number of the VGPR at an offset; a fraction within its row, negative before the vector file. */
export const vgprAt = (offset: number, waveSize: number): number => (offset - WAVE_VECTORS) / (waveSize * 4)
/** Bytes of the block of a wave with so many VGPRs. */
export const waveBytes = (vgprCount: number, waveSize: number): number => vectorOffset(vgprCount, waveSize)

// --- scalar operand encodings of gfx6 to gfx8
export const VCC_LO = 106
export const VCC_HI = 107
export const M0 = 124
export const EXEC_LO = 126
export const EXEC_HI = 127

// --- plan record: 32 bytes, see record.ts
export const RECORD_OP = 0
export const RECORD_FLAGS = 2
export const RECORD_PC = 4
export const RECORD_DST = 8
export const RECORD_SRC0 = 12
export const RECORD_SRC1 = 16
export const RECORD_SRC2 = 20
export const RECORD_IMM = 24
export const RECORD_MODS = 28
export const RECORD_BYTES = 32
