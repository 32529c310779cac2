/** Reference and core on LLVM's random encodings: the same state, the same stop, the same fault after each instruction. */
import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device, type Execution, type WaveState } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { FaultError, MemoryFault } from '../../host/errors.ts'
import { TARGETS, type TargetName } from '../../host/isa/targets.ts'
import { WAVE_FAULT, WAVE_FAULT_BYTES, WAVE_SCALARS, WAVE_VECTORS } from '../../host/plan/layout.ts'
import { createReference } from '../../host/reference/index.ts'

const CORPUS = '../shared/isa/corpus'
/** Encodings of each mnemonic that are run. */
const SAMPLES = 2
const BUFFER_BYTES = 0x10000

interface Encoding {
  readonly words: readonly number[]
  readonly text: string
}

/** Valid encodings by mnemonic, spread over the corpus. */
function corpusOf(target: TargetName): Map<string, Encoding[]> {
  const all = new Map<string, Encoding[]>()
  for (const line of gunzipSync(readFileSync(`${CORPUS}/${target}.tsv.gz`))
    .toString()
    .split('\n')) {
    const [words, text] = line.split('\t')
    if (!words || !text) continue
    const mnemonic = text.split(' ')[0]!.replace(/_e(32|64)$/, '')
    const encoding = { words: words.split(' ').map((word) => Number.parseInt(word, 16)), text }
    all.set(mnemonic, [...(all.get(mnemonic) ?? []), encoding])
  }
  for (const [mnemonic, list] of all)
    all.set(
      mnemonic,
      list.filter((_, i) => i % Math.ceil(list.length / SAMPLES) === 0),
    )
  return all
}

/** Words where something happens: zeros, ones, infinities, NaNs of both kinds, denormals, ties, half floats, limits of integers. */
const SPECIAL = [
  0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 1, 0x80000001, 0x007fffff, 0x7f7fffff,
  0x3c00, 0xbc00, 0x7c00, 0x7c01, 0x8000, 0x40490fdb, 0xffffffff, 0x4b000000, 0x4f000000, 0xcf000000, 0x33800000, 0x3effffff, 0x7ff00000,
]
const MODES = [0x3c0, 0x1f0, 0x3f0, 0x300, 0x3c5, 0x3ca, 0x3cf, 0x0f0]

/** A generator of 32-bit words; the same seed gives the same words. */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
    return (mixed ^ (mixed >>> 12)) >>> 0
  }
}

/** A wave whose scalar pairs, and VGPRs in one case of three, often are addresses within the buffer. */
function stateOf(seed: number, buffer: bigint, pc: number): WaveState {
  const next = random(seed)
  const value = () =>
    [() => SPECIAL[next() % SPECIAL.length]!, () => next() % 64, () => 0x3f000000 + (next() & 0x1ffffff), next][next() % 4]!()
  const long = () => (BigInt(next()) << 32n) | BigInt(next())
  const row = (of: () => number) => Uint32Array.from({ length: 64 }, of)
  const address = () => Number(buffer & 0xffffffffn) + (next() % BUFFER_BYTES)
  const rows = [
    row(value),
    row(value),
    row(value),
    row(value),
    row(address),
    row(() => Number(buffer >> 32n)),
    row(() => next() % BUFFER_BYTES),
  ]
  const place = next() % 3
  const sgprs = new Map<number, number>()
  for (let s = 0; s < 104; s += 2) {
    const points = next() % 2 === 0
    sgprs.set(s, points ? address() : value()).set(s + 1, points ? Number(buffer >> 32n) : value())
  }
  const vgprs = new Map(
    Array.from({ length: 256 }, (_, v) => [v, rows[place === 0 ? 4 + (v & 1) : place === 1 && v % 2 === 0 ? 6 : v % 4]!]),
  )
  const exec = [0n, 2n ** 64n - 1n, long(), long()][next() % 4]!
  return {
    pc,
    exec,
    vcc: long(),
    scc: (next() & 1) as 0 | 1,
    m0: next() % 3 === 0 ? 0xffffffff : next() % 70000,
    mode: MODES[next() % MODES.length]!,
    sgprs,
    vgprs,
    lds: Uint8Array.from({ length: 4096 }, () => next() & 0xff),
  }
}

/** One engine with a buffer and all encodings as code. */
async function machine(create: () => Engine | Promise<Engine>, target: TargetName, words: Uint32Array) {
  const device = new Device(await create(), TARGETS[target])
  const buffer = device.memory.allocate(BUFFER_BYTES)
  return { device, buffer, code: device.loadCode(words) }
}

/** How an execution stands after a step, without its registers. */
function standing({ status, error, waves }: Execution): string {
  if (error instanceof MemoryFault) return `fault ${waves[0]!.fault} lane ${error.lane} address 0x${error.address.toString(16)}`
  return error === undefined ? status : `${error.code} ${error instanceof FaultError ? `fault ${waves[0]!.fault}` : error.message}`
}

/** The first word in which two states differ, by name. */
function wordDifference(a: Uint8Array, b: Uint8Array): string | undefined {
  const [x, y] = [new Uint32Array(a.buffer), new Uint32Array(b.buffer)]
  const at = x.findIndex((word, i) => word !== y[i])
  if (at < 0) return undefined
  const offset = at * 4
  const vector = offset - WAVE_VECTORS
  const where =
    offset < WAVE_SCALARS
      ? `header + ${offset}`
      : vector < 0
        ? `s${(offset - WAVE_SCALARS) / 4}`
        : `v${vector >> 8} lane ${(vector & 255) >> 2}`
  return `${where}: reference 0x${x[at]!.toString(16)}, core 0x${y[at]!.toString(16)}`
}

/** The state without the fault record, which is compared as an error where there is one and means nothing where there is none. */
const stateBytes = (execution: Execution): Uint8Array => execution.waves[0]!.state().fill(0, WAVE_FAULT, WAVE_FAULT_BYTES + 4)

describe.runIf(existsSync(CORPUS)).each(['gfx600', 'gfx700', 'gfx803'] as const)('%s', async (target) => {
  const corpus = existsSync(CORPUS) ? corpusOf(target) : new Map<string, Encoding[]>()
  const words = Uint32Array.from([...corpus.values()].flat().flatMap((encoding) => encoding.words))
  const machines = Promise.all([machine(createReference, target, words), machine(createCore, target, words)])
  let pc = 0
  const places = new Map(
    [...corpus.values()].flat().map((encoding) => {
      const at = pc
      pc += encoding.words.length * 4
      return [encoding, at]
    }),
  )

  test.each([...corpus.keys()])('%s', async (mnemonic) => {
    const [reference, core] = await machines
    const disagreements = corpus.get(mnemonic)!.flatMap((encoding) => {
      const state = stateOf(places.get(encoding)! + 1, reference.buffer.address, places.get(encoding)!)
      const found = disagreement(reference, core, state)
      return found === undefined ? [] : [`${encoding.text}: ${found}`]
    })
    if (disagreements.length > 0) expect.fail(disagreements.join('\n'))
  })
})

type Machine = Awaited<ReturnType<typeof machine>>

/** Runs one instruction on both, and says the first thing that is not the same. */
function disagreement(reference: Machine, core: Machine, state: WaveState): string | undefined {
  const [a, b] = [reference, core].map(({ device, code }) => bareWave(device, code, state)) as [Execution, Execution]
  a.step(1)
  b.step(1)
  const [x, y] = [reference, core].map(({ device, buffer }) => device.memory.view(buffer)) as [Uint8Array, Uint8Array]
  const found =
    difference(standing(a), standing(b)) ??
    wordDifference(stateBytes(a), stateBytes(b)) ??
    byteDifference('LDS', a.waves[0]!.lds, b.waves[0]!.lds) ??
    byteDifference('memory', x, y)
  y.set(x)
  a.free()
  b.free()
  return found
}

const difference = (a: string, b: string): string | undefined => (a === b ? undefined : `reference ${a}, core ${b}`)

function byteDifference(what: string, a: Uint8Array, b: Uint8Array): string | undefined {
  const at = Buffer.compare(a, b) === 0 ? -1 : a.findIndex((byte, i) => byte !== b[i])
  return at < 0 ? undefined : `${what} byte ${at}: reference ${a[at]}, core ${b[at]}`
}
