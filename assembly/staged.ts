// The slow way of the step loop: instructions with modifiers, VGPR indexing, and the counters of approximate operations.
//
// A staged instruction runs as a temporary record without modifiers: sources that have some are copied to STAGE first, and where the
// result has some it goes to RESULT and is finished from there. What compilers give abs, neg, omod or clamp has a loop that does these itself
// (MODIFIED in host/build/dispatch.ts), for the rounding to nearest.
//
//   sources: SDWA or DPP select → abs → neg      result: omod → clamp → flush → SDWA destination
import {
  FAULT_ILLEGAL, FAULT_LDS, FAULT_MISALIGNED, FAULT_REGISTER, FAULT_UNSUPPORTED, FLAG_APPROXIMATE, FLAG_DPP, FLAG_SDWA, FLAG_STAGED, GFX8,
  KIND_CONSTANT, KIND_SCALAR, KIND_SPECIAL, KIND_VECTOR, MACHINE_COUNTERS, MODE_GPR_IDX_EN, MODE_VSKIP, RECORD_DST, RECORD_IMM, RECORD_MODS, RECORD_OP, RECORD_SRC0,
  WAVE_EXEC_MASKS, WAVE_LDS, WAVE_LDS_BYTES, WAVE_MACHINE, WAVE_MASKED, WAVE_MODE, WAVE_VECTORS, WAVE_VGPR_COUNT,
} from './generated/layout';
import { OPERANDS } from './generated/operands';
import { flippedBits, keptBits, kindMask, scalarSource, scalarSource64, SIGNS_F16 } from './fetch';
import {
  finishOf, finishSelected, finishValue, isFloatType, isWideType, OPERANDS_ACCUMULATES, OPERANDS_MODIFIED_SHIFT, OPERANDS_SKIPPED,
  OPERANDS_TIED, OPERANDS_VECTOR, TYPE_F16, TYPE_F64, TYPE_NONE, typeOf, VALUE,
} from './finish';
import { allActive, quadLanes, setAllActive } from './lib/lanes';
import { round32, round64, setIntegerClamp } from './lib/mode';
import { ACTIVE, INDEXED, LANES, RESULT, STAGE, TEMPORARY } from './scratch';
import { exec, fault, generation, M0_OFFSET, plainLimit, refreshExec, rowBytes, stop } from './state';
import { faulted } from './memory';
import { step, stepModified } from './table';

/** Runs a record that is not plain. `head` is its first dword. */
export function stepFlagged(head: u32, u: usize, w: usize): void {
  const op = head & 0xffff, flags = head >> 16, operands = load<u32>(OPERANDS + 4 * op);
  // First what is common.
  const loop = operands >> OPERANDS_MODIFIED_SHIFT;
  if (flags == FLAG_STAGED && loop != 0 && (round32 | round64) == 0 && plainLimit != 0 && !isLdsDirect(u)) return stepModified(loop, u, w);
  if (operands & OPERANDS_SKIPPED && load<u32>(w, WAVE_MODE) & MODE_VSKIP) return;
  let record = u;
  if (operands & OPERANDS_VECTOR && load<u32>(w, WAVE_MODE) & MODE_GPR_IDX_EN) {
    if (!indexRegisters(u, w, operands)) return;
    record = INDEXED;
  }
  if (flags & FLAG_STAGED) runStaged(op, flags, operands, record, w);
  else step(op, record, w);
  if (flags & FLAG_APPROXIMATE && stop == 0) {
    const counter = load<u32>(load<u32>(w, WAVE_MACHINE), MACHINE_COUNTERS) + 8 * op;
    store<u64>(counter, load<u64>(counter) + 1);
  }
}

/**
 * Adds M0[7:0] to the VGPRs that M0[15:12] names: src0, src1, src2, vdst; a source that is the destination goes with that (AMD, CDNA 2 manual,
 * "VGPR Indexing Details"). False after a fault.
 */
function indexRegisters(u: usize, w: usize, operands: u32): bool {
  const m0 = load<u32>(w, M0_OFFSET), step = (m0 & 0xff) * <u32>rowBytes, which = (m0 >> 12) & 15;
  const end = <u32>WAVE_VECTORS + load<u32>(w, WAVE_VGPR_COUNT) * <u32>rowBytes;
  memory.copy(INDEXED, u, 32);
  for (let i = 0; i < 4; i++) {
    const at = i == 3 ? INDEXED + RECORD_DST : INDEXED + RECORD_SRC0 + 4 * i;
    const isVector = i == 3 ? load<u32>(at) >= <u32>WAVE_VECTORS : !(load<u32>(u, RECORD_MODS) & kindMask(i));
    const bit = i == 2 && operands & OPERANDS_TIED ? 3 : i;
    if (!isVector || !((which >> bit) & 1)) continue;
    const to = load<u32>(at) + step;
    if (to >= end) {
      fault(w, FAULT_REGISTER, -1, (to - <u32>WAVE_VECTORS) / <u32>rowBytes, 4);
      return false;
    }
    store<u32>(at, to);
  }
  return true;
}

/** SDWA, DPP and LDS direct, around what abs, neg, omod and clamp do. */
function runStaged(op: u32, flags: u32, operands: u32, u: usize, w: usize): void {
  const dpp = (flags & FLAG_DPP) != 0, sdwa = (flags & FLAG_SDWA) != 0;
  const ldsDirect = isLdsDirect(u);
  if (!(dpp || sdwa || ldsDirect)) return runModified(op, operands, u, w);
  useTemporary(u);
  if (ldsDirect && !stageLdsDirect(u, w)) return;
  if (dpp && !stageDpp(u, w, isWideType(typeOf(operands, 0)))) return;
  if (sdwa) stageSdwa(u, w, operands);
  if (sdwa && typeOf(operands, VALUE) != TYPE_NONE) {
    store<u32>(TEMPORARY, RESULT - w, RECORD_DST);
    runModified(op, operands, TEMPORARY, w);
    finishSelected(load<u32>(u, RECORD_IMM), RESULT, w + load<u32>(u, RECORD_DST), w);
  } else runModified(op, operands, TEMPORARY, w);
  if (!dpp) return;
  // It has switched lanes off in the row of masks, which is not that of EXEC any more.
  store<u64>(w, ~exec(w), WAVE_MASKED);
  refreshExec(w);
}

// @ts-ignore: decorator
@inline
function isLdsDirect(u: usize): bool { return (load<u32>(u, RECORD_MODS) & kindMask(0)) == KIND_SPECIAL; }

/** abs, neg, omod and clamp. */
function runModified(op: u32, operands: u32, u: usize, w: usize): void {
  const mods = load<u32>(u, RECORD_MODS), number = operands >> OPERANDS_MODIFIED_SHIFT;
  if (!(mods & MODIFIERS)) return step(op, u, w);
  // The loops with modifiers call no kernels for other round modes.
  if (number != 0 && (round32 | round64) == 0) return stepModified(number, u, w);

  const signs = ((mods >> 9) | (mods >> 12)) & 7, value = typeOf(operands, VALUE);
  const finish = isFloatType(value) ? finishOf(mods, value) : 0;
  let record = u;
  if (signs != 0 || (finish != 0 && !allActive)) {
    record = TEMPORARY;
    stageSources(signs, operands, u, w);
  }
  if (finish) return stepAndFinish(op, operands, finish, record, w);
  // Integer operations saturate by themselves, from gfx8 on.
  setIntegerClamp(!isFloatType(value) && generation >= GFX8 ? (mods >> 17) & 1 : 0);
  step(op, record, w);
  setIntegerClamp(0);
}

/** Makes the temporary record that of `u`, with abs and neg of the sources that `signs` has bits for done. */
function stageSources(signs: u32, operands: u32, u: usize, w: usize): void {
  const mods = load<u32>(u, RECORD_MODS);
  useTemporary(u);
  for (; signs; signs &= signs - 1) stageSigns(w, operands, mods, ctz(signs));
}

/** Runs a record and finishes what it gives: where all lanes are active in its place, else, the record being the temporary one, from RESULT. */
function stepAndFinish(op: u32, operands: u32, finish: u32, u: usize, w: usize): void {
  const d = w + load<u32>(u, RECORD_DST), s = allActive ? d : RESULT;
  if (!allActive) {
    if (operands & OPERANDS_ACCUMULATES) memory.copy(RESULT, d, rowBytes);
    store<u32>(u, RESULT - w, RECORD_DST);
  }
  step(op, u, w);
  finishValue(typeOf(operands, VALUE), finish, operands, s, d, w);
}
/** The bits of mods that hold abs, neg, omod and clamp. */
const MODIFIERS: u32 = 0x3fe00;

/** Makes the temporary record that of `u`. */
function useTemporary(u: usize): void {
  v128.store(TEMPORARY, v128.load(u));
  v128.store(TEMPORARY, v128.load(u, 16), 16);
}

/** Lets the temporary record read source `i` from STAGE, a row or a scalar. */
function useStage(w: usize, i: i32, kind: u32): void {
  store<u32>(TEMPORARY + 4 * i, STAGE + 512 * i - w, RECORD_SRC0);
  store<u32>(TEMPORARY, (load<u32>(TEMPORARY, RECORD_MODS) & ~kindMask(i)) | (kind << (3 * i)), RECORD_MODS);
}

/** Copies source `i` of the temporary record to STAGE with abs and neg of `mods` applied; only floats have them. */
function stageSigns(w: usize, operands: u32, mods: u32, i: i32): void {
  const type = typeOf(operands, i);
  if (!isFloatType(type)) return;
  const wide = type == TYPE_F64, to = STAGE + 512 * i;
  const signs = type == TYPE_F16 ? SIGNS_F16 : 0, kept = keptBits(mods, i, signs), flipped = flippedBits(mods, i, signs);
  if (load<u32>(TEMPORARY, RECORD_MODS) & kindMask(i)) {
    const high = to + (wide ? 4 : 0), x = wide ? scalarSource64(TEMPORARY, w, i) : scalarSource(TEMPORARY, w, i);
    store<u64>(to, x);
    store<u32>(high, (load<u32>(high) & i32x4.extract_lane(kept, 0)) ^ i32x4.extract_lane(flipped, 0));
    return useStage(w, i, KIND_SCALAR);
  }
  const from = w + load<u32>(TEMPORARY + 4 * i, RECORD_SRC0);
  // Of a pair of rows the low one has no signs. memory.copy would leave WebAssembly for it.
  if (wide) signRow(from, to, i32x4.splat(-1), i32x4.splat(0));
  signRow(wide ? from + rowBytes : from, wide ? to + rowBytes : to, kept, flipped);
  useStage(w, i, KIND_VECTOR);
}

function signRow(from: usize, to: usize, kept: v128, flipped: v128): void {
  // Four chunks at a time, as the loop around one would cost more than the chunk.
  for (const end = from + rowBytes; from < end; from += 64, to += 64) {
    v128.store(to, v128.xor(v128.and(v128.load(from), kept), flipped));
    v128.store(to, v128.xor(v128.and(v128.load(from, 16), kept), flipped), 16);
    v128.store(to, v128.xor(v128.and(v128.load(from, 32), kept), flipped), 32);
    v128.store(to, v128.xor(v128.and(v128.load(from, 48), kept), flipped), 48);
  }
}

/** LDS direct: one value of LDS at M0[15:0], its type in M0[18:16], for all lanes. False after a fault. */
function stageLdsDirect(u: usize, w: usize): bool {
  if (load<u32>(u, RECORD_SRC0) != LDS_DIRECT) return true;
  const m0 = load<u32>(w, M0_OFFSET), type = (m0 >> 16) & 7, at = m0 & 0xffff, from = load<u32>(w, WAVE_LDS) + at;
  const bytes: u32 = type == 2 ? 4 : type & 1 ? 2 : 1;
  const code = type == 3 || type > 5 ? FAULT_UNSUPPORTED
    : at & (bytes - 1) ? FAULT_MISALIGNED
    : <u64>at + bytes > <u64>load<u32>(w, WAVE_LDS_BYTES) ? FAULT_LDS : 0;
  if (code != 0) {
    fault(w, code, -1, at, bytes);
    return false;
  }
  let x: u32 = 0;
  switch (type) {
    case 0: x = load<u8>(from); break;
    case 1: x = load<u16>(from); break;
    case 2: x = load<u32>(from); break;
    case 4: x = load<i8>(from); break;
    case 5: x = load<i16>(from); break;
  }
  store<u32>(TEMPORARY, x, RECORD_SRC0);
  store<u32>(TEMPORARY, (load<u32>(TEMPORARY, RECORD_MODS) & ~kindMask(0)) | KIND_CONSTANT, RECORD_MODS);
  return true;
}
const LDS_DIRECT: u32 = 254;

/** SDWA: each source is a byte, a word or all of its register. imm: src0_sel 7:5 | src0_sext 8 | src1_sel 11:9 | src1_sext 12. */
function stageSdwa(u: usize, w: usize, operands: u32): void {
  const imm = load<u32>(u, RECORD_IMM);
  for (let i = 0; i < 2; i++) {
    const select = (imm >> (5 + 4 * i)) & 7;
    if (select >= 6 || typeOf(operands, i) == TYPE_NONE || load<u32>(TEMPORARY, RECORD_MODS) & kindMask(i)) continue;
    // Shifting left drops what is above the part, shifting right brings it down.
    const bits = select < 4 ? 8 : 16, low = select < 4 ? 8 * select : 16 * (select - 4), left = 32 - bits - low, right = 32 - bits;
    const signed = ((imm >> (8 + 4 * i)) & 1) != 0, from = w + load<u32>(u + 4 * i, RECORD_SRC0), to = STAGE + 512 * i;
    for (let o: usize = 0; o < rowBytes; o += 16) {
      const x = i32x4.shl(v128.load(from + o), left);
      v128.store(to + o, signed ? i32x4.shr_s(x, right) : i32x4.shr_u(x, right));
    }
    useStage(w, i, KIND_VECTOR);
  }
}

/**
 * DPP: source 0 comes from another lane. A lane whose source lane does not exist or is switched off reads 0 with bound_ctrl, else it
 * is switched off itself, as are the lanes that row_mask and bank_mask leave out.
 * False after the fault of a dpp_ctrl that does not exist. imm: dpp_ctrl 8:0 | bound_ctrl 9 | bank_mask 13:10 | row_mask 17:14.
 */
function stageDpp(u: usize, w: usize, wide: bool): bool {
  const imm = load<u32>(u, RECORD_IMM), control = imm & 0x1ff, bound = (imm >> 9) & 1;
  const from = w + load<u32>(u, RECORD_SRC0), masks = w + WAVE_EXEC_MASKS;
  if (!isDppControl(control)) return faulted(w, FAULT_ILLEGAL, -1, 0, 0);
  const there = moved(control, masks, ACTIVE);
  setAllActive(false);
  moved(control, from, STAGE);
  if (wide) moved(control, from + rowBytes, STAGE + rowBytes);
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const active = v128.load(there + o), written = (imm >> (14 + (<u32>o >> 6))) & (imm >> (10 + ((<u32>o >> 4) & 3))) & 1;
    v128.store(STAGE + o, v128.and(v128.load(STAGE + o), active));
    if (wide) v128.store(STAGE + rowBytes + o, v128.and(v128.load(STAGE + rowBytes + o), active));
    const kept = bound ? v128.load(masks + o) : v128.and(v128.load(masks + o), active);
    v128.store(masks + o, v128.and(kept, i32x4.splat(-written)));
  }
  useStage(w, 0, KIND_VECTOR);
  return true;
}

/** Whether gfx8 knows a dpp_ctrl: quads, shifts by 1 to 15 in rows, shifts of the wave, mirrors and broadcasts. */
function isDppControl(control: u32): bool {
  if (control < 0x130) return control < 0x100 || (control & 15) != 0;
  return control < 0x140 ? (control & 3) == 0 : control < 0x144;
}

/**
 * Writes a row as its lanes are read under dpp_ctrl to `to`, and returns that; a lane that reads one that does not exist gets 0 (GCN3 manual,
 * table "DPP_CTRL").
 */
function moved(control: u32, from: usize, to: usize): usize {
  // What shifts reads a little of what stands before and behind the row.
  for (let o: usize = 0; o < rowBytes; o += 16) v128.store(LANES + o, v128.load(from + o));
  const count = <i32>(control & 15);
  switch (control >> 4) {
    case 0x10: shift(to, count, 16, false); break; // row_shl
    case 0x11: shift(to, -count, 16, false); break; // row_shr
    case 0x12: shift(to, -count, 16, true); break; // row_ror
    case 0x13: shift(to, count < 8 ? 1 : -1, <i32>(rowBytes >> 2), (count & 4) != 0); break; // wave_shl, wave_rol, wave_shr, wave_ror
    case 0x14: {
      if (count < 2) permute(to, 0x1b, count == 0 ? 48 : 16); // row_mirror, row_half_mirror
      else broadcast(to, count == 2);
      break;
    }
    default: permute(to, control, 0);
  }
  return to;
}
/** Lanes of LANES `count` further on, among `size` lanes. */
function shift(to: usize, count: i32, size: i32, rotates: bool): void {
  const at = LANES + 4 * count, around = LANES + 4 * (count < 0 ? count + size : count - size), last = i32x4.splat(size - 1);
  let place = i32x4.add(i32x4(0, 1, 2, 3), i32x4.splat(count));
  for (let o: usize = 0; o < rowBytes; o += 16) {
    if ((o & (4 * size - 1)) == 0) place = i32x4.add(i32x4(0, 1, 2, 3), i32x4.splat(count));
    const other = rotates ? v128.load(around + o) : i32x4.splat(0);
    v128.store(to + o, v128.bitselect(other, v128.load(at + o), i32x4.gt_u(place, last)));
    place = i32x4.add(place, i32x4.splat(4));
  }
}
/** Quads of LANES permuted as `bits` say, two bits a lane, from chunks at other places. */
function permute(to: usize, bits: u32, flipped: usize): void {
  const inQuad = quadLanes(bits);
  for (let o: usize = 0; o < rowBytes; o += 16) v128.store(to + o, i8x16.swizzle(v128.load(LANES + (o ^ flipped)), inQuad));
}
/** row_bcast:15: the last lane of the row before, in all of a row; row_bcast:31: lane 31 in the upper lanes. */
function broadcast(to: usize, ofRows: bool): void {
  const first: usize = ofRows ? 64 : 128;
  for (let o: usize = 0; o < rowBytes; o += 16) {
    const from = LANES + (ofRows ? (o & ~63) - 4 : 124);
    v128.store(to + o, o < first ? i32x4.splat(0) : v128.load32_splat(from));
  }
}
