/** What a translated program exports to run workgroups by itself, as host/plan/rounds.ts says: between waves nothing returns to JavaScript. */
import { Stop } from '../engine.ts'
import { WAVE_MODE, WAVE_PC, WAVE_STOP } from '../plan/layout.ts'
import {
  ROUNDS_CLEARED,
  ROUNDS_END,
  ROUNDS_FIRST,
  ROUNDS_GROUPS,
  ROUNDS_ID,
  ROUNDS_IMAGE,
  ROUNDS_LEFT,
  ROUNDS_LEFT_OF_TURN,
  ROUNDS_PIECES,
  ROUNDS_SET,
  ROUNDS_STRIDE,
  ROUNDS_TIME,
  ROUNDS_TURN,
  ROUNDS_WAVE,
  ROUNDS_X,
} from '../plan/rounds.ts'
import { INTERPRETED_MODES, MODE_KEY } from './code/modes.ts'
import { BULK, Code, type FunctionType, I32, type ModuleBuilder, OP } from './wasm/wasm.ts'

const RUN_ROUNDS: FunctionType = { parameters: [I32, I32], results: [] }
const NEXT: FunctionType = { parameters: [I32, I32], results: [I32] }
const LAY_OUT: FunctionType = { parameters: [I32], results: [] }
/** The record's address, in all functions here. */
const ROUNDS = 0

/**
 * Adds `runRounds(rounds, mode)`: it runs the waves whose MODE has the bits `mode`.
 * @param run the module's `run` (region.ts)
 * @param blockAt gives the number of the block at a pc, a number below zero where none starts
 */
export function addRounds(builder: ModuleBuilder, run: number, blockAt: number): void {
  const next = builder.add(NEXT, [], nextFunction())
  const layOut = builder.add(LAY_OUT, [I32, I32], layOutFunction())
  builder.add(RUN_ROUNDS, [I32, I32, I32, I32], roundsFunction(run, blockAt, next, layOut), 'runRounds')
}

function roundsFunction(run: number, blockAt: number, next: number, layOut: number): Code {
  const [mode, wave, left, block, budget] = [1, 2, 3, 4, 5]
  const code = new Code()
  load(code, ROUNDS_WAVE).set(wave)
  load(code, ROUNDS_LEFT).set(left)
  code.block(OP.loop)
  code
    .get(wave)
    .memory(OP.i32Load, WAVE_MODE)
    .i32(MODE_KEY | INTERPRETED_MODES)
    .op(OP.i32And)
  code.get(mode).op(OP.i32Ne).block(OP.if).op(OP.return).end()
  code.get(wave).memory(OP.i32Load, WAVE_PC).op(OP.call).u32(blockAt).tee(block)
  code.i32(0).op(OP.i32LtS).block(OP.if).op(OP.return).end()
  // What the wave may run, and what is left of that; as a complement, if the core has stopped it.
  code.get(left)
  load(code, ROUNDS_LEFT_OF_TURN).get(left)
  load(code, ROUNDS_LEFT_OF_TURN).op(OP.i32LtU, OP.select).tee(budget)
  code.get(wave).get(budget).get(block).op(OP.call).u32(run).tee(block)
  code.get(block).i32(31).op(OP.i32ShrS, OP.i32Xor, OP.i32Sub).set(budget)
  store(code, ROUNDS_LEFT, () => code.get(left).get(budget).op(OP.i32Sub).tee(left))
  store(code, ROUNDS_LEFT_OF_TURN, () => load(code, ROUNDS_LEFT_OF_TURN).get(budget).op(OP.i32Sub))
  code.get(block).i32(0).op(OP.i32GeS).block(OP.if).op(OP.return).end()
  code.get(wave).memory(OP.i32Load, WAVE_STOP).tee(block).i32(Stop.End).op(OP.i32Ne)
  code.get(block).i32(Stop.Barrier).op(OP.i32Ne, OP.i32And).block(OP.if).op(OP.return).end()
  store(code, ROUNDS_LEFT_OF_TURN, () => load(code, ROUNDS_TURN))
  // The next wave of this round, or the first one of the next round.
  code.get(ROUNDS).get(wave)
  load(code, ROUNDS_STRIDE).op(OP.i32Add, OP.call).u32(next).tee(wave)
  load(code, ROUNDS_END).op(OP.i32Eq).block(OP.if).get(ROUNDS)
  load(code, ROUNDS_FIRST).op(OP.call).u32(next).set(wave).end()
  // There is none: the next workgroup.
  code.get(wave)
  load(code, ROUNDS_END).op(OP.i32Eq).block(OP.if)
  store(code, ROUNDS_WAVE, () => code.get(wave))
  code.get(left).op(OP.i32Eqz).block(OP.if).op(OP.return).end()
  load(code, ROUNDS_GROUPS).op(OP.i32Eqz).block(OP.if).op(OP.return).end()
  code.get(ROUNDS).op(OP.call).u32(layOut)
  load(code, ROUNDS_FIRST).set(wave).end()
  store(code, ROUNDS_WAVE, () => code.get(wave))
  code.get(left).op(OP.brIf).u32(0).end()
  return code
}

/** Returns the first wave from the one at an address on that has not ended; ROUNDS_END where there is none. */
function nextFunction(): Code {
  const wave = 1
  const code = new Code()
  code.block(OP.block).block(OP.loop)
  code.get(wave)
  load(code, ROUNDS_END).op(OP.i32Eq, OP.brIf).u32(1)
  code.get(wave).memory(OP.i32Load, WAVE_STOP).i32(Stop.End).op(OP.i32Ne, OP.brIf).u32(1)
  code.get(wave)
  load(code, ROUNDS_STRIDE).op(OP.i32Add).set(wave).op(OP.br).u32(0).end().end()
  return code.get(wave)
}

/** Lays out the next workgroup: what `prepare` of host/device/dispatch.ts does. */
function layOutFunction(): Code {
  const [at, left] = [1, 2]
  const code = new Code()
  store(code, ROUNDS_GROUPS, () => load(code, ROUNDS_GROUPS).i32(1).op(OP.i32Sub))
  store(code, ROUNDS_X, () => load(code, ROUNDS_X).i32(1).op(OP.i32Add))
  load(code, ROUNDS_FIRST).set(at).block(OP.loop)
  code.get(at).get(at)
  load(code, ROUNDS_FIRST).op(OP.i32Sub)
  load(code, ROUNDS_IMAGE).op(OP.i32Add)
  load(code, ROUNDS_SET).bulk(BULK.copy)
  // Filling is quicker than copying, which reads as well.
  code.get(at)
  load(code, ROUNDS_SET).op(OP.i32Add).i32(0)
  load(code, ROUNDS_STRIDE)
  load(code, ROUNDS_SET).op(OP.i32Sub).bulk(BULK.fill)
  load(code, ROUNDS_ID).block(OP.if).get(at)
  load(code, ROUNDS_ID).op(OP.i32Add)
  load(code, ROUNDS_X).memory(OP.i32Store, 0).end()
  code.get(at)
  load(code, ROUNDS_STRIDE).op(OP.i32Add).tee(at)
  load(code, ROUNDS_END).op(OP.i32Ne, OP.brIf).u32(0).end()
  // Time: its low half begins anew, its high half is the workgroup's number.
  load(code, ROUNDS_TIME).i32(0).memory(OP.i32Store, 0)
  load(code, ROUNDS_TIME)
  load(code, ROUNDS_TIME).memory(OP.i32Load, 4).i32(1).op(OP.i32Add).memory(OP.i32Store, 4)
  code.get(ROUNDS).set(at)
  load(code, ROUNDS_CLEARED).set(left).block(OP.block).block(OP.loop)
  code.get(left).op(OP.i32Eqz, OP.brIf).u32(1)
  code
    .get(at)
    .memory(OP.i32Load, ROUNDS_PIECES)
    .i32(0)
    .get(at)
    .memory(OP.i32Load, ROUNDS_PIECES + 4)
    .bulk(BULK.fill)
  code.get(at).i32(8).op(OP.i32Add).set(at).get(left).i32(1).op(OP.i32Sub).set(left).op(OP.br).u32(0).end().end()
  return code
}

/** Pushes a word of the record. */
const load = (code: Code, offset: number): Code => code.get(ROUNDS).memory(OP.i32Load, offset)

/** Sets a word of the record to what `push` pushes. */
function store(code: Code, offset: number, push: () => void): void {
  code.get(ROUNDS)
  push()
  code.memory(OP.i32Store, offset)
}
