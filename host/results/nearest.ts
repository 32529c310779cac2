/** The known name that a mistyped one probably meant. */

/** The nearest of `names` by edit distance, if at most a third of the letters (at least two) differ. */
export function nearest(name: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of names) {
    const apart = edits(name.toLowerCase(), candidate.toLowerCase())
    if (apart < least && apart < candidate.length) [best, least] = [candidate, apart]
  }
  return best
}

/** Levenshtein's distance, row by row. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}
