/** Results for people: a verdict, the first differences in a table, and where two engines parted. */
import { type Difference, type ElementType, type JobResult, numberOf, type Profile, type ReadValue } from '../index.ts'
import { WIDTH } from './io.ts'
import { duration, grouped, table, wrap } from './table.ts'

/** What belongs to a verdict stands under its name. */
const INDENT = 9

/** All there is to say of one result. @param values whether to show what the job reads, too */
export function report(result: JobResult, values: boolean): string {
  const { name, status, engine, instructions, seconds, check } = result
  const speed = instructions > 0 ? `  ${grouped(instructions)} instructions, ${duration(seconds)} on ${engine}` : ''
  const lines = [`${status.toUpperCase().padEnd(8)} ${name === '' ? 'job' : name}${speed}\n`]
  if (result.error !== undefined) lines.push(problem(result.error.message))
  if (result.error?.context !== undefined)
    lines.push(`\n${result.error.context.map((line) => `${`  ${line}`.slice(0, WIDTH)}\n`).join('')}\n`)
  if (check?.parting != null) lines.push(parting(check.parting))
  else if (check !== undefined)
    lines.push(`${' '.repeat(INDENT)}checked: all state the same as the reference's (${duration(check.seconds)})\n`)
  if (result.differences.length > 0)
    lines.push(differences(result.differences, result.more ?? 0, check?.parting == null ? ['expected', 'actual'] : ['reference', engine]))
  const approximate = Object.entries(result.approximate)
  if (approximate.length > 0)
    lines.push(`${wrap(`approximate: ${approximate.map(([op, count]) => `${op} ${grouped(count)}`).join(', ')}`, WIDTH, INDENT)}\n`)
  lines.push(sent(result))
  if (result.profile !== undefined) lines.push(profile(result.profile))
  if (values) for (const [name, value] of Object.entries(result.read)) lines.push(show(name, value))
  return lines.join('')
}

/** Exports that are shown; --json has all that were kept. */
const SHOWN_EXPORTS = 8

/** What waves did and sent beyond themselves. */
function sent({ beyond = {}, exports = [], moreExports = 0 }: JobResult): string {
  const operations = Object.entries(beyond).map(([name, count]) => `${name} ${grouped(count)}`)
  if (operations.length === 0) return ''
  const rows = exports.slice(0, SHOWN_EXPORTS).map((e) => {
    const flags = [e.compressed ? 'compr' : '', e.done ? 'done' : '', e.validMask ? 'vm' : ''].filter((flag) => flag !== '')
    const lanes = [...BigInt(e.exec).toString(2)].filter((bit) => bit === '1').length
    const first = Object.values(e.values).map((row) => row.find((value) => value !== null) ?? '')
    return [
      e.workgroup.join(','),
      `${e.wave}`,
      e.target,
      flags.join(' '),
      `${lanes}`,
      `${Object.keys(e.values).join('')} ${first.join(' ')}`,
    ]
  })
  const shown = rows.length === 0 ? '' : table(['workgroup', 'wave', 'export', '', 'lanes', 'first lane'], rows, [1, 4])
  const more = exports.length + moreExports - rows.length
  const rest = more > 0 ? `and ${grouped(more)} more exports; --json shows them\n` : ''
  return `${wrap(`beyond waves, on one thread: ${operations.join(', ')}`, WIDTH, INDENT)}\n${shown}${rest}`
}

/** A register on a line, a vector register lane by lane, memory as the first lines of a dump. */
function show(name: string, value: ReadValue): string {
  if (typeof value === 'string') return `${name.padEnd(8)} ${value}\n`
  if ('hex' in value) return dump(name, value.hex)
  const digits = value[0]!.length
  const perLine = 2 ** Math.floor(Math.log2((WIDTH - 6) / (digits + 1)))
  const lines = [`${name}\n`]
  for (let lane = 0; lane < value.length; lane += perLine)
    lines.push(`${`${lane}`.padStart(5)} ${value.slice(lane, lane + perLine).join(' ')}\n`)
  return lines.join('')
}

const DUMP_LINES = 16

function dump(name: string, hex: string): string {
  const lines = hex.match(/.{1,32}/g) ?? []
  const shown = lines.slice(0, DUMP_LINES).map((line, i) => `${(i * 16).toString(16).padStart(5, '0')} ${line.replace(/(..)/g, ' $1')}\n`)
  const rest = lines.length > DUMP_LINES ? ` (the first ${DUMP_LINES * 16} of ${grouped(hex.length / 2)} bytes)` : ''
  return `${name}${rest}\n${shown.join('')}`
}

const problem = (message: string): string => `${wrap(message, WIDTH, INDENT)}\n`

function parting({
  instruction,
  workgroup,
  wave,
  after,
  span,
  exec,
  vcc,
  context,
}: NonNullable<NonNullable<JobResult['check']>['parting']>): string {
  return [
    `The engines part ${span === 1 ? 'at' : `within ${span} instructions from`} ${instruction}`,
    `  after ${grouped(after)} instructions, in wave ${wave} of workgroup ${workgroup.join(',')}`,
    `  before it: exec ${exec}, vcc ${vcc}`,
    '',
    ...context.map((line) => `  ${line}`),
    '',
    '',
  ].join('\n')
}

function differences(list: readonly Difference[], more: number, [want, got]: readonly [string, string]): string {
  const rows = list.map(({ where, lane, index, expected, actual }) => [
    where,
    `${lane ?? index ?? ''}`,
    expected,
    number(expected),
    actual,
    number(actual),
  ])
  return table(['where', 'at', want, 'as float', got, 'as float'], rows, [1]) + (more > 0 ? `and ${grouped(more)} more\n` : '')
}

/** The float that as many bits stand for. */
function number(text: string): string {
  const type: ElementType | undefined = text.startsWith('0x') ? ({ 6: 'f16', 10: 'f32', 18: 'f64' } as const)[text.length] : undefined
  if (type === undefined) return ''
  const value = numberOf(type, BigInt(text))
  return Object.is(value, -0) ? '-0' : `${Number(value.toPrecision(7))}`
}

/** Instructions shown of a profile; --json has all. */
const SPOTS = 20

/** What a job did, in 80 columns. */
function profile({ instructions, waves, classes, activeLanes, branches, globalBytes, ldsBytes, patterns, spots }: Profile): string {
  const share = (count: number): string => `${((100 * count) / Math.max(1, instructions)).toFixed(1)}%`
  const kinds = Object.entries(classes).filter(([, count]) => count > 0)
  const rows = spots
    .slice(0, SPOTS)
    .map(({ pc, text, count, lanes, taken }) => [
      grouped(count),
      share(count),
      (lanes / count).toFixed(1),
      text.startsWith('s_cbranch') ? percent(taken, count) : '',
      pc.toString(16).padStart(4, '0'),
      text,
    ])
  const hot = table(['times', '', 'lanes', 'taken', 'pc', 'instruction'], rows, [0, 1, 2, 3]).split('\n')
  return [
    '',
    table(
      ['class', 'times', ''],
      kinds.map(([name, count]) => [name, grouped(count), share(count)]),
      [1, 2],
    ),
    `waves ${grouped(waves)}, active lanes ${activeLanes.toFixed(1)}, branches ${grouped(branches.taken)} taken, ${grouped(branches.notTaken)} not`,
    `memory ${grouped(globalBytes.read)} bytes read, ${grouped(globalBytes.written)} written; LDS ${grouped(ldsBytes.read)} and ${grouped(ldsBytes.written)}`,
    `vector memory ${grouped(patterns.contiguous)} contiguous, ${grouped(patterns.same)} at one address, ${grouped(patterns.scattered)} scattered`,
    '',
    ...hot.map((line) => line.slice(0, WIDTH)),
  ].join('\n')
}

const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)}%`
