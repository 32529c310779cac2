/** Measures what is there for each operation on each target. Nothing is taken from a list: everything is tried. */
import { decode } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device } from '../../host/device/index.ts'
import { type Engine, FaultCode } from '../../host/engine.ts'
import { FaultError } from '../../host/errors.ts'
import { exampleOf } from '../../host/explain/example.ts'
import { formatsOf } from '../../host/explain/explain.ts'
import { generationsOf } from '../../host/explain/find.ts'
import { OPERATIONS, type Operation } from '../../host/isa/operations.ts'
import { TARGETS, type Target } from '../../host/isa/targets.ts'
import { createReference } from '../../host/reference/engine.ts'
import { assemble } from '../../host/text/assemble.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { crossLaneUses } from '../../host/translate/block/crosslane.ts'
import { globalAccess } from '../../host/translate/block/global.ts'
import { rolesOf } from '../../host/translate/block/lane-roles.ts'
import { isLdsRead, isLdsWrite } from '../../host/translate/block/lds-plan.ts'
import { readBlocks } from '../../host/translate/code/graph.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { Kernels } from '../../host/translate/wasm/kernels.ts'
import { descriptorOf } from '../images/descriptor.ts'
import { type Evidence, hasEdgeCases } from './evidence.ts'

/** What is measured of a row on a target. */
export const MEASURES = ['decode', 'text', 'reference', 'core', 'translate', 'spliced', 'edge cases', 'vectors', 'kernels'] as const
export type Measure = (typeof MEASURES)[number]

/** A row on a target, and which measures hold. */
export interface Row {
  readonly operation: Operation
  readonly target: Target
  readonly holds: ReadonlySet<Measure>
}

const MODE = 0x3c0

/** Every row (or some of them) on every target that has it. */
export async function measure(evidence: Evidence, operations: readonly Operation[] = OPERATIONS): Promise<Row[]> {
  const rows: Row[] = []
  for (const target of Object.values(TARGETS)) {
    const bench = await Bench.of(target)
    for (const operation of operations) {
      if (generationsOf(operation).includes(target.generation))
        rows.push({ operation, target, holds: measureRow(operation, target, bench, evidence) })
    }
  }
  return rows
}

function measureRow(operation: Operation, target: Target, bench: Bench, evidence: Evidence): Set<Measure> {
  const examples = formatsOf(operation, target.generation).map((format) => exampleOf(operation, format, target))
  const holds: Record<Measure, boolean> = {
    decode: examples.every(decodes),
    text: examples.every(assembles),
    reference: examples.every((example) => bench.runs('reference', example)),
    core: examples.every((example) => bench.runs('core', example)),
    translate: examples.every((example) => bench.runs('translate', example)),
    spliced: bench.splices(examples[0]!),
    'edge cases': hasEdgeCases(operation, target, evidence),
    vectors: evidence.vectors.get(target.name)?.has(operation) ?? false,
    kernels: evidence.kernels.get(target.name)?.has(operation) ?? false,
  }
  return new Set(MEASURES.filter((name) => holds[name]))
}

function decodes(example: Instruction): boolean {
  const words = encode(example)
  const read = decode(Uint32Array.from(words), 0, example.target)
  return (
    read !== undefined && read.operation === example.operation && read.format === example.format && encode(read).join() === words.join()
  )
}

/** The text assembles to the same words; where two encodings have one text, to words with that text. */
function assembles(example: Instruction): boolean {
  try {
    const text = disassemble(example)
    return disassemble(assemble(text, example.target)) === text
  } catch {
    return false
  }
}

/** The engines, each with a device for the target and a region of guest memory that examples point at. */
class Bench {
  readonly #devices: ReadonlyMap<string, Device>

  private constructor(
    engines: readonly Engine[],
    target: Target,
    private readonly kernels: Kernels,
  ) {
    this.#devices = new Map(
      engines.map((engine) => {
        const device = new Device(engine, target)
        device.memory.allocate(0x20000, { name: 'data', address: DATA })
        return [engine.name, device]
      }),
    )
  }

  static async of(target: Target): Promise<Bench> {
    const core = await createCore()
    const kernels = new Kernels(core.material.bytes!)
    return new Bench([createReference(), core, await createTranslate({ threshold: 1 })], target, kernels)
  }

  /**
   * Whether an engine runs the instruction: it ends, or stops for a reason that the instruction itself gives (s_trap, s_setpc to nowhere).
   * Translate runs it twice, for the first time interpreting.
   */
  runs(engine: string, example: Instruction): boolean {
    const device = this.#devices.get(engine)!
    const code = device.loadCode(Uint32Array.from([...encode(example), S_ENDPGM]))
    for (let i = 0; i < (engine === 'translate' ? 2 : 1); i++) {
      const execution = bareWave(device, code, stateOf(example.operation))
      for (let steps = 0; execution.status === 'running' && steps < 8; steps++) execution.step(1)
      const fault = execution.error instanceof FaultError ? execution.waves[0]!.fault : undefined
      const isOwn =
        execution.error === undefined || execution.error.code === 'ERR_DEADLOCK' || (fault !== undefined && OWN_FAULTS.has(fault))
      execution.free()
      if (!isOwn) return false
    }
    return true
  }

  /** Whether translated code has the instruction's own body in it, instead of a call of the core. */
  splices(example: Instruction): boolean {
    const device = this.#devices.get('core')!
    const code = device.loadCode(Uint32Array.from([...encode(example), S_ENDPGM]))
    const program = device.program(code, 256)
    if (!program.planned(0)) program.plan(0)
    const step = [...readBlocks(device.engine.memory, program.host, MODE).values()][0]?.steps[0]
    if (step === undefined) return false
    return (
      rolesOf(this.kernels)(step) !== 'call' ||
      isLdsRead(step) ||
      isLdsWrite(step) ||
      globalAccess(step) !== undefined ||
      crossLaneUses(step) !== undefined
    )
  }
}

const S_ENDPGM = 0xbf810000
/** s_trap, and jumps to an address without code. A fault of memory would mean that the example's address is wrong. */
const OWN_FAULTS: ReadonlySet<FaultCode> = new Set([FaultCode.Trap, FaultCode.Jump])

const DATA = 0x1_0000_0000n
const LOW = 0
const HIGH = 1
/** Dword 2 and 3 of a raw buffer: bytes, and an untyped 32-bit format (GCN3 manual, "Buffer resource descriptor"). */
const RECORDS = 0x10000
const FORMAT = 0x00027fac

const IMAGE = descriptorOf({ type: '1d', address: DATA, dataFormat: 4, numberFormat: 4, width: 64 })

/**
 * Registers to which the examples' operands point: pairs from v2 and s2 on are the address of the data, s[4:7] is a buffer there, or
 * s[4:11] an image, v1 and s8 are 0. M0 lets LDS instructions reach all of LDS, and moves relative register numbers by nothing.
 */
function stateOf({ table }: Operation) {
  const vgprs = new Map(Array.from({ length: 31 }, (_, v) => [v + 1, v === 0 ? 0 : v % 2 === 1 ? LOW : HIGH] as const))
  const sgprs = new Map([
    [1, 1],
    [2, LOW],
    [3, HIGH],
    [4, LOW],
    [5, HIGH],
    [6, RECORDS],
    [7, FORMAT],
    [8, LOW],
    [9, HIGH],
    ...(table === 'mimg' ? IMAGE.map((word, k) => [4 + k, word] as const) : []),
  ])
  return { vgprs, sgprs, mode: MODE, m0: table === 'ds' ? 0xfffc : 0, ldsBytes: 65536 }
}
