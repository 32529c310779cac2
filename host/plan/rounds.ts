/**
 * What an engine needs to run the waves of workgroups by itself (`Engine.runRounds`): a record in linear memory, one for all workgroups that begin
 * alike. Offsets of its dwords.
 *
 * Waves run in the order of their numbers, each until it ends, waits at a barrier, or has used up its turn. When all have stopped, those at the barrier
 * go on in the same order. When all have ended, the next workgroup is laid out: one to the right of it.
 */

// --- what all these workgroups have in common
/** Address of the first wave's block, bytes from one block to the next, and the address behind the last one. */
export const ROUNDS_FIRST = 0
export const ROUNDS_STRIDE = 4
export const ROUNDS_END = 8
/** Address of the blocks as they begin, but for the workgroup's x; and bytes of each that may not be zero: the first ones. */
export const ROUNDS_IMAGE = 12
export const ROUNDS_SET = 16
/** Offset of the scalar in a wave's block that is the workgroup's x; 0 where none is. */
export const ROUNDS_ID = 20
/** Address of MACHINE_TIME. */
export const ROUNDS_TIME = 24
/** Instructions of a turn. */
export const ROUNDS_TURN = 28
// --- how far they are
/** Address of the wave that runs, or is next; ROUNDS_END where the workgroup has ended and no other is laid out. */
export const ROUNDS_WAVE = 32
/** Instructions that are left of its turn, and in all; the latter at most 2^31 - 1. */
export const ROUNDS_LEFT_OF_TURN = 36
export const ROUNDS_LEFT = 40
/** The workgroup's x, and how many more may begin. */
export const ROUNDS_X = 44
export const ROUNDS_GROUPS = 48
// --- what is zero when a workgroup begins
/** Number of pieces; then the address and the bytes of each. */
export const ROUNDS_CLEARED = 52
export const ROUNDS_PIECES = 56
/** Bytes of the record, with so many pieces. */
export const roundsBytes = (pieces: number): number => ROUNDS_PIECES + 8 * pieces
