/** A stopped wave → the error that says what it did, where, and what it was near to. */
import { decode } from '../codec/decode.ts'
import type { Instruction } from '../codec/instruction.ts'
import { FaultCode } from '../engine.ts'
import { FaultError, type LanewiseError, MemoryFault, type Place, UnsupportedError } from '../errors.ts'
import { WAVE_LDS_BYTES, WAVE_SCRATCH_LANE_BYTES } from '../plan/layout.ts'
import type { Device } from './device.ts'
import { hex, type Nearest } from './memory.ts'
import type { Wave } from './wave.ts'

/** Addresses below are told as null pointers: indices into nothing. */
const NULL_PAGE = 0x1000n

/**
 * Where a wave stands.
 * @param at byte offset in the wave's program; by default that of the instruction that runs next, or that faulted
 */
export function placeOf(device: Device, wave: Wave, workgroup: Place['workgroup'], at = wave.pc): Place {
  const context = contextOf(device, wave, at)
  const pc = at + (wave.program.code.origin ?? 0)
  return { pc, instruction: textAt(device, wave, at), workgroup, wave: wave.index, ...(context === undefined ? {} : { context }) }
}

/** A place in one line. */
export const placeText = ({ instruction, pc, workgroup, wave }: Place): string =>
  `${instruction} at pc ${hex(pc)} (workgroup ${workgroup.join(',')}, wave ${wave})`

const LINES_BEFORE = 4
const LINES_AFTER = 2

/** Lines around a place. Instructions are found from the code's first one on; where that does not lead to it, there is no context. */
function contextOf(device: Device, wave: Wave, place: number): readonly string[] | undefined {
  if (device.options.disassemble === undefined) return undefined
  const { code, codeBytes } = wave.program
  const offsets: number[] = []
  for (let at = 0, after = 0; at < codeBytes && after <= LINES_AFTER; ) {
    offsets.push(at)
    if (at >= place) after++
    at += (decode(code.words, at >>> 2, device.target)?.dwords ?? 1) * 4
  }
  const here = offsets.indexOf(place)
  if (here < 0) return undefined
  const digits = Math.max(4, (offsets.at(-1)! + (code.origin ?? 0)).toString(16).length)
  return offsets.slice(Math.max(0, here - LINES_BEFORE), here + 1 + LINES_AFTER).map((at) => {
    const pc = (at + (code.origin ?? 0)).toString(16).padStart(digits, '0')
    return `${at === place ? '>' : ' '} 0x${pc}  ${textAt(device, wave, at)}`
  })
}

/** The error of a wave that an engine stopped with Stop.Fault. */
export function faultOf(device: Device, wave: Wave, workgroup: Place['workgroup']): LanewiseError {
  const place = placeOf(device, wave, workgroup)
  const at = placeText(place)
  const code = wave.program.code
  switch (wave.fault) {
    case FaultCode.Memory:
    case FaultCode.Lds:
    case FaultCode.Misaligned:
      return new MemoryFault(`${at}: ${access(device, wave)}`, place, wave.faultLane, wave.faultAddress)
    case FaultCode.Unsupported:
      return new UnsupportedError(`${at}: ${unsupported(device, wave)}`, place)
    case FaultCode.Illegal:
      return new FaultError('ERR_ILLEGAL', `${at}: ${illegal(device, wave)}`, place)
    case FaultCode.Jump:
      return new FaultError('ERR_ILLEGAL', `${at}: pc left the code, which has ${code.words.length * 4} bytes; check the branch`, place)
    case FaultCode.Trap:
      return new FaultError('ERR_TRAP', `${at}: the kernel trapped; look for a failed assertion or __builtin_trap in its source`, place)
    case FaultCode.Register:
      return new FaultError(
        'ERR_ILLEGAL',
        `${at}: a register index beyond the wave's ${wave.vgprCount} VGPRs and ${wave.sgprCount} SGPRs; check M0 and the kernel's register counts`,
        place,
      )
    default:
      return new FaultError(
        'ERR_CORE',
        `${at}: stopped with the unknown fault ${String(wave.fault)}; this is a fault of Lanewise, please report it`,
        place,
      )
  }
}

/** What is not run, and why where the operation's row says it; else it is the instruction's modifiers. */
function unsupported({ target }: Device, wave: Wave): string {
  const instruction = decode(wave.program.code.words, wave.pc >>> 2, target)
  const operation = instruction?.operation
  const reason = operation?.unsupported ?? operation?.partly ?? (operation?.table === 'mimg' ? imageReason(instruction!, wave) : undefined)
  return `Lanewise does not run this instruction on ${target.name}${reason === undefined ? '' : `: ${reason}`}; avoid it in the kernel`
}

/** Which image it was, for docs/images.md tells which are run. */
function imageReason({ fields }: Instruction, wave: Wave): string {
  const [word1, word3] = [1, 3].map((k) => wave.sgpr(fields.srsrc! * 4 + k)) as [number, number]
  const type = `TYPE ${word3 >>> 28}, TILING_INDEX ${(word3 >>> 20) & 31}`
  const format = `DATA_FORMAT ${(word1 >>> 20) & 63}, NUM_FORMAT ${(word1 >>> 26) & 15}`
  return `docs/images.md says which images, formats and modifiers are run, and why not others; this one has ${type}, ${format}`
}

/** Why the words at pc are illegal: they are no instruction at all, or one with operands that it may not have here. */
function illegal({ target }: Device, wave: Wave): string {
  const { words } = wave.program.code
  if (decode(words, wave.pc >>> 2, target) === undefined)
    return `no instruction of ${target.name} has this encoding; check the target, the entry point and the branches before it`
  return `it names operands that ${target.name} does not allow, or VGPRs beyond the wave's ${wave.vgprCount}; check the kernel's register count`
}

/** What a wave accessed, and what is there. */
function access(device: Device, wave: Wave): string {
  const who = wave.faultLane === undefined ? 'a scalar access' : `lane ${wave.faultLane}`
  const what = `${who} accessed ${wave.faultBytes} bytes at ${hex(wave.faultAddress)}`
  if (wave.fault === FaultCode.Misaligned) return `${what}, which is no multiple of what the access allows; align the address`
  if (wave.fault === FaultCode.Lds && touchesGds(device, wave))
    return `GDS: ${what}, there are ${device.gds.length} bytes; check the index, and the base in M0[31:16]`
  if (wave.fault === FaultCode.Lds)
    return `LDS: ${what}, the workgroup has ${wave.word(WAVE_LDS_BYTES)} bytes; check the index or ask for more dynamic LDS`
  const high = Number(wave.faultAddress >> 32n)
  if (device.apertures.private !== 0 && high === device.apertures.private)
    return `scratch: ${what}, a work-item has ${wave.word(WAVE_SCRATCH_LANE_BYTES)} bytes; check the index or give a larger stack`
  if (device.apertures.shared !== 0 && high === device.apertures.shared)
    return `LDS: ${what}, the workgroup has ${wave.word(WAVE_LDS_BYTES)} bytes; check the index or ask for more dynamic LDS`
  if (wave.faultAddress < NULL_PAGE) return `${what}, a null pointer or close to one; check that every pointer was given`
  const nearest = device.memory.nearest(wave.faultAddress)
  if (nearest === undefined) return `${what}; there is no guest memory at all; give the kernel buffers`
  return `${what}; ${near(nearest, wave.faultBytes)}`
}

/** Whether the instruction at pc is one of the data share that all workgroups have in common. */
const touchesGds = ({ target }: Device, wave: Wave): boolean => decode(wave.program.code.words, wave.pc >>> 2, target)?.fields.gds === 1

function near({ region, distance, where }: Nearest, accessBytes: number): string {
  const which = `${region.name} (${region.bytes} bytes at ${hex(region.address)})`
  if (where === 'before') return `the nearest buffer is ${which}, ${-distance} bytes further on; check the index and the pointer`
  if (where === 'after')
    return `the nearest buffer is ${which}, whose end is ${distance} bytes before; check the index and the buffer's size`
  if (distance + BigInt(accessBytes) > BigInt(region.bytes))
    return `it begins ${BigInt(region.bytes) - distance} bytes before the end of ${which} and reaches beyond; check the index`
  return `${which} is read-only; write to another buffer`
}

/** The text of the instruction at a byte offset, or its first words where there is none. */
function textAt(device: Device, wave: Wave, pc: number): string {
  const { words } = wave.program.code
  const index = pc >>> 2
  try {
    const text = device.options.disassemble?.(words, index, device.target, pc)
    if (text !== undefined) return text
  } catch {
    // Words that are no instruction have no text; they are shown as they are.
  }
  const shown = [...words.subarray(index, index + 2)].map((word) => `0x${word.toString(16).padStart(8, '0')}`)
  return shown.length > 0 ? shown.join(' ') : 'the end of the code'
}
