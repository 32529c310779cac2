/** The chart of the large kernels: bars on a logarithmic scale, one file without scripts or fonts of its own, for light and dark pages. */
import { type KernelResult, shortName } from './kernels.ts'
import type { Machine } from './machine.ts'
import { number } from './table.ts'

/** A bar of every kernel. */
interface Series {
  readonly label: string
  readonly seconds: (result: KernelResult) => number | undefined
}

const seriesOf = (threads: number): readonly Series[] => [
  { label: 'reference', seconds: (r) => r.reference },
  { label: 'core', seconds: (r) => r.core },
  { label: 'translate', seconds: (r) => r.translate },
  { label: `translate, ${threads} threads`, seconds: (r) => r.together?.seconds },
  { label: 'C, one work-item at a time', seconds: (r) => r.native?.one },
  { label: 'C, 8 lanes by hand', seconds: (r) => r.native?.lanes },
]

const WIDTH = 760
const LEFT = 116
const RIGHT = 64
const BAR = 12
const GAP = 16
/** Height of title and legend, and of the axis below. */
const HEAD = 92
const FOOT = 40
/** Columns and width of the legend. */
const LEGEND = { columns: 3, width: 208 } as const

// Lanewise's engines in shades of one colour, C in another; text and lines follow the page.
const STYLE = `
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-size: 15px; font-weight: 600 } .small { font-size: 11px; fill: #57606a }
.grid { stroke: #d0d7de } .s0 { fill: #a5c8f0 } .s1 { fill: #5b9be0 } .s2 { fill: #1f6fc9 } .s3 { fill: #0b3f80 }
.s4 { fill: #e3b27a } .s5 { fill: #b8661a }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #9198a1 } .grid { stroke: #3d444d }
.s0 { fill: #24446b } .s1 { fill: #2f6fb5 } .s2 { fill: #58a6ff } .s3 { fill: #b6d8ff } .s4 { fill: #7d5526 } .s5 { fill: #e0a05a }
}`

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const label = (x: number, y: number, text: string, rest = ''): string => `<text x="${x.toFixed(1)}" y="${y}"${rest}>${escaped(text)}</text>`

/** SVG of millions of wave instructions a second, for C the same work in as many seconds. */
export function chart(results: readonly KernelResult[], machine: Machine): string {
  const threads = Math.max(1, ...results.flatMap((r) => r.together?.threads ?? []))
  const series = seriesOf(threads)
  const rate = (r: KernelResult, { seconds }: Series) => {
    const time = seconds(r)
    return time === undefined ? undefined : r.instructions / time / 1e6
  }
  const rates = results.flatMap((r) => series.flatMap((s) => rate(r, s) ?? []))
  const low = Math.floor(Math.log10(Math.min(...rates)))
  const high = Math.log10(Math.max(...rates))
  const x = (value: number) => LEFT + ((Math.log10(value) - low) / (high - low)) * (WIDTH - LEFT - RIGHT)
  const parts: string[] = []
  let y = HEAD
  for (const result of results) {
    parts.push(label(LEFT - 8, y + (series.length * BAR) / 2 + 4, shortName(result.name), ' text-anchor="end"'))
    series.forEach((one, i) => {
      const value = rate(result, one)
      if (value === undefined) return
      const width = Math.max(1, x(value) - LEFT).toFixed(1)
      parts.push(`<rect class="s${i}" x="${LEFT}" y="${y + i * BAR}" width="${width}" height="${BAR - 1}"/>`)
      parts.push(label(x(value) + 4, y + i * BAR + BAR - 2, number(value), ' class="small"'))
    })
    y += series.length * BAR + GAP
  }
  const bottom = y - GAP / 2
  const powers = Array.from({ length: Math.floor(high) - low + 1 }, (_, i) => 10 ** (low + i))
  const grid = powers.flatMap((value) => [
    `<path class="grid" d="M${x(value).toFixed(1)} ${HEAD - 6}V${bottom}"/>`,
    label(x(value), bottom + 14, `${value}`, ' class="small" text-anchor="middle"'),
  ])
  const legend = series.flatMap(({ label: name }, i) => {
    const at = 16 + LEGEND.width * (i % LEGEND.columns)
    const line = 44 + 20 * Math.floor(i / LEGEND.columns)
    return [`<rect class="s${i}" x="${at}" y="${line - 10}" width="12" height="12"/>`, label(at + 18, line, name)]
  })
  const height = bottom + FOOT
  const where = `Node ${machine.node}, ${machine.cpu}${machine.relaxedFuses ? ', relaxed SIMD' : ''}; reference estimated from the beginning of each job`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>Millions of wave instructions a second, by kernel and engine</title>
<style>${STYLE}
</style>
${label(16, 22, 'Millions of wave64 instructions a second, larger is faster, logarithmic', ' class="title"')}
${[...legend, ...grid, ...parts, label(16, height - 8, where, ' class="small"')].join('\n')}
</svg>
`
}
