/**
 * Instructions that act beyond their wave: exports and messages, global wave sync (GWS) and ordered counts. Engines stop at them
 * (`Stop.Device`), and they are performed here, so alike for all engines. Knows nothing of turns: it says when a wave has to wait.
 * Sources: the GCN3 manual and, for GWS, the later ones ("DS instructions"), LLVM's SIInstrInfo and SIISelLowering for where operands are.
 */
import { decode } from '../codec/decode.ts'
import type { Instruction } from '../codec/instruction.ts'
import { FaultCode, Stop } from '../engine.ts'
import { exportTargetName } from '../isa/exports.ts'
import type { Target } from '../isa/targets.ts'
import {
  MODE_VSKIP,
  vectorOffset,
  WAVE_FAULT,
  WAVE_FAULT_ADDRESS,
  WAVE_FAULT_BYTES,
  WAVE_FAULT_LANE,
  WAVE_INSTRUCTIONS,
  WAVE_PC,
  WAVE_STOP,
} from '../plan/layout.ts'
import type { Device } from './device.ts'
import type { Code } from './program.ts'
import type { Wave } from './wave.ts'

/** Which wave did something. */
interface Sender {
  readonly workgroup: readonly [number, number, number]
  /** Wave of the workgroup. */
  readonly wave: number
  /** Byte offset of the instruction from the program's first byte. */
  readonly pc: number
}

/** What one `exp` sent. */
export interface Export extends Sender {
  /** `mrt0` to `mrt7`, `mrtz`, `null`, `pos0` to `pos3`, `param0` to `param31`. */
  readonly target: string
  /** Those of x, y, z, w that are sent (EN). */
  readonly channels: string
  /** Values are halves, of 16 bits (COMPR). */
  readonly compressed: boolean
  /** The wave's last export to this kind of target (DONE). */
  readonly done: boolean
  /** EXEC says which pixels are valid (VM). */
  readonly validMask: boolean
  /** Lanes that sent. */
  readonly exec: bigint
  /** Of each channel the bits lane by lane; lanes that did not send are 0. */
  readonly values: readonly Uint32Array[]
}

/** What one `s_sendmsg` sent. */
export interface Message extends Sender {
  /** SIMM16: the message in bits 3:0, its operation in 6:4, a stream in 9:8. */
  readonly message: number
  readonly m0: number
}

/** What waves sent to the outside, in the order in which they did. */
export interface Sent {
  /** The first {@link SENT_LIMIT}. */
  readonly exports: readonly Export[]
  readonly exportCount: number
  /** The first {@link SENT_LIMIT}. */
  readonly messages: readonly Message[]
  readonly messageCount: number
}

/** Exports and messages that are kept; the others are only counted. */
export const SENT_LIMIT = 10_000

/** What a wave waits for. */
export interface Wait {
  /** For people, such as `GWS barrier 3`. */
  readonly on: string
  ready(): boolean
}

/** A semaphore or a barrier of the 64 that a device has. */
class Resource {
  counter = 0
  /** Turns over whenever the barrier opens. */
  phase = 0
  /** Waves at the barrier, with the phase in which they came. */
  readonly arrived = new Map<string, number>()
  /** Waves that want the semaphore, in the order in which they came. */
  readonly queue: string[] = []
}

const GWS_RESOURCES = 64

/** The state that waves of one dispatch share beyond memory; all zero at its start. */
export class Beyond {
  readonly #device: Device
  readonly #exports: Export[] = []
  #exportCount = 0
  readonly #messages: Message[] = []
  #messageCount = 0
  readonly #counts = new Map<string, number>()
  /** By number; those never used are absent. */
  readonly #resources = new Map<number, Resource>()
  /** The workgroup that began last, -1 when it has ended, and its waves that ordered counts behind them wait for, a bit a wave. */
  #group = -1
  #ahead = 0
  /** Those of other workgroups that have begun and not ended. */
  readonly #others = new Map<number, number>()

  constructor(device: Device) {
    this.#device = device
  }

  get sent(): Sent {
    return { exports: this.#exports, exportCount: this.#exportCount, messages: this.#messages, messageCount: this.#messageCount }
  }

  /** How often each operation was performed, by name. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }

  begin(group: number, waves: readonly Wave[]): void {
    if (this.#group >= 0) this.#others.set(this.#group, this.#ahead)
    this.#group = group
    this.#ahead = -1 >>> (32 - waves.length)
  }

  /** A wave has ended. */
  leave(group: number, { index }: Wave): void {
    if (group === this.#group) this.#ahead &= ~(1 << index)
    else this.#others.set(group, this.#others.get(group)! & ~(1 << index))
  }

  end(group: number): void {
    if (group === this.#group) this.#group = -1
    else this.#others.delete(group)
  }

  /**
   * Performs the instruction at which an engine has stopped the wave.
   * @param group number of the wave's workgroup
   * @returns how the wave goes on: at the next instruction; there, but behind others; not before something has happened (the instruction
   *   has had no effect, or is enqueued, and is to be performed again then); or not at all, with a fault in its header
   */
  perform(wave: Wave, group: number, workgroup: Sender['workgroup']): 'on' | 'yield' | 'fault' | Wait {
    const instruction = decode(wave.program.code.words, wave.pc >>> 2, this.#device.target)!
    const { table } = instruction.operation
    // Exports are vector instructions here.
    const result = table !== 'sopp' && wave.mode & MODE_VSKIP ? undefined : this.#execute(instruction, wave, group, workgroup)
    if (typeof result === 'object') return result
    if (result !== undefined) {
      this.#fault(wave, result)
      return 'fault'
    }
    this.#complete(wave, instruction)
    return table === 'sopp' ? 'yield' : 'on'
  }

  /** Lets a wave go on that would have to wait, as if it were alone. */
  pass(wave: Wave): void {
    this.#complete(wave, decode(wave.program.code.words, wave.pc >>> 2, this.#device.target)!)
  }

  #execute(instruction: Instruction, wave: Wave, group: number, workgroup: Sender['workgroup']): FaultCode | Wait | undefined {
    const { name, table } = instruction.operation
    const sender = { workgroup, wave: wave.index, pc: wave.pc + (wave.program.code.origin ?? 0) }
    if (table === 'exp') return this.#export(instruction, wave, sender)
    if (table === 'sopp') return this.#message(instruction, wave, sender)
    return name === 'ds_ordered_count' ? this.#orderedCount(instruction, wave, group) : this.#gws(instruction, wave, group)
  }

  #export({ fields }: Instruction, wave: Wave, sender: Sender): FaultCode | undefined {
    const target = exportTargetName(fields.target!)
    if (target === undefined) return FaultCode.Illegal
    const compressed = fields.compr !== 0
    const enabled = [0, 1, 2, 3].filter((channel) => fields.en! & (1 << channel))
    if (++this.#exportCount > SENT_LIMIT) return undefined
    const { exec } = wave
    const isActive = (lane: number): boolean => ((exec >> BigInt(lane)) & 1n) !== 0n
    const half = (bits: number, channel: number): number => (channel & 1 ? bits >>> 16 : bits & 0xffff)
    const values = enabled.map((channel) => {
      // Two channels share a register where they are halves.
      const register = wave.vgpr(fields[`vsrc${compressed ? channel >> 1 : channel}`]!)
      return register.map((bits, lane) => (isActive(lane) ? (compressed ? half(bits, channel) : bits) : 0))
    })
    const channels = enabled.map((channel) => 'xyzw'[channel]).join('')
    this.#exports.push({ ...sender, target, channels, compressed, done: fields.done !== 0, validMask: fields.vm !== 0, exec, values })
    return undefined
  }

  #message({ fields }: Instruction, wave: Wave, sender: Sender): undefined {
    if (++this.#messageCount <= SENT_LIMIT) this.#messages.push({ ...sender, message: fields.simm16!, m0: wave.m0 })
    return undefined
  }

  /** Resource M0[21:16] + offset; a value comes from the first active lane (lane 0 if there is none). */
  #gws({ operation, fields }: Instruction, wave: Wave, group: number): Wait | undefined {
    const number = (((wave.m0 >>> 16) & 63) + fields.offset0!) % GWS_RESOURCES
    const resource = this.#resources.get(number) ?? new Resource()
    this.#resources.set(number, resource)
    const value = operation.shape.sources.length > 0 ? wave.vgpr(fields.addr!)[firstLane(wave.exec)]! : 0
    switch (operation.name) {
      case 'ds_gws_init':
        resource.counter = value
        return undefined
      case 'ds_gws_sema_v':
        resource.counter++
        return undefined
      case 'ds_gws_sema_br':
        resource.counter += value
        return undefined
      case 'ds_gws_sema_release_all':
        resource.counter = resource.queue.length
        return undefined
      case 'ds_gws_sema_p':
        return takeSemaphore(resource, number, keyOf(wave, group))
      default:
        return meetBarrier(resource, number, keyOf(wave, group), value)
    }
  }

  /**
   * Adds to (or swaps) a dword of GDS when all waves before this one in the dispatch have released it, or ended. OFFSET0 is its byte address;
   * OFFSET1 holds wave_release 0, wave_done 1, shader type 3:2, operation 5:4 (LLVM, SIISelLowering). The number comes from the first active
   * lane, all active lanes get the old value. M0 is the wave's place in the order on hardware; here that is its place in the dispatch.
   */
  #orderedCount({ fields }: Instruction, wave: Wave, group: number): FaultCode | Wait | undefined {
    const operation = (fields.offset1! >>> 4) & 3
    if (operation > 1) return FaultCode.Unsupported
    const ready = (): boolean => this.#isFirst(wave.index, group)
    if (!ready()) return { on: 'its turn in the order of the dispatch', ready }
    const { words } = this.#device.arena
    const at = (this.#device.gdsAddress >>> 2) + (fields.offset0! >>> 2)
    const old = words[at]!
    if (wave.exec !== 0n) {
      const value = wave.vgpr(fields.addr!)[firstLane(wave.exec)]!
      words[at] = operation === 0 ? old + value : value
    }
    const row = (wave.host + vectorOffset(fields.vdst!, wave.size)) / 4
    for (let lane = 0; lane < wave.size; lane++) if ((wave.exec >> BigInt(lane)) & 1n) words[row + lane] = old
    if (fields.offset1! & 3) this.leave(group, wave)
    return undefined
  }

  #isFirst(index: number, group: number): boolean {
    const isBehind = (other: number, waves: number): boolean =>
      (other < group && waves !== 0) || (other === group && (waves & ((1 << index) - 1)) !== 0)
    if (this.#group >= 0 && isBehind(this.#group, this.#ahead)) return false
    for (const [other, waves] of this.#others) if (isBehind(other, waves)) return false
    return true
  }

  #complete(wave: Wave, { operation, dwords }: Instruction): void {
    this.#counts.set(operation.name, (this.#counts.get(operation.name) ?? 0) + 1)
    const { words } = this.#device.arena
    const at = wave.host >>> 2
    words[at + WAVE_PC / 4] = wave.pc + dwords * 4
    if (++words[at + WAVE_INSTRUCTIONS / 4]! === 2 ** 32) words[at + WAVE_INSTRUCTIONS / 4 + 1]!++
  }

  #fault(wave: Wave, code: FaultCode): void {
    const { words } = this.#device.arena
    const at = wave.host >>> 2
    words[at + WAVE_STOP / 4] = Stop.Fault
    words[at + WAVE_FAULT / 4] = code
    words[at + WAVE_FAULT_LANE / 4] = 0xffffffff
    words.fill(0, at + WAVE_FAULT_ADDRESS / 4, at + WAVE_FAULT_BYTES / 4 + 1)
  }
}

const keyOf = ({ index }: Wave, group: number): string => `${group}.${index}`

function firstLane(exec: bigint): number {
  let lane = 0
  while (exec !== 0n && ((exec >> BigInt(lane)) & 1n) === 0n) lane++
  return lane
}

function takeSemaphore(resource: Resource, number: number, key: string): Wait | undefined {
  const { queue } = resource
  if (!queue.includes(key)) queue.push(key)
  // So many of those that wait go on, the first ones first.
  const ready = (): boolean => queue.indexOf(key) < resource.counter
  if (!ready()) return { on: `GWS semaphore ${number}`, ready }
  queue.splice(queue.indexOf(key), 1)
  resource.counter--
  return undefined
}

/** The counter says how many waves are still to come before the last one, which opens the barrier and sets the counter anew. */
function meetBarrier(resource: Resource, number: number, key: string, value: number): Wait | undefined {
  const { arrived } = resource
  const phase = arrived.get(key)
  if (phase !== undefined) {
    arrived.delete(key)
    return undefined
  }
  if (resource.counter <= 0) {
    resource.phase++
    resource.counter = value
    return undefined
  }
  const came = resource.phase
  arrived.set(key, came)
  resource.counter--
  return { on: `GWS barrier ${number}`, ready: () => resource.phase !== came }
}

const CANDIDATES: Readonly<Record<Target['generation'], (word: number) => boolean>> = {
  gfx6: isCandidate(0b111110, 17),
  gfx7: isCandidate(0b111110, 17),
  gfx8: isCandidate(0b110001, 16),
}
const S_SENDMSG = 0xbf90

/** Whether a dword can begin an instruction that acts beyond its wave. */
function isCandidate(exp: number, gds: number): (word: number) => boolean {
  return (word) => word >>> 26 === exp || (word >>> 26 === 0b110110 && ((word >>> gds) & 1) !== 0) || word >>> 16 === S_SENDMSG
}

const known = new WeakMap<Code, boolean>()

/** Whether code, read from its first word on, has instructions that act beyond their wave. */
export function actsBeyondWaves(code: Code, target: Target): boolean {
  let acts = known.get(code)
  if (acts === undefined) {
    acts = code.words.some(CANDIDATES[target.generation]) && hasDeviceOperation(code, target)
    known.set(code, acts)
  }
  return acts
}

function hasDeviceOperation({ words }: Code, target: Target): boolean {
  for (let index = 0; index < words.length; ) {
    const instruction = decode(words, index, target)
    if (instruction?.operation.traits.has('device')) return true
    index += instruction?.dwords ?? 1
  }
  return false
}
