/** Compiles the kernels of some files of assembly/ops by themselves and calls them on rows of lanes. For tests only. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Where rows lie in the test module's memory: result, up to four sources; each is below 64 KiB. */
const RESULT = 0x20000
const SOURCES = [0x30000, 0x40000, 0x50000, 0x60000] as const
const PAGES = 8

export interface Kernels {
  /** Names of the lane kernels, `_rounded` and `_mask` forms included. */
  readonly names: readonly string[]
  setMode(mode: number): void
  /**
   * Calls a kernel on rows of 32-bit lanes (four at a time) or 64-bit lanes (two at a time).
   * @param bits width of a lane: 64 where the operation's shape has a 64-bit operand
   * @param round for `_rounded` forms
   */
  run(name: string, bits: 32 | 64, sources: readonly (readonly bigint[])[], round?: number): bigint[]
}

/** @param files names in assembly/ops without extension */
export async function compileKernels(files: readonly string[]): Promise<Kernels> {
  const arity = new Map<string, number>()
  const lines = ["import { setChunkLane, setMode } from '../lib/mode'", 'export function mode(m: u32): void { setMode(m) }']
  for (const file of files) {
    const source = readFileSync(`${root}/assembly/ops/${file}.ts`, 'utf8')
    lines.push(`import * as ${file} from '../ops/${file}'`)
    for (const [, name, parameters] of source.matchAll(/export function (v_\w+)\(([^)]*)\): v128/g)) {
      const types = (parameters ?? '').split(',').map((p) => p.split(':')[1]?.trim())
      const count = types.filter((t) => t === 'v128').length
      arity.set(name!, count)
      const operands = SOURCES.slice(0, count).map((s) => `v128.load(${s} + o)`)
      if (types.includes('i32')) operands.push('round')
      lines.push(`export function ${name}(n: usize, round: i32): void {
        for (let o: usize = 0; o < n; o += 16) {
          setChunkLane(<i32>o >> 2)
          v128.store(${RESULT} + o, ${file}.${name}(${operands.join(', ')}))
        }
      }`)
    }
  }
  const wasm = await compile(lines.join('\n'))
  const { instance } = await WebAssembly.instantiate(wasm)
  const { memory, mode, ...kernels } = instance.exports as unknown as { memory: WebAssembly.Memory; mode(m: number): void } & Record<
    string,
    (bytes: number, round: number) => void
  >
  return {
    names: [...arity.keys()],
    setMode: mode,
    run(name, bits, sources, round = 0) {
      const count = sources[0]?.length ?? 0
      const chunk = 128 / bits
      const padded = Math.ceil(count / chunk) * chunk
      const rows = sources.map((_, i) =>
        bits === 32 ? new Uint32Array(memory.buffer, SOURCES[i], padded) : new BigUint64Array(memory.buffer, SOURCES[i], padded),
      )
      for (const [i, source] of sources.entries()) {
        rows[i]!.fill((bits === 32 ? 0 : 0n) as never)
        for (const [lane, word] of source.entries()) rows[i]![lane] = (bits === 32 ? Number(word) : word) as never
      }
      if (arity.get(name) !== sources.length) throw new RangeError(`${name} takes ${arity.get(name)} sources, not ${sources.length}`)
      kernels[name]!((padded * bits) / 8, round)
      const result = bits === 32 ? new Uint32Array(memory.buffer, RESULT, count) : new BigUint64Array(memory.buffer, RESULT, count)
      return Array.from(result, BigInt)
    },
  }
}

async function compile(entry: string): Promise<Uint8Array<ArrayBuffer>> {
  const entryName = 'assembly/generated/kernels-under-test.ts'
  let wasm: Uint8Array<ArrayBuffer> | undefined
  const { error, stderr } = await asc.main(
    [
      entryName,
      '--config',
      'none',
      '--runtime',
      'stub',
      '--enable',
      'simd',
      '--noAssert',
      '--disableWarning',
      '112',
      '--optimizeLevel',
      '1',
      '--initialMemory',
      String(PAGES),
      '--outFile',
      'kernels.wasm',
    ],
    {
      readFile(name: string, base: string) {
        if (name === entryName) return entry
        try {
          return readFileSync(`${base}/${name}`, 'utf8')
        } catch {
          return null
        }
      },
      writeFile(_name: string, bytes: Uint8Array | string) {
        if (typeof bytes !== 'string') wasm = new Uint8Array(bytes)
      },
      listFiles: () => [],
    },
  )
  if (error !== null || wasm === undefined) throw new Error(`kernels do not compile: ${error?.message ?? ''}\n${stderr.toString()}`)
  return wasm
}
