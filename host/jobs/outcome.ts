/** Reads what a job asks for from a run that has stopped, and compares it with what the job expects. */
import type { Device, Execution, Region, Wave } from '../device/index.ts'
import { JobError } from '../errors.ts'
import { agrees, compareElements, Differences } from '../results/compare.ts'
import type { ElementType } from '../results/elements.ts'
import { fnv1a64 } from '../results/fnv.ts'
import { hex, hexOfBytes } from '../results/hex.ts'
import type { Expectation } from './job.ts'
import type { LoadedJob } from './load.ts'
import { bitsOfPlace, type Place } from './place.ts'
import type { ReadValue } from './result.ts'

/** A run and where its buffers are. */
export interface Run {
  readonly device: Device
  readonly execution: Execution
  readonly buffers: ReadonlyMap<string, Region>
}

/** Values of what the job wants back, in its order. @throws {JobError} registers of a dispatch that has several waves */
export function readAll({ job }: LoadedJob, run: Run): Record<string, ReadValue> {
  return Object.fromEntries(job.read.map((place) => [place.name, readValue(place, run)]))
}

function readValue(place: Place, run: Run): ReadValue {
  if (place.form === 'buffer' || place.form === 'lds') return { hex: hexOfBytes(bytesAt(place, run)) }
  const bits = bitsOfPlace(place)
  const values = valuesAt(place, waveOf(place, run)).map((value) => hex(value, bits))
  return place.form === 'vgpr' ? values : values[0]!
}

/** Compares with what the job expects. */
export function compareAll(loaded: LoadedJob, run: Run): Differences {
  const differences = new Differences()
  for (const expectation of loaded.job.expect) {
    const { place } = expectation
    if (place.form === 'buffer' || place.form === 'lds') compareMemory(expectation, place, loaded, run, differences)
    else compareRegister(expectation, loaded, run, differences)
  }
  return differences
}

function compareRegister({ place, want, comparison }: Expectation, { job }: LoadedJob, run: Run, differences: Differences): void {
  const bits = bitsOfPlace(place)
  const type = bits === 64 ? 'f64' : 'f32'
  const actual = valuesAt(place, waveOf(place, run))
  const active = job.start.form === 'wave' ? job.start.exec : -1n
  actual.forEach((value, lane) => {
    const expected = want.form === 'lanes' ? want.lanes[lane] : want.form === 'value' ? want.value : undefined
    if (expected === undefined || expected === null) return
    const vector = place.form === 'vgpr'
    if (vector && want.form === 'value' && ((active >> BigInt(lane)) & 1n) === 0n) return
    // Only ranges of 32 and 64 bits have a float type; NaNs and ulps of other widths do not exist.
    const good = bits === 32 || bits === 64 ? agrees(expected, value, type, comparison) : expected === value
    if (!good) differences.add({ where: place.name, ...(vector ? { lane } : {}), expected: hex(expected, bits), actual: hex(value, bits) })
  })
}

function compareMemory(
  expectation: Expectation,
  place: Place & { form: 'buffer' | 'lds' },
  loaded: LoadedJob,
  run: Run,
  differences: Differences,
): void {
  const { want, comparison } = expectation
  const actual = bytesAt(place, run)
  const type: ElementType = place.form === 'buffer' ? place.type : 'u8'
  if (want.form === 'fnv1a64') {
    const digits = fnv1a64(actual)
    if (digits !== want.digits) differences.add({ where: place.name, expected: want.digits, actual: digits })
    return
  }
  const expected = want.form === 'bytes' ? want.bytes : loaded.expected.get(place.name)!
  // Of LDS only so many bytes are compared as are expected.
  if (expected.length > actual.length)
    throw new JobError(`expect.${place.name} has ${expected.length} bytes; there are ${actual.length}`, `expect.${place.name}`)
  compareElements(place.name, type, expected, actual, comparison, differences, want.form === 'sample' ? want.stride : 1)
}

function bytesAt(place: Place & { form: 'buffer' | 'lds' }, run: Run): Uint8Array {
  if (place.form === 'buffer') return run.device.memory.view(run.buffers.get(place.name)!)
  if (run.execution.groupCount === 1) return run.execution.waves[0]!.lds
  throw new JobError(
    `${place.name} is there once a workgroup, and this dispatch has ${run.execution.groupCount}; use a grid of one`,
    place.name,
  )
}

function waveOf(place: Place, { execution }: Run): Wave {
  const [wave, other] = execution.waves
  if (wave !== undefined && other === undefined && execution.groupCount === 1) return wave
  throw new JobError(`${place.name} is there once a wave, and this dispatch has several; use a grid of one wave`, place.name)
}

/** Lane by lane for a VGPR, else one value. */
function valuesAt(place: Place, wave: Wave): bigint[] {
  switch (place.form) {
    case 'vgpr': {
      if (place.first + place.count > wave.vgprCount)
        throw new JobError(`${place.name} does not exist: this wave has ${wave.vgprCount} VGPRs`, place.name)
      const registers = Array.from({ length: place.count }, (_, i) => wave.vgpr(place.first + i))
      return Array.from({ length: wave.size }, (_, lane) => joined(registers.map((register) => register[lane]!)))
    }
    case 'sgpr':
      return [joined(Array.from({ length: place.count }, (_, i) => wave.sgpr(place.first + i)))]
    case 'special':
      return [BigInt(wave[place.name])]
    default:
      return []
  }
}

/** Dwords as one number, the first the lowest. */
const joined = (dwords: readonly number[]): bigint => dwords.reduceRight((sum, dword) => (sum << 32n) | BigInt(dword), 0n)
