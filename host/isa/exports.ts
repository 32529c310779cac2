/** Where exp sends its data (GCN3 manual, "Export", field TARGET). */

export interface ExportTargets {
  readonly first: number
  readonly count: number
  readonly name: string
}
/** Targets of exp: numbered ones where `count` is not 1. */
export const EXPORT_TARGETS: readonly ExportTargets[] = [
  { first: 0, count: 8, name: 'mrt' },
  { first: 8, count: 1, name: 'mrtz' },
  { first: 9, count: 1, name: 'null' },
  { first: 12, count: 4, name: 'pos' },
  { first: 32, count: 32, name: 'param' },
]

/** A target's name, such as mrt0; undefined where there is none of this number. */
export function exportTargetName(target: number): string | undefined {
  const targets = EXPORT_TARGETS.find(({ first, count }) => target >= first && target < first + count)
  return targets && (targets.count === 1 ? targets.name : `${targets.name}${target - targets.first}`)
}
