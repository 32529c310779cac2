/** Where control is: at a pc, with a MODE (those bits of it that matter, MODE_KEY in modes.ts), in one number. */

/** Pcs are below that. */
const PC_LIMIT = 2 ** 32

export const placeOf = (pc: number, mode: number): number => mode * PC_LIMIT + pc
export const pcOf = (place: number): number => place % PC_LIMIT
export const modeAt = (place: number): number => Math.floor(place / PC_LIMIT)
