// What kernels need to know beyond their operands: MODE, and where in the wave and in which instruction they run.
// Whoever writes MODE calls `setMode`; whoever runs a loop keeps the rest.

/** Round modes: 0 nearest even, 1 towards +∞, 2 towards −∞, 3 towards zero. f32 results. */
export let round32: i32 = 0;
/** f64 and f16 results. */
export let round64: i32 = 0;
/** 1: denormal f32 sources (results) become zeros of their sign. */
export let flushSources32: i32 = 0;
export let flushResults32: i32 = 0;
/** The same for f64 and f16. */
export let flushSources64: i32 = 0;
export let flushResults64: i32 = 0;
/** 1: clamp sends NaN to 0. */
export let dx10Clamp: i32 = 0;
/** 1: minimum, maximum and median return a signalling NaN quieted. */
export let ieee: i32 = 0;

/** Takes MODE apart: round 1:0 and 3:2, denormals 5:4 and 7:6 (sources, results), DX10_CLAMP 8, IEEE 9 (GCN3 manual, "MODE register"). */
export function setMode(mode: u32): void {
  round32 = mode & 3;
  round64 = (mode >> 2) & 3;
  flushSources32 = ~(mode >> 4) & 1;
  flushResults32 = ~(mode >> 5) & 1;
  flushSources64 = ~(mode >> 6) & 1;
  flushResults64 = ~(mode >> 7) & 1;
  dx10Clamp = (mode >> 8) & 1;
  ieee = (mode >> 9) & 1;
}

/** The instruction's clamp bit where integer operations saturate by it (from gfx8); the staged path keeps it, elsewhere it is 0. */
export let integerClamp: i32 = 0;
export function setIntegerClamp(clamp: i32): void {
  integerClamp = clamp;
}

/** Lane of the wave that stands in lane 0 of the chunk a kernel is called for. Loops keep it for v_mbcnt only. */
export let chunkLane: i32 = 0;
export function setChunkLane(lane: i32): void {
  chunkLane = lane;
}
