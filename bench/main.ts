/** `npm run bench`: how fast Lanewise is here. Ratios are what to compare; times are this machine's, now. */
import { writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { TARGETS } from '../host/index.ts'
import { chart } from './chart.ts'
import { measureGains, showGains } from './gains.ts'
import { runJobsHere } from './jobs.ts'
import { measureLargeKernels, measureSmallKernels, showLargeKernels, showSmallKernels } from './kernels.ts'
import { showMachine, thisMachine } from './machine.ts'
import { measureOperations, showOperations } from './operations.ts'
import { measureCodec, measureStart, showCodec, showStart } from './start.ts'
import { measureTraceHere, measureTraces, showTraces } from './traces.ts'
import { measureFmaHere, measureVariants, showVariants } from './variants.ts'

const HELP = `npm run bench -- [SECTION...] [OPTION...]

Sections, all of them where none is named:
  operations      Reference and core, instruction by instruction; what modifiers and exact FMA cost
  kernels         All engines on the small jobs; with --large on large ones, several threads and C beside them
  start           Fresh processes: import and first result
  codec           Decoding, planning, text
  traces          Machine words to results, 1 and 10 million instructions

  --all           Operations: every one that can run over and over, not a cross-section; kernels --large: core and translate over all
  --large         Kernels: the large jobs in ../shared (some minutes); traces: 100 million instructions, too
  --svg FILE      Kernels --large: draws a chart
  --target T      Kernels --large --all: kernels compiled for gfx600, gfx700 or gfx803 (default)
  --threads N     Kernels --large: threads of the run on several (default: what the machine has)
  --rounds N      Kernels: how often each is measured; the best counts (default 3, with --large 2)
  --filter REGEX  Only operations and jobs whose name matches
  --time MS       Time for each measurement (default 200)
  --json          One JSON object in place of tables
  --help          This text
`

const SECTIONS = ['operations', 'kernels', 'start', 'codec', 'traces'] as const
type Section = (typeof SECTIONS)[number]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    svg: { type: 'string' },
    target: { type: 'string' },
    threads: { type: 'string' },
    rounds: { type: 'string' },
    filter: { type: 'string' },
    time: { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const effort = { timeMs: Number(values.time) }
const filter = values.filter === undefined ? undefined : new RegExp(values.filter)
const collected: Record<string, unknown> = {}

/** Prints a section as soon as it is there, or keeps it for the JSON object. */
function report<T>(name: string, results: T, show: (results: T) => string): void {
  if (values.json) collected[name] = results
  else console.log(show(results))
}

/** An option that is a whole number; NaN where it is none. */
function count(option: 'threads' | 'rounds'): number | undefined {
  const value = values[option]
  if (value === undefined) return undefined
  return /^\d+$/.test(value) ? Number(value) : Number.NaN
}

function largeKernels(): void {
  if (values.all) return report('gains', measureGains(values.target ?? 'gfx803', filter, count('rounds')), showGains)
  const results = measureLargeKernels(filter, count('threads'), count('rounds'))
  report('kernels', results, showLargeKernels)
  if (values.svg !== undefined) writeFileSync(values.svg, chart(results, thisMachine()))
}

const RUN: Readonly<Record<Section, () => Promise<void> | void>> = {
  operations: async () => {
    report('operations', await measureOperations(values.all, filter ?? /./, effort), showOperations)
    report('variants', await measureVariants(values.all, filter ?? /./, effort), showVariants)
  },
  kernels: () =>
    values.large ? largeKernels() : report('kernels', measureSmallKernels(filter, effort, count('rounds')), showSmallKernels),
  start: () => report('start', measureStart(), showStart),
  codec: async () => report('codec', await measureCodec(effort), showCodec),
  traces: () => report('traces', measureTraces(values.large), showTraces),
}

/** What child processes are asked (child.ts). */
const CHILD = { jobs: runJobsHere, trace: measureTraceHere, fma: measureFmaHere } as const

async function answer(task: keyof typeof CHILD): Promise<void> {
  const request = JSON.parse(await text(process.stdin)) as never
  console.log(JSON.stringify(await CHILD[task](request)))
}

/** What is wrong with the arguments, if anything is. */
function wrong(): string | undefined {
  const unknown = positionals.filter((name) => !SECTIONS.includes(name as Section))
  if (unknown.length > 0) return `there is no section ${unknown.join(', ')}\n\n${HELP}`
  if (!(effort.timeMs > 0)) return `--time is ${values.time}; it must be above 0`
  for (const option of ['threads', 'rounds'] as const)
    if (values[option] !== undefined && !(count(option)! >= 1)) return `--${option} is ${values[option]}; it must be 1 or more`
  if (values.target !== undefined && !Object.hasOwn(TARGETS, values.target))
    return `--target is ${values.target}; there are ${Object.keys(TARGETS).join(', ')}`
  if (values.target !== undefined && !(values.large && values.all)) return '--target chooses large kernels; give --large --all, too'
  if (values.svg !== undefined && (!values.large || values.all)) return '--svg draws the large kernels; give --large, too, and not --all'
  return undefined
}

async function main(): Promise<void> {
  if (values.help) return console.log(HELP)
  const [first, task] = positionals
  if (first === 'child') return answer(task as keyof typeof CHILD)
  const complaint = wrong()
  if (complaint !== undefined) {
    console.error(complaint)
    process.exitCode = 2
    return
  }
  const machine = thisMachine()
  if (!values.json) console.log(showMachine(machine))
  for (const name of SECTIONS) if (positionals.length === 0 || positionals.includes(name)) await RUN[name]()
  if (values.json) console.log(JSON.stringify({ machine, ...collected }))
}

await main()
