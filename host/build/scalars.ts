/**
 * The plain scalar operations: pure functions in assembly/ops/sop1.ts, sop2.ts, sopc.ts and sopk.ts. Here stands what is written around
 * them, for the core a step function, for the translator a table of what they take and give.
 *
 * A parameter's name says what comes in, its type how wide. SCC gets a result of type bool; what the operation's `name_scc` gives; whether
 * the result is not zero, where the row has the trait `scc`; or nothing. A result made from `exec` is the new EXEC, the destination gets the old.
 */
import type { Operation } from '../isa/operations.ts'
import { bitsOf } from '../isa/row.ts'
import { isWaveKernel, type Kernel } from './kernels.ts'

type Kernels = ReadonlyMap<string, Kernel>

/** Tables whose operations are pure functions, unless they need the wave. */
const SCALAR_TABLES: readonly string[] = ['sop1', 'sop2', 'sopc', 'sopk']
const TYPES: readonly string[] = ['i32', 'u32', 'i64', 'u64']

/** A pure function of scalars, `name` or `name_scc`. */
export const isScalarKernel = (kernel: Kernel): boolean => SCALAR_TABLES.includes(kernel.file) && !isWaveKernel(kernel)

const isWide = (type: string): boolean => type.endsWith('64')

/** What a parameter gets. */
function argument(name: string, type: string): string {
  const wide = isWide(type)
  const source = (slot: number) => `source${wide ? '64' : ''}(u, w, ${slot})`
  switch (name) {
    case 'a':
      return source(0)
    case 'b':
      return source(1)
    case 'k':
      return 'load<i32>(u, RECORD_IMM)'
    case 'old':
      return `load<${type}>(w + load<u32>(u, RECORD_DST))`
    case 'scc':
      return 'state.scc(w)'
    case 'exec':
      return 'state.exec(w)'
    default:
      throw new Error(`a scalar kernel has the parameter ${name}; it may have a, b, k, old, scc and exec`)
  }
}

/** Where SCC comes from: a second kernel, the result's being not zero, the result itself, or nowhere. */
type SccSource = 'own' | 'nonzero' | 'result' | 'none'

function sccOf({ name, traits }: Operation, { result }: Kernel, kernels: Kernels): SccSource {
  if (result === 'bool') return 'result'
  if (kernels.has(`${name}_scc`)) return 'own'
  return traits.has('scc') ? 'nonzero' : 'none'
}

/** Whether a kernel has the widths that the shape asks for; `custom` shapes are up to the format. */
export function scalarFits({ shape }: Operation, { names, parameters, result }: Kernel): boolean {
  if (!parameters.every((type) => TYPES.includes(type)) || ![...TYPES, 'bool'].includes(result)) return false
  if (shape.text === 'custom') return true
  const bits = (type: string | undefined) => (type === undefined || type === 'bool' ? undefined : isWide(type) ? 64 : 32)
  const sources = shape.sources.every((type, i) => bits(parameters[names.indexOf('ab'[i]!)]) === bitsOf(type))
  return sources && bits(result) === (shape.results[0] && bitsOf(shape.results[0]))
}

/** The step function of one operation. All is read before anything is written. */
export function scalarStep(operation: Operation, kernel: Kernel, kernels: Kernels): string {
  const { name, file, names, parameters, result } = kernel
  const reads = names.map((parameter, i) => `const ${parameter}: ${parameters[i]} = ${argument(parameter, parameters[i]!)};`)
  const call = (f: string) => `${file}.${f}(${names.join(', ')})`
  const scc = sccOf(operation, kernel, kernels)
  const set = isWide(result) ? 'state.setScalar64' : 'state.setScalar'
  const destination = 'load<u32>(u, RECORD_DST)'
  const writes = {
    result: () => [`state.setScc(w, ${call(name)});`],
    own: () => [`state.setScc(w, ${call(`${name}_scc`)});`, `${set}(w, ${destination}, ${call(name)});`],
    nonzero: () => [`const r = ${call(name)};`, 'state.setScc(w, r != 0);', `${set}(w, ${destination}, r);`],
    none: () => [`${set}(w, ${destination}, ${call(name)});`],
  }
  const lines = names.includes('exec')
    ? [`const r = ${call(name)};`, 'state.setScc(w, r != 0);', `state.setScalar64(w, ${destination}, exec);`, 'state.setExec(w, r);']
    : writes[scc]()
  return [`function ${name}(u: usize, w: usize): void {`, ...[...reads, ...lines].map((line) => `  ${line}`), '}'].join('\n')
}

/** The text of host/core/generated/scalars.ts. */
export function scalarsSource(operations: readonly Operation[], kernels: Kernels): string {
  const list = (texts: readonly string[]) => `[${texts.map((t) => `'${t}'`).join(', ')}]`
  const entries = operations.flatMap((operation) => {
    const kernel = kernels.get(operation.name)
    if (!kernel || !isScalarKernel(kernel)) return []
    const { name, names, parameters, result } = kernel
    const scc = sccOf(operation, kernel, kernels)
    return [`  ${name}: { parameters: ${list(names)}, types: ${list(parameters)}, result: '${result}', scc: '${scc}' },`]
  })
  return [
    '// Written by host/build.',
    '',
    '/** What a pure scalar function of the core takes and gives (host/build/scalars.ts). */',
    'export interface ScalarKernel {',
    '  /** a, b: sources; k: the 16-bit constant, sign-extended; old: what the destination holds; scc: SCC; exec: EXEC. */',
    '  readonly parameters: readonly string[]',
    '  /** i32, u32, i64 or u64, one a parameter. */',
    '  readonly types: readonly string[]',
    '  /** The type of the result; a bool is SCC. A result made from `exec` is the new EXEC, the destination gets the old one. */',
    '  readonly result: string',
    '  /** Where SCC comes from: name_scc, the result being not zero, the result itself, or nowhere (it stays). */',
    "  readonly scc: 'own' | 'nonzero' | 'result' | 'none'",
    '}',
    '',
    '/** By operation; the functions are exports of the core under the same names. */',
    'export const SCALAR_KERNELS: Readonly<Record<string, ScalarKernel>> = {',
    ...entries,
    '}',
    '',
  ].join('\n')
}
