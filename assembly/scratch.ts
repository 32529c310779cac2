// Rows that hold something during one instruction only. Instances that share a memory must not share these, so their addresses are
// globals: the first instance has them among its static data, the others where the host says.

/** Host addresses: one row for each dword of an access (at most 16 rows, image instructions included). 0 is a lane that takes no part. */
export let ADDRESSES: usize = 0;
/** Guest addresses of a vector access, low and high dwords. */
export let LOW: usize = 0;
export let HIGH: usize = 0;
/** Second addresses of a DS instruction with two. */
export let SECOND: usize = 0;
/** Values of all lanes, on their way to other lanes. */
export let LANES: usize = 0;
/** What was loaded and is still to be converted, or to go to LDS. */
export let LOADED: usize = 0;
/** The record that runs instead of a flagged one, and before that the one with indexed registers. */
export let TEMPORARY: usize = 0;
export let INDEXED: usize = 0;
/** Sources of a staged instruction, two rows each, and its result, two rows. */
export let STAGE: usize = 0;
export let RESULT: usize = 0;
/** For each lane the EXEC mask of the lane that it reads under DPP. */
export let ACTIVE: usize = 0;
/** Spread scalar sources, 32 bytes a source: of 64-bit ones low dwords, then high dwords. */
export let SPREAD: usize = 0;

/** For some records each the region that was hit last, a dword a record (16 of them). */
export let SITES: usize = 0;

/** Rows that translated code keeps results in until it may write them to the wave. */
export let SHADOW: usize = 0;
export const SHADOW_ROWS: i32 = 96;

/** Whether other instances run on the same memory, so that atomics have to be real ones. */
export let sharing: bool = false;

const ROW: usize = 256;
const ROWS: i32 = 31;
const SCRATCH_BYTES: i32 = (ROWS + SHADOW_ROWS) * 256;

/** Bytes of scratch rows. */
export function scratchBytes(): i32 {
  return SCRATCH_BYTES;
}
/** From now on other instances run on the same memory. Before anything runs. @param at own scratch rows, a multiple of 16; 0: as they are */
export function share(at: usize): void {
  sharing = true;
  if (at != 0) useScratch(at);
}

function useScratch(at: usize): void {
  ADDRESSES = at;
  LOW = ADDRESSES + 16 * ROW;
  HIGH = LOW + ROW;
  SECOND = HIGH + ROW;
  LANES = SECOND + ROW;
  LOADED = LANES + ROW;
  STAGE = LOADED + ROW;
  RESULT = STAGE + 6 * ROW;
  ACTIVE = RESULT + 2 * ROW;
  SPREAD = ACTIVE + ROW;
  TEMPORARY = SPREAD + 96;
  INDEXED = TEMPORARY + 32;
  SITES = INDEXED + 32;
  SHADOW = at + ROWS * ROW;
}

useScratch(memory.data(SCRATCH_BYTES, 16));
