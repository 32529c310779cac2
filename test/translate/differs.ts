/**
 * Where what runs of a program left differs first, in words; undefined where it does not.
 * @param got of each run lines of values, with commas between; in turn of the kinds that `kinds` names
 */
export function whereDiffers(got: readonly string[], want: readonly string[], kinds: readonly string[]): string | undefined {
  const run = got.findIndex((text, i) => text !== want[i])
  if (run < 0) return undefined
  const [x, y] = [got, want].map((texts) => texts[run]!.split('\n'))
  const line = x!.findIndex((text, i) => text !== y![i])
  const [mine, theirs] = [x!, y!].map((lines) => lines[line]!.split(','))
  const at = mine!.findIndex((text, i) => text !== theirs![i])
  return `run ${run}: ${kinds[line % kinds.length]} dword ${at} (v0 starts at 256) is ${mine![at]} instead of ${theirs![at]}`
}
