/** An engine whose instructions are a function of the test: what a device does can be seen without any real instruction. */
import { Device, type DeviceOptions } from '../../host/device/index.ts'
import { type Engine, Stop } from '../../host/engine.ts'
import { LimitError } from '../../host/errors.ts'
import { TARGETS, type TargetName } from '../../host/isa/targets.ts'
import { WAVE_INSTRUCTIONS, WAVE_PC, WAVE_STOP } from '../../host/plan/layout.ts'

/** What one instruction of a fake wave does: nothing, or stop. pc goes on by 4 unless it is set here. */
export type FakeInstruction = (wave: FakeWave) => Stop | undefined

export class FakeWave {
  constructor(
    readonly host: number,
    readonly view: DataView,
  ) {}
  get pc(): number {
    return this.get(WAVE_PC)
  }
  set pc(value: number) {
    this.set(WAVE_PC, value)
  }
  get(offset: number): number {
    return this.view.getUint32(this.host + offset, true)
  }
  set(offset: number, value: number): void {
    this.view.setUint32(this.host + offset, value, true)
  }
}

export class FakeEngine implements Engine {
  readonly name = 'reference'
  readonly heapBase = 64
  memory: ArrayBuffer = new ArrayBuffer(0x10000)
  /** Budget of every call. */
  readonly budgets: number[] = []
  readonly #instruction: FakeInstruction
  readonly #most: number

  constructor(instruction: FakeInstruction, mostBytes = 1 << 28) {
    this.#instruction = instruction
    this.#most = mostBytes
  }

  grow(bytes: number): void {
    if (bytes > this.#most) throw new LimitError('no more memory')
    const old = new Uint8Array(this.memory)
    this.memory = new ArrayBuffer(bytes)
    new Uint8Array(this.memory).set(old)
  }

  run(host: number, budget: number): Stop {
    this.budgets.push(budget)
    const wave = new FakeWave(host, new DataView(this.memory))
    for (let i = 0; i < budget; i++) {
      const pc = wave.pc
      const stop = this.#instruction(wave)
      if (stop === Stop.Fault || stop === Stop.Plan) return this.#stop(wave, stop)
      if (wave.pc === pc) wave.pc = pc + 4
      wave.set(WAVE_INSTRUCTIONS, wave.get(WAVE_INSTRUCTIONS) + 1)
      if (stop !== undefined) return this.#stop(wave, stop)
    }
    return this.#stop(wave, Stop.Budget)
  }

  #stop(wave: FakeWave, stop: Stop): Stop {
    wave.set(WAVE_STOP, stop)
    return stop
  }
}

export function fakeDevice(instruction: FakeInstruction, target: TargetName = 'gfx803', options: DeviceOptions = {}): Device {
  return new Device(new FakeEngine(instruction), TARGETS[target], options)
}
