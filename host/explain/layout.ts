/** The bits of an encoding: what each run of them holds, and a drawing of it. */
import type { Format } from '../isa/formats.ts'
import type { Operation } from '../isa/operations.ts'
import type { Generation } from '../isa/targets.ts'

/** Bits hi..lo of the instruction, counted from bit 0 of its first dword. */
export interface BitRange {
  readonly hi: number
  readonly lo: number
  /** A field's name in capitals, the binary digits of bits that are always the same, or `-` where the format has nothing. */
  readonly holds: string
}

/** All bits of an operation in a format, the highest first; the opcode and what identifies the format as binary digits. */
export function bitRanges(operation: Operation, format: Format, generation: Generation): BitRange[] {
  const opcode = operation.opcode(format.opcodes, generation) ?? 0
  const fixed = format.match.map(([hi, lo, value]) => ({ hi, lo, holds: digits(value, hi - lo + 1) }))
  const fields = Object.entries(format.fields).map(([name, { hi, lo }]) => ({
    hi,
    lo,
    holds: name === 'op' ? digits(opcode, hi - lo + 1) : name.toUpperCase(),
  }))
  const ranges = [...fixed, ...fields].sort((a, b) => b.lo - a.lo)
  return withGaps(ranges, format.dwords * 32)
}

const digits = (value: number, bits: number): string => value.toString(2).padStart(bits, '0')

/** The same with what lies between the ranges; a gap does not reach over the border of two dwords. */
function withGaps(ranges: readonly BitRange[], bits: number): BitRange[] {
  const whole: BitRange[] = []
  let next = bits - 1
  const fill = (above: number) => {
    while (next > above) {
      const lo = Math.max(above + 1, next & ~31)
      whole.push({ hi: next, lo, holds: '-' })
      next = lo - 1
    }
  }
  for (const range of ranges) {
    fill(range.hi)
    whole.push(range)
    next = range.lo - 1
  }
  fill(-1)
  return whole
}

/** Columns of a drawing at most. */
const WIDTH = 80

/** A box for each range, a row for each dword, the high one first; rows that would be wider than 80 columns are broken. */
export function drawBits(ranges: readonly BitRange[]): string {
  const dwords = [1, 0].map((dword) => ranges.filter(({ lo }) => lo >>> 5 === dword)).filter((row) => row.length > 0)
  return dwords.flatMap(broken).map(drawRow).join('\n')
}

const label = ({ hi, lo }: BitRange): string => (hi === lo ? `${lo}` : `${hi}:${lo}`)
const widthOf = (range: BitRange): number => Math.max(range.holds.length, label(range).length) + 2
const rowWidth = (row: readonly BitRange[]): number => row.reduce((sum, range) => sum + widthOf(range) + 1, 1)

/** As few rows as fit, about equally long. */
function broken(row: readonly BitRange[]): BitRange[][] {
  const fewest = split(row, WIDTH).length
  return split(row, WIDTH, rowWidth(row) / fewest)
}

/** Rows of at most `width`; one that has reached `enough` takes no more. */
function split(row: readonly BitRange[], width: number, enough = width): BitRange[][] {
  const list: BitRange[][] = [[]]
  for (const range of row) {
    const last = list.at(-1)!
    if (last.length > 0 && (rowWidth([...last, range]) > width || rowWidth(last) >= enough)) list.push([range])
    else last.push(range)
  }
  return list
}

function drawRow(row: readonly BitRange[]): string {
  const line = (left: string, middle: string, right: string, cell: (range: BitRange) => string) => left + row.map(cell).join(middle) + right
  const rule = (range: BitRange) => '─'.repeat(widthOf(range))
  const centred = (text: string, width: number) => text.padStart((width + text.length) >>> 1).padEnd(width)
  return [
    line('┌', '┬', '┐', rule),
    line('│', '│', '│', (range) => centred(range.holds, widthOf(range))),
    line('│', '│', '│', (range) => centred(label(range), widthOf(range))),
    line('└', '┴', '┘', rule),
  ].join('\n')
}
