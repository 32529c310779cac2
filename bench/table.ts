/** Results as text that fits 80 columns. */

/** Rows under a head; the first column is text, the others are numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)))
  const line = (cells: readonly string[]) => cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
  return [head, ...rows].map((row) => `${line(row).join('  ').trimEnd()}\n`).join('')
}

/** Three significant digits, without an exponent; `-` where nothing was measured. */
export function number(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '-'
  return value >= 100 ? Math.round(value).toString() : value.toPrecision(value < 1 ? 2 : 3)
}

/** a : b as a factor. */
export const ratio = (a: number | undefined, b: number | undefined): string =>
  a === undefined || b === undefined || b === 0 ? '-' : `${number(a / b)}x`

/** Seconds with a unit that suits them. */
export function seconds(value: number | undefined): string {
  if (value === undefined) return '-'
  if (value < 1e-3) return `${number(value * 1e6)} us`
  return value < 1 ? `${number(value * 1e3)} ms` : `${number(value)} s`
}
