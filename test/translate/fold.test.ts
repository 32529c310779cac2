import { expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { SCALAR_KERNELS } from '../../host/core/generated/scalars.ts'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { type Argument, Kernels, type Locals, push } from '../../host/translate/wasm/kernels.ts'
import { Code, I32, I64, ModuleBuilder, OP, SIMD, V128 } from '../../host/translate/wasm/wasm.ts'
import { randomFrom, word } from './programs.ts'

// A function of the core with constants folded through its body gives what the core's own function gives for the same arguments. The
// bodies of many stand in one function, one behind another, and share its locals, as in a region.

const CASES_EACH = 6
const CONSTANTS = [0, 1, 7, 31, 32, 33, 63, 64, -1, -16, 0x3f800000, 0x0c0d0001, 0x7fc00000, 0x80000000 | 0]
/** Parameters of the function: addresses of the arguments and of the results. */
const [FROM, TO] = [0, 1]
const SLOT = 16

/** Locals of the function: two parameters, then temporaries that are used again and again. */
class Temporaries implements Locals {
  readonly types: number[] = []
  readonly #free = new Map<number, number[]>()
  #used: { type: number; local: number }[] = []

  constructor(
    private readonly builder: ModuleBuilder,
    private readonly kernels: Kernels,
  ) {}

  temporary(type: number): number {
    const local = this.#free.get(type)?.pop() ?? 2 + this.types.push(type) - 1
    this.#used.push({ type, local })
    return local
  }
  reset(): void {
    for (const { type, local } of this.#used) this.#free.set(type, [...(this.#free.get(type) ?? []), local])
    this.#used = []
  }
  functionImport(name: string): number {
    return this.builder.imported(name, this.kernels.type(name))
  }
  globalImport(name: string): number {
    return this.builder.importedGlobal(name, I32)
  }
  staleExec(): void {}
}

const LOADS: Readonly<Record<number, (code: Code, at: number) => void>> = {
  [V128]: (code, at) => void code.get(FROM).simdMemory(SIMD.load, at),
  [I64]: (code, at) => void code.get(FROM).memory(OP.i64Load, at),
  [I32]: (code, at) => void code.get(FROM).memory(OP.i32Load, at),
}
const STORES: Readonly<Record<number, (code: Code, at: number) => void>> = {
  [V128]: (code, at) => void code.simdMemory(SIMD.store, at),
  [I64]: (code, at) => void code.memory(OP.i64Store, at),
  [I32]: (code, at) => void code.memory(OP.i32Store, at),
}

test('functions of the core give the same with constants folded through them', async () => {
  const core = await createCore()
  const kernels = new Kernels(core.material.bytes!)
  const names = [
    ...OPERATIONS.filter(({ table }) => /^vop/.test(table)).flatMap(({ name }) => [name, `${name}_mask`]),
    ...Object.keys(SCALAR_KERNELS).flatMap((name) => [name, `${name}_scc`]),
    'shiftLeft64',
    'shiftRight64',
    'shiftRightSigned64',
  ].filter((name) => kernels.has(name) && kernels.spliceable(name) && kernels.type(name).parameters.every((type) => type in LOADS))
  expect(names.length).toBeGreaterThan(400)

  const random = randomFrom(1)
  const builder = new ModuleBuilder()
  builder.importMemory(kernels.memoryLimits)
  const locals = new Temporaries(builder, kernels)
  const cases: { name: string; args: string }[] = []
  const bodies: Code[] = []
  for (let first = 0; first < names.length; first += 20) {
    const code = new Code()
    for (const name of names.slice(first, first + 20)) {
      const { parameters, results } = kernels.type(name)
      for (let i = 0; i < CASES_EACH; i++) {
        const args = parameters.map((type, slot): Argument => {
          const constant = CONSTANTS[random(CONSTANTS.length)]!
          if (type !== I64 && random(3) > 0) return type === V128 ? { lanes: constant } : { constant }
          const local = locals.temporary(type)
          LOADS[type]!(code, SLOT * slot)
          code.set(local)
          return { local }
        })
        const at = 2 * SLOT * cases.length
        code.get(TO)
        kernels.apply(code, name, args, locals)
        STORES[results[0]!]!(code, at)
        code.get(TO)
        for (const arg of args) push(code, arg)
        code.op(OP.call).u32(locals.functionImport(name))
        STORES[results[0]!]!(code, at + SLOT)
        cases.push({ name, args: JSON.stringify(args) })
        locals.reset()
      }
    }
    bodies.push(code)
  }
  for (const [i, code] of bodies.entries()) builder.add({ parameters: [I32, I32], results: [] }, locals.types, code, `run${i}`)

  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(builder.bytes()), { core: core.material.imports })
  const from = core.heapBase
  const to = from + 64
  if (core.memory.byteLength < to + 2 * SLOT * cases.length) core.grow(2 * SLOT * cases.length)
  for (let round = 0; round < 20; round++) {
    const words = new Uint32Array(core.memory, from, 16)
    for (let i = 0; i < words.length; i++) words[i] = word(random, false)
    for (const run of Object.values(exports)) (run as (from: number, to: number) => void)(from, to)
    cases.forEach(({ name, args }, i) => {
      const [got, want] = [0, 1].map((n) => new Uint32Array(core.memory, to + 2 * SLOT * i + SLOT * n, 4)) as [Uint32Array, Uint32Array]
      // The payloads of NaNs are WebAssembly's to choose.
      const same = got.every((x, lane) => x === want[lane] || (/_f(16|32|64)/.test(name) && isNan(x) && isNan(want[lane]!)))
      if (!same) expect.fail(`${name} ${args} of ${hex(words)}: ${hex(got)} instead of ${hex(want)}`)
    })
  }
})

test('a local that is set nowhere but in an arm that was left out is zero', () => {
  const body = new Code().get(0).block(OP.if).i32(5).set(1).end().get(1)
  const material = new ModuleBuilder()
  material.add({ parameters: [I32], results: [I32] }, [I32], body, 'five')
  const kernels = new Kernels(material.bytes())
  const builder = new ModuleBuilder()
  const locals = new Temporaries(builder, kernels)
  const code = new Code()
  // The first one leaves its 5 in the local that the second one gets.
  for (const arg of [{ local: 0 }, { constant: 0 }]) {
    kernels.apply(code, 'five', [arg], locals)
    locals.reset()
  }
  builder.add({ parameters: [I32, I32], results: [I32, I32] }, locals.types, code, 'run')
  const { run } = new WebAssembly.Instance(new WebAssembly.Module(builder.bytes())).exports
  expect((run as (n: number, m: number) => number[])(1, 0)).toEqual([5, 0])
})

test('a local that is set behind one label of a table is not known behind the next', () => {
  // block { block { br_table 0 1 } local 2 = 5 } local 2
  const body = new Code().block(OP.block).block(OP.block).get(0).op(OP.brTable).u32(1).u32(0).u32(1).end().i32(5).set(2).end().get(2)
  const material = new ModuleBuilder()
  material.add({ parameters: [I32, I32], results: [I32] }, [I32], body, 'five')
  const kernels = new Kernels(material.bytes())
  const builder = new ModuleBuilder()
  const locals = new Temporaries(builder, kernels)
  const code = new Code()
  // The second argument is a constant, so that there is something to fold.
  kernels.apply(code, 'five', [{ local: 0 }, { constant: 1 }], locals)
  builder.add({ parameters: [I32, I32], results: [I32] }, locals.types, code, 'run')
  const { run } = new WebAssembly.Instance(new WebAssembly.Module(builder.bytes())).exports
  expect([0, 1].map((n) => (run as (n: number, m: number) => number)(n, 0))).toEqual([5, 0])
})

/** A NaN, or the half of one that tells. */
/** A quiet NaN, or the high dword of one of 64 bits. */
const isNan = (bits: number): boolean => (bits & 0x7fc00000) === 0x7fc00000
const hex = (words: Uint32Array): string => [...words].map((x) => x.toString(16)).join(' ')
