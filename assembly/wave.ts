// The step loop: runs plan records of one wave until it stops.
import {
  OP_GOTO, RECORD_BYTES, RECORD_IMM, RECORD_OP, RECORD_PC, STOP_BUDGET, STOP_FAULT, WAVE_INSTRUCTIONS, WAVE_PC, WAVE_STOP,
} from './generated/layout';
import { forgetRegions } from './memory';
import { enter, halt, jump, next, plainLimit, pseudo, setNext, setPseudo, stop } from './state';
import { stepFlagged } from './staged';
import { step } from './table';

/** Runs one record for translated code, which knows what comes next; `stop` tells whether it could. */
export function runStep(u: usize, w: usize): void {
  const head = load<u32>(u, RECORD_OP);
  if (head > plainLimit) stepFlagged(head, u, w);
  else step(head, u, w);
}

/** Makes `w` the wave that runs. */
export function begin(w: usize): void {
  enter(w);
  forgetRegions(w);
}

/** Runs wave `w` for at most `budget` instructions; returns a Stop. */
export function run(w: usize, budget: i32): i32 {
  begin(w);
  jump(w, load<u32>(w, WAVE_PC));
  let u = next, left = budget;
  while (next != 0) {
    if (left == 0) {
      if (pseudo == 0) {
        halt(w, STOP_BUDGET, load<u16>(u, RECORD_OP) == OP_GOTO ? load<u32>(u, RECORD_IMM) : load<u32>(u, RECORD_PC));
        break;
      }
      // Records that are no instructions give their turns back.
      left = pseudo;
      setPseudo(0);
    }
    left--;
    setNext(u + RECORD_BYTES);
    const head = load<u32>(u, RECORD_OP);
    if (head > plainLimit) stepFlagged(head, u, w);
    else step(head, u, w);
    // A fault leaves `u` at the instruction that did not happen.
    if (next != 0) u = next;
  }
  let done = budget - left - pseudo;
  if (stop == STOP_FAULT && u != 0) {
    store<u32>(w, load<u32>(u, RECORD_PC), WAVE_PC);
    done--;
  }
  store<u64>(w, load<u64>(w, WAVE_INSTRUCTIONS) + done, WAVE_INSTRUCTIONS);
  store<u32>(w, stop, WAVE_STOP);
  return stop;
}
