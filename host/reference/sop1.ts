/** One-operand scalar operations (GCN3 manual, chapter "SOP1 instructions"). */
import type { PlanRecord } from '../plan/plan.ts'
import { join } from './branch-stack.ts'
import { nextPc } from './record.ts'
import { nonZero, writeScalar } from './scalar.ts'
import { scalarOf, type Wave } from './wave.ts'

const ALL64 = (1n << 64n) - 1n
const bits = (value: number | bigint, count: number): string => BigInt.asUintN(count, BigInt(value)).toString(2).padStart(count, '0')
const population = (value: number | bigint, count: number): number => bits(value, count).replaceAll('0', '').length

export const s_mov_b32 = (a: number) => a
export const s_mov_b64 = (a: bigint) => a
export const s_cmov_b32 = (a: number, w: Wave) => (w.scc ? a : undefined)
export const s_cmov_b64 = (a: bigint, w: Wave) => (w.scc ? a : undefined)
export const s_not_b32 = (a: number) => nonZero(~a)
export const s_not_b64 = (a: bigint) => nonZero(a ^ ALL64)

/** One bit for each group of four bits that is not 0. */
const quads = (value: bigint, count: number): bigint[] =>
  Array.from({ length: count / 4 }, (_, quad) => ((value >> BigInt(quad * 4)) & 15n ? 1n : 0n))
const join4 = (list: bigint[], spacing: number, each: bigint): bigint =>
  list.reduce((all, bit, quad) => all | ((bit * each) << BigInt(quad * spacing)), 0n)

export const s_wqm_b32 = (a: number) => nonZero(Number(join4(quads(BigInt(a), 32), 4, 15n)))
export const s_wqm_b64 = (a: bigint) => nonZero(join4(quads(a, 64), 4, 15n))
export const s_quadmask_b32 = (a: number) => nonZero(Number(join4(quads(BigInt(a), 32), 1, 1n)))
export const s_quadmask_b64 = (a: bigint) => nonZero(join4(quads(a, 64), 1, 1n))

const reversed = (value: number | bigint, count: number): bigint => BigInt(`0b${[...bits(value, count)].reverse().join('')}`)
export const s_brev_b32 = (a: number) => Number(reversed(a, 32))
export const s_brev_b64 = (a: bigint) => reversed(a, 64)

export const s_bcnt0_i32_b32 = (a: number) => nonZero(32 - population(a, 32))
export const s_bcnt0_i32_b64 = (a: bigint) => nonZero(64 - population(a, 64))
export const s_bcnt1_i32_b32 = (a: number) => nonZero(population(a, 32))
export const s_bcnt1_i32_b64 = (a: bigint) => nonZero(population(a, 64))

/** Place of the lowest such bit, -1 where there is none. */
const lowest = (value: number | bigint, count: number, bit: '0' | '1'): number => {
  const place = bits(value, count).lastIndexOf(bit)
  return place < 0 ? -1 : count - 1 - place
}
export const s_ff0_i32_b32 = (a: number) => lowest(a, 32, '0')
export const s_ff0_i32_b64 = (a: bigint) => lowest(a, 64, '0')
export const s_ff1_i32_b32 = (a: number) => lowest(a, 32, '1')
export const s_ff1_i32_b64 = (a: bigint) => lowest(a, 64, '1')

/** Zeros above the highest one, -1 where there is none. */
export const s_flbit_i32_b32 = (a: number) => bits(a, 32).indexOf('1')
export const s_flbit_i32_b64 = (a: bigint) => bits(a, 64).indexOf('1')
/** Bits from the top that equal the sign, -1 where all do. */
const signRun = (text: string): number => text.indexOf(text[0] === '0' ? '1' : '0')
export const s_flbit_i32 = (a: number) => signRun(bits(a, 32))
export const s_flbit_i32_i64 = (a: bigint) => signRun(bits(a, 64))

export const s_sext_i32_i8 = (a: number) => (a << 24) >> 24
export const s_sext_i32_i16 = (a: number) => (a << 16) >> 16

/** One bit of the old destination changes. */
export const s_bitset0_b32 = (a: number, w: Wave, r: PlanRecord) => w.scalar(scalarOf(r.dst)) & ~(1 << (a & 31))
export const s_bitset1_b32 = (a: number, w: Wave, r: PlanRecord) => w.scalar(scalarOf(r.dst)) | (1 << (a & 31))
export const s_bitset0_b64 = (a: number, w: Wave, r: PlanRecord) => w.scalar64(scalarOf(r.dst)) & ~(1n << BigInt(a & 63))
export const s_bitset1_b64 = (a: number, w: Wave, r: PlanRecord) => w.scalar64(scalarOf(r.dst)) | (1n << BigInt(a & 63))

const nextAddress = (w: Wave, r: PlanRecord): bigint => w.programBase + BigInt(nextPc(r))
export const s_getpc_b64 = (w: Wave, r: PlanRecord) => nextAddress(w, r)
export const s_setpc_b64 = (target: bigint, w: Wave): undefined => w.jumpToAddress(target)
export const s_swappc_b64 = (target: bigint, w: Wave, r: PlanRecord) => {
  w.jumpToAddress(target)
  return nextAddress(w, r)
}

/** D = EXEC, then EXEC = what the operation makes of S0 and EXEC; SCC tells whether EXEC is not 0. */
const saveExec =
  (combine: (s: bigint, exec: bigint) => bigint) =>
  (a: bigint, w: Wave, r: PlanRecord): boolean => {
    const { exec } = w
    const [result, scc] = nonZero(BigInt.asUintN(64, combine(a, exec)))
    writeScalar(w, scalarOf(r.dst), exec, 2)
    w.exec = result
    return scc
  }
export const s_and_saveexec_b64 = saveExec((s, exec) => s & exec)
export const s_or_saveexec_b64 = saveExec((s, exec) => s | exec)
export const s_xor_saveexec_b64 = saveExec((s, exec) => s ^ exec)
export const s_andn2_saveexec_b64 = saveExec((s, exec) => s & ~exec)
export const s_orn2_saveexec_b64 = saveExec((s, exec) => s | ~exec)
export const s_nand_saveexec_b64 = saveExec((s, exec) => ~(s & exec))
export const s_nor_saveexec_b64 = saveExec((s, exec) => ~(s | exec))
export const s_xnor_saveexec_b64 = saveExec((s, exec) => ~(s ^ exec))

/** M0 is added to the register's number as it is, for pairs too; the sum wraps at 32 bits. */
const moveFrom =
  (count: number) =>
  (_: number | bigint, w: Wave, r: PlanRecord): undefined => {
    const from = (scalarOf(r.sources[0]) + w.m0) >>> 0
    w.checkSgprs(from, count)
    const words = Array.from({ length: count }, (_, k) => w.scalar(from + k))
    for (const [k, word] of words.entries()) w.setScalar(scalarOf(r.dst) + k, word)
  }
const moveTo =
  (count: number) =>
  (a: number | bigint, w: Wave, r: PlanRecord): undefined => {
    const to = (scalarOf(r.dst) + w.m0) >>> 0
    w.checkSgprs(to, count)
    writeScalar(w, to, a, count)
  }
export const s_movrels_b32 = moveFrom(1)
export const s_movrels_b64 = moveFrom(2)
export const s_movreld_b32 = moveTo(1)
export const s_movreld_b64 = moveTo(2)

export const s_cbranch_join = (savedDepth: number, w: Wave): undefined => join(w, savedDepth)
/** SCC also without a result of its own: the most negative number stays. */
export const s_abs_i32 = (a: number) => nonZero(Math.abs(a | 0))
export const s_set_gpr_idx_idx = (a: number, w: Wave): undefined => {
  w.m0 = ((w.m0 & ~0xff) | (a & 0xff)) >>> 0
}
