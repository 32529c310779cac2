import { expect, test } from 'vitest'
import { compareOf } from '../../host/build/dispatch.ts'
import { findKernels } from '../../host/build/kernels.ts'
import { FORMATS } from '../../host/isa/formats.ts'
import { OPERATION_BY_NAME, OPERATIONS, type Operation, PSEUDO_OPERATIONS } from '../../host/isa/operations.ts'
import { GENERATIONS, type Generation } from '../../host/isa/targets.ts'
import { LANE_FUNCTIONS } from '../../host/reference/lanes.ts'
import { referenceOperations } from '../../host/reference/operations.ts'

const kernels = findKernels('assembly/ops')
const references = new Set(referenceOperations())
/** All compares that write EXEC or signal share the kernel of v_cmp. */
const kernelOf = ({ name, table }: Operation): string => (table === 'vopc' ? compareOf(name) : name)
const hasKernel = (operation: Operation): boolean => kernels.has(kernelOf(operation))
/** A second kernel of an operation; docs/architecture.md says what each is for. */
const VARIANT = /_(mask|rounded|clamped|quick|scc)$/
/** What instructions are called; other exports are what kernels are made of. */
const MNEMONIC = /^((v|s|ds|flat|buffer|tbuffer|image)_|exp$)/

test('names are unique', () => {
  const names = OPERATIONS.map(({ name }) => name)
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
})

test('an operation is at the place that its number says', () => {
  expect(OPERATIONS.filter(({ number }, i) => number !== i + PSEUDO_OPERATIONS.length)).toEqual([])
})

test.each(GENERATIONS)('no two operations of %s share an opcode of a format', (generation) => {
  expect(formatsOf(generation).flatMap((format) => clashes(format, generation))).toEqual([])
})

const formatsOf = (generation: Generation) => [
  ...new Set(FORMATS.filter(({ generations }) => generations.includes(generation)).map(({ opcodes }) => opcodes)),
]

function clashes(format: ReturnType<typeof formatsOf>[number], generation: Generation): string[] {
  const taken = new Map<number, string>()
  return OPERATIONS.flatMap((operation) => {
    const opcode = operation.opcode(format, generation)
    if (opcode === undefined) return []
    const other = taken.get(opcode)
    taken.set(opcode, operation.name)
    return other === undefined ? [] : [`${format} ${opcode} is ${other} and ${operation.name}`]
  })
}

test('every operation has an opcode on some generation, and a name for each generation that has it', () => {
  const without = OPERATIONS.filter((o) => !GENERATIONS.some((g) => formatsOf(g).some((format) => o.opcode(format, g) !== undefined)))
  expect(without.map(({ name }) => name)).toEqual([])
})

// Row, reference function and kernel have one name; each failure says which of the three is missing.
const isEngines = ({ unsupported, traits }: Operation): boolean => unsupported === undefined && !traits.has('device')

test('every row that engines run has a reference function', () => {
  const run = OPERATIONS.filter(isEngines)
  expect(run.filter(({ name }) => !references.has(name)).map(({ name }) => `${name}: no function in host/reference`)).toEqual([])
})

test('every row that engines run has a kernel', () => {
  const run = OPERATIONS.filter(isEngines)
  expect(run.filter((o) => !hasKernel(o)).map(({ name, table }) => `${name}: no kernel in assembly/ops (table ${table})`)).toEqual([])
})

test('a row that no engine runs has neither', () => {
  const not = OPERATIONS.filter((o) => !isEngines(o))
  const wrong = not.filter((o) => references.has(o.name) || hasKernel(o))
  expect(wrong.map(({ name, unsupported }) => `${name} is there, but its row says: ${unsupported ?? 'device'}`)).toEqual([])
})

test('every kernel has a row', () => {
  const wanted = new Set(OPERATIONS.map(kernelOf))
  const stray = [...kernels.values()].filter(({ name }) => MNEMONIC.test(name) && !wanted.has(name.replace(VARIANT, '')))
  expect(stray.map(({ name, file }) => `${name}: in assembly/ops/${file}.ts, no row in host/isa/rows`)).toEqual([])
})

test('every lane function has a row', () => {
  // The compares are families: all kinds of a type, whether a generation has them or not.
  const stray = [...LANE_FUNCTIONS.keys()].filter((name) => !OPERATION_BY_NAME.has(name) && !name.startsWith('v_cmp'))
  expect(stray.map((name) => `${name}: in host/reference, no row in host/isa/rows`)).toEqual([])
})
