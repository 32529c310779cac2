// Machine words of a trace → plan records, by tables that the host makes; host/plan/templates.ts shows how they lie. Knows no encoding.
import {
  FIELD_BYTES, FIELD_MASK_SHIFT, FIELD_ROWS, FIELD_WHERE, LAYOUT_BYTES, LAYOUT_LITERAL0_MASK, LAYOUT_LITERAL1_MASK, LAYOUT_LITERAL1_SHIFT, LAYOUT_MASK,
  LAYOUT_OP_MASK, LAYOUT_OP_SHIFT, LAYOUT_SLOTS, LAYOUT_VALUE, LITERAL, PLANNER_LISTS, PLANNER_NEXT, PLANNER_REMEMBERED, RECORD_BYTES, RECORD_OP, RECORD_PC,
  REMEMBERED_BITS, REMEMBERED_BYTES, REMEMBERED_LENGTH, REMEMBERED_RECORD, REMEMBERED_WORDS, SLOT_BYTES, SLOT_LENGTH, SLOT_LITERALS,
  SLOT_TEMPLATE, TEMPLATE_END, TEMPLATE_FIELDS, TEMPLATE_LITERAL,
} from './generated/layout';

/**
 * Plans the words from `at` to `end` until one is unknown, the records' room up to `last` is used up, or words end within an instruction; PLANNER_NEXT
 * says where. Their pcs count from `origin`. Returns the address behind the last record.
 */
export function plan(planner: usize, origin: usize, at: usize, end: usize, to: usize, last: usize): usize {
  const lists: usize = load<u32>(planner, PLANNER_LISTS);
  while (at < end && to < last) {
    const first = load<u32>(at), slot = slotOf(load<u32>(lists + ((first >>> 23) << 2)), first);
    if (slot == 0) break;
    const length: usize = load<u32>(slot, SLOT_LENGTH);
    if (at + length > end) break;
    const words = length == 8 ? load<u64>(at) : <u64>first, template: usize = load<u32>(slot, SLOT_TEMPLATE);
    if (!(template != 0 && planBy(template, words, to)) && !recall(planner, words, length, to)) break;
    store<u32>(to, at - origin, RECORD_PC);
    at += length;
    to += RECORD_BYTES;
  }
  store<u32>(planner, at, PLANNER_NEXT);
  return to;
}

/** The slot of an instruction, 0 where none such has come. */
// @ts-ignore: decorator
@inline
function slotOf(layout: usize, first: u32): usize {
  for (let slots: usize; (slots = load<u32>(layout, LAYOUT_SLOTS)) != 0; layout += LAYOUT_BYTES) {
    if ((first & load<u32>(layout, LAYOUT_MASK)) != load<u32>(layout, LAYOUT_VALUE)) continue;
    const op = (first >>> load<u32>(layout, LAYOUT_OP_SHIFT)) & load<u32>(layout, LAYOUT_OP_MASK);
    const literals = isLiteral(first, load<u32>(layout, LAYOUT_LITERAL0_MASK)) |
      (isLiteral(first >>> load<u32>(layout, LAYOUT_LITERAL1_SHIFT), load<u32>(layout, LAYOUT_LITERAL1_MASK)) << 1);
    const slot = slots + (op * SLOT_LITERALS + literals) * SLOT_BYTES;
    if (load<u32>(slot, SLOT_LENGTH) != 0) return slot;
  }
  return 0;
}
// @ts-ignore: decorator
@inline
function isLiteral(field: u32, mask: u32): u32 {
  return u32(mask != 0) & u32((field & mask) == LITERAL);
}

/** Writes the record of an instruction by its template; false, with nothing of use written, where a field's value has no row. */
export function planBy(template: usize, words: u64, to: usize): bool {
  let low = v128.load(template), high = v128.load(template, 16), head = load<u32>(template, RECORD_OP);
  const end: usize = load<u32>(template, TEMPLATE_END), literal: usize = load<u32>(template, TEMPLATE_LITERAL);
  for (let field = template + TEMPLATE_FIELDS; field < end; field += FIELD_BYTES) {
    const where = load<u32>(field, FIELD_WHERE), value = <u32>(words >>> (where & 63)) & (where >>> FIELD_MASK_SHIFT);
    const row = <usize>load<u32>(field, FIELD_ROWS) + value * RECORD_BYTES;
    head |= load<u32>(row, RECORD_OP);
    low = v128.xor(low, v128.load(row));
    high = v128.xor(high, v128.load(row, 16));
  }
  v128.store(to, low);
  v128.store(to, high, 16);
  if (literal != 0) store<u32>(to + literal, <u32>(words >>> 32));
  store<u32>(to, head, RECORD_OP);
  return <i32>head >= 0;
}

/** Writes the record of an instruction that is remembered; false where it is not. */
function recall(planner: usize, words: u64, length: usize, to: usize): bool {
  const at = remembered(planner, words);
  if (load<u64>(at, REMEMBERED_WORDS) != words || load<u32>(at, REMEMBERED_LENGTH) != length) return false;
  v128.store(to, v128.load(at, REMEMBERED_RECORD));
  v128.store(to, v128.load(at, REMEMBERED_RECORD + 16), 16);
  return true;
}

/** Where an instruction is remembered, if it is. */
export function remembered(planner: usize, words: u64): usize {
  const hash = <usize>((words * 0x9e3779b97f4a7c15) >>> (64 - REMEMBERED_BITS));
  return <usize>load<u32>(planner, PLANNER_REMEMBERED) + hash * REMEMBERED_BYTES;
}
