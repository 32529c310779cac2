/** Lays a job out on a device: buffers, code, and the waves' start. */
import {
  bareWave,
  DEFAULT_DESCRIPTOR,
  Device,
  type Argument as DeviceArgument,
  dispatch,
  type Launch,
  type Region,
  rawKernel,
  type Schedule,
} from '../device/index.ts'
import type { KernelDescriptor } from '../object/code-object.ts'
import { lineAt } from '../results/listing.ts'
import { type JobEngine, takeEngine } from './engines.ts'
import type { Argument, BareWave, Dispatch, RawDescriptor } from './job.ts'
import type { LoadedJob } from './load.ts'
import type { Run } from './outcome.ts'

/**
 * Lays a job out on an engine of its own. The same job is laid out the same way each time.
 * @param shared whether threads can share the engine's memory
 * @param schedule how the waves of a workgroup take turns; a bare wave is alone
 */
export async function begin(loaded: LoadedJob, engineName: JobEngine, shared = false, schedule?: Schedule): Promise<Run> {
  const { job, code } = loaded
  const device = new Device(await takeEngine(engineName, shared), job.target, {
    disassemble: (words, index, target) => lineAt(words, target, index * 4).text,
  })
  const buffers = allocate(loaded, device)
  if (job.start.form === 'wave') {
    const words = 'words' in code ? code.words : new Uint32Array()
    return { device, buffers, execution: bareWave(device, device.loadCode(words), stateOf(job.start)) }
  }
  const kernel =
    'object' in code
      ? device.load(code.object).kernel(code.kernel)
      : rawKernel(device.loadCode(code.words), descriptorOf(job.start.descriptor))
  const args = job.start.args.map((argument) => argumentOf(argument, buffers))
  return { device, buffers, execution: dispatch(device, kernel, { ...launchOf(job.start, args, device, 'object' in code), schedule }) }
}

/** Buffers with addresses of their own come first, so that no chosen address takes theirs. */
function allocate({ job, buffers }: LoadedJob, device: Device): ReadonlyMap<string, Region> {
  const regions = new Map<string, Region>()
  const sorted = [...job.buffers.values()].sort((a, b) => Number(a.address === undefined) - Number(b.address === undefined))
  for (const { name, address } of sorted) {
    const bytes = buffers.get(name)!
    const region = device.memory.allocate(bytes.length, { name, ...(address === undefined ? {} : { address }) })
    device.memory.view(region).set(bytes)
    regions.set(name, region)
  }
  return regions
}

function stateOf(wave: BareWave) {
  const { exec, vcc, m0, mode, sgprs, vgprs, lds } = wave
  return { exec, vcc, m0, mode, sgprs, vgprs, scc: wave.scc as 0 | 1, ...(lds === undefined ? {} : { lds }) }
}

function descriptorOf(raw: RawDescriptor | undefined): KernelDescriptor {
  if (raw === undefined) return DEFAULT_DESCRIPTOR
  const { rsrc1, rsrc2, rsrc3, properties } = raw
  return {
    groupSegmentBytes: raw.lds,
    privateSegmentBytes: raw.scratch,
    kernargBytes: 0,
    rsrc1,
    rsrc2,
    rsrc3,
    properties,
    kernargPreload: 0,
  }
}

function argumentOf(argument: Argument, buffers: ReadonlyMap<string, Region>): DeviceArgument {
  if (argument.form === 'buffer') return { address: buffers.get(argument.name)!.address + argument.offset }
  return argument.form === 'local' ? { localBytes: argument.bytes } : { bytes: argument.bytes }
}

function launchOf(start: Dispatch, args: readonly DeviceArgument[], device: Device, hasMetadata: boolean): Launch {
  const { workgroup, kernarg, lds, descriptor } = start
  const launch = { grid: start.grid ?? ([device.target.waveSize, 1, 1] as const), workgroup }
  if (hasMetadata || args.length === 0) return { ...launch, args, kernarg, dynamicLdsBytes: lds }
  const packed = packArguments(args, descriptor?.lds ?? 0)
  return { ...launch, kernarg: { bytes: packed.bytes }, dynamicLdsBytes: lds + packed.localBytes }
}

/** Arguments of raw code, which has no metadata: one behind another as in a C struct; local ones are LDS addresses behind the fixed LDS. */
function packArguments(args: readonly DeviceArgument[], fixedLds: number): { bytes: Uint8Array; localBytes: number } {
  const bytes: number[] = []
  let localBytes = 0
  for (const argument of args) {
    const value = 'bytes' in argument ? argument.bytes.slice() : new Uint8Array('address' in argument ? 8 : 4)
    const view = new DataView(value.buffer)
    if ('address' in argument) view.setBigUint64(0, argument.address, true)
    if ('localBytes' in argument) {
      view.setUint32(0, fixedLds + localBytes, true)
      localBytes += argument.localBytes
    }
    const align = [8, 4, 2].find((size) => value.length % size === 0) ?? 1
    while (bytes.length % align !== 0) bytes.push(0)
    bytes.push(...value)
  }
  return { bytes: Uint8Array.from(bytes), localBytes }
}
