/** What operations are to translated code, as far as their rows tell. Must not load what translates: whether that pays is asked first. */
import { SCALAR_KERNELS } from '../../core/generated/scalars.ts'
import { bitsOf, isFloat } from '../../isa/row.ts'
import { factOf } from './fact.ts'

/** What a step is: part of a run of lanes, code between such, nothing, or a call of the core. */
export type Role = 'lanes' | 'scalar' | 'idle' | 'call'

/** Instructions that do nothing to the wave's state. */
const IDLE =
  /^(s_waitcnt|s_nop|v_nop|s_icache_inv|s_inst_prefetch|s_dcache_inv|s_dcache_wb|s_incperflevel|s_decperflevel|s_ttracedata|v_clrexcp)/

/** What decides whether an operation can be part of a run of lanes. */
export const laneFacts = factOf(({ name, table, shape: { results, sources }, traits }) => {
  const types = [...results, ...sources]
  const usable = /^vop[123c]$/.test(table) && !/^v_cmps?x_/.test(name) && !types.some((t) => t === 's32' || t === 'param' || bitsOf(t) > 64)
  // The round mode is that of the result's type, or of the source's where the result is no float (v_cvt_pk_u8_f32).
  const round = types.find(isFloat) === 'f32' ? ('round32' as const) : ('round64' as const)
  return {
    usable,
    functions: results.length > 1 ? [name, `${name}_mask`] : [name],
    flushes64: types.some((t) => t === 'f64' || t === 'f16'),
    round: traits.has('round') ? round : undefined,
  }
})

/** How a read of LDS, or GDS, or a write is named: at two addresses, 64 elements apart each count, and the type of its elements. */
export const ldsAccessOf = factOf(({ name }) => {
  const [, way, two, far, type] = /^ds_(read|write)(2?)(st64)?_([bui](?:8|16|32|64|96|128))$/.exec(name) ?? []
  return type === undefined ? undefined : { way: way as 'read' | 'write', isTwo: two !== '', isFar: far !== undefined, type }
})

/** What an access of global memory does that runs of lanes can have. */
export type GlobalWay = 'load' | 'store'
export const globalWay = factOf(
  ({ name }) => /^(?:flat|buffer)_(load|store)_(dword(x[234])?|byte|short|[us](byte|short))$/.exec(name)?.[1] as GlobalWay | undefined,
)

/** Which move between scalars and single lanes an operation is. */
export const crossLaneWay = factOf(({ name }) => /^v_(readlane|readfirstlane|writelane)_b32$/.exec(name)?.[1])

/** What an operation is at best: its operands and MODE may make a call of it. */
export const bestRole = factOf((operation): Role => {
  const { name } = operation
  if (IDLE.test(name) || name === 's_branch' || name.startsWith('s_cbranch_')) return 'idle'
  if (laneFacts(operation).usable) return 'lanes'
  return name in SCALAR_KERNELS ? 'scalar' : 'call'
})
