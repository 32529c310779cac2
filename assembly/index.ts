// What the host sees of the core: exports only.
export { begin, run, runStep } from './wave';
export { plan, planBy, remembered } from './plan';
export * from './generated/dispatch';
export { scratchBytes, SHADOW, share } from './scratch';

// What translated code is made of, or calls.
export * from './generated/exports';
export { generation, next, refreshExec, rowBytes, stop } from './state';
export { chunkLane, ieee, round32, round64, dx10Clamp, flushSources32, flushResults32, flushSources64, flushResults64 } from './lib/mode';
export { flush32, nan16, nan32, nan64 } from './lib/rules';
export { finish16, finish32 } from './finish';
// Rare ways of kernels, which would make translated code long (RARE in host/translate/wasm/kernels.ts).
export { scaleScalar } from './lib/double';
export { fmaRounded } from './lib/float';
export { v_div_fmas_f32_rounded, v_ldexp_f32_rounded } from './ops/vop3';
export { shiftLeft64, shiftRight64, shiftRightSigned64 } from './lib/shift';
export { regionOf } from './memory';

/** First byte of linear memory that is free. */
export function heapBase(): usize {
  return (__heap_base + 63) & ~63;
}

/** A dword in which the threads that share this memory keep how much of it is taken; see host/core/engine.ts. */
const TAKEN = memory.data(64, 64);
export function taken(): usize {
  return TAKEN;
}
