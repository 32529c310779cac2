/**
 * A run of lanes again, by the core: where a test fails, the core takes the run's steps one by one, for the lanes that are not written yet. What it
 * does is exact for any values, and it happens so seldom that code of its own, a second time all that the run does, would hardly ever be executed.
 */
import { WAVE_MODE } from '../../plan/layout.ts'
import { FLAG_APPROXIMATE } from '../../plan/record.ts'
import { MODE_KEY } from '../code/modes.ts'
import { push as pushArgument } from '../wasm/kernels.ts'
import { type Code, I32, I64, OP, SIMD } from '../wasm/wasm.ts'
import { EXEC_OFFSET, type FunctionLocals, type LaneStep, maskOffset, type Value, VCC_OFFSET } from './lane-values.ts'
import { countApproximate, pushRecord } from './scalars.ts'

/** A run that has to be done again, from a turn of its loop on. */
export interface UnfinishedRun {
  readonly steps: readonly LaneStep[]
  /** Local of EXEC. */
  readonly exec: number
  /** Local of the number of the turn's first lane. */
  readonly shift: number
  /** Locals of the bits of mask results, by their offset in the wave block; the core's are added. */
  readonly masks: ReadonlyMap<number, number>
}

/** What it is written with. */
export interface AgainContext {
  readonly locals: FunctionLocals
  /** Local of the wave's address. */
  readonly wave: number
  /** Index of the core's `runStep`. */
  readonly runStep: number
  /** Index of its `begin`, after which it knows MODE. */
  readonly begin: number
  /** Bits of MODE that the core knows of, and as they are behind the run: its steps have their own. */
  readonly modeOfCore: number
  readonly mode: number
  /** Scalars that instructions behind some of the run's steps have set already. */
  readonly changed: ReadonlySet<number>
}

/** Appends the run's steps, for the lanes of the turn and of all behind it. */
export function writeAgain(code: Code, { steps, exec, shift, masks }: UnfinishedRun, context: AgainContext): void {
  const { locals, wave, runStep } = context
  const rest = locals.fresh(I64)
  code.get(exec).i64(-1n).get(shift).op(OP.i64ExtendI32U, OP.i64Shl, OP.i64And).set(rest)
  // Other lanes are switched off in the row of masks, which is what vector instructions look at, by an EXEC without them.
  const narrow = () => {
    code.get(wave).get(rest).memory(OP.i64Store, EXEC_OFFSET)
    code.get(wave).op(OP.call).u32(locals.functionImport('refreshExec'))
  }
  let known = context.modeOfCore
  const setMode = (mode: number) => {
    code.get(wave).get(wave).memory(OP.i32Load, WAVE_MODE).i32(~MODE_KEY).op(OP.i32And).i32(mode).op(OP.i32Or)
    code.memory(OP.i32Store, WAVE_MODE)
  }
  const tellMode = (mode: number) => {
    if (mode === known) return
    setMode(mode)
    code.get(wave).op(OP.call).u32(context.begin)
    known = mode
  }
  const sources = steps.map((step) => changedSources(step, context.changed))
  const now = new Map<number, number>()
  for (const { at } of sources.flat()) if (!now.has(at)) now.set(at, locals.fresh(I32))
  for (const [at, local] of now) code.get(wave).memory(OP.i32Load, at).set(local)
  narrow()
  steps.forEach(({ step, keeps }, i) => {
    tellMode(step.modes.key)
    for (const { at, push } of sources[i]!) {
      code.get(wave)
      push(code)
      code.memory(OP.i32Store, at)
    }
    pushRecord(code, step, locals)
    code.get(wave).op(OP.call).u32(runStep)
    if (sources[i]!.some(({ at }) => isExecHalf(at))) narrow()
    if (keeps !== undefined) addMask(code, wave, maskOffset(step), keeps)
    // It is counted behind the run.
    if (step.flags & FLAG_APPROXIMATE) countApproximate(code, wave, step, locals, () => code.i64(-1n))
  })
  tellMode(context.modeOfCore)
  if (context.mode !== known) setMode(context.mode)
  for (const [at, local] of masks) addMask(code, wave, at, local)
  for (const [at, local] of now) code.get(wave).get(local).memory(OP.i32Store, at)
  code.get(wave).get(exec).memory(OP.i64Store, EXEC_OFFSET)
}

/** Adds what the core has left of a mask to its bits: those of lanes that were switched off are zero. */
function addMask(code: Code, wave: number, at: number, bits: number): void {
  code.get(bits).get(wave).memory(OP.i64Load, at).op(OP.i64Or).set(bits)
}

/** A scalar that an instruction reads and that has another value by now. */
interface ChangedSource {
  /** Its offset in the wave block. */
  readonly at: number
  /** Pushes what it was when the instruction's turn came. */
  push(code: Code): void
}

const isExecHalf = (at: number): boolean => at === EXEC_OFFSET || at === EXEC_OFFSET + 4

/** Scalars that a step reads and that are not what they were; EXEC never is. */
function changedSources({ step, captured }: LaneStep, changed: ReadonlySet<number>): ChangedSource[] {
  const { sources } = step.operation.shape
  const all = captured.flatMap((from, slot): ChangedSource[] => {
    const at = sources[slot] === 'vcc' ? VCC_OFFSET : step.sources[slot]!
    if (from.kind === 'spread') {
      const pushFirst =
        ({ arg }: Value) =>
        (code: Code) => {
          pushArgument(code, arg)
          code.simd(SIMD.i32x4ExtractLane).op(0)
        }
      const low = { at, push: pushFirst(from.low) }
      return from.high === from.low ? [low] : [low, { at: at + 4, push: pushFirst(from.high) }]
    }
    if (from.kind !== 'mask') return []
    const pushHalf = (shift: bigint) => (code: Code) => void code.get(from.bits).i64(shift).op(OP.i64ShrU, OP.i32WrapI64)
    return [
      { at, push: pushHalf(0n) },
      { at: at + 4, push: pushHalf(32n) },
    ]
  })
  return all.filter(({ at }) => changed.has(at) || isExecHalf(at))
}
