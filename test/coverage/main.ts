/** `npm run coverage:isa`: how much of the instruction set is decoded, printed, run and tested. `-- --json` for machines. */

import { table, wrap } from '../../host/cli/table.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { findEvidence } from './evidence.ts'
import { MEASURES, type Measure, measure, type Row } from './measure.ts'

const GROUPS: readonly (readonly [name: string, table: RegExp])[] = [
  ['VALU', /^(vop[123c]|vintrp)$/],
  ['SALU', /^sop/],
  ['SMEM', /^smem$/],
  ['DS', /^ds$/],
  ['FLAT', /^flat$/],
  ['MUBUF', /^mubuf$/],
  ['MTBUF', /^mtbuf$/],
  ['MIMG', /^mimg$/],
  ['EXP', /^exp$/],
]
const ALL: readonly (readonly [name: string, table: RegExp])[] = [...GROUPS, ['all but VALU', /^(?!vop|vintrp)/], ['all', /./]]

function counts(of: readonly Row[]): Record<Measure, number> {
  return Object.fromEntries(MEASURES.map((m) => [m, of.filter(({ holds }) => holds.has(m)).length])) as Record<Measure, number>
}

function inGroup(pattern: RegExp, target: string | undefined): Row[] {
  return rows.filter((row) => pattern.test(row.operation.table) && (target === undefined || row.target.name === target))
}

function asJson() {
  const summary = ALL.flatMap(([group, pattern]) =>
    [...Object.keys(TARGETS), undefined].map((target) => {
      const of = inGroup(pattern, target)
      return { group, target: target ?? 'all', rows: of.length, ...counts(of) }
    }),
  )
  const missing = rows.map(({ operation, target, holds }) => ({
    operation: operation.name,
    target: target.name,
    missing: MEASURES.filter((m) => !holds.has(m)),
    ...(operation.unsupported === undefined ? {} : { unsupported: operation.unsupported }),
  }))
  return { measures: MEASURES, summary, missing: missing.filter((m) => m.missing.length > 0) }
}

function report(): string {
  const lines = ALL.flatMap(([group, pattern]) =>
    (group.startsWith('all') ? [undefined] : [...Object.keys(TARGETS)]).flatMap((target) => {
      const of = inGroup(pattern, target)
      const found = counts(of)
      const percent = (m: Measure) => `${Math.floor((100 * found[m]) / Math.max(1, of.length))} %`
      return of.length === 0 ? [] : [[group, target ?? '', `${of.length}`, ...MEASURES.map(percent)]]
    }),
  )
  const head = ['', 'target', 'rows', ...MEASURES]
  return `${table(head, lines, head.map((_, i) => i).slice(2))}\n${NOTES}\n${GROUPS.map(([group, pattern]) => missingText(group, pattern)).join('')}`
}

const NOTES = `decode, text: every form of the row, back to the same words. reference, core, translate: an example of every form runs.
spliced: translated code has the operation's own body, else it calls the core. edge cases: of the VALU, test/ops/edge-cases runs it on
all engines with all that its source types demand; of the others, a test file names the operation.
vectors: a job with known results uses it on the target. kernels: a compiled kernel does.
`

/** What is missing, by name; with the targets where it is not missing on all that have it. */
function missingText(group: string, pattern: RegExp): string {
  const of = inGroup(pattern, undefined)
  const parts = MEASURES.flatMap((measure) => {
    const lacking = of.filter(({ holds }) => !holds.has(measure))
    if (lacking.length === 0) return []
    const names = [...new Set(lacking.map(({ operation }) => operation.name))].map((name) => {
      const on = lacking.filter(({ operation }) => operation.name === name).map(({ target }) => target.name)
      const everywhere = of.filter(({ operation }) => operation.name === name).length === on.length
      return everywhere ? name : `${name} (${on.join(', ')})`.replaceAll(' ', '\u00a0')
    })
    return [`\n${group} without ${measure}: ${names.length}\n${wrap(names.join(' '), 120, 2).replaceAll('\u00a0', ' ')}\n`]
  })
  return parts.join('')
}

const rows = await measure(findEvidence())
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(asJson())}\n`)
else process.stdout.write(report())
