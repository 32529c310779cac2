/** What trace tests share. */
import { type Code, createCore, createReference, Device, type Engine, TARGETS, type TargetName, type Wave } from '../../host/index.ts'
import { assembleProgram } from '../../host/text/program.ts'

export const wordsOf = (text: string, target: TargetName = 'gfx803'): Uint32Array => assembleProgram(text, TARGETS[target]).words
export const bytesOf = (words: Uint32Array): Uint8Array => new Uint8Array(words.slice().buffer)

export const engines: Readonly<Record<'core' | 'reference', () => Promise<Engine>>> = {
  core: () => createCore(),
  reference: createReference,
}

export async function deviceFor(target: TargetName = 'gfx803', engine: 'core' | 'reference' = 'core'): Promise<Device> {
  return new Device(await engines[engine](), TARGETS[target])
}

/** All registers of a wave, pc and counters aside. */
export function registersOf(wave: Wave): unknown {
  const { scc, exec, vcc, m0, mode } = wave
  return {
    scc,
    exec,
    vcc,
    m0,
    mode,
    sgprs: Array.from({ length: 102 }, (_, i) => wave.sgpr(i)),
    vgprs: Array.from({ length: wave.vgprCount }, (_, i) => [...wave.vgpr(i)]),
  }
}

export const codeOf = (device: Device, text: string): Code => device.loadCode(wordsOf(text, device.target.name as TargetName))

/** The bytes cut into pieces of these sizes, over and over. */
export function* cut(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, i = 0; at < bytes.length; at += sizes[i++ % sizes.length]!) yield bytes.subarray(at, at + sizes[i % sizes.length]!)
}
