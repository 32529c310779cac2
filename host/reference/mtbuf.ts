/** Typed buffer operations: the instruction names the format, components keep their places (GCN3 manual, "Buffer Data"). */
import { IMM_DFMT_SHIFT, IMM_NFMT_SHIFT } from '../plan/record.ts'
import { formatOperations, IDENTITY } from './buffer.ts'
import type { WaveFunction } from './scalar.ts'
import { withStatus } from './vector-memory.ts'

const operations = formatOperations((_, r) => ({
  data: (r.imm >>> IMM_DFMT_SHIFT) & 15,
  number: (r.imm >>> IMM_NFMT_SHIFT) & 7,
  select: IDENTITY,
}))
const loadFormat = (components: number, half = false): WaveFunction => withStatus(components, operations.loadFormat(components, half))
const { storeFormat } = operations

export const tbuffer_load_format_x = loadFormat(1)
export const tbuffer_load_format_xy = loadFormat(2)
export const tbuffer_load_format_xyz = loadFormat(3)
export const tbuffer_load_format_xyzw = loadFormat(4)
export const tbuffer_store_format_x = storeFormat(1)
export const tbuffer_store_format_xy = storeFormat(2)
export const tbuffer_store_format_xyz = storeFormat(3)
export const tbuffer_store_format_xyzw = storeFormat(4)
export const tbuffer_load_format_d16_x = loadFormat(1, true)
export const tbuffer_load_format_d16_xy = loadFormat(2, true)
export const tbuffer_load_format_d16_xyz = loadFormat(3, true)
export const tbuffer_load_format_d16_xyzw = loadFormat(4, true)
export const tbuffer_store_format_d16_x = storeFormat(1, true)
export const tbuffer_store_format_d16_xy = storeFormat(2, true)
export const tbuffer_store_format_d16_xyz = storeFormat(3, true)
export const tbuffer_store_format_d16_xyzw = storeFormat(4, true)
