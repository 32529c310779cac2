/** Scalar instructions in translated code: the core's pure functions between loads and stores of the wave block, and what each of them reads and writes. */
import { SCALAR_KERNELS, type ScalarKernel } from '../../core/generated/scalars.ts'
import { dwordsOf } from '../../isa/row.ts'
import { EXEC_LO, M0 as M0_ENCODING, MACHINE_COUNTERS, scalarOffset, VCC_LO, WAVE_MACHINE, WAVE_SCC } from '../../plan/layout.ts'
import { KIND_SCALAR, KIND_SPECIAL } from '../../plan/record.ts'
import { wideConstant } from '../code/constant.ts'
import { factOf } from '../code/fact.ts'
import type { Step } from '../code/graph.ts'
import type { Argument, Kernels, Locals } from '../wasm/kernels.ts'
import { type Code, I32, I64, OP } from '../wasm/wasm.ts'

/** SCC among the scalars, which are numbered by their offset in the wave block. */
export const SCC = WAVE_SCC
export const EXEC = scalarOffset(EXEC_LO)
export const M0 = scalarOffset(M0_ENCODING)
/** Whether a destination, of one register or two, may be part of EXEC. */
export const isExec = (at: number): boolean => at >= EXEC - 4 && at <= EXEC + 4

export interface Uses {
  readonly reads: ReadonlySet<number>
  readonly writes: ReadonlySet<number>
}

/** Whether a scalar instruction is all operands, result and SCC. */
export const isPlainScalar = ({ operation, mods }: Step): boolean => kernelOf(operation) !== undefined && !mods.kinds.includes(KIND_SPECIAL)

const kernelOf = factOf(({ name }): ScalarKernel | undefined => SCALAR_KERNELS[name])
const isWide = (type: string): boolean => type.endsWith('64')
const dwords = (at: number, wide: boolean): number[] => (wide ? [at, at + 4] : [at])

export const pair = (encoding: number): number[] => dwords(scalarOffset(encoding), true)

/** The scalars among a vector instruction's sources; with `masks` false only those that it reads as numbers. */
export function scalarReads(step: Step, masks = true): Set<number> {
  const { sources } = step.operation.shape
  const reads = new Set<number>()
  for (let slot = 0; slot < sources.length; slot++) {
    const type = sources[slot]!
    if (step.mods.kinds[slot] !== KIND_SCALAR || (type === 'mask' && !masks)) continue
    const dwords = type === 'mask' ? 2 : dwordsOf(type)
    for (let i = 0; i < dwords; i++) reads.add(step.sources[slot]! + 4 * i)
  }
  if (masks && sources.includes('vcc')) for (const at of pair(VCC_LO)) reads.add(at)
  return reads
}

const uses = new WeakMap<Step, Uses>()

/** What a plain scalar instruction reads and writes. */
export function scalarUses(step: Step): Uses {
  let found = uses.get(step)
  if (found === undefined) {
    found = findUses(step)
    uses.set(step, found)
  }
  return found
}

function findUses(step: Step): Uses {
  const { parameters, types, result, scc } = kernelOf(step.operation)!
  const reads = new Set<number>()
  const writes = new Set<number>()
  parameters.forEach((parameter, i) => {
    const wide = isWide(types[i]!)
    const slot = SLOTS[parameter]
    if (parameter === 'scc') reads.add(SCC)
    else if (parameter === 'exec') for (const at of dwords(EXEC, true)) reads.add(at)
    else if (parameter === 'old') for (const at of dwords(step.dst, wide)) reads.add(at)
    else if (slot !== undefined && step.mods.kinds[slot] === KIND_SCALAR) for (const at of dwords(step.sources[slot]!, wide)) reads.add(at)
  })
  if (scc !== 'none') writes.add(SCC)
  if (result !== 'bool') for (const at of dwords(step.dst, isWide(result))) writes.add(at)
  if (parameters.includes('exec')) for (const at of dwords(EXEC, true)) writes.add(at)
  return { reads, writes }
}

export const overlaps = (a: ReadonlySet<number>, b: ReadonlySet<number>): boolean => {
  for (const x of a) if (b.has(x)) return true
  return false
}

/** Source slots by parameter; sopk operations have their register in the first one. */
const SLOTS: Readonly<Record<string, 0 | 1>> = { a: 0, b: 1 }

/** Where scalars are while code runs: they are numbered by their offset in the wave block. */
export interface ScalarFile {
  /** Pushes a scalar, of a pair where it is wide. */
  load(code: Code, at: number, wide: boolean): void
  /** Sets a scalar, or a pair, to what a local holds. */
  store(code: Code, at: number, wide: boolean, local: number): void
  /** Pushes a 64-bit constant, where that is not all of it. */
  constant?(code: Code, value: bigint): void
}

/** The wave block itself. */
export function waveScalars(wave: number): ScalarFile {
  return {
    load: (code, at, wide) => void code.get(wave).memory(wide ? OP.i64Load : OP.i32Load, at),
    store(code, at, wide, local) {
      code
        .get(wave)
        .get(local)
        .memory(wide ? OP.i64Store : OP.i32Store, at)
    },
  }
}

/** Writes a plain scalar instruction. Sources are read before anything is written. */
export function writeScalar(code: Code, step: Step, kernels: Kernels, locals: Locals, file: ScalarFile): void {
  const { name } = step.operation
  const { parameters, types, result, scc } = kernelOf(step.operation)!
  const args = parameters.map((parameter, i) => argument(code, step, parameter, isWide(types[i]!), locals, file))
  const value = { local: locals.temporary(isWide(result) ? I64 : I32), wide: isWide(result) }
  kernels.apply(code, name, args, locals)
  code.set(value.local)
  const condition = conditionOf(code, name, scc, args, value, kernels, locals)
  if (parameters.includes('exec')) {
    // The destination keeps EXEC as it was.
    const old = args[parameters.indexOf('exec')] as { local: number }
    file.store(code, step.dst, true, old.local)
    file.store(code, EXEC, true, value.local)
  } else if (result !== 'bool') file.store(code, step.dst, value.wide, value.local)
  if (condition !== undefined) file.store(code, SCC, false, condition)
}

function argument(code: Code, step: Step, parameter: string, wide: boolean, locals: Locals, file: ScalarFile): Argument {
  if (parameter === 'k') return { constant: step.imm }
  const slot = SLOTS[parameter]
  const kind = slot === undefined ? KIND_SCALAR : step.mods.kinds[slot]!
  const local = locals.temporary(wide ? I64 : I32)
  if (kind === KIND_SCALAR) {
    file.load(code, parameter === 'scc' ? SCC : parameter === 'exec' ? EXEC : slot === undefined ? step.dst : step.sources[slot]!, wide)
  } else {
    const constant = wideConstant(kind, step.sources[slot!]!)
    if (!wide) return { constant: Number(BigInt.asIntN(32, constant)) }
    if (file.constant) file.constant(code, constant)
    else code.i64(constant)
  }
  code.set(local)
  return { local }
}

/** The local that holds the new SCC, if there is one. */
function conditionOf(
  code: Code,
  name: string,
  scc: ScalarKernel['scc'],
  args: readonly Argument[],
  value: { readonly local: number; readonly wide: boolean },
  kernels: Kernels,
  locals: Locals,
): number | undefined {
  if (scc === 'none') return undefined
  if (scc === 'result') return value.local
  const condition = locals.temporary(I32)
  if (scc === 'own') kernels.apply(code, `${name}_scc`, args, locals)
  else if (value.wide) code.get(value.local).i64(0n).op(OP.i64Ne)
  else code.get(value.local).i32(0).op(OP.i32Ne)
  code.set(condition)
  return condition
}

/** Pushes the address of a step's record. It is looked up, for a module runs wherever its program is loaded. */
export function pushRecord(code: Code, { pc, isElders }: Step, locals: Locals): void {
  code
    .op(OP.globalGet)
    .u32(locals.globalImport(isElders ? 'elderRecords' : 'records'))
    .memory(OP.i32Load, pc)
}

/**
 * Counts an approximate operation as the core does.
 * @param times pushes how often it was executed, as an i64
 */
export function countApproximate(code: Code, wave: number, step: Step, locals: Locals, times: () => void): void {
  const at = locals.temporary(I32)
  code
    .get(wave)
    .memory(OP.i32Load, WAVE_MACHINE)
    .memory(OP.i32Load, MACHINE_COUNTERS)
    .i32(step.operation.number * 8)
    .op(OP.i32Add)
    .tee(at)
  code.get(at).memory(OP.i64Load, 0)
  times()
  code.op(OP.i64Add).memory(OP.i64Store, 0)
}
