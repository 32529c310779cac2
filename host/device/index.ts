/**
 * Everything between a code object or raw words and an engine.
 *
 * ```ts
 * const device = new Device(engine, TARGETS.gfx803, { disassemble })
 * const kernel = device.load(loadObject(bytes)).kernel('saxpy')
 * const [x, y] = [device.memory.allocate(4000, { name: 'x' }), device.memory.allocate(4000, { name: 'y' })]
 * device.memory.view(x).set(input)
 * const args = [{ bytes: n }, { bytes: a }, { address: x.address }, { address: y.address }]
 * const execution = dispatch(device, kernel, { grid: [1000, 1, 1], workgroup: [256, 1, 1], args })
 * const { status, error, wave, instructions } = await execution.run({ budget: 1e8, signal, onProgress })
 * device.memory.view(y)                     // readable whatever came out, and so are the registers of `wave`
 * execution.free()
 * ```
 *
 * Raw code: `device.loadCode(words)`, then `bareWave(device, code, { sgprs, vgprs, exec })` for a wave with given registers, or `dispatch` with
 * `rawKernel(code, { ...DEFAULT_DESCRIPTOR, … })`. Both give an {@link Execution}.
 *
 * Two engines in lockstep: the same calls on two devices give the same guest addresses. Then `a.step(n)` and `b.step(n)` run the same
 * instructions of the same wave, `a.next` is the wave that comes next, and `wave.state()`, `wave.lds` and `device.memory.view(region)` are
 * equal bytes where the engines agree.
 */

export { bareWave, DEFAULT_MODE, type WaveState } from './bare-wave.ts'
export { type Export, type Message, SENT_LIMIT, type Sent } from './beyond.ts'
export { Device, type DeviceKernel, type DeviceOptions, type Disassemble, type LoadedObject, rawKernel } from './device.ts'
export { DEFAULT_DESCRIPTOR, dispatch } from './dispatch.ts'
export type { Claim, Execution, Outcome, RunOptions } from './execution.ts'
export type { Argument } from './kernarg.ts'
export type { DispatchTwin, Launch } from './launch.ts'
export type { GuestMemory, Nearest, Region, RegionOptions } from './memory.ts'
export type { Size } from './packet.ts'
export type { Code } from './program.ts'
export { parseSchedule, type Schedule } from './schedule.ts'
export { pause, SLICE_MS, Slices } from './slices.ts'
export {
  dispatchTwin,
  faultOfTwin,
  type TwinWave,
  twinWave,
} from './twin.ts'
export type { Wave } from './wave.ts'
