/**
 * Parameter interpolation (CLRX, "GCN ISA VINTRP instructions"). Parameters are in the LDS from M0[15:0] on: for each attribute and
 * primitive twelve dwords, P0 and P10 of x, y, z and w in turn, then P20 of all four. M0[30:16] tells which quads of lanes begin a
 * new primitive; the first one always does.
 */
import { FaultCode } from '../engine.ts'
import type { PlanRecord } from '../plan/plan.ts'
import { Fault } from './fault.ts'
import { source } from './fetch.ts'
import { flushDenormal } from './float.ts'
import { locateLds } from './memory.ts'
import { type InstructionModes, modesOf } from './modes.ts'
import { add, F32, multiply } from './number.ts'
import type { WaveFunction } from './scalar.ts'
import { located } from './vector-memory.ts'
import type { Wave } from './wave.ts'

type Parameter = 'p10' | 'p20' | 'p0'
/** By the source field of v_interp_mov_f32. */
const PARAMETERS: readonly Parameter[] = ['p10', 'p20', 'p0']
const DWORDS = 12

/** A parameter of the lane's primitive. @throws {Fault} Lds */
function parameter(w: Wave, r: PlanRecord, lane: number, which: Parameter): number {
  const channel = r.imm & 3
  const attribute = (r.imm >>> 2) & 63
  const starts = (w.m0 >>> 16) & 0x7fff
  const begun = (quads: number): number => Array.from({ length: quads }, (_, quad) => (starts >>> quad) & 1).reduce((a, b) => a + b, 0)
  const primitives = begun(15) + 1
  const within = which === 'p20' ? 8 + channel : channel * 2 + (which === 'p10' ? 1 : 0)
  const dword = DWORDS * (attribute * primitives + begun(lane >>> 2)) + within
  const address = (w.m0 & 0xffff & ~3) + dword * 4
  return w.word(locateLds(w, address, 4, Number.POSITIVE_INFINITY, lane)!)
}

const interpolate =
  (f: (w: Wave, r: PlanRecord, lane: number, modes: InstructionModes) => number): WaveFunction =>
  (w, r) => {
    const modes = modesOf(w, r)
    located(
      w,
      (lane) => f(w, r, lane, modes),
      (value, lane) => w.setVgpr(w.vgprOf(r.dst), lane, value),
    )
  }

/** a · b + c, rounded after each step and without denormals, as v_mad_f32 does. */
const mad = (a: number, b: number, c: number, { round32 }: InstructionModes): number => {
  const flushed = (x: number): number => flushDenormal(x, 32) as number
  return flushed(add(F32, flushed(multiply(F32, flushed(a), flushed(b), round32)), flushed(c), round32))
}

const coordinate = (w: Wave, r: PlanRecord, lane: number): number => source(w, r, 0, 32, lane) as number

export const v_interp_p1_f32 = interpolate((w, r, lane, modes) =>
  mad(parameter(w, r, lane, 'p10'), coordinate(w, r, lane), parameter(w, r, lane, 'p0'), modes),
)
export const v_interp_p2_f32 = interpolate((w, r, lane, modes) =>
  mad(parameter(w, r, lane, 'p20'), coordinate(w, r, lane), w.vgpr(w.vgprOf(r.dst), lane), modes),
)
export const v_interp_mov_f32 = interpolate((w, r, lane) => {
  const which = PARAMETERS[r.sources[0]]
  if (which === undefined) throw new Fault(FaultCode.Unsupported)
  return parameter(w, r, lane, which)
})
