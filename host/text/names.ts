/** Symbolic names of immediates, as LLVM's "Syntax of AMDGPU Instruction Operands" has them. Data for both directions. */
import type { Generation } from '../isa/targets.ts'

/** Hardware registers of s_getreg and s_setreg, by number. */
export const HARDWARE_REGISTERS: readonly (string | undefined)[] = [
  undefined,
  'HW_REG_MODE',
  'HW_REG_STATUS',
  'HW_REG_TRAPSTS',
  'HW_REG_HW_ID',
  'HW_REG_GPR_ALLOC',
  'HW_REG_LDS_ALLOC',
  'HW_REG_IB_STS',
]

const MESSAGES: readonly (string | undefined)[] = [
  undefined,
  'MSG_INTERRUPT',
  'MSG_GS',
  'MSG_GS_DONE',
  'MSG_SAVEWAVE',
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  'MSG_SYSMSG',
]

/** Messages of s_sendmsg, by number; MSG_SAVEWAVE exists from GCN 1.2 on. */
export const messageNames = (generation: Generation): readonly (string | undefined)[] =>
  generation === 'gfx8' ? MESSAGES : MESSAGES.map((name) => (name === 'MSG_SAVEWAVE' ? undefined : name))

export const MESSAGE_GS = 2
export const MESSAGE_GS_DONE = 3
export const MESSAGE_SYSMSG = 15
/** An operation that only MSG_GS_DONE has. */
export const GS_NOP = 0
/** Operations of MSG_GS and MSG_GS_DONE, by number. */
export const GS_OPERATIONS: readonly string[] = ['GS_OP_NOP', 'GS_OP_CUT', 'GS_OP_EMIT', 'GS_OP_EMIT_CUT']
/** Operations of MSG_SYSMSG, by number. */
export const SYSMSG_OPERATIONS: readonly (string | undefined)[] = [
  undefined,
  'SYSMSG_OP_ECC_ERR_INTERRUPT',
  'SYSMSG_OP_REG_RD',
  'SYSMSG_OP_HOST_TRAP_ACK',
  'SYSMSG_OP_TTRACE_PC',
]

export const DATA_FORMATS: readonly string[] = [
  'INVALID',
  '8',
  '16',
  '8_8',
  '32',
  '16_16',
  '10_11_11',
  '11_11_10',
  '10_10_10_2',
  '2_10_10_10',
  '8_8_8_8',
  '32_32',
  '16_16_16_16',
  '32_32_32',
  '32_32_32_32',
  'RESERVED_15',
].map((name) => `BUF_DATA_FORMAT_${name}`)

const NUMBER_FORMATS = ['UNORM', 'SNORM', 'USCALED', 'SSCALED', 'UINT', 'SINT', 'SNORM_OGL', 'FLOAT']

/** Names of NFMT by number; 6 has another name on gfx8. */
export const numberFormats = (generation: Generation): readonly string[] =>
  NUMBER_FORMATS.map((name, n) => `BUF_NUM_FORMAT_${n === 6 && generation === 'gfx8' ? 'RESERVED_6' : name}`)

/** Bits of the constant of s_set_gpr_idx_on. */
export const GPR_INDEX_MODES: readonly string[] = ['SRC0', 'SRC1', 'SRC2', 'DST']

export const SDWA_SELECTS: readonly string[] = ['BYTE_0', 'BYTE_1', 'BYTE_2', 'BYTE_3', 'WORD_0', 'WORD_1', 'DWORD']
export const SDWA_UNUSED: readonly string[] = ['UNUSED_PAD', 'UNUSED_SEXT', 'UNUSED_PRESERVE']

/** VSRC of v_interp_mov_f32, by number. */
export const PARAMETERS: readonly string[] = ['p10', 'p20', 'p0']
