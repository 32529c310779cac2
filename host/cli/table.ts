/** Text in columns and lines that fit. */

/** Rows under a head, columns padded to their widest cell; numbers read best with `right`. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], right: readonly number[] = []): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd()
  return [head, ...rows].map((row) => `${line(row)}\n`).join('')
}

/** Breaks text at blanks into lines of at most `width`, all indented. */
export function wrap(text: string, width: number, indent = 0): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) lines.push(' '.repeat(indent) + word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.join('\n')
}

/** 1234567 as 1,234,567. */
export const grouped = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',')

/** A duration with a unit that suits it. */
export const duration = (seconds: number): string =>
  seconds < 0.001 ? `${Math.round(seconds * 1e6)} µs` : seconds < 1 ? `${(seconds * 1000).toFixed(1)} ms` : `${seconds.toFixed(2)} s`

/** A large number as 1.23 billion and so on. */
export function large(value: number): string {
  const [unit, name] = (
    [
      [1e12, 'trillion'],
      [1e9, 'billion'],
      [1e6, 'million'],
      [1e3, 'thousand'],
    ] as const
  ).find(([size]) => value >= size) ?? [1, '']
  return `${(value / unit).toPrecision(3)} ${name}`.trimEnd()
}
