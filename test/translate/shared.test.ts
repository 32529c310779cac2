import { expect, test } from 'vitest'
import { bareWave, Device } from '../../host/device/index.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assembleProgram } from '../../host/text/program.ts'
import { createTranslate } from '../../host/translate/engine.ts'

/** What blocks are multiples of, so that this much of a wave's header can lie before a place. */
const BLOCK = 64
const LAST_BYTES = 4096

test('a wave whose header lies where shared memory ended before it grew', async () => {
  const engine = await createTranslate({ threshold: 1, shared: true })
  const shared = engine.shared!
  const device = new Device(engine, TARGETS.gfx803)
  const { arena } = device
  const code = device.loadCode(assembleProgram('s_nop 0\nv_mov_b32 v1, 5\ns_endpgm', TARGETS.gfx803).words)
  const begin = () => bareWave(device, code, { ldsBytes: BLOCK })
  // The engine looks at memory anew for waves beyond what there was when it was made.
  const first = engine.memory.byteLength
  for (let host = 0; host < first; ) {
    const execution = begin()
    execution.step(10)
    host = execution.waves[0]!.host
  }
  // All but the last bytes belong to somebody else; the arena takes these, with more memory behind them.
  const end = engine.memory.byteLength
  const taken = shared.claim(BLOCK)
  shared.claim(end - LAST_BYTES - taken - BLOCK)
  while (arena.allocate(BLOCK) < end - LAST_BYTES);
  let execution = begin()
  while (execution.waves[0]!.host < end - BLOCK) {
    execution.free()
    arena.allocate(BLOCK)
    execution = begin()
  }
  expect(execution.waves[0]!.host).toBe(end - BLOCK)
  expect(engine.memory.byteLength).toBeGreaterThan(end)
  expect(execution.step(10)).toBe(3)
  expect(execution.error).toBeUndefined()
  expect(execution.status).toBe('done')
})
