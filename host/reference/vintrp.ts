/**
 * Parameter interpolation (CLRX, "GCN ISA VINTRP instructions"). Parameters are in the LDS from M0[15:0] on: for each attribute and
 * primitive twelve dwords, P0 and P10 of x, y, z and w in turn, then P20 of all four. M0[30:16] tells which quads of lanes begin a
 * new primitive; the first one always does. Parameters of f16 lie two to a dword (GCN3 manual, V_INTERP_P1LL_F16).
 */
import { FaultCode } from '../engine.ts'
import { operationOf } from '../isa/operations.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { Fault } from './fault.ts'
import { modify, source } from './fetch.ts'
import { finisher, resultShapeOf } from './finish.ts'
import { locateLds } from './memory.ts'
import { type InstructionModes, modesOf } from './modes.ts'
import { add, F16, F32, flushed, multiply, NEAREST, type Round } from './number.ts'
import type { WaveFunction } from './scalar.ts'
import { located } from './vector-memory.ts'
import type { Wave } from './wave.ts'
import { convert, countBits, halfOf } from './words.ts'

type Parameter = 'p10' | 'p20' | 'p0'
/** By the source field of v_interp_mov_f32. */
const PARAMETERS: readonly Parameter[] = ['p10', 'p20', 'p0']
const DWORDS = 12

/** A parameter of the lane's primitive, as its dword. @throws {Fault} Lds */
function parameter(w: Wave, r: PlanRecord, lane: number, which: Parameter): number {
  const channel = r.imm & 3
  const attribute = (r.imm >>> 2) & 63
  const starts = (w.m0 >>> 16) & 0x7fff
  const begun = (quads: number): number => countBits(starts & (2 ** quads - 1))
  const primitives = begun(15) + 1
  const within = which === 'p20' ? 8 + channel : channel * 2 + (which === 'p10' ? 1 : 0)
  const dword = DWORDS * (attribute * primitives + begun(lane >>> 2)) + within
  const address = (w.m0 & 0xffff & ~3) + dword * 4
  return w.word(locateLds(w, address, 4, Number.POSITIVE_INFINITY, lane)!)
}

/** The half of a dword that the instruction's `high` picks, an f16, as f32: flushed and converted as by v_cvt_f32_f16. */
function half(r: PlanRecord, dword: number, { flushSources64 }: InstructionModes, modified = (word: number) => word): number {
  const word = modified(halfOf(dword, (r.imm >>> 8) & 1))
  return convert(F16, F32, flushSources64 ? flushed(F16, word) : word, NEAREST)
}

/** A word after the abs and neg of a source: 0 is I or J, 1 what the f16 forms have in SRC2. */
const withSigns = ({ mods }: PlanRecord, slot: number, word: number, bits: number): number =>
  modify(word, bits, (mods.abs >>> slot) & 1, (mods.neg >>> slot) & 1) as number

/** An f32 of a VGPR. */
const operand = (w: Wave, r: PlanRecord, slot: number, lane: number): number =>
  withSigns(r, slot, source(w, r, slot, 32, lane) as number, 32)

/** a · b + c, rounded after each step and without denormals, as v_mad_f32 does. */
const mad = (a: number, b: number, c: number, round: Round): number => {
  const product = multiply(F32, flushed(F32, a), flushed(F32, b), round)
  return flushed(F32, add(F32, flushed(F32, product), flushed(F32, c), round))
}

/** What a lane gets, but for output modifiers. */
type Interpolation = (w: Wave, r: PlanRecord, lane: number, modes: InstructionModes) => number

const interpolate =
  (f: Interpolation): WaveFunction =>
  (w, r) => {
    const modes = modesOf(w, r)
    const operation = operationOf(r.op)!
    const finish = finisher(r, resultShapeOf(operation, operation.shape.results[0]!), modes)
    located(
      w,
      (lane) => f(w, r, lane, modes),
      (value, lane) => w.setVgpr(w.vgprOf(r.dst), lane, finish === undefined ? value : (finish(value) as number)),
    )
  }

export const v_interp_p1_f32 = interpolate((w, r, lane, { round32 }) =>
  mad(parameter(w, r, lane, 'p10'), operand(w, r, 0, lane), parameter(w, r, lane, 'p0'), round32),
)
export const v_interp_p2_f32 = interpolate((w, r, lane, { round32 }) =>
  mad(parameter(w, r, lane, 'p20'), operand(w, r, 0, lane), w.vgpr(w.vgprOf(r.dst), lane), round32),
)
export const v_interp_mov_f32 = interpolate((w, r, lane) => {
  const which = PARAMETERS[r.sources[0]]
  if (which === undefined) throw new Fault(FaultCode.Unsupported)
  return parameter(w, r, lane, which)
})

// --- of f16: the parameters become f32, a step is that of f32, and only the second one's sum becomes f16 again

export const v_interp_p1ll_f16 = interpolate((w, r, lane, modes) => {
  // P10 first, as above: where the LDS has neither, the fault names it.
  const p10 = half(r, parameter(w, r, lane, 'p10'), modes)
  return mad(p10, operand(w, r, 0, lane), half(r, parameter(w, r, lane, 'p0'), modes), modes.round64)
})
/** P0 comes from a VGPR that v_interp_mov_f32 has filled. */
export const v_interp_p1lv_f16 = interpolate((w, r, lane, modes) => {
  const p0 = half(r, source(w, r, 1, 32, lane) as number, modes, (word) => withSigns(r, 1, word, 16))
  return mad(half(r, parameter(w, r, lane, 'p10'), modes), operand(w, r, 0, lane), p0, modes.round64)
})
/** Clears the destination's high half: writes of half a VGPR begin with gfx9 (Mesa, instr_is_16bit in aco_ir.cpp). */
export const v_interp_p2_f16 = interpolate((w, r, lane, modes) => {
  const sum = mad(half(r, parameter(w, r, lane, 'p20'), modes), operand(w, r, 0, lane), operand(w, r, 1, lane), modes.round64)
  return convert(F32, F16, sum, modes.round64)
})
