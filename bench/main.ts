/** `npm run bench`: how fast Lanewise is here. Ratios are what to compare; times are this machine's, now. */
import { parseArgs } from 'node:util'
import { measureKernels, showKernels, showNative } from './kernels.ts'
import { findCompiler } from './native.ts'
import { measureOperations, showOperations } from './operations.ts'
import { measureCodec, measureStart, showCodec, showStart } from './start.ts'
import { measureTraces, showTraces } from './traces.ts'

const HELP = `npm run bench -- [SECTION...] [OPTION...]

Sections: operations, kernels, start, codec, traces; all of them where none is named.

  --all           Every operation that can run over and over, not a cross-section
  --large         Kernels: the large jobs in ../shared, and the same work as C
  --threads N     Kernels: threads for core and translate (default 1, as the C programs)
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
    threads: { type: 'string', default: '1' },
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

const RUN: Readonly<Record<Section, () => Promise<void>>> = {
  operations: async () => report('operations', await measureOperations(values.all, filter ?? /./, effort), showOperations),
  kernels: async () => {
    const results = await measureKernels(values.large, Number(values.threads), filter, effort)
    report('kernels', results, showKernels)
    if (!values.json && values.large)
      console.log(findCompiler() === undefined ? 'no C compiler: nothing to compare with' : showNative(results))
  },
  start: async () => report('start', measureStart(), showStart),
  codec: async () => report('codec', await measureCodec(effort), showCodec),
  traces: async () => report('traces', await measureTraces(effort, values.large), showTraces),
}

async function main(): Promise<void> {
  if (values.help) return console.log(HELP)
  const unknown = positionals.filter((name) => !SECTIONS.includes(name as Section))
  if (unknown.length > 0 || !(effort.timeMs > 0)) {
    console.error(
      unknown.length > 0 ? `there is no section ${unknown.join(', ')}\n\n${HELP}` : `--time is ${values.time}; it must be above 0`,
    )
    process.exitCode = 2
    return
  }
  const chosen = SECTIONS.filter((name) => positionals.length === 0 || positionals.includes(name))
  for (const name of chosen) await RUN[name]()
  if (values.json) console.log(JSON.stringify({ node: process.version, ...collected }))
}

await main()
