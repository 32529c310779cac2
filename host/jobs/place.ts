/** Names of what a job reads and expects: registers as assembly writes them, LDS, buffers. */
import type { Target } from '../isa/targets.ts'
import type { ElementType } from '../results/elements.ts'

export type Place =
  /** `v2`, `v[4:5]`: registers side by side are one value, the first its low dword. */
  | { readonly form: 'vgpr' | 'sgpr'; readonly name: string; readonly first: number; readonly count: number }
  | { readonly form: 'special'; readonly name: SpecialName }
  | { readonly form: 'lds'; readonly name: 'lds' }
  | { readonly form: 'buffer'; readonly name: string; readonly type: ElementType; readonly length: number }

/** Registers with names of their own, and their bits. */
export const SPECIALS = { vcc: 64, exec: 64, scc: 1, m0: 32, mode: 32 } as const
export type SpecialName = keyof typeof SPECIALS

/** Registers of one value at most. */
const MOST = 32
/** SGPRs by generation: on gfx8 102 and up are FLAT_SCRATCH, XNACK_MASK and VCC (GCN3 manual, table "SGPR operands"). */
const sgprs = (target: Target): number => (target.generation === 'gfx8' ? 102 : 104)

/** A register's place, or why it is none. */
export function parseRegister(name: string, target: Target): Place | string {
  if (Object.hasOwn(SPECIALS, name)) return { form: 'special', name: name as SpecialName }
  if (name === 'lds') return { form: 'lds', name }
  const match = /^([sv])(?:(\d+)|\[(\d+):(\d+)\])$/.exec(name)
  if (match === null) return 'a register (v2, v[4:5], s3, s[10:11], vcc, exec, scc, m0, mode), lds or a buffer of this job'
  const form = match[1] === 'v' ? 'vgpr' : 'sgpr'
  const first = Number(match[2] ?? match[3])
  const last = Number(match[2] ?? match[4])
  const limit = form === 'vgpr' ? 256 : sgprs(target)
  if (last >= limit) return `registers up to ${match[1]}${limit - 1}`
  if (last < first || last - first >= MOST) return `a range of 1 to ${MOST} registers, lowest first`
  return { form, name, first, count: last - first + 1 }
}

/** Bits of a register place's value (of one lane). */
export const bitsOfPlace = (place: Place): number =>
  place.form === 'special' ? SPECIALS[place.name] : place.form === 'vgpr' || place.form === 'sgpr' ? place.count * 32 : 0
