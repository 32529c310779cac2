/**
 * A loop as structured control flow: nested blocks and loops, along the dominator tree (N. Ramsey, "Beyond Relooper", ICFP 2022). It
 * knows which label is how deep, not what blocks do.
 */
import { type Block, successors } from '../code/graph.ts'
import type { Loop } from '../code/loops.ts'
import { type Code, OP } from '../wasm/wasm.ts'

/** What stands in the blocks and between them. `depth` is the number of labels that are open inside of the structure. */
export interface Contents {
  /** Appends the start of a loop (outer or inner), at its header; it is run in each iteration. */
  iteration(header: number, depth: number): void
  /** Appends a block's instructions. */
  block(block: Block, depth: number): void
  /** Pushes whether a block's branch is taken. */
  condition(block: Block): void
  /** Appends what is to be done on the way from a block to another one. */
  edge(from: Block, to: number, depth: number): void
  /** Appends the way out of the loop, which does not come back. */
  exit(from: Block, to: number, depth: number): void
}

/** Appends a loop. Control leaves it by exits only. */
export function writeLoop(code: Code, loop: Loop, contents: Contents): void {
  new StructureWriter(code, loop, contents).write()
}

class StructureWriter {
  /** Blocks that begin at the label's target, or none; innermost last. */
  readonly #labels: (number | undefined)[] = []
  readonly #place: ReadonlyMap<number, number>
  readonly #children = new Map<number, number[]>()
  /** Blocks that several blocks before them lead to: each needs a label. */
  readonly #merges = new Set<number>()
  readonly #headers = new Set<number>()

  constructor(
    private readonly code: Code,
    private readonly loop: Loop,
    private readonly contents: Contents,
  ) {
    const { blocks, dominators } = loop
    this.#place = new Map([...blocks.keys()].map((pc, i) => [pc, i]))
    for (const [pc, above] of dominators) this.#children.set(above, [...(this.#children.get(above) ?? []), pc])
    const reached = new Set<number>()
    for (const block of blocks.values()) {
      for (const to of successors(block)) {
        if (this.#isBack(block.pc, to)) this.#headers.add(to)
        else if (reached.has(to)) this.#merges.add(to)
        reached.add(to)
      }
    }
  }

  write(): void {
    this.#tree(this.loop.header)
  }

  #isBack(from: number, to: number): boolean {
    return this.loop.blocks.has(to) && this.#place.get(to)! <= this.#place.get(from)!
  }

  /** A block and all that it dominates. */
  #tree(pc: number): void {
    const merges = (this.#children.get(pc) ?? []).filter((child) => this.#merges.has(child))
    merges.sort((a, b) => this.#place.get(a)! - this.#place.get(b)!)
    if (!this.#headers.has(pc)) return this.#within(pc, merges)
    this.#open(OP.loop, pc)
    this.contents.iteration(pc, this.#labels.length)
    this.#within(pc, merges)
    this.#close()
  }

  /** A block inside of the labels of the blocks that are joined behind it. */
  #within(pc: number, merges: readonly number[]): void {
    const last = merges.at(-1)
    if (last === undefined) return this.#block(this.loop.blocks.get(pc)!)
    this.#open(OP.block, last)
    this.#within(pc, merges.slice(0, -1))
    this.#close()
    this.#tree(last)
  }

  #block(block: Block): void {
    const { end } = block
    this.contents.block(block, this.#labels.length)
    if (end.kind === 'branch') {
      this.contents.condition(block)
      this.#open(OP.if, undefined)
      this.#edge(block, end.taken)
      this.#close()
    }
    this.#edge(block, end.pc)
  }

  #edge(from: Block, to: number): void {
    if (!this.loop.blocks.has(to)) return this.contents.exit(from, to, this.#labels.length)
    this.contents.edge(from, to, this.#labels.length)
    if (!this.#isBack(from.pc, to) && !this.#merges.has(to)) return this.#tree(to)
    this.code.op(OP.br).u32(this.#labels.length - 1 - this.#labels.lastIndexOf(to))
  }

  #open(opcode: number, target: number | undefined): void {
    this.#labels.push(target)
    this.code.block(opcode)
  }
  #close(): void {
    this.#labels.pop()
    this.code.end()
  }
}
