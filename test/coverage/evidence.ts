/** Where operations are used: in edge cases, in test files by name, in jobs with known results, in compiled kernels. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { decode } from '../../host/codec/decode.ts'
import { findOperation } from '../../host/explain/find.ts'
import type { Operation } from '../../host/isa/operations.ts'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { TARGETS, type Target } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { missingOf } from '../ops/edge-cases/lines.ts'
import { waveCasesOf } from '../ops/edge-cases/whole-wave.ts'

type ByTarget = ReadonlyMap<string, ReadonlySet<Operation>>

export interface Evidence {
  /** Names of operations that a test file has as a word. */
  readonly tests: ReadonlySet<string>
  readonly vectors: ByTarget
  /** From the compiled kernels beside a development checkout. */
  readonly kernels: ByTarget
}

/**
 * Whether an operation's edge cases are tested on a target. Of the vector ALU: the tables of `test/ops/edge-cases` run on every engine,
 * and each source has met in them all that its type demands (zeros of both signs, infinities, NaNs, denormals; all ones, signs, small
 * numbers), or the cases are by hand, of operations that look at the whole wave. Of the others: a test file names the operation.
 */
export function hasEdgeCases(operation: Operation, target: Target, { tests }: Evidence): boolean {
  if (!/^(vop[123c]|vintrp)$/.test(operation.table)) return tests.has(operation.name)
  return waveCasesOf(operation, target).length > 0 || missingOf(operation, target).length === 0
}

const SHARED = '../shared'

export function findEvidence(): Evidence {
  return { tests: namesInTests(), vectors: vectorOperations(), kernels: kernelOperations() }
}

const filesIn = (folder: string, pattern: RegExp): string[] =>
  existsSync(folder)
    ? (readdirSync(folder, { recursive: true, encoding: 'utf8' }) as string[]).filter((f) => pattern.test(f)).map((f) => join(folder, f))
    : []

/** Random tests name no operation and are no edge case; neither is this measurement. */
function namesInTests(): Set<string> {
  const known = new Set(OPERATIONS.map(({ name }) => name))
  const aliases = new Map(OPERATIONS.flatMap((o) => (['gfx6', 'gfx7', 'gfx8'] as const).map((g) => [o.mnemonic(g), o.name] as const)))
  const names = new Set<string>()
  for (const file of filesIn('test', /\.ts$/)) {
    if (/^test\/(coverage|property)\//.test(file)) continue
    for (const [word] of readFileSync(file, 'utf8').matchAll(/\b[a-z]+_\w+\b|\bexp\b/g)) {
      const name = word.replace(/_(e32|e64|sdwa|dpp)$/, '')
      if (known.has(name)) names.add(name)
      else if (aliases.has(name)) names.add(aliases.get(name)!)
    }
  }
  return names
}

interface JobLine {
  readonly target: string
  readonly code?: { readonly words?: readonly string[]; readonly asm?: string }
}

/** Operations of jobs that bring their results: single instructions and short programs. */
function vectorOperations(): ByTarget {
  const files = [...filesIn('test', /\.ndjson(\.gz)?$/), ...filesIn(join(SHARED, 'vectors'), /\.ndjson(\.gz)?$/)]
  const found = new Map<string, Set<Operation>>(Object.keys(TARGETS).map((name) => [name, new Set()]))
  for (const file of files) {
    const bytes = readFileSync(file)
    const text = file.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString()
    for (const line of text.split('\n')) if (line.trim() !== '') addJob(found, JSON.parse(line) as JobLine)
  }
  return found
}

function addJob(found: ReadonlyMap<string, Set<Operation>>, { target: name, code }: JobLine): void {
  const operations = found.get(name)
  if (operations === undefined) return
  const target = TARGETS[name as keyof typeof TARGETS]
  const words = code?.words?.map(Number) ?? (code?.asm === undefined ? [] : [...assembleProgram(code.asm, target).words])
  for (let at = 0; at < words.length; ) {
    const instruction = decode(Uint32Array.from(words), at, target)
    if (instruction !== undefined) operations.add(instruction.operation)
    at += instruction?.dwords ?? 1
  }
}

/** `mnemonics-<target>.tsv`: a mnemonic a line, as LLVM prints it. */
function kernelOperations(): ByTarget {
  return new Map(
    Object.values(TARGETS).map(({ name, generation }) => {
      const file = join(SHARED, 'kernels', `mnemonics-${name}.tsv`)
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(1) : []
      const operations = lines.map((line) => findOperation(line.split('\t')[0]!, generation)).filter((o) => o !== undefined)
      return [name, new Set(operations)] as const
    }),
  )
}
