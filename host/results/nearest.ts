/** The known name that a mistyped one probably meant. */

/** The nearest of `names` by edit distance, if at most a third of the letters (at least two) differ. */
export const nearest = (name: string, names: Iterable<string>): string | undefined => nearestOf(name, names, 1)[0]

/** The nearest `count` of `names` that are as near as that, the nearest first, otherwise in their order. */
export function nearestOf(name: string, names: Iterable<string>, count: number): string[] {
  const most = Math.max(2, Math.floor(name.length / 3))
  return [...names]
    .map((candidate) => ({ candidate, apart: edits(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, apart }) => apart <= most && apart < candidate.length)
    .sort((a, b) => a.apart - b.apart)
    .slice(0, count)
    .map(({ candidate }) => candidate)
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
