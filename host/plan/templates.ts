/**
 * How the tables lie in linear memory that plan the words of a trace without decoding them. host/trace makes them and assembly/plan.ts follows them;
 * host/build copies this file's numbers. All are byte offsets or counts.
 *
 *   planner ──► lists     by a first word's top nine bits: address of its list
 *   list        layouts │ … │ one without slots
 *   layout  ──► slots     by opcode and by which of two source fields name a literal
 *   slot    ──► template  a record, and a table for each field
 *   field   ──► rows      by the field's value: what it changes in the record
 */
import { RECORD_BYTES } from './layout.ts'

export const PLANNER_LISTS = 0
/** Address of the remembered patterns. */
export const PLANNER_REMEMBERED = 4
/** Where the last call stopped: address of the next word. */
export const PLANNER_NEXT = 8
export const PLANNER_BYTES = 12

/** A word is of this layout if these bits of it have this value. */
export const LAYOUT_MASK = 0
export const LAYOUT_VALUE = 4
/** Opcode: shift, then mask. */
export const LAYOUT_OP_SHIFT = 8
export const LAYOUT_OP_MASK = 12
/** Fields that hold LITERAL where a literal follows: mask of one that begins at bit 0, shift and mask of another; a mask of 0 stands for no field. */
export const LAYOUT_LITERAL0_MASK = 16
export const LAYOUT_LITERAL1_SHIFT = 20
export const LAYOUT_LITERAL1_MASK = 24
/** Address of its slots; 0 ends a list. */
export const LAYOUT_SLOTS = 28
export const LAYOUT_BYTES = 32

/** Template of its instructions; 0 where there is none. */
export const SLOT_TEMPLATE = 0
/** Bytes of its instructions, 0 where none has come yet. */
export const SLOT_LENGTH = 4
export const SLOT_BYTES = 8
/** Slots of an opcode: bit 0 says that the first field names a literal, bit 1 the second. */
export const SLOT_LITERALS = 4

/** The record in which all fields have their first value. */
export const TEMPLATE_RECORD = 0
/** Address behind its fields. */
export const TEMPLATE_END = RECORD_BYTES
/** Offset in the record of the word that is the literal; 0 where there is none. */
export const TEMPLATE_LITERAL = TEMPLATE_END + 4
export const TEMPLATE_FIELDS = TEMPLATE_LITERAL + 4

/** Shift in the instruction's 64 bits 7:0 | mask 31:8. */
export const FIELD_WHERE = 0
export const FIELD_MASK_SHIFT = 8
export const FIELD_ROWS = 4
export const FIELD_BYTES = 8

/**
 * A row for each value, as long as a record: first a dword that is joined with the record's by OR (flags are set, never cleared), then what the other
 * words are combined with by XOR. This bit of the first stands where the value has no row; op and flags leave it alone.
 */
export const ROW_REFUSED = 1 << 31

/** A remembered pattern: the instruction's words, its bytes (0 where there is none), its record. */
export const REMEMBERED_WORDS = 0
export const REMEMBERED_LENGTH = 8
export const REMEMBERED_RECORD = 16
export const REMEMBERED_BYTES = 48
/** How many there are, as a power of two; a new one takes the place of the one whose hash it has. */
export const REMEMBERED_BITS = 13
