/** Lines of assembly source cut into pieces that remember their column; knows nothing of instructions. */
import { AssembleError } from '../errors.ts'

/** A piece of a line. `column` counts from 1. */
export interface Item {
  readonly text: string
  readonly column: number
  /** Whether a comma stands between it and the piece before. */
  readonly afterComma: boolean
}

/** Replaces comments (`//`, `;`, and slash-star blocks over lines) by blanks, so that columns stay what they are. */
export function blankComments(source: string): string {
  // Strings are matched first: comment marks in them are none.
  return source.replace(/"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?(?:\*\/|$)|(?:\/\/|;)[^\n]*/g, (text) =>
    text.startsWith('"') ? text : text.replace(/[^\n]/g, ' '),
  )
}

const OPENING = '([{'
const CLOSING = ')]}'

/**
 * Cuts at blanks and commas that stand outside of brackets, bars and strings.
 * @param from index in the line where cutting begins
 * @throws {AssembleError} brackets that do not match, or nothing before or after a comma
 */
export function cut(line: string, from: number, lineNumber: number): Item[] {
  const items: Item[] = []
  let start = -1
  let depth = 0
  let afterComma = false
  const fail = (index: number, message: string): never => {
    throw new AssembleError(message, lineNumber, index + 1)
  }
  const finish = (end: number): void => {
    if (start < 0) return
    items.push({ text: line.slice(start, end), column: start + 1, afterComma })
    start = -1
    afterComma = false
  }
  for (let index = from; index < line.length; index++) {
    const letter = line[index]!
    if (letter === '"') {
      if (start < 0) start = index
      const end = line.indexOf('"', index + 1)
      if (end < 0) fail(index, 'a string begins here and does not end on this line; close it with "')
      index = end
    } else if (OPENING.includes(letter)) {
      if (start < 0) start = index
      depth++
    } else if (CLOSING.includes(letter)) {
      if (--depth < 0) fail(index, `${letter} closes nothing; remove it or add the opening bracket`)
    } else if (depth === 0 && (letter === ',' || /\s/.test(letter))) {
      finish(index)
      if (letter !== ',') continue
      if (items.length === 0 || afterComma) fail(index, 'nothing stands before this comma; an operand was expected')
      afterComma = true
    } else if (start < 0) start = index
  }
  if (depth > 0) fail(line.length, `${depth} bracket${depth === 1 ? ' is' : 's are'} not closed at the end of the line`)
  finish(line.length)
  if (afterComma) fail(line.lastIndexOf(','), 'nothing stands after this comma; an operand was expected')
  return joinSigns(items)
}

/** `- 1` and `a + b` are one piece: a piece that is or ends in an operator goes on. Bars belong to `|v0|` unless they stand alone. */
function joinSigns(items: readonly Item[]): Item[] {
  const joined: Item[] = []
  let before = ''
  for (const item of items) {
    const last = joined.at(-1)
    const goesOn = /^\|$|[-+*/%&^~<>]$/.test(before) || /^\|$|^[+*/%&^<>]|^-$/.test(item.text)
    if (last !== undefined && !item.afterComma && goesOn) joined[joined.length - 1] = { ...last, text: last.text + item.text }
    else joined.push(item)
    before = item.text
  }
  return joined
}
