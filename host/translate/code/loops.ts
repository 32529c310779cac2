/** Loops of a graph of blocks: strongly connected parts that are entered at one block only, and what structured code needs to know of them. */
import { type Block, successors } from './graph.ts'

/** A loop that is entered at its header only, and so is every loop in it. */
export interface Loop {
  readonly header: number
  /** Blocks by pc, in reverse post-order: a block comes behind those that lead to it, but for the edges back. */
  readonly blocks: ReadonlyMap<number, Block>
  /** The block that dominates a block immediately; the header has none. */
  readonly dominators: ReadonlyMap<number, number>
}

type Next = (node: number) => readonly number[]

/** The nodes that can be reached from the starts, each behind those that it leads to unless it leads back. */
function postOrder(starts: Iterable<number>, next: Next): number[] {
  const seen = new Set<number>()
  const order: number[] = []
  for (const start of starts) {
    if (seen.has(start)) continue
    seen.add(start)
    const path = [{ node: start, rest: [...next(start)] }]
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const node = top.rest.shift()
      if (node === undefined) {
        order.push(top.node)
        path.pop()
      } else if (!seen.has(node)) {
        seen.add(node)
        path.push({ node, rest: [...next(node)] })
      }
    }
  }
  return order
}

/** What leads to each block. */
function predecessorsOf(blocks: ReadonlyMap<number, Block>): Map<number, number[]> {
  const result = new Map([...blocks.keys()].map((pc) => [pc, [] as number[]]))
  for (const block of blocks.values()) for (const to of successors(block)) result.get(to)?.push(block.pc)
  return result
}

/** Parts of a graph from each of whose nodes all others can be reached (Kosaraju). */
function components(nodes: ReadonlySet<number>, next: Next, back: Next): Set<number>[] {
  const within = (list: readonly number[]) => list.filter((node) => nodes.has(node))
  const taken = new Set<number>()
  return postOrder(nodes, (node) => within(next(node)))
    .toReversed()
    .flatMap((start) => {
      if (taken.has(start)) return []
      const part = postOrder([start], (node) => within(back(node)).filter((n) => !taken.has(n)))
      for (const node of part) taken.add(node)
      return [new Set(part)]
    })
}

/**
 * Goes over the loops, outer ones first.
 * @param visit takes a loop and says whether what is inside of it is to be left out
 */
export function visitLoops(blocks: ReadonlyMap<number, Block>, visit: (loop: Loop) => boolean): void {
  const predecessors = predecessorsOf(blocks)
  const next = (pc: number) => successors(blocks.get(pc)!)
  const back = (pc: number) => predecessors.get(pc)!
  const search = (nodes: ReadonlySet<number>): void => {
    for (const part of components(nodes, next, back)) {
      const first = [...part][0]!
      if (part.size === 1 && !next(first).includes(first)) continue
      const entries = [...part].filter((pc) => back(pc).some((from) => !part.has(from)))
      // A program may begin with a loop.
      const header = entries.length === 0 ? Math.min(...part) : entries[0]!
      const loop = entries.length <= 1 ? loopOf(header, part, blocks) : undefined
      if (loop !== undefined && visit(loop)) continue
      part.delete(header)
      search(part)
    }
  }
  search(new Set(blocks.keys()))
}

/** The loop of those of these blocks that the header leads to, unless there is one inside that is entered at several blocks. */
export function loopOf(header: number, part: { has(pc: number): boolean }, blocks: ReadonlyMap<number, Block>): Loop | undefined {
  const order = postOrder([header], (pc) => successors(blocks.get(pc)!).filter((to) => part.has(to))).toReversed()
  const inside = new Map(order.map((pc) => [pc, blocks.get(pc)!]))
  const dominators = dominatorsOf(order, predecessorsOf(inside))
  const place = new Map(order.map((pc, i) => [pc, i]))
  const dominates = (above: number, pc: number | undefined): boolean =>
    pc !== undefined && (pc === above || dominates(above, dominators.get(pc)))
  for (const block of inside.values())
    for (const to of successors(block))
      if (inside.has(to) && place.get(to)! <= place.get(block.pc)! && !dominates(to, block.pc)) return undefined
  return { header, blocks: inside, dominators }
}

/** Immediate dominators of nodes in reverse post-order (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm"). */
function dominatorsOf(order: readonly number[], predecessors: ReadonlyMap<number, readonly number[]>): Map<number, number> {
  const place = new Map(order.map((pc, i) => [pc, i]))
  const found = new Map([[order[0]!, order[0]!]])
  const meet = (a: number, b: number): number => {
    let [x, y] = [a, b]
    while (x !== y) {
      if (place.get(x)! > place.get(y)!) x = found.get(x)!
      else y = found.get(y)!
    }
    return x
  }
  for (let changed = true; changed; ) {
    changed = false
    for (const pc of order.slice(1)) {
      const known = predecessors.get(pc)!.filter((from) => found.has(from))
      const dominator = known.reduce(meet)
      if (found.get(pc) === dominator) continue
      found.set(pc, dominator)
      changed = true
    }
  }
  found.delete(order[0]!)
  return found
}
